// All that write, write 1 over 0; yet a thread that finds its neighbour's mark has one more than one that comes too early.
// run: --grid 2 --block 64 --arg inout:i32{1,0,1,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0} --arg i32:128 --check all
// exit: 1
// says: racecheck: race: write of 4 bytes to global memory 'mark'
__global__ void spread(int *mark, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 || i >= n) return;
    if (mark[i - 1] == 1)
        if (mark[i] == 0) mark[i] = 1;
}
