#!/usr/bin/env python3
# Writes tokenizers of every kind, and the ids that the published library gives for texts: tests/data/tokenizers.
# SPDX-License-Identifier: Apache-2.0
#
# make_tokenizers.py [FOLDER] [--texts N] [--seed S] needs the PyPI packages `tokenizers` (written with 0.23.3) and
# `sentencepiece` (0.2.3), and a Python with Unicode 14. For a larger comparison, give a FOLDER, and it to the tests in
# RUNG_TOKENIZERS.
from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import make_texts
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

HERE = Path(__file__).resolve().parent
ALPHABET = pre_tokenizers.ByteLevel.alphabet()
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r'\s*[\r\n]+|\s+(?!\S)|\s+')
QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r'\s+(?!\S)|\s+')
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r'\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+')
DEEPSEEK = (r'[!"#$%&' "'" r'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|'
            r' ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+')
CLIP = (r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")


def trained(tokenizer: Tokenizer, trainer: Any, characters: int | None = None) -> Tokenizer:
    """Trains on texts, or on what remains of them with their `characters` most frequent characters."""
    texts = make_texts.texts(1500, seed=1)
    kept = {c for c, _ in Counter(''.join(texts)).most_common(characters)}
    if characters:
        kept.discard('<')  # a learnt </s> would stand beside the special one
    tokenizer.train_from_iterator([''.join(filter(kept.__contains__, text)) for text in texts], trainer)
    return tokenizer


def bpe(size: int, **options: Any) -> Any:
    return trainers.BpeTrainer(vocab_size=size, show_progress=False, **options)


def byte_level(pre_tokenizer: Any, special: list[str], size: int = 700, **options: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return trained(tokenizer, bpe(size, special_tokens=special, initial_alphabet=ALPHABET))


def gpt2() -> Tokenizer:
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), ['<|endoftext|>'])


def roberta() -> Tokenizer:
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), ['<s>', '<pad>', '</s>', '<unk>'])
    tokenizer.add_special_tokens([AddedToken('<mask>', lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(('</s>', 2), ('<s>', 0), add_prefix_space=True)
    return tokenizer


def split_bytes(pattern: str, behaviour: str = 'isolated', normalizer: Any = None) -> Tokenizer:
    pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behaviour),
                                             pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level(pre_tokenizer, ['<|begin_of_text|>', '<|endoftext|>'])
    if normalizer:
        tokenizer.normalizer = normalizer
    return tokenizer


def llama3() -> Tokenizer:
    tokenizer = split_bytes(LLAMA3)
    tokenizer.model.ignore_merges = True
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single='<|begin_of_text|> $A',
                                      pair='<|begin_of_text|> $A <|begin_of_text|>:1 $B:1',
                                      special_tokens=[('<|begin_of_text|>', 0)])])
    return tokenizer


def qwen() -> Tokenizer:
    return split_bytes(QWEN, normalizer=normalizers.NFC())


def deepseek() -> Tokenizer:
    pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r'\p{N}{1,3}'), 'isolated'),
        pre_tokenizers.Split(Regex('[一-龥\u3040-ゟ゠-ヿ]+'), 'isolated'),
        pre_tokenizers.Split(Regex(DEEPSEEK), 'isolated'),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return byte_level(pre_tokenizer, ['<|endoftext|>'])


def with_byte_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer with a token for each byte after the special ones, as SentencePiece's files have them."""
    description = json.loads(tokenizer.to_str())
    model = description['model']
    words = sorted(model['vocab'], key=model['vocab'].get)
    words[3:3] = [f'<0x{byte:02X}>' for byte in range(256)]
    model['vocab'] = {token: place for place, token in enumerate(words)}
    model['byte_fallback'] = True
    return Tokenizer.from_str(json.dumps(description))


def llama2() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token='<unk>', fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend('▁'), normalizers.Replace(' ', '▁')])
    tokenizer.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(' ', 1, 0)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trained(tokenizer, bpe(500, special_tokens=['<unk>', '<s>', '</s>'], limit_alphabet=150))
    tokenizer.pre_tokenizer = None  # words are split to be learnt, not to be encoded
    tokenizer.post_processor = processors.TemplateProcessing(single='<s> $A', pair='<s> $A <s>:1 $B:1',
                                                             special_tokens=[('<s>', 1)])
    return with_byte_tokens(tokenizer)


def gemma() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token='<unk>', fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(' ', '▁')
    tokenizer.pre_tokenizer = pre_tokenizers.Split(' ', 'merged_with_previous')
    tokenizer.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.ByteFallback(), decoders.Fuse()])
    trained(tokenizer, bpe(500, special_tokens=['<unk>', '<s>', '</s>'], limit_alphabet=150, max_token_length=16))
    return with_byte_tokens(tokenizer)


