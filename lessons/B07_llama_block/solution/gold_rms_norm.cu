// The block's 32 tokens one after the other, each by all lanes: neighbours read neighbours, and a shuffle adds up. Eight
// numbers a lane stay in registers between the two walks. Of tokens shorter than a warp a lane takes each its own.
extern "C" __global__ void rms_norm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y,
                                    int rows, int columns) {
    int lane = threadIdx.x, last = min(rows, (int)blockIdx.x * 32 + 32);
    if (columns < 32) {
        int row = blockIdx.x * 32 + lane;
        if (row >= rows) return;
        float sum = 0.0f;
        for (int j = 0; j < columns; ++j) sum += x[row * columns + j] * x[row * columns + j];
        float scale = rsqrtf(sum / columns + 1e-5f);
        for (int j = 0; j < columns; ++j) y[row * columns + j] = x[row * columns + j] * scale * gain[j];
        return;
    }
#pragma unroll 4
    for (int row = blockIdx.x * 32; row < last; ++row) {
        const float* from = x + row * columns;
        float own[8], sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            own[k] = lane + 32 * k < columns ? from[lane + 32 * k] : 0.0f;
            sum += own[k] * own[k];
        }
        for (int j = lane + 256; j < columns; j += 32) sum += from[j] * from[j];
        for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
        float scale = rsqrtf(sum / columns + 1e-5f);
#pragma unroll
        for (int k = 0; k < 8; ++k)
            if (lane + 32 * k < columns) y[row * columns + lane + 32 * k] = own[k] * scale * gain[lane + 32 * k];
        for (int j = lane + 256; j < columns; j += 32) y[row * columns + j] = from[j] * scale * gain[j];
    }
}
