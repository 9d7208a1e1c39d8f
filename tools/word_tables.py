#!/usr/bin/env python3
# Writes src/import/word_tables.inc: how the published tokenizers library classes characters of BERT's texts.
# SPDX-License-Identifier: Apache-2.0
#
# Its input is the PyPI package `tokenizers` (written with 0.23.3): every character is given to its BertNormalizer and
# BertPreTokenizer. Their tables are those of an early version of Unicode, and a model's ids depend on them.
from pathlib import Path

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

OUT = Path(__file__).resolve().parent.parent / 'src/import/word_tables.inc'
OFF = {'clean_text': False, 'handle_chinese_chars': False, 'strip_accents': False, 'lowercase': False}
CHARACTERS = [code for code in range(1, 0x110000) if not 0xd800 <= code < 0xe000]


def ranges(keep):
    found = []
    for code in filter(keep, CHARACTERS):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, meaning, keep):
    cells = [f'{{{first:#x}, {last:#x}}},' for first, last in ranges(keep)]
    lines = [f'// {meaning}', f'constexpr CodeRange {name}[] = {{']
    for cell in cells:
        if lines[-1].startswith('    ') and len(lines[-1]) + len(cell) < 119:
            lines[-1] += ' ' + cell
        else:
            lines.append('    ' + cell)
    return '\n'.join([*lines, '};'])


def main():
    clean = BertNormalizer(**OFF | {'clean_text': True})
    marks = BertNormalizer(**OFF | {'strip_accents': True})
    splitter = BertPreTokenizer()

    def stands_alone(code):
        return [word for word, _ in splitter.pre_tokenize_str(f'a{chr(code)}b')] == ['a', chr(code), 'b']

    parts = [
        '// Characters as the published tokenizers library classes them; written by tools/word_tables.py.',
        '// SPDX-License-Identifier: Apache-2.0',
        table('kDropped', 'Control characters and their like, which cleaning drops.',
              lambda code: clean.normalize_str(f'a{chr(code)}b') == 'ab'),
        table('kPunctuation', 'Each is a word of its own.', stands_alone),
        table('kMarks', 'Nonspacing marks, which go with accents.',
              lambda code: marks.normalize_str(chr(code)) == '')]
    OUT.write_text('\n'.join(parts) + '\n')


main()
