// A loop that counts down to zero with an unsigned number, which is never below it.
// run: --grid 1 --block 1 --arg out:f32[100] --arg i32:100
// says: x[4294967295] of 100 elements, whose index was counted down below zero at line 7, and as an unsigned int became 4,294,967,295
// says: An unsigned number is never below zero, so a condition such as i >= 0 always holds: make the index an int
// never: Guard the access
// exit: 1
__global__ void clear(float *x, int n) { for (unsigned i = n - 1; i >= 0; i--) x[i] = 0; }
