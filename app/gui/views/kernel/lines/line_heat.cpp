#include "app/gui/views/kernel/lines/line_heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr auto heat_states = static_cast<size_t>(StallReason::count);

// By index into Program::files: whether that is the document. Numbers without a file are of the source.
std::vector<bool> files_of_document(const ptx::Program& program, std::string_view document) {
    const auto name = std::filesystem::path(document).filename();
    const auto is_it = [&](const std::string& file) { return std::filesystem::path(file).filename() == name; };
    std::vector<bool> own;
    for (const std::string& file : program.files)
        own.push_back(file.empty() ? program.source_file.empty() || is_it(program.source_file) : is_it(file));
    return own;
}

}  // namespace

HeatMap heat_of(const model::KernelRun& run, std::string_view document) {
    HeatMap heat;
    if (!run.program) return heat;
    const ptx::Program& program = *run.program;
    const bool ptx = document.ends_with(".ptx");
    const std::vector<bool> own = files_of_document(program, document);
    std::vector<model::InstructionCounters> sums;
    double all = 0;
    const auto time_of = [](const model::InstructionCounters& counters) {
        double sum = 0;
        for (const uint64_t cycles : counters.stalls) sum += static_cast<double>(cycles);
        return sum;
    };
    for (size_t pc = 0; pc < program.instructions.size() && pc < run.result.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        const model::InstructionCounters& counters = run.result.instructions[pc];
        const double time = time_of(counters);
        all += time;
        for (size_t s = 0; s < heat_states; ++s) heat.by_state[s] += static_cast<double>(counters.stalls[s]);
        const auto file = static_cast<size_t>(in.file);
        const int32_t line = ptx ? in.ptx_line : file < own.size() && !own[file] ? 0 : in.line;
        if (line <= 0 || line > 1'000'000) {
            heat.elsewhere += time;
            continue;
        }
        if (sums.size() < static_cast<size_t>(line)) sums.resize(static_cast<size_t>(line));
        sums[static_cast<size_t>(line) - 1] += counters;
    }
    if (!(all > 0)) return {};
    heat.elsewhere /= all;
    for (double& share : heat.by_state) share /= all;
    for (const model::InstructionCounters& sum : sums) {
        LineHeat& line = heat.lines.emplace_back();
        const double time = time_of(sum);
        const auto most = std::max_element(std::begin(sum.stalls), std::end(sum.stalls));
        line.share = time / all;
        line.wait = static_cast<StallReason>(most - std::begin(sum.stalls));
        line.wait_share = time > 0 ? static_cast<double>(*most) / time : 0;
        line.issues = sum.issues;
        line.lanes = sum.issues > 0 ? static_cast<double>(sum.lanes) / static_cast<double>(sum.issues) : 0;
        if (sum.requests > 0) {
            const auto requests = static_cast<double>(sum.requests);
            line.sectors = static_cast<double>(sum.sectors) / requests;
            line.needed = std::max(1.0, std::ceil(static_cast<double>(sum.used_bytes) / requests / 32 - 1e-9));
        }
        heat.hottest = std::max(heat.hottest, line.share);
    }
    return heat;
}

const LineHeat* heat_at(const HeatMap& heat, int32_t line) {
    if (line < 1 || static_cast<size_t>(line) > heat.lines.size()) return nullptr;
    const LineHeat& found = heat.lines[static_cast<size_t>(line) - 1];
    return found.share > 0 ? &found : nullptr;
}

std::string sentence_of(const LineHeat& heat) {
    std::string text = fmt::format("{:.1f} % of the warps' time, most of it {} ({:.0f} % of the line's)", 100 * heat.share,
                                   row_of(heat.wait).label, 100 * heat.wait_share);
    text += fmt::format("\n{}", counted(heat.issues, "issue"));
    if (heat.issues > 0) text += fmt::format(", {:.1f} of 32 lanes on", heat.lanes);
    if (heat.sectors > 0)
        text += fmt::format("\n{:.1f} sectors a request{}", heat.sectors,
                            heat.wasteful() ? fmt::format(" where {:.0f} would hold its bytes", heat.needed) : "");
    return text;
}

}  // namespace lockstep::gui
