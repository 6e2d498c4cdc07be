// Variables without a first value that are set on every way to where they are used: a compiler may copy what is in them.
// run: --grid 1 --block 64 --arg in:f32[40] --arg inout:f32[64] --arg i32:40 --check all
// quiet
__global__ void best_of_neighbours(const float *x, float *out, int n) {
    int i = threadIdx.x;
    float best, value;
    bool found = false;
    if (i < n) value = x[i] * 2;
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        if (i + k >= n) break;
        float v = x[i + k];
        if (!found || v > best) {
            best = v;
            found = true;
        }
    }
    if (found && best > -10) out[i] = best + (i < n ? value : 0);
}
