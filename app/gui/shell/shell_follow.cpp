// What the shell does when the snapshot changes: where a new kernel is looked at, what a prediction hides, and playing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/build/build_play.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_scene.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "lessons/player/predict.h"

namespace lockstep::gui {

namespace {

constexpr int64_t first_stretch = 108;  // cycles of the first look: 8 wide each in the timeline at 1600

// Number of the warp's first instruction that belongs to the source line, or of where it comes to that for the `time`-th
// time; -1: it never does, or none is followed yet.
int64_t issue_of_line(const Snapshot& snapshot, int line, int time = 1) {
    if (!snapshot.kernel.history || !snapshot.kernel.run) return -1;
    const auto& steps = snapshot.kernel.history->steps;
    const auto& program = snapshot.kernel.run->program->instructions;
    std::optional<uint32_t> first;
    for (size_t i = 0; i < steps.size(); ++i) {
        const uint32_t pc = steps[i].pc;
        if (!first && pc < program.size() && program[pc].line == line) first = pc;
        if (first && pc == *first && --time == 0) return static_cast<int64_t>(i);
    }
    return -1;
}

// The same, but for what takes no cycle of its own: the clock cannot stand on that.
int64_t place_of_line(const Snapshot& snapshot, int32_t focused, int line) {
    const int64_t first = issue_of_line(snapshot, line);
    if (first < 0) return first;
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    if (focused < 0 || focused >= static_cast<int32_t>(trace.warps.size())) return first;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focused)];
    const auto& steps = snapshot.kernel.history->steps;
    const auto& program = snapshot.kernel.run->program->instructions;
    const auto before = static_cast<int64_t>(warp.issued_before);
    for (int64_t at = first; at < static_cast<int64_t>(steps.size()); ++at) {
        const uint32_t pc = steps[static_cast<size_t>(at)].pc;
        if (pc >= program.size() || program[pc].line != line) break;
        const int64_t kept = at - before;
        if (kept < 0 || kept >= static_cast<int64_t>(warp.issues.size())) break;
        if (!trace.issues[warp.issues[static_cast<size_t>(kept)]].folded) return at;
    }
    return first;
}

// Number of the first instruction that other lanes execute than those that began.
int64_t change_of_lanes(const simt::WarpHistory& history) {
    size_t i = 0;
    while (i < history.steps.size() && history.steps[i].active == history.steps.front().active) ++i;
    return static_cast<int64_t>(i);
}

// Index of the track of the grid's warp number `number` (block after block); -1: not on the traced SM.
int32_t track_of(const model::KernelRun& kernel, int32_t number) {
    const simt::Dim3& block = kernel.config.block;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z, per_block = std::max<uint64_t>(1, (threads + 31) / 32);
    const auto& warps = kernel.result.trace.warps;
    for (size_t i = 0; i < warps.size() && number >= 0; ++i)
        if (warps[i].block * per_block + warps[i].warp_in_block == static_cast<uint64_t>(number))
            return static_cast<int32_t>(i);
    return -1;
}

const WarpTrack* track_at(const KernelTrace& trace, int32_t warp) {
    return warp >= 0 && warp < static_cast<int32_t>(trace.warps.size()) ? &trace.warps[static_cast<size_t>(warp)] : nullptr;
}

// The warp with that place in its block in another trace; -1: it is not traced there.
int32_t index_of(const KernelTrace& trace, uint32_t block, uint32_t warp_in_block) {
    for (size_t i = 0; i < trace.warps.size(); ++i)
        if (trace.warps[i].block == block && trace.warps[i].warp_in_block == warp_in_block) return static_cast<int32_t>(i);
    return -1;
}
int32_t index_of(const KernelTrace& trace, const WarpTrack& warp) {
    return index_of(trace, warp.block, warp.warp_in_block);
}

// The warp of one trace in another trace of the same launch; else the first that lives at `time`, else the first; -1: none.
int32_t same_warp(const WarpTrack* warp, const KernelTrace& to, int64_t time) {
    if (const int32_t same = warp != nullptr ? index_of(to, *warp) : -1; same >= 0) return same;
    for (size_t i = 0; i < to.warps.size(); ++i)
        if (to.warps[i].begin <= time && time < to.warps[i].end) return static_cast<int32_t>(i);
    return to.warps.empty() ? -1 : 0;
}

