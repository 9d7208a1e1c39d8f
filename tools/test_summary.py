#!/usr/bin/env python3
# Prints how many tests passed, failed and were skipped, from the results file of a ctest run; names the last two kinds.
# SPDX-License-Identifier: Apache-2.0
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed, or skipped: only a test that says so itself, or is disabled, counts as skipped."""
    status, skip = case.get('status'), case.find('skipped')
    if status == 'run':
        return 'passed'
    by_itself = skip is not None and skip.get('message', '').startswith('SKIP_')
    return 'skipped' if status == 'disabled' or (status == 'notrun' and by_itself) else 'failed'


def main(path):
    cases = ElementTree.parse(path).getroot().iter('testcase')
    outcomes = [(case.get('name'), outcome(case)) for case in cases]
    for name, what in outcomes:
        if what != 'passed':
            print(f'{what}: {name}')
    count = {what: sum(o == what for _, o in outcomes) for what in ('passed', 'failed', 'skipped')}
    skipped = f", {count['skipped']} skipped" if count['skipped'] else ''
    print(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    return 1 if count['failed'] or not count['passed'] else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
