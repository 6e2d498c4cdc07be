// CUDA's own headers (half, bfloat16, wmma, cooperative groups, pipelines), whichever compiler brings them: NVIDIA's with
// NVRTC and nvcc, kernels/include/clang with a clang that has no toolkit. All give what plain arithmetic says.
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

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
        const auto result = simt::launch(*program, {{1}, {threads}, 0, pack(*program, arguments)}, memory);
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
