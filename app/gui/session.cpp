// The worker thread: takes requests in order, runs the engine, publishes snapshots. A request that makes the work under
// way pointless stops it; looking at another warp is served between two kernels. Whatever goes wrong becomes
// Snapshot::problem, and the worker goes on.
#include "app/gui/session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "app/gui/training_run.h"
#include "app/gui/work_file.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/model/gpu_spec.h"
#include "lessons/player/exercise.h"
#include "lessons/player/predict.h"
#include "lessons/player/run.h"

namespace lockstep::gui {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto frame_of_training = std::chrono::milliseconds(90);  // a run that a person can follow: 11 steps a second
constexpr int64_t evaluate_every = 4;

bool interrupts(Request::Kind kind) {
    using Kind = Request::Kind;
    return kind == Kind::train || kind == Kind::show_step || kind == Kind::set_gpu || kind == Kind::reload ||
           kind == Kind::open_lesson || kind == Kind::lesson_step;
}

bool is_light(Request::Kind kind) {
    return kind == Request::Kind::focus_warp || kind == Request::Kind::lanes_at || kind == Request::Kind::dismiss;
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return text;
}

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

}  // namespace

struct Session::Worker {
    explicit Worker(SessionOptions chosen) : options(std::move(chosen)), newest(std::make_shared<Snapshot>()) {
        draft.busy = options.start ? "starting" : "";
        newest = std::make_shared<Snapshot>(draft);
        if (options.start) thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    ~Worker() {
        thread.request_stop();
        {
            const std::lock_guard lock(mutex);
            job.request_stop();
        }
        wake.notify_all();
    }

    SessionOptions options;

    // Shared with the frame's thread.
    mutable std::mutex mutex;
    std::condition_variable_any wake;
    std::condition_variable settled;
    std::deque<Request> queue;
    std::function<void()> on_publish;
    std::shared_ptr<const Snapshot> newest;
    bool working = true;   // false: nothing queued, nothing under way
    std::stop_source job;  // of the work that a request may interrupt
    struct Results {       // what belongs to the interface
        std::optional<LessonState> lesson;
        bool lesson_closed = false;
        struct Truth {
            int step = 0;
            size_t predict = 0;
            double value = 0;
            int right = -1;  // index of the answer
        };
        struct Report {
            int step = 0;
            std::vector<std::string> lines;
            bool passed = false;
        };
        std::vector<Truth> truths;
        std::optional<Report> report;
        std::optional<Focus> focus;  // the parts that are not -1 are wishes
        std::optional<std::string> gpu;
    } results;

    // The worker's own.
    Snapshot draft;
    std::unique_ptr<TrainingRun> training;
    int64_t steps_to_run = 0;
    bool wants_timing = false;
    Clock::time_point last_step;
    std::string gpu;
    std::shared_ptr<const lessons::Lesson> lesson;
    std::map<const lessons::Scene*, std::shared_ptr<const lessons::SceneResult>> scene_results;  // of the open lesson
    int lesson_step = 0;
    int32_t focused_warp = -1;
    std::jthread thread;  // last: it uses all of the above

    void publish() {
        ++draft.version;
        auto copy = std::make_shared<const Snapshot>(draft);
        std::function<void()> notify;
        {
            const std::lock_guard lock(mutex);
            newest = std::move(copy);
            notify = on_publish;
        }
        if (notify) notify();
    }

    void busy(std::string text, double progress = -1) {
        draft.busy = std::move(text);
        draft.progress = progress;
        publish();
    }

    void complain(Diagnostic problem) {
        if (problem.message.find("cancelled") != std::string::npos) return;
        draft.problem = std::move(problem);
    }

    template <class Work>
    void guarded(const Work& work) {
        try {
            work();
        } catch (const Failure& failure) {
            complain(failure.diagnostic);
        } catch (const std::bad_alloc&) {
            complain(Diagnostic{"not enough memory for that"});
        } catch (const std::exception& error) {
            complain(Diagnostic{error.what()});
        }
    }

    void run(const std::stop_token& stop) {
        gpu = options.gpu;
        guarded([&] {
            if (options.lesson.empty())
                open_training();
            else
                open_lesson(options.lesson, options.lesson_step);
        });
        if (options.lesson.empty()) steps_to_run = options.training_steps;
        while (!stop.stop_requested()) {
            std::optional<Request> request;
            {
                std::unique_lock lock(mutex);
                const auto something = [&] { return !queue.empty(); };
                if (queue.empty() && steps_to_run == 0 && !wants_timing) {
                    working = false;
                    if (!draft.busy.empty()) {
                        lock.unlock();
                        busy("");
                        lock.lock();
                    }
                    if (queue.empty()) settled.notify_all();
                    wake.wait(lock, stop, something);
                } else if (queue.empty() && steps_to_run != 0 && options.paced) {
                    wake.wait_until(lock, stop, last_step + frame_of_training, something);
                }
                if (stop.stop_requested()) break;
                working = true;
                if (!queue.empty()) {
                    request = std::move(queue.front());
                    queue.pop_front();
                    if (interrupts(request->kind)) job = std::stop_source();
                }
            }
            guarded([&] {
                if (request)
                    serve(*request);
                else if (steps_to_run != 0)
                    train_one();
                else if (wants_timing)
                    time_shown();
            });
            if (request) publish();
        }
        const std::lock_guard lock(mutex);
        working = false;
        settled.notify_all();
    }

    void serve(const Request& request) {
        using Kind = Request::Kind;
        switch (request.kind) {
            case Kind::open_kernel:
                return open_kernel(request.index);
            case Kind::train:
                steps_to_run = training ? request.index : 0;
                wants_timing = training != nullptr;
                if (training) training->curve().running = true;
                return;
            case Kind::pause:
                steps_to_run = 0;
                if (training) training->curve().running = false, training->curve().name = "lr 0.5", show_curves();
                return;
            case Kind::show_step:
                if (!training) return;
                steps_to_run = 0;
                draft.step = training->at(request.index);
                wants_timing = true;
                return;
            case Kind::focus_warp:
                return focus_warp(request.index);
            case Kind::lanes_at:
                return lanes_at(request.index);
            case Kind::lesson_step:
                if (lesson) show_lesson_step(static_cast<int>(request.index));
                return;
            case Kind::lock_prediction:
                return lock_prediction(request);
            case Kind::check_exercise:
                return check_exercise();
            case Kind::set_gpu:
                return set_gpu(request.text);
            case Kind::reload:
                return reload();
            case Kind::open_lesson:
                if (request.text.empty()) {
                    close_lesson();
                    open_training();
                    steps_to_run = 41;
                } else {
                    open_lesson(request.text, static_cast<int>(request.index));
                }
                return;
            case Kind::dismiss:
                draft.problem.reset();
                return;
        }
    }

    // What may be looked at while a long run is under way.
    void serve_light() {
        for (;;) {
            Request request;
            {
                const std::lock_guard lock(mutex);
                const auto found =
                    std::find_if(queue.begin(), queue.end(), [](const Request& r) { return is_light(r.kind); });
                if (found == queue.end()) return;
                request = *found;
                queue.erase(found);
            }
            guarded([&] { serve(request); });
        }
    }

    std::stop_token job_token() {
        const std::lock_guard lock(mutex);
        return job.get_token();
    }

    // ---- training
    void open_training() {
        busy("drawing digits");
        training = std::make_unique<TrainingRun>(gpu, thread.get_stop_token());
        training->curve().total_steps = std::max<int64_t>(options.training_steps, 100);
        draft.kernel.reset();
        draft.history.reset();
        draft.lanes.reset();
        wants_timing = true;
    }

    std::optional<Curve> compared;

    void show_curves() {
        draft.curves = {training->curve()};
        if (compared) draft.curves.push_back(*compared);
    }

    void train_one() {
        if (!training) {
            steps_to_run = 0;
            return;
        }
        const bool running = steps_to_run != 1;
        last_step = Clock::now();
        draft.step = training->advance();
        if (steps_to_run > 0) --steps_to_run;
        if ((training->next_step() - 1) % evaluate_every == 0 || steps_to_run == 0) training->evaluate();
        training->curve().name = running ? "lr 0.5, running" : "lr 0.5";
        training->curve().running = running;
        draft.first_step = training->first();
        if (training->next_step() == 3) compared = training->comparison();
        show_curves();
        wants_timing = true;
        busy("step " + std::to_string(draft.step->step) + " on the modelled " + upper(gpu),
             options.training_steps > 0 && steps_to_run > 0
                 ? 1 - static_cast<double>(steps_to_run) / static_cast<double>(options.training_steps)
                 : -1);
    }

    void time_shown() {
        wants_timing = false;
        if (!training || !draft.step) return;
        const size_t all = draft.step->launches.size();
        const std::string count = " of " + std::to_string(all);
        busy("timing kernel 1" + count, 0);
        draft.step = training->timed(draft.step->step, job_token(), [&](size_t launches) {
            serve_light();
            if (launches < all)
                busy("timing kernel " + std::to_string(launches + 1) + count,
                     static_cast<double>(launches) / static_cast<double>(all));
        });
        if (!lesson) {
            // The longest kernel of the backward pass is the one to look into, until somebody picks another.
            const auto& launches = draft.step->launches;
            size_t best = 0;
            for (size_t i = 1; i < launches.size(); ++i) {
                const bool backward = launches[i].phase == "backward", was = launches[best].phase == "backward";
                if (backward != was ? backward : launches[i].cycles > launches[best].cycles) best = i;
            }
            if (shown_kernel >= 0 && shown_kernel < static_cast<int64_t>(all))
                open_kernel(shown_kernel);
            else if (all > 0)
                open_kernel(static_cast<int64_t>(best), true);
        }
        busy("");
    }
    int64_t shown_kernel = -1;

    void open_kernel(int64_t index, bool wish = false) {
        if (!draft.step || index < 0 || index >= static_cast<int64_t>(draft.step->launches.size())) return;
        if (!wish) shown_kernel = index;
        const device::LaunchEvent& launch = draft.step->launches[static_cast<size_t>(index)];
        if (wish) {
            Focus focus;
            focus.sm = -1;
            focus.launch = static_cast<int32_t>(index);
            const std::lock_guard lock(mutex);
            results.focus = focus;
        }
        if (!launch.run) {
            if (training) wants_timing = true;  // it will be opened once it is timed
            return;
        }
        show_kernel(launch.run, launch.label + " (kernel " + std::to_string(index + 1) + " of " +
                                    std::to_string(draft.step->launches.size()) + ")");
    }

    void show_kernel(std::shared_ptr<const model::KernelRun> kernel, std::string label) {
        if (draft.kernel == kernel) return;
        draft.kernel = std::move(kernel);
        draft.kernel_label = std::move(label);
        draft.history.reset();
        draft.lanes.reset();
        draft.lanes_step = -1;
        focused_warp = -1;
        if (const auto& fault = draft.kernel->result.fault) {
            Diagnostic problem{simt::render(*fault)};
            draft.problem = problem;
        }
    }

    // ---- looking at one warp
    void focus_warp(int64_t index) {
        if (!draft.kernel || !draft.kernel->before) return;
        const auto& warps = draft.kernel->result.trace.warps;
        if (index < 0 || index >= static_cast<int64_t>(warps.size())) return;
        focused_warp = static_cast<int32_t>(index);
        const WarpTrack& warp = warps[static_cast<size_t>(index)];
        draft.history = std::make_shared<simt::WarpHistory>(simt::record_warp(
            *draft.kernel->program, draft.kernel->config, *draft.kernel->before, warp.block, warp.warp_in_block));
        draft.lanes.reset();
        draft.lanes_step = -1;
        publish();
    }

    void lanes_at(int64_t step) {
        if (!draft.kernel || !draft.kernel->before || !draft.history || step < 0) return;
        {  // only the newest wish counts
            const std::lock_guard lock(mutex);
            for (const Request& later : queue)
                if (later.kind == Request::Kind::lanes_at || later.kind == Request::Kind::focus_warp) return;
        }
        draft.lanes = std::make_shared<std::vector<simt::LaneValues>>(
            simt::registers_at(*draft.kernel->program, draft.kernel->config, *draft.kernel->before, draft.history->block,
                               draft.history->warp_in_block, static_cast<uint64_t>(step)));
        draft.lanes_step = step;
        publish();
    }

    // ---- lessons
    lessons::RunOptions run_options() {
        lessons::RunOptions wanted;
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
    std::string lesson_gpu;  // chosen by hand; empty: the lesson's own

    void close_lesson() {
        lesson.reset();
        scene_results.clear();
        draft.kernel.reset();
        draft.step.reset();
        draft.first_step.reset();
        draft.history.reset();
        draft.lanes.reset();
        draft.curves.clear();
        shown_kernel = -1;
        const std::lock_guard lock(mutex);
        results.lesson.reset();
        results.lesson_closed = true;
        results.gpu = gpu;
    }

    void open_lesson(const std::string& id, int step) {
        busy("opening lesson " + id);
        auto loaded = lessons::lesson_named(id);
        if (!loaded.ok()) throw Failure(loaded.error());
        close_lesson();
        training.reset();
        steps_to_run = 0;
        wants_timing = false;
        lesson = std::make_shared<const lessons::Lesson>(std::move(loaded.value()));
        lesson_gpu.clear();
        LessonState state;
        state.lesson = lesson;
        for (const lessons::Step& one : lesson->steps) state.predictions.emplace_back(one.predicts.size());
        state.done.assign(lesson->steps.size(), false);
        state.step = std::clamp(step, 0, std::max(0, static_cast<int>(lesson->steps.size()) - 1));
        step = state.step;
        {
            const std::lock_guard lock(mutex);
            results.lesson_closed = false;
            results.lesson = std::move(state);
        }
        show_lesson_step(step);
    }

    const lessons::Scene* scene_of(int step) const {
        for (int i = std::min(step, static_cast<int>(lesson->steps.size()) - 1); i >= 0; --i)
            if (!lesson->steps[static_cast<size_t>(i)].scenes.empty())
                return &lesson->steps[static_cast<size_t>(i)].scenes.front();
        for (const lessons::Step& any : lesson->steps)
            if (!any.scenes.empty()) return &any.scenes.front();
        return nullptr;
    }

    void show_lesson_step(int step) {
        lesson_step = std::clamp(step, 0, std::max(0, static_cast<int>(lesson->steps.size()) - 1));
        const lessons::Scene* scene = scene_of(lesson_step);
        if (scene == nullptr) return;
        busy(scene->train.empty()
                 ? "running " + scene->kernel + " on the modelled " + upper(lessons::gpu_of(*lesson, *scene, run_options()))
                 : "running one training step");
        auto& known = scene_results[scene];
        if (!known) {
            auto result = lessons::run_scene(*lesson, *scene, run_options());
            if (!result.ok()) throw Failure(result.error());
            known = std::move(result.value());
        }
        const lessons::SceneResult& shown = *known;
        Focus focus;
        focus.sm = -1;
        focus.warp = number_after(scene->focus, "warp:");
        focus.line = number_after(scene->focus, "line:");
        focus.launch = number_after(scene->focus, "launch:");
        draft.step = shown.step;
        draft.first_step = shown.step;
        draft.curves.clear();
        if (shown.step) {
            Curve curve;
            curve.name = "one step";
            curve.loss = {shown.step->loss};
            curve.total_steps = 1;
            draft.curves = {curve};
            const auto& launches = shown.step->launches;
            const auto longest = std::max_element(launches.begin(), launches.end(),
                                                  [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
            if (focus.launch < 0 || focus.launch >= static_cast<int32_t>(launches.size()))
                focus.launch = static_cast<int32_t>(longest - launches.begin());
            open_kernel(focus.launch);
        }
        if (shown.kernel) show_kernel(shown.kernel, scene->kernel + "  (kernel 1 of 1)");
        const std::string ran_on = lessons::gpu_of(*lesson, *scene, run_options());
        const std::lock_guard lock(mutex);
        results.focus = focus;
        results.gpu = ran_on;
    }

    void lock_prediction(const Request& request) {
        if (!lesson || lesson_step >= static_cast<int>(lesson->steps.size())) return;
        const auto& predicts = lesson->steps[static_cast<size_t>(lesson_step)].predicts;
        if (request.index < 0 || request.index >= static_cast<int64_t>(predicts.size())) return;
        const lessons::Predict& predict = predicts[static_cast<size_t>(request.index)];
        busy("working out the answer");
        lessons::SceneRuns runs(*lesson, run_options());
        for (const auto& [scene, result] : scene_results) runs.remember(*scene, result);
        const auto truth = lessons::truth_of(runs, static_cast<size_t>(lesson_step), predict);
        if (!truth.ok()) throw Failure(truth.error());
        const int right = lessons::right_answer(predict, truth.value());
        const std::lock_guard lock(mutex);
        results.truths.push_back({lesson_step, static_cast<size_t>(request.index), truth.value(), right});
    }

    void check_exercise() {
        if (!lesson || lesson_step >= static_cast<int>(lesson->steps.size())) return;
        const auto& exercises = lesson->steps[static_cast<size_t>(lesson_step)].exercises;
        if (exercises.empty()) return;
        const std::filesystem::path file = work_file(*lesson, exercises.front());
        busy("checking " + file.filename().string());
        const auto text = read_file(file);
        if (!text.ok()) throw Failure(text.error());
        auto report = lessons::check_submission(*lesson, exercises.front(), text.value(), file.string(), run_options());
        if (!report.ok()) throw Failure(report.error());
        if (report.value().timed && report.value().timed->kernel)
            show_kernel(report.value().timed->kernel, exercises.front().kernel + "  (your kernel)");
        const std::lock_guard lock(mutex);
        results.report = Results::Report{lesson_step, report.value().lines, report.value().passed};
    }

    void set_gpu(const std::string& name) {
        const auto found = model::gpu_named(name);
        if (!found.ok()) throw Failure(found.error());
        if (lesson) {
            lesson_gpu = name;
            scene_results.clear();
            return show_lesson_step(lesson_step);
        }
        gpu = name;
        if (!training) return;
        busy("building a " + upper(name));
        training->set_gpu(name);
        if (draft.step) draft.step = training->at(draft.step->step);
        wants_timing = true;
    }

    void reload() {
        if (lesson) {
            scene_results.clear();
            show_lesson_step(lesson_step);
        } else {
            open_training();
            draft.curves.clear();
            steps_to_run = 41;
        }
    }
};

Session::Session(SessionOptions options) : gpu(options.gpu), worker_(std::make_unique<Worker>(std::move(options))) {}
Session::~Session() = default;

std::shared_ptr<const Snapshot> Session::snapshot() const {
    const std::lock_guard lock(worker_->mutex);
    return worker_->newest;
}

void Session::post(Request request) {
    if (!worker_->options.start) return;
    {
        const std::lock_guard lock(worker_->mutex);
        worker_->working = true;
        // Of wishes that replace each other only the newest is kept: dragging the scrub strip posts many.
        if (request.kind == Request::Kind::show_step || request.kind == Request::Kind::lanes_at ||
            request.kind == Request::Kind::open_kernel)
            std::erase_if(worker_->queue, [&](const Request& r) { return r.kind == request.kind; });
        if (interrupts(request.kind)) worker_->job.request_stop();
        worker_->queue.push_back(std::move(request));
    }
    worker_->wake.notify_all();
}

bool Session::wait_until_idle(double timeout_seconds) {
    if (!worker_->options.start) return true;
    std::unique_lock lock(worker_->mutex);
    return worker_->settled.wait_for(lock, std::chrono::duration<double>(timeout_seconds),
                                     [&] { return !worker_->working && worker_->queue.empty(); });
}

void Session::on_publish(std::function<void()> notify) {
    const std::lock_guard lock(worker_->mutex);
    worker_->on_publish = std::move(notify);
}

void Session::publish_for_test(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(worker_->mutex);
    worker_->newest = std::move(snapshot);
}

void Session::adopt_results(Focus& focus) {
    Worker::Results got;
    {
        const std::lock_guard lock(worker_->mutex);
        std::swap(got, worker_->results);
    }
    if (got.lesson_closed) lesson = {};
    if (got.lesson) lesson = std::move(*got.lesson);
    if (got.gpu) gpu = *got.gpu;
    for (const auto& truth : got.truths) {
        const auto step = static_cast<size_t>(truth.step);
        if (step >= lesson.predictions.size() || truth.predict >= lesson.predictions[step].size()) continue;
        LessonState::Prediction& prediction = lesson.predictions[step][truth.predict];
        prediction.locked = true;
        prediction.truth = truth.value;
        prediction.right = prediction.chosen == truth.right;
        bool all = true;
        for (const LessonState::Prediction& other : lesson.predictions[step]) all = all && other.locked;
        lesson.done[step] = all;
    }
    if (got.report) {
        lesson.exercise_report = std::move(got.report->lines);
        const auto step = static_cast<size_t>(got.report->step);
        if (step < lesson.done.size() && got.report->passed) lesson.done[step] = true;
    }
    if (got.focus) {
        if (got.focus->warp >= 0) focus.warp = got.focus->warp;
        if (got.focus->line >= 0) focus.line = got.focus->line;
        if (got.focus->launch >= 0) focus.launch = got.focus->launch;
    }
}

}  // namespace lockstep::gui
