// A lock with a fence behind the taking and before the giving back.
// run: --grid 4 --block 32 --arg inout:i32{0} --arg inout:i32{0} --check all
// quiet
__global__ void add_one(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *count += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
