// fails: outputs
extern "C" __global__ void both(const float *up, const float *a, const float *b, float *da, float *db, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    da[i] = b[i];
    db[i] = a[i];
}
