// A run as one file, as the shell sees it: opening one is opening its kernel, lesson or training run, and, once that has run
// again, going to where its sender stood; saving one is writing down where one stands.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/gui/run_page.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

int32_t warp_of(const KernelTrace& trace, const RunPlace& place) {  // -1: it is not traced
    for (size_t w = 0; w < trace.warps.size(); ++w)
        if (trace.warps[w].block == static_cast<uint64_t>(place.block) &&
            trace.warps[w].warp_in_block == static_cast<uint64_t>(place.warp))
            return static_cast<int32_t>(w);
    return -1;
}

bool history_is_of(const Snapshot& snapshot, int32_t warp) {
    const auto& warps = snapshot.kernel.run->result.trace.warps;
    if (!snapshot.kernel.history || static_cast<size_t>(warp) >= warps.size()) return false;
    const WarpTrack& track = warps[static_cast<size_t>(warp)];
    return snapshot.kernel.history->block == track.block && snapshot.kernel.history->warp_in_block == track.warp_in_block;
}

}  // namespace

void Shell::open_run(const RunFile& sent) {
    RunFile run = sent;
    try {
        unpack(run);
    } catch (const Failure& failure) {
        return session.post(ask::Tell{"the run cannot be opened: " + failure.diagnostic.message});
    }
    session.playing = false;
    request_wish_.reset();
    session.machine.follow = run.place.stops;
    session.machine.packet = run.place.packet;
    PlaceWish wish{.place = run.place, .before = snapshot_ ? snapshot_->kernel.run : nullptr};
    const std::optional<Workspace> was = workspace_named(run.place.workspace);
    if (run.kernel) {
        wish.source = Source::own;
        session.desk.open_document(*run.kernel);
        // A whole program may do what its reader may do: it is shown, and runs when somebody presses Run.
        const bool waits = session.desk.document().is_program();
        choose_workspace(waits || !was ? Workspace::kernel : *was);
        if (!waits) run_own();
    } else if (!run.lesson.empty()) {
        wish.source = Source::lesson;
        choose_workspace(was.value_or(Workspace::learn));
        session.post(ask::OpenLesson{run.lesson, static_cast<int>(run.step)});
    } else if (run.training) {
        wish.source = Source::training;
        wish.step = run.step;
        wish.launch = run.launch;
        choose_workspace(was.value_or(Workspace::training));
        session.steps_later = 0;
        if (!run.gpu.empty() && run.gpu != session.gpu) session.post(ask::SetGpu{run.gpu});
        session.post(ask::SetUpTraining{std::make_shared<const TrainingSetup>(*run.training)});
        session.post(ask::Train{run.step + 1});
    }
    if (!run.place.view.empty()) maximised_ = alone_ = run.place.view;
    if (const auto plan = plan_of(run.place)) {
        ask_cluster(session, *plan);
        session.machine.rank = static_cast<int>(run.place.rank);
        session.cluster.time = run.place.step_time;
    }
    if (run.place.zoom >= 0) session.machine.zoom = session.machine.wanted = run.place.zoom;
    place_wish_ = wish;
}

// Of a long run the stretch with the request may come later than the run.
void Shell::follow_request_wish() {
    constexpr int longest_wait = 400;  // frames
    if (!request_wish_ || place_wish_) return;
    const auto& run = snapshot_->kernel.run;
    if (!run || !run->result.trace.machine || ++request_wish_->waited > longest_wait) return request_wish_.reset();
    const RunPlace::Request& wanted = request_wish_->request;
    const std::vector<RequestRecord>& all = run->result.trace.machine->requests;
    const auto found = std::ranges::find_if(all, [&](const RequestRecord& one) {
        return one.begin == wanted.begin && one.sm == wanted.sm && static_cast<int64_t>(one.line) == wanted.line;
    });
    if (found == all.end()) return void(state.animate = true);
    session.machine.followed = found - all.begin();
    request_wish_.reset();
}

