# Opens plans and model directories, joins and builds plans.
# SPDX-License-Identifier: Apache-2.0
"""rung.load(), rung.join() and rung.build()."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from . import _core
from ._errors import UsageError

Path = str | bytes | os.PathLike[str]
Shapes = Mapping[str, Sequence[int]]
DType = Literal["model", "f32", "bf16"]


def open_options(device: object, threads: int, dtype: str | None, shapes: Shapes | None,
                 drop_head: bool, *, trust_code: bool = False) -> dict[str, Any]:
    return {"device": device, "threads": threads, "dtype": dtype, "shapes": shapes, "drop_head": drop_head,
            "trust_code": trust_code}


def seconds_of(budget: str | float) -> float:
    """The seconds of "60s", "5m", "1500ms" or a number. Errors: UsageError."""
    if isinstance(budget, (int, float)) and not isinstance(budget, bool):
        return float(budget)
    units = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|)\s*", budget) if isinstance(budget, str) else None
    if not match:
        raise UsageError(f"budget: got {budget!r}, wanted a time such as '60s' or '5m', or seconds")
    return float(match[1]) * units[match[2]]


def recipe_text(recipe: Mapping[str, Any] | None) -> str | None:
    return None if recipe is None else json.dumps(recipe)


def load(path: Path, device: object = None, threads: int = 0, dtype: DType | None = None,
         shapes: Shapes | None = None, *, drop_head: bool = False, trust_code: bool = False) -> _core.Model:
    """Opens a plan (*.rung), which loads as it was built, or a model, whose plan is built without a climb.

    path: a plan; a model directory; a file of torch.export.save() (*.pt2) or ONNX (*.onnx); or the name of a model in
    the local cache of Hugging Face's libraries, "ORG/NAME", perhaps with "@REVISION". Nothing is downloaded.
    device: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1", "hip" (AMD's), or what gives such a text, as a torch.device
    does. None: what a plan was built for; the processor for a directory. A plan runs on the kind of device it was built
    for alone.
    threads: of the processor, at most 1024; 0: as many as a plan was built for, or as there are cores.
    dtype: of a model directory: "model", each as it is stored (the default), "f32" or "bf16".
    shapes: of a model directory's inputs, in elements: {"input_ids": (1, 128)}. A model of texts reads as many tokens
    as its own files say where no shape is given.
    drop_head: of a model directory: run the encoder alone of a model that has a head (a classifier, a masked language
    model); without it the head is run, or refused if it is not supported.
    trust_code: of a plan: run the machine code that its file holds for generated GPU kernels. You say that you trust
    whoever made the file, because nothing can check machine code. Without it such kernels run as this machine compiled
    them before, or compiles them now.

    Errors: FileError; DeviceError, also for a plan of generated kernels where no compiler is and its code is not
    trusted; OutOfMemoryError; UsageError, a word that names no device or dtype; MismatchError, another device, number
    of threads or shape than the plan's.
    """
    return _core.load(path, open_options(device, threads, dtype, shapes, drop_head, trust_code=trust_code))


def join(models: Iterable[_core.Model]) -> _core.Model:
    """A model that holds the plans of several, over weights that stand once; Model.save() writes them to one file.

        short = rung.climb(path, shapes={"input_ids": (1, 16)}).plan
        long = rung.climb(path, shapes={"input_ids": (1, 128)}).plan
        rung.join([short, long]).save("plan.rung")

    A call takes the plan for the shapes of its arrays. The models stay open.

    Errors: UsageError, there is none, or one is closed; MismatchError, they are of different models or devices, differ
    in the names of their inputs or outputs, or two have plans for the same shapes; OutOfMemoryError.
    """
    return _core.join(list(models))


def build(path: Path, recipe: Mapping[str, Any] | None = None, *, inputs: Mapping[str, Any] | None = None,
          freeze: Iterable[str] = (), retune: bool = False, budget: str | float = "10s", database: Path | None = None,
          device: object = None, threads: int = 0, dtype: DType | None = None, shapes: Shapes | None = None,
          drop_head: bool = False) -> _core.Model:
    """Builds the plan of a recipe from a model directory, as `rung build` does, and opens it; Model.save() writes it.

    recipe: how to build it, as Climb.recipe has it; None: as rung.load() does.
    inputs: arrays by name, in host memory: their shapes are the plan's.
    freeze: names among `inputs` that the plan takes as constants at those values.
    retune: leave out the recipe's choices that decide nothing in this plan, whose shapes are others, and measure
    kernels that have no choice, within `budget`; without it such a recipe is refused.
    database: a file for what tuning found; None: the user's own; "": none.
    The rest: as rung.load() has it.

    Errors: those of rung.load(); UsageError, a recipe that cannot be read; MismatchError, a choice of its that decides
    nothing.
    """
    return _core.build(path, open_options(device, threads, dtype, shapes, drop_head) | {
        "recipe": recipe_text(recipe), "inputs": inputs, "freeze": freeze, "retune": retune,
        "budget_s": seconds_of(budget), "database": database})
