// Layers, cubes, mip levels and views of arrays.
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

const int size = 8, layers = 4;

__global__ void read_layers(cudaTextureObject_t texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
    out[(layer * size + y) * size + x] = tex2DLayered<float>(texture, (x + 0.5f) / size, (y + 0.5f) / size, layer);
}
__global__ void read_line(cudaTextureObject_t texture, float* out) {
    out[blockIdx.x * size + threadIdx.x] = tex1DLayered<float>(texture, threadIdx.x + 0.5f, blockIdx.x);
}
__global__ void read_cube(cudaTextureObject_t texture, float* out) {
    const float directions[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const float* d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(texture, d[0], d[1], d[2]);
}
__global__ void read_levels(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, threadIdx.x * 0.5f);
}

float at(int x, int y, int layer) { return x + 10 * y + 100 * layer; }

int main() {
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    float *out, host[6 * size * size];
    CHECK(cudaMalloc(&out, sizeof host));
    cudaMemcpy3DParms copy;
    static float texels[6][size][size];
    for (int z = 0; z < 6; ++z)
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) texels[z][y][x] = at(x, y, z);

    cudaArray_t stack;
    CHECK(cudaMalloc3DArray(&stack, &floats, make_cudaExtent(size, size, layers), cudaArrayLayered));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(texels, size * sizeof(float), size, size);
    copy.dstArray = stack;
    copy.extent = make_cudaExtent(size, size, layers);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource.res.array.array = stack;
    how.normalizedCoords = 1;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_layers<<<layers, dim3(size, size)>>>(texture, out);
    CHECK(cudaMemcpy(host, out, layers * size * size * sizeof(float), cudaMemcpyDeviceToHost));
    if (memcmp(host, texels, layers * size * size * sizeof(float))) return printf("FAIL layers\n"), 1;
    CHECK(cudaDestroyTextureObject(texture));

    // A view of the last two layers alone.
    cudaResourceViewDesc view;
    memset(&view, 0, sizeof view);
    view.format = cudaResViewFormatFloat1;
    view.width = view.height = size;
    view.depth = layers;  // as large as the array, whatever the view shows of it
    view.firstLayer = 2;
    view.lastLayer = 3;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
    cudaTextureObject_t none_such;
    view.depth = 2;
    if (cudaCreateTextureObject(&none_such, &resource, &how, &view) != cudaErrorInvalidValue)
        return printf("FAIL a view of another depth\n"), 1;
    cudaGetLastError();
    read_layers<<<2, dim3(size, size)>>>(texture, out);
    CHECK(cudaMemcpy(host, out, 2 * size * size * sizeof(float), cudaMemcpyDeviceToHost));
    if (memcmp(host, texels[2], 2 * size * size * sizeof(float))) return printf("FAIL view\n"), 1;
    CHECK(cudaDestroyTextureObject(texture));

    cudaArray_t lines;
    CHECK(cudaMalloc3DArray(&lines, &floats, make_cudaExtent(size, 0, layers), cudaArrayLayered));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(texels, size * sizeof(float), size, 1);
    copy.dstArray = lines;
    copy.extent = make_cudaExtent(size, 1, layers);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource.res.array.array = lines;
    cudaTextureDesc plain;
    memset(&plain, 0, sizeof plain);
    CHECK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
    read_line<<<layers, size>>>(texture, out);
    CHECK(cudaMemcpy(host, out, layers * size * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < layers * size; ++i)
        if (host[i] != at(i % size, i / size, 0)) return printf("FAIL line: %d is %f\n", i, host[i]), 1;
    CHECK(cudaDestroyTextureObject(texture));

    // The middle of a cube's face is the mean of its four inner texels.
    cudaArray_t cube;
    CHECK(cudaMalloc3DArray(&cube, &floats, make_cudaExtent(size, size, 6), cudaArrayCubemap));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(texels, size * sizeof(float), size, size);
    copy.dstArray = cube;
    copy.extent = make_cudaExtent(size, size, 6);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource.res.array.array = cube;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_cube<<<1, 6>>>(texture, out);
    CHECK(cudaMemcpy(host, out, 6 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int face = 0; face < 6; ++face)
        if (host[face] != 3.5f + 35 + 100 * face) return printf("FAIL face %d is %f\n", face, host[face]), 1;
    CHECK(cudaDestroyTextureObject(texture));

    // Three levels, each filled with its number times ten.
    cudaMipmappedArray_t mipmap;
    CHECK(cudaMallocMipmappedArray(&mipmap, &floats, make_cudaExtent(size, size, 0), 3));
    for (int level = 0; level < 3; ++level) {
        cudaArray_t picture;
        CHECK(cudaGetMipmappedArrayLevel(&picture, mipmap, level));
        cudaExtent extent;
        CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, picture));
        if (extent.width != size >> level || extent.height != size >> level) return printf("FAIL level %d\n", level), 1;
        float same[size * size];
        for (float& value : same) value = 10.0f * level;
        CHECK(cudaMemcpy2DToArray(picture, 0, 0, same, extent.width * sizeof(float), extent.width * sizeof(float),
                                  extent.height, cudaMemcpyHostToDevice));
    }
    cudaArray_t none;
    if (cudaGetMipmappedArrayLevel(&none, mipmap, 3) == cudaSuccess) return printf("FAIL a fourth level\n"), 1;
    cudaResourceDesc levels;
    memset(&levels, 0, sizeof levels);
    levels.resType = cudaResourceTypeMipmappedArray;
    levels.res.mipmap.mipmap = mipmap;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = 2;
    CHECK(cudaCreateTextureObject(&texture, &levels, &how, nullptr));
    read_levels<<<1, 7>>>(texture, out);
    CHECK(cudaMemcpy(host, out, 7 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 7; ++i)
        if (host[i] != (i < 4 ? 5.0f * i : 20)) return printf("FAIL level of detail %d is %f\n", i, host[i]), 1;
    CHECK(cudaDestroyTextureObject(texture));

    CHECK(cudaFreeMipmappedArray(mipmap));
    CHECK(cudaFreeArray(stack));
    CHECK(cudaFreeArray(lines));
    CHECK(cudaFreeArray(cube));
    CHECK(cudaFree(out));
    printf("PASS\n");
}
