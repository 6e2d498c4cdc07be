// What the shell remembers of a person: where it stands among the shell's own values.
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/timeline/timeline_data.h"

namespace lockstep::gui {

Remembered Shell::remembered() const {
    Remembered kept;
    kept.theme = theme->name;
    kept.text_size = std::round(static_cast<double>(text_scale) * 100) / 100;
    kept.motion = motion;
    kept.gpu = chosen_gpu_;
    kept.width = window.width;
    kept.height = window.height;
    kept.whole_screen = window.whole_screen;
    kept.panels = panel_shares;
    kept.line_heat = session.desk.shows_heat;
    kept.line_values = session.desk.shows_values;
    kept.speed = session.machine.tour >= 0 ? 0 : session.machine.speed;
    const Remembered& left = session.home.left;
    kept.workspace = left.workspace;
    kept.lesson = left.lesson;
    kept.lesson_step = left.lesson_step;
    kept.kernel = left.kernel;
    kept.cycles = left.cycles;
    kept.cycle = left.cycle;
    return kept;
}

// Where one stands, to come back to from Home, in this window or after the next start.
void Shell::note_place(Remembered& kept) const {
    kept.workspace = row_of(session.workspace).name;
    kept.lesson = session.lesson.lesson ? session.lesson.lesson->id : std::string();
    kept.lesson_step = session.lesson.lesson ? session.lesson.step : -1;
    kept.kernel.clear();
    kept.cycles = 0;
    kept.cycle = -1;
    const KernelTrace* const trace = snapshot_ ? trace_of(*snapshot_) : nullptr;
    if (trace == nullptr || focus.time < 0 || session.learn.reveal_steps >= 0) return;
    kept.kernel = snapshot_->kernel.label;
    kept.cycles = trace->cycles;
    kept.cycle = focus.time;
}

// `where`: no lesson, file or view was asked for, so that it opens where it was left.
void Shell::recall(const Remembered& kept, bool where) {
    if (!kept.gpu.empty()) {
        chosen_gpu_ = session.desk.new_gpu = kept.gpu;
        KernelDocument& first = session.desk.document();
        if (first.path.empty() && first.stored_as.empty()) first.launch.gpu = kept.gpu;  // the one that nobody has touched
    }
    motion = kept.motion;
    panel_shares = kept.panels;
    session.machine.speed = kept.speed;
    session.desk.shows_heat = kept.line_heat;
    session.desk.shows_values = kept.line_values;
    session.home.left = kept;
    if (!where) return;
    if (!kept.kernel.empty() && kept.cycle >= 0) play_head_ = kept;
}

// Once a frame. While something plays, where it stands is not written: that changes with every frame.
void Shell::keep_remembered() {
    if (!keeper) return;
    Remembered now = remembered();
    if (session.playing || presenter.on || !snapshot_->busy.empty()) {
        const Remembered& before = keeper->noted();
        now.kernel = before.kernel;
        now.cycles = before.cycles;
        now.cycle = before.cycle;
    }
    if (keeper->note(now, now_)) state.animate = true;
    if (const std::string problem = keeper->problem(); !problem.empty()) session.post(ask::Tell{problem});
}

// The clock goes back to where it stood when the window was closed, if the same kernel is on show again: as many cycles.
void Shell::return_to_play_head() {
    if (!play_head_ || !snapshot_->kernel.run || row_of(session.workspace).page) return;
    const KernelTrace& trace = snapshot_->kernel.run->result.trace;
    if (session.playing) play_head_.reset();
    if (!play_head_ || snapshot_->kernel.label != play_head_->kernel || trace.cycles != play_head_->cycles) return;
    const int64_t cycle = play_head_->cycle;
    play_head_.reset();
    if (cycle >= cycles_shown(session, focus, *snapshot_)) return;
    line_wish_ = -1;
    begin_wish_ = false;
    if (session.grain == Grain::instruction) session.sm.by_time = true;
    go_to_cycle(cycle);
}

// The clock and what follows it, and the stretch in view where the cycle lies outside.
void Shell::go_to_cycle(int64_t cycle) {
    const KernelTrace& trace = snapshot_->kernel.run->result.trace;
    session.playing = false;
    session.machine.clock = -1;
    if (session.grain == Grain::instruction) session.sm.by_time = true;
    focus.time = cycle;
    set_clock(session, focus, trace, cycle);
    const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
    if (length <= 0 || (cycle >= session.sm.cycles_begin && cycle < session.sm.cycles_end)) return;
    session.sm.cycles_begin = std::clamp<int64_t>(cycle - length / 2, 0, std::max<int64_t>(0, trace.cycles - length));
    session.sm.cycles_end = session.sm.cycles_begin + length;
}

}  // namespace lockstep::gui
