#!/usr/bin/env python3
"""JAX's training steps a second for the models of `lockstep bench train`, compiled by XLA, as JSON on standard output.

    ./jax_bench.py [--models mlp512,lenet5,gpt,llama] [--threads 1,2] [--seconds 2] [--repeats 3]

The models of models.py, written as a JAX program is: one function from parameters, optimiser state and batch to the next ones, jitted
whole, its arguments donated. float32; one batch, already in memory, is used again and again, and the loss is not read back: each run ends
with what the last step has made. Each thread count runs in a process of its own, bound to so many processors. `--check` compares the first
loss of every model with PyTorch's for the same parameters and batch.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def models_of(jax):
    """Name: (parameters from a seed, loss(parameters, x, labels), shape of a batch or None for tokens)."""
    jnp, nn, lax = jax.numpy, jax.nn, jax.lax
    c = {"layers": 4, "width": 128, "heads": 4, "kv_heads": 2, "ffn": 352, "context": 128, "vocabulary": 96}
    d, heads = c["width"], c["heads"]

    def dense(inputs, outputs):
        return (outputs, inputs), 1 / inputs ** 0.5

    def mlp_rows(widths):
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            yield f"fc{i + 1}.weight", *dense(a, b)
            yield f"fc{i + 1}.bias", (b,), 1 / a ** 0.5

    def mlp(p, x, count):
        for i in range(1, count + 1):
            x = x @ p[f"fc{i}.weight"].T + p[f"fc{i}.bias"]
            x = nn.relu(x) if i < count else x
        return x

    def lenet5_rows():
        for name, inputs, outputs in (("conv1", 1, 6), ("conv2", 6, 16)):
            yield f"{name}.weight", (outputs, inputs, 3, 3), 1 / (inputs * 9) ** 0.5
            yield f"{name}.bias", (outputs,), 1 / (inputs * 9) ** 0.5
        yield from mlp_rows([576, 120, 84, 10])

    def lenet5(p, x):
        for name in ("conv1", "conv2"):
            x = lax.conv_general_dilated(x, p[f"{name}.weight"], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
            x = nn.relu(x + p[f"{name}.bias"][:, None, None])
            x = lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4
        return mlp(p, x.reshape(x.shape[0], -1), 3)

    def language_rows(kind):
        gpt = kind == "gpt"
        kv = d if gpt else d // heads * c["kv_heads"]
        yield "tokens.weight", (c["vocabulary"], d), 0.1
        if gpt:
            yield "positions.weight", (c["context"], d), 0.1
        for i in range(c["layers"]):
            at = f"layers.{i}."
            parts = [("attention.q", d, d), ("attention.k", d, kv), ("attention.v", d, kv), ("attention.out", d, d)]
            parts += [("mlp.up", d, 4 * d), ("mlp.down", 4 * d, d)] if gpt else [("mlp.w1", d, c["ffn"]), ("mlp.w3", d, c["ffn"]), ("mlp.w2", c["ffn"], d)]
            for name, inputs, outputs in parts:
                yield f"{at}{name}.weight", *dense(inputs, outputs)
                if gpt:
                    yield f"{at}{name}.bias", (outputs,), 1 / inputs ** 0.5
            for norm in ("norm1", "norm2"):
                yield f"{at}{norm}.weight", (d,), 1.0
                if gpt:
                    yield f"{at}{norm}.bias", (d,), 0.1
        yield "norm.weight", (d,), 1.0
        if gpt:
            yield "norm.bias", (d,), 0.1
        else:
            yield "head.weight", *dense(d, c["vocabulary"])

    def attend(q, k, v):
        if k.shape[1] != q.shape[1]:
            k, v = (jnp.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q * q.shape[-1] ** -0.5, k)
        t = q.shape[2]
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", nn.softmax(scores, axis=-1), v)

    def heads_of(x, count):
        b, t, width = x.shape
        return x.reshape(b, t, count, width // count).transpose(0, 2, 1, 3)

    def joined(x):
        b, h, t, width = x.shape
        return x.transpose(0, 2, 1, 3).reshape(b, t, h * width)

    def linear(p, name, x):
        y = x @ p[f"{name}.weight"].T
        return y + p[f"{name}.bias"] if f"{name}.bias" in p else y

    def layer_norm(p, name, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]

    def rms_norm(p, name, x):
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[f"{name}.weight"]

    def turn(x):  # half-split rotary positions
        width, t = x.shape[-1], x.shape[-2]
        angles = jnp.arange(t)[:, None] * 10000.0 ** (-jnp.arange(0, width, 2) / width)
        cos, sin = jnp.cos(angles), jnp.sin(angles)
        a, b = x[..., : width // 2], x[..., width // 2:]
        return jnp.concatenate((a * cos - b * sin, b * cos + a * sin), -1)

    def gpt(p, x):
        h = p["tokens.weight"][x] + p["positions.weight"]
        for i in range(c["layers"]):
            at = f"layers.{i}."
            n = layer_norm(p, at + "norm1", h)
            q, k, v = (heads_of(linear(p, f"{at}attention.{part}", n), heads) for part in "qkv")
            h = h + linear(p, at + "attention.out", joined(attend(q, k, v)))
            h = h + linear(p, at + "mlp.down", nn.gelu(linear(p, at + "mlp.up", layer_norm(p, at + "norm2", h)), approximate=True))
        return layer_norm(p, "norm", h) @ p["tokens.weight"].T

    def llama(p, x):
        h = p["tokens.weight"][x]
        for i in range(c["layers"]):
            at = f"layers.{i}."
            n = rms_norm(p, at + "norm1", h)
            q, k, v = (heads_of(linear(p, f"{at}attention.{part}", n), heads if part == "q" else c["kv_heads"]) for part in "qkv")
            h = h + linear(p, at + "attention.out", joined(attend(turn(q), turn(k), v)))
            n = rms_norm(p, at + "norm2", h)
            h = h + linear(p, at + "mlp.w2", nn.silu(linear(p, at + "mlp.w1", n)) * linear(p, at + "mlp.w3", n))
        return linear(p, "head", rms_norm(p, "norm", h))

    def loss_of(forward):
        def loss(p, x, labels):
            logits = forward(p, x)
            logits = logits.reshape(-1, logits.shape[-1])
            return -nn.log_softmax(logits)[jnp.arange(labels.shape[0]), labels].mean()
        return loss

    return {"mlp512": (list(mlp_rows([784, 512, 512, 10])), loss_of(lambda p, x: mlp(p, x, 3)), (64, 784)),
            "lenet5": (list(lenet5_rows()), loss_of(lenet5), (64, 1, 32, 32)),
            "gpt": (list(language_rows("gpt")), loss_of(gpt), None),
            "llama": (list(language_rows("llama")), loss_of(llama), None)}


def drawn(name, rows, shape):
    """Parameters and a batch as numpy has them: norms' weights are ones, all else is drawn below its bound."""
    import numpy
    numbers = numpy.random.default_rng(1)
    p = {n: (numpy.ones(s) if len(s) == 1 and bound == 1 else numbers.uniform(-bound, bound, s)).astype("float32") for n, s, bound in rows}
    if shape:
        return p, numbers.random(shape, "float32"), numbers.integers(0, 10, shape[0])
    return p, numbers.integers(0, 96, (8, 128)), numbers.integers(0, 96, 8 * 128)


