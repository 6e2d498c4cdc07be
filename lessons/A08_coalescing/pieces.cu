// Every thread scales eight numbers. Each takes eight neighbours, so the lanes of a warp stand 32 bytes apart. The block as a
// whole owns 8 * blockDim.x numbers: share them out so that neighbouring lanes read and write neighbouring numbers.
__global__ void pieces(const float *in, float *out) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int k = 0; k < 8; ++k) {
        float v = in[first + k];
        out[first + k] = 2.0f * v;
    }
}
