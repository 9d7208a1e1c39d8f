# A backend by the public interface of the onnx package, so that its test cases and scoreboard run on rung.
# SPDX-License-Identifier: Apache-2.0
"""rung as a backend of ONNX: prepare(), run_model(), run_node() and supports_device() of onnx.backend.base.Backend.

    import rung.onnx_backend
    outputs = rung.onnx_backend.prepare(onnx.load("model.onnx")).run([array])

It needs the package onnx, which rung itself does not need.
"""
from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from . import _core
from ._errors import Error, MismatchError, UnsupportedError
from ._load import build

# Element types that rung's tensors do not have, and the type that carries their values, which holds each exactly.
CARRIERS = {
    TensorProto.INT16: numpy.int32, TensorProto.UINT16: numpy.int32, TensorProto.UINT32: numpy.int64,
    TensorProto.UINT64: numpy.int64, TensorProto.INT4: numpy.int8, TensorProto.UINT4: numpy.uint8,
    TensorProto.INT2: numpy.int8, TensorProto.UINT2: numpy.uint8, TensorProto.FLOAT8E4M3FN: numpy.float32,
    TensorProto.FLOAT8E4M3FNUZ: numpy.float32, TensorProto.FLOAT8E5M2: numpy.float32,
    TensorProto.FLOAT8E5M2FNUZ: numpy.float32, TensorProto.FLOAT4E2M1: numpy.float32,
    TensorProto.FLOAT8E8M0: numpy.float32,
}
KNOWN_AT_IMPORT = re.compile(r"depends? on (the values of an input|an input's values)")


def element_type(value: onnx.ValueInfoProto) -> int:
    return int(value.type.tensor_type.elem_type)


def numpy_type(number: int) -> numpy.dtype[Any]:
    found: numpy.dtype[Any] = helper.tensor_dtype_to_np_dtype(number)
    return found


def carried(value: onnx.ValueInfoProto, given: Any) -> numpy.ndarray[Any, Any]:
    """The array that rung takes for an input. Errors: MismatchError, a value that its carrier does not hold."""
    array = numpy.asarray(given)
    carrier = CARRIERS.get(element_type(value))
    if carrier is None or array.dtype != numpy_type(element_type(value)):
        return numpy.require(array, requirements="C")
    wide = array.astype(carrier)
    if element_type(value) == TensorProto.UINT64 and (wide < 0).any():
        raise MismatchError(f"input '{value.name}': got {array.max()}, wanted at most {2**63 - 1}")
    return wide


def returned(value: onnx.ValueInfoProto, array: Any) -> Any:
    """An output in the type that the model declares."""
    number = element_type(value)
    return array.astype(numpy_type(number)) if number in CARRIERS else array


