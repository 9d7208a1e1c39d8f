# Modules of PyTorch as plans: the same call, the same results, and one clear error where that cannot be.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import rung
from conftest import GPU

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
nn: Any = torch.nn
Module: Any = nn.Module
SHORT: dict[str, Any] = {"budget": "1s", "database": "", "threads": 1, "progress": False}


class Pair(NamedTuple):
    left: Any
    right: Any


class Layers(Module):
    """A layer of each kind that matters, with arguments and results of all structures."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.norm = nn.Embedding(50, 32), nn.LayerNorm(32)
        self.wide, self.narrow = nn.Linear(32, 64), nn.Linear(64, 32)
        self.kind = "layers"
        self.eval()

    def forward(self, ids: Any, scales: dict[str, Any] | None = None, *, plain: bool = False) -> Any:
        state = self.norm(self.table(ids))
        if scales is not None:
            state = state * scales["up"] - scales["down"]
        state = self.narrow(nn.functional.gelu(self.wide(state)))
        return state if plain else {"state": state, "ids": ids, "both": Pair(state.mean(1), None), "count": 3}


class Bessel(Module):
    """A Bessel function between two layers: nothing that rung takes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)
        self.eval()

    def forward(self, x: Any) -> Any:
        return self.second(torch.special.bessel_j0(self.first(x).relu()))


class Branch(Bessel):
    """Which way it goes depends on values: torch.export refuses it."""

    def forward(self, x: Any) -> Any:
        y = self.first(x).relu()
        return self.second(y * 2 if y.sum() > 1 else y)


@pytest.fixture(scope="module")
def layers() -> Layers:
    return Layers()


@pytest.fixture(scope="module")
def ids() -> Any:
    return torch.arange(10).reshape(2, 5)


@pytest.fixture(scope="module")
def plain(layers: Layers, ids: Any) -> Any:
    return rung.optimize(layers, {"ids": ids, "plain": True}, **SHORT)


def assert_same(got: Any, wanted: Any) -> None:
    assert got.shape == wanted.shape and got.dtype == wanted.dtype and got.device == wanted.device
    assert ((got - wanted).norm() <= 1e-5 * wanted.norm()).item()


def test_results_have_the_modules_structure(layers: Layers, ids: Any) -> None:
    scales = {"up": torch.tensor(2.0), "down": torch.ones(32)}
    got, wanted = rung.optimize(layers, (ids, scales), **SHORT)(ids, scales), layers(ids, scales)
    assert got.keys() == wanted.keys() and got["count"] == 3 and got["ids"] is ids
    assert isinstance(got["both"], Pair) and got["both"].right is None
    assert_same(got["state"], wanted["state"].detach())
    assert_same(got["both"].left, wanted["both"].left.detach())


def test_arguments_go_by_position_or_name(layers: Layers, ids: Any, plain: Any) -> None:
    other = (ids * 3) % 50
    wanted = layers(other, plain=True).detach()
    for _ in range(2):  # the second time by what the first one learned
        assert_same(plain(other, plain=True), wanted)
        assert_same(plain(plain=True, ids=other), wanted)
        assert_same(plain(other, None, plain=True), wanted)
    assert_same(plain(other.t().contiguous().t(), plain=True), wanted)  # a tensor with gaps


def test_is_a_module_where_the_module_stood(layers: Layers, ids: Any, plain: Any) -> None:
    whole = nn.Sequential(nn.Identity())
    whole.layers = layers
    whole.layers = plain
    assert whole.layers.kind == "layers" and not plain.training
    assert not plain(ids, plain=True).requires_grad
    with pytest.raises(AttributeError, match="nothing"):
        plain.nothing


def test_other_calls_are_refused(ids: Any, plain: Any) -> None:
    for args, kwargs, words in (
            ((ids,), {"plain": False}, "argument 'plain': got False, wanted True, as when the module was exported"),
            ((ids,), {}, "argument 'plain': got False, wanted True"),
            ((None,), {"plain": True}, "argument 'ids': got None, wanted a tensor"),
            ((ids, {"up": ids}), {"plain": True}, "argument 'scales': got a dict, wanted None"),
            ((ids[:1],), {"plain": True}, r"input 'ids': got i64\[1,5\], wanted i64\[2,5\]"),
            ((ids.int(),), {"plain": True}, "input 'ids': got int32, wanted int64: ids.to\\(torch.int64\\)")):
        with pytest.raises(rung.MismatchError, match=words):
            plain(*args, **kwargs)
    with pytest.raises(rung.UsageError, match="got other shapes than the example's, wanted dynamic_shapes"):
        plain.prepare(ids[:1], plain=True)
    with pytest.raises(TypeError, match="missing a required argument: 'ids'"):
        plain()


