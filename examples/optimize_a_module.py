#!/usr/bin/env python3
# %% [markdown]
# # A module of PyTorch as a plan
# Cells as notebooks and editors know them; `python optimize_a_module.py` runs them all. Wants `rung` and PyTorch.
# SPDX-License-Identifier: Apache-2.0

# %% A module: here two layers of an encoder with random weights.
import torch
import rung

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, activation="gelu", batch_first=True, norm_first=True)
module = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
tokens = torch.randn(1, 32, 256)

# %% Climb it. In a notebook the ladder is shown as it grows.
fast = rung.optimize(module, tokens, budget="5s")
print(fast.climb)

# %% What came out is what PyTorch gives.
with torch.no_grad():
    wanted = module(tokens)
error = (fast(tokens) - wanted).norm() / wanted.norm()
print(f"relative error {error:.1e}")
assert error < 1e-5

# %% How much faster it is than this package's own default plan, by a race of the two.
speedup = fast.climb.against_no_climb
print(f"{speedup.before_ms:.3f} -> {speedup.after_ms:.3f} ms: {speedup.claimed:.2f} x")

# %% Keep it: the plan runs from Python, C++ and C, without PyTorch.
fast.plan.save("encoder.rung")
with rung.load("encoder.rung") as plan:
    name = next(iter(plan.inputs))
    outputs = plan(**{name: tokens})
assert torch.equal(next(iter(outputs.values())), fast(tokens))