class Prepared(BackendRep):
    """A model that builds a plan for the shapes of the first call, and a further one where they change."""

    def __init__(self, model: onnx.ModelProto | bytes | str | os.PathLike[str], device: str) -> None:
        self.model = model if isinstance(model, onnx.ModelProto) else (
            onnx.load_model_from_string(model) if isinstance(model, bytes) else onnx.load(model))
        self.device = device
        self.frozen: tuple[str, ...] = ()
        given = {tensor.name for tensor in self.model.graph.initializer}
        self.inputs = [value for value in self.model.graph.input if value.name not in given]
        self._plans: dict[Any, tuple[_core.Model, tuple[str, ...]]] = {}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs in the graph's order.

        inputs: arrays in the order of the graph's inputs, or a mapping by name. Inputs whose values decide shapes are
        constants of the plan: other values make another plan.

        Errors: MismatchError, too many or too few inputs, or another type; UnsupportedError, an input or output that is
        no tensor; FileError, an operator or a form of it that rung does not import, with the reason.
        """
        arrays = self._arrays(inputs)
        plan, frozen = self._plan(arrays)
        self.frozen = frozen
        values = plan(**{name: array for name, array in arrays.items() if name not in frozen})
        outputs = self.model.graph.output
        names = namedtupledict("Outputs", [output.name for output in outputs])
        result: tuple[Any, ...] = names(*(returned(output, values[output.name]) for output in outputs))
        return result

    def _arrays(self, inputs: Any) -> dict[str, Any]:
        if not isinstance(inputs, Mapping):
            if isinstance(inputs, numpy.ndarray) or not isinstance(inputs, Sequence):
                inputs = [inputs]
            if len(inputs) != len(self.inputs):
                raise MismatchError(f"got {len(inputs)} inputs, wanted {len(self.inputs)}")
            inputs = {value.name: given for value, given in zip(self.inputs, inputs)}
        arrays = {}
        for value in [*self.inputs, *self.model.graph.output]:
            kind = value.type.WhichOneof("value")
            if kind != "tensor_type":
                raise UnsupportedError(f"'{value.name}': got a {kind}, wanted a tensor")
        for value in self.inputs:
            if value.name not in inputs:
                raise MismatchError(f"input '{value.name}' is missing")
            array = carried(value, inputs[value.name])
            if array.dtype.kind in "OUSTc" or array.dtype == numpy.float64:
                kind = "strings" if array.dtype.kind in "OUST" else array.dtype
                raise UnsupportedError(f"input '{value.name}': got {kind}, wanted bool, integers or floats of 32 bits")
            arrays[value.name] = array
        return arrays

    def _plan(self, arrays: dict[str, Any]) -> tuple[_core.Model, tuple[str, ...]]:
        shapes = tuple((name, str(array.dtype), array.shape) for name, array in arrays.items())
        for key, kept in self._plans.items():
            if key[0] == shapes and all(arrays[name].tobytes() == value for name, value in key[1]):
                return kept
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            onnx.save(self.model, path)
            made = self._build(path, arrays)
        self._plans[shapes, tuple((name, arrays[name].tobytes()) for name in made[1])] = made
        return made

    def _build(self, path: str, arrays: dict[str, Any]) -> tuple[_core.Model, tuple[str, ...]]:
        """Freezes as few inputs as decide shapes: none, then integers, then all."""
        integers = tuple(name for name, array in arrays.items() if array.dtype.kind in "iub" and array.size <= 1024)
        choices = list(dict.fromkeys([(), integers, tuple(arrays)]))
        for frozen in choices:
            try:
                # Of the other inputs the shapes alone matter.
                known = {name: array if name in frozen else numpy.zeros_like(array) for name, array in arrays.items()}
                return build(path, inputs=known, freeze=frozen, device=self.device, threads=1, database=""), frozen
            except Error as error:
                if frozen == choices[-1] or not KNOWN_AT_IMPORT.search(str(error)):
                    raise
        raise AssertionError("the last choice returns or raises")


class RungBackend(Backend):
    """rung by the interface of onnx.backend.base.Backend; inputs and outputs are NumPy arrays."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> Prepared:
        """A model that runs: an onnx.ModelProto, the bytes of one, or the path of a file.

        device: "CPU", "CUDA" or "CUDA:1". The plan is built at the first run, for the shapes of its arrays.

        Errors: UnsupportedError, no such device.
        """
        if not cls.supports_device(device):
            raise UnsupportedError(f"device: got {device!r}, wanted CPU or CUDA where a GPU is")
        return Prepared(model, device.lower())

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None,
                 **kwargs: Any) -> tuple[Any, ...]:
        """The outputs of one node. outputs_info: the NumPy type and the shape of each; None: found by onnx.

        Errors: those of Prepared.run().
        """
        arrays = [numpy.asarray(given) for given in inputs]
        names = [name for name in node.input if name]
        given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in zip(names, arrays)]
        made = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        if outputs_info is not None:
            types = [helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)) for dtype, _ in outputs_info]
            made = [helper.make_tensor_value_info(value.name, number, shape)
                    for value, number, (_, shape) in zip(made, types, outputs_info)]
        opsets = [helper.make_opsetid(node.domain, kwargs.get("opset_version", onnx.defs.onnx_opset_version()))]
        model = helper.make_model(helper.make_graph([node], "node", given, made), opset_imports=opsets)
        if outputs_info is None:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.prepare(model, device).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this machine has it: always a CPU."""
        wanted = Device(device)
        if wanted.type == DeviceType.CPU:
            return True
        return os.path.exists(f"/dev/nvidia{wanted.device_id}")


prepare = RungBackend.prepare
run_model = RungBackend.run_model
run_node = RungBackend.run_node
supports_device = RungBackend.supports_device
is_compatible = RungBackend.is_compatible

__all__ = ["Prepared", "RungBackend", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]
