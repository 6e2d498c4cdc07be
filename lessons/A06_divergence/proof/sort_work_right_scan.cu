// Places by running sums in shared memory, with two barriers a round.
__global__ void sort_work(const int *kind, float *x) {
    __shared__ int ones[256], item[256];
    int t = threadIdx.x, base = blockIdx.x * 256, one = kind[base + t];
    ones[t] = one;
    __syncthreads();
    for (int far = 1; far < 256; far *= 2) {
        int more = t >= far ? ones[t - far] : 0;
        __syncthreads();
        ones[t] += more;
        __syncthreads();
    }
    int zeros = 256 - ones[255], before = ones[t] - one;
    item[one ? zeros + before : t - before] = t;
    __syncthreads();
    int i = base + item[t];
    float v = x[i];
    if (kind[i] == 0) {
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 200; ++k) v = v * v * 0.25f - 2.0f;
    }
    x[i] = v;
}
