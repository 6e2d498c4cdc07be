// ReLU, y = max(x, 0), and its backward: the gradient passes where x was positive.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 8 n forward, 12 n backward.
// A NaN stays a NaN: x < 0 is false for it.

extern "C" __global__ void relu_f32(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

extern "C" __global__ void relu_backward_f32(const float* x, const float* dy, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0.0f ? dy[i] : 0.0f;
}
