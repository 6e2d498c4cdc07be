"""Convolutions and pooling, NCHW with weights [out, in / groups, height, width]; a convolution here is PyTorch's cross-correlation.

Pairs are [height, width]. max_pool2d pads with minus infinity and, of equals, the first gets the gradient; avg_pool2d counts padding
unless count_include_pad is false; adaptive pooling takes floor(i n / out) .. ceil((i + 1) n / out).
"""
import torch.nn.functional as F

from cases import given, real

CONV2D = [  # note, x, weight, options
    ("3x3", (2, 3, 7, 6), (4, 3, 3, 3), {}),
    ("one image, one channel", (1, 1, 5, 5), (1, 1, 3, 3), {}),
    ("1x1", (2, 3, 5, 4), (6, 3, 1, 1), {}),
    ("stride 2", (2, 3, 9, 8), (4, 3, 3, 3), {"stride": [2, 2]}),
    ("padding 1", (2, 3, 5, 6), (4, 3, 3, 3), {"padding": [1, 1]}),
    ("stride 2, padding 1", (2, 3, 8, 8), (4, 3, 3, 3), {"stride": [2, 2], "padding": [1, 1]}),
    ("dilation 2", (2, 2, 9, 8), (3, 2, 3, 3), {"dilation": [2, 2]}),
    ("dilation 2, padding 2", (1, 2, 7, 7), (3, 2, 3, 3), {"dilation": [2, 2], "padding": [2, 2]}),
    ("groups 2", (2, 4, 6, 6), (6, 2, 3, 3), {"groups": 2}),
    ("depthwise", (2, 4, 6, 7), (4, 1, 3, 3), {"groups": 4, "padding": [1, 1]}),
    ("3x5, stride 2x1, padding 1x2", (2, 2, 9, 8), (3, 2, 3, 5), {"stride": [2, 1], "padding": [1, 2]}),
    ("all options", (2, 4, 11, 10), (6, 2, 3, 2), {"stride": [2, 3], "padding": [2, 1], "dilation": [2, 1], "groups": 2}),
    ("stride that leaves a rest", (1, 2, 8, 9), (2, 2, 3, 3), {"stride": [3, 4]}),
    ("LeNet-5's first", (2, 1, 32, 32), (6, 1, 3, 3), {}),
    ("LeNet-5's second", (2, 6, 15, 15), (16, 6, 3, 3), {}),
]
CONV1D = [
    ("3", (2, 3, 9), (4, 3, 3), {}),
    ("stride 2, padding 1", (2, 3, 9), (4, 3, 3), {"stride": [2], "padding": [1]}),
    ("dilation 2", (1, 2, 11), (3, 2, 3), {"dilation": [2]}),
    ("groups 2", (2, 4, 8), (6, 2, 5), {"groups": 2, "padding": [2]}),
]
TRANSPOSED = [  # weights [in, out / groups, height, width]
    ("3x3", (2, 3, 4, 5), (3, 2, 3, 3), {}),
    ("stride 2, padding 1, output padding 1", (2, 3, 4, 4), (3, 2, 3, 3), {"stride": [2, 2], "padding": [1, 1], "output_padding": [1, 1]}),
    ("stride 2, 4x4, padding 1", (1, 2, 3, 5), (2, 3, 4, 4), {"stride": [2, 2], "padding": [1, 1]}),
    ("groups 2", (1, 4, 4, 4), (4, 3, 3, 3), {"groups": 2}),
]


def convolution(function):
    def call(x, weight, bias=None, **options):
        return function(x, weight, bias, **options)
    return call


def write(family):
    for op, function, cases, out_axis in [("conv2d", F.conv2d, CONV2D, 0), ("conv1d", F.conv1d, CONV1D, 0),
                                          ("conv_transpose2d", F.conv_transpose2d, TRANSPOSED, 1)]:
        for note, x, weight, options in cases:
            channels = weight[out_axis] * (options.get("groups", 1) if out_axis else 1)
            family.case(op, note, convolution(function), {"x": real(*x), "weight": real(*weight, low=-1, high=1), "bias": real(channels)}, options)
        note, x, weight, options = cases[0]
        family.case(op, note + ", no bias", convolution(function), {"x": real(*x), "weight": real(*weight, low=-1, high=1)}, options)

    def max_pool(x, kernel, stride, padding):
        return F.max_pool2d(x, kernel, stride, padding)

    def average_pool(x, kernel, stride, padding, count_include_pad=True):
        return F.avg_pool2d(x, kernel, stride, padding, count_include_pad=count_include_pad)

    pools = [((2, 3, 6, 8), [2, 2], [2, 2], [0, 0]), ((2, 3, 7, 9), [2, 2], [2, 2], [0, 0]), ((2, 3, 7, 8), [3, 3], [2, 2], [1, 1]),
             ((1, 2, 9, 7), [3, 2], [1, 2], [1, 0]), ((2, 6, 30, 30), [2, 2], [2, 2], [0, 0]), ((2, 16, 13, 13), [2, 2], [2, 2], [0, 0])]
    for shape, kernel, stride, padding in pools:
        options = {"kernel": kernel, "stride": stride, "padding": padding}
        note = f"{list(shape)} kernel {kernel} stride {stride} padding {padding}"
        family.case("max_pool2d", note, max_pool, {"x": real(*shape)}, options)
        family.case("avg_pool2d", note, average_pool, {"x": real(*shape)}, options)
    family.case("avg_pool2d", "padding not counted", average_pool, {"x": real(2, 3, 7, 8)},
                {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "count_include_pad": False})
    family.case("max_pool2d", "ties", max_pool, {"x": given([1.0, 1.0, 2.0, 0.0, 1.0, 1.0, 2.0, 2.0], [1, 1, 2, 4])},
                {"kernel": [2, 2], "stride": [2, 2], "padding": [0, 0]})
    for shape, out in [((2, 3, 7, 11), [1, 1]), ((2, 3, 7, 11), [3, 5]), ((1, 2, 8, 8), [2, 4])]:
        family.case("adaptive_avg_pool2d", f"{list(shape)} to {out}", lambda x, out: F.adaptive_avg_pool2d(x, out), {"x": real(*shape)}, {"out": out})
