// Four floats are read at once from an element that is no multiple of four.
// run: --grid 1 --block 1 --arg out:f32[8] --arg in:f32[8] --arg i32:1
// says: misaligned global read of 16 bytes, the address is not a multiple of 16: it is 4 bytes behind 'x'
// says: A type of 16 bytes such as float4 has to lie at a multiple of its size: let the index before the cast be one, or read pieces of 4 bytes.
// exit: 1
__global__ void copy(float *y, const float *x, int first) {
    *(float4 *)y = *(const float4 *)(x + first);
}
