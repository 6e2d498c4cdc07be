"""models.json: twenty training steps of seven models from parameters and batches that both sides draw (cases.draw), in float64 and float32.

A row of `parameters` says name, shape, seed, low, high. Four batches take turns: step t uses b = t mod 4, drawn with seeds data.seed + 2b
(x) and + 2b + 1 (labels); of the language models with seed data.seed + b: tokens [batch, T + 1] below the vocabulary, x the first T, labels
the last T. Losses are those before each update. gradient_norms: one a parameter, of the first step. `float32` is how far PyTorch's own
float32 losses were off, relative.

  mlp         linear 784-128-10 (mlp512: 784-512-512-10), relu between                      SGD, with and without momentum
  lenet5      6c3x3 relu avgpool 16c3x3 relu avgpool 576-120-84-10, relu between             SGD, momentum
  gpt         GPT-2's: token + learned position embedding; norm1, attention, norm2, MLP of width 4d with tanh GELU; final norm; the head
              is the token embedding (tied); biases everywhere but in the head               AdamW
  llama       token embedding; RMSNorm, attention with half-split RoPE and fewer key-value heads, RMSNorm, SwiGLU w2(silu(w1 x) * w3 x);
              final RMSNorm; a head of its own (untied); no biases                           AdamW
"""
import json
import math

import torch
import torch.nn.functional as F

from attention import attention, rope
from cases import draw, draw_integers
from documents import difference, text_of

STEPS, BATCHES = 20, 4


def linear_layer(name, inputs, outputs, bias=True):
    bound = 1 / math.sqrt(inputs)
    yield f"{name}.weight", [outputs, inputs], -bound, bound
    if bias:
        yield f"{name}.bias", [outputs], -bound, bound


def norm_layer(name, width, bias):
    yield f"{name}.weight", [width], 0.8, 1.2
    if bias:
        yield f"{name}.bias", [width], -0.1, 0.1


def mlp_parameters(c):
    for i, (a, b) in enumerate(zip(c["widths"], c["widths"][1:])):
        yield from linear_layer(f"fc{i + 1}", a, b)


def mlp(p, x, c):
    for i in range(1, len(c["widths"])):
        x = F.linear(x, p[f"fc{i}.weight"], p[f"fc{i}.bias"])
        x = F.relu(x) if i + 1 < len(c["widths"]) else x
    return x


def lenet5_parameters(c):
    for name, inputs, outputs in (("conv1", 1, 6), ("conv2", 6, 16)):
        bound = 1 / math.sqrt(inputs * 9)
        yield f"{name}.weight", [outputs, inputs, 3, 3], -bound, bound
        yield f"{name}.bias", [outputs], -bound, bound
    for i, (a, b) in enumerate([(576, 120), (120, 84), (84, 10)]):
        yield from linear_layer(f"fc{i + 1}", a, b)


def lenet5(p, x, c):
    for name in ("conv1", "conv2"):
        x = F.avg_pool2d(F.relu(F.conv2d(x, p[f"{name}.weight"], p[f"{name}.bias"])), 2)
    return mlp(p, x.flatten(1), {"widths": [576, 120, 84, 10]})


def gpt_parameters(c):
    d = c["width"]
    yield "tokens.weight", [c["vocabulary"], d], -0.1, 0.1
    yield "positions.weight", [c["context"], d], -0.1, 0.1
    for i in range(c["layers"]):
        yield from norm_layer(f"layers.{i}.norm1", d, True)
        for part in "qkv":
            yield from linear_layer(f"layers.{i}.attention.{part}", d, d)
        yield from linear_layer(f"layers.{i}.attention.out", d, d)
        yield from norm_layer(f"layers.{i}.norm2", d, True)
        yield from linear_layer(f"layers.{i}.mlp.up", d, 4 * d)
        yield from linear_layer(f"layers.{i}.mlp.down", 4 * d, d)
    yield from norm_layer("norm", d, True)


