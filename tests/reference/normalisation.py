"""Batch, ghost batch, layer, RMS and group normalisation.

Batch norm normalises with the biased variance and moves the running variance by the unbiased one, by `momentum`. Ghost batch norm takes
the batch in `groups` equal parts in order: each part is normalised by its own statistics, and the running ones are moved part after part.
RMS norm: x / sqrt(mean(x^2) + eps) * weight.
"""
import torch
import torch.nn.functional as F

from cases import given, positive, real

TRAINED = ("output", "running_mean", "running_variance")


def batch_norm(x, mean, variance, weight=None, bias=None, momentum=0.1, eps=1e-5):
    mean, variance = mean.detach().clone(), variance.detach().clone()
    y = F.batch_norm(x, mean, variance, weight, bias, True, momentum, eps)
    return y, mean, variance


def ghost_batch_norm(x, mean, variance, weight=None, bias=None, groups=2, momentum=0.1, eps=1e-5):
    mean, variance = mean.detach().clone(), variance.detach().clone()
    parts = [F.batch_norm(part, mean, variance, weight, bias, True, momentum, eps) for part in torch.chunk(x, groups)]
    return torch.cat(parts), mean, variance


def batch_norm_eval(x, mean, variance, weight=None, bias=None, eps=1e-5):
    return F.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps)


def layer_norm(x, weight=None, bias=None, axes=1, eps=1e-5):
    return F.layer_norm(x, x.shape[-axes:], weight, bias, eps)


def rms_norm(x, weight=None, eps=1e-5):
    y = x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + eps)
    return y if weight is None else y * weight


def group_norm(x, weight, bias, groups, eps=1e-5):
    return F.group_norm(x, groups, weight, bias, eps)


def statistics(channels):
    return {"running_mean": real(channels, grad=False), "running_variance": positive(channels, grad=False)}


def affine(channels):
    return {"weight": real(channels), "bias": real(channels)}


def write(family):
    for shape in [(8, 5), (4, 3, 5, 6), (2, 3, 1, 1), (6, 7, 9)]:
        c, note = shape[1], f"{list(shape)}"
        family.case("batch_norm", note, batch_norm, {"x": real(*shape)} | statistics(c) | affine(c), {"momentum": 0.1, "eps": 1e-5}, TRAINED)
        family.case("batch_norm_eval", note, batch_norm_eval, {"x": real(*shape)} | statistics(c) | affine(c), {"eps": 1e-5})
    family.case("batch_norm", "no weight, momentum 0.3", batch_norm, {"x": real(5, 4)} | statistics(4), {"momentum": 0.3, "eps": 1e-3}, TRAINED)
    family.case("batch_norm", "worked: 1 2 3 6", batch_norm,
                {"x": given([1.0, 2.0, 3.0, 6.0], [4, 1]), "running_mean": given([0.0], grad=False), "running_variance": given([1.0], grad=False)},
                {"momentum": 0.1, "eps": 1e-5}, TRAINED)
    for shape, groups in [((8, 5), 2), ((8, 5), 4), ((6, 3, 4, 5), 3)]:
        c = shape[1]
        family.case("ghost_batch_norm", f"{list(shape)} groups {groups}", ghost_batch_norm, {"x": real(*shape)} | statistics(c) | affine(c),
                    {"groups": groups, "momentum": 0.1, "eps": 1e-5}, TRAINED)
    family.case("ghost_batch_norm", "worked: 1 2 | 3 6", ghost_batch_norm,
                {"x": given([1.0, 2.0, 3.0, 6.0], [4, 1]), "running_mean": given([0.0], grad=False), "running_variance": given([1.0], grad=False)},
                {"groups": 2, "momentum": 0.1, "eps": 1e-5}, TRAINED)

    for shape in [(4, 7), (2, 3, 5), (1, 1), (5, 128), (3, 257)]:
        width = shape[-1]
        family.case("layer_norm", f"{list(shape)}", layer_norm, {"x": real(*shape)} | affine(width), {"axes": 1, "eps": 1e-5})
        family.case("rms_norm", f"{list(shape)}", rms_norm, {"x": real(*shape), "weight": real(width)}, {"eps": 1e-5})
    family.case("layer_norm", "last two axes", layer_norm, {"x": real(4, 3, 5), "weight": real(3, 5), "bias": real(3, 5)}, {"axes": 2, "eps": 1e-5})
    family.case("layer_norm", "no weight, eps 0.1", layer_norm, {"x": real(4, 7)}, {"axes": 1, "eps": 0.1})
    family.case("layer_norm", "far from zero", layer_norm, {"x": real(3, 11, low=99, high=101)} | affine(11), {"axes": 1, "eps": 1e-5})
    family.case("layer_norm", "a constant row", layer_norm, {"x": given([2.0, 2.0, 2.0, 1.0, 2.0, 4.0], [2, 3])} | affine(3),
                {"axes": 1, "eps": 1e-5}, types=("f64",))
    family.case("rms_norm", "no weight", rms_norm, {"x": real(4, 7)}, {"eps": 1e-6})
    family.case("rms_norm", "a zero row", rms_norm, {"x": given([0.0, 0.0, 0.0, 1.0, 2.0, 4.0], [2, 3]), "weight": real(3)},
                {"eps": 1e-5}, types=("f64",))
    for shape, groups in [((2, 6, 4, 5), 3), ((2, 6, 4, 5), 1), ((3, 4, 7), 4)]:
        family.case("group_norm", f"{list(shape)} groups {groups}", group_norm, {"x": real(*shape)} | affine(shape[1]),
                    {"groups": groups, "eps": 1e-5})
