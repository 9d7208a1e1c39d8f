#!/usr/bin/env python3
# Runs the test cases of the onnx package on rung, and writes docs/onnx.md: what passes, and why others are refused.
# SPDX-License-Identifier: Apache-2.0
#
#   PYTHONPATH=build/ci/python PYTHON tools/onnx_page.py [--only REGEX] [--json FILE] [--check] [--device WORD]
#
# With another device, such as cuda or emu:gfx942, it prints the counts and the reasons, and leaves the page. --jobs N
# runs cases in N processes.
#
# PYTHON has the packages onnx and ml_dtypes. Cases run in a child process: one that crashes or hangs ends alone, and
# the cases behind it run in a new child.
import argparse
import concurrent.futures
import json
import re
import select
import subprocess
import sys
import threading
import warnings
from collections import Counter, defaultdict
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'onnx.md'
HEAD = """# ONNX's own test cases

These are the test cases of the `onnx` package {version}, one for each form of each operator, as `rung.onnx_backend`
runs them on a processor. *Frozen* cases pass with inputs as constants of the plan, as their values decide shapes.
Element types that rung's tensors do not have are carried by wider ones that hold each value; float64, strings and
complex numbers have none and are refused. Two cases of DFT count as wrong: the package computes what cases want with
the installed NumPy, and NumPy 2 transforms in f32. It gives noise of 2e-7 where the exact result, and rung's, is 0.
With NumPy 1.26, which transforms in f64, both pass. `tools/onnx_page.py` writes this page.

An emulated MI300X (`--device emu:gfx942`) passes the same cases, and refuses the same ones for the same reasons. Those
of Det, FlexAttention, MaxUnpool, TfIdfVectorizer, `ai.onnx.ml` and crops by Resize were not tried there.

The package's own runner gives the same results; what is refused fails there with its reason. `python -m pytest` runs
this file:

```python
import onnx.backend.test
import rung.onnx_backend

runner = onnx.backend.test.BackendTest(rung.onnx_backend, __name__).include("^test_.*_cpu$")
globals().update({{name: cases for name, cases in runner.test_cases.items() if "Node" in name}})
```

| Kind | Cases | Passed | Frozen | Refused | Wrong | Crashed |
|---|---:|---:|---:|---:|---:|---:|
"""
BY_OPERATOR = """
## By operator

| Operator | Cases | Passed | Frozen | Not passed, and why |
|---|---:|---:|---:|---|
"""
KINDS = ('node', 'simple', 'pytorch-converted', 'pytorch-operator')
CASE_LIMIT_S = 30


def cases(only):
    """Returns the cases by name, in their order."""
    from onnx.backend.test.loader import load_model_tests
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        found = {f'{kind}/{case.name}': case for kind in KINDS for case in load_model_tests(kind=kind)}
    return {name: case for name, case in found.items() if not only or re.search(only, name)}


def data_sets(case):
    """Yields the model once, then pairs of inputs and wanted outputs."""
    import onnx
    from onnx import numpy_helper
    if case.model_dir is None:
        yield case.model
        for inputs, outputs in case.data_sets:
            yield tuple([numpy_helper.to_array(t) if isinstance(t, onnx.TensorProto) else t for t in part]
                        for part in (inputs, outputs))
        return
    model = onnx.load(Path(case.model_dir) / 'model.onnx')
    yield model
    for folder in sorted(Path(case.model_dir).glob('test_data_set*')):
        yield tuple([read(folder / f'{word}_{i}.pb', value) for i, value in enumerate(values)
                     if (folder / f'{word}_{i}.pb').exists()]
                    for word, values in (('input', model.graph.input), ('output', model.graph.output)))


def read(path, value):
    import onnx
    from onnx import numpy_helper
    readers = {'sequence_type': (onnx.SequenceProto, numpy_helper.to_list),
               'optional_type': (onnx.OptionalProto, numpy_helper.to_optional)}
    proto, convert = readers.get(value.type.WhichOneof('value'), (onnx.TensorProto, numpy_helper.to_array))
    message = proto()
    message.ParseFromString(path.read_bytes())
    return convert(message)


def run(case, device):
    """Runs a case. Returns its outcome, passed, frozen, refused or wrong, and the reason."""
    import rung
    import rung.onnx_backend
    from onnx.backend.test.runner import Runner
    model, *sets = data_sets(case)
    prepared = rung.onnx_backend.Prepared(model, device)
    for inputs, wanted in sets:
        try:
            outputs = prepared.run(inputs)
        except rung.Error as error:
            return 'refused', str(error)
        try:
            Runner.assert_similar_outputs(wanted, list(outputs), rtol=case.rtol, atol=case.atol)
        except AssertionError as error:
            return 'wrong', ' '.join(str(error).split())[:300]
    return ('frozen' if prepared.frozen else 'passed'), ''


