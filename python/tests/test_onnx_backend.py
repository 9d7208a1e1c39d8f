# The backend by ONNX's interface: what it takes, what it refuses, and when it builds a further plan.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy
import pytest
import rung

onnx: Any = pytest.importorskip("onnx", reason="onnx is not installed")
onnx_backend: Any = pytest.importorskip("rung.onnx_backend")

Ports = list[tuple[str, int, Any]]


def model(nodes: list[Any], inputs: Ports, outputs: Ports) -> Any:
    def values(ports: Ports) -> list[Any]:
        return [onnx.helper.make_tensor_value_info(name, number, shape) for name, number, shape in ports]
    graph = onnx.helper.make_graph(nodes, "g", values(inputs), values(outputs))
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])


FLOAT, INT64, UINT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.UINT16
RELU = model([onnx.helper.make_node("Relu", ["x"], ["y"])], [("x", FLOAT, [None])], [("y", FLOAT, None)])
RESHAPE = model([onnx.helper.make_node("Reshape", ["x", "to"], ["y"])],
                [("x", FLOAT, [6]), ("to", INT64, [2])], [("y", FLOAT, None)])


def test_a_model_runs_at_each_shape() -> None:
    prepared = onnx_backend.prepare(RELU)
    for count in (2, 3, 2):
        x = numpy.linspace(-1, 1, count, dtype=numpy.float32)
        assert prepared.run([x]).y.tolist() == numpy.maximum(x, 0).tolist()
    assert len(prepared._plans) == 2 and not prepared.frozen


def test_values_that_decide_shapes_are_constants_of_a_plan() -> None:
    prepared = onnx_backend.prepare(RESHAPE)
    x = numpy.arange(6, dtype=numpy.float32)
    for shape in ((2, 3), (3, 2)):
        assert prepared.run({"x": x, "to": numpy.array(shape)}).y.shape == shape
    assert prepared.frozen == ("to",) and len(prepared._plans) == 2


def test_a_carried_type_comes_back_as_itself() -> None:
    add = model([onnx.helper.make_node("Add", ["x", "x"], ["y"])], [("x", UINT16, [2])], [("y", UINT16, None)])
    y = onnx_backend.run_model(add, [numpy.array([40000, 1], numpy.uint16)])[0]
    assert y.dtype == numpy.uint16 and y.tolist() == [14464, 2]


def test_a_node_runs_alone() -> None:
    node = onnx.helper.make_node("Neg", ["x"], ["y"])
    assert onnx_backend.run_node(node, [numpy.array([2], numpy.int32)]).y.tolist() == [-2]


def test_bytes_are_a_model() -> None:
    assert onnx_backend.prepare(RELU.SerializeToString()).run(numpy.zeros(1, numpy.float32)).y.tolist() == [0]


@pytest.mark.parametrize("inputs, error, words", [
    ([], rung.MismatchError, "got 0 inputs, wanted 1"),
    ({}, rung.MismatchError, "input 'x' is missing"),
    ([numpy.zeros(2)], rung.UnsupportedError, "input 'x': got float64"),
    ([numpy.array(["a"])], rung.UnsupportedError, "input 'x': got strings"),
])
def test_other_inputs_are_refused(inputs: Any, error: type[rung.Error], words: str) -> None:
    with pytest.raises(error, match=words):
        onnx_backend.prepare(RELU).run(inputs)


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(rung.UnsupportedError, match="CUDA:99"):
        onnx_backend.prepare(RELU, "CUDA:99")
