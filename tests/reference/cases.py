"""How reference cases are drawn, computed and written: the format that README.md describes.

A Family collects the cases of one file pair, NAME.json (what was computed) and NAME.npy (one flat float64 array of results).
Inputs are drawn by SplitMix64 (core/base/rng.h), rounded to float32, and described by seed and range, so that the reader draws
the same bits and the files hold results only. Results are float64 arithmetic on those values; PyTorch's own float32 run says how
much slack float32 needs. Cases of edge values are per type: what they show differs between types.
"""
import json
import math
import zlib

import numpy as np
import torch

RTOL, ATOL = 1.3e-6, 1e-5  # float32 against the true value
TORCH = {"f64": torch.float64, "f32": torch.float32, "i64": torch.int64, "u8": torch.bool}


def uniform(seed, count):
    """`count` numbers in [0, 1): Rng(seed).uniform() of core/base/rng.h."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def draw(seed, shape, low, high):
    """float64 array whose values are floats: low + (high - low) u, rounded to float32."""
    values = low + (high - low) * uniform(seed, math.prod(shape))
    return values.astype(np.float32).astype(np.float64).reshape(shape)


def draw_integers(seed, shape, below):
    """int64 array: Rng(seed).below(below)."""
    return (uniform(seed, math.prod(shape)) * below).astype(np.int64).reshape(shape)


class Input:
    """A drawn or written-out tensor; `grad`: its gradient is part of the case."""

    def __init__(self, shape, low=-2.0, high=2.0, below=None, values=None, dtype=None, grad=True):
        self.shape = [shape] if isinstance(shape, int) else list(shape)
        self.low, self.high, self.below, self.values = float(low), float(high), below, values
        self.dtype = dtype or ("i64" if below else None)  # None: the case's floating type
        self.grad = grad and self.dtype is None

    def array(self, seed):
        if self.values is not None:
            return np.array(self.values, dtype=np.float64 if self.dtype is None else np.int64).reshape(self.shape)
        if self.below:
            return draw_integers(seed, self.shape, self.below)
        return draw(seed, self.shape, self.low, self.high)

    def row(self, name, seed):
        row = {"name": name, "shape": self.shape}
        if self.dtype:
            row["type"] = self.dtype
        if self.values is not None:
            return row | {"values": plain(self.array(seed).reshape(-1).tolist())}
        return row | ({"seed": seed, "below": self.below} if self.below else
                      {"seed": seed, "low": self.low, "high": self.high})


def real(*shape, low=-2.0, high=2.0, grad=True):
    return Input(shape, low, high, grad=grad)


def positive(*shape, low=0.1, high=3.0, grad=True):
    return Input(shape, low, high, grad=grad)


def integers(*shape, below):
    return Input(shape, below=below)


def given(values, shape=None, dtype=None, grad=True):
    array = np.array(values)
    return Input(list(array.shape) if shape is None else shape, values=array.reshape(-1).tolist(), dtype=dtype, grad=grad)


def plain(values):
    """Infinities and NaN as the strings that the project's JSON uses."""
    return [v if isinstance(v, int) or math.isfinite(v) else ("nan" if math.isnan(v) else "inf" if v > 0 else "-inf")
            for v in values]


