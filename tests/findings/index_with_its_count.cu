// The number of elements is in the index itself: a guard cannot compare the two.
// run: --grid 1 --block 64 --arg in:f32[64] --arg out:f32[64] --arg i32:64
// exit: 1
// says: m[64] of 64 elements
// says: + n < 64).
// never: + n < n)
__global__ void index_with_its_count(const float *m, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = m[i + n];
}
