__global__ void doubles(const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = in[i + 1];
    out[i] = 2.0 * v;
}
