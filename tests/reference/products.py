"""Matrix products: every pairing of ranks, broadcast batches, transposed operands, linear layers, a sparse matrix times a dense one.

matmul's options say which operand is transposed in its last two axes. A sparse matrix comes in compressed rows (CSR): row i holds
values[rows[i] : rows[i + 1]] at those columns; its gradient is that of the stored values.
"""
import torch

from cases import given, real

PAIRS = [((5, 7), (7, 3)), ((1, 1), (1, 1)), ((37, 65), (65, 33)), ((64, 64), (64, 64)), ((7,), (7,)), ((5, 7), (7,)), ((7,), (7, 3)),
         ((2, 5, 7), (2, 7, 3)), ((2, 3, 5, 7), (2, 3, 7, 4)), ((2, 1, 5, 7), (3, 7, 4)), ((2, 5, 7), (7, 3)), ((5, 7), (2, 7, 3)),
         ((1, 257), (257, 2)), ((3, 1), (1, 5))]


def matmul(a, b, transpose_a=False, transpose_b=False):
    a = a.transpose(-2, -1) if transpose_a else a
    b = b.transpose(-2, -1) if transpose_b else b
    return torch.matmul(a, b)


def linear(x, weight, bias=None):
    return torch.nn.functional.linear(x, weight, bias)


def sparse_dense(values, rows, columns, dense):
    row = torch.repeat_interleave(torch.arange(len(rows) - 1), rows[1:] - rows[:-1])
    return torch.zeros(len(rows) - 1, dense.shape[1], dtype=dense.dtype).index_add(0, row, values[:, None] * dense[columns])


def write(family):
    for a, b in PAIRS:
        family.case("matmul", f"{list(a)} {list(b)}", matmul, {"a": real(*a), "b": real(*b)})
    for a, b, options in [((5, 7), (3, 7), {"transpose_b": True}), ((7, 5), (7, 3), {"transpose_a": True}),
                          ((7, 5), (3, 7), {"transpose_a": True, "transpose_b": True}),
                          ((2, 3, 5, 7), (2, 3, 4, 7), {"transpose_b": True}), ((2, 7, 5), (2, 7, 3), {"transpose_a": True}),
                          ((2, 5, 7), (3, 7), {"transpose_b": True})]:
        family.case("matmul", f"{list(a)} {list(b)} {'+'.join(options)}", matmul, {"a": real(*a), "b": real(*b)}, options)
    for batch, m, k, n in [(3, 5, 7, 2), (1, 4, 4, 4), (6, 17, 9, 13)]:
        family.case("bmm", f"{batch} of {m}x{k}x{n}", torch.bmm, {"a": real(batch, m, k), "b": real(batch, k, n)})

    family.case("linear", "[5,7] to 3", linear, {"x": real(5, 7), "weight": real(3, 7), "bias": real(3)})
    family.case("linear", "[2,5,7] to 3", linear, {"x": real(2, 5, 7), "weight": real(3, 7), "bias": real(3)})
    family.case("linear", "[5,7] to 3, no bias", linear, {"x": real(5, 7), "weight": real(3, 7)})
    family.case("linear", "[1,64] to 65", linear, {"x": real(1, 64), "weight": real(65, 64), "bias": real(65)})
    family.case("outer", "[5] [7]", torch.outer, {"a": real(5), "b": real(7)})

    family.case("sparse_dense", "4x5, an empty row", sparse_dense,
                {"values": real(7), "rows": given([0, 2, 2, 5, 7], dtype="i64"),
                 "columns": given([1, 4, 0, 1, 3, 2, 4], dtype="i64"), "dense": real(5, 3)})
    family.case("sparse_dense", "ring of 12, with itself", sparse_dense,
                {"values": real(36), "rows": given([3 * i for i in range(13)], dtype="i64"),
                 "columns": given([(i + d) % 12 for i in range(12) for d in (-1, 0, 1)], dtype="i64"), "dense": real(12, 33)})
