#!/usr/bin/env python3
# Reads the AMD code objects of a build, and checks what needs no device: bounds, spills, scratch, instructions.
# SPDX-License-Identifier: Apache-2.0
#
#   check_code_objects.py build/ci/gpu --objdump llvm-objdump-22 -- clang++-22 OPTIONS
#
# The compiler and its options are those of the build: they say what bound each source gives its kernels. Of a kernel:
#   - it is compiled for each architecture, and no other is;
#   - .max_flat_workgroup_size is the bound in its source (1024 where that says none: other spellings of a bound are
#     ignored in silence, and cost half of the registers);
#   - no VGPR is spilled, no scratch is used, the static LDS fits the architecture's;
#   - no address is of any memory (flat): a load from it waits for all others, and one of ours is global or shared;
#   - it calls nothing, and sines and cosines are our own: the hardware's do not reduce their argument;
#   - bare logarithms, exponentials and roots stand only where the source asks for a function that is made of them.
# Exit status 0: all is well; 77: no code objects, or no llvm-objdump; 1 otherwise.
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from code_object import CodeObject, Malformed

SKIPPED = 77
ROOT = Path(__file__).resolve().parent.parent
MOST_THREADS = 1024  # of a kernel without a bound
SHARED_BYTES = {'gfx90a': 64 << 10, 'gfx942': 64 << 10, 'gfx950': 160 << 10}
ENTRY = re.compile(r'extern "C" __attribute__\(\(global\)\) void\s*')
# As the compiler takes it, and as it does not.
BOUND = re.compile(r'__attribute__\(\((?:amdgpu_flat_work_group_size\(1, (.*)\)|launch_bounds\((.*)\))\)\)', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Kernels that spill or use scratch, and why: by name, then by what of the metadata is not 0. None does.
ALLOWED = {}

NEVER = {
    'v_sin': 'no reduction of the argument', 'v_cos': 'no reduction of the argument',
    'flat_': 'an address of any memory',
    's_swappc': 'a call', 's_setpc': 'a return', 's_call': 'a call',
}
# Instructions of the hardware's mathematics, and the functions of kernels/gpu that are made of them.
MADE_OF = {
    'v_log_f32': r'\blogf\(',
    'v_exp_f32': r'\b(expf|fast_exp2?|tanhf|erff|erfcf|activate|gelu_tanh|silu)\(',
    'v_sqrt_f32': r'\bsqrtf\(',
    'v_rsq_f32': r'\brsqrtf\(',
}


def closing(text):
    """The position after the first parenthesis and all that it holds."""
    depth = 0
    for position, character in enumerate(text):
        depth += {'(': 1, ')': -1}.get(character, 0)
        if character == ')' and depth == 0:
            return position + 1
    return len(text)


def bounds(preprocessed):
    """By the name of each function that a host can launch: the expression of its most threads, or None."""
    found = {}
    for match in ENTRY.finditer(preprocessed):
        rest, bound = preprocessed[match.end():], None
        while rest.startswith('__attribute__'):
            end = closing(rest)
            attribute = BOUND.fullmatch(rest[:end])
            bound = attribute.group(1) or attribute.group(2) if attribute else bound
            rest = rest[end:].lstrip()
        found[re.match(r'\w+', rest).group()] = bound
    return found


def differing(source, wanted, compile_with):
    """Of {kernel: (expression, threads)}: those whose expression, in the source, is another number."""
    with tempfile.TemporaryDirectory() as folder:
        checks = Path(folder) / 'checks.cu'
        pairs = sorted({pair for pair in wanted.values()})
        lines = [f'static_assert(({expression}) == {threads}, "pair {i}");' for i, (expression, threads) in
                 enumerate(pairs)]
        checks.write_text('\n'.join([f'#include "{source}"', 'namespace rung::gpu {', *lines, '}', '']),
                          encoding='utf-8')
        run = compile_with('-fsyntax-only', str(checks))
    if run.returncode and 'pair ' not in run.stderr:
        raise SystemExit(f'{source}: {run.stderr.strip()}')
    wrong = {pairs[int(i)] for i in re.findall(r'pair (\d+)"', run.stderr)}
    return {kernel for kernel, pair in wanted.items() if pair in wrong}


def own_text(source, folder):
    """A kernel source and what it includes of its own, without the vendors' sides, which define the functions."""
    seen, waiting = {source}, [source]
    while waiting:
        for name in INCLUDE.findall(waiting.pop().read_text(encoding='utf-8')):
            path = folder / name
            if path.is_file() and 'vendor' not in path.parts and path not in seen:
                seen.add(path)
                waiting.append(path)
    return '\n'.join(re.sub(r'//.*', '', path.read_text(encoding='utf-8')) for path in seen)


def wrong_metadata(kernel, processor):
    name = kernel['.name']
    for key in ('.vgpr_spill_count', '.private_segment_fixed_size', '.uses_dynamic_stack'):
        if kernel.get(key) and key not in ALLOWED.get(name, {}):
            yield f'{name}: {key} is {kernel[key]}, wanted 0'
    if kernel['.group_segment_fixed_size'] > SHARED_BYTES[processor]:
        yield f'{name}: {kernel[".group_segment_fixed_size"]} bytes of LDS, wanted at most {SHARED_BYTES[processor]}'
    if kernel['.wavefront_size'] != 64:
        yield f'{name}: waves of {kernel[".wavefront_size"]} lanes, wanted 64'


# A kernel's name, or one of the instructions above where it is executed: listings have millions of lines of others.
NOTED = re.compile(r'\n(?:[0-9a-f]+ <(\w+)>:|[ \t]+((?:' + '|'.join([*NEVER, *MADE_OF]) + r')\w*))')


def wrong_instructions(listing, text):
    """`listing` is llvm-objdump's, `text` the sources'."""
    kernel, seen = '', set()
    for noted in NOTED.finditer('\n' + listing):
        if noted.group(1):
            kernel = noted.group(1)
        else:
            seen.add((kernel, noted.group(2)))
    for kernel, instruction in sorted(seen):
        for prefix, why in NEVER.items():
            if instruction.startswith(prefix):
                yield f'{kernel}: {instruction}: {why}'
        for prefix, functions in MADE_OF.items():
            if instruction.startswith(prefix) and not re.search(functions, text):
                yield f'{kernel}: {instruction}, and the source asks for no function that is made of it'


class Checker:
    def __init__(self, objdump, compiler, sources):
        self.objdump, self.compiler, self.folder = objdump, compiler, sources
        self.processors = set()

    def compile_with(self, *arguments):
        command = [*self.compiler, '-Qunused-arguments', '-I', str(self.folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def check(self, source, paths):
        """What is wrong with the code objects of one source, one line each."""
        objects = {path: CodeObject(path.read_bytes()) for path in paths}
        processors = {each.processor for each in objects.values()}
        preprocessed = self.compile_with('-E', '-P', '-o', '-', str(source))
        if preprocessed.returncode:
            return [preprocessed.stderr.strip()]
        wanted = bounds(preprocessed.stdout)
        wrong = [f'no code object for {missing}' for missing in sorted(self.processors - processors)]
        threads = {}
        for path, each in objects.items():
            if set(wanted) != set(each.kernels) or set(wanted) != each.functions:
                wrong.append(f'{path.name}: it has {sorted(each.kernels)}, with code {sorted(each.functions)}; '
                             f'wanted {sorted(wanted)}')
            wrong += [f'{path.name}: {line}' for kernel in each.kernels.values()
                      for line in wrong_metadata(kernel, each.processor)]
            wrong += [f'{path.name}: {line}' for line in
                      wrong_instructions(self.listing(path), own_text(source, self.folder))]
            for name, kernel in each.kernels.items():
                threads.setdefault(name, set()).add(kernel['.max_flat_workgroup_size'])
        return wrong + self.wrong_bounds(source, wanted, threads)

    def wrong_bounds(self, source, wanted, threads):
        wrong = [f'{name}: bounds {sorted(each)}, of each architecture another' for name, each in threads.items()
                 if len(each) > 1]
        compiled = {name: (wanted.get(name) or str(MOST_THREADS), min(each)) for name, each in threads.items()}
        return wrong + [f'{name}: .max_flat_workgroup_size is {compiled[name][1]}, wanted {compiled[name][0]}'
                        for name in sorted(differing(source, compiled, self.compile_with))]

    def listing(self, path):
        run = subprocess.run([self.objdump, '-d', '--no-show-raw-insn', str(path)], capture_output=True, text=True,
                             check=True)
        return run.stdout


def objects_by_module(folder):
    """{module: its files}; of NAME.gfx942.co the module is NAME."""
    found = {}
    for path in sorted(folder.glob('*.gfx*.co')):
        found.setdefault(path.name.split('.')[0], []).append(path)
    return found


def main():
    parser = argparse.ArgumentParser(description="Checks AMD's code objects of a build.")
    parser.add_argument('folder', type=Path)
    parser.add_argument('--objdump', default='llvm-objdump-22')
    parser.add_argument('--sources', type=Path, default=ROOT / 'src')
    parser.add_argument('compiler', nargs='+', help='after --, with its options')
    arguments = parser.parse_args()
    modules = objects_by_module(arguments.folder)
    if not modules:
        print(f'skipped: no code objects in {arguments.folder}')
        return SKIPPED
    if not shutil.which(arguments.objdump):
        print(f'skipped: {arguments.objdump} is not installed')
        return SKIPPED
    checker = Checker(arguments.objdump, arguments.compiler, arguments.sources)
    checker.processors = {path.name.split('.')[1] for paths in modules.values() for path in paths}
    sources = {path.stem: path for path in arguments.sources.glob('kernels/gpu/**/*.cu')
               if not path.stem.endswith('_sm90')}
    failed = 0
    for name in sorted(sources | modules):
        if name not in sources:
            continue  # of a source that is no more
        try:
            wrong = checker.check(sources[name], modules.get(name, []))
        except Malformed as error:
            wrong = [str(error)]
        failed += bool(wrong)
        print(f'{name}: {"; ".join(wrong) or "passed"}')
    print(f'{len(sources) - failed} passed, {failed} failed ({", ".join(sorted(checker.processors))})')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
