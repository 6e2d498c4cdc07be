__global__ void even_odd(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int odd = threadIdx.x & 1;
    float v = x[i];
    if (odd == 0) {
        v = v + 1.0f;
        v = v * v;
    } else {
        v = v - 1.0f;
        v = v * 0.5f;
        v = fmaxf(v, 0.0f);
    }
    x[i] = v;
}