def operators(case):
    """Returns the operator that a case is about."""
    if case.name.endswith('_expanded'):
        return '(definitions by other operators)'
    kinds = {'.'.join(filter(None, (node.domain, node.op_type))) for node in next(data_sets(case)).graph.node}
    return kinds.pop() if len(kinds) == 1 else '(several)'


def work(only, device):
    """Runs the cases named on standard input, one a line, and answers each with a line of JSON."""
    warnings.simplefilter('ignore')
    all_cases = cases(only)
    print('ready', flush=True)
    for line in sys.stdin:
        case = all_cases[line.strip()]
        try:
            outcome, reason = run(case, device)
        except Exception as error:  # any other exception is a bug, of rung's module or of this runner
            outcome, reason = 'crashed', f'{type(error).__name__}: {error}'
        print(json.dumps({'outcome': outcome, 'reason': reason}), flush=True)


class Child:
    """A process that runs cases until it is ended, or ends itself."""

    def __init__(self, only, device):
        command = [sys.executable, __file__, '--work', '--device', device] + (['--only', only] if only else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()

    def run(self, name):
        self.process.stdin.write(name + '\n')
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], CASE_LIMIT_S)
        line = self.process.stdout.readline() if ready else ''
        if line:
            return json.loads(line)
        self.process.kill()
        return {'outcome': 'crashed', 'reason': f'status {self.process.wait()}' if ready else
                f'no answer within {CASE_LIMIT_S} s'}


def results(only, device, jobs):
    """Returns what each case gave, from `jobs` processes side by side."""
    all_cases, found = cases(only), {}
    names = iter(list(all_cases))
    lock = threading.Lock()

    def share():
        child = None
        while True:
            with lock:
                name = next(names, None)
            if name is None:
                break
            child = child or Child(only, device)
            found[name] = child.run(name) | {'operator': operators(all_cases[name])}
            if child.process.poll() is not None:
                child = None
        if child:
            child.process.stdin.close()
            child.process.wait()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(share) for _ in range(jobs)]:
            done.result()
    return {name: found[name] for name in all_cases}


def short(reason):
    """Returns a reason without the file, the node's name and the numbers of one case."""
    reason = re.sub(r"^'[^']*': ", '', reason)
    reason = re.sub(r"^node '[^']*' \([^)]*\): ", '', reason)
    reason = re.sub(r"^(input|output|shape of|tensor) '[^']*'", r'\1', reason)
    return re.sub(r"'[^']*'", "'...'", re.sub(r'-?\b\d+\b(,\d+)*', 'N', reason))[:100]


def table(found):
    """Yields the page's lines for the results by operator."""
    rows = defaultdict(list)
    for result in found.values():
        rows[result['operator']].append(result)
    for operator, results_ in sorted(rows.items()):
        count = Counter(result['outcome'] for result in results_)
        reasons = Counter(f'{result["outcome"]}: {short(result["reason"])}' if result['outcome'] != 'refused'
                          else short(result['reason']) for result in results_ if result['reason'])
        why = '; '.join(f'{reason} ({times})' if times > 1 else reason for reason, times in reasons.most_common())
        yield (f'| {operator} | {len(results_)} | {count["passed"]} | {count["frozen"]} | '
               f'{why.replace("|", "/").replace("<", "&lt;")} |\n')


def page(found):
    import onnx
    lines = [HEAD.format(version=onnx.__version__)]
    for kind in KINDS:
        count = Counter(result['outcome'] for name, result in found.items() if name.startswith(f'{kind}/'))
        numbers = ' | '.join(str(count[word]) for word in ('passed', 'frozen', 'refused', 'wrong', 'crashed'))
        lines.append(f'| {kind} | {sum(count.values())} | {numbers} |\n')
    return ''.join([*lines, BY_OPERATOR, *table(found)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--only')
    parser.add_argument('--json')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--jobs', type=int, default=1, help='processes side by side')
    parser.add_argument('--work', action='store_true')
    options = parser.parse_args()
    if options.work:
        return work(options.only, options.device)
    try:
        import ml_dtypes  # noqa: F401
        import onnx  # noqa: F401
    except ImportError as error:
        print(f'SKIPPED: {error}')
        return 0
    found = results(options.only, options.device, options.jobs)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    print(dict(Counter(result['outcome'] for result in found.values())))
    if options.device != 'cpu':
        reasons = Counter(short(result['reason']) for result in found.values() if result['reason'])
        print(*(f'{times:5} {reason}' for reason, times in reasons.most_common()), sep='\n')
        return 0
    if options.check and PAGE.read_text() != page(found):
        sys.exit(f'{PAGE} is not current: run python3 tools/onnx_page.py')
    if not options.check and not options.only:
        PAGE.write_text(page(found))
    return 0


if __name__ == '__main__':
    sys.exit(main())
