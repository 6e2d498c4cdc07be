// The one table: every published figure that the model is held to, with its source, what kernel measures it, and whether the
// figure went into the GPU's row in core/model/gpus/gpus.cpp. Figures as printed; of a range the first number.
#include "core/validate/validate.h"

namespace lockstep::validate {
namespace {

constexpr Kind calibrated = Kind::calibrated, predicted = Kind::predicted;
constexpr uint64_t KiB = 1024, MiB = 1024 * 1024;
constexpr std::string_view chase = "published pointer chase on this GPU";
constexpr std::string_view issue = "published micro-benchmark: dependent issue";
constexpr std::string_view jia = "Jia et al. 2018 (recalled)";
// Its kernels divide 0.1 by t + 0.2 and take the root of t + 0.2: an addition of 8 cycles is in the figures of its table.
constexpr std::string_view incore = "gpu-benches README, cuda-incore: 111.55 and 101.26 with an addition of 8 each";
constexpr std::string_view guide = "CUDA C++ Programming Guide, arithmetic throughput";
// Its table 2: loads of 32, 64 and 128 bits a lane take 32, 34 and 38 cycles, and 29, 31 and 35 with addresses in uniform
// registers. Those a chase cannot have, what a load brings is in a warp's own registers: they stand for no row.
constexpr std::string_view ampere_core = "published study of Ampere's core (MICRO 2025, table 2)";
constexpr std::string_view banks = "published strides of shared memory on this GPU";
constexpr std::string_view streams = "published bandwidth test on this GPU";
constexpr std::string_view vendor = "vendor's peak";
constexpr std::string_view ladder = "published SGEMM ladder on this GPU, 4096 x 4096; see sgemm.cpp";

// Latencies, in cycles a dependent step of one warp.
Case chain(std::string_view gpu, std::string_view name, std::string_view kernel, double cycles, Kind kind,
           std::string_view source) {
    return {.table = "latency",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "latency",
            .kernel = kernel,
            .expected = cycles,
            .unit = "cycles",
            .kind = kind,
            .source = source};
}
// One thread follows `loads` links of a ring, behind `warm` that are not timed.
Case global_chase(std::string_view gpu, std::string_view name, double cycles, Kind kind, std::string_view source,
                  uint64_t bytes, uint64_t stride, int32_t loads, int32_t warm) {
    return {.table = "latency",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "chase",
            .kernel = "chase_global",
            .expected = cycles,
            .unit = "cycles",
            .kind = kind,
            .source = source,
            .threads = 1,
            .steps = static_cast<uint32_t>(loads),
            .n = loads,
            .more = warm,
            .bytes = bytes,
            .stride = stride};
}
Case l1(std::string_view gpu, std::string_view name, double cycles) {
    return global_chase(gpu, name, cycles, calibrated, chase, 8 * KiB, 128, 128, 64);
}
Case l2(std::string_view gpu, std::string_view name, double cycles) {  // more than L1 holds, twice round
    return global_chase(gpu, name, cycles, calibrated, chase, 1 * MiB, 128, 1024, 8192);
}
Case dram(std::string_view gpu, std::string_view name, double cycles) {  // lines that nobody has touched, within one page
    return global_chase(gpu, name, cycles, calibrated, chase, 2 * MiB, 4096, 496, 16);
}
Case shared(std::string_view gpu, std::string_view name, double cycles, std::string_view source) {
    return {.table = "latency",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "chase",
            .kernel = "chase_shared",
            .expected = cycles,
            .unit = "cycles",
            .kind = calibrated,
            .source = source};
}
// A constant ring: of 2 KB in the nearest cache, of 16 KB in the next one.
Case constant(std::string_view gpu, std::string_view name, double cycles, Kind kind, uint64_t bytes,
              std::string_view source) {
    return {.table = "latency",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "chase",
            .kernel = "chase_constant",
            .expected = cycles,
            .unit = "cycles",
            .kind = kind,
            .source = source,
            .threads = 1,
            .more = static_cast<int32_t>(bytes / 64),
            .bytes = bytes,
            .stride = 64,
            .constants = "links"};
}

// Rates: results a cycle and SM of 32 warps.
Case rate(std::string_view gpu, std::string_view name, std::string_view kernel, double results, Kind kind,
          std::string_view source = guide) {
    return {.table = "rate",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "rate",
            .kernel = kernel,
            .quantity = Quantity::results_a_cycle,
            .expected = results,
            .unit = "results/cycle/SM",
            .kind = kind,
            .source = source,
            .threads = 1024,
            .steps = 256};
}
Case bank(std::string_view gpu, std::string_view name, double cycles, std::string_view kernel, int32_t stride) {
    return {.table = "rate",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "shared",
            .kernel = kernel,
            .quantity = Quantity::cycles_a_warp,
            .expected = cycles,
            .unit = "cycles/warp",
            .kind = predicted,
            .source = banks,
            .threads = 512,
            .more = stride};
}
Case sectors(std::string_view gpu, std::string_view name, double expected, int32_t stride) {
    return {.table = "rate",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "bandwidth",
            .kernel = "strided_global",
            .quantity = Quantity::sectors,
            .expected = expected,
            .unit = "sectors/request",
            .kind = predicted,
            .source = "32-byte sectors that 32 words of 4 bytes lie in",
            .more = stride};
}

// Cycles of an SM for a load of words `stride` apart that L1 has, of 32 warps.
Case stride(std::string_view gpu, std::string_view name, double cycles, Kind kind, uint32_t bytes, int32_t stride,
            bool quick = true) {
    return {.table = "strides",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "strides",
            .kernel = bytes == 4 ? "strided_l1_4" : "strided_l1_8",
            .quantity = Quantity::cycles_a_warp,
            .expected = cycles,
            .unit = "cycles/warp",
            .kind = kind,
            .source = "published strides of L1 on this GPU (gpu-benches, gpu-strides)",
            .quick = quick,
            .threads = 1024,
            .steps = 128,
            .more = stride,
            .bytes = 64 * KiB};
}

// All SMs stream: 2 blocks of 1024 threads each, 16 bytes a load; n and 2 n loads a thread.
Case stream(std::string_view gpu, std::string_view name, Quantity quantity, double expected, std::string_view unit,
            Kind kind, std::string_view source, uint32_t sms, int32_t loads, uint64_t bytes, bool quick = true,
            bool parts = false) {
    return {.table = "bandwidth",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "bandwidth",
            .kernel = "read_all",
            .quantity = quantity,
            .expected = expected,
            .unit = unit,
            .kind = kind,
            .source = source,
            .quick = quick,
            .parts = parts,
            .blocks = 2 * sms,
            .threads = 1024,
            .steps = static_cast<uint32_t>(loads),
            .n = loads,
            .more = static_cast<int32_t>(bytes / 16),
            .bytes = bytes,
            .work = 512};
}
Case sm_stream(std::string_view gpu, std::string_view name, double expected, std::string_view file, std::string_view kernel,
               Kind kind, std::string_view source) {
    const bool l1_loads = file == "bandwidth";
    return {.table = "bandwidth",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = file,
            .kernel = kernel,
            .quantity = Quantity::bytes_a_cycle,
            .expected = expected,
            .unit = "bytes/cycle/SM",
            .kind = kind,
            .source = source,
            .threads = 1024,
            .steps = l1_loads ? 512u : 128u,
            .n = l1_loads ? 64 : 2,
            .more = 1,
            .bytes = 64 * KiB,
            .work = 512};
}

// Blocks of 64 threads, two an SM, which so much shared memory leaves room for: eight and sixteen one behind the other.
Case blocks(std::string_view gpu, std::string_view name, std::string_view kernel, double gigabytes, double arrays,
            uint32_t sms, uint32_t shared, Kind kind) {
    constexpr uint32_t threads = 64, rounds = 8;
    const uint64_t numbers = uint64_t{2} * sms * threads * rounds * 2;
    return {.table = "blocks",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "blocks",
            .kernel = kernel,
            .quantity = Quantity::block_turn,
            .expected = arrays * 8 * threads * 2 * sms / gigabytes,
            .unit = "ns/block",
            .kind = kind,
            .source = "gpu-benches, gpu-stream: 64 threads a block, 2 blocks an SM",
            .blocks = 2 * sms * rounds,
            .threads = threads,
            .steps = rounds,
            .more = static_cast<int32_t>(numbers),
            .bytes = 2 * 8 * numbers,
            .shared = shared};
}
// A barrier of all blocks, one an SM, behind a little work.
Case barrier_of_all(std::string_view gpu, std::string_view name, double nanoseconds, Kind kind, uint32_t sms) {
    return {.table = "blocks",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "meet",
            .kernel = "meet",
            .quantity = Quantity::nanoseconds,
            .expected = nanoseconds,
            .unit = "ns/round",
            .kind = kind,
            .source = "gpu-benches, gpu-small-kernels with grid synchronisation: 64 KiB a round",
            .blocks = sms,
            .threads = 128,
            .n = 8,
            .bytes = 128 * KiB};
}

// Peaks of the whole GPU: one block an SM, n and 2 n rounds.
Case peak(std::string_view gpu, std::string_view name, double tflops, std::string_view file, std::string_view kernel,
          Kind kind, uint32_t sms, uint32_t threads, uint32_t steps, double operations, int32_t rounds) {
    return {.table = "peak",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = file,
            .kernel = kernel,
            .quantity = Quantity::teraflops,
            .expected = tflops,
            .unit = "TFLOP/s",
            .kind = kind,
            .source = vendor,
            .parts = true,
            .blocks = sms,
            .threads = threads,
            .steps = steps,
            .n = rounds,
            .work = operations};
}
// The row's lanes and clock make it.
Case fma_peak(std::string_view gpu, std::string_view name, double tflops, std::string_view kernel, uint32_t sms,
              int32_t rounds = 4) {
    return peak(gpu, name, tflops, "peak", kernel, calibrated, sms, 512, 512, 64, rounds);
}
Case mma_peak(std::string_view gpu, std::string_view name, double tflops, uint32_t sms) {
    return peak(gpu, name, tflops, "tensor", "rate_mma", calibrated, sms, 512, 128, 2 * 16 * 8 * 16, 1);
}
// The row has the peak of halves alone; what other types take of the tensor core is the model's.
Case mma_tf32_peak(std::string_view gpu, std::string_view name, double tflops, uint32_t sms) {
    return peak(gpu, name, tflops, "tensor", "rate_mma_tf32", predicted, sms, 512, 128, 2 * 16 * 8 * 8, 1);
}
// A share of the GPU's own peak, which is that of wgmma.
Case mma_of_hopper(std::string_view gpu, std::string_view name, double cycles) {
    return {.table = "rate",
            .name = std::string(name),
            .gpu = std::string(gpu),
            .file = "tensor",
            .kernel = "rate_mma",
            .quantity = Quantity::cycles_a_warp,
            .expected = cycles,
            .unit = "cycles/m16n8k16/SM",
            .kind = calibrated,
            .source = "62.9 % of wgmma's peak: published micro-benchmarks of Hopper, arXiv 2402.13499",
            .threads = 512,
            .steps = 128};
}

// The ladder on the A6000, see sgemm.cpp. K is cut to n and 2 n; of rung 3 not at all, because its blocks, which start and
// so load all at once, need half of it to come apart, which one wave after the other would not.
Case rung(std::string_view name, std::string_view file, std::string_view kernel, double gflops, uint32_t tile_rows,
          uint32_t tile_columns, uint32_t block_x, uint32_t block_y, int32_t depth, bool rows_first = false) {
    return {.table = "sgemm",
            .name = std::string(name),
            .gpu = "a6000",
            .file = file,
            .kernel = kernel,
            .quantity = Quantity::gigaflops,
            .expected = gflops,
            .unit = "GFLOP/s",
            .kind = predicted,
            .source = ladder,
            .parts = true,
            .threads = block_x,
            .n = depth,
            .tile_rows = tile_rows,
            .tile_columns = tile_columns,
            .block_y = block_y,
            .rows_first = rows_first};
}

const std::vector<Case>& all() {
    static const std::vector<Case> rows = {
        l1("p100", "p100/l1", 82),
        l1("v100", "v100/l1", 28.0),
        l1("a100", "a100/l1", 33.1),
        l1("rtx3090", "rtx3090/l1", 33.1),
        l1("rtx4090", "rtx4090/l1", 34.1),
        l1("h100", "h100/l1", 32.1),
        l2("p100", "p100/l2", 234),
        l2("v100", "v100/l2", 212),
        l2("a100", "a100/l2", 206),
        l2("rtx3090", "rtx3090/l2", 250),
        l2("rtx4090", "rtx4090/l2", 273.6),
        l2("h100", "h100/l2", 280),
        dram("v100", "v100/dram", 425),
        dram("a100", "a100/dram", 406),
        dram("rtx3090", "rtx3090/dram", 547),
        dram("rtx4090", "rtx4090/dram", 613),
        dram("h100", "h100/dram", 515),
        shared("p100", "p100/shared", 24, jia),
        shared("v100", "v100/shared", 19, jia),
        shared("a100", "a100/shared", 23, "measured, quoted in a public repository"),
        shared("rtx3090", "rtx3090/shared", 23, "measured, quoted in a public repository"),
        shared("rtx4090", "rtx4090/shared", 30.1, "measured, quoted in a public repository"),
        shared("h100", "h100/shared", 29, "published micro-benchmark on this GPU (recalled)"),
        constant("p100", "p100/constant", 24, calibrated, 1 * KiB, jia),
        constant("v100", "v100/constant", 27, calibrated, 1 * KiB, jia),
        constant("v100", "v100/constant_l15", 89, calibrated, 16 * KiB, jia),
        constant("rtx3090", "rtx3090/constant", 29, calibrated, 1 * KiB, "published study of this GPU's core, MICRO 2025"),
        {.table = "latency",
         .name = "rtx3090/l1_128_bits",
         .gpu = "rtx3090",
         .file = "chase",
         .kernel = "chase_lanes_16",
         .expected = 38,
         .unit = "cycles",
         .kind = calibrated,  // the 6 cycles more are the rate at which results reach the registers
         .source = ampere_core,
         .n = 2,
         .bytes = 16 * KiB,
         .stride = 16,
         .hop = 32},
        {.table = "latency",
         .name = "rtx3090/l1_64_bits",
         .gpu = "rtx3090",
         .file = "chase",
         .kernel = "chase_lanes_8",
         .expected = 34,
         .unit = "cycles",
         .kind = predicted,
         .source = ampere_core,
         .n = 2,
         .bytes = 8 * KiB,
         .stride = 8,
         .hop = 32},
        chain("p100", "p100/add_f32", "chain_add_f32", 6, calibrated, issue),
        chain("v100", "v100/add_f32", "chain_add_f32", 4, calibrated, issue),
        chain("v100", "v100/mul_f32", "chain_mul_f32", 4, calibrated, issue),
        chain("v100", "v100/fma_f32", "chain_fma_f32", 4, calibrated, issue),
        chain("v100", "v100/sub_s32", "chain_sub_s32", 4, calibrated, issue),
        chain("v100", "v100/mad_s32", "chain_mad_s32", 5, calibrated, issue),
        chain("v100", "v100/fma_f64", "chain_fma_f64", 8, calibrated, issue),
        chain("v100", "v100/add_f64", "chain_add_f64", 8, calibrated, jia),
        chain("v100", "v100/div_f64", "chain_div_f64", 111.55 - 8, calibrated, incore),
        chain("v100", "v100/sqrt_f64", "chain_sqrt_f64", 101.26 - 8, calibrated, incore),
        chain("v100", "v100/ex2_f32", "chain_ex2_f32", 14, calibrated, jia),
        chain("v100", "v100/fma_f16x2", "chain_fma_f16x2", 6, calibrated, jia),
        chain("v100", "v100/shuffle", "chain_shuffle", 23, calibrated, issue),
        chain("v100", "v100/barrier", "chain_barrier", 22, calibrated,
              "published synchronisation micro-benchmark (recalled)"),
        chain("a100", "a100/fma_f32", "chain_fma_f32", 4, calibrated, issue),
        chain("a100", "a100/sub_s32", "chain_sub_s32", 4, calibrated, issue),
        chain("a100", "a100/mad_s32", "chain_mad_s32", 4, calibrated, issue),
        chain("a100", "a100/shuffle", "chain_shuffle", 23, calibrated, issue),
        chain("rtx3090", "rtx3090/fma_f32", "chain_fma_f32", 4, calibrated, issue),
        chain("rtx3090", "rtx3090/fma_f16x2", "chain_fma_f16x2", 4, calibrated, "measured, quoted in a public repository"),
        chain("rtx4090", "rtx4090/fma_f32", "chain_fma_f32", 4, calibrated, issue),
        chain("h100", "h100/fma_f32", "chain_fma_f32", 4, calibrated, issue),
        chain("h100", "h100/sub_s32", "chain_sub_s32", 4, calibrated, issue),

        rate("p100", "p100/fma_f32", "rate_fma_f32", 64, calibrated),
        rate("p100", "p100/fma_f64", "rate_fma_f64", 32, calibrated),
        rate("p100", "p100/ex2_f32", "rate_ex2_f32", 16, calibrated),
        rate("v100", "v100/fma_f32", "rate_fma_f32", 64, calibrated),
        rate("v100", "v100/add_f32", "rate_add_f32", 64, calibrated),
        rate("v100", "v100/min_s32", "rate_min_s32", 64, calibrated),
        rate("v100", "v100/mad_s32", "rate_mad_s32", 64, calibrated),
        rate("v100", "v100/fma_f64", "rate_fma_f64", 32, calibrated),
        rate("v100", "v100/ex2_f32", "rate_ex2_f32", 16, calibrated),
        rate("v100", "v100/shuffle", "rate_shuffle", 32, calibrated),
        rate("v100", "v100/fma_f16x2", "rate_fma_f16x2", 64, calibrated),
        rate("a100", "a100/fma_f32", "rate_fma_f32", 64, calibrated),
        rate("a100", "a100/min_s32", "rate_min_s32", 64, calibrated),
        rate("a100", "a100/mad_s32", "rate_mad_s32", 64, calibrated),
        rate("a100", "a100/fma_f64", "rate_fma_f64", 32, calibrated),
        rate("a100", "a100/ex2_f32", "rate_ex2_f32", 16, calibrated),
        rate("a100", "a100/shuffle", "rate_shuffle", 32, calibrated),
        rate("a100", "a100/fma_f16x2", "rate_fma_f16x2", 128, calibrated),
        rate("rtx3090", "rtx3090/fma_f32", "rate_fma_f32", 128, calibrated),
        rate("rtx3090", "rtx3090/mad_s32", "rate_mad_s32", 64, calibrated),
        rate("rtx3090", "rtx3090/fma_f64", "rate_fma_f64", 2, calibrated),
        rate("h100", "h100/fma_f32", "rate_fma_f32", 128, calibrated),
        rate("h100", "h100/min_s32", "rate_min_s32", 64, calibrated),
        rate("h100", "h100/mad_s32", "rate_mad_s32", 64, calibrated),
        rate("h100", "h100/fma_f64", "rate_fma_f64", 64, calibrated),
        rate("h100", "h100/ex2_f32", "rate_ex2_f32", 16, calibrated),
        rate("h100", "h100/shuffle", "rate_shuffle", 32, calibrated),
        {.table = "rate",
         .name = "a100/mma_f16",
         .gpu = "a100",
         .file = "tensor",
         .kernel = "rate_mma",
         .quantity = Quantity::cycles_a_warp,
         .expected = 2,
         .unit = "cycles/m16n8k16/SM",
         .kind = calibrated,
         .source = "8 cycles of a sub-core: measured, quoted in a public repository",
         .threads = 512,
         .steps = 128},
        mma_of_hopper("h100", "h100/mma_f16", 1 / 0.629),
        bank("a100", "a100/banks_stride_1", 1.02, "strided_shared_4", 1),
        bank("a100", "a100/banks_stride_2", 2, "strided_shared_4", 2),
        bank("a100", "a100/banks_stride_4", 4, "strided_shared_4", 4),
        bank("a100", "a100/banks_stride_8", 8, "strided_shared_4", 8),
        bank("a100", "a100/banks_stride_16", 16, "strided_shared_4", 16),
        bank("a100", "a100/banks_stride_32", 32, "strided_shared_4", 32),
        bank("a100", "a100/banks_8_bytes", 2, "strided_shared_8", 1),
        bank("h200", "h200/banks_stride_1", 1.02, "strided_shared_4", 1),
        bank("h200", "h200/banks_stride_2", 2, "strided_shared_4", 2),
        bank("h200", "h200/banks_stride_4", 4, "strided_shared_4", 4),
        bank("h200", "h200/banks_stride_8", 8, "strided_shared_4", 8),
        bank("h200", "h200/banks_stride_16", 16, "strided_shared_4", 16),
        bank("h200", "h200/banks_stride_32", 32, "strided_shared_4", 32),
        bank("h200", "h200/banks_8_bytes", 2, "strided_shared_8", 1),
        sectors("v100", "v100/sectors_stride_1", 4, 1),
        sectors("v100", "v100/sectors_stride_2", 8, 2),
        sectors("v100", "v100/sectors_stride_8", 32, 8),
        sectors("v100", "v100/sectors_stride_32", 32, 32),

        stride("a100", "a100/l1_4_bytes_stride_1", 1.02, calibrated, 4, 1),
        stride("a100", "a100/l1_4_bytes_stride_2", 2, calibrated, 4, 2, false),
        stride("a100", "a100/l1_4_bytes_stride_3", 1.63, calibrated, 4, 3),
        stride("a100", "a100/l1_4_bytes_stride_4", 4, calibrated, 4, 4, false),
        stride("a100", "a100/l1_4_bytes_stride_5", 2.2, calibrated, 4, 5),
        stride("a100", "a100/l1_4_bytes_stride_7", 2.67, calibrated, 4, 7, false),
        stride("a100", "a100/l1_4_bytes_stride_8", 8, calibrated, 4, 8),
        stride("a100", "a100/l1_4_bytes_stride_12", 4, calibrated, 4, 12, false),
        stride("a100", "a100/l1_4_bytes_stride_16", 16, calibrated, 4, 16, false),
        stride("a100", "a100/l1_4_bytes_stride_20", 5.3, calibrated, 4, 20, false),
        stride("a100", "a100/l1_4_bytes_stride_24", 8, calibrated, 4, 24, false),
        stride("a100", "a100/l1_4_bytes_stride_31", 8.5, calibrated, 4, 31, false),
        stride("a100", "a100/l1_4_bytes_stride_32", 32, calibrated, 4, 32),
        stride("a100", "a100/l1_4_bytes_stride_33", 8.8, calibrated, 4, 33),
        stride("a100", "a100/l1_4_bytes_stride_37", 9.2, calibrated, 4, 37, false),
        stride("a100", "a100/l1_4_bytes_stride_48", 16, calibrated, 4, 48, false),
        stride("a100", "a100/l1_4_bytes_stride_53", 11.1, calibrated, 4, 53, false),
        stride("a100", "a100/l1_4_bytes_stride_63", 8.8, calibrated, 4, 63, false),
        stride("a100", "a100/l1_4_bytes_stride_64", 32, calibrated, 4, 64, false),
        stride("a100", "a100/l1_8_bytes_stride_1", 2.01, calibrated, 8, 1),
        stride("a100", "a100/l1_8_bytes_stride_3", 2.42, calibrated, 8, 3),
        stride("a100", "a100/l1_8_bytes_stride_5", 3.34, calibrated, 8, 5),
        stride("a100", "a100/l1_8_bytes_stride_8", 16, calibrated, 8, 8),
        stride("a100", "a100/l1_8_bytes_stride_11", 6.1, calibrated, 8, 11, false),
        stride("a100", "a100/l1_8_bytes_stride_17", 8.9, calibrated, 8, 17, false),
        stride("a100", "a100/l1_8_bytes_stride_24", 16, calibrated, 8, 24, false),
        stride("a100", "a100/l1_8_bytes_stride_31", 9.2, calibrated, 8, 31, false),
        stride("a100", "a100/l1_8_bytes_stride_40", 16, calibrated, 8, 40, false),
        stride("a100", "a100/l1_8_bytes_stride_64", 32, calibrated, 8, 64, false),
        stride("h200", "h200/l1_4_bytes_stride_1", 1.01, calibrated, 4, 1),
        stride("h200", "h200/l1_4_bytes_stride_2", 2.01, calibrated, 4, 2, false),
        stride("h200", "h200/l1_4_bytes_stride_3", 1.63, calibrated, 4, 3),
        stride("h200", "h200/l1_4_bytes_stride_4", 4.01, calibrated, 4, 4, false),
        stride("h200", "h200/l1_4_bytes_stride_5", 2, calibrated, 4, 5),
        stride("h200", "h200/l1_4_bytes_stride_6", 2.32, calibrated, 4, 6, false),
        stride("h200", "h200/l1_4_bytes_stride_7", 2.41, calibrated, 4, 7, false),
        stride("h200", "h200/l1_4_bytes_stride_8", 8, calibrated, 4, 8),
        stride("h200", "h200/l1_4_bytes_stride_9", 3, calibrated, 4, 9, false),
        stride("h200", "h200/l1_4_bytes_stride_11", 3.41, calibrated, 4, 11, false),
        stride("h200", "h200/l1_4_bytes_stride_12", 4.01, calibrated, 4, 12, false),
        stride("h200", "h200/l1_4_bytes_stride_13", 4.1, calibrated, 4, 13, false),
        stride("h200", "h200/l1_4_bytes_stride_14", 4.25, calibrated, 4, 14, false),
        stride("h200", "h200/l1_4_bytes_stride_15", 4.6, calibrated, 4, 15),
        stride("h200", "h200/l1_8_bytes_stride_1", 2.01, calibrated, 8, 1),
        stride("h200", "h200/l1_8_bytes_stride_3", 2.32, calibrated, 8, 3),
        stride("h200", "h200/l1_8_bytes_stride_4", 8, calibrated, 8, 4, false),
        stride("h200", "h200/l1_8_bytes_stride_5", 3.16, calibrated, 8, 5),
        stride("h200", "h200/l1_8_bytes_stride_7", 4.32, calibrated, 8, 7, false),
        stride("h200", "h200/l1_8_bytes_stride_8", 16, calibrated, 8, 8),
        stride("h200", "h200/l1_8_bytes_stride_11", 6, calibrated, 8, 11, false),
        stride("h200", "h200/l1_8_bytes_stride_13", 7, calibrated, 8, 13, false),
        stride("h200", "h200/l1_8_bytes_stride_15", 8, calibrated, 8, 15),

        sm_stream("v100", "v100/l1", 126, "bandwidth", "read_l1", predicted, streams),
        sm_stream("a100", "a100/l1", 19.1e12 / 108 / 1410e6, "bandwidth", "read_l1", calibrated, streams),
        sm_stream("v100", "v100/shared", 128, "shared", "strided_shared_16", predicted, "32 banks of 4 bytes"),
        stream("a100", "a100/l2", Quantity::gigabytes, 5400, "GB/s", calibrated, streams, 108, 32, 4 * MiB, true, true),
        stream("h100-pcie", "h100-pcie/l2", Quantity::gigabytes, 7000, "GB/s", calibrated, streams, 114, 32, 4 * MiB, true,
               true),
        stream("h200", "h200/l2", Quantity::gigabytes, 8931, "GB/s", calibrated,
               "assets/silicon: 9648 GB/s at 1977 MHz, so much at 1830", 132, 32, 4 * MiB, true, true),
        stream("v100", "v100/dram", Quantity::share_of_peak, 100 * 867.0 / 900, "% of peak", calibrated, streams, 80, 16,
               128 * MiB),
        stream("a100", "a100/dram", Quantity::share_of_peak, 100 * 1490.0 / 1555, "% of peak", calibrated, streams, 108, 16,
               128 * MiB, false),
        stream("a100-80", "a100-80/dram", Quantity::share_of_peak, 100 * 1869.0 / 2039, "% of peak", calibrated, streams,
               108, 16, 128 * MiB),
        stream("h200", "h200/dram", Quantity::share_of_peak, 97.2, "% of peak", calibrated, "assets/silicon: reads of 8 GiB",
               132, 16, 128 * MiB, false),
        stream("h100-pcie", "h100-pcie/dram", Quantity::share_of_peak, 100 * 1942.0 / 2039, "% of peak", calibrated, streams,
               114, 16, 128 * MiB, false),

        blocks("v100", "v100/store", "blocks_store", 306, 1, 80, 40 * KiB, calibrated),
        blocks("v100", "v100/load", "blocks_load", 139, 1, 80, 40 * KiB, predicted),
        blocks("v100", "v100/scale", "blocks_scale", 244, 2, 80, 40 * KiB, predicted),
        blocks("a100", "a100/store", "blocks_store", 407, 1, 108, 70 * KiB, calibrated),
        blocks("a100", "a100/load", "blocks_load", 158, 1, 108, 70 * KiB, predicted),
        blocks("a100", "a100/scale", "blocks_scale", 291, 2, 108, 70 * KiB, predicted),
        blocks("h200", "h200/store", "blocks_store", 590, 1, 132, 100 * KiB, calibrated),
        blocks("h200", "h200/load", "blocks_load", 244, 1, 132, 100 * KiB, predicted),
        blocks("h200", "h200/scale", "blocks_scale", 463, 2, 132, 100 * KiB, predicted),
        barrier_of_all("a100", "a100/barrier_of_all", 1337, calibrated, 108),
        barrier_of_all("h200", "h200/barrier_of_all", 1260, calibrated, 132),

        fma_peak("p100", "p100/f32", 10.6, "peak_fma_f32", 56),
        fma_peak("v100", "v100/f32", 15.7, "peak_fma_f32", 80),
        fma_peak("a100", "a100/f32", 19.5, "peak_fma_f32", 108),
        fma_peak("rtx3090", "rtx3090/f32", 35.6, "peak_fma_f32", 82, 8),
        fma_peak("a6000", "a6000/f32", 38.7, "peak_fma_f32", 84, 8),
        fma_peak("rtx4090", "rtx4090/f32", 82.6, "peak_fma_f32", 128, 8),
        fma_peak("h100", "h100/f32", 66.9, "peak_fma_f32", 132, 8),
        fma_peak("p100", "p100/f64", 5.3, "peak_fma_f64", 56),
        fma_peak("v100", "v100/f64", 7.8, "peak_fma_f64", 80),
        fma_peak("a100", "a100/f64", 9.7, "peak_fma_f64", 108),
        fma_peak("h100", "h100/f64", 34, "peak_fma_f64", 132),
        mma_peak("v100", "v100/f16_tensor", 125, 80),
        mma_peak("a100", "a100/f16_tensor", 312, 108),
        mma_peak("rtx3090", "rtx3090/f16_tensor", 71, 82),
        mma_peak("a6000", "a6000/f16_tensor", 154.8, 84),
        mma_peak("rtx4090", "rtx4090/f16_tensor", 165, 128),
        mma_tf32_peak("a100", "a100/tf32_tensor", 156, 108),
        mma_tf32_peak("rtx3090", "rtx3090/tf32_tensor", 35.6, 82),
        mma_tf32_peak("a6000", "a6000/tf32_tensor", 77.4, 84),
        mma_tf32_peak("rtx4090", "rtx4090/tf32_tensor", 82.6, 128),
        peak("a100", "a100/f64_tensor", 19.5, "tensor", "rate_mma_f64", calibrated, 108, 512, 128, 2 * 8 * 8 * 4, 1),
        peak("h100", "h100/f64_tensor", 67, "tensor", "rate_mma_f64", predicted, 132, 512, 128, 2 * 8 * 8 * 4, 1),
        peak("h100", "h100/f16_tensor", 989, "wgmma", "rate_wgmma", calibrated, 132, 128, 16, 2.0 * 64 * 256 * 16 / 4, 4),

        rung("1_naive", "1_naive", "sgemm_naive", 309.0, 32, 32, 32, 32, 512, true),
        rung("2_coalesced", "2_coalesced", "sgemm_coalesced", 1986.5, 32, 32, 32, 32, 512),
        rung("3_shared_tile", "3_shared_tile", "sgemm_shared_tile", 2980.3, 32, 32, 32, 32, 2048),
        rung("4_column_tile", "4_column_tile", "sgemm_column_tile", 8474.7, 64, 64, 512, 1, 512),
        rung("5_square_tile", "5_square_tile", "sgemm_square_tile", 15971.7, 128, 128, 256, 1, 256),
        rung("6_vectorised", "6_vectorised", "sgemm_vectorised", 18237.3, 128, 128, 256, 1, 256),
        rung("7_autotuned", "7_autotuned", "sgemm_autotuned", 19721.0, 128, 128, 256, 1, 256),
        rung("8_warp_tile", "8_warp_tile", "sgemm_warp_tile", 21779.3, 128, 128, 128, 1, 256),
    };
    return rows;
}

}  // namespace

std::span<const Case> cases() {
    return all();
}

}  // namespace lockstep::validate
