# Climbs from Python: what they give, how they are shown, how they end early.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest
import rung
from conftest import BERT, PI0, SHAPES, THREADS, Arrays, arrays, assert_known


def climb(database: Path, **options: Any) -> rung.Climb:
    all_options: dict[str, Any] = {"shapes": SHAPES, "budget": "2s", "threads": THREADS, "progress": False,
                                   "database": database}
    return rung.climb(BERT, **(all_options | options))


def test_gives_a_plan_a_recipe_a_report_and_receipts(climbed: rung.Climb, bert_inputs: Arrays,
                                                     bert_outputs: Arrays) -> None:
    assert_known(climbed.plan(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])
    assert climbed.recipe["threads"] == THREADS
    names = [receipt.name for receipt in climbed.receipt_list]
    assert names and len(climbed.receipts) == len(names)
    assert all(isinstance(receipt, rung.Receipt) for receipt in climbed.receipt_list)
    assert {"ladder", "rungs", "receipts"} & set(climbed.report)
    lines = repr(climbed).splitlines()
    assert len(lines) == len(names) + 1 and lines[0].startswith("rung") and names[0] in lines[1]


def test_says_how_much_faster_its_plan_is(climbed: rung.Climb) -> None:
    baseline, no_climb = climbed.against_baseline, climbed.against_no_climb
    assert baseline.claimed == climbed.report["speedup"]
    for speedup, told in ((baseline, "against_baseline"), (no_climb, "against_no_climb")):
        assert isinstance(speedup, rung.Speedup)
        assert (speedup.pairs, speedup.unraced) == (climbed.report[told]["pairs"], climbed.report[told]["unraced"])
        assert [speedup.ci_low, speedup.ci_high] == climbed.report[told]["ci95"]


def test_keeps_a_stated_error_on_all_sets(tmp_path: Path, bert_inputs: Arrays) -> None:
    sets = [bert_inputs, {name: array.copy() for name, array in bert_inputs.items()}]
    found = climb(tmp_path / "tuning.json", shapes=None, inputs=sets, error=0.05, kl=None)
    assert found.report["precision_search"]["limit_rel_l2"] == 0.05
    assert found.report["rel_l2"] <= 0.05


def test_refuses_sets_and_limits_that_do_not_fit(tmp_path: Path, bert_inputs: Arrays) -> None:
    with pytest.raises(rung.UsageError, match="error: got 2, wanted a relative error above 0 and below 1"):
        climb(tmp_path / "tuning.json", error=2.0)
    with pytest.raises(rung.MismatchError, match="'set 2 of inputs' gives no 'attention_mask'"):
        climb(tmp_path / "tuning.json", shapes=None, inputs=[bert_inputs, {}])


def test_receipts_are_a_data_frame_where_pandas_is(climbed: rung.Climb) -> None:
    pandas = pytest.importorskip("pandas")
    assert isinstance(climbed.receipts, pandas.DataFrame)
    assert list(climbed.receipts["name"]) == [receipt.name for receipt in climbed.receipt_list]


def test_a_notebook_shows_the_report(climbed: rung.Climb) -> None:
    page = climbed._repr_html_()
    assert page.startswith('<iframe srcdoc="&lt;!') and '"' not in page[16:page.index('" style')]


def test_saves_all_files(climbed: rung.Climb, tmp_path: Path) -> None:
    climbed.save(tmp_path / "new" / "folder")
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} >= {
        "plan.rung", "recipe.json", "report.html", "report.json", "report.md", "trace.json"}
    assert json.loads((tmp_path / "new" / "folder" / "recipe.json").read_text()) == climbed.recipe
    (tmp_path / "file").write_text("")
    with pytest.raises(rung.FileError):
        climbed.save(tmp_path / "file" / "folder")


