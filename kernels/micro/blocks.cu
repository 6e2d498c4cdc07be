// Blocks that do next to nothing: how long a place of an SM takes from one block to the next. A thread stores one number,
// loads one, or does both. Nanoseconds a block, from launches of some blocks in each place and of twice as many.
#include "micro.h"

// clocks (not noted: every block would write them), data: `more` numbers to read, and behind them as many to write
extern "C" __global__ void blocks_store(long long* clocks, double* data, int n, int more) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= more) return;
    data[more + i] = 0.23;
}

extern "C" __global__ void blocks_load(long long* clocks, const double* __restrict__ data, int n, int more) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= more) return;
    const double x = data[i];
    if (x == 123.0) clocks[0] = 1;
}

extern "C" __global__ void blocks_scale(long long* clocks, double* data, int n, int more) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= more) return;
    data[more + i] = data[i] * 1.2;
}
