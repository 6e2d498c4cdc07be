// Before a pipeline runs and after it: what a job must be, and all ranks' rows as one run.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/pipeline.h"
#include "core/parallel/pipeline/pipeline_stage.h"

namespace lockstep::parallel {

void check_pipeline_job(const PipelineJob& job) {
    const Schedule& schedule = job.schedule;
    const int ranks = job.rank.pp ? job.rank.pp->size() : 1;
    if (schedule.ranks != ranks)
        throw Failure(fmt::format("a schedule of {} ranks does not run on a pipeline of {}", schedule.ranks, ranks));
    if (job.stages.size() != size_t(schedule.stages()))
        throw Failure(fmt::format("a schedule of {} stages needs the blocks of each, not of {}", schedule.stages(),
                                  job.stages.size()));
    int block = 0;
    for (const BlockRange& range : job.stages) {
        if (range.first != block || range.last <= range.first)
            throw Failure(fmt::format("stages are runs of blocks, one after another: [{}, {}) does not follow {}",
                                      range.first, range.last, block));
        block = range.last;
    }
    if (size_t(block) != job.model.blocks.size())
        throw Failure(fmt::format("the stages hold {} of the model's {} blocks", block, job.model.blocks.size()));
    const std::vector<std::string> problems = problems_of(schedule);
    if (!problems.empty()) throw Failure(fmt::format("the schedule {} cannot run: {}", schedule.kind, problems.front()));
    if (!schedule.flushes && !job.update)
        throw Failure(
            fmt::format("{} changes the weights while micro-batches are under way: it needs an update", schedule.kind));
}

ScheduleRun joined_run(const Schedule& schedule, std::span<const PipelineRow> rows) {
    if (rows.size() != size_t(schedule.ranks))
        throw Failure(fmt::format("a schedule of {} ranks has as many rows, not {}", schedule.ranks, rows.size()));
    ScheduleRun run;
    run.schedule = schedule;
    run.unit = "us";
    double begin = rows[0].begin;
    for (const PipelineRow& row : rows) begin = std::min(begin, row.begin);
    for (const PipelineRow& row : rows) {
        const double late = row.begin - begin;
        run.actions.push_back(row.actions);
        run.idle.push_back(row.idle);
        run.activations.push_back(row.activations);
        for (ActionRun& ran : run.actions.back()) ran.begin += late, ran.end += late;
        for (IdleRun& idle : run.idle.back()) idle.begin += late, idle.end += late;
        for (ActivationStep& step : run.activations.back()) step.time += late;
        if (late > 0) run.idle.back().insert(run.idle.back().begin(), {0, late, "begins later", -1, -1});
        run.peak_activations.push_back(row.peak_activations);
        run.weight_versions.push_back(row.weight_versions);
        run.busy.push_back(row.busy);
    }
    settle_run(run);
    for (size_t rank = 0; rank < rows.size(); ++rank) run.weight_versions[rank] = rows[rank].weight_versions;
    return run;
}

}  // namespace lockstep::parallel
