// One walk: every rank's three numbers are read once, and what is known so far is combined with the next rank's. Sums about
// the first mean: they stay small, and the middle is put right at the end.
extern "C" __global__ void combine(const float* __restrict__ count, const float* __restrict__ mean,
                                   const float* __restrict__ deviation, float* __restrict__ out, int ranks) {
    float about = mean[0], n = 0.0f, sum = 0.0f, square = 0.0f;
    for (int r = 0; r < ranks; ++r) {
        float c = count[r], off = mean[r] - about;
        n += c;
        sum += c * off;
        square += c * (deviation[r] + off * off);
    }
    float shift = sum / n;
    out[0] = about + shift;
    out[1] = square / n - shift * shift;
}
