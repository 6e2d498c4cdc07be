// A step of one rank: micro-batches forward and back, buckets of gradients on their way meanwhile, the update of what it
// owns, weights shared again. What it is made of: rank_build.cpp; the state of checkpoints: rank_state.cpp.
#include "core/parallel/train/rank_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/layers/rules.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/train/rank_learning.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::Purpose;
using tensor::Tensor;
using tensor::Variable;

namespace {
constexpr double host_link_gigabytes_per_s = 32;  // PCIe 4.0 x16, one direction (PCI-SIG)
}  // namespace

MemoryBytes RankTrainer::memory_now() const {
    const tensor::BytesByPurpose& live = heap_.live_by_purpose();
    const auto of = [&](Purpose purpose) { return live[static_cast<size_t>(purpose)]; };
    const int64_t settings = learning_ ? learning_->settings_bytes : 0;  // a few numbers that no formula counts
    return {of(Purpose::parameter), of(Purpose::gradient), of(Purpose::optimizer) - settings,
            of(Purpose::activation) + of(Purpose::data), of(Purpose::buffer) + settings};
}

void RankTrainer::note_memory() {
    if (!noting_) return;
    const MemoryBytes now = memory_now();
    if (const int64_t sum = sum_of(now); sum > peak_) {
        peak_ = sum;
        noting_->peak = now;
    }
    if (!options_.keep_memory) return;
    const double time = rank_.world.time_us();
    std::vector<MemoryPoint>& points = noting_->memory;
    // At one moment the largest and the last are kept.
    const size_t n = points.size();
    if (n >= 2 && points[n - 1].time_us == time && points[n - 2].time_us == time &&
        sum_of(points[n - 1].bytes) <= sum_of(points[n - 2].bytes))
        points.pop_back();
    else if (n >= 2 && points[n - 1].time_us == time && points[n - 2].time_us == time)
        points.erase(points.end() - 2);
    points.push_back({time, now});
}

double RankTrainer::loss_over_all(double own) {
    const Purposeful purpose(log_, "losses");
    const bool meta = device_->name() == "meta";
    double loss = rank_.along("tp") == 0 ? own : 0;
    if (rank_.world.size() > 1) rank_.world.all_reduce({meta ? nullptr : &loss, 1, DType::f64});
    return loss;
}

bool RankTrainer::has_batch() const {
    const auto worker = static_cast<size_t>(rank_.along("dp"));
    return worker >= options_.batches_of_worker.size() || next_ < options_.batches_of_worker[worker];
}

RankTrainer::Stepped RankTrainer::step() {
    Stepped stepped;
    RankStep& record = stepped.rank;
    log_.clear();
    *log_.calls = {.step = next_, .list = {}};
    heap_.recycle();
    if (host_heap_) host_heap_->recycle();
    record.begin_us = rank_.world.time_us();
    noting_ = &record;
    peak_ = 0;
    struct Stop {
        RankStep*& noting;
        ~Stop() { noting = nullptr; }
    } stop{noting_};
    note_memory();
    buckets_->begin_step();
    if (gathered_) gathered_->begin_step();
    if (options_.plan.pp > 1)
        train_pipeline(stepped);
    else
        train_alone(stepped);
    if (gathered_) gathered_->let_go_all();
    buckets_->finish();
    tape_.clear();
    record.kept = memory_now();
    update();
    buckets_->share_weights();
    turn_bit();
    stepped.loss = loss_over_all(record.loss);
    record.end_us = rank_.world.time_us();
    log_.leave(record);
    record.copied_bytes = learning_->copied_bytes;
    if (host_heap_) {
        for (const int64_t bytes : host_heap_->live_by_purpose()) record.host_bytes += bytes;
    }
    ++next_;
    return stepped;
}

double RankTrainer::share_of(int part) const {
    return apart_ ? 1.0 / options_.plan.microbatches : examples_.share(rank_, part);
}

