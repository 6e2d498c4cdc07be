#include "app/gui/views/timeline/timeline_data.h"

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/axis.h"
#include "core/ptx/decode/program.h"

namespace lockstep::gui {
namespace {

// Adds the overlap of [begin, end) with every cell of `width` cycles from `origin`.
template <class Cells>
void spread(Cells&& add, int64_t begin, int64_t end, int64_t origin, double width, size_t cells) {
    const double last = static_cast<double>(cells);
    const double from = static_cast<double>(begin - origin) / width, to = static_cast<double>(end - origin) / width;
    if (to <= 0 || from >= last) return;
    auto cell = static_cast<size_t>(std::max(0.0, from));
    for (; cell < cells && static_cast<double>(cell) < to; ++cell) {
        const double overlap = std::min(to, static_cast<double>(cell) + 1) - std::max(from, static_cast<double>(cell));
        if (overlap > 0) add(cell, overlap * width);
    }
}

uint8_t most_of(const StateCounts& counts, int64_t bucket) {
    size_t best = 0;
    uint64_t sum = 0;
    for (size_t s = 0; s < state_count; ++s) {
        sum += counts[s];
        if (counts[s] > counts[best]) best = s;
    }
    const int64_t empty = bucket - static_cast<int64_t>(sum);
    return counts[best] == 0 || empty > static_cast<int64_t>(counts[best]) ? empty_state : static_cast<uint8_t>(best);
}

// What a slot did around a cycle that the trace no longer has in full: seen from afar, or empty_state.
uint8_t state_from_afar(const KernelTrace& trace, uint32_t slot, int64_t cycle) {
    if (trace.overview.levels.empty() || slot >= trace.overview.slots || cycle < 0) return empty_state;
    const Overview::Level& level = trace.overview.levels.front();
    const auto column = static_cast<uint64_t>(cycle / std::max<int64_t>(1, level.cycles_a_column));
    const uint64_t at = uint64_t{slot} * level.columns + column;
    if (column >= level.columns || at >= level.states.size()) return empty_state;
    const uint8_t state = level.states[at];
    return state < state_count ? state : empty_state;
}

// Warp-cycles of all slots in [begin, end), seen from afar: a column of the overview is even all over.
StateCounts states_from_afar(const Timeline& timeline, int64_t begin, int64_t end) {
    StateCounts counts{};
    const Overview& overview = timeline.trace().overview;
    if (overview.levels.empty()) return counts;
    const int64_t width = std::max<int64_t>(1, overview.levels.front().cycles_a_column);
    std::array<double, state_count> sums{};
    for (int64_t column = begin / width; column * width < std::min(end, timeline.cycles); ++column) {
        if (column >= static_cast<int64_t>(overview.cycles.size())) break;
        const int64_t from = column * width, until = std::min(from + width, timeline.cycles);
        const double share = static_cast<double>(std::min(end, until) - std::max(begin, from)) /
                             static_cast<double>(std::max<int64_t>(1, until - from));
        for (size_t s = 0; s < state_count; ++s)
            sums[s] += share * static_cast<double>(overview.cycles[static_cast<size_t>(column)][s]);
    }
    for (size_t s = 0; s < state_count; ++s) counts[s] = static_cast<uint64_t>(std::llround(sums[s]));
    return counts;
}

void build_levels(Timeline& timeline) {
    const KernelTrace& trace = timeline.trace();
    int64_t bucket = 1;
    while (timeline.cycles / bucket >= static_cast<int64_t>(most_buckets)) bucket *= 2;
    const auto cells = static_cast<size_t>((timeline.cycles + bucket - 1) / bucket);
    if (cells == 0) return;
    size_t level_count = 1;
    for (size_t n = cells; n > 64; n = (n + 1) / 2) ++level_count;
    timeline.levels.resize(level_count);
    size_t n = cells;
    for (Level& level : timeline.levels) {
        level.bucket = bucket;
        level.totals.assign(n, {});
        level.dominant.assign(timeline.rows.size(), std::vector<uint8_t>(n, empty_state));
        bucket *= 2;
        n = (n + 1) / 2;
    }
    std::vector<StateCounts> counts;
    for (size_t r = 0; r < timeline.rows.size(); ++r) {
        counts.assign(cells, {});
        const int64_t base = timeline.levels[0].bucket;
        for (uint32_t w : timeline.rows[r].warps) {
            const WarpTrack& warp = trace.warps[w];
            for (const StallRun& run : warp.runs)
                for (int64_t t = std::max<int64_t>(run.begin, 0); t < std::min(run.end, timeline.cycles);) {
                    const int64_t stop = std::min({run.end, (t / base + 1) * base, timeline.cycles});
                    counts[static_cast<size_t>(t / base)][static_cast<size_t>(run.reason)] +=
                        static_cast<uint64_t>(stop - t);
                    t = stop;
                }
            int64_t last = -1;
            for (uint32_t i : warp.issues) {  // two instructions of one warp in a cycle are one warp-cycle
                const int64_t t = trace.issues[i].cycle;
                if (t >= 0 && t < timeline.cycles && t != last) ++counts[static_cast<size_t>(t / base)][0];
                last = t;
            }
        }
        for (Level& level : timeline.levels) {
            if (&level != &timeline.levels.front()) {
                for (size_t i = 0; i < level.totals.size(); ++i) {
                    StateCounts sum = counts[2 * i];
                    if (2 * i + 1 < counts.size())
                        for (size_t s = 0; s < state_count; ++s) sum[s] += counts[2 * i + 1][s];
                    counts[i] = sum;
                }
                counts.resize(level.totals.size());
            }
            for (size_t i = 0; i < counts.size(); ++i) {
                for (size_t s = 0; s < state_count; ++s) level.totals[i][s] += counts[i][s];
                level.dominant[r][i] = most_of(counts[i], level.bucket);
                const int64_t middle = static_cast<int64_t>(i) * level.bucket + level.bucket / 2;
                if (timeline.kept(middle)) continue;
                level.dominant[r][i] = state_from_afar(trace, timeline.rows[r].slot, middle);
            }
        }
    }
    for (Level& level : timeline.levels)
        for (size_t i = 0; i < level.totals.size(); ++i) {
            const int64_t begin = static_cast<int64_t>(i) * level.bucket;
            if (!timeline.kept(begin + level.bucket / 2))
                level.totals[i] = states_from_afar(timeline, begin, begin + level.bucket);
        }
}

void build_sums(Timeline& timeline) {
    const KernelTrace& trace = timeline.trace();
    if (timeline.levels.empty()) return;
    const Level& base = timeline.levels.front();
    const size_t cells = base.totals.size(), schedulers = std::max<uint32_t>(trace.schedulers, 1);
    timeline.states_until.assign(cells + 1, {});
    for (size_t i = 0; i < cells; ++i)
        for (size_t s = 0; s < state_count; ++s)
            timeline.states_until[i + 1][s] = timeline.states_until[i][s] + static_cast<int64_t>(base.totals[i][s]);
    timeline.issued_until.assign(schedulers, std::vector<int64_t>(cells + 1, 0));
    timeline.busy_until = timeline.issued_until;
    std::vector<int64_t> last(schedulers, -1);
    for (const IssueRecord& issue : trace.issues) {
        const size_t scheduler = issue.warp < trace.warps.size() ? trace.warps[issue.warp].scheduler : 0;
        const auto cell = static_cast<size_t>(issue.cycle / base.bucket);
        if (scheduler >= schedulers || issue.cycle < 0 || cell >= cells) continue;
        if (!issue.folded) ++timeline.issued_until[scheduler][cell + 1];  // the others took no slot
        if (last[scheduler] != issue.cycle) ++timeline.busy_until[scheduler][cell + 1];
        last[scheduler] = issue.cycle;
    }
    for (auto* counts : {&timeline.issued_until, &timeline.busy_until})
        for (std::vector<int64_t>& one : *counts)
            for (size_t i = 0; i < cells; ++i) one[i + 1] += one[i];
}

}  // namespace

const Level* level_for(const Timeline& timeline, double cycles_a_column) {
    const Level* found = nullptr;
    for (const Level& level : timeline.levels)
        if (static_cast<double>(level.bucket) <= cycles_a_column) found = &level;
    return found;
}

int64_t TimeAxis::cycle(float at_x) const {
    return begin + static_cast<int64_t>(std::floor(static_cast<double>(at_x - x) / column()));
}

Timeline make_timeline(std::shared_ptr<const model::KernelRun> run) {
    Timeline timeline;
    timeline.run = std::move(run);
    const KernelTrace& trace = timeline.trace();
    const bool afar = trace.truncated && !trace.overview.levels.empty();
    timeline.cycles = trace.truncated && !afar ? trace.kept_until : trace.cycles;
    for (uint32_t w = 0; w < trace.warps.size(); ++w) {
        const WarpTrack& warp = trace.warps[w];
        auto row =
            std::find_if(timeline.rows.begin(), timeline.rows.end(), [&](const SlotRow& r) { return r.slot == warp.slot; });
        if (row == timeline.rows.end()) row = timeline.rows.insert(row, {warp.slot, warp.scheduler, {}});
        row->warps.push_back(w);
        timeline.cycles = std::max(timeline.cycles, trace.truncated ? int64_t{0} : warp.end);
    }
    for (uint32_t slot = 0; afar && slot < trace.overview.slots; ++slot) {  // slots whose warps lie outside what is kept
        const auto& level = trace.overview.levels.front();
        const bool known =
            std::any_of(timeline.rows.begin(), timeline.rows.end(), [&](const SlotRow& r) { return r.slot == slot; });
        const std::span states = std::span(level.states).subspan(size_t{slot} * level.columns, level.columns);
        const bool lives = std::any_of(states.begin(), states.end(), [](uint8_t state) { return state != Overview::empty; });
        if (!known && lives)
            timeline.rows.push_back(
                {static_cast<uint16_t>(slot), static_cast<uint16_t>(slot % std::max<uint32_t>(1, trace.schedulers)), {}});
    }
    std::sort(timeline.rows.begin(), timeline.rows.end(), [](const SlotRow& a, const SlotRow& b) {
        return a.scheduler != b.scheduler ? a.scheduler < b.scheduler : a.slot < b.slot;
    });
    for (SlotRow& row : timeline.rows)
        std::sort(row.warps.begin(), row.warps.end(),
                  [&](uint32_t a, uint32_t b) { return trace.warps[a].begin < trace.warps[b].begin; });
    build_levels(timeline);
    build_sums(timeline);
    if (timeline.run->program)
        for (const auto& instruction : timeline.run->program->instructions) {
            if (!instruction.opcode) continue;
            const char letter = instruction.opcode->letter;
            const bool known = std::any_of(timeline.letters.begin(), timeline.letters.end(),
                                           [&](const auto& l) { return l.first == letter; });
            if (!known) timeline.letters.emplace_back(letter, instruction.opcode->group);
        }
    return timeline;
}

std::shared_ptr<const Timeline> Session::timeline(const std::shared_ptr<const model::KernelRun>& run) const {
    std::erase_if(timelines_, [](const auto& one) { return one.expired(); });
    for (const auto& one : timelines_)
        if (auto known = one.lock(); known && known->run == run) return known;
    auto made = std::make_shared<const Timeline>(make_timeline(run));
    timelines_.push_back(made);
    return made;
}

std::span<const StallRun> runs_in(const WarpTrack& warp, int64_t begin, int64_t end) {
    const auto first =
        std::partition_point(warp.runs.begin(), warp.runs.end(), [&](const StallRun& r) { return r.end <= begin; });
    const auto last = std::partition_point(first, warp.runs.end(), [&](const StallRun& r) { return r.begin < end; });
    return {first, last};
}

std::span<const uint32_t> issues_in(const KernelTrace& trace, const WarpTrack& warp, int64_t begin, int64_t end) {
    const auto before = [&](int64_t cycle) { return [&trace, cycle](uint32_t i) { return trace.issues[i].cycle < cycle; }; };
    const auto first = std::partition_point(warp.issues.begin(), warp.issues.end(), before(begin));
    return {first, std::partition_point(first, warp.issues.end(), before(end))};
}

int64_t cycle_of_step(const KernelTrace& trace, const WarpTrack& warp, int64_t step) {
    step -= static_cast<int64_t>(warp.issued_before);
    if (step < 0 || step >= static_cast<int64_t>(warp.issues.size())) return -1;
    return trace.issues[warp.issues[static_cast<size_t>(step)]].cycle;
}

int64_t issues_before(const KernelTrace& trace, const WarpTrack& warp, int64_t cycle) {
    return static_cast<int64_t>(warp.issued_before + issues_in(trace, warp, INT64_MIN, cycle).size());
}

WarpState state_at(const KernelTrace& trace, const WarpTrack& warp, int64_t cycle) {
    WarpState state;
    if (cycle < warp.begin || cycle >= warp.end) return state;
    if (const auto issues = issues_in(trace, warp, cycle, cycle + 1); !issues.empty()) {
        state.issue = &trace.issues[issues.front()];
        state.resident = true;
    } else if (const auto runs = runs_in(warp, cycle, cycle + 1); !runs.empty()) {
        state.stall = &runs.front();
        state.resident = true;
    }
    return state;
}

int warp_at(const KernelTrace& trace, const SlotRow& row, int64_t cycle) {
    const auto after =
        std::partition_point(row.warps.begin(), row.warps.end(), [&](uint32_t w) { return trace.warps[w].begin <= cycle; });
    if (after == row.warps.begin()) return -1;
    const uint32_t warp = *(after - 1);
    return cycle < trace.warps[warp].end ? static_cast<int>(warp) : -1;
}

int64_t WindowSums::all_issued() const {
    int64_t sum = 0;
    for (int64_t i : issued) sum += i;
    return sum;
}
int64_t WindowSums::empty() const {
    int64_t used = 0;
    for (int64_t s : states) used += s;
    return std::max<int64_t>(0, slot_cycles - used);
}

WindowSums sum_window(const Timeline& timeline, int64_t begin, int64_t end) {
    const KernelTrace& trace = timeline.trace();
    WindowSums sums;
    sums.begin = begin;
    sums.end = end;
    sums.issued.assign(std::max<uint32_t>(trace.schedulers, 1), 0);
    sums.busy = sums.issued;
    sums.waits.assign(timeline.run->program ? timeline.run->program->instructions.size() : 0, 0);
    sums.issue_slots = static_cast<int64_t>(sums.issued.size()) * std::max<uint32_t>(trace.issue_width, 1) * (end - begin);
    for (const SlotRow& row : timeline.rows) {
        bool lived = false;
        for (uint32_t w : row.warps) {
            const WarpTrack& warp = trace.warps[w];
            if (warp.end <= begin || warp.begin >= end) continue;
            lived = true;
            for (const StallRun& run : runs_in(warp, begin, end)) {
                const int64_t length = std::min(run.end, end) - std::max(run.begin, begin);
                sums.states[static_cast<size_t>(run.reason)] += length;
                if (run.pc < sums.waits.size()) sums.waits[run.pc] += length;
            }
            int64_t last = -1;
            for (uint32_t i : issues_in(trace, warp, begin, end)) {
                const int64_t cycle = trace.issues[i].cycle;
                if (cycle != last) ++sums.states[0];  // two instructions of one warp in a cycle are one warp-cycle
                last = cycle;
            }
        }
        if (lived) sums.slot_cycles += end - begin;
    }
    std::vector<int64_t> last(sums.issued.size(), -1);
    const auto first = std::partition_point(trace.issues.begin(), trace.issues.end(),
                                            [&](const IssueRecord& i) { return i.cycle < begin; });
    for (auto i = first; i != trace.issues.end() && i->cycle < end; ++i) {
        const size_t scheduler = i->warp < trace.warps.size() ? trace.warps[i->warp].scheduler : 0;
        if (scheduler >= sums.issued.size()) continue;
        if (!i->folded) ++sums.issued[scheduler];
        if (last[scheduler] != i->cycle) ++sums.busy[scheduler];
        last[scheduler] = i->cycle;
    }
    return sums;
}

WindowSums quick_sums(const Timeline& timeline, int64_t begin, int64_t end) {
    const int64_t bucket = timeline.levels.empty() ? 0 : timeline.levels.front().bucket;
    if (bucket == 0 || begin < 0 || end > timeline.cycles || end - begin < 4 * bucket) {
        WindowSums sums = sum_window(timeline, begin, end);
        sums.waits.clear();
        return sums;
    }
    // The ends cycle by cycle, the whole cells between them from their running sums.
    const int64_t first = (begin + bucket - 1) / bucket, last = end / bucket;
    WindowSums sums = sum_window(timeline, begin, first * bucket);
    const WindowSums tail = sum_window(timeline, last * bucket, end);
    const auto a = static_cast<size_t>(first), b = static_cast<size_t>(last);
    for (size_t s = 0; s < state_count; ++s)
        sums.states[s] += tail.states[s] + timeline.states_until[b][s] - timeline.states_until[a][s];
    for (size_t s = 0; s < sums.issued.size(); ++s) {
        sums.issued[s] += tail.issued[s] + timeline.issued_until[s][b] - timeline.issued_until[s][a];
        sums.busy[s] += tail.busy[s] + timeline.busy_until[s][b] - timeline.busy_until[s][a];
    }
    sums.end = end;
    sums.waits.clear();
    sums.issue_slots =
        static_cast<int64_t>(sums.issued.size()) * std::max<uint32_t>(timeline.trace().issue_width, 1) * (end - begin);
    sums.slot_cycles = 0;
    const KernelTrace& trace = timeline.trace();
    for (const SlotRow& row : timeline.rows) {  // its warps do not overlap: the first that ends later decides
        const auto later = std::partition_point(row.warps.begin(), row.warps.end(),
                                                [&](uint32_t w) { return trace.warps[w].end <= begin; });
        if (later != row.warps.end() && trace.warps[*later].begin < end) sums.slot_cycles += end - begin;
    }
    return sums;
}

double issued_before(const Timeline& timeline, size_t scheduler, double cycle) {
    if (timeline.levels.empty() || scheduler >= timeline.issued_until.size()) return 0;
    const std::vector<int64_t>& until = timeline.issued_until[scheduler];
    const double at =
        std::clamp(cycle / static_cast<double>(timeline.levels.front().bucket), 0.0, static_cast<double>(until.size() - 1));
    const auto cell = std::min(static_cast<size_t>(at), until.size() - 2);
    return static_cast<double>(until[cell]) +
           (at - static_cast<double>(cell)) * static_cast<double>(until[cell + 1] - until[cell]);
}

void dominant_states(const Timeline& timeline, size_t row, int64_t begin, int64_t end, std::span<uint8_t> columns) {
    const double width = static_cast<double>(end - begin) / static_cast<double>(columns.size());
    if (const Level* level = level_for(timeline, width)) {
        const auto& states = level->dominant[row];
        for (size_t c = 0; c < columns.size(); ++c) {
            const double middle = static_cast<double>(begin) + width * (static_cast<double>(c) + 0.5);
            const auto cell = static_cast<int64_t>(middle) / level->bucket;
            columns[c] =
                middle >= 0 && cell < static_cast<int64_t>(states.size()) ? states[static_cast<size_t>(cell)] : empty_state;
        }
        return;
    }
    const KernelTrace& trace = timeline.trace();
    std::vector<std::array<float, state_count>> counts(columns.size(), std::array<float, state_count>{});
    for (uint32_t w : timeline.rows[row].warps) {
        const WarpTrack& warp = trace.warps[w];
        if (warp.end <= begin || warp.begin >= end) continue;
        const auto add = [&](size_t state) {
            return [&counts, state](size_t c, double v) { counts[c][state] += static_cast<float>(v); };
        };
        for (const StallRun& run : runs_in(warp, begin, end))
            spread(add(static_cast<size_t>(run.reason)), run.begin, run.end, begin, width, columns.size());
        for (uint32_t i : issues_in(trace, warp, begin, end))
            if (!trace.issues[i].folded)
                spread(add(0), trace.issues[i].cycle, trace.issues[i].cycle + 1, begin, width, columns.size());
    }
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto best = std::max_element(counts[c].begin(), counts[c].end());
        columns[c] = *best > 0 ? static_cast<uint8_t>(best - counts[c].begin()) : empty_state;
        const auto middle = begin + static_cast<int64_t>(width * (static_cast<double>(c) + 0.5));
        if (!timeline.kept(middle)) columns[c] = state_from_afar(trace, timeline.rows[row].slot, middle);
    }
}

