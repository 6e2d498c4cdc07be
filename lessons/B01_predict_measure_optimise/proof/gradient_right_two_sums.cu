// Sums first, one division behind them.
extern "C" __global__ void gradient(const float *x, const float *y, const float *line, float *out, int n) {
    const float w = line[0], b = line[1], share = 2.0f / n;
    float with_x = 0.0f, alone = 0.0f;
    for (int i = 0; i < n; ++i) {
        const float off = fmaf(w, x[i], b) - y[i];
        with_x = fmaf(off, x[i], with_x);
        alone += off;
    }
    out[0] = share * with_x;
    out[1] = share * alone;
}
