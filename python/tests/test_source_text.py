# Texts about a source, texts with times, and tokens of actions.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy
import pytest
import rung
from conftest import DATA, arrays

WHISPER = DATA / "checkpoints" / "whisper"
LETTERS = DATA / "actions" / "letters"
SENTENCE = {"input_ids": numpy.array([[3, 4]])}
END = 39


def until_end(tokens: list[int]) -> list[int]:
    return tokens[:tokens.index(END) + 1] if END in tokens else tokens


@pytest.mark.parametrize("name", ["whisper", "t5"])
def test_texts_are_about_the_source_that_was_read_last(name: str) -> None:
    saved = arrays(DATA / "checkpoints" / name / "generated.npz")
    given = "input_features" if name == "whisper" else "input_ids"
    session = rung.load_language_model(DATA / "checkpoints" / name, threads=1, cache=72, source=16).session()
    for index in (0, 1, 0):
        session.read({given: saved[f"{given}.{index}"]})
        prompt = saved[f"decoder_input_ids.{index}"][0].tolist()
        made = [piece.token for piece in session.generate(prompt, new=64, temperature=0, repetition_penalty=6)]
        assert made == until_end(saved[f"tokens.{index}"][0].tolist())
    session.reset()
    again = [piece.token for piece in session.generate(new=64, temperature=0, repetition_penalty=6)]
    assert again == until_end(saved["tokens.0"][0].tolist()), "it begins as the model's files say"


def test_a_whisper_says_times(tmp_path: Path) -> None:
    for file in ("config.json", "model.safetensors"):
        shutil.copy(WHISPER / file, tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({
        "decoder_start_token_id": 1, "eos_token_id": 15, "no_timestamps_token_id": 19,
        "max_initial_timestamp_index": 3, "suppress_tokens": [5, 30], "begin_suppress_tokens": [7, 15]}))
    texts = arrays(DATA / "timestamps" / "texts.npz")
    session = rung.load_language_model(tmp_path, threads=1, cache=72).session()
    session.read({"input_features": texts["input_features.0"]})
    generation = session.generate(new=60, temperature=0, repetition_penalty=6, timestamps=True)
    assert [piece.token for piece in generation] == texts["tokens.0"].tolist()
    assert generation.figures()["segments"] == [{"begin": 0.06, "end": 0.36, "tokens": [11], "text": None},
                                                {"begin": 0.36, "end": None, "tokens": [12, 7], "text": None}]
    session.reset()
    assert "segments" not in session.generate(new=1).figures()


def test_sources_are_refused_by_name() -> None:
    with pytest.raises(rung.UsageError, match="encoder"):
        rung.load_language_model(DATA / "checkpoints" / "llama", threads=1).session().read(SENTENCE)
    session = rung.load_language_model(WHISPER, threads=1, cache=16).session()
    with pytest.raises(rung.UsageError, match="before a source"):
        session.generate()
    with pytest.raises(rung.Error, match="sound"):
        session.read({"sound": numpy.zeros((1, 6, 18), numpy.float32)})
    with pytest.raises(rung.UsageError, match="cache: got 0 .* wanted the most tokens of a text"):
        rung.load_language_model(WHISPER)
    with pytest.raises(rung.UsageError, match="source: got -1"):
        rung.load_language_model(WHISPER, cache=16, source=-1)


def test_actions_have_tokens() -> None:
    tokenizer = rung.ActionTokenizer(LETTERS)
    known = json.loads((LETTERS / "cases.json").read_text())[0]
    assert tokenizer.shape == (4, 4)
    actions = tokenizer.decode(known["tokens"])
    assert actions.dtype == numpy.float64 and numpy.allclose(actions, known["decoded"], atol=1e-12, rtol=0)
    assert tokenizer.encode(actions) == tokenizer.encode(actions.tolist()) == known["tokens"]
    written = [3, *(300 - 1 - 20 - token for token in known["tokens"])]
    assert (tokenizer.decode_policy(written, 300, skipped=20) == actions).all()
    with pytest.raises(rung.UsageError, match="got 2 values of actions, wanted 4 x 4"):
        tokenizer.encode([1, 2])
    with pytest.raises(rung.MismatchError):
        tokenizer.decode([1])
    with pytest.raises(rung.MismatchError, match="action_dim"):
        rung.ActionTokenizer(LETTERS, dims=5)
