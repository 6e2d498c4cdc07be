// A warp for every score: each lane takes every 32nd term, and shuffles add the 32 sums.
__global__ void score_by_warp(float *scores, const float *blurred, const float *weights) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *picture = blurred + i / 10 * 3600, *weight = weights + i % 10 * 3600;
    float sum = 0.0f;
    for (int k = lane; k < 3600; k += 32) sum += picture[k] * weight[k];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
    if (lane == 0) scores[i] = sum;
}
