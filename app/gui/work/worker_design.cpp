// What the Build workspace asks for: a puzzle or the kernel on show as a task, a run of a design, and then, as long as no
// newer wish comes, the runs that give the medals and the change that gains most.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "app/gui/desk/puzzle_medals.h"
#include "app/gui/work/watchdog.h"
#include "app/gui/work/worker.h"
#include "core/base/cores.h"

namespace lockstep::gui {
namespace {
// So long after a design was asked for, what has run of it so far is shown, drawn out; a part of it has run by then, however
// late the run before it ended.
constexpr double first_picture_seconds = 0.12, least_sample_seconds = 0.04;

using References = std::map<lessons::Medal, std::shared_ptr<const BuiltDesign>>;

References run_references(const std::shared_ptr<const BuildTask>& task, const std::stop_token& stop) {
    References references;
    for (const auto& [medal, figures] : task->puzzle->reference) {
        const auto reference = std::make_shared<BuiltDesign>(built(*task, figures, stop));
        if (!reference->ran())
            throw Failure(fmt::format("the design for {} does not run: {}", lessons::name_of(medal), reference->refused));
        references[medal] = reference;
    }
    return references;
}

// Changes of the best one that it does without: they only take ground. Each is left out in a run.
std::shared_ptr<BuiltDesign> without_needless(const BuildTask& task, const BuiltDesign& design,
                                              const lessons::Thresholds* thresholds, std::shared_ptr<BuiltDesign> best,
                                              const std::stop_token& stop) {
    for (const lessons::Puzzle::Free& free : task.free) {
        const double before = figure_of(design.gpu, free.field);
        if (figure_of(best->gpu, free.field) == before) continue;
        lessons::Figures figures = best->figures;
        const auto at = std::ranges::find(figures, free.field, &lessons::Figures::value_type::first);
        if (at == figures.end()) continue;
        at->second = before;
        auto less = std::make_shared<BuiltDesign>(built(task, figures, stop));
        if (thresholds != nullptr) judge(task, *thresholds, *less);
        if (less->ran() && less->time_us <= best->time_us * 1.001 && less->time_us < design.time_us &&
            less->area.mm2 <= best->area.mm2 && less->within(task) >= best->within(task) && less->medal >= best->medal)
            best = std::move(less);
    }
    return best;
}
// What would seem to bound how many warps wait, where a run with more of it alone gained nothing.
bool raised_in_vain(const BuiltDesign& design, const std::vector<std::shared_ptr<BuiltDesign>>& tried) {
    constexpr double gain = 1.005;
    if (design.part != "waiting" || design.limits.empty()) return false;
    const auto value = [&](const BuiltDesign& of) { return figure_of(of.gpu, design.limits); };
    bool raised = false;
    for (const auto& change : tried) {
        if (!change || !change->ran() || !(value(*change) > value(design))) continue;
        size_t others = 0;
        for (const auto& [field, figure] : change->figures)
            others += field != design.limits && figure_of(design.gpu, field) != figure ? 1 : 0;
        if (others > 0) continue;
        if (change->time_us * gain <= design.time_us) return false;
        raised = true;
    }
    return raised;
}
}  // namespace

void Session::Worker::open_build(const ask::OpenBuild& wish) {
    forget_note();  // of the puzzle before
    leave_puzzle();
    busy(wish.step ? "running a training step, to build for it" : "opening the puzzle");
    auto state = std::make_shared<BuildState>();
    if (!wish.puzzle.empty()) {
        state->task = task_of_puzzle(wish.puzzle);
        const std::filesystem::path& file = state->task->puzzle->file;
        std::error_code gone;
        if (const auto before = left.find(file);
            before != left.end() && before->second.first == std::filesystem::last_write_time(file, gone)) {
            auto again = std::make_shared<BuildState>(*before->second.second);
            again->task = state->task;
            draft.build = std::move(again);
            publish();
            return after_newest();
        }
    } else if (wish.step) {
        state->task = step_on_show();
    } else {
        if (!draft.kernel.run) throw Failure("no kernel is on show: run one first");
        state->task = task_of_kernel(*draft.kernel.run);
    }
    draft.build = state;
    publish();
    run_wish({state->task, {}, 1});
}

void Session::Worker::leave_puzzle() {
    if (!draft.build || !draft.build->task->puzzle || draft.build->newest() == nullptr) return;
    auto state = std::make_shared<BuildState>(*draft.build);
    for (std::shared_ptr<const BuiltDesign>& design : state->designs) {  // recordings are large
        if (!design->run) continue;
        auto without = std::make_shared<BuiltDesign>(*design);
        without->run = nullptr;
        design = std::move(without);
    }
    const std::filesystem::path& file = state->task->puzzle->file;
    std::error_code gone;
    left[file] = {std::filesystem::last_write_time(file, gone), std::move(state)};
}

// The step of the Training workspace where its kernels were timed on a modelled GPU; else the first step of its model.
std::shared_ptr<const BuildTask> Session::Worker::step_on_show() {
    const auto timed = [](const device::LaunchEvent& launch) { return launch.run && launch.run->before; };
    if (draft.training.step && !draft.tape && !draft.training.step->launches.empty() &&
        std::ranges::all_of(draft.training.step->launches, timed)) {
        const nn::StepRecord& step = *draft.training.step;
        return task_of_step(scene::launches_of(step.launches, "a training step of " + step.model),
                            step.launches.front().run->gpu);
    }
    const model::GpuSpec base = model::gpu_named(gpu).value();
    return task_of_step(scene::step_of_model(draft.training.setup.model, base, job_token()), base);
}

void Session::Worker::run_wish(const DesignWish& wish) {
    if (!draft.build || draft.build->task != wish.task) return;  // of a task that is closed
    busy(fmt::format("running design {}", wish.number));
    run_newest(wish);
    after_newest();
}

void Session::Worker::after_newest() {
    std::future<References> runs;  // of the medals, beside the recording; they end with the job's token
    if (!draft.build->thresholds && draft.build->task->puzzle && !known_medals())
        runs = std::async(std::launch::async, run_references, draft.build->task, job_token());
    record_newest(0);
    keep_medal(*draft.build->newest());  // not of one that a handle went over on its way
    if (runs.valid()) {
        busy("running the designs of the medals");
        while (runs.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) serve_light();
        judge_designs(runs.get());
    }
    end_samples();
    put_changes_back();
    find_next();
    busy("");
}

// Of figures that ran before, as after an undo, the run is known.
void Session::Worker::run_newest(const DesignWish& wish) {
    for (const auto& other : draft.build->designs)
        if (other->ran() && other->sampled == 0 && other->figures == wish.figures) {
            auto again = std::make_shared<BuiltDesign>(*other);
            again->medal = lessons::Medal::none;
            again->run = nullptr;
            return show_design(wish, std::move(again));
        }
    // How many instructions there are, and how they come by time, is known from any design: a picture comes at once, from a
    // part of them.
    std::shared_ptr<const BuiltDesign> like;
    for (const auto& other : draft.build->designs)
        if (other->ran() && other->sampled == 0) like = other;
    bool whole = like == nullptr;
    if (!whole) {
        std::stop_source source;
        const Watchdog watchdog(std::max(least_sample_seconds, first_picture_seconds - seconds_waited()), source);
        const std::stop_callback newer(job_token(), [&] { source.request_stop(); });
        try {
            auto first = std::make_shared<BuiltDesign>(built(*wish.task, wish.figures, source.get_token(), like.get()));
            if (job_token().stop_requested()) throw Cancelled();
            const bool sampled = first->sampled > 0;
            show_design(wish, std::move(first));
            whole = sampled;
        } catch (const Cancelled&) {
            if (job_token().stop_requested()) throw;
            whole = true;  // too little of it ran
        }
    }
    if (whole) show_design(wish, std::make_shared<BuiltDesign>(built(*wish.task, wish.figures, job_token())));
}

double Session::Worker::seconds_waited() {
    const std::lock_guard lock(mutex);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - design_asked).count();
}

