# Paths as Python has them: str of any bytes, bytes, NUL and lone surrogates; and plans that are built and saved.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import rung
from conftest import BERT, SHAPES, THREADS, Arrays, assert_known


@pytest.mark.parametrize("name", [b"caf\xe9", "caf\u00e9".encode(), b"a b"])
def test_a_path_of_any_bytes_opens(tmp_path: Path, name: bytes, bert_inputs: Arrays) -> None:
    folder = os.path.join(os.fsencode(tmp_path), name)
    shutil.copytree(BERT, os.fsdecode(folder))
    for path in (folder, os.fsdecode(folder), Path(os.fsdecode(folder))):
        with rung.load(path, threads=THREADS, shapes=SHAPES) as model:
            model(**bert_inputs)
            model.save(os.path.join(folder, b"plan.rung"))
    assert os.path.exists(os.path.join(folder, b"plan.rung"))
    assert rung.verify(folder, threads=1, shapes=SHAPES)["passed"]


def test_an_error_tells_a_path_of_any_bytes(tmp_path: Path) -> None:
    with pytest.raises(rung.FileError, match=r"caf\\xe9"):
        rung.load(os.path.join(os.fsencode(tmp_path), b"caf\xe9"))


@pytest.mark.parametrize("path", [f"{BERT}\0x", os.fsencode(BERT) + b"\0x", "model\ud800", 7, None, ["model"]])
def test_what_is_no_path_is_refused_in_one_line(path: Any, tmp_path: Path) -> None:
    for call in (rung.load, rung.climb, rung.bench, rung.build):
        with pytest.raises(rung.UsageError, match="path: got .*, wanted the name of a file") as caught:
            call(path)
        assert "\n" not in str(caught.value)


def test_names_with_a_nul_are_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    for call in (lambda: bert(**bert_inputs, **{"input_ids\0x": bert_inputs["input_ids"]}),
                 lambda: bert.input("input_ids\0x"), lambda: rung.load(BERT, device="cpu\0x"),
                 lambda: rung.load(BERT, shapes={"input_ids\0x": (1, 9)}),
                 lambda: bert(**bert_inputs, out={"last_hidden_state\0x": numpy.zeros((1, 9, 32), "float32")})):
        with pytest.raises(rung.UsageError, match="NUL"):
            call()


def test_a_plan_is_built_saved_and_loaded(tmp_path: Path, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    with rung.build(BERT, shapes=SHAPES, threads=THREADS) as model:
        wanted = model(**bert_inputs)["last_hidden_state"]
        model.save(tmp_path / "plan.rung")
        with pytest.raises(rung.FileError):
            model.save(tmp_path / "no" / "folder" / "plan.rung")
    with pytest.raises(rung.UsageError, match="closed"):
        model.save(tmp_path / "other.rung")
    assert_known(wanted, bert_outputs["last_hidden_state"])
    with rung.load(tmp_path / "plan.rung") as loaded:
        assert numpy.array_equal(loaded(**bert_inputs)["last_hidden_state"], wanted)


def test_a_recipe_of_other_shapes_is_built_where_it_may_be_tuned(climbed: rung.Climb) -> None:
    recipe = json.loads(json.dumps(climbed.recipe)) | {"tuned_kernels": True}
    problem = next(iter(recipe["choices"]), None) or "linear m=1"
    recipe["choices"][problem + " of another model"] = {"kernel": "linear_openblas"}
    with pytest.raises(rung.MismatchError, match="retune"):
        rung.build(BERT, recipe, shapes={"input_ids": (1, 5)}, threads=THREADS)
    with rung.build(BERT, recipe, shapes={"input_ids": (1, 5)}, threads=THREADS, retune=True, budget="1s",
                    database="") as model:
        assert model.inputs["input_ids"].shape == (1, 5)


def test_a_frozen_input_is_part_of_what_is_built(bert_inputs: Arrays) -> None:
    with rung.build(BERT, inputs=bert_inputs, freeze=["token_type_ids"], threads=THREADS) as model:
        assert "token_type_ids" not in model.inputs
