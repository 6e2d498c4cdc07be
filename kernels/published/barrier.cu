// The same scaling inside one launch, with a barrier of the whole grid behind each round. Grid: at most what the GPU holds at once, block 32 to 1024
#include <cooperative_groups.h>

extern "C" __global__ void grid_rounds(double* __restrict__ a, double* __restrict__ b, int n, int rounds) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int first = threadIdx.x + blockIdx.x * blockDim.x, step = blockDim.x * gridDim.x;
    for (int round = 0; round < rounds; ++round) {
        for (int i = first; i < n; i += step) a[i] = b[i] * 0.25;
        grid.sync();
    }
}
