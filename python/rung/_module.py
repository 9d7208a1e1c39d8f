# A module whose forward() is a plan: it stands where the module stood.
# SPDX-License-Identifier: Apache-2.0
"""Stands a plan in for a module of PyTorch. Imported by what has PyTorch."""
from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from . import _core
from ._climb import Climb, climb
from ._errors import FileError, UnsupportedError, UsageError
from ._exported import Signature, export
from ._load import build, join


@dataclass(frozen=True)
class Settings:
    """How a module is climbed; each as rung.optimize() has it."""

    device: str | None = None
    dtype: Any = None
    budget: str | float = "60s"
    shape_budget: str | float = "10s"
    threads: int = 0
    database: Any = None
    freeze: tuple[str, ...] = ()
    progress: Any = None
    error: float | None = None
    cosine: float | None = None
    kl: float | None = None

    def opening(self, device: str) -> dict[str, Any]:
        return {"device": device, "dtype": self.dtype, "threads": self.threads, "database": self.database,
                "freeze": self.freeze}


def device_of(module: torch.nn.Module, tensors: Any) -> str:
    """Where a module computes, in rung's words: where its first weight is, or else its first input."""
    weights = [*module.parameters(), *module.buffers(), *tensors]
    device = weights[0].device if weights else torch.device("cpu")
    if device.type != "cuda":
        return "cpu"
    return f"{'hip' if torch.version.hip else 'cuda'}:{device.index or 0}"


def on_host(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.cpu() for name, tensor in tensors.items()}


def shapes_of(tensors: dict[str, torch.Tensor]) -> tuple[Any, ...]:
    return tuple(tensor.shape for tensor in tensors.values())


class StandIn(torch.nn.Module):
    """Stands in for a module, whose other attributes are its own, too."""

    module: torch.nn.Module

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.eval()
        self.module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "module":
                raise
            return getattr(self.module, name)


class Optimized(StandIn):
    """A module whose forward() runs a plan, with the signature and the results of the module that it stands for.

    module: the one that it stands for.
    climb: how the plan was found, for the example's shapes.
    """

    climb: Climb

    def __init__(self, module: torch.nn.Module, signature: Signature, settings: Settings, dynamic_shapes: Any) -> None:
        super().__init__(module)
        self._signature, self._settings = signature, settings
        self._is_dynamic = dynamic_shapes is not None
        self._lock, self._local = threading.Lock(), threading.local()
        # The exported file stays while plans for other shapes may be made from it.
        self._folder = tempfile.TemporaryDirectory(prefix="rung-")
        self._path = Path(self._folder.name) / f"{type(module).__name__}.pt2"
        try:
            program = export(module, signature.args, signature.kwargs, dynamic_shapes)
            signature.read(program)
            for call in program.module_call_graph:
                call.signature = None  # a plan has tensors by name, and not every structure can be written
            torch.export.save(program, self._path)
            del program
            inputs = on_host(signature.bind(signature.args, signature.kwargs))
            self._device = settings.device or device_of(module, inputs.values())
            self.climb = self._climbed(inputs)
            self._plan = self.climb.plan
            self._shapes = {shapes_of(inputs)}
        finally:
            if not self._is_dynamic or not hasattr(self, "_shapes"):
                self._folder.cleanup()

    @property
    def plan(self) -> _core.Model:
        """The plan that runs, one for each set of shapes seen so far; Model.save() writes it."""
        return self._plan

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Makes the plan for the shapes of these arguments now, and not in the first call that has them.

        Errors: UsageError, the module was optimised for the example's shapes alone; those of rung.build().
        """
        self._prepare(self._signature.bind(args, kwargs))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        inputs = self._signature.bind(args, kwargs)
        if self._is_dynamic and shapes_of(inputs) not in self._shapes:
            self._prepare(inputs)
        return self._signature.results(inputs, self._session()(**inputs))

    def _session(self) -> _core.Session:
        """This thread's own, of the plan as it is now."""
        local = self._local
        if getattr(local, "plan", None) is not self._plan:
            local.plan, local.session = self._plan, self._plan.session()
        session: _core.Session = local.session
        return session

    def _climbed(self, inputs: dict[str, torch.Tensor]) -> Climb:
        settings = self._settings
        try:
            return climb(self._path, inputs, budget=settings.budget, progress=settings.progress,
                         error=settings.error, cosine=settings.cosine, kl=settings.kl,
                         **settings.opening(self._device))
        except FileError as error:
            prefix = f"'{self._path}': "
            if not str(error).startswith(prefix):
                raise
            # The user never saw the file: what it says is said of the module.
            name = type(self.module).__name__
            raise UnsupportedError(f"{name}: {str(error).removeprefix(prefix)}") from None

    def _prepare(self, inputs: dict[str, torch.Tensor]) -> None:
        with self._lock:
            shapes = shapes_of(inputs)
            if shapes in self._shapes:
                return
            if not self._is_dynamic:
                raise UsageError("got other shapes than the example's, wanted dynamic_shapes in rung.optimize()")
            self._plan = join([self._plan, self._built(on_host(inputs))])
            self._shapes.add(shapes)

    def _built(self, inputs: dict[str, torch.Tensor]) -> _core.Model:
        """The plan for other shapes, by the recipe of the example's."""
        return build(self._path, self.climb.recipe, inputs=inputs, retune=True, budget=self._settings.shape_budget,
                     **self._settings.opening(self._device))

    def extra_repr(self) -> str:
        return f"device={self._device!r}, shapes={sorted(self._shapes)}"
