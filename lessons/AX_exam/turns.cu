__global__ void turns(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int k = 0; k < 40; ++k) v = v * 0.5f + 1.0f;
    out[i] = v;
}
