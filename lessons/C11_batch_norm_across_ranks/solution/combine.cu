// Statistics of all ranks from those of each: counts, means and mean square deviations. One thread, any number of ranks.
extern "C" __global__ void combine(const float* count, const float* mean, const float* deviation, float* out, int ranks) {
    float n = 0.0f, sum = 0.0f, square = 0.0f;
    for (int r = 0; r < ranks; ++r) {
        n += count[r];
        sum += count[r] * mean[r];
    }
    float middle = sum / n;
    for (int r = 0; r < ranks; ++r) {
        float off = mean[r] - middle;
        square += count[r] * (deviation[r] + off * off);
    }
    out[0] = middle;
    out[1] = square / n;
}
