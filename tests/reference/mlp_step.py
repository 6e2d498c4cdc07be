"""mlp_step.json: one step of a small perceptron in full, and a training run of 784-128-10, in float64.

small: a 6-5-4-3 multi-layer perceptron, all numbers written out: inputs, parameters, logits, loss, every gradient.
full: 784-128-10 from the engine's own seeded parameters (SplitMix64, so that nothing needs storing), 20 SGD steps.
"""
import json
import math

import torch

from documents import difference

MASK = (1 << 64) - 1


class Rng:  # core/base/rng.h
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * ((self.next() >> 11) * 2.0**-53)

    def tensor(self, shape, low, high):  # rounded to f32, as the engine holds it
        values = [self.uniform(low, high) for _ in range(math.prod(shape))]
        return torch.tensor(values, dtype=torch.float32).to(torch.float64).reshape(shape)


def parameters_of(widths, rng):
    parameters = []
    for inputs, outputs in zip(widths, widths[1:]):
        bound = 1 / math.sqrt(inputs)
        parameters.append(rng.tensor((outputs, inputs), -bound, bound).requires_grad_())
        parameters.append(rng.tensor((outputs,), -bound, bound).requires_grad_())
    return parameters


def forward(x, parameters):
    for layer in range(0, len(parameters), 2):
        x = torch.nn.functional.linear(x, parameters[layer], parameters[layer + 1])
        if layer + 2 < len(parameters):
            x = torch.relu(x)
    return x


def flat(tensor):
    return tensor.detach().reshape(-1).tolist()


def small():
    rng = Rng(7)
    widths, batch = [6, 5, 4, 3], 4
    parameters = parameters_of(widths, rng)
    x = rng.tensor((batch, widths[0]), 0, 1).requires_grad_()
    labels = [0, 2, 1, 2]
    logits = forward(x, parameters)
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels))
    loss.backward()
    return {"seed": 7, "widths": widths, "x": flat(x), "labels": labels, "parameters": [flat(p) for p in parameters],
            "logits": flat(logits), "loss": loss.item(), "gradient_x": flat(x.grad),
            "gradients": [flat(p.grad) for p in parameters]}


def full():
    widths, batch, rate, steps = [784, 128, 10], 64, 0.1, 20
    parameters = parameters_of(widths, Rng(1))
    rng = Rng(2)
    x = rng.tensor((batch, widths[0]), 0, 1)
    labels = [int(rng.uniform() * widths[-1]) for _ in range(batch)]
    losses, norms = [], []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(forward(x, parameters), torch.tensor(labels))
        gradients = torch.autograd.grad(loss, parameters)
        losses.append(loss.item())
        norms = norms or [g.norm().item() for g in gradients]
        parameters = [(p - rate * g).detach().requires_grad_() for p, g in zip(parameters, gradients)]
    return {"widths": widths, "batch": batch, "parameter_seed": 1, "data_seed": 2, "learning_rate": rate,
            "losses": losses, "gradient_norms": norms}


def worked():
    logits = torch.tensor([[1.0, 2.0, 3.0], [1000.0, 0.0, -1000.0]], requires_grad=True)
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor([0, 0]))
    loss.backward()
    prediction = torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]], requires_grad=True)
    target = torch.tensor([[1.0, 1.0, 1.0], [-1.0, 0.0, 2.0]])
    mse = torch.nn.functional.mse_loss(prediction, target)
    mse.backward()
    return {"cross_entropy": {"logits": flat(logits), "shape": [2, 3], "labels": [0, 0], "loss": loss.item(),
                              "gradient": flat(logits.grad)},
            "mse": {"prediction": flat(prediction), "target": flat(target), "shape": [2, 3], "loss": mse.item(),
                    "gradient": flat(prediction.grad)}}


def document(made_by):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return {"made_by": made_by + ", float64", "worked": worked(), "small": small(), "full": full()}
    finally:
        torch.set_default_dtype(default)


def write(folder, made_by):
    (folder / "mlp_step.json").write_text(json.dumps(document(made_by)) + "\n")
    return "worked rows, a small perceptron, twenty steps of 784-128-10"


def compare(folder):
    return difference(document(""), json.loads((folder / "mlp_step.json").read_text()))