def test_threads_call_at_once(layers: Layers, ids: Any, plain: Any) -> None:
    wanted, wrong = layers(ids, plain=True).detach(), []

    def call() -> None:
        for _ in range(50):
            if not torch.allclose(plain(ids, plain=True), wanted, atol=1e-5):
                wrong.append("differs")

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_open_sizes_get_plans_as_calls_need_them(layers: Layers) -> None:
    tokens = torch.export.Dim("tokens", min=2, max=16)
    model = rung.optimize(layers, {"ids": torch.zeros(1, 4, dtype=torch.int64), "plain": True}, shape_budget="1s",
                          dynamic_shapes={"ids": {1: tokens}, "plain": None}, **SHORT)
    model.prepare(torch.zeros(1, 7, dtype=torch.int64), plain=True)
    assert [plan["ids"] for plan in model.plan.shapes] == [(1, 4), (1, 7)]
    for count in (4, 7, 9, 4):
        given = torch.arange(count).reshape(1, count)
        assert_same(model(given, plain=True), layers(given, plain=True).detach())
    assert len(model.plan.shapes) == 3
    with pytest.raises(rung.Error, match="got 17, wanted what the program was exported for: 2 to 16"):
        model(torch.zeros(1, 17, dtype=torch.int64), plain=True)


def test_16_bit_modules_stay_16_bit(ids: Any) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        module = Layers().to(dtype)
        got = rung.optimize(module, {"ids": ids, "plain": True}, **SHORT)(ids, plain=True)
        wanted = module(ids, plain=True)
        assert got.dtype == dtype and (got - wanted).norm() <= 2e-2 * wanted.norm()


def test_a_refusal_names_operator_and_line() -> None:
    line = next(i for i, text in enumerate(Path(__file__).read_text().split("\n"), 1) if "bessel_j0(self" in text)
    with pytest.raises(rung.UnsupportedError, match=f"^Bessel: node 'special_bessel_j0' .aten.*bessel_j0.default; "
                                                    f"test_optimize.py:{line}.: there is no import"):
        rung.optimize(Bessel(), torch.ones(2, 16), **SHORT)
    line = next(i for i, text in enumerate(Path(__file__).read_text().split("\n"), 1) if "if y.sum() > 1" in text)
    with pytest.raises(rung.UnsupportedError, match=f"^Branch: torch.export: .*; test_optimize.py:{line}$") as caught:
        rung.optimize(Branch(), torch.ones(2, 16), **SHORT)
    assert isinstance(caught.value, NotImplementedError)


@pytest.mark.parametrize("kind", [Bessel, Branch])
def test_what_is_refused_may_stay_with_pytorch(kind: Any) -> None:
    module, x = kind(), torch.rand(2, 16)
    model = rung.optimize(module, x, fallback=True, **SHORT)
    assert_same(model(x), module(x).detach())
    assert len(model.parts) == 2 and all(part.climb.receipt_list for part in model.parts)
    assert len(model.eager) == 1 and kind.__name__ in model.eager[0]
    assert_same(model(x + 1), module(x + 1).detach())


@pytest.mark.parametrize("kind", [Bessel, Branch])
def test_what_is_refused_has_parts_for_each_shape(kind: Any) -> None:
    module, x = kind(), torch.rand(2, 16)
    rows = {0: torch.export.Dim("rows", min=2, max=8)}
    model = rung.optimize(module, x, fallback=True, dynamic_shapes=(rows,), shape_budget="1s", **SHORT)
    assert_same(model(x), module(x).detach())
    assert len(model.parts) == 2 and len(model.eager) == 1 and kind.__name__ in model.eager[0]
    for count in (4, 3, 4):
        y = torch.rand(count, 16)
        assert_same(model(y), module(y).detach())
    assert len(model.parts) == 6 and len(model.eager) == 1


