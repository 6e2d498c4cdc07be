// Planted bugs of every kind in real CUDA, by every compiler that this machine has: each is found, on its lines, and the
// same kernels without the bug are silent, in every order of warps and in the timed run. A kernel is compiled with BUG as
// 0 and as 1; marks in its comments name the lines that a report has to name.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "tests/catch.h"

namespace every_checker_test {

using namespace lockstep;

namespace {

const char* const source = R"cuda(
__device__ void barrier_unless_bug() {
    if (!BUG) __syncthreads();
}

__global__ void tile_before(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n / 16; ++t) {
        as[threadIdx.y][threadIdx.x] = a[y * n + t * 16 + threadIdx.x];    // tile_before write
        bs[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + x];  // tile_before other write
        barrier_unless_bug();
        for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];  // tile_before read
        __syncthreads();
    }
    c[y * n + x] = sum;
}

__global__ void tile_after(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n / 16; ++t) {
        as[threadIdx.y][threadIdx.x] = a[y * n + t * 16 + threadIdx.x];    // tile_after write
        bs[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + x];  // tile_after other write
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];  // tile_after read
        barrier_unless_bug();
    }
    c[y * n + x] = sum;
}

__global__ void reduction(const int* in, int* out) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];  // reduction
        barrier_unless_bug();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void scan(const int* in, int* out) {
    extern __shared__ int sums[];
    int t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int before = t >= d ? sums[t - d] : 0;  // scan read
        barrier_unless_bug();
        sums[t] += before;  // scan write
        __syncthreads();
    }
    out[t] = sums[t];
}

__global__ void warp_reduction(const int* in, int* out) {
    __shared__ int part[32];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncwarp();
    for (int s = 16; s > 0; s /= 2) {
        int other = t < s ? part[t + s] : 0;
        __syncwarp();
        if (t < s) part[t] += other;  // warp_reduction write
        if (!BUG) __syncwarp();
    }
    if (t == 1) out[0] = part[0];  // warp_reduction read
}

__global__ void histogram(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    if (BUG)
        bins[in[t] % 16]++;  // histogram
    else
        atomicAdd(&bins[in[t] % 16], 1);
    __syncthreads();
    if (t < 16) out[t] = bins[t];
}

__global__ void between_blocks(const int* in, int* total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x) return;
    if (BUG)
        *total += in[i];  // between_blocks
    else
        atomicAdd(total, in[i]);
}

__global__ void double_buffer(const int* in, int* out, int steps) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x, sum = 0;
    buffer[0][t] = in[t];
    for (int s = 0; s < steps; ++s) {
        __syncthreads();
        if (s + 1 < steps) buffer[(s + 1) % 2][t] = in[(s + 1) * 64 + t];  // double_buffer write
        if (BUG) sum += buffer[(s + 1) % 2][63 - t];                       // double_buffer read
        sum += buffer[s % 2][63 - t];
    }
    out[t] = sum;
}

__global__ void out_of_bounds(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (BUG ? i <= n : i < n) out[i] = in[i];  // out_of_bounds
}

__global__ void shared_bounds(const int* in, int* out) {
    extern __shared__ int row[];
    int t = threadIdx.x;
    row[BUG ? t + 1 : t] = in[t];  // shared_bounds
    __syncthreads();
    if (t < 8) out[t] = row[t + 1];
}

__global__ void misaligned(const float* in, float4* out) {
    const float4* v = (const float4*)(in + (BUG ? 1 : 0));
    out[threadIdx.x] = v[threadIdx.x];  // misaligned
}

__global__ void unwritten(const int* in, int* out) {
    int t = threadIdx.x;
    if (BUG)
        out[t] += in[t];  // unwritten
    else
        out[t] = in[t];
}

__global__ void unwritten_shared(const int* in, int* out) {
    __shared__ int row[64];
    int t = threadIdx.x;
    if (!BUG || t < 32) row[t] = in[t];
    __syncthreads();
    out[t] = row[63 - t];  // unwritten_shared
}

