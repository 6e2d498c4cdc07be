// fails: bank_conflict_passes
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[33][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[32 * y + x];
    __syncthreads();
    out[32 * y + x] = tile[x][y];
}
