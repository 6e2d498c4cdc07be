// A lock whose fence stands behind the giving back, where it is too late.
// run: --grid 4 --block 32 --arg inout:i32{0} --arg inout:i32{0} --check all
// says: warning: racecheck: a fence is missing
// says: Put a __threadfence() in front of the atomic at lock_fence_late.cu:11
__global__ void add_one(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *count += 1;
        atomicExch(lock, 0);
        __threadfence();
    }
}
