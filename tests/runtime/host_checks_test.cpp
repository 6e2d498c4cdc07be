// What --check finds in a program as a whole, each by a program that does it wrong and, with one argument more, right.
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace runtime_host_checks_test {
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

const char* const program = R"CUDA(#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__constant__ float taps[4];
__global__ void scale(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void filter(float* y) { y[threadIdx.x] = taps[threadIdx.x & 3]; }
__global__ void count(int* n) { n[0] += 1; }
int main(int argc, char** argv) {
    const int which = argc > 1 ? atoi(argv[1]) : 0;
    const bool right = argc > 2;
    const int n = 4096;
    float *h, *d, *e, *u;
    cudaMallocHost(&h, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(float));
    cudaMalloc(&e, n * sizeof(float));
    cudaMallocManaged(&u, n * sizeof(float));
    cudaMemset(d, 0, n * sizeof(float));
    cudaMemset(e, 0, n * sizeof(float));
    memset(u, 0, n * sizeof(float));
    cudaDeviceSynchronize();
    float sum = 0;
    switch (which) {
        case 1:  // reads what the copy has not finished
            cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
            if (right) cudaStreamSynchronize(0);
            sum += h[7];                                      // 30
            break;
        case 2:  // changes the source of a copy
            cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
            sum += h[3];  // reading it is fine
            if (right) cudaDeviceSynchronize();
            h[5] = 1;                                         // 36
            break;
        case 3:  // managed memory while a kernel writes it
            scale<<<n / 256, 256>>>(u, d, n);
            if (right) cudaDeviceSynchronize();
            sum += u[9];                                      // 41
            break;
        case 4:  // after it was freed
            if (!right) cudaFreeHost(h);
            h[1] = 2;                                         // 45
            if (!right) h = nullptr;
            break;
        case 5:
            if (right) { float t[4] = {1, 2, 3, 4}; cudaMemcpyToSymbol(taps, t, sizeof t); }
            filter<<<1, 32>>>(d);                             // 50
            cudaDeviceSynchronize();
            break;
        case 6:  // managed memory that the kernel only reads
            scale<<<n / 256, 256>>>(d, u, n);
            sum += u[9];
            if (right) cudaDeviceSynchronize();
            u[9] = 1;                                         // 57
            break;
        case 7: {
            cudaStream_t s;
            cudaEvent_t done;
            cudaStreamCreate(&s);
            cudaEventCreate(&done);
            cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, s);
            cudaEventRecord(done, s);
            if (right) while (cudaEventQuery(done) == cudaErrorNotReady) {}
            sum += h[7];                                      // 67
            cudaStreamSynchronize(s);
            cudaStreamDestroy(s);
            break;
        }
        case 8: {  // freed twice
            float* p;
            cudaMallocHost(&p, 100);
            cudaFreeHost(p);
            if (!right) cudaFreeHost(p);                      // 76
            break;
        }
    }
    cudaDeviceSynchronize();
    if (h) cudaFreeHost(h);
    cudaFree(d), cudaFree(e), cudaFree(u);
    printf("%g\n", sum);
    return 0;
}
)CUDA";

struct Wrong {
    int which = 0;
    std::vector<std::string> told;
};

TEST_CASE("memory that the host touches while the device may use it, or when it is freed, is told with its lines") {
    ::setenv("XDG_CACHE_HOME", (scratch() / "cache").c_str(), 1);
    const std::string file = write("checks.cu", program);
    const Wrong all[] = {
        {1, {"checks.cu:30) reads 'h' (allocated at ", "while the copy device to host in stream 0 (", "may still write it"}},
        {2, {"checks.cu:36) writes 'h' (allocated at ", "while the copy host to device in stream 0 (", "may still read it"}},
        {3, {"checks.cu:41) reads 'u' (allocated at ", "while the kernel scale in stream 0 (", "may still write it"}},
        {4, {"checks.cu:45) writes 'h' (allocated at ", "after it was freed (freed at "}},
        {5, {"checks.cu:10: initcheck: reads the __constant__ 'taps', which nobody has set"}},
        {6, {"checks.cu:57) writes 'u' (allocated at ", "while the kernel scale in stream 0 (", "may still read it"}},
        {7, {"checks.cu:67) reads 'h' (allocated at ", "while the copy device to host in stream 1 ("}},
        {8, {"cudaFreeHost returned cudaErrorInvalidValue: 'p' (allocated at ", "was freed before (freed at "}}};
    for (const std::string& compiler : compilers())
        for (const Wrong& wrong : all) {
            const std::string start =
                "run " + file + " --check all --compiler " + compiler + " -- " + std::to_string(wrong.which);
            const Outcome found = lockstep_command(start);
            INFO(compiler << " " << wrong.which << "\n" << found.out << found.err);
            CHECK(found.status == 1);
            for (const std::string& part : wrong.told) CHECK(found.err.find(part) != std::string::npos);
            const Outcome right = lockstep_command(start + " right");
            INFO(right.err);
            CHECK(right.status == 0);
            CHECK(right.err.find("too early") == std::string::npos);
            const Outcome unchecked = lockstep_command("run " + file + " --compiler " + compiler + " --report none -- " +
                                                       std::to_string(wrong.which == 4 ? 1 : wrong.which));
            CHECK(unchecked.status == 0);
        }
}

