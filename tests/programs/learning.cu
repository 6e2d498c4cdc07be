// What networks are made of: softmax, layer norm, attention whole and tiled with a running maximum, convolution.
__device__ float over_warp(float v, bool maximum) {
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_xor_sync(0xffffffff, v, by);
        v = maximum ? fmaxf(v, other) : v + other;
    }
    return v;
}

extern "C" __global__ void softmax(const float* in, float* out, int columns) {  // a warp a row
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < columns; i += 32) most = fmaxf(most, in[row * columns + i]);
    most = over_warp(most, true);
    for (int i = lane; i < columns; i += 32) sum += expf(in[row * columns + i] - most);
    sum = over_warp(sum, false);
    for (int i = lane; i < columns; i += 32) out[row * columns + i] = expf(in[row * columns + i] - most) / sum;
}

extern "C" __global__ void layer_norm(const float* in, const float* scale, const float* shift, float* out, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float mean = 0, variance = 0;
    for (int i = lane; i < columns; i += 32) mean += in[row * columns + i];
    mean = over_warp(mean, false) / columns;
    for (int i = lane; i < columns; i += 32) {
        float d = in[row * columns + i] - mean;
        variance += d * d;
    }
    float inverse = rsqrtf(over_warp(variance, false) / columns + 1e-5f);
    for (int i = lane; i < columns; i += 32)
        out[row * columns + i] = (in[row * columns + i] - mean) * inverse * scale[i] + shift[i];
}

// q, k, v: tokens x 32; one query a block of 32 threads, lane = feature. Causal.
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* out, int tokens) {
    extern __shared__ float score[];
    int query = blockIdx.x, lane = threadIdx.x;
    for (int j = 0; j <= query; ++j) {
        float s = over_warp(q[query * 32 + lane] * k[j * 32 + lane], false) * 0.17677669f;
        if (lane == 0) score[j] = s;
    }
    __syncwarp();
    float most = -INFINITY, sum = 0, o = 0;
    for (int j = 0; j <= query; ++j) most = fmaxf(most, score[j]);
    for (int j = 0; j <= query; ++j) {
        float p = expf(score[j] - most);
        sum += p;
        o += p * v[j * 32 + lane];
    }
    out[query * 32 + lane] = o / sum;
}

// The same in tiles of 16 keys with a running maximum and sum: 16 queries a block, one a thread.
extern "C" __global__ void attention_tiled(const float* q, const float* k, const float* v, float* out, int tokens) {
    __shared__ float tk[16][32], tv[16][32];
    int query = blockIdx.x * 16 + threadIdx.x;
    float mine[32], o[32] = {}, most = -INFINITY, sum = 0;
    for (int f = 0; f < 32; ++f) mine[f] = query < tokens ? q[query * 32 + f] : 0;
    for (int from = 0; from < tokens && from <= blockIdx.x * 16 + 15; from += 16) {
        __syncthreads();
        for (int e = threadIdx.x; e < 512; e += 16) {
            int j = from + e / 32;
            tk[e / 32][e % 32] = j < tokens ? k[j * 32 + e % 32] : 0;
            tv[e / 32][e % 32] = j < tokens ? v[j * 32 + e % 32] : 0;
        }
        __syncthreads();
        for (int j = 0; j < 16 && from + j <= query; ++j) {
            float s = 0;
            for (int f = 0; f < 32; ++f) s += mine[f] * tk[j][f];
            s *= 0.17677669f;
            float now = fmaxf(most, s), keep = expf(most - now), p = expf(s - now);
            sum = sum * keep + p;
            for (int f = 0; f < 32; ++f) o[f] = o[f] * keep + p * tv[j][f];
            most = now;
        }
    }
    if (query < tokens)
        for (int f = 0; f < 32; ++f) out[query * 32 + f] = o[f] / sum;
}

__constant__ float filter[9];

extern "C" __global__ void convolution(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
            if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
                sum += filter[(j + 1) * 3 + i + 1] * in[(y + j) * width + x + i];
    out[y * width + x] = sum;
}
