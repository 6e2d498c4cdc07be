#include "app/gui/views/program/program_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/sizes.h"
#include "core/base/units.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::gui {

namespace {

constexpr size_t most_ranges = 40;  // of a group: what follows is one range more

bool alike(double a, double b) {
    return std::abs(a - b) < 0.005;
}

std::vector<LaunchGroup> groups_of(const ProgramRun& run) {
    std::vector<LaunchGroup> groups;
    std::map<std::string, size_t> known;
    double all = 0;
    for (size_t k = 0; k < run.report.launches.size(); ++k) {
        const runtime::LaunchRecord& launch = run.report.launches[k];
        const std::string key = fmt::format("{}\n{} {}", launch.kernel, shape_text(launch.grid), shape_text(launch.block));
        const auto [found, fresh] = known.try_emplace(key, groups.size());
        if (fresh) groups.push_back({.kernel = launch.kernel, .grid = launch.grid, .block = launch.block});
        LaunchGroup& group = groups[found->second];
        ++group.count;
        group.us += launch.time_us;
        all += launch.time_us;
        group.timed |= launch.cycles > 0;
        if (launch.hot_line > 0 && run.is_own_line(launch.hot_file)) group.hot_line = launch.hot_line;
        // The first stands alone: it finds caches cold and the program's first data.
        LaunchRange* const last = group.ranges.empty() ? nullptr : &group.ranges.back();
        if (last && group.count > 2 && (alike(last->us, launch.time_us) || group.ranges.size() >= most_ranges))
            ++last->count;
        else
            group.ranges.push_back({static_cast<int64_t>(k), 1, group.count, launch.time_us});
    }
    for (LaunchGroup& group : groups) group.share = all > 0 ? group.us / all : 0;
    std::stable_sort(groups.begin(), groups.end(), [](const LaunchGroup& a, const LaunchGroup& b) { return a.us > b.us; });
    return groups;
}

void add_rows(ProgramBoard& board) {
    constexpr size_t most_rows = 24;  // that are an allocation each
    std::map<std::tuple<std::string, std::string, int>, size_t> places;
    std::vector<size_t> row_of(board.allocations.size());
    for (size_t k = 0; k < board.allocations.size(); ++k) {
        const AllocationBar& bar = board.allocations[k];
        size_t place = board.rows.size();
        if (board.allocations.size() > most_rows)
            place = places.try_emplace({bar.name, bar.kind, bar.line}, place).first->second;
        if (place == board.rows.size())
            board.rows.push_back({bar.name, bar.kind, bar.line, bar.freed_line, 0, 0, 0, 0, bar.begin, bar.end, {}});
        AllocationRow& row = board.rows[place];
        row_of[k] = place;
        ++row.count;
        row.end = row.end < 0 || bar.end < 0 ? -1 : std::max(row.end, bar.end);
        if (!bar.leaked) continue;
        ++row.leaked;
        row.leaked_bytes += bar.bytes;
    }
    struct Step {
        int64_t column;
        size_t bar;
        bool frees;
    };
    std::vector<Step> steps;
    for (size_t k = 0; k < board.allocations.size(); ++k) {
        steps.push_back({board.allocations[k].begin, k, false});
        if (board.allocations[k].end >= 0) steps.push_back({board.allocations[k].end, k, true});
    }
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.column < b.column; });
    for (const Step& step : steps) {
        AllocationRow& row = board.rows[row_of[step.bar]];
        const uint64_t bytes = board.allocations[step.bar].bytes, before = row.levels.empty() ? 0 : row.levels.back().bytes;
        row.levels.push_back({step.column, step.frees ? before - std::min(before, bytes) : before + bytes});
        row.bytes = std::max(row.bytes, row.levels.back().bytes);
    }
}

