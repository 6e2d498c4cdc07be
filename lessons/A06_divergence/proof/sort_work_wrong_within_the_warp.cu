// fails: lanes_per_issue
__global__ void sort_work(const int *kind, float *x) {
    __shared__ int item[256];
    int t = threadIdx.x, lane = t % 32, first = t - lane, base = blockIdx.x * 256;
    bool zero = kind[base + t] == 0;
    unsigned zeros = __ballot_sync(0xffffffffu, zero), below = (1u << lane) - 1;
    item[first + (zero ? __popc(zeros & below) : __popc(zeros) + __popc(~zeros & below))] = t;
    __syncwarp();
    int i = base + item[t];
    float v = x[i];
    if (kind[i] == 0) {
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 200; ++k) v = v * v * 0.25f - 2.0f;
    }
    x[i] = v;
}
