// Tensor-core kernels as people write them, compiled by nvcc where it is found: wmma.h for Volta, Turing and Ampere,
// ldmatrix with mma.sync, and wgmma with a swizzled tile on Hopper. All are compared with a plain product, functional and
// timed.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace every_matrix_test {

using namespace lockstep;

namespace {

const char* const wmma_source = R"cuda(
#include <mma.h>
using namespace nvcuda;

// c = a b, one warp a 16 x 16 tile; a and c by rows, b by columns.
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + column * k + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
)cuda";

const char* const bf16_source = R"cuda(
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

// The same with tiles in shared memory, a block of four warps for 32 x 32.
extern "C" __global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
    __shared__ __nv_bfloat16 ta[32][24], tb[32][24];
    const int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        __syncthreads();
        for (int e = threadIdx.x; e < 512; e += 128) {
            ta[e / 16][e % 16] = row + e / 16 < m ? a[(row + e / 16) * k + i + e % 16] : __float2bfloat16(0.0f);
            tb[e / 16][e % 16] = column + e / 16 < n ? b[(column + e / 16) * k + i + e % 16] : __float2bfloat16(0.0f);
        }
        __syncthreads();
        wmma::load_matrix_sync(fa, &ta[warp / 2 * 16][0], 24);
        wmma::load_matrix_sync(fb, &tb[warp % 2 * 16][0], 24);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    if (row + warp / 2 * 16 < m && column + warp % 2 * 16 < n)
        wmma::store_matrix_sync(c + (row + warp / 2 * 16) * n + column + warp % 2 * 16, sum, n, wmma::mem_row_major);
}
)cuda";

const char* const mma_source = R"cuda(
#include <cuda_fp16.h>

// One warp a tile of 16 x 16: a by ldmatrix.x4, b by ldmatrix.x4 from its columns, two products m16n8k16 a step.
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) half ta[16][24], tb[16][24];
    const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
    float sum[2][4] = {};
    for (int i = 0; i < k; i += 16) {
        __syncwarp();
        for (int e = lane; e < 32; e += 32) {
            *(float4*)&ta[e / 2][e % 2 * 8] = *(const float4*)&a[(row + e / 2) * k + i + e % 2 * 8];
            *(float4*)&tb[e / 2][e % 2 * 8] = *(const float4*)&b[(column + e / 2) * k + i + e % 2 * 8];
        }
        __syncwarp();
        unsigned fa[4], fb[4];
        const unsigned at = __cvta_generic_to_shared(&ta[lane % 16][lane / 16 * 8]);
        const unsigned bt = __cvta_generic_to_shared(&tb[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(bt));
        for (int h = 0; h < 2; ++h)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sum[h][0]), "+f"(sum[h][1]), "+f"(sum[h][2]), "+f"(sum[h][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
    }
    for (int h = 0; h < 2; ++h)
        for (int e = 0; e < 4; ++e)
            c[(row + lane / 4 + e / 2 * 8) * n + column + h * 8 + lane % 4 * 2 + e % 2] = sum[h][e];
}
)cuda";

const char* const wgmma_source = R"cuda(
#include <cuda_fp16.h>

__device__ unsigned long long descriptor(unsigned address) {  // rows of 128 bytes, swizzled; 8 rows are 1024 bytes
    return (unsigned long long)(address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// A warpgroup a tile of 64 x 16, k in steps of 64: four products of k 16 along rows of 128 bytes.
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ __align__(1024) half ta[64 * 64], tb[16 * 64];
    const int t = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 16;
    float d[8] = {};
    for (int i = 0; i < k; i += 64) {
        __syncthreads();
        for (int e = t; e < 64 * 8; e += 128)
            *(float4*)&ta[e / 8 * 64 + (e % 8 ^ e / 8 % 8) * 8] = *(const float4*)&a[(row + e / 8) * k + i + e % 8 * 8];
        for (int e = t; e < 16 * 8; e += 128)
            *(float4*)&tb[e / 8 * 64 + (e % 8 ^ e / 8 % 8) * 8] = *(const float4*)&b[(column + e / 8) * k + i + e % 8 * 8];
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int s = 0; s < 4; ++s)
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, "
                         "0, 0;\n}\n"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                         : "l"(descriptor(__cvta_generic_to_shared(ta) + 32 * s)),
                           "l"(descriptor(__cvta_generic_to_shared(tb) + 32 * s)), "r"(1));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int e = 0; e < 8; ++e)
        c[(row + t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8) * n + column + e / 4 * 8 + t % 4 * 2 + e % 2] = d[e];
}
)cuda";

