// CUDA's own headers (half, bfloat16, wmma, cooperative groups, pipelines), whichever compiler brings them: NVIDIA's with
// NVRTC and nvcc, kernels/include/clang with a clang that has no toolkit. All give what plain arithmetic says.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_header_test {

using namespace lockstep;
using namespace lockstep::device;

namespace {

const char* const source = R"cuda(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
namespace cg = cooperative_groups;

extern "C" __global__ void halves(const float* in, float* out) {
    int i = threadIdx.x;
    __half x = __float2half(in[i]), y = __float2half_rz(in[i + 1]);
    __half2 p = __halves2half2(x, y), q = __hfma2(p, p, __float2half2_rn(0.5f));
    float* o = out + 10 * i;
    o[0] = __half2float(x);
    o[1] = __half2float(y);
    o[2] = __half2float(x + y);
    o[3] = __half2float(x * y);
    o[4] = __half2float(x / y);
    o[5] = __low2float(q);
    o[6] = __high2float(__hmul2(p, q));
    o[7] = x > y ? 1.0f : 0.0f;
    o[8] = __half2float(__shfl_xor_sync(0xffffffff, x, 1));
    o[9] = (float)__half2int_rn(x * __float2half(8.0f));
}

extern "C" __global__ void brains(const float* in, float* out) {
    int i = threadIdx.x;
    __nv_bfloat16 x = __float2bfloat16(in[i]), y = __float2bfloat16(in[i + 1]);
    float* o = out + 4 * i;
    o[0] = __bfloat162float(x);
    o[1] = __bfloat162float(x + y);
    o[2] = __bfloat162float(x * y);
    o[3] = __bfloat162float(__hmax(x, y));
}

extern "C" __global__ void product(const __half* a, const __half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void groups(const float* in, float* out) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    float v = cg::reduce(tile, s[63 - block.thread_rank()], cg::plus<float>());
    if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v;
}

// Each block's number goes round the grid; `rounds` barriers lie between.
extern "C" __global__ void whole_grid(int* numbers, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int* mine = numbers + blockIdx.x;
    if (threadIdx.x == 0) *mine = grid.is_valid() ? (int)blockIdx.x : -1;
    for (int i = 0; i < rounds; ++i) {
        grid.sync();
        int next = numbers[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        if (threadIdx.x == 0) *mine = next;
    }
}

__device__ int place(const cg::thread_group& group) {
    group.sync();
    return (int)(100 * group.size() + group.thread_rank());
}
extern "C" __global__ void any_group(int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    uchar4 bytes = make_uchar4(250, threadIdx.x, 3, 4);
    short2 words = make_short2(-1, 2);
    longlong2 longs = make_longlong2(1ll << 40, -5);
    int* o = out + 4 * threadIdx.x;
    o[0] = place(block);
    o[1] = place(tile);
    o[2] = bytes.x + bytes.y + words.x + (int)(longs.x >> 40);
    o[3] = (int)(sizeof(uchar4) + 10 * alignof(uchar4) + 100 * alignof(short4) + 1000 * alignof(ulonglong2));
}

extern "C" __global__ void integers(const unsigned* in, long long* out, unsigned long long* longs) {
    unsigned a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
    unsigned long long w = (unsigned long long)a << 32 | b;
    long long* o = out + 40 * threadIdx.x;
    *o++ = __byte_perm(a, b, 0x6420 + (a & 7));
    *o++ = __funnelshift_l(a, b, b), *o++ = __funnelshift_r(a, b, b);
    *o++ = __funnelshift_lc(a, b, b & 63), *o++ = __funnelshift_rc(a, b, b & 63);
    *o++ = (long long)__brevll(w);
    *o++ = __usad(a, b, 9u), *o++ = __sad((int)a, (int)b, 9u), *o++ = __umul24(a, b);
    *o++ = __hadd((int)a, (int)b), *o++ = __rhadd((int)a, (int)b), *o++ = __uhadd(a, b), *o++ = __urhadd(a, b);
    *o++ = __mul64hi((long long)w, (long long)~w * 3), *o++ = llabs((long long)w);
    *o++ = __dp4a((int)a, (int)b, -5), *o++ = __dp4a(a, b, 5u), *o++ = __dp2a_lo((int)a, (int)b, 7);
    *o++ = __vadd4(a, b), *o++ = __vsub2(a, b), *o++ = __vaddss4(a, b), *o++ = __vsubus2(a, b), *o++ = __vabsdiffu4(a, b);
    *o++ = __vmaxs4(a, b), *o++ = __vminu2(a, b), *o++ = __vcmpgts4(a, b), *o++ = __vseteq2(a, b), *o++ = __vavgu4(a, b);
    *o++ = __vsadu4(a, b), *o++ = __vsads2(a, b), *o++ = __vabs4(a), *o++ = __vneg2(a);
    *o++ = __double2hiint(__hiloint2double((int)a, (int)b)), *o++ = __double2loint(__hiloint2double((int)a, (int)b));
    *o++ = (long long)__shfl_xor_sync(0xffffffffu, (long long)w, 1), *o++ = __ldcg(in + threadIdx.x);
    *o++ = __isShared(in) * 2 + __isGlobal(in);
    if (threadIdx.x == 0) longs[2] = ~0ull, longs[4] = 1;
    __syncthreads();
    atomicMin((long long*)&longs[0], (long long)w), atomicMax(&longs[1], w);
    atomicAnd(&longs[2], w), atomicXor(&longs[3], w), atomicAdd_block((int*)&longs[4], 2);
}
)cuda";

struct Run {
    std::shared_ptr<const ptx::Program> program;
    simt::Memory memory;
    uint64_t put(const void* data, size_t bytes) {
        const uint64_t address = memory.allocate(bytes, "buffer");
        if (data) std::memcpy(memory.write(address, bytes), data, bytes);
        return address;
    }
    void launch(uint32_t threads, const std::vector<uint64_t>& addresses) {
        std::vector<Argument> arguments;
        for (const uint64_t address : addresses) arguments.push_back(Pointer{address});
        launch({1}, {threads}, arguments);
    }
    void launch(simt::Dim3 grid, simt::Dim3 block, const std::vector<Argument>& arguments) {
        const auto result = simt::launch(*program, {grid, block, 0, pack(*program, arguments)}, memory);
        if (result.fault) FAIL(simt::render(*result.fault));
    }
    std::vector<float> floats(uint64_t address, size_t count) {
        std::vector<float> values(count);
        std::memcpy(values.data(), memory.read(address, 4 * count), 4 * count);
        return values;
    }
};

float half(double x) {
    return f16_to_f32(f32_to_f16(static_cast<float>(x)));
}
float brain(double x) {
    return bf16_to_f32(f32_to_bf16(static_cast<float>(x)));
}

}  // namespace

