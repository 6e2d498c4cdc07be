// The events used: M names a process or a thread, X is a span, C a counter's value, s and f the ends of an arrow.
#include "core/trace/perfetto.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <ostream>
#include <utility>

namespace lockstep {
namespace {

// A JSON string: quotes, backslashes and control characters escaped, bytes that are no UTF-8 replaced by '?'.
std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += text[i];
        } else if (c < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            out += escape;
        } else if (c < 0x80) {
            out += text[i];
        } else {
            const size_t more = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc2 && c < 0xe0 ? 1 : 0;
            bool whole = more > 0 && i + more < text.size();
            for (size_t k = 1; whole && k <= more; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
            if (whole) {
                out += text.substr(i, more + 1);
                i += more;
            } else {
                out += '?';
            }
        }
    }
    return out + '"';
}

class Events {
  public:
    Events(std::ostream& out, double scale) : out_(out), scale_(scale) {
        out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    }
    ~Events() { out_ << "\n]}\n"; }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    void name_process(int pid, const std::string& name) { meta("process_name", pid, 0, in_quotes(name)); }
    void name_thread(int pid, int tid, const std::string& name, int place = -1) {
        meta("thread_name", pid, tid, in_quotes(name));
        next() << "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":" << pid << ",\"tid\":" << tid
               << ",\"args\":{\"sort_index\":" << (place < 0 ? tid : place) << "}}";
    }
    void span(int pid, int tid, int64_t begin, int64_t end, std::string_view name, std::string_view arguments = {}) {
        next() << "{\"ph\":\"X\",\"pid\":" << pid << ",\"tid\":" << tid << ",\"ts\":" << time(begin)
               << ",\"dur\":" << time(end - begin) << ",\"name\":" << in_quotes(name);
        if (!arguments.empty()) out_ << ",\"args\":{" << arguments << "}";
        out_ << "}";
    }
    void counter(int pid, int64_t when, std::string_view name, double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", std::isfinite(value) ? value : 0.0);
        next() << "{\"ph\":\"C\",\"pid\":" << pid << ",\"ts\":" << time(when) << ",\"name\":" << in_quotes(name)
               << ",\"args\":{\"value\":" << text << "}}";
    }
    void arrow_end(char phase, int pid, int tid, int64_t when, size_t id) {
        next() << "{\"ph\":\"" << phase << "\",\"pid\":" << pid << ",\"tid\":" << tid << ",\"ts\":" << time(when)
               << ",\"id\":" << id << ",\"cat\":\"arrow\",\"name\":\"arrow\"" << (phase == 'f' ? ",\"bp\":\"e\"}" : "}");
    }

  private:
    std::ostream& next() {
        out_ << (first_ ? "\n" : ",\n");
        first_ = false;
        return out_;
    }
    void meta(std::string_view what, int pid, int tid, const std::string& value) {
        next() << "{\"ph\":\"M\",\"name\":\"" << what << "\",\"pid\":" << pid << ",\"tid\":" << tid
               << ",\"args\":{\"name\":" << value << "}}";
    }
    std::string time(int64_t t) const {  // in microseconds
        char text[40];
        std::snprintf(text, sizeof text, "%.*f", scale_ == 1 ? 0 : 3, static_cast<double>(t) * scale_);
        return text;
    }

    std::ostream& out_;
    double scale_;
    bool first_ = true;
};

// From every issue that somebody waits for to the instruction that waited, or to the wait where that was not issued at once.
void write_arrows(const KernelTrace& trace, int process, Events& events) {
    size_t id = 0;
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& run : warp.runs) {
            if (run.cause < 0 || static_cast<size_t>(run.cause) >= trace.issues.size()) continue;
            const IssueRecord& cause = trace.issues[static_cast<size_t>(run.cause)];
            const WarpTrack& from = trace.warps[cause.warp];
            if (cause.cycle < from.begin) continue;  // in front of the stretch that was kept
            const auto next = std::partition_point(warp.issues.begin(), warp.issues.end(),
                                                   [&](uint32_t i) { return trace.issues[i].cycle < run.end; });
            const bool issued = next != warp.issues.end() && trace.issues[*next].cycle == run.end;
            events.arrow_end('s', process, from.slot + 1, cause.cycle, id);
            events.arrow_end('f', process, warp.slot + 1,
                             issued ? run.end : std::max(run.begin, std::min(cause.cycle, run.end - 1)), id);
            ++id;
        }
}

