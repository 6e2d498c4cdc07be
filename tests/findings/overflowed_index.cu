// An index of more than 2^31 - 1 wraps to a negative one.
// run: --grid 1 --block 64 --arg inout:i8[4096zero] --arg i32:40000 --arg i32:100000 --arg i32:30000
// says: before the start of 'a' (4096 bytes): (blockIdx.y + r0) * cols at line 8 is 30,000 * 100,000 = 3,000,000,000, more than an int holds, and became -1,294,967,296
// says: write (size_t)(blockIdx.y + r0)
// exit: 1
__global__ void fill(char *a, int rows, int cols, int r0) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = r0 + blockIdx.y;
    if (r < rows && c < cols) a[r * cols + c] = 1;
}
