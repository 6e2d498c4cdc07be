// fails: issue_slot_utilization
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 64 >= 32) {
        __nanosleep(20000);
    }
    for (int c = 0; c < 4; c += 2) {
        float a = x[4 * i + c], b = x[4 * i + c + 1];
#pragma unroll 8
        for (int k = 0; k < 512; ++k) a = a * 0.999f + 1.0f, b = b * 0.999f + 1.0f;
        x[4 * i + c] = a;
        x[4 * i + c + 1] = b;
    }
}
