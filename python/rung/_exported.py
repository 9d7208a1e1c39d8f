# What an exported program tells of a module: which value of a call is which input of its plan, and the same of results.
# SPDX-License-Identifier: Apache-2.0
"""Exports modules of PyTorch, and binds calls to the exported program's inputs. Imported by what has PyTorch."""
from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from ._errors import MismatchError, UnsupportedError, UsageError

ABSENT: tuple[Any, ...] = (inspect.Parameter.empty, {}, ())
OWN_FOLDERS = (str(Path(torch.__file__).parent), str(Path(__file__).parent))


class Leaf(NamedTuple):
    """A value of a call or of its results: a tensor, by the exported program's name, or a constant."""

    name: str | None
    value: Any = None

    @classmethod
    def of(cls, argument: Any) -> Leaf:
        value = getattr(argument, "value", None)
        return cls(None, value) if hasattr(argument, "value") else cls(argument.name)

    def check(self, given: Any) -> None:
        """Errors: MismatchError, another value than the one that the module was exported with."""
        if given is not self.value and (type(given) is not type(self.value) or given != self.value):
            wanted = "it left out" if self.value in ABSENT else repr(self.value)
            raise MismatchError(f"got {shown(given)}, wanted {wanted}, as when the module was exported")


def shown(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else f"a {type(value).__name__}"


def last_own_line(error: BaseException) -> str:
    """The line of the user's code that an error of PyTorch's came through, as "; FILE:LINE", or nothing."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith((*OWN_FOLDERS, "<"))]
    inner = [frame for frame in frames if frame.name != "<module>"] or frames
    return f"; {Path(inner[-1].filename).name}:{inner[-1].lineno}" if inner else ""


def split_inputs(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments of what a caller gave as one example. Errors: UsageError."""
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if isinstance(example_inputs, Sequence) and not isinstance(example_inputs, str):
        return tuple(example_inputs), {}
    raise UsageError(f"example_inputs: got a {type(example_inputs).__name__}, wanted a tensor, a tuple of arguments or "
                     "a mapping of them by name")


def export(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any) -> Any:
    """The torch.export.ExportedProgram. Errors: UsageError, it is in training; UnsupportedError, PyTorch refuses."""
    if module.training:
        raise UsageError(f"{type(module).__name__}: got a module in training, wanted module.eval()")
    try:
        with torch.no_grad():
            return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    except Exception as error:  # PyTorch has no one class for what it cannot export
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise UnsupportedError(f"{type(module).__name__}: torch.export: {reason[0]}{last_own_line(error)}") from error


class Argument(NamedTuple):
    """A parameter of forward() that the example gave: its structure, and what its leaves are."""

    structure: Any
    leaves: tuple[Leaf, ...]


class Signature:
    """How a call of a module becomes tensors by name, and tensors by name its results."""

    def __init__(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._signature = inspect.signature(module.forward)
        try:
            self._example = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageError(f"example_inputs: {type(module).__name__}.forward(): {error}") from error
        self._arguments: dict[str, Argument] = {}
        self._outputs: tuple[Leaf, ...] = ()
        self._structure: Any = None
        # Of calls whose arguments are tensors and constants without structure: their leaves, by how they were passed.
        self._forms: dict[tuple[Any, ...], tuple[Leaf, ...]] = {}

    @property
    def args(self) -> tuple[Any, ...]:
        """The example's arguments in the order of forward()'s parameters, as far as they go without a gap."""
        return self._example.args

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._example.kwargs

    def read(self, program: Any) -> None:
        """Takes the names of the program's inputs and outputs, which stand in the order of the example's leaves."""
        specs = program.graph_signature
        leaves = [Leaf.of(spec.arg) for spec in specs.input_specs if spec.kind.name == "USER_INPUT"]
        at = 0
        for name, value in self._example.arguments.items():
            values, structure = pytree.tree_flatten(value)
            self._arguments[name] = Argument(structure, tuple(leaves[at:at + len(values)]))
            at += len(values)
        self._outputs = tuple(Leaf.of(spec.arg) for spec in specs.output_specs if spec.kind.name == "USER_OUTPUT")
        self._structure = program.call_spec.out_spec

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor]:
        """The tensors of a call by the program's names. Errors: TypeError, as forward() raises; MismatchError."""
        form = self._forms.get((len(args), *kwargs))
        if form is not None and (tensors := as_before(form, args, kwargs)) is not None:
            return tensors
        bound = self._signature.bind(*args, **kwargs)
        tensors = {}
        for name, value in bound.arguments.items():
            tensors |= self._bind_argument(name, value)
        for name in self._arguments.keys() - bound.arguments.keys():
            tensors |= self._bind_argument(name, absent(self._signature.parameters[name]))
        self._learn(args, kwargs, bound)
        return tensors

    def _bind_argument(self, name: str, value: Any) -> dict[str, torch.Tensor]:
        argument = self._arguments.get(name)
        try:
            if argument is None:
                Leaf(None, absent(self._signature.parameters[name])).check(value)
                return {}
            if isinstance(value, dict):  # the caller's order of names is free
                wanted = self._example.arguments[name]
                value = {key: value[key] for key in wanted} if value.keys() == wanted.keys() else value
            values, structure = pytree.tree_flatten(value)
            if structure != argument.structure:
                raise MismatchError(f"got {structure}, wanted {argument.structure}, as when the module was exported")
            return named(argument.leaves, values)
        except MismatchError as error:
            raise MismatchError(f"argument '{name}': {error}") from None

    def _learn(self, args: tuple[Any, ...], kwargs: dict[str, Any], bound: inspect.BoundArguments) -> None:
        """Keeps how the call was passed, if each argument is one leaf and all of the example's are there."""
        positional = list(bound.arguments)[:len(args)]
        names = [*positional, *kwargs]
        plain = {name for name, argument in self._arguments.items() if argument.structure.is_leaf()}
        form = (len(args), *kwargs)
        if len(positional) == len(args) and plain == set(names) == set(self._arguments):
            self._forms[form] = tuple(self._arguments[name].leaves[0] for name in names)

    def results(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> Any:
        """What forward() returns of the plan's outputs; an input that it returns is the caller's own tensor."""
        values = [leaf.value if leaf.name is None else inputs.get(leaf.name, outputs.get(leaf.name))
                  for leaf in self._outputs]
        return values[0] if self._structure.is_leaf() else pytree.tree_unflatten(values, self._structure)


def absent(parameter: inspect.Parameter) -> Any:
    """What forward() gets for a parameter that a call leaves out."""
    if parameter.kind is parameter.VAR_KEYWORD:
        return {}
    return () if parameter.kind is parameter.VAR_POSITIONAL else parameter.default


def as_before(form: tuple[Leaf, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor] | None:
    """The tensors of a call whose form was seen before; None, where one of its values is not as it was."""
    try:
        return named(form, (*args, *kwargs.values()))
    except MismatchError:
        return None


def named(leaves: Sequence[Leaf], values: Sequence[Any]) -> dict[str, torch.Tensor]:
    """Tensors by name, each without gaps and without its gradient. Errors: MismatchError."""
    tensors = {}
    for leaf, value in zip(leaves, values):
        if leaf.name is None:
            leaf.check(value)
            continue
        if not isinstance(value, torch.Tensor):
            raise MismatchError(f"got {shown(value)}, wanted a tensor, as when the module was exported")
        if value.requires_grad:
            value = value.detach()
        tensors[leaf.name] = value if value.is_contiguous() else value.contiguous()
    return tensors
