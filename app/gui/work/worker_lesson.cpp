// Lessons: opening one, running a step's scene once, working out predictions, checking exercises.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/desk/progress.h"
#include "app/gui/scenes.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/base/hash.h"
#include "core/model/gpus/gpu_file.h"
#include "core/nn/data/text.h"
#include "core/nn/models/models.h"
#include "core/nn/train/follow.h"
#include "core/scene/cluster/parallel_picture.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/companion/companion.h"
#include "lessons/player/exercise.h"
#include "lessons/player/predict.h"
#include "lessons/player/sketch/picture.h"
#include "lessons/player/story/story.h"

namespace lockstep::gui {

namespace {

// "warp:0@line:7" -> the number after "warp:"; -1 when there is none.
int32_t number_after(const std::string& text, const std::string& key) {
    const size_t at = text.find(key);
    if (at == std::string::npos) return -1;
    int32_t value = 0;
    size_t i = at + key.size();
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && value < 100'000'000; ++i)
        value = value * 10 + (text[i] - '0');
    return value;
}

// The step's own scene, else the nearest before it, else the lesson's first.
const scene::Scene* scene_shown(const lessons::Lesson& lesson, int step) {
    if (const scene::Scene* scene = lessons::scene_at(lesson, static_cast<size_t>(step))) return scene;
    for (const lessons::Step& any : lesson.steps)
        if (!any.scenes.empty()) return &any.scenes.front();
    return nullptr;
}

// The row of a table that the step asks about: "zb_h1"; "": none, or the first.
std::string row_asked(const lessons::Step& step) {
    for (const lessons::Predict& predict : step.predicts)
        for (const scene::FigureName& name : predict.of.names())
            if (const std::string row = name.place("row"); !row.empty()) return row;
    return {};
}

// Of a tensor program the launch with which all is known that the step asks for: the value of `s` for s[3], the gradient of
// x for d.x; -1: it asks for none of the program's names. Without a launch of its scene's it then stands at the end.
int32_t launch_asked(const lessons::Step& step, const nn::StepRecord& record) {
    int32_t last = -1;
    for (const lessons::Predict& predict : step.predicts)
        for (const scene::FigureName& figure : predict.of.names()) {
            const bool gradient = figure.base.starts_with("d.");
            const std::string name = gradient ? figure.base.substr(2) : figure.base;
            if (!figure.place("scene").empty()) continue;
            for (const nn::GraphNode& node : record.nodes) {
                if (node.name != name && !node.name.starts_with(name + "[")) continue;
                if (gradient)
                    last = std::max(last, node.gradient_after);
                else if (!node.forward_launches.empty())
                    last = std::max(last, node.forward_launches.back());
            }
        }
    return last;
}

// One element is followed through the graph, where the run did not do that itself.
std::shared_ptr<const nn::StepRecord> with_followed(const std::shared_ptr<const nn::StepRecord>& step) {
    if (step->followed || step->nodes.empty()) return step;
    auto followed = std::make_shared<nn::StepRecord>(*step);
    followed->followed = std::make_shared<const nn::Followed>(nn::follow(*step));
    return followed;
}

// The losses of a training scene's runs, or of a tensor program's steps.
std::vector<Curve> curves_of(const scene::SceneResult& shown) {
    std::vector<Curve> curves;
    if (const auto training = shown.as<scene::TrainingRuns>())
        for (const scene::TrainedRun& run : training->runs) {
            Curve& curve = curves.emplace_back();
            curve.name = run.loss.size() == 1 ? "one step" : run.spec.name;
            std::replace(curve.name.begin(), curve.name.end(), '_', ' ');
            curve.loss = run.loss;
            curve.total_steps = static_cast<int64_t>(run.loss.size());
            curve.batch = run.spec.options.batch;
            curve.target = run.spec.target;
            curve.to_target = scene::steps_to_target_of(run);
            if (!run.test) continue;
            curve.accuracy = {*run.test};
            if (!run.test->measures.empty()) {  // what its model is judged by
                const nn::Measure& measure = run.test->measures.front();
                curve.measure = measure.unit.empty() ? measure.name : measure.name + ", " + measure.unit;
            }
        }
    if (const auto parallel = shown.as<scene::ParallelScene>())
        for (const scene::ParallelRow& row : parallel->rows) {
            if (row.losses.empty()) continue;
            Curve& curve = curves.emplace_back();
            curve.name = row.name;
            std::replace(curve.name.begin(), curve.name.end(), '_', ' ');
            curve.loss = row.losses;
            curve.total_steps = static_cast<int64_t>(row.losses.size());
            if (const auto restart = row.settings.find("restart"); restart != row.settings.end())
                curve.resumed = std::atoll(restart->second.c_str());
        }
    const auto tape = shown.as<scene::TapeRun>();
    if (tape && std::any_of(tape->loss.begin(), tape->loss.end(), [](double v) { return std::isfinite(v); })) {
        Curve& curve = curves.emplace_back();
        curve.name = tape->loss.size() == 1 ? "one step" : "loss";
        curve.loss = tape->loss;
        curve.total_steps = static_cast<int64_t>(curve.loss.size());
    }
    return curves;
}

}  // namespace