__global__ void after_free(int* out) {
    volatile int* p = (volatile int*)malloc(64);
    p[0] = threadIdx.x;
    if (BUG) free((void*)p);
    out[threadIdx.x] = p[0];  // after_free
    if (!BUG) free((void*)p);
}

__global__ void freed_twice(int* out) {
    volatile int* p = (volatile int*)malloc(64);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
    free((void*)p);
    if (BUG) free((void*)p);  // freed_twice
}

__global__ void unwritten_heap(int* out) {
    volatile int* p = (volatile int*)malloc(64);
    if (!BUG) p[2] = threadIdx.x;
    out[threadIdx.x] = p[2];  // unwritten_heap
    free((void*)p);
}

__global__ void unwritten_local(const int* in, int* out, int n) {
    int mine[8];
    for (int i = BUG; i < n; ++i) mine[i] = in[i];
    out[threadIdx.x] = mine[threadIdx.x % n];  // unwritten_local
}

__global__ void divergent_barrier(const int* in, int* out) {
    __shared__ int row[64];
    int t = threadIdx.x;
    row[t] = in[t];
    if (BUG ? t % 2 == 0 : t < 64) __syncthreads();  // divergent_barrier
    out[t] = row[63 - t];
}

// Order without barriers: all of these are right.
__device__ int arrived;
__device__ int lock_word;
__device__ volatile int ready;

__global__ void last_block(const int* in, int* sums, int* out) {
    __shared__ int part[64];
    __shared__ bool last;
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    for (int s = 32; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) part[t] += part[t + s];
    }
    if (t == 0) {
        sums[blockIdx.x] = part[0];  // last_block write
        if (!BUG) __threadfence();
        if (BUG) arrived++;  // last_block count
        last = BUG ? blockIdx.x == gridDim.x - 1 : atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int sum = t < gridDim.x ? sums[t] : 0;  // last_block read
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (t == 0) *out = sum;
}

__global__ void locked(int* out) {
    if (threadIdx.x % 32) return;
    if (!BUG)
        while (atomicCAS(&lock_word, 0, 1) != 0) {
        }
    int was = out[0];  // locked read
    out[0] = was + 1;  // locked write
    __threadfence();
    if (!BUG) atomicExch(&lock_word, 0);
}

// The CUDA C++ Programming Guide's way to any atomic: a plain read first, and a compare-and-swap that finds out what it read.
__device__ double add_by_swap(double* address, double value) {
    unsigned long long* word = (unsigned long long*)address;
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, (unsigned long long)__double_as_longlong(value + __longlong_as_double(assumed)));  // swap
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void sum_by_swap(const double* in, double* out) {
    __shared__ double sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    add_by_swap(out, in[t]);
    add_by_swap(&sum, in[t]);
    barrier_unless_bug();
    if (t == 0) out[1] = sum;  // sum_by_swap read
}

__global__ void largest_by_swap(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* word = (int*)out;
    int old = *word;
    while (in[i] > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(in[i]));  // largest_by_swap swap
        if (old == assumed) break;
    }
    if (BUG && i == 40) *out = 0;  // largest_by_swap write
}

__global__ void smallest(const int* in, int* out) {
    int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x < *out) {  // smallest read
        if (BUG)
            *out = x;  // smallest write
        else
            atomicMin(out, x);
    }
}

__global__ void flag(const int* in, int* out) {
    int t = threadIdx.x;
    if (t == 0) {
        out[1] = in[0];  // flag write
        __threadfence();
        ready = 1;
    }
    if (t == 32) {
        if (!BUG)
            while (!ready) {
            }
        __threadfence();
        out[0] = out[1];  // flag read
    }
}
)cuda";

