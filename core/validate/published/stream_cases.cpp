// Streams and stencils by the number of threads in flight, elementwise kernels by the width of their accesses, copies.
#include "core/validate/published/published.h"

namespace lockstep::validate {
namespace {

// te42kyfo/gpu-benches at 1c36d509, gpu-stream/*.txt, README: 2 blocks an SM, 128 Mi doubles, the median of nine. The clock
// is the one that its other tables print for these boards; the V100's are PCIe boards at 1380 MHz.
struct Board {
    std::string_view gpu, source;
    double clock;
    uint32_t part;  // SMs that are run: a quarter, a sixth of an H100 PCIe
};
constexpr Board v100{"v100", "te42kyfo/gpu-benches gpu-stream/v100.txt, V100 PCIe, 1380 MHz", 1380, 20};
constexpr Board a100{"a100-80", "te42kyfo/gpu-benches gpu-stream/a100_80.txt, 1410 MHz", 1410, 27};
constexpr Board a100_40{"a100", "te42kyfo/gpu-benches gpu-stream/a100_40.txt, 1410 MHz", 1410, 27};
constexpr Board h100{"h100-pcie", "te42kyfo/gpu-benches gpu-stream/h100_pcie.txt, 1755 MHz assumed", 1755, 19};
constexpr Board h200{"h200", "te42kyfo/gpu-benches gpu-stream/h200.txt, 1980 MHz", 1980, 33};

KernelCase stream(std::string_view kind, const Board& board, std::string_view kernel, uint32_t threads, int streams,
                  double gigabytes, bool quick = false, Kind figure = Kind::predicted) {
    const uint64_t n = 128 * Mi;
    return {.kind = kind,
            .name = std::string(board.gpu) + "/" + std::string(kernel) + "_" + std::to_string(threads),
            .gpu = std::string(board.gpu),
            .ladder = std::string(board.gpu) + "/" + std::string(kernel),
            .unit = Unit::gigabytes,
            .expected = gigabytes,
            .work = 8.0 * streams * static_cast<double>(n),
            .figure = figure,
            .quick = quick,
            .source = board.source,
            .clock_mhz = board.clock,
            .launches =
                [kernel, threads](uint64_t length, uint32_t) {
                    const Argument data = zeros(length * 8 + 4096);
                    return std::vector<Launch>{
                        {.file = "streams",
                         .kernel = kernel,
                         .grid = {static_cast<uint32_t>(length / threads) + 1, 1, 1},
                         .block = {threads, 1, 1},
                         .blocks_per_sm = 2,
                         .arguments = {data, data, data, number(static_cast<int64_t>(length)), number(0)}}};
                },
            .length = n,
            .at = board.gpu == "v100" ? Mi / 2 : 2 * Mi,  // more than the part's L2 holds
            .sms = board.part};
}

// Grid of n / (256 per) blocks; all arguments are buffers of `bytes` an element.
KernelCase elements(std::string_view kind, std::string_view gpu, std::string_view kernel, std::string_view ladder, Unit unit,
                    double expected, uint64_t n, uint32_t per, uint32_t bytes, std::string_view source, double clock,
                    uint32_t part, bool quick = false) {
    return {.kind = kind,
            .name = std::string(gpu) + "/" + std::string(kernel),
            .gpu = std::string(gpu),
            .ladder = std::string(ladder),
            .unit = unit,
            .expected = expected,
            .work = 3.0 * bytes * static_cast<double>(n),
            .quick = quick,
            .source = source,
            .clock_mhz = clock,
            .launches =
                [kernel, per, bytes](uint64_t length, uint32_t) {
                    const Argument data = zeros(length * bytes);
                    return std::vector<Launch>{{.file = "elements",
                                                .kernel = kernel,
                                                .grid = {static_cast<uint32_t>(length / per / 256), 1, 1},
                                                .block = {256, 1, 1},
                                                .arguments = {data, data, data}}};
                },
            .length = n,
            .at = gpu == "v100" ? Mi : 8 * Mi / bytes * 2,
            .sms = part};
}

// Packs of 16 bytes, 32 blocks for each that fits at once, at most one thread a pack.
KernelCase packs(std::string_view kernel, double us, uint32_t bytes, std::string_view source) {
    KernelCase row = elements("elementwise", "a100", kernel, "", Unit::microseconds, us, 32 * Mi, 1, bytes, source, 765, 27);
    row.launches = [kernel, bytes](uint64_t length, uint32_t sms) {
        const Argument data = zeros(length * bytes);
        const uint64_t count = length * bytes / 16, most = uint64_t{sms} * 8 * 32;
        return std::vector<Launch>{{.file = "elements",
                                    .kernel = kernel,
                                    .grid = {static_cast<uint32_t>(std::min((count + 255) / 256, most)), 1, 1},
                                    .block = {256, 1, 1},
                                    .arguments = {data, data, data, wide(static_cast<int64_t>(count))}}};
    };
    return row;
}

// xytpai/nvbench README, standard/global_memory_bandwidth.cu: 256 Mi + 2 floats, the second of two launches.
KernelCase copy(std::string_view gpu, std::string_view kernel, uint32_t per, double gigabytes, uint32_t part, bool quick) {
    KernelCase row = elements("copy", gpu, kernel, "", Unit::gigabytes, gigabytes, 256 * Mi, per, 4,
                              "xytpai/nvbench README global_memory_bandwidth, boost clock assumed", 0, part, quick);
    row.work = 8.0 * 256 * Mi;
    row.launches = [kernel, per](uint64_t length, uint32_t) {
        const Argument data = zeros(length * 4);
        return std::vector<Launch>{{.file = "elements",
                                    .kernel = kernel,
                                    .grid = {static_cast<uint32_t>(length / per / 256), 1, 1},
                                    .block = {256, 1, 1},
                                    .arguments = {data, data, wide(static_cast<int64_t>(length))}}};
    };
    row.at = gpu == "rtx4090" ? 6 * Mi : 4 * Mi;
    return row;
}

// A picture of 16 x 32 x 80 x 80 made twice as large, and back. OneFlow's launch: blocks of 512, a thread a pixel.
KernelCase enlarge(std::string_view kernel, double us) {
    constexpr uint32_t pixels = 16 * 32 * 80 * 80;
    return {
        .kind = "upsample",
        .name = "a100/" + std::string(kernel),
        .gpu = "a100",
        .expected = us,
        .quick = true,
        .source = "BBuf/how-to-optim-algorithm-in-cuda upsample-nearest2d/README, A100 PCIe 40 GB, ncu at 765 MHz assumed",
        .clock_mhz = 765,
        .launches =
            [kernel](uint64_t length, uint32_t) {
                const uint64_t n = length * 512;
                const bool back = kernel == "gather_four";
                return std::vector<Launch>{{.file = "elements",
                                            .kernel = kernel,
                                            .grid = {static_cast<uint32_t>(length), 1, 1},
                                            .block = {512, 1, 1},
                                            .arguments = {number(static_cast<int64_t>(n)), zeros((back ? 16 : 4) * n),
                                                          number(80), number(80), zeros((back ? 4 : 16) * n)}}};
            },
        .length = pixels / 512,
        .at = pixels / 512,
        .sms = 27};
}

}  // namespace

std::vector<KernelCase> stream_cases() {
    constexpr Kind calibrated = Kind::calibrated;  // for the DRAM's efficiency and turnaround, and block_start_latency
    constexpr std::string_view liu =
        "Liu-xiandong/How_to_optimize_in_GPU README elementwise, V100, 32 Mi floats, boost clock assumed";
    constexpr std::string_view bbuf =
        "BBuf/how-to-optim-algorithm-in-cuda elementwise/README, A100 PCIe 40 GB, 32 Mi elements, ncu at 765 MHz assumed";
    return {
        stream("stream", v100, "stream_read", 32, 1, 72, true),
        stream("stream", v100, "stream_read", 256, 1, 490, true),
        stream("stream", v100, "stream_read", 1024, 1, 866, false, calibrated),
        stream("stream", v100, "stream_fill", 32, 1, 153, true, calibrated),
        stream("stream", v100, "stream_triad", 256, 3, 765),
        stream("stream", v100, "stream_scale", 1024, 2, 802, false, calibrated),
        stream("stream", a100_40, "stream_read", 256, 1, 579),
        stream("stream", a100_40, "stream_triad", 1024, 3, 1360, false, calibrated),
        stream("stream", a100, "stream_read", 32, 1, 85),
        stream("stream", a100, "stream_scale", 32, 2, 157, true),
        stream("stream", a100, "stream_scale", 256, 2, 1026),
        stream("stream", a100, "stream_triad", 1024, 3, 1759, false, calibrated),
        stream("stream", h100, "stream_read", 32, 1, 96),
        stream("stream", h100, "stream_read", 256, 1, 702, true),
        stream("stream", h100, "stream_scale", 1024, 2, 1704),
        stream("stream", h200, "stream_read", 32, 1, 123, true),
        stream("stream", h200, "stream_read", 256, 1, 935),
        stream("stream", h200, "stream_read", 1024, 1, 2756),
        stream("stream", h200, "stream_fill", 256, 1, 2196),
        stream("stream", h200, "stream_triad", 1024, 3, 3534),
        stream("stencil", v100, "stencil_3", 256, 2, 645, true),
        stream("stencil", v100, "stencil_5", 1024, 2, 795, true),
        stream("stencil", a100, "stencil_3", 32, 2, 148),
        stream("stencil", a100, "stencil_5", 1024, 2, 1680),
        stream("stencil", h100, "stencil_3", 1024, 2, 1686),
        stream("stencil", h200, "stencil_5", 256, 2, 1315),
        elements("elementwise", "v100", "add_1", "v100/add", Unit::gigabytes, 827, 32 * Mi, 1, 4, liu, 0, 20, true),
        elements("elementwise", "v100", "add_2", "v100/add", Unit::gigabytes, 838, 32 * Mi, 2, 4, liu, 0, 20),
        elements("elementwise", "v100", "add_4", "v100/add", Unit::gigabytes, 844, 32 * Mi, 4, 4, liu, 0, 20),
        elements("elementwise", "a100", "multiply_f32", "", Unit::microseconds, 298.46, 32 * Mi, 1, 4, bbuf, 765, 27),
        elements("elementwise", "a100", "multiply_f16", "", Unit::microseconds, 237.28, 32 * Mi, 1, 2, bbuf, 765, 27),
        packs("multiply_packs_f32", 284, 4, bbuf),
        packs("multiply_packs_f16", 140.74, 2, bbuf),
        copy("rtx4090", "copy_1", 1, 920.207, 32, false),
        copy("rtx4090", "copy_4", 4, 921.85, 32, true),
        copy("rtx4090", "copy_8", 8, 914.626, 32, false),
        copy("a100", "copy_1", 1, 1336.62, 27, false),
        copy("a100", "copy_4", 4, 1378.8, 27, false),
        copy("a100", "copy_8", 8, 1315.65, 27, false),
        enlarge("enlarge_twice", 61.44),
        enlarge("gather_four", 50.56),
    };
}

}  // namespace lockstep::validate
