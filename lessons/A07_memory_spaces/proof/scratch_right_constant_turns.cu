// The turn is the loads'; then the order of rounds is written out.
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = 4 * i, turn = i & 3;
    float p = a[first + ((0 - turn) & 3)], q = a[first + ((1 - turn) & 3)], r = a[first + ((2 - turn) & 3)],
          s = a[first + ((3 - turn) & 3)], sum = 0.0f;
#pragma unroll
    for (int round = 0; round < 16; round += 4) {
        sum = (((sum * 0.9f + p) * 0.9f + q) * 0.9f + r) * 0.9f + s;
        sum = (((sum * 0.9f + q) * 0.9f + r) * 0.9f + s) * 0.9f + p;
        sum = (((sum * 0.9f + r) * 0.9f + s) * 0.9f + p) * 0.9f + q;
        sum = (((sum * 0.9f + s) * 0.9f + p) * 0.9f + q) * 0.9f + r;
    }
    out[i] = sum;
}
