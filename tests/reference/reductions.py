"""Reductions over all, one and several axes, with and without keepdim; scans; positions of extremes.

amax and amin share the gradient evenly between ties; argmax and argmin name the first of equals; variance divides by n - correction.
"""
import math

import torch

from cases import given, positive, real

AXES = [((3, 5), [0, 1]), ((3, 5), [0]), ((3, 5), [1]), ((2, 3, 4), [1]), ((2, 3, 4), [0, 2]), ((17,), [0]), ((1, 1), [0, 1]),
        ((33, 65), [1]), ((33, 65), [0]), ((3, 1, 257), [2]), ((2, 3, 4, 5), [1, 3]), ((2, 3, 4, 5), [2])]


def reduction(function):
    return lambda x, axes, keepdim: function(x, axes, keepdim)


REDUCTIONS = {
    "sum": reduction(lambda x, axes, keepdim: torch.sum(x, axes, keepdim=keepdim)),
    "mean": reduction(lambda x, axes, keepdim: torch.mean(x, axes, keepdim=keepdim)),
    "amax": reduction(lambda x, axes, keepdim: torch.amax(x, axes, keepdim=keepdim)),
    "amin": reduction(lambda x, axes, keepdim: torch.amin(x, axes, keepdim=keepdim)),
    "logsumexp": reduction(lambda x, axes, keepdim: torch.logsumexp(x, axes, keepdim=keepdim)),
}


def variance(x, axes, keepdim, correction):
    return torch.var(x, dim=axes, correction=correction, keepdim=keepdim)


def product(x, axis, keepdim):
    return torch.prod(x, dim=axis, keepdim=keepdim)


def write(family):
    for op, function in REDUCTIONS.items():
        for shape, axes in AXES:
            for keepdim in (False, True) if len(axes) < len(shape) and len(shape) < 4 else (False,):
                family.case(op, f"{list(shape)} axes {axes}{' keepdim' if keepdim else ''}", function, {"x": real(*shape)},
                            {"axes": axes, "keepdim": keepdim})
        family.case(op, "large and small terms", function, {"x": given([1e4, 1.0, -1e4, 1.0, 3.0, -7.0], [2, 3])},
                    {"axes": [1], "keepdim": False})
    for op in ("amax", "amin"):
        family.case(op, "ties", REDUCTIONS[op], {"x": given([1.0, 3.0, 3.0, 1.0, 1.0, 1.0], [2, 3])}, {"axes": [1], "keepdim": False})
        family.edges(op, "a NaN stays", REDUCTIONS[op], {"x": given([1.0, math.nan, 3.0], [1, 3], grad=False)},
                     {"axes": [1], "keepdim": False})
    family.case("logsumexp", "logits of 1000", REDUCTIONS["logsumexp"],
                {"x": given([1000.0, 1001.0, 999.0, -1000.0, -1001.0, -1000.5], [2, 3])}, {"axes": [1], "keepdim": False})
    family.edges("logsumexp", "minus infinity takes no part", REDUCTIONS["logsumexp"],
                 {"x": given([1.0, -math.inf, 2.0], [1, 3])}, {"axes": [1], "keepdim": False})

    for correction in (0, 1):
        for shape, axes in AXES:
            if math.prod(shape[a] for a in axes) > correction:
                family.case("var", f"{list(shape)} axes {axes} correction {correction}", variance, {"x": real(*shape)},
                            {"axes": axes, "keepdim": False, "correction": correction})
    family.case("var", "far from zero", variance, {"x": real(3, 11, low=999, high=1001)},
                {"axes": [1], "keepdim": True, "correction": 1}, types=("f64",))

    for shape, axis in [((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((11,), 0)]:
        family.case("prod", f"{list(shape)} axis {axis}", product, {"x": positive(*shape, low=0.5, high=1.5)}, {"axis": axis, "keepdim": False})
        family.case("cumsum", f"{list(shape)} axis {axis}", lambda x, axis: torch.cumsum(x, axis), {"x": real(*shape)}, {"axis": axis})
        for op, function in {"argmax": torch.argmax, "argmin": torch.argmin}.items():
            family.case(op, f"{list(shape)} axis {axis}", lambda x, axis, f=function: f(x, axis), {"x": real(*shape, grad=False)},
                        {"axis": axis})
    family.case("prod", "one and two zeros", product, {"x": given([2.0, 0.0, 3.0, 0.0, 0.0, 5.0], [2, 3])}, {"axis": 1, "keepdim": False})
    family.case("cumsum", "[3,257] axis 1", lambda x, axis: torch.cumsum(x, axis), {"x": real(3, 257)}, {"axis": 1})
    family.case("argmax", "[5,257] axis 1", lambda x, axis: torch.argmax(x, axis), {"x": real(5, 257, grad=False)}, {"axis": 1})
    family.case("argmax", "the first of equals", lambda x, axis: torch.argmax(x, axis),
                {"x": given([1.0, 3.0, 3.0, 2.0, 2.0, 2.0], [2, 3], grad=False)}, {"axis": 1})
