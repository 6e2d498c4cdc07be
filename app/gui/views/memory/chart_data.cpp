#include "app/gui/views/memory/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/gui/widgets/draw.h"
#include "core/model/memory/coalescer.h"

namespace lockstep::gui {

namespace {

struct RowSource {
    std::string_view space, label, asked, handled;
    bool to_kernel, always;  // always: drawn even without a byte
    bool to_shared = false;
};
constexpr RowSource sources[] = {
    {"Global", "load", "global_load", "l1_global_load", true, true},
    {"Global", "store", "global_store", "l1_global_store", false, true},
    {"Global", "atomic", "global_atomic", "l1_global_atomic", false, false},
    {"Global", "copy", "global_copy", "l1_global_copy", true, false, true},
    {"Local", "load", "local_load", "l1_local_load", true, false},
    {"Local", "store", "local_store", "l1_local_store", false, false},
    {"Shared", "load", "shared_load", "shared_load", true, false},
    {"Shared", "store", "shared_store", "shared_store", false, false},
    {"Shared", "atomic", "shared_atomic", "shared_atomic", false, false},
    {"Texture", "fetch", "texture", "l1_texture", true, false},
    {"Texture", "surface", "surface", "l1_surface", false, false},
};

model::Link link_named(const model::MemoryTraffic& traffic, std::string_view name) {
    for (const model::Link& link : traffic.links)
        if (link.name == name) return link;
    return {name, 0, 0, 0};
}

// Where many kinds of access share the height, those that nobody made give theirs up.
void drop_idle_rows(Chart& chart) {
    size_t rows = 0;
    for (const ChartSpace& space : chart.spaces) rows += space.rows.size();
    if (rows <= 4) return;
    for (ChartSpace& space : chart.spaces)
        std::erase_if(space.rows, [](const ChartRow& row) { return row.asked.requests + row.asked.bytes == 0; });
}

// Of the windows that [begin, end) covers, else of the whole run.
std::vector<model::InstructionCounters> counters_of(const model::KernelRun& run, int64_t begin, int64_t end) {
    const model::Windows& windows = run.result.windows;
    if (windows.length <= 0 || windows.instructions == 0) return run.result.instructions;
    std::vector<model::InstructionCounters> sum(windows.instructions);
    const size_t last = std::min(windows.totals.size(), static_cast<size_t>((end + windows.length - 1) / windows.length));
    for (auto w = static_cast<size_t>(begin / windows.length); w < last; ++w) windows.counters.add_to(sum, w);
    return sum;
}

// Bytes of the launch's textures' texels; 0: it has none, or they differ.
uint32_t texel_bytes(const model::KernelRun& run) {
    uint32_t bytes = 0;
    for (const ptx::Parameter& parameter : run.program->parameters) {
        if (!run.before || parameter.bytes != 8 || parameter.offset + 8 > run.config.parameters.size()) continue;
        uint64_t handle = 0;
        std::memcpy(&handle, run.config.parameters.data() + parameter.offset, 8);
        const simt::Texture* const texture = run.before->find_texture(handle);
        if (texture == nullptr) continue;
        if (bytes != 0 && bytes != texture->texel_bytes()) return 0;
        bytes = texture->texel_bytes();
    }
    return bytes;
}

void add_counters(Chart& chart, const model::KernelRun& run, const std::vector<model::InstructionCounters>& counters) {
    uint64_t fetches = 0;
    for (size_t pc = 0; pc < std::min(counters.size(), run.program->instructions.size()); ++pc) {
        const uint64_t moved = counters[pc].sectors * model::sector_bytes;
        chart.unasked += moved - std::min(moved, counters[pc].used_bytes);
        const ptx::Kind kind = run.program->instructions[pc].kind;
        if (kind == ptx::Kind::texture) fetches += counters[pc].executed;
        if (counters[pc].shared_requests == 0) continue;
        const bool load = kind == ptx::Kind::load || kind == ptx::Kind::matrix_load,
                   atomic = kind == ptx::Kind::atomic || kind == ptx::Kind::mbarrier;
        const std::string_view label = load ? "load" : atomic ? "atomic" : "store";  // copies store there
        for (ChartSpace& space : chart.spaces)
            for (ChartRow& row : space.rows)
                if (space.name == "Shared" && row.label == label) row.passes += counters[pc].shared_passes;
    }
    const uint64_t asked = fetches * texel_bytes(run);
    for (ChartSpace& space : chart.spaces)
        for (ChartRow& row : space.rows)
            if (asked > 0 && row.asked.name == "texture" && row.asked.bytes > 0) {
                row.asked.percent_of_peak *= static_cast<double>(asked) / static_cast<double>(row.asked.bytes);
                row.asked.bytes = asked;
            }
}

}  // namespace

bool ChartSpace::used() const {
    return std::any_of(rows.begin(), rows.end(),
                       [](const ChartRow& row) { return row.asked.requests + row.asked.bytes > 0; });
}

uint64_t ChartSpace::bytes() const {
    uint64_t sum = 0;
    for (const ChartRow& row : rows) sum += row.asked.bytes;
    return sum;
}

Chart chart_of(const model::MemoryTraffic& traffic) {
    Chart chart;
    chart.begin = traffic.begin;
    chart.end = traffic.end;
    for (const std::string_view name : {"Global", "Local", "Shared", "Texture"}) chart.spaces.push_back({name, {}});
    for (const RowSource& source : sources) {
        ChartRow row{source.label,
                     link_named(traffic, source.asked),
                     link_named(traffic, source.handled),
                     source.to_kernel,
                     source.to_shared,
                     0};
        if (!source.always && row.asked.requests + row.asked.bytes + row.handled.bytes == 0) continue;
        for (ChartSpace& space : chart.spaces)
            if (space.name == source.space) space.rows.push_back(row);
    }
    drop_idle_rows(chart);
    if (chart.spaces.back().rows.empty()) chart.spaces.pop_back();
    chart.from_l2 = link_named(traffic, "l1_from_l2");
    chart.to_l2 = link_named(traffic, "l1_to_l2");
    chart.dram_read = link_named(traffic, "dram_read");
    chart.dram_write = link_named(traffic, "dram_write");
    chart.l1_sectors = traffic.l1_sectors;
    chart.l1_hits = traffic.l1_hits;
    chart.l2_sectors = traffic.l2_sectors;
    chart.l2_hits = traffic.l2_hits;
    chart.l1_bytes = traffic.l1_bytes;
    chart.shared_bytes = traffic.shared_bytes;
    return chart;
}

Chart chart_of(const model::KernelRun& run) {
    Chart chart = chart_of(model::traffic_of(run));
    add_counters(chart, run, run.result.instructions);
    return chart;
}

Chart chart_of(const model::KernelRun& run, int64_t begin, int64_t end) {
    const model::MemoryTraffic traffic = model::traffic_between(run, begin, end);
    Chart chart = chart_of(traffic);
    add_counters(chart, run, counters_of(run, traffic.begin, traffic.end));
    return chart;
}

size_t CarveOut::nearest(double bytes) const {
    size_t best = 0;
    for (size_t i = 1; i < sizes.size(); ++i)
        if (std::fabs(sizes[i] - bytes) < std::fabs(sizes[best] - bytes)) best = i;
    return best;
}

CarveOut carve_out_of(const model::KernelRun& run, uint32_t shared_bytes) {
    CarveOut out;
    const auto row = model::gpu_named(run.gpu.name);
    if (!row.ok() || row.value().shared_carveouts.value[1] == 0) return out;
    for (const uint32_t size : row.value().shared_carveouts.value)
        if (out.sizes.empty() || size > out.sizes.back()) out.sizes.push_back(size);
    out.at = out.nearest(shared_bytes);
    out.by_hand = run.gpu.shared_carveouts.value != row.value().shared_carveouts.value ||
                  run.gpu.shared_per_sm.value != row.value().shared_per_sm.value;
    return out;
}

model::GpuSpec with_carve_out(const model::KernelRun& run, int64_t bytes) {
    model::GpuSpec gpu = run.gpu;
    const auto row = model::gpu_named(gpu.name);
    if (!row.ok()) return gpu;
    gpu.shared_carveouts = row.value().shared_carveouts;
    gpu.shared_per_sm = row.value().shared_per_sm;
    if (bytes < 0 || gpu.shared_carveouts.value[1] == 0) return gpu;
    const auto a_block = static_cast<uint32_t>(ptx::shared_bytes(*run.program, run.config.dynamic_shared));
    uint32_t wanted = static_cast<uint32_t>(std::min<int64_t>(bytes, gpu.shared_per_sm.value));
    for (const uint32_t size : gpu.shared_carveouts.value)  // one block at least
        if (a_block > 0 && wanted < a_block + gpu.shared_reserved.value && size > wanted) wanted = size;
    for (uint32_t& size : gpu.shared_carveouts.value) size = std::max(size, wanted);
    if (a_block > 0)
        gpu.shared_per_sm.value = std::min(gpu.shared_per_sm.value, std::max(wanted, a_block + gpu.shared_reserved.value));
    return gpu;
}

namespace {

// ", a load in 32 passes": of the kind of access to shared memory that takes the most.
std::string conflict_words(const Chart& chart) {
    const ChartRow* worst = nullptr;
    for (const ChartSpace& space : chart.spaces)
        for (const ChartRow& row : space.rows)
            if (row.passes_each() > 1.05 && (worst == nullptr || row.passes_each() > worst->passes_each())) worst = &row;
    return worst == nullptr ? std::string()
                            : fmt::format(", {} {} in {:.3g} passes", worst->label == "atomic" ? "an" : "a", worst->label,
                                          worst->passes_each());
}

}  // namespace

std::string sentence_of(const Chart& chart) {
    uint64_t asked = 0, handled = 0, shared = 0;
    std::string_view busiest = "Nothing";
    double most = -1;
    const auto consider = [&](std::string_view name, double percent) {
        if (percent > most) most = percent, busiest = name;
    };
    double l1 = 0, bank = 0;
    for (const ChartSpace& space : chart.spaces)
        for (const ChartRow& row : space.rows) {
            if (space.name == "Shared") {
                shared += row.asked.bytes;
                bank += row.asked.percent_of_peak;
                continue;
            }
            asked += row.asked.bytes;
            handled += row.handled.bytes;
            l1 += row.handled.percent_of_peak;
        }
    consider("Shared memory", bank);
    consider("L1", l1);
    consider("L2", chart.from_l2.percent_of_peak + chart.to_l2.percent_of_peak);
    consider("DRAM", chart.dram_percent());
    const uint64_t dram = chart.dram_read.bytes + chart.dram_write.bytes;
    const uint64_t used = std::min(asked, handled - std::min(handled, chart.unasked));
    const auto text = [](uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
    if (asked + shared == 0) return "No lane asks for memory in these cycles.";
    std::string sentence;
    if (asked == 0)
        sentence =
            fmt::format("The lanes ask for {} of shared memory and nothing else{}.", text(shared), conflict_words(chart));
    else if (chart.unasked * 8 > handled)  // else not worth a word
        sentence = fmt::format(
            "The lanes ask for {}{}, and L1 handles {} in whole sectors: {} of it no lane asked for in "
            "that request.",
            text(asked), text(asked) == text(used) ? "" : fmt::format(" ({}: some ask for the same bytes)", text(used)),
            text(handled), text(chart.unasked));
    else
        sentence = fmt::format(
            "The lanes ask for {}, and DRAM moves {}{}{}.", text(asked), 20 * dram < 19 * asked ? "only " : "", text(dram),
            shared > 0 ? fmt::format("; {} more go to and from shared memory{}", text(shared), conflict_words(chart)) : "");
    return sentence + fmt::format(" {} is the busiest level, at {} of its peak.", busiest,
                                  most < 0.1 ? std::string("< 0.1 %") : fmt::format("{:.3g} %", most));
}

float thickness_of(uint64_t bytes) {
    if (bytes == 0) return 0;
    return std::clamp(1.5f + 0.62f * static_cast<float>(std::log2(static_cast<double>(bytes) / 128 + 1)), 2.0f, 16.0f);
}

}  // namespace lockstep::gui
