// fails: outputs
extern "C" __global__ void noise(const float *part, const float *whole, float *out, int n, float b, float B) {
    float signal = (B * whole[0] - b * part[0]) / (B - b);
    float noise = (part[0] - whole[0]) / (1.0f / b - 1.0f / B);
    out[0] = noise / signal;
}
