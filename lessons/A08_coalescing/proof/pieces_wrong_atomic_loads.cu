// fails: global_read_sectors
__global__ void pieces(const float *in, float *out) {
    float *from = const_cast<float *>(in);
    int block = blockIdx.x * blockDim.x * 8;
    for (int k = 0; k < 8; ++k) {
        int mine = threadIdx.x * 8 + k;
        out[block + mine] = 2.0f * atomicAdd(&from[block + mine], 0.0f);
    }
}
