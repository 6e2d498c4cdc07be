// The halo of one tile is read past its end, where the next tile lies.
// run: --grid 2 --block 32 --arg in:f32[64] --arg out:f32[64]
// says: warning: memcheck: shared read of 4 bytes that reaches 4 bytes past the end of 'left' (128 bytes), which is where 'right' lies: left[32] of 32 elements
__global__ void differences(const float *in, float *out) {
    __shared__ float left[32], right[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    left[t] = in[i];
    right[t] = 2 * in[i];
    __syncthreads();
    out[i] = left[t + 1] - left[t] + right[t];
}
