# What an access past the end is told of a Numba kernel: Numba counts an index below zero from the end, and the words of the
# index are those that one writes. The PTX beside it is numba.cuda.compile_ptx's.
from numba import cuda


def places(x, y):
    i = cuda.grid(1)
    y[4 * i + 1] = x[i + 1]


def backwards(x, y):
    i = cuda.grid(1)
    y[i] = x[i - 300]
