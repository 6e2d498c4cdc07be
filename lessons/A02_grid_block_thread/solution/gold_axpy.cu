// In a block that is full a quarter of the threads takes four neighbours each, in one request; the others are done at once.
__global__ void axpy(float a, const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x;
    if ((first | blockDim.x) % 4 == 0 && first + blockDim.x <= n) {
        if (threadIdx.x >= blockDim.x / 4) return;
        int i = first / 4 + threadIdx.x;
        float4 v = reinterpret_cast<const float4*>(x)[i], w = reinterpret_cast<const float4*>(y)[i];
        reinterpret_cast<float4*>(y)[i] =
            make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
        return;
    }
    int i = first + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
