// A program's launches without timing print the same on 1, 2 and 4 threads, and the report says which kernels' blocks ran
// beside each other and why others did not.
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace runtime_blocks_test {
namespace {

std::vector<std::string> compilers() {
    const Outcome devices = lockstep_command("devices");
    std::vector<std::string> here;
    for (const char* name : {"nvcc", "clang"}) {
        const size_t at = devices.out.find(name);
        if (at != std::string::npos &&
            devices.out.substr(at, devices.out.find('\n', at) - at).find("missing") == std::string::npos)
            here.emplace_back(name);
    }
    return here;
}

const char* const program = R"(#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void saxpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void histogram(unsigned* bins, const float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[(int)(x[i] * 7) & 63], 1u);
}
__global__ void pick(int* out, int* count, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 3) out[atomicAdd(count, 1)] = i;
}
__global__ void total(float* sum, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}
__global__ void smear(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) x[i] = 0.5f * (x[i] + x[i + 1]);
}
template <class T>
void show(const char* name, const T* from, int n) {
    std::vector<T> h(n);
    cudaMemcpy(h.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
    unsigned long long hash = 1469598103934665603ull;
    const auto* bytes = (const unsigned char*)h.data();
    for (size_t k = 0; k < n * sizeof(T); ++k) hash = (hash ^ bytes[k]) * 1099511628211ull;
    printf("%s %016llx\n", name, hash);
}
int main() {
    const int n = 1 << 18;
    std::vector<float> h(n);
    for (int k = 0; k < n; ++k) h[k] = (k * 2654435761u >> 8) / 4194304.0f;
    float *x, *y, *sum;
    unsigned* bins;
    int* list;
    cudaMalloc(&x, n * 4), cudaMalloc(&y, n * 4), cudaMalloc(&bins, 256), cudaMalloc(&list, n * 4 + 4), cudaMalloc(&sum, 4);
    cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 256), cudaMemset(list, 0, n * 4 + 4), cudaMemset(sum, 0, 4);
    saxpy<<<n / 256, 256>>>(y, x, 2.5f, n), show("saxpy", y, n);
    histogram<<<128, 256>>>(bins, x, n), show("histogram", bins, 64);
    pick<<<n / 256, 256>>>(list + 1, list, x, n), show("pick", list, n);
    total<<<n / 256, 256>>>(sum, x, n), show("total", sum, 1);
    smear<<<n / 256, 256>>>(x, n), smear<<<n / 256, 256>>>(x, n), show("smear", x, n);
    cudaFree(x), cudaFree(y), cudaFree(bins), cudaFree(list), cudaFree(sum);
    return 0;
}
)";

TEST_CASE("launches without timing print the same on any number of threads") {
    ::setenv("XDG_CACHE_HOME", (scratch() / "cache").c_str(), 1);
    const std::string file = write("blocks.cu", program);
    const auto json = scratch() / "blocks.json";
    for (const std::string& compiler : compilers()) {
        std::string first;
        for (const int threads : {1, 2, 4}) {
            const Outcome ran = lockstep_command("run " + file + " --functional --compiler " + compiler + " --threads " +
                                                 std::to_string(threads) + " --json " + json.string());
            INFO(compiler << " " << threads << "\n" << ran.err);
            CHECK(ran.status == 0);
            if (threads == 1) first = ran.out;
            CHECK(ran.out == first);
            const auto orders = nlohmann::json::parse(lockstep::read_file(json).value()).at("orders");
            REQUIRE(orders.size() == 5);
            for (const auto& order : orders) {
                const std::string kernel = order.at("kernel"), why = order.at("why");
                INFO(order.dump());
                if (kernel == "smear") {  // its blocks collide where several threads come to run some of them
                    CHECK((why.empty() || why == "its blocks touched the same bytes"));
                    continue;
                }
                const bool apart = kernel == "saxpy" || kernel == "histogram";
                CHECK(order.at("apart") == (apart && threads > 1 ? 1 : 0));
                CHECK(order.at("threads") == (apart ? threads : 1));
                if (kernel == "pick") CHECK(why == "line 14 uses what an atomic returned");
                if (kernel == "total") CHECK(why == "line 18 adds floating-point numbers by atomics");
            }
            if (threads == 4) {
                CHECK(ran.err.find("saxpy: blocks on 4 threads") != std::string::npos);
                CHECK(ran.err.find("pick: blocks one after the other: line 14 uses what an atomic returned") !=
                      std::string::npos);
            }
        }
        CHECK(first.find("smear ") != std::string::npos);
    }
}

}  // namespace
}  // namespace runtime_blocks_test
