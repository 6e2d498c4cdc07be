#include "app/gui/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/gui/views/kernel/source_text.h"
#include "core/base/base64.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/advice/verdict.h"
#include "core/ptx/ptx.h"

namespace lockstep::gui {

namespace {

using PageJson = nlohmann::ordered_json;

// Numbers of one width, as the page reads them.
template <class T>
std::string packed(const std::vector<T>& values) {
    return base64({reinterpret_cast<const unsigned char*>(values.data()), values.size() * sizeof(T)});
}

// The cycle up to which a page has room: all that is kept, or the first that hold so many issues and waits.
int64_t page_end(const KernelTrace& trace, int64_t begin, int64_t end) {
    std::vector<int64_t> starts;
    for (const IssueRecord& issue : trace.issues)
        if (issue.cycle >= begin) starts.push_back(issue.cycle);
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& run : warp.runs) starts.push_back(run.begin);
    if (starts.size() <= most_page_spans) return end;
    std::nth_element(starts.begin(), starts.begin() + most_page_spans, starts.end());
    return std::min(end, starts[most_page_spans]);
}

PageJson issues_json(const KernelTrace& trace, int64_t begin, int64_t end) {
    std::vector<int32_t> cycle;
    std::vector<uint16_t> warp, pc;
    std::vector<uint32_t> active;
    std::vector<uint8_t> level, sectors, passes;
    for (const IssueRecord& issue : trace.issues) {
        if (issue.cycle < begin || issue.cycle >= end) continue;
        cycle.push_back(static_cast<int32_t>(issue.cycle - begin));
        warp.push_back(static_cast<uint16_t>(issue.warp));
        pc.push_back(static_cast<uint16_t>(issue.pc));
        active.push_back(issue.active);
        level.push_back(static_cast<uint8_t>(issue.level));
        sectors.push_back(issue.sectors);
        passes.push_back(issue.passes);
    }
    return {{"n", cycle.size()},        {"cycle", packed(cycle)}, {"warp", packed(warp)},       {"pc", packed(pc)},
            {"active", packed(active)}, {"level", packed(level)}, {"sectors", packed(sectors)}, {"passes", packed(passes)}};
}

PageJson waits_json(const KernelTrace& trace, int64_t begin, int64_t end) {
    std::vector<int32_t> from, until;
    std::vector<uint16_t> warp, pc;
    std::vector<uint8_t> reason;
    for (size_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            if (run.begin >= end || run.end <= begin) continue;
            from.push_back(static_cast<int32_t>(std::max(run.begin, begin) - begin));
            until.push_back(static_cast<int32_t>(std::min(run.end, end) - begin));
            warp.push_back(static_cast<uint16_t>(w));
            reason.push_back(static_cast<uint8_t>(run.reason));
            pc.push_back(static_cast<uint16_t>(run.pc));
        }
    return {{"n", from.size()},     {"begin", packed(from)},    {"end", packed(until)},
            {"warp", packed(warp)}, {"reason", packed(reason)}, {"pc", packed(pc)}};
}

// By instruction, of the whole launch.
void add_instructions(PageJson& all, const model::KernelRun& run) {
    PageJson texts = PageJson::array(), lines = texts, stalled = texts, issued = texts, sectors = texts, requests = texts;
    const ptx::Program& program = *run.program;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        texts.push_back(ptx::text_of(program, pc));
        lines.push_back(program.instructions[pc].line);
        const model::InstructionCounters counters =
            pc < run.result.instructions.size() ? run.result.instructions[pc] : model::InstructionCounters();
        uint64_t waits = 0;
        for (size_t k = 0; k < static_cast<size_t>(StallReason::count); ++k)
            if (static_cast<StallReason>(k) != StallReason::selected) waits += counters.stalls[k];
        stalled.push_back(waits);
        issued.push_back(counters.issues);
        sectors.push_back(counters.sectors);
        requests.push_back(counters.requests);
    }
    all["texts"] = std::move(texts);
    all["lines"] = std::move(lines);
    all["stalled"] = std::move(stalled);
    all["issued"] = std::move(issued);
    all["sectors"] = std::move(sectors);
    all["requests"] = std::move(requests);
}

void replace_mark(std::string& text, std::string_view mark, const std::string& with) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + with.size()))
        text.replace(at, mark.size(), with);
}

}  // namespace

bool is_page_file(const std::filesystem::path& file) {
    return file.string().ends_with(".html");
}

std::string page_theme(const Theme& theme) {
    return (theme.panel & 0xFF) < 128 ? "dark" : "light";
}

std::string page_of_run(const Session& session, const Focus& focus, const std::string& theme) {
    const auto snapshot = session.snapshot();
    const auto run = snapshot->kernel.run;
    if (!run || !run->program || run->result.trace.warps.empty())
        throw Failure("no kernel that was traced is on show: run one first");
    if (session.learn.reveal_steps >= 0) throw Failure("a question about this run is open: the page would answer it");
    const KernelTrace& trace = run->result.trace;
    if (trace.warps.size() > 65'535 || run->program->instructions.size() > 65'535)
        throw Failure("this run has more warps or instructions than a page holds");
    const int64_t begin = trace.truncated ? trace.kept_from : 0, end = trace.truncated ? trace.kept_until : trace.cycles,
                  until = page_end(trace, begin, end);
    PageJson all;
    all["title"] = fmt::format("{} on {}: {} (simulated)", run->program->shown_name(), run->gpu.title,
                               counted(run->result.cycles, "cycle"));
    all["kernel"] = run->program->shown_name();
    all["gpu"] = run->gpu.title;
    all["cycles"] = trace.cycles;
    all["sm"] = trace.sm;
    all["from"] = begin;
    all["until"] = until;
    all["at"] = {{"cycle", focus.time}, {"warp", focus.warp}};
    all["schedulers"] = trace.schedulers;
    all["reasons"] = PageJson::array();
    for (const StallRow& row : stall_reasons()) all["reasons"].push_back({row.name, row.label, row.explanation});
    for (const MemoryLevel level : {MemoryLevel::none, MemoryLevel::constant, MemoryLevel::shared, MemoryLevel::l1,
                                    MemoryLevel::l2, MemoryLevel::dram})
        all["levels"].push_back(level_name(level));
    all["warps"] = PageJson::array();
    for (const WarpTrack& warp : trace.warps)
        all["warps"].push_back({warp.block, warp.warp_in_block, warp.slot, warp.scheduler, warp.begin, warp.end});
    add_instructions(all, *run);
    const std::vector<std::string> source = lines_of(run->source);
    all["source"] = source.size() < 4000 ? PageJson(source) : PageJson::array();
    all["file"] = std::filesystem::path(run->program->source_file).filename().string();
    all["limit"] = snapshot->kernel.verdict ? snapshot->kernel.verdict->limit : std::string();
    all["findings"] = PageJson::array();
    all["i"] = issues_json(trace, begin, until);
    all["s"] = waits_json(trace, begin, until);
    std::string data = all.dump(-1, ' ', false, PageJson::error_handler_t::replace);
    replace_mark(data, "</", "<\\/");  // no text of a source ends the page's script
    std::string title;
    for (const char c : all["title"].get<std::string>()) title += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    std::string page = read_file(resource_root() / "assets" / "page" / "run.html").value();
    replace_mark(page, "__THEME__", theme);
    replace_mark(page, "__TITLE__", title);
    replace_mark(page, "__DATA__", data);
    return page;
}

}  // namespace lockstep::gui
