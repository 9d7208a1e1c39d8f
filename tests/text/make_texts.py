# Texts on which tokenizers differ: sentences of many languages, words of many scripts, and what breaks careless code.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
import unicodedata

SENTENCES = [
    'The quick brown fox can\'t jump over 12,345 lazy dogs; it\'s 3.14 times too tired, she\'ll say.',
    'Don\'t PANIC: I\'ve seen THAT before, and they\'re RIGHT -- aren\'t they?',
    'e-mail me at first.last@example.org!',
    'Der Fluß fließt über die Straße, und Ärger gibt es öfter.',
    'L\'été dernier, où étais-tu ? Ça va très bien, naïve Noël.',
    'El niño comió piñas ¿y qué? ¡Olé!',
    'Şişli\'de İstanbul\'un ışıkları, ILIK bir gece.',
    'Zażółć gęślą jaźń, Łódź śpi.',
    'Příliš žluťoučký kůň úpěl ďábelské ódy.',
    'Tiếng Việt có rất nhiều dấu thanh.',
    'Η ΣΟΦΊΑ της Ελλάδας, ὀξύς και σαφής.',
    'Съешь же ещё этих мягких французских булок, да выпей чаю.',
    'Їжак і ґава з\'їли пиріг.',
    'שלום עולם, מה שְּׁלוֹמְךָ היום?',
    'مرحبا بالعالم، كَيْفَ حالُكَ؟ ١٢٣٤٥',
    'این یک آزمایش می\u200cخواهم است.',
    'नमस्ते दुनिया, क्या हाल है? १२३',
    'বাংলা ভাষায় লেখা একটি বাক্য।',
    'தமிழ் மொழி மிகவும் பழமையானது.',
    'తెలుగు వాక్యం ఇక్కడ ఉంది.',
    'ಕನ್ನಡ ವಾಕ್ಯ ಇಲ್ಲಿದೆ.',
    'മലയാളം വാക്യം ഇവിടെയുണ്ട്.',
    'ප්\u200dරසිද්ධ සිංහල වාක්\u200dයය.',
    'ภาษาไทยไม่มีช่องว่างระหว่างคำ', 'ພາສາລາວ',
    'བོད་སྐད་ཀྱི་ཚིག',
    'မြန်မာဘာသာ စာကြောင်း',
    'ქართული ენა ლამაზია.',
    'አማርኛ ዓረፍተ ነገር።', 'ភាសាខ្មែរ', 'ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ',
    '東京は今日も晴れです。カタカナとひらがな、漢字。',
    '我们在北京大学学习自然语言处理。',
    '한국어 문장은 띄어쓰기가 있습니다.',
    'Հայերեն նախադասություն։', 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ', 'ᐃᓄᒃᑎᑐᑦ',
    'def f(x):\n\treturn {"a": x**2 + 1_000}  # why?\r\n\r\n',
    'x=1;y  =   2\t\t; z\n\n\n= 3   ',
    'https://example.org/a/b?c=d&e=%20f#g',
    'A👩\u200d👩\u200d👧\u200d👦B 👍🏽 🇩🇪🇫🇷 ☕️ 🏳️\u200d🌈 1️⃣',
    'ﬁne ﬀ ½ ² ⅷ Ⅷ ㎏ ① ｆｕｌｌ ＷＩＤＴＨ ﷺ ㍿',
    'é é ệ ệ a\u0327\u0301 á\u0327 q\u0323\u0307 q\u0323\u0307 Å Å Å ſ ẞ ß',
    'a\xa0b\u2003c\u3000d\u200be\u200cf\u200dg\u2028h\u2029i\ufeffj\u180ek\x85l',
    'nul\x00 bell\x07 esc\x1b del\x7f c1\x85\x9f end',
    '\u202eRTL override\u202c and \u2066isolate\u2069', '� \ufffe \uffff \U0010ffff \ue000 \U000f0000',
    '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𝒳𝓎𝓏 𐐀𐐨 𐌰𐌱 𓀀 𠀀𠀁 𪜀',
    '“curly” ‘quotes’ — em–dash… «guillemets» „low“ 100 % 5€ £6 ¥7 ±8 ×9 ÷10',
    '1234567890123 12 345 6 ٣٤٥ ३४५ 二十 Ⅻ ½¾ 3²',
    'ǅ ǆ Ǆ ŉ ǰ ΐ ﬃ ŒUVRE Ĳ ĳ',
    '<s> hello </s> [MASK] <mask>  x <|endoftext|>y [CLS][SEP] <pad>',
    'HELLO   <mask>   there<mask>you',
    'word1word2 special-word keyword key word',
    '▁already ▁▁marked▁ text ▁',
    '_under__score_ ##hash #tag @at',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung',
    'ababababababcbcbcbabcabc', ' leading', 'trailing ', '  both  ', ' ', '   ', '\t', '\n', '\n\n  \n',
    '', '.', '...', '!?!?!', '\'', '\'s', '\'S \'T \'ſ', 'a', 'Z', '\u0301', '\u0301a', '\u200d', '️',
    '☃', '😀',
]