TEST_CASE("everything else that a program as a whole does wrong is told with its lines and names") {
    const std::string file = write("list.cu", R"(#include <cuda_runtime.h>
__global__ void fill(int* p, int n) { p[threadIdx.x] = n; }
int main() {
    int host[64], *d_in, *d_out, *d_gone;
    cudaMalloc(&d_in, 256);
    cudaMalloc(&d_out, 256);
    cudaMalloc(&d_gone, 256);
    cudaMemcpy(d_in, host, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(d_in, host, 260, cudaMemcpyHostToDevice);
    fill<<<1, 2048>>>(d_out, 1);
    cudaFree(d_gone);
    cudaFree(d_gone);
    cudaMemcpy(host, d_gone, 4, cudaMemcpyDeviceToHost);
    fill<<<1, 32>>>(d_gone, 1);
    cudaDeviceSynchronize();
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --check all --compiler " + compiler);
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 1);
        for (const char* part :
             {"list.cu:8: cudaMemcpy returned cudaErrorInvalidValue: the destination is device memory, 'd_in' (allocated "
              "at ",
              "list.cu:9: cudaMemcpy returned cudaErrorInvalidValue: the 260 bytes to be written of 'd_in'",
              "list.cu:10: cudaLaunchKernel returned cudaErrorInvalidValue", "nobody looked at it",
              "list.cu:12: cudaFree returned cudaErrorInvalidValue: 'd_gone' (allocated at ", "was freed before (freed at ",
              "list.cu:13: cudaMemcpy returned", "is read after it was freed", "list.cu:2: memcheck: invalid global write",
              "d_in (device, 256 bytes), allocated at "})
            CHECK(ran.err.find(part) != std::string::npos);
    }
}

TEST_CASE("a warning of a kernel is in the report of the program once, and only strict makes an exit status of it") {
    const std::string file = write("warned.cu", R"(#include <cuda_runtime.h>
__global__ void turn(float* x, int n) {
    __shared__ float held[64];
    int t = threadIdx.x;
    if (t < n) {
        held[t] = x[t];
        __syncthreads();
        x[t] = held[n - 1 - t];
    }
}
int main() {
    float* x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    for (int k = 0; k < 3; ++k) turn<<<1, 64>>>(x, 40);
    cudaDeviceSynchronize();
    cudaFree(x);
    return 0;
}
)");
    const std::string words =
        "warned.cu:7: warning: synccheck: only 40 of the block's 64 threads come to the barrier on line 7: "
        "it stands inside the `if` on line 5";
    for (const std::string& compiler : compilers()) {
        const Outcome warned = lockstep_command("run " + file + " --check all --compiler " + compiler);
        INFO(compiler << "\n" << warned.err);
        CHECK(warned.status == 0);
        const size_t first = warned.err.find(words);
        REQUIRE(first != std::string::npos);
        CHECK(warned.err.find(words, first + 1) == std::string::npos);
        const Outcome strict = lockstep_command("run " + file + " --check strict --json - --compiler " + compiler);
        CHECK(strict.status == 1);
        const auto json = nlohmann::json::parse(strict.out);
        REQUIRE(json.at("warnings").size() == 1);
        CHECK(json.at("warnings")[0].at("line") == 7);
        CHECK(json.at("diagnostics").empty());
    }
}

TEST_CASE("the launch of a kernel that faults goes well, and what waits for it does not") {
    const std::string file = write("late.cu", R"(#include <cstdio>
#include <cuda_runtime.h>
__global__ void bad(int* p) { p[1 << 20] = 1; }
int main() {
    int* d;
    cudaMalloc(&d, 4);
    bad<<<1, 1>>>(d);
    printf("%d ", cudaGetLastError());
    printf("%d ", cudaDeviceSynchronize());
    printf("%d\n", cudaGetLastError());
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --report none --compiler " + compiler);
        INFO(compiler << ran.err);
        CHECK(ran.out == "0 700 700\n");
    }
}

TEST_CASE("two functions of one name are told by the linker's own words") {
    const std::string first = write("first.cu", "int twice() { return 1; }\nint main() { return twice(); }\n");
    const std::string second = write("second.cu", "int twice() { return 2; }\n");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + first + " " + second + " --compiler " + compiler);
        INFO(ran.err);
        CHECK(ran.status == 2);
        CHECK(ran.err.find("multiple definition of") != std::string::npos);
        CHECK(ran.err.find("twice()") != std::string::npos);
    }
}

}  // namespace
}  // namespace runtime_host_checks_test
