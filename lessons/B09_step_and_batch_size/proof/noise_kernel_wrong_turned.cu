// fails: outputs
extern "C" __global__ void noise(const float *part, const float *whole, float *out, int n, float b, float B) {
    float signal = 0.0f, noise = 0.0f;
    for (int i = 0; i < n; ++i) {
        signal += (B * whole[i] - b * part[i]) / (B - b);
        noise += (part[i] - whole[i]) / (1.0f / b - 1.0f / B);
    }
    out[0] = signal / noise;
}
