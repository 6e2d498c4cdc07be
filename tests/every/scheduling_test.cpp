// CUDA kernels whose lanes wait for one another, by every compiler that this machine has, with independent threads and on a
// stack, functional and timed: where they come through the result is a closed formula; where a stack dead-locks it says why.
#include <fmt/format.h>

#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "tests/catch.h"

namespace every_scheduling_test {

using namespace lockstep;

namespace {

const char* const source = R"cuda(
__global__ void grab(int* lock, volatile int* total) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
    *total = *total + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void grab_inside(int* lock, volatile int* total) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *total = *total + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

__device__ __noinline__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
}

__global__ void grab_called(int* lock, volatile int* total) {  // a lock in a function that is called
    take(lock);
    *total = *total + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__device__ __noinline__ int sink(int n, int* lock, volatile int* total) {
    if (n > 0) return sink(n - 1, lock, total) * 2 + 1;
    take(lock);
    *total = *total + 1;
    __threadfence();
    atomicExch(lock, 0);
    return 0;
}

__global__ void depths(int* lock, volatile int* total, int* out) {  // lanes take the lock at different depths of calls
    out[threadIdx.x] = sink(threadIdx.x % 5, lock, total) + 100 * (threadIdx.x / 32);
}

__device__ int heads[8], locks[8], after[256];

__global__ void lists(int* out) {  // 8 linked lists, each with a lock
    int i = threadIdx.x, b = i % 8;
    if (i < 8) heads[i] = -1, locks[i] = 0;
    __syncthreads();
    while (atomicExch(&locks[b], 1) != 0);
    after[i] = *(volatile int*)&heads[b];
    *(volatile int*)&heads[b] = i;
    __threadfence();
    atomicExch(&locks[b], 0);
    __syncthreads();
    if (i >= 8) return;
    int s = 0;
    for (int k = heads[i]; k >= 0; k = after[k]) s += k;
    out[i] = s;
}

__global__ void hand_over(int* out) {  // lanes 0 to 15 spin for what lane 31 writes, which spins for their answer
    __shared__ volatile int flag, box, answer;
    int lane = threadIdx.x;
    if (lane == 0) flag = answer = 0;
    __syncwarp();
    int v = 0;
    if (lane < 16) {
        while (flag == 0);
        v = box + lane;
        answer = 1;
    } else if (lane == 31) {
        box = 42;
        __threadfence_block();
        flag = 1;
        while (answer == 0);
    }
    __syncwarp();
    out[lane] = v;
}

__global__ void sides(int* out) {  // shuffles on both sides of a branch, each among its own lanes
    int lane = threadIdx.x, v;
    if (lane % 2) {
        v = __shfl_sync(0xaaaaaaaau, lane, 31);
        v += 100 * __popc(__ballot_sync(0xaaaaaaaau, lane > 15));
    } else {
        v = __shfl_xor_sync(0x55555555u, lane, 2);
        v += 100 * __popc(__ballot_sync(0x55555555u, lane > 23));
    }
    out[lane] = v;
}

__global__ void partial(int* out, int n) {  // a reduction by the lanes below n alone
    int lane = threadIdx.x;
    out[lane] = -1;
    unsigned mask = __ballot_sync(0xffffffffu, lane < n);
    if (lane < n) {
        int s = lane;
        for (int d = 16; d > 0; d /= 2) {
            int other = __shfl_down_sync(mask, s, d);
            if (lane + d < n) s += other;
        }
        __syncwarp(mask);
        if (lane == 0) out[0] = s;
    }
}

__global__ void tiles(int* out) {  // tiles of 8 lanes, each with a loop of its own length
    int lane = threadIdx.x, tile = lane / 8, s = 0;
    unsigned mask = 0xffu << (tile * 8);
    for (int k = 0; k <= tile; ++k) {
        int v = lane % 8 + k;
        for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d, 8);
        __syncwarp(mask);
        s += v;
    }
    out[lane] = s;
}

__global__ void each_side(int* out) {  // barrier.sync on both sides of a branch, by paths of one warp
    __shared__ int box[64];
    int i = threadIdx.x;
    if (i % 3) {
        box[i] = i;
        asm volatile("barrier.sync 1;" ::: "memory");
    } else {
        box[i] = 1000 + i;
        asm volatile("barrier.sync 1;" ::: "memory");
    }
    out[i] = box[63 - i];
}

__global__ void pipeline(int* out) {  // warp 1 fills a box that warp 0 empties
    __shared__ volatile int box;
    int i = threadIdx.x, s = 0;
    if (i < 32) {
        for (int k = 0; k < 5; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            s += box;
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < 5; ++k) {
            if (k) asm volatile("bar.sync 2, 64;" ::: "memory");
            if (i == 32) box = 10 + k;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    out[i] = s;
}
)cuda";

struct Case {
    const char *kernel, *block;
    std::vector<const char*> arguments;
    const char* on_a_stack;   // the kind of the fault that a stack ends with, or nothing
    double (*wanted)(int i);  // of the last output
};
const Case cases[] = {
    {"grab", "64", {"inout:i32{0}", "inout:i32{0}"}, "deadlock", [](int) { return 64.0; }},
    {"grab_inside", "64", {"inout:i32{0}", "inout:i32{0}"}, "", [](int) { return 64.0; }},
    {"grab_called", "64", {"inout:i32{0}", "inout:i32{0}"}, "deadlock", [](int) { return 64.0; }},
    {"depths",
     "64",
     {"inout:i32{0}", "inout:i32{0}", "out:i32[64]"},
     "deadlock",
     [](int i) { return (1 << i % 5) - 1.0 + 100 * (i / 32); }},
    {"lists", "128", {"out:i32[8]"}, "deadlock", [](int i) { return 16.0 * i + 8 * 120.0; }},
    {"hand_over", "32", {"out:i32[32]"}, "deadlock", [](int i) { return i < 16 ? 42.0 + i : 0; }},
    {"sides", "32", {"out:i32[32]"}, "", [](int i) { return i % 2 ? 31.0 + 800 : (i ^ 2) + 400.0; }},
    {"partial", "32", {"out:i32[32]", "i32:20"}, "", [](int i) { return i ? -1.0 : 190; }},
    {"tiles",
     "32",
     {"out:i32[32]"},
     "",
     [](int i) {
         const int t = i / 8;
         return 28.0 * (t + 1) + 8 * t * (t + 1) / 2;
     }},
    {"each_side", "64", {"out:i32[64]"}, "synccheck", [](int i) { return 63.0 - i + ((63 - i) % 3 ? 0 : 1000); }},
    {"pipeline", "64", {"out:i32[64]"}, "", [](int i) { return i < 32 ? 60.0 : 0; }},
};

int line_of(const char* text) {
    const std::string all = source;
    return 1 + static_cast<int>(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.find(text)), '\n'));
}

}  // namespace

