# Models: what they say of themselves, what they answer, when they are closed.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import rung
from conftest import BERT, DATA, PI0, SHAPES, THREADS, Arrays, arrays, assert_known


def test_ports_tell_names_dtypes_and_shapes(bert: rung.Model) -> None:
    assert bert.inputs["input_ids"] == rung.Port("input_ids", "int64", (1, 9), True)
    assert bert.inputs["attention_mask"] == rung.Port("attention_mask", "int64", (1, 9), False)
    assert bert.outputs["last_hidden_state"][1:3] == ("float32", (1, 9, 32))
    assert bert.device == "cpu"
    assert "input_ids: int64[1, 9]" in repr(bert)
    with pytest.raises(TypeError):
        bert.inputs["another"] = bert.inputs["input_ids"]  # type: ignore[index]


def test_answers_what_pytorch_gave(bert: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    outputs = bert(**bert_inputs)
    assert list(outputs) == list(bert.outputs)
    for name in ("last_hidden_state", "sentence_embedding"):
        assert_known(outputs[name], bert_outputs[name])


def test_inputs_left_out_take_their_defaults(bert: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    first = bert(**bert_inputs)
    assert_known(bert(input_ids=bert_inputs["input_ids"])["last_hidden_state"],
                 bert_outputs["last_hidden_state_defaults"])
    assert_known(first["last_hidden_state"], bert_outputs["last_hidden_state"])


def test_pi0_answers_what_pytorch_gave() -> None:
    inputs = arrays(PI0 / "inputs.npz")
    with rung.load(PI0, threads=THREADS, dtype="f32", shapes={name: a.shape for name, a in inputs.items()}) as model:
        actions = model(**inputs)["actions"]
    assert_known(actions, arrays(PI0 / "outputs.npz")["actions_f32"])


def test_outputs_of_a_call_stay_after_the_next(bert: rung.Model, bert_inputs: Arrays) -> None:
    first = bert(**bert_inputs)["last_hidden_state"]
    copy = first.copy()
    second = bert(input_ids=bert_inputs["input_ids"][:, ::-1].copy())["last_hidden_state"]
    assert not numpy.array_equal(first, second)
    assert numpy.array_equal(first, copy)


def test_out_is_written_and_given_back(bert: rung.Model, bert_inputs: Arrays) -> None:
    state = numpy.zeros((1, 9, 32), numpy.float32)
    outputs = bert(**bert_inputs, out={"last_hidden_state": state})
    assert outputs["last_hidden_state"] is state
    assert numpy.array_equal(state, bert(**bert_inputs)["last_hidden_state"])


def test_decode_makes_a_text_of_ids(encoder: Path) -> None:
    with rung.load(encoder, threads=THREADS, shapes={"input_ids": (1, 5)}) as model:
        ids = model.encode("a b")["input_ids"][0]
        assert model.decode(ids) == "a b" and model.decode(ids.tolist()) == "a b"
        whole = model.decode(ids, skip_special_tokens=False)
        assert whole.startswith("[CLS] a b [SEP]")
        assert model.decode(ids, clean_up_tokenization_spaces=True) == "a b" and model.decode([]) == ""
        for wrong, words in ((5, "ids: got a int"), ("a b", "ids: got a str"), ([1.5], "ids: got 1.5"),
                             ([2**70], "wanted a sequence of ints of 64 bits"), ([ids], "ids: got array")):
            with pytest.raises(rung.UsageError, match=words):
                model.decode(wrong)
        for unknown in (-1, 10**9):
            with pytest.raises(rung.MismatchError, match=f"got id {unknown}, which no token"):
                model.decode([unknown])
    with pytest.raises(rung.UsageError, match="closed"):
        model.decode([1])


def test_encode_makes_inputs_of_a_text(encoder: Path) -> None:
    with rung.load(encoder, threads=THREADS, shapes={"input_ids": (1, 5)}) as model:
        inputs = model.encode("a b c")
        assert inputs["input_ids"].tolist() == [[2, 5, 6, 7, 3]]
        assert set(model(**inputs)) == set(model.outputs)
    assert inputs["input_ids"].sum() == 23  # memory of its own


def test_encode_without_a_tokenizer_says_so(bert: rung.Model) -> None:
    with pytest.raises(rung.Error, match="tokenizer|vocab"):
        bert.encode("a b c")


def test_a_plan_is_opened(climbed: rung.Climb, tmp_path: Path, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    climbed.save(tmp_path / "out")
    with rung.load(tmp_path / "out" / "plan.rung") as model:
        assert_known(model(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])


def test_after_close_calls_are_refused(bert: rung.Model, bert_inputs: Arrays) -> None:
    session = bert.session()
    bert.close()
    bert.close()
    for call in (lambda: bert(**bert_inputs), bert.run, bert.session, lambda: bert.encode("a"),
                 lambda: bert.input("input_ids")):
        with pytest.raises(rung.UsageError, match="the model is closed"):
            call()
    assert "closed" in repr(bert) and list(bert.inputs)
    assert "last_hidden_state" in session(**bert_inputs)  # it lives on
    session.close()
    with pytest.raises(rung.UsageError, match="closed"):
        session(**bert_inputs)


@pytest.mark.parametrize(("path", "kind"), [(DATA / "nowhere", rung.FileError), (DATA / "README.md", rung.FileError)])
def test_what_cannot_be_opened_is_a_file_error(path: Path, kind: type[rung.Error]) -> None:
    with pytest.raises(kind) as caught:
        rung.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value, OSError)


def test_options_that_mean_nothing_are_usage_errors() -> None:
    cases: list[dict[str, Any]] = [{"device": "abacus"}, {"dtype": "f17"}, {"threads": -1}, {"threads": "two"},
                                   {"shapes": [1]}, {"shapes": {"input_ids": "x"}},
                                   {"shapes": numpy.zeros((40, 40))}, {"threads": numpy.zeros((3, 3))}]
    for options in cases:
        with pytest.raises(rung.UsageError) as caught:
            rung.load(BERT, **options)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 200
    with pytest.raises(rung.MismatchError):
        rung.load(BERT, shapes={"another": (1, 2)})


def test_a_device_that_is_not_there_is_a_device_error() -> None:
    with pytest.raises(rung.DeviceError):
        rung.load(BERT, device="cuda:31", shapes=SHAPES)


def test_opening_and_closing_leaves_no_memory(bert_inputs: Arrays) -> None:
    def cycles(count: int) -> int:
        for _ in range(count):
            with rung.load(BERT, threads=1, shapes=SHAPES) as model:
                model(**bert_inputs)
                model.input("input_ids")
        return resident()

    warm = cycles(50)
    assert cycles(200) - warm < 1 << 20


def resident() -> int:
    # Summed page by page; statm adds counters of each processor, which are off by megabytes where there are many.
    rolled_up = Path("/proc/self/smaps_rollup").read_text()
    return int(rolled_up.split("Rss:")[1].split()[0]) << 10


@pytest.fixture(name="two_shapes")
def make_two_shapes(tmp_path: Path) -> rung.Model:
    """A model of two plans, for 5 tokens and for 9."""
    path = tmp_path / "plan.rung"
    shapes = ["--shape", "input_ids=1,5", "--shape", "input_ids=1,9"]
    subprocess.run([sys.executable, "-m", "rung", "build", str(BERT), "--threads", str(THREADS), *shapes, "--out",
                    str(path)], check=True)
    return rung.load(path)


def test_a_model_tells_which_shapes_it_serves(two_shapes: rung.Model, bert: rung.Model) -> None:
    assert [shapes["input_ids"] for shapes in two_shapes.shapes] == [(1, 5), (1, 9)]
    assert [shapes["input_ids"] for shapes in bert.shapes] == [(1, 9)]


def test_a_call_selects_the_plan_for_its_arrays(two_shapes: rung.Model, bert_inputs: Arrays,
                                                bert_outputs: Arrays) -> None:
    assert_known(two_shapes(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])
    assert two_shapes(input_ids=bert_inputs["input_ids"][:, :5].copy())["last_hidden_state"].shape == (1, 5, 32)
    assert_known(two_shapes(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])
    with pytest.raises(rung.MismatchError, match="no plan is for .*input_ids=1,7"):
        two_shapes(input_ids=numpy.zeros((1, 7), numpy.int64))


def test_memory_is_that_of_the_plan_selected(two_shapes: rung.Model) -> None:
    with two_shapes.session() as session:
        assert session.input("input_ids").shape == (1, 5)
        session.select({"input_ids": (1, 9)})
        assert session.input("input_ids").shape == (1, 9)
        assert session.inputs["input_ids"].shape == (1, 9)
        session.run()
        with pytest.raises(rung.MismatchError, match="no plan is for input_ids=1,7"):
            session.select({"input_ids": (1, 7)})


def test_joined_models_take_the_plan_for_arrays(tmp_path: Path, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    short = rung.load(BERT, threads=THREADS, shapes={"input_ids": (1, 5)})
    joined = rung.join([short, rung.load(BERT, threads=THREADS, shapes={"input_ids": (1, 9)})])
    short.close()
    joined.save(tmp_path / "plan.rung")
    for model in (joined, rung.load(tmp_path / "plan.rung")):
        assert [shapes["input_ids"] for shapes in model.shapes] == [(1, 5), (1, 9)]
        assert_known(model(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])


def test_models_that_cannot_be_joined_are_named(bert: rung.Model) -> None:
    with pytest.raises(rung.MismatchError, match="serve the same shapes"):
        rung.join([bert, bert])
    with pytest.raises(rung.UsageError, match="got no model, wanted at least one"):
        rung.join([])
    with pytest.raises(rung.UsageError, match="models: got a str, wanted models that are open"):
        rung.join(["plan.rung"])  # type: ignore[list-item]
    closed = rung.load(BERT, threads=THREADS, shapes={"input_ids": (1, 5)})
    closed.close()
    with pytest.raises(rung.UsageError, match="closed"):
        rung.join([bert, closed])


def test_trust_is_a_bool() -> None:
    wrong: Any = "yes"
    with pytest.raises(rung.UsageError, match="trust_code: got .*yes.*, wanted a bool"):
        rung.load(BERT, trust_code=wrong)


def test_code_of_a_plan_runs_by_trust(tmp_path: Path) -> None:
    if not Path("/usr/bin/clang++-22").exists():
        pytest.skip("no compiler for emulated GPUs")
    plan = tmp_path / "plan.rung"
    try:
        with rung.build(DATA / "exported/operators_of_windows.pt2", device="emu:gfx942") as model:
            model.save(plan)
    except rung.DeviceError as error:
        pytest.skip(str(error))
    program = ("import rung, sys\ntry:\n    rung.load(sys.argv[1])\nexcept rung.DeviceError as error:\n"
               "    print(error)\nprint(rung.load(sys.argv[1], trust_code=True).session())")
    elsewhere = os.environ | {"RUNG_CLANG": "/no/clang", "RUNG_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run([sys.executable, "-c", program, plan], env=elsewhere, capture_output=True, text=True,
                         check=True)
    assert "(no /no/clang)" in ran.stdout and "trust_code in Python" in ran.stdout
    assert "Session" in ran.stdout.splitlines()[-1]
