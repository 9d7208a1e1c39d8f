# The package as others see it: names, types, versions, how soon it is imported.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rung

SOURCES = Path(__file__).parents[2]


def test_the_version_is_the_projects() -> None:
    release = re.search(r'kRungVersion = "([0-9.]+)"', (SOURCES / "src/base/version.hpp").read_text())
    assert release and rung.__version__ == release[1]


def test_every_public_name_has_a_docstring() -> None:
    for name in rung.__all__:
        if name == "__version__":
            continue
        value = getattr(rung, name)
        assert inspect.getdoc(value), name
        for member, what in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (callable(what) or isinstance(what, property)):
                assert inspect.getdoc(what), f"{name}.{member}"


def test_errors_are_named_after_their_kinds() -> None:
    for error, builtin in ((rung.UsageError, ValueError), (rung.FileError, OSError), (rung.DeviceError, RuntimeError),
                           (rung.OutOfMemoryError, MemoryError), (rung.MismatchError, ValueError),
                           (rung.ClimbInterrupted, Exception)):
        assert issubclass(error, rung.Error) and issubclass(error, builtin)


def test_import_brings_nothing_else_in() -> None:
    code = "import sys, rung; print([name for name in ('torch', 'jax', 'pandas', 'tqdm', 'IPython', 'numpy') " \
           "if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_import_takes_less_than_100_ms() -> None:
    """Of the processor: other programs on the machine do not count."""
    code = "import time; start = time.process_time(); import rung; print(time.process_time() - start)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
             for _ in range(5)]
    assert min(times) < 0.1


def test_a_type_checker_agrees(tmp_path: Path) -> None:
    """Of a copy of the package: beside an installed one lie others, which are not to be checked."""
    pytest.importorskip("mypy")
    shutil.copytree(Path(rung.__file__).parent, tmp_path / "rung", ignore=shutil.ignore_patterns("bin", "lib", "*.so"))
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", SOURCES / "pyproject.toml", "--cache-dir", tmp_path / "cache",
         tmp_path / "rung", *sorted(Path(__file__).parent.glob("*.py"))],
        capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Success" in ran.stdout and (tmp_path / "rung" / "_core.pyi").exists()
