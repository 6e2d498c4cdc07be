// All threads that find a zero write the same value to one word.
// run: --grid 4 --block 64 --arg in:i32[256] --arg inout:i32{0} --arg i32:256 --check all
// quiet
__global__ void any_even(const int *x, int *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 2 == 0) *found = 1;
}
