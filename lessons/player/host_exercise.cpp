// Judging a learner's host program: it must start from the same arrays of the host as the reference, leave the same values
// in the arrays that the reference writes, for several random fillings, and do it in the time that check= asks for.
// Orders that nothing enforces show in the values: they are those of the timeline. A host program has no launch shapes.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/scene/host/host_program.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/pinned.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// Why the two do not start from the same; empty when they do.
std::string other_start(const HostText& got, const HostText& wanted) {
    for (const HostArray& array : wanted.arrays) {
        if (array.on_device) continue;
        const auto same = std::find_if(got.arrays.begin(), got.arrays.end(),
                                       [&](const HostArray& other) { return !other.on_device && other.name == array.name; });
        if (same == got.arrays.end()) return fmt::format("the host's array '{}' is missing", array.name);
        if (same->contents.text != array.contents.text)
            return fmt::format("the host's array '{}' is {} in the task, not {}", array.name, array.contents.text.substr(3),
                               same->contents.text.substr(3));
    }
    if (got.link != wanted.link || got.connections != wanted.connections)
        return "the link and the number of connections are part of the task";
    return {};
}

// The outputs of `run` in the order of the reference's.
std::vector<Array> in_order(const HostRun& run, const std::vector<std::string>& names) {
    std::vector<Array> outputs;
    for (const std::string& name : names)
        for (size_t i = 0; i < run.output_names.size(); ++i)
            if (run.output_names[i] == name) outputs.push_back(run.outputs[i]);
    return outputs;
}

}  // namespace

Result<ExerciseReport> check_host_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                           const std::string& file, const RunOptions& options, bool is_starter) {
    Scene where;
    where.gpu = exercise.gpu;
    const Result<model::GpuSpec> gpu = model::gpu_named(gpu_of(lesson, where, options));
    if (!gpu) return placed(exercise, gpu.error());
    const auto read = [&](const std::string& name) -> Result<HostText> {
        const Result<std::string> found = read_file(lesson.folder / name, 1 << 20);
        if (!found) return found.error();
        return parse_host(found.value(), name);
    };
    const Result<HostText> reference = read(exercise.reference);
    if (!reference) return reference.error();
    const Result<HostText> learner = parse_host(text, file);
    if (!learner) return refused(exercise, "it can be read", render(learner.error()));
    if (const std::string why = other_start(learner.value(), reference.value()); !why.empty())
        return refused(exercise, "it starts from the task's arrays", why);
    if (!exercise.changes.empty()) {
        const Result<HostText> starter = read(exercise.file);
        if (!starter) return starter.error();
        if (const std::string why = changed_operations(learner.value(), starter.value(), exercise.changes); !why.empty())
            return refused(exercise, "it keeps to the task", why);
    }

    const uint64_t first_seed = (lesson.seed + 1) * 1000;
    const auto run = [&](const HostText& program, uint64_t seed, bool functional) {
        return run_host(program, gpu.value(), lesson.folder, {.seed = seed, .functional = functional, .stop = options.stop});
    };
    ExerciseRuns runs([&](const std::string& which) -> Result<SceneResult> {
        const Result<HostText> program = which.empty() ? learner : which == "reference" ? reference : read(exercise.file);
        if (!program) return program.error();
        const auto result = run(program.value(), first_seed, false);
        if (!result) return result.error();
        return SceneResult{result.value()};
    });
    // The first filling is timed, and runs as its timeline says; what is ordered gives the same values without.
    const Result<SceneResult> timed = runs.of("");
    if (!timed) return refused(exercise, "it runs", render(timed.error()));
    const auto first = timed.value().as<HostRun>();
    ExerciseReport report = empty_report(exercise);
    report.timed = timed.value();
    std::string wrong;
    const int fillings = random_fillings(exercise);
    for (int i = 0; i < fillings && wrong.empty(); ++i) {
        const uint64_t seed = first_seed + static_cast<uint64_t>(i);
        const auto wanted = run(reference.value(), seed, true);
        if (!wanted) return placed(exercise, wanted.error());
        const auto got =
            i == 0 ? Result<std::shared_ptr<const HostRun>>(first) : run(learner.value(), seed, first->hazards.empty());
        if (!got) return refused(exercise, "it runs", render(got.error()));
        ++report.launches;
        report.fault = got.value()->fault;
        wrong = report.fault ? simt::render(*report.fault)
                             : difference(in_order(*got.value(), wanted.value()->output_names), wanted.value()->outputs,
                                          wanted.value()->output_names);
    }
    const std::vector<std::string>& hazards = first->hazards;
    if (!wrong.empty() && !hazards.empty() && !exercise.check.names("hazards")) wrong += "; " + hazards.front();
    Judging how{[&](const FigureName& name) { return runs.figure(name); }, wrong,
                fmt::format("the same for all {} fillings of the arrays", report.launches)};
    if (!report.fault) how.causes["hazards"] = [&] { return hazards.empty() ? std::string() : hazards.front(); };
    how.measure_anyway = is_starter && !report.fault;
    if (const auto problem = judge_clauses(report, exercise.check, how)) return placed(exercise, *problem);
    return report;
}

}  // namespace lockstep::lessons
