// A division by an integer that is zero, which a GPU does not tell.
// run: --grid 1 --block 64 --arg out:i32[64] --arg in:i32[64ramp]
// says: warning: outputs: a division by zero of integers at line 5
__global__ void share(int *y, const int *x) {
    y[threadIdx.x] = 100 / x[threadIdx.x];
}
