// Softmax and cross-entropy in one pass: p = softmax(logits), loss = -log p[label], for R rows of C classes.
// One warp a row: its lanes take every 32nd class and join what they found by shuffles (butterfly: after 5 exchanges
// every lane has the result). The row's maximum is taken off first, so that no exponential overflows.
// Launch: ceil(R / 4) blocks of 128 (4 warps).  Bytes: 8 R C + 8 R forward, 8 R C + 4 R backward.
// Backward is p - onehot(label), times `scale`: 1 / R for the mean over the rows.

extern "C" __global__ void softmax_cross_entropy_f32(const float* logits, const int* labels, float* loss,
                                                     float* probabilities, int rows, int classes) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;                                                    // a whole warp leaves, or none
    const float* x = logits + row * classes;                                    // [R,C]
    float* p = probabilities + row * classes;                                   // [R,C]

    float largest = x[0];
    for (int i = lane; i < classes; i += 32) largest = fmaxf(largest, x[i]);
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));

    float sum = 0.0f;
    for (int i = lane; i < classes; i += 32) {
        p[i] = expf(x[i] - largest);
        sum += p[i];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);

    for (int i = lane; i < classes; i += 32) p[i] = p[i] / sum;
    if (lane == 0) loss[row] = logf(sum) - (x[labels[row]] - largest);          // [R]
}

extern "C" __global__ void softmax_cross_entropy_backward_f32(const float* probabilities, const int* labels,
                                                              float* dlogits, int rows, int classes, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;                              // launch: ceil(R C / 256) blocks of 256
    if (i >= rows * classes) return;
    float target = i % classes == labels[i / classes] ? 1.0f : 0.0f;
    dlogits[i] = (probabilities[i] - target) * scale;                           // [R,C]
}
