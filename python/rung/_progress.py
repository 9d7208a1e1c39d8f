# How a climb is shown while it goes on: a bar, lines, or a ladder that grows in a notebook.
# SPDX-License-Identifier: Apache-2.0
"""Progress of climbs."""
from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._types import Receipt

Listener = Callable[[str, float, Receipt | None], object]
TITLES = ("rung", "kept", "before ms", "ms", "times", "95 %")


def row(receipt: Receipt) -> tuple[str, ...]:
    return (receipt.name, "yes" if receipt.accepted else "no", f"{receipt.before_ms:.3f}", f"{receipt.ms:.3f}",
            f"{receipt.ratio:.3f}", interval(receipt.ci_low, receipt.ci_high))


def interval(low: float, high: float) -> str:
    """Of a ratio. It tells nothing where it holds 1 and its ends are more than a factor of ten apart."""
    clear = low > 1 or high < 1
    if low > 0 and math.isfinite(high) and (clear or high <= 10 * low):
        return f"{low:.3f} to {high:.3f}"
    return "too few runs to judge"


def ladder(receipts: Sequence[Receipt]) -> str:
    """The receipts as a table of text."""
    rows = [TITLES, *map(row, receipts)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(cells, widths)).rstrip() for cells in rows)


def ladder_html(what: str, fraction: float, receipts: Sequence[Receipt]) -> str:
    import html

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    lines = [line(TITLES, "th"), *(line(row(receipt), "td") for receipt in receipts)]
    return f"<progress value='{fraction:.3f}'></progress> {html.escape(what)}<table>{''.join(lines)}</table>"


@contextmanager
def shown(progress: bool | Listener | None) -> Iterator[Listener | None]:
    """What to call as a climb goes on. At its end it is shown as done; an exception leaves what was shown."""
    if callable(progress):
        yield progress
    elif progress is False:
        yield None
    elif in_notebook():
        show = notebook_ladder()
        yield show
        show("done", 1, None)
    elif bar := tqdm_bar():
        with bar:
            yield lambda what, fraction, receipt: advance(bar, what, fraction, receipt)
            advance(bar, "done", 1, None)
    else:
        yield print_receipt if sys.stderr.isatty() or progress else None


def in_notebook() -> bool:
    """Whether IPython runs with a front end that shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def notebook_ladder() -> Listener:
    from IPython.display import HTML, display

    receipts: list[Receipt] = []
    handle: Any = display(HTML(ladder_html("", 0, receipts)), display_id=True)

    def show(what: str, fraction: float, receipt: Receipt | None) -> None:
        if receipt:
            receipts.append(receipt)
        handle.update(HTML(ladder_html(what, fraction, receipts)))

    return show


def tqdm_bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=100, unit="%", desc="climb", bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}")


def advance(bar: Any, what: str, fraction: float, receipt: Receipt | None) -> None:
    if receipt:
        bar.write(line_of(receipt), file=sys.stderr)
    bar.set_postfix_str(what, refresh=False)
    bar.n = round(100 * fraction, 1)
    bar.refresh()


def print_receipt(what: str, fraction: float, receipt: Receipt | None) -> None:
    if receipt:
        print(line_of(receipt), file=sys.stderr, flush=True)


def line_of(receipt: Receipt) -> str:
    kept = "kept" if receipt.accepted else "not kept"
    times = "" if math.isnan(receipt.ms) else f", {receipt.before_ms:.3f} -> {receipt.ms:.3f} ms"  # none on an emulator
    return f"{receipt.name}: {kept}{times}; {receipt.reason}"
