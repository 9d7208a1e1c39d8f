# A backend of torch.compile(): the graphs that it finds are climbed.
# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend="rung"). PyTorch is imported when a graph is compiled."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import UsageError

OPTIONS = ("device", "dtype", "budget", "shape_budget", "threads", "database", "freeze", "progress", "fallback",
           "error", "cosine", "kl")


class Backend:
    """Compiles graphs of torch.compile(): `parts` are the plans made so far, `eager` what is left to PyTorch."""

    def __init__(self, settings: Any, fallback: bool) -> None:
        self.settings, self.fallback = settings, fallback
        self.parts: list[Any] = []
        self.eager: list[str] = []

    def __call__(self, graph: Any, example_inputs: Sequence[Any], **_: Any) -> Any:
        import torch

        if torch.is_grad_enabled() and any(getattr(value, "requires_grad", False) for value in example_inputs):
            if not self.fallback:
                raise UsageError("got a graph whose gradient may be wanted, wanted it compiled and called under "
                                 "torch.no_grad() or torch.inference_mode()")
            self.eager.append("a graph whose gradient may be wanted")
            return graph.forward
        from ._graph import Graph

        return Graph(self, graph, example_inputs)


def backend(graph: Any, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None,
            mode: str | None = None) -> Any:
    """The backend "rung" of torch.compile(): climbs each graph at its first call with given shapes.

        model = torch.compile(model.eval(), backend="rung", options={"budget": "30s"})
        with torch.inference_mode():
            model(ids)

    options: device, dtype, budget (of each graph), threads, database, freeze, progress, fallback, error, cosine, kl:
    as rung.optimize() has them. Weights are read once: after a change of them call torch.compiler.reset().

    Errors: UsageError, an unknown option, a mode, or a graph whose gradient may be wanted; those of rung.optimize().
    """
    given = dict(options or {})
    if unknown := sorted(given.keys() - set(OPTIONS)):
        raise UsageError(f"options: got {unknown[0]!r}, wanted {', '.join(OPTIONS)}")
    if mode is not None:
        raise UsageError(f"mode: got {mode!r}, wanted none: rung has options, such as a budget")
    from ._module import Settings

    fallback = bool(given.pop("fallback", False))
    if "device" in given:
        given["device"] = str(given["device"])
    given["freeze"] = tuple(given.get("freeze", ()))
    return Backend(Settings(**given), fallback)(graph, example_inputs)


__all__ = ["Backend", "backend"]
