// Judging a learner's rows of many ranks (*.schedule, *.plan ...) by the figures of what ran. What of them is the task's and
// not the learner's (ranks, micro-batches) stands in check= too: settings are figures.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/comm/network/timing.h"
#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/parallel_scene.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/pinned.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// "the fullest GPU needs 86.8 GB of 85.9 GB; the largest part is activations, 75.2 GB"
std::string memory_words(const parallel::PlanResult& plan) {
    const parallel::PlanMemory& memory = plan.memory;
    const std::pair<std::string_view, double> parts[] = {{"weights", memory.weights},
                                                         {"gradients", memory.gradients},
                                                         {"optimiser state", memory.optimizer},
                                                         {"activations", memory.activations},
                                                         {"buffers", memory.buffers}};
    const auto most = *std::max_element(std::begin(parts), std::end(parts),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format("the fullest GPU needs {} of {}; the largest part is {}, {}", bytes_si(memory.total()),
                       bytes_si(plan.request.gpu.memory_gb.value * (1 << 30)), most.first, bytes_si(most.second));
}

// "73 % of the step is computing; the longest wait is for messages of tp, 18 %"
std::string waits_words(const parallel::PlanResult& plan) {
    const parallel::PlanTime& time = plan.time;
    const std::pair<std::string_view, double> waits[] = {{"for messages of tp", time.tensor},
                                                         {"for messages of cp", time.context},
                                                         {"for gradients and weights", time.data},
                                                         {"in the pipeline's bubble", time.bubble}};
    const auto most = *std::max_element(std::begin(waits), std::end(waits),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const double all = std::max(1e-9, time.total());
    return fmt::format("{:.0f} % of the step is computing; the longest wait is {}, {:.0f} %",
                       100 * (time.forward + time.backward + time.recompute) / all, most.first, 100 * most.second / all);
}

// "rank 0 sends most, 1.2 GB, 3 times the buffer; rank 3 sends nothing"
std::string sends_words(const comm::CollectiveRun& run) {
    if (run.bytes_sent.empty() || run.bytes() <= 0) return {};
    const auto most = std::max_element(run.bytes_sent.begin(), run.bytes_sent.end()),
               least = std::min_element(run.bytes_sent.begin(), run.bytes_sent.end());
    if (*most == *least)
        return fmt::format("every rank sends {}, {:.3g} times the buffer", bytes_si(static_cast<double>(*most)),
                           static_cast<double>(*most) / static_cast<double>(run.bytes()));
    const auto amount = [](int64_t bytes) {
        return bytes == 0 ? std::string("nothing") : bytes_si(static_cast<double>(bytes));
    };
    return fmt::format("rank {} sends most, {}, {:.3g} times the buffer; rank {} sends {}", most - run.bytes_sent.begin(),
                       amount(*most), static_cast<double>(*most) / static_cast<double>(run.bytes()),
                       least - run.bytes_sent.begin(), amount(*least));
}

// Of ranks in nodes: " 96 MB cross from node to node." Empty: they are not.
std::string wall_words(const ParallelRow& row) {
    const auto topology = row.settings.find("topology");
    const auto size = row.figures.find("node_size");
    if (topology == row.settings.end() || topology->second != "two_level" || size == row.figures.end() || size->second < 1)
        return {};
    const int node = static_cast<int>(size->second);
    double crossing = 0;
    for (const comm::Transfer& one : row.collective->transfers)
        if (one.from / node != one.to / node) crossing += static_cast<double>(one.bytes);
    return fmt::format("; {} cross from node to node", bytes_si(crossing));
}

// Where a figure of the first row comes from: what does not fit, what a step waits for, what a list gets wrong.
std::map<std::string, std::function<std::string()>> causes_of(const ParallelRow& row) {
    std::map<std::string, std::function<std::string()>> causes;
    if (const auto plan = row.plan) {
        for (const char* name : {"fits", "memory", "activations"}) causes[name] = [plan] { return memory_words(*plan); };
        for (const char* name : {"mfu", "tflops", "step_us", "run_mwh"})
            causes[name] = [plan] { return waits_words(*plan); };
    }
    if (row.collective) causes["time_us"] = [says = sends_words(*row.collective) + wall_words(row)] { return says; };
    if (!row.wrong.empty()) {
        const ListFault& fault = row.wrong.front();
        causes["wrong"] = [says = fault.what.message + (fault.advice.empty() ? "" : ". " + fault.advice)] { return says; };
    }
    return causes;
}

}  // namespace

Result<ExerciseReport> check_parallel_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const RunOptions& options) {
    const std::string kind(parallel_kind_of(exercise.file)->name);
    if (!exercise.changes.empty()) {
        const Result<std::string> starter = read_file(lesson.folder / exercise.file, 1 << 20);
        if (!starter) return starter.error();
        if (const std::string why = changed_rows(text, starter.value(), exercise.changes); !why.empty())
            return refused(exercise, "it keeps to the task", why);
    }
    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        const std::string& name = run.empty() ? file : run == "starter" ? exercise.file : exercise.reference;
        const Result<std::string> rows = run.empty() ? Result<std::string>(text) : read_file(lesson.folder / name, 1 << 20);
        if (!rows) return rows.error();
        const auto made = run_parallel_scene(kind, rows.value(), {name, 1, 1},
                                             {.seed = lesson.seed, .stop = options.stop, .progress = options.progress});
        if (!made) return made.error();
        return SceneResult{made.value()};
    });
    const Result<SceneResult> mine = runs.of("");
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    ExerciseReport report = empty_report(exercise);
    report.timed = mine.value();
    report.launches = static_cast<int>(mine.value().as<ParallelScene>()->rows.size());
    const std::vector<ParallelRow>& rows = mine.value().as<ParallelScene>()->rows;
    Judging how{[&](const FigureName& name) { return runs.figure_or_nan(name); }, "", ""};
    if (!rows.empty()) how.causes = causes_of(rows.front());
    if (const auto problem = judge_clauses(report, exercise.check, how)) return placed(exercise, *problem);
    return report;
}

}  // namespace lockstep::lessons