// Earlier designs that a newer wish cut short are samples still: their whole runs take their places.
void Session::Worker::end_samples() {
    for (size_t i = 0; i < draft.build->designs.size(); ++i) {
        const std::shared_ptr<const BuiltDesign> sample = draft.build->designs[i];
        if (!sample->ran() || sample->sampled == 0) continue;
        busy(fmt::format("running the rest of design {}", sample->number));
        auto whole = std::make_shared<BuiltDesign>(built(*draft.build->task, sample->figures, job_token()));
        whole->number = sample->number;
        auto state = std::make_shared<BuildState>(*draft.build);
        if (state->thresholds) judge(*state->task, *state->thresholds, *whole);
        keep_medal(*whole);
        state->designs[i] = std::move(whole);
        draft.build = state;
        publish();
        serve_light();
    }
}

void Session::Worker::show_design(const DesignWish& wish, std::shared_ptr<BuiltDesign> design) {
    design->number = wish.number;
    auto state = std::make_shared<BuildState>(*draft.build);
    if (state->thresholds) judge(*state->task, *state->thresholds, *design);
    std::erase_if(state->designs, [&](const auto& other) { return other->number >= wish.number; });
    state->designs.push_back(std::move(design));
    constexpr size_t most_designs = 64;
    if (state->designs.size() > most_designs) state->designs.erase(state->designs.begin());
    state->next = nullptr;
    state->next_of = 0;
    state->put_back.clear();
    draft.build = state;
    publish();
}

