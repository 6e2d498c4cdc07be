// A student's usual kernels, compiled by every compiler that this machine has and run functionally and timed: both give
// what a closed formula says.
#include <fmt/format.h>

#include <cstring>

#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "tests/catch.h"

namespace every_compiler_test {

using namespace lockstep;

namespace {

const char* const source = R"cuda(
struct Line { float slope; int n; double offset; };

__global__ void sum(const float* in, float* out, int n) {
    __shared__ float part[32];
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    for (int o = warpSize / 2; o > 0; o /= 2) s += __shfl_down_sync(0xffffffff, s, o);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = s;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        s = threadIdx.x < blockDim.x / warpSize ? part[threadIdx.x] : 0;
        for (int o = warpSize / 2; o > 0; o /= 2) s += __shfl_down_sync(0xffffffff, s, o);
        if (threadIdx.x == 0) atomicAdd(out, s);
    }
}

__global__ void scan(const int* in, int* out) {
    extern __shared__ int t[];
    int i = threadIdx.x;
    t[i] = in[i];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int before = i >= d ? t[i - d] : 0;
        __syncthreads();
        t[i] += before;
    }
    out[i] = t[i];
}

__global__ void together(unsigned* out) {
    int i = threadIdx.x;
    unsigned count = __syncthreads_count(i % 3 == 0);
    unsigned some = __syncthreads_or(i == 40), every = __syncthreads_and(i < 95);
    unsigned same = __match_any_sync(0xffffffff, i % 2);
    out[i] = count + 1000 * some + 2000 * every + (same == (i % 2 ? 0xaaaaaaaa : 0x55555555) ? 4000 : 0);
}

__global__ void line(Line l, float* out) {
    int i = threadIdx.x;
    if (i >= l.n) return;
    out[i] = l.slope * i + (float)l.offset;
}

__global__ void odd(int* out) {  // the sum of the odd numbers up to i, by a loop as long as the lane is far
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int j = 0; j <= i; ++j) {
        switch (j & 3) {
            case 0: continue;
            case 1: s += j; break;
            case 2: if (j > 1000) return; break;
            default: s += j;
        }
    }
    out[i] = s;
}

__global__ void halves(double* total) {
    unsigned long long* p = (unsigned long long*)total;
    unsigned long long old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, __double_as_longlong(__longlong_as_double(seen) + 0.5));
    } while (old != seen);
}

__global__ void turn(const float* in, float* out, int w, int h) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}
)cuda";

struct Case {
    const char *kernel, *grid, *block;
    uint32_t shared;
    std::vector<const char*> arguments;
    double (*wanted)(int i);  // of the last output
};
const Case cases[] = {
    {"sum", "3", "96", 0, {"in:f32[1000 ramp]", "inout:f32{0}", "i32:1000"}, [](int) { return 499500.0; }},
    {"scan", "1", "128", 512, {"in:i32[128 ramp]", "out:i32[128]"}, [](int i) { return i * (i + 1) / 2.0; }},
    {"together", "1", "96", 0, {"out:u32[96]"}, [](int) { return 32 + 1000.0 + 4000; }},
    {"line",
     "1",
     "64",
     0,
     {"struct:f32:2,i32:60,f64:-1", "inout:f32[64 zero]"},
     [](int i) { return i < 60 ? 2.0 * i - 1 : 0; }},
    {"odd", "2", "48", 0, {"out:i32[96]"}, [](int i) { return double((i + 1) / 2) * ((i + 1) / 2); }},
    {"halves", "3", "64", 0, {"inout:f64{1}"}, [](int) { return 97.0; }},
    {"turn",
     "3,2",
     "16,16",
     0,
     {"in:f32[30,40 ramp]", "out:f32[40,30]", "i32:40", "i32:30"},
     [](int i) { return 40.0 * (i % 30) + i / 30; }},
};

double element(const Array& array, size_t i) {
    switch (array.dtype) {
        case DType::i32:
            return array.as<int32_t>()[i];
        case DType::u32:
            return array.as<uint32_t>()[i];
        case DType::f64:
            return array.as<double>()[i];
        default:
            return array.as<float>()[i];
    }
}

}  // namespace

