// lessons::list and lessons::run of check.h, and everything of it as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/check.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

void describe(const Lesson& lesson, const Scene& scene, const SceneResult& result, StepRun& run) {
    if (result.host) {
        run.scene = fmt::format("host program {} on {}, {:.1f} us", scene.host, gpu_of(lesson, scene),
                                result.host->schedule.total_us);
        if (result.host->fault) run.fault = simt::render(*result.host->fault);
        for (const char* name :
             {"total_us", "work_us", "copy_us", "kernel_us", "host_work_us", "overlap", "speedup", "hazards"})
            if (Result<double> value = figure_of(result, name)) run.figures.emplace_back(name, value.value());
        return;
    }
    if (result.parallel) {
        run.scene = fmt::format("{}: {}", result.parallel->kind, scene.parallel);
        for (const ParallelRow& row : result.parallel->rows)
            for (const auto& [name, value] : row.figures)
                if (name.find('@') == std::string::npos)
                    run.figures.emplace_back(result.parallel->rows.size() == 1 ? name : row.name + " " + name, value);
        return;
    }
    if (result.kernel) {
        const model::KernelRun& kernel = *result.kernel;
        run.scene =
            fmt::format("{}<<<{}, {}>>> on {}", scene.kernel.empty() ? std::string(kernel.program->kernel) : scene.kernel,
                        scene.grid, scene.block, gpu_of(lesson, scene));
        run.cycles = kernel.result.cycles;
        if (kernel.result.fault) run.fault = simt::render(*kernel.result.fault);
        for (const model::Metric& metric : kernel.result.metrics) run.figures.emplace_back(metric.name, metric.value);
        return;
    }
    if (result.training && result.training->runs.front().spec.steps > 0) {
        const TrainedRun& first = result.training->runs.front();
        run.scene = fmt::format("{} run{} of {}, the first {} steps of batch {} (executed)", result.training->runs.size(),
                                result.training->runs.size() == 1 ? "" : "s", first.spec.options.model, first.loss.size(),
                                first.spec.options.batch);
        for (const TrainedRun& one : result.training->runs) {
            run.figures.emplace_back(one.spec.name + " first loss", one.loss.front());
            run.figures.emplace_back(one.spec.name + " last loss", one.loss.back());
            if (one.test) run.figures.emplace_back(one.spec.name + " test accuracy", one.test->accuracy);
        }
        return;
    }
    run.scene = result.tape ? fmt::format("{} on {}, {} step{}", scene.tape, result.step->device, result.tape->text.steps,
                                          result.tape->text.steps == 1 ? "" : "s")
                            : fmt::format("one training step of {}, batch {}, on {}", result.step->model, result.step->batch,
                                          result.step->device);
    for (const char* name : {"loss", "launches", "forward_launches", "backward_launches", "update_launches", "parameters",
                             "flops", "cycles", "matmul_cycles"})
        if (Result<double> value = figure_of(result, name)) run.figures.emplace_back(name, value.value());
    run.cycles = static_cast<int64_t>(figure_of(result, "cycles").value());
}

}  // namespace

Result<std::vector<Listing>> list() {
    std::vector<Listing> lessons;
    for (const std::filesystem::path& folder : lesson_folders()) {
        Result<Lesson> lesson = load_lesson(folder);
        if (!lesson) return lesson.error();
        const Lesson& l = lesson.value();
        lessons.push_back({l.id, l.title, l.part, l.gpu, l.minutes, static_cast<int>(l.steps.size()), folder});
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
            Result<std::shared_ptr<const SceneResult>> result = runs.of(scene);
            if (!result) return result.error();
            describe(lesson, scene, *result.value(), one);
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
            one.predicts.push_back({predict.id, predict.question, predict.of, truth.value(),
                                    right >= 0 ? predict.answers[static_cast<size_t>(right)].text : ""});
            say(fmt::format("   {} {} ({} = {:.6g})", predict.question, one.predicts.back().answer, predict.of,
                            truth.value()));
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
        for (const PredictRun& p : step.predicts)
            one["predictions"].push_back(
                {{"id", p.id}, {"question", p.question}, {"of", p.of}, {"truth", number(p.truth)}, {"answer", p.answer}});
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
