// Rows go in and columns come out: both global accesses are coalesced, the tile does the turning.
// Change the tile so that no access of shared memory has a conflict.
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[32 * y + x];
    __syncthreads();
    out[32 * y + x] = tile[x][y];
}
