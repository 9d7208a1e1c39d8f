# Pi0 policy inference in plain PyTorch: ground truth for outputs, and the "before" for latency.
# SPDX-License-Identifier: Apache-2.0
#
# SigLIP So400m/14 (224 px) per camera -> Gemma prefix (images and prompt, bidirectional) -> Gemma action expert, Euler
# flow steps from noise to an action chunk. Modules are split the way a model's author writes them (separate q/k/v and
# gate/up, f32 norms, eager attention with repeated K/V), so that eager mode is an honest unoptimised baseline.
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional as F

BF = torch.bfloat16


@dataclasses.dataclass
class Config:
    views: int = 3
    prompt: int = 48           # padded prompt tokens
    horizon: int = 50
    action_dim: int = 32
    steps: int = 10
    image: int = 224
    patch: int = 14
    vision: tuple = (27, 1152, 4304, 16)          # depth, width, mlp, heads
    prefix: tuple = (18, 2048, 16384, 8, 1, 256)  # depth, width, mlp, heads, kv heads, head dim
    expert: tuple = (18, 1024, 4096, 8, 1, 256)
    vocab: int = 257152

    @property
    def patches(self):
        return (self.image // self.patch) ** 2


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d, dtype=torch.float32))

    def forward(self, x):
        v = torch.mean(torch.square(x.float()), dim=-1, keepdim=True)
        return (x * torch.rsqrt(v + 1e-6) * (1.0 + self.weight.float())).to(x.dtype)


def rotate_half(x):
    h = x.shape[-1] // 2
    return torch.cat((-x[..., h:], x[..., :h]), dim=-1)


def attend(q, k, v, mask, impl):
    scale = q.shape[-1] ** -0.5
    if impl == "sdpa":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, enable_gqa=q.shape[1] != k.shape[1])
    rep = q.shape[1] // k.shape[1]
    if rep > 1:
        b, h, s, d = k.shape
        k = k[:, :, None].expand(b, h, rep, s, d).reshape(b, h * rep, s, d)
        v = v[:, :, None].expand(b, h, rep, s, d).reshape(b, h * rep, s, d)
    w = torch.matmul(q, k.transpose(2, 3)) * scale
    if mask is not None:
        w = w + mask
    return torch.matmul(F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype), v)


class GemmaLayer(nn.Module):
    def __init__(self, width, mlp, heads, kv, hd):
        super().__init__()
        L = lambda i, o: nn.Linear(i, o, bias=False, dtype=BF)
        self.nh, self.nkv, self.hd = heads, kv, hd
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(width), RMSNorm(width)
        self.q_proj, self.k_proj, self.v_proj = L(width, heads * hd), L(width, kv * hd), L(width, kv * hd)
        self.o_proj = L(heads * hd, width)
        self.gate_proj, self.up_proj, self.down_proj = L(width, mlp), L(width, mlp), L(mlp, width)

    def forward(self, x, angles, mask, past, impl):
        (b, s, _), (cos, sin) = x.shape, angles
        h = self.input_layernorm(x)
        q = self.q_proj(h).view(b, s, self.nh, self.hd).transpose(1, 2)
        k = self.k_proj(h).view(b, s, self.nkv, self.hd).transpose(1, 2)
        v = self.v_proj(h).view(b, s, self.nkv, self.hd).transpose(1, 2)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        o = attend(q, k, v, mask, impl).transpose(1, 2).reshape(b, s, -1).contiguous()
        x = x + self.o_proj(o)
        h = self.post_attention_layernorm(x)
        return x + self.down_proj(F.gelu(self.gate_proj(h), approximate="tanh") * self.up_proj(h)), (k, v)


