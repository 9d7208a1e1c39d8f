# What rung does not take of a module stays with PyTorch; the parts between are climbed.
# SPDX-License-Identifier: Apache-2.0
"""Optimises a module whole, or on request in parts. Imported by what has PyTorch."""
from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.fx.passes.split_module import split_module
from torch.utils import _pytree as pytree

from ._errors import MismatchError, UnsupportedError
from ._exported import Signature, export, split_inputs
from ._module import Optimized, Settings, StandIn

# A part without one of these is no work that a plan would make faster than its call costs.
PRODUCTS = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "scaled_dot_product_attention", "einsum", "conv1d",
            "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution")


class Example(NamedTuple):
    """What a graph is called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Parts(StandIn):
    """A module in parts: `parts` are plans, and `eager` says what is left to PyTorch, and why."""

    def __init__(self, module: torch.nn.Module, body: Callable[..., Any], parts: list[Optimized],
                 eager: list[str]) -> None:
        super().__init__(module)
        self.parts, self.eager = parts, eager
        self._body = body

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            return self._body(*args, **kwargs)


class PartsByShape(StandIn):
    """A module in parts that are made anew for each set of shapes, with weights of their own.

    `parts` are the plans made so far, `eager` says what is left to PyTorch, and why.
    """

    def __init__(self, module: torch.nn.Module, example: Example, settings: Settings) -> None:
        super().__init__(module)
        self._call = inspect.signature(module.forward)
        self._settings, self._lock = settings, threading.Lock()
        self._made: dict[tuple[Any, ...], torch.nn.Module] = {}
        self._prepared(example)
        self._settings = replace(settings, budget=settings.shape_budget)

    @property
    def parts(self) -> list[Optimized]:
        return [part for made in self._made.values() for part in getattr(made, "parts", [made])]

    @property
    def eager(self) -> list[str]:
        return list(dict.fromkeys(word for made in self._made.values() for word in getattr(made, "eager", [])))

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Makes the parts for the shapes of these arguments now, and not in the first call that has them."""
        self._prepared(Example(args, kwargs))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._prepared(Example(args, kwargs))(*args, **kwargs)

    def _prepared(self, example: Example) -> torch.nn.Module:
        bound = self._call.bind(*example.args, **example.kwargs)
        bound.apply_defaults()
        leaves = pytree.tree_leaves(dict(bound.arguments))
        shapes = tuple(leaf.shape if isinstance(leaf, torch.Tensor) else None for leaf in leaves)
        with self._lock:
            if shapes not in self._made:
                self._made[shapes] = of_shapes(self.module, example, self._settings)
            return self._made[shapes]


def optimized(module: torch.nn.Module, example_inputs: Any, settings: Settings, dynamic_shapes: Any,
              fallback: bool) -> torch.nn.Module:
    """The module as a plan; with `fallback` in parts, where it cannot be one. Errors: as rung.optimize() has them."""
    args, kwargs = split_inputs(example_inputs)
    if fallback and dynamic_shapes is None:
        return of_shapes(module, Example(args, kwargs), settings)
    try:
        return Optimized(module, Signature(module, args, kwargs), settings, dynamic_shapes)
    except UnsupportedError:
        if not fallback:
            raise
    return PartsByShape(module, Example(args, kwargs), settings)


def of_shapes(module: torch.nn.Module, example: Example, settings: Settings) -> torch.nn.Module:
    """The module for the example's shapes, as a plan, or in parts where it cannot be one."""
    signature = Signature(module, example.args, example.kwargs)
    try:
        return Optimized(module, signature, settings, None)
    except UnsupportedError as error:
        refused = error
    try:
        program = export(module, signature.args, signature.kwargs, None)
    except UnsupportedError as error:
        return compiled(module, settings, str(error))
    lowering = Lowering(settings)
    body = program.module(check_guards=False)
    lowering.lower(body, Example(signature.args, signature.kwargs), refused)
    return Parts(module, body, lowering.parts, lowering.eager)


def compiled(module: torch.nn.Module, settings: Settings, reason: str) -> Parts:
    """A module that torch.export refuses, as the graphs that torch.compile() finds in it."""
    from ._backend import Backend

    backend = Backend(settings, fallback=True)
    backend.eager.append(reason)
    return Parts(module, torch.compile(module, backend=backend, dynamic=False), backend.parts, backend.eager)