scene::RunOptions Session::Worker::run_options() {
    scene::RunOptions wanted;
    wanted.gpu = lesson_gpu;
    wanted.keep_runs = wanted.keep_values = true;
    wanted.stop = job_token();
    wanted.progress = [this](double progress) {
        serve_light();
        if (progress >= 0)
            busy(draft.busy, progress);
        else
            busy("timing kernel " + std::to_string(static_cast<int>(-progress) + 1) + " of the step");
    };
    return wanted;
}

void Session::Worker::close_lesson() {
    lesson.reset();
    next_check.reset();
    measured_for = nullptr;
    checker.request_stop();
    scene_results.clear();
    shelves.erase(Source::lesson);
    if (draft.source == Source::lesson) {
        clear_shown();
        draft.problem.reset();
    }
    const std::lock_guard lock(mutex);
    results.lesson.reset();
    results.lesson_closed = true;
    results.gpu = gpu;
}

void Session::Worker::open_lesson(const std::string& id, int step) {
    busy("opening lesson " + id);
    auto loaded = lessons::lesson_named(id);
    if (!loaded.ok()) throw Failure(loaded.error());
    close_lesson();
    bring(Source::lesson);
    draft.problem.reset();
    lesson = std::make_shared<const lessons::Lesson>(std::move(loaded.value()));
    lesson_gpu.clear();
    LessonState state = state_of(lesson);
    if (auto companion = lessons::companion_of(*lesson); companion && companion.value())
        state.companion = std::make_shared<const lessons::Companion>(std::move(*companion.value()));
    if (!options.progress_file.empty()) restore_progress(options.progress_file, state);
    if (step < 0) {
        const auto open = std::find(state.done.begin(), state.done.end(), false);
        step = open == state.done.end() ? 0 : static_cast<int>(open - state.done.begin());
    }
    state.step = std::clamp(step, 0, std::max(0, static_cast<int>(lesson->steps.size()) - 1));
    step = state.step;
    const int asked = asked_below_picture(state, step);
    {
        const std::lock_guard lock(mutex);
        asked_below = asked;
        results.lesson_closed = false;
        results.lesson = std::move(state);
    }
    show_lesson_step(step);
}

const scene::SceneResult& Session::Worker::result_of(const scene::Scene& scene) {
    const auto known = scene_results.find(&scene);
    if (known != scene_results.end()) return known->second;
    return scene_results.emplace(&scene, scene::run_scene(*lesson, scene, run_options()).value()).first->second;
}

// Results of kernels alone: a training run takes longer to come back than it takes room.
void Session::Worker::forget_far_scenes() {
    constexpr uint64_t most_bytes = uint64_t{64} << 20;
    std::vector<std::pair<int, const scene::Scene*>> by_distance;
    for (int step = 0; step < static_cast<int>(lesson->steps.size()); ++step)
        for (const scene::Scene& scene : lesson->steps[static_cast<size_t>(step)].scenes)
            by_distance.push_back({std::abs(step - lesson_step), &scene});
    std::sort(by_distance.begin(), by_distance.end());
    uint64_t bytes = 0;
    for (const auto& [distance, scene] : by_distance) {
        const auto found = scene_results.find(scene);
        const auto kernel = found == scene_results.end() ? nullptr : found->second.as<scene::KernelResult>();
        if (!kernel) continue;
        const model::TimedResult& result = kernel->run->result;
        bytes += bytes_of(result.trace) + result.windows.counters.bytes();
        if (kernel->run->before) bytes += kernel->run->before->live_bytes();
        if (bytes > most_bytes && kernel->run != draft.kernel.run) scene_results.erase(found);
    }
}

