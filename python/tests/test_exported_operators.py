# Operators of exported programs that few models call, compared with PyTorch's own results.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import rung

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

X = torch.linspace(0.1, 0.9, 15).reshape(3, 5).flip(1)
PLACES = torch.tensor([[0, 4, 2, 2], [1, 0, 3, 1], [4, 4, 4, 0]])
BITS = torch.tensor([[5, -6, 200], [77, 0, -1]])

OPERATORS: dict[str, tuple[Any, ...]] = {
    "trigonometry": (lambda x: (torch.tan(x), torch.asin(x), torch.acos(x), torch.atan(x), torch.atan2(x, x - 0.5)), X),
    "hyperbolic": (lambda x: (torch.sinh(x), torch.cosh(x), torch.asinh(x), torch.acosh(x + 1), torch.atanh(x)), X),
    "near zero": (lambda x: (torch.log1p(x), torch.expm1(x)), X),
    "remainders": (lambda x: (torch.fmod(x * 7, 0.3), torch.fmod(-x * 7, x)), X),
    "products": (lambda x: (x.prod(1), x.prod(0, keepdim=True), x.prod(), x.cumprod(1)), X),
    "log-sum-exp": (lambda x: (x.logsumexp(1), x.logsumexp((0, 1))), X),
    "largest and least": (lambda x: (*torch.topk(x, 2, largest=False), *torch.topk(x, 2, dim=0)), X),
    "orders": (lambda x: (*torch.sort(x, 1), *torch.sort(x, 0, descending=True), torch.argsort(x, 1)), X),
    "scatters": (lambda x, i: (x.scatter(1, i, x * 2), x.scatter(1, i, 3.0), x.scatter_add(1, i, x),
                               x.scatter_reduce(1, i, x, "amax")), X, PLACES),
    "puts": (lambda x, i: (x.index_put((i[:, 0] % 3, i[:, 1]), x[:, 0]),
                           x.index_put((i[:, 0] % 3,), x[0], accumulate=True)), X, PLACES),
    "one-hot": (lambda i: (torch.nn.functional.one_hot(i, 7),), PLACES),
    "bits": (lambda k: (k & 7, k | 8, k ^ 13, k << 2, k >> 1, k & k.flip(0), (k > 5) & (k < 100)), BITS),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_results_are_those_of_pytorch(name: str, tmp_path: Path) -> None:
    function, *arguments = OPERATORS[name]

    class Module(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return function(*given)

    path = tmp_path / "m.pt2"
    torch.export.save(torch.export.export(Module(), tuple(arguments)), path)
    model = rung.build(path, database="", threads=1)
    outputs = model(**{port: value.numpy() for port, value in zip(model.inputs, arguments)})
    wanted = function(*arguments)
    assert len(outputs) == len(wanted)
    for output, value in zip(outputs.values(), wanted):
        assert output.dtype == value.numpy().dtype
        numpy.testing.assert_allclose(output, value.numpy(), rtol=1e-5, atol=1e-6)
