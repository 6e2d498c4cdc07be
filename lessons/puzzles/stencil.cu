// A blur of an image: each thread reads its own element and two neighbours on each of four sides, eight of which others read as
// well. The image has a rim of two. Grid (width / 64, height), block 64.
__global__ void stencil(const float* in, float* out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, pitch = width + 4;
    const float* at = in + (y + 2) * pitch + x + 2;
    float near = at[-1] + at[1] + at[-pitch] + at[pitch];
    float far = at[-2] + at[2] + at[-2 * pitch] + at[2 * pitch];
    out[y * width + x] = 0.4f * at[0] + 0.1f * near + 0.05f * far;
}
