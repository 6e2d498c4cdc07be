#include "app/gui/views/timeline/compare_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "app/gui/views/sm/resident_warps.h"
#include "app/gui/widgets/draw.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

// Of metric_rows.cpp's rows, those that say most about a change; the shares of states follow on their own.
constexpr std::string_view main_metrics[] = {"cycles",
                                             "time_us",
                                             "warp_instructions",
                                             "ipc",
                                             "issue_slot_utilization",
                                             "achieved_occupancy",
                                             "lanes_per_issue",
                                             "sectors_per_request",
                                             "l1_hit_rate",
                                             "l2_hit_rate",
                                             "dram_bytes",
                                             "shared_passes_per_request"};

// Warps of one scheduler, from what it can hold down to what it picks in a cycle.
constexpr std::string_view chain_names[] = {"it can hold", "fit at once (theoretical)", "active", "eligible", "selected"};

const model::Metric* metric(const model::KernelRun& run, std::string_view name) {
    for (const model::Metric& metric : run.result.metrics)
        if (metric.name == name) return &metric;
    return nullptr;
}

std::string number_text(double value) {
    if (!std::isfinite(value)) return "-";
    if (std::fabs(value) >= 1000 || value == std::floor(value)) return with_commas(std::llround(value));
    return fmt::format("{:.{}f}", value, std::fabs(value) >= 100 ? 0 : std::fabs(value) >= 1 ? 2 : 3);
}

std::string change_text(double a, double b, bool points) {
    if (!std::isfinite(a) || !std::isfinite(b)) return {};
    if (a == b) return "same";
    if (points)  // never "-0.0"
        return std::fabs(b - a) < 0.005 ? "same" : fmt::format("{:+.{}f} points", b - a, std::fabs(b - a) < 0.05 ? 2 : 1);
    if (a == 0) return {};
    const double percent = 100 * (b - a) / a;
    if (std::fabs(percent) < 0.05) return "< 0.1 %";  // never "+0.0 %"
    if (std::fabs(percent) >= 1000) return fmt::format("x {:.1f}", b / a);
    return fmt::format("{:+.{}f} %", percent, std::fabs(percent) < 10 ? 1 : 0);
}

CompareRow row_for(std::string label, std::string unit, double a, double b) {
    CompareRow row{std::move(label), std::move(unit), a, b, number_text(a), number_text(b), {}, {}};
    row.change = change_text(a, b, row.unit == "%");
    return row;
}

}  // namespace

std::string metric_words(std::string_view name) {
    if (name == "time_us") return "time";
    std::string words(name);
    std::replace(words.begin(), words.end(), '_', ' ');
    for (const std::string_view small : {"ipc", "dram", "l1", "l2"})  // abbreviations
        if (words.starts_with(small))
            for (size_t i = 0; i < small.size(); ++i)
                words[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[i])));
    return words;
}

namespace {

std::string name_in(const model::KernelRun& run) {
    return run.program ? std::string(run.program->shown_name()) : std::string("kernel");
}

std::string dim_text(const simt::Dim3& d) {
    std::string text = with_commas(d.x);
    if (d.y > 1 || d.z > 1) text += fmt::format("x{}", d.y);
    if (d.z > 1) text += fmt::format("x{}", d.z);
    return text;
}

std::string blocks_text(uint32_t blocks) {
    return fmt::format("{} an SM", counted(blocks, "block"));
}

}  // namespace

std::string sm_of(const model::KernelRun& run) {
    const KernelTrace& trace = run.result.trace;
    const auto last = std::max_element(trace.blocks.begin(), trace.blocks.end(),
                                       [](const BlockRun& a, const BlockRun& b) { return a.end < b.end; });
    std::string text = fmt::format("SM {} of {}", trace.sm, run.gpu.sms.value);
    if (last != trace.blocks.end() && last->sm != trace.sm) text += fmt::format("; the last block ends on SM {}", last->sm);
    return text;
}

RunNames names_of(const model::KernelRun& a, const model::KernelRun& b) {
    RunNames names;
    const auto differ = [&](std::string one, std::string other) {
        if (one == other) return;
        names.a += (names.a.empty() ? "" : ", ") + one;
        names.b += (names.b.empty() ? "" : ", ") + other;
    };
    differ(name_in(a), name_in(b));
    differ(std::string(a.gpu.title), std::string(b.gpu.title));
    const auto blocks = [](const model::KernelRun& run) {
        return dim_text(run.config.grid) + (run.config.grid.count() == 1 ? " block" : " blocks");
    };
    differ(blocks(a), blocks(b));
    const auto threads = [](const model::KernelRun& run) {
        return dim_text(run.config.block) + (run.config.block.count() == 1 ? " thread a block" : " threads a block");
    };
    differ(threads(a), threads(b));
    differ(with_commas(a.config.dynamic_shared) + " B shared", with_commas(b.config.dynamic_shared) + " B shared");
    differ(blocks_text(resident_of(a).blocks), blocks_text(resident_of(b).blocks));
    if (names.a.empty() && a.program != b.program) {
        names.a = name_in(a) + " before";
        names.b = name_in(b) + " after the edit";
    }
    if (names.a.empty()) names.a = names.b = name_in(a);
    return names;
}

