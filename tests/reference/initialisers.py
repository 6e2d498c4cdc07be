"""initialisers.json: which distribution PyTorch's layers draw their parameters from. No values: random generators differ.

Each row was checked here on PyTorch's own draws: uniform ones stay within the bounds and come near them, normal ones have the deviation.
"""
import json
import math

import torch
from torch import nn

from documents import difference, text_of

UNIFORM, NORMAL, CONSTANT = "uniform", "normal", "constant"


def root(x):
    return 1 / math.sqrt(x)


ROWS = [  # layer, its constructor's arguments, parameter, distribution, bound | deviation | value
    ("Linear", {"inputs": 300, "outputs": 200}, "weight", UNIFORM, root(300)),
    ("Linear", {"inputs": 300, "outputs": 200}, "bias", UNIFORM, root(300)),
    ("Conv2d", {"inputs": 6, "outputs": 16, "kernel": 5}, "weight", UNIFORM, root(6 * 25)),
    ("Conv2d", {"inputs": 64, "outputs": 128, "kernel": 3}, "bias", UNIFORM, root(64 * 9)),
    ("Conv1d", {"inputs": 16, "outputs": 64, "kernel": 5}, "weight", UNIFORM, root(16 * 5)),
    ("ConvTranspose2d", {"inputs": 16, "outputs": 8, "kernel": 4}, "weight", UNIFORM, root(8 * 16)),
    ("Embedding", {"count": 200, "width": 100}, "weight", NORMAL, 1.0),
    ("RNN", {"inputs": 30, "hidden": 100}, "weight_hh_l0", UNIFORM, root(100)),
    ("GRU", {"inputs": 30, "hidden": 100}, "weight_ih_l0", UNIFORM, root(100)),
    ("LSTM", {"inputs": 30, "hidden": 100}, "weight_hh_l0", UNIFORM, root(100)),
    ("LSTM", {"inputs": 30, "hidden": 400}, "bias_ih_l0", UNIFORM, root(400)),
    ("LayerNorm", {"width": 5}, "weight", CONSTANT, 1.0),
    ("LayerNorm", {"width": 5}, "bias", CONSTANT, 0.0),
    ("BatchNorm2d", {"width": 5}, "weight", CONSTANT, 1.0),
    ("BatchNorm2d", {"width": 5}, "running_var", CONSTANT, 1.0),
    ("BatchNorm2d", {"width": 5}, "running_mean", CONSTANT, 0.0),
    ("GroupNorm", {"groups": 2, "width": 6}, "weight", CONSTANT, 1.0),
]
FUNCTIONS = [  # function, arguments, [rows, columns], distribution, bound | deviation
    ("xavier_uniform", {}, [200, 300], UNIFORM, math.sqrt(6 / 500)),
    ("xavier_normal", {}, [200, 300], NORMAL, math.sqrt(2 / 500)),
    ("kaiming_uniform", {"nonlinearity": "relu"}, [200, 300], UNIFORM, math.sqrt(6 / 300)),
    ("kaiming_normal", {"nonlinearity": "relu"}, [200, 300], NORMAL, math.sqrt(2 / 300)),
    ("kaiming_normal", {"nonlinearity": "relu", "mode": "fan_out"}, [200, 300], NORMAL, math.sqrt(2 / 200)),
]


def check(values, distribution, number):
    values = values.detach().double().reshape(-1)
    if distribution == UNIFORM:
        largest = float(values.abs().max())
        assert largest <= number * (1 + 1e-6) and largest > 0.98 * number, (largest, number)
        assert abs(float(values.std()) - number / math.sqrt(3)) < 0.05 * number
    elif distribution == NORMAL:
        assert abs(float(values.std()) - number) < 0.03 * number and float(values.abs().max()) > 3 * number
    else:
        assert float((values - number).abs().max()) == 0


def document(made_by):
    torch.manual_seed(1)
    layers, functions = [], []
    for layer, options, parameter, distribution, number in ROWS:
        check(getattr(getattr(nn, layer)(*options.values()), parameter), distribution, number)
        layers.append({"layer": layer, "options": options, "parameter": parameter, "distribution": distribution, "number": number})
    for function, options, shape, distribution, number in FUNCTIONS:
        check(getattr(nn.init, function + "_")(torch.empty(shape), **options), distribution, number)
        functions.append({"function": function, "options": options, "shape": shape, "distribution": distribution, "number": number})
    return {"made_by": made_by, "number": "uniform: the bound, normal: the deviation, constant: the value", "layers": layers, "functions": functions}


def write(folder, made_by):
    result = document(made_by)
    (folder / "initialisers.json").write_text(text_of(result))
    return f"{len(result['layers'])} layers' parameters, {len(result['functions'])} functions"


def compare(folder):
    return difference(document(""), json.loads((folder / "initialisers.json").read_text()))
