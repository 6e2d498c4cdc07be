"""Embedding, attention, rotary positions, SwiGLU and pairwise distances.

Attention takes q [B, heads, T, D] and k, v [B, kv_heads, S, D], scale 1/sqrt(D); query head h reads kv head h * kv_heads / heads. Causal:
query i sees keys j <= i + S - T (so that one query over a cache sees all of it). RoPE pairs element 2i with 2i + 1 ("interleaved") or
i with i + D/2 ("half_split"); pair i turns by position * theta^(-2i/D), positions counted from `start`.
"""
import math

import torch
import torch.nn.functional as F

from cases import given, integers, real


ATTENTION = [  # note, shapes of q and of k and v
    ("[2,3,5,4]", (2, 3, 5, 4), (2, 3, 5, 4)), ("one query, one key", (1, 1, 1, 8), (1, 1, 1, 8)),
    ("[1,2,17,8]", (1, 2, 17, 8), (1, 2, 17, 8)), ("4 heads on 2", (2, 4, 6, 8), (2, 2, 6, 8)), ("6 heads on 1", (1, 6, 5, 4), (1, 1, 5, 4)),
    ("one query over a cache of 9", (2, 2, 1, 8), (2, 2, 9, 8)), ("3 queries over a cache of 9, 4 heads on 2", (1, 4, 3, 8), (1, 2, 9, 8)),
    ("[1,2,67,16]", (1, 2, 67, 16), (1, 2, 67, 16))]
PUBLISHED = {"interleaved": [-1.27223251, -1.83886499, 2.87866810, 4.08818664],  # of 1 2 3 4 at position 3
             "half_split": [-1.41335252, 1.87911807, -2.82885748, 4.05819114]}


def attention(q, k, v, causal=False):
    repeat = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        t, s = scores.shape[-2:]
        hidden = torch.ones(t, s, dtype=torch.bool).triu(s - t + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ v


def rope(x, layout, theta=10000.0, start=0):
    t, d = x.shape[-2:]
    angles = torch.arange(start, start + t, dtype=torch.float64)[:, None] * theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if layout == "interleaved":
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    a, b = x[..., : d // 2], x[..., d // 2:]
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def swiglu(gate, up):
    return F.silu(gate) * up


def embedding(weight, indices, padding_index=None):
    return F.embedding(indices, weight, padding_idx=padding_index)


def distances(a, b, squared):
    differences = a[:, None, :] - b[None, :, :]
    total = torch.sum(differences * differences, -1)
    return total if squared else torch.sqrt(total)


def write(family):
    family.case("embedding", "[7,5] indices [2,4]", embedding, {"weight": real(7, 5), "indices": integers(2, 4, below=7)})
    family.case("embedding", "one row many times", embedding, {"weight": real(3, 4), "indices": given([1, 1, 1, 2, 1], dtype="i64")})
    family.case("embedding", "padding index 0", embedding, {"weight": real(5, 3), "indices": given([0, 3, 0, 1], dtype="i64")}, {"padding_index": 0})
    family.case("embedding", "[65,32] indices [4,33]", embedding, {"weight": real(65, 32), "indices": integers(4, 33, below=65)})

    for note, q, kv in ATTENTION:
        for causal in (False, True):
            family.case("attention", note + (", causal" if causal else ""), attention,
                        {"q": real(*q), "k": real(*kv), "v": real(*kv)}, {"causal": causal})
    wide = {name: real(1, 1, 4, 4, low=-30, high=30) for name in "qk"}
    family.case("attention", "scores of hundreds", attention, wide | {"v": real(1, 1, 4, 4)}, {"causal": True}, types=("f64",))

    for layout in ("interleaved", "half_split"):
        turned = rope(torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64), layout, start=3)
        assert torch.allclose(turned, torch.tensor([PUBLISHED[layout]], dtype=torch.float64), rtol=0, atol=1e-8)
        family.case("rope", f"{layout} [2,3,5,8]", rope, {"x": real(2, 3, 5, 8)}, {"layout": layout, "theta": 10000.0, "start": 0})
        family.case("rope", f"{layout} [1,2,4,6] from position 7", rope, {"x": real(1, 2, 4, 6)}, {"layout": layout, "theta": 10000.0, "start": 7})
        family.case("rope", f"{layout} theta 500000", rope, {"x": real(1, 1, 9, 16)}, {"layout": layout, "theta": 500000.0, "start": 100})
        family.case("rope", f"{layout} worked: 1 2 3 4 at position 3", rope, {"x": given([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 4])},
                    {"layout": layout, "theta": 10000.0, "start": 3})

    for shape in [(3, 5), (2, 4, 17), (33, 65)]:
        family.case("swiglu", f"{list(shape)}", swiglu, {"gate": real(*shape, low=-6, high=6), "up": real(*shape)})

    for squared in (False, True):
        name = "squared_distances" if squared else "distances"
        family.case(name, "[5,3] [4,3]", lambda a, b, s=squared: distances(a, b, s), {"a": real(5, 3), "b": real(4, 3)})
        family.case(name, "[17,2] [8,2]", lambda a, b, s=squared: distances(a, b, s), {"a": real(17, 2), "b": real(8, 2)})
