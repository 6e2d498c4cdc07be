// By the mean of squares, less the square of the mean.
extern "C" __global__ void combine(const float *count, const float *mean, const float *deviation, float *out, int ranks) {
    double n = 0, sum = 0, squares = 0;
    for (int r = 0; r < ranks; ++r) {
        n += count[r];
        sum += (double)count[r] * mean[r];
        squares += count[r] * (deviation[r] + (double)mean[r] * mean[r]);
    }
    out[0] = (float)(sum / n);
    out[1] = (float)(squares / n - sum / n * (sum / n));
}