// The cycle of a warp's first instruction, as far as the trace has it: before it a launch only takes its time.
int64_t first_issue(const KernelTrace& trace, int32_t warp) {
    const WarpTrack* const track = track_at(trace, warp);
    const bool known = track != nullptr && track->issued_before == 0 && !track->issues.empty();
    return known ? trace.issues[track->issues.front()].cycle : 0;
}

bool shows(const Snapshot& snapshot, int32_t warp) {
    const WarpTrack* const track = track_at(snapshot.kernel.run->result.trace, warp);
    return snapshot.kernel.history && track != nullptr && snapshot.kernel.history->block == track->block &&
           snapshot.kernel.history->warp_in_block == track->warp_in_block;
}

}  // namespace

int line_asked(const lessons::Predict& predict) {
    for (const scene::FigureName& name : predict.of.names())
        if (const std::string line = name.place("line"); !line.empty()) return std::atoi(line.c_str());
    return 0;
}

void Shell::adopt(const std::shared_ptr<const Snapshot>& snapshot) {
    session.adopt_results(focus);
    adopt_cluster(session, *snapshot);
    session.build.adopt(session, *snapshot);
    session.sm.issues.adopt(snapshot->kernel.run);
    if (session.workspace != Workspace::kernel) session.desk.typing = false;
    adopt_roof(*snapshot);
    adopt_source(*snapshot);
    if (kernel_ && snapshot->kernel.run != kernel_) session.machine.followed = -1;  // a request of that run alone
    if (!snapshot->kernel.run && kernel_) {  // a scene without one: the next is looked at anew
        kernel_.reset();
        asked_ = {};
        session.sm.cycles_begin = session.sm.cycles_end = 0;
    }
    if (snapshot->kernel.run && snapshot->kernel.run != kernel_) {
        if (kernel_ && kernel_->before && kernel_->before == snapshot->kernel.run->before) return adopt_trace(snapshot);
        adopt_kernel(*snapshot);
    }
    adopt_lesson_step(*snapshot);
    reveal(*snapshot);
    follow_jump(*snapshot);
    follow_wishes(*snapshot);
    open_machine(*snapshot);
    if (own_ && focus.line > 0) own_line_ = focus.line;
    if (snapshot->training.step) {
        focus.step = static_cast<int32_t>(snapshot->training.step->step);
        const auto launches = static_cast<int32_t>(snapshot->training.step->launches.size());
        if (focus.launch >= launches) focus.launch = launches - 1;
    }
    ask_warp(*snapshot);
    follow_time(*snapshot);
}

// Another one's run came into the pictures: it is looked at where it was left.
void Shell::adopt_source(const Snapshot& snapshot) {
    if (snapshot.source == source_) return;
    looked_[source_] = {kernel_,
                        focus,
                        session.sm.cycles_begin,
                        session.sm.cycles_end,
                        session.sm.history_step,
                        session.sm.by_time,
                        session.training.tape_at};
    source_ = snapshot.source;
    session.machine.clock = -1;
    session.machine.followed = session.machine.loop_from = session.machine.loop_to = -1;
    const auto found = looked_.find(source_);
    if (found == looked_.end() || !found->second.run || found->second.run != snapshot.kernel.run) return;
    const Looked& was = found->second;
    kernel_ = was.run;
    own_ = shows_own_run(snapshot);
    focus = was.focus;
    session.sm.cycles_begin = was.cycles_begin;
    session.sm.cycles_end = was.cycles_end;
    session.sm.history_step = was.history_step;
    session.sm.by_time = was.by_time;
    session.training.tape_at = was.tape_at;
    session.sm.wanted = {};
    asked_ = {};
    asked_time_ = asked_cycle_ = asked_step_ = -1;
    if (shows(snapshot, focus.warp)) asked_.warp = focus.warp, asked_.sm = 1;  // its history is here
    stood_ = {kernel_, focus.time, session.sm.history_step, focus.warp};
    looked_.erase(found);
}

void Shell::ask_warp(const Snapshot& snapshot) {
    if (!snapshot.kernel.run || focus.warp < 0 || (focus.warp == asked_.warp && asked_.sm == 1)) return;
    asked_.warp = focus.warp;
    asked_.sm = 1;  // asked for this kernel
    asked_step_ = -1;
    session.post(ask::FocusWarp{focus.warp});
}

