# Opens plans and model directories.
# SPDX-License-Identifier: Apache-2.0
"""rung.load()."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _core

Path = str | os.PathLike[str]
Shapes = Mapping[str, Sequence[int]]
DType = Literal["model", "f32", "bf16"]


def open_options(device: object, threads: int, dtype: str | None, shapes: Shapes | None) -> dict[str, Any]:
    return {"device": device, "threads": threads, "dtype": dtype, "shapes": shapes}


def load(path: Path, device: object = None, threads: int = 0, dtype: DType | None = None,
         shapes: Shapes | None = None) -> _core.Model:
    """Opens a plan (*.rung), which loads as it was built, or a model directory, whose plan is built without a climb.

    device: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1", "hip" (AMD's), or what gives such a text, as a torch.device
    does. None: what a plan was built for; the processor for a directory. A plan runs on the kind of device it was built
    for alone.
    threads: of the processor, at most 1024; 0: as many as a plan was built for, or as there are cores.
    dtype: of a model directory: "model", each as it is stored (the default), "f32" or "bf16".
    shapes: of a model directory's inputs, in elements: {"input_ids": (1, 128)}.

    Errors: FileError; DeviceError; OutOfMemoryError; UsageError, a word that names no device or dtype; MismatchError,
    another device, number of threads or shape than the plan's.
    """
    return _core.load(path, open_options(device, threads, dtype, shapes))
