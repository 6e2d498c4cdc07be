#include "app/cli/kernel/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "app/cli/cli.h"
#include "core/base/diagnostic.h"
#include "core/model/metrics/windows.h"
#include "core/ptx/ptx.h"
#include "core/simt/check/faults.h"
#include "core/trace/stall_reason.h"

namespace lockstep::cli {
namespace {

using model::InstructionCounters;

uint64_t resident(const InstructionCounters& c) {
    uint64_t sum = 0;
    for (const uint64_t cycles : c.stalls) sum += cycles;
    return sum;
}

double percent(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// The reasons for which warps did not issue, most of their cycles first.
std::vector<std::pair<uint64_t, std::string_view>> waits_of(const InstructionCounters& c) {
    std::vector<std::pair<uint64_t, std::string_view>> waits;
    for (const StallRow& row : stall_reasons())
        if (row.reason != StallReason::selected && c.stalls[static_cast<size_t>(row.reason)] != 0)
            waits.emplace_back(c.stalls[static_cast<size_t>(row.reason)], row.label);
    std::stable_sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return waits;
}

std::string si(double value, std::string_view unit) {  // 8.39 MB
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t p = 0;
    for (; value >= 1000 && p + 1 < std::size(prefixes); ++p) value /= 1000;
    return fmt::format("{:.4g} {}{}", value, prefixes[p], unit);
}

std::string summary(const model::GpuSpec& gpu, const ptx::Program& program, const model::TimedResult& result) {
    const auto m = [&](std::string_view name) { return model::metric_of(program, result, name).value(); };
    std::string text;
    const auto line = [&](std::string_view label, const std::string& words) {
        text += fmt::format("  {:<12} {}\n", label, words);
    };
    line("throughput",
         fmt::format("SM {:.3g} %, memory {:.3g} % of peak: L1 {:.3g}, L2 {:.3g}, DRAM {:.3g}", m("sm_throughput"),
                     m("memory_throughput"), m("l1_throughput"), m("l2_throughput"), m("dram_throughput")));
    line("issue", fmt::format("a scheduler issues in {:.3g} % of its cycles; of {:.3g} warps {:.3g} are eligible",
                              m("issue_slot_utilization"), m("active_warps"), m("eligible_warps")));
    InstructionCounters all;
    for (const InstructionCounters& each : result.instructions) all += each;
    std::string waits;
    for (const auto& [cycles, label] : waits_of(all)) {
        if (percent(cycles, resident(all)) < 1 || std::count(waits.begin(), waits.end(), ',') >= 3) break;
        waits += fmt::format("{}{} {:.3g} %", waits.empty() ? "" : ", ", label, percent(cycles, resident(all)));
    }
    if (!waits.empty()) line("waits", waits + " of the warps' cycles");
    line("lanes", fmt::format("{:.3g} of 32 an instruction; {:.0f} of {:.0f} branches split their warp",
                              m("lanes_per_issue"), m("divergent_branches"), m("branches")));
    std::string global;
    const auto access = [&](std::string_view what, double requests, double sectors, double used) {
        if (requests > 0)
            global += fmt::format("{}{:.3g} sectors a {}, {:.3g} of 32 bytes used", global.empty() ? "" : "; ", sectors,
                                  what, used);
    };
    access("load", m("global_load_requests"), m("sectors_per_request"), m("bytes_per_sector"));
    access("store", m("global_store_requests"), m("sectors_per_store_request"), m("bytes_per_store_sector"));
    if (const double copies = m("global_copy_requests"); copies > 0)
        global += fmt::format("{}{:.3g} sectors a copy into shared memory", global.empty() ? "" : "; ",
                              m("global_copy_sectors") / copies);
    if (!global.empty()) line("global", global);
    if (m("local_load_requests") + m("local_store_requests") > 0)
        line("local", fmt::format("{:.0f} loads, {:.0f} stores: registers that spill, or arrays", m("local_load_requests"),
                                  m("local_store_requests")));
    if (m("shared_requests") > 0)
        line("shared", fmt::format("{:.3g} passes a request, {:.0f} of {:.0f} from conflicts",
                                   m("shared_passes_per_request"), m("bank_conflict_passes"), m("shared_passes")));
    line("caches", fmt::format("L1 hits {:.3g} %, L2 hits {:.3g} %; DRAM {} read, {} written, {:.4g} of {:.4g} GB/s",
                               m("l1_hit_rate"), m("l2_hit_rate"), si(m("dram_read_bytes"), "B"),
                               si(m("dram_write_bytes"), "B"), m("dram_bytes_per_second"), gpu.dram_gb_per_second.value));
    if (m("flop") > 0)
        line("arithmetic",
             fmt::format("{}, {}{}", si(m("flop"), "FLOP"), si(1e9 * m("flop_per_second"), "FLOP/s"),
                         m("dram_bytes") > 0 ? fmt::format(", {:.3g} FLOP a byte of DRAM", m("intensity")) : std::string()));
    line("occupancy",
         fmt::format("{:.3g} % of {:.3g} % possible, limited by {}; {:.0f} registers a thread", m("achieved_occupancy"),
                     m("theoretical_occupancy"), result.occupancy.limiters, m("registers_per_thread")));
    line("waves", fmt::format("{:.3g}, tail efficiency {:.3g} %", m("waves"), m("tail_efficiency")));
    return text + "  all counters: --metrics all, by source line: --metrics by-line\n";
}

struct Line {
    InstructionCounters counters, loads;
    std::string text;
    double flop = 0;
    uint64_t fp64 = 0;                     // lanes that did FP64 arithmetic
    std::map<int32_t, uint64_t> barriers;  // where they stand, and how long warps waited there before they came to this line
};

struct LineTable {
    bool lines = false;                                 // else the PTX has none, and a row is an instruction
    std::map<std::pair<int32_t, int32_t>, Line> table;  // by file, line (or pc)
    InstructionCounters all;
};

// One row a source line; of PTX without lines, one an instruction.
LineTable lines_of(const ptx::Program& program, const model::TimedResult& result, const std::string& source) {
    LineTable made;
    auto& [lines, table, all] = made;
    for (const ptx::DecodedInstruction& in : program.instructions) lines |= in.line > 0;
    std::vector<std::string> texts;
    std::istringstream in(source);
    for (std::string text; std::getline(in, text);) texts.push_back(text);
    for (uint32_t pc = 0; pc < program.instructions.size() && pc < result.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& instruction = program.instructions[pc];
        const InstructionCounters& counters = result.instructions[pc];
        if (counters.issues == 0 && resident(counters) == 0) continue;
        const auto number = lines ? instruction.line : static_cast<int32_t>(pc);
        Line& row = table[{lines && number > 0 ? instruction.file : 0, number}];
        row.counters += counters;
        if (const uint64_t waited = counters.stalls[static_cast<size_t>(StallReason::barrier)];
            waited > 0 && pc > 0 && program.instructions[pc - 1].kind == ptx::Kind::barrier)
            row.barriers[lines ? program.instructions[pc - 1].line : static_cast<int32_t>(pc - 1)] += waited;
        row.flop += model::metric_of(program, result, fmt::format("flop@pc:{}", pc)).value();
        const bool doubles = instruction.type == ptx::Type::f64 && instruction.opcode != nullptr &&
                             instruction.opcode->unit != ptx::Unit::lsu;
        if (doubles) row.fp64 += counters.executed;
        all += counters;
        if (!row.text.empty()) continue;
        const bool own = lines && instruction.file >= 0 && static_cast<size_t>(instruction.file) < program.files.size() &&
                         program.files[static_cast<size_t>(instruction.file)] == program.source_file;
        if (!lines)
            row.text = ptx::text_of(program, pc);
        else if (own && number >= 1 && static_cast<size_t>(number) <= texts.size())
            row.text = texts[static_cast<size_t>(number) - 1];
        else if (number <= 0)
            row.text = "(the compiler's own, of no line)";
        else if (instruction.file >= 0 && static_cast<size_t>(instruction.file) < program.files.size())
            row.text = "(in " + program.files[static_cast<size_t>(instruction.file)] + ")";
    }
    return made;
}

std::string by_line(const ptx::Program& program, const model::TimedResult& result, const std::string& source) {
    LineTable made = lines_of(program, result, source);
    auto& [lines, table, all] = made;
    std::string text =
        fmt::format("{:>5} {:>11} {:>5} {:>6} {:>6}  {:<24} {:>7} {:>7} {:>6} {:>6} {:>7} {:>9} {:>7}  {}\n",
                    lines ? "line" : "pc", "warp instr", "%", "lanes", "time %", "most of it waits", "sectors", "used B",
                    "L1 %", "passes", "atomics", "FLOP", "FP64", lines ? "source" : "PTX");
    bool named = false;
    for (auto& [place, row] : table) {
        const InstructionCounters& c = row.counters;
        const auto waits = waits_of(c);
        const auto ratio = [](uint64_t a, uint64_t b) {
            return b == 0 ? std::string("-") : fmt::format("{:.3g}", static_cast<double>(a) / static_cast<double>(b));
        };
        std::string wait =
            waits.empty() ? "-" : fmt::format("{} {:.0f} %", waits[0].second, percent(waits[0].first, resident(c)));
        if (!waits.empty() && waits[0].second == row_of(StallReason::barrier).label) {
            const auto longest = std::max_element(row.barriers.begin(), row.barriers.end(),
                                                  [](const auto& a, const auto& b) { return a.second < b.second; });
            if (longest != row.barriers.end() && longest->first != place.second) {
                wait += fmt::format(" ({} {})", lines ? "line" : "pc", longest->first);
                named = true;
            }
        }
        const size_t begin = std::min(row.text.find_first_not_of(" \t"), row.text.size());
        text += fmt::format("{:>5} {:>11} {:>5.1f} {:>6} {:>6.1f}  {:<24} {:>7} {:>7} {:>6} {:>6} {:>7} {:>9} {:>7}  {}\n",
                            place.second, c.issues, percent(c.issues, all.issues), ratio(c.lanes, c.issues),
                            percent(resident(c), resident(all)), wait, ratio(c.sectors, c.requests),
                            ratio(c.used_bytes, c.sectors),
                            c.l1_sectors == 0 ? "-" : fmt::format("{:.0f}", percent(c.l1_hits, c.l1_sectors)),
                            ratio(c.shared_passes, c.shared_requests), ratio(c.atomic_lanes, c.atomic_words),
                            row.flop > 0 ? si(row.flop, "") : "-",
                            row.fp64 > 0 ? si(static_cast<double>(row.fp64), "") : "-", row.text.substr(begin, 60));
    }
    if (named)
        text +=
            "  a warp waits in front of what it cannot issue, at a barrier that is what stands behind it; (line N): the "
            "barrier's\n";
    return text +
           "  sectors a request; used: of the 32 bytes of a sector; passes a shared-memory request; atomics: lanes that "
           "meet "
           "at one word;\n  FP64: lanes that did arithmetic in double precision; time: warp cycles, of all lines\n";
}

// 3,670,016 of a count; figures that are no whole numbers to six digits, never with an exponent while they have a place.
std::string number_text(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) {
        std::string digits = fmt::format("{:.0f}", std::abs(value));
        for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
        return value < 0 ? "-" + digits : digits;
    }
    return std::abs(value) >= 1e6 && std::abs(value) < 1e15 ? number_text(std::round(value)) : fmt::format("{:.6g}", value);
}

// "100..200" of "all@cycles:100..200"; false: no stretch of time is named.
bool stretch_named(std::string_view place, int64_t& begin, int64_t& end) {
    constexpr std::string_view word = "cycles:";
    if (!place.starts_with(word)) return false;
    const std::string_view range = place.substr(word.size());
    const size_t dots = range.find("..");
    const char* const last = range.data() + range.size();
    begin = end = -1;
    if (dots != std::string_view::npos) {
        const auto from = std::from_chars(range.data(), range.data() + dots, begin);
        const auto to = std::from_chars(range.data() + dots + 2, last, end);
        if (from.ptr != range.data() + dots || to.ptr != last) end = -1;
    }
    if (begin < 0 || end <= begin)
        throw Failure(
            fmt::format("'@{}' names no stretch of cycles: write @cycles:1000..2000, without the last one", place));
    return true;
}

// One entry of --metrics.
struct MetricAsked {
    enum class Kind : uint8_t { all, by_line, by_window, metric };
    Kind kind = Kind::metric;
    std::string name, base;                 // as asked for; what stands before the '@'
    const model::MetricRow* row = nullptr;  // null: no metric is called so
    bool part = false;                      // of the run, from cycle `begin` to `end`
    int64_t begin = 0, end = 0;

