// A host part that uses much of the standard library, call sites in namespaces and templates.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "check.h"

using namespace std;

namespace memory {
struct Free {
    void operator()(void* p) const { ::cudaFree(p); }
};
template <typename T>
using Pointer = unique_ptr<T, Free>;
template <typename T>
Pointer<T> allocate(size_t n) {
    T* p = nullptr;
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw runtime_error(cudaGetErrorString(cudaGetLastError()));
    return Pointer<T>(p);
}
}  // namespace memory

template <typename T>
__global__ void clamp_all(T* data, int n, T low, T high) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = min(max(data[i], low), high);
}

__global__ void pairs(const pair<int, float>* in, array<float, 2>* out) {
    out[threadIdx.x][0] = in[threadIdx.x].first * in[threadIdx.x].second;
    out[threadIdx.x][1] = numeric_limits<float>::max();
}

int main(int count, char** arguments) {
    const string name = count > 1 ? arguments[1] : "nobody";
    mt19937 random(42);
    uniform_real_distribution<float> uniform(-2.0f, 2.0f);
    vector<float> values(300);
    generate(values.begin(), values.end(), [&] { return uniform(random); });
    const auto device = memory::allocate<float>(values.size());
    auto* const copy = &cudaMemcpy;
    CHECK(copy(device.get(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    const auto begin = chrono::steady_clock::now();
    clamp_all<<<3, 128>>>(device.get(), static_cast<int>(values.size()), -1.0f, 1.0f);
    thread waiting([] { CHECK(cudaDeviceSynchronize()); });
    waiting.join();
    const chrono::duration<double> took = chrono::steady_clock::now() - begin;
    EXPECT(took.count() > 0);
    vector<float> clamped(values.size());
    (void)cudaMemcpy(clamped.data(), device.get(), clamped.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < values.size(); ++i) EXPECT(clamped[i] == min(max(values[i], -1.0f), 1.0f));

    const auto in = memory::allocate<pair<int, float>>(4);
    const auto out = memory::allocate<array<float, 2>>(4);
    const pair<int, float> host[4] = {{1, 2.0f}, {3, 4.0f}, {5, 6.0f}, {7, 8.0f}};
    CHECK(cudaMemcpy(in.get(), host, sizeof host, cudaMemcpyDefault));
    pairs<<<1, 4>>>(in.get(), out.get());
    array<float, 2> products[4];
    CHECK(cudaMemcpy(products, out.get(), sizeof products, cudaMemcpyDefault));
    for (int i = 0; i < 4; ++i) EXPECT(products[i][0] == host[i].first * host[i].second);
    EXPECT(products[0][1] == numeric_limits<float>::max());

    map<string, complex<double>> table{{"i", {0, 1}}};
    table["i"] *= table["i"];
    ostringstream text;
    text << fixed << setprecision(2) << table["i"].real() << " " << name;
    cout << text.str() << endl;
    EXPECT(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice) != cudaSuccess);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
    return pass();
}
