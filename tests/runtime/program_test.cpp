// Whole programs by `lockstep run` and `lockstep exec`: each of tests/programs/whole checks itself, by every compiler for
// programs that this computer has; and what is said of a program that ends badly, or is none.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace runtime_program_test {
namespace {

namespace fs = std::filesystem;

bool is_here(const char* compiler) {
    const Outcome devices = lockstep_command("devices");
    const size_t at = devices.out.find(compiler);
    return at != std::string::npos &&
           devices.out.substr(at, devices.out.find('\n', at) - at).find("missing") == std::string::npos;
}

std::vector<std::string> compilers() {
    std::vector<std::string> here;
    for (const char* name : {"nvcc", "clang"})
        if (is_here(name)) here.emplace_back(name);
    return here;
}

void use_own_cache() {
    ::setenv("XDG_CACHE_HOME", (scratch() / "cache").c_str(), 1);
}

const char* const adder = R"(#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void add(int* x, int by) { x[blockIdx.x * blockDim.x + threadIdx.x] += by; }
int main(int argc, char** argv) {
    int *x, by = argc > 1 ? atoi(argv[1]) : 1, first = 0;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    for (int k = 0; k < 5; ++k) add<<<2, 128>>>(x, by);
    cudaMemcpy(&first, x, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", first);
    return first == 5 * by ? 42 : 1;
}
)";

TEST_CASE("every whole program passes its own check by every compiler") {
    use_own_cache();
    const std::vector<std::string> here = compilers();
    if (here.empty()) {
        WARN("skipped: neither nvcc nor clang is here");
        return;
    }
    size_t programs = 0;
    for (const auto& entry : fs::directory_iterator(LOCKSTEP_SOURCE_DIR "/tests/programs/whole")) {
        if (entry.path().extension() != ".cu") continue;
        ++programs;
        for (size_t c = 0; c < here.size(); ++c) {
            if (!sampled(c + programs, here.size())) continue;  // by one of them, in turn
            const std::string& compiler = here[c];
            const Outcome ran = lockstep_command("run " + entry.path().string() + " --compiler " + compiler +
                                                 " --report none" + (entry.path().stem() == "peer_copy" ? " --gpus 2" : ""));
            INFO(entry.path().filename().string() << " by " << compiler << "\n" << ran.out << ran.err);
            CHECK(ran.status == 0);
            CHECK(ran.out.find("PASS") != std::string::npos);
        }
    }
    CHECK(programs >= 10);
}

TEST_CASE("a kernel's failed assertion is told on the program's stderr, whatever the report says") {
    use_own_cache();
    const std::string file = write("asserts.cu", R"(#include <cassert>
#include <cuda_runtime.h>
__global__ void k(int n) { assert(threadIdx.x + 32 * blockIdx.x < n); }
int main() {
    k<<<2, 32>>>(60);
    return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --report none --compiler " + compiler);
        INFO(compiler << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
        CHECK(ran.out.empty());
        CHECK(ran.err.find("asserts.cu:3: k: block: [1,0,0], thread: [28,0,0] Assertion `") != std::string::npos);
        CHECK(ran.err.find("` failed.") != std::string::npos);
    }
}

TEST_CASE("a program's launches may be longer than a kernel's alone, unless --max-instructions says otherwise") {
    use_own_cache();
    const std::string file = write("limit.cu", R"(#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void k(volatile int* x) { for (int i = 0; i < 10000; ++i) *x = i; }
int main() {
    int* x;
    cudaMalloc(&x, 4);
    k<<<1, 1>>>(x);
    const char* limit = getenv("LOCKSTEP_MAX_INSTRUCTIONS");
    printf("%s %s\n", limit ? limit : "none", cudaGetErrorName(cudaDeviceSynchronize()));
}
)");
    for (const auto& [option, said] : {std::pair<std::string, std::string>{"", "20000000000 cudaSuccess\n"},
                                       {" --max-instructions 5000", "5000 cudaErrorLaunchTimeout\n"}}) {
        const Outcome ran = lockstep_command("run " + file + " --functional --report none" + option);
        INFO(ran.err);
        CHECK(ran.out == said);
    }
}

TEST_CASE("texture references, which nvcc has no more, are compiled by clang, and headers of a toolkit are not in the way") {
    use_own_cache();
    const std::vector<std::string> here = compilers();
    if (std::find(here.begin(), here.end(), "clang") == here.end()) {
        WARN("skipped: clang is not here");
        return;
    }
    const std::string file = write("references.cu", R"(#include <cstdio>
#include <cuda_runtime.h>
#define FORMAT "g"
texture<float> values;
__global__ void sum(float* out) {
    for (int k = 0; k < 4; ++k) *out += tex1Dfetch(values, k);
}
int main() {
    float host[4] = {1, 2, 3, 4}, out = 0, *from, *to;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&to, sizeof out);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(to, 0, sizeof out);
    cudaBindTexture(0, values, from, sizeof host);
    sum<<<1, 1>>>(to);
    cudaMemcpy(&out, to, sizeof out, cudaMemcpyDeviceToHost);
    printf("%"FORMAT"\n", out);
}
)");
    std::filesystem::create_directories(scratch() / "toolkit" / "crt");
    write("toolkit/cuda_runtime.h", "#error this is not the header to be found\n");
    write("toolkit/cuda_runtime_api.h", "#error nor is this\n");
    const std::string toolkit = " -I " + (scratch() / "toolkit").string();
    for (const std::string& options : {std::string(), std::string(), " --compiler clang" + toolkit}) {
        const Outcome ran = lockstep_command("run " + file + options + " --report none");
        INFO(options << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
        CHECK(ran.out == "10\n");
    }
    if (here.size() == 2) {
        const Outcome refused = lockstep_command("run " + file + " --compiler nvcc");
        CHECK(refused.status == 2);
        CHECK(refused.err.find("clang compiles them (--compiler clang)") != std::string::npos);
    }
}

TEST_CASE("a program that asks for more GPUs than it has learns which option gives them") {
    use_own_cache();
    const std::string file = write("four.cu", R"(#include <cuda_runtime.h>
int main() { return cudaSetDevice(3) == cudaErrorInvalidDevice ? 0 : cudaSetDevice(99) == cudaSuccess; }
)");
    const Outcome ran = lockstep_command("run " + file);
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err.find("device 3 is asked for: --gpus 4 gives the program so many") != std::string::npos);
    const Outcome four = lockstep_command("run " + file + " --gpus 4");
    INFO(four.err);
    CHECK(four.status == 0);
    CHECK(four.err.find("device 99 is asked for") != std::string::npos);
    CHECK(four.err.find("--gpus") == std::string::npos);
}

TEST_CASE("device code of several files is linked together, and what does not fit is told with the files' names") {
    use_own_cache();
    const std::string folder = LOCKSTEP_SOURCE_DIR "/tests/programs/linked/";
    const std::string again = write("again.cu", "__device__ int counter = 1;\n");
    const std::string lacks = write("lacks.cu", R"(#include <cuda_runtime.h>
extern __device__ int missing(int);
__global__ void k(int* p) { *p = missing(*p); }
int main() { k<<<1, 1>>>(nullptr); }
)");
    for (const std::string& compiler : compilers()) {
        const std::string both = "run " + folder + "main.cu " + folder + "solver.cu --rdc --compiler " + compiler;
        const Outcome ran = lockstep_command(both + " --report none");
        INFO(compiler << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
        CHECK(ran.out == "PASS\n");
        refuses("run " + folder + "main.cu " + folder + "solver.cu " + again + " --rdc --compiler " + compiler,
                "'counter' is defined in main.cu and again in again.cu");
        refuses("run " + lacks + " --rdc --compiler " + compiler,
                "lacks.cu calls 'missing', which is declared there and defined in none of the files");
        const Outcome unlinked = lockstep_command("run " + lacks + " --compiler " + compiler);
        CHECK(unlinked.err.find("--rdc links the device code of several files") != std::string::npos);
    }
}

TEST_CASE("kernels launch kernels and wait for them, without an option that asks for it") {
    use_own_cache();
    const std::string folder = LOCKSTEP_SOURCE_DIR "/tests/programs/nested/";
    if (is_here("nvcc")) {
        for (const char* program : {"launches.cu", "waits.cu"}) {
            const Outcome ran = lockstep_command("run " + folder + program + " --compiler nvcc --functional");
            INFO(program << "\n" << ran.out << ran.err);
            CHECK(ran.status == 0);
            CHECK(ran.out == "PASS\n");
            CHECK(ran.err.find("kernels that a kernel launches ran one after the other") != std::string::npos);
        }
        const Outcome json = lockstep_command("run " + folder + "waits.cu --compiler nvcc --json -");
        CHECK(json.status == 0);
        const auto launches = nlohmann::json::parse(json.out).at("launches");
        REQUIRE(launches.size() == 3 + 127);
        CHECK(launches[0].at("kernel") == "parent");
        CHECK(launches[1].at("kernel") == "square");
        CHECK(launches[2].at("kernel") == "sum");
        CHECK(launches[1].at("begin_us").get<double>() >= launches[0].at("end_us").get<double>());
        refuses("run " + folder + "waits.cu --compiler nvcc --gpu h100",
                "from compute capability 9.0 on have no wait in kernels");
        const Outcome faults = lockstep_command("run " + write("bad_child.cu", R"(#include <cuda_runtime.h>
__global__ void child(int* p) { p[threadIdx.x] = 1; }
__global__ void parent(int* p) { child<<<1, 64>>>(p); }
int main() {
    int* d;
    cudaMalloc(&d, 32 * sizeof(int));
    parent<<<1, 1>>>(d);
    const int status = cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 5 : 1;
    cudaFree(d);
    return status;
}
)") + " --compiler nvcc");
        INFO(faults.err);
        CHECK(faults.status == 5);
        CHECK(faults.err.find("bad_child.cu:2: memcheck") != std::string::npos);
    }
    if (is_here("clang"))
        refuses("run " + folder + "launches.cu --compiler clang", "clang cannot compile launches from kernels, nvcc can");
}

TEST_CASE("thrust and cub work with the toolkit's headers") {
    use_own_cache();
    if (!is_here("nvcc")) {
        WARN("skipped: nvcc is not here");
        return;
    }
    const Outcome ran = lockstep_command("run " LOCKSTEP_SOURCE_DIR
                                         "/tests/programs/toolkit/algorithms.cu --compiler nvcc --functional --report none");
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out == "PASS\n");
}

TEST_CASE("a program keeps its arguments, output and exit status, and its report names its launches") {
    use_own_cache();
    const std::string file = write("adder.cu", adder);
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --compiler " + compiler + " --json " +
                                             (scratch() / "report.json").string() + " -- 7");
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 42);
        CHECK(ran.out == "35\n");
        CHECK(ran.err.find("add") != std::string::npos);
        CHECK(ran.err.find("never freed\n  x (device, 1 KiB), allocated at") != std::string::npos);
        const auto json = nlohmann::json::parse(lockstep::read_file(scratch() / "report.json").value());
        CHECK(json.at("status") == 42);
        REQUIRE(json.at("launches").size() == 5);
        const auto cycles = [&](size_t launch) { return json.at("launches")[launch].at("cycles").get<int64_t>(); };
        for (const auto& launch : json.at("launches")) CHECK(launch.at("kernel") == "add");
        CHECK(cycles(1) < cycles(0));  // its data are in L2 by then
        CHECK(cycles(1) > 0);
        for (size_t launch = 2; launch < 5; ++launch) CHECK(cycles(launch) == cycles(1));
        const Outcome cold = lockstep_command("run " + file + " --compiler " + compiler + " --l2 cold --json " +
                                              (scratch() / "cold.json").string() + " -- 7");
        const auto each = nlohmann::json::parse(lockstep::read_file(scratch() / "cold.json").value()).at("launches");
        CHECK(each[0].at("cycles") == cycles(0));
        CHECK(each[1].at("cycles") == cycles(0));
        CHECK(json.at("launches")[0].at("timed_by") == "simulation");
        CHECK(json.at("launches")[4].at("timed_by") == "same counts");
        CHECK(json.at("copies").size() == 1);
    }
}