struct Planted {
    const char *kernel, *grid, *block;
    uint32_t shared;
    std::vector<const char*> arguments;
    const char *kind, *line, *other = nullptr;  // marks; `other` of a race
};
const Planted planted[] = {
    {"tile_before",
     "2,2",
     "16,16",
     0,
     {"in:f32[32,32]", "in:f32[32,32]", "out:f32[32,32]", "i32:32"},
     "racecheck",
     "tile_before write",
     "tile_before read"},
    {"tile_after",
     "2,2",
     "16,16",
     0,
     {"in:f32[32,32]", "in:f32[32,32]", "out:f32[32,32]", "i32:32"},
     "racecheck",
     "tile_after write",
     "tile_after read"},
    {"reduction", "2", "256", 0, {"in:i32[512]", "out:i32[2]"}, "racecheck", "reduction", "reduction"},
    {"scan", "1", "128", 512, {"in:i32[128]", "out:i32[128]"}, "racecheck", "scan write", "scan read"},
    {"warp_reduction",
     "1",
     "32",
     0,
     {"in:i32[32]", "out:i32[1]"},
     "racecheck",
     "warp_reduction write",
     "warp_reduction read"},
    {"histogram", "1", "256", 0, {"in:u32[256]", "out:u32[16]"}, "racecheck", "histogram", "histogram"},
    {"between_blocks", "8", "32", 0, {"in:i32[256]", "inout:i32{0}"}, "racecheck", "between_blocks", "between_blocks"},
    {"double_buffer",
     "1",
     "64",
     0,
     {"in:i32[256]", "out:i32[64]", "i32:4"},
     "racecheck",
     "double_buffer write",
     "double_buffer read"},
    {"last_block",
     "8",
     "64",
     0,
     {"in:i32[512]", "out:i32[8]", "out:i32[1]"},
     "racecheck",
     "last_block write",
     "last_block read"},
    {"locked", "4", "64", 0, {"inout:i32{0,0}"}, "racecheck", "locked write", "locked read"},
    {"sum_by_swap", "1", "64", 0, {"in:f64[64]", "inout:f64{0,0}"}, "racecheck", "swap", "sum_by_swap read"},
    {"largest_by_swap",
     "2",
     "64",
     0,
     {"in:f32[128]", "inout:f32{-1}"},
     "racecheck",
     "largest_by_swap swap",
     "largest_by_swap write"},
    {"smallest", "2", "64", 0, {"in:i32[128]", "inout:i32{1000}"}, "racecheck", "smallest write", "smallest read"},
    {"flag", "1", "64", 0, {"in:i32{9}", "out:i32[2]"}, "racecheck", "flag write", "flag read"},
    {"out_of_bounds", "3", "32", 0, {"in:i32[65]", "out:i32[64]", "i32:64"}, "memcheck", "out_of_bounds"},
    {"shared_bounds", "1", "64", 256, {"in:i32[64]", "out:i32[8]"}, "memcheck", "shared_bounds"},
    {"misaligned", "1", "8", 0, {"in:f32[40]", "out:f32[32]"}, "memcheck", "misaligned"},
    {"unwritten", "1", "64", 0, {"in:i32[64]", "out:i32[64]"}, "initcheck", "unwritten"},
    {"unwritten_shared", "1", "64", 0, {"in:i32[64]", "out:i32[64]"}, "initcheck", "unwritten_shared"},
    {"unwritten_heap", "1", "32", 0, {"out:i32[32]"}, "initcheck", "unwritten_heap"},
    {"unwritten_local", "1", "32", 0, {"in:i32[8]", "out:i32[32]", "i32:8"}, "initcheck", "unwritten_local"},
    {"after_free", "1", "32", 0, {"out:i32[32]"}, "memcheck", "after_free"},
    {"freed_twice", "1", "32", 0, {"out:i32[32]"}, "memcheck", "freed_twice"},
    {"divergent_barrier", "1", "64", 0, {"in:i32[64]", "out:i32[64]"}, "synccheck", "divergent_barrier"},
};

constexpr simt::WarpOrder orders[] = {simt::WarpOrder::round_robin, simt::WarpOrder::greedy, simt::WarpOrder::reverse,
                                      simt::WarpOrder::random};

