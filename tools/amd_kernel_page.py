#!/usr/bin/env python3
# Writes docs/amd_kernels.md, what the machine code of AMD's kernels takes and how wide it loads; with --check compares.
# SPDX-License-Identifier: Apache-2.0
#
#   amd_kernel_page.py build/ci --compiler clang++-22 [--check]
#
# `rung isa` reads the code objects of the build; the LDS that launches add is what the rows of the conformance problems
# ask for on each architecture (RowLaunchesOnCdna writes it down); `rung occupancy` counts waves with it. Wrong is
#   - a kernel that spills vector registers, uses scratch or has empty branches, whose work a compiler may have lost, on
#     any architecture of the build;
#   - one that moves less than 75 % of its loops' bytes by accesses of 16, for which no reason stands in REASONS;
#   - a reason that no kernel needs;
#   - under --check, a page that is not the one on disk. Another compiler allocates other registers: that is compared
#     where the page was written with the same version alone.
# Exit status 0: all is well; 77: the build has no code objects; 1 otherwise.
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

SKIPPED = 77
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'amd_kernels.md'
EXECUTED, COMPILED = ('gfx942', 'gfx950'), ('gfx90a', 'gfx942', 'gfx950')
WIDE_SHARE = 0.75
COLUMNS = 120  # of the page's text
WIDTHS = ('16', '12', '8', '4', '2', '1')
LIMITS = {'vector registers': 'VGPRs', 'scalar registers': 'SGPRs', 'LDS': 'LDS', 'wave slots': 'slots',
          'work-group slots': 'slots'}
# Kernels below 75 %, by a pattern of their names, and why.
REASONS = {
    r'attention_cache_join_.*':
        'Neighbouring lanes take neighbouring columns of the sums, 4 bytes each, and all read the same two statistics.',
    r'attention_cache_.*_f8_.*':
        'Lanes side by side take 8 bytes of a key each, as many columns as of one of 16 bits: with twice as many, '
        'queries and sums would not fit the registers.',
    r'attention_cache_(?!join).*_[48]':
        'Keys and values are in 16-byte accesses. Those of 4 bytes are the way for a mask, of each row and key, which '
        'only some attentions have.',
    r'attention_cdna_.*_32_.*_fours':
        'Heads that are multiples of four columns alone: their rows begin at multiples of 8 bytes.',
    r'attention_cdna_.*_32_2_.*_[14]':
        'Keys and values, and the masks of whole groups of keys, are in 16-byte accesses. Those of 4 bytes are the way '
        'for the mask of a group that ends early, or with a stride.',
    r'attention_join_cdna_.*':
        'For 16 bytes of sums a split has two floats more of a row, and one of them is read twice.',
    r'attention_mma_.*':
        'Keys and values, and the masks of whole runs of keys, are in 16-byte accesses. Those of 4 bytes are the way '
        'for the mask of a run that ends early, or with a stride; those of 8 read the table of runs that keys lie in.',
    r'attention_portable_.*':
        'The row of f32 and of shapes that no other takes: neighbouring lanes take neighbouring elements of a key, one '
        'each.',
    r'cache_heads_.*':
        'Neighbouring lanes take neighbouring columns of a head, one of each half: heads are short, and rows of any '
        'width.',
    r'cast_f8_.*':
        'The one loop is for the last elements, fewer than four; all others are moved four at a time.',
    r'(conv|pool)_windows':
        'Elements of windows at any stride, of types that are known only as it runs. Passes make matrix products of '
        'almost all convolutions.',
    r'conv_depthwise_1_.*':
        'The way for channels that are no multiple of eight: an element at a time, lanes along the channels.',
    r'conv_depthwise_8_.*':
        'Elements and weights are in 16-byte accesses; those of 8 are the way for bools of the function that loads '
        'vectors of any type.',
    r'conv_few_channels_.*':
        'Elements of an image come one at a time, as rows of three channels have no alignment, and then lie in shared '
        'memory; rows of w are in 16-byte accesses.',
    r'conv_tiles_.*_single':
        'The way for channels that are no multiple of 16 bytes, such as three of an image: an element at a time.',
    r'conv_tiles_.*_(64|32)':
        'Windows and rows of w are in 16-byte accesses; smaller ones end results of channels that are no multiple of '
        'eight.',
    r'copy_ranges':
        'A loop for each unit of 16, 8, 4, 2 and 1 bytes; the widest that both ends are aligned to runs.',
    r'linear_gemv_.*':
        'Rows of any length: the vectors of w, of the size in the name, and groups of four elements of x.',
    r'linear_mma_.*': 'Rows of any length, by vectors of as many elements as the name says.',
    r'matmul_cdna_.*_single_single_.*':
        'The way for matrices whose strides are no multiples of 16 bytes: an element at a time.',
    r'recurrence_.*':
        'A warp computes one number of a state; its lanes take neighbouring weights, one each: states are short.',
    r'scatter_.*': 'Each thread reads every index, and joins the updates of its own elements one after another.',
    r'linear_tiled_.*': 'Products of any types and strides, known only as it runs, for what no other row takes.',
    r'group_norm_(pairs|elements)':
        'The ways for groups whose channels are no multiple of eight: two elements at a time, or one.',
    r'group_norm_vectors|pool_vectors':
        'Elements are in 16-byte accesses; smaller ones are the way for bools of the functions that load and store '
        'vectors of any type.',
    r'norm_long': 'Rows too long for registers, of any types and strides: an element at a time, lanes in a row.',
    r'(reduce|cumsum).*': 'Any types and strides, known only as it runs: an element at a time.',
    r'sample_.*|top_k_.*': 'One element a lane, lanes in a row: a row of logits begins at any element.',
    r'quantize_(bf16|f16)_to_i8_8':
        'Loads are of 16 bytes. Eight results are 8 bytes, and two loops store them: one for rows of finite numbers, '
        'one for all.',
    r'quantize_.*_1':
        'The way for rows that do not begin or end at multiples of a vector: an element at a time.',
}
INTRODUCTION = '''# What AMD's kernels take

Every kernel that is compiled for AMD, by its machine code alone: `tools/amd_kernel_page.py` writes this page from what
`rung isa` and `rung occupancy` say of a build, and a test compares ({compiler}). No kernel spills vector registers or
uses scratch. [amd_code.md](amd_code.md) says what the words mean.

*LDS* is of a work-group, in bytes: what the kernel declares and what launches add, least and most of the conformance
problems; `-`: it does not fit. *Waves* are those of a SIMD, of 8 at most, and what limits them; with the least LDS and
with the most, where that differs. *16-byte share* is of the bytes that loops move to and from memory; `-`: loops move
none. *LDS widths* are how many accesses to LDS in loops move how many bytes a lane. Two values are those of gfx942 and
gfx950. `T` stands for bf16 and f16, in this order where *or* tells them apart.
'''


