// The pack: kernels that a GPU and its model are judged on, one row a kernel. Sizes keep 132 SMs busy and the modelled GPU
// at a row no longer than a minute; streams are larger than an L2 of 50 MB. Names are for ever: their hash is their half.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "app/silicon/silicon.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"

namespace lockstep::device {
namespace {
namespace pack_table {

using Arguments = std::vector<PackArgument>;
using enum PackArgument::Kind;

PackArgument floats(int64_t count, double low = -1, double high = 1) {
    return {reals, DType::f32, count, low, high};
}
PackArgument halves(int64_t count) {
    return {reals, DType::f16, count};
}
PackArgument below(int64_t count, int64_t limit) {  // whole numbers from 0
    return {indices, DType::i32, count, 0, static_cast<double>(limit)};
}
PackArgument number(int64_t value) {
    return {whole, DType::i32, value};
}
PackArgument number(double value) {
    return {real, DType::f32, 0, 0, value};
}
Arguments operator+(Arguments a, const std::vector<int64_t>& numbers) {
    for (const int64_t value : numbers) a.push_back(number(value));
    return a;
}
uint32_t per(int64_t count, int64_t size) {
    return static_cast<uint32_t>((count + size - 1) / size);
}

constexpr int64_t Ki = 1024, Mi = 1024 * 1024, n = 8 * Mi;

constexpr int64_t row_length = 512, row_count = n / row_length;  // of softmax, norms and losses

// What a rung of the ladder of products takes: C[1024,1024] = A[1024,128] B[128,1024].
Arguments ladder_arguments() {
    return {number(Ki),       number(Ki), number(int64_t{128}), number(1.0), floats(128 * Ki), number(int64_t{128}),
            floats(128 * Ki), number(Ki), number(0.5),          floats(Mi),  number(Ki)};
}

struct Pack {
    std::vector<PackRow> rows;