TEST_CASE("a fault, an error that nobody asked for and a copy past the end are told with their lines") {
    use_own_cache();
    const std::string file = write("wrong.cu", R"(#include <cuda_runtime.h>
__global__ void fill(int* p, int n) { p[threadIdx.x] = n; }
int main() {
    int host[64], *d_out;
    cudaMalloc(&d_out, 32 * sizeof(int));
    cudaMemcpy(host, d_out, sizeof host, cudaMemcpyDeviceToHost);
    fill<<<1, 2000>>>(d_out, 1);
    fill<<<1, 64>>>(d_out, 1);
    cudaDeviceSynchronize();
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --check memcheck --compiler " + compiler);
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 1);
        for (const char* part : {"wrong.cu:6: cudaMemcpy returned cudaErrorInvalidValue", "'d_out' (allocated at",
                                 "128 past its end", "at most 1024 threads", "nobody looked at it", "wrong.cu:2: memcheck"})
            CHECK(ran.err.find(part) != std::string::npos);
    }
}

TEST_CASE("streams that share a buffer and do not wait are told, those that wait are not") {
    use_own_cache();
    const std::string file = write("race.cu", R"(#include <cuda_runtime.h>
__global__ void twice(float* y, const float* x) { y[threadIdx.x] = 2 * x[threadIdx.x] + 1; }
int main(int argc, char**) {
    float *h, *d_x, *d_y;
    cudaMallocHost(&h, 1024);
    cudaMalloc(&d_x, 1024);
    cudaMalloc(&d_y, 1024);
    cudaStream_t first, second;
    cudaEvent_t there;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&there);
    cudaMemcpyAsync(d_x, h, 1024, cudaMemcpyHostToDevice, first);
    cudaEventRecord(there, first);
    if (argc == 1) cudaStreamWaitEvent(second, there);
    twice<<<1, 256, 0, second>>>(d_y, d_x);
    cudaDeviceSynchronize();
    cudaFree(d_x), cudaFree(d_y), cudaFreeHost(h);
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        const std::string start = "run " + file + " --check racecheck --compiler " + compiler;
        const Outcome right = lockstep_command(start);
        INFO(compiler << "\n" << right.err);
        CHECK(right.status == 0);
        CHECK(right.err.find("races between streams") == std::string::npos);
        const Outcome wrong = lockstep_command(start + " -- unordered");
        INFO(wrong.err);
        CHECK(wrong.status == 1);
        CHECK(wrong.err.find("the kernel twice in stream 2 (") != std::string::npos);
        CHECK(wrong.err.find("race.cu:16) reads 'd_x' (allocated at ") != std::string::npos);
        CHECK(wrong.err.find("while the copy host to device in stream 1 (") != std::string::npos);
    }
}

