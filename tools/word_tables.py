#!/usr/bin/env python3
# Writes word_tables.inc, later_characters.inc and pre_tokenizers/scripts.inc of src/text: how the published library
# classes characters; and jinja/long_uppers.inc: upper cases of several characters, as this Python has them.
# SPDX-License-Identifier: Apache-2.0
#
# Its input is the PyPI package `tokenizers` (written with 0.23.3): every character is given to its normalizers and
# pre-tokenizers. Some of its tables are those of an early version of Unicode, some of a later version than Debian 12's
# libraries (14, as this Python's), and a model's ids depend on them.
import unicodedata
from pathlib import Path

from tokenizers import Regex
from tokenizers.normalizers import NFD, NFKD, BertNormalizer, Lowercase, StripAccents
from tokenizers.pre_tokenizers import BertPreTokenizer, Digits, Split, UnicodeScripts

FOLDER = Path(__file__).resolve().parent.parent / 'src/text'
OFF = {'clean_text': False, 'handle_chinese_chars': False, 'strip_accents': False, 'lowercase': False}
CHARACTERS = [code for code in range(1, 0x110000) if not 0xd800 <= code < 0xe000]
UNASSIGNED = [code for code in CHARACTERS if unicodedata.category(chr(code)) == 'Cn']
# Letters that Unicode 16 decomposes and the published library does not.
WHOLE_SINCE_16 = [*range(0x11383, 0x113c9), *range(0x16121, 0x16129), 0x105c9, 0x105e4, *range(0x16d68, 0x16d6b)]
# Characters that Unicode 14 has without this property; Python cannot say of a character whether it has them.
GIVEN_SINCE_14 = {'Alphabetic': [*range(0x363, 0x370), 0xc04, 0xf82, 0xf83, *range(0x1dd3, 0x1de7), 0x11080, 0x11081],
                  'Lowercase': [0x10fc, 0xa7f2, 0xa7f3, 0xa7f4, 0xab69]}
CATEGORIES = 'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So'.split()
PROPERTIES = 'Alphabetic Uppercase Lowercase'.split()
SCRIPTS = 'Han Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Devanagari Bengali Tamil Telugu Kannada'.split()


def ranges(keep, codes=CHARACTERS):
    found = []
    for code in filter(keep, codes):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def filled(head, cells):
    lines = [head]
    for cell in cells:
        if lines[-1].startswith('    ') and len(lines[-1]) + len(cell) < 119:
            lines[-1] += ' ' + cell
        else:
            lines.append('    ' + cell)
    return '\n'.join([*lines, '};'])


def table(name, meaning, keep):
    cells = [f'{{{first:#x}, {last:#x}}},' for first, last in ranges(keep)]
    return f'// {meaning}\n' + filled(f'constexpr CodeRange {name}[] = {{', cells)


def is_whole(code):
    """Whether the library neither decomposes nor reorders a character that Unicode 14 or 16 does."""
    nfd, nfkd, c = NFD(), NFKD(), chr(code)
    texts = [c, *(f'a{c}{mark}' for mark in '\u0334\u0327\u0301\u0345'),
             *(f'a{mark}{c}' for mark in '\u0334\u0327\u0301')]
    return code in WHOLE_SINCE_16 or any(
        n.normalize_str(text) != unicodedata.normalize(form, text)
        for n, form in ((nfd, 'NFD'), (nfkd, 'NFKD')) for text in texts)


def later_lower():
    lower, rows = Lowercase(), []
    for code in CHARACTERS:
        made = lower.normalize_str(chr(code))
        if made == chr(code).lower() or len(made) != 1:
            continue
        distance = ord(made) - code
        if rows and rows[-1][1] == code - 1 and rows[-1][2] == distance:
            rows[-1][1] = code
        else:
            rows.append([code, code, distance])
    return ('// Letters whose lower case Debian 12\'s utf8proc does not know yet.\n' +
            filled('constexpr LowerRange kLaterLower[] = {', [f'{{{a:#x}, {b:#x}, {d}}},' for a, b, d in rows]))


