// Every item has a kind, 0 or 1, and each kind has its own long recipe. Kinds come in any order, so most warps
// hold both and run both recipes. Blocks have 256 threads.
__global__ void sort_work(const int *kind, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (kind[i] == 0) {
        for (int k = 0; k < 200; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 200; ++k) v = v * v * 0.25f - 2.0f;
    }
    x[i] = v;
}