void RankTrainer::train_alone(Stepped& stepped) {
    const ParallelPlan& plan = options_.plan;
    const nn::TrainerOptions& training = options_.training;
    const bool meta = device_->name() == "meta";
    for (int part = 0; part < plan.microbatches; ++part) {
        tape_.clear();
        if (part > 0) heap_.recycle();
        rank_.forward_begins(tape_);
        const MicroBatch batch = examples_.micro_batch(rank_, next_, part, training.dtype);
        nn::Pass pass{.tape = tape_,
                      .training = true,
                      .random = {training.seed, (static_cast<uint64_t>(next_) << 32) + (static_cast<uint64_t>(part) << 24)},
                      .step = next_};
        Variable x =
            tensor::floating(batch.input.dtype) ? tape_.input(batch.input, "x") : tape_.label(batch.input, "tokens");
        for (int b = held_[0].first; b < held_[0].last; ++b) {
            const About about(log_, model_->blocks[static_cast<size_t>(b)].name);
            x = model_->blocks[static_cast<size_t>(b)].forward(pass, x, batch);
        }
        Tensor seed = learning_->optimizer->seed(*update_);
        const double share = share_of(part);
        if ((share != 1 || (seed && host_heap_)) && !meta) {
            const double scale = seed ? tensor::values_of(update_->heap(), seed)[0] : 1, weight[] = {share * scale};
            seed = tensor::tensor_from(heap_, x.shape(), weight, "share", Purpose::data, x.dtype());
        }
        const int loss = x.node;
        const tensor::Root root{x, seed};
        x.value = {};
        tape_.begin_backward(std::span(&root, 1));
        while (const std::optional<int> node = tape_.step_backward()) rank_.backward_took(tape_, *node);
        if (!meta) stepped.rank.loss += share == 1 ? tape_.values(loss)[0] : share * tape_.values(loss)[0];
    }
}

void RankTrainer::train_pipeline(Stepped& stepped) {
    const nn::TrainerOptions& training = options_.training;
    const bool meta = device_->name() == "meta";
    double scale = 1;
    if (const Tensor seed = learning_->optimizer->seed(*update_); seed && !meta)
        scale = tensor::values_of(update_->heap(), seed)[0];
    const auto take = [this](PipelineResult& result, size_t parameter) {
        if (Tensor gradient = std::move(result.gradients[parameter])) {
            result.gradients[parameter] = {};
            buckets_->arrived(parameter, std::move(gradient));
        }
    };
    const double share = examples_.share(rank_, 0);
    PipelineResult result =
        run_pipeline({.rank = rank_,
                      .model = *model_,
                      .schedule = schedule_,
                      .stages = stages_,
                      .batch = [&](int i) { return examples_.micro_batch(rank_, next_, i, training.dtype); },
                      .share = [&](int) { return share * scale; },
                      .gradient_done = take,
                      .by_runs = options_.plan.zero >= 2,
                      .add_copies = false,
                      .after =
                          [this](const Action& action, tensor::Tape&) {
                              if (gathered_ && action.kind != ActionKind::update) gathered_->let_go_all();
                          },
                      .step = next_});
    for (size_t i = 0; i < result.gradients.size(); ++i) take(result, i);
    if (!meta)
        for (size_t i = 0; i < result.losses.size(); ++i)
            if (schedule_.rank_of(schedule_.stages() - 1, static_cast<int>(i)) == rank_.along("pp"))
                stepped.rank.loss += share * result.losses[i];
    stepped.row = std::move(result.row);
}

// The executor leaves the weights that micro-batches under way still need where they are, and gives the newest ones another
// place, to which the optimiser follows; in the end they are in their buckets again.
std::vector<RankTrainer::Stepped> RankTrainer::steps_without_flush() {
    const bool meta = device_->name() == "meta";
    const int64_t first = next_;
    const int per_update = schedule_.per_update;
    std::vector<Stepped> steps(static_cast<size_t>(options_.steps));
    std::vector<Tensor> homes;
    for (const ShardedParameter& shard : model_->shards) homes.push_back(shard.parameter->value);
    Learning& l = *learning_;
    const auto optimiser_follows = [&] {
        for (size_t i = 0; i < l.own.size(); ++i) {
            const BucketSlot& slot = buckets_->all()[l.rows[i].bucket].slots[size_t(l.rows[i].slot)];
            l.own[i].value = model_->shards[slot.parameter].parameter->value;
        }
    };
    const auto open = [&](size_t step) {
        log_.clear();
        noting_ = &steps[step].rank;
        noting_->begin_us = rank_.world.time_us();
        peak_ = 0;
        note_memory();
        buckets_->begin_step();
    };
    const auto close = [&](RankStep& record) {
        record.end_us = rank_.world.time_us();
        log_.leave(record);
    };
    struct Stop {
        RankStep*& noting;
        ~Stop() { noting = nullptr; }
    } stop{noting_};
    heap_.recycle();
    open(0);
    const double share = examples_.share(rank_, 0);
    PipelineResult result = run_pipeline({.rank = rank_,
                                          .model = *model_,
                                          .schedule = schedule_,
                                          .stages = stages_,
                                          .batch =
                                              [&](int i) {
                                                  return examples_.micro_batch(rank_, first + i / per_update, i % per_update,
                                                                               options_.training.dtype);
                                              },
                                          .share = [&](int) { return share; },
                                          .update =
                                              [&](PipelineResult& sums, int batch, int) {
                                                  const auto step = static_cast<size_t>(batch);
                                                  for (size_t i = 0; i < sums.gradients.size(); ++i)
                                                      if (Tensor sum = std::move(sums.gradients[i]))
                                                          buckets_->arrived(i, std::move(sum));
                                                  buckets_->finish();
                                                  optimiser_follows();
                                                  steps[step].rank.kept = memory_now();
                                                  update();
                                                  ++next_;
                                                  if (step + 1 == steps.size()) return;
                                                  close(steps[step].rank);
                                                  open(step + 1);
                                              },
                                          .step = first});
    for (size_t i = 0; i < homes.size(); ++i) {
        Tensor& value = model_->shards[i].parameter->value;
        if (value.pointer() != homes[i].pointer())
            launches_.launch(tensor::copy_strided(value, homes[i]), "newest weights", "update", value.dtype);
        value = homes[i];
    }
    launches_.clear();
    optimiser_follows();
    std::vector<double> losses(steps.size());
    if (!meta)
        for (size_t i = 0; i < result.losses.size(); ++i)
            if (schedule_.stages_of[size_t(rank_.along("pp"))].back() + 1 == schedule_.stages())
                losses[i / static_cast<size_t>(per_update)] += share * result.losses[i];
    for (size_t step = 0; step < steps.size(); ++step) {
        steps[step].rank.loss = losses[step];
        if (rank_.along("tp") > 0) losses[step] = 0;
    }
    {
        const Purposeful purpose(log_, "losses");
        rank_.world.all_reduce({meta ? nullptr : losses.data(), static_cast<int64_t>(losses.size()), DType::f64});
    }
    for (size_t step = 0; step < steps.size(); ++step) steps[step].loss = losses[step];
    close(steps.back().rank);
    steps.back().row = std::move(result.row);
    return steps;
}

