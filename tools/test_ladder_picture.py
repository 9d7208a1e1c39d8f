#!/usr/bin/env python3
# Tests of the picture of a ladder: a row for each receipt, bars in proportion, text that is text.
# SPDX-License-Identifier: Apache-2.0
import re
import unittest
import xml.etree.ElementTree as ElementTree

import ladder_picture

SVG = '{http://www.w3.org/2000/svg}'


def rung(name, before, ms, accepted=True, attempt=1):
    return {'name': name, 'accepted': accepted, 'before_ms': before, 'ms': ms, 'ratio': before / ms, 'attempt': attempt,
            'ci95': [before / ms * 0.9, before / ms * 1.1], 'reason': f'{before / ms:.2f} x'}


def report(rungs):
    final = rungs[-1]['ms']
    return {'model': 'a <model>', 'device': 'cpu & more', 'dtype': 'f32', 'baseline_ms': 8.0, 'final_ms': final,
            'speedup': 8.0 / final, 'floor_ms': 1.0, 'kernels_before': 9, 'kernels_after': 4, 'rungs': rungs}


def drawn(rungs):
    return ElementTree.fromstring(ladder_picture.picture(report(rungs)))


def widths(picture, css):
    return [float(r.get('width')) for r in picture.iter(SVG + 'rect') if r.get('class') == css]


class DrawsLadders(unittest.TestCase):
    def test_each_receipt_has_its_row(self):
        words = [t.text for t in drawn([rung('reduce', 8, 4), rung('tune', 4, 5, False, 2)]).iter(SVG + 'text')]
        for wanted in ('baseline', 'reduce', 'tune (again)', '4 ms', 'not kept: 0.80 x', 'floor, 1 ms'):
            self.assertIn(wanted, words)

    def test_bars_are_in_proportion(self):
        picture = drawn([rung('reduce', 8, 4)])
        base, rest = widths(picture, 'rest')
        self.assertAlmostEqual(rest / base, 0.5, places=2)
        self.assertEqual(widths(picture, 'gain'), [rest])

    def test_what_was_not_kept_is_hatched_and_may_be_cut_off(self):
        picture = drawn([rung('reduce', 8, 80, False)])
        self.assertEqual(widths(picture, 'gain'), [])
        base, rest = widths(picture, 'rest')
        self.assertAlmostEqual(widths(picture, 'refused')[0], ladder_picture.BARS - rest, places=1)

    def test_names_are_shortened_to_their_column_and_escaped(self):
        picture = drawn([rung('reduce+attention+gemm+projection', 8, 4)])
        words = [t.text for t in picture.iter(SVG + 'text')]
        self.assertTrue(any(re.fullmatch(r'reduce\+.*…', word) for word in words), words)
        self.assertIn('a <model>', words[0])


if __name__ == '__main__':
    unittest.main()
