extern "C" __global__ void noise(const float* part, const float* whole, float* out, int n, float b, float B) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        float signal = (B * whole[i] - b * part[i]) / (B - b);
        float noise = (part[i] - whole[i]) / (1.0f / b - 1.0f / B);
        sum += noise / signal;
    }
    out[0] = sum / n;
}
