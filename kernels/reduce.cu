// n values to one: their sum or their mean. One block, so that the order of the additions, and with it the last bit, is
// the same every time: thread t adds x[t], x[t + 256], ...; then a tree in shared memory halves 256 sums eight times.
// Launch: 1 block of 256.  Bytes: 4 n + 4.

__device__ float block_sum(const float* x, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += 256) sum += x[i];
    partial[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads();
    return partial[0];
}

extern "C" __global__ void reduce_sum_f32(const float* x, float* total, int n) {
    float sum = block_sum(x, n);
    if (threadIdx.x == 0) total[0] = sum;
}

extern "C" __global__ void reduce_mean_f32(const float* x, float* mean, int n) {
    float sum = block_sum(x, n);
    if (threadIdx.x == 0) mean[0] = sum / n;
}
