// A stride that is too long reaches the buffer behind: nothing is wrong with that address but where it came from.
// run: --grid 1 --block 32 --arg in:f32[64] --arg in:f32[200000] --arg out:f32[32] --arg i32:17000
// says: past the end of 'm' (256 bytes), which is where 'other' lies: m[17000] of 64 elements
// exit: 1
__global__ void strides(const float *m, const float *other, float *y, int stride) {
    float sum = other[threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < 2; ++k) sum += m[k * stride + threadIdx.x];
    y[threadIdx.x] = sum;
}
