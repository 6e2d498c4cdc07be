// Stochastic gradient descent, in place: w = w - lr * gradient.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 12 n.

extern "C" __global__ void sgd_f32(float* w, const float* gradient, float lr, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] -= lr * gradient[i];
}
