// fails: cycles
extern "C" __global__ void neighbours(const int *start, const int *column, const float *x, float *y, int nodes) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int node = 0; node < nodes; ++node) {
        float sum = x[node];
        for (int e = start[node]; e < start[node + 1]; ++e) sum += x[column[e]];
        y[node] = sum / (float)(start[node + 1] - start[node] + 1);
    }
}
