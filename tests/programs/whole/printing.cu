// printf and assert on the device; the assertion holds.
#include <cassert>

#include "check.h"

__global__ void speak(int n) {
    assert(n == 3);
    if (threadIdx.x < n)
        printf("thread %d of block (%u, %u): %s %5.2f %c %lld\n", threadIdx.x, blockIdx.x, blockIdx.y, "says", 0.25 * threadIdx.x,
               'a' + threadIdx.x, 1LL << 40);
}

int main() {
    speak<<<1, 32>>>(3);
    CHECK(cudaDeviceSynchronize());
    return pass();
}