# First and last characters of blocks, of which the letters, marks and digits are taken.
BLOCKS = [
    (0x41, 0x7a), (0xc0, 0x24f), (0x250, 0x2ff), (0x370, 0x3ff), (0x400, 0x52f), (0x531, 0x58a), (0x5b0, 0x5ea),
    (0x620, 0x6d5), (0x710, 0x74a), (0x780, 0x7b1), (0x7c0, 0x7f5), (0x900, 0x97f), (0x980, 0x9fe), (0xa01, 0xa76),
    (0xa81, 0xaf1), (0xb01, 0xb77), (0xb82, 0xbfa), (0xc00, 0xc7f), (0xc80, 0xcf2), (0xd00, 0xd7f), (0xd81, 0xdf4),
    (0xe01, 0xe5b), (0xe81, 0xedf), (0xf00, 0xfda), (0x1000, 0x109f), (0x10a0, 0x10ff), (0x1100, 0x11ff),
    (0x1200, 0x139f), (0x13a0, 0x13fd), (0x1400, 0x167f), (0x1680, 0x16f8), (0x1780, 0x17f9), (0x1800, 0x18aa),
    (0x1e00, 0x1fff), (0x2c00, 0x2cff), (0x3041, 0x30ff), (0x3105, 0x312f), (0x3400, 0x3600), (0x4e00, 0x9fff),
    (0xa000, 0xa4c6), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfb00, 0xfefc), (0xff01, 0xffdc), (0x10330, 0x1034a),
    (0x10400, 0x1044f), (0x1d400, 0x1d7ff), (0x1e900, 0x1e959), (0x1f300, 0x1f6ff), (0x20000, 0x20400)]
ODD = ['\u00a0', '\u200b', '\u200c', '\u200d', '\u2028', '\u3000', '\ufe0f', '\u0301', '\u0327', '\u0308', '\u064b',
       '\u093c', '\x00', '\x07', '\x85', '\u00ad', '\ufeff', '\ufffd', '\u202e', '\u2581', '\U0001f3fd',
       '\U0001f1e9', '\u20e3', '\u0130', '\u1e9e', '\ufb01']
MARKS = [*'.,;:!?\'"()[]{}<>/\\|@#$%^&*-_=+~`', '…', '—', '«', '»', '。', '、', '؟', '।', '\'s', '\'ll', '\'RE', '$5',
         '№', '€', '©']
SPACES = [' '] * 12 + ['  ', '   ', '\n', '\r\n', '\t', ' \n ', '']
SPECIAL = ['<s>', '</s>', '[MASK]', '<mask>', '<|endoftext|>', '[SEP]', '<pad>', 'Special', 'SPECIAL', 'keyword']


def letters(first: int, last: int) -> list[str]:
    return [chr(code) for code in range(first, last + 1) if unicodedata.category(chr(code)) not in ('Cn', 'Cs', 'Co')]


ALPHABETS = [letters(*block) for block in BLOCKS]


def word(rng: random.Random) -> str:
    alphabet = rng.choice(ALPHABETS[:1] * 12 + ALPHABETS)
    made = ''.join(rng.choice(alphabet) for _ in range(min(int(rng.expovariate(0.22)) + 1, 140)))
    if rng.random() < 0.08:
        at = rng.randrange(len(made) + 1)
        made = made[:at] + rng.choice(ODD) + made[at:]
    change = rng.random()
    if change < 0.05:
        made = unicodedata.normalize(rng.choice(['NFC', 'NFD', 'NFKC', 'NFKD']), made)
    elif change < 0.1:
        made = rng.choice([made.upper(), made.lower(), made.title()])
    elif change < 0.14:
        made = str(rng.randrange(10 ** rng.randrange(1, 12)))
    return made


def known_word(rng: random.Random) -> str:
    """A word, or a part of one, of the sentences: a trained vocabulary knows it."""
    words = rng.choice(SENTENCES).split() or ['a']
    made = rng.choice(words)
    return made[rng.randrange(len(made)):] if rng.random() < 0.2 else made


def generated(rng: random.Random) -> str:
    """A text of words, some of them known, with punctuation and white space of every kind."""
    if rng.random() < 0.02:  # of any assigned characters
        codes = (chr(rng.randrange(0x110000)) for _ in range(rng.randrange(1, 30)))
        return ''.join(c for c in codes if unicodedata.category(c) not in ('Cs', 'Cn'))
    parts = []
    for _ in range(min(int(rng.expovariate(0.12)) + 1, 60)):
        parts.append(known_word(rng) if rng.random() < 0.5 else word(rng))
        if rng.random() < 0.2:
            parts.append(rng.choice(MARKS))
        if rng.random() < 0.02:
            parts.append(rng.choice(SPECIAL))
        parts.append(rng.choice(SPACES))
    return ''.join(parts)


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return SENTENCES + [generated(rng) for _ in range(count)]
