// An index of 64 bits that is below zero, as an argument is.
// run: --grid 4 --block 64 --arg out:f32[256] --arg i64:64 --arg i64:-64
// says: a[-64] of 256 elements, whose index is blockIdx.x * pitch + threadIdx.x, where pitch is -64
// says: Look at what the launch passes for 'pitch'
// exit: 1
__global__ void rows(float *a, long long n, long long pitch) {
    long long row = blockIdx.x, column = threadIdx.x;
    if (column < n) a[row * pitch + column] = 1;
}