    model::WindowMetrics window(const model::KernelRun& run) const {
        if (begin >= run.result.cycles)
            throw Failure(fmt::format("@cycles:{}..{}: the run ends at cycle {}", begin, end, run.result.cycles));
        return model::metrics_between(run, begin, end);
    }
};
std::vector<MetricAsked> asked_in(const std::string& wanted, const std::vector<model::MetricRow>& rows) {
    std::vector<MetricAsked> all;
    std::istringstream in(wanted);
    for (std::string name; std::getline(in, name, ',');) {
        MetricAsked& one = all.emplace_back();
        one.name = name;
        one.base = name.substr(0, name.find('@'));
        one.part = name.size() > one.base.size() && stretch_named(name.substr(one.base.size() + 1), one.begin, one.end);
        one.kind = name == "by-line"                                  ? MetricAsked::Kind::by_line
                   : name == "by-window"                              ? MetricAsked::Kind::by_window
                   : name == "all" || (one.base == "all" && one.part) ? MetricAsked::Kind::all
                                                                      : MetricAsked::Kind::metric;
        const auto known = std::find_if(rows.begin(), rows.end(),
                                        [&](const auto& each) { return each.name == one.base || each.nsight == one.base; });
        if (known != rows.end()) one.row = &*known;
    }
    return all;
}

nlohmann::ordered_json by_line_json(const ptx::Program& program, const model::TimedResult& result,
                                    const std::string& source) {
    LineTable made = lines_of(program, result, source);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    const auto ratio = [](uint64_t a, uint64_t b) {
        return b == 0 ? nlohmann::ordered_json() : json_number(static_cast<double>(a) / static_cast<double>(b));
    };
    for (const auto& [place, row] : made.table) {
        const InstructionCounters& c = row.counters;
        nlohmann::ordered_json waits = nlohmann::ordered_json::object();
        for (const auto& [cycles, label] : waits_of(c)) waits[std::string(label)] = percent(cycles, resident(c));
        rows.push_back({{made.lines ? "line" : "pc", place.second},
                        {"text", row.text},
                        {"warp_instructions", c.issues},
                        {"lanes_per_issue", ratio(c.lanes, c.issues)},
                        {"time_percent", percent(resident(c), resident(made.all))},
                        {"waits_percent", std::move(waits)},
                        {"sectors_per_request", ratio(c.sectors, c.requests)},
                        {"used_bytes_per_sector", ratio(c.used_bytes, c.sectors)},
                        {"l1_hit_rate", c.l1_sectors == 0 ? nlohmann::ordered_json()
                                                          : nlohmann::ordered_json(percent(c.l1_hits, c.l1_sectors))},
                        {"shared_passes_per_request", ratio(c.shared_passes, c.shared_requests)},
                        {"atomic_lanes_per_word", ratio(c.atomic_lanes, c.atomic_words)},
                        {"fp64_lanes", row.fp64},
                        {"flop", row.flop}});
    }
    return rows;
}

// A stretch of time, its metrics under Nsight Compute's names as those of the whole run are.
nlohmann::ordered_json window_json(const model::WindowMetrics& window) {
    nlohmann::ordered_json metrics = nlohmann::ordered_json::object();
    for (const model::Metric& metric : window.metrics) metrics[std::string(metric.nsight)] = json_number(metric.value);
    return {{"begin", window.begin}, {"end", window.end}, {"metrics", std::move(metrics)}};
}

double value_in(const std::vector<model::Metric>& metrics, std::string_view name) {
    for (const model::Metric& metric : metrics)
        if (metric.name == name) return metric.value;
    return 0;
}

// The run in sixteen parts, or as many as it kept counters of, one after the other.
std::string by_window(const model::KernelRun& run) {
    std::string text = fmt::format("{:>19} {:>6} {:>6} {:>6} {:>5} {:>5} {:>5} {:>5} {:>6} {:>6}  {}\n", "cycles", "issue",
                                   "warps", "elig.", "SM", "L1", "L2", "DRAM", "L1 hit", "L2 hit", "most of it waits");
    const int64_t cycles = run.result.cycles, part = std::max<int64_t>(1, (cycles + 15) / 16);
    for (int64_t begin = 0; begin < cycles;) {
        const model::WindowMetrics window = model::metrics_between(run, begin, std::min(cycles, begin + part));
        const auto m = [&](std::string_view name) { return value_in(window.metrics, name); };
        std::string_view reason;
        double most = 0;
        for (const StallRow& row : stall_reasons())
            if (const double share = m(fmt::format("stall_{}", row.name));
                row.reason != StallReason::selected && share > most)
                most = share, reason = row.label;
        text += fmt::format("{:>19} {:>6.1f} {:>6.2f} {:>6.2f} {:>5.1f} {:>5.1f} {:>5.1f} {:>5.1f} {:>6.1f} {:>6.1f}  {}\n",
                            fmt::format("{}..{}", window.begin, window.end), m("issue_slot_utilization"), m("active_warps"),
                            m("eligible_warps"), m("sm_throughput"), m("l1_throughput"), m("l2_throughput"),
                            m("dram_throughput"), m("l1_hit_rate"), m("l2_hit_rate"),
                            reason.empty() ? std::string("-") : fmt::format("{} {:.0f} %", reason, most));
        if (window.end <= begin) break;
        begin = window.end;
    }
    return text +
           "  issue: % of issue slots; warps, eligible: a scheduler; SM, L1, L2, DRAM: % of peak; hits in %\n"
           "  what an instruction takes counts where it is issued: a busy window may come to more than 100 %\n"
           "  every counter of a stretch: --metrics all@cycles:BEGIN..END\n";
}

}  // namespace

std::string metrics_text(const model::GpuSpec& gpu, const ptx::Program& program, const model::TimedResult* result,
                         const std::string& source, const std::string& wanted, const model::KernelRun* run) {
    if (wanted.empty()) return result == nullptr ? "" : summary(gpu, program, *result);
    std::string text;
    const auto row = [&](std::string_view name, double value, std::string_view unit, std::string_view nsight) {
        text += fmt::format("  {:<36} {:>15} {:<20} {}\n", name, number_text(value), unit, nsight);
    };
    const auto all = [&](const std::vector<model::Metric>& metrics) {
        for (const model::Metric& metric : metrics) row(metric.name, metric.value, metric.unit, metric.nsight);
    };
    const std::vector<model::MetricRow> rows = model::metric_rows();
    for (const MetricAsked& asked : asked_in(wanted, rows)) {
        if (asked.kind == MetricAsked::Kind::by_line) {
            if (result != nullptr) text += by_line(program, *result, source);
        } else if (asked.kind == MetricAsked::Kind::by_window) {
            if (run != nullptr) text += by_window(*run);
        } else if (asked.kind == MetricAsked::Kind::all && asked.part) {
            if (run == nullptr) continue;
            const model::WindowMetrics window = asked.window(*run);
            text += fmt::format("  cycles {} to {}, whole windows\n", window.begin, window.end);
            all(window.metrics);
        } else if (asked.kind == MetricAsked::Kind::all) {
            if (result != nullptr) all(result->metrics);
        } else if (asked.row != nullptr && asked.part) {
            if (run == nullptr) continue;
            const model::WindowMetrics window = asked.window(*run);
            row(fmt::format("{}@cycles:{}..{}", asked.base, window.begin, window.end),
                value_in(window.metrics, asked.row->name), asked.row->unit, asked.row->nsight);
        } else {
            // Without a run only the name can be wrong; an empty result of the right program tells that.
            const Result<double> value =
                model::metric_of(program, result == nullptr ? model::TimedResult{} : *result, asked.name);
            if (!value && (result != nullptr || asked.row == nullptr)) throw Failure(value.error());
            if (result != nullptr && asked.row != nullptr)
                row(asked.name, value.value(), asked.row->unit, asked.row->nsight);
        }
    }
    return text;
}

nlohmann::ordered_json metrics_json(const ptx::Program& program, const model::TimedResult& result, const std::string& source,
                                    const std::string& wanted, const model::KernelRun* run) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object(), selected = nlohmann::ordered_json::object();
    const std::vector<model::MetricRow> rows = model::metric_rows();
    for (const MetricAsked& asked : asked_in(wanted, rows)) {
        if (asked.kind == MetricAsked::Kind::by_line) {
            json["by_line"] = by_line_json(program, result, source);
        } else if (asked.kind == MetricAsked::Kind::by_window) {
            json["by_window"] = nlohmann::ordered_json::array();
            const int64_t part = std::max<int64_t>(1, (run->result.cycles + 15) / 16);
            for (int64_t begin = 0, end = 0; begin < run->result.cycles; begin = end) {
                const auto window = model::metrics_between(*run, begin, std::min(run->result.cycles, begin + part));
                json["by_window"].push_back(window_json(window));
                end = window.end;
                if (end <= begin) break;
            }
        } else if (asked.part) {
            const model::WindowMetrics window = asked.window(*run);
            selected[asked.name] =
                asked.row == nullptr ? window_json(window) : json_number(value_in(window.metrics, asked.row->name));
        } else if (asked.kind == MetricAsked::Kind::metric) {  // `metrics` has all of them
            selected[asked.name] = json_number(model::metric_of(program, result, asked.name).value());
        }
    }
    if (!selected.empty()) json["selected"] = std::move(selected);
    return json;
}

std::string metric_names() {
    std::string text;
    for (const model::MetricRow& row : model::metric_rows())
        text += fmt::format("{:<36} {:<20} {}\n    {}{}\n", row.name, row.unit, row.nsight, row.summary,
                            row.by_line ? "; also @line:N" : "");
    return text;
}

nlohmann::ordered_json metric_names_json() {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const model::MetricRow& row : model::metric_rows())
        rows.push_back({{"name", row.name},
                        {"nsight", row.nsight},
                        {"unit", row.unit},
                        {"by_line", row.by_line},
                        {"summary", row.summary}});
    return rows;
}

bool asks_for_windows(const std::string& wanted) {
    return wanted.find("by-window") != std::string::npos || wanted.find("@cycles:") != std::string::npos;
}

}  // namespace lockstep::cli
