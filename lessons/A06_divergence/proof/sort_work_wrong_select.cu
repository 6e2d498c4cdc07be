// fails: warp_instructions
__global__ void sort_work(const int *kind, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    bool first = kind[i] == 0;
    for (int k = 0; k < 200; ++k) {
        float f = first ? 0.5f : v * 0.25f;
        v = v * f + (first ? 1.0f : -2.0f);
    }
    x[i] = v;
}
