"""optimisers.json: ten steps of every rule on fixed gradients, learning-rate schedules, clipping.

Parameters and gradients are drawn (cases.draw): parameter p of `parameters` by its seed, its gradient in step t by gradient_seed + 100 t + p.
`after` holds all parameters, one after the other, after the steps of `after_steps`. SGD, Adam and AdamW are PyTorch's. LARS, LARC and
NovoGrad, which PyTorch lacks, come from the papers' formulas, derived twice: as recurrences, and as explicit sums over all steps so far.
LARS and LARC take the factor 1 where a norm is zero, or zero weights would never move.
"""
import json
import math

import numpy as np
import torch

from cases import draw
from documents import difference, text_of

STEPS, AFTER = 10, [1, 2, 5, 10]
PARAMETERS = [{"name": "weight", "shape": [4, 3], "seed": 11, "low": -1.0, "high": 1.0},
              {"name": "bias", "shape": [5], "seed": 12, "low": -0.1, "high": 0.1},
              {"name": "kernel", "shape": [2, 3, 2], "seed": 13, "low": -3.0, "high": 3.0}]
GRADIENT_SEED = 5000

RULES = [
    ("sgd", {"lr": 0.1}), ("sgd", {"lr": 0.1, "momentum": 0.9}), ("sgd", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("sgd", {"lr": 0.1, "momentum": 0.9, "nesterov": True}), ("sgd", {"lr": 0.1, "weight_decay": 0.05}),
    ("sgd", {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.05}),
    ("adam", {"lr": 0.01}), ("adam", {"lr": 0.01, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6}),
    ("adam", {"lr": 0.01, "weight_decay": 0.1}),
    ("adamw", {"lr": 0.01, "weight_decay": 0.1}), ("adamw", {"lr": 0.003, "beta1": 0.9, "beta2": 0.95, "weight_decay": 0.0}),
    ("lars", {"lr": 0.5, "trust": 0.01, "momentum": 0.9, "weight_decay": 0.0}),
    ("lars", {"lr": 1.0, "trust": 0.02, "momentum": 0.9, "weight_decay": 0.01}),
    ("larc", {"lr": 0.1, "trust": 0.02, "momentum": 0.9, "weight_decay": 0.01}),
    ("larc", {"lr": 0.01, "trust": 0.1, "momentum": 0.0, "weight_decay": 0.0}),
    ("novograd", {"lr": 0.01, "beta1": 0.95, "beta2": 0.98, "eps": 1e-8, "weight_decay": 0.0}),
    ("novograd", {"lr": 0.02, "beta1": 0.9, "beta2": 0.5, "eps": 1e-8, "weight_decay": 0.01}),
    ("lars, zero weights", {"lr": 0.5, "trust": 0.01, "momentum": 0.9, "weight_decay": 0.01}),
    ("larc, zero weights", {"lr": 0.1, "trust": 0.02, "momentum": 0.9, "weight_decay": 0.01}),
]


def start(zero):
    return [draw(p["seed"], p["shape"], p["low"], p["high"]) * (0 if zero else 1) for p in PARAMETERS]


def gradients(step):
    return [draw(GRADIENT_SEED + 100 * step + i, p["shape"], -1, 1) for i, p in enumerate(PARAMETERS)]


def by_torch(rule, options, parameters, steps=STEPS, gradient=gradients):
    leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
    options = dict(options)
    if rule != "sgd":
        options["betas"] = (options.pop("beta1", 0.9), options.pop("beta2", 0.999))
    optimiser = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[rule](leaves, **options)
    history = []
    for step in range(steps):
        for leaf, value in zip(leaves, gradient(step)):
            leaf.grad = torch.tensor(value)
        optimiser.step()
        history.append([leaf.detach().numpy().copy() for leaf in leaves])
    return history


def norm(x):
    return math.sqrt(float(np.sum(x * x)))


def layer_rate(w, g, o):
    """LARS: trust |w| / (|g| + weight_decay |w|)."""
    return o["trust"] * norm(w) / (norm(g) + o["weight_decay"] * norm(w)) if norm(w) and norm(g) else None


def recurrence(rule, o, w, steps=STEPS):
    """One parameter's history; w: its values, g(t): its gradients."""
    w, g_of = w
    w, v, m, history = w.copy(), None, np.zeros_like(w), []
    for t in range(steps):
        g = g_of(t)
        if rule == "novograd":
            squared = float(np.sum(g * g))
            v = squared if v is None else o["beta2"] * v + (1 - o["beta2"]) * squared
            m = o["beta1"] * m + (g / (math.sqrt(v) + o["eps"]) + o["weight_decay"] * w)
            w = w - o["lr"] * m
        else:
            rate, direction = layer_rate(w, g, o), g + o["weight_decay"] * w
            if rule == "lars":
                m = o["momentum"] * m + o["lr"] * (1.0 if rate is None else rate) * direction
                w = w - m
            else:  # larc
                scale = 1.0 if rate is None else min(rate / o["lr"], 1.0)
                m = o["momentum"] * m + scale * direction
                w = w - o["lr"] * m
        history.append(w.copy())
    return history


def explicit(rule, o, w, steps=STEPS):
    """The same, element by element, from sums over every step so far (exactly rounded)."""
    start_values, g_of = w
    n = start_values.size
    w_now, terms, squares, history = start_values.reshape(-1).tolist(), [], [], []
    for t in range(steps):
        g = g_of(t).reshape(-1).tolist()
        g_norm, w_norm = math.sqrt(math.fsum(x * x for x in g)), math.sqrt(math.fsum(x * x for x in w_now))
        if rule == "novograd":
            squares.append(g_norm**2)
            v = math.fsum([o["beta2"] ** t * squares[0]] + [(1 - o["beta2"]) * o["beta2"] ** (t - k) * squares[k] for k in range(1, t + 1)])
            terms.append([g[i] / (math.sqrt(v) + o["eps"]) + o["weight_decay"] * w_now[i] for i in range(n)])
            decay, rate = o["beta1"], o["lr"]
        else:
            local = o["trust"] * w_norm / (g_norm + o["weight_decay"] * w_norm) if w_norm > 0 and g_norm > 0 else None
            if rule == "lars":
                factor = 1.0 if local is None else local
            else:
                factor = 1.0 if local is None or local > o["lr"] else local / o["lr"]
            terms.append([o["lr"] * factor * (g[i] + o["weight_decay"] * w_now[i]) for i in range(n)])
            decay, rate = o["momentum"], 1.0
        # every parameter is its start less all the moves, each move the decayed sum of the terms so far
        first = start_values.reshape(-1).tolist()
        w_now = [math.fsum([first[i]] + [-rate * decay ** (s - k) * terms[k][i] for s in range(t + 1) for k in range(s + 1)])
                 for i in range(n)]
        history.append(np.array(w_now).reshape(start_values.shape))
    return history


def by_formula(rule, options, parameters):
    columns = []
    for i, w in enumerate(parameters):
        one = recurrence(rule, options, (w, lambda t, i=i: gradients(t)[i]))
        two = explicit(rule, options, (w, lambda t, i=i: gradients(t)[i]))
        assert all(np.allclose(a, b, rtol=1e-13, atol=1e-14) for a, b in zip(one, two)), (rule, options)
        columns.append(one)
    return [list(step) for step in zip(*columns)]


def flat(parameters):
    return [v for p in parameters for v in p.reshape(-1).tolist()]


def schedules():
    def rates(make, steps=20, lr=0.1):
        optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
        schedule, values = make(optimiser), []
        for _ in range(steps):
            values.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            schedule.step()
        return values

    def warm_cosine(t, warm=4, total=20):  # (t + 1) / warm, then half a cosine down to 0.1 of the rate
        return (t + 1) / warm if t < warm else 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * (t - warm) / (total - warm)))

    s = torch.optim.lr_scheduler
    return [
        {"schedule": "step", "options": {"lr": 0.1, "step_size": 3, "gamma": 0.5}, "rates": rates(lambda o: s.StepLR(o, 3, 0.5))},
        {"schedule": "cosine", "options": {"lr": 0.1, "steps": 20, "lowest": 0.01}, "rates": rates(lambda o: s.CosineAnnealingLR(o, 20, 0.01))},
        {"schedule": "warm_up", "options": {"lr": 0.1, "steps": 5, "from": 0.1}, "rates": rates(lambda o: s.LinearLR(o, 0.1, 1.0, 5))},
        {"schedule": "warm_up_cosine", "options": {"lr": 0.1, "warm_up": 4, "steps": 20, "lowest": 0.01},
         "rates": rates(lambda o: s.LambdaLR(o, warm_cosine))},
    ]


