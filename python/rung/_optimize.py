# From a module of PyTorch to a callable that stands in for it.
# SPDX-License-Identifier: Apache-2.0
"""rung.optimize()."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._errors import UsageError
from ._load import DType, Path
from ._types import Receipt


def optimize(module: Any, example_inputs: Any, device: object = None, dtype: DType | None = None,
             budget: str | float = "60s", *, dynamic_shapes: Any = None, fallback: bool = False,
             freeze: Iterable[str] = (), threads: int = 0, shape_budget: str | float = "10s",
             database: Path | None = None, error: float | None = None, cosine: float | None = None,
             kl: float | None = None,
             progress: bool | Callable[[str, float, Receipt | None], object] | None = None) -> Any:
    """Exports a module of PyTorch, climbs it, and gives a module that stands in for it.

        model = rung.optimize(model.eval(), {"input_ids": ids, "attention_mask": mask}, budget="2m")
        state = model(ids, attention_mask=mask).last_hidden_state

    The result is a torch.nn.Module with the same forward(): arguments by position or name, structure of the results
    (tuples, dictionaries, dataclasses that PyTorch knows). Tensors on the module's device stay there, and a call
    enqueues in PyTorch's current stream. `result.climb` is the rung.Climb, `result.plan` the open plan,
    `result.module` the module itself, which keeps its weights: delete what is no longer wanted. A result has no
    gradient. Weights are read once: the plan does not follow later changes.

    module: in eval mode; one that depends on values of its inputs in Python is refused, as torch.export does.
    example_inputs: a tensor, a tuple of arguments, or a mapping of them by name: what is measured and verified with.
    Arguments that are no tensors are constants.
    device: where to run, as rung.load() has it; None: where the module's weights are.
    dtype, threads, database, error, cosine, kl, progress, freeze: as rung.climb() has them; `freeze` has names of
    forward()'s parameters.
    budget: all the time that the climb may take.
    dynamic_shapes: as torch.export.export() has them; a call with shapes not seen before first builds their plan by
    the climb's recipe, in at most `shape_budget` for what has to be measured. `result.prepare(...)` does it ahead.
    None: calls have the example's shapes.
    fallback: what rung does not take is left to PyTorch: single operators of an exported module, or where torch.export
    refuses it, what torch.compile() cuts out. `result.eager` lists them. Without it the module is refused. With
    `dynamic_shapes`, a module that is left in parts has parts of its own, with their own weights, for each set of
    shapes: those after the example's are climbed in at most `shape_budget` each.

    Errors: UnsupportedError, with the operator and the line of the module's code; UsageError, PyTorch is not installed,
    the module is in training, the example does not fit forward(); those of rung.climb().
    """
    try:
        import torch
    except ImportError as missing:
        raise UsageError("rung.optimize() needs PyTorch, which is not installed") from missing
    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"module: got a {type(module).__name__}, wanted a torch.nn.Module")
    from ._module import Settings
    from ._parts import optimized

    settings = Settings(None if device is None else str(device), dtype, budget, shape_budget, threads, database,
                        tuple(freeze), progress, error, cosine, kl)
    return optimized(module, example_inputs, settings, dynamic_shapes, fallback)