std::vector<std::array<float, state_count>> mean_states(const Timeline& timeline, int64_t begin, int64_t end,
                                                        size_t columns) {
    std::vector<std::array<float, state_count>> means(columns, std::array<float, state_count>{});
    const double width = static_cast<double>(end - begin) / static_cast<double>(columns);
    if (const Level* level = level_for(timeline, width)) {
        for (size_t c = 0; c < columns; ++c) {
            const auto from =
                static_cast<int64_t>(static_cast<double>(begin) + width * static_cast<double>(c)) / level->bucket;
            const auto to =
                std::max(from + 1, static_cast<int64_t>(static_cast<double>(begin) + width * static_cast<double>(c + 1)) /
                                       level->bucket);
            for (int64_t i = std::max<int64_t>(from, 0);
                 i < std::min<int64_t>(to, static_cast<int64_t>(level->totals.size())); ++i)
                for (size_t s = 0; s < state_count; ++s)
                    means[c][s] += static_cast<float>(level->totals[static_cast<size_t>(i)][s]) /
                                   static_cast<float>(level->bucket * (to - from));
        }
        return means;
    }
    const KernelTrace& trace = timeline.trace();
    for (const WarpTrack& warp : trace.warps) {
        if (warp.end <= begin || warp.begin >= end) continue;
        const auto add = [&](size_t state) {
            return [&means, state, width](size_t c, double v) { means[c][state] += static_cast<float>(v / width); };
        };
        for (const StallRun& run : runs_in(warp, begin, end))
            spread(add(static_cast<size_t>(run.reason)), run.begin, run.end, begin, width, columns);
        int64_t last = -1;
        for (uint32_t i : issues_in(trace, warp, begin, end)) {
            const int64_t cycle = trace.issues[i].cycle;
            if (cycle != last) spread(add(0), cycle, cycle + 1, begin, width, columns);
            last = cycle;
        }
    }
    return means;
}

std::string short_text(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    const std::string prefix = program.kernel + "_param_";
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
        text.replace(at, prefix.size(), "param_");
    std::replace(text.begin(), text.end(), '\t', ' ');
    return text;
}

int64_t ruler_step(double least) {
    return std::llround(rounded(std::clamp(least, 1.0, 1e16)));
}

}  // namespace lockstep::gui
