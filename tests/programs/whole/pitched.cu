// Pitched and three-dimensional memory: rows longer than what they hold, copied as rectangles and boxes.
#include <vector>

#include "check.h"

__global__ void transpose(const float* in, size_t in_pitch, float* out, size_t out_pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float* const row = reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + y * in_pitch);
    reinterpret_cast<float*>(reinterpret_cast<char*>(out) + x * out_pitch)[y] = row[x];
}

__global__ void add_depth(cudaPitchedPtr box, int width, int height, int depth) {
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    if (x >= width) return;
    char* const slice = static_cast<char*>(box.ptr) + z * box.pitch * height;
    reinterpret_cast<int*>(slice + y * box.pitch)[x] += 1000 * z + depth;
}

int main() {
    const int width = 37, height = 21;
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; ++i) in[i] = static_cast<float>(i);
    float *d_in, *d_out;
    size_t in_pitch, out_pitch;
    CHECK(cudaMallocPitch(&d_in, &in_pitch, width * sizeof(float), height));
    CHECK(cudaMallocPitch(&d_out, &out_pitch, height * sizeof(float), width));
    EXPECT(in_pitch >= width * sizeof(float) && in_pitch % 32 == 0);
    CHECK(cudaMemcpy2D(d_in, in_pitch, in.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
    const dim3 block(16, 16), grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    transpose<<<grid, block>>>(d_in, in_pitch, d_out, out_pitch, width, height);
    CHECK(cudaMemcpy2D(out.data(), height * sizeof(float), d_out, out_pitch, height * sizeof(float), width, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) EXPECT(out[x * height + y] == in[y * width + x]);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));

    const int w = 10, h = 4, depth = 3;
    std::vector<int> cube(w * h * depth);
    for (size_t i = 0; i < cube.size(); ++i) cube[i] = static_cast<int>(i);
    cudaPitchedPtr box;
    const cudaExtent extent = make_cudaExtent(w * sizeof(int), h, depth);
    CHECK(cudaMalloc3D(&box, extent));
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(cube.data(), w * sizeof(int), w, h);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    add_depth<<<dim3(h, depth), 32>>>(box, w, h, depth);
    copy.dstPtr = copy.srcPtr;
    copy.srcPtr = box;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int i = 0; i < w * h * depth; ++i) EXPECT(cube[i] == i + 1000 * (i / (w * h)) + depth);
    CHECK(cudaFree(box.ptr));
    return pass();
}
