// fails: outputs
extern "C" __global__ void gradient(const float *x, const float *y, const float *line, float *out, int n) {
    for (int i = 0; i < n; ++i) {
        float off = 2.0f * (line[0] * x[i] + line[1] - y[i]) / n;
        out[0] += off * x[i];
        out[1] += off;
    }
}