TEST_CASE("lanes that wait for one another come through where threads are independent, by every compiler") {
    size_t compiled = 0;
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) {
            fmt::print("skipped: {} is {}\n", compiler.name, compiler.description);
            continue;
        }
        ++compiled;
        const auto module =
            ptx::parse(device::compile(source, "waits.cu", {.compiler = compiler.name}).value().ptx, "waits.ptx").value();
        for (const Case& c : cases)
            for (const bool independent : {true, false})
                for (const bool timed : {false, true}) {
                    INFO(compiler.name << ", " << c.kernel << (independent ? ", independent" : ", stack")
                                       << (timed ? ", timed" : ", functional"));
                    const auto program = ptx::decode(module, c.kernel).value();
                    simt::Memory memory;
                    simt::LaunchConfig config;
                    config.block = scene::parse_dim3(c.block, "block").value();
                    std::vector<scene::KernelArgument> arguments;
                    for (const char* text : c.arguments) arguments.push_back(scene::parse_argument(text).value());
                    const auto bound = scene::bind_arguments(*program, arguments, memory, config, 1, {}, source).value();
                    simt::LaunchResult result;
                    if (timed) {
                        const auto gpu = model::gpu_named(independent ? "v100" : "p100").value();
                        result = model::launch(gpu, *program, config, memory, {});
                    } else {
                        simt::LaunchOptions options;
                        options.independent = independent;
                        result = simt::launch(*program, config, memory, options);
                    }
                    CHECK(result.warp_instructions < 3'000'000);
                    std::string expected = independent ? "" : c.on_a_stack;
                    // clang takes what follows a successful try out of the loop, so that on a stack the others never get
                    // there.
                    if (!independent && std::string_view(c.kernel) == "grab_inside" && compiler.name == "clang")
                        expected = "deadlock";
                    INFO((result.fault ? simt::render(*result.fault) : ""));
                    REQUIRE((result.fault ? result.fault->kind : "") == expected);
                    if (!expected.empty()) continue;
                    const Array output = scene::read_outputs(bound, memory).back();
                    int wrong = 0;
                    for (size_t i = 0; i < output.count(); ++i)
                        wrong += !(output.as<int32_t>()[i] == c.wanted(static_cast<int>(i)));
                    CHECK(output.count() > 0);
                    CHECK(wrong == 0);
                }
    }
    if (!compiled) fmt::print("skipped: no compiler for CUDA C++ is here\n");
}

TEST_CASE("the dead-lock of a lock before Volta is explained with the lines of the source, by every compiler") {
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) continue;
        INFO(compiler.name);
        const auto compiled = device::compile(source, "waits.cu", {.compiler = compiler.name}).value();
        const auto program = ptx::decode(ptx::parse(compiled.ptx, "waits.ptx").value(), "grab").value();
        simt::Memory memory;
        simt::LaunchConfig config;
        config.block = {32, 1, 1};
        REQUIRE(scene::bind_arguments(
            *program, {scene::parse_argument("inout:i32{0}").value(), scene::parse_argument("inout:i32{0}").value()}, memory,
            config));
        simt::LaunchOptions options;
        options.independent = false;
        const simt::LaunchResult result = simt::launch(*program, config, memory, options);
        REQUIRE(result.fault);
        INFO(simt::render(*result.fault));
        const int spin = line_of("while (atomicCAS(lock, 0, 1) != 0);");
        CHECK(result.fault->line == spin);
        CHECK_THAT(result.fault->message,
                   Catch::StartsWith("dead-locks before Volta: lanes 1-31 of warp 0 spin on line " + std::to_string(spin) +
                                     " for lane 0, which waits for them on line ") &&
                       Catch::Contains(", where their paths meet again; threads that make progress on their own"));
        CHECK(result.warp_instructions < 100'000);
    }
}

}  // namespace every_scheduling_test