TEST_CASE("half, bfloat16, wmma and cooperative groups mean the same by every compiler") {
    for (const DeviceListing& compiler : list_compilers()) {
        if (!compiler.available) {
            WARN(compiler.name << " is not here: " << compiler.description);
            continue;
        }
        INFO(compiler.name);
        const auto compiled =
            compile(source, "headers.cu", {.compiler = compiler.name, .arch = compiler.name == "clang" ? "" : "sm_80"});
        if (!compiled) FAIL(render(compiled.error()));
        const auto module = ptx::parse(compiled.value().ptx, "headers.ptx").value();
        const auto open = [&](const char* kernel) { return Run{ptx::decode(module, kernel).value(), simt::Memory()}; };
        Rng rng(3);
        std::vector<float> in(64);
        for (float& value : in) value = static_cast<float>(rng.uniform(0.5, 4.0));
        {
            Run run = open("whole_grid");
            const uint64_t numbers = run.put(nullptr, 4 * 50);
            run.launch({50}, {64}, {Pointer{numbers}, int32_t{3}});
            std::vector<int32_t> got(50);
            std::memcpy(got.data(), run.memory.read(numbers, 4 * 50), 4 * 50);
            for (int32_t i = 0; i < 50; ++i) CHECK(got[static_cast<size_t>(i)] == (i + 3) % 50);
        }
        {
            Run run = open("halves");
            const uint64_t out = run.put(nullptr, 4 * 320);
            run.launch(32, {run.put(in.data(), 4 * in.size()), out});
            const std::vector<float> got = run.floats(out, 320);
            for (size_t i = 0; i < 32; ++i) {
                const float x = half(in[i]), other = half(in[i ^ 1]);
                float y = half(in[i + 1]);
                if (y > in[i + 1]) y = f16_to_f32(static_cast<uint16_t>(f32_to_f16(y) - 1));  // towards zero
                const float q[2] = {half(double{x} * x + 0.5), half(double{y} * y + 0.5)};
                const float expected[10] = {x,
                                            y,
                                            half(double{x} + y),
                                            half(double{x} * y),
                                            half(x / y),
                                            q[0],
                                            half(double{y} * q[1]),
                                            x > y ? 1.0f : 0.0f,
                                            other,
                                            std::nearbyint(x * 8)};
                for (size_t k = 0; k < 10; ++k) {
                    INFO("lane " << i << ", value " << k);
                    CHECK(got[10 * i + k] == expected[k]);
                }
            }
        }
        {
            Run run = open("brains");
            const uint64_t out = run.put(nullptr, 4 * 128);
            run.launch(32, {run.put(in.data(), 4 * in.size()), out});
            const std::vector<float> got = run.floats(out, 128);
            for (size_t i = 0; i < 32; ++i) {
                const float x = brain(in[i]), y = brain(in[i + 1]);
                const float expected[4] = {x, brain(double{x} + y), brain(double{x} * y), std::fmax(x, y)};
                for (size_t k = 0; k < 4; ++k) CHECK(got[4 * i + k] == expected[k]);
            }
        }
        {
            Run run = open("product");
            std::vector<uint16_t> a(256), b(256);
            for (uint16_t& value : a) value = f32_to_f16(static_cast<float>(static_cast<int>(rng.below(17)) - 8));
            for (uint16_t& value : b) value = f32_to_f16(static_cast<float>(static_cast<int>(rng.below(17)) - 8));
            const uint64_t out = run.put(nullptr, 4 * 256);
            run.launch(32, {run.put(a.data(), 512), run.put(b.data(), 512), out});
            const std::vector<float> got = run.floats(out, 256);
            for (size_t row = 0; row < 16; ++row)
                for (size_t column = 0; column < 16; ++column) {
                    float sum = 1;
                    for (size_t k = 0; k < 16; ++k) sum += f16_to_f32(a[16 * row + k]) * f16_to_f32(b[16 * column + k]);
                    CHECK(got[16 * row + column] == 2 * sum);
                }
        }
        {
            Run run = open("groups");
            std::vector<float> ramp(64);
            for (size_t i = 0; i < 64; ++i) ramp[i] = static_cast<float>(i);
            const uint64_t out = run.put(nullptr, 16);
            run.launch(64, {run.put(ramp.data(), 256), out});
            CHECK(run.floats(out, 4) == std::vector<float>{888, 632, 376, 120});
        }
        {
            Run run = open("any_group");
            const uint64_t out = run.put(nullptr, 4 * 256);
            run.launch(64, {out});
            std::vector<int> got(256), expected;
            std::memcpy(got.data(), run.memory.read(out, 4 * 256), 4 * 256);
            for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {6400 + i, 800 + i % 8, 250 + i - 1 + 1, 16844});
            CHECK(got == expected);
        }
    }
}

