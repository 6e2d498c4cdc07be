// fill: y = value.  accumulate: y = y + x, what a tape does with the second gradient that reaches a tensor.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 4 n and 12 n.

extern "C" __global__ void fill_f32(float* y, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value;
}

extern "C" __global__ void accumulate_f32(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
