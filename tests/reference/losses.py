"""Softmax and the losses: reductions mean, sum and none; label smoothing; ignored labels; logits of a thousand.

A mean over labels that are not ignored divides by their number. kl_div takes log-probabilities and probabilities; batchmean divides by
the rows. Targets have gradients where PyTorch gives them one.
"""
import warnings

import torch
import torch.nn.functional as F

from cases import given, integers, real


def cross_entropy(logits, labels, reduction="mean", label_smoothing=0.0, ignore_index=-100):
    return F.cross_entropy(logits, labels, reduction=reduction, label_smoothing=label_smoothing, ignore_index=ignore_index)


def loss(function):
    return lambda prediction, target, reduction="mean": function(prediction, target, reduction=reduction)


def write(family):
    warnings.filterwarnings("ignore", message="reduction: 'mean' divides")
    for op, function in {"softmax": torch.softmax, "log_softmax": torch.log_softmax}.items():
        def call(x, axis, f=function):
            return f(x, axis)
        for shape, axis in [((4, 7), 1), ((4, 7), 0), ((2, 3, 5), 2), ((2, 3, 5), 1), ((1, 1), 1), ((5, 257), 1), ((7,), 0), ((2, 3, 4, 5), 3)]:
            family.case(op, f"{list(shape)} axis {axis}", call, {"x": real(*shape)}, {"axis": axis})
        family.case(op, "logits of 1000", call, {"x": given([1000.0, 0.0, -1000.0, 1000.0, 1001.0, 1000.5], [2, 3])}, {"axis": 1})
        family.edges(op, "minus infinity takes no part", call, {"x": given([1.0, float("-inf"), 2.0], [1, 3])}, {"axis": 1}, types=("f64", "f32"))

    for options in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.1}):
        family.case("cross_entropy", f"[6,5] {options}", cross_entropy, {"logits": real(6, 5), "labels": integers(6, below=5)}, options)
    family.case("cross_entropy", "one row", cross_entropy, {"logits": real(1, 3), "labels": integers(1, below=3)})
    family.case("cross_entropy", "[33,257]", cross_entropy, {"logits": real(33, 257, low=-5, high=5), "labels": integers(33, below=257)})
    for reduction in ("mean", "sum"):
        family.case("cross_entropy", f"two labels ignored, {reduction}", cross_entropy,
                    {"logits": real(5, 4), "labels": given([0, -100, 3, -100, 1], dtype="i64")}, {"reduction": reduction, "ignore_index": -100})
    family.case("cross_entropy", "label 0 ignored, smoothed", cross_entropy,
                {"logits": real(5, 4), "labels": given([0, 2, 3, 0, 1], dtype="i64")}, {"ignore_index": 0, "label_smoothing": 0.2})
    family.case("cross_entropy", "worked", cross_entropy,
                {"logits": given([1.0, 2.0, 3.0, 1000.0, 0.0, -1000.0], [2, 3]), "labels": given([0, 0], dtype="i64")})
    family.case("cross_entropy", "wrong by 2000", cross_entropy,
                {"logits": given([1000.0, 0.0, -1000.0], [1, 3]), "labels": given([2], dtype="i64")})

    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction}
        family.case("nll", reduction, lambda x, labels, reduction: F.nll_loss(x, labels, reduction=reduction),
                    {"x": real(6, 5), "labels": integers(6, below=5)}, options)
        for op, function in {"mse": F.mse_loss, "l1": F.l1_loss}.items():
            family.case(op, f"[4,7] {reduction}", loss(function), {"prediction": real(4, 7), "target": real(4, 7)}, options)
        family.case("bce_with_logits", f"[4,7] {reduction}", loss(F.binary_cross_entropy_with_logits),
                    {"prediction": real(4, 7, low=-6, high=6), "target": real(4, 7, low=0, high=1, grad=False)}, options)
        family.case("huber", f"[4,7] {reduction}", loss(F.smooth_l1_loss), {"prediction": real(4, 7), "target": real(4, 7, grad=False)}, options)
    family.case("mse", "worked", loss(F.mse_loss), {"prediction": given([0.5, -1.0, 2.0, 3.0, 0.25, -0.75], [2, 3]),
                                                    "target": given([1.0, 1.0, 1.0, -1.0, 0.0, 2.0], [2, 3])})
    family.case("l1", "where equal", loss(F.l1_loss), {"prediction": given([1.0, 2.0, 3.0]), "target": given([1.0, 3.0, 2.0])})
    family.case("bce_with_logits", "logits of 200", loss(F.binary_cross_entropy_with_logits),
                {"prediction": given([200.0, -200.0, 200.0, -200.0, 0.0]), "target": given([1.0, 0.0, 0.0, 1.0, 0.5], grad=False)},
                {"reduction": "none"})

    def kl(logarithms, target, reduction):
        return F.kl_div(logarithms, target, reduction=reduction)

    for reduction in ("batchmean", "sum", "mean"):
        family.case("kl_div", reduction, kl, {"logarithms": real(4, 7, low=-4, high=-0.5), "target": real(4, 7, low=0.01, high=0.5, grad=False)},
                    {"reduction": reduction})
    family.case("kl_div", "a probability of zero", kl,
                {"logarithms": given([-1.0, -2.0, -0.5], [1, 3]), "target": given([0.5, 0.0, 0.5], [1, 3], grad=False)},
                {"reduction": "sum"})
