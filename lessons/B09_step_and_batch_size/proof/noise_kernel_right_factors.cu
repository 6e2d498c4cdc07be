// What does not depend on i is taken out of the sums.
extern "C" __global__ void noise(const float *part, const float *whole, float *out, int n, float b, float B) {
    float wholes = 0.0f, parts = 0.0f;
    for (int i = 0; i < n; ++i) wholes += whole[i], parts += part[i];
    float signal = (B * wholes - b * parts) / (B - b), noise = (parts - wholes) / (1.0f / b - 1.0f / B);
    out[0] = noise / signal;
}
