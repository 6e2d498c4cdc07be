// fails: cycles
__global__ void rotate(float *x) {
    if (threadIdx.x > 0) return;
    float *own = x + blockIdx.x * 128, last[3] = {own[125], own[126], own[127]};
    for (int t = 127; t >= 3; --t) own[t] = own[t - 3];
    for (int t = 0; t < 3; ++t) own[t] = last[t];
}
