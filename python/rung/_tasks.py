# What the command line also does, as functions.
# SPDX-License-Identifier: Apache-2.0
"""rung.verify(), rung.bench(), rung.profile(), rung.explain() and rung.compare()."""
from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from . import _core
from ._load import DType, Path, Shapes, open_options, recipe_text, seconds_of
from ._types import Verification

Arrays = Mapping[str, Any]


def run_task(name: str, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    given = {"inputs": None, "reference": None, "recipe": None, "runs": 0, "rate_hz": 0.0} | options
    result: dict[str, Any] = json.loads(_core.run_task(name, path, given))
    return result


def verify(path: Path, inputs: Arrays | None = None, reference: Arrays | None = None, *, device: object = None,
           dtype: DType | None = None, shapes: Shapes | None = None, threads: int = 0,
           recipe: Mapping[str, Any] | None = None, drop_head: bool = False,
           trust_code: bool = False) -> Verification:
    """Compares the outputs of a plan or a model directory with a reference, as `rung verify --json` does.

    inputs: arrays by name, in host memory; samples for those left out.
    reference: outputs by name to compare with; none: rung's own reference, which wants a model directory.
    recipe: of a model directory: how its plan is built, as Climb.recipe has it. The rest: as rung.load() has it.

    Ctrl-C ends it, as it does the other tasks, and comes out as KeyboardInterrupt.
    Returns: the JSON object, whose "passed" says whether it is right, and whose "precision" says what each entry of a
    recipe's precision costs.
    Errors: those of rung.load(); MismatchError, an input or output that the model does not have.
    """
    options = open_options(device, threads, dtype, shapes, drop_head, trust_code=trust_code)
    return cast(Verification, run_task("verify", path, options | {
        "inputs": inputs, "reference": reference, "recipe": recipe_text(recipe)}))


def bench(path: Path, inputs: Arrays | None = None, *, runs: int = 200, rate_hz: float = 0, device: object = None,
          dtype: DType | None = None, shapes: Shapes | None = None, threads: int = 0,
          recipe: Mapping[str, Any] | None = None, drop_head: bool = False, trust_code: bool = False) -> dict[str, Any]:
    """Times inferences, as `rung bench --json` does.

    runs: timed runs. rate_hz: starts that many a second, as a robot does; 0: back to back.
    The rest, and errors: as rung.verify() has them.

    Returns: the JSON object; times in milliseconds.
    """
    options = open_options(device, threads, dtype, shapes, drop_head, trust_code=trust_code)
    return run_task("bench", path, options | {"inputs": inputs, "runs": runs, "rate_hz": float(rate_hz),
                                              "recipe": recipe_text(recipe)})


def profile(path: Path, inputs: Arrays | None = None, *, device: object = None, dtype: DType | None = None,
            shapes: Shapes | None = None, threads: int = 0,
            recipe: Mapping[str, Any] | None = None, drop_head: bool = False,
            trust_code: bool = False) -> dict[str, Any]:
    """Where the time of one inference goes, step by step, as `rung profile --json` tells it.

    Arguments and errors: as rung.verify() has them. Returns: the JSON object.
    """
    options = open_options(device, threads, dtype, shapes, drop_head, trust_code=trust_code)
    return run_task("profile", path, options | {"inputs": inputs, "recipe": recipe_text(recipe)})


def explain(path: Path, *, device: object = None, dtype: DType | None = None, shapes: Shapes | None = None,
            threads: int = 0, recipe: Mapping[str, Any] | None = None, drop_head: bool = False) -> dict[str, Any]:
    """Which passes and kernels a plan takes, and why not others, as `rung explain --json` tells it.

    Arguments and errors: as rung.verify() has them. Returns: the JSON object.
    """
    options = open_options(device, threads, dtype, shapes, drop_head)
    return run_task("explain", path, options | {"recipe": recipe_text(recipe)})


def compare(a: Path, b: Path | None = None, inputs: Arrays | None = None, *, max_slowdown: float = 0.03,
            budget: str | float = "20s", recipe_a: Mapping[str, Any] | None = None,
            recipe_b: Mapping[str, Any] | None = None, tool_a: Path | None = None, tool_b: Path | None = None,
            device: object = None, dtype: DType | None = None, shapes: Shapes | None = None, threads: int = 0,
            drop_head: bool = False, trust_code: bool = False) -> dict[str, Any]:
    """Runs two plans or model directories in turns on the same inputs, as `rung compare --json` does.

    b: None: `a` by another recipe or tool.
    max_slowdown: how much longer than A one inference of B may take: 0.03 is 3 %.
    budget: time for the race, at least 1 s.
    recipe_a, recipe_b: of model directories: how their plans are built, as Climb.recipe has it.
    tool_a, tool_b: the `rung` programs of other builds, which then run the side; None: this one.
    The rest: as rung.load() has it, for both; where one is a plan, for the directory.

    Returns: the JSON object, whose "verdict" is "faster", "within_limit", "slower" or "unclear". A slower B raises
    nothing.
    Errors: those of rung.load(); MismatchError, other inputs or devices.
    """
    options = open_options(device, threads, dtype, shapes, drop_head, trust_code=trust_code) | {
        "inputs": inputs, "max_slowdown": float(max_slowdown), "budget_s": seconds_of(budget),
        "recipe_a": recipe_text(recipe_a), "recipe_b": recipe_text(recipe_b), "tool_a": tool_a, "tool_b": tool_b}
    result: dict[str, Any] = json.loads(_core.compare(a, b, options))
    return result