// Once a frame, until the run that was opened is there again.
void Shell::follow_place() {
    follow_request_wish();
    if (!place_wish_ || !snapshot_->busy.empty() || snapshot_->source != place_wish_->source) return;
    const RunPlace& place = place_wish_->place;
    if (place_wish_->source == Source::training) {
        if (!snapshot_->training.step || snapshot_->training.step->step < place_wish_->step) return;
        if (place_wish_->launch >= 0 && focus.launch != place_wish_->launch) {
            session.post(ask::OpenKernel{place_wish_->launch});
            focus.launch = static_cast<int32_t>(place_wish_->launch);
            return;
        }
    }
    if (place.cycle < 0) return place_wish_.reset();
    if (!snapshot_->kernel.run) return;
    const KernelTrace& trace = snapshot_->kernel.run->result.trace;
    constexpr int longest_wait = 400;  // frames, of a run or a history that never comes
    // What was on show before the file was opened is not its run.
    const bool older = place.cycles >= 0 && trace.cycles != place.cycles && place_wish_->before == snapshot_->kernel.run;
    if (older && ++place_wish_->waited < longest_wait) return void(state.animate = true);
    if (place.cycles >= 0 && trace.cycles != place.cycles) {
        session.post(ask::Tell{fmt::format(
            "this run took {} where it was saved and takes {} here: it was saved by another version, or with another "
            "compiler, and opens at its beginning",
            counted(place.cycles, "cycle"), with_commas(trace.cycles))});
        return place_wish_.reset();
    }
    if (place.sm >= 0 && trace.sm != static_cast<uint64_t>(place.sm) && !place_wish_->asked_sm &&
        place.sm < static_cast<int64_t>(snapshot_->kernel.run->gpu.sms)) {
        place_wish_->asked_sm = true;
        focus.sm = static_cast<int32_t>(place.sm);
        return session.post(ask::TraceSm{place.sm, place.cycle});
    }
    if (const int32_t warp = warp_of(trace, place); warp >= 0) {
        focus.warp = warp;
        focus.block = static_cast<int32_t>(place.block);
    }
    // A lesson's step goes to its own place once the warp's history is there: the sender's comes after that.
    const bool waits = place_wish_->source == Source::lesson && focus.warp >= 0 && !history_is_of(*snapshot_, focus.warp);
    if (waits && ++place_wish_->waited < longest_wait) return void(state.animate = true);
    const PlaceWish wish = *place_wish_;
    place_wish_.reset();
    if (wish.place.request.begin >= 0) request_wish_ = RequestWish{.request = wish.place.request};
    play_head_.reset();
    line_wish_ = -1;
    begin_wish_ = false;
    reveal_step_ = session.lesson.step;
    reveal_history_ = snapshot_->kernel.history;
    if (wish.place.lane >= 0) focus.lane = static_cast<int32_t>(wish.place.lane);
    if (wish.place.cycle < cycles_shown(session, focus, *snapshot_)) go_to_cycle(wish.place.cycle);
    if (wish.place.line > 0) focus.line = static_cast<int32_t>(wish.place.line);
    state.animate = true;
}

void Shell::save_run(const std::string& name) {
    try {
        const RunFile run = run_on_show();
        std::string stem = name;
        const bool page = is_page_file(name);
        if (stem.ends_with(".lockstep")) stem.resize(stem.size() - 9);
        if (page) stem.resize(stem.size() - 5);
        if (stem.empty() && run.kernel) stem = std::filesystem::path(run.kernel->shown_name()).stem().string();
        if (stem.empty()) stem = run.lesson.empty() ? "training" : run.lesson;
        if (stem.find_first_of("/\\:*?\"<>|") != std::string::npos || stem.starts_with('.'))
            throw Failure("a run's name is one of a file, without a folder");
        std::error_code error;
        std::filesystem::path folder = std::filesystem::current_path(error);
        if (run.kernel && !run.kernel->path.empty())
            folder = std::filesystem::absolute(run.kernel->path, error).parent_path();
        const std::filesystem::path file = free_name(folder, stem, page ? ".html" : ".lockstep");
        if (page) {
            write_file(file, page_of_run(session, focus, page_theme(*theme)));
            return session.post(
                ask::Tell{fmt::format("this run is saved as {}: it opens at this place in any browser, without Lockstep",
                                      file.string()),
                          true, file.string()});
        }
        write_file(file, text_of(run));
        const bool upper_left_out = machine_at_cluster(session) && run.place.plan.empty();
        session.post(ask::Tell{
            fmt::format("this run is saved as {}: {}", file.string(),
                        upper_left_out
                            ? "the kernel opens at this place on any machine, the step of many GPUs above it does not"
                            : "it opens at this place on any machine"),
            true, file.string()});
    } catch (const Failure& failure) {
        session.post(ask::Tell{"this run cannot be saved: " + failure.diagnostic.message});
    }
}

}  // namespace lockstep::gui
