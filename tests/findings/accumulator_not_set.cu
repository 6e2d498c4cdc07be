// A sum whose variable never had a first value: the compiler leaves it in a register that nothing has written.
// run: --grid 1 --block 64 --arg in:f32[640] --arg out:f32[64] --arg i32:10 --check all
// says: warning: initcheck: a local variable is used before it has a value: 'sum' is read at
// says: accumulator_not_set.cu:10
// says: what is made of it is stored at
// says: Give 'sum' a value where it is declared, 0 for a sum.
__global__ void row_sums(const float *x, float *out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum;
    for (int c = 0; c < columns; ++c) sum += x[row * columns + c];
    out[row] = sum;
}