class SiglipLayer(nn.Module):
    def __init__(self, d, ff, nh):
        super().__init__()
        L = lambda i, o: nn.Linear(i, o, dtype=BF)
        self.nh = nh
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(d, eps=1e-6, dtype=BF), nn.LayerNorm(d, eps=1e-6, dtype=BF)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = L(d, d), L(d, d), L(d, d), L(d, d)
        self.fc1, self.fc2 = L(d, ff), L(ff, d)

    def forward(self, x, impl):
        b, s, d = x.shape
        hd = d // self.nh
        h = self.layer_norm1(x)
        q, k, v = (p(h).view(b, s, self.nh, hd).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        x = x + self.out_proj(attend(q, k, v, None, impl).transpose(1, 2).reshape(b, s, d))
        return x + self.fc2(F.gelu(self.fc1(self.layer_norm2(x)), approximate="tanh"))


class Siglip(nn.Module):
    def __init__(self, c):
        super().__init__()
        depth, d, ff, nh = c.vision
        self.patch = nn.Conv2d(3, d, c.patch, c.patch, dtype=torch.float32)
        self.pos = nn.Parameter(torch.zeros(c.patches, d, dtype=torch.float32))
        self.layers = nn.ModuleList(SiglipLayer(d, ff, nh) for _ in range(depth))
        self.post = nn.LayerNorm(d, eps=1e-6, dtype=BF)
        self.proj = nn.Linear(d, c.prefix[1], dtype=BF)

    def forward(self, img, impl):
        x = (self.patch(img).flatten(2).transpose(1, 2) + self.pos).to(self.proj.weight.dtype)
        for l in self.layers:
            x = l(x, impl)
        return self.proj(self.post(x))


class Pi0(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c, self.impl, self.batch_images = c, "eager", False
        W, E, A = c.prefix[1], c.expert[1], c.action_dim
        self.vision = Siglip(c)
        self.embed = nn.Embedding(c.vocab, W, dtype=BF)
        self.prefix = nn.ModuleList(GemmaLayer(*c.prefix[1:]) for _ in range(c.prefix[0]))
        self.prefix_norm = RMSNorm(W)      # in the checkpoint, unused at inference
        self.expert = nn.ModuleList(GemmaLayer(*c.expert[1:]) for _ in range(c.expert[0]))
        self.expert_norm = RMSNorm(E)
        L = lambda i, o: nn.Linear(i, o, dtype=torch.float32)
        self.state_proj, self.action_in_proj, self.action_out_proj = L(A, E), L(A, E), L(E, A)
        self.action_time_mlp_in, self.action_time_mlp_out = L(2 * E, E), L(E, E)

    @torch.no_grad()
    def init(self, seed=0):
        dev = self.embed.weight.device
        g = torch.Generator(device=dev).manual_seed(seed)
        for n, p in self.named_parameters():
            r = torch.randn(p.shape, generator=g, device=dev)
            if p.ndim >= 2:
                fan = p.shape[1] if p.ndim == 2 else p[0].numel()
                p.copy_((r * (0.02 if ("embed" in n or "pos" in n) else 1 / math.sqrt(fan))).to(p.dtype))
            elif ("layer_norm" in n or "post" in n) and n.endswith("weight") and "attention" not in n:
                p.copy_((1 + 0.1 * r).to(p.dtype))       # LayerNorm scale
            else:
                p.copy_((0.1 * r).to(p.dtype))           # biases, RMSNorm (applied as 1 + w)
        return self

    def rope(self, pos, dtype):
        hd = self.c.prefix[5]
        inv = 1.0 / (10000 ** (torch.arange(0, hd, 2, device=pos.device, dtype=torch.float32) / hd))
        f = pos.float()[:, :, None] * inv
        e = torch.cat((f, f), -1)[:, None]
        return e.cos().to(dtype), e.sin().to(dtype)

    def forward(self, images, pad, tokens, state, noise):
        """images (V,3,S,S) f32; pad (1, V*patches+P) bool: valid prefix tokens; tokens (1,P); state (1,A);
        noise (1,H,A). Returns actions (1,H,A)."""
        c, dt_ = self.c, self.prefix[0].q_proj.weight.dtype
        if self.batch_images:
            img = self.vision(images, self.impl).reshape(1, -1, c.prefix[1])
        else:
            img = torch.cat([self.vision(images[i:i + 1], self.impl) for i in range(c.views)], 1)
        x = torch.cat([img, self.embed(tokens) * math.sqrt(c.prefix[1])], 1).to(dt_)
        neg = -2.3819763e38
        mdt = dt_ if self.impl == "sdpa" else torch.float32
        mask = torch.where((pad[:, None, :] & pad[:, :, None])[:, None], 0.0, neg).to(mdt)
        cos, sin = self.rope(torch.cumsum(pad, 1) - 1, dt_)
        cache = []
        for l in self.prefix:
            x, kv = l(x, (cos, sin), mask, None, self.impl)
            cache.append(kv)
        S = c.horizon + 1
        sfx = torch.ones(S, S, dtype=torch.bool, device=x.device)
        sfx[0, 1:] = False
        mask = torch.where(torch.cat([pad[:, None, :].expand(1, S, -1), sfx[None]], 2)[:, None], 0.0, neg).to(mdt)
        cos, sin = self.rope(pad.sum(1)[:, None] + torch.arange(S, device=x.device)[None], dt_)
        E = c.expert[1]
        frac = torch.linspace(0.0, 1.0, E // 2, dtype=torch.float64, device=x.device)
        scale = 1.0 / (4e-3 * (4.0 / 4e-3) ** frac) * 2 * math.pi
        xt, dt, self.trajectory = noise, -1.0 / c.steps, []
        for step in range(c.steps):
            t = 1.0 + dt * step
            te = torch.cat([torch.sin(scale * t), torch.cos(scale * t)]).to(noise.dtype)
            te = te[None, None].expand(1, c.horizon, -1)
            a = torch.cat([self.action_in_proj(xt), te], 2)
            a = self.action_time_mlp_out(F.silu(self.action_time_mlp_in(a)))
            h = torch.cat([self.state_proj(state)[:, None], a], 1).to(dt_)
            for l, kv in zip(self.expert, cache):
                h, _ = l(h, (cos, sin), mask, kv, self.impl)
            xt = xt + dt * self.action_out_proj(self.expert_norm(h)[:, -c.horizon:].to(noise.dtype))
            self.trajectory.append(xt)
        return xt


def inputs(c, dev, seed=1, drop_view=False, prompt_valid=None):
    g = torch.Generator(device=dev).manual_seed(seed)
    r = lambda *s: torch.randn(*s, generator=g, device=dev)
    images = r(c.views, 3, c.image, c.image).clamp(-1, 1)
    image_mask = torch.ones(c.views, dtype=torch.bool, device=dev)
    if drop_view:
        image_mask[-1] = False
        images[-1] = -1.0
    token_mask = torch.arange(c.prompt, device=dev) < (prompt_valid or c.prompt)
    tokens = torch.randint(0, c.vocab, (c.prompt,), generator=g, device=dev)
    return dict(images=images, image_mask=image_mask, tokens=tokens, token_mask=token_mask,
                state=r(c.action_dim), noise=r(c.horizon, c.action_dim))


def args_of(c, i):
    pad = torch.cat([i["image_mask"].repeat_interleave(c.patches), i["token_mask"]])[None]
    return i["images"], pad, i["tokens"][None], i["state"][None], i["noise"][None]


def openpi_names(m):
    """Parameter name here -> tensor name in an openpi PyTorch checkpoint."""
    P = "paligemma_with_expert."
    V, LM = P + "paligemma.model.vision_tower.vision_model.", P + "paligemma.model.language_model."
    X = P + "gemma_expert.model."
    out = {}
    for n, p in m.named_parameters():
        q = n.split(".")
        if n.startswith("vision.patch"):
            k = V + "embeddings.patch_embedding." + q[-1]
        elif n == "vision.pos":
            k = V + "embeddings.position_embedding.weight"
        elif n.startswith("vision.layers"):
            sub = q[3]
            mid = "self_attn." if sub.endswith("_proj") else "mlp." if sub.startswith("fc") else ""
            k = f"{V}encoder.layers.{q[2]}.{mid}{sub}.{q[-1]}"
        elif n.startswith("vision.post"):
            k = V + "post_layernorm." + q[-1]
        elif n.startswith("vision.proj"):
            k = P + "paligemma.model.multi_modal_projector.linear." + q[-1]
        elif n == "embed.weight":
            k = P + "paligemma.lm_head.weight"           # tied with embed_tokens
        elif q[0] in ("prefix", "expert"):
            sub = q[2]
            mid = "self_attn." if sub[:2] in ("q_", "k_", "v_", "o_") else "mlp." if sub.endswith("_proj") else ""
            k = f"{LM if q[0] == 'prefix' else X}layers.{q[1]}.{mid}{sub}.weight"
        elif n == "prefix_norm.weight":
            k = LM + "norm.weight"
        elif n == "expert_norm.weight":
            k = X + "norm.weight"
        else:
            k = n
        out[k] = p
    return out
