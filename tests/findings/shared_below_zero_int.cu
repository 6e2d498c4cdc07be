// The same by an int.
// run: --grid 1 --block 64 --arg out:f32[64] --arg in:f32[64]
// says: 4 bytes before the start of 'tile' (256 bytes): tile[-1] of 64 elements, whose index is threadIdx.x - 1
// exit: 1
__global__ void blur(float *y, const float *x) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = (tile[t - 1] + tile[t]) / 2;
}
