// The session as the frame's thread sees it: requests go in, snapshots and results come out, nothing waits.
#include "app/gui/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/gui/scenes.h"
#include "app/gui/work/worker.h"
#include "app/silicon/measured.h"
#include "core/base/files.h"
#include "core/model/advice/verdict.h"
#include "core/model/gpus/gpu_file.h"
#include "lessons/player/certificate/certificate.h"
#include "lessons/player/exercise.h"
#include "lessons/player/predict.h"
#include "lessons/player/story/story.h"

namespace lockstep::gui {

bool asks_for(const Session& session, std::string_view words) {
    const LessonState& state = session.lesson;
    if (!state.lesson || state.step < 0) return false;
    const auto first = static_cast<size_t>(state.step);
    if (first >= state.lesson->steps.size()) return false;
    const scene::Scene* const scene = lessons::scene_at(*state.lesson, first);
    if (shows_case_before(state)) return false;
    bool open = false, answered = false;
    for (size_t s = 0; s < state.lesson->steps.size() && s < state.predictions.size(); ++s) {
        if (lessons::scene_at(*state.lesson, s) != scene) continue;
        const auto& asked = state.lesson->steps[s].predicts;
        for (size_t i = 0; i < std::min(asked.size(), state.predictions[s].size()); ++i) {
            const std::string& of = asked[i].of.text();
            const size_t at = of.find(words), behind = at + words.size();
            if (at == std::string::npos) continue;
            // "line:3" is not "line:33".
            if (behind < of.size() && of[behind] >= '0' && of[behind] <= '9') continue;
            const bool locked = state.predictions[s][i].locked;
            if (!locked && s == first) return true;
            answered = answered || locked;
            open = open || (!locked && s > first);
        }
    }
    return open && !answered;
}

int step_waiting_for(const Session& session, std::string_view words) {
    const LessonState& state = session.lesson;
    if (!state.lesson || session.workspace != Workspace::learn) return 0;
    for (auto s = static_cast<size_t>(std::max(0, state.step)); s < state.predictions.size(); ++s) {
        const auto& asked = state.lesson->steps[s].predicts;
        for (size_t i = 0; i < std::min(asked.size(), state.predictions[s].size()); ++i)
            if (!state.predictions[s][i].locked && asked[i].of.text().find(words) != std::string::npos)
                return static_cast<int>(s) + 1;
    }
    return 0;
}
bool waits_for(const Session& session, std::string_view words) {
    return !shows_case_before(session.lesson) && step_waiting_for(session, words) > 0;
}

const TrainingState& training_run_of(const Snapshot& snapshot) {
    return snapshot.source != Source::training && snapshot.trained ? *snapshot.trained : snapshot.training;
}

bool shows_own_run(const Snapshot& snapshot) {
    return snapshot.own.run && snapshot.kernel.run == snapshot.own.run->run;
}

std::vector<GpuChoice> gpu_choices(std::string_view chosen) {
    std::vector<GpuChoice> choices;
    const auto add = [&](const std::string& name, std::string title, const model::GpuSpec& gpu) {
        choices.push_back(
            {name, std::move(title),
             std::to_string(gpu.sms.value) + (gpu.sms.value == 1 ? " SM" : " SMs") + ", compute " + gpu.compute.text()});
    };
    for (const model::GpuSpec& gpu : model::gpus()) add(std::string(gpu.name), std::string(gpu.title), gpu);
    for (const int sms : {1, 4, 8}) {
        const std::string name = "teaching:" + std::to_string(sms);
        if (const auto gpu = model::gpu_named(name))
            add(name, std::string(gpu.value().title) + (sms == 1 ? ", 1 SM" : ", " + std::to_string(sms) + " SMs"),
                gpu.value());
    }
    if (model::is_gpu_file(chosen))
        if (const auto gpu = model::gpu_named(chosen)) add(std::string(chosen), std::string(gpu.value().title), gpu.value());
    return choices;
}

Session::Session(SessionOptions options)
    : gpu(options.gpu),
      steps_later(options.steps_later),
      learn{.last_lesson = last_lesson_in(options.progress_file),
            .learner = options.progress_file.empty() ? 0 : lessons::learner_of(options.progress_file.string())},
      desk(options.kernel_file),
      measured(std::make_shared<const device::MeasuredStore>(options.start ? device::read_measured(device::measured_folder())
                                                                           : device::MeasuredStore())),
      progress_file_(options.progress_file),
      progress_(options.progress_file),
      worker_(std::make_unique<Worker>(std::move(options))) {
    for (const Diagnostic& problem : measured->problems) post(ask::Tell{render(problem)});
}
Session::~Session() = default;

void Session::read_progress() {
    home.progress = progress_of(progress_file_, home.course);
}

bool LessonState::holds_back() const {
    return lesson && lesson->exam && !handed_in;
}

std::string ExamResult::words() const {
    return fmt::format("{:g} of {:g} points", points, of_points);
}

ExamResult exam_result(const LessonState& state) {
    ExamResult result;
    if (!state.lesson) return result;
    for (size_t s = 0; s < state.lesson->steps.size() && s < state.predictions.size(); ++s) {
        const lessons::Step& step = state.lesson->steps[s];
        for (size_t p = 0; p < step.predicts.size() && p < state.predictions[s].size(); ++p) {
            const LessonState::Prediction& given = state.predictions[s][p];
            ++result.tasks;
            result.answered += given.chosen >= 0 || (given.board && lessons::complete(*given.board, given.sketch));
            result.of_points += step.predicts[p].points;
            if (given.truth && given.right) result.points += step.predicts[p].points;
        }
        for (size_t e = 0; e < step.exercises.size(); ++e) {
            const LessonState::Checked* const last = state.last_check(static_cast<int>(s), e);
            const bool passed = s < state.done.size() && state.done[s];
            ++result.tasks;
            result.answered += passed || (last != nullptr && (last->report || (state.holds_back() && last->checks > 0)));
            result.of_points += step.exercises[e].points;
            result.points += passed ? step.exercises[e].points : last != nullptr && last->report ? last->report->points : 0;
        }
    }
    result.passed = result.points >= state.lesson->pass_mark / 100 * result.of_points;
    return result;
}

std::string Session::write_certificate() const {
    if (progress_file_.empty()) return "Nothing is recorded in this window, so there is nothing to certify.";
    const std::filesystem::path page = progress_file_.parent_path() / "certificate.html";
    const Result<std::string> text = lessons::certificate_from(progress_file_, "");
    if (!text) return text.error().message;
    try {
        write_file(page, text.value() + "\n");
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return fmt::format("Written to {}. 'lockstep lesson certificate --name' puts your name on it.", page.string());
}

void Session::take_again() {
    if (!lesson.lesson || !lesson.lesson->exam) return;
    auto companion = lesson.companion;
    lesson = state_of(lesson.lesson);
    lesson.companion = std::move(companion);
    progress_.follow(lesson);
    post(ask::ShowLessonStep{0});
}

void Session::hand_in() {
    if (!lesson.holds_back()) return;
    lesson.handed_in = true;
    for (size_t s = 0; s < lesson.predictions.size(); ++s)
        for (size_t p = 0; p < lesson.predictions[s].size(); ++p) {
            lesson.predictions[s][p].locked = true;
            post(ask::LockPrediction{p, static_cast<int>(s)});
        }
}

LessonState state_of(std::shared_ptr<const lessons::Lesson> lesson) {
    LessonState state;
    for (const lessons::Step& one : lesson->steps) state.predictions.emplace_back(one.predicts.size());
    state.done.assign(lesson->steps.size(), false);
    state.lesson = std::move(lesson);
    return state;
}

std::shared_ptr<const Snapshot> Session::snapshot() const {
    const std::lock_guard lock(worker_->mutex);
    return worker_->newest;
}

void Session::post(Request request) {
    if (!worker_->options.start) return;
    {
        const std::lock_guard lock(worker_->mutex);
        worker_->working = true;
        if (const auto* wish = std::get_if<ask::ShowLessonStep>(&request))
            worker_->asked_below = asked_below_picture(lesson, wish->step);
        if (const auto* wish = std::get_if<ask::LockPrediction>(&request); wish != nullptr && wish->step < 0)
            worker_->asked_below = asked_below_picture(lesson, lesson.step, static_cast<int>(wish->prediction));
        const ask::Manner& manner = manner_of(request);
        if (manner.replaces) std::erase_if(worker_->queue, [&](const Request& r) { return r.index() == request.index(); });
        if (manner.interrupts) worker_->job.request_stop();
        if (manner.stops_step) worker_->stepping.request_stop();
        if (!manner.keeps_replay) worker_->looking.request_stop();
        if (std::holds_alternative<ask::RunDesign>(request)) worker_->design_asked = std::chrono::steady_clock::now();
        worker_->queue.push_back(std::move(request));
    }
    worker_->wake.notify_all();
}

bool Session::wait_until_idle(double timeout_seconds) {
    if (!worker_->options.start) return true;
    std::unique_lock lock(worker_->mutex);
    return worker_->settled.wait_for(lock, std::chrono::duration<double>(timeout_seconds),
                                     [&] { return !worker_->working && !worker_->checking && worker_->queue.empty(); });
}

void Session::on_publish(std::function<void()> notify) {
    const std::lock_guard lock(worker_->notifying);
    worker_->on_publish = std::move(notify);
}

void Session::publish_for_test(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(worker_->mutex);
    worker_->newest = std::move(snapshot);
}

int sketch_on_show(const LessonState& state) {
    if (!state.lesson || state.step < 0) return -1;
    const auto at = static_cast<size_t>(state.step);
    if (at >= state.lesson->steps.size() || at >= state.predictions.size()) return -1;
    const auto& asked = state.lesson->steps[at].predicts;
    const size_t count = std::min(asked.size(), state.predictions[at].size());
    for (size_t i = 0; i < count; ++i)
        if (!state.predictions[at][i].locked || !state.predictions[at][i].truth)
            return asked[i].is_sketch() ? static_cast<int>(i) : -1;
    return count > 0 && asked[count - 1].is_sketch() ? static_cast<int>(count) - 1 : -1;
}

const LessonState::Prediction* sketch_of(const LessonState& state) {
    const int at = sketch_on_show(state);
    if (at < 0) return nullptr;
    const LessonState::Prediction& given = state.predictions[static_cast<size_t>(state.step)][static_cast<size_t>(at)];
    return given.board ? &given : nullptr;
}

LessonState::Prediction* sketch_of(LessonState& state) {
    return const_cast<LessonState::Prediction*>(sketch_of(std::as_const(state)));
}

bool sketch_is_open(const LessonState& state) {
    const int at = sketch_on_show(state);
    if (at < 0) return false;
    const LessonState::Prediction& given = state.predictions[static_cast<size_t>(state.step)][static_cast<size_t>(at)];
    return !given.locked || !given.truth;
}

void sketch_again(LessonState::Prediction& given) {
    given.locked = given.right = given.by_class = false;
    given.again = true;
    given.truth.reset();
    given.told.reset();
    given.score = {};
    given.chosen = -1;
    if (given.board) given.sketch = lessons::unmarked(*given.board);
}

std::string what_to_try(const KernelState& kernel) {
    if (!kernel.verdict || !kernel.run || !kernel.run->before) return {};
    const std::vector<model::Finding>& findings = kernel.verdict->findings;
    size_t from = 0;
    for (size_t i = 0; kernel.tried && i < findings.size(); ++i)
        if (findings[i].what_if == kernel.tried->name) from = i + 1;
    for (size_t i = 0; i < findings.size(); ++i)
        if (const model::Finding& finding = findings[(from + i) % findings.size()]; !finding.what_if.empty())
            return std::string(finding.what_if);
    return {};
}

std::shared_ptr<const model::KernelRun> without_trace(const model::KernelRun& run) {
    auto slim = std::make_shared<model::KernelRun>();
    slim->gpu = run.gpu;
    slim->program = run.program;
    slim->config = run.config;
    slim->source = run.source;
    static_cast<simt::LaunchResult&>(slim->result) = run.result;
    slim->result.cycles = run.result.cycles;
    slim->result.time_us = run.result.time_us;
    slim->result.launch_us = run.result.launch_us;
    slim->result.occupancy = run.result.occupancy;
    slim->result.totals = run.result.totals;
    slim->result.metrics = run.result.metrics;
    slim->result.instructions = run.result.instructions;
    return slim;
}

std::vector<std::string> lines_of(const LessonState::Checked& checked) {
    std::vector<std::string> lines;
    if (!checked.problem.empty()) lines.push_back(checked.problem);
    if (checked.report && checked.problem.empty()) lines = checked.report->lines;
    for (std::string& line : lines) line = line.substr(0, line.find('\n'));
    return lines;
}

// A board that has come, and whose answer may lie further back: then the engine tells the truth once more.
static void adopt_board(LessonState::Prediction& given, const std::shared_ptr<const lessons::SketchBoard>& board) {
    given.board = board;
    if (given.sketch.values.size() != board->places.size()) given.sketch = lessons::unmarked(*board);
}

void Session::adopt_results(Focus& focus) {
    Worker::Results got;
    {
        const std::lock_guard lock(worker_->mutex);
        std::swap(got, worker_->results);
    }
    if (got.lesson_closed) lesson = {};
    if (got.lesson) {
        lesson = std::move(*got.lesson);
        progress_.follow(lesson);
    }
    if (got.gpu) gpu = *got.gpu;
    if (got.launch) focus.launch = *got.launch;
    for (const auto& one : got.boards) {
        const auto step = static_cast<size_t>(one.step);
        if (step >= lesson.predictions.size() || one.predict >= lesson.predictions[step].size()) continue;
        LessonState::Prediction& given = lesson.predictions[step][one.predict];
        adopt_board(given, one.board);
        if (given.locked && !given.told && worker_->options.start) post(ask::LockPrediction{one.predict});
    }
    for (const auto& truth : got.truths) {
        const auto step = static_cast<size_t>(truth.step);
        if (step >= lesson.predictions.size() || truth.predict >= lesson.predictions[step].size()) continue;
        LessonState::Prediction& prediction = lesson.predictions[step][truth.predict];
        prediction.locked = truth.value.has_value();
        prediction.truth = truth.value;
        prediction.right = truth.value && prediction.chosen == truth.right;
        prediction.told = truth.told;
        const lessons::Predict& asked = lesson.lesson->steps[step].predicts[truth.predict];
        if (truth.told && prediction.board) {
            prediction.score = lessons::score_of(asked, *prediction.board, prediction.sketch, *truth.told);
            if (!prediction.by_class) {
                prediction.right = prediction.score.right;
                prediction.chosen = lessons::nearest_answer(asked, *prediction.board, prediction.sketch);
            }
        }
        if (lesson.lesson->steps[step].exercises.empty())
            lesson.done[step] = std::all_of(lesson.predictions[step].begin(), lesson.predictions[step].end(),
                                            [](const LessonState::Prediction& p) { return p.locked && !p.by_class; });
    }
    if (got.report && got.report->lesson == lesson.lesson) {
        const auto step = static_cast<size_t>(got.report->step);
        LessonState::Checked& checked = lesson.checked[{got.report->step, got.report->exercise}];
        checked.problem = got.report->problem;
        if (got.report->report) checked.report = got.report->report, checked.text = got.report->text;
        if (step < lesson.done.size() && got.report->report && got.report->report->passed) lesson.done[step] = true;
        if (checked.report && checked.report->medal) lesson.medal = std::max(lesson.medal, checked.report->medal->medal);
    }
    if (got.ending.second && got.ending.first == lesson.lesson) lesson.ending = got.ending.second;
    if (!worker_->options.start) return;
    if (const std::string problem = progress_.note(lesson); !problem.empty()) post(ask::Tell{problem});
}

}  // namespace lockstep::gui
