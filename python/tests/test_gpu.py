# Models on a GPU with NumPy alone.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy
import pytest
import rung
from conftest import BERT, GPU, SHAPES, Arrays, assert_known


def test_gpu_answers_arrays(on_gpu: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    assert on_gpu.device == f"{GPU}:0"
    assert_known(on_gpu(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])


def test_gpu_pinned_memory_in_a_loop(on_gpu: rung.Model, bert_inputs: Arrays) -> None:
    ids, state = on_gpu.input("input_ids"), on_gpu.output("last_hidden_state")
    for turn in range(5):
        ids[...] = numpy.roll(bert_inputs["input_ids"], turn)
        on_gpu.run()
        ran = state.copy()
        assert numpy.array_equal(ran, on_gpu(input_ids=ids.copy())["last_hidden_state"])


def test_gpu_opening_and_closing_leaves_no_memory(on_gpu: rung.Model, bert_inputs: Arrays) -> None:
    for _ in range(20):
        with rung.load(BERT, device=GPU, shapes=SHAPES) as model:
            model(**bert_inputs)