// Another step of a lesson: the transport moves by what its scene says.
void Shell::adopt_lesson_step(const Snapshot& snapshot) {
    const bool same = grain_lesson_ == session.lesson.lesson && grain_step_ == session.lesson.step;
    if (!session.lesson.lesson || same) return;
    const auto scene_of = [&](int step) {
        return grain_lesson_ == session.lesson.lesson && step >= 0
                   ? lessons::scene_at(*grain_lesson_, static_cast<size_t>(step))
                   : nullptr;
    };
    before_step_ = scene_of(grain_step_) != scene_of(session.lesson.step) ? snapshot.kernel.run : nullptr;
    went_on_ = now_;
    grain_lesson_ = session.lesson.lesson;
    grain_step_ = session.lesson.step;
    ++state.scene;
    grains_.erase(Workspace::learn);
    if (!snapshot.training.step) focus.step = -1;  // curves of whole runs: they end where their cursor stands
    session.grain = shows_cluster(session) ? Grain::action : scene_on_show(session, Workspace::learn).grain;
}

bool Shell::awaits_step(const Snapshot& snapshot) {
    if (!before_step_) return false;
    const bool still = snapshot.kernel.run == before_step_ && session.workspace == Workspace::learn;
    if (!still || (snapshot.busy.empty() && now_ - went_on_ > 0.5)) before_step_.reset();
    return before_step_ != nullptr;
}

// The run on show is plotted on the roofline. It is guessed first where the step's own scene says so, and in no later step.
void Shell::adopt_roof(const Snapshot& snapshot) {
    const auto step = static_cast<size_t>(std::max(0, session.lesson.step));
    const auto asks_for_guess = [&] {
        const auto& scenes = session.lesson.lesson->steps[step].scenes;
        return !scenes.empty() && scenes.back().guess;
    };
    const bool lesson = session.lesson.lesson && step < session.lesson.lesson->steps.size() && !shows_own_run(snapshot),
               guess = lesson && asks_for_guess();
    // What runs while a field of the launch is being typed in is not what was meant.
    if (!session.desk.typing || !shows_own_run(snapshot))
        session.roof.adopt(snapshot.kernel.run, snapshot.kernel.label, session.roof.guess_first || guess);
    if (lesson && !guess && !session.roof.guess_first) session.roof.show_without_guess();
}

// A run that is not the one on show: where its pictures are looked at.
void Shell::adopt_kernel(const Snapshot& snapshot) {
    const std::shared_ptr<const model::KernelRun> was = std::exchange(kernel_, snapshot.kernel.run);
    const bool was_own = std::exchange(own_, shows_own_run(snapshot));
    ++state.scene;
    const WarpTrack* const looked_at = was ? track_at(was->result.trace, focus.warp) : nullptr;
    const KernelTrace& trace = kernel_->result.trace;
    const bool same_program = was && was->program == kernel_->program;
    // The same launch under other conditions (resident warps, GPU): the picture stays where it is.
    const bool same_launch = same_program && was->config.grid == kernel_->config.grid &&
                             was->config.block == kernel_->config.block && session.sm.cycles_end > session.sm.cycles_begin;
    if (same_program && looked_at != nullptr) {
        const int32_t same = index_of(trace, *looked_at);
        focus.warp = trace.warps.empty() ? -1 : std::max(0, same);
    } else if (same_program && !trace.warps.empty()) {
        focus.warp = std::max(0, focus.warp);  // the run before had no warp to look at
    }
    focus.sm = static_cast<int32_t>(trace.sm);
    asked_time_ = asked_cycle_ = -1;
    session.sm.wanted = {};
    if (!same_launch) session.sm.cycles_begin = session.sm.cycles_end = 0;
    if (!same_program || focus.warp >= static_cast<int32_t>(trace.warps.size())) {
        look_anew(snapshot);
        if (own_ || snapshot.source == Source::own) look_at_own(was_own ? looked_at : nullptr);  // also one that was stopped
    }
    if (session.build.inside && session.build.into_cycle >= 0) focus.time = std::exchange(session.build.into_cycle, -1);
    focus.time = std::clamp<int64_t>(focus.time, 0, std::max<int64_t>(0, trace.cycles - 1));
    asked_ = {};
    if (session.grain == Grain::instruction) move(session, focus, snapshot, Grain::instruction, 0);
}

// A program that was not on show before opens where the scene says, else where most happens.
void Shell::look_anew(const Snapshot& snapshot) {
    const KernelTrace& trace = kernel_->result.trace;
    focus.warp = trace.warps.empty() ? -1 : 0;
    session.sm.history_step = 0;
    focus.pc = focus.line = -1;
    const int64_t begin = busiest(trace);
    if (begin >= 0 && !session.lesson.lesson) session.sm.cycles_begin = begin, session.sm.cycles_end = begin + first_stretch;
    if (const int32_t wished = track_of(*kernel_, snapshot.kernel.look_at.warp); wished >= 0) {
        focus.warp = wished;
        focus.time = trace.warps[static_cast<size_t>(wished)].begin;
    }
    line_wish_ = focus.line = snapshot.kernel.look_at.line;
    begin_wish_ = session.lesson.lesson != nullptr;
}

