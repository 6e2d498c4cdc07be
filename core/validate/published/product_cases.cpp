// Ladders of matrix products: with every load checked against the edges, without, and the ladder of kernels/sgemm on an
// H100.
#include "core/validate/published/published.h"

namespace lockstep::validate {
namespace {

struct ProductLadder {
    std::string_view gpu, name, folder, source;
    double clock;
    uint32_t part;
};
// Each on some eighth of an SM group of its GPU: a twelfth or so.
constexpr ProductLadder leimao{"rtx3090",
                               "rtx3090/sgemm",
                               "kernels/published",
                               "leimao/CUDA-GEMM-Optimization README FP32, RTX 3090, 4096^3, boost clock assumed",
                               0,
                               8};
constexpr ProductLadder leimao_f16{"rtx3090",
                                   "rtx3090/hgemm",
                                   "kernels/published",
                                   "leimao/CUDA-GEMM-Optimization README FP16, RTX 3090, 4096^3, boost clock assumed",
                                   0,
                                   8};
constexpr ProductLadder annanya{"rtx4090",
                                "rtx4090/sgemm",
                                "kernels/published",
                                "annanyapr/Fast-CUDA-Kernels README, RTX 4090, 4096^3, boost clock assumed",
                                0,
                                8};
constexpr ProductLadder maltsev{"p100",
                                "p100/sgemm",
                                "kernels/published",
                                "CUDA Matrix Multiplication - Complete Benchmark Results (A. Maltsev, public repository), "
                                "P100 PCIe at 1303 MHz (from its peak)",
                                1303,
                                8};
constexpr ProductLadder modal{
    "h100",
    "h100/sgemm",
    "kernels/sgemm",
    "CUDA SGEMM Optimization Report (H100) (public repository), siboehm's ladder at 4096^3, H100 SXM at 1980 MHz assumed",
    1980,
    11};

KernelCase product(const ProductLadder& ladder, std::string_view file, std::string_view kernel, double gigaflops,
                   uint32_t rows, uint32_t columns, simt::Dim3 block, uint32_t depth, bool quick = false,
                   uint32_t size = 4096, bool rows_first = false) {
    const uint32_t side = std::min(size, 8192u);  // of the largest, some rows and columns
    return {.kind = ladder.name == "rtx3090/hgemm" ? "hgemm" : "sgemm",
            .name = std::string(ladder.gpu) + "/" + std::string(kernel) + (size == 4096 ? "" : "_" + std::to_string(size)),
            .gpu = std::string(ladder.gpu),
            .ladder = std::string(ladder.name) + (size == 4096 ? "" : "_" + std::to_string(size)),
            .unit = Unit::gigaflops,
            .expected = gigaflops,
            .work = 2.0 * side * side * size,
            .quick = quick,
            .source = ladder.source,
            .clock_mhz = ladder.clock,
            .sms = ladder.part,
            .product = Product{.folder = ladder.folder,
                               .file = file,
                               .kernel = kernel,
                               .m = side,
                               .n = side,
                               .k = size,
                               .tile_rows = rows,
                               .tile_columns = columns,
                               .block = block,
                               .rows_first = rows_first,
                               .depth = depth,
                               .halves = ladder.name == "rtx3090/hgemm"}};
}

}  // namespace

std::vector<KernelCase> product_cases() {
    constexpr std::string_view guarded = "products_guarded", plain = "products_plain";
    return {
        product(leimao, guarded, "guarded_rows_apart", 278.129, 32, 32, {32, 32, 1}, 128, true, 4096, true),
        product(leimao, guarded, "guarded_rows_together", 1721.8, 32, 32, {32, 32, 1}, 128, true),
        product(leimao, guarded, "guarded_tile", 2661.57, 32, 32, {32, 32, 1}, 256, true),
        product(leimao, guarded, "guarded_columns", 8913.18, 64, 64, {512, 1, 1}, 128),
        product(leimao, guarded, "guarded_squares", 13024.7, 128, 128, {256, 1, 1}, 64, true),
        product(leimao, guarded, "guarded_squares_vectors", 19668.8, 128, 128, {256, 1, 1}, 64),
        product(leimao_f16, guarded, "guarded_rows_together_f16", 1731.6, 32, 32, {32, 32, 1}, 128),
        product(leimao_f16, "products_wmma", "guarded_wmma", 35231.2, 128, 128, {256, 1, 1}, 1024),
        product(leimao_f16, "products_wmma", "guarded_wmma_vectors", 55029.8, 128, 128, {256, 1, 1}, 128, true),
        product(annanya, plain, "rows_apart", 635.3, 32, 32, {32, 32, 1}, 128, false, 4096, true),
        product(annanya, plain, "rows_together", 4887.4, 32, 32, {32, 32, 1}, 128, true, 4096, true),
        product(annanya, plain, "tile_rows_first", 6592, 32, 32, {1024, 1, 1}, 256, false, 4096, true),
        product(annanya, plain, "squares_8_rows_first", 37201, 64, 64, {64, 1, 1}, 64, false, 4096, true),
        product(maltsev, plain, "tiled_16", 1732.33, 16, 16, {16, 16, 1}, 128, true, 1024),
        product(maltsev, plain, "squares_4", 4818.44, 64, 64, {16, 16, 1}, 128, true, 1024),
        product(maltsev, plain, "tiled_16", 2019.99, 16, 16, {16, 16, 1}, 128, false, 8192),
        product(maltsev, plain, "tiled_32", 2080.19, 32, 32, {32, 32, 1}, 128, false, 16384),
        product(maltsev, plain, "squares_4", 6436.27, 64, 64, {16, 16, 1}, 128, false, 16384),
        product(modal, "1_naive", "sgemm_naive", 498.7, 32, 32, {32, 32, 1}, 128, false, 4096, true),
        product(modal, "2_coalesced", "sgemm_coalesced", 6048.1, 32, 32, {32, 32, 1}, 256),
        product(modal, "3_shared_tile", "sgemm_shared_tile", 9189.8, 32, 32, {32, 32, 1}, 512, true),
        product(modal, "4_column_tile", "sgemm_column_tile", 17152.5, 64, 64, {512, 1, 1}, 256),
        product(modal, "5_square_tile", "sgemm_square_tile", 25860.5, 128, 128, {256, 1, 1}, 128),
        product(modal, "6_vectorised", "sgemm_vectorised", 31626.7, 128, 128, {256, 1, 1}, 128, true),
        product(modal, "8_warp_tile", "sgemm_warp_tile", 36318.5, 128, 128, {128, 1, 1}, 128),
    };
}

}  // namespace lockstep::validate
