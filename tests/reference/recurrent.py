"""Recurrent cells and whole sequences with PyTorch's weights and gate order.

Weights are [gates * hidden, inputs] and [gates * hidden, hidden] with a bias each. LSTM gates stand in the order input, forget, cell,
output; GRU's reset, update, new, and the reset gate multiplies the hidden product *with* its bias. Sequences are [T, B, inputs].
"""
import torch

from cases import real

GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def weights(kind, inputs, hidden, suffix=""):
    g = GATES[kind] * hidden
    return {f"w_input{suffix}": real(g, inputs, low=-1, high=1), f"w_hidden{suffix}": real(g, hidden, low=-1, high=1),
            f"b_input{suffix}": real(g, low=-1, high=1), f"b_hidden{suffix}": real(g, low=-1, high=1)}


def rnn_cell(x, h, wi, wh, bi, bh, nonlinearity="tanh"):
    return (torch.rnn_tanh_cell if nonlinearity == "tanh" else torch.rnn_relu_cell)(x, h, wi, wh, bi, bh)


def gru_cell(x, h, wi, wh, bi, bh):
    return torch.gru_cell(x, h, wi, wh, bi, bh)


def lstm_cell(x, h, c, wi, wh, bi, bh):
    return torch.lstm_cell(x, (h, c), wi, wh, bi, bh)


def sequence(kind):
    """Outputs [T, B, hidden] of the last layer and the last states [layers, B, hidden]."""
    def run(x, *rest, layers=1):
        states = 2 if kind == "lstm" else 1
        initial, flat = rest[:states], list(rest[states:])
        common = (flat, True, layers, 0.0, True, False, False)  # biases, layers, dropout, training, bidirectional, batch first
        if kind == "lstm":
            return torch.lstm(x, initial, *common)
        return (torch.rnn_tanh if kind == "rnn" else torch.gru)(x, initial[0], *common)
    return run


def write(family):
    for b, i, h in [(3, 4, 5), (1, 1, 1), (2, 7, 16)]:
        note = f"batch {b}, {i} to {h}"
        state = {"x": real(b, i), "h": real(b, h, low=-1, high=1)}
        family.case("rnn_cell", note, rnn_cell, state | weights("rnn", i, h), {"nonlinearity": "tanh"})
        family.case("rnn_cell", note + ", relu", rnn_cell, state | weights("rnn", i, h), {"nonlinearity": "relu"})
        family.case("gru_cell", note, gru_cell, state | weights("gru", i, h))
        family.case("lstm_cell", note, lstm_cell, state | {"c": real(b, h)} | weights("lstm", i, h), outputs=("h", "c"))
    for kind in GATES:
        for t, b, i, h, layers in [(6, 3, 4, 5, 1), (1, 2, 3, 4, 1), (5, 2, 3, 4, 2)]:
            states = {"h": real(layers, b, h, low=-1, high=1)} | ({"c": real(layers, b, h)} if kind == "lstm" else {})
            flat = {}
            for layer in range(layers):
                flat |= weights(kind, h if layer else i, h, f"_{layer}")
            family.case(kind, f"{t} steps, batch {b}, {i} to {h}, {layers} layer{'s' if layers > 1 else ''}", sequence(kind),
                        {"x": real(t, b, i)} | states | flat, {"layers": layers},
                        outputs=("output", "h", "c") if kind == "lstm" else ("output", "h"))