def charsmap(full: bool) -> bytes:
    """SentencePiece's rules for NFKC, or in short a few of them."""
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, 'texts')
        texts.write_text('\n'.join('abcdefghij klmno pqrst' for _ in range(20)))
        rules = Path(folder, 'rules.tsv')
        odd = [c for text in make_texts.SENTENCES for c in text] + [chr(c) for c in range(0xff01, 0xff5f)]
        pairs = {c: unicodedata.normalize('NFKC', c) for c in odd if ord(c) > 0x20} | {'\u00a0': ' ', '\u200b': ' '}
        pairs |= {'e\u0301': 'é', 'q\u0323\u0307': 'q', '\u00ad': ''}
        pairs = {c: made for c, made in pairs.items() if c != made}
        rules.write_text(''.join(f'{" ".join(f"{ord(x):X}" for x in c)}\t{" ".join(f"{ord(x):X}" for x in made)}\n'
                                 for c, made in sorted(pairs.items())))
        options = {'normalization_rule_name': 'nmt_nfkc'} if full else {'normalization_rule_tsv': str(rules)}
        sentencepiece.SentencePieceTrainer.train(input=str(texts), model_prefix=f'{folder}/m', vocab_size=40,
                                                 hard_vocab_limit=False, minloglevel=2, **options)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(Path(folder, 'm.model').read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def unigram(normalizer: Any, special: list[str], scheme: str = 'always', size: int = 500) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return trained(tokenizer, trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token='<unk>',
                                                      show_progress=False), characters=size // 3)


def t5(map_bytes: bytes) -> Tokenizer:
    tokenizer = unigram(normalizers.Sequence([normalizers.Precompiled(map_bytes), normalizers.Strip(False, True),
                                              normalizers.Replace(Regex(' {2,}'), '▁')]), ['<pad>', '</s>', '<unk>'])
    tokenizer.post_processor = processors.TemplateProcessing(single='$A </s>', pair='$A </s> $B </s>',
                                                             special_tokens=[('</s>', 1)])
    return tokenizer


def xlmr(map_bytes: bytes) -> Tokenizer:
    tokenizer = unigram(normalizers.Sequence([normalizers.Precompiled(map_bytes),
                                              normalizers.Replace(Regex(' {2,}'), ' ')]),
                        ['<s>', '<pad>', '</s>', '<unk>'], scheme='first')
    tokenizer.add_special_tokens([AddedToken('<mask>', lstrip=True, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single='<s> $A </s>', pair='<s> $A </s> </s> $B </s>', special_tokens=[('<s>', 0), ('</s>', 2)])
    return tokenizer


def unigram_bytes() -> Tokenizer:
    """A Unigram with a token for each byte, in NFKC."""
    tokenizer = unigram(normalizers.Sequence([normalizers.NFKC(), normalizers.Nmt()]), ['<unk>', '<s>', '</s>'],
                        size=300)
    description = json.loads(tokenizer.to_str())
    description['model']['vocab'] += [[f'<0x{byte:02X}>', -12.5] for byte in range(256)]
    description['model']['byte_fallback'] = True
    return Tokenizer.from_str(json.dumps(description))


def bert(lowercase: bool, accents: bool | None = None) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token='[UNK]', max_input_chars_per_word=60))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=accents)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
    trained(tokenizer, trainers.WordPieceTrainer(vocab_size=900, special_tokens=special, show_progress=False,
                                                 limit_alphabet=400))
    tokenizer.post_processor = processors.TemplateProcessing(
        single='[CLS] $A [SEP]', pair='[CLS] $A [SEP] $B:1 [SEP]:1', special_tokens=[('[CLS]', 2), ('[SEP]', 3)])
    return tokenizer


def bert_pair() -> Tokenizer:
    tokenizer = bert(lowercase=False, accents=True)
    tokenizer.post_processor = processors.BertProcessing(('[SEP]', 3), ('[CLS]', 2))
    return tokenizer


def clip() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token='<|endoftext|>', continuing_subword_prefix='',
                                     end_of_word_suffix='</w>'))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r'\s+'), ' '),
                                                 normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(CLIP), 'removed', invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, bpe(900, special_tokens=['<|startoftext|>', '<|endoftext|>'], end_of_word_suffix='</w>',
                           initial_alphabet=ALPHABET))
    tokenizer.post_processor = processors.RobertaProcessing(('<|endoftext|>', 1), ('<|startoftext|>', 0),
                                                            add_prefix_space=False, trim_offsets=False)
    return tokenizer


