// Every body is drawn by some others: a distance, a root, three sums. FP32 alone, twenty operations for sixteen bytes.
__global__ void bodies(const float4* body, float4* pull, int others) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = body[i], sum = {};
#pragma unroll 4
    for (int k = 0; k < others; ++k) {
        float4 other = body[blockIdx.x + k];
        float x = other.x - mine.x, y = other.y - mine.y, z = other.z - mine.z;
        float near = rsqrtf(x * x + y * y + z * z + 0.01f), by = other.w * near * near * near;
        sum.x += x * by;
        sum.y += y * by;
        sum.z += z * by;
        sum.w += other.w * near;
    }
    pull[i] = sum;
}
