// lessons::list and lessons::run of check.h, and everything of it as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/check.h"
#include "lessons/player/sketch/sketch.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

template <class Run>
void put_figures(const Run& run, std::initializer_list<const char*> names, StepRun& into) {
    for (const char* name : names)
        if (Result<double> value = figure_of(run, name)) into.figures.emplace_back(name, value.value());
}

void describe_step(const nn::StepRecord& step, StepRun& into, std::string scene) {
    into.scene = std::move(scene);
    into.cycles = static_cast<int64_t>(figure_of(step, "cycles").value());
}
constexpr std::initializer_list<const char*> step_names = {
    "loss",       "launches", "forward_launches", "backward_launches", "update_launches",
    "parameters", "flops",    "cycles",           "matmul_cycles"};

// What a scene's run was and came to, of each kind.
void describe(const Lesson& lesson, const Scene& scene, const HostRun& host, StepRun& into) {
    into.scene = fmt::format("host program {} on {}, {:.1f} µs", scene.host, gpu_of(lesson, scene), host.schedule.total_us);
    if (host.fault) into.fault = simt::render(*host.fault);
    put_figures(host, {"total_us", "work_us", "copy_us", "kernel_us", "host_work_us", "overlap", "speedup", "hazards"},
                into);
}
void describe(const Lesson&, const Scene& scene, const ParallelScene& parallel, StepRun& into) {
    into.scene = fmt::format("{}: {}", parallel.kind, scene.parallel);
    for (const ParallelRow& row : parallel.rows)
        for (const auto& [name, value] : row.figures)
            if (name.find('@') == std::string::npos)
                into.figures.emplace_back(parallel.rows.size() == 1 ? name : row.name + " " + name, value);
}
void describe(const Lesson& lesson, const Scene& scene, const KernelResult& result, StepRun& into) {
    const model::KernelRun& kernel = *result.run;
    into.scene =
        fmt::format("{}<<<{}, {}>>> on {}", scene.kernel.empty() ? std::string(kernel.program->kernel) : scene.kernel,
                    scene.grid, scene.block, gpu_of(lesson, scene));
    into.cycles = kernel.result.cycles;
    if (kernel.result.fault) into.fault = simt::render(*kernel.result.fault);
    for (const model::Metric& metric : kernel.result.metrics) into.figures.emplace_back(metric.name, metric.value);
}
void describe(const Lesson&, const Scene&, const TrainingRuns& training, StepRun& into) {
    const TrainedRun& first = training.runs.front();
    if (first.spec.steps == 0) {
        const nn::StepRecord& step = *training.step;
        describe_step(step, into,
                      fmt::format("one training step of {}, batch {}, on {}", step.model, step.batch, step.device));
        return put_figures(training, step_names, into);
    }
    into.scene = fmt::format("{} run{} of {}, the first {} steps of batch {} (executed)", training.runs.size(),
                             training.runs.size() == 1 ? "" : "s", first.spec.options.model, first.loss.size(),
                             first.spec.options.batch);
    for (const TrainedRun& trained : training.runs) {
        into.figures.emplace_back(trained.spec.name + " first loss", trained.loss.front());
        into.figures.emplace_back(trained.spec.name + " last loss", trained.loss.back());
        if (trained.test) into.figures.emplace_back(trained.spec.name + " test accuracy", trained.test->accuracy);
    }
}
void describe(const Lesson&, const Scene& scene, const TapeRun& tape, StepRun& into) {
    describe_step(
        *tape.step, into,
        fmt::format("{} on {}, {} step{}", scene.tape, tape.step->device, tape.text.steps, tape.text.steps == 1 ? "" : "s"));
    put_figures(tape, step_names, into);
}

}  // namespace

Result<std::vector<Listing>> list() {
    std::vector<Listing> lessons;
    for (const std::filesystem::path& folder : lesson_folders()) {
        Result<Lesson> lesson = load_lesson(folder);
        if (!lesson) return lesson.error();
        const Lesson& l = lesson.value();
        lessons.push_back({l.id, l.title, l.part, l.gpu, l.minutes, static_cast<int>(l.steps.size()), folder, l.exam});
    }
    return lessons;
}

