__global__ void squares(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
#pragma unroll
    for (int k = 0; k < 20; ++k) v = v * 0.9f + 1.0f;
    out[i] = v;
}
