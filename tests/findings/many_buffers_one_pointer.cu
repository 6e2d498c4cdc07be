// An array of pointers: one instruction reaches several buffers.
// run: --grid 1 --block 32 --arg pointers:in:f32[32],in:f32[32],in:f32[32] --arg out:f32[32]
// quiet
__global__ void sums(const float *const *rows, float *y) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += rows[k][threadIdx.x];
    y[threadIdx.x] = sum;
}