void add_allocations(ProgramBoard& board) {
    const ProgramRun& run = *board.run;
    struct Change {
        int64_t call;
        size_t allocation;
        bool frees;
    };
    std::vector<Change> changes;
    const auto& all = run.report.allocations;
    for (size_t k = 0; k < all.size(); ++k) {
        changes.push_back({all[k].call, k, false});
        if (all[k].freed) changes.push_back({all[k].freed_call < 0 ? INT64_MAX : all[k].freed_call, k, true});
    }
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.call < b.call; });
    const auto line_of = [&](const runtime::CallSite& site) { return run.is_own_line(site.file) ? site.line : 0; };
    board.allocations.resize(all.size());
    uint64_t live = 0;
    for (const Change& change : changes) {
        const runtime::AllocationRecord& record = all[change.allocation];
        AllocationBar& bar = board.allocations[change.allocation];
        const auto column = static_cast<int64_t>(board.columns.size());
        if (change.frees) {
            live -= std::min(live, record.bytes);
            bar.end = column;
            bar.freed_line = line_of(record.freed_at);
        } else {
            live += record.bytes;
            bar = {record.name, record.kind, record.bytes, column, -1, line_of(record.site), 0, !record.freed};
        }
        board.columns.push_back({change.frees ? line_of(record.freed_at) : line_of(record.site), live});
    }
    board.bytes_left = live;
    add_rows(board);
}

// What a line's calls, copies and launches took, and an allocation there that was never freed.
void add_notes(ProgramBoard& board) {
    const ProgramRun& run = *board.run;
    struct Cost {
        int64_t launches = 0, calls = 0;
        double launch_us = 0, call_us = 0, copy_us = 0;
        bool leak = false;
    };
    std::map<int, Cost> lines;
    const auto cost_at = [&](const runtime::CallSite& site) {
        return site.line > 0 && run.is_own_line(site.file) ? &lines[site.line] : nullptr;
    };
    for (const runtime::LaunchRecord& launch : run.report.launches)
        if (Cost* const cost = cost_at(launch.site)) ++cost->launches, cost->launch_us += launch.time_us;
    for (const runtime::CopyRecord& copy : run.report.copies)
        if (Cost* const cost = cost_at(copy.site)) cost->copy_us += copy.end_us - copy.begin_us;
    for (const runtime::CallRecord& call : run.report.calls)
        if (Cost* const cost = cost_at(call.site)) ++cost->calls, cost->call_us += call.end_us - call.begin_us;
    for (const runtime::AllocationRecord& leak : run.report.leaks)
        if (Cost* const cost = cost_at(leak.site)) cost->leak = true;
    for (const auto& [line, cost] : lines) {
        std::string text;
        if (cost.leak) {
            text = "never freed";
        } else if (cost.launches > 0) {
            const double each = cost.launch_us / static_cast<double>(cost.launches);
            if (cost.launch_us > 0)
                text =
                    cost.launches > 1 ? fmt::format("{} × {}", with_commas(cost.launches), bar_time(each)) : bar_time(each);
            else
                text = counted(cost.launches, "launch", "launches");
        } else if (cost.copy_us > 0) {
            text = bar_time(cost.copy_us);
        } else if (cost.call_us >= 0.05) {
            text = bar_time(cost.call_us);
        }
        if (!text.empty()) board.notes.push_back({line, text, cost.leak});
    }
}

ProgramTrack track_of(const std::string& direction) {
    if (direction == "host to device") return ProgramTrack::copy_in;
    if (direction == "device to host") return ProgramTrack::copy_out;
    return ProgramTrack::copy_within;
}

// Of intervals in whatever order, how much time at least one of them covers.
double covered(std::vector<std::pair<double, double>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    double sum = 0, until = -1e300;
    for (const auto& [begin, end] : intervals) {
        if (end > until) sum += end - std::max(begin, until);
        until = std::max(until, end);
    }
    return sum;
}

