// Pitched memory: rows that lie apart, copies and fills of them, and a kernel that walks them.
#include <cstdio>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int width = 37, height = 11, depth = 4;

__global__ void number(char* base, size_t pitch) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width) ((int*)(base + y * pitch))[x] = 1000 * y + x;
}
__global__ void raise(cudaPitchedPtr box) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    if (x < width) ((int*)((char*)box.ptr + (z * box.ysize + y) * box.pitch))[x] += 100 * z + y;
}

int main() {
    char* rows;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(int), height));
    if (pitch < width * sizeof(int) || pitch % 32 != 0) return printf("FAIL pitch %zu\n", pitch), 1;
    number<<<height, 64>>>(rows, pitch);
    static int host[height][width];
    CHECK(cudaMemcpy2D(host, sizeof host[0], rows, pitch, sizeof host[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (host[y][x] != 1000 * y + x) return printf("FAIL (%d, %d) is %d\n", x, y, host[y][x]), 1;

    // A fill of the middle leaves the rest.
    CHECK(cudaMemset2D(rows + 2 * pitch + 4 * sizeof(int), pitch, 0xff, 5 * sizeof(int), 3));
    CHECK(cudaMemcpy2D(host, sizeof host[0], rows, pitch, sizeof host[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            bool filled = y >= 2 && y < 5 && x >= 4 && x < 9;
            if (host[y][x] != (filled ? -1 : 1000 * y + x)) return printf("FAIL filled (%d, %d) is %d\n", x, y, host[y][x]), 1;
        }
    if (cudaMemcpy2D(host, 8, rows, pitch, 16, 2, cudaMemcpyDeviceToHost) != cudaErrorInvalidPitchValue)
        return printf("FAIL a pitch too short\n"), 1;
    if (cudaMemset2D(rows, pitch, 0, pitch, height + 1) != cudaErrorInvalidValue) return printf("FAIL a row too many\n"), 1;
    cudaGetLastError();

    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(width * sizeof(int), height, depth)));
    if (box.xsize != width * sizeof(int) || box.ysize != height) return printf("FAIL box\n"), 1;
    CHECK(cudaMemset3D(box, 1, make_cudaExtent(width * sizeof(int), height, depth)));
    raise<<<dim3(height, depth), 64>>>(box);
    static int deep[depth][height][width];
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(deep, sizeof deep[0][0], width, height);
    copy.extent = make_cudaExtent(width * sizeof(int), height, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < depth; ++z)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                if (deep[z][y][x] != 0x01010101 + 100 * z + y) return printf("FAIL box (%d, %d, %d)\n", x, y, z), 1;
    CHECK(cudaFree(rows));
    CHECK(cudaFree(box.ptr));
    printf("PASS\n");
}