    // A kernel of the engine's library, and one that the pack has of its own.
    void library(std::string_view kernel, simt::Dim3 grid, simt::Dim3 block, Arguments arguments) {
        rows.push_back({std::string(kernel), "", kernel, grid, block, std::move(arguments)});
    }
    void own(std::string_view kernel, simt::Dim3 grid, simt::Dim3 block, Arguments arguments) {
        rows.push_back({std::string(kernel), "kernels/silicon/ptx/pack.ptx", kernel, grid, block, std::move(arguments)});
    }
    void rung(std::string_view file, std::string_view kernel, uint32_t tile, simt::Dim3 block) {
        rows.push_back({std::string(kernel), file, kernel, {1024 / tile, 1024 / tile}, block, ladder_arguments()});
    }
    void lesson(std::string_view file, std::string_view kernel, uint32_t blocks, Arguments arguments) {
        rows.push_back({fmt::format("A15 {}", kernel), file, kernel, {blocks}, {256}, std::move(arguments)});
    }
    void top(std::string_view kernel, simt::Dim3 grid, Arguments arguments) {
        rows.push_back({std::string(kernel), "kernels/top/ptx/rows.ptx", kernel, grid, {256}, std::move(arguments)});
    }
};

// The ladder, then the engine's products, whose plain ones take the model longest: they are half as deep.
void add_products(Pack& pack) {
    pack.rung("kernels/sgemm/ptx/1_naive.ptx", "sgemm_naive", 32, {32, 32});
    pack.rung("kernels/sgemm/ptx/2_coalesced.ptx", "sgemm_coalesced", 32, {32, 32});
    pack.rung("kernels/sgemm/ptx/3_shared_tile.ptx", "sgemm_shared_tile", 32, {32, 32});
    pack.rung("kernels/sgemm/ptx/4_column_tile.ptx", "sgemm_column_tile", 64, {512});
    pack.rung("kernels/sgemm/ptx/5_square_tile.ptx", "sgemm_square_tile", 128, {256});
    pack.rung("kernels/sgemm/ptx/6_vectorised.ptx", "sgemm_vectorised", 128, {256});
    pack.rung("kernels/sgemm/ptx/7_autotuned.ptx", "sgemm_autotuned", 128, {256});
    pack.rung("kernels/sgemm/ptx/8_warp_tile.ptx", "sgemm_warp_tile", 128, {128});
    for (const std::string_view kernel : {"matmul_nn_f32", "matmul_nt_f32", "matmul_tn_f32"})
        pack.library(kernel, {64, 64}, {16, 16},
                     Arguments{floats(64 * Ki), floats(64 * Ki), floats(Mi)} + std::vector<int64_t>{Ki, Ki, 64});
    pack.library("matmul_tc_nn_f16", {32, 32}, {128},
                 Arguments{halves(128 * Ki), halves(128 * Ki), halves(Mi)} + std::vector<int64_t>{Ki, Ki, 128});
    pack.library("bmm_nn_f32", {16, 16, 16}, {16, 16},
                 Arguments{floats(16 * 256 * 64), floats(16 * 64 * 256), floats(Mi)} +
                     std::vector<int64_t>{16, 256, 256, 64, 256 * 64, 64 * 256, 65536});
}

// Transposes, reductions, scans, sorts, stencils.
void add_reductions_and_stencils(Pack& pack) {
    for (const std::string_view kernel : {"transpose_plain", "transpose_tile", "transpose_padded"})
        pack.own(kernel, {96, 96}, {32, 8}, {floats(3072 * 3072), floats(3072 * 3072), number(int64_t{3072})});
    for (const std::string_view kernel : {"reduce_tree", "reduce_shuffle"})
        pack.own(kernel, {1024}, {256}, {floats(2 * n), floats(Ki), number(2 * n)});
    pack.library("sum_rows_f32", {8192}, {256}, {floats(n), floats(8192), number(int64_t{8192}), number(Ki)});
    pack.library("bias_grad_f32", {32}, {32, 8}, {floats(Mi), floats(Ki), number(Ki), number(Ki)});
    for (const std::string_view kernel : {"scan_shared", "scan_shuffle"})
        pack.own(kernel, {per(n, 256)}, {256}, {floats(n), floats(n)});
    pack.library("cumsum_f32", {256}, {256},
                 Arguments{floats(4 * Mi), floats(4 * Mi)} + std::vector<int64_t>{64, 64, Ki, 1});
    pack.own("sort_blocks", {1024}, {512}, {below(Mi, 1 << 30)});
    pack.own("sort_pass", {per(n / 2, 256)}, {256}, {below(n, 1 << 30), number(n), number(Ki)});
    pack.own("stencil_line", {per(n, 256)}, {256}, {floats(n), floats(n), number(n)});
    pack.own("stencil_plane", {96, 384}, {32, 8}, {floats(3072 * 3072), floats(3072 * 3072), number(int64_t{3072})});
    pack.own("stencil_cube", {6, 24, 192}, {32, 8},
             {floats(192 * 192 * 192), floats(192 * 192 * 192), number(int64_t{192})});
    pack.own("histogram", {1024}, {256}, {below(n, 256), below(256, 1), number(n)});
}

// What works on rows: softmax, norms, losses.
void add_rows(Pack& pack) {
    const auto sums = floats(row_count, 0.5, 1.5);
    const simt::Dim3 warps{per(row_count, 4)};
    pack.library("softmax_f32", warps, {128}, {floats(n), floats(n), number(row_count), number(row_length)});
    pack.library("softmax_backward_f32", warps, {128},
                 {floats(n, 0, 1), floats(n), floats(n), number(row_count), number(row_length)});
    pack.library("log_softmax_f32", warps, {128}, {floats(n), floats(n), number(row_count), number(row_length)});
    pack.library("layer_norm_f32", warps, {128},
                 {floats(n), floats(row_length), floats(row_length), floats(n), sums, sums, number(int64_t{2}),
                  number(row_count), number(row_length), number(1e-5)});
    pack.library("layer_norm_backward_f32", warps, {128},
                 {floats(n), floats(row_length), sums, sums, floats(n), floats(n), number(int64_t{2}), number(row_count),
                  number(row_length)});
    pack.library("layer_norm_weight_grad_f32", {per(row_length, 32)}, {32, 8},
                 {floats(n), sums, sums, floats(n), floats(row_length), floats(row_length), number(int64_t{2}),
                  number(row_count), number(row_length)});
    pack.library("rms_norm_f32", warps, {128},
                 {floats(n), floats(row_length), floats(n), sums, number(int64_t{1}), number(row_count), number(row_length),
                  number(1e-5)});
    pack.library("rms_norm_backward_f32", warps, {128},
                 {floats(n), floats(row_length), sums, floats(n), floats(n), number(int64_t{1}), number(row_count),
                  number(row_length)});
    pack.library(
        "softmax_cross_entropy_f32", warps, {128},
        {floats(n), below(row_count, row_length), floats(row_count), floats(n), number(row_count), number(row_length)});
    pack.library("softmax_cross_entropy_backward_f32", {per(n, 256)}, {256},
                 {floats(n), below(row_count, row_length), floats(n), number(row_count), number(row_length), number(0.001)});
}

// Attention of 2 x 8 heads, 256 positions of 64.
void add_attention(Pack& pack) {
    constexpr int64_t scores = 2 * 8 * 256, queries = scores * 64;
    const std::vector<int64_t> heads = {2, 8, 8, 256, 256, 64, 0, 1};
    Arguments attention =
        Arguments{floats(queries), floats(queries), floats(queries), floats(queries), floats(scores)} + heads;
    attention.push_back(number(0.125));
    pack.library("attention_f32", {16, 8, 2}, {16, 16}, attention);
    pack.library("attention_delta_f32", {per(scores, 4)}, {128},
                 Arguments{floats(queries), floats(queries), floats(scores)} + std::vector<int64_t>{2, 8, 256, 64, 0});
    attention = Arguments{floats(queries), floats(queries), floats(queries), floats(queries), floats(scores, 4, 6),
                          floats(scores),  floats(queries), floats(queries), floats(queries)} +
                heads;
    attention.push_back(number(0.125));
    pack.library("attention_backward_f32", {32, 8, 2}, {16, 16}, attention);
    pack.library(
        "rope_f32", {per(2 * Mi, 256)}, {256},
        Arguments{floats(4 * Mi), floats(256 * 64), floats(4 * Mi)} + std::vector<int64_t>{65536, 64, 1, 256, 0, 0, 1});
}

// Convolution and pooling: 8 pictures [16, 32, 32], 32 filters of 3 x 3, padding 1.
void add_convolution(Pack& pack) {
    constexpr int64_t batch = 8, pictures = batch * 16 * Ki, answers = 2 * pictures, weights = 32 * 16 * 9,
                      columns = 9 * pictures;
    const std::vector<int64_t> convolution = {batch, 16, 32, 32, 32, 32, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1};
    pack.library(
        "conv2d_f32", {per(answers, 256)}, {256},
        Arguments{floats(pictures), floats(weights), floats(32), floats(answers), number(int64_t{1})} + convolution);
    pack.library("conv2d_backward_data_f32", {per(pictures, 256)}, {256},
                 Arguments{floats(weights), floats(answers), floats(pictures)} + convolution);
    pack.library("conv2d_backward_weight_f32", {weights}, {256},
                 Arguments{floats(pictures), floats(answers), floats(weights)} + convolution);
    pack.library("im2col_f32", {per(columns, 256)}, {256}, Arguments{floats(pictures), floats(columns)} + convolution);
    pack.library("conv2d_product_f32", {64, 2, batch}, {16, 16},
                 Arguments{floats(weights), floats(columns), floats(32), floats(answers), number(int64_t{1})} +
                     std::vector<int64_t>{batch, 1, 32, Ki, 144});
    const std::vector<int64_t> windows = {4096, 32, 32, 16, 16, 2, 2, 2, 2, 0, 0};
    pack.library("max_pool2d_f32", {per(Mi, 256)}, {256}, Arguments{floats(4 * Mi), floats(Mi), below(Mi, 1)} + windows);
    pack.library("avg_pool2d_f32", {per(Mi, 256)}, {256},
                 Arguments{floats(4 * Mi), floats(Mi), number(int64_t{0})} + windows);
}

// Elements one by one, and the rest of a training step.
void add_elementwise(Pack& pack) {
    const simt::Dim3 threads{per(n, 256)};
    for (const std::string_view kernel : {"relu_f32", "gelu_tanh_f32"})
        pack.library(kernel, threads, {256}, {floats(n), floats(n), number(n)});
    for (const std::string_view kernel : {"relu_backward_f32", "add_f32", "mse_f32", "vector_add_f32", "swiglu_f32"})
        pack.library(kernel, threads, {256}, {floats(n), floats(n), floats(n), number(n)});
    pack.library("add_bias_f32", threads, {256},
                 {floats(n), floats(row_length), floats(n), number(row_count), number(row_length)});
    pack.library("mse_backward_f32", threads, {256}, {floats(n), floats(n), floats(n), number(n), number(0.001)});
    pack.library("sgd_f32", threads, {256}, {floats(n), floats(n), number(0.01), number(n)});
    pack.library("adam_f32", threads, {256},
                 {floats(n), floats(n), floats(n), floats(n, 0, 1), {settings, DType::f64, 26}, number(n)});
    pack.library("index_select_f32", threads, {256},
                 Arguments{floats(n), below(row_count, row_count), floats(n)} +
                     std::vector<int64_t>{1, row_count, row_count, row_length});
    pack.library("strided_gather_f32", {per(Mi, 256)}, {256},
                 {floats(Mi), floats(Mi), number(Mi), number(int64_t{32}), number(int64_t{8})});
    pack.library("divergent_f32", {per(Mi, 256)}, {256}, {floats(Mi), floats(Mi), number(Mi)});
}

// Those of lesson A15, with its launches.
void add_lesson(Pack& pack) {
    pack.lesson("lessons/A15_generations/ptx/stream.ptx", "stream", 2048,
                {floats(512 * Ki), floats(512 * Ki), floats(512 * Ki), number(512 * Ki)});
    pack.lesson("lessons/A15_generations/ptx/fma.ptx", "fma32", 528, {floats(132 * Ki), number(0.5)});
    pack.lesson("lessons/A15_generations/ptx/tensor.ptx", "tensor", 528, {floats(1056 * Ki)});
}

PackArgument tiled(PackArgument of, std::vector<uint64_t> dims, std::vector<uint32_t> box) {
    of.dims = std::move(dims);
    of.box = std::move(box);
    return of;
}

// Those that are to show what the chip can do, at sizes that the model can still run.
void add_top(Pack& pack) {
    pack.rows.push_back({"sgemm_async", "kernels/sgemm/ptx/9_async.ptx", "sgemm_async", {4, 8}, {256}, ladder_arguments()});
    constexpr int64_t side = 2048, deep = 256;
    const std::vector<int64_t> sides = {side, side, deep};
    pack.rows.push_back({"gemm_mma_f16",
                         "kernels/top/ptx/gemm_mma.ptx",
                         "gemm_mma_f16",
                         {8, 16},
                         {256},
                         Arguments{halves(side * deep), halves(side * deep), halves(side * side)} + sides,
                         147456});
    pack.rows.push_back(
        {"gemm_wgmma_f16",
         "kernels/top/ptx/gemm_wgmma.ptx",
         "gemm_wgmma_f16",
         {128},
         {384},
         Arguments{tiled(halves(side * deep), {deep, side}, {64, 128}), tiled(halves(side * deep), {side, deep}, {64, 64}),
                   tiled(halves(side * side), {side, side}, {64, 64})} +
             sides,
         229440});
    constexpr int64_t tokens = 1024, elements = 16 * tokens * 64;
    const std::vector<uint64_t> dims = {64, tokens, 16};
    const Arguments rest = {floats(16 * tokens), number(tokens), number(tokens), number(int64_t{1}), number(0.125)};
    Arguments in_tiles = {halves(elements), halves(elements), halves(elements), halves(elements)};
    in_tiles.insert(in_tiles.end(), rest.begin(), rest.end());
    pack.rows.push_back({"attention_mma_f16_64",
                         "kernels/top/ptx/attention_mma.ptx",
                         "attention_mma_f16_64",
                         {8, 16},
                         {128},
                         in_tiles,
                         32768});
    for (size_t i = 0; i < 4; ++i) in_tiles[i] = tiled(in_tiles[i], dims, {64, i == 1 || i == 2 ? 128u : 64u, 1});
    pack.rows.push_back({"attention_wgmma_f16_64",
                         "kernels/top/ptx/attention_wgmma.ptx",
                         "attention_wgmma_f16_64",
                         {8, 16},
                         {384},
                         in_tiles,
                         82048});
    constexpr int64_t wide = 4096, high = n / wide;
    pack.top("layer_norm_block_f16", {high},
             {halves(n), halves(wide), halves(wide), halves(n), number(high), number(wide), number(1e-5)});
    pack.top("rms_norm_block_f16", {high}, {halves(n), halves(wide), halves(n), number(high), number(wide), number(1e-5)});
    pack.top("softmax_block_f16", {high}, {halves(n), halves(n), number(high), number(wide)});
    pack.top("bias_gelu_add_f16", {1056}, {halves(n), halves(wide), halves(n), halves(n), number(high), number(wide)});
}

std::vector<PackRow> make_pack() {
    Pack pack;
    add_products(pack);
    add_reductions_and_stencils(pack);
    add_rows(pack);
    add_attention(pack);
    add_convolution(pack);
    add_elementwise(pack);
    add_lesson(pack);
    add_top(pack);
    return std::move(pack.rows);
}

std::vector<std::byte> contents(const PackArgument& argument, Rng& rng) {
    std::vector<std::byte> bytes(static_cast<size_t>(argument.count) * size_of(argument.type));
    const auto fill = [&](auto draw) {
        for (size_t i = 0; i < static_cast<size_t>(argument.count); ++i) {
            const auto value = draw(i);
            std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
        }
    };
    // kernels/include/optimizer.h, in the middle of a run: nothing clipped, no step left out.
    static constexpr double middle[] = {0.001, 0.9, 0.1,  0,    0.01, 0.9,  0.99, 1e-8, 0.02, 0, 0, 2, 0.5,
                                        100,   2,   0.81, 0.98, 0.19, 0.14, 1,    0,    1,    1, 0, 0, 0};
    if (argument.kind == settings)
        fill([&](size_t i) { return middle[i]; });
    else if (argument.kind == indices)
        fill([&](size_t) { return static_cast<int32_t>(rng.below(static_cast<uint64_t>(argument.high))); });
    else if (argument.type == DType::f16)
        fill([&](size_t) { return f32_to_f16(static_cast<float>(rng.uniform(argument.low, argument.high))); });
    else if (argument.type == DType::bf16)
        fill([&](size_t) { return f32_to_bf16(static_cast<float>(rng.uniform(argument.low, argument.high))); });
    else
        fill([&](size_t) { return static_cast<float>(rng.uniform(argument.low, argument.high)); });
    return bytes;
}

}  // namespace pack_table
}  // namespace

std::span<const PackRow> silicon_pack() {
    static const std::vector<PackRow> rows = pack_table::make_pack();
    return rows;
}

const GeneratedKernel* pack_program(std::string_view file, std::string_view kernel) {
    if (file.empty()) return nullptr;
    static std::mutex mutex;
    static std::map<std::string, GeneratedKernel> known;
    const std::lock_guard lock(mutex);
    GeneratedKernel& generated = known[fmt::format("{} {}", file, kernel)];
    if (generated.program) return &generated;
    const std::string path(file);
    generated.name = kernel;
    generated.program =
        ptx::decode(ptx::parse(read_file(resource_root() / path).value(), path).value(), generated.name).value();
    return &generated;
}

PackLaunch::PackLaunch(Device& device, const PackRow& row) : device_(device) {
    request_.kernel = row.kernel;
    request_.grid = row.grid;
    request_.block = row.block;
    request_.dynamic_shared = row.dynamic_shared;
    request_.label = row.name;
    request_.generated = pack_program(row.file, row.kernel);
    Rng rng(fnv1a64(row.name));
    try {
        for (const PackArgument& argument : row.arguments) {
            if (argument.kind == PackArgument::Kind::whole) {
                if (argument.type == DType::i64)
                    request_.arguments.emplace_back(argument.count);
                else
                    request_.arguments.emplace_back(static_cast<int32_t>(argument.count));
            } else if (argument.kind == PackArgument::Kind::real) {
                if (argument.type == DType::f64)
                    request_.arguments.emplace_back(argument.high);
                else
                    request_.arguments.emplace_back(static_cast<float>(argument.high));
            } else {
                const size_t size = static_cast<size_t>(argument.count) * size_of(argument.type);
                buffers_.push_back(device.allocate(size, fmt::format("{} {}", row.name, buffers_.size())));
                if (argument.kind != PackArgument::Kind::zeros) {  // which memory is when it is new
                    const std::vector<std::byte> bytes = pack_table::contents(argument, rng);
                    device.copy_in(buffers_.back(), bytes.data(), size);
                }
                if (argument.dims.empty()) {
                    request_.arguments.emplace_back(buffers_.back());
                    continue;
                }
                tiles_.push_back(std::make_unique<TensorTile>(
                    TensorTile{buffers_.back(), argument.type, argument.dims, argument.box, 128}));
                request_.arguments.emplace_back(static_cast<const TensorTile*>(tiles_.back().get()));
            }
        }
    } catch (...) {
        for (const Pointer buffer : buffers_) device.release(buffer);
        throw;
    }
}
PackLaunch::~PackLaunch() {
    for (const Pointer buffer : buffers_) try {
            device_.release(buffer);
        } catch (const Failure&) {  // a device that failed keeps its memory
        }
}

}  // namespace lockstep::device