namespace {

// The parts of a word, highest last, each by `f` of the parts of a and b.
template <class Part, class F>
uint32_t by_parts(uint32_t a, uint32_t b, F f) {
    constexpr uint32_t bits = 8 * sizeof(Part);
    uint32_t d = 0;
    for (uint32_t k = 0; k < 32; k += bits) {
        const int x = static_cast<Part>(a >> k), y = static_cast<Part>(b >> k);
        d |= (static_cast<uint32_t>(static_cast<int>(f(x, y))) & ((1u << bits) - 1)) << k;
    }
    return d;
}

std::vector<int64_t> integers_of(uint32_t a, uint32_t b, uint64_t beside, uint32_t read) {
    using i8 = int8_t;
    using u8 = uint8_t;
    using i16 = int16_t;
    using u16 = uint16_t;
    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    const int64_t wa = sa, wb = sb;
    const uint64_t w = static_cast<uint64_t>(a) << 32 | b, both = static_cast<uint64_t>(b) << 32 | a,
                   unsigned_sum = uint64_t{a} + b;
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < 4; ++k)
        bytes |= static_cast<uint32_t>(both >> 8 * ((0x6420u + (a & 7)) >> 4 * k & 7) & 255) << 8 * k;
    uint64_t reversed = 0;
    for (uint32_t k = 0; k < 64; ++k) reversed |= (w >> k & 1) << (63 - k);
    const uint32_t shift = b & 31, wide = b & 63;
    const auto left = [&](uint32_t by) { return static_cast<uint32_t>(both << by >> 32); };
    const auto right = [&](uint32_t by) { return static_cast<uint32_t>(both >> by); };
    int32_t dot = -5, half_dot = 7;
    uint32_t unsigned_dot = 5, sad4 = 0, sad2 = 0;
    for (uint32_t k = 0; k < 4; ++k) {
        dot += static_cast<i8>(a >> 8 * k) * static_cast<i8>(b >> 8 * k);
        unsigned_dot += static_cast<uint32_t>(static_cast<u8>(a >> 8 * k)) * static_cast<u8>(b >> 8 * k);
        sad4 += static_cast<uint32_t>(std::abs(static_cast<u8>(a >> 8 * k) - static_cast<u8>(b >> 8 * k)));
    }
    for (uint32_t k = 0; k < 2; ++k) {
        half_dot += static_cast<i16>(a >> 16 * k) * static_cast<i8>(b >> 8 * k);
        sad2 += static_cast<uint32_t>(std::abs(static_cast<i16>(a >> 16 * k) - static_cast<i16>(b >> 16 * k)));
    }
    __extension__ typedef __int128 Wide;
    const auto x128 = static_cast<Wide>(static_cast<int64_t>(w)) * static_cast<int64_t>(~w * 3);
    return {bytes,
            left(shift),
            right(shift),
            wide < 32 ? left(wide) : a,
            wide < 32 ? right(wide) : b,
            static_cast<int64_t>(reversed),
            (a > b ? a - b : b - a) + 9,
            static_cast<uint32_t>(std::abs(wa - wb)) + 9,
            static_cast<uint32_t>(static_cast<uint64_t>(a & 0xffffff) * (b & 0xffffff)),
            (wa + wb) >> 1,
            (wa + wb + 1) >> 1,
            static_cast<int64_t>(unsigned_sum >> 1),
            static_cast<int64_t>((unsigned_sum + 1) >> 1),
            static_cast<int64_t>(x128 >> 64),
            std::abs(static_cast<int64_t>(w)),
            dot,
            unsigned_dot,
            half_dot,
            by_parts<u8>(a, b, [](int x, int y) { return x + y; }),
            by_parts<u16>(a, b, [](int x, int y) { return x - y; }),
            by_parts<i8>(a, b, [](int x, int y) { return std::clamp(x + y, -128, 127); }),
            by_parts<u16>(a, b, [](int x, int y) { return std::max(x - y, 0); }),
            by_parts<u8>(a, b, [](int x, int y) { return std::abs(x - y); }),
            by_parts<i8>(a, b, [](int x, int y) { return std::max(x, y); }),
            by_parts<u16>(a, b, [](int x, int y) { return std::min(x, y); }),
            by_parts<i8>(a, b, [](int x, int y) { return x > y ? -1 : 0; }),
            by_parts<u16>(a, b, [](int x, int y) { return x == y ? 1 : 0; }),
            by_parts<u8>(a, b, [](int x, int y) { return (x + y + 1) / 2; }),
            sad4,
            sad2,
            by_parts<i8>(a, 0, [](int x, int) { return std::abs(x); }),
            by_parts<u16>(a, 0, [](int x, int) { return -x; }),
            sa,
            sb,
            static_cast<int64_t>(beside),
            read,
            1};
}

}  // namespace