Result<LessonRun> run(const std::string& id, const Sink& sink, const RunOptions& options) {
    Result<Lesson> loaded = lesson_named(id);
    if (!loaded) return loaded.error();
    const Lesson& lesson = loaded.value();
    SceneRuns runs(lesson, options);
    LessonRun report;
    report.id = lesson.id;
    report.title = lesson.title;
    auto say = [&](const std::string& line) {
        if (sink) sink(line);
    };
    say(fmt::format("{} {}", lesson.id, lesson.title));
    for (size_t i = 0; i < lesson.steps.size(); ++i) {
        const Step& step = lesson.steps[i];
        StepRun one;
        one.title = step.title;
        one.verb = step.verb;
        say(fmt::format("{:2} {} ({})", i + 1, step.title, step.verb));
        for (const Scene& scene : step.scenes) {
            const Result<SceneResult> result = runs.of(scene);
            if (!result) return result.error();
            std::visit([&](const auto& made) { describe(lesson, scene, *made, one); }, result.value().of);
            say(fmt::format("   {}{}{}", one.scene,
                            scene.host.empty() && one.cycles > 0 ? fmt::format(": {} cycles (simulated)", one.cycles)
                            : scene.host.empty()                 ? ""
                                                                 : " (simulated)",
                            one.fault.empty() ? "" : "; " + one.fault));
        }
        for (const Predict& predict : step.predicts) {
            Result<double> truth = truth_of(runs, i, predict);
            if (!truth) return truth.error();
            const int right = right_answer(predict, truth.value());
            one.predicts.push_back({predict.id, predict.question, predict.of.text(), truth.value(),
                                    right >= 0 ? predict.answers[static_cast<size_t>(right)].text : "", ""});
            say(fmt::format("   {} {} ({} = {:.6g})", predict.question, one.predicts.back().answer, predict.of.text(),
                            truth.value()));
            if (!predict.is_sketch()) continue;
            const Result<SketchBoard> board = board_of(runs, i, predict);
            if (!board) return board.error();
            const Result<SketchTruth> drawn = sketch_truth_of(runs, i, predict, board.value());
            if (!drawn) return drawn.error();
            one.predicts.back().sketch = places_text(board.value(), drawn.value().sketch);
            say(fmt::format("     {}: {}", predict.type, one.predicts.back().sketch));
        }
        report.steps.push_back(std::move(one));
    }
    return report;
}

std::string to_json(const std::vector<Listing>& lessons) {
    Json json = Json::array();
    for (const Listing& l : lessons)
        json.push_back({{"id", l.id},
                        {"title", l.title},
                        {"part", l.part},
                        {"gpu", l.gpu},
                        {"minutes", l.minutes},
                        {"steps", l.steps},
                        {"exam", l.exam},
                        {"folder", l.folder.filename().string()}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const LessonRun& run) {
    Json json = {{"id", run.id}, {"title", run.title}, {"steps", Json::array()}};
    for (const StepRun& step : run.steps) {
        Json one = {{"title", step.title},         {"verb", step.verb},   {"scene", step.scene},
                    {"cycles", step.cycles},       {"fault", step.fault}, {"figures", Json::object()},
                    {"predictions", Json::array()}};
        for (const auto& [name, value] : step.figures) one["figures"][name] = number(value);
        for (const PredictRun& p : step.predicts) {
            one["predictions"].push_back(
                {{"id", p.id}, {"question", p.question}, {"of", p.of}, {"truth", number(p.truth)}, {"answer", p.answer}});
            if (!p.sketch.empty()) one["predictions"].back()["sketch"] = p.sketch;
        }
        json["steps"].push_back(std::move(one));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const std::vector<LessonCheck>& checks) {
    Json json = Json::array();
    for (const LessonCheck& check : checks) {
        Json one = {{"id", check.id}, {"title", check.title}, {"passed", check.passed()}, {"items", Json::array()}};
        for (const CheckItem& item : check.items)
            one["items"].push_back({{"what", item.what}, {"passed", item.passed}, {"detail", item.detail}});
        json.push_back(std::move(one));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lockstep::lessons
