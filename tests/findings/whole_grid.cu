// The barrier of a cooperative launch, in a loop over steps.
// run: --grid 4 --block 64 --arg inout:f32[256] --arg inout:f32[256] --check all
// quiet
#include <cooperative_groups.h>
__global__ void smooth(float *a, float *b) {
    auto grid = cooperative_groups::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 4; ++step) {
        b[i] = (a[i] + a[(i + 1) % n]) / 2;
        grid.sync();
        a[i] = b[i];
        grid.sync();
    }
}