def words() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token='[UNK]'))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase(),
                                                 normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)])
    return trained(tokenizer, trainers.WordLevelTrainer(vocab_size=600, special_tokens=['[UNK]'], show_progress=False))


def odd() -> Tokenizer:
    """Settings that few models have: prefixes of continuations, unknowns one by one, added tokens of every kind."""
    tokenizer = Tokenizer(models.BPE(unk_token='[UNK]', continuing_subword_prefix='##', end_of_word_suffix='</w>'))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Nmt(), normalizers.Strip(),
                                                 normalizers.Replace(Regex('[!?]+'), '!'), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit('~'), pre_tokenizers.Split(Regex(r'\b\w'), 'merged_with_next'),
        pre_tokenizers.Split('-', 'contiguous'), pre_tokenizers.WhitespaceSplit(),
        pre_tokenizers.Punctuation('merged_with_previous'), pre_tokenizers.Digits(True)])
    tokenizer.decoder = decoders.BPEDecoder('</w>')
    trained(tokenizer, bpe(900, special_tokens=['[UNK]'], limit_alphabet=300, continuing_subword_prefix='##',
                           end_of_word_suffix='</w>'))
    tokenizer.add_tokens([AddedToken('Special', normalized=True), AddedToken('keyword', single_word=True),
                          AddedToken('ab', single_word=True, normalized=False),
                          AddedToken('É', rstrip=True, normalized=True), AddedToken('the', lstrip=True, rstrip=True)])
    return tokenizer


def scripts() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token='[UNK]'))
    tokenizer.pre_tokenizer = pre_tokenizers.UnicodeScripts()
    tokenizer.decoder = decoders.Fuse()
    return trained(tokenizer, bpe(900, special_tokens=['[UNK]'], limit_alphabet=300))


def letters() -> Tokenizer:
    """Tokens of speech: letters, of which some stand twice in a row."""
    tokenizer = Tokenizer(models.WordLevel(unk_token='<unk>'))
    tokenizer.normalizer = normalizers.Replace(Regex(r'\s+'), '|')
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex('.'), 'isolated')
    tokenizer.decoder = decoders.CTC()
    return trained(tokenizer, trainers.WordLevelTrainer(vocab_size=300, special_tokens=['<pad>', '<unk>'],
                                                        show_progress=False))


def all_tokenizers(full: bool) -> dict[str, Tokenizer]:
    rules = charsmap(full)
    return {'gpt2': gpt2(), 'roberta': roberta(), 'llama3': llama3(), 'qwen': qwen(), 'o200k': split_bytes(O200K),
            'deepseek': deepseek(), 'llama2': llama2(), 'gemma': gemma(), 't5': t5(rules), 'xlmr': xlmr(rules),
            'unigram_bytes': unigram_bytes(), 'bert_uncased': bert(True), 'bert_cased': bert(False),
            'bert_pair': bert_pair(), 'clip': clip(), 'words': words(), 'odd': odd(),
            'scripts': scripts(), 'letters': letters()}


def answers(tokenizer: Tokenizer, texts: list[str], seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    encoded = tokenizer.encode_batch(texts)
    pairs = [[rng.randrange(len(texts)), rng.randrange(len(texts))] for _ in range(min(len(texts) // 5, 400))]
    pair_encoded = tokenizer.encode_batch([(texts[a], texts[b]) for a, b in pairs])
    decoded = encoded[:min(len(encoded) // 2, 2000)]
    return {'ids': [one.ids for one in encoded], 'pairs': pairs,
            'pair_ids': [one.ids for one in pair_encoded], 'pair_types': [one.type_ids for one in pair_encoded],
            'decoded': [tokenizer.decode(one.ids) for one in decoded],
            'decoded_whole': [tokenizer.decode(one.ids, skip_special_tokens=False) for one in decoded[::4]]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', nargs='?', type=Path, default=HERE.parent / 'data/tokenizers')
    parser.add_argument('--texts', type=int, default=60, help='generated texts, besides the sentences')
    parser.add_argument('--seed', type=int, default=2)
    parser.add_argument('--full', action='store_true', help='take all rules of SentencePiece\'s NFKC')
    arguments = parser.parse_args()
    texts = make_texts.texts(arguments.texts, arguments.seed)
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)

    def write(name: str, value: Any) -> None:
        (arguments.folder / name).write_text(json.dumps(value, ensure_ascii=False, separators=(',', ':')) + '\n')

    write('texts.json', texts)
    for name, tokenizer in all_tokenizers(arguments.full).items():
        (arguments.folder / name).mkdir()
        write(f'{name}/tokenizer.json', json.loads(tokenizer.to_str()))
        write(f'{name}/answers.json', answers(tokenizer, texts, arguments.seed))


if __name__ == '__main__':
    main()