void add_bars(ProgramBoard& board) {
    const runtime::Report& report = board.run->report;
    for (size_t k = 0; k < report.calls.size(); ++k)
        board.bars.push_back({ProgramTrack::host, report.calls[k].stream, 0, report.calls[k].begin_us,
                              report.calls[k].end_us, static_cast<int64_t>(k), report.calls[k].call});
    for (size_t k = 0; k < report.copies.size(); ++k) {
        const runtime::CopyRecord& copy = report.copies[k];
        board.bars.push_back(
            {track_of(copy.direction), copy.stream, 0, copy.begin_us, copy.end_us, static_cast<int64_t>(k), copy.direction});
    }
    for (size_t k = 0; k < report.launches.size(); ++k) {
        const runtime::LaunchRecord& launch = report.launches[k];
        board.bars.push_back({ProgramTrack::kernels, launch.stream, launch.device, launch.begin_us, launch.end_us,
                              static_cast<int64_t>(k), launch.kernel});
    }
    std::stable_sort(board.bars.begin(), board.bars.end(), [](const ProgramBar& a, const ProgramBar& b) {
        return a.track != b.track ? a.track < b.track : a.begin_us < b.begin_us;
    });
    board.bar_of_launch.assign(report.launches.size(), -1);
    std::vector<std::pair<double, double>> copies, kernels, all;
    board.begin_us = board.bars.empty() ? 0 : 1e300;
    for (size_t k = 0; k < board.bars.size(); ++k) {
        const ProgramBar& bar = board.bars[k];
        board.begin_us = std::min(board.begin_us, bar.begin_us);
        board.end_us = std::max(board.end_us, bar.end_us);
        if (bar.track == ProgramTrack::kernels)
            board.bar_of_launch[static_cast<size_t>(bar.index)] = static_cast<int64_t>(k);
        if (bar.track == ProgramTrack::host) continue;
        (bar.track == ProgramTrack::kernels ? kernels : copies).emplace_back(bar.begin_us, bar.end_us);
        all.emplace_back(bar.begin_us, bar.end_us);
    }
    const double length = board.end_us - board.begin_us;
    if (length <= 0) return;
    board.copy_share = covered(copies) / length;
    board.kernel_share = covered(kernels) / length;
    board.busy_share = covered(all) / length;
}

}  // namespace

std::string bar_time(double us) {
    if (us < 100) return fmt::format("{:.2f} µs", us);
    return us < 1000 ? fmt::format("{:.1f} µs", us) : time_text(us);
}

std::string shape_text(const simt::Dim3& extents) {
    if (extents.z > 1) return fmt::format("{},{},{}", extents.x, extents.y, extents.z);
    if (extents.y > 1) return fmt::format("{},{}", extents.x, extents.y);
    return with_commas(extents.x);
}

ProgramBoard make_board_of(std::shared_ptr<const ProgramRun> run) {
    ProgramBoard board;
    board.run = std::move(run);
    if (!board.run || board.run->running) return board;
    board.groups = groups_of(*board.run);
    add_allocations(board);
    add_notes(board);
    add_bars(board);
    return board;
}

const ProgramBoard& ProgramBoards::of(const Snapshot& snapshot) {
    if (board_.run != snapshot.program.run) board_ = make_board_of(snapshot.program.run);
    return board_;
}

