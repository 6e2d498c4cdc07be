// The members are counted on the way.
extern "C" __global__ void neighbours(const int *start, const int *column, const float *x, float *y, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    float sum = x[node], members = 1.0f;
    for (int e = start[node], end = start[node + 1]; e != end; ++e, ++members) sum += x[column[e]];
    y[node] = sum / members;
}
