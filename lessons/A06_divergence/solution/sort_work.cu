// The block's items are put in a list, kind 0 from the front and kind 1 from the back, before the branch: at most one warp
// of the block then holds both kinds.
__global__ void sort_work(const int *kind, float *x) {
    __shared__ int item[256];
    __shared__ int front, back;
    int base = blockIdx.x * blockDim.x;
    if (threadIdx.x == 0) {
        front = 0;
        back = blockDim.x - 1;
    }
    __syncthreads();
    int place = kind[base + threadIdx.x] == 0 ? atomicAdd(&front, 1) : atomicSub(&back, 1);
    item[place] = threadIdx.x;
    __syncthreads();
    int i = base + item[threadIdx.x];
    float v = x[i];
    if (kind[i] == 0) {
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 200; ++k) v = v * v * 0.25f - 2.0f;
    }
    x[i] = v;
}
