// Rotary positions (Su et al. 2021): pairs of elements turn by an angle that grows with the position, so that a product of two
// rows depends on how far they are apart. x[R,D]; row r stands at position start + r / inner % positions.
// table[P,D]: for position p and pair i the cosine and sine of p theta^(-2i/D), side by side; made once by the host in double.
// Layouts: 0 interleaved, pair i is (x[2i], x[2i+1]);  1 half-split, pair i is (x[i], x[i+D/2]).
// turn 1: forward; -1: the gradient, which turns back.
// One thread a pair; launch ceil(R D / 2 / 256) blocks of 256.  Bytes: 2 R D elements, and the rows of the table.

#include "include/element.h"
#include "include/rounded.h"

template <class T>
__device__ void rope(const T* x, const T* table, T* y, int rows, int columns, int inner, int positions, int start, int layout,
                     int turn) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, half = columns / 2;
    if (at >= rows * half) return;
    int row = at / half, pair = at % half;
    const T* angle = table + (start + row / inner % positions) * columns + 2 * pair;
    int first = row * columns + (layout == 0 ? 2 * pair : pair), second = first + (layout == 0 ? 1 : half);
    Acc<T> cosine = angle[0], sine = turn * Acc<T>(angle[1]), a = x[first], b = x[second];
    y[first] = times(a, cosine) - times(b, sine);
    y[second] = times(a, sine) + times(b, cosine);
}
FLOATS(rope, (const T* x, const T* table, T* y, int rows, int columns, int inner, int positions, int start, int layout, int turn), x,
       table, y, rows, columns, inner, positions, start, layout, turn)
