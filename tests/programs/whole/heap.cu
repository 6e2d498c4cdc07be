// Memory from the device's heap by malloc and new, virtual functions, and pointers to functions of the device.
#include "check.h"

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Box : Shape {
    float width, height;
    __device__ Box(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
};

__global__ void areas(float* out) {
    const int i = threadIdx.x;
    Shape* shape;
    if (i % 2)
        shape = new Box(static_cast<float>(i), 2.0f);
    else
        shape = new Square(static_cast<float>(i));
    int* const numbers = static_cast<int*>(malloc((i + 1) * sizeof(int)));
    for (int k = 0; k <= i; ++k) numbers[k] = k;
    int sum = 0;
    for (int k = 0; k <= i; ++k) sum += numbers[k];
    out[i] = shape->area() + sum;
    delete shape;
    free(numbers);
    double* const array = new double[3];
    array[1] = 1.0;
    out[i] += static_cast<float>(array[1]);
    delete[] array;
}

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation chosen = multiply;
__global__ void apply(int* out, int which) {
    const Operation operations[] = {add, multiply};
    out[threadIdx.x] = operations[which](threadIdx.x, 3) + chosen(threadIdx.x, 100);
}
__global__ void call(Operation operation, int* out) { out[threadIdx.x] = operation(threadIdx.x, 7); }

int main() {
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    const int n = 16;
    float *d, h[n];
    CHECK(cudaMalloc(&d, sizeof h));
    areas<<<1, n>>>(d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(h[i] == (i % 2 ? 2.0f * i : 1.0f * i * i) + i * (i + 1) / 2 + 1.0f);
    CHECK(cudaFree(d));

    int *d_out, out[n];
    CHECK(cudaMalloc(&d_out, sizeof out));
    for (int which = 0; which < 2; ++which) {
        apply<<<1, n>>>(d_out, which);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; ++i) EXPECT(out[i] == (which ? i * 3 : i + 3) + i * 100);
    }
    Operation operation;
    CHECK(cudaMemcpyFromSymbol(&operation, chosen, sizeof operation));
    call<<<1, n>>>(operation, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(out[i] == i * 7);
    CHECK(cudaFree(d_out));
    return pass();
}
