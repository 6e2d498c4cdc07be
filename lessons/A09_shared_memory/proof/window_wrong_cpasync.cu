// arch: sm_80, fails: global_reads
__global__ void window(const int *in, int *out) {
    __shared__ int part[9][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int k = 0; k < 9; ++k) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&part[k][t]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i + k));
    }
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 9; ++k) sum += part[k][t];
    out[i] = sum;
}
