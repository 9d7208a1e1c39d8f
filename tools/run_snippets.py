#!/usr/bin/env python3
# Runs the snippets of a page, in a folder that has what the page speaks of, and names the line of the one that fails.
# SPDX-License-Identifier: Apache-2.0
#
# A page is read as a person follows it. A block that begins with a file's name in a comment (`// robot.cpp: ...`) is
# that file. A `sh` block is run there, with the folder as home and the build folder as `build`. All other blocks of a
# language are one program, in the page's order, so that a later one uses what an earlier one made: those in `cpp` are
# the body of a function that returns rung::api::Status, those in `c` of one that returns rung_status, those in `python`
# a module. Lines of `#include` go to the program's top. A `text` block says what the block before it on the page
# prints; if that one is not run, nothing is compared. What stands after the language says what a block needs: `gpu`, a
# program, or a module of Python's. Without it the block is compiled, and not run. Blocks for a GPU that follow each
# other see each other's names, which no other block sees. Without a language nothing is done with a block. The folder
# has what a reader has after ./dev setup: the files of a clone, the model that it fetched, and `rung` among the
# commands; what else a page opens, the page makes. Climbs that are given no budget are short.
import argparse
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = Path('.cache/models/all-MiniLM-L6-v2')
SHORT = '2s'  # of climbs
FENCE = re.compile(r'^```(.*)$')
FILE = re.compile(r'^(?://|#) ([\w./-]+\.(?:cpp|c|hpp|h|txt|py))(?::.*)?$')
MARK = '\x1e'  # before the number of the line whose block prints what follows
LANGUAGES = ('cpp', 'c', 'python')  # of which a page's blocks are one program
SECONDS = 300  # what has not ended by then hangs
QUIET = '-Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-parameter'  # snippets make what nothing uses
PROGRAMS = {
    'cpp': (f'c++ -std=c++20 -Wall -Wextra -Werror {QUIET}', '''\
#include <algorithm>
#include <cstdio>
#include <rung/rung.hpp>
{includes}
static rung::api::Status page([[maybe_unused]] bool has_gpu) {{
  using namespace rung::api;
{body}
  return {{}};
}}
int main(int count, char**) {{
  const rung::api::Status status = page(count > 1);
  if (!status) std::fprintf(stderr, "%s\\n", status.message().c_str());
  return status ? 0 : 1;
}}
'''),
    'c': (f'cc -std=c11 -Wall -Wextra -Werror {QUIET}', '''\
#include <stdio.h>
#include <rung/rung.h>
{includes}
static rung_status page(bool has_gpu) {{
  (void)has_gpu;
{body}
  return RUNG_OK;
}}
int main(int count, char** arguments) {{
  (void)arguments;
  const rung_status status = page(count > 1);
  if (status) fprintf(stderr, "%s\\n", rung_error());
  return status ? 1 : 0;
}}
''')}


@dataclass
class Block:
    language: str
    needs: list
    line: int  # the page's, of its first line
    text: str

    @property
    def file(self):
        match = FILE.match(self.text.split('\n')[0])
        return match.group(1) if match else None


class Failed(Exception):
    """A line for a person, which begins with page and line."""


def blocks_of(text):
    found, inside = [], None
    for number, line in enumerate(text.split('\n'), 1):
        fence = FENCE.match(line)
        if fence and inside is None:
            words = fence.group(1).split()
            inside = Block(words[0] if words else '', words[1:], number + 1, '')
        elif fence:
            found, inside = found + [inside], None
        elif inside:
            inside.text += line + '\n'
    if inside:
        raise Failed(f'{inside.line - 1}: a block without an end')
    return found


def has_gpu():
    try:
        return ctypes.CDLL('libcuda.so.1').cuInit(0) == 0
    except OSError:
        return False


def lacking(block):
    """What the block needs and this machine has not; '' if it has all."""
    return next((need for need in block.needs if not is_here(need)), '')


def is_here(need):
    return has_gpu() if need == 'gpu' else shutil.which(need) or importlib.util.find_spec(need)


def program_of(language, blocks, page):
    """The text of one program; compilers name lines of the page."""
    includes, body, guarded = [], [], False
    for block in blocks:
        lines = block.text.split('\n')
        for at, line in enumerate(lines):
            if line.startswith('#include'):
                includes += [f'#line {block.line + at} "{page}"', line]
                lines[at] = ''
        if guarded != ('gpu' in block.needs):
            guarded = not guarded
            body.append('if (has_gpu) {' if guarded else '}')
        body += [f'printf("{MARK}%d\\n", {block.line}), fflush(stdout);', f'#line {block.line} "{page}"', *lines,
                 'fflush(stdout);']
    body.append('}' if guarded else '')
    return PROGRAMS[language][1].format(includes='\n'.join(includes), body='\n'.join(body))


def module_of(blocks, page):
    """A Python program that stands on the page's own lines."""
    lines = []
    for block in blocks:
        lines += [''] * (block.line - 2 - len(lines)) + [f'print("{MARK}{block.line}", flush=True)']
        lines += block.text.rstrip('\n').split('\n')
    return f'exec(compile({chr(10).join(lines)!r}, {page!r}, "exec"))\n'