std::vector<CodeBand> bands_of(const std::string& source) {
    std::vector<CodeBand> bands;
    const std::vector<device::SourceToken> tokens = device::tokens_of(source);
    size_t at = 0;  // in the source, whose lines are counted up to there
    int32_t line = 1;
    const auto line_at = [&](size_t place) {
        if (place < at) at = 0, line = 1;
        line += static_cast<int32_t>(std::count(source.begin() + static_cast<std::ptrdiff_t>(at),
                                                source.begin() + static_cast<std::ptrdiff_t>(std::min(place, source.size())),
                                                '\n'));
        at = place;
        return line;
    };
    size_t head = SIZE_MAX;  // the first token of what stands at the outermost level
    int depth = 0;
    bool called = false, on_device = false, on_host = false, in_function = false;
    const auto forget = [&] { head = SIZE_MAX, called = on_device = on_host = false; };
    for (size_t k = 0; k < tokens.size(); ++k) {
        const device::SourceToken& token = tokens[k];
        if (token.kind == device::SourceToken::Kind::directive) continue;
        if (!in_function) {
            if (token.is(";") || token.is("}")) {
                forget();
                continue;
            }
            if (head == SIZE_MAX) head = k;
            called |= token.is(")");
            on_device |= token.is("__global__") || token.is("__device__");
            on_host |= token.is("__host__");
            if (!token.is("{")) continue;
            if (!called) {
                forget();  // a namespace, a struct, extern "C", an array's values: functions may stand inside
                continue;
            }
            in_function = true;
            depth = 1;
            continue;
        }
        if (token.is("{")) ++depth;
        if (!token.is("}") || --depth > 0) continue;
        const int32_t first = line_at(tokens[head].begin), last = line_at(token.begin);
        bands.push_back({first, last, on_device && !on_host});
        in_function = false;
        forget();
    }
    return bands;
}

std::vector<ProgramFinding> findings_of(const ProgramRun& run) {
    std::vector<ProgramFinding> all;
    const auto own = [&](const std::string& file, int line) { return run.is_own_line(file) ? line : 0; };
    const runtime::Report& report = run.report;
    // What ended it comes first: the rest may follow from that.
    if (run.cancelled)
        all.push_back({run.ended.starts_with("cancelled") ? "cancelled" : "given up",
                       run.ended + (run.reported ? "" : "; what it did with the GPU is not known: it reports at its end"), 0,
                       true});
    const std::string_view crash_note = "the host followed a pointer";
    if (run.crashed()) {
        std::string why = run.ended;
        for (const std::string& note : report.notes)
            if (note.starts_with(crash_note)) why += ": " + note;
        all.push_back({"crash", why});
    }
    for (const simt::Fault& fault : report.faults)
        all.push_back(
            {fault.kind,
             fmt::format("{} (kernel {}, block ({},{},{}), thread ({},{},{}))", fault.message, fault.kernel, fault.block.x,
                         fault.block.y, fault.block.z, fault.thread.x, fault.thread.y, fault.thread.z),
             own(fault.file, fault.line)});
    for (const runtime::ErrorRecord& error : report.errors)
        all.push_back({"error",
                       fmt::format("{} returned {}: {}{}", error.call, error.error, error.message,
                                   error.seen ? "" : " (nobody looked at it)"),
                       own(error.site.file, error.site.line)});
    for (const std::string& race : report.races) all.push_back({"race", race});
    for (const auto& [leak, count, bytes] : runtime::leaks_by_line(report))
        all.push_back({"leak",
                       (count > 1 ? fmt::format("{}, {} allocations of {} together, are never freed", leak.name,
                                                with_commas(static_cast<int64_t>(count)), size_text(bytes))
                                  : fmt::format("{}, {}, is never freed", leak.name, size_text(bytes))) +
                           (run.crashed() ? ": the crash came before" : ""),
                       own(leak.site.file, leak.site.line), true});
    for (const std::string& note : report.notes)
        if (!run.crashed() || !note.starts_with(crash_note)) all.push_back({"note", note, 0, true});
    if (!run.running && !run.cancelled && !run.crashed() && run.status != 0) all.push_back({"exit", run.ended, 0, true});
    // What was compiled is a copy of the text: the learner's file is named.
    const std::string copy = run.source.string();
    for (ProgramFinding& finding : all)
        for (size_t at = 0; !copy.empty() && (at = finding.message.find(copy, at)) != std::string::npos;)
            finding.message.replace(at, copy.size(), run.name), at += run.name.size();
    return all;
}

}  // namespace lockstep::gui
