__global__ void rounds(int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int last = i % 4, v = x[i];
#pragma unroll 1
    for (int k = 0; k <= last; ++k) v = 3 * v + k;
    x[i] = v;
}
