#!/usr/bin/env python3
# Writes docs/exported_kernels.md: launches of exported models before and after the ladder; --check compares.
# SPDX-License-Identifier: Apache-2.0
#
#   python3 tools/exported_kernels.py RUNG [--check]
#
# RUNG is the tool, built with AMD's kernels: the plans are those for an MI300X, which are made without a GPU.
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'exported_kernels.md'
MODELS = ROOT / 'tests' / 'data' / 'exported'
AS_WRITTEN = {'version': 1, 'rungs': [], 'as_written': True}

HEAD = """# Kernels of exported models

Launches of the models in `tests/data/exported` in a plan for an MI300X in the type that the model has: as the author
wrote them, and after the canonical forms and all rungs that are not opt-in. The last columns are of the model's last
layer, with the kernels that are left in it. `tools/exported_kernels.py` writes this page, and a test keeps it current.

| Model | Written | After | Layer written | Layer after | Kernels of the layer |
|---|---:|---:|---:|---:|---|
"""


def scopes(tool, model, *more):
    inputs = model.with_suffix('.in.npz')  # they settle open sizes
    command = [tool, 'inspect', str(model), '--scopes', '--json', '--device', 'emu:gfx942', '--inputs', str(inputs),
               *more]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f'{" ".join(command)}: {ran.stderr}')
    return json.loads(ran.stdout)['scopes']


def launches(scope):
    return scope['launches'] + [launch for inner in scope['scopes'] for launch in launches(inner)]


def layers(scope):
    """Returns the scopes of the largest stack of layers: those whose names are numbers."""
    numbered = [inner for inner in scope['scopes'] if inner['name'].isdigit()]
    stacks = [numbered] + [layers(inner) for inner in scope['scopes'] if not inner['name'].isdigit()]
    return max(stacks, key=len)


def family(kernel):
    """Returns the kernel's op: linear_skinny_cdna is a linear."""
    return re.match(r'layer_norm|rms_norm|masked_mean|l2_normalize|top_k|[a-z0-9]+', kernel).group()


def row(tool, model, as_written):
    written, after = scopes(tool, model, '--recipe', as_written), scopes(tool, model)
    stack = layers(after)
    last = stack[-1] if stack else after  # a block alone is a layer
    before = next(layer for layer in layers(written) if layer['name'] == last['name']) if stack else written
    kinds = Counter(family(launch['kernel']) for launch in launches(last))
    words = ', '.join(name if times == 1 else f'{times} {name}' for name, times in sorted(kinds.items()))
    return (f'| {model.stem} | {len(launches(written))} | {len(launches(after))} | {len(launches(before))} | '
            f'{len(launches(last))} | {words} |\n')


def page(tool):
    with tempfile.TemporaryDirectory() as folder:
        as_written = Path(folder) / 'as_written.json'
        as_written.write_text(json.dumps(AS_WRITTEN))
        return HEAD + ''.join(row(tool, model, str(as_written)) for model in sorted(MODELS.glob('*.pt2'))
                              if not model.stem.startswith('operators'))


def main():
    tool, check = sys.argv[1], '--check' in sys.argv[2:]
    text = page(tool)
    if check and PAGE.read_text() != text:
        sys.exit(f'{PAGE} is not current: run python3 tools/exported_kernels.py {tool}')
    if not check:
        PAGE.write_text(text)


if __name__ == '__main__':
    main()
