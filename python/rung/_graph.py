# A graph of torch.compile(): its weights become constants, and each set of shapes a plan.
# SPDX-License-Identifier: Apache-2.0
"""Graphs that torch.compile() hands to its backend. Imported by what has PyTorch."""
from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

import torch


def is_weight(node: Any, value: Any) -> bool:
    """A parameter or buffer of the module, which torch.compile() hands over as an input."""
    return isinstance(value, torch.nn.Parameter) or (
        isinstance(value, torch.Tensor) and bool(node.meta.get("tensor_dict", {}).get("_dynamo_static_input_type")))


class Graph:
    """Called as the graph is, with its weights among the values."""

    def __init__(self, backend: Any, graph: Any, example_inputs: Sequence[Any]) -> None:
        self._backend, self._graph = backend, graph
        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self._weights = [is_weight(node, value) for node, value in zip(nodes, example_inputs)]
        self._plans: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()

    def __call__(self, *values: Any) -> Any:
        given = [value for value, weight in zip(values, self._weights) if not weight]
        key = tuple(value.shape if isinstance(value, torch.Tensor) else value for value in given)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._compiled(key, values)
        return plan(*(value for value in given if isinstance(value, torch.Tensor)))

    # The graph is compiled at its first call, not before: torch.compile() traces while it asks a backend.
    def _compiled(self, key: tuple[Any, ...], values: Sequence[Any]) -> Any:
        from ._parts import optimized

        with self._lock:
            if key not in self._plans:
                backend = self._backend
                module, tensors = bound(self._graph, self._weights, values)
                plan = optimized(module, tensors, backend.settings, None, backend.fallback)
                backend.parts.extend(getattr(plan, "parts", [plan]))
                backend.eager.extend(getattr(plan, "eager", []))
                self._plans[key] = plan
            return self._plans[key]


def bound(graph: Any, weights: Sequence[bool], values: Sequence[Any]) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """The graph with its weights as its own, and its sizes as numbers; and the tensors that are left to give."""
    module = copy.copy(graph)
    module.graph = copy.deepcopy(graph.graph)
    module.eval()
    tensors = []
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for i, (node, weight, value) in enumerate(zip(placeholders, weights, values)):
        if isinstance(value, torch.Tensor) and not weight:
            tensors.append(value)
            continue
        if weight:
            name = f"weight_{i}"
            module.register_buffer(name, value.detach(), persistent=True)
            with module.graph.inserting_before(node):
                node.replace_all_uses_with(module.graph.get_attr(name))
        else:
            for user in list(node.users):
                user.args = torch.fx.node.map_arg(user.args, lambda other: value if other is node else other)
                user.kwargs = torch.fx.node.map_arg(user.kwargs, lambda other: value if other is node else other)
        module.graph.erase_node(node)
    module.recompile()
    return module, tuple(tensors)