def heads_of(x, heads):
    b, t, d = x.shape
    return x.reshape(b, t, heads, d // heads).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).flatten(2)


def gpt(p, x, c, attend=attention):
    h = F.embedding(x, p["tokens.weight"]) + p["positions.weight"][: x.shape[1]]
    for i in range(c["layers"]):
        def layer(name, value, at=f"layers.{i}."):
            return F.linear(value, p[f"{at}{name}.weight"], p[f"{at}{name}.bias"])

        def norm(name, value, at=f"layers.{i}."):
            return F.layer_norm(value, value.shape[-1:], p[f"{at}{name}.weight"], p[f"{at}{name}.bias"], 1e-5)

        n = norm("norm1", h)
        q, k, v = (heads_of(layer(f"attention.{part}", n), c["heads"]) for part in "qkv")
        h = h + layer("attention.out", joined(attend(q, k, v, causal=True)))
        h = h + layer("mlp.down", F.gelu(layer("mlp.up", norm("norm2", h)), approximate="tanh"))
    h = F.layer_norm(h, h.shape[-1:], p["norm.weight"], p["norm.bias"], 1e-5)
    return F.linear(h, p["tokens.weight"])


def llama_parameters(c):
    d, kv = c["width"], c["width"] // c["heads"] * c["kv_heads"]
    yield "tokens.weight", [c["vocabulary"], d], -0.1, 0.1
    for i in range(c["layers"]):
        yield from norm_layer(f"layers.{i}.norm1", d, False)
        for part, width in (("q", d), ("k", kv), ("v", kv)):
            yield from linear_layer(f"layers.{i}.attention.{part}", d, width, False)
        yield from linear_layer(f"layers.{i}.attention.out", d, d, False)
        yield from norm_layer(f"layers.{i}.norm2", d, False)
        yield from linear_layer(f"layers.{i}.mlp.w1", d, c["ffn"], False)
        yield from linear_layer(f"layers.{i}.mlp.w3", d, c["ffn"], False)
        yield from linear_layer(f"layers.{i}.mlp.w2", c["ffn"], d, False)
    yield from norm_layer("norm", d, False)
    yield from linear_layer("head", d, c["vocabulary"], False)


def rms(x, weight):
    return x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + 1e-5) * weight


def llama(p, x, c, attend=attention, turn=rope):
    h = F.embedding(x, p["tokens.weight"])
    for i in range(c["layers"]):
        def layer(name, value, at=f"layers.{i}."):
            return F.linear(value, p[f"{at}{name}.weight"])

        n = rms(h, p[f"layers.{i}.norm1.weight"])
        q, k, v = (heads_of(layer(f"attention.{part}", n), c["heads" if part == "q" else "kv_heads"]) for part in "qkv")
        h = h + layer("attention.out", joined(attend(turn(q, "half_split"), turn(k, "half_split"), v, causal=True)))
        n = rms(h, p[f"layers.{i}.norm2.weight"])
        h = h + layer("mlp.w2", F.silu(layer("mlp.w1", n)) * layer("mlp.w3", n))
    return F.linear(rms(h, p["norm.weight"]), p["head.weight"])


SGD = {"rule": "sgd", "lr": 0.1}
ADAMW = {"rule": "adamw", "lr": 0.003, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01}
SMALL = {"layers": 2, "width": 32, "heads": 4, "context": 16, "vocabulary": 20}
FULL = {"layers": 4, "width": 128, "heads": 4, "context": 128, "vocabulary": 96}
MODELS = [  # name, kind, configuration, batch, optimiser
    ("mlp", "mlp", {"widths": [784, 128, 10]}, 32, {"rule": "sgd", "lr": 0.05, "momentum": 0.9}),
    ("mlp512", "mlp", {"widths": [784, 512, 512, 10]}, 64, SGD),
    ("lenet5", "lenet5", {"image": [1, 32, 32], "classes": 10}, 16, {"rule": "sgd", "lr": 0.05, "momentum": 0.9}),
    ("gpt_small", "gpt", SMALL, 2, ADAMW), ("llama_small", "llama", SMALL | {"kv_heads": 2, "ffn": 88}, 2, ADAMW),
    ("gpt", "gpt", FULL, 8, ADAMW | {"lr": 0.001}), ("llama", "llama", FULL | {"kv_heads": 2, "ffn": 352}, 8, ADAMW | {"lr": 0.001}),
]
KINDS = {"mlp": (mlp_parameters, mlp), "lenet5": (lenet5_parameters, lenet5), "gpt": (gpt_parameters, gpt), "llama": (llama_parameters, llama)}