struct Case {
    const char *name, *source, *arch, *gpu;
    bool brain;
    uint32_t tile_m, tile_n, threads;
};
const Case cases[] = {
    {"wmma on Volta's rows", wmma_source, "sm_75", "v100", false, 16, 16, 32},
    {"wmma on Turing", wmma_source, "sm_75", "a100", false, 16, 16, 32},
    {"wmma without tensor cores", wmma_source, "sm_75", "p100", false, 16, 16, 32},
    {"wmma of bf16 on Ampere", bf16_source, "sm_80", "a100", true, 32, 32, 128},
    {"ldmatrix and mma.sync on Ampere", mma_source, "sm_80", "a100", false, 16, 16, 32},
    {"wgmma on Hopper", wgmma_source, "sm_90a", "a100", false, 64, 16, 128},
};

constexpr int m = 64, n = 32, k = 128;

// a[row][i] and b[column][i] random, c the product; each sum of 128 is off by at most 128 roundings of what it adds up to.
void check(const Case& c, bool timed, const ptx::Program& program) {
    Rng rng(5);
    const auto matrix = [&](int count, std::vector<double>& values) {
        std::vector<uint16_t> bits;
        for (int i = 0; i < count; ++i) {
            const auto x = static_cast<float>(rng.uniform(-1.0, 1.0));
            bits.push_back(c.brain ? f32_to_bf16(x) : f32_to_f16(x));
            values.push_back(static_cast<double>(c.brain ? bf16_to_f32(bits.back()) : f16_to_f32(bits.back())));
        }
        return bits;
    };
    std::vector<double> a, b;
    simt::Memory memory;
    const uint64_t pa = simt::test::put(memory, matrix(m * k, a), "a"), pb = simt::test::put(memory, matrix(n * k, b), "b"),
                   pc = simt::test::put(memory, std::vector<float>(m * n, NAN), "c");
    simt::LaunchConfig config = simt::test::config_of({n / c.tile_n, m / c.tile_m}, {c.threads}, {pa, pb, pc});
    for (const int size : {m, n, k}) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&size);
        config.parameters.insert(config.parameters.end(), bytes, bytes + 4);
    }
    simt::LaunchResult result;
    if (timed)
        result = model::launch(model::gpu_named(c.gpu).value(), program, config, memory, {});
    else
        result = simt::launch(program, config, memory);
    INFO((result.fault ? simt::render(*result.fault) : ""));
    REQUIRE(!result.fault);
    const std::vector<float> got = simt::test::read_back<float>(memory, pc, m * n);
    int wrong = 0;
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
            double sum = 0, size = 0;
            for (int i = 0; i < k; ++i) {
                const double term = a[static_cast<size_t>(row * k + i)] * b[static_cast<size_t>(column * k + i)];
                sum += term, size += std::abs(term);
            }
            const double error = std::abs(static_cast<double>(got[static_cast<size_t>(row * n + column)]) - sum);
            wrong += !(error <= k * 0x1p-24 * size);
        }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("tensor-core kernels compiled by nvcc multiply as a plain loop does, functional and timed") {
    bool found = false;
    for (const device::DeviceListing& compiler : device::list_compilers())
        found = found || (compiler.available && compiler.name == "nvcc");
    if (!found) {
        fmt::print("skipped: nvcc is not here\n");
        return;
    }
    for (const Case& c : cases) {
        INFO(c.name);
        const auto text = device::compile(c.source, "product.cu", {.compiler = "nvcc", .arch = c.arch}).value().ptx;
        const auto program = ptx::decode(ptx::parse(text, "product.ptx").value(), "product").value();
        check(c, false, *program);
        check(c, true, *program);
    }
}

}  // namespace every_matrix_test
