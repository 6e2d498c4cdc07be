// fails: issue_slot_utilization
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double power = 1;
    for (int k = 0; k < 512; ++k) power *= (double)0.999f;
    for (int c = 0; c < 4; ++c) {
        double rest = 1 / (1 - (double)0.999f);
        x[4 * i + c] = (float)((x[4 * i + c] - rest) * power + rest);
    }
}