def test_progress_tells_what_is_done_and_each_receipt(tmp_path: Path) -> None:
    told: list[tuple[str, float, rung.Receipt | None]] = []
    result = climb(tmp_path / "tuning.json", progress=lambda *told_now: told.append(told_now))
    fractions = [fraction for _, fraction, _ in told]
    assert fractions and all(0 <= fraction <= 1 for fraction in fractions)
    assert all(isinstance(what, str) and what for what, _, _ in told)
    decided = [receipt.name for _, _, receipt in told if receipt]
    assert set(decided) >= {receipt.name for receipt in result.receipt_list if receipt.attempt == 1}


def test_an_exception_in_progress_ends_the_climb_and_comes_out(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def refuse(what: str, fraction: float, receipt: rung.Receipt | None) -> None:
        calls.append(what)
        raise Enough(what)

    calls: list[str] = []
    with pytest.raises(Enough):
        climb(tmp_path / "tuning.json", budget="60s", progress=refuse)
    assert len(calls) == 1


def test_ctrl_c_ends_a_climb_and_keeps_what_was_tuned(tmp_path: Path) -> None:
    database = tmp_path / "tuning.json"
    seen = threading.Event()

    def progress(what: str, fraction: float, receipt: rung.Receipt | None) -> None:
        if re.match("tuning [1-9]", what) and not seen.is_set():
            seen.set()
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        climb(database, budget="60s", progress=progress)
    assert seen.is_set()
    assert json.loads(database.read_text())


def test_lines_are_printed_where_there_is_no_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    result = climb(tmp_path / "tuning.json", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= len(result.receipt_list) > 0
    assert any(line.startswith(f"{result.receipt_list[0].name}: ") for line in lines)


def test_an_input_that_was_frozen_may_be_given_at_its_value(tmp_path: Path, bert_inputs: Arrays) -> None:
    result = climb(tmp_path / "tuning.json", inputs=bert_inputs, freeze=["attention_mask"])
    assert "attention_mask" not in result.plan.inputs
    result.plan(**bert_inputs)
    with pytest.raises(rung.MismatchError, match="attention_mask"):
        result.plan(**(bert_inputs | {"attention_mask": 1 - bert_inputs["attention_mask"]}))


def test_a_rung_that_is_skipped_has_no_receipt(tmp_path: Path) -> None:
    rungs = {"reduce", "attention", "gemm", "projection", "fusion", "regions", "join", "tune"}
    skipped = climb(tmp_path / "tuning.json", skip=sorted(rungs))
    assert not rungs & {receipt.name for receipt in skipped.receipt_list}
    assert "default plan" in {receipt.name for receipt in skipped.receipt_list}


def test_pi0_climbs_in_bf16(tmp_path: Path) -> None:
    inputs = arrays(PI0 / "inputs.npz")
    result = rung.climb(PI0, inputs=inputs, dtype="bf16", budget=2, threads=THREADS, progress=False, database="")
    actions = result.plan(**inputs)["actions"]
    wanted = arrays(PI0 / "outputs.npz")["actions_bf16"]
    assert actions.shape == wanted.shape and numpy.linalg.norm(actions - wanted) < 0.05 * numpy.linalg.norm(wanted)


@pytest.mark.parametrize("budget", ["", "soon", "5h", "0s", "-1s", "0.5s", 0, float("nan")])
def test_a_budget_that_means_nothing_is_refused(tmp_path: Path, budget: Any) -> None:
    with pytest.raises(rung.UsageError, match="budget"):
        climb(tmp_path / "tuning.json", budget=budget)


def test_what_cannot_be_climbed_is_refused(tmp_path: Path, bert_inputs: Arrays) -> None:
    with pytest.raises(rung.FileError):
        rung.climb(tmp_path / "nowhere", progress=False)
    for options in ({"skip": ["no such rung"]}, {"freeze": ["input_ids"]}, {"skip": "linear"}, {"inputs": [1]}):
        with pytest.raises(rung.Error):
            climb(tmp_path / "tuning.json", **options)
