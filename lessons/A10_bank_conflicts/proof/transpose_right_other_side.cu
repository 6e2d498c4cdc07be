// Turned on the way into the tile instead of on the way out; any odd width will do.
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[32 * 35];
    int x = threadIdx.x, y = threadIdx.y;
    tile[x * 35 + y] = in[32 * y + x];
    __syncthreads();
    out[32 * y + x] = tile[y * 35 + x];
}