def parameter_rows(kind, config, seed):
    return [{"name": n, "shape": s, "seed": seed + i, "low": low, "high": high} for i, (n, s, low, high) in enumerate(KINDS[kind][0](config))]


def drawn(rows, dtype):
    return {r["name"]: torch.tensor(draw(r["seed"], r["shape"], r["low"], r["high"]), dtype=dtype).requires_grad_() for r in rows}


def batch_of(kind, config, batch, seed, step, dtype):
    if kind in ("gpt", "llama"):
        tokens = torch.tensor(draw_integers(seed + step, [batch, config["context"] + 1], config["vocabulary"]))
        return tokens[:, :-1], tokens[:, 1:].reshape(-1)
    shape = config.get("image", [config["widths"][0]] if "widths" in config else None)
    x = torch.tensor(draw(seed + 2 * step, [batch, *shape], 0, 1), dtype=dtype)
    return x, torch.tensor(draw_integers(seed + 2 * step + 1, [batch], 10))


def optimiser_for(options, parameters):
    options = dict(options)
    rule = options.pop("rule")
    if rule == "sgd":
        return torch.optim.SGD(parameters, **options)
    return torch.optim.AdamW(parameters, betas=(options.pop("beta1"), options.pop("beta2")), **options)


def train(kind, config, batch, options, rows, seed, dtype, steps=STEPS):
    parameters = drawn(rows, dtype)
    optimiser = optimiser_for(options, list(parameters.values()))
    losses, norms = [], []
    for step in range(steps):
        x, labels = batch_of(kind, config, batch, seed, step % BATCHES, dtype)
        logits = KINDS[kind][1](parameters, x, config)
        loss = F.cross_entropy(logits.reshape(labels.shape[0], -1), labels)
        optimiser.zero_grad()
        loss.backward()
        losses.append(loss.item())
        norms = norms or [p.grad.norm().item() for p in parameters.values()]
        optimiser.step()
    return losses, norms, [p.detach().norm().item() for p in parameters.values()]


def document(made_by):
    models = []
    for index, (name, kind, config, batch, options) in enumerate(MODELS):
        rows, seed = parameter_rows(kind, config, 100_000 * (index + 1)), 100_000 * (index + 1) + 50_000
        losses, gradient_norms, parameter_norms = train(kind, config, batch, options, rows, seed, torch.float64)
        again = train(kind, config, batch, options, rows, seed, torch.float32)[0]
        assert all(math.isfinite(x) for x in losses) and len(set(losses)) == STEPS
        models.append({"name": name, "kind": kind, "config": config, "batch": batch, "optimiser": options, "data": {"seed": seed, "batches": BATCHES},
                       "losses": losses, "gradient_norms": gradient_norms, "parameter_norms_after": parameter_norms,
                       "float32": max(abs(a - b) / b for a, b in zip(again, losses)), "parameters": rows})
    return {"made_by": made_by, "steps": STEPS, "models": models}


def write(folder, made_by):
    result = document(made_by)
    (folder / "models.json").write_text(text_of(result))
    return "; ".join(f"{m['name']} {m['losses'][0]:.4f} to {m['losses'][-1]:.4f}, float32 {m['float32']:.1e}" for m in result["models"])


def compare(folder):
    now, then = document(""), json.loads((folder / "models.json").read_text())
    for m in now["models"] + then["models"]:
        m["float32"] = 0  # differs from machine to machine
    return difference(now, then)
