// From the bottom: plan() takes a request through the stages refuse -> measure blocks (planner_cost.cpp) -> cut into stages
// -> play the schedule -> add up time and memory.
#include "core/parallel/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/device/meta.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/plan/cluster_tables.h"

namespace lockstep::parallel {

namespace {
BlockCost& operator+=(BlockCost& sum, const BlockCost& one) {
    sum.input_share = (sum.input_share * (sum.backward_work_us - sum.recompute_us) +
                       one.input_share * (one.backward_work_us - one.recompute_us)) /
                      std::max(1e-9, sum.backward_work_us - sum.recompute_us + one.backward_work_us - one.recompute_us);
    for (double BlockCost::*field :
         {&BlockCost::forward_us, &BlockCost::backward_us, &BlockCost::recompute_us, &BlockCost::forward_work_us,
          &BlockCost::backward_work_us, &BlockCost::tensor_us, &BlockCost::tensor_bytes, &BlockCost::context_us,
          &BlockCost::context_bytes, &BlockCost::context_exposed_us, &BlockCost::saved_bytes, &BlockCost::later_bytes,
          &BlockCost::parameters, &BlockCost::forward_operations, &BlockCost::backward_operations})
        sum.*field += one.*field;
    sum.working_bytes = std::max(sum.working_bytes, one.working_bytes);
    sum.output_bytes = one.output_bytes;
    return sum;
}

// How often a step reduces gradients over the data-parallel ranks, and for how long after a pipeline's last action.
struct Reductions {
    double times = 1;
    double exposed_us = -1;  // below 0: not played
};
GroupPlace data_place(const PlanRequest& r) {
    const int ranks = r.plan.dp * r.plan.cp;
    return {ranks, std::clamp(r.machine.gpus_per_node / r.plan.tp, 1, ranks)};
}

// On every rank each run of micro-batches through a stage ends with a reduction, behind what the rank does next; within
// the run's last backward all blocks but one go ahead. Then they queue.
Reductions reductions_of(const Schedule& schedule, const ScheduleRun& run, const std::vector<BlockCost>& stages,
                         const PlanRequest& r) {
    Reductions found{.times = 1, .exposed_us = 0};
    const double blocks = std::max(1.0, double(count_blocks(r.shape)) / double(stages.size()));
    for (size_t rank = 0; rank < run.actions.size(); ++rank) {
        const std::vector<char> ends = ends_of_runs(schedule, static_cast<int>(rank));
        double queue_us = 0, count = 0;
        for (const ActionRun& ran : run.actions[rank]) {
            const Action& action = ran.action;
            if (action.kind != ActionKind::backward && action.kind != ActionKind::backward_weight) continue;
            if (!ends[size_t(action.stage) * size_t(schedule.microbatches) + size_t(action.microbatch)]) continue;
            const double bytes = stages[size_t(action.stage)].parameters * double(size_of(r.gradients));
            const double begin = r.plan.bucket_bytes > 0 ? ran.end - (ran.end - ran.begin) * (blocks - 1) / blocks : ran.end;
            queue_us = std::max(queue_us, begin) +
                       collective_us(r.machine, data_place(r), PlannedCollective::reduce_scatter, bytes);
            ++count;
        }
        found.times = std::max(found.times, count / double(schedule.chunks));
        found.exposed_us = std::max(found.exposed_us, queue_us - run.total);
    }
    return found;
}

void refuse_plan(const PlanRequest& r) {
    if (!r.shape.decodes())
        throw Failure(
            fmt::format("plans are made for language models, and {} is none: gpt, llama and llama3-8b are", r.shape.name));
    if (r.sequence < 1 || r.batch < 1 || r.microbatch < 1)
        throw Failure("a plan needs sequences of at least 1 token, and a batch and micro-batches of at least 1 sequence");
    constexpr int64_t longest = 1 << 24, largest = 1 << 30;
    if (r.sequence > longest || r.microbatch > 65536 || r.batch > largest)
        throw Failure(
            fmt::format("a plan is for sequences of at most {} tokens, micro-batches of at most 65536 sequences and "
                        "batches of at most {}",
                        longest, largest));
    if (r.batch % (int64_t{r.plan.dp} * r.microbatch))
        throw Failure(fmt::format("--dp {} times --microbatch {} does not divide a batch of {}: a batch of {} would do",
                                  r.plan.dp, r.microbatch, r.batch,
                                  (r.batch / (r.plan.dp * r.microbatch) + 1) * r.plan.dp * r.microbatch));
    if (r.plan.pp > 1 && r.batch / (r.plan.dp * r.microbatch) * r.plan.pp * r.plan.chunks > 1 << 21)
        throw Failure(
            fmt::format("{} micro-batches through {} stages are more than can be played: more --dp or a larger "
                        "--microbatch would do",
                        r.batch / (r.plan.dp * r.microbatch), r.plan.pp * r.plan.chunks));
    ParallelPlan without_chunks = r.plan;
    without_chunks.chunks = without_chunks.microbatches = 1;
    if (const auto why = refusal(without_chunks, r.shape, r.batch)) throw Failure(*why);
    const bool twice = r.plan.pp > 1 && schedule_named(r.plan.schedule).copies > 1;
    const int stages = r.plan.pp * (twice ? 1 : r.plan.chunks), blocks = count_blocks(r.shape);
    if (r.plan.pp > 1 && stages > blocks)
        throw Failure(fmt::format("--pp {} x --chunks {} makes {} stages of {} blocks: {} or fewer would do", r.plan.pp,
                                  r.plan.chunks, stages, blocks, blocks));
}
}  // namespace

ModelShape plan_shape_named(const std::string& name) {
    std::vector<std::string> known;
    for (const MegatronRow& row : megatron_rows()) {
        if (row.name == name) return shape_of(row);
        known.emplace_back(row.name);
    }
    try {
        return shape_named(name);
    } catch (const Failure&) {
        const std::string near = nearest_name(name, known);
        if (near.empty()) throw;
        throw Failure(fmt::format("no model '{}' can be planned, did you mean '{}'?", name, near));
    }
}

double memory_bytes(const model::GpuSpec& gpu) {
    return gpu.memory_gb * double(1 << 30);
}

PlanMemory state_memory(double parameters, int zero, int ranks, DType compute, DType gradients) {
    const double n = ranks;
    PlanMemory memory;
    memory.weights = parameters * double(size_of(compute)) / (zero >= 3 ? n : 1);
    memory.gradients = parameters * double(size_of(gradients)) / (zero >= 2 ? n : 1);
    memory.optimizer = parameters * 12 / (zero >= 1 ? n : 1);  // f32: weights, mean, mean of squares
    return memory;
}

const std::vector<BlockRange>& Planner::cut_of(const PlanRequest& r, int pieces) {
    const ParallelPlan& plan = r.plan;
    std::vector<BlockRange>& cut = cuts_[fmt::format("{} {} {} {} {}", r.shape.name, r.shape.layers, r.shape.context, pieces,
                                                     fmt::join(plan.cut, ","))];
    if (cut.empty()) cut = plan.pp == 1 ? cut_into_stages(r.shape, pieces) : cut_of_plan(r.shape, plan, pieces);
    return cut;
}

const Schedule& Planner::schedule_for(const PlanRequest& r, const Durations& durations, const BlockCost& layer) {
    const ParallelPlan& plan = r.plan;
    PipelineShape shape{.ranks = plan.pp, .microbatches = plan.microbatches, .chunks = plan.chunks};
    std::string key = fmt::format("{} {} {} {}", plan.schedule, plan.pp, plan.microbatches, plan.chunks);
    if (schedule_named(plan.schedule).searched) {
        shape = timed_shape(shape, durations);
        shape.kept = std::clamp(layer.later_bytes / std::max(1.0, layer.saved_bytes), 0.0, 1.0);
        key += fmt::format(" {} {} {} {} {}", shape.forward, shape.input, shape.weight, durations.hop, shape.kept);
    }
    Schedule& schedule = schedules_[key];
    if (schedule.actions.empty()) schedule = make_schedule(plan.schedule, shape);
    return schedule;
}

namespace {
// Between stages each tp rank sends its part, and the node gathers them.
double hop_between_stages(const PlanRequest& r, const BlockCost& layer) {
    const ParallelPlan& plan = r.plan;
    if (plan.pp == 1) return 0;
    const int inside = plan.ranks() <= r.machine.gpus_per_node;
    const bool whole = plan.tp > 1 && !plan.sequence_parallel;
    const double bytes = layer.output_bytes;
    double hop = collective_us(r.machine, {2, inside ? 2 : 1}, PlannedCollective::message, whole ? bytes / plan.tp : bytes);
    if (whole)
        hop += collective_us(r.machine, {plan.tp, std::min(plan.tp, r.machine.gpus_per_node)}, PlannedCollective::all_gather,
                             bytes);
    return hop;
}

Durations durations_of(const std::vector<BlockCost>& stages, int ranks, double hop) {
    double forward = 0, input = 0, weight = 0;
    for (const BlockCost& stage : stages) {
        const double arithmetic = stage.backward_work_us - stage.recompute_us;
        const double later = arithmetic * (1 - stage.input_share);
        forward += stage.forward_us, weight += later, input += stage.backward_us - later;
    }
    const double mean = (forward + input + weight) / double(stages.size()), unit = 1.0 / ranks;
    Durations durations{.forward = forward * unit, .input = input * unit, .weight = weight * unit, .hop = hop};
    for (const BlockCost& stage : stages) durations.of_stage.push_back((stage.forward_us + stage.backward_us) / mean);
    return durations;
}

// The most activations that a pipeline rank keeps.
double most_activations(const std::vector<ActionRun>& actions, const std::vector<BlockCost>& stages) {
    double alive = 0, most = 0;
    for (const ActionRun& ran : actions) {
        if (!computes(ran.action.kind) || ran.action.stage < 0) continue;
        const BlockCost& stage = stages[size_t(ran.action.stage)];
        if (ran.action.kind == ActionKind::forward) alive += stage.saved_bytes;
        if (ran.action.kind == ActionKind::backward_input) alive += stage.later_bytes - stage.saved_bytes;
        most = std::max(most, alive);
        if (ran.action.kind == ActionKind::backward) alive -= stage.saved_bytes;
        if (ran.action.kind == ActionKind::backward_weight) alive -= stage.later_bytes;
    }
    return most;
}

struct Played {  // the pipeline's schedule with the stages' times; of one rank: one stage alone
    std::vector<BlockCost> stages;
    std::vector<std::vector<int>> stages_of = {{0}};  // by pipeline rank
    std::vector<double> activation;                   // bytes, by pipeline rank: the most alive
    std::vector<int> versions;                        // of the weights, by pipeline rank
    double pipeline_us = 0, bubble_of_total = 0, hop = 0;
    size_t busiest = 0;
    Reductions reductions;
    Durations durations;

