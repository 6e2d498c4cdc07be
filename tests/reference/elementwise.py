"""Elementwise ops: every unary and binary function on awkward shapes, with broadcasting, at its kinks and at extreme values.

Conventions at kinks are PyTorch's: relu, abs and sign have derivative 0 at 0; leaky_relu and elu take the left side at 0; maximum
and minimum give each side half where both are equal; clamp passes the gradient at its bounds; softplus is x above 20.
"""
import math

import torch
import torch.nn.functional as F

from cases import given, positive, real

UNARY = {
    "neg": (torch.neg, {}, real), "exp": (torch.exp, {}, real), "log": (torch.log, {}, positive),
    "sqrt": (torch.sqrt, {}, positive), "rsqrt": (torch.rsqrt, {}, positive), "abs": (torch.abs, {}, real),
    "square": (torch.square, {}, real), "sin": (torch.sin, {}, real), "cos": (torch.cos, {}, real),
    "tanh": (torch.tanh, {}, real), "erf": (torch.erf, {}, real), "reciprocal": (torch.reciprocal, {}, positive),
    "sigmoid": (torch.sigmoid, {}, real), "relu": (F.relu, {}, real),
    "leaky_relu": (lambda x, slope: F.leaky_relu(x, slope), {"slope": 0.1}, real),
    "elu": (lambda x, alpha: F.elu(x, alpha), {"alpha": 0.75}, real),
    "gelu": (lambda x, approximate: F.gelu(x, approximate=approximate), {"approximate": "none"}, real),
    "gelu_tanh": (lambda x, approximate: F.gelu(x, approximate=approximate), {"approximate": "tanh"}, real),
    "silu": (F.silu, {}, real), "softplus": (F.softplus, {}, real),
}
SHAPES = [(17,), (3, 1, 7), (5, 31), (), (1,), (2, 3, 4, 5), (257,), (33, 65)]

BINARY = {
    "add": (torch.add, real, real), "sub": (torch.sub, real, real), "mul": (torch.mul, real, real),
    "div": (torch.div, real, positive), "pow": (torch.pow, positive, real), "maximum": (torch.maximum, real, real),
    "minimum": (torch.minimum, real, real),
}
PAIRS = [((3, 5), (3, 5)), ((5,), (3, 5)), ((4, 1, 5), (3, 1)), ((), (2, 3)), ((7, 1), (1, 6)), ((1,), (1,)),
         ((2, 3, 4), (3, 1)), ((2, 1, 3, 1), (5, 1, 4)), ((9, 37), (37,)), ((33, 65), (33, 1))]

INF, NAN = math.inf, math.nan
EDGES = {  # a NaN goes in as well, and must come out; its gradient is nobody's business
    "exp": [0.0, -0.0, 80.0, -80.0, 100.0, -110.0, 1000.0, -1000.0, INF, -INF],
    "log": [0.0, 1.0, 1e-30, 1e30, -1.0, INF],
    "sqrt": [0.0, 1.0, 1e-30, 1e30, -1.0, INF],
    "rsqrt": [0.0, 1.0, 1e-30, 1e30, -1.0, INF],
    "abs": [0.0, -0.0, INF, -INF, 1e-30],
    "tanh": [0.0, -0.0, 1e-20, 20.0, -20.0, 100.0, -100.0, INF, -INF],
    "sigmoid": [0.0, 40.0, -40.0, 100.0, -100.0, 1000.0, -1000.0, INF, -INF],
    "relu": [0.0, -0.0, 1e-30, -1e-30, INF, -INF],
    "leaky_relu": [0.0, -0.0, 1e-30, -1e-30, 1e30, -1e30],
    "elu": [0.0, -0.0, 1e-6, -1e-6, 50.0, -50.0, -1000.0],
    "gelu": [0.0, 6.0, -6.0, 14.0, -14.0, 50.0, -50.0],
    "gelu_tanh": [0.0, 6.0, -6.0, 14.0, -14.0, 50.0, -50.0],
    "silu": [0.0, 20.0, -20.0, 80.0, -80.0],
    "softplus": [0.0, 15.0, -15.0, 19.0, 25.0, -25.0, 100.0, -100.0],
}


