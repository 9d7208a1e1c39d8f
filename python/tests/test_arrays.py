# Arrays that a call takes, and those that it refuses: each with one line that says how to make it right.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
import rung
from conftest import PI0, THREADS, Arrays, arrays, refusal


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
    for other in (">i8", "complex64", "longdouble", "datetime64[s]", "object"):
        foreign = ids.astype(other)
        text = f"input 'input_ids': got {foreign.dtype}, wanted int64: input_ids.astype('int64')"
        assert refusal(bert, input_ids=foreign) == text
    packed = numpy.zeros((1, 9), numpy.dtype([("flag", "u1"), ("id", "i8")]))
    assert "others' bytes, wanted row-major without gaps: numpy.ascontiguousarray(input_ids)" in refusal(
        bert, input_ids=packed["id"])


def test_another_shape_is_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = bert_inputs["input_ids"]
    for other in (ids[0], ids[:, :8].copy(), ids.reshape(9, 1), numpy.int64(3)):
        assert re.search(r"input 'input_ids': got .*1,9|input 'input_ids': got .*1, 9", refusal(bert, input_ids=other))


def test_names_are_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    assert "input 'input_ids' is missing" in refusal(bert)
    text = refusal(bert, **bert_inputs, imput_ids=bert_inputs["input_ids"])
    assert "'imput_ids'" in text and "attention_mask" in text
    assert "'state'" in refusal(bert, **bert_inputs, out={"state": bert_inputs["input_ids"]})


def test_a_remedy_is_of_what_the_array_can_do(bert: rung.Model, bert_inputs: Arrays) -> None:
    """A memoryview cannot convert its values, and JAX's arrays make 32 bits of 64."""
    view = bert_inputs["input_ids"].astype("int32").data
    assert refusal(bert, input_ids=view).endswith(": numpy.asarray(input_ids).astype('int64')")
    bert(input_ids=numpy.asarray(view).astype("int64"))


@pytest.mark.parametrize("value", [None, 3, "text", [[1, 2]], object()])
def test_what_is_no_array_is_refused(bert: rung.Model, value: object) -> None:
    assert "wanted a NumPy array" in refusal(bert, input_ids=value)


def test_a_masked_array_is_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    """Its memory holds what the mask hides."""
    masked = numpy.ma.masked_array(bert_inputs["input_ids"], mask=bert_inputs["input_ids"] > 3)
    assert refusal(bert, input_ids=masked).endswith("got a masked array, wanted one without a mask: input_ids.filled()")
    bert(input_ids=masked.filled(0))


def test_values_are_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    assert "input_ids" in refusal(bert, input_ids=bert_inputs["input_ids"] + 1000)


def test_out_is_checked(bert: rung.Model, bert_inputs: Arrays) -> None:
    state = numpy.zeros((1, 9, 32), numpy.float32)
    locked = state.copy()
    locked.flags.writeable = False
    for other, words in ((state.astype("float64"), "got float64, wanted float32"), (state[0], "got"),
                         (locked, "read-only"), (3, "got a int, wanted a NumPy array or a PyTorch tensor"),
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
    text = refusal(bert, input_ids=Lent(ids.astype("int32")))
    assert text == "input 'input_ids': got int32, wanted int64: numpy.from_dlpack(input_ids).astype('int64')"
    text = refusal(bert, input_ids=Lent(ids[:, ::-1]))
    assert text.endswith(": numpy.ascontiguousarray(numpy.from_dlpack(input_ids))")


def test_what_a_library_says_of_its_array_is_told_in_one_line(bert: rung.Model) -> None:
    class Gone:
        dtype = "int64"

        def block_until_ready(self) -> None:
            raise RuntimeError("deleted\nand a stack of frames")

        def __dlpack__(self, **options: Any) -> object:
            raise AssertionError

    assert "test_arrays.Gone that does not lend its memory (deleted), wanted" in refusal(bert, input_ids=Gone())
    Gone.dtype = "int4"
    assert "got int4, wanted int64" in refusal(bert, input_ids=Gone())


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


def test_bools_of_other_bytes_are_refused() -> None:
    """NumPy calls them true; kernels would multiply with them."""
    inputs = arrays(PI0 / "inputs.npz")
    with rung.load(PI0, threads=THREADS, dtype="f32", shapes={name: a.shape for name, a in inputs.items()}) as policy:
        policy(**inputs)
        mask = numpy.where(inputs["token_mask"], 255, 0).astype("uint8").view(bool)
        assert "input 'token_mask': got the byte 255 in bool" in refusal(policy, **inputs | {"token_mask": mask})
