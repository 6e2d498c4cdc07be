// One rank after the other joins what is there.
extern "C" __global__ void combine(const float *count, const float *mean, const float *deviation, float *out, int ranks) {
    float n = count[0], middle = mean[0], all = count[0] * deviation[0];
    for (int r = 1; r < ranks; ++r) {
        const float off = mean[r] - middle, both = n + count[r];
        all += count[r] * deviation[r] + off * off * n * count[r] / both;
        middle += off * count[r] / both;
        n = both;
    }
    out[0] = middle;
    out[1] = all / n;
}
