# What the command line also does, from Python, and the command line itself.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import rung
from conftest import BERT, SHAPES, THREADS, Arrays

OPTIONS: Any = {"shapes": SHAPES, "threads": THREADS}


def test_verify_says_whether_it_is_right(bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    assert rung.verify(BERT, bert_inputs, **OPTIONS)["passed"] is True
    known = {name: bert_outputs[name] for name in ("last_hidden_state", "sentence_embedding")}
    wrong = {name: array + 1 for name, array in known.items()}
    assert rung.verify(BERT, bert_inputs, wrong, **OPTIONS)["passed"] is False


def test_verify_tells_what_each_entry_of_a_precision_costs(bert_inputs: Arrays) -> None:
    entries = [{"labels": f"encoder.layer.{layer}", "products": "bf16"} for layer in (0, 1)]
    recipe = {"version": 1, "rungs": ["reduce", "fusion", "precision"], "precision": entries, "threads": THREADS}
    verified: rung.Verification = rung.verify(BERT, bert_inputs, shapes=SHAPES, recipe=recipe)
    assert [{"labels": cost["labels"], "products": cost["products"]} for cost in verified["precision"]] == entries
    for cost in verified["precision"]:
        assert set(cost) == set(rung.PrecisionCost.__annotations__) - {"attention", "values"}
        assert cost["rel_l2_alone"] is not None and 1e-5 < cost["rel_l2_alone"] < 1e-1
    assert set(verified) == set(rung.Verification.__annotations__)
    assert set(verified["outputs"][0]) == set(rung.ComparedOutput.__annotations__)
    assert set(verified["tolerance"]) == set(rung.Tolerance.__annotations__)


def test_bench_times_that_many_runs(bert_inputs: Arrays) -> None:
    report = rung.bench(BERT, bert_inputs, runs=37, **OPTIONS)
    assert "37" in str(report)


def test_profile_and_explain_give_objects(climbed: rung.Climb) -> None:
    assert rung.profile(BERT, **OPTIONS)
    assert rung.explain(BERT, **OPTIONS)
    assert rung.profile(BERT, recipe=climbed.recipe, shapes=SHAPES)


@pytest.mark.parametrize("task", [lambda: rung.bench(BERT, runs=1_000_000, **OPTIONS),
                                  lambda: rung.bench(BERT, rate_hz=0.01, **OPTIONS),
                                  lambda: rung.profile(BERT, shapes=SHAPES, threads=3)])
def test_ctrl_c_ends_a_task(task: Any) -> None:
    # The peaks of three threads, which nothing else here measures, take longer than until the signal.
    began = time.monotonic()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        task()
    timer.join()
    assert time.monotonic() - began < 30


def test_compare_runs_two_sides_in_turns() -> None:
    slower = rung.compare(BERT, recipe_b={"version": 1, "threads": THREADS}, budget=1, **OPTIONS)
    assert slower["verdict"] == "slower" and slower["outputs_agree"] is True
    assert slower["b"]["launches"] > slower["a"]["launches"]
    allowed = rung.compare(BERT, recipe_b={"version": 1, "threads": THREADS}, budget="1s", max_slowdown=90, **OPTIONS)
    assert allowed["verdict"] == "within_limit"
    with pytest.raises(rung.UsageError, match="wanted a path"):
        rung.compare(BERT, **OPTIONS)
    with pytest.raises(rung.FileError):
        rung.compare(BERT, "nowhere", **OPTIONS)


def test_arguments_are_checked(bert_inputs: Arrays) -> None:
    with pytest.raises(rung.MismatchError, match="another"):
        rung.bench(BERT, {"another": bert_inputs["input_ids"]}, **OPTIONS)
    with pytest.raises(rung.MismatchError):
        rung.bench(BERT, {"input_ids": bert_inputs["input_ids"].astype("float32")}, **OPTIONS)
    with pytest.raises(rung.Error):
        rung.bench(BERT, runs=-1, **OPTIONS)
    with pytest.raises(rung.FileError):
        rung.explain("nowhere")


def test_the_command_line_is_the_tool(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "rung", *words], capture_output=True, text=True)

    assert rung.__version__ in run("--version").stdout
    failed = run("inspect", str(tmp_path / "nowhere"))
    assert failed.returncode == 1 and "nowhere" in failed.stderr
