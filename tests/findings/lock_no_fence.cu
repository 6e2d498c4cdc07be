// A lock of atomicCAS and atomicExch without a fence before it is given back.
// run: --grid 4 --block 32 --arg inout:i32{0} --arg inout:i32{0} --check all
// says: warning: racecheck: a fence is missing: thread (0,0,0) of block
// says: at lock_no_fence.cu:10 and tells of it by the atomic at lock_no_fence.cu:11
// says: Put a __threadfence() in front of the atomic at lock_no_fence.cu:11
__global__ void add_one(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        *count += 1;
        atomicExch(lock, 0);
    }
}
