# Climbs in a real kernel of IPython's, as a notebook has one, and the bar of a real tqdm.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rung
from conftest import BERT, SHAPES, THREADS
from rung import _progress

Messages = list[dict[str, Any]]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    manager = pytest.importorskip("jupyter_client.manager", reason="jupyter_client is not installed")
    monkeypatch.setenv("PYTHONPATH", str(Path(rung.__file__).parents[1]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    process, client = manager.start_new_kernel(kernel_name="python3", startup_timeout=120)
    yield client
    client.stop_channels()
    process.shutdown_kernel(now=True)


def run(client: Any, code: str) -> Messages:
    """What a front end is sent for a cell."""
    messages: Messages = []
    reply = client.execute_interactive(code, timeout=120, output_hook=messages.append)
    assert reply["content"]["status"] == "ok", reply["content"]
    return messages


def pages(messages: Messages, kind: str) -> list[str]:
    return [message["content"]["data"]["text/html"] for message in messages
            if message["msg_type"] == kind and "text/html" in message["content"]["data"]]


def test_a_kernel_shows_the_ladder_as_it_grows_and_then_the_report(kernel: Any, tmp_path: Path) -> None:
    messages = run(kernel, f"""
import rung
database = {str(tmp_path / "tuning.json")!r}
climb = rung.climb({str(BERT)!r}, shapes={SHAPES}, budget="3s", threads={THREADS}, database=database)
climb""")
    first, updates = pages(messages, "display_data"), pages(messages, "update_display_data")
    assert len(first) == 1 and updates
    rows = [page.count("<tr>") for page in first + updates]
    assert rows == sorted(rows) and rows[0] == 1 and rows[-1] > 1
    assert "<progress value='1.000'></progress> done" in updates[-1]
    displays = {message["content"]["transient"]["display_id"] for message in messages
                if message["msg_type"] in ("display_data", "update_display_data")}
    assert len(displays) == 1  # one display, which grows
    report, = pages(messages, "execute_result")
    assert report.startswith("<iframe srcdoc=")
    assert not [message for message in messages if message["msg_type"] == "stream"]  # and no bar or line beside it
    told = run(kernel, "print(len(climb.receipt_list), type(climb.receipts).__module__.split('.')[0])")
    count = next(message["content"]["text"] for message in told if message["msg_type"] == "stream").split()[0]
    assert int(count) > 0


def test_an_interrupted_kernel_lives_on(kernel: Any, tmp_path: Path) -> None:
    messages = run(kernel, f"""
import os, signal
def stop(what, fraction, receipt):
    os.kill(os.getpid(), signal.SIGINT)
try:
    rung = __import__("rung")
    rung.climb({str(BERT)!r}, shapes={SHAPES}, budget="60s", threads=1, database="", progress=stop)
except KeyboardInterrupt:
    print("interrupted")""")
    assert "interrupted" in "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")
    run(kernel, f"rung.load({str(BERT)!r}, shapes={SHAPES})")


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = shells.InteractiveShell.instance()
    try:
        assert sys.modules["IPython"].get_ipython() is shell
        assert not _progress.in_notebook()
        assert shell.run_cell("import rung; rung.MismatchError").success
    finally:
        shells.InteractiveShell.clear_instance()


def test_a_bar_of_tqdm_reaches_its_end_below_the_receipts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    climb = rung.climb(BERT, shapes=SHAPES, budget="3s", threads=THREADS, database=tmp_path / "t.json")
    text = told.getvalue()
    for receipt in climb.receipt_list:
        assert re.search(rf"(?m)^\r?.*{re.escape(receipt.name)}: (not )?kept, ", text)
    percentages = [int(percentage) for percentage in re.findall(r"climb:\s+(\d+)%", text)]
    assert percentages == sorted(percentages) and percentages[0] == 0 and percentages[-1] == 100
    assert text.endswith("\n")