class Lowering:
    """Cuts graphs where they were refused: `parts` are the plans made, `eager` what was refused."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.parts: list[Optimized] = []
        self.eager: list[str] = []

    def lower(self, graph: Any, example: Example, refused: UnsupportedError) -> None:
        """Leaves to PyTorch what was refused of a graph; each part between becomes a plan, or is cut again."""
        self.eager.append(str(refused))
        is_left = left_to_pytorch(graph, str(refused))
        if is_left is None:
            return
        cut(graph, is_left)
        for name, values in captured(graph, example).items():
            part = graph.get_submodule(name).eval()
            if has_products(part):
                graph.set_submodule(name, self._lowered(part, values))

    def _lowered(self, part: Any, values: tuple[Any, ...]) -> Any:
        try:
            plan = Optimized(part, Signature(part, values, {}), self.settings, None)
        except UnsupportedError as error:
            again = export(part, values, {}, None).module(check_guards=False)
            self.lower(again, Example(values, {}), error)
            return again
        except MismatchError as error:  # it is called with a tensor of a type that no plan has
            self.eager.append(str(error))
            return part
        self.parts.append(plan)
        return plan


def left_to_pytorch(graph: Any, refusal: str) -> Callable[[Any], bool] | None:
    """Which nodes a refusal is of: all of an operator that is not imported, or one node; None where it names none."""
    named = re.search(r"node '([^']+)' \(([^\s)]+)", refusal)
    if not named:
        return None
    node = next((node for node in graph.graph.nodes if node.name == named[1]), None)
    if node is None:
        return None
    if "there is no import of this operator" in refusal:
        target = node.target
        return lambda other: other.target is target
    return lambda other: other is node


def cut(graph: Any, is_left: Callable[[Any], bool]) -> None:
    """Makes the graph's stretches between what is left to PyTorch submodules, "submod_N", in place."""
    stretch, before, numbers = 0, None, {}
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        left = is_left(node) or is_complex(node) or any(map(is_complex, node.all_input_nodes))
        stretch += before is not None and left != before
        numbers[node], before = stretch, left
    split = split_module(graph, graph, lambda node: numbers.get(node, 0), keep_original_order=True)
    codegen = graph.graph._codegen
    graph.__dict__.update(split.__dict__)
    graph.graph = split.graph
    graph.graph.set_codegen(codegen)
    for node in list(graph.graph.nodes):
        if node.op == "call_module":
            take_weights(graph, node)
    graph.graph.eliminate_dead_code()
    graph.recompile()


def take_weights(graph: Any, call: Any) -> None:
    """Gives a part the weights that it is called with, as its own: to a plan they are constants."""
    part = graph.get_submodule(call.target)
    placeholders = [node for node in part.graph.nodes if node.op == "placeholder"]
    for i, (given, node) in enumerate(zip(call.args, placeholders)):
        if given.op != "get_attr":
            continue
        name = f"weight_{i}"
        part.register_buffer(name, attribute(graph, given.target))
        with part.graph.inserting_before(node):
            node.replace_all_uses_with(part.graph.get_attr(name))
        part.graph.erase_node(node)
    call.args = tuple(given for given in call.args if given.op != "get_attr")
    part.recompile()


def attribute(module: Any, path: str) -> torch.Tensor:
    for name in path.split("."):
        module = getattr(module, name)
    value: torch.Tensor = module.detach()
    return value


def is_complex(node: Any) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.is_complex()


def captured(graph: Any, example: Example) -> dict[str, tuple[Any, ...]]:
    """What each submodule is called with when the graph runs on the example."""
    seen: dict[str, tuple[Any, ...]] = {}

    def keeping(name: str) -> Callable[..., None]:
        return lambda _module, values: seen.__setitem__(name, values)

    hooks = [child.register_forward_pre_hook(keeping(name)) for name, child in graph.named_children()
             if name.startswith("submod_")]
    try:
        with torch.no_grad():
            graph(*example.args, **example.kwargs)
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def has_products(part: Any) -> bool:
    names = {getattr(node.target, "__name__", "").split(".")[0] for node in part.graph.nodes}
    return not names.isdisjoint(PRODUCTS)
