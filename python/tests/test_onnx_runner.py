# The onnx package's own runner of its test cases over rung.onnx_backend: some of each kind of outcome. docs/onnx.md has
# the results of all, and how to run them.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from typing import Any

import pytest
import rung

onnx: Any = pytest.importorskip("onnx", reason="onnx is not installed")
runners: Any = pytest.importorskip("onnx.backend.test", reason="onnx's runner is not installed")
onnx_backend: Any = pytest.importorskip("rung.onnx_backend")

PASSED = ["add", "argmax_default_axis_example", "attention_4d", "basic_conv_with_padding", "batchnorm_example",
          "cast_FLOAT_to_FLOAT16", "col2im", "dft_irfft", "dft_irfft_opset19", "gather_elements_0",
          "gridsample_bicubic", "gru_defaults", "layer_normalization_4d_axis1", "lstm_bidirectional",
          "matmul_2d", "maxpool_2d_default", "resize_downsample_scales_linear_antialias",
          "resize_upsample_sizes_cubic", "rnn_seq_length", "scatter_elements_with_reduction_max", "scatternd_add",
          "softmax_axis_1", "top_k"]


@pytest.fixture(scope="module")
def cases() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return runners.BackendTest(onnx_backend, __name__).test_cases["OnnxBackendNodeModelTest"]()


@pytest.mark.parametrize("name", PASSED)
def test_a_case_passes(cases: Any, name: str) -> None:
    getattr(cases, f"test_{name}_cpu")()


def test_what_is_refused_fails_with_the_reason(cases: Any) -> None:
    with pytest.raises(rung.UnsupportedError, match="input 'x': got strings"):
        cases.test_string_concat_cpu()