// One's own kernel opens at its beginning, and stays where it was while it is edited. `before`: the warp of its last run
// that was looked at; null: there was none.
void Shell::look_at_own(const WarpTrack* before) {
    const KernelTrace& trace = kernel_->result.trace;
    if (focus.warp > 0) focus.warp = 0;
    if (before != nullptr) {
        line_wish_ = own_line_;
        if (const int32_t same = index_of(trace, *before); same >= 0) focus.warp = same;
    }
    focus.time = first_issue(trace, focus.warp);
    own_opened_ = before == nullptr ? focus.time : -1;
    const int64_t stretch = std::min<int64_t>(trace.cycles, first_stretch);
    session.sm.cycles_begin = session.sm.cycles_end = 0;
    if (stretch > 0 && stretch < trace.cycles) {
        session.sm.cycles_begin = std::clamp<int64_t>(focus.time - stretch / 8, 0, trace.cycles - stretch);
        session.sm.cycles_end = session.sm.cycles_begin + stretch;
    }
}

// At its beginning there is nothing to see in the machine: as long as nobody has moved the clock, one's own kernel opens
// there at its liveliest moment.
void Shell::open_machine(const Snapshot& snapshot) {
    if (own_opened_ < 0 || !own_ || !snapshot.kernel.run || session.workspace != Workspace::machine) return;
    if (std::exchange(own_opened_, -1) != focus.time || line_wish_ > 0) return;
    const LivelyMoment moment = lively_moment(make_machine_scene(kernel_, session.timeline(kernel_)));
    if (moment.cycle < 0) return;
    focus.warp = moment.warp;
    session.sm.by_time = true;
    focus.time = moment.cycle;
    set_clock(session, focus, kernel_->result.trace, focus.time);
}

// A scene opens on a line, once the warp's history is there; one that opens nowhere in particular where its warp begins to
// work.
void Shell::follow_wishes(const Snapshot& snapshot) {
    if (!snapshot.kernel.run || !shows(snapshot, focus.warp)) return;
    if (line_wish_ > 0) follow_line_wish(snapshot);
    if (begin_wish_ && line_wish_ <= 0 && session.learn.reveal_steps < 0) {
        begin_wish_ = false;
        const int64_t first = first_issue(snapshot.kernel.run->result.trace, focus.warp);
        if (focus.time < first && session.sm.history_step == 0) {
            focus.time = first;
            session.sm.cycles_begin = session.sm.cycles_end = 0;
        }
    }
}

void Shell::follow_line_wish(const Snapshot& snapshot) {
    const bool placed = reveal_step_ == session.lesson.step && reveal_history_ == snapshot.kernel.history;  // by `until`
    const int64_t at = placed ? -1 : place_of_line(snapshot, focus.warp, line_wish_);
    const bool may_be_seen = session.learn.reveal_steps < 0 || at < session.learn.reveal_steps;
    if (at >= 0 && may_be_seen) {
        session.sm.history_step = at;
        move(session, focus, snapshot, Grain::instruction, 0);
        ++session.learn.placed;
    }
    if (at < 0 || may_be_seen) line_wish_ = -1;  // else once it is revealed
}

// Another stretch, or another SM, of the launch that is on show already: the clock stays, and the warp where it is there.
void Shell::adopt_trace(const std::shared_ptr<const Snapshot>& snapshot) {
    const KernelTrace &was = kernel_->result.trace, &trace = snapshot->kernel.run->result.trace;
    const WarpTrack* const looked_at = track_at(was, focus.warp);
    const bool same = looked_at != nullptr && index_of(trace, *looked_at) >= 0;
    focus.warp = same_warp(looked_at, trace, focus.time);
    focus.sm = static_cast<int32_t>(trace.sm);
    kernel_ = snapshot->kernel.run;
    own_ = shows_own_run(*snapshot);
    asked_ = {};
    asked_time_ = asked_cycle_ = -1;
    if (shows(*snapshot, focus.warp)) asked_.warp = focus.warp, asked_.sm = 1;  // its history is here
    if (!same) {
        session.sm.wanted = {};
        set_clock(session, focus, trace, focus.time);
    }
    if (const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
        length > 0 && (focus.time < session.sm.cycles_begin || focus.time >= session.sm.cycles_end)) {
        session.sm.cycles_begin =
            std::clamp<int64_t>(focus.time - length / 2, 0, std::max<int64_t>(0, trace.cycles - length));
        session.sm.cycles_end = session.sm.cycles_begin + length;
    }
    if (session.sm.wanted.step >= 0 && session.grain == Grain::instruction) {
        session.sm.history_step = session.sm.wanted.step;
        move(session, focus, *snapshot, Grain::instruction, 0);
    }
}

