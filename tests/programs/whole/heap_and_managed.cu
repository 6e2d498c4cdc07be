// Managed variables, memory from kernels, launches from templates and macros, lambdas and constexpr functions on the device.
#include <vector>

#include "check.h"
// managed
__managed__ int total;
__managed__ float table[64];
__managed__ int* shared_list;
struct Node {
    int v;
    Node* next;
};
__managed__ Node* head;
__device__ __managed__ double both = 2.5;
// device malloc / new / placement / arrays, class with virtual and destructor
struct Counter {
    int n;
    __device__ Counter(int k = 3) : n(k) {}
    __device__ ~Counter() { atomicAdd(&total, n); }
};
__global__ void heap() {
    int* p = (int*)malloc(16 * sizeof(int));
    for (int i = 0; i < 16; i++) p[i] = threadIdx.x * i;
    int s = 0;
    for (int i = 0; i < 16; i++) s += p[i];
    free(p);
    atomicAdd(&total, s);
    Counter* c = new Counter[4];
    delete[] c;
    Counter* e = new Counter(5);
    delete e;
    void* b = malloc(sizeof(Counter));
    Counter* q = new (b) Counter(7);
    q->~Counter();
    free(b);
}
__global__ void push(int n) {
    for (int i = 0; i < n; i++) {
        Node* x = (Node*)malloc(sizeof(Node));
        x->v = i;
        x->next = head;
        head = x;
    }
}
__global__ void pop(int* sum) {
    int s = 0;
    while (head) {
        Node* x = head;
        head = x->next;
        s += x->v;
        free(x);
    }
    *sum = s;
}
__global__ void toomuch(int* out) {
    void* p = malloc((size_t)1 << 40);
    if (p) *(volatile char*)p = 1;
    *out = p == nullptr;
}
// templates & macros launch
template <class T, int N>
__global__ void fillk(T* p, T v) {
    int i = blockIdx.x * N + threadIdx.x;
    p[i] = v;
}
template <class T>
void launch_fill(T* p, T v, int n) {
    fillk<T, 64><<<n / 64, 64>>>(p, v);
    CHECK(cudaGetLastError());
}
#define LAUNCH(k, g, b, ...)            \
    do {                                \
        k<<<(g), (b)>>>(__VA_ARGS__);   \
        CHECK(cudaGetLastError());      \
        CHECK(cudaDeviceSynchronize()); \
    } while (0)
#define KERNEL(name, op)                               \
    __global__ void name(int* p, int n) {              \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) p[i] = p[i] op;                     \
    }
KERNEL(add_one, +1)
KERNEL(times_two, *2)
    // extended lambdas
    template <class F>
    __global__ void apply(F f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class F>
void for_each(int n, F f) {
    apply<<<(n + 127) / 128, 128>>>(f, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
template <class F>
__global__ void reduce_k(F f, int n, int* out) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += f(i);
    atomicAdd(out, s);
}
// relaxed constexpr
constexpr int square(int x) {
    return x * x;
}
constexpr int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
struct Pt {
    int x, y;
    constexpr Pt(int a, int b) : x(a), y(b) {}
    constexpr int dot(Pt o) const { return x * o.x + y * o.y; }
};
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
__global__ void relaxed(int* out, int a) {
    int i = threadIdx.x;
    std::array<int, 3> arr{1, 2, a};
    out[i] = square(i) + fib(5) + Pt(i, 2).dot(Pt(3, a)) + std::max(i, a) + arr[2] + std::numeric_limits<int>::max() % 7 +
             std::min(i, 3);
    constexpr int z = square(4);
    out[i] += z + std::get<1>(std::make_pair(i, 2));
}
struct Op {
    int k;
    __device__ int operator()(int i) const { return i + k; }
};
int main() {
    total = 0;
    heap<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 120 * (31 * 32 / 2) + 32 * (12 + 5 + 7));
    push<<<1, 1>>>(10);
    int* d;
    CHECK(cudaMalloc(&d, 4096));
    pop<<<1, 1>>>(d);
    int h;
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 45);
    toomuch<<<1, 1>>>(d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 1);
    EXPECT(both == 2.5);
    for_each(64, [] __device__(int i) { table[i] = i * both; });
    EXPECT(table[10] == 25.0f);
    CHECK(cudaMallocManaged(&shared_list, 400));
    for (int i = 0; i < 100; i++) shared_list[i] = i;
    for_each(100, [] __device__(int i) { shared_list[i] *= 2; });
    EXPECT(shared_list[99] == 198);
    launch_fill(d, 7, 256);
    launch_fill((float*)d + 256, 1.5f, 256);
    LAUNCH(add_one, 2, 128, d, 256);
    LAUNCH(times_two, dim3(2), dim3(128), d, 256);
    int hh[256];
    CHECK(cudaMemcpy(hh, d, 1024, cudaMemcpyDeviceToHost));
    EXPECT(hh[0] == 16 && hh[255] == 16);
    int bias = 3;
    std::vector<int> v(10, 1);
    int* q = d;
    for_each(256, [=] __device__(int i) { q[i] = i + bias; });
    CHECK(cudaMemcpy(hh, d, 1024, cudaMemcpyDeviceToHost));
    EXPECT(hh[100] == 103);
    auto both_l = [=] __host__ __device__(int i) { return i * bias; };
    CHECK(cudaMemset(d, 0, 4));
    reduce_k<<<1, 32>>>(both_l, 100, d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 3 * 4950 && both_l(2) == 6);
    CHECK(cudaMemset(d, 0, 4));
    reduce_k<<<1, 32>>>(Op{2}, 10, d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 65);
    relaxed<<<1, 8>>>(d, 4);
    CHECK(cudaMemcpy(hh, d, 32, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        EXPECT(hh[i] == i * i + 5 + (3 * i + 8) + std::max(i, 4) + 4 + 2147483647 % 7 + std::min(i, 3) + 16 + 2);
    return pass();
}
