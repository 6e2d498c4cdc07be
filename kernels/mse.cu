// Squared error of n elements, (prediction - target)^2, and its gradient 2 (prediction - target) scale.
// The mean is taken by reduce_mean_f32; its gradient is scale = 1 / n.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 12 n each.

extern "C" __global__ void mse_f32(const float* prediction, const float* target, float* squared, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float error = prediction[i] - target[i];
    squared[i] = error * error;
}

extern "C" __global__ void mse_backward_f32(const float* prediction, const float* target, float* dprediction, int n,
                                            float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dprediction[i] = 2.0f * (prediction[i] - target[i]) * scale;
}
