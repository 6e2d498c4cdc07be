// Runs a Schedule for real, one rank's list: forwards and backwards of this rank's stages on real micro-batches, one tape a
// micro-batch and stage that is alive, activations and gradients over the pipeline's group on a stream of their own, weights
// in as many versions as the schedule asks for. A pipeline of one rank is the serial run: the same code trains without
// stages.
//
//     const Schedule schedule = make_schedule("1f1b", {.ranks = 4, .microbatches = 8});
//     PipelineResult result = run_pipeline({.rank = rank, .model = *model, .schedule = schedule,
//                                           .stages = cut_into_stages(shape, schedule.stages()),
//                                           .batch = [&](int i) { return part(i); }, .share = [&](int i) { return 1.0 / 8;
//                                           }});
//     // result.gradients: of model.list.all(), in its order, summed over the micro-batches
//
// Gradients are summed in order of micro-batches, whatever the schedule: the same bits for every schedule of the same cut.
// DualPipe's two copies of a stage add up their sums, first copy first. Nothing is divided: `share` is the loss's weight.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/blocks/model.h"
#include "core/parallel/pipeline/schedule.h"
#include "core/parallel/train/rank.h"

namespace lockstep::parallel {

struct PipelineResult;

struct PipelineJob {
    Rank& rank;            // rank.pp: the pipeline's ranks in the schedule's order; null: a pipeline of one
    ParallelModel& model;  // holds the blocks of this rank's stages
    const Schedule& schedule;
    std::vector<BlockRange> stages;  // by stage of the schedule: its blocks
    // Micro-batch i of the lists: input and target on every rank; ranks between read their shapes alone. Asked when it is
    // needed: by a rank's first and last stage, and for the shape of what arrives.
    std::function<MicroBatch(int microbatch)> batch;
    // What micro-batch i's loss counts in its batch's: its share of the examples, times a loss scale. Null: 1.
    std::function<double(int microbatch)> share = {};
    // Once a batch on every rank, at the schedule's update: gradients holds the sums over that batch, which are empty again
    // afterwards. The weights that it changes are those of `version`. Null: the sums stay for the caller.
    std::function<void(PipelineResult& result, int batch, int version)> update = {};
    // The sum of parameter i (of model.list) over its batch is complete, while backward goes on: buckets begin to travel
    // here. In order of completion. Not with DualPipe, whose copies add up at the end. With `by_runs` it comes at the end of
    // every run of micro-batches (ends_of_runs()), with the sum over that run, which the caller takes.
    std::function<void(PipelineResult& result, size_t parameter)> gradient_done = {};
    bool by_runs = false;
    bool add_copies = true;  // of a stage that two ranks hold; false: the caller does
    // Around each F, B, I, W: weights of the stage that come and go (ZeRO-3). The tape is that of the micro-batch.
    std::function<void(const Action&action, tensor::Tape&tape)> before = {}, after = {};
    std::function<tensor::RandomCounter(int stage, int microbatch)> random = {};  // of dropout; null: {0, 0}
    int64_t step = 0;                                                             // of the training
    bool keep_inputs_only = false;  // a stage's forward runs once more before its backward, and keeps only its input
    bool training = true;
};

struct PipelineRow {  // what a rank did: its rows of a ScheduleRun, in microseconds of the virtual clock
    std::vector<ActionRun> actions;
    std::vector<IdleRun> idle;
    std::vector<ActivationStep> activations;
    int peak_activations = 0, weight_versions = 1;
    int64_t peak_activation_bytes = 0;
    double busy = 0, begin = 0;  // begin: the clock when the run began; times count from 0 there
};

struct PipelineResult {
    std::vector<tensor::Tensor> gradients;  // by parameter of model.list; null where it has none (yet)
    std::vector<double> losses;             // by micro-batch, on the rank of its last stage (without `share`); NaN elsewhere
    double loss = 0;                        // their sum with each one's share
    PipelineRow row;
};

// Every rank of the pipeline calls it with the same schedule. Throws Failure: a schedule with problems_of(), ranks or stages
// that do not fit. Recycles the heap after each backward: what was freed before is not readable any more.
PipelineResult run_pipeline(const PipelineJob& job);

// All ranks' rows as one run: what the views draw. `unit` is "us".
ScheduleRun joined_run(const Schedule& schedule, std::span<const PipelineRow> rows);

}  // namespace lockstep::parallel
