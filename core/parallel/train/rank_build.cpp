// What a rank is made of before its first step: its blocks and buckets, who owns which weights, and how a block's forward
// gathers what is cut. The steps themselves: rank_trainer.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/nn/layers/rules.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/train/rank_learning.h"
#include "core/parallel/train/rank_trainer.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::Purpose;
using tensor::Tensor;
using tensor::Variable;

namespace {
std::unique_ptr<device::Device> device_of_rank(const nn::TrainerOptions& training) {
    return device::open_device(training.device, {.functional = training.functional, .threads = 1, .stop = training.stop})
        .value();
}

bool half_precision(DType type) {
    return type == DType::f16 || type == DType::bf16;
}

std::vector<int> ranks_with_the_same_weights(const Mesh& mesh, int rank) {
    std::vector<int> ranks;
    for (int other = 0; other < mesh.ranks(); ++other)
        if (mesh.coordinate(other, "pp") == mesh.coordinate(rank, "pp") &&
            mesh.coordinate(other, "tp") == mesh.coordinate(rank, "tp"))
            ranks.push_back(other);
    return ranks;
}
}  // namespace

bool never_flushes(const ParallelPlan& plan) {
    return plan.pp > 1 && schedule_named(plan.schedule).versions;
}

Schedule schedule_of(const ParallelOptions& options) {
    const ParallelPlan& plan = options.plan;
    return make_schedule(plan.schedule, {.ranks = plan.pp,
                                         .microbatches = plan.microbatches,
                                         .chunks = plan.chunks,
                                         .batches = never_flushes(plan) ? static_cast<int>(options.steps) : 0});
}

RankTrainer::RankTrainer(const ParallelOptions& options, comm::Communicator& world, const OpTimes& times,
                         const Examples& examples, std::shared_ptr<CollectiveCalls> calls, bool apart)
    : options_(options_of_rank(options, world.rank())),
      examples_(examples),
      apart_(apart),
      log_{.mesh = mesh_of(options.plan),
           .keep_spans = options.keep_spans,
           .library = options.library_collectives,
           .keep_messages = options.keep_messages},
      world_(counted(world, log_)),
      device_(device_of_rank(options.training)),
      heap_(*device_),
      tape_(heap_),
      launches_(heap_),
      rank_(make_rank(options_.plan, *world_, *device_, heap_, times)) {
    if (calls) log_.calls = std::move(calls);
    listener_.on_bytes = [this] { note_memory(); };
    heap_.listen(&listener_);
    build();
    make_learning();
    wrap_blocks();
    check_told();
    log_.clear();
}

void RankTrainer::check_told() const {
    for (const ToldRank& told : options_.told) {
        if (told.name != "flip" || told.rank != rank_.world.rank()) continue;
        const size_t at = told.value.rfind('@');
        const std::string step = at == std::string::npos ? "" : told.value.substr(at + 1);
        if (step.empty() || step.find_first_not_of("0123456789") != std::string::npos)
            throw Failure(fmt::format("--on-rank {}:flip={}: write PARAMETER@STEP", told.rank, told.value));
        std::vector<std::string> names;
        for (const ShardedParameter& shard : model_->shards) names.push_back(shard.parameter->name);
        if (const std::string name = told.value.substr(0, at); std::find(names.begin(), names.end(), name) == names.end())
            throw Failure(fmt::format("--on-rank {}:flip={}: rank {} has no parameter {}{}", told.rank, told.value,
                                      told.rank, name, did_you_mean(name, names)));
    }
}

RankTrainer::~RankTrainer() {
    heap_.listen(nullptr);
}

