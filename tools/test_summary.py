#!/usr/bin/env python3
# Prints how many tests passed, failed and were skipped, from the results file of a ctest run; names the last two kinds.
# SPDX-License-Identifier: Apache-2.0
import sys
import xml.etree.ElementTree as ElementTree


def main(path):
    suite = ElementTree.parse(path).getroot()
    total, failed = int(suite.get('tests')), int(suite.get('failures'))
    skipped = int(suite.get('skipped', 0)) + int(suite.get('disabled', 0))
    for case in suite.iter('testcase'):
        if case.get('status') != 'run':
            print(f"{case.get('status')}: {case.get('name')}")
    line = f'{total - failed - skipped} passed, {failed} failed'
    print(line + (f', {skipped} skipped' if skipped else ''))
    return 1 if failed or total == skipped else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
