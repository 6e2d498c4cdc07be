// An index of 64 bits whose product is too large.
// run: --grid 2 --block 64 --arg out:f32[256] --arg i64:64 --arg i64:300
// says: whose index is blockIdx.x * pitch + threadIdx.x, where blockIdx.x * pitch at line 8 is 1 * 300 = 300
// says: Guard the access with if (blockIdx.x * pitch + threadIdx.x < 256)
// exit: 1
__global__ void rows(float *a, long long n, long long pitch) {
    long long row = blockIdx.x, column = threadIdx.x;
    if (column < n) a[row * pitch + column] = 1;
}
