// The same with a volatile counter and a fence, and more blocks than the GPU holds at once.
// run: --grid 2000 --block 256 --arg inout:f32[512000] --arg out:f32[512000] --arg i32:512000
// exit: 1
// says: 1360 blocks cannot start before one of the 640 that run has ended
// says: The blocks that run wait for others to change 'here' +0 on line 17
// says: Launch at most 640 blocks of this size
__device__ volatile int here;
__global__ void mirror(float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 2 * x[i];
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((int *)&here, 1);
        while (here < gridDim.x) {
        }
    }
    __syncthreads();
    if (i < n) y[i] = x[n - 1 - i];
}
