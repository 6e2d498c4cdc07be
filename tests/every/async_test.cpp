// Asynchronous copies as CUDA programs write them (pipeline primitives, cooperative groups, cuda::barrier, cuda::ptx, tensor
// maps), compiled by nvcc for Ampere and Hopper, functional and timed, against closed formulas.
#include <fmt/format.h>

#include <cstring>

#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/simt/async/tensor_map.h"
#include "tests/catch.h"

namespace every_async_test {

using namespace lockstep;

namespace {

const char* const ampere = R"cuda(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

extern "C" __global__ void primitives(const int* in, int* out) {  // 8 tiles of 128, two in flight
    __shared__ int tile[2][128];
    int t = threadIdx.x, s = 0;
    __pipeline_memcpy_async(&tile[0][t], in + t, 4);
    __pipeline_commit();
    for (int i = 0; i < 8; ++i) {
        if (i + 1 < 8) __pipeline_memcpy_async(&tile[(i + 1) & 1][t], in + (i + 1) * 128 + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        s += tile[i & 1][127 - t] * (i + 1);
        __syncthreads();
    }
    out[t] = s;
}
extern "C" __global__ void group(const int* in, int* out) {
    __shared__ int buffer[1024];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, buffer, in, sizeof(int) * 1024);
    cg::wait(block);
    int s = 0;
    for (int i = 0; i < 8; ++i) s += buffer[i * 128 + 127 - threadIdx.x] * (i + 1);
    out[threadIdx.x] = s;
}
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void barriers(const int* in, int* out) {
    __shared__ alignas(16) int buffer[1024];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 2; ++i)
        cuda::memcpy_async((int4*)buffer + i * 128 + threadIdx.x, (const int4*)in + i * 128 + threadIdx.x,
                           cuda::aligned_size_t<16>(16), bar);
    bar.arrive_and_wait();
    int s = 0;
    for (int i = 0; i < 8; ++i) s += buffer[i * 128 + 127 - threadIdx.x] * (i + 1);
    out[threadIdx.x] = s;
}
extern "C" __global__ void stages(const int* in, int* out) {  // a cuda::pipeline of four stages
    constexpr int depth = 4;
    __shared__ int tile[depth][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, depth> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int s = 0, fetch = 0;
    for (int i = 0; i < 8; ++i) {
        for (; fetch < 8 && fetch < i + depth; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[fetch % depth][threadIdx.x], in + fetch * 128 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        s += tile[i % depth][127 - threadIdx.x] * (i + 1);
        block.sync();
        pipe.consumer_release();
    }
    out[threadIdx.x] = s;
}
)cuda";

const char* const hopper = R"cuda(
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void bulk(const int* in, int* out) {
    __shared__ alignas(16) int buffer[1024];
    __shared__ alignas(16) int result[128];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(buffer, in, cuda::aligned_size_t<16>(sizeof(buffer)), bar);
        token = bar.arrive();
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    int s = 0;
    for (int i = 0; i < 8; ++i) s += buffer[i * 128 + 127 - threadIdx.x] * (i + 1);
    result[threadIdx.x] = s;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, result, sizeof(result));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
// The map is of 16 rows of 64 ints: the 1024 as a matrix. Boxes of 32 x 4, double-buffered by one producer thread.
extern "C" __global__ void tensor(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int box[2][4][32];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], 128);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    int s = 0;
    for (int i = 0; i < 8; ++i) {
        int stage = i % 2, parity = i / 2 % 2;
        if (threadIdx.x == 0) {
            while (!ptx::mbarrier_try_wait_parity(&empty[stage], parity ^ 1)) {}
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], 512);
            int at[2] = {i % 2 * 32, i / 2 * 4};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &box[stage], &map, at, &full[stage]);
        }
        while (!ptx::mbarrier_try_wait_parity(&full[stage], parity)) {}
        s += box[stage][threadIdx.x / 32][threadIdx.x % 32] * (i + 1);
        ptx::mbarrier_arrive(&empty[stage]);
    }
    out[threadIdx.x] = s;
}
)cuda";

int value(int i) {
    return i * 37 % 1009 - 300;
}
int expected(const std::string& kernel, int t) {
    int s = 0;
    for (int i = 0; i < 8; ++i) {
        const int at = kernel == "tensor" ? (i / 2 * 4 + t / 32) * 64 + i % 2 * 32 + t % 32 : i * 128 + 127 - t;
        s += value(at) * (i + 1);
    }
    return s;
}

template <class T>
void append(std::vector<std::byte>& parameters, const T& value, size_t align) {
    parameters.resize((parameters.size() + align - 1) / align * align);
    const auto* const raw = reinterpret_cast<const std::byte*>(&value);
    parameters.insert(parameters.end(), raw, raw + sizeof value);
}

