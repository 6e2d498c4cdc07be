// The same with a counter that says which way a thread goes.
// run: --grid 1 --block 64 --arg in:i32[640] --arg out:i32[64] --arg inout:i32{0} --arg i32:10 --check all
// says: warning: initcheck: a local variable is used before it has a value: 'count' is read at
// says: decides which way a thread goes
__global__ void many_positive(const int *x, int *out, int *many, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int count;
    for (int c = 0; c < columns; ++c)
        if (x[row * columns + c] > 0) count++;
    out[row] = 0;
    if (count > 3) atomicAdd(many, 1);
}
