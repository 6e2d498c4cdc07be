// fails: outputs
extern "C" __global__ void combine(const float *count, const float *mean, const float *deviation, float *out, int ranks) {
    float middle = (mean[0] + mean[1]) / 2, a = mean[0] - middle, b = mean[1] - middle;
    out[0] = middle;
    out[1] = (deviation[0] + a * a + deviation[1] + b * b) / 2;
}
