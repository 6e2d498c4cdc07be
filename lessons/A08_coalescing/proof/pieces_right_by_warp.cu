// Each warp owns 256 neighbours and walks them 32 at a time.
__global__ void pieces(const float *in, float *out) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < 8; ++k) out[warp * 256 + k * 32 + lane] = 2.0f * in[warp * 256 + k * 32 + lane];
}
