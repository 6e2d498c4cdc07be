// fails: sectors_per_store_request
__global__ void transpose(const float *in, float *out) {
    out[32 * threadIdx.x + threadIdx.y] = in[32 * threadIdx.y + threadIdx.x];
}
