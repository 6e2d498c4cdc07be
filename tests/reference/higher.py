"""Second derivatives: what backward must be able to differentiate again.

Outputs are the gradients g of sum(y * seed) by every input, `seed` the last input; the gradients are those of sum(g * upstream), of
every input and of the seed. hessian: log(3x^2 + 5xy) at (2, 3), the worked example.
"""
import torch

from cases import given, positive, real


def first_gradient(function):
    def run(*tensors, **options):
        inputs, seed = tensors[:-1], tensors[-1]
        y = function(*inputs, **options)
        return tuple(torch.autograd.grad(torch.sum(y * seed), inputs, create_graph=True))
    return run


def write(family):
    unary = {"exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "square": torch.square, "sin": torch.sin,
             "cos": torch.cos, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "reciprocal": torch.reciprocal}
    for op, function in unary.items():
        family.case("second/" + op, "[3,5]", first_gradient(function), {"x": positive(3, 5), "seed": real(3, 5)}, outputs=("dx",))
    binary = {"mul": torch.mul, "div": torch.div, "pow": torch.pow}
    for op, function in binary.items():
        family.case("second/" + op, "[3,5] [5]", first_gradient(function), {"a": positive(3, 5), "b": positive(5), "seed": real(3, 5)},
                    outputs=("da", "db"))
    family.case("second/matmul", "[3,5] [5,4]", first_gradient(torch.matmul), {"a": real(3, 5), "b": real(5, 4), "seed": real(3, 4)},
                outputs=("da", "db"))
    family.case("second/softmax", "[3,5]", first_gradient(lambda x: torch.softmax(x, 1)), {"x": real(3, 5), "seed": real(3, 5)}, outputs=("dx",))
    family.case("second/mlp", "tanh(x w1) w2 squared, mean", first_gradient(lambda x, w1, w2: torch.mean((torch.tanh(x @ w1) @ w2) ** 2)),
                {"x": real(4, 3), "w1": real(3, 5), "w2": real(5, 2), "seed": given(1.0, [])}, outputs=("dx", "dw1", "dw2"))

    def hessian(x, y):
        z = torch.log(3 * x * x + 5 * x * y)
        dx, dy = torch.autograd.grad(z, (x, y), create_graph=True)
        second = [torch.autograd.grad(d, v, retain_graph=True)[0] for d, v in ((dx, x), (dx, y), (dy, y))]
        return tuple(t.detach() for t in (z, dx, dy, *second))

    family.case("hessian", "log(3x^2 + 5xy) at (2, 3)", hessian, {"x": given(2.0, []), "y": given(3.0, [])},
                outputs=("z", "dx", "dy", "dxx", "dxy", "dyy"))
