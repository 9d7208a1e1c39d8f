# Arrays of JAX: inputs like any other's, read-only, and 32 bits wide unless a program asked otherwise.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest
import rung
from conftest import Arrays, refusal

jax: Any = pytest.importorskip("jax", reason="JAX is not installed")


@pytest.fixture
def ids(bert_inputs: Arrays) -> Iterator[Any]:
    with jax.enable_x64(True):
        yield jax.numpy.asarray(bert_inputs["input_ids"])


def test_arrays_in_arrays_of_numpy_out(bert: rung.Model, bert_inputs: Arrays, ids: Any) -> None:
    state = bert(**{name: jax.numpy.asarray(array) for name, array in bert_inputs.items()})["last_hidden_state"]
    assert isinstance(state, numpy.ndarray)
    assert numpy.array_equal(state, bert(**bert_inputs)["last_hidden_state"])


def test_what_is_still_computed_is_waited_for(bert: rung.Model, bert_inputs: Arrays, ids: Any) -> None:
    slow = jax.jit(lambda x: x + (jax.numpy.ones((600, 600)) @ jax.numpy.ones((600, 600)))[0, 0].astype(x.dtype) * 0)
    wanted = bert(input_ids=bert_inputs["input_ids"])["last_hidden_state"]
    for _ in range(5):
        assert numpy.array_equal(bert(input_ids=slow(ids))["last_hidden_state"], wanted)


def test_another_dtype_is_converted_by_numpy(bert: rung.Model, bert_inputs: Arrays) -> None:
    """JAX's own astype('int64') gives int32 again."""
    for dtype in ("int32", "float32", "bfloat16", "float16", "bool", "complex64", "int4"):
        array = jax.numpy.asarray(bert_inputs["input_ids"]).astype(dtype)
        text = refusal(bert, input_ids=array)
        assert text == f"input 'input_ids': got {dtype}, wanted int64: numpy.asarray(input_ids).astype('int64')"
    narrow = jax.numpy.asarray(bert_inputs["input_ids"])
    assert numpy.array_equal(bert(input_ids=numpy.asarray(narrow).astype("int64"))["last_hidden_state"],
                             bert(input_ids=bert_inputs["input_ids"])["last_hidden_state"])


def test_what_has_no_values_is_refused(bert: rung.Model, ids: Any) -> None:
    assert "got i64[9,1], wanted i64[1,9]" in refusal(bert, input_ids=ids.T)

    def traced(array: Any) -> Any:
        assert "Tracer that DLPack does not lend" in refusal(bert, input_ids=array)
        return array

    jax.jit(traced)(ids)
    gone = ids + 1
    gone.delete()
    assert "does not lend its memory" in refusal(bert, input_ids=gone) and "deleted" in refusal(bert, input_ids=gone)


def test_it_cannot_be_written(bert: rung.Model, ids: Any) -> None:
    state = jax.numpy.zeros((1, 9, 32), "float32")
    assert "read-only" in refusal(bert, input_ids=ids, out={"last_hidden_state": state})