class Family:
    def __init__(self, name):
        self.name, self.rows, self.values, self.size = name, [], [], 0

    def put(self, array):
        """Appends results; returns where they start."""
        flat = np.asarray(array, dtype=np.float64).reshape(-1)
        self.values.append(flat)
        self.size += flat.size
        return self.size - flat.size

    def case(self, op, note, function, inputs, options=None, outputs=("output",), types=("f64", "f32")):
        """Computes function(*inputs, **options) and the gradients of every input that has one, for random upstreams."""
        options = options or {}
        seed = zlib.crc32(f"{op}: {note}".encode())
        seeds = [seed + i + 1 for i in range(len(inputs))]
        arrays = [i.array(s) for i, s in zip(inputs.values(), seeds)]

        def run(dtype):
            tensors = [torch.tensor(a, dtype=TORCH[i.dtype or dtype]).requires_grad_(i.grad)
                       for a, i in zip(arrays, inputs.values())]
            results = function(*tensors, **options)
            results = list(results) if isinstance(results, tuple) else [results]
            upstream = [torch.tensor(draw(seed + 100 + i, r.shape, -1, 1), dtype=TORCH[dtype]) if r.requires_grad else None
                        for i, r in enumerate(results)]
            leaves = [t for t in tensors if t.requires_grad]
            roots = [(r, u) for r, u in zip(results, upstream) if u is not None]
            gradients = torch.autograd.grad([r for r, _ in roots], leaves, [u for _, u in roots], allow_unused=True) if roots else []
            gradients = [torch.zeros_like(t) if g is None else g for g, t in zip(gradients, leaves)]
            return results, gradients

        names = [name for name, i in inputs.items() if i.grad]
        for chosen in ([types] if "f64" in types else [(t,) for t in types]):
            results, gradients = run(chosen[0])
            assert len(results) == len(outputs), (op, note, len(results))
            row = {"op": op, "case": note, "types": list(chosen)}
            if options:
                row["options"] = options
            row["inputs"] = [i.row(name, s) for (name, i), s in zip(inputs.items(), seeds)]
            row["outputs"] = []
            for i, (name, result) in enumerate(zip(outputs, results)):
                entry = {"name": name, "shape": list(result.shape), "at": self.put(result.detach().numpy())}
                if not result.is_floating_point():
                    entry["type"] = "i64"
                if result.requires_grad:
                    entry["upstream"] = seed + 100 + i
                row["outputs"].append(entry)
            row["gradients"] = [{"of": n, "at": self.put(g.detach().numpy())} for n, g in zip(names, gradients)]
            if "f32" in chosen and "f64" in chosen:
                again, again_gradients = run("f32")
                slack = max(excess(a, b) for a, b in zip(again + again_gradients, results + list(gradients)))
                if slack > 1:
                    row["slack"] = slack
            self.rows.append(row)

    def edges(self, op, note, function, inputs, options=None, outputs=("output",), types=("f64", "f32")):
        """A case of its own for each type."""
        for chosen in types:
            self.case(op, note + ", " + chosen, function, inputs, options, outputs, (chosen,))

    def write(self, folder, made_by):
        text = json.dumps({"made_by": made_by, "values": self.size}) [:-1] + ', "cases": [\n'
        text += ",\n".join(json.dumps(row, allow_nan=False) for row in self.rows) + "\n]}\n"
        (folder / f"{self.name}.json").write_text(text)
        np.save(folder / f"{self.name}.npy", np.concatenate(self.values) if self.values else np.zeros(0))

    def compare(self, folder):
        """Largest difference from what is stored, relative to max(1, |value|); None where the cases themselves differ."""
        stored = json.loads((folder / f"{self.name}.json").read_text())
        if [without_slack(r) for r in stored["cases"]] != [without_slack(r) for r in json.loads(json.dumps(self.rows))]:
            return None
        then, now = np.load(folder / f"{self.name}.npy"), np.concatenate(self.values)
        same = (then == now) | (np.isnan(then) & np.isnan(now))
        with np.errstate(invalid="ignore"):
            return float(np.max(np.where(same, 0, np.abs(then - now) / np.maximum(1, np.abs(then))), initial=0))


def without_slack(row):
    return {k: v for k, v in row.items() if k != "slack"}


def excess(got, true):
    """By which power of two PyTorch's float32 needs more than RTOL and ATOL, with a factor 2 in hand; 1 where it does not."""
    got, true = got.detach().double().numpy(), true.detach().double().numpy()
    with np.errstate(invalid="ignore"):
        ratio = np.where(got == true, 0, np.abs(got - true) / (ATOL + RTOL * np.abs(true)))
    worst = float(np.max(ratio, initial=0))
    assert worst < 16, "float32 has another value: use edges(), or types=('f64',)"
    return 1 if worst <= 0.5 else 2 ** math.ceil(math.log2(2 * worst))