TEST_CASE("options for the compiler, a cache that cannot be written and output beside JSON") {
    use_own_cache();
    const std::string file = write("omp.cu", R"(#include <cstdio>
#include <omp.h>
int main(int, char** argv) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 100; ++i) sum += i;
    printf("%s %d %d\n", argv[0], sum, omp_get_max_threads() > 0);
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        if (compiler == "clang") continue;  // its OpenMP is a package of its own
        const Outcome ran = lockstep_command("run " + file + " --compiler " + compiler + " -X=-fopenmp --report none");
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 0);
        CHECK(ran.out == "omp 4950 1\n");
    }
    if (compilers().empty()) return;
    const std::string adds = write("adder.cu", adder);
    const Outcome json = lockstep_command("run " + adds + " --json - -- 7");
    CHECK(json.status == 42);
    CHECK(nlohmann::json::parse(json.out).at("launches").size() == 5);  // nothing but JSON
    CHECK(json.err.find("35\n") != std::string::npos);
    ::setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    CHECK(lockstep_command("run " + adds + " --report none -- 7").status == 42);
    use_own_cache();
    refuses("run " + adds + " --arch banana", "'banana' is no architecture");
    refuses("run " + (scratch() / "absent.cu").string(), "there is no such file");
    refuses("run " + scratch().string(), "this is a folder");
}