// The mean number of warps in each state that occurs, in at most 2000 equal parts of what the trace covers.
void write_states(const KernelTrace& trace, int process, Events& events) {
    constexpr size_t reasons = static_cast<size_t>(StallReason::count);
    const int64_t begin = trace.truncated ? trace.kept_from : 0;
    const int64_t end = trace.truncated ? trace.kept_until : trace.cycles;
    if (end <= begin || trace.warps.empty()) return;
    const int64_t width = (end - begin + 1999) / 2000;
    std::vector<std::array<int64_t, reasons>> columns(static_cast<size_t>((end - begin + width - 1) / width));
    const auto add = [&](int64_t from, int64_t until, StallReason reason) {
        until = std::min(until, end);
        for (int64_t at = std::max(from, begin); at < until;) {
            const int64_t column = (at - begin) / width, next = std::min(until, begin + (column + 1) * width);
            columns[static_cast<size_t>(column)][static_cast<size_t>(reason)] += next - at;
            at = next;
        }
    };
    for (const WarpTrack& warp : trace.warps) {
        for (const StallRun& run : warp.runs) add(run.begin, run.end, run.reason);
        int64_t last = -1;
        for (const uint32_t i : warp.issues)  // two in one cycle are one
            if (const int64_t cycle = trace.issues[i].cycle; cycle != last)
                add(cycle, cycle + 1, StallReason::selected), last = cycle;
    }
    for (size_t r = 0; r < reasons; ++r) {
        if (std::all_of(columns.begin(), columns.end(), [&](const auto& c) { return c[r] == 0; })) continue;
        const std::string name = std::string("warps: ") + std::string(row_of(static_cast<StallReason>(r)).label);
        double shown = -1;
        for (size_t i = 0; i <= columns.size(); ++i) {
            const int64_t from = begin + static_cast<int64_t>(i) * width;
            const double mean = i == columns.size()
                                    ? 0
                                    : static_cast<double>(columns[i][r]) / static_cast<double>(std::min(width, end - from));
            if (mean != shown) events.counter(process, std::min(from, end), name, mean);
            shown = mean;
        }
    }
}

// In a trace event file the spans of a thread lie within each other or apart. Kernels that share the SMs overlap: each span
// goes to the first lane of its track where it does, and every lane becomes a thread.
std::vector<int> lanes_of(const Trace& trace) {
    std::vector<size_t> order(trace.spans.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const TraceSpan &one = trace.spans[a], &two = trace.spans[b];
        return one.begin != two.begin ? one.begin < two.begin : one.end > two.end;
    });
    std::vector<int> lanes(trace.spans.size(), 0);
    std::map<int, std::vector<std::vector<int64_t>>> open;  // by track, by lane: ends of what is not over
    for (const size_t i : order) {
        const TraceSpan& span = trace.spans[i];
        std::vector<std::vector<int64_t>>& track = open[span.track];
        size_t lane = 0;
        for (; lane < track.size(); ++lane) {
            while (!track[lane].empty() && track[lane].back() <= span.begin) track[lane].pop_back();
            if (track[lane].empty() || span.end <= track[lane].back()) break;
        }
        if (lane == track.size()) track.emplace_back();
        track[lane].push_back(span.end);
        lanes[i] = static_cast<int>(lane);
    }
    return lanes;
}

}  // namespace

void write_perfetto(const Trace& trace, std::ostream& out) {
    Events events(out, trace.time_unit == "ns" ? 1e-3 : 1.0);
    const int tracks = static_cast<int>(trace.tracks.size());
    const std::vector<int> lanes = lanes_of(trace);
    // Threads are numbered track by track; those of further lanes come behind all tracks and are sorted beside their own.
    std::map<std::pair<int, int>, int> threads;
    const auto thread_of = [&](size_t span) {
        const std::pair<int, int> place{trace.spans[span].track, lanes[span]};
        if (place.second == 0) return place.first + 1;
        const auto found = threads.find(place);
        return found != threads.end() ? found->second : place.first + 1;
    };
    const auto process_of = [&](int track) {
        for (int steps = 0; steps < tracks; ++steps) {  // a cycle of parents ends too
            const int parent = trace.tracks[static_cast<size_t>(track)].parent;
            if (parent < 0 || parent >= tracks) break;
            track = parent;
        }
        return track + 1;
    };
    const auto known = [&](int track) { return track >= 0 && track < tracks; };
    for (int i = 0; i < tracks; ++i) {
        const TraceTrack& track = trace.tracks[static_cast<size_t>(i)];
        if (process_of(i) == i + 1) events.name_process(i + 1, track.name);
        events.name_thread(process_of(i), i + 1, track.name);
    }
    for (size_t i = 0; i < trace.spans.size(); ++i) {
        const int track = trace.spans[i].track;
        if (lanes[i] == 0 || !known(track)) continue;
        const auto [at, fresh] = threads.try_emplace({track, lanes[i]}, tracks + 1 + static_cast<int>(threads.size()));
        if (fresh)
            events.name_thread(
                process_of(track), at->second,
                trace.tracks[static_cast<size_t>(track)].name + ", at the same time " + std::to_string(lanes[i] + 1),
                track + 1);
    }
    for (size_t i = 0; i < trace.spans.size(); ++i) {
        const TraceSpan& span = trace.spans[i];
        if (known(span.track)) events.span(process_of(span.track), thread_of(i), span.begin, span.end, span.name);
    }
    for (const TraceCounter& counter : trace.counters)
        if (known(counter.track))
            events.counter(process_of(counter.track), counter.time, trace.tracks[static_cast<size_t>(counter.track)].name,
                           counter.value);
    for (size_t id = 0; id < trace.arrows.size(); ++id) {
        const TraceArrow& arrow = trace.arrows[id];
        const int spans = static_cast<int>(trace.spans.size());
        if (arrow.from_span < 0 || arrow.from_span >= spans || arrow.to_span < 0 || arrow.to_span >= spans) continue;
        const TraceSpan& from = trace.spans[static_cast<size_t>(arrow.from_span)];
        const TraceSpan& to = trace.spans[static_cast<size_t>(arrow.to_span)];
        if (!known(from.track) || !known(to.track)) continue;
        const auto from_span = static_cast<size_t>(arrow.from_span), to_span = static_cast<size_t>(arrow.to_span);
        events.arrow_end('s', process_of(from.track), thread_of(from_span), from.begin, id);
        events.arrow_end('f', process_of(to.track), thread_of(to_span), to.begin, id);
    }
}