def later():
    cells = []
    for name in [*CATEGORIES, *PROPERTIES, *SCRIPTS]:
        finder = Split(Regex(rf'\p{{{name}}}'), 'removed')
        codes = sorted(UNASSIGNED + GIVEN_SINCE_14.get(name, []))
        cells += [f'{{"{name}", {first:#x}, {last:#x}}},'
                  for first, last in ranges(lambda code: finder.pre_tokenize_str(chr(code)) == [], codes)]
    return filled('constexpr LaterRange kLater[] = {', cells)


def scripts():
    """Numbers of scripts, from 1 on, in the order of their first characters; a character of none parts nothing."""
    cut, firsts, rows = UnicodeScripts().pre_tokenize_str, [], []
    for code in [0, *CHARACTERS]:
        c = chr(code)
        if not cut(c):
            continue
        known = [rows[-1][2]] if rows else []  # most characters have the script of the one before
        number = next((i for i in [*known, *range(1, len(firsts) + 1)] if len(cut(firsts[i - 1] + c)) == 1), None)
        if number is None:
            firsts.append(c)
            number = len(firsts)
        if rows and rows[-1][1:] == [code - 1, number]:
            rows[-1][1] = code
        else:
            rows.append([code, code, number])
    return filled('constexpr ScriptRange kScripts[] = {', [f'{{{a:#x}, {b:#x}, {n}}},' for a, b, n in rows])


def long_uppers():
    def escaped(c):
        return c if ord(c) < 0x80 else f'\\u{ord(c):04x}'

    uppers = [(code, chr(code).upper()) for code in CHARACTERS if len(chr(code).upper()) > 1]
    return filled('constexpr LongUpper kLongUppers[] = {',
                  [f'{{{code:#x}, "{"".join(map(escaped, made))}"}},' for code, made in uppers])


def main():
    assert unicodedata.unidata_version == '14.0.0', 'wanted a Python with the version of Unicode of Debian 12'
    clean = BertNormalizer(**OFF | {'clean_text': True})
    marks = BertNormalizer(**OFF | {'strip_accents': True})
    splitter, digits, strip = BertPreTokenizer(), Digits(True), StripAccents()

    def stands_alone(pre_tokenizer, code):
        return [word for word, _ in pre_tokenizer.pre_tokenize_str(f'a{chr(code)}b')] == ['a', chr(code), 'b']

    licence = '// SPDX-License-Identifier: Apache-2.0'
    (FOLDER / 'word_tables.inc').write_text('\n'.join([
        '// Characters as the published tokenizers library classes them; written by tools/word_tables.py.', licence,
        table('kDropped', 'Control characters and their like, which cleaning drops.',
              lambda code: clean.normalize_str(f'a{chr(code)}b') == 'ab'),
        table('kPunctuation', 'Each is a word of its own.', lambda code: stands_alone(splitter, code)),
        table('kNumbers', 'Digits, and letters and fractions that stand for numbers.',
              lambda code: stands_alone(digits, code)),
        table('kNonspacingMarks', 'Nonspacing marks, which go with accents in BERT.',
              lambda code: marks.normalize_str(chr(code)) == ''),
        table('kMarks', 'All marks, which StripAccents drops.', lambda code: strip.normalize_str(chr(code)) == ''),
        table('kWhole', 'Characters that a normal form of the library neither decomposes nor moves.', is_whole),
        later_lower()]) + '\n')
    (FOLDER / 'later_characters.inc').write_text('\n'.join([
        '// Characters by category and script that the published library knows and Unicode 14 does not; written by',
        '// tools/word_tables.py.', licence, later()]) + '\n')
    (FOLDER / 'pre_tokenizers/scripts.inc').write_text('\n'.join([
        '// Scripts of characters as the published tokenizers library tells them apart; written by',
        '// tools/word_tables.py.', licence, scripts()]) + '\n')
    (FOLDER / 'jinja/long_uppers.inc').write_text('\n'.join([
        '// Letters whose upper case has several characters, unknown to utf8proc; written by tools/word_tables.py.',
        licence, long_uppers()]) + '\n')


main()
