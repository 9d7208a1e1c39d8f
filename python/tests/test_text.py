# Texts: what encode() makes of them, what it says of those that are too long, and what is no text.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rung
from conftest import BERT, SHAPES, THREADS, refusal
from rung._sentences import _part


@pytest.fixture
def model(encoder: Path) -> Iterator[rung.Model]:
    with rung.load(encoder, threads=THREADS, shapes={"input_ids": (1, 5)}) as opened:
        yield opened


def test_a_long_text_is_cut_with_a_warning(model: rung.Model) -> None:
    with pytest.warns(rung.TruncationWarning, match="has 7 tokens, and the model reads 5 of them") as caught:
        encoded = model.encode("a b c d e")
    assert caught[0].filename == __file__
    assert encoded.truncated and encoded.tokens == 7 and encoded.kept == 5
    assert encoded["input_ids"].tolist() == [[2, 5, 6, 7, 3]]
    assert set(model(**encoded)) == set(model.outputs)


def test_a_text_that_fits_gives_no_warning(model: rung.Model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoded = model.encode("a b c")
        assert not encoded.truncated and encoded.tokens == encoded.kept == 5
        assert model.encode("a b c d", truncate="cut").truncated


def test_a_long_text_is_refused_on_request(model: rung.Model) -> None:
    with pytest.raises(rung.MismatchError, match="has 6 tokens"):
        model.encode("a b c d", truncate="error")
    assert model.encode("a b c", truncate="error").tokens == 5
    with pytest.raises(rung.UsageError, match="truncate: got 'loudly', wanted 'warn', 'cut' or 'error'"):
        model.encode("a", truncate="loudly")  # type: ignore[arg-type]


def test_a_nul_ends_no_text(model: rung.Model) -> None:
    assert model.encode("a\0 b")["input_ids"].tolist() == [[2, 5, 6, 3, 0]]


@pytest.mark.parametrize(("text", "words"), [
    (["a", "b"], "got a list, wanted one str: a plan answers one text at a time: [model(**model.encode(text))"),
    (("a",), "got a tuple, wanted one str"), (b"a", "got bytes, wanted a str: text.decode()"),
    (7, "got 7, wanted a str"), ("a\ud800", "which holds a lone surrogate")])
def test_what_is_no_text_is_refused_in_one_line(model: rung.Model, text: Any, words: str) -> None:
    with pytest.raises(rung.UsageError) as caught:
        model.encode(text)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_two_texts_are_read_together(model: rung.Model) -> None:
    assert model.encode("a", second="b")["input_ids"].tolist() == [[2, 5, 3, 6, 3]]
    assert model.encode("a", second="")["input_ids"].tolist() == [[2, 5, 3, 3, 0]]
    assert model.encode("a b c", "cut", second="b c d").tokens == 9
    with pytest.raises(rung.UsageError, match="second: got 7, wanted a str"):
        model.encode("a", second=7)  # type: ignore[arg-type]


def test_a_text_may_be_filled_up_from_the_left(encoder: Path) -> None:
    (encoder / "tokenizer_config.json").write_text('{"padding_side": "left"}')
    with rung.load(encoder, threads=THREADS, shapes={"input_ids": (1, 5)}) as opened:
        encoded = opened.encode("a")
    assert encoded["input_ids"].tolist() == [[0, 0, 2, 5, 3]]
    assert encoded["attention_mask"].tolist() == [[0, 0, 1, 1, 1]]
    assert _part(encoded, "input_ids", 4).tolist() == [[0, 2, 5, 3]]


def test_inputs_without_a_name_are_refused(bert: rung.Model, bert_inputs: dict[str, Any]) -> None:
    for value, words in ((bert_inputs["input_ids"], "model(input_ids=input_ids)"), (bert_inputs, "model(**inputs)"),
                         ("a text", "model(**model.encode(text))")):
        with pytest.raises(rung.UsageError) as caught:
            bert(value)  # type: ignore[call-arg]
        assert f"without a name, wanted inputs by their names: {words}" in str(caught.value)


def test_lists_of_a_tokenizer_are_refused_with_its_remedy(bert: rung.Model) -> None:
    text = refusal(bert, input_ids=[2, 5, 3])
    assert text.startswith("input 'input_ids': got a list, wanted a NumPy array of int64: "
                           "numpy.array(input_ids, 'int64')")
    assert "tokenizer(text, return_tensors='np', padding='max_length', truncation=True, max_length=9)" in text


def test_a_head_is_refused_or_dropped(tmp_path: Path, encoder: Path) -> None:
    config = encoder / "config.json"
    config.write_text(config.read_text().replace('"BertModel"', '"BertForSequenceClassification"'))
    (encoder / "modules.json").unlink()
    with pytest.raises(rung.FileError, match="no tensor 'classifier.weight', .*drop_head"):
        rung.load(encoder, shapes=SHAPES)
    with rung.load(encoder, threads=THREADS, shapes=SHAPES, drop_head=True) as model:
        assert "last_hidden_state" in model.outputs
    assert rung.bench(encoder, runs=2, threads=1, shapes=SHAPES, drop_head=True)["runs"] == 2


def test_the_models_own_maximum_is_the_default(encoder: Path) -> None:
    (encoder / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    with rung.load(encoder, threads=THREADS) as model:
        assert model.inputs["input_ids"].shape == (1, 12)
    with rung.load(BERT, threads=THREADS) as model:
        assert model.inputs["input_ids"].shape == (1, 24)