// The clock has left the stretch that the trace keeps, or another SM was chosen: the worker fetches it.
void Shell::fetch_trace(const Snapshot& snapshot) {
    const model::KernelRun& run = *snapshot.kernel.run;
    const KernelTrace& trace = run.result.trace;
    const bool can_fetch = session.workspace != Workspace::training && run.before;
    const bool other_sm = focus.sm >= 0 && focus.sm != static_cast<int32_t>(trace.sm);
    if (can_fetch && other_sm && focus.sm != asked_sm_ && focus.sm < static_cast<int32_t>(run.gpu.sms)) {
        asked_sm_ = focus.sm;
        session.post(ask::TraceSm{focus.sm, focus.time});
    }
    if (focus.sm == static_cast<int32_t>(trace.sm)) asked_sm_ = -1;
    const bool cut = trace.truncated && trace.kept_until > trace.kept_from;
    const bool outside = focus.time >= 0 && (focus.time < trace.kept_from || focus.time >= trace.kept_until);
    if (can_fetch && cut && outside && focus.time != asked_time_) {
        asked_time_ = focus.time;
        session.post(ask::FetchStretch{focus.time});
    }
}

// Registers and memory follow the clock: they are those that the focused warp's next instruction finds.
void Shell::ask_lanes(const Snapshot& snapshot) {
    const bool shown = row_of(session.workspace).shows_kernel || session.workspace == Workspace::kernel;
    if (!snapshot.kernel.history || !shown) return;  // to have them costs a copy of the machine
    const bool within = session.sm.history_step < static_cast<int64_t>(snapshot.kernel.history->steps.size()) ||
                        (snapshot.kernel.history->truncated && session.sm.wanted.step < 0);
    const int64_t cycle = session.sm.wanted.step < 0 ? focus.time : -1;
    if (within && (session.sm.history_step != asked_step_ || (own_ && cycle != asked_cycle_))) {
        asked_step_ = session.sm.history_step;
        asked_cycle_ = cycle;
        session.post(ask::LanesAt{session.sm.history_step, cycle});
    }
}

void Shell::follow_time(const Snapshot& snapshot) {
    if (!snapshot.kernel.run || snapshot.kernel.run != kernel_) return;
    if (session.grain != Grain::instruction) session.sm.wanted = {};
    fetch_trace(snapshot);
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return;
    // A picture that set the clock or the warp alone leads as much as one that set the step.
    const bool led = stood_.run == kernel_ && session.sm.history_step == stood_.step && session.sm.wanted.step < 0 &&
                     (focus.time != stood_.time || focus.warp != stood_.warp);
    const bool by_time = session.grain != Grain::instruction || session.sm.by_time || led;
    if (by_time && focus.time >= 0 && session.workspace != Workspace::training) set_clock(session, focus, trace, focus.time);
    stood_ = {kernel_, focus.time, session.sm.history_step, focus.warp};
    ask_lanes(snapshot);
}

namespace {

constexpr int64_t half_stretch = first_stretch / 2;
constexpr auto stall_reasons = static_cast<size_t>(StallReason::count);
using ReasonCounts = std::array<float, stall_reasons>;

std::vector<ReasonCounts> count_by_half_stretch(const KernelTrace& trace) {  // warp-cycles, by reason
    std::vector<ReasonCounts> counts(static_cast<size_t>(trace.cycles / half_stretch) + 2);
    for (const IssueRecord& issue : trace.issues)
        if (issue.cycle >= 0 && issue.cycle <= trace.cycles) counts[static_cast<size_t>(issue.cycle / half_stretch)][0] += 1;
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& run : warp.runs)
            for (int64_t at = std::max<int64_t>(0, run.begin); at < std::min(run.end, trace.cycles);
                 at = (at / half_stretch + 1) * half_stretch)
                counts[static_cast<size_t>(at / half_stretch)][static_cast<size_t>(run.reason)] +=
                    static_cast<float>(std::min(run.end, (at / half_stretch + 1) * half_stretch) - at);
    return counts;
}

