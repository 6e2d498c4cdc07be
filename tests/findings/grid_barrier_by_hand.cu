// A barrier of the whole grid by hand that is right: all write, all fence, one counts and waits on a volatile word.
// run: --grid 4 --block 64 --arg inout:f32[256] --arg out:f32[256] --check all
// quiet
__device__ unsigned int came;
__global__ void mirror(float *x, float *y) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = 2 * x[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&came, 1);
        while (*(volatile unsigned int *)&came < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[n - 1 - i];
}
