#!/usr/bin/env python3
# What the owner of an AMD GPU runs once: all that is tested and timed on one, and one file to send back.
# SPDX-License-Identifier: Apache-2.0
#
# ./dev check-amd builds what it needs and calls it. Every step is a process of its own, and the next one runs whatever
# became of it; the file says which failed, with all that each printed. Exit status 0: every step passed.
import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / 'tests' / 'data'
# What a machine with ROCm says of itself: files as they are, programs by what they print.
FACT_FILES = ('/opt/rocm/.info/version', '/sys/module/amdgpu/version', '/etc/os-release')
FACT_PROGRAMS = (
    ('uname', '-srvm'),
    ('lscpu',),
    ('rocminfo',),
    ('rocm-smi', '--showproductname', '--showdriverversion', '--showclocks', '--showmaxpower', '--showmeminfo', 'vram'),
    ('ls', '-l', '/opt/rocm/lib'),
)
MOST_FACT_BYTES = 65536
SENT_BACK = ('.json', '.md', '.html')  # of what a step writes; a plan holds the weights


@dataclasses.dataclass
class Step:
    name: str
    what: str
    commands: list  # in turn, until one fails
    seconds: int = 900


def steps_of(arguments, folder):
    tool, tests, model = arguments.build / 'rung', arguments.build / 'tests', arguments.model
    on_device = ['--device', arguments.device]

    def tool_step(name, what, *commands, seconds=900):
        return Step(name, what, [[tool, *command] for command in commands], seconds)

    def test_step(name, what, programs, seconds=3600):
        return Step(name, what, [[tests / f'rung_{program}_tests', f'--gtest_filter={filter}']
                                 for program, filter in programs], seconds)

    def verify(path, *more):
        return ['verify', path, *on_device, *more, '--json']

    short, minilm, full = ['--shape', 'input_ids=1,9'], ['--shape', 'input_ids=1,128'], DATA / 'pi0_full'
    weights = ['--random-weights', '1']
    return [
        tool_step('device', 'the device opens, and a small model runs on it',
                  ['bench', DATA / 'bert_tiny', *on_device, *short, '--runs', '20', '--json']),
        test_step('headers', 'declarations by hand against the headers of ROCm, where it was built with them',
                  [('device', 'Hip*Headers.*')]),
        test_step('runtime', 'memory, streams, graphs, copies, forks',
                  [('kernels', 'GpuTarget.*:GpuCopyRanges.*'), ('session', '*Gpu*'), ('api', '*GpuPublicModel*')]),
        test_step('conformance', 'every kernel row on every problem, functions on floats',
                  [('conformance', arguments.rows)]),
        Step('kernels', 'the time of every kernel row on the layers of Pi0',
             [[arguments.build / 'bench' / 'kernel_bench', arguments.device]]),
        tool_step('bert_tiny', 'a BERT in f32', verify(DATA / 'bert_tiny', *short)),
        tool_step('pi0_tiny', 'a policy in its checkpoint\'s types', verify(DATA / 'pi0_tiny')),
        tool_step('pi0_tiny_masked', 'the same with masks', verify(DATA / 'pi0_tiny_masked')),
        tool_step('minilm', 'all-MiniLM-L6-v2, verified and climbed', verify(model, *minilm),
                  ['climb', model, *on_device, *minilm, '--budget', '3m', '--out', folder / 'minilm', '--json'],
                  ['profile', folder / 'minilm' / 'plan.rung', '--json']),
        tool_step('pi0', 'the headline: a policy of full size with random weights, climbed and timed at 20 Hz',
                  ['climb', full, *on_device, *weights, '--budget', '15m', '--out', folder / 'pi0', '--json'],
                  ['bench', folder / 'pi0' / 'plan.rung', '--json'],
                  ['bench', folder / 'pi0' / 'plan.rung', '--rate', '20', '--runs', '60', '--json'],
                  ['profile', folder / 'pi0' / 'plan.rung', '--json'], seconds=3600),
    ]