// Blocks, with half precision their half weights, and buckets.
void RankTrainer::build() {
    const ParallelPlan& plan = options_.plan;
    const nn::TrainerOptions& training = options_.training;
    const ModelShape& shape = examples_.shape();
    if (plan.pp > 1) {
        schedule_ = schedule_of(options_);
        stages_ = cut_of_plan(shape, plan, schedule_.stages());
        held_stages_ = schedule_.stages_of[static_cast<size_t>(rank_.along("pp"))];
        if (schedule_.copies > 1) std::sort(held_stages_.begin(), held_stages_.end());  // on both holders alike
        for (const int stage : held_stages_) held_.push_back(stages_[static_cast<size_t>(stage)]);
    } else {
        held_ = {{0, count_blocks(shape)}};
    }
    const bool mixed = half_precision(training.dtype);
    const DType full = mixed ? DType::f32 : training.dtype;
    model_ =
        make_model(shape, plan, rank_, held_, training.seed, full, mixed ? std::optional(training.dtype) : std::nullopt);
    learning_ = std::make_unique<Learning>();
    // Batch norm reads its weights in full, so convolutional models keep f32 weights that layers round for each pass.
    learning_->half_weights = mixed && shape.kind != ModelShape::Kind::convolutional;
    if (learning_->half_weights)
        for (const ShardedParameter& shard : model_->shards) {
            nn::Parameter& parameter = *shard.parameter;
            learning_->full.push_back(parameter.value);
            const tensor::NoGrad none(launches_);
            parameter.value = make_tensor(heap_, parameter.value.shape, parameter.name, Purpose::parameter, training.dtype);
            const Variable rounded =
                tensor::cast(launches_, launches_.input(learning_->full.back(), "full"), training.dtype, "half");
            launches_.launch(tensor::copy_strided(rounded.value, parameter.value), "half", "update", training.dtype);
            launches_.clear();
        }

    add_over_copies();
    const std::vector<int> same = ranks_with_the_same_weights(rank_.mesh, rank_.world.rank());
    if (same.size() > 1 && !apart_) replicas_ = rank_.world.group(same);
    BucketPlan buckets{.zero = plan.zero, .bytes = plan.bucket_bytes};
    if (plan.pp == 1) {
        buckets.passes = {plan.microbatches};
    } else if (plan.zero < 2 || schedule_.copies > 1) {
        buckets.passes.assign(held_.size(), 1);
    } else {
        const int pipeline_rank = rank_.along("pp");
        const std::vector<char> ends = ends_of_runs(schedule_, pipeline_rank);
        for (const int stage : held_stages_) {
            const auto begin = ends.begin() + std::ptrdiff_t{stage} * schedule_.microbatches;
            buckets.passes.push_back(static_cast<int>(std::count(begin, begin + schedule_.microbatches, 1)));
        }
    }
    for (const ShardedParameter& shard : model_->shards) {
        int block = -1, run = 0;  // the first block that owns it
        for (size_t r = 0; r < held_.size(); ++r)
            for (int at = held_[r].first; at < held_[r].last; ++at)
                for (const std::string& prefix : model_->blocks[static_cast<size_t>(at)].prefixes)
                    if (block < 0 && shard.parameter->name.starts_with(prefix)) block = at, run = static_cast<int>(r);
        if (block < 0) block = held_.back().last - 1, run = static_cast<int>(held_.size()) - 1;  // a tied head's
        buckets.block_of.push_back(block);
        buckets.run_of.push_back(run);
    }
    if (plan.compression != Compression::none) compressor_ = std::make_unique<Compressor>(plan, *model_);
    buckets_ = std::make_unique<Buckets>(buckets, rank_, *model_, replicas_.get(), log_, launches_);
    buckets_->compressor = compressor_.get();
    if (plan.pp > 1)  // once the buckets are laid out, on both holders of a stage alike
        for (Bucket& bucket : buckets_->all()) {
            const auto run = static_cast<size_t>(buckets.run_of[bucket.slots.front().parameter]);
            bucket.counts = bucket.counts && first_copy(held_stages_[run]);
        }
}