// What made it gold: each of its changes put back alone, in a run. The one whose loss costs most of the time comes first.
void Session::Worker::put_changes_back() {
    const std::shared_ptr<const BuildState> from = draft.build;
    const BuildTask& task = *from->task;
    const BuiltDesign& design = *from->newest();
    if (design.medal != lessons::Medal::gold || !from->thresholds) return;
    busy(fmt::format("running design {} with each of its changes put back", design.number));
    std::vector<PutBack> all;
    for (const lessons::Puzzle::Free& free : task.puzzle->free) {
        const double first = figure_of(task.base, free.field);
        const auto at = std::ranges::find(design.figures, free.field, &lessons::Figures::value_type::first);
        if (at == design.figures.end() || at->second == first) continue;
        lessons::Figures figures = design.figures;
        figures[static_cast<size_t>(at - design.figures.begin())].second = first;
        auto without = std::make_shared<BuiltDesign>(built(task, figures, job_token()));
        judge(task, *from->thresholds, *without);
        all.push_back({free.field, std::move(without)});
        serve_light();
    }
    std::ranges::stable_sort(all, std::greater<>(), [](const PutBack& each) { return each.design->time_us; });
    auto state = std::make_shared<BuildState>(*draft.build);
    state->put_back = std::move(all);
    draft.build = state;
    publish();
}

void Session::Worker::keep_medal(const BuiltDesign& design) {
    if (!draft.build->task->puzzle || design.medal == lessons::Medal::none) return;
    const std::string& id = draft.build->task->puzzle->id;
    lessons::Medal& best = kept_medals[id];
    if (design.medal <= best) return;
    best = design.medal;
    keep_puzzle_medal(options.progress_file, id, best);
}

// What of the newest design moves on the die. Recordings are large: only the newest has one.
void Session::Worker::record_newest(uint32_t sm) {
    const BuiltDesign& last = *draft.build->newest();
    if (!last.ran() || (last.run && last.run->result.trace.sm == sm)) return;
    busy(fmt::format("recording design {} for its die", last.number));
    auto with_run = std::make_shared<BuiltDesign>(last);
    with_run->run = recorded(*draft.build->task, last, sm, job_token());
    auto state = std::make_shared<BuildState>(*draft.build);
    for (std::shared_ptr<const BuiltDesign>& design : state->designs) {
        if (!design->run || design == state->designs.back()) continue;
        auto without = std::make_shared<BuiltDesign>(*design);
        without->run = nullptr;
        design = std::move(without);
    }
    state->designs.back() = std::move(with_run);
    draft.build = state;
    publish();
}

// The newest design's run becomes the kernel on show.
void Session::Worker::open_design(int number, uint32_t sm) {
    if (!draft.build || draft.build->newest() == nullptr || draft.build->newest()->number != number) return;
    const std::string before = draft.busy;
    record_newest(sm);
    const std::shared_ptr<const model::KernelRun> run = draft.build->newest()->run;
    if (!run) return;
    bring(Source::design);  // a training step that is timed late does not push it away
    show_kernel(run, std::string(run->gpu.title));
    busy(before, draft.progress);
}

// The medals of a puzzle that was open before, if it is the same still.
bool Session::Worker::known_medals() {
    const lessons::Puzzle& puzzle = *draft.build->task->puzzle;
    const auto known = medals.find(puzzle.file);
    if (known == medals.end()) return false;
    const auto& [before, references] = known->second;
    if (before->puzzle->reference != puzzle.reference || before->puzzle->start != puzzle.start ||
        before->puzzle->kernel != puzzle.kernel)
        return false;
    judge_designs(References(references));
    return true;
}

void Session::Worker::judge_designs(References references) {
    const auto time_of = [&](lessons::Medal medal) {
        const auto at = references.find(medal);
        return at == references.end() ? 0 : at->second->time_us;
    };
    auto state = std::make_shared<BuildState>(*draft.build);
    state->thresholds = {time_of(lessons::Medal::bronze), time_of(lessons::Medal::silver), time_of(lessons::Medal::gold)};
    medals[state->task->puzzle->file] = {state->task, references};
    state->references = std::move(references);
    for (std::shared_ptr<const BuiltDesign>& design : state->designs) {
        auto judged_design = std::make_shared<BuiltDesign>(*design);
        judge(*state->task, *state->thresholds, *judged_design);
        keep_medal(*judged_design);
        design = std::move(judged_design);
    }
    draft.build = state;
    publish();
}

