// Every thread of a warp takes the same lock in turn, in a loop whose body takes it, works and gives it back.
// run: --grid 2 --block 32 --arg inout:i32{0} --arg inout:i32{0} --check all
// quiet
__global__ void add_one(int *lock, int *count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