float variety_of(const ReasonCounts& a, const ReasonCounts& b) {  // the more, the more reasons and the more warps at work
    float total = 0, variety = 0;
    for (size_t r = 0; r < stall_reasons; ++r) total += a[r] + b[r];
    for (size_t r = 0; r < stall_reasons && total > 0; ++r) {
        const float share = (a[r] + b[r]) / total;
        if (share > 0) variety -= share * std::log(share);
    }
    return variety * std::sqrt(total);
}

// How much a wait is worth being looked at: one for memory first, best with its load in view; a fixed latency where there is
// nothing else.
int64_t worth_of(const KernelTrace& trace, const StallRun& run, int64_t begin, int64_t now) {
    if (run.cause < 0 || run.begin > now || run.end <= now || run.reason == StallReason::drain) return 0;
    const int64_t cause = trace.issues[static_cast<size_t>(run.cause)].cycle;
    if (cause > run.begin) return 0;
    const bool far = run.reason == StallReason::long_scoreboard, near = run.reason == StallReason::short_scoreboard;
    const int64_t kind = (far ? 1000 : near ? 100 : 1) * (cause >= begin ? 10'000 : far || near ? 100 : 0);
    return std::min<int64_t>(run.end - run.begin, 1000) * kind;
}

}  // namespace

// The first look at a kernel: the stretch of 108 cycles in which most happens, and there a warp whose long wait began in
// view.
int64_t Shell::busiest(const KernelTrace& trace) {
    focus.time = 0;
    if (trace.warps.empty() || trace.cycles <= first_stretch) return -1;
    const std::vector<ReasonCounts> counts = count_by_half_stretch(trace);
    size_t best = 0;  // the most varied pair of neighbours
    float most = -1;
    for (size_t i = 0; i + 1 < counts.size(); ++i)
        if (const float variety = variety_of(counts[i], counts[i + 1]); variety > most) most = variety, best = i;
    const int64_t begin = static_cast<int64_t>(best) * half_stretch;
    focus.time = std::min(begin + half_stretch, std::max<int64_t>(0, trace.cycles - 1));
    int64_t best_wait = 0;
    for (size_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs)
            if (const int64_t wait = worth_of(trace, run, begin, focus.time); wait > best_wait)
                best_wait = wait, focus.warp = static_cast<int32_t>(w);
    return begin;
}

// Whether a question of the step is open whose answer would be on show.
bool Shell::has_open_question(const Snapshot& snapshot, const lessons::Step& step, size_t at) const {
    const LessonState& lesson = session.lesson;
    if (at >= lesson.predictions.size()) return false;
    std::vector<std::string> on_show;
    if (snapshot.kernel.run) on_show.emplace_back(snapshot.kernel.run->gpu.name);
    if (const scene::Scene* scene = lessons::scene_at(*lesson.lesson, at); scene != nullptr)
        on_show.insert(on_show.end(), scene->gpus.begin(), scene->gpus.end());
    for (size_t i = 0; i < lesson.predictions[at].size(); ++i) {
        const bool of_others = i < step.predicts.size() && lessons::asks_of_other_gpus(step.predicts[i], on_show);
        if (!lesson.predictions[at][i].locked && !of_others) return true;
    }
    return false;
}

namespace {

// How many of the warp's instructions the step's `until` lets see; -1: it names none that is there.
int64_t until_said(const Snapshot& snapshot, const lessons::Step& step) {
    if (!snapshot.kernel.history || !snapshot.kernel.run) return -1;
    for (const std::string& wish : step.until) {
        const auto issue = lessons::issue_named(wish);
        if (!issue) continue;
        if (const int64_t at = issue_of_line(snapshot, issue->line, issue->time); at >= 0) return at + 1;
    }
    return -1;
}

// A step that goes on with the scene of the step before, and says no `until`, begins where that one began: so much of it has
// been seen.
int64_t until_before(const Snapshot& snapshot, const lessons::Lesson& lesson, size_t at) {
    for (size_t i = at; i > 0 && lesson.steps[i].scenes.empty(); --i)
        if (const int64_t until = until_said(snapshot, lesson.steps[i - 1]); until >= 0) return until;
    return -1;
}

// Without `until`, what comes before the line that is asked about may be seen.
int64_t until_asked(const Snapshot& snapshot, const lessons::Step& step) {
    int64_t until = -1;
    if (!snapshot.kernel.history || !snapshot.kernel.run) return until;
    for (const lessons::Predict& predict : step.predicts) {
        const int line = line_asked(predict);
        if (line <= 0) continue;
        until = std::max<int64_t>(1, issue_of_line(snapshot, line));
        // Code of other lines may stand behind the branch: lanes that are asked about stay hidden from there on.
        if (predict.of.text().find("lanes") != std::string::npos)
            until = std::min(until, std::max<int64_t>(1, change_of_lanes(*snapshot.kernel.history)));
    }
    return until;
}

// The first line that is asked about and that the warp comes to; else the scene's own.
int32_t line_to_show(const Snapshot& snapshot, const lessons::Step& step) {
    for (const lessons::Predict& predict : step.predicts)
        if (const int line = line_asked(predict);
            line > 0 && snapshot.kernel.history && snapshot.kernel.run && issue_of_line(snapshot, line) >= 0)
            return line;
    return snapshot.kernel.look_at.line;
}

}  // namespace

