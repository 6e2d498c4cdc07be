__global__ void nested(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x & 1) {
        v = v * 3.0f;
        if (threadIdx.x & 2) {
            v = fabsf(v);
            v = sqrtf(v);
            v = v + 7.0f;
        } else {
            v = v - 5.0f;
            v = v * 0.25f;
            v = fmaxf(v, 0.0f);
        }
        v = v + 2.0f;
    }
    x[i] = v;
}