def output_of(command, **more):
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if run.returncode:
        raise SystemExit(f'{" ".join(map(str, command))}: {run.stderr.strip() or run.stdout.strip()[-2000:]}')
    return run.stdout


def launches(tests, target):
    """By kernel: the bytes of LDS that launches on `target` add, as a set."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'launches'
        output_of([tests, f'--gtest_filter=*RowLaunchesOnCdna*/{target}'],
                  env=os.environ | {'RUNG_TEST_LAUNCHES': str(path)})
        found = {}
        for name, added in re.findall(r'^  (\S+) .* together, (\d+) bytes', path.read_text(encoding='utf-8'), re.M):
            found.setdefault(name, set()).add(int(added))
    return found


class Build:
    def __init__(self, folder):
        self.tool, self.objects = folder / 'rung', folder / 'gpu'
        self.tests = folder / 'tests' / 'rung_conformance_tests'
        self.waves = {}  # by file and added bytes: by kernel

    def modules(self):
        return sorted({path.name.split('.')[0] for path in self.objects.glob('*.gfx*.co')})

    def targets(self, module):
        """Those that have code: builds that only check have none for what nothing runs (cmake/gpu_modules.cmake)."""
        return [target for target in COMPILED
                if target in EXECUTED or (self.objects / f'{module}.{target}.co').exists()]

    def kernels(self, module, target):
        path = self.objects / f'{module}.{target}.co'
        return json.loads(output_of([self.tool, 'isa', path, '--json']))['kernels']

    def occupancy(self, module, target, kernel, added):
        key = (module, target, added)
        if key not in self.waves:
            path = self.objects / f'{module}.{target}.co'
            read = json.loads(output_of([self.tool, 'occupancy', path, '--lds', added, '--json']))
            self.waves[key] = {each['name']: each['occupancy'] for each in read['kernels']}
        return self.waves[key][kernel]


def both(values):
    """What is the same on both architectures once, else both."""
    return values[0] if values[0] == values[1] else ' / '.join(values)


def span(least, most):
    return f'{least}' if least == most else f'{least}-{most}'


def waves_text(least, most):
    """Waves with the least LDS and with the most."""
    texts = [f'{each["waves_per_simd"]:g} {LIMITS[each["limit"]]}' if each['groups'] else 'none'
             for each in (least, most)]
    return texts[0] if texts[0] == texts[1] else ', '.join(texts)


def share_text(kernel):
    moved = sum(kernel['accesses_by_bytes']['memory_in_loops'].values())
    return f'{100 * kernel["wide_share_in_loops"]:.0f} %' if moved else '-'


def widths_text(counts):
    return ', '.join(f'{counts[width]} of {width}' for width in WIDTHS if counts[width]) or '-'


def row(build, module, name, of, added):
    """The cells of one kernel, but its name; `of` is what was read for each architecture."""
    kernels = [of[target] for target in EXECUTED]
    lds, waves = [], []
    for target, kernel in zip(EXECUTED, kernels):
        dynamic = added[target].get(name)
        if dynamic is None and any(name in each for each in added.values()):
            lds.append('-'), waves.append('-')  # it does not fit there
            continue
        dynamic = dynamic or {0}
        least, most = min(dynamic), max(dynamic)
        lds.append(span(kernel['lds_bytes'] + least, kernel['lds_bytes'] + most))
        waves.append(waves_text(*(build.occupancy(module, target, name, each) for each in (least, most))))
    return (both([str(kernel['vgprs']) for kernel in kernels]), both(lds), both(waves),
            both([share_text(kernel) for kernel in kernels]),
            both([widths_text(kernel['accesses_by_bytes']['lds_in_loops']) for kernel in kernels]))


def wrong_of(name, target, kernel):
    for key in ('vgpr_spills', 'scratch_bytes', 'empty_branches'):
        if kernel[key]:
            yield f'{name}: {key} is {kernel[key]} on {target}, wanted 0'


def reason_of(name):
    return next((pattern for pattern in REASONS if re.fullmatch(pattern, name)), None)


def table(rows):
    """Kernels that differ in the type alone share a row; where their values differ it has both."""
    merged = {}
    for name, cells in rows:
        merged.setdefault(re.sub(r'(?<=_)(bf16|f16)(?=_|$)', 'T', name), {})[name] = cells
    for key, kernels in merged.items():
        cells = [' or '.join(dict.fromkeys(values)) for values in zip(*kernels.values())]
        yield f'| {key if len(kernels) > 1 else next(iter(kernels))} | {" | ".join(cells)} |'


def make_page(build, compiler):
    """The page, and what is wrong with the kernels."""
    added = {target: launches(build.tests, target) for target in EXECUTED}
    lines = ['', '| kernel | VGPRs | LDS | waves | 16-byte share | LDS widths |',
             '| --- | --- | --- | --- | --- | --- |']
    wrong, needed = [], {}
    for module in build.modules():
        read = {target: {kernel['name']: kernel for kernel in build.kernels(module, target)}
                for target in build.targets(module)}
        rows = []
        for name in read[EXECUTED[0]]:
            of = {target: kernels[name] for target, kernels in read.items()}
            for target, kernel in of.items():
                wrong += wrong_of(name, target, kernel)
            cells = row(build, module, name, of, added)
            if min(kernel['wide_share_in_loops'] for kernel in of.values()) < WIDE_SHARE:
                pattern = reason_of(name)
                if pattern is None:
                    wrong.append(f'{name}: {cells[3]} of the bytes of its loops are in 16-byte accesses, '
                                 'and no reason why')
                needed.setdefault(pattern, set()).add(module)
            rows.append((name, cells))
        lines += table(rows)
    lines += ['', '## Why some shares are below 75 %'] if any(needed) else []
    for pattern, modules in needed.items():
        if pattern:
            of = ', '.join(f'`{module}`' for module in sorted(modules))
            lines += ['', *textwrap.wrap(f'{of}: {REASONS[pattern]}', COLUMNS)]
    wrong += [f'the reason of {pattern} is needed by no kernel' for pattern in REASONS if pattern not in needed]
    return INTRODUCTION.format(compiler=compiler) + '\n'.join(lines) + '\n', wrong


def main():
    parser = argparse.ArgumentParser(description="Writes the page about AMD's kernels.")
    parser.add_argument('build', type=Path)
    parser.add_argument('--compiler', default='clang++-22')
    parser.add_argument('--page', type=Path, default=PAGE)
    parser.add_argument('--check', action='store_true')
    arguments = parser.parse_args()
    build = Build(arguments.build.resolve())
    if not build.modules():
        print(f'skipped: no code objects in {build.objects}')
        return SKIPPED
    version = re.search(r'clang version (\S+)', output_of([arguments.compiler, '--version'])).group(1)
    compiler = f'clang {version}'
    page, wrong = make_page(build, compiler)
    if arguments.check:
        there = arguments.page.read_text(encoding='utf-8')
        if f'({compiler})' not in there:
            print(f'not compared: {arguments.page} is of another compiler than {compiler}')
        elif there != page:
            wrong.append(f'{arguments.page} is not what the build gives; tools/amd_kernel_page.py writes it')
    else:
        arguments.page.write_text(page, encoding='utf-8')
    print('\n'.join(wrong) or 'passed')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