def run_command(command, seconds, log):
    """Appends all that it prints to the log. What went wrong; '': nothing."""
    log.write(f'$ {" ".join(map(str, command))}\n'.encode())
    log.flush()
    environment = os.environ | {'RUNG_TEST_GPU': 'hip'}
    try:
        done = subprocess.run(list(map(str, command)), stdout=log, stderr=subprocess.STDOUT, env=environment,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f'hung for {seconds} s'
    except OSError as error:
        return f'not started: {error}'
    if done.returncode < 0:
        return f'ended by signal {-done.returncode}'
    return f'exit code {done.returncode}' if done.returncode else ''


def run_step(step, folder):
    start, failure, path = time.monotonic(), '', folder / f'{step.name}.log'
    with path.open('wb') as log:
        for command in step.commands:
            failure = run_command(command, step.seconds, log)
            if failure:
                break
    text = path.read_text(errors='replace')
    # Tests of a device skip where there is none, which is no proof of anything.
    if not failure and '[  PASSED  ] 0 tests' in text:
        failure = 'skipped'
    return {'step': step.name, 'what': step.what, 'passed': not failure, 'failure': failure,
            'seconds': round(time.monotonic() - start, 1), 'results': json_lines(text)}


def json_lines(text):
    """The objects that commands printed with --json."""
    found = []
    for line in text.splitlines():
        if line.startswith('{'):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def facts():
    told = {'platform': platform.platform(), 'python': platform.python_version()}
    for path in FACT_FILES:
        if Path(path).is_file():
            told[path] = Path(path).read_text(errors='replace')[:MOST_FACT_BYTES]
    for command in FACT_PROGRAMS:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            told[' '.join(command)] = f'not told: {error}'
        else:
            told[' '.join(command)] = (done.stdout + done.stderr)[:MOST_FACT_BYTES]
    told['commit'] = subprocess.run(['git', '-C', str(ROOT), 'rev-parse', 'HEAD'], capture_output=True, text=True,
                                    check=False).stdout.strip()
    return told


def pack(folder, out):
    """What was written, but for plans and traces of weights: one archive."""
    with tarfile.open(out, 'w:gz') as archive:
        for path in sorted(folder.rglob('*')):
            if path.is_file() and path.suffix in (*SENT_BACK, '.log'):
                archive.add(path, f'check-amd/{path.relative_to(folder)}')


def chosen_steps(arguments, folder):
    steps = steps_of(arguments, folder)
    if not arguments.steps:
        return steps
    wanted = arguments.steps.split(',')
    names = [step.name for step in steps]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f'check-amd: there is no step {", ".join(unknown)}; the steps are {", ".join(names)}')
    return [step for step in steps if step.name in wanted]


def parsed():
    parser = argparse.ArgumentParser(description='Runs all that is tested and timed on an AMD GPU.')
    parser.add_argument('--build', type=Path, default=ROOT / 'build' / 'ci', help='where rung and its tests were built')
    parser.add_argument('--model', type=Path, default=ROOT / '.cache' / 'models' / 'all-MiniLM-L6-v2')
    parser.add_argument('--device', default='hip')
    parser.add_argument('--steps', default='', help='only these, by their names with commas between')
    parser.add_argument('--rows', default='*Gpu*', help='the tests of the step conformance, as a filter of GoogleTest')
    parser.add_argument('--out', type=Path, default=Path('check-amd.tar.gz'), help='the one file to send back')
    return parser.parse_args()


def main():
    arguments = parsed()
    arguments.build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix='check-amd-') as name:
        folder = Path(name)
        summary = {'facts': facts(), 'device': arguments.device, 'steps': []}
        for step in chosen_steps(arguments, folder):
            print(f'{step.name}: {step.what}', flush=True)
            summary['steps'].append(run_step(step, folder))
            last = summary['steps'][-1]
            outcome = 'passed' if last['passed'] else 'FAILED: ' + last['failure']
            print(f'  {outcome} after {last["seconds"]} s', flush=True)
            # After each step: what was found is there if the machine goes down.
            (folder / 'summary.json').write_text(json.dumps(summary, indent=1))
            pack(folder, arguments.out)
    failed = [step['step'] for step in summary['steps'] if not step['passed']]
    print(f'{len(summary["steps"]) - len(failed)} of {len(summary["steps"])} steps passed'
          f'{"; failed: " + ", ".join(failed) if failed else ""}\nto send back: {arguments.out.resolve()}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
