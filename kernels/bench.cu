// Kernels that `lockstep bench` measures the modelled GPU with, besides matmul. Each stresses one thing:
//   vector_add_f32      streaming: two reads and one write of n floats, 12 n bytes
//   strided_gather_f32  one warp request touches 32 sectors: neighbours read addresses `stride` floats apart
//   divergent_f32       a loop whose trip count differs from lane to lane: the warp runs its longest lane

extern "C" __global__ void vector_add_f32(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void strided_gather_f32(const float* x, float* y, int n, int stride, int repeats) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int r = 0; r < repeats; ++r) sum += x[(unsigned)(i * stride + r * 7) % (unsigned)n];
    if (i < n) y[i] = sum;
}

extern "C" __global__ void divergent_f32(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    int trips = (threadIdx.x * 37) & 63;
    for (int t = 0; t < trips; ++t) {
        if ((threadIdx.x + t) & 1)
            value = value * 0.5f + 1.0f;
        else
            value = value - 0.25f;
    }
    y[i] = value;
}