TEST_CASE("what is no program, cannot be compiled or dies is told in a sentence") {
    use_own_cache();
    refuses("run " + write("kernel.cu", "__global__ void k(int* p) { *p = 1; }\n"), "there is no main() in it");
    refuses("exec", "exec needs the command behind --");
    refuses("exec -- ./no-such-program", "there is no program './no-such-program'");
    refuses("exec -- " + write("text.cu", "int main() {}\n"), "is no program: `exec` starts what a compiler has linked");
    std::string other(64, '\0');  // of a 64-bit program for PDP-10s
    other.replace(0, 6,
                  "\x7f"
                  "ELF\2\1");
    other[18] = 64;
    const std::string foreign = write("foreign", other);
    std::filesystem::permissions(foreign, std::filesystem::perms::owner_all);
    refuses("exec -- " + foreign, "is a program for machine 64 of ELF, and this computer is ");
    const std::string linked = write("static.out", std::string("\x7f") + "ELF .nv_fatbin");
    const Outcome needs_driver = lockstep_command("exec -- " + linked);
    CHECK(needs_driver.status == 3);
    CHECK(needs_driver.err.find("has CUDA's static runtime inside") != std::string::npos);
    if (compilers().empty()) return;
    const std::string broken = write("broken.cu", "#include <cstdio>\nint main() { return undeclared; }\n");
    const Outcome refused = lockstep_command("run " + broken);
    CHECK(refused.status == 2);
    CHECK(refused.err.find("broken.cu:2:21: error:") != std::string::npos);
    refuses("run " + write("main.cu", "int main() { return 0; }\n") + " --shared 16", "--shared is for one kernel");
    refuses("run " + write("main.cu", "int main() { return 0; }\n") + " --time some", "--time is all, first:N");
    const Outcome dies = lockstep_command("run " + write("dies.cu", "#include <cstdlib>\nint main() { abort(); }\n"));
    CHECK(dies.status == 128 + 6);
    CHECK(dies.err.find("the program was ended by signal 6") != std::string::npos);
}

