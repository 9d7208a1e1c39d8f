# Climbs from Python: what goes in, what comes out, and how it is shown.
# SPDX-License-Identifier: Apache-2.0
"""rung.climb() and what it gives."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from . import _core
from ._load import DType, Path, Shapes, open_options, seconds_of
from ._progress import Listener, ladder, shown
from ._types import Receipt, Speedup


class Climb:
    """A climb that is done: the plan that won, and what each rung did."""

    def __init__(self, found: _core.Climb) -> None:
        self._found = found

    @cached_property
    def plan(self) -> _core.Model:
        """The plan that won, open to run. Errors: OutOfMemoryError, DeviceError."""
        return self._found.open()

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """The decisions of which `rung build --recipe` makes the same plan."""
        return self._json(_core.CLIMB_RECIPE)

    @cached_property
    def report(self) -> dict[str, Any]:
        """What `rung climb --json` prints: times in milliseconds, the machine, the ladder."""
        return self._json(_core.CLIMB_REPORT)

    @property
    def against_baseline(self) -> Speedup:
        """How much faster the plan that won is than the model as its author wrote it."""
        return self._found.speedup(_core.AGAINST_BASELINE)

    @property
    def against_no_climb(self) -> Speedup:
        """How much faster it is than the default plan, which rung.load() of the directory gives."""
        return self._found.speedup(_core.AGAINST_NO_CLIMB)

    @cached_property
    def receipts(self) -> Any:
        """What each rung did: a pandas.DataFrame with a column for each field of rung.Receipt, or, where pandas is not
        installed, a list of rung.Receipt."""
        receipts = self.receipt_list
        try:
            import pandas
        except ImportError:
            return receipts
        columns = list(Receipt.__dataclass_fields__)
        return pandas.DataFrame([vars(receipt) for receipt in receipts], columns=columns)

    @cached_property
    def receipt_list(self) -> list[Receipt]:
        """What each rung did, in the order in which they were decided."""
        return self._found.receipts()

    @property
    def html(self) -> str:
        """The report as a page of HTML that needs nothing else."""
        return self._found.text(_core.CLIMB_HTML)

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        return self._found.text(_core.CLIMB_MARKDOWN)

    @property
    def trace(self) -> dict[str, Any] | list[Any]:
        """One inference in Chrome's trace format, for Perfetto."""
        trace: dict[str, Any] | list[Any] = json.loads(self._found.text(_core.CLIMB_TRACE))
        return trace

    def save(self, directory: Path) -> None:
        """Writes plan.rung, recipe.json, report.html, report.json, report.md and trace.json: all, or none.

        The folder is made. Errors: FileError.
        """
        self._found.save(directory)

    def __repr__(self) -> str:
        return ladder(self.receipt_list)

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def _json(self, kind: int) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self._found.text(kind))
        return value


def climb(path: Path, inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
          shapes: Shapes | None = None, device: object = None, dtype: DType | None = None, *,
          budget: str | float = "60s", freeze: Iterable[str] = (), skip: Iterable[str] = (), threads: int = 0,
          database: Path | None = None, drop_head: bool = False, error: float | None = None,
          cosine: float | None = None, kl: float | None = None,
          progress: bool | Callable[[str, float, Receipt | None], object] | None = None) -> Climb:
    """Climbs a model directory: tries what makes it faster, keeps what does and is right, within `budget`.

    inputs: arrays to verify and time with, by name, in host memory; samples for those left out. Or several sets of the
    same names and shapes: scales are found and answers judged on all of them, and the first is timed.
    shapes, device, dtype, threads, drop_head: as rung.load() has them; "bf16" climbs the opt-in rung "precision" too.
    budget: all the time it may take: "60s", "5m" or seconds, at least 1.
    freeze: names among `inputs` that the plan takes as constants at those values.
    skip: names of rungs not to climb.
    error, cosine, kl: the most relative L2 error, the least cosine, and the most Kullback-Leibler divergence of the
    output "logits" (nats, a mean over rows) that the answers may have against f32, for the worst set of inputs. Where
    one is stated, the climb chooses the precision of each part by measurement, and keeps the fastest plan within all.
    database: a file for what tuning found; None: the user's own; "": none.
    progress: None: the ladder as it grows in a notebook, a bar by tqdm where that is installed, lines on a terminal.
    True: the same, and lines wherever the others are not. False: nothing. Or a callable that gets what is done (a
    text), how far it is (0 to 1) and the rung.Receipt of a rung just decided, or None; an exception that it raises ends
    the climb, and comes out here.

    Ctrl-C ends the climb, which keeps what it had tuned, and comes out as KeyboardInterrupt.
    Errors: those of rung.load(); Error, the model as it is gives wrong outputs.
    """
    sets = [inputs] if inputs is None or isinstance(inputs, Mapping) else list(inputs)
    options = open_options(device, threads, dtype, shapes, drop_head) | {
        "budget_s": seconds_of(budget), "inputs": sets[0] if sets else None, "further_inputs": sets[1:], "error": error,
        "cosine": cosine, "kl": kl, "freeze": freeze, "skip": skip, "database": database}
    with shown(progress) as listener:
        return Climb(_core.climb(path, options, listener))


__all__ = ["Climb", "Listener", "climb"]
