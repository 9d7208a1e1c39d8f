# Arrays that a call takes, and those that it refuses: each with one line that says how to make it right.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
import rung
from conftest import Arrays


def refusal(model: rung.Model, **inputs: Any) -> str:
    with pytest.raises(rung.MismatchError) as caught:
        model(**inputs)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_another_dtype_is_not_cast(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"]
    for other in ("int32", "float64", "uint64"):
        text = refusal(bert, input_ids=ids.astype(other))
        assert f"input 'input_ids': got {other}, wanted int64: input_ids.astype('int64')" == text


def test_another_layout_is_not_copied(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"]
    text = refusal(bert, input_ids=numpy.repeat(ids, 2, axis=1)[:, ::2])
    assert "input 'input_ids'" in text and "numpy.ascontiguousarray(input_ids)" in text
    assert "numpy.ascontiguousarray" in refusal(bert, input_ids=ids[:, ::-1])
    one_row = numpy.asfortranarray(ids)  # row-major too
    bert(input_ids=one_row)


def test_foreign_bytes_are_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"]
    assert "'>l'" in refusal(bert, input_ids=ids.astype(">i8")) or "'>q'" in refusal(bert, input_ids=ids.astype(">i8"))
    packed = numpy.zeros((1, 9), numpy.dtype([("flag", "u1"), ("id", "i8")]))
    assert "input 'input_ids'" in refusal(bert, input_ids=packed["id"])


def test_another_shape_is_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"]
    for other in (ids[0], ids[:, :8].copy(), ids.reshape(9, 1), numpy.int64(3)):
        assert re.search(r"input 'input_ids': got .*1,9|input 'input_ids': got .*1, 9", refusal(bert, input_ids=other))


def test_names_are_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    assert "input 'input_ids' is missing" in refusal(bert)
    text = refusal(bert, **bert_inputs, imput_ids=bert_inputs["input_ids"])
    assert "'imput_ids'" in text and "attention_mask" in text
    assert "'state'" in refusal(bert, **bert_inputs, out={"state": bert_inputs["input_ids"]})


@pytest.mark.parametrize("value", [None, 3, "text", [[1, 2]], object()])
def test_what_is_no_array_is_refused(bert: rung.Model, value: object) -> None:
    assert "wanted a NumPy array" in refusal(bert, input_ids=value)


def test_values_are_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    assert "input_ids" in refusal(bert, input_ids=bert_inputs["input_ids"] + 1000)


def test_out_is_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    state = numpy.zeros((1, 9, 32), numpy.float32)
    locked = state.copy()
    locked.flags.writeable = False
    for other, words in ((state.astype("float64"), "got float64, wanted float32"), (state[0], "got"),
                         (locked, "read-only"), (3, "int"),
                         (numpy.zeros((1, 9, 64), numpy.float32)[:, :, ::2], "strides")):
        assert words in refusal(bert, **bert_inputs, out={"last_hidden_state": other})
    with pytest.raises(rung.UsageError, match="mapping"):
        bert(**bert_inputs, out=[state])
    bert(**bert_inputs, out={"last_hidden_state": state})  # a refusal leaves nothing behind


def test_read_only_inputs_and_memoryviews_are_taken(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"].copy()
    ids.flags.writeable = False
    state = bert(input_ids=ids)["last_hidden_state"]
    assert numpy.array_equal(state, bert(input_ids=memoryview(ids))["last_hidden_state"])


def test_whatever_has_dlpack_is_taken(bert: rung.Model, bert_inputs: Arrays) -> None:
    class Lent:
        def __init__(self, array: numpy.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> object:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    ids = bert_inputs["input_ids"]
    assert numpy.array_equal(bert(input_ids=Lent(ids))["last_hidden_state"], bert(input_ids=ids)["last_hidden_state"])
    assert "astype('int64')" in refusal(bert, input_ids=Lent(ids.astype("int32")))
    assert "contiguous" in refusal(bert, input_ids=Lent(ids[:, ::-1]))


def test_an_array_of_a_call_cannot_be_resized_meanwhile(bert: rung.Model, bert_inputs: Arrays) -> None:
    """It lends its memory until the call ends, and no longer."""
    ids = bert_inputs["input_ids"].copy()
    bert(input_ids=ids)
    ids.resize((3, 9))
    assert ids.shape == (3, 9)


def test_a_refused_array_lends_nothing_any_more(bert: rung.Model) -> None:
    memory = bytearray(72)
    for view in (memory, memoryview(memory).cast("c"), memoryview(memory).cast("i", (1, 18))):
        refusal(bert, input_ids=view)
        if isinstance(view, memoryview):
            view.release()
    memory.append(0)  # refused with a BufferError while anybody has it