int Session::Worker::wish_below() {
    const std::lock_guard lock(mutex);
    return asked_below;
}

void Session::Worker::show_lesson_step(int step) {
    bring(Source::lesson);
    lesson_step = std::clamp(step, 0, std::max(0, static_cast<int>(lesson->steps.size()) - 1));
    const lessons::Step& told = lesson->steps[static_cast<size_t>(lesson_step)];
    lesson_asked = wish_below();
    if (lesson_asked >= static_cast<int>(told.predicts.size())) lesson_asked = -1;
    const scene::Scene* const own = scene_shown(*lesson, lesson_step);
    const scene::Scene* scene = own;
    if (lesson_asked >= 0)
        scene = lessons::picture_before(*lesson, static_cast<size_t>(lesson_step),
                                        told.predicts[static_cast<size_t>(lesson_asked)]);
    if (scene == nullptr) return;
    draft.problem.reset();  // it was another step's
    const std::string ran_on = scene::gpu_of(*lesson, *scene, run_options());
    busy(!scene->parallel.empty() ? "running the scene's ranks"
         : !scene->host.empty()   ? "running " + scene->host + " on the modelled " + upper(model::short_name(ran_on))
         : !scene->tape.empty()   ? "running " + scene->tape + " on the modelled " + upper(model::short_name(ran_on))
         : scene->train.empty()   ? "running " + scene->kernel + " on the modelled " + upper(model::short_name(ran_on))
                                  : "training");
    const scene::SceneResult& shown = result_of(*scene);
    const auto kernel = shown.as<scene::KernelResult>();
    const auto trained = shown.as<scene::TrainingRuns>();
    Focus look_at;
    look_at.warp = number_after(scene->focus, "warp:");
    look_at.line = number_after(scene->focus, "line:");
    look_at.launch = number_after(scene->focus, "launch:");
    if (auto picture = scene::cluster_picture(shown, fmt::format("{}, step {}", lesson->id, lesson_step + 1),
                                              scene == own ? row_asked(told) : std::string(), ran_on))
        draft.cluster = std::move(picture);
    draft.kernel.generations.reset();
    draft.kernel.outputs.reset();
    if (kernel) draft.kernel.outputs = {kernel, &kernel->outputs};
    if (kernel && !kernel->generations.empty()) draft.kernel.generations = {kernel, &kernel->generations};
    draft.training.step.reset();
    draft.host = shown.as<scene::HostRun>();
    draft.tape = shown.as<scene::TapeRun>();
    draft.beside.clear();
    if (draft.tape)
        for (const std::string& id : lessons::compared_with(scene->compare))
            if (const scene::Scene* other = lessons::scene_named(*lesson, id))
                if (auto run = result_of(*other).as<scene::TapeRun>()) draft.beside.push_back(std::move(run));
    draft.training.beside.clear();
    if (trained)
        for (const std::string& id : lessons::compared_with(scene->compare))
            if (const scene::Scene* other = lessons::scene_named(*lesson, id))
                if (auto step = result_of(*other).step())
                    draft.training.beside.push_back(
                        {upper(model::short_name(scene::gpu_of(*lesson, *other, run_options()))), std::move(step)});
    if (!draft.training.beside.empty()) draft.training.gpu = upper(model::short_name(ran_on));
    draft.training.first_step.reset();
    draft.training.curves = curves_of(shown);
    // Beside rows of figures no graph stands: the curves are of whole runs.
    if (shown.step() && draft.tape) {
        const int32_t launch = scene == own ? launch_asked(told, *shown.step()) : -1;
        if (launch >= 0)
            look_at.launch = launch;
        else if (look_at.launch < 0)
            look_at.launch = static_cast<int32_t>(shown.step()->launches.size()) - 1;
    }
    if (shown.step() && !(trained && trained->comparison)) show_training(shown, look_at.launch);
    if (draft.host) show_host(*draft.host, look_at);
    draft.kernel.other.reset();
    if (const scene::Scene* other = lessons::scene_named(*lesson, scene->compare)) {
        busy("running " + other->kernel + ", to compare with");
        if (const auto beside = result_of(*other).as<scene::KernelResult>()) draft.kernel.other = beside->run;
    }
    if (kernel) show_kernel(kernel->run, scene->kernel + "  (kernel 1 of 1)", look_at);
    // A race is told in every step that shows it, but not where it is asked about.
    if (kernel && !kernel->run->result.fault && !kernel->run->result.reports.empty()) {
        draft.problem.reset();
        if (told.predicts.empty()) draft.problem = Diagnostic{simt::render(kernel->run->result.reports.front())};
    }
    make_boards();
    forget_far_scenes();
    const std::lock_guard lock(mutex);
    results.gpu = ran_on;
}

