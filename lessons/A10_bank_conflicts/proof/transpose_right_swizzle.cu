// No column more: the row's number turns the columns.
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x ^ y] = in[32 * y + x];
    __syncthreads();
    out[32 * y + x] = tile[x][y ^ x];
}
