#!/usr/bin/env python3
# Makes the Python wheel and the Debian package from a clean clone, installs both where nothing else of rung is, tries
# them on a model, and prints what they took, weigh and need. ./dev package calls it; it takes minutes.
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = ['A man is playing a guitar.', 'Someone plays an instrument.', 'The stock market fell sharply today.']
# What every Linux of manylinux has; the rest a wheel must hold.
EVERYWHERE = re.compile(r'(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z)|ld-linux.*)\.so\.\d+$')
VERSION = re.compile(r'\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)')
# A newcomer's first program: of the first two sentences, and no other pair, a person says that they mean the same.
PROGRAM = f'''
import sys, rung
model = rung.load(sys.argv[1], shapes={{"input_ids": (1, 16)}})
a, b, c = (model(**model.encode(text))["sentence_embedding"][0] for text in {SENTENCES!r})
assert abs(a @ a - 1) < 1e-4 and a @ b > 0.5 > abs(a @ c) and abs(b @ c) < 0.5, (a @ b, a @ c, b @ c)
print(f"rung {{rung.__version__}}: {{a @ b:.3f}}, {{a @ c:.3f}}, {{b @ c:.3f}}")
'''


class Broken(Exception):
    """A line for a person: what did not work."""


def run(*command, **options):
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors='replace', **options)
    if ran.returncode:
        raise Broken(f'{" ".join(map(str, command))}: exit status {ran.returncode}\n'
                     f'{(ran.stdout + ran.stderr).strip()[-3000:]}')
    return ran.stdout


def objects_in(folder):
    """The ELF files below a folder."""
    return [path for path in sorted(folder.rglob('*'))
            if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b'\x7fELF']


def needs(folder):
    """(libraries that nothing in the folder is, the newest version of each family of symbols) of its ELF files."""
    objects = objects_in(folder)
    own, wanted, versions = {path.name for path in objects}, set(), {}
    for path in objects:
        wanted |= set(re.findall(r'\(NEEDED\).*\[(.+)\]', run('readelf', '-d', '-W', path)))
        for family, number in VERSION.findall(run('objdump', '-T', path)):
            key = tuple(map(int, number.split('.')))
            versions[family] = max(versions.get(family, ()), key)
    return sorted(wanted - own), {family: '.'.join(map(str, key)) for family, key in sorted(versions.items())}


def what_it_needs(folder):
    libraries, versions = needs(folder)
    if missing := [name for name in libraries if not EVERYWHERE.match(name)]:
        raise Broken(f'the wheel lacks {", ".join(missing)}')
    return ', '.join(f'{family} {number}' for family, number in versions.items()) + '; ' + ', '.join(libraries)


def clone(scratch):
    """A clone in a folder that is made again."""
    shutil.rmtree(scratch, ignore_errors=True)
    source = scratch / 'clone'
    run('git', 'clone', '--quiet', ROOT, source)
    return source


def try_wheel(scratch, source, model):
    """Rows of the table: what pip makes of a clone, installed in an environment that has nothing."""
    python = scratch / 'environment/bin/python'
    run(sys.executable, '-m', 'venv', scratch / 'environment')
    environment = os.environ | {'CCACHE_DISABLE': '1'}
    start = time.monotonic()
    run(python, '-m', 'pip', 'wheel', '--disable-pip-version-check', '--no-deps', '-w', scratch / 'wheels', source,
        env=environment)
    seconds = time.monotonic() - start
    (wheel,) = (scratch / 'wheels').glob('*.whl')
    run(python, '-m', 'pip', 'install', '--disable-pip-version-check', wheel)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch / 'unpacked')
    yield 'wheel', wheel.name
    yield 'time of `pip wheel .`, nothing cached', f'{seconds:.0f} s on {os.cpu_count()} cores'
    yield 'size', f'{wheel.stat().st_size / 1e6:.1f} MB'
    yield 'needs', what_it_needs(scratch / 'unpacked')
    yield 'in Python', run(python, '-c', PROGRAM, model, cwd=scratch).strip()
    yield 'its command', run(scratch / 'environment/bin/rung', '--version').strip()


def try_deb(scratch, source, model):
    """Rows of the table: what ./dev deb makes of a clone, unpacked into a root of its own."""
    start = time.monotonic()
    run('./dev', 'deb', cwd=source)
    seconds = time.monotonic() - start
    (deb,) = (source / 'build/package').glob('*.deb')
    root = scratch / 'root'
    run('dpkg', '-x', deb, root)
    yield 'package', deb.name
    yield 'time of `./dev deb`, by what ccache has', f'{seconds:.0f} s'
    yield 'size', f'{deb.stat().st_size / 1e6:.1f} MB'
    yield 'depends on', run('dpkg-deb', '--field', deb, 'Depends').strip()
    yield 'its command', run(root / 'usr/bin/rung', '--version').strip()
    run(root / 'usr/bin/rung', 'build', model, '--shape', 'input_ids=1,16', '--out', scratch / 'plan.rung')
    program = scratch / 'embed_sentence'
    library = root / 'usr/lib'
    run('cc', source / 'examples/embed_sentence.c', '-I', root / 'usr/include', '-L', library, '-lrung',
        f'-Wl,-rpath,{library}', '-o', program)
    run(program, scratch / 'plan.rung', SENTENCES[0])
    yield 'a program in C over its library', 'embeds a sentence'
    if shutil.which('lintian'):
        found = subprocess.run(['lintian', '--fail-on', 'none', deb], capture_output=True, text=True).stdout
        yield 'lintian', '; '.join(found.strip().splitlines()) or 'says nothing'


def main():
    parser = argparse.ArgumentParser(description='Makes and tries the packages; prints a table.')
    parser.add_argument('what', nargs='*', choices=['wheel', 'deb', []], help='default: both')
    parser.add_argument('--scratch', type=Path, default=ROOT / '.cache/package', help='what was made stays there')
    arguments = parser.parse_args()
    model = Path(os.environ.get('RUNG_MODEL_DIR', ROOT / '.cache/models/all-MiniLM-L6-v2'))
    try:
        for name, trial in ('wheel', try_wheel), ('deb', try_deb):
            if name not in (arguments.what or ('wheel', 'deb')):
                continue
            scratch = arguments.scratch.absolute() / name
            for what, found in trial(scratch, clone(scratch), model):
                print(f'| {what} | {found} |', flush=True)
    except Broken as broken:
        print(f'package: {broken}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