TEST_CASE("integer functions, 64-bit atomics and shuffles mean the same by every compiler") {
    for (const DeviceListing& compiler : list_compilers()) {
        if (!compiler.available) continue;
        INFO(compiler.name);
        const auto compiled =
            compile(source, "headers.cu", {.compiler = compiler.name, .arch = compiler.name == "clang" ? "" : "sm_80"});
        if (!compiled) FAIL(render(compiled.error()));
        Run run{ptx::decode(ptx::parse(compiled.value().ptx, "headers.ptx").value(), "integers").value(), simt::Memory()};
        std::vector<uint32_t> in(64);
        Rng rng(9);
        for (uint32_t& value : in) value = static_cast<uint32_t>(rng.next());
        in[0] = 0x80000000u, in[1] = 0x7fffffffu, in[2] = 0, in[3] = ~0u, in[4] = in[5] = 0x80808080u;
        const uint64_t given = run.put(in.data(), 256), out = run.put(nullptr, 32 * 40 * 8);
        const std::vector<uint64_t> zeros(5);
        const uint64_t longs = run.put(zeros.data(), 40);
        run.launch(32, {given, out, longs});
        std::vector<int64_t> got(32 * 40);
        std::memcpy(got.data(), run.memory.read(out, got.size() * 8), got.size() * 8);
        std::vector<uint64_t> expected = {0, 0, ~uint64_t{0}, 0, 65}, totals(5);
        for (uint32_t t = 0; t < 32; ++t) {
            const auto pair = [&](uint32_t k) { return static_cast<uint64_t>(in[2 * k]) << 32 | in[2 * k + 1]; };
            const auto row = integers_of(in[2 * t], in[2 * t + 1], pair(t ^ 1), in[t]);
            for (size_t k = 0; k < row.size(); ++k) {
                INFO("thread " << t << ", value " << k);
                CHECK(got[40 * t + k] == row[k]);
            }
            expected[0] = static_cast<uint64_t>(std::min(static_cast<int64_t>(expected[0]), static_cast<int64_t>(pair(t))));
            expected[1] = std::max(expected[1], pair(t));
            expected[2] &= pair(t);
            expected[3] ^= pair(t);
        }
        std::memcpy(totals.data(), run.memory.read(longs, 40), 40);
        CHECK(totals == expected);
    }
}

}  // namespace device_header_test
