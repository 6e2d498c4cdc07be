"""Views, joins and indexing. An index may repeat: gradients add up there, and scatter_add adds in the forward.

slice: {axis, start, stop, step}; pad: zeros before and after each axis, [before, after] an axis; tril keeps column - row <= diagonal.
"""
import torch

from cases import given, integers, real


def slice_of(x, axis, start, stop, step):
    return x[tuple([slice(None)] * axis + [slice(start, stop, step)])]


def pad(x, padding):
    flat = [amount for pair in reversed(padding) for amount in pair]
    return torch.nn.functional.pad(x, flat)


def write(family):
    for shape, to in [((2, 3, 4), (6, 4)), ((2, 3, 4), (24,)), ((6,), (1, 2, 3)), ((3, 5), (5, 3))]:
        family.case("reshape", f"{list(shape)} to {list(to)}", lambda x, shape: x.reshape(shape), {"x": real(*shape)}, {"shape": list(to)})
    for shape, axes in [((3, 5), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3, 4, 5), (1, 2)), ((33, 65), (0, 1))]:
        family.case("transpose", f"{list(shape)} {list(axes)}", lambda x, axes: x.transpose(*axes), {"x": real(*shape)}, {"axes": list(axes)})
    for shape, axes in [((2, 3, 4), (2, 0, 1)), ((2, 3, 4, 5), (0, 2, 1, 3)), ((2, 3, 4, 5), (3, 1, 0, 2)), ((2, 1, 3), (1, 2, 0))]:
        family.case("permute", f"{list(shape)} {list(axes)}", lambda x, axes: x.permute(*axes), {"x": real(*shape)}, {"axes": list(axes)})
    for shape, axis, start, stop, step in [((7, 5), 0, 2, 6, 1), ((7, 5), 1, 0, 5, 2), ((2, 9, 3), 1, 1, 9, 3), ((7, 5), 0, 6, 7, 1)]:
        family.case("slice", f"{list(shape)} axis {axis} {start}:{stop}:{step}", slice_of, {"x": real(*shape)},
                    {"axis": axis, "start": start, "stop": stop, "step": step})
    for shape, axis, index in [((7, 5), 0, 3), ((2, 3, 4), 1, 2), ((2, 3, 4), 2, 0)]:
        family.case("select", f"{list(shape)} axis {axis} index {index}", lambda x, axis, index: x.select(axis, index),
                    {"x": real(*shape)}, {"axis": axis, "index": index})
    for shape, to in [((3, 1), (3, 5)), ((1, 4), (2, 3, 4)), ((1,), (7,)), ((2, 1, 3, 1), (2, 4, 3, 5)), ((), (3, 2))]:
        family.case("expand", f"{list(shape)} to {list(to)}", lambda x, shape: x.expand(shape), {"x": real(*shape)}, {"shape": list(to)})
    for axis in (0, 1, 2):
        family.case("unsqueeze", f"[3,5] axis {axis}", lambda x, axis: x.unsqueeze(axis), {"x": real(3, 5)}, {"axis": axis})
    for shape, axis in [((1, 5), 0), ((3, 1, 5), 1), ((3, 5, 1), 2)]:
        family.case("squeeze", f"{list(shape)} axis {axis}", lambda x, axis: x.squeeze(axis), {"x": real(*shape)}, {"axis": axis})

    def cat(*tensors, axis):
        return torch.cat(tensors, axis)

    def stack(*tensors, axis):
        return torch.stack(tensors, axis)

    family.case("cat", "[2,5] [3,5] [1,5] axis 0", cat, {"a": real(2, 5), "b": real(3, 5), "c": real(1, 5)}, {"axis": 0})
    family.case("cat", "[3,2] [3,4] axis 1", cat, {"a": real(3, 2), "b": real(3, 4)}, {"axis": 1})
    family.case("cat", "[2,3,4] [2,1,4] axis 1", cat, {"a": real(2, 3, 4), "b": real(2, 1, 4)}, {"axis": 1})
    family.case("cat", "one tensor", cat, {"a": real(3, 2)}, {"axis": 0})
    for axis in (0, 1, 2):
        family.case("stack", f"three of [3,5] axis {axis}", stack, {"a": real(3, 5), "b": real(3, 5), "c": real(3, 5)}, {"axis": axis})

    def gather(x, index, axis):
        return torch.gather(x, axis, index)

    def scatter_add(x, index, source, axis):
        return x.scatter_add(axis, index, source)

    def index_select(x, index, axis):
        return torch.index_select(x, axis, index)

    family.case("gather", "[5,7] axis 1", gather, {"x": real(5, 7), "index": integers(5, 4, below=7)}, {"axis": 1})
    family.case("gather", "[5,7] axis 0", gather, {"x": real(5, 7), "index": integers(9, 7, below=5)}, {"axis": 0})
    family.case("gather", "[2,5,3] axis 1", gather, {"x": real(2, 5, 3), "index": integers(2, 4, 3, below=5)}, {"axis": 1})
    family.case("scatter_add", "[5,7] axis 1", scatter_add,
                {"x": real(5, 7), "index": integers(5, 9, below=7), "source": real(5, 9)}, {"axis": 1})
    family.case("scatter_add", "[5,7] axis 0", scatter_add,
                {"x": real(5, 7), "index": integers(8, 7, below=5), "source": real(8, 7)}, {"axis": 0})
    family.case("index_select", "[5,7] axis 0", index_select, {"x": real(5, 7), "index": given([4, 0, 0, 2, 4, 4], dtype="i64")}, {"axis": 0})
    family.case("index_select", "[5,7] axis 1", index_select, {"x": real(5, 7), "index": given([6, 6, 1], dtype="i64")}, {"axis": 1})
    family.case("index_select", "[2,5,3] axis 1", index_select, {"x": real(2, 5, 3), "index": given([3, 1], dtype="i64")}, {"axis": 1})

    family.case("pad", "[3,5]", pad, {"x": real(3, 5)}, {"padding": [[1, 2], [0, 3]]})
    family.case("pad", "[2,3,4,5]", pad, {"x": real(2, 3, 4, 5)}, {"padding": [[0, 0], [0, 0], [1, 1], [2, 2]]})
    for diagonal in (0, 1, -1):
        family.case("tril", f"[5,7] diagonal {diagonal}", lambda x, diagonal: torch.tril(x, diagonal), {"x": real(5, 7)}, {"diagonal": diagonal})
    family.case("flip", "[3,5] axis 1", lambda x, axis: torch.flip(x, [axis]), {"x": real(3, 5)}, {"axis": 1})
