__global__ void shifted(const float *in, float *out, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i + offset];
    out[i] = 2.0f * v;
}
