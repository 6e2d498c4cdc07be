// Texture and surface references, as CUDA had them before version 12: clang with the built-in headers alone has them still.
#include "check.h"
#if defined __CUDACC_VER_MAJOR__ && !defined __clang__
int main() { return pass(); }  // nvcc took them away
#else
#include <vector>

texture<float, cudaTextureType2D, cudaReadModeElementType> image;
texture<uchar4, cudaTextureType1D, cudaReadModeNormalizedFloat> colours;
static texture<int> indices;
surface<void, cudaSurfaceType2D> canvas;

__global__ void fetch(float* out, int width) {
    const int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D(image, x + 0.5f, y + 0.5f) + tex1Dfetch(indices, x) + tex1Dfetch(colours, x).w;
}

__global__ void paint() { surf2Dwrite(static_cast<float>(10 * blockIdx.x + threadIdx.x), canvas, threadIdx.x * 4, blockIdx.x); }

int main() {
    const int width = 8, height = 4;
    std::vector<float> host(width * height), out(width * height);
    for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray* array;
    CHECK(cudaMallocArray(&array, &desc, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    image.filterMode = cudaFilterModePoint;
    image.addressMode[0] = image.addressMode[1] = cudaAddressModeClamp;
    image.normalized = false;
    CHECK(cudaBindTextureToArray(image, array, desc));
    int numbers[width], *d_numbers;
    uchar4 paint_box[width], *d_paint;
    for (int i = 0; i < width; ++i) {
        numbers[i] = 100 * i;
        paint_box[i] = make_uchar4(0, 0, 0, i % 2 ? 255 : 0);
    }
    CHECK(cudaMalloc(&d_numbers, sizeof numbers));
    CHECK(cudaMalloc(&d_paint, sizeof paint_box));
    CHECK(cudaMemcpy(d_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_paint, paint_box, sizeof paint_box, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture(nullptr, indices, d_numbers, sizeof numbers));
    CHECK(cudaBindTexture(0, colours, d_paint, cudaCreateChannelDesc<uchar4>(), sizeof paint_box));
    float* d_out;
    CHECK(cudaMalloc(&d_out, width * height * 4));
    fetch<<<height, width>>>(d_out, width);
    CHECK(cudaMemcpy(out.data(), d_out, width * height * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) EXPECT(out[y * width + x] == host[y * width + x] + 100 * x + x % 2);
    CHECK(cudaUnbindTexture(image));
    CHECK(cudaBindSurfaceToArray(canvas, array));
    paint<<<height, width>>>();
    CHECK(cudaMemcpy2DFromArray(out.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) EXPECT(out[y * width + x] == 10.0f * y + x);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(d_numbers));
    CHECK(cudaFree(d_paint));
    CHECK(cudaFree(d_out));
    return pass();
}
#endif
