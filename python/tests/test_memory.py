# A session's own memory: stable, read at every run, kept after close().
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc

import numpy
import pytest
import rung
from conftest import Arrays


def test_a_control_loop_writes_runs_and_reads(bert: rung.Model, bert_inputs: Arrays) -> None:
    memory = {name: bert.input(name) for name in bert_inputs}
    state = bert.output("last_hidden_state")
    assert state.shape == (1, 9, 32) and state.dtype == numpy.float32
    for turn in range(5):
        ids = numpy.roll(bert_inputs["input_ids"], turn)
        for name, array in memory.items():
            array[...] = ids if name == "input_ids" else bert_inputs[name]
        bert.run()
        ran = state.copy()
        with bert.session() as another:
            assert numpy.array_equal(ran, another(**(bert_inputs | {"input_ids": ids}))["last_hidden_state"])


def test_it_is_the_same_at_every_call(bert: rung.Model) -> None:
    first, second = bert.input("input_ids"), bert.input("input_ids", where="device")
    assert first.ctypes.data == second.ctypes.data


def test_it_starts_as_the_default(bert: rung.Model) -> None:
    assert (bert.input("attention_mask") == 1).all()
    assert (bert.input("input_ids") == 0).all()


def test_run_after_a_call_is_bound_to_the_memory_again(bert: rung.Model, bert_inputs: Arrays) -> None:
    """It reads and writes that, and not the call's arrays, which may be gone."""
    ids, state = bert.input("input_ids"), bert.output("last_hidden_state")
    ids[...] = bert_inputs["input_ids"]
    bert.run()
    own = state.copy()
    other = bert(input_ids=bert_inputs["input_ids"][:, ::-1].copy())["last_hidden_state"]
    gc.collect()
    assert not numpy.array_equal(other, own)
    copy = other.copy()
    ids[...] = bert_inputs["input_ids"]
    bert.run()
    assert numpy.array_equal(state, own) and numpy.array_equal(other, copy)


def test_an_input_left_out_is_what_stands_in_the_memory(bert: rung.Model, bert_inputs: Arrays) -> None:
    bert.input("input_ids")[...] = bert_inputs["input_ids"]
    assert numpy.array_equal(bert()["last_hidden_state"],
                             bert(input_ids=bert_inputs["input_ids"])["last_hidden_state"])


def test_it_outlives_the_model(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert.input("input_ids")
    ids[...] = bert_inputs["input_ids"]
    bert.close()
    gc.collect()
    assert numpy.array_equal(ids, bert_inputs["input_ids"])


def test_run_wants_required_inputs(bert: rung.Model) -> None:
    with pytest.raises(rung.MismatchError, match="input_ids"):
        bert.run()


def test_a_stream_is_for_gpus(bert: rung.Model) -> None:
    bert.input("input_ids")
    with pytest.raises(rung.UsageError):
        bert.run(stream=0)
    bert.run()


def test_names_and_places_are_checked(bert: rung.Model) -> None:
    with pytest.raises(rung.MismatchError, match="attention_mask"):
        bert.input("imput_ids")
    with pytest.raises(rung.MismatchError, match="last_hidden_state"):
        bert.output("input_ids")
    with pytest.raises(rung.UsageError, match="'host' or 'device'"):
        bert.input("input_ids", where="moon")  # type: ignore[arg-type]