def step_of(jax, loss, adam):
    jnp = jax.numpy

    def sgd(p, state, x, labels):
        value, g = jax.value_and_grad(loss)(p, x, labels)
        return {n: p[n] - 0.01 * g[n] for n in p}, state, value

    def adamw(p, state, x, labels):
        value, g = jax.value_and_grad(loss)(p, x, labels)
        t = state["t"] + 1
        m = {n: 0.9 * state["m"][n] + 0.1 * g[n] for n in p}
        v = {n: 0.999 * state["v"][n] + 0.001 * g[n] * g[n] for n in p}
        first, second = 1 - 0.9 ** t, 1 - 0.999 ** t
        p = {n: p[n] * (1 - 1e-3 * 0.01) - 1e-3 * (m[n] / first) / (jnp.sqrt(v[n] / second) + 1e-8) for n in p}
        return p, {"t": t, "m": m, "v": v}, value

    return jax.jit(adamw if adam else sgd, donate_argnums=(0, 1))


def measure(name, seconds, repeats):
    import jax
    rows, loss, shape = models_of(jax)[name]
    p, x, labels = jax.device_put(drawn(name, rows, shape))
    adam = name != "mlp512"
    state = {"t": 0.0, "m": jax.tree_util.tree_map(jax.numpy.zeros_like, p), "v": jax.tree_util.tree_map(jax.numpy.zeros_like, p)} if adam else {}
    step = step_of(jax, loss, adam)
    for _ in range(3):
        p, state, value = step(p, state, x, labels)
    jax.block_until_ready(p)
    best = 0.0
    for _ in range(repeats):
        count, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            p, state, value = step(p, state, x, labels)
            count += 1
            if count % 8 == 0:
                value.block_until_ready()  # no more than so many steps wait
        jax.block_until_ready(p)
        best = max(best, count / (time.perf_counter() - started))
    return {"steps_per_second": round(best, 2)}


def check():
    import jax
    import torch
    import models
    for name, (rows, loss, shape) in models_of(jax).items():
        p, x, labels = drawn(name, rows, shape)
        kind, config = next((kind, config) for n, kind, config, _, _ in models.MODELS if n == name)
        logits = models.KINDS[kind][1]({n: torch.tensor(v) for n, v in p.items()}, torch.tensor(x), config)
        expected = torch.nn.functional.cross_entropy(logits.reshape(labels.shape[0], -1), torch.tensor(labels)).item()
        found = float(jax.jit(loss)(p, x, labels))
        print(f"{name}: {found:.6f}, PyTorch {expected:.6f}")
        if not abs(found - expected) < 1e-4 * abs(expected):
            sys.exit(f"{name}: the losses differ")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", default="mlp512,lenet5,gpt,llama")
    options.add_argument("--threads", default="1,2")
    options.add_argument("--seconds", type=float, default=2.0)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--check", action="store_true", help="compare the losses with PyTorch's")
    arguments = options.parse_args()
    try:
        import jax
    except ImportError:
        print("JAX is not installed: pip install jax", file=sys.stderr)
        sys.exit(3)
    if arguments.check:
        return check()
    names = arguments.models.split(",")
    if arguments.inside:
        print(json.dumps({n: measure(n, arguments.seconds, arguments.repeats) for n in names}))
        return
    rows = []
    for threads in [int(t) for t in arguments.threads.split(",")]:
        processors = sorted(os.sched_getaffinity(0))[:threads]
        run = subprocess.run([sys.executable, __file__, "--inside", "--models", arguments.models, "--seconds", str(arguments.seconds),
                              "--repeats", str(arguments.repeats)], capture_output=True, text=True, env=os.environ | {"JAX_PLATFORMS": "cpu"},
                             preexec_fn=lambda: os.sched_setaffinity(0, processors))
        if run.returncode:
            sys.exit(run.stderr)
        rows += [{"model": n, "threads": threads} | r for n, r in json.loads(run.stdout).items()]
    print(json.dumps({"jax": jax.__version__, "settings": {}, "best_of": arguments.repeats, "rows": rows}))


if __name__ == "__main__":
    main()