TEST_CASE("usual kernels give the right results by every compiler, functional and timed") {
    size_t compiled = 0;
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) {
            fmt::print("skipped: {} is {}\n", compiler.name, compiler.description);
            continue;
        }
        ++compiled;
        const auto module =
            ptx::parse(device::compile(source, "usual.cu", {.compiler = compiler.name}).value().ptx, "usual.ptx").value();
        for (const Case& c : cases)
            for (const bool timed : {false, true}) {
                INFO(compiler.name << ", " << c.kernel << (timed ? ", timed" : ", functional"));
                const auto program = ptx::decode(module, c.kernel).value();
                CHECK(program->shown_name() == c.kernel);
                simt::Memory memory;
                simt::LaunchConfig config;
                config.grid = scene::parse_dim3(c.grid, "grid").value();
                config.block = scene::parse_dim3(c.block, "block").value();
                config.dynamic_shared = c.shared;
                std::vector<scene::KernelArgument> arguments;
                for (const char* text : c.arguments) arguments.push_back(scene::parse_argument(text).value());
                const auto bound = scene::bind_arguments(*program, arguments, memory, config, 1, {}, source).value();
                simt::LaunchResult result;
                if (timed)
                    result = model::launch(model::gpu_named("v100").value(), *program, config, memory, {});
                else
                    result = simt::launch(*program, config, memory);
                INFO((result.fault ? simt::render(*result.fault) : ""));
                REQUIRE(!result.fault);
                const Array output = scene::read_outputs(bound, memory).back();
                int wrong = 0;
                for (size_t i = 0; i < output.count(); ++i) wrong += !(element(output, i) == c.wanted(static_cast<int>(i)));
                CHECK(output.count() > 0);
                CHECK(wrong == 0);
            }
    }
    if (!compiled) fmt::print("skipped: no compiler for CUDA C++ is here\n");
}

TEST_CASE("a failed assert is a fault of its own by every compiler, on its line and by the kernel's name") {
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) continue;
        INFO(compiler.name);
        const std::string text =
            "#include <cassert>\n__global__ void small(int* x) {\n    assert(threadIdx.x < 8);\n    x[threadIdx.x] = "
            "1;\n}\n";
        const auto program =
            ptx::decode(
                ptx::parse(device::compile(text, "small.cu", {.compiler = compiler.name}).value().ptx, "small.ptx").value())
                .value();
        simt::Memory memory;
        simt::LaunchConfig config;
        config.block = {32, 1, 1};
        const auto bound =
            scene::bind_arguments(*program, {scene::parse_argument("out:i32[32]").value()}, memory, config).value();
        const simt::LaunchResult result = simt::launch(*program, config, memory);
        REQUIRE(result.fault);
        CHECK(result.fault->kind == "assert");
        CHECK(result.fault->line == 3);
        CHECK(result.fault->kernel == "small");
        CHECK(result.fault->thread == simt::Dim3{8, 0, 0});
        CHECK(bound.arguments.size() == 1);
    }
}

TEST_CASE("barriers that count, match and redux give what the ISA says, without a compiler") {
    const std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry wide(.param .u64 out)
{
    .reg .pred %p<6>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 40;
    bar.red.popc.u32 %r2, 0, !%p1;
    barrier.cta.red.and.pred %p2, 1, 64, %p1;
    bar.red.or.pred %p3, 0, %p1;
    and.b32 %r3, %r1, 3;
    match.any.sync.b32 %r4, %r3, -1;
    match.all.sync.b32 %r5|%p4, %r3, -1;
    redux.sync.add.u32 %r6, %r1, -1;
    redux.sync.min.s32 %r7, %r1, -1;
    redux.sync.xor.b32 %r8, %r3, -1;
    selp.b32 %r9, 1, 0, %p2;
    selp.b32 %r10, 1, 0, %p3;
    selp.b32 %r11, 1, 0, %p4;
    mul.wide.u32 %rd2, %r1, 32;
    add.s64 %rd3, %rd1, %rd2;
    st.global.v4.u32 [%rd3], {%r2, %r4, %r5, %r6};
    st.global.v4.u32 [%rd3+16], {%r7, %r9, %r10, %r11};
    ret;
}
)";
    const auto program = ptx::decode(ptx::parse(text, "wide.ptx").value()).value();
    for (const bool timed : {false, true}) {
        INFO(timed);
        simt::Memory memory;
        simt::LaunchConfig config;
        config.block = {64, 1, 1};
        const auto bound =
            scene::bind_arguments(*program, {scene::parse_argument("out:u32[64,8]").value()}, memory, config).value();
        simt::LaunchResult result;
        if (timed)
            result = model::launch(model::gpu_named("a100").value(), *program, config, memory, {});
        else
            result = simt::launch(*program, config, memory);
        REQUIRE(!result.fault);
        const Array output = scene::read_outputs(bound, memory).at(0);
        int wrong = 0;
        for (uint32_t i = 0; i < 64; ++i) {
            const uint32_t warp = i / 32, wanted[8] = {24, 0x11111111u << i % 4, 0, 496 + warp * 1024, warp * 32, 0, 1, 0};
            for (uint32_t k = 0; k < 8; ++k) wrong += output.as<uint32_t>()[8 * i + k] != wanted[k];
        }
        CHECK(wrong == 0);
    }
}

}  // namespace every_compiler_test