// A question about the share of all cycles is answered by the whole of them.
void Shell::follow_share(const Snapshot& snapshot, const lessons::Step& step, bool open) {
    const bool asks_a_share = std::any_of(step.predicts.begin(), step.predicts.end(), [](const lessons::Predict& predict) {
        const auto names = predict.of.names();
        return std::any_of(names.begin(), names.end(), [](const scene::FigureName& name) {
            return name.base.starts_with("stall_") && name.place("line").empty();
        });
    });
    if (open || !asks_a_share || !snapshot.kernel.run) {
        shown_whole_ = {};
        session.sm.wants_whole = false;
    } else if (shown_whole_ != std::pair(session.lesson.step, snapshot.kernel.run.get())) {
        shown_whole_ = {session.lesson.step, snapshot.kernel.run.get()};
        session.sm.wants_whole = true;
    }
}

// Answered just now: the picture, held back so far, goes to the line that was asked about, else to the scene's own.
void Shell::follow_answer(const Snapshot& snapshot, const lessons::Step& step, bool open) {
    const bool asks_a_line = std::any_of(step.predicts.begin(), step.predicts.end(),
                                         [](const lessons::Predict& predict) { return line_asked(predict) > 0; });
    if (open && (step.until.empty() || asks_a_line)) {
        open_step_ = session.lesson.step;
        asked_line_ = line_to_show(snapshot, step);
    } else if (open_step_ >= 0) {
        if (open_step_ == session.lesson.step && !open) {
            if (step.until.empty()) {
                line_wish_ = asked_line_, reveal_step_ = -1;
            } else if (const int64_t at = place_of_line(snapshot, focus.warp, asked_line_); at >= 0) {
                session.sm.history_step = at;
                move(session, focus, snapshot, Grain::instruction, 0);
                ++session.learn.placed;
            }
        }
        open_step_ = -1;
    }
}

// While a prediction of this step is open, the warp's instructions after the step's `until="issue(line:N)"` stay hidden.
void Shell::reveal(const Snapshot& snapshot) {
    session.learn.reveal_steps = -1;
    if (shows_own_run(snapshot)) return;  // the learner's own hides nothing, nor does a training run
    if (snapshot.source != Source::lesson && snapshot.source != Source::none) return;
    if (session.workspace == Workspace::kernel && session.desk.document().is_tape()) return;
    const LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(std::max(0, lesson.step));
    if (!lesson.lesson || at >= lesson.lesson->steps.size()) return;
    const lessons::Step& step = lesson.lesson->steps[at];
    const bool before = shows_case_before(session.lesson), open = !before && has_open_question(snapshot, step, at);
    int64_t until = before ? -1 : until_said(snapshot, step);
    if (until < 0 && open) until = until_asked(snapshot, step);
    if (until < 0 && open) until = until_before(snapshot, *lesson.lesson, at);
    if (open) session.learn.reveal_steps = std::max<int64_t>(until, 0);
    follow_answer(snapshot, step, open);
    follow_share(snapshot, step, open);
    // A step begins where its `until` says, once the warp's history is there.
    if (until >= 0 && (reveal_step_ != lesson.step || reveal_history_ != snapshot.kernel.history)) {
        reveal_step_ = lesson.step;
        reveal_history_ = snapshot.kernel.history;
        session.sm.history_step = until - 1;
        move(session, focus, snapshot, Grain::instruction, 0);
        ++session.learn.placed;
    }
    if (session.learn.reveal_steps < 0) return;
    session.sm.history_step = std::min(session.sm.history_step, std::max<int64_t>(0, session.learn.reveal_steps - 1));
    focus.time = std::min(focus.time, cycles_shown(session, focus, snapshot) - 1);
}

