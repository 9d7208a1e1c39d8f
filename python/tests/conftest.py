# What the tests of the package share: the two small models of the repository, what they were given and what they gave.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import signal
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import rung

# Python leaves Ctrl-C alone where it is ignored, as it is for what a shell starts in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

Arrays = dict[str, numpy.ndarray]
DATA = Path(__file__).parents[2] / "tests" / "data"
BERT, PI0 = DATA / "bert_tiny", DATA / "pi0_tiny"
SHAPES = {"input_ids": (1, 9)}
THREADS = 2
GPU = os.environ.get("RUNG_TEST_GPU", "cuda")


def arrays(path: Path) -> Arrays:
    with numpy.load(path) as file:
        return dict(file)


@pytest.fixture(scope="session")
def bert_inputs() -> Arrays:
    return arrays(BERT / "inputs.npz")


@pytest.fixture(scope="session")
def bert_outputs() -> Arrays:
    return arrays(BERT / "outputs.npz")


@pytest.fixture
def bert() -> Iterator[rung.Model]:
    with rung.load(BERT, threads=THREADS, shapes=SHAPES) as model:
        yield model


@pytest.fixture
def on_gpu() -> Iterator[rung.Model]:
    try:
        model = rung.load(BERT, device=GPU, shapes=SHAPES)
    except rung.DeviceError as error:
        pytest.skip(str(error))
    with model:
        yield model


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """The small BERT with a vocabulary: the words "a" to "z" stand for themselves."""
    folder = tmp_path / "encoder"
    shutil.copytree(BERT, folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    return folder


@pytest.fixture(scope="session")
def climbed(tmp_path_factory: pytest.TempPathFactory) -> rung.Climb:
    database = tmp_path_factory.mktemp("database") / "tuning.json"
    return rung.climb(BERT, shapes=SHAPES, budget="2s", threads=THREADS, database=database, progress=False)


def assert_known(got: numpy.ndarray, wanted: numpy.ndarray) -> None:
    """As far from what PyTorch gave as f32 sums of these lengths may be."""
    assert got.shape == wanted.shape
    assert numpy.linalg.norm(got - wanted) <= 1e-5 * numpy.linalg.norm(wanted)


def refusal(model: rung.Model, **inputs: Any) -> str:
    """What a call with these inputs is refused with: one line."""
    with pytest.raises(rung.MismatchError) as caught:
        model(**inputs)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)
    return str(caught.value)
