// The first version: a few threads walk over everything. A picture has 64 x 64 pixels, blurred over 5 x 5 it has 60 x 60.
__global__ void blur(float *blurred, const float *pixels, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int picture = i / 3600, x = i / 60 % 60, y = i % 60;
        const float *corner = pixels + picture * 4096 + y * 64 + x;
        float sum = 0.0f;
        for (int dy = 0; dy < 5; ++dy)
            for (int dx = 0; dx < 5; ++dx) sum += corner[dy * 64 + dx];
        blurred[picture * 3600 + y * 60 + x] = sum * 0.04f;
    }
}

// How much each picture looks like each of ten classes.
__global__ void score(float *scores, const float *blurred, const float *weights, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float *picture = blurred + i / 10 * 3600, *weight = weights + i % 10 * 3600;
        float sum = 0.0f;
        for (int k = 0; k < 3600; ++k) sum += picture[k] * weight[k];
        scores[i] = sum;
    }
}

// The class with the highest score.
__global__ void choose(int *best, const float *scores, int pictures) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pictures; i += gridDim.x * blockDim.x) {
        int found = 0;
        for (int c = 1; c < 10; ++c)
            if (scores[10 * i + c] > scores[10 * i + found]) found = c;
        best[i] = found;
    }
}
