// fails: outputs
__global__ void pieces(const float *in, float *out) {
    int first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (int k = 0; k < 4; ++k) out[first + k * blockDim.x] = 2.0f * in[first + k * blockDim.x];
}
