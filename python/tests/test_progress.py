# How climbs are shown: with stand-ins for IPython and tqdm, which need not be installed.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import rung
from rung import _progress

RECEIPT = rung.Receipt("fusion <b>", True, "faster", 2.0, 1.0, 2.0, 1.9, 2.1, 1e-7, 1e-6, 3, 1)


def module(name: str, **names: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(names)
    return made


def test_a_notebook_sees_the_ladder_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []

    def display(page: str, display_id: bool) -> SimpleNamespace:
        pages.append(page)
        return SimpleNamespace(update=pages.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", module("IPython", get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", module("IPython.display", HTML=str, display=display))
    with _progress.shown(None) as listener:
        assert listener
        listener("tuning 1/4", 0.25, None)
        listener("fusion", 0.5, RECEIPT)
    assert len(pages) == 4
    assert "fusion &lt;b&gt;" not in pages[1] and "fusion &lt;b&gt;" in pages[2] and "<td>2.000</td>" in pages[2]
    assert "fusion &lt;b&gt;" in pages[3] and "<progress value='1.000'></progress> done" in pages[3]


def test_a_bar_follows_and_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Bar:
        def __init__(self, **options: Any) -> None:
            self.n = 0.0

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            seen.append("closed")

        def write(self, line: str, file: Any) -> None:
            seen.append(line)

        def set_postfix_str(self, text: str, refresh: bool) -> None:
            pass

        def refresh(self) -> None:
            seen.append(self.n)

    monkeypatch.setitem(sys.modules, "tqdm", module("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module("tqdm.auto", tqdm=Bar))
    with _progress.shown(None) as listener:
        assert listener
        listener("fusion", 0.5, RECEIPT)
    assert seen == [_progress.line_of(RECEIPT), 50.0, 100.0, "closed"]
    assert "kept, 2.000 -> 1.000 ms; faster" in seen[0]
    with pytest.raises(KeyboardInterrupt), _progress.shown(None) as listener:
        assert listener
        listener("tuning", 0.25, None)
        raise KeyboardInterrupt
    assert seen[4:] == [25.0, "closed"]


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for progress in (None, False):
        with _progress.shown(progress) as listener:
            assert listener is None


@pytest.mark.parametrize(("low", "high", "said"), [
    (1.9, 2.1, "1.900 to 2.100"), (1.07, 158.0, "1.070 to 158.000"), (0.5, 4.9, "0.500 to 4.900"),
    (0.0, 304828.6, "too few runs to judge"), (0.0, float("inf"), "too few runs to judge"),
    (0.2, 2.1, "too few runs to judge")])
def test_an_interval_of_too_few_runs_says_so(low: float, high: float, said: str) -> None:
    assert _progress.row(replace(RECEIPT, ci_low=low, ci_high=high))[-1] == said
