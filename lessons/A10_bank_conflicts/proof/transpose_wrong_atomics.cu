// fails: global_read_sectors
__global__ void transpose(const float *in, float *out) {
    out[32 * threadIdx.y + threadIdx.x] = atomicAdd(const_cast<float *>(in) + 32 * threadIdx.x + threadIdx.y, 0.0f);
}