// Gradients as the optimiser takes them -> its step -> weights as layers see them.
void RankTrainer::update() {
    Learning& l = *learning_;
    tensor::Tape& tape = *update_;
    tape.clear();
    const bool meta = device_->name() == "meta", offload = host_heap_.has_value();
    std::vector<tensor::Root> roots;
    l.copied_bytes = 0;
    std::vector<std::byte> bytes;
    const auto moved = [&](device::Device& from, const Tensor& source, device::Device& to, const Tensor& target) {
        bytes.resize(static_cast<size_t>(source.bytes()));
        l.copied_bytes += source.bytes();
        if (meta) return;
        from.copy_out(bytes.data(), source.pointer(), bytes.size());
        to.copy_in(target.pointer(), bytes.data(), bytes.size());
    };
    {
        const tensor::NoGrad none(tape);
        for (size_t i = 0; i < l.own.size(); ++i) {
            const Bucket& bucket = buckets_->all()[l.rows[i].bucket];
            Tensor gradient = l.rows[i].slot < 0 ? bucket.own_gradients()
                                                 : buckets_->gradient_of(bucket, bucket.slots[size_t(l.rows[i].slot)]);
            if (offload) {
                const Tensor there = make_tensor(*host_heap_, gradient.shape, "gradient", Purpose::buffer, gradient.dtype);
                moved(*device_, gradient, *host_, there);
                gradient = there;
            }
            if (gradient.dtype != l.own[i].value.dtype)
                gradient = tensor::cast(tape, tape.input(gradient, "gradient"), l.own[i].value.dtype, "full").value;
            roots.push_back({{-1, l.own[i].value}, gradient});
        }
    }
    for (size_t i = 0; i < l.own.size(); ++i) {
        roots[i].variable = tape.parameter(l.own[i].value, l.own[i].name);
        l.own[i].node = roots[i].variable.node;
    }
    l.optimizer->set_lr(nn::rate_at(options_.training, next_));
    if (!roots.empty()) {
        tape.backward(roots);
        roots.clear();
        buckets_->release_gradients();
        l.optimizer->step(tape);
    } else if (l.optimizer->sum_squares) {
        sum_squares({});  // the others wait for it
    }
    rank_.world.advance(rank_.times.bytes_us(l.optimizer->bytes_per_step()), "update");
    if (l.half_weights || offload) {
        const tensor::NoGrad none(tape);
        for (size_t i = 0; i < l.own.size(); ++i) {
            const Bucket& bucket = buckets_->all()[l.rows[i].bucket];
            const Tensor to = l.rows[i].slot < 0
                                  ? bucket.own_weights()
                                  : model_->shards[bucket.slots[size_t(l.rows[i].slot)].parameter].parameter->value;
            Tensor from = l.own[i].value;
            if (from.dtype != to.dtype) from = tensor::cast(tape, tape.input(from, "full"), to.dtype, "half").value;
            if (offload)
                moved(*host_, from, *device_, to);
            else
                launches_.launch(tensor::copy_strided(from, to), "half", "update", to.dtype);
        }
    }
    if (l.copied_bytes > 0) rank_.world.advance(double(l.copied_bytes) / (host_link_gigabytes_per_s * 1000), "offload");
    tape.clear();
    launches_.clear();
}

}  // namespace lockstep::parallel