// DualPipe: rank r and its mirror, p - 1 - r, hold the same two stages, each one copy's micro-batches' part of the
// gradients.
void RankTrainer::add_over_copies() {
    if (options_.plan.pp == 1 || schedule_.copies == 1) return;
    const int here = rank_.world.rank(), ranks_a_stage = rank_.mesh.ranks() / options_.plan.pp;  // pp is the slowest axis
    const auto mirror = [&](int rank) {
        return (options_.plan.pp - 1 - rank / ranks_a_stage) * ranks_a_stage + rank % ranks_a_stage;
    };
    std::map<comm::Communicator*, comm::Communicator*> both;  // by the group without the mirrors
    for (ShardedParameter& shard : model_->shards) {
        comm::Communicator*& group = both[shard.add_over];
        if (!group) {
            std::vector<int> ranks = {here};
            if (shard.add_over) {
                ranks.clear();
                for (int i = 0; i < shard.add_over->size(); ++i) ranks.push_back(shard.add_over->world_rank(i));
            }
            for (size_t i = 0, count = ranks.size(); i < count; ++i) ranks.push_back(mirror(ranks[i]));
            std::sort(ranks.begin(), ranks.end());
            model_->groups.push_back(rank_.world.group(ranks));
            group = model_->groups.back().get();
        }
        shard.add_over = group;
    }
}

// What the optimiser updates: with zero 0 the model's parameters, otherwise the pieces of buckets; of half weights, and of
// an offloaded optimiser, copies that it keeps.
void RankTrainer::make_learning() {
    const ParallelPlan& plan = options_.plan;
    const nn::TrainerOptions& training = options_.training;
    Learning& l = *learning_;
    if (plan.offload) {
        host_ = device::open_device(device_->name() == "meta" ? "meta" : "host", {.threads = 1}).value();
        host_heap_.emplace(*host_);
    }
    tensor::Heap& on = plan.offload ? *host_heap_ : heap_;
    update_.emplace(on);
    const DType full = l.half_weights || half_precision(training.dtype) ? DType::f32 : training.dtype;
    l.type = full;
    const bool copies = l.half_weights || plan.offload;
    const bool meta = device_->name() == "meta";
    for (size_t b = 0; b < buckets_->all().size(); ++b) {
        Bucket& bucket = buckets_->all()[b];
        std::vector<double> flat;  // the full values, where a copy of them begins
        if (copies && !meta) {
            flat.resize(static_cast<size_t>(bucket.count));
            for (const BucketSlot& slot : bucket.slots) {
                const Tensor& from = l.half_weights ? l.full[slot.parameter] : Tensor();
                if (!from) continue;
                const auto values = tensor::values_of(heap_, from);
                std::copy(values.begin(), values.end(), flat.begin() + slot.offset);
            }
            if (!l.half_weights) {  // as they were put into the bucket
                const std::vector<std::byte> bytes =
                    buckets_->whole_of(bucket, bucket.own_weights(), bucket.dtype, *device_);
                for (size_t i = 0; i < flat.size(); ++i)
                    flat[i] = bucket.dtype == DType::f64 ? reinterpret_cast<const double*>(bytes.data())[i]
                                                         : double(reinterpret_cast<const float*>(bytes.data())[i]);
            }
        }
        const auto learn = [&](const std::string& name, const tensor::Shape& shape, const Tensor& in_place, int64_t offset,
                               int slot) {
            Tensor value = in_place;
            if (copies) {
                value = make_tensor(on, shape, name, Purpose::optimizer, full);
                if (!meta)
                    tensor::write_values(on, value,
                                         std::span(flat).subspan(static_cast<size_t>(offset), size_t(value.count())), name);
            }
            l.own.push_back(nn::Parameter{.name = name, .value = value, .compute = full});
            l.rows.push_back({b, slot});
        };
        if (plan.zero == 0)
            for (size_t s = 0; s < bucket.slots.size(); ++s) {
                const BucketSlot& slot = bucket.slots[s];
                const nn::Parameter& parameter = *model_->shards[slot.parameter].parameter;
                learn(parameter.name, parameter.value.shape, parameter.value, slot.offset, static_cast<int>(s));
            }
        else if (bucket.piece.count > 0)
            learn(bucket.name, {bucket.piece.count}, bucket.own_weights(), bucket.piece.begin, -1);
    }
    // In the model's order, as nn::Trainer updates them: norms are then added up in the same order.
    if (plan.zero == 0) {
        std::vector<size_t> order(l.own.size());
        const auto place = [&](size_t i) {
            return buckets_->all()[l.rows[i].bucket].slots[size_t(l.rows[i].slot)].parameter;
        };
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
        std::deque<nn::Parameter> own;
        std::vector<Learning::Row> rows;
        for (const size_t i : order) own.push_back(l.own[i]), rows.push_back(l.rows[i]);
        l.own.swap(own), l.rows.swap(rows);
    }
    l.full.clear();
    std::vector<nn::Parameter*> list;
    for (nn::Parameter& parameter : l.own) list.push_back(&parameter);
    const auto in_use = [&] { return on.live_by_purpose()[static_cast<size_t>(Purpose::optimizer)]; };
    const int64_t before = in_use();
    l.optimizer.emplace(on, nn::rule_of(training), list, nn::clipping_of(training), nn::scaling_of(training));
    l.settings_bytes = plan.offload ? 0 : in_use() - before - l.optimizer->state_bytes();
    l.clips = nn::clipping_of(training).max_norm > 0 || nn::scaling_of(training).has_value();
    if (l.clips && (plan.zero > 0 || plan.tp > 1 || plan.pp > 1) && !meta)
        l.optimizer->sum_squares = [this](std::span<const double> squares) { return sum_squares(squares); };
}

