// Two extern __shared__ arrays are the same bytes.
// run: --grid 1 --block 64 --shared 512 --arg in:f32[64] --arg in:f32[64] --arg out:f32[64] --arg i32:64
// says: warning: outputs: 'sa' and 'sb' are both extern __shared__, so they are the same bytes: what thread (0,0,0) wrote to 'sa' at line 9 was overwritten through 'sb' by thread (0,0,0) at line 10, and is read as 'sa' at line 12
// says: Declare one extern __shared__ array
__global__ void products(const float *a, const float *b, float *out, int n) {
    extern __shared__ float sa[];
    extern __shared__ float sb[];
    int t = threadIdx.x;
    sa[t] = a[t];
    sb[t] = b[t];
    __syncthreads();
    out[t] = sa[t] * sb[n - 1 - t];
}
