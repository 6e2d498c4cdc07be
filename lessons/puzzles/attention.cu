// One head of attention with 32 numbers a key: each thread has a query and goes over all keys, sixteen at a time by way of
// shared memory, with the softmax kept up as it goes (Milakov and Gimelshein 2018). Grid T/64, block 64.
__global__ void attention(const float* q, const float* keys, const float* values, float* out, int count) {
    __shared__ float key[16][32], value[16][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine[32], sum[32] = {}, largest = -1e30f, total = 0;
#pragma unroll
    for (int d = 0; d < 32; ++d) mine[d] = q[i * 32 + d] * 0.17677669f;
    for (int first = 0; first < count; first += 16) {
        for (int e = threadIdx.x; e < 512; e += 64) {
            key[e / 32][e % 32] = keys[first * 32 + e];
            value[e / 32][e % 32] = values[first * 32 + e];
        }
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float score = 0;
#pragma unroll
            for (int d = 0; d < 32; ++d) score += mine[d] * key[j][d];
            float before = largest;
            largest = fmaxf(largest, score);
            float weight = __expf(score - largest), shrink = __expf(before - largest);
            total = total * shrink + weight;
#pragma unroll
            for (int d = 0; d < 32; ++d) sum[d] = sum[d] * shrink + weight * value[j][d];
        }
        __syncthreads();
    }
#pragma unroll
    for (int d = 0; d < 32; ++d) out[i * 32 + d] = sum[d] / total;
}
