#!/usr/bin/env python3
# The tables of predictions: errors against what was measured, the fitted cell marked, a page's other text kept.
# SPDX-License-Identifier: Apache-2.0
import unittest

import prediction_table as table


def prediction(word='h200', predicted_ms=12.0):
    op = {'problem': 'linear m=51 n=64 k=32 x=bf16 w=bf16 out=bf16', 'kernel': 'linear_skinny_cdna', 'count': 3,
          'predicted_us': 7.25, 'floor_us': 0.5, 'bound': 'matrix', 'blocks': 4.0, 'resident': 2.0,
          'resident_limit': 'LDS'}
    return {'gpu': {'word': word, 'name': f'the {word}'}, 'launches': 30, 'floor_ms': 0.5, 'launch_ms': 3.0,
            'predicted_ms': predicted_ms, 'instructions_counted': word != 'h100', 'bytes': 2.5e9,
            'vector_instructions': 4_560_000, 'matrix_instructions': 12_300,
            'stages': [{'name': 'expert', 'predicted_ms': 4.0}], 'ops': [op]}


class Tables(unittest.TestCase):
    def test_errors_are_of_the_measured_time(self):
        self.assertEqual(table.error_of(12, 10), '+20 %')
        self.assertEqual(table.error_of(8, 10), '-20 %')
        self.assertEqual(table.error_of(9.999, 10), '+0 %')

    def test_one_cell_is_fitted_and_says_so(self):
        text = table.hopper_table({w.name: prediction() for w in table.WORKLOADS})
        rows = text.splitlines()[2:]
        self.assertEqual(len(rows), 9)
        self.assertEqual([row for row in rows if 'fitted' in row], rows[:1])
        self.assertEqual(rows[0], '| Pi0, headline | 30 | 0.500 | 12.00 | 11.28 | +6 %, fitted |')

    def test_every_amd_card_has_a_row_without_a_measured_time(self):
        text = table.amd_table('Pi0', {gpu: prediction(gpu) for gpu in table.AMD})
        self.assertEqual(len(text.splitlines()), 2 + len(table.AMD))
        self.assertNotIn('measured', text)
        self.assertIn('| the mi355x | 30 | 0.500 | 12.00 | 3.00 | 4.00 |', text)

    def test_ops_tell_what_bounds_them(self):
        self.assertIn('| linear m=51 n=64 k=32, `linear_skinny_cdna` | 3 | 7.2 | 0.5 | matrix | 4 | 2 | LDS |',
                      table.longest_table(prediction()))

    def test_a_decoder_has_an_error_where_it_was_measured(self):
        decoder = table.Decoder('Llama', {}, measured_ms=10)
        rows = table.decoder_table(decoder, {gpu: prediction(gpu) for gpu in table.DECODER_CARDS}).splitlines()[2:]
        self.assertEqual(rows[0], '| the h100 | 30 | 2500 |  |  | 0.500 | 12.00 | 10.00 | +20 % |')
        self.assertEqual(rows[1], '| the mi300x | 30 | 2500 | 4.56 | 12.3 | 0.500 | 12.00 |  |  |')

    def test_a_page_keeps_what_stands_around_its_tables(self):
        (first, last), (begin, end) = table.PLACES.marks('cards'), table.PLACES.marks('error')
        self.assertEqual(
            table.PLACES.replaced(f'a\n{first}old\n{last}b\n{begin}old\n{end}c\n',
                                  {'cards': 'new\n', 'error': 'newer\n'}),
            f'a\n{first}new\n{last}b\n{begin}newer\n{end}c\n')

    def test_the_page_has_all_places(self):
        page = (table.ROOT / 'docs' / 'prediction.md').read_text()
        for place in ('cards', 'error', 'amd', 'decoders'):
            self.assertTrue(all(mark in page for mark in table.PLACES.marks(place)), place)


if __name__ == '__main__':
    unittest.main()