class Page:
    def __init__(self, path, folder, library=None, languages=()):
        """Blocks of other languages than these are not run; () means all."""
        self.path, self.folder, self.library = path, folder, library
        blocks = blocks_of(path.read_text(encoding='utf-8'))
        self.blocks = [b for b in blocks if not languages or b.language in languages]
        self.outputs = {block.line: after for block, after in zip(blocks, blocks[1:]) if after.language == 'text'}
        self.notes = []

    def fail(self, line, why):
        raise Failed(f'{self.path}:{line}: {why}')

    def run(self):
        for block in self.blocks:
            if block.language not in ('', 'text', 'sh', *LANGUAGES) and not block.file:
                self.fail(block.line, f"nothing runs '{block.language}', but a file whose name is in the first line")
            if block.file:
                (self.folder / block.file).write_text(block.text, encoding='utf-8')
        for block in self.blocks:
            if block.language == 'sh':
                self.run_shell(block)
        for language in LANGUAGES:
            parts = [b for b in self.blocks if b.language == language and not b.file]
            if parts:
                self.run_parts(language, parts)

    def run_shell(self, block):
        if need := lacking(block):
            self.notes.append(f'{self.path}:{block.line}: not run: no {need} here')
            return
        ran = self.execute(['bash', '-euo', 'pipefail', '-c', block.text])
        if ran.returncode:
            self.fail(block.line, f'exit status {ran.returncode}\n{ran.stdout}{ran.stderr}')
        self.compare({block.line: ran.stdout})

    def run_parts(self, language, parts):
        command = self.module(parts) if language == 'python' else self.compiled(language, parts)
        for part in parts:
            if need := lacking(part):
                self.notes.append(f'{self.path}:{part.line}: compiled, not run: no {need} here')
        ran = self.execute(command + (['gpu'] if has_gpu() else []))
        printed = {int(line): text for line, _, text in (p.partition('\n') for p in ran.stdout.split(MARK)[1:])}
        if ran.returncode:
            line = max(printed, default=parts[0].line)
            self.fail(line, f'exit status {ran.returncode}\n{printed.get(line, "")}{ran.stderr}')
        self.compare(printed)

    def module(self, parts):
        runnable = [part for part in parts if not lacking(part)]
        (self.folder / 'page.py').write_text(module_of(runnable, str(self.path)), encoding='utf-8')
        return [sys.executable, 'page.py']

    def compiled(self, language, parts):
        source = self.folder / f'page.{language}'
        source.write_text(program_of(language, parts, self.path), encoding='utf-8')
        compiler, *flags = PROGRAMS[language][0].split()
        compiler = os.environ.get({'c++': 'CXX', 'cc': 'CC'}[compiler], compiler)
        link = [str(self.library), f'-Wl,-rpath,{self.library.parent}'] if self.library else []
        ran = self.execute([compiler, *flags, f'-I{ROOT}/include', source.name, '-o', 'page', *link])
        if ran.returncode:
            match = re.search(rf'^{re.escape(str(self.path))}:(\d+)[:,]', ran.stderr, re.MULTILINE)
            self.fail(match.group(1) if match else parts[0].line, f'does not compile\n{ran.stderr}')
        return ['./page']

    def compare(self, printed):
        """Compares what blocks printed, by their lines, with the `text` blocks behind them."""
        for line, got in printed.items():
            output = self.outputs.get(line)
            if output and got.strip() != output.text.strip():
                self.fail(output.line, f'got\n{got.strip()}\nwanted\n{output.text.strip()}')

    def execute(self, command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith('RUNG_')}
        environment |= {'HOME': str(self.folder), 'RUNG_CACHE_DIR': str(self.folder / 'cache'), 'RUNG_BUDGET': SHORT,
                        'PATH': f'{self.folder / "build"}:{environment["PATH"]}'}
        if shutil.which('ninja'):
            environment.setdefault('CMAKE_GENERATOR', 'Ninja')  # make may not be here
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=SECONDS, errors='replace')


def model_folder():
    """The model that ./dev setup fetches, wherever it is."""
    return Path(os.environ.get('RUNG_MODEL_DIR', ROOT / MODEL)).absolute()


def furnish(folder, tool):
    """What a reader has: a clone, its model, and the command."""
    for name in ('tests', 'examples', 'include'):
        (folder / name).symlink_to(ROOT / name)
    (folder / 'build').symlink_to(tool.parent)
    (folder / MODEL).parent.mkdir(parents=True)
    (folder / MODEL).symlink_to(model_folder())


def main():
    parser = argparse.ArgumentParser(description='Runs the snippets of a page.')
    parser.add_argument('page', type=Path)
    parser.add_argument('--tool', type=Path, help='the command rung, in the build folder; without it nothing is there')
    parser.add_argument('--library', type=Path, help='the shared library that programs are linked with')
    parser.add_argument('--languages', type=lambda words: words.split(','), default=[],
                        help='such as cpp,sh: blocks of these alone are run; default: all')
    arguments = parser.parse_args()
    if arguments.tool and not (model_folder() / 'model.safetensors').exists():
        print(f'SKIPPED: {model_folder()} is not here; ./dev setup fetches it')
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            library = arguments.library and arguments.library.absolute()
            page = Page(arguments.page, folder, library, arguments.languages)
            if arguments.tool:
                furnish(folder, arguments.tool.absolute())
            page.run()
        except Failed as failure:
            print(failure)
            return 1
    print('\n'.join([f'{page.path}: {len(page.blocks)} blocks'] + page.notes))
    return 0


if __name__ == '__main__':
    sys.exit(main())
