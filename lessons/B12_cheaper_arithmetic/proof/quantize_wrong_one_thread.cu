// fails: cycles
extern "C" __global__ void quantize(const float *w, float *q, float *scale, int n) {
    if (threadIdx.x > 0) return;
    float largest = 0.0f;
    for (int i = 0; i < n; ++i) largest = fmaxf(largest, fabsf(w[i]));
    float step = largest > 0.0f ? largest / 127.0f : 1.0f;
    for (int i = 0; i < n; ++i) q[i] = rintf(w[i] / step);
    scale[0] = step;
}
