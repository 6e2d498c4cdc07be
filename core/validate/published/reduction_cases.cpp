// Ladders of sums, rows (products with a vector, softmax), prefix sums, atomics, transposes.
#include "core/validate/published/published.h"

namespace lockstep::validate {
namespace {

// 32 Mi floats, blocks of 256 that make so many elements each; `shared`: a word a thread.
struct SumLadder {
    std::string_view gpu, name, source;
    Unit unit;
    double clock;
    uint32_t part;
};
constexpr SumLadder liu{"v100",
                        "v100/sum",
                        "Liu-xiandong/How_to_optimize_in_GPU reduce/README, V100, 32 Mi floats, nsight, boost clock assumed",
                        Unit::microseconds,
                        0,
                        20};
constexpr SumLadder bbuf{
    "a100",
    "a100/sum",
    "BBuf/how-to-optim-algorithm-in-cuda reduce/README, A100 PCIe 40 GB, 32 Mi floats, ncu at 765 MHz assumed",
    Unit::microseconds,
    765,
    27};
// One word takes the sums of all blocks: the whole GPU.
constexpr SumLadder skeptic{
    "rtx3090",
    "rtx3090/sum",
    "MasterSkepticista/parallel_reductions_cuda README, RTX 3090, 32 Mi floats, blocks of 256 assumed",
    Unit::gigabytes,
    0,
    0};

KernelCase sum(const SumLadder& ladder, std::string_view kernel, uint32_t a_block, double expected, bool quick = false,
               uint32_t shared = 1024) {
    return {.kind = "reduction",
            .name = std::string(ladder.gpu) + "/" + std::string(kernel),
            .gpu = std::string(ladder.gpu),
            .ladder = std::string(ladder.name),
            .unit = ladder.unit,
            .expected = expected,
            .work = 4.0 * 32 * Mi,
            .figure = kernel == "sum_all_atomic" ? Kind::calibrated : Kind::predicted,  // GpuSpec::atomic_cycles
            .quick = quick,
            .source = ladder.source,
            .clock_mhz = ladder.clock,
            .launches =
                [kernel, a_block, shared](uint64_t length, uint32_t) {
                    const auto blocks = static_cast<uint32_t>(length / a_block);
                    return std::vector<Launch>{{.file = "reduce",
                                                .kernel = kernel,
                                                .grid = {blocks, 1, 1},
                                                .block = {256, 1, 1},
                                                .shared = shared,
                                                .arguments = {zeros(length * 4), zeros(blocks * 4)}}};
                },
            .length = 32 * Mi,
            .at = a_block > 1024 ? 4 * Mi : Mi / 2,
            .sms = ladder.part};
}

// All that fits at once goes over packs of four in strides.
KernelCase sum_of_packs(double us) {
    KernelCase row = sum(bbuf, "sum_packs", 1024, us, true);
    row.launches = [](uint64_t length, uint32_t sms) {
        const uint32_t blocks = sms * 8;
        return std::vector<Launch>{
            {.file = "reduce",
             .kernel = "sum_packs",
             .grid = {blocks, 1, 1},
             .block = {256, 1, 1},
             .arguments = {zeros(length * 4), zeros(blocks * 4), number(static_cast<int64_t>(length / 4))}}};
    };
    row.at = 4 * Mi;
    return row;
}

KernelCase gemv(std::string_view kernel, uint32_t n, uint32_t rows_a_block, double ns) {
    return {.kind = "gemv",
            .name = "v100/" + std::string(kernel),
            .gpu = "v100",
            .expected = ns / 1000,
            .quick = true,
            .source =
                "Liu-xiandong/How_to_optimize_in_GPU README sgemv, V100, M 16384, nsight, boost clock assumed, L2 warm on "
                "silicon",
            .launches =
                [kernel, n, rows_a_block](uint64_t length, uint32_t) {
                    const auto m = static_cast<int64_t>(length);
                    return std::vector<Launch>{
                        {.file = "rows",
                         .kernel = kernel,
                         .grid = {static_cast<uint32_t>(length) / rows_a_block, 1, 1},
                         .block = {32, 4, 1},
                         .arguments = {zeros(length * n * 4), zeros(n * 4), zeros(length * 4), number(m), number(n)}}};
                },
            .length = 16384,
            .at = 16384};
}

// 32 x 64 heads of so many rows of that length; blocks of four warps, at most 32 for each that fits at once.
KernelCase softmax_warp(uint32_t columns, uint32_t rows_a_warp, double us, bool quick) {
    const std::string_view kernel = columns == 64    ? "softmax_warp_64"
                                    : columns == 128 ? "softmax_warp_128"
                                                     : "softmax_warp_512";
    return {
        .kind = "softmax",
        .name = "a100/" + std::string(kernel),
        .gpu = "a100",
        .ladder = "a100/softmax",
        .expected = us,
        .quick = quick,
        .source =
            "BBuf/how-to-optim-algorithm-in-cuda softmax/README (OneFlow), A100 PCIe 40 GB, (32, 64, n, n), ncu at 765 MHz "
            "assumed",
        .clock_mhz = 765,
        .launches =
            [kernel, columns, rows_a_warp](uint64_t length, uint32_t sms) {
                const Argument data = zeros(length * columns * 4);
                const uint64_t most = uint64_t{sms} * 16 * 32;
                return std::vector<Launch>{{.file = "rows",
                                            .kernel = kernel,
                                            .grid = {static_cast<uint32_t>(std::min(length / rows_a_warp / 4, most)), 1, 1},
                                            .block = {32, 4, 1},
                                            .arguments = {data, data, wide(static_cast<int64_t>(length)), wide(columns)}}};
            },
        .length = uint64_t{32} * 64 * columns,
        .at = 2 * Mi / columns,
        .sms = 27};
}

constexpr std::string_view annanya_rows =
    "annanyapr/Fast-CUDA-Kernels README softmax, RTX 4090, 1024 rows of 65536 (from its source), boost clock assumed";

// A block of 256 a row of 65536, eight rows an SM: on eight SMs, where the rows come in the same waves.
KernelCase softmax_block(std::string_view kernel, double ms, uint32_t shared) {
    return {.kind = "softmax",
            .name = "rtx4090/" + std::string(kernel),
            .gpu = "rtx4090",
            .ladder = "rtx4090/softmax",
            .expected = 1000 * ms,
            .source = annanya_rows,
            .launches =
                [kernel, shared](uint64_t length, uint32_t) {
                    const Argument data = zeros(length * 65536 * 4);
                    return std::vector<Launch>{{.file = "rows",
                                                .kernel = kernel,
                                                .grid = {static_cast<uint32_t>(length), 1, 1},
                                                .block = {256, 1, 1},
                                                .shared = shared,
                                                .arguments = {data, data, wide(65536)}}};
                },
            .length = 1024,
            .at = 64,
            .sms = 8};
}
// A thread a row, four blocks: columns are cut, rows lie as far apart as ever.
KernelCase softmax_thread() {
    return {.kind = "softmax",
            .name = "rtx4090/softmax_thread",
            .gpu = "rtx4090",
            .ladder = "rtx4090/softmax",
            .expected = 22470.9,
            .source = annanya_rows,
            .launches =
                [](uint64_t length, uint32_t) {
                    const Argument data = zeros(uint64_t{1024} * 65536 * 4);
                    return std::vector<Launch>{
                        {.file = "rows",
                         .kernel = "softmax_thread",
                         .grid = {4, 1, 1},
                         .block = {256, 1, 1},
                         .arguments = {data, data, wide(static_cast<int64_t>(length)), wide(65536), wide(1024 * 65536)}}};
                },
            .length = 65536,
            .at = 256,
            .rounds = true};
}

// 2^30 ints in tiles of 512: each tile, then the tiles' sums added. What lies between, the scan of 2 Mi sums, is not run.
KernelCase scan(std::string_view kernel, double ms) {
    return {.kind = "scan",
            .name = "h100/" + std::string(kernel),
            .gpu = "h100",
            .ladder = "h100/scan",
            .expected = 1000 * ms,
            .source = "yencal/gpu-scan-optimization README, H100, 2^30 ints, H100 SXM at 1980 MHz assumed",
            .clock_mhz = 1980,
            .launches =
                [kernel](uint64_t length, uint32_t) {
                    const Argument data = zeros(length * 4), totals = zeros(length / 512 * 4);
                    const simt::Dim3 grid{static_cast<uint32_t>(length / 512), 1, 1}, block{512, 1, 1};
                    const std::vector<Argument> arguments = {data, data, number(static_cast<int64_t>(length)), totals};
                    return std::vector<Launch>{
                        {.file = "scan", .kernel = kernel, .grid = grid, .block = block, .arguments = arguments},
                        {.file = "scan", .kernel = "add_totals", .grid = grid, .block = block, .arguments = arguments}};
                },
            .length = 1024 * Mi,
            .at = 2 * Mi,
            .sms = 22};
}

// 2^30 bytes at random, 32 blocks of 512 an SM. Into global memory on the whole GPU, whose SMs share the 256 words.
KernelCase histogram(std::string_view kernel, double ms, uint32_t part, uint64_t at, bool quick) {
    return {.kind = "histogram",
            .name = "h100/" + std::string(kernel),
            .gpu = "h100",
            .ladder = "h100/histogram",
            .expected = 1000 * ms,
            .quick = quick,
            .source = "yencal/gpu-histogram-optimization README, H100, 2^30 bytes, 256 bins, H100 SXM at 1980 MHz assumed",
            .clock_mhz = 1980,
            .launches =
                [kernel](uint64_t length, uint32_t sms) {
                    return std::vector<Launch>{
                        {.file = "atomics",
                         .kernel = kernel,
                         .grid = {sms * 32, 1, 1},
                         .block = {512, 1, 1},
                         .arguments = {random_bytes(length), number(static_cast<int64_t>(length)), zeros(1024)}}};
                },
            .length = 1024 * Mi,
            .at = at,
            .sms = part};
}

KernelCase half_atomics(std::string_view kernel, double ms) {
    return {
        .kind = "atomics",
        .name = "a100/" + std::string(kernel),
        .gpu = "a100",
        .ladder = "a100/dot_half",
        .expected = 1000 * ms,
        .quick = true,
        .source =
            "BBuf/how-to-optim-algorithm-in-cuda fast-atomic-add/README, A100 PCIe 40 GB, 32 Mi halves, ncu at 765 MHz "
            "assumed",
        .clock_mhz = 765,
        .launches =
            [kernel](uint64_t length, uint32_t) {
                const Argument data = zeros(length * 2);
                return std::vector<Launch>{{.file = "atomics",
                                            .kernel = kernel,
                                            .grid = {static_cast<uint32_t>(length / 256), 1, 1},
                                            .block = {256, 1, 1},
                                            .arguments = {data, data, zeros(256), number(static_cast<int64_t>(length))}}};
            },
        .length = 32 * Mi,
        .at = Mi / 8};
}

KernelCase transpose(std::string_view kernel, double us) {
    return {
        .kind = "transpose",
        .name = "a100/" + std::string(kernel),
        .gpu = "a100",
        .ladder = "a100/transpose",
        .expected = us,
        .quick = kernel == "transpose_reads_together",
        .source =
            "ayush-os/transpose README, an A100 of 1.55 TB/s, 4096 x 4096 floats, blocks of 16 x 16, boost clock assumed",
        .launches =
            [kernel](uint64_t length, uint32_t) {
                const Argument data = zeros(uint64_t{4096} * 4096 * 4);
                return std::vector<Launch>{{.file = "transpose",
                                            .kernel = kernel,
                                            .grid = {256, static_cast<uint32_t>(length), 1},
                                            .block = {16, 16, 1},
                                            .arguments = {data, data, number(4096)}}};
            },
        .length = 256,
        .at = 64,
        .sms = 27};
}

}  // namespace

std::vector<KernelCase> reduction_cases() {
    return {
        sum(liu, "sum_divergent", 256, 804.187, true),
        sum(liu, "sum_strided", 256, 506.365, true),
        sum(liu, "sum_sequential", 256, 397.886, true),
        sum(liu, "sum_two_loads", 512, 213.182),
        sum(liu, "sum_last_warp", 512, 169.215),
        sum(liu, "sum_many", 32768, 166.656, false, 0),
        sum(liu, "sum_shuffles", 32768, 166.175, true, 0),
        sum(bbuf, "sum_divergent", 256, 990.66),
        sum(bbuf, "sum_strided", 256, 479.58),
        sum(bbuf, "sum_sequential", 256, 462.02),
        sum(bbuf, "sum_two_loads", 512, 244.16),
        sum(bbuf, "sum_last_warp", 512, 167.10),
        sum(bbuf, "sum_many", 32768, 105.47, false, 0),
        sum(bbuf, "sum_shuffles", 32768, 101.7, false, 0),
        sum_of_packs(99.71),
        sum(skeptic, "sum_all_atomic", 1024, 9.9, true),
        sum(skeptic, "sum_divergent_atomic", 256, 223),
        sum(skeptic, "sum_strided_atomic", 256, 317),
        sum(skeptic, "sum_sequential_atomic", 256, 331),
        sum(skeptic, "sum_one_load_last_warp_atomic", 256, 550),
        sum(skeptic, "sum_last_warp_atomic", 512, 854),
        gemv("gemv_32", 32, 4, 10341),
        gemv("gemv_128", 128, 4, 14284),
        gemv("gemv_16", 16, 8, 6903),
        softmax_warp(64, 2, 59.65, true),
        softmax_warp(128, 1, 208.93, false),
        softmax_warp(512, 1, 3100, false),
        softmax_block("softmax_shuffles", 0.90845, 64),
        softmax_block("softmax_block", 0.90854, 2048),
        softmax_thread(),
        scan("scan_tiles_shared", 10.72),
        scan("scan_tiles_shuffles", 9.33),
        histogram("histogram_global", 276.13, 0, Mi, false),
        histogram("histogram_shared", 1.53, 22, 4 * Mi, true),
        histogram("histogram_shared_packs", 0.47, 22, 8 * Mi, false),
        half_atomics("dot_half", 422.36),
        half_atomics("dot_half_pair", 137.01),
        transpose("transpose_reads_together", 161.143),
        transpose("transpose_writes_together", 143.597),
    };
}

}  // namespace lockstep::validate
