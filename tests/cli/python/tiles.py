import numba
from numba import cuda

SIDE = 4


def product(c, a, b, n):
    left = cuda.shared.array((SIDE, SIDE), numba.float32)
    right = cuda.shared.array((SIDE, SIDE), numba.float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = numba.float32(0)
    for k in range(0, n, SIDE):
        left[x, y] = a[row, k + y]
        right[x, y] = b[k + x, column]
        cuda.syncthreads()
        for i in range(SIDE):
            total += left[x, i] * right[i, y]
    c[row, column] = total