void check(const ptx::Module& module, const std::string& kernel, const std::string& gpu, bool timed,
           const simt::LaunchOptions& options = {}) {
    INFO(kernel << (timed ? ", timed" : ", functional"));
    const auto program = ptx::decode(module, kernel).value();
    simt::Memory memory;
    const uint64_t in = memory.allocate(4096, "in"), out = memory.allocate(512, "out");
    for (int i = 0; i < 1024; ++i) {
        const int v = value(i);
        std::memcpy(memory.write(in, 4096) + i * 4, &v, 4);
    }
    simt::LaunchConfig config;
    config.block = {128, 1, 1};
    if (kernel == "tensor") {
        const uint64_t dims[] = {64, 16}, strides[] = {256};
        const uint32_t box[] = {32, 4}, ones[] = {1, 1};
        append(config.parameters, simt::make_tensor_map(in, simt::TensorType::s32, dims, strides, box, ones).value(), 64);
    } else {
        append(config.parameters, in, 8);
    }
    append(config.parameters, out, 8);
    REQUIRE(!simt::check_launch(*program, config, {}));
    simt::LaunchResult result;
    if (timed)
        result = model::launch(model::gpu_named(gpu).value(), *program, config, memory, {});
    else
        result = simt::launch(*program, config, memory, options);
    INFO((result.fault ? simt::render(*result.fault) : ""));
    REQUIRE(!result.fault);
    INFO((result.reports.empty() ? "" : simt::render(result.reports[0])));
    CHECK(result.reports.empty());
    INFO((result.warnings.empty() ? "" : simt::render(result.warnings[0])));
    CHECK(result.warnings.empty());
    for (int t = 0; t < 128; ++t) {
        int got;
        std::memcpy(&got, memory.read(out, 512) + t * 4, 4);
        CHECK(got == expected(kernel, t));
    }
}

std::optional<ptx::Module> compiled(const char* source, const std::string& arch) {
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (compiler.name != "nvcc") continue;
        if (compiler.available)
            return ptx::parse(device::compile(source, "async.cu", {.compiler = "nvcc", .arch = arch}).value().ptx,
                              "async.ptx")
                .value();
        fmt::print("skipped: nvcc is {}\n", compiler.description);
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("Ampere's ways to copy asynchronously sum an array, functional and timed") {
    const auto module = compiled(ampere, "sm_80");
    if (!module) return;
    for (const std::string kernel : {"primitives", "group", "barriers", "stages"})
        for (const bool timed : {false, true}) check(*module, kernel, "a100", timed);
}

TEST_CASE("Hopper's ways to copy asynchronously sum an array, functional and timed") {
    const auto module = compiled(hopper, "sm_90a");
    if (!module) return;
    for (const std::string kernel : {"bulk", "tensor"})
        for (const bool timed : {false, true}) check(*module, kernel, "h100", timed);
}

TEST_CASE("racecheck and initcheck find nothing in them, in any order of warps, and do find the wait that is missing") {
    const auto small = compiled(ampere, "sm_80"), large = compiled(hopper, "sm_90a");
    if (!small || !large) return;
    for (const simt::WarpOrder order : {simt::WarpOrder::round_robin, simt::WarpOrder::reverse, simt::WarpOrder::random}) {
        simt::LaunchOptions options;
        options.racecheck = options.initcheck = true;
        options.order = order;
        for (const std::string kernel : {"primitives", "group", "barriers", "stages"})
            check(*small, kernel, "a100", false, options);
        for (const std::string kernel : {"bulk", "tensor"}) check(*large, kernel, "h100", false, options);
    }
    std::string forgot(ampere);
    forgot.replace(forgot.find("__pipeline_wait_prior(1)"), 24, "__pipeline_wait_prior(9)");
    const auto program = ptx::decode(*compiled(forgot.c_str(), "sm_80"), "primitives").value();
    simt::Memory memory;
    simt::LaunchConfig config;
    config.block = {128, 1, 1};
    append(config.parameters, memory.allocate(4096, "in"), 8);
    append(config.parameters, memory.allocate(512, "out"), 8);
    simt::LaunchOptions options;
    options.initcheck = true;
    const auto result = simt::launch(*program, config, memory, options);
    REQUIRE(!result.fault);
    REQUIRE(!result.reports.empty());
    CHECK(result.reports[0].kind == "initcheck");
}

TEST_CASE("a copy that is waited for late costs less time than one that is waited for at once") {
    const auto module = compiled(ampere, "sm_80");
    if (!module) return;
    // The same sum: with two tiles in flight, and with the whole wait before every tile (primitives with wait_prior(0)).
    std::string eager(ampere);
    const size_t wait = eager.find("__pipeline_wait_prior(1)");
    REQUIRE(wait != std::string::npos);
    eager.replace(wait, 24, "__pipeline_wait_prior(0)");
    const auto slow = compiled(eager.c_str(), "sm_80");
    REQUIRE(slow);
    const auto cycles = [&](const ptx::Module& m) {
        const auto program = ptx::decode(m, "primitives").value();
        simt::Memory memory;
        const uint64_t in = memory.allocate(4096, "in"), out = memory.allocate(512, "out");
        simt::LaunchConfig config;
        config.block = {128, 1, 1};
        append(config.parameters, in, 8);
        append(config.parameters, out, 8);
        const auto result = model::launch(model::gpu_named("a100").value(), *program, config, memory, {});
        REQUIRE(!result.fault);
        return result.cycles;
    };
    const auto late = cycles(*module), at_once = cycles(*slow);
    INFO(late << " and " << at_once << " cycles");
    CHECK(late < at_once);
    CHECK(late > 400);  // at least one trip to DRAM: the bytes cannot be there sooner
}

}  // namespace every_async_test
