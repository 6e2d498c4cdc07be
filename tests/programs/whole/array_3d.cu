// Copies of boxes between arrays, pitched memory and the host in every direction, and what the runtime says of arrays.
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

const int width = 12, height = 7, depth = 5;

__global__ void read3d(cudaTextureObject_t texture, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height * depth) return;
    out[i] = tex3D<float>(texture, i % width + 0.5f, i / width % height + 0.5f, i / (width * height) + 0.5f);
}

float at(int x, int y, int z) { return x + 20 * y + 400 * z; }

int main() {
    static float box[depth][height][width], back[depth][height][width];
    for (int z = 0; z < depth; ++z)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) box[z][y][x] = at(x, y, z);
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaExtent whole = make_cudaExtent(width, height, depth);
    cudaArray_t array, other;
    CHECK(cudaMalloc3DArray(&array, &floats, whole));
    CHECK(cudaMalloc3DArray(&other, &floats, whole));
    cudaChannelFormatDesc desc;
    cudaExtent extent;
    unsigned flags = 7;
    CHECK(cudaArrayGetInfo(&desc, &extent, &flags, array));
    if (desc.x != 32 || desc.y != 0 || desc.f != cudaChannelFormatKindFloat || extent.width != width ||
        extent.height != height || extent.depth != depth || flags != 0)
        return printf("FAIL info\n"), 1;

    // Host to array, array to texture.
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(box, width * sizeof(float), width, height);
    copy.dstArray = array;
    copy.extent = whole;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float* out;
    CHECK(cudaMalloc(&out, sizeof back));
    read3d<<<(width * height * depth + 63) / 64, 64>>>(texture, out);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    if (memcmp(box, back, sizeof box)) return printf("FAIL texture\n"), 1;

    // A box within: array to array, then to pitched memory of the device, asynchronously, then to the host.
    const int w = 5, h = 3, d = 2;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    memset(&copy, 0, sizeof copy);
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(4, 2, 1);
    copy.dstArray = other;
    copy.dstPos = make_cudaPos(1, 3, 2);
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    cudaPitchedPtr pitched;
    CHECK(cudaMalloc3D(&pitched, make_cudaExtent(width * sizeof(float), height, depth)));
    CHECK(cudaMemset3DAsync(pitched, 0, make_cudaExtent(width * sizeof(float), height, depth), stream));
    memset(&copy, 0, sizeof copy);
    copy.srcArray = other;
    copy.srcPos = make_cudaPos(1, 3, 2);
    copy.dstPtr = pitched;
    copy.dstPos = make_cudaPos(2, 1, 3);  // in texels as well: an array takes part
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    CHECK(cudaStreamSynchronize(stream));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = pitched;
    copy.dstPtr = make_cudaPitchedPtr(back, width * sizeof(float), width, height);
    copy.extent = make_cudaExtent(width * sizeof(float), height, depth);  // in bytes: no array takes part
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < depth; ++z)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                bool inside = x >= 2 && x < 2 + w && y >= 1 && y < 1 + h && z >= 3 && z < 3 + d;
                float want = inside ? at(x + 2, y + 1, z - 2) : 0;
                if (back[z][y][x] != want) return printf("FAIL (%d, %d, %d) is %f, not %f\n", x, y, z, back[z][y][x], want), 1;
            }

    // Beyond the end nothing is copied.
    memset(&copy, 0, sizeof copy);
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(width - 2, 0, 0);
    copy.dstArray = other;
    copy.extent = make_cudaExtent(3, 1, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    if (cudaMemcpy3D(&copy) != cudaErrorInvalidValue || cudaGetLastError() != cudaErrorInvalidValue)
        return printf("FAIL past the end\n"), 1;

    // Two dimensions: rows into an array, to another array, and back.
    cudaArray_t flat, second;
    CHECK(cudaMallocArray(&flat, &floats, width, height));
    CHECK(cudaMallocArray(&second, &floats, width, height));
    CHECK(cudaMemcpy2DToArrayAsync(flat, 0, 0, box[1], sizeof box[0][0], sizeof box[0][0], height, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy2DArrayToArray(second, 0, 1, flat, 4 * sizeof(float), 0, 8 * sizeof(float), height - 1));
    float row[8];
    CHECK(cudaMemcpy2DFromArray(row, sizeof row, second, 0, 3, sizeof row, 1, cudaMemcpyDeviceToHost));
    for (int x = 0; x < 8; ++x)
        if (row[x] != at(x + 4, 2, 1)) return printf("FAIL row: %d is %f\n", x, row[x]), 1;

    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(other));
    CHECK(cudaFreeArray(flat));
    CHECK(cudaFreeArray(second));
    CHECK(cudaFree(pitched.ptr));
    CHECK(cudaFree(out));
    CHECK(cudaStreamDestroy(stream));
    printf("PASS\n");
}
