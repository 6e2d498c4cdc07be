// Neighbouring threads take neighbouring pixels of a row.
__global__ void blur_rows(float *blurred, const float *pixels, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int picture = i / 3600, y = i / 60 % 60, x = i % 60;
    const float *corner = pixels + picture * 4096 + y * 64 + x;
    float sum = 0.0f;
    for (int dy = 0; dy < 5; ++dy)
        for (int dx = 0; dx < 5; ++dx) sum += corner[dy * 64 + dx];
    blurred[i] = sum * 0.04f;
}