// What the step's sketches begin with. The figures that they know may be of scenes that run only now.
void Session::Worker::make_boards() {
    const auto at = static_cast<size_t>(lesson_step);
    const auto& predicts = lesson->steps[at].predicts;
    if (std::none_of(predicts.begin(), predicts.end(), [](const lessons::Predict& p) { return p.is_sketch(); })) return;
    lessons::SceneRuns runs(*lesson, run_options());
    for (const auto& [scene, result] : scene_results) runs.remember(*scene, result);
    for (size_t i = 0; i < predicts.size(); ++i) {
        if (!predicts[i].is_sketch()) continue;
        auto board = std::make_shared<const lessons::SketchBoard>(lessons::board_of(runs, at, predicts[i]).value());
        const std::lock_guard lock(mutex);
        results.boards.push_back({lesson_step, i, std::move(board)});
    }
}

// A training step or a tensor program's: its curves, and one of its kernels, the longest where none is asked for.
void Session::Worker::show_training(const scene::SceneResult& shown, int32_t launch) {
    const auto training_runs = shown.as<scene::TrainingRuns>();
    draft.tape = shown.as<scene::TapeRun>();
    draft.training.step = with_followed(shown.step());
    draft.training.first_step = training_runs && training_runs->first_step ? training_runs->first_step : draft.training.step;
    draft.training.curves = curves_of(shown);
    draft.training.written.clear();
    draft.training.symbols.reset();
    if (training_runs && !training_runs->runs.empty())
        if (const scene::TrainedRun& run = training_runs->runs.front(); !run.text.empty()) {
            draft.training.written = {{static_cast<int64_t>(run.loss.size()) - 1, run.text}};
            if (const std::string data(nn::model_named(run.spec.options.model).data); !data.empty())
                draft.training.symbols =
                    std::make_shared<const std::vector<std::string>>(nn::open_text(data, 1).vocabulary.symbols);
        }
    const auto& launches = draft.training.step->launches;
    const auto longest =
        std::max_element(launches.begin(), launches.end(), [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    if (launch < 0 || launch >= static_cast<int32_t>(launches.size()))
        launch = static_cast<int32_t>(longest - launches.begin());
    open_kernel(launch, true);
    if (std::none_of(launches.begin(), launches.end(), [](const device::LaunchEvent& one) { return one.run != nullptr; })) {
        draft.kernel.run.reset();  // it was another scene's
        draft.kernel.label.clear();
        forget_warp();
    }
}

// Of a host program's kernels the longest that was kept can be looked into.
void Session::Worker::show_host(const scene::HostRun& host, const Focus& look_at) {
    size_t longest = host.runs.size();
    for (size_t i = 0; i < host.runs.size(); ++i)
        if (host.runs[i] && host.runs[i]->before &&
            (longest == host.runs.size() || host.runs[i]->result.cycles > host.runs[longest]->result.cycles))
            longest = i;
    if (longest < host.runs.size()) show_kernel(host.runs[longest], host.text.statements[longest].text, look_at);
    if (host.fault) draft.problem = Diagnostic{simt::render(*host.fault)};
}

void Session::Worker::lock_prediction(size_t index, int step) {
    if (step < 0) step = lesson_step;
    if (!lesson || step >= static_cast<int>(lesson->steps.size())) return;
    const auto& predicts = lesson->steps[static_cast<size_t>(step)].predicts;
    if (index >= predicts.size()) return;
    const lessons::Predict& predict = predicts[index];
    Results::Truth told{step, index, {}, -1};
    const auto tell = [&] {
        const std::lock_guard lock(mutex);
        results.truths.push_back(told);
    };
    try {
        busy("working out the answer");
        lessons::SceneRuns runs(*lesson, run_options());
        for (const auto& [scene, result] : scene_results) runs.remember(*scene, result);
        const auto truth = lessons::truth_of(runs, static_cast<size_t>(step), predict);
        if (!truth.ok()) throw Failure(truth.error());
        told.value = truth.value();
        told.right = lessons::right_answer(predict, truth.value());
        if (predict.is_sketch()) {
            const auto board = lessons::board_of(runs, static_cast<size_t>(step), predict);
            told.told = std::make_shared<const lessons::SketchTruth>(
                lessons::sketch_truth_of(runs, static_cast<size_t>(step), predict, board.value()).value());
        }
    } catch (...) {
        tell();
        throw;
    }
    tell();
    if (step == lesson_step && wish_below() != lesson_asked && draft.source == Source::lesson) show_lesson_step(step);
}

// The medals' limits and the story's bars: every file of them runs once.
void Session::Worker::work_out_ending() {
    if (!lesson) return;
    busy("working out the last page");
    scene::RunOptions wanted = run_options();
    wanted.gpu.clear();  // medals and bars are of the lesson's own GPU
    wanted.keep_runs = wanted.keep_values = false;
    auto ending = std::make_shared<const lessons::Ending>(lessons::ending_of(*lesson, wanted));
    const std::lock_guard lock(mutex);
    results.ending = {lesson, std::move(ending)};
}

void Session::Worker::check_exercise(const ask::CheckExercise& wish) {
    if (!lesson || wish.step < 0 || wish.step >= static_cast<int>(lesson->steps.size())) return;
    if (wish.exercise >= lesson->steps[static_cast<size_t>(wish.step)].exercises.size()) return;
    if (!draft.checking.empty()) {  // of two the newer counts
        next_check = wish;
        checker.request_stop();
        return;
    }
    begin_check(wish);
    publish();
}

// As `lockstep grade` judges, on a thread of its own: editing, stepping and runs go on meanwhile.
void Session::Worker::begin_check(const ask::CheckExercise& wish) {
    const lessons::Exercise& exercise = lesson->steps[static_cast<size_t>(wish.step)].exercises[wish.exercise];
    if (measured_for != &exercise) yardstick = std::make_shared<lessons::Yardstick>(), measured_for = &exercise;
    auto found = std::make_shared<CheckedExercise>();
    found->lesson = lesson;
    found->step = wish.step;
    found->exercise = wish.exercise;
    found->text = fnv1a64(wish.text);
    draft.checking = std::filesystem::path(exercise.file).filename().string();
    {
        const std::lock_guard lock(mutex);
        checking = true;
    }
    checker = std::jthread([this, found, known = yardstick, text = wish.text, file = draft.checking, gpu = lesson_gpu,
                            &exercise](const std::stop_token& stop) {
        scene::RunOptions how;
        how.gpu = gpu;
        how.keep_runs = how.keep_values = true;
        how.stop = stop;
        try {
            auto report = lessons::check_submission(*found->lesson, exercise, text, file, how, known.get());
            if (report.ok())
                found->report = std::make_shared<const lessons::ExerciseReport>(std::move(report.value()));
            else
                found->problem = render(report.error());
        } catch (const Cancelled&) {
        } catch (const Failure& failure) {
            found->problem = render(failure.diagnostic);
        } catch (const std::exception& error) {
            found->problem = error.what();
        }
        if (stop.stop_requested()) found->report.reset(), found->problem = "The check was cancelled.";
        {
            const std::lock_guard lock(mutex);
            queue.push_back(ask::TakeCheck{found});
            working = true;
        }
        wake.notify_all();
    });
}

void Session::Worker::take_check(const std::shared_ptr<const CheckedExercise>& found) {
    draft.checking.clear();
    {
        const std::lock_guard lock(mutex);
        checking = false;
        if (!next_check) results.report = found;
    }
    if (const auto next = std::exchange(next_check, {}); next && lesson) {
        begin_check(*next);
        return publish();
    }
    const bool looked_at = draft.source == Source::lesson && lesson == found->lesson && lesson_step == found->step;
    if (looked_at && found->report && found->report->timed) {
        const scene::SceneResult& timed = *found->report->timed;
        draft.problem.reset();  // it was of the code before
        if (const auto host = timed.as<scene::HostRun>()) draft.host = host, show_host(*host, draft.kernel.look_at);
        if (timed.step()) show_training(timed, -1);
        if (const auto kernel = timed.as<scene::KernelResult>()) {
            const auto& exercises = lesson->steps[static_cast<size_t>(lesson_step)].exercises;
            show_kernel(kernel->run, exercises[found->exercise].kernel + "  (your kernel)", draft.kernel.look_at);
        }
    }
    publish();
}

}  // namespace lockstep::gui
