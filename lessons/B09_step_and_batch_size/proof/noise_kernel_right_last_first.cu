// From the last step to the first.
extern "C" __global__ void noise(const float *part, const float *whole, float *out, int n, float b, float B) {
    float signal = 0.0f, noise = 0.0f;
    const float span = B - b, gap = 1.0f / b - 1.0f / B;
    while (n > 0) {
        --n;
        signal += (B * whole[n] - b * part[n]) / span;
        noise += (part[n] - whole[n]) / gap;
    }
    out[0] = noise / signal;
}