// What is built for, on real GPUs' rows, one after the other; then the next change goes on being looked for.
void Session::Worker::run_real() {
    if (!draft.build) return;
    const std::shared_ptr<const BuildTask> task = draft.build->task;
    const std::string before = draft.busy;
    for (RealChip& chip : real_chips()) {
        if (std::ranges::any_of(draft.build->real, [&](const auto& ran) { return ran->name == chip.name; })) continue;
        busy("running it on the " + chip.name);
        auto ran = std::make_shared<RealChip>(chip);
        scene::DesignLaunch launch = task->launch;
        launch.process = nullptr;  // its own
        ran->runs = built_on(launch, model::gpu_named(chip.runs.gpu.name).value(), job_token());
        auto state = std::make_shared<BuildState>(*draft.build);
        state->real.push_back(std::move(ran));
        draft.build = state;
        publish();
    }
    busy(before, draft.progress);
}

void Session::Worker::find_next() {
    const std::shared_ptr<const BuildState> from = draft.build;
    const BuiltDesign& design = *from->newest();
    if (!design.ran()) return;
    const std::vector<lessons::Figures> changes = changes_of(*from->task, design);
    std::vector<std::shared_ptr<BuiltDesign>> tried(changes.size());
    {  // over all cores; a newer wish ends it
        const std::stop_token stop = job_token();
        std::atomic<size_t> next = 0, done = 0;
        const auto work = [&] {
            for (size_t at = next++; at < changes.size() && !stop.stop_requested(); at = next++) {
                try {
                    tried[at] = std::make_shared<BuiltDesign>(built(*from->task, changes[at], stop));
                } catch (const Cancelled&) {
                    return;
                } catch (const std::exception&) {  // such as too little memory: this change is not proposed
                }
                ++done;
            }
        };
        const size_t at_once = std::min<size_t>(cores(), changes.size());
        const unsigned share = cores() / std::max(1u, static_cast<unsigned>(at_once));
        std::vector<std::jthread> threads;
        for (size_t k = 0; k < at_once; ++k)
            threads.emplace_back([&, share] {
                const ShareOfCores mine(share);
                work();
            });
        size_t told = changes.size();
        while (done < changes.size() && !stop.stop_requested()) {
            if (const size_t now = done; now != told)
                busy("running what could be changed next",
                     static_cast<double>(told = now) / static_cast<double>(changes.size()));
            serve_light();
            std::unique_lock lock(mutex);
            wake.wait_for(lock, std::chrono::milliseconds(20));
        }
        threads.clear();
        if (stop.stop_requested()) throw Cancelled();
    }
    std::shared_ptr<BuiltDesign> best;
    const BuildTask& task = *from->task;
    constexpr double least_gain = 1.02;
    const lessons::Thresholds* const thresholds = from->thresholds ? &*from->thresholds : nullptr;
    // Within the budget the fastest counts; from over it, first what leads into it, then what leads nearest.
    const auto better = [&](const BuiltDesign& change, const BuiltDesign& than) {
        if (task.most_mm2 <= 0 && task.most_watts <= 0)  // without a budget area has to earn its keep
            return change.time_us * least_gain <= design.time_us &&
                   change.time_us * change.area.mm2 < than.time_us * than.area.mm2;
        const bool in = change.within(task), was_in = than.within(task);
        if (in != was_in) return in;
        if (in && change.medal != than.medal) return change.medal > than.medal;  // by however little
        return in ? change.time_us * least_gain <= than.time_us : change.spent(task) * least_gain <= than.spent(task);
    };
    for (const std::shared_ptr<BuiltDesign>& change : tried) {
        if (change && thresholds != nullptr) judge(task, *thresholds, *change);
        if (!change || !change->ran() || !better(*change, best ? *best : design)) continue;
        best = change;
    }
    // On the way to gold a little is something, too: that no change is faster is said where none is.
    if (!best && task.puzzle && design.within(task) && design.medal != lessons::Medal::gold)
        for (const std::shared_ptr<BuiltDesign>& change : tried)
            if (change && change->ran() && change->within(task) && change->time_us < (best ? *best : design).time_us)
                best = change;
    if (best) {
        if (design.within(task)) best = without_needless(task, design, thresholds, best, job_token());
        best->number = design.number + 1;
    }
    auto state = std::make_shared<BuildState>(*draft.build);
    state->next = best;
    state->next_of = design.number;
    // Where it helps beside another change, which the next one is, it was not in vain.
    const bool helps_beside =
        best && !design.limits.empty() && figure_of(best->gpu, design.limits) > figure_of(design.gpu, design.limits);
    if (!helps_beside && raised_in_vain(design, tried)) {
        auto told = std::make_shared<BuiltDesign>(design);
        told->part = "latency";
        told->limits = {};
        state->designs.back() = std::move(told);
    }
    draft.build = state;
}

}  // namespace lockstep::gui
