# Checkpoints of each architecture in Python: their inputs by name, and PyTorch's outputs.
# SPDX-License-Identifier: Apache-2.0
import numpy
import pytest
import rung
from conftest import DATA, THREADS, arrays

NAMES = sorted(folder.name for folder in (DATA / "checkpoints").iterdir() if (folder / "config.json").exists())
TOLERANCES = {"bf16": 1.6e-2, "f16": 2e-3}


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_gives_pytorchs_outputs(name: str) -> None:
    folder = DATA / "checkpoints" / name
    inputs = arrays(folder / "inputs.npz")
    shapes = {key: value.shape for key, value in inputs.items()}
    with rung.load(folder, threads=THREADS, shapes=shapes) as model:
        outputs = model(**inputs)
    wanted = arrays(folder / "outputs.npz")
    assert outputs.keys() == wanted.keys()
    for key, value in wanted.items():
        error = numpy.linalg.norm(outputs[key] - value) / numpy.linalg.norm(value)
        assert error <= TOLERANCES.get(name.rsplit("_", 1)[-1], 1e-6), key