TEST_CASE("a launch is taken as Visual Studio formats it, and faults are told at its own lines") {
    use_own_cache();
    write("spaced.cuh",
          "#pragma once\n__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
          "inline void launch(int* p) { k << <1, 32 >> > (p); }\n");
    const std::string file = write("spaced.cu", R"(#include <cstdio>
#include "spaced.cuh"
int main() {
    int* p;
    cudaMalloc(&p, 64);
    launch(p);
    k << <1, 16 >> > (p);
    printf("%d\n", cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --functional --compiler " + compiler);
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 0);
        CHECK(ran.out == "1\n");
        CHECK(ran.err.find("spaced.cuh:2: memcheck:") != std::string::npos);
        CHECK(ran.err.find("spaced.cu:5\n") != std::string::npos);  // where it was allocated
    }
}

TEST_CASE("a C++ file of a program tells by their guards that CUDA's headers are there, as helper_cuda.h does") {
    use_own_cache();
    const std::string kernel = write("filled.cu",
                                     "__global__ void k(int* p) { *p = 7; }\n"
                                     "void fill(int* p) { k<<<1, 1>>>(p); }\n");
    const std::string file = write("main.cpp", R"(#include <cuda_runtime.h>
#if !defined __DRIVER_TYPES_H__ || !defined __CUDA_RUNTIME_H__
#error "CUDA's headers are not there"
#endif
void fill(int* p);
int main() {
    int *d, h = 0;
    cudaMalloc((void**)&d, sizeof h);
    fill(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    return h == 7 ? cudaFree(d) : 1;
}
)");
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " " + kernel + " --report none --compiler " + compiler);
        INFO(compiler << "\n" << ran.err);
        CHECK(ran.status == 0);
    }
}

TEST_CASE("a host program that never ends is ended after --max-seconds, with what there was so far") {
    use_own_cache();
    if (compilers().empty()) return;
    const std::string file = write("endless.cu", R"(#include <csignal>
#include <cstdlib>
__global__ void k() {}
int main(int argc, char** argv) {
    if (argc > 1) signal(SIGTERM, SIG_IGN);
    k<<<1, 1>>>();
    for (volatile int x = 0;; x = x + 1) {}
}
)");
    for (const char* const stubborn : {"", " -- yes"}) {
        const Outcome ran = lockstep_command("run " + file + " --functional --max-seconds 1" + stubborn);
        INFO(ran.err);
        CHECK(ran.status == 2);
        CHECK(ran.err.find("the program was not done after 1 s (--max-seconds), and was ended\n") != std::string::npos);
    }
    refuses("run " + file + " --max-seconds 0", "--max-seconds");
}

TEST_CASE("nvcc without a compiler of the host's part is told as what is missing") {
    const std::vector<std::string> here = compilers();
    if (std::find(here.begin(), here.end(), "nvcc") == here.end()) return;
    const std::string file = write("main.cu", "int main() { return 0; }\n"), before = std::getenv("PATH");
    ::setenv("PATH", scratch().c_str(), 1);
    const Outcome ran = lockstep_command("run " + file + " --compiler nvcc");
    ::setenv("PATH", before.c_str(), 1);
    CHECK(ran.status == 3);
    CHECK(ran.err == "error: nvcc needs a compiler of the host's part, and g++ is not here: apt install g++\n");
}

TEST_CASE("a program that was compiled is not compiled again until one of its files changes") {
    use_own_cache();
    if (compilers().empty()) return;
    const std::string header = write("amount.h", "#define AMOUNT 3\n");
    const std::string file = write("cached.cu", "#include \"amount.h\"\nint main() { return AMOUNT; }\n");
    CHECK(lockstep_command("run " + file).status == 3);
    const auto entries = [] {
        return std::distance(fs::directory_iterator(scratch() / "cache" / "lockstep" / "programs"),
                             fs::directory_iterator());
    };
    const auto before = entries();
    CHECK(lockstep_command("run " + file).status == 3);
    CHECK(entries() == before);
    write("amount.h", "#define AMOUNT 4\n");
    CHECK(lockstep_command("run " + file).status == 4);
}

}  // namespace
}  // namespace runtime_program_test
