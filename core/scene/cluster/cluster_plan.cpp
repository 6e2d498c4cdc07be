// From a plan's figures to a step that can be played: the schedule with its times in milliseconds, once with the late GPU.
#include "core/scene/cluster/cluster_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/parallel/plan/cluster_tables.h"

namespace lockstep::scene {
namespace {

constexpr double ms_a_us = 1e-3;

parallel::PlanRequest request_of_setup(const PlanSetup& setup) {
    const auto gpu = model::gpu_named(setup.gpu);
    if (!gpu.ok()) throw Failure(gpu.error());
    parallel::PlanRequest request{.shape = parallel::plan_shape_named(setup.model),
                                  .plan = setup.plan,
                                  .gpu = gpu.value(),
                                  .machine = parallel::machine_of(gpu.value(), setup.link)};
    request.sequence = setup.sequence;
    request.batch = setup.batch;
    request.microbatch = setup.microbatch;
    if (gpu.value().compute.number < 80) request.compute = DType::f16;
    return request;
}

// Of a plan without a pipeline: the one rank's passes, in microseconds.
parallel::Durations durations_of_plan(const parallel::PlanResult& result) {
    if (result.request.plan.pp > 1) return result.durations;
    const parallel::PlanTime& time = result.time;
    const double m = std::max(1, result.request.plan.microbatches);
    const double back = time.backward + time.recompute + time.tensor / 2;
    return {.forward = (time.forward + time.tensor / 2) / m, .input = back / 2 / m, .weight = back / 2 / m};
}

void set_data_times(PlannedStep& step) {
    const parallel::PlanRequest& r = step.plan.request;
    const parallel::PlanTime& time = step.plan.time;
    step.update = time.update * ms_a_us;
    const int members = r.plan.dp;
    if (members <= 1) return;
    if (r.plan.zero >= 3) {  // gathered and summed all along: what is not hidden is in `data`
        step.sum = step.sum_exposed = time.data * ms_a_us;
        return;
    }
    const parallel::GroupPlace place{members, std::clamp(r.machine.gpus_per_node / r.plan.tp, 1, members)};
    const double gradients = step.plan.parameters_here * static_cast<double>(size_of(r.gradients)),
                 weights = step.plan.parameters_here * static_cast<double>(size_of(r.compute));
    using parallel::PlannedCollective;
    step.sum = parallel::collective_us(r.machine, place,
                                       r.plan.zero == 0 ? PlannedCollective::all_reduce : PlannedCollective::reduce_scatter,
                                       gradients) *
               ms_a_us;
    if (r.plan.zero > 0)
        step.gather = parallel::collective_us(r.machine, place, PlannedCollective::all_gather, weights) * ms_a_us;
    step.sum_exposed = std::max(0.0, time.data * ms_a_us - step.gather);
}

void set_layers(PlannedStep& step) {
    const parallel::PlanRequest& r = step.plan.request;
    const parallel::Schedule& schedule = step.on_time.schedule;
    const int last = parallel::count_blocks(r.shape) - 1;  // the head; block 0 is the embedding
    const std::vector<parallel::BlockRange> cut = parallel::cut_of_plan(r.shape, r.plan, schedule.stages());
    for (const std::vector<int>& stages : schedule.stages_of) {
        std::vector<parallel::BlockRange>& mine = step.layers.emplace_back();
        for (const int stage : stages) {
            const parallel::BlockRange& range = cut[static_cast<size_t>(stage)];
            mine.push_back({std::max(1, range.first), std::min(last, range.last)});
        }
    }
}

void play_plan(const PlanSetup& setup, PlannedStep& step) {
    const parallel::ParallelPlan& plan = step.plan.request.plan;
    parallel::Durations durations = durations_of_plan(step.plan);
    for (double* time : {&durations.forward, &durations.input, &durations.weight, &durations.hop}) *time *= ms_a_us;
    const parallel::PipelineShape shape{.ranks = plan.pp, .microbatches = plan.microbatches, .chunks = plan.chunks};
    const parallel::Schedule schedule =
        parallel::make_schedule(plan.pp > 1 ? plan.schedule : "1f1b", parallel::timed_shape(shape, durations));
    step.on_time = parallel::time_schedule(schedule, durations);
    step.on_time.unit = "ms";
    const bool late = setup.late_factor > 0 && setup.late_replica >= 0;
    if (!late) return;
    const auto& actions = step.on_time.actions[static_cast<size_t>(setup.late_rank)];
    const auto is_late = [&](const parallel::ActionRun& run) {
        return (run.action.kind == parallel::ActionKind::backward ||
                run.action.kind == parallel::ActionKind::backward_input) &&
               run.action.microbatch == setup.late_microbatch;
    };
    const auto found = std::find_if(actions.begin(), actions.end(), is_late);
    if (found == actions.end()) return;
    const parallel::Action& action = found->action;
    durations.late = {setup.late_rank, action.kind, action.stage, action.microbatch,
                      setup.late_factor * (found->end - found->begin)};
    step.late_from = found->end;
    step.delayed = parallel::time_schedule(schedule, durations);
    step.delayed.unit = "ms";
}

}  // namespace

PlanSetup within_limits(PlanSetup setup) {
    parallel::ParallelPlan& p = setup.plan;
    p.cp = 1;
    p.tp = std::clamp(p.tp, 1, 64);
    p.pp = std::clamp(p.pp, 1, 64);
    p.dp = std::clamp(p.dp, 1, 4096);
    p.zero = std::clamp(p.zero, 0, 3);
    p.chunks = std::clamp(p.chunks, 1, 16);
    setup.microbatch = std::clamp<int64_t>(setup.microbatch, 1, 1024);
    setup.sequence = std::clamp<int64_t>(setup.sequence, 128, 1 << 20);
    const int64_t share = int64_t{p.dp} * setup.microbatch;
    p.microbatches = static_cast<int>(std::clamp<int64_t>(setup.batch / share, 1, 128));
    setup.batch = share * p.microbatches;
    setup.late_replica = std::clamp(setup.late_replica, -1, p.dp - 1);
    setup.late_rank = std::clamp(setup.late_rank, 0, p.pp - 1);
    setup.late_gpu = std::clamp(setup.late_gpu, 0, p.tp - 1);
    setup.late_microbatch = std::clamp(setup.late_microbatch, 0, p.microbatches - 1);
    setup.late_factor = std::isfinite(setup.late_factor) ? std::clamp(setup.late_factor, 0.0, 100.0) : 0;
    return setup;
}

PlannedStep plan_cluster_step(const PlanSetup& wanted) {
    const PlanSetup setup = within_limits(wanted);
    PlannedStep step;
    try {
        step.plan = parallel::plan_step(request_of_setup(setup));
        const parallel::PlanRequest& r = step.plan.request;
        step.title = fmt::format("{}, {:.3g} billion parameters, on {} {}", r.shape.name, step.plan.parameters * 1e-9,
                                 with_commas(r.plan.ranks()), r.gpu.title);
        play_plan(setup, step);
        set_layers(step);
        set_data_times(step);
        if (r.plan.tp > 1) {
            const parallel::PlanTime& time = step.plan.time;
            step.sums.a_layer = 2;
            step.sums.share = time.tensor / (time.forward + time.backward + time.recompute + time.tensor);
            step.sums.part_bytes =
                static_cast<double>(r.microbatch * r.sequence * r.shape.width) * static_cast<double>(size_of(r.compute));
        }
        const double pipeline = std::max(step.on_time.total, step.delayed.total);
        step.end = pipeline + step.sum_exposed + step.update + step.gather;
    } catch (const Failure& failure) {
        step.refusal = failure.diagnostic.message;
    }
    return step;
}

namespace {

PlanSetup plan_of_256() {
    return {.on = true};
}
// Llama 3, arXiv 2407.21783, table 4: 8-way tensor, 16 stages of 8 chunks, 128 replicas, a batch of 2048.
PlanSetup plan_of_405b() {
    const parallel::PlanRequest published = parallel::request_of(parallel::llama_rows()[1]);
    return {.on = true,
            .model = "llama3-405b",
            .gpu = "h100",
            .link = "ib-ndr",
            .plan = published.plan,
            .sequence = published.sequence,
            .batch = published.batch,
            .microbatch = published.microbatch,
            .late_replica = 40,
            .late_rank = 9,
            .late_gpu = 5,
            .late_microbatch = 12,
            .late_factor = 12};
}
constexpr PublishedPlan published_rows[] = {{"18 B on 256", plan_of_256}, {"405 B on 16,384", plan_of_405b}};

}  // namespace

std::span<const PublishedPlan> published_plans() {
    return published_rows;
}

ClusterSetup machine_cluster() {
    ClusterSetup setup;
    setup.plan = plan_of_256();
    return setup;
}

}  // namespace lockstep::scene
