__global__ void strided(const float *in, float *out, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i * stride];
    out[i] = 2.0f * v;
}