    BlockCost of_rank(size_t rank) const {
        BlockCost sum;
        for (const int stage : stages_of[rank]) sum += stages[size_t(stage)];
        return sum;
    }
    void play(const PlanRequest& r, const Schedule& schedule) {
        if (schedule.stages() != static_cast<int>(stages.size()))
            throw Failure(fmt::format("{} cuts the model into {} pieces a rank: --chunks {} plans it", r.plan.schedule,
                                      schedule.chunks, schedule.chunks));
        const ScheduleRun run = time_schedule(schedule, durations);
        pipeline_us = run.cost / schedule.batches;
        versions.assign(run.weight_versions.begin(), run.weight_versions.end());
        bubble_of_total = run.bubble_of_total();
        stages_of = schedule.stages_of;
        busiest = size_t(std::max_element(run.busy.begin(), run.busy.end()) - run.busy.begin());
        for (size_t rank = 0; rank < run.actions.size(); ++rank)
            activation[rank] = most_activations(run.actions[rank], stages);
        if (r.plan.zero >= 2 && schedule.copies == 1) reductions = reductions_of(schedule, run, stages, r);
    }
};

PlanMemory memory_of_rank(const PlanRequest& r, const Played& played, size_t rank, const BlockCost& layer, int copies) {
    const ParallelPlan& plan = r.plan;
    const BlockCost sum = played.of_rank(rank);
    PlanMemory memory = state_memory(sum.parameters, plan.zero, plan.dp * plan.cp, r.compute, r.gradients);
    if (plan.offload) memory.optimizer = 0;
    if (plan.zero >= 2 && copies > 1) {  // until both copies are added up
        memory.gradients += sum.parameters * double(size_of(r.gradients));
    } else if (plan.zero >= 2 && plan.pp > 1 && plan.chunks > 1) {  // of two stages whole ones
        double largest = 0;
        for (const int stage : played.stages_of[rank]) largest = std::max(largest, played.stages[size_t(stage)].parameters);
        memory.gradients += 2 * largest * double(size_of(r.gradients));
    }
    memory.weights *= played.versions[rank];
    memory.activations = played.activation[rank];
    memory.buffers = sum.working_bytes + 2 * double(plan.bucket_bytes);
    if (plan.zero >= 3) memory.buffers += 2 * layer.parameters * double(size_of(r.compute));
    return memory;
}

// Gradients and weights over the data-parallel ranks, hidden behind the last backward and the first forward. full: of the
// fullest rank; m: micro-batches through each of its stages.
PlanAxis data_axis(const PlanRequest& r, const Reductions& reductions, const BlockCost& full, int copies, double m) {
    const ParallelPlan& plan = r.plan;
    const int data_ranks = plan.dp * plan.cp;
    const GroupPlace data = data_place(r);
    const double gradient_bytes = full.parameters * double(size_of(r.gradients));
    const double weight_bytes = full.parameters * double(size_of(r.compute));
    const bool hides = plan.bucket_bytes > 0, at_end = copies > 1 && plan.zero < 3;  // gradients of two copies
    const double blocks = std::max(1.0, double(count_blocks(r.shape)) / plan.pp);
    const double behind_backward = hides && !at_end ? full.backward_us * (blocks - 1) / blocks : 0;
    const double behind_forward = hides ? full.forward_us * (blocks - 1) / blocks : 0;
    PlanAxis dp{.name = "dp"};
    const double share = double(data_ranks - 1) / data_ranks;
    const auto scatter = collective_us(r.machine, data, PlannedCollective::reduce_scatter, gradient_bytes);
    const auto gather = collective_us(r.machine, data, PlannedCollective::all_gather, weight_bytes);
    if (plan.zero == 0) {
        dp.us = collective_us(r.machine, data, PlannedCollective::all_reduce, gradient_bytes);
        dp.bytes = 2 * share * gradient_bytes;
        dp.exposed_us = std::max(0.0, dp.us - behind_backward);
    } else if (plan.zero < 3) {
        dp.us = reductions.times * scatter + gather;
        dp.bytes = share * (reductions.times * gradient_bytes + weight_bytes);
        const double between = (reductions.times - 1) * (full.forward_us + full.backward_us);  // without a pipeline
        dp.exposed_us = reductions.exposed_us >= 0
                            ? reductions.exposed_us
                            : std::max(0.0, reductions.times * scatter - (hides ? between : 0) - behind_backward);
        dp.exposed_us += gather;  // Buckets::share_weights() waits for it
    } else {  // no rank has room for whole ones: gathered for every forward and backward, reduced behind every backward
        const double each = reductions.times / m * scatter;
        dp.us = m * (each + 2 * gather);
        dp.bytes = share * (reductions.times * gradient_bytes + 2 * m * weight_bytes);
        dp.exposed_us = m * (std::max(0.0, gather - behind_forward) + std::max(0.0, each + gather - behind_backward));
    }
    return dp;
}

// DualPipe: the gradients of each rank's stages with the rank that holds the same ones.
PlanAxis mirrors_axis(const PlanRequest& r, const BlockCost& full, int copies) {
    PlanAxis mirrors{.name = "pp copies"};
    if (copies == 1) return mirrors;
    const int near = r.plan.ranks() <= r.machine.gpus_per_node ? 2 : 1;
    mirrors.bytes = full.parameters * double(size_of(r.gradients));
    mirrors.us = mirrors.exposed_us = collective_us(r.machine, {2, near}, PlannedCollective::all_reduce, mirrors.bytes);
    return mirrors;
}

double update_us(const PlanRequest& r, const OpTimes& times, double parameters) {
    const double updated = parameters / (r.plan.zero >= 1 ? r.plan.dp * r.plan.cp : 1);
    const double us = times.bytes_us(updated * (double(size_of(r.gradients)) + 24 + double(size_of(r.compute))));
    if (!r.plan.offload) return us;  // otherwise gradients go to the host, weights come back
    return us + updated * double(size_of(r.gradients) + size_of(r.compute)) / (r.gpu.pinned_gb_per_second * 1e3);
}

// Of one rank's micro-batch through the whole model, with what is computed again.
double executed_operations(const ModelCost& plain, const ModelShape& shape, Recompute recompute) {
    const double forwards = recompute == Recompute::full ? 2 : 1;
    return (plain.layer.forward_operations * forwards + plain.layer.backward_operations) * double(shape.layers) +
           plain.head.forward_operations + plain.head.backward_operations;
}
}  // namespace

PlanResult Planner::plan(const PlanRequest& given) {
    PlanRequest request = given;
    refuse_plan(request);
    ParallelPlan& plan = request.plan;
    plan.microbatches = static_cast<int>(request.batch / (plan.dp * request.microbatch));
    if (plan.pp > 1 && plan.chunks == 1) plan.chunks = std::max(1, schedule_named(plan.schedule).chunks);
    request.machine.efficiency = request.efficiencies.network;
    const ModelCost cost = cost_of(request);
    PlanRequest placed = request;
    placed.shape.context = request.sequence;
    // DualPipe: a rank holds two stages, and half of the micro-batches go through each.
    const int copies = plan.pp > 1 ? schedule_named(plan.schedule).copies : 1;
    const double m = double(plan.microbatches) / copies;  // through each of a rank's stages

    Played played;
    const int last = count_blocks(placed.shape) - 1;
    for (const BlockRange& range : cut_of(placed, plan.pp == 1 ? 1 : plan.pp * plan.chunks / copies)) {
        BlockCost& sum = played.stages.emplace_back();
        for (int block = range.first; block < range.last; ++block)
            sum += block == 0 ? cost.tokens : block == last ? cost.head : cost.layer;
    }
    played.activation.assign(size_t(plan.pp), played.stages[0].saved_bytes);
    played.versions.assign(size_t(plan.pp), 1);
    played.pipeline_us = m * (played.stages[0].forward_us + played.stages[0].backward_us);
    played.reductions.times = plan.zero >= 2 && copies == 1 ? m : 1;
    played.hop = hop_between_stages(request, cost.layer);
    if (plan.pp > 1) {
        played.durations = durations_of(played.stages, plan.pp, played.hop);
        played.play(request, schedule_for(request, played.durations, cost.layer));
    }

    PlanResult result;
    size_t fullest = 0;
    for (size_t rank = 0; rank < played.stages_of.size(); ++rank) {
        const PlanMemory memory = memory_of_rank(request, played, rank, cost.layer, copies);
        if (memory.total() > result.memory.total()) result.memory = memory, fullest = rank;
    }
    const BlockCost busy = played.of_rank(played.busiest), full = played.of_rank(fullest);
    result.parameters_here = full.parameters;
    const PlanAxis dp = data_axis(request, played.reductions, full, copies, m);
    const PlanAxis mirrors = mirrors_axis(request, full, copies);
    const OpTimes times(request.gpu, request.efficiencies);
    PlanTime& time = result.time;
    time.update = update_us(request, times, full.parameters);
    time.forward = m * busy.forward_work_us;
    time.backward = m * (busy.backward_work_us - busy.recompute_us);
    time.recompute = m * busy.recompute_us;
    time.tensor = m * busy.tensor_us;
    time.context = m * busy.context_exposed_us;
    time.data = dp.exposed_us + mirrors.exposed_us;
    time.bubble = played.pipeline_us - time.forward - time.backward - time.recompute - time.tensor - time.context;
    if (std::abs(time.bubble) < 1e-9 * played.pipeline_us) time.bubble = 0;
    result.step_us = time.total();
    result.bubble_of_total = played.bubble_of_total;
    result.durations = std::move(played.durations);

    if (plan.tp > 1) result.axes.push_back({"tp", m * busy.tensor_bytes, time.tensor, time.tensor});
    if (plan.cp > 1) result.axes.push_back({"cp", m * busy.context_bytes, m * busy.context_us, time.context});
    const double messages = 2 * m * plan.chunks;  // an activation and a gradient a stage
    if (plan.pp > 1) result.axes.push_back({"pp", messages * cost.layer.output_bytes, messages * played.hop, 0});
    if (copies > 1) result.axes.push_back(mirrors);
    if (plan.dp * plan.cp > 1) result.axes.push_back(dp);

    result.parameters = double(parameters_of(placed.shape));
    result.tokens = double(request.batch) * double(request.sequence);
    const double gpus = plan.ranks(), seconds = result.step_us * 1e-6;
    for (size_t block = 1; const int64_t operations : operations_of_blocks(placed.shape))
        if (block++ > 1) result.model_operations += 3 * double(operations) * result.tokens;
    PlanRequest without = request;
    without.plan.recompute = Recompute::none;
    const double rows = gpus / plan.pp * plan.microbatches;  // ranks of a stage, times micro-batches
    result.executed_operations = executed_operations(cost_of(without), request.shape, plan.recompute) * rows;
    result.tokens_per_second = result.tokens / seconds;
    result.tflops = result.model_operations / gpus / seconds * 1e-12;
    result.executed_tflops = result.executed_operations / gpus / seconds * 1e-12;
    result.mfu = result.tflops / times.peak_tflops(request.compute);
    result.fits = result.memory.total() <= memory_bytes(request.gpu);
    result.power = step_power(request.gpu, plan.ranks(), result.step_us, result.tokens, request.power);
    result.request = std::move(request);
    return result;
}

PlanResult plan_step(const PlanRequest& request) {
    Planner planner;
    return planner.plan(request);
}

}  // namespace lockstep::parallel
