// What the Build workspace asks for: a puzzle or the kernel on show as a task, a run of a design, and then, as long as no
// newer wish comes, the runs that give the medals and the change that gains most.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/work/worker.h"

namespace lockstep::gui {

void Session::Worker::open_build(const std::string& puzzle) {
    busy("opening the puzzle");
    auto state = std::make_shared<BuildState>();
    if (!puzzle.empty()) {
        state->task = task_of_puzzle(puzzle);
    } else {
        if (!draft.kernel.run) throw Failure("no kernel is on show: run one first");
        state->task = task_of_kernel(*draft.kernel.run);
    }
    draft.build = state;
    publish();
    run_wish({state->task, {}, 1});
}

void Session::Worker::run_wish(const DesignWish& wish) {
    if (!draft.build || draft.build->task != wish.task) return;  // of a task that is closed
    busy(fmt::format("running design {}", wish.number));
    auto design = std::make_shared<BuiltDesign>(built(*wish.task, wish.figures, job_token()));
    design->number = wish.number;
    auto state = std::make_shared<BuildState>(*draft.build);
    if (state->thresholds) judge(*state->task, *state->thresholds, *design);
    std::erase_if(state->designs, [&](const auto& other) { return other->number >= wish.number; });
    state->designs.push_back(std::move(design));
    constexpr size_t most_designs = 64;
    if (state->designs.size() > most_designs) state->designs.erase(state->designs.begin());
    state->next = nullptr;
    state->next_of = 0;
    draft.build = state;
    publish();
    judge_designs();
    find_next();
    busy("");
}

void Session::Worker::judge_designs() {
    if (draft.build->thresholds || !draft.build->task->puzzle) return;
    busy("running the designs of the medals");
    const BuildTask& task = *draft.build->task;
    auto state = std::make_shared<BuildState>(*draft.build);
    state->thresholds = lessons::thresholds_of(*task.puzzle, task.launch, job_token());
    for (std::shared_ptr<const BuiltDesign>& design : state->designs) {
        auto judged_design = std::make_shared<BuiltDesign>(*design);
        judge(task, *state->thresholds, *judged_design);
        design = std::move(judged_design);
    }
    draft.build = state;
    publish();
}

void Session::Worker::find_next() {
    const std::shared_ptr<const BuildState> from = draft.build;
    const BuiltDesign& design = *from->newest();
    if (!design.ran()) return;
    const std::vector<lessons::Figures> changes = changes_of(*from->task, design);
    std::shared_ptr<const BuiltDesign> best;
    constexpr double least_gain = 1.02;
    for (size_t i = 0; i < changes.size(); ++i) {
        busy("running what could be changed next", static_cast<double>(i) / static_cast<double>(changes.size()));
        auto tried = std::make_shared<BuiltDesign>(built(*from->task, changes[i], job_token()));
        if (!tried->ran() || !tried->within(*from->task)) continue;
        if (tried->time_us * least_gain > (best ? best->time_us : design.time_us)) continue;
        tried->number = design.number + 1;
        if (from->thresholds) judge(*from->task, *from->thresholds, *tried);
        best = std::move(tried);
    }
    auto state = std::make_shared<BuildState>(*draft.build);
    state->next = best;
    state->next_of = design.number;
    draft.build = state;
}

}  // namespace lockstep::gui
