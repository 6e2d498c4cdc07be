// fails: outputs
extern "C" __global__ void noise(const float *part, const float *whole, float *out, int n, float b, float B) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i)
        sum += (part[i] - whole[i]) / (1.0f / b - 1.0f / B) / ((B * whole[i] - b * part[i]) / (B - b));
    out[0] = sum / n;
}