def write(family):
    for op, (function, options, kind) in UNARY.items():
        for shape in SHAPES if op in ("exp", "relu") else SHAPES[:4]:
            family.case(op, f"{list(shape)}", function, {"x": kind(*shape)}, options)
        if op not in ("log", "sqrt", "rsqrt", "reciprocal"):
            family.case(op, "wide range", function, {"x": real(41, low=-12, high=12)}, options)
        if op in EDGES:
            family.edges(op, "edge values", function, {"x": given(EDGES[op])}, options)
            family.edges(op, "NaN", function, {"x": given([1.0, NAN, 2.0], grad=False)}, options)

    for op, (function, left, right) in BINARY.items():
        for a, b in PAIRS if op in ("add", "mul") else PAIRS[:-1]:
            family.case(op, f"{list(a)} {list(b)}", function, {"a": left(*a), "b": right(*b)})
            if a != b and len(a) <= 2:
                family.case(op, f"{list(b)} {list(a)}", function, {"a": left(*b), "b": right(*a)})
    ties = {"a": given([1.0, 2.0, -3.0, 0.0]), "b": given([1.0, 1.0, -3.0, 5.0])}
    family.case("maximum", "ties", torch.maximum, ties)
    family.case("minimum", "ties", torch.minimum, ties)
    edge = {"a": given([NAN, 1.0, INF, -INF, 0.0]), "b": given([1.0, NAN, 1.0, 1.0, -INF])}
    family.edges("maximum", "a NaN on either side stays", torch.maximum, edge)
    family.edges("minimum", "a NaN on either side stays", torch.minimum, edge)
    family.edges("div", "by zero and of infinities", torch.div,
                 {"a": given([1.0, -1.0, 0.0, INF, 1.0, 3.0], grad=False), "b": given([0.0, 0.0, 0.0, INF, INF, -0.0], grad=False)})
    family.edges("pow", "edge values, forward", torch.pow,
                 {"a": given([0.0, 0.0, 0.0, -2.0, -2.0, -8.0, 1.0, NAN, INF, 2.0, 0.5], grad=False),
                  "b": given([0.0, 2.0, -1.0, 3.0, -2.0, 0.5, NAN, 0.0, -1.0, INF, INF], grad=False)})

    for exponent in (2.0, 3.0, 0.5, -1.0, 0.0, 1.0, 2.5):
        family.case("pow_scalar", f"exponent {exponent}", torch.pow, {"x": positive(4, 7)}, {"exponent": exponent})
    for exponent in (2.0, 3.0, -1.0):
        family.case("pow_scalar", f"negative base, exponent {exponent}", torch.pow, {"x": real(4, 7, low=-3, high=-0.5)},
                    {"exponent": exponent})
    for op, function in {"add_scalar": torch.add, "mul_scalar": torch.mul, "div_scalar": torch.div,
                         "sub_scalar": torch.sub, "rsub_scalar": torch.rsub}.items():
        family.case(op, "1.75", lambda x, scalar, f=function: f(x, scalar), {"x": real(5, 7)}, {"scalar": 1.75})

    def clamp(x, low=None, high=None):
        return torch.clamp(x, low, high)

    for options in ({"low": -0.5, "high": 1.25}, {"low": 0.25}, {"high": 0.25}):
        family.case("clamp", f"{options}", clamp, {"x": real(5, 13)}, options)
    family.case("clamp", "on the bounds", clamp, {"x": given([-0.5, 1.25, -0.5000001, 1.2500001, 0.0])}, {"low": -0.5, "high": 1.25})
    family.edges("clamp", "infinities", clamp, {"x": given([INF, -INF])}, {"low": -0.5, "high": 1.25})
    family.edges("clamp", "NaN", clamp, {"x": given([NAN, 1.0], grad=False)}, {"low": -0.5, "high": 1.25})

    def where(condition, a, b):
        return torch.where(condition, a, b)

    family.case("where", "[3,5]", where, {"condition": given([1, 0, 1, 0, 0] * 3, [3, 5], "u8"), "a": real(3, 5), "b": real(3, 5)})
    family.case("where", "broadcast", where, {"condition": given([1, 0, 1], [3, 1], "u8"), "a": real(5), "b": real(2, 3, 1)})
    family.edges("where", "a NaN not chosen does not reach the gradient", where,
                 {"condition": given([1, 0, 1], [3], "u8"), "a": given([1.0, NAN, INF]), "b": given([NAN, 2.0, 3.0])})
