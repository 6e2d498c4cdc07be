// An index of 64 bits from a difference that is below zero.
// run: --grid 1 --block 64 --arg out:f32[256] --arg u64:10 --arg u64:12
// says: a[-2] of 256 elements, whose index is (n - k) * threadIdx.x, where n - k at
// says: is 10 - 12 = -2
// exit: 1
__global__ void apart(float *a, unsigned long long n, unsigned long long k) {
    unsigned long long i = threadIdx.x;
    a[(n - k) * i] = 1;
}
