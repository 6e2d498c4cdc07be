// Stands for one station of a step on the GPU: some arithmetic for every number of the batch.
__global__ void layer(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 8; ++k) v = 0.999f * v + 0.1f;
    y[i] = v;
}