void write_perfetto(const KernelTrace& trace, const std::string& kernel, std::ostream& out,
                    const std::function<std::string(uint32_t pc)>& name_of) {
    // Perfetto takes the thread whose number is its process's for the main one and draws it first: so is it with the first.
    constexpr int sm_process = 1, block_process = 2, state_process = 3;
    Events events(out, 1.0);
    const auto text = [&](uint32_t pc) { return name_of ? name_of(pc) : "instruction " + std::to_string(pc); };
    events.name_process(sm_process, kernel + " on SM " + std::to_string(trace.sm) + ": warp slots (1 µs is 1 cycle)");
    for (uint32_t slot = 0; slot < trace.warp_slots; ++slot)
        events.name_thread(sm_process, static_cast<int>(slot) + 1, "warp slot " + std::to_string(slot));
    for (const WarpTrack& warp : trace.warps) {
        const int tid = warp.slot + 1;
        events.span(sm_process, tid, warp.begin, warp.end,
                    "block " + std::to_string(warp.block) + " warp " + std::to_string(warp.warp_in_block));
        const auto wait = [&](const StallRun& run) {
            std::string arguments = "\"pc\":" + std::to_string(run.pc);
            if (run.cause >= 0 && static_cast<size_t>(run.cause) < trace.issues.size())
                arguments += ",\"waits for\":" + in_quotes(text(trace.issues[static_cast<size_t>(run.cause)].pc));
            events.span(sm_process, tid, run.begin, run.end, row_of(run.reason).label, arguments);
        };
        size_t run = 0;
        for (const uint32_t index : warp.issues) {
            const IssueRecord& issue = trace.issues[index];
            if (issue.folded) continue;  // took no time
            for (; run < warp.runs.size() && warp.runs[run].begin < issue.cycle; ++run) wait(warp.runs[run]);
            std::string arguments = "\"pc\":" + std::to_string(issue.pc) +
                                    ",\"lanes\":" + std::to_string(__builtin_popcount(issue.active)) +
                                    ",\"ready\":" + std::to_string(issue.ready);
            if (issue.early != 0) arguments += ",\"moved up to\":" + std::to_string(issue.sent());
            if (issue.level != MemoryLevel::none) arguments += ",\"level\":\"" + std::string(level_name(issue.level)) + "\"";
            if (issue.sectors != 0) arguments += ",\"sectors\":" + std::to_string(issue.sectors);
            if (issue.passes != 0) arguments += ",\"passes\":" + std::to_string(issue.passes);
            events.span(sm_process, tid, issue.cycle, issue.cycle + 1, text(issue.pc), arguments);
        }
        for (; run < warp.runs.size(); ++run) wait(warp.runs[run]);
    }
    write_arrows(trace, sm_process, events);
    events.name_process(state_process, kernel + " on SM " + std::to_string(trace.sm) + ": warps by state (1 µs is 1 cycle)");
    write_states(trace, state_process, events);
    events.name_process(block_process, kernel + ": blocks (1 µs is 1 cycle)");
    const int slots = static_cast<int>(trace.block_slots == 0 ? 1 : trace.block_slots);
    std::vector<bool> named;
    for (const BlockRun& block : trace.blocks) {
        const int tid = block.sm * slots + block.slot + block_process;
        if (named.size() <= static_cast<size_t>(tid)) named.resize(static_cast<size_t>(tid) + 1, false);
        if (!named[static_cast<size_t>(tid)])
            events.name_thread(block_process, tid, "SM " + std::to_string(block.sm) + " slot " + std::to_string(block.slot));
        named[static_cast<size_t>(tid)] = true;
        events.span(block_process, tid, block.begin, block.end, "block " + std::to_string(block.block));
    }
}

}  // namespace lockstep
