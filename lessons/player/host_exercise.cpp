// Judging a learner's host program: it must start from the same arrays of the host as the reference, leave the same values
// in the arrays that the reference writes, for several random fillings, and do it in the time that check= asks for.
// Orders that nothing enforces show in the values: they are those of the timeline. A host program has no launch shapes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/files.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/host/host_program.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/predict.h"

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
                                           const std::string& file, const RunOptions& options) {
    auto placed = [&](Diagnostic d) {
        if (d.where.file.empty()) d.where = exercise.where;
        return d;
    };
    Scene where;
    where.gpu = exercise.gpu;
    const Result<model::GpuSpec> gpu = model::gpu_named(gpu_of(lesson, where, options));
    if (!gpu) return placed(gpu.error());
    const Result<Expression> check = Expression::parse(exercise.check);
    if (!check) return placed(check.error());
    const auto read = [&](const std::string& name) -> Result<HostText> {
        const Result<std::string> found = read_file(lesson.folder / name, 1 << 20);
        if (!found) return found.error();
        return parse_host(found.value(), name);
    };
    const Result<HostText> reference = read(exercise.reference);
    if (!reference) return reference.error();
    const Result<HostText> learner = parse_host(text, file);
    if (!learner) return refused(exercise, "it can be read", render(learner.error()));

    ExerciseReport report;
    report.exercise = exercise.id;
    report.of_points = exercise.points;
    if (const std::string why = other_start(learner.value(), reference.value()); !why.empty())
        return refused(exercise, "it starts from the task's arrays", why);
    const auto run = [&](const HostText& program, uint64_t seed, bool functional) {
        HostRunOptions how;
        how.seed = seed;
        how.functional = functional;
        how.stop = options.stop;
        return run_host(program, gpu.value(), lesson.folder, how);
    };

    std::string wrong;
    std::map<std::string, std::shared_ptr<const SceneResult>> timed;  // by run: "" the learner's
    const int fillings = random_fillings(exercise);
    for (int i = 0; i < fillings && wrong.empty(); ++i) {
        const uint64_t seed = (lesson.seed + 1) * 1000 + static_cast<uint64_t>(i);
        const Result<std::shared_ptr<const HostRun>> wanted = run(reference.value(), seed, true);
        if (!wanted) return placed(wanted.error());
        // The first is timed, and runs as its timeline says; what is ordered gives the same values without.
        const bool ordered = timed.count("") && timed[""]->host->hazards.empty();
        const Result<std::shared_ptr<const HostRun>> got = run(learner.value(), seed, ordered);
        if (!got) return refused(exercise, "it runs", render(got.error()));
        ++report.launches;
        if (!timed.count("")) {
            auto result = std::make_shared<SceneResult>();
            result->host = got.value();
            result->outputs = got.value()->outputs;
            timed[""] = result;
            report.timed = result;
        }
        if (got.value()->fault) {
            report.fault = got.value()->fault;
            wrong = simt::render(*report.fault);
            break;
        }
        wrong = difference(in_order(*got.value(), wanted.value()->output_names), wanted.value()->outputs,
                           wanted.value()->output_names);
    }
    const std::vector<std::string>& hazards = timed.at("")->host->hazards;
    const std::vector<std::string> asked = check.value().names();
    const bool by_hazards = std::find(asked.begin(), asked.end(), "hazards") != asked.end();
    if (!wrong.empty() && !hazards.empty() && !by_hazards) wrong += "; " + hazards.front();

    const auto lookup = [&](const std::string& full) -> Result<double> {
        if (full == "outputs") return wrong.empty() ? 1.0 : 0.0;
        if (full == "reference") return 1.0;
        std::string name = full;
        const std::string which = take_suffix(name, "run");
        if (!timed.count(which)) {
            if (which != "reference" && which != "starter")
                return Diagnostic{fmt::format("unknown run '{}': there are reference and starter", which)};
            const Result<HostText> program = which == "reference" ? reference : read(exercise.file);
            if (!program) return program.error();
            const Result<std::shared_ptr<const HostRun>> result = run(program.value(), (lesson.seed + 1) * 1000, false);
            if (!result) return result.error();
            auto scene = std::make_shared<SceneResult>();
            scene->host = result.value();
            timed[which] = scene;
        }
        return figure_of(*timed[which], name);
    };
    Judging how{lookup, wrong, fmt::format("the same for all {} fillings of the arrays", report.launches)};
    if (!report.fault) how.causes["hazards"] = [&] { return hazards.empty() ? std::string() : hazards.front(); };
    if (const auto problem = judge_clauses(report, check.value(), how)) return placed(*problem);
    return report;
}

}  // namespace lockstep::lessons
