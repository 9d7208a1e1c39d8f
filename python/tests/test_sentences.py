# Sentence embeddings: what comes out is what the model gives of each text alone, whatever goes with it.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
import rung
from conftest import THREADS

WORDS = "a b c d e f g h i j k l m n o p q r s t u v w x y z".split()
TEXTS = [" ".join(WORDS[i:i + count]) for i, count in enumerate((1, 3, 9, 2, 40, 1, 14, 5, 2, 0))]


def one_by_one(path: Path, texts: list[str]) -> numpy.ndarray:
    with rung.load(path, threads=THREADS) as model:
        return numpy.concatenate([model(**model.encode(text, truncate="cut"))["sentence_embedding"] for text in texts])


def test_embeddings_are_those_of_each_text_alone(encoder: Path) -> None:
    wanted = one_by_one(encoder, TEXTS)
    for batch_size in (1, 3):
        texts = rung.sentence_encoder(encoder, threads=THREADS, batch_size=batch_size)
        got = texts.encode(TEXTS)
        assert got.dtype == numpy.float32 and got.shape == (len(TEXTS), texts.dimension)
        numpy.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6)
    assert len({tuple(row) for row in wanted}) == len(set(TEXTS))  # the texts differ, and so do their embeddings


def test_plans_are_made_when_texts_need_them(encoder: Path) -> None:
    texts = rung.sentence_encoder(encoder, threads=THREADS, lengths=(4, 12), batch_size=2)
    assert texts.lengths == (4, 12, 24)
    texts.encode(["a", "b c d e f"])
    texts.encode(["b", "c"])
    shapes = {plan["input_ids"] for plan in texts.plan.shapes}
    assert shapes == {(1, 24), (1, 4), (1, 12), (2, 4)}


def test_one_text_gives_one_embedding(encoder: Path) -> None:
    texts = rung.sentence_encoder(encoder, threads=THREADS)
    assert texts.encode("a b c").shape == (texts.dimension,)
    assert texts.encode([]).shape == (0, texts.dimension)


def test_normalized_embeddings_have_length_one(encoder: Path) -> None:
    modules = encoder / "modules.json"
    modules.write_text(json.dumps([module for module in json.loads(modules.read_text())
                                   if not module["type"].endswith("Normalize")]))
    texts = rung.sentence_encoder(encoder, threads=THREADS)
    plain, normalized = texts.encode(TEXTS), texts.encode(TEXTS, normalize_embeddings=True)
    lengths = numpy.linalg.norm(plain, axis=1, keepdims=True)
    assert abs(lengths - 1).min() > 1e-3
    numpy.testing.assert_allclose(normalized, plain / lengths, rtol=1e-5)


def test_long_texts_are_cut_or_refused(encoder: Path) -> None:
    texts = rung.sentence_encoder(encoder, threads=THREADS)
    assert numpy.array_equal(texts.encode("a b " * 50), texts.encode("a b " * 11))
    with pytest.warns(rung.TruncationWarning):
        texts.encode(["a"] * 30 + ["a b " * 50], truncate="warn")
    with pytest.raises(rung.MismatchError, match="102 tokens"):
        texts.encode("a b " * 50, truncate="error")


def test_a_climb_gives_the_same_embeddings(encoder: Path) -> None:
    texts = rung.sentence_encoder(encoder, threads=THREADS, lengths=(8,), budget="1s")
    numpy.testing.assert_allclose(texts.encode(TEXTS[:2]), one_by_one(encoder, TEXTS[:2]), rtol=0, atol=1e-6)


def test_refusals_say_what_is_wanted(encoder: Path) -> None:
    for options, words in (({"lengths": (1,)}, "lengths: got 1, wanted at least 2"),
                           ({"lengths": (99,)}, "lengths: got 99, wanted at most the 24 tokens"),
                           ({"batch_size": 0}, "batch_size: got 0, wanted at least 1")):
        with pytest.raises(rung.UsageError, match=words):
            rung.sentence_encoder(encoder, threads=THREADS, **options)
    (encoder / "modules.json").unlink()
    with pytest.raises(rung.UsageError, match="wanted sentence_embedding: a model with modules.json"):
        rung.sentence_encoder(encoder, threads=THREADS)