int line_of(const std::string& text, const std::string& mark) {
    size_t at = text.find("// " + mark + "\n");
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// All that a run says: its warnings, its reports, and what stopped it. Order number 4 is the timed run.
std::vector<simt::Fault> findings(const ptx::Program& program, const Planted& p, size_t order, const std::string& text) {
    simt::Memory memory;
    simt::LaunchConfig config;
    config.grid = scene::parse_dim3(p.grid, "grid").value();
    config.block = scene::parse_dim3(p.block, "block").value();
    config.dynamic_shared = p.shared;
    std::vector<scene::KernelArgument> arguments;
    for (const char* argument : p.arguments) arguments.push_back(scene::parse_argument(argument).value());
    const auto bound = scene::bind_arguments(program, arguments, memory, config, 1, {}, text).value();
    REQUIRE(bound.arguments.size() == arguments.size());
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    simt::LaunchResult result;
    if (order < std::size(orders)) {
        simt::LaunchOptions options = model::functional_options(gpu, program, config);
        options.racecheck = options.initcheck = true;
        options.order = orders[order];
        result = simt::launch(program, config, memory, options);
    } else {
        model::TimedOptions options;
        options.racecheck = options.initcheck = true;
        result = model::launch(gpu, program, config, memory, options);
    }
    result.reports.insert(result.reports.begin(), result.warnings.begin(), result.warnings.end());
    if (result.fault) result.reports.push_back(*result.fault);
    return result.reports;
}

std::string list(const std::vector<simt::Fault>& faults) {
    std::string text;
    for (const simt::Fault& f : faults) text += simt::render(f) + "\n";
    return text;
}

}  // namespace

TEST_CASE("planted bugs are found on their lines by every compiler and in every order, and nothing without them") {
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) {
            fmt::print("skipped: {} is {}\n", compiler.name, compiler.description);
            continue;
        }
        for (const bool bug : {false, true}) {
            const std::string text = fmt::format("#define BUG {:d}\n", bug) + source;
            const auto module =
                ptx::parse(device::compile(text, "bugs.cu", {.compiler = compiler.name}).value().ptx, "bugs.ptx").value();
            for (const Planted& p : planted) {
                const auto program = ptx::decode(module, p.kernel).value();
                for (size_t order = 0; order <= std::size(orders); ++order) {
                    const std::vector<simt::Fault> found = findings(*program, p, order, text);
                    INFO(compiler.name << ", " << p.kernel << (bug ? " with its bug" : "") << ", order " << order << "\n"
                                       << list(found));
                    if (!bug) {
                        CHECK(found.empty());
                        continue;
                    }
                    const int line = line_of(text, p.line), other = p.other ? line_of(text, p.other) : 0;
                    const auto is_it = [&](const simt::Fault& f) {
                        const bool threads = !p.other || !(f.thread == f.other_thread && f.block == f.other_block);
                        return f.kind == p.kind && f.file == "bugs.cu" && f.line == line && f.other_line == other &&
                               threads && f.kernel == p.kernel;
                    };
                    CHECK(std::count_if(found.begin(), found.end(), is_it) >= 1);
                    if (p.kind == std::string("memcheck") || p.kind == std::string("synccheck")) CHECK(is_it(found.back()));
                }
            }
        }
    }
}