def clipping():
    rows = []
    for largest in (1.0, 2.5, 100.0):
        leaves = [torch.zeros(p["shape"], dtype=torch.float64, requires_grad=True) for p in PARAMETERS]
        for leaf, g in zip(leaves, gradients(0)):
            leaf.grad = torch.tensor(g)
        total = torch.nn.utils.clip_grad_norm_(leaves, largest)
        rows.append({"max_norm": largest, "norm": float(total), "gradients": flat([leaf.grad.numpy() for leaf in leaves])})
    return rows


def worked():
    """From [1, -2, 3], gradients [.1, -.2, .3], [-.3, .1, .2], [.5, .5, -.1]: after 3 steps."""
    given = [[0.1, -0.2, 0.3], [-0.3, 0.1, 0.2], [0.5, 0.5, -0.1]]
    rows = [("adamw", {"lr": 0.01, "weight_decay": 0.1}, [.9886012653, -1.9863578314, 2.9658162513]),
            ("adam", {"lr": 0.01, "weight_decay": 0.1}, [.9849586616, -1.9803147356, 2.9710923587]),
            ("sgd", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}, [.974302789, -2.003655578, 2.874018367])]
    result = []
    for rule, options, published in rows:
        after = by_torch(rule, options, [np.array([1.0, -2.0, 3.0])], 3, lambda t: [np.array(given[t])])[-1][0]
        assert np.allclose(after, published, rtol=0, atol=1e-9), (rule, after)
        result.append({"rule": rule, "options": options, "start": [1.0, -2.0, 3.0], "gradients": given, "after": after.tolist()})
    return result


def document(made_by):
    rules = []
    for name, options in RULES:
        rule, zero = name.split(",")[0], "zero" in name
        history = (by_torch if rule in ("sgd", "adam", "adamw") else by_formula)(rule, options, start(zero))
        rules.append({"rule": rule, "options": options, "zero_weights": zero, "after": [flat(history[t - 1]) for t in AFTER]})
    return {"made_by": made_by, "steps": STEPS, "after_steps": AFTER, "parameters": PARAMETERS,
            "gradient_seed": GRADIENT_SEED, "gradient_low": -1.0, "gradient_high": 1.0, "rules": rules,
            "schedules": schedules(), "clipping": clipping(), "worked": worked()}


def write(folder, made_by):
    result = document(made_by)
    (folder / "optimisers.json").write_text(text_of(result))
    return f"{len(result['rules'])} rules, {len(result['schedules'])} schedules"


def compare(folder):
    return difference(document(""), json.loads((folder / "optimisers.json").read_text()))
