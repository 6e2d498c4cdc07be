// One level of a breadth-first search over a graph in compressed rows; and a connected-components step by atomicMin.
extern "C" __global__ void visit(const int* begin, const int* edges, int* level, int now, int n, int* more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || *(volatile int*)&level[i] != now) return;
    for (int e = begin[i]; e < begin[i + 1]; ++e)
        if (atomicCAS(&level[edges[e]], -1, now + 1) == -1) *(volatile int*)more = 1;
}

extern "C" __global__ void join(const int* begin, const int* edges, int* label, int n, int* more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int mine = *(volatile int*)&label[i];
    for (int e = begin[i]; e < begin[i + 1]; ++e)
        if (atomicMin(&label[edges[e]], mine) > mine) *(volatile int*)more = 1;
}
