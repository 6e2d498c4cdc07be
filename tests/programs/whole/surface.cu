// Surfaces: a kernel writes an array, another reads it as a surface and as a texture.
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int width = 24, height = 10, depth = 3;

__global__ void draw(cudaSurfaceObject_t surface) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) surf2Dwrite(100 * y + x, surface, x * 4, y);
}
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int value;
    surf2Dread(&value, from, (width - 1 - x) * 4, height - 1 - y);
    surf2Dwrite(value, to, x * 4, y);
}
__global__ void beyond(cudaSurfaceObject_t surface, int* out) {
    out[0] = surf2Dread<int>(surface, -4, 2, cudaBoundaryModeZero);
    out[1] = surf2Dread<int>(surface, width * 4, 2, cudaBoundaryModeClamp);
    out[2] = surf2Dread<int>(surface, 8, height + 5, cudaBoundaryModeClamp);
}
__global__ void sum(cudaTextureObject_t texture, int* out) {
    int total = 0;
    for (int y = 0; y < height; ++y) total += tex2D<int>(texture, threadIdx.x + 0.5f, y + 0.5f);
    out[threadIdx.x] = total;
}
__global__ void fill_volume(cudaSurfaceObject_t surface) {
    float value = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
    surf3Dwrite(value, surface, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}

int main() {
    cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t first, second, plain;
    CHECK(cudaMallocArray(&first, &ints, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&second, &ints, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&plain, &ints, width, height));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = plain;
    cudaSurfaceObject_t a, b;
    CHECK(cudaCreateSurfaceObject(&a, &resource));  // CUDA 13.0 on an H200 takes an array without the flag
    CHECK(cudaDestroySurfaceObject(a));
    resource.res.array.array = first;
    CHECK(cudaCreateSurfaceObject(&a, &resource));
    resource.res.array.array = second;
    CHECK(cudaCreateSurfaceObject(&b, &resource));
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    dim3 block(8, 4), grid((width + 7) / 8, (height + 3) / 4);
    draw<<<grid, block>>>(a);
    turn<<<grid, block>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    int turned[height][width];
    CHECK(cudaMemcpy2DFromArray(turned, sizeof turned[0], second, 0, 0, sizeof turned[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (turned[y][x] != 100 * (height - 1 - y) + width - 1 - x)
                return printf("FAIL (%d, %d) is %d\n", x, y, turned[y][x]), 1;

    int *out, host[width];
    CHECK(cudaMalloc(&out, sizeof host));
    beyond<<<1, 1>>>(a, out);
    CHECK(cudaMemcpy(host, out, 3 * sizeof(int), cudaMemcpyDeviceToHost));
    if (host[0] != 0 || host[1] != 200 + width - 1 || host[2] != 100 * (height - 1) + 2)
        return printf("FAIL outside: %d %d %d\n", host[0], host[1], host[2]), 1;
    sum<<<1, width>>>(texture, out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int x = 0; x < width; ++x)
        if (host[x] != 100 * (height * (height - 1) / 2) + height * (width - 1 - x)) return printf("FAIL sum %d\n", x), 1;

    cudaArray_t volume;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&volume, &floats, make_cudaExtent(8, 4, depth), cudaArraySurfaceLoadStore));
    resource.res.array.array = volume;
    cudaSurfaceObject_t deep;
    CHECK(cudaCreateSurfaceObject(&deep, &resource));
    fill_volume<<<1, dim3(8, 4, depth)>>>(deep);
    float box[depth][4][8];
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcArray = volume;
    copy.dstPtr = make_cudaPitchedPtr(box, sizeof box[0][0], 8, 4);
    copy.extent = make_cudaExtent(8, 4, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < depth; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 8; ++x)
                if (box[z][y][x] != x + 10 * y + 100 * z) return printf("FAIL volume (%d, %d, %d)\n", x, y, z), 1;

    CHECK(cudaDestroySurfaceObject(a));
    CHECK(cudaDestroySurfaceObject(b));
    CHECK(cudaDestroySurfaceObject(deep));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(first));
    CHECK(cudaFreeArray(second));
    CHECK(cudaFreeArray(plain));
    CHECK(cudaFreeArray(volume));
    CHECK(cudaFree(out));
    printf("PASS\n");
}