TEST_CASE("the bundled kernels are silent under all checkers") {
    const struct {
        const char *file, *kernel, *grid, *block;
        std::vector<const char*> arguments;
    } bundled[] = {
        {"matmul",
         "matmul_nn_f32",
         "3,2",
         "16,16",
         {"in:f32[32,40]", "in:f32[40,48]", "out:f32[32,48]", "i32:32", "i32:48", "i32:40"}},
        {"matmul",
         "matmul_naive_f32",
         "3,2",
         "16,16",
         {"in:f32[32,40]", "in:f32[40,48]", "out:f32[32,48]", "i32:32", "i32:48", "i32:40"}},
        {"matmul",
         "matmul_nt_f32",
         "3,2",
         "16,16",
         {"in:f32[32,40]", "in:f32[48,40]", "out:f32[32,48]", "i32:32", "i32:48", "i32:40"}},
        {"matmul",
         "matmul_tn_f32",
         "3,2",
         "16,16",
         {"in:f32[40,32]", "in:f32[40,48]", "out:f32[32,48]", "i32:32", "i32:48", "i32:40"}},
        {"reduce", "reduce_sum_f32", "1", "256", {"in:f32[1000]", "out:f32[1]", "i32:1000"}},
        {"softmax_cross_entropy",
         "softmax_cross_entropy_f32",
         "2",
         "128",
         {"in:f32[6,40]", "in:i32[6 below 40]", "out:f32[6]", "out:f32[6,40]", "i32:6", "i32:40"}},
        {"bias", "bias_grad_f32", "1", "256", {"in:f32[9,20]", "out:f32[20]", "i32:9", "i32:20"}},
        {"fill", "accumulate_f32", "2", "256", {"inout:f32[300 zero]", "in:f32[300]", "i32:300"}},
        {"bench", "strided_gather_f32", "2", "256", {"in:f32[512]", "out:f32[512]", "i32:512", "i32:33", "i32:4"}},
        {"bench", "divergent_f32", "2", "256", {"in:f32[512]", "out:f32[512]", "i32:512"}},
        {"relu", "relu_f32", "4", "64", {"in:f32[200]", "out:f32[200]", "i32:200"}},
    };
    for (const auto& k : bundled) {
        const auto path = resource_root() / "kernels" / "ptx" / (std::string(k.file) + ".ptx");
        const auto program = ptx::decode(ptx::parse(read_file(path).value(), path.string()).value(), k.kernel).value();
        for (size_t order = 0; order <= std::size(orders); ++order) {
            const auto found = findings(*program, {k.kernel, k.grid, k.block, 0, k.arguments, "", ""}, order, "");
            INFO(list(found));
            CHECK(found.empty());
        }
    }
}

TEST_CASE("lockstep run prints every report, puts both sides of a race into its JSON, and exits with 1") {
    const auto ptx = std::filesystem::temp_directory_path() / fmt::format("lockstep-race-{}.ptx", ::getpid());
    std::ofstream(ptx) << R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry swap(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 row[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, row;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    xor.b32 %r3, %r3, 128;
    ld.shared.u32 %r4, [%r3];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
)";
    const auto command = [&](const std::string& more) {
        const std::string line = std::string(LOCKSTEP_BINARY) + " run " + ptx.string() +
                                 " --grid 1 --block 64 --arg out:u32[64] --json - " + more + " 2>&1 >" + ptx.string() +
                                 ".json";
        FILE* pipe = ::popen(line.c_str(), "r");
        REQUIRE(pipe);
        std::string said;
        for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
        const int status = ::pclose(pipe);
        return std::pair(WEXITSTATUS(status), said);
    };
    for (const char* how : {"", "--functional"}) {
        CHECK(command(how).first == 0);
        const auto [status, said] = command(std::string(how) + " --check all");
        INFO(said);
        CHECK(status == 1);
        const auto json = nlohmann::json::parse(read_file(ptx.string() + ".json").value());
        REQUIRE(json["diagnostics"].size() >= 1);
        int races = 0;
        for (const auto& d : json["diagnostics"]) {
            CHECK_THAT(said, Catch::Contains(d["message"].get<std::string>()));
            if (d["kind"] != "racecheck") continue;
            ++races;
            CHECK(d["allocation"] == "row");
            CHECK((d["thread"][0].get<int>() ^ 32) == d["other"]["thread"][0].get<int>());
        }
        CHECK(races == 1);
    }
    CHECK(command("--check racecheks").first == 2);
    CHECK_THAT(command("--check racecheks").second, Catch::Contains("did you mean 'racecheck'?"));
    std::filesystem::remove(ptx);
    std::filesystem::remove(ptx.string() + ".json");
}

}  // namespace every_checker_test
