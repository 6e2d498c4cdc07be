// Functions of the host in the order of a stream, after what was asked for before them.
#include <cstdio>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int n = 128;

__global__ void square(int* data) { data[threadIdx.x] *= data[threadIdx.x]; }

struct Step {
    const int* values;
    int order;
};
int order = 0;
bool in_order = true;
long long seen = 0;

void look(void* data) {
    const Step* step = (const Step*)data;
    in_order = in_order && step->order == order++;
    for (int i = 0; i < n; ++i) seen += step->values[i];
}
void called_back(cudaStream_t, cudaError_t status, void* data) {
    in_order = in_order && status == cudaSuccess;
    look(data);
}

int main() {
    int *pinned, *data;
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < n; ++i) pinned[i] = i;
    Step steps[] = {{pinned, 0}, {pinned, 1}, {pinned, 2}};
    CHECK(cudaMemcpyAsync(data, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, look, &steps[0]));
    square<<<1, n, 0, stream>>>(data);
    CHECK(cudaMemcpyAsync(pinned, data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamAddCallback(stream, called_back, &steps[1], 0));
    CHECK(cudaLaunchHostFunc(stream, look, &steps[2]));
    CHECK(cudaStreamSynchronize(stream));
    const long long plain = (long long)n * (n - 1) / 2, squares = (long long)(n - 1) * n * (2 * n - 1) / 6;
    if (!in_order || order != 3) return printf("FAIL the order, %d calls\n", order), 1;
    if (seen != plain + 2 * squares) return printf("FAIL %lld seen\n", seen), 1;
    if (cudaLaunchHostFunc(stream, nullptr, nullptr) != cudaErrorInvalidValue) return printf("FAIL no function\n"), 1;
    CHECK(cudaStreamQuery(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
    printf("PASS\n");
}