void Shell::follow_jump(const Snapshot& snapshot) {
    std::optional<ReportPlace>& jump = session.desk.jump;
    if (!jump || !snapshot.kernel.run || !shows_own_run(snapshot)) return;
    const int32_t found = index_of(snapshot.kernel.run->result.trace, jump->block, jump->warp);
    if (found < 0) return session.desk.trace_block(session, jump->block);
    focus.warp = found;
    focus.block = static_cast<int32_t>(jump->block);
    focus.lane = jump->lane;
    if (!shows(snapshot, focus.warp)) return;  // its history is on its way
    const auto& steps = snapshot.kernel.history->steps;
    int64_t at = -1;
    for (size_t i = 0; i < steps.size() && (at < 0 || jump->last); ++i)
        if (steps[i].pc == jump->pc) at = static_cast<int64_t>(i);
    if (at < 0 && !steps.empty() && jump->last) at = static_cast<int64_t>(steps.size()) - 1;
    session.playing = false;
    session.grain = Grain::instruction;
    if (at >= 0) session.sm.history_step = at;
    move(session, focus, snapshot, Grain::instruction, 0);
    focus.lane = jump->lane;
    if (jump->line > 0) focus.line = jump->line;
    jump.reset();
}

void Shell::play(double now) {
    if (!session.playing) return;
    if (row_of(session.workspace).page) {  // what moves there has a clock of its own
        last_play_ = 0;
        return;
    }
    if (session.machine.tour >= 0 && session.workspace == Workspace::machine) {
        const double passed = last_play_ == 0 ? 0 : std::min(now - last_play_, 0.1);
        last_play_ = now;
        play_tour(session, focus, *snapshot_, passed);
        return;
    }
    if (session.workspace == Workspace::machine && !snapshot_->kernel.run && session.machine.zoom > 1.5) {
        last_play_ = 0;  // it waits for its kernel
        return;
    }
    if (machine_at_cluster(session)) {  // its clock runs smoothly, and begins again
        const double passed = last_play_ == 0 ? 0 : now - last_play_;
        last_play_ = now;
        session.playing = play_cluster_step(session, *snapshot_, std::min(passed, 0.25));
        return;
    }
    if (session.workspace == Workspace::build) {  // and that of a die
        const double passed = last_play_ == 0 ? 0 : now - last_play_;
        last_play_ = now;
        return play_build(session, *snapshot_, std::min(passed, 0.25));
    }
    if (shows_cluster(session)) {  // and so does this, to its end
        if (last_play_ == 0 && position_of(session, focus, *snapshot_).last)
            move(session, focus, *snapshot_, session.grain, -1, true);
        const double passed = last_play_ == 0 ? 0 : now - last_play_;
        last_play_ = now;
        session.playing = play_cluster(session, focus, *snapshot_, std::min(passed, 0.25));
        return;
    }
    if (plays_machine(session, *snapshot_)) {  // and so does the machine's
        if (last_play_ == 0 && position_of(session, focus, *snapshot_).last)
            move(session, focus, *snapshot_, session.grain, -1, true);
        const double passed = last_play_ == 0 ? 0 : now - last_play_;
        last_play_ = now;
        session.playing = play_machine(session, focus, *snapshot_, std::min(passed, 0.25));
        return;
    }
    const bool chosen = session.machine.speed > 0 && has_speed(session, *snapshot_);
    const double rate = chosen ? session.machine.speed : own_speed(session);  // moves a second
    if (session.grain == Grain::training_step) {
        if (last_play_ == 0) session.post(ask::Train{-1});
        last_play_ = now;
        return;
    }
    if (last_play_ == 0) {
        last_play_ = now;
        if (position_of(session, focus, *snapshot_).last) move(session, focus, *snapshot_, session.grain, -1, true);
    }
    const auto moves = static_cast<int>(std::min((now - last_play_) * rate, 2e9));
    if (moves <= 0) return;
    last_play_ += moves / rate;
    // After a pause of the window it goes on where it was, not where it would have been.
    const int most = std::max(8, static_cast<int>(std::min(rate / 4, 2e9)));
    const Focus before = focus;
    const int64_t step = session.sm.history_step;
    move(session, focus, *snapshot_, session.grain, std::min(moves, most));
    if (before == focus && step == session.sm.history_step) session.playing = false;  // the end
}

}  // namespace lockstep::gui
