# Language models from Python: texts as they are made, sessions that remember them, threads, Ctrl-C, what is refused.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import rung
from conftest import BERT, DATA, arrays

LLAMA = DATA / "checkpoints" / "llama"
PROMPT = arrays(LLAMA / "inputs.npz")["input_ids"][0]
GREEDY = [11, 10, 16, 10, 16, 10, 16, 16, 16]  # the published library's


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """The checkpoint with a tokenizer: 2 begins a text, 3 to 22 are the letters a to t, and 23 ends a text."""
    folder = tmp_path / "letters"
    shutil.copytree(LLAMA, folder)
    shutil.copytree(DATA / "letters", folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def model(letters: Path) -> Iterator[rung.LanguageModel]:
    with rung.load_language_model(letters, threads=1) as model:
        yield model


def test_a_text_streams(model: rung.LanguageModel) -> None:
    generation = model.generate(PROMPT, new=9, temperature=0)
    pieces = list(generation)
    assert [piece.token for piece in pieces] == GREEDY
    assert "".join(piece.text for piece in pieces) == model.decode(GREEDY) == "ihnhnhnnn"
    figures = generation.figures()
    assert figures["tokens"] == GREEDY and figures["text"] == "ihnhnhnnn"
    assert figures["prompt_tokens"] == 12 and figures["stopped_by"] == "count"
    assert figures["prefill_ms"] > 0 and figures["decode_ms"]["median"] > 0 and figures["tokens_per_s"] > 0
    assert figures["bytes_per_token"] > 0 and figures["floor_ms"] > 0
    assert set(figures) == rung.Generated.__required_keys__
    with pytest.raises(StopIteration):
        next(generation)


def test_a_text_ends_before_a_stop_string(model: rung.LanguageModel) -> None:
    for stop in ("nhnn", ["zz", "nhnn"]):
        generation = model.generate(PROMPT, new=9, temperature=0, stop=stop)
        assert "".join(piece.text for piece in generation) == "ihnh"
        assert generation.figures()["stopped_by"] == "stop string"


def test_prompts_have_three_forms(model: rung.LanguageModel) -> None:
    assert model.tokens("abt") == [2, 3, 4, 22]
    assert model.tokens([{"role": "user", "content": "ab"}]) == [2, 3, 4, 23]
    assert model.tokens(numpy.array([5, 6])) == [5, 6]
    assert (model.vocabulary, model.most_tokens) == (24, 32)


def test_settings_reach_the_choice_of_tokens(model: rung.LanguageModel) -> None:
    def made(**settings: Any) -> list[int]:
        return [piece.token for piece in model.generate(PROMPT, new=12, **settings)]

    hot = {"temperature": 5.0, "top_k": 0}
    assert made(**hot, seed=1) == made(**hot, seed=1) != made(**hot, seed=2)
    assert made(temperature=5, top_k=1) == made(temperature=0)
    assert made(temperature=5, top_k=0, top_p=0) == made(temperature=0)
    assert made(temperature=5, top_k=0, min_p=1) == made(temperature=0)
    assert made(temperature=0, repetition_penalty=5) != made(temperature=0)


def test_drafts_change_no_text(model: rung.LanguageModel) -> None:
    both: list[dict[str, Any]] = [{"temperature": 0}, {"temperature": 0.2, "seed": 3}]
    for settings in both:
        plain = [piece.token for piece in model.generate(PROMPT, new=18, **settings)]
        generation = model.generate(PROMPT, new=18, speculate="on", **settings)
        assert [piece.token for piece in generation] == plain
        figures = generation.figures()
        assert 0 < figures["accepted"] <= figures["drafted"]
    with pytest.raises(rung.UsageError, match="speculate: got 'yes'"):
        model.generate(PROMPT, speculate="yes")  # type: ignore[arg-type]


def test_a_draft_changes_no_text(model: rung.LanguageModel) -> None:
    both: list[dict[str, Any]] = [{"temperature": 0}, {"temperature": 2.0, "top_k": 0, "seed": 3}]
    with rung.load_language_model(DATA / "checkpoints" / "qwen2", threads=1) as other:
        for settings in both:
            plain = [piece.token for piece in model.generate(PROMPT, new=15, **settings)]
            for draft in (model, other):
                generation = model.generate(PROMPT, new=15, speculate="on", draft=draft, draft_tokens=3, **settings)
                assert [piece.token for piece in generation] == plain
                figures = generation.figures()
                assert figures["drafting"] == "kept" and figures["drafted"] > 0
                assert (figures["accepted"] == figures["drafted"]) == (draft is model)
        generation = model.generate(PROMPT, new=9, temperature=0, draft=model)
        assert [piece.token for piece in generation] == GREEDY
        assert generation.figures()["drafted"] > 0, "auto"
        for tokens in (0, -3, 8):
            with pytest.raises(rung.UsageError, match=f"got {tokens}"):
                model.generate(PROMPT, draft=other, draft_tokens=tokens)
    with pytest.raises(rung.UsageError, match="closed"):
        model.generate(PROMPT, draft=other)
    with pytest.raises(rung.UsageError, match="no draft"):
        model.generate(PROMPT, draft_tokens=2)


def test_a_session_gives_scores(model: rung.LanguageModel) -> None:
    session = model.session()
    scores = session.feed(PROMPT)
    assert scores.dtype == numpy.float32 and scores.shape == (24,)
    assert int(scores.argmax()) == GREEDY[0]
    kept = scores.copy()
    session.feed([5])
    assert numpy.array_equal(scores, kept), "the array is the caller's own"
    session.truncate(12)
    assert session.length == 12 and session.tokens == PROMPT.tolist()
    assert numpy.array_equal(session.feed([]), kept)
    session.reset()
    assert session.length == 0
    assert numpy.array_equal(session.feed(PROMPT), kept)


def test_a_loop_of_ones_own_makes_the_same_text(model: rung.LanguageModel) -> None:
    session, made = model.session(), []
    scores = session.feed(PROMPT)
    for _ in range(9):
        made.append(int(scores.argmax()))
        scores = session.feed([made[-1]])
    assert made == GREEDY


def test_forks_share_a_beginning_and_nothing_else(model: rung.LanguageModel) -> None:
    session = model.session()
    session.feed(PROMPT)
    forks = [session.fork() for _ in range(3)]
    texts: list[list[int]] = [[] for _ in forks]
    running = [fork.generate(new=8, temperature=3, top_k=0, seed=seed) for seed, fork in enumerate(forks)]
    for _ in range(8):  # in turns
        for text, generation in zip(texts, running):
            text += [piece.token for piece in itertools.islice(generation, 1)]
    for seed, text in enumerate(texts):
        alone = [piece.token for piece in model.generate(PROMPT, new=8, temperature=3, top_k=0, seed=seed)]
        assert text == alone
        assert forks[seed].tokens == PROMPT.tolist() + text
    assert session.tokens == PROMPT.tolist()


def test_forks_run_in_threads_of_their_own(model: rung.LanguageModel) -> None:
    session = model.session()
    session.feed(PROMPT)
    made: dict[int, list[int]] = {}

    def run(seed: int, fork: rung.TextSession) -> None:
        made[seed] = [piece.token for piece in fork.generate(new=12, temperature=3, top_k=0, seed=seed)]

    threads = [threading.Thread(target=run, args=(seed, session.fork())) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, text in made.items():
        assert text == [piece.token for piece in model.generate(PROMPT, new=12, temperature=3, top_k=0, seed=seed)]


def test_a_text_goes_on_behind_the_last_piece(model: rung.LanguageModel) -> None:
    session, made = model.session(), []
    for piece in session.generate(PROMPT, new=9, temperature=0):
        made.append(piece.token)
        if len(made) == 4:
            break
    assert session.tokens == PROMPT.tolist() + GREEDY[:4]
    assert [piece.token for piece in session.generate(new=5, temperature=0)] == GREEDY[4:]


def test_ctrl_c_between_tokens_keeps_the_text(model: rung.LanguageModel) -> None:
    session = model.session()
    made: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        for piece in session.generate(PROMPT, new=9, temperature=0):
            made.append(piece.token)
            if len(made) == 3:
                signal.raise_signal(signal.SIGINT)
    assert session.tokens == PROMPT.tolist() + GREEDY[:3]
    assert [piece.token for piece in session.generate(new=6, temperature=0)] == GREEDY[3:]


def test_sessions_and_generations_outlive_what_they_came_from(letters: Path) -> None:
    with rung.load_language_model(letters, threads=1) as model:
        session = model.session()
        generation = session.generate(PROMPT, new=9, temperature=0)
    with session:
        assert [piece.token for piece in generation] == GREEDY
        fork = session.fork()
    assert fork.length == 21
    for use in (lambda: session.length, lambda: session.feed([3]), lambda: session.fork(), lambda: session.generate()):
        with pytest.raises(rung.UsageError, match="the session is closed"):
            use()
    with pytest.raises(rung.UsageError, match="the model is closed"):
        model.session()
    assert repr(model) == "<rung.LanguageModel, closed>"


def test_what_is_refused(model: rung.LanguageModel) -> None:
    session = model.session()
    session.feed([3, 4])
    for prompt, words in (([3, 24], "token 1 of 2 is 24: wanted 0 to 23"), ([3] * 31, "there is room for 32"),
                          ([{"role": "user", "content": "a"}], "a chat behind a text of 2 tokens"),
                          ([3.5], "wanted a sequence of ints"), (7, "wanted a sequence of ints"),
                          ([{"role": {1, 2}}], "messages that are not JSON")):
        with pytest.raises(rung.UsageError, match=words):
            session.generate(prompt)  # type: ignore[arg-type]
    with pytest.raises(rung.UsageError, match="got 0 prompts"):
        model.generate("")
    with pytest.raises(rung.UsageError, match="top_p: got 3"):
        session.generate(top_p=3)
    with pytest.raises(rung.UsageError, match="got 0 new tokens"):
        session.generate(new=0)
    with pytest.raises(rung.UsageError, match="stop: got 7"):
        session.generate(stop=7)  # type: ignore[arg-type]
    with pytest.raises(rung.UsageError, match="got a length of 3, wanted 0 to 2"):
        session.truncate(3)
    assert session.tokens == [3, 4]


def test_other_models_are_refused() -> None:
    with pytest.raises(rung.MismatchError, match="is no decoder language model"):
        rung.load_language_model(BERT)
    with pytest.raises(rung.UsageError, match="wanted 1 to 32"):
        rung.load_language_model(LLAMA, cache=33)
    with pytest.raises(rung.UsageError, match="cache: got 'a'"):
        rung.load_language_model(LLAMA, cache="a")  # type: ignore[arg-type]
