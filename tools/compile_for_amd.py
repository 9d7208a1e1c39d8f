#!/usr/bin/env python3
# Compiles every kernel that is not one architecture's own for AMD's CDNA, and checks that each entry has code.
# SPDX-License-Identifier: Apache-2.0
#
# With clang++-22 for gfx942; where only an older clang is, for the gfx90a that it knows. No header or library of the
# vendor is needed, and no GPU: a kernel compiles against kernels/gpu/vendor/amd.cuh; whether it is right is not said.
# Exit status 0: all compiled; 77: no compiler that can, and nothing checked; 1 otherwise.
import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
TARGETS = {'clang++-22': 'gfx942', 'clang++-14': 'gfx90a'}  # by preference
OPTIONS = ('-x hip --cuda-device-only -nogpulib -nogpuinc --no-gpu-bundle-output -O3 -std=c++20 '
           '-mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false -Wall -Werror -Wno-pass-failed '
           '-include kernels/gpu/vendor/amd.cuh').split()
OPTIONS_FROM_22_ON = ['-mcode-object-version=5']
ENTRY = re.compile(r'extern "C" __attribute__\(\(global\)\) void\s*')
STB_GLOBAL, STT_FUNC = 1, 2


def entries(preprocessed):
    """Names of the functions that a host can launch, in a preprocessed file."""
    names = set()
    for match in ENTRY.finditer(preprocessed):
        rest = preprocessed[match.end():]
        while rest.startswith('__attribute__'):
            rest = rest[closing(rest):].lstrip()
        names.add(re.match(r'\w+', rest).group())
    return names


def closing(text):
    """The position after the first parenthesis and all that it holds."""
    depth = 0
    for position, character in enumerate(text):
        depth += {'(': 1, ')': -1}.get(character, 0)
        if character == ')' and depth == 0:
            return position + 1
    return len(text)


def functions_with_code(elf):
    """Names of the global functions of a 64-bit little-endian ELF file that have a size and a section."""
    if elf[:6] != b'\x7fELF\x02\x01':
        return set()
    table, = struct.unpack_from('<Q', elf, 40)
    count, = struct.unpack_from('<H', elf, 60)
    sections = [struct.unpack_from('<IIQQQQIIQQ', elf, table + 64 * i) for i in range(count)]
    names = set()
    for section in sections:
        if section[1] not in (2, 11):  # symbols, dynamic symbols
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, _, size = struct.unpack_from('<IBBHQQ', elf, at)
            if info >> 4 == STB_GLOBAL and info & 15 == STT_FUNC and index and size:
                names.add(elf[strings + name:elf.index(b'\0', strings + name)].decode())
    return names


def compile_one(command, source, folder):
    """What is wrong with a source's code, or '', and how many entries it has."""
    out = Path(folder) / source.stem
    for options, target in ((['-E', '-P'], out.with_suffix('.i')), ([], out.with_suffix('.o'))):
        run = subprocess.run([*command, *options, '-o', str(target), str(source)], capture_output=True, text=True)
        if run.returncode:
            return run.stderr.strip() or f'the compiler ended with {run.returncode}', 0
    wanted = entries(out.with_suffix('.i').read_text(encoding='utf-8'))
    missing = wanted - functions_with_code(out.with_suffix('.o').read_bytes())
    if not wanted:
        return 'it has no entry', 0
    return ('no code for ' + ', '.join(sorted(missing)) if missing else ''), len(wanted)


def main():
    parser = argparse.ArgumentParser(description='Compiles the portable GPU kernels for AMD.')
    parser.add_argument('root', nargs='?', default=Path(__file__).resolve().parent.parent, type=Path)
    parser.add_argument('--compiler', help='a clang++; by default the first found of ' + ', '.join(TARGETS))
    parser.add_argument('--target', help='such as gfx942')
    arguments = parser.parse_args()
    compiler = arguments.compiler or next(filter(shutil.which, TARGETS), None)
    if compiler is None or not shutil.which(compiler):
        print(f'skipped: {compiler or " or ".join(TARGETS)} is not installed')
        return SKIPPED
    target = arguments.target or TARGETS.get(Path(compiler).name, 'gfx942')
    newer = OPTIONS_FROM_22_ON if Path(compiler).name != 'clang++-14' else []
    source_folder = arguments.root / 'src'
    command = [compiler, *OPTIONS, *newer, f'--offload-arch={target}', '-I', str(source_folder)]
    sources = [p for p in sorted(source_folder.glob('kernels/gpu/**/*.cu')) if not p.stem.endswith('_sm90')]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            wrong, count = compile_one(command, source, folder)
            failed += bool(wrong)
            print(f'{source.relative_to(source_folder)}: {wrong or f"{count} entries"}')
    print(f'{len(sources) - failed} passed, {failed} failed ({Path(compiler).name}, {target})')
    return 1 if failed or not sources else 0


if __name__ == '__main__':
    sys.exit(main())