def test_parts_for_a_shape_are_made_ahead() -> None:
    module, x, y = Bessel(), torch.rand(2, 16), torch.rand(5, 16)
    model = rung.optimize(module, x, fallback=True, dynamic_shapes=({0: torch.export.Dim("rows", min=2, max=8)},),
                          shape_budget="1s", **SHORT)
    model.prepare(y)
    made = model.parts
    assert len(made) == 4
    assert_same(model(y), module(y).detach())
    assert model.parts == made


def test_errors_of_other_files_stay_what_they_are(layers: Layers, ids: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise rung.FileError("the tool 'rung' is not at '/nowhere'")

    monkeypatch.setattr("rung._module.climb", refuse)
    with pytest.raises(rung.FileError, match="the tool 'rung'"):
        rung.optimize(layers, {"ids": ids, "plain": True}, fallback=True, **SHORT)


def test_wrong_examples_are_refused(layers: Layers, ids: Any) -> None:
    for module, example, options, words in (
            (layers, "ids", {}, "example_inputs: got a str, wanted a tensor, a tuple"),
            (layers, {"idx": ids}, {}, "example_inputs: Layers.forward.*missing a required argument: 'ids'"),
            (layers.forward, ids, {}, "module: got a method, wanted a torch.nn.Module"),
            (layers, ids, {"budget": "soon"}, "budget: got 'soon'"),
            (Layers().train(), ids, {}, "Layers: got a module in training, wanted module.eval")):
        with pytest.raises(rung.UsageError, match=words):
            rung.optimize(module, example, **(SHORT | options))


def test_compiles_graphs_of_torch_compile(layers: Layers, ids: Any) -> None:
    torch.compiler.reset()
    model = torch.compile(layers, backend=rung.backend, options=SHORT)
    with torch.inference_mode():
        for given in (ids, ids[:1], (ids * 7) % 50):
            assert_same(model(given, plain=True), layers(given, plain=True))
    with pytest.raises(Exception, match="a graph whose gradient may be wanted"):
        model(ids, plain=True)


def test_a_module_keeps_a_stated_error(layers: Layers, ids: Any) -> None:
    model = rung.optimize(layers, (ids,), error=0.03, **SHORT)
    assert model.climb.report["precision_search"]["limit_rel_l2"] == 0.03
    with torch.inference_mode():
        got, wanted = model(ids)["state"], layers(ids)["state"]
    assert (got - wanted).norm() <= 0.03 * wanted.norm()


def test_options_of_the_backend_are_checked(layers: Layers, ids: Any) -> None:
    for given, words in (({"options": {"depth": 3}}, "options: got 'depth', wanted device"),
                         ({"mode": "max-autotune"}, "mode: got 'max-autotune', wanted none")):
        torch.compiler.reset()
        with pytest.raises(Exception, match=words), torch.inference_mode():
            torch.compile(layers, backend=rung.backend, **given)(ids, plain=True)


def test_the_backend_goes_by_its_name(tmp_path: Path) -> None:
    """As in an installed package, whose metadata name the backend."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    line = re.search(r'^rung = "(rung\._backend:\w+)"$', project, re.M)
    assert line
    folder = tmp_path / "rung-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: rung\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(f"[torch_dynamo_backends]\nrung = {line[1]}\n")
    code = (f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import torch\n"
            "assert 'rung' in torch.compiler.list_backends()\n"
            "module = torch.nn.Sequential(torch.nn.Linear(4, 4)).eval()\n"
            "options = {'budget': '1s', 'database': '', 'progress': False}\n"
            "model = torch.compile(module, backend='rung', options=options)\n"
            "x = torch.ones(1, 4)\n"
            "with torch.inference_mode(): print(torch.allclose(model(x), module(x), atol=1e-6))\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "True", ran.stderr


def test_on_a_gpu_tensors_stay_there(layers: Layers, ids: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    try:
        rung.load(Path(__file__).parents[2] / "tests" / "data" / "bert_tiny", device=GPU).close()
    except rung.DeviceError as error:
        pytest.skip(str(error))
    module, there = Layers().cuda(), ids.cuda()
    model = rung.optimize(module, {"ids": there, "plain": True}, **SHORT)
    with torch.cuda.stream(torch.cuda.Stream()):
        got = model(there, plain=True)
        torch.cuda.current_stream().synchronize()
    assert_same(got, module(there, plain=True).detach())


def test_the_example_runs(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "optimize_a_module.py"
    ran = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"relative error \d", ran.stdout) and (tmp_path / "encoder.rung").is_file()
