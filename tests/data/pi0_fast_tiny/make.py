#!/usr/bin/env python3
# Makes this folder's Pi0-FAST policy: a tiny checkpoint of random weights in f32, inputs, and the tokens of actions that
# PyTorch gives.
# SPDX-License-Identifier: Apache-2.0
#
# Its prefix is that of Pi0 (bench/pi0_gpu/policy.py), with a token that begins the actions behind the prompt. All of it
# sees all of it; a token of actions sees it and the tokens before. Each step here computes everything again. Wants torch
# and safetensors; the README above says what it was run with.
import json
import math
import sys
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / 'bench' / 'pi0_gpu'))
import policy  # noqa: E402

TINY = policy.Config(views=2, prompt=6, horizon=5, action_dim=4, steps=3, image=28, patch=14, vision=(2, 48, 80, 4),
                     prefix=(3, 64, 128, 4, 1, 16), expert=(3, 32, 64, 4, 1, 16), vocab=128)
KEPT = 'views', 'prompt', 'image', 'patch', 'vision', 'prefix', 'vocab'
BEGIN, NEW = 2, 16


def logits_behind(model, images, valid, tokens, actions):
    """The scores of the token behind `actions`, f32[vocab]."""
    c, low = model.c, -2.3819763e38
    x = torch.cat([model.vision(images[i:i + 1], 'eager') for i in range(c.views)], 1)
    ids = torch.cat([tokens, torch.tensor([[BEGIN, *actions]])], 1)
    x = torch.cat([x, model.embed(ids) * math.sqrt(c.prefix[1])], 1)
    valid = torch.cat([valid, torch.ones(1, 1 + len(actions), dtype=torch.bool)], 1)
    size, new = valid.shape[1], len(actions)
    places = torch.arange(size)
    among = (places[None, :] < size - new) | (places[None, :] <= places[:, None])
    seen = among[None] & valid[:, None, :] & valid[:, :, None]
    mask = torch.where(seen[:, None], 0.0, low)
    angles = model.rope(torch.cumsum(valid, 1) - 1, x.dtype)
    for layer in model.prefix:
        x, _ = layer(x, angles, mask, None, 'eager')
    return F.linear(model.prefix_norm(x)[0, -1], model.embed.weight)


@torch.no_grad()
def main():
    model = policy.Pi0(TINY).init(7).float()
    named = {name: value for name, value in policy.openpi_names(model).items()
             if 'gemma_expert' not in name and name.startswith('paligemma')}
    save_file({'model.' + name: value.detach().contiguous() for name, value in named.items()}, HERE / 'model.safetensors')
    config = {name: getattr(TINY, name) for name in KEPT}
    (HERE / 'config.json').write_text(json.dumps({'type': 'pi0_fast', **config}, indent=1) + '\n')
    given = policy.inputs(TINY, 'cpu', prompt_valid=4)
    images, valid, tokens, _, _ = policy.args_of(TINY, given)
    actions, logits = [], []
    for _ in range(NEW):
        logits.append(logits_behind(model, images, valid, tokens, actions))
        actions.append(int(logits[-1].argmax()))
    for name in ('state', 'noise'):
        given.pop(name)
    numpy.savez(HERE / 'inputs.npz', **{name: value.numpy() for name, value in given.items()},
                decoder_input_ids=numpy.array([[BEGIN]]))
    numpy.savez(HERE / 'outputs.npz', tokens=numpy.array([actions]), logits=torch.stack(logits)[None].numpy())
    print(actions)


if __name__ == '__main__':
    main()
