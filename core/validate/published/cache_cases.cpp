// Strides within L1, one buffer for all blocks, tiles in L2; tiny kernels and barriers of the grid; rooflines and FP64.
#include "core/validate/published/published.h"

namespace lockstep::validate {
namespace {

// te42kyfo/gpu-benches at 1c36d509, all tables of this file: the directory is in each source.

// gpu-strides: one block of 1024 threads, 1,179,648 loads a thread in rounds of eight; cycles of the SM a warp's load.
KernelCase strides(std::string_view gpu, std::string_view kernel, uint32_t width, int64_t stride, double cycles,
                   std::string_view source) {
    return {
        .kind = "strides",
        .name = std::string(gpu) + "/" + std::string(kernel) + "_" + std::to_string(kernel == "rows_f32" ? width : stride),
        .gpu = std::string(gpu),
        .ladder = std::string(gpu) + "/" + std::string(kernel),
        .unit = Unit::cycles,
        .expected = cycles,
        .work = 32.0 * 8 * 147456,
        .figure = gpu == "v100" ? Kind::predicted : Kind::calibrated,  // GpuSpec::l1_tag_overhead
        .quick = true,
        .source = source,
        .launches =
            [kernel, width, stride](uint64_t length, uint32_t) {
                return std::vector<Launch>{{.file = "caches",
                                            .kernel = kernel,
                                            .block = {width, 1024 / width, 1},
                                            .arguments = {zeros(1024 * 1024), zeros(8192), number(0), number(stride),
                                                          number(static_cast<int64_t>(length))}}};
            },
        .length = 147456,
        .at = 64,
        .rounds = true,
        .sms = 4};
}

// gpu-cache: a block of 256 an SM, all read the same buffer; bytes over time.
KernelCase buffer(std::string_view gpu, uint32_t kilobytes, double gigabytes, uint32_t sms, uint32_t part, double clock,
                  std::string_view source, bool quick, Kind figure = Kind::predicted) {
    const uint64_t rounds = 1000000000 / (kilobytes * 256) + 2;
    return {
        .kind = "cache",
        .name = std::string(gpu) + "/read_" + std::to_string(kilobytes) + "_kb",
        .gpu = std::string(gpu),
        .ladder = std::string(gpu) + "/read_shared_buffer",
        .unit = Unit::gigabytes,
        .expected = gigabytes,
        .work = 1024.0 * kilobytes * sms * static_cast<double>(rounds),
        .figure = figure,
        .quick = quick,
        .source = source,
        .clock_mhz = clock,
        .launches =
            [kilobytes](uint64_t length, uint32_t on) {
                return std::vector<Launch>{{.file = "caches",
                                            .kernel = "read_shared_buffer",
                                            .grid = {on, 1, 1},
                                            .block = {256, 1, 1},
                                            .arguments = {zeros(4096), zeros(1024 * kilobytes), number(0),
                                                          number(kilobytes * 256), number(static_cast<int64_t>(length))}}};
            },
        .length = rounds,
        .at = kilobytes > 256 ? 2u : 2048 / kilobytes,
        .rounds = true,
        .sms = part};
}

// gpu-l2-cache: 200,000 blocks of 1024 read one of so many tiles of 512 KB each.
KernelCase tiles(std::string_view gpu, uint32_t kilobytes, double gigabytes, double clock, std::string_view source,
                 Kind figure = Kind::predicted) {
    const uint32_t count = kilobytes / 512;
    return {.kind = "l2",
            .name = std::string(gpu) + "/tiles_" + std::to_string(kilobytes) + "_kb",
            .gpu = std::string(gpu),
            .ladder = std::string(gpu) + "/read_tiles",
            .unit = Unit::gigabytes,
            .expected = gigabytes,
            .work = 200000.0 * 512 * 1024,
            .figure = figure,
            .source = source,
            .clock_mhz = clock,
            .launches =
                [count](uint64_t length, uint32_t) {
                    return std::vector<Launch>{
                        {.file = "caches",
                         .kernel = "read_tiles",
                         .grid = {static_cast<uint32_t>(length), 1, 1},
                         .block = {1024, 1, 1},
                         .arguments = {zeros(8192), zeros(uint64_t{count} * 512 * 1024), number(count), number(0)}}};
                },
            .length = 200000,
            .at = 264};
}

// gpu-small-kernels: scaling n doubles, queued thousands of times; and the same rounds inside one launch with grid.sync().
KernelCase tiny(std::string_view gpu, uint32_t n, uint32_t threads, double gigabytes, std::string_view source,
                bool in_graph = false) {
    return {.kind = "tiny",
            .name = std::string(gpu) + "/scale_" + std::to_string(n) + "_" + std::to_string(threads),
            .gpu = std::string(gpu),
            .expected = 16.0 * n / gigabytes / 1000,
            .figure = n == 4096 ? Kind::calibrated : Kind::predicted,  // GpuSpec::launch_gap_us
            .quick = true,
            .source = source,
            .clock_mhz = 1980,
            .launches =
                [n, threads](uint64_t, uint32_t) {
                    const Argument data = zeros(uint64_t{n} * 8);
                    return std::vector<Launch>{{.file = "streams",
                                                .kernel = "small_scale",
                                                .grid = {n / threads + 1, 1, 1},
                                                .block = {threads, 1, 1},
                                                .arguments = {data, data, number(n)}}};
                },
            .behind = in_graph ? KernelCase::Behind::graph : KernelCase::Behind::queue};
}
KernelCase barrier(std::string_view gpu, uint32_t n, uint32_t threads, double gigabytes, double clock, uint32_t most_blocks,
                   std::string_view source) {
    return {.kind = "grid barrier",
            .name = std::string(gpu) + "/rounds_" + std::to_string(n) + "_" + std::to_string(threads),
            .gpu = std::string(gpu),
            .expected = 1000 * 16.0 * n / gigabytes / 1000,
            .figure = n == 4096 ? Kind::calibrated : Kind::predicted,  // GpuSpec::fence_latency
            .quick = true,
            .source = source,
            .clock_mhz = clock,
            .launches =
                [n, threads, most_blocks](uint64_t length, uint32_t) {
                    const Argument data = zeros(uint64_t{n} * 8);
                    return std::vector<Launch>{{.file = "barrier",
                                                .kernel = "grid_rounds",
                                                .grid = {std::min(n / threads, most_blocks), 1, 1},
                                                .block = {threads, 1, 1},
                                                .arguments = {data, data, number(n), number(static_cast<int64_t>(length))}}};
                },
            .length = 1000,
            .at = 4,
            .rounds = true};
}

// gpu-roofline: blocks of 256 that fit at once, 4000 pairs a thread, two operations and 2 N a pair.
KernelCase roofline(std::string_view gpu, std::string_view kernel, uint32_t steps, uint32_t blocks, uint32_t sms,
                    uint32_t part, double gigaflops, double clock, std::string_view source, bool doubles, bool quick) {
    const uint32_t an_sm = blocks / sms;
    return {
        .kind = doubles ? "fp64" : "roofline",
        .name = std::string(gpu) + "/" + std::string(kernel),
        .gpu = std::string(gpu),
        .ladder = std::string(gpu) + (doubles ? "/climb_f64" : "/climb_f32"),
        .unit = Unit::gigaflops,
        .expected = gigaflops,
        .work = (2.0 + 2.0 * steps) * blocks * 256 * 4000,
        .quick = quick,
        .source = source,
        .clock_mhz = clock,
        .launches =
            [kernel, an_sm, doubles](uint64_t length, uint32_t on) {
                const Argument data = zeros(uint64_t{on} * an_sm * 256 * length * (doubles ? 8 : 4));
                return std::vector<Launch>{{.file = "roofline",
                                            .kernel = kernel,
                                            .grid = {on * an_sm, 1, 1},
                                            .block = {256, 1, 1},
                                            .arguments = {data, data, zeros(65536), number(static_cast<int64_t>(length))}}};
            },
        .length = 4000,
        .at = 8,
        .rounds = true,
        .sms = part};
}

// cuda-incore, README's table of a V100: one block, chains of 16 operations; cycles of the SM a warp's operation.
KernelCase chain(std::string_view kernel, uint32_t warps, double cycles) {
    return {.kind = "fp64",
            .name = "v100/" + std::string(kernel) + "_" + std::to_string(warps),
            .gpu = "v100",
            .ladder = "v100/" + std::string(kernel),
            .unit = Unit::cycles,
            .expected = cycles,
            .work = 10000.0 * 16 * warps,
            .quick = true,
            .source = "te42kyfo/gpu-benches README cuda-incore, V100 PCIe, 1380 MHz",
            .clock_mhz = 1380,
            .launches =
                [kernel, warps](uint64_t length, uint32_t) {
                    return std::vector<Launch>{
                        {.file = "roofline",
                         .kernel = kernel,
                         .block = {32 * warps, 1, 1},
                         .arguments = {real64(0.32), zeros(32768), number(static_cast<int64_t>(length))}}};
                },
            .length = 10000,
            .at = 16,
            .rounds = true,
            .sms = 4};
}

}  // namespace

std::vector<KernelCase> cache_cases() {
    constexpr Kind calibrated = Kind::calibrated;  // the row has its bandwidth of L1 or L2 from this very table
    constexpr std::string_view a100_strides = "te42kyfo/gpu-benches gpu-strides/a100.txt",
                               h200_strides = "te42kyfo/gpu-benches gpu-strides/h200.txt",
                               a40_strides =
                                   "te42kyfo/gpu-benches gpu-strides/a40.txt: an A40, whose chip the A6000 has too";
    constexpr std::string_view v100_cache = "te42kyfo/gpu-benches gpu-cache/v100.txt, 1380 MHz",
                               a100_cache = "te42kyfo/gpu-benches gpu-cache/a100_80.txt, 1410 MHz",
                               h100_cache = "te42kyfo/gpu-benches gpu-cache/h100_pcie.txt, 1755 MHz assumed";
    constexpr std::string_view a100_l2 = "te42kyfo/gpu-benches gpu-l2-cache/a100_80.txt, 1410 MHz",
                               h100_l2 = "te42kyfo/gpu-benches gpu-l2-cache/h100_pcie.txt, 1755 MHz assumed",
                               h200_l2 = "te42kyfo/gpu-benches gpu-l2-cache/h200.txt, 1980 MHz";
    constexpr std::string_view queue = "te42kyfo/gpu-benches gpu-small-kernels/h200.txt, 1980 MHz, L2 warm on silicon",
                               graph = "te42kyfo/gpu-benches gpu-small-kernels/h200_graph.txt, 1980 MHz, L2 warm on silicon",
                               h200_sync = "te42kyfo/gpu-benches gpu-small-kernels/h200_gsync.txt, 1980 MHz; 1000 rounds",
                               a100_sync = "te42kyfo/gpu-benches gpu-small-kernels/a100_80_gsync.txt, 1410 MHz; 1000 rounds";
    constexpr std::string_view a100_roof = "te42kyfo/gpu-benches gpu-roofline/alex_a100_40.txt, 1410 MHz",
                               h200_roof = "te42kyfo/gpu-benches gpu-roofline/h200.txt, 1980 MHz",
                               v100_roof = "te42kyfo/gpu-benches README cuda-roofline, V100 PCIe, 1380 MHz";
    return {
        strides("a100", "strided_f32", 1024, 1, 1.02, a100_strides),
        strides("a100", "strided_f32", 1024, 3, 1.63, a100_strides),
        strides("a100", "strided_f32", 1024, 7, 2.67, a100_strides),
        strides("a100", "strided_f32", 1024, 16, 16, a100_strides),
        strides("a100", "strided_f32", 1024, 33, 8.8, a100_strides),
        strides("a100", "strided_f64", 1024, 5, 3.34, a100_strides),
        strides("a100", "strided_f64", 1024, 9, 5.1, a100_strides),
        strides("a100", "rows_f32", 2, 4098, 5.1, a100_strides),
        strides("a100", "rows_f32", 8, 4098, 4, a100_strides),
        strides("h200", "strided_f32", 1024, 3, 1.63, h200_strides),
        strides("h200", "strided_f32", 1024, 9, 3, h200_strides),
        strides("h200", "strided_f32", 1024, 15, 4.6, h200_strides),
        strides("h200", "strided_f64", 1024, 13, 7, h200_strides),
        strides("a6000", "strided_f32", 1024, 1, 2, a40_strides),
        strides("a6000", "strided_f32", 1024, 7, 2.67, a40_strides),
        strides("a6000", "strided_f32", 1024, 33, 8.8, a40_strides),
        buffer("v100", 32, 13869.4, 80, 20, 1380, v100_cache, true),
        buffer("v100", 448, 2453.4, 80, 20, 1380, v100_cache, false),
        buffer("a100-80", 64, 19147.7, 108, 27, 1410, a100_cache, true, calibrated),
        buffer("a100-80", 1152, 4629.8, 108, 27, 1410, a100_cache, false),
        buffer("h100-pcie", 64, 25204.7, 114, 19, 1755, h100_cache, true),
        buffer("h100-pcie", 1152, 7813.3, 114, 19, 1755, h100_cache, false),
        tiles("a100-80", 23552, 5427.4, 1410, a100_l2, calibrated),
        tiles("a100-80", 145408, 1859, 1410, a100_l2),
        tiles("h100-pcie", 25600, 6892.2, 1755, h100_l2, calibrated),
        tiles("h100-pcie", 110080, 1988.4, 1755, h100_l2),
        tiles("h200", 25600, 9675, 1980, h200_l2, calibrated),
        tiles("h200", 110080, 3892.8, 1980, h200_l2),
        tiny("h200", 4096, 256, 26, queue),
        tiny("h200", 47257, 256, 291, queue),
        tiny("h200", 16562, 512, 202, graph, true),
        tiny("h200", 1036569, 256, 4090, graph, true),
        barrier("h200", 4096, 256, 52, 1980, 660, h200_sync),
        barrier("h200", 47257, 512, 576, 1980, 264, h200_sync),
        barrier("a100-80", 4096, 256, 49, 1410, 540, a100_sync),
        barrier("a100-80", 16562, 128, 197, 1410, 1080, a100_sync),
        roofline("a100", "climb_f32_40", 40, 864, 108, 27, 13166, 1410, a100_roof, false, false),
        roofline("a100", "climb_f32_128", 128, 864, 108, 27, 17863, 1410, a100_roof, false, true),
        roofline("h200", "climb_f32_8", 8, 1056, 132, 33, 8459, 1980, h200_roof, false, false),
        roofline("h200", "climb_f32_40", 40, 1056, 132, 33, 27571, 1980, h200_roof, false, false),
        roofline("h200", "climb_f32_128", 128, 1056, 132, 33, 39109, 1980, h200_roof, false, false),
        roofline("v100", "climb_f64_0", 0, 640, 80, 20, 109, 1380, v100_roof, true, false),
        roofline("v100", "climb_f64_8", 8, 640, 80, 20, 968, 1380, v100_roof, true, false),
        roofline("v100", "climb_f64_64", 64, 640, 80, 20, 6603, 1380, v100_roof, true, true),
        chain("divide_f64", 1, 111.55),
        chain("divide_f64", 32, 7.51),
        chain("root_f64", 1, 101.26),
        chain("root_f64", 32, 9.61),
    };
}

}  // namespace lockstep::validate
