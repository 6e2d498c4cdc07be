#!/usr/bin/env python3
"""PyTorch's training steps a second for the models of `lockstep bench train`, tuned, as JSON on standard output.

    ./torch_bench.py [--models mlp512,lenet5,gpt,llama] [--threads 1,2] [--modes eager,compiled] [--seconds 2] [--repeats 3]

Tuned: Debian's OpenBLAS does not know current CPUs and falls back to SSE3, so that OPENBLAS_CORETYPE=SKYLAKEX is set where AVX-512 is there
(HASWELL with AVX2 alone); it should be the OpenMP build (package libopenblas0-openmp). Each thread count runs in a process of its own, as
OpenMP reads its settings once. A row is the best of `repeats` runs of `seconds` each, by the wall clock; cpu_steps_per_second counts the
process's own time (one thread: what a quiet machine would give). One batch, already in memory, is used again and again, and the loss is not
read back. float32, PyTorch's layers and optimisers; masks and rotary angles are made once; fused attention where PyTorch has it. `compiled`
is torch.compile of the model and its loss, which needs PyTorch 2 and a C++ compiler: what fails to compile has no row.
"""
import argparse
import json
import os
import subprocess
import sys
import time

STEP_GFLOP = {"mlp512": 0.205, "lenet5": 0.099, "gpt": 5.7, "llama": 5.7}  # forward and backward, two a multiply-add


def core_type():
    with open("/proc/cpuinfo") as file:
        flags = file.read().split("flags", 1)[-1].split("\n", 1)[0].split()
    return "SKYLAKEX" if "avx512f" in flags else "HASWELL" if "avx2" in flags else None


def environment(threads):
    chosen = {"OMP_NUM_THREADS": str(threads)}
    if "OPENBLAS_CORETYPE" not in os.environ and core_type():
        chosen["OPENBLAS_CORETYPE"] = core_type()
    return chosen


def modules(torch):
    """The four models, of torch.nn's layers."""
    from torch import nn
    import models

    class Language(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.kind, self.config = kind, next(m[2] for m in models.MODELS if m[0] == kind)
            rows = models.parameter_rows(kind, self.config, 1)
            self.table = {r["name"]: nn.Parameter(p.detach()) for r, p in zip(rows, models.drawn(rows, torch.float32).values())}
            self.held = nn.ParameterList(self.table.values())
            t, d = self.config["context"], self.config["width"] // self.config["heads"]
            self.mask = torch.full((t, t), float("-inf")).triu(1)
            angles = torch.arange(t)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
            self.cos, self.sin = torch.cat((angles.cos(), angles.cos()), -1), torch.cat((-angles.sin(), angles.sin()), -1)

        def attend(self, q, k, v, causal):
            if k.shape[1] != q.shape[1]:
                k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
            if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return torch.softmax((q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1) + self.mask, -1) @ v

        def turn(self, x, layout):
            return x * self.cos + x.roll(x.shape[-1] // 2, -1) * self.sin

        def forward(self, x):
            more = {"turn": self.turn} if self.kind == "llama" else {}
            y = models.KINDS[self.kind][1](self.table, x, self.config, attend=self.attend, **more)
            return y.reshape(-1, y.shape[-1])

    with torch.no_grad():  # the shortcuts above are the formulas of models.py
        from attention import attention, rope
        trial, x = Language("llama"), [torch.rand(2, h, 128, 32) for h in (4, 2, 2)]
        assert torch.allclose(trial.turn(x[0], "half_split"), rope(x[0], "half_split"), atol=1e-5)
        assert torch.allclose(trial.attend(*x, causal=True), attention(*x, causal=True), atol=1e-5)

    def mlp512():
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))

    def lenet5():
        return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                             nn.Linear(576, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

    images = {"mlp512": (64, 784), "lenet5": (64, 1, 32, 32)}
    return {"mlp512": (mlp512, images["mlp512"]), "lenet5": (lenet5, images["lenet5"]),
            "gpt": (lambda: Language("gpt"), None), "llama": (lambda: Language("llama"), None)}


def measure(name, mode, seconds, repeats):
    import torch
    build, shape = modules(torch)[name]
    torch.manual_seed(1)
    model = build()
    if shape:
        x, labels = torch.rand(shape), torch.randint(0, 10, shape[:1])
        optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    else:
        x, labels = torch.randint(0, 96, (8, 128)), torch.randint(0, 96, (8 * 128,))
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def loss_of(x, labels):
        return torch.nn.functional.cross_entropy(model(x), labels)

    if mode == "compiled":
        loss_of = torch.compile(loss_of)

    def step():
        loss = loss_of(x, labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    for _ in range(3):
        step()
    best = best_cpu = 0.0
    for _ in range(repeats):
        count, started, started_cpu = 0, time.perf_counter(), time.process_time()
        while (passed := time.perf_counter() - started) < seconds:
            step()
            count += 1
        best, best_cpu = max(best, count / passed), max(best_cpu, count / (time.process_time() - started_cpu))
    return {"steps_per_second": round(best, 2), "cpu_steps_per_second": round(best_cpu, 2), "gflops": round(best * STEP_GFLOP[name], 1)}


def measured(names, modes, seconds, repeats):
    rows = []
    for name in names:
        for mode in modes:
            try:
                rows.append({"model": name, "mode": mode} | measure(name, mode, seconds, repeats))
            except Exception as error:  # no compiler, or a PyTorch without torch.compile
                if mode == "eager":
                    raise
                print(f"{name}, {mode}: {error}", file=sys.stderr)
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", default=",".join(STEP_GFLOP))
    options.add_argument("--threads", default="1,2")
    options.add_argument("--modes", default="eager,compiled")
    options.add_argument("--seconds", type=float, default=2.0)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    names = arguments.models.split(",")
    for name in names:
        if name not in STEP_GFLOP:
            sys.exit(f"no model '{name}': {', '.join(STEP_GFLOP)}")
    if arguments.inside:
        import torch
        torch.set_num_threads(int(arguments.threads))
        rows = measured(names, arguments.modes.split(","), arguments.seconds, arguments.repeats)
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
        return
    try:
        import torch  # noqa: F401
    except ImportError:
        print("PyTorch is not installed: apt-get install python3-torch libopenblas0-openmp, or pip install torch", file=sys.stderr)
        sys.exit(3)
    rows, version, settings = [], None, {}
    for threads in [int(t) for t in arguments.threads.split(",")]:
        settings = environment(threads)
        run = subprocess.run([sys.executable, __file__, "--inside", "--threads", str(threads), "--models", arguments.models, "--modes", arguments.modes,
                              "--seconds", str(arguments.seconds), "--repeats", str(arguments.repeats)], env=os.environ | settings, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        result = json.loads(run.stdout)
        version = result["torch"]
        rows += [r | {"threads": threads} for r in result["rows"]]
    settings.pop("OMP_NUM_THREADS", None)
    head = {"torch": version, "settings": settings, "best_of": arguments.repeats, "seconds": arguments.seconds}
    print(json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}")


if __name__ == "__main__":
    main()