// Of all ranks' gradients, each element once.
double RankTrainer::sum_squares(std::span<const double> squares) {
    double sum = 0;
    const bool first = !replicas_ || replicas_->rank() == 0;
    for (size_t i = 0; i < squares.size(); ++i)
        if (buckets_->all()[learning_->rows[i].bucket].counts && (first || options_.plan.zero > 0)) sum += squares[i];
    const Purposeful purpose(log_, "norms");
    rank_.world.all_reduce({&sum, 1, DType::f64});
    return sum;
}

// Blocks tell when a parameter's gradient is there; with zero 3 their weights come and go.
void RankTrainer::wrap_blocks() {
    const bool gathers = options_.plan.zero == 3;
    if (gathers) {
        std::vector<std::vector<size_t>> buckets_of(model_->blocks.size());
        std::vector<int> run_of(model_->blocks.size(), -1);
        for (size_t r = 0; r < held_.size(); ++r)
            for (int b = held_[r].first; b < held_[r].last; ++b) run_of[static_cast<size_t>(b)] = static_cast<int>(r);
        for (size_t b = 0; b < buckets_->all().size(); ++b)
            buckets_of[static_cast<size_t>(buckets_->all()[b].block)].push_back(b);
        const bool tied = model_->shape.tied_head || model_->shape.kind == ModelShape::Kind::gpt;
        if (tied && run_of.front() >= 0 && run_of.back() >= 0)  // the head takes the tokens' weight
            for (const size_t b : std::vector<size_t>(buckets_of.front())) buckets_of.back().push_back(b);
        gathered_ = std::make_unique<GatheredBlocks>(*buckets_, rank_, std::move(buckets_of), std::move(run_of));
    }
    hooked_.assign(model_->shards.size(), 0);
    for (size_t b = 0; b < model_->blocks.size(); ++b) {
        Block& block = model_->blocks[b];
        if (!block.forward) continue;
        const auto hook = [this](nn::Pass& pass) {  // not in a pipeline, whose executor adds up gradients itself
            if (options_.plan.pp > 1 || !pass.tape.recording()) return;
            for (size_t i = 0; i < model_->shards.size(); ++i) {
                const nn::Parameter& parameter = *model_->shards[i].parameter;
                if (parameter.pass != pass.number || parameter.node < 0 || hooked_[i] == pass.number) continue;
                hooked_[i] = pass.number;
                const int node = parameter.node;
                tensor::Tape* tape = &pass.tape;
                pass.tape.on_gradient({node, parameter.value}, [this, i, node, tape](const Tensor&) {
                    if (Tensor gradient = tape->take_gradient(node)) buckets_->arrived(i, std::move(gradient));
                    return Tensor();
                });
            }
        };
        block.forward = [this, b, hook, gathers, inside = std::move(block.forward)](nn::Pass& pass, const Variable& x,
                                                                                    const MicroBatch& batch) {
            const auto run = [&] {
                Variable y = inside(pass, x, batch);
                hook(pass);
                return y;
            };
            return gathers ? gathered_->forward(pass.tape, static_cast<int>(b), run) : run();
        };
    }
}

}  // namespace lockstep::parallel
