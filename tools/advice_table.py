#!/usr/bin/env python3
# Writes the tables of docs/advise.md: what `rung advise` finds in the recorded traces, beside what is really there.
# SPDX-License-Identifier: Apache-2.0
#
# advice_table.py RUNG [--into docs/advise.md | --check docs/advise.md]. truth.json beside the traces says of each what
# was planted, what else is there, and what each remedy brought when it was timed without a profiler.
import argparse
import json
import subprocess
import sys
from pathlib import Path

from page_tables import PageTables

PLACES = PageTables('advice')
TRACES = Path(__file__).resolve().parent.parent / 'tests' / 'data' / 'traces'
MOST_UNCLASSIFIED, MOST_MISSING_WALL = 0.03, 0.01
NEAR = 2.0      # a bound within this factor of the gain is near


def advise(rung, name):
    done = subprocess.run([rung, 'advise', str(TRACES / f'{name}.json.gz'), '--json'], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{name}: {done.stderr}')
    return json.loads(done.stdout)


def row(*cells):
    return '| ' + ' | '.join(cells) + ' |\n'


def listed(ids):
    return ', '.join(f'`{i}`' for i in ids) or '–'


def wrong_sums(name, summary):
    """Sentences on figures that do not add up."""
    shares = sum(c['share'] for c in summary['categories'])
    wall = summary['busy_ms'] + sum(g['ms'] for g in summary['gaps'])
    if abs(shares - 1) > 1e-9:
        yield f'{name}: shares of categories add up to {shares}'
    if summary['unclassified_share'] >= MOST_UNCLASSIFIED:
        yield f'{name}: {summary["unclassified_share"]:.1%} unclassified'
    if abs(wall / summary['wall_ms'] - 1) > MOST_MISSING_WALL:
        yield f'{name}: busy and gaps are {wall} ms of {summary["wall_ms"]} ms'


class Score:
    def __init__(self):
        self.planted = self.found = self.claims = self.true_claims = 0
        self.wrong = []

    def add(self, name, planted, present, claimed):
        self.planted += len(planted)
        self.found += len(planted & claimed)
        self.claims += len(claimed)
        self.true_claims += len(claimed & (planted | present))
        self.wrong += [f'{name}: {i} is planted and was not found' for i in sorted(planted - claimed)]
        self.wrong += [f'{name}: {i} was found and is not there' for i in sorted(claimed - planted - present)]

    def line(self):
        recall = self.found / max(self.planted, 1)
        precision = self.true_claims / max(self.claims, 1)
        return (f'Recall {recall:.2f} ({self.found} of {self.planted} planted), precision {precision:.2f} '
                f'({self.true_claims} of {self.claims} findings).\n')


def found_table(truth, answers, score):
    text = row('trace', 'step, ms', 'planted', 'there too', 'found') + row(*['---'] * 5)
    for name, facts in truth['scenarios'].items():
        claimed = [f['id'] for f in answers[name]['findings']]
        score.add(name, set(facts['planted']), set(facts['present']), set(claimed))
        text += row(f'`{name}`', f'{answers[name]["step_ms"]:.2f}', listed(facts['planted']),
                    listed(facts['present']), listed(claimed))
    return text


def bound_table(truth, answers, wrong):
    """What the remedies brought, beside the most that was said of them."""
    text = row('trace', 'finding', 'step without a profiler, ms', 'with the remedy', 'gain', 'bound', 'bound / gain')
    text += row(*['---'] * 7)
    near = 0
    for name, facts in truth['scenarios'].items():
        for finding, times in facts.get('cures', {}).items():
            bounds = [f['loaded_bound_ms'] for f in answers[name]['findings'] if f['id'] == finding]
            gain = times['gain_ms']
            if gain <= 0:
                ratio = 'no gain'
            elif not bounds:
                ratio = 'not found'
            else:
                ratio = f'{bounds[0] / gain:.2f}'
                near += bounds[0] / gain <= NEAR
                if bounds[0] < gain:
                    wrong.append(f'{name}: {finding} brought {gain} ms, bound {bounds[0]:.4f} ms')
            text += row(f'`{name}`', f'`{finding}`', f'{times["before_ms"]:.3f}', f'{times["after_ms"]:.3f}',
                        f'{gain:.3f}', f'{bounds[0]:.3f}' if bounds else '–', ratio)
    return text + f'\n{near} bounds are within {NEAR:g} times the gain.\n'


def tables(rung):
    """The tables by their places in the page, and what is wrong, in sentences."""
    truth = json.loads((TRACES / 'truth.json').read_text())
    answers = {name: advise(rung, name) for name in truth['scenarios']}
    wrong = [w for name, answer in answers.items() for w in wrong_sums(name, answer)]
    score = Score()
    found = found_table(truth, answers, score)
    bounds = bound_table(truth, answers, wrong)
    return {'found': found + '\n' + score.line(), 'bounds': bounds}, wrong + score.wrong


def main():
    parser = argparse.ArgumentParser(description='The tables of docs/advise.md.')
    parser.add_argument('rung', help='the tool')
    parser.add_argument('--into', type=Path, help='a page between whose marks the tables go')
    parser.add_argument('--check', type=Path, help='fail unless the page has these tables and nothing is wrong')
    arguments = parser.parse_args()
    texts, wrong = tables(arguments.rung)
    if arguments.into:
        arguments.into.write_text(PLACES.replaced(arguments.into.read_text(), texts))
    if not arguments.into and not arguments.check:
        print('\n'.join(texts.values()), end='')
    if arguments.check and arguments.check.read_text() != PLACES.replaced(arguments.check.read_text(), texts):
        wrong.append(f'{arguments.check}: other tables; write them with --into')
    if wrong:
        sys.exit('\n'.join(wrong))


if __name__ == '__main__':
    main()
