// Launches in every form that C++ has for them, and what the device shares of the language.
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>

#include "check.h"
#ifdef __NVCC__  // by which programs ask whether these words are there
#define ON_BOTH_SIDES __host__ __device__
#else
#define ON_BOTH_SIDES
#endif
ON_BOTH_SIDES inline int same(int i) {
    return i;
}
__global__ void one(int* p) {
    p[threadIdx.x] = same(threadIdx.x);
}
__global__ void two(int* p, int a = 5) {
    p[threadIdx.x] = a * threadIdx.x;
}
template <class K, class... A>
void launch(int g, int b, K k, A... a) {
    k<<<g, b>>>(a...);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
template <void (*K)(int*)>
void launch_fixed(int* p) {
    K<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize());
}
template <template <class> class V, class T>
__global__ void tt(V<T> v, T* p) {
    p[0] = v.x;
}
template <class T>
struct W {
    T x;
};
template <int... I>
__global__ void variadic(int* p) {
    int a[] = {I...};
    int s = 0;
    for (int x : a) s += x;
    *p = s;
}
template <class... T>
__global__ void fold(int* p, T... t) {
    *p = (t + ...);
}
struct Box {
    int k = 3;
    int* d;
    void run(int n);
};
template <class F>
__global__ void ap(F f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
void Box::run(int n) {
    auto self = *this;
    ap<<<1, 64>>>([=] __device__(int i) { self.d[i] = i + self.k; }, n);
    CHECK(cudaDeviceSynchronize());
}
struct Cfg {
    int a;
    float b[3];
    constexpr Cfg(int x = 0) : a(x), b{1, 2, 3} {}
};
__constant__ Cfg cfg(4);
__device__ Cfg dcfg(6);
__constant__ struct { int x, y; } pairs[2] = {{1, 2}, {3, 4}};
namespace ns {
template <class T>
struct Op {
    static __device__ T f(T x) { return x + 1; }
};
__device__ int counter;
enum class E { a = 3 };
}  // namespace ns
extern "C" __global__ void cname(int* p) {
    *p = cfg.a + dcfg.a + (int)cfg.b[2] + pairs[1].y + ns::Op<int>::f(1) + (int)ns::E::a;
}
__host__ __device__ int where() {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
}
__device__ __noinline__ int fact(int n) {
    return n <= 1 ? 1 : n * fact(n - 1);
}
__global__ void __launch_bounds__(64, 2) misc(int* __restrict__ p, const int* __restrict__ q) {
    extern __shared__ unsigned char raw[];
    double* dd = reinterpret_cast<double*>(raw);
    dd[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = (int)dd[63 - threadIdx.x] + where() + fact(5) + __ldg(q);
    static __shared__ int s;
    if (threadIdx.x == 0) {
        s = 9;
    }
    __syncthreads();
    p[threadIdx.x] += s;
    if constexpr (sizeof(int) == 4) p[threadIdx.x] += 1;
}
template <class T>
struct Traits;
template <>
struct Traits<float> {
    static constexpr int n = 4;
};
template <>
struct Traits<double> {
    static constexpr int n = 8;
};
template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
__global__ void sf(T* p) {
    p[0] = Traits<T>::n;
}
struct Vec {
    float x, y;
    __host__ __device__ Vec operator+(Vec o) const { return {x + o.x, y + o.y}; }
    __host__ __device__ friend bool operator<(Vec a, Vec b) { return a.x < b.x; }
};
__global__ void vec(Vec* v) {
    Vec a = v[0] + v[1];
    v[2] = a < v[0] ? v[0] : a;
}
__global__ void structured(int* p) {
    struct P {
        int a;
        float b;
    };
    auto [a, b] = P{3, 2.0f};
    int aa = a;
    auto l = [&](auto x) { return x + aa; };
    p[0] = l(4) + (int)l(b);
}
class Deep {
  public:
    struct In {
        __device__ int get() const { return v; }
        int v;
    };
};
__global__ void byval(W<int> a, double b, char c, short s, long long l, bool t, float3 f, int* p) {
    *p = a.x + (int)b + c + s + (int)l + t + (int)f.z;
}
typedef int (*Fn)(int);
__device__ int f1(int x) {
    return x + 1;
}
__device__ int f2(int x) {
    return x * 2;
}
__device__ Fn fns[2] = {f1, f2};
template <Fn F>
__device__ int call(int x) {
    return F(x);
}
__global__ void pointers(int* p) {
    int s = 0;
    for (int i = 0; i < 2; ++i) s += fns[i](10);
    *p = s + call<f1>(1);
}
#define DISPATCH(T, name, ...) \
    [&] {                      \
        using scalar_t = T;    \
        return __VA_ARGS__();  \
    }()
int main() {
    int *d, h[64];
    CHECK(cudaMalloc(&d, 4096));
    auto get = [&] {
        CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
        return h[0];
    };
    launch(1, 32, one, d);
    get();
    EXPECT(h[31] == 31);
    launch(1, 32, two, d, 2);
    get();
    EXPECT(h[31] == 62);
    two<<<1, 32>>>(d);
    get();
    EXPECT(h[2] == 10);
    launch_fixed<one>(d);
    get();
    EXPECT(h[31] == 31);
    tt<<<1, 1>>>(W<int>{42}, d);
    EXPECT(get() == 42);
    variadic<1, 2, 3><<<1, 1>>>(d);
    EXPECT(get() == 6);
    fold<<<1, 1>>>(d, 1, 2, 3, 4);
    EXPECT(get() == 10);
    Box b;
    b.d = d;
    b.run(64);
    get();
    EXPECT(h[63] == 66);
    cname<<<1, 1>>>(d);
    EXPECT(get() == 4 + 6 + 3 + 4 + 2 + 3);
    EXPECT(where() == 2);
    misc<<<1, 64, 64 * sizeof(double)>>>(d, d + 100);
    get();
    int q;
    CHECK(cudaMemcpy(&q, d + 100, 4, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 63 + 1 + 120 + q + 9 + 1);
    double* dd = (double*)d;
    sf<<<1, 1>>>(dd);
    double x;
    CHECK(cudaMemcpy(&x, d, 8, cudaMemcpyDeviceToHost));
    EXPECT(x == 8);
    Vec v[3] = {{1, 2}, {3, 4}, {0, 0}};
    CHECK(cudaMemcpy(d, v, sizeof v, cudaMemcpyHostToDevice));
    vec<<<1, 1>>>((Vec*)d);
    CHECK(cudaMemcpy(v, d, sizeof v, cudaMemcpyDeviceToHost));
    EXPECT(v[2].x == 4);
    structured<<<1, 1>>>(d);
    EXPECT(get() == 12);
    byval<<<1, 1>>>(W<int>{1}, 2.0, 3, 4, 5, true, make_float3(0, 0, 6), d);
    EXPECT(get() == 22);
    pointers<<<1, 1>>>(d);
    EXPECT(get() == 33);
    void (*fp)(int*) = one;
    fp<<<1, 32>>>(d);
    get();
    EXPECT(h[5] == 5);
    int five = 9;
    void* args[] = {&d, &five};
    CHECK(cudaLaunchKernel((const void*)two, dim3(1), dim3(32), args, 0, 0));
    get();
    EXPECT(h[2] == 18);
    int r = DISPATCH(float, "x", [&] {
        sf<scalar_t><<<1, 1>>>((scalar_t*)d);
        return (int)cudaGetLastError();
    });
    EXPECT(r == 0);
    float f;
    CHECK(cudaMemcpy(&f, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(f == 4);
    CHECK(cudaMemset(d, 0, 256));
    int hc = 5;
    CHECK(cudaMemcpyToSymbol(ns::counter, &hc, 4));
    int back;
    CHECK(cudaMemcpyFromSymbol(&back, ns::counter, 4));
    EXPECT(back == 5);
    auto uniq = std::unique_ptr<int, std::function<void(int*)>>(d, [](int* p) { cudaFree(p); });
    return pass();
}
