// fails: global_read_sectors
__global__ void pieces(const float *in, float *out) {
    float *from = const_cast<float *>(in);
    int block = blockIdx.x * blockDim.x * 8;
    for (int k = 0; k < 8; ++k) {
        int mine = threadIdx.x * 8 + k, turned = (mine % blockDim.x) * 8 + mine / blockDim.x;
        atomicExch(&out[block + turned], 2.0f * atomicAdd(&from[block + turned], 0.0f));
    }
}
