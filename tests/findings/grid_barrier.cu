// A barrier of the whole grid by hand: the counter is read by a plain load, which the compiler takes out of the loop.
// run: --grid 4 --block 64 --arg inout:f32[256] --arg out:f32[256] --arg i32:256
// exit: 1
// says: deadlock: no warp of the block can go on
// says: the compiler has read 'here' once, on line 14
// says: Declare 'here' volatile
__device__ int here;
__global__ void mirror(float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&here, 1);
        while (here < gridDim.x) {
        }
    }
    __syncthreads();
    if (i < n) y[i] = x[n - 1 - i];
}
