// Lanes of a warp go four ways, each a chain of its own: four times as many instructions, with a quarter of the lanes in each.
__global__ void branches(const float* x, float* y, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], sum = v;
    switch (i & 3) {
        case 0:
            for (int k = 0; k < terms; ++k) sum = sum * v + 0.5f;
            break;
        case 1:
            for (int k = 0; k < terms; ++k) sum = sum * 0.25f - v;
            break;
        case 2:
            for (int k = 0; k < terms; ++k) sum = fmaxf(sum * v, 0.125f);
            break;
        default:
            for (int k = 0; k < terms; ++k) sum = v - sum * sum;
    }
    y[i] = sum;
}
