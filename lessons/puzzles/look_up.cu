// Each thread looks up sixteen entries all over a table of 64 KiB: every lane of a warp asks for a sector of its own.
__global__ void look_up(const float* table, float* out, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) sum += table[((i + k * 977u) * 2654435761u >> 8) & mask];
    out[i] = sum;
}
