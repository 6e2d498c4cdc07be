// What follows from the figures that somebody chose, and which of them make no machine together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/units.h"
#include "core/model/gpus/gpu_fields.h"

namespace lockstep::model {

bool GpuDesign::has(std::string_view name) const {
    return std::ranges::find(chosen_, name) != chosen_.end();
}

bool GpuDesign::any_of(std::initializer_list<std::string_view> names) const {
    return std::ranges::any_of(names, [&](std::string_view name) { return has(name); });
}

// Shared memory: of an SRAM that is smaller now, or of none.
void GpuDesign::follow_shared(std::string_view source) {
    auto& sizes = gpu_.shared_carveouts;
    const bool one_memory = from_.shared_carveouts.value[1] != 0;
    if (!has("shared_carveouts") && one_memory && has("l1_bytes") && gpu_.l1_bytes == 0)
        sizes = {{}, source};  // no L1: shared memory is a memory of its own
    else if (!has("shared_carveouts") && one_memory && has("shared_per_sm")) {
        std::array<uint32_t, 10> fewer{};
        size_t n = 0;
        for (const uint32_t size : from_.shared_carveouts.value)
            if (size < gpu_.shared_per_sm && (n == 0 || size > fewer[n - 1]) && n + 1 < fewer.size()) fewer[n++] = size;
        if (gpu_.shared_per_sm != 0) fewer[n] = gpu_.shared_per_sm;
        sizes = {fewer, source};
    }
    if (!has("shared_per_sm")) return;
    if (!has("shared_reserved") && gpu_.shared_reserved > gpu_.shared_per_sm / 2) gpu_.shared_reserved = {0, source};
    const uint32_t room = gpu_.shared_per_sm - std::min(gpu_.shared_per_sm.value, gpu_.shared_reserved.value);
    const bool was_all = from_.shared_per_block + from_.shared_reserved == from_.shared_per_sm;
    if (!has("shared_per_block") && (was_all || gpu_.shared_per_block > room)) gpu_.shared_per_block = {room, source};
}

void GpuDesign::follow_peaks(std::string_view source) {
    const auto follow = [&](std::string_view name, Figure& place, double value) {
        if (!has(name)) place = {value, source};
    };
    if (has("boost_mhz")) {
        follow("fp32_peak_mhz", gpu_.fp32_peak_mhz, 0);
        follow("lecture_mhz", gpu_.lecture_mhz, 0);
    }
    const bool more = any_of({"sms", "sub_cores", "boost_mhz", "fp32_peak_mhz"});
    const auto cores = [](const GpuSpec& g) { return double(g.sms) * double(g.sub_cores); };
    const auto clock = [](const GpuSpec& g) { return g.fp32_peak_mhz > 0 ? double(g.fp32_peak_mhz) : double(g.boost_mhz); };
    if (more || has("fp32_lanes"))
        follow("fp32_tflops", gpu_.fp32_tflops, cores(gpu_) * gpu_.fp32_lanes * 2 * clock(gpu_) / 1e6);
    const double units = cores(gpu_) * clock(gpu_) / (cores(from_) * clock(from_));
    if (more || has("fp64_lanes"))
        follow("fp64_tflops", gpu_.fp64_tflops,
               from_.fp64_lanes > 0 ? from_.fp64_tflops * units * gpu_.fp64_lanes / from_.fp64_lanes
                                    : cores(gpu_) * gpu_.fp64_lanes * 2 * clock(gpu_) / 1e6);
    if (more || has("fp16x2_lanes"))
        follow("fp16_tflops", gpu_.fp16_tflops,
               from_.fp16x2_lanes > 0 ? from_.fp16_tflops * units * gpu_.fp16x2_lanes / from_.fp16x2_lanes
                                      : cores(gpu_) * gpu_.fp16x2_lanes * 4 * clock(gpu_) / 1e6);
    const double tensor = cores(gpu_) * gpu_.boost_mhz, was = cores(from_) * from_.boost_mhz;
    if (has("tensor_fmas")) {
        const double peak = tensor_fmas_ * 2 * tensor / 1e6;
        const double before = from_.fp16_tensor_tflops, half = gpu_.compute.number >= 80 ? 0.5 : 0;
        follow("fp16_tensor_tflops", gpu_.fp16_tensor_tflops, peak);
        follow("tf32_tensor_tflops", gpu_.tf32_tensor_tflops,
               peak * (before > 0 ? from_.tf32_tensor_tflops / before : half));
    } else if (any_of({"sms", "sub_cores", "boost_mhz"})) {
        follow("fp16_tensor_tflops", gpu_.fp16_tensor_tflops, from_.fp16_tensor_tflops * tensor / was);
        follow("tf32_tensor_tflops", gpu_.tf32_tensor_tflops, from_.tf32_tensor_tflops * tensor / was);
    }
}

namespace {

std::string bytes(uint64_t n) {
    return with_commas(static_cast<int64_t>(n)) + " bytes";
}

using Impossible = GpuDesign::Impossible;

std::optional<Impossible> impossible_sm(const GpuSpec& g) {
    if (g.warps_per_sm % g.sub_cores != 0)
        return Impossible{{"warps_per_sm", "sub_cores"},
                          fmt::format("{} warps do not divide among {} sub-cores: warps_per_sm is a multiple of sub_cores",
                                      g.warps_per_sm.value, g.sub_cores.value)};
    if (g.warps_per_sm / g.sub_cores > 32)
        return Impossible{{"warps_per_sm", "sub_cores"},
                          fmt::format("{} warps on {} sub-core{} are more than 32 each, which the model holds",
                                      g.warps_per_sm.value, g.sub_cores.value, g.sub_cores == 1 ? "" : "s")};
    const uint64_t unit = std::max<uint64_t>(32, g.register_unit), least = unit * g.warp_granule;
    if (g.registers_per_sm < least)
        return Impossible{
            {"registers_per_sm", "register_unit", "warp_granule"},
            fmt::format("{} registers have no room for one warp: warps come in groups of {} (warp_granule) and "
                        "take {} registers at least",
                        with_commas(g.registers_per_sm.value), g.warp_granule.value,
                        with_commas(static_cast<int64_t>(least)))};
    const uint64_t a_block = g.registers_per_block != 0 ? g.registers_per_block : g.registers_per_sm;
    if (a_block < unit * g.block_warp_granule)
        return Impossible{{"registers_per_block", "registers_per_sm", "register_unit", "block_warp_granule"},
                          fmt::format("{} registers a block have no room for {} warps (block_warp_granule)",
                                      with_commas(static_cast<int64_t>(a_block)), g.block_warp_granule.value)};
    if (g.registers_per_block > g.registers_per_sm)
        return Impossible{{"registers_per_block", "registers_per_sm"},
                          "a block has more registers (registers_per_block) than its SM (registers_per_sm)"};
    if (uint64_t{g.shared_per_block} + g.shared_reserved > g.shared_per_sm)
        return Impossible{
            {"shared_per_block", "shared_per_sm", "shared_reserved"},
            fmt::format("a block of {} (shared_per_block) and {} that the system keeps (shared_reserved) do not "
                        "fit into an SM's {} (shared_per_sm)",
                        bytes(g.shared_per_block), bytes(g.shared_reserved), bytes(g.shared_per_sm))};
    const auto& sizes = g.shared_carveouts.value;
    if (sizes[1] == 0) return std::nullopt;
    if (g.shared_per_sm > g.l1_bytes)
        return Impossible{{"shared_per_sm", "l1_bytes", "shared_carveouts"},
                          fmt::format("shared memory of {} (shared_per_sm) is over the SRAM of {} (l1_bytes) that it shares "
                                      "with L1; with shared_carveouts = [] it is a memory of its own",
                                      bytes(g.shared_per_sm), bytes(g.l1_bytes))};
    const uint32_t largest = *std::ranges::max_element(sizes);
    if (largest > g.l1_bytes || largest < g.shared_per_sm)
        return Impossible{
            {"shared_carveouts", "l1_bytes", "shared_per_sm"},
            fmt::format("the largest of shared_carveouts, {}, lies between shared_per_sm ({}) and l1_bytes ({})",
                        bytes(largest), bytes(g.shared_per_sm), bytes(g.l1_bytes))};
    return std::nullopt;
}

std::optional<Impossible> impossible_memory(const GpuSpec& g) {
    constexpr uint32_t most_sets = 65536, line = 128;
    if (g.l1_latency > g.l2_latency)
        return Impossible{{"l1_latency", "l2_latency"},
                          fmt::format("a hit in L2 ({} cycle{}) takes no less than one in L1 ({})", g.l2_latency.value,
                                      g.l2_latency.value == 1 ? "" : "s", g.l1_latency.value)};
    if (g.l2_latency > g.dram_latency)
        return Impossible{{"l2_latency", "dram_latency"},
                          fmt::format("DRAM ({} cycle{}) lies behind L2 ({}): it takes no less", g.dram_latency.value,
                                      g.dram_latency.value == 1 ? "" : "s", g.l2_latency.value)};
    const auto sets = [](uint64_t size, uint32_t ways) { return size / line / std::max(1u, ways); };
    if (sets(g.l1_bytes, g.l1_ways) > most_sets)
        return Impossible{{"l1_bytes", "l1_ways"}, "L1 has more than 65,536 sets: it takes more l1_ways"};
    if (sets(g.l2_bytes, g.l2_ways) > most_sets)
        return Impossible{{"l2_bytes", "l2_ways"}, "L2 has more than 65,536 sets: it takes more l2_ways"};
    if (!std::has_single_bit(g.page_bytes.value)) return Impossible{{"page_bytes"}, "a page is a power of two of bytes"};
    if (g.tlb_bytes / g.page_bytes > most_sets)
        return Impossible{{"tlb_bytes", "page_bytes"}, "the TLB covers more than 65,536 pages"};
    const double a_channel = g.dram_gb_per_second * 1000 / g.boost_mhz / g.dram_channels,
                 a_slice = g.l2_bytes_per_cycle / g.l2_slices;
    if (a_channel < 1e-3)
        return Impossible{{"dram_gb_per_second", "dram_channels", "boost_mhz"},
                          "a DRAM channel carries less than a byte in 1,000 cycles"};
    if (a_slice < 1e-3)
        return Impossible{{"l2_bytes_per_cycle", "l2_slices"}, "a slice of L2 gives less than a byte in 1,000 cycles"};
    return std::nullopt;
}

}  // namespace

std::optional<GpuDesign::Impossible> GpuDesign::finish(std::string_view source) {
    const auto granule = [&](std::string_view name, Count& place) {
        if (has(name)) return;
        if (has("sub_cores") && gpu_.sub_cores != from_.sub_cores) place = {gpu_.sub_cores.value, source};
        if (has("warps_per_sm") && place > gpu_.warps_per_sm) place = {gpu_.warps_per_sm.value, source};
    };
    granule("warp_granule", gpu_.warp_granule);
    granule("block_warp_granule", gpu_.block_warp_granule);
    if (has("registers_per_sm") && !has("registers_per_block") && gpu_.registers_per_block > gpu_.registers_per_sm)
        gpu_.registers_per_block = {gpu_.registers_per_sm.value, source};
    follow_shared(source);
    follow_peaks(source);
    if (has("l2_slices") && !has("l2_bytes_per_cycle"))
        gpu_.l2_bytes_per_cycle = {from_.l2_bytes_per_cycle * gpu_.l2_slices / from_.l2_slices, source};
    if (has("dram_channels") && !has("dram_gb_per_second"))
        gpu_.dram_gb_per_second = {from_.dram_gb_per_second * gpu_.dram_channels / from_.dram_channels, source};
    if (has("pcie_gb_per_second")) {
        const double link = gpu_.pcie_gb_per_second;
        if (!has("pinned_gb_per_second") && gpu_.pinned_gb_per_second > link) gpu_.pinned_gb_per_second = {link, source};
        if (!has("pageable_gb_per_second") && gpu_.pageable_gb_per_second > link)
            gpu_.pageable_gb_per_second = {link, source};
    }
    if (auto found = impossible_sm(gpu_)) return found;
    return impossible_memory(gpu_);
}

}  // namespace lockstep::model
