// The kernels that a learner can begin with, each with a launch that shows something.
#include "app/gui/desk/kernel_document.h"

namespace lockstep::gui {

namespace {

ArgumentText given(const char* parameter, const char* text) {
    return {parameter, text, true};
}

KernelDocument vector_add() {
    KernelDocument made;
    made.name = "vector_add.cu";
    made.text = R"(// c = a + b, one thread an element.
__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
)";
    made.launch.grid = "4";
    made.launch.block = "256";
    made.launch.grid_chosen = true;
    made.launch.arguments = {given("a", "in:f32[1000 ramp]"), given("b", "in:f32[1000]"), given("c", "out:f32[1000]"),
                             given("n", "i32:1000")};
    return made;
}

KernelDocument reduction() {
    KernelDocument made;
    made.name = "reduction.cu";
    made.text = R"(// Every block adds up its part of x in shared memory, half as many threads in each round.
#define THREADS 128

__global__ void block_sum(const float *x, float *sums, int n) {
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
)";
    made.launch.grid = "8";
    made.launch.block = "128";
    made.launch.grid_chosen = true;
    made.launch.arguments = {given("x", "in:f32[1024 ramp]"), given("sums", "out:f32[8]"), given("n", "i32:1024")};
    return made;
}

KernelDocument tiled_matmul() {
    KernelDocument made;
    made.name = "tiled_matmul.cu";
    made.text = R"(// C = A B, n x n, in tiles of 16 x 16 that a block keeps in shared memory. n is a multiple of 16.
#define TILE 16

__global__ void tiled_matmul(const float *A, const float *B, float *C, int n) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
)";
    made.launch.grid = "4,4";
    made.launch.block = "16,16";
    made.launch.grid_chosen = true;
    made.launch.arguments = {given("A", "in:f32[64,64]"), given("B", "in:f32[64,64]"), given("C", "out:f32[64,64]"),
                             given("n", "i32:64")};
    return made;
}

KernelDocument tensor_program() {
    KernelDocument made;
    made.name = "program.tape";
    made.text = R"(# A neuron and its loss.
input x = {1, 2}
param w = {0.5, -0.3}
param b = 0.1
y = sigmoid(sum(w * x) + b)
loss = (y - 1)^2
backward loss
gradcheck loss
)";
    return made;
}

KernelDocument whole_program() {
    KernelDocument made;
    made.name = "heat.cu";
    made.text = R"(#include <cstdio>
#include <vector>

// One step of heat along a rod: blur, then cool.
__global__ void blur(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int l = max(i - 1, 0), r = min(i + 1, n - 1);
    if (i < n) b[i] = (a[l] + a[i] + a[r]) / 3.0f;
}

__global__ void cool(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 0.999f * b[i];
}

int main() {
    const int n = 1 << 16;
    const size_t bytes = n * sizeof(float);
    std::vector<float> h(n, 1.0f);
    h[n / 2] = 1000.0f;

    float *d_a = nullptr, *d_b = nullptr;
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMemcpy(d_a, h.data(), bytes, cudaMemcpyHostToDevice);
    for (int step = 0; step < 20; ++step) {
        blur<<<n / 256, 256>>>(d_a, d_b, n);
        cool<<<n / 256, 256>>>(d_a, d_b, n);
    }
    cudaMemcpy(h.data(), d_a, bytes, cudaMemcpyDeviceToHost);
    printf("hot spot: %.3f\n", h[n / 2]);
    cudaFree(d_a);
    cudaFree(d_b);
}
)";
    return made;
}

KernelDocument empty() {
    KernelDocument made;
    made.name = "kernel.cu";
    made.text = R"(__global__ void kernel(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}
)";
    return made;
}

}  // namespace

const std::vector<KernelTemplate>& kernel_templates() {
    static const std::vector<KernelTemplate> rows = {
        {"vector_add", "Vector add", "vector_add.cu", vector_add},
        {"reduction", "Reduction", "reduction.cu", reduction},
        {"tiled_matmul", "Tiled matmul", "tiled_matmul.cu", tiled_matmul},
        {"tensor_program", "A tensor program", "program.tape", tensor_program},
        {"whole_program", "A whole program", "heat.cu", whole_program},
        {"empty", "An empty kernel", "kernel.cu", empty},
    };
    return rows;
}

}  // namespace lockstep::gui
