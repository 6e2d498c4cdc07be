extern "C" __global__ void matrix(const float* image, const float* weights, float bias, float* out) {
    float sum = bias;
    for (int k = 0; k < 9; ++k) {
        sum += weights[threadIdx.x * 9 + k] * image[k];
    }
    out[threadIdx.x] = sum;
}
