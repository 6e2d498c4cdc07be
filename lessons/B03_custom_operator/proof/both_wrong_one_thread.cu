// fails: cycles
extern "C" __global__ void both(const float *up, const float *a, const float *b, float *da, float *db, int n) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int i = 0; i < n; ++i) {
        da[i] = up[i] * b[i];
        db[i] = up[i] * a[i];
    }
}