std::vector<CompareRow> compare_rows(const model::KernelRun& a, const model::KernelRun& b) {
    std::vector<CompareRow> rows;
    for (const std::string_view name : main_metrics) {
        const model::Metric *of_a = metric(a, name), *of_b = metric(b, name);
        if (!of_a || !of_b || (!std::isfinite(of_a->value) && !std::isfinite(of_b->value))) continue;
        if (of_a->value == 0 && of_b->value == 0) continue;
        rows.push_back(row_for(metric_words(name), std::string(of_a->unit), of_a->value, of_b->value));
    }
    // From what is possible to what is selected: each at most the one before.
    const auto chain_of = [](const model::KernelRun& run) {
        const double schedulers = std::max<uint32_t>(1, run.gpu.sub_cores.value);
        const auto of = [&](std::string_view name) {
            const model::Metric* one = metric(run, name);
            return one ? one->value : std::nan("");
        };
        const double most = run.gpu.warps_per_sm.value / schedulers;
        return std::array{most, most * of("theoretical_occupancy") / 100, of("active_warps"), of("eligible_warps"),
                          of("issued_per_scheduler")};
    };
    const auto a_chain = chain_of(a), b_chain = chain_of(b);
    for (size_t i = 0; i < a_chain.size(); ++i) {
        if (!std::isfinite(a_chain[i]) && !std::isfinite(b_chain[i])) continue;
        rows.push_back(row_for(std::string(chain_names[i]), "", a_chain[i], b_chain[i]));
        rows.back().chain = true;
    }
    for (size_t s = 0; s < state_count; ++s) {
        const StallRow& state = row_of(static_cast<StallReason>(s));
        const std::string name = "stall_" + std::string(state.name);
        const model::Metric *of_a = metric(a, name), *of_b = metric(b, name);
        if (!of_a || !of_b || !(of_a->value >= 0.05 || of_b->value >= 0.05)) continue;
        CompareRow row = row_for(s == 0 ? "issued" : std::string(state.label), "%", of_a->value, of_b->value);
        row.a_text = fmt::format("{:.1f}", row.a);
        row.b_text = fmt::format("{:.1f}", row.b);
        row.state = static_cast<StallReason>(s);
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

// What of the launch is the same in both runs: "Both have the same kernel, GPU and blocks."
std::string held_equal(const model::KernelRun& a, const model::KernelRun& b) {
    std::vector<std::string_view> same;
    if (a.program == b.program || (name_in(a) == name_in(b) && a.source == b.source)) same.emplace_back("kernel");
    if (a.gpu.name == b.gpu.name) same.emplace_back("GPU");
    if (a.config.grid == b.config.grid) same.emplace_back("blocks");
    if (a.config.block == b.config.block) same.emplace_back("threads a block");
    std::string text;
    for (size_t i = 0; i < same.size(); ++i)
        text += (i == 0 ? "" : i + 1 == same.size() ? " and " : ", ") + std::string(same[i]);
    return text.empty() ? text : " Both have the same " + text + ".";
}

}  // namespace

std::string factor_of(const model::KernelRun& a, const model::KernelRun& b) {
    if (a.result.fault || b.result.fault || a.result.cycles <= 0 || b.result.cycles <= 0) return {};
    const bool clocks = a.gpu.boost_mhz.value != b.gpu.boost_mhz.value;
    const double before = clocks ? a.result.time_us : static_cast<double>(a.result.cycles),
                 after = clocks ? b.result.time_us : static_cast<double>(b.result.cycles);
    const double factor = std::max(before, after) / std::min(before, after);
    if (!(factor >= 1.005)) return {};
    return fmt::format("{:.3g} times as {}", factor, after < before ? "fast" : "long");
}

std::string difference_of(const model::KernelRun& a, const model::KernelRun& b) {
    const int64_t before = a.result.cycles, after = b.result.cycles, change = after - before;
    std::string text = fmt::format("B takes {}, ", counted(after, "cycle"));
    if (change == 0) return text + "as many as A." + held_equal(a, b);
    text += fmt::format("{} {} than A", with_commas(std::abs(change)), change < 0 ? "fewer" : "more");
    if (before > 0)
        text += fmt::format(" ({})", change_text(static_cast<double>(before), static_cast<double>(after), false));
    if (a.gpu.boost_mhz.value != b.gpu.boost_mhz.value)
        text +=
            fmt::format(", {} instead of {}", lockstep::time_text(b.result.time_us), lockstep::time_text(a.result.time_us));
    const std::string factor = factor_of(a, b);
    return text + (factor.empty() ? "" : ": " + factor) + "." + held_equal(a, b);
}

}  // namespace lockstep::gui
