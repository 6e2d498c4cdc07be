#include "core/parallel/train/buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using comm::Buffer;
using tensor::Purpose;
using tensor::Shape;
using tensor::Tensor;

namespace {
Tensor flat_part(const Tensor& flat, const comm::Piece& piece) {
    if (!flat || piece.count == 0) return {};
    return tensor::sliced(flat, 0, piece.begin, piece.begin + piece.count);
}
constexpr int64_t parameter_alignment = 16;  // bytes: what vector loads ask for
}  // namespace

Tensor Bucket::own_weights() const {
    return weight_piece ? weight_piece : flat_part(weights, piece);
}
Tensor Bucket::own_gradients() const {
    return gradient_piece ? gradient_piece : flat_part(gradients, piece);
}

Buckets::Buckets(const BucketPlan& plan, Rank& rank, ParallelModel& model, comm::Communicator* replicas, RankLog& log,
                 tensor::Tape& launches)
    : plan_(plan), rank_(rank), model_(model), replicas_(replicas), log_(log), launches_(launches) {
    if (replicas_) {
        gradient_group_ = replicas_->on(gradient_stream);
        parameter_group_ = replicas_->on(parameter_stream);
    }
    lay_out();
    place_weights();
}

// Parameters from last to first. A bucket is of one run of blocks, one type, one group to add over; with zero 3 of one
// block.
void Buckets::lay_out() {
    place_of_.resize(model_.shards.size());
    for (size_t i = model_.shards.size(); i-- > 0;) {
        const ShardedParameter& shard = model_.shards[i];
        const nn::Parameter& parameter = *shard.parameter;
        const auto size = static_cast<int64_t>(size_of(parameter.value.dtype));
        const auto apart = [&](const Bucket& b) {
            const size_t other = b.slots.front().parameter;
            return b.dtype != parameter.value.dtype || b.add_over != shard.add_over || b.counts != shard.counts ||
                   plan_.run_of[other] != plan_.run_of[i] ||
                   (plan_.zero == 3 ? plan_.block_of[other] != plan_.block_of[i]
                                    : plan_.bytes > 0 && b.count * size + parameter.value.bytes() > plan_.bytes);
        };
        size_t at = buckets_.size();  // the newest that fits: parameters with a group of their own stand in between
        for (size_t b = buckets_.size(); b-- > 0 && at == buckets_.size();)
            if (!apart(buckets_[b])) at = b;
        if (at == buckets_.size()) {
            Bucket& made = buckets_.emplace_back();
            made.name = fmt::format("bucket {}", at);
            made.block = plan_.block_of[i];
            made.dtype = parameter.value.dtype;
            made.add_over = shard.add_over;
            made.counts = shard.counts;
            made.comes = plan_.passes[size_t(plan_.run_of[i])];
            made.late = shard.add_over != nullptr || (plan_.bytes == 0 && plan_.zero < 2);
        }
        Bucket& bucket = buckets_[at];
        const int64_t step = std::max<int64_t>(1, parameter_alignment / size), count = parameter.value.count();
        const int64_t end = bucket.count + (count + step - 1) / step * step;
        bucket.padded = bucket.padded || end != bucket.count + count;
        place_of_[i] = {at, bucket.slots.size()};
        bucket.slots.push_back({i, bucket.count, count});
        bucket.count = end;
        if (bucket.holds.empty())
            bucket.holds = parameter.name;
        else  // parameters come from last to first
            bucket.holds = parameter.name + " to " + model_.shards[bucket.slots.front().parameter].parameter->name;
    }
}

void Buckets::place_weights() {
    const Purposeful purpose(log_, "parameters");
    const int ranks = replicas_ ? replicas_->size() : 1, own = replicas_ ? replicas_->rank() : 0;
    for (Bucket& bucket : buckets_) {
        bucket.piece = plan_.zero == 0 ? comm::Piece{0, bucket.count} : comm::piece_of(bucket.count, ranks, own);
        bucket.weights = make_tensor(rank_.heap, {bucket.count}, bucket.name,
                                     plan_.zero == 3 ? Purpose::buffer : Purpose::parameter, bucket.dtype);
        if (bucket.padded) fill_zero(bucket.weights);
        for (const BucketSlot& slot : bucket.slots) {
            const nn::Parameter& parameter = *model_.shards[slot.parameter].parameter;
            add_in(parameter.value, view(bucket.weights, slot.offset, parameter.value.shape), true);
        }
        point_parameters(bucket);
        if (replicas_) {
            const About about(log_, bucket.holds);
            Message message(rank_.device, bucket.weights, Message::Way::both);
            replicas_->broadcast(message.buffer(), 0);
            message.done();
        }
        if (plan_.zero < 3) continue;
        if (bucket.piece.count > 0) {
            bucket.weight_piece =
                make_tensor(rank_.heap, {bucket.piece.count}, bucket.name, Purpose::parameter, bucket.dtype);
            add_in(flat_part(bucket.weights, bucket.piece), bucket.weight_piece, true);
        }
        let_go(bucket);
    }
}

Tensor Buckets::view(const Tensor& flat, int64_t offset, const Shape& shape) const {
    Tensor part = flat;
    part.offset += offset;
    part.shape = shape;
    part.strides = tensor::strides_of(shape);
    return part;
}

void Buckets::point_parameters(Bucket& bucket) {
    for (const BucketSlot& slot : bucket.slots) {
        Tensor& value = model_.shards[slot.parameter].parameter->value;
        value = view(bucket.weights, slot.offset, value.shape);
    }
}

void Buckets::add_in(const Tensor& from, const Tensor& to, bool first) {
    if (!from) return;
    const tensor::Launch one = first
                                   ? tensor::copy_strided(from, to)
                                   : tensor::elementwise("accumulate", to.count(),
                                                         {to.pointer(), from.pointer(), tensor::size_argument(to.count())});
    launches_.launch(one, "bucket", "backward", to.dtype);
}

void Buckets::fill_zero(const Tensor& tensor) {
    launches_.launch(tensor::elementwise("fill", tensor.count(),
                                         {tensor.pointer(), tensor::scalar_argument(0, tensor.dtype),
                                          tensor::size_argument(tensor.count())}),
                     "bucket", "backward", tensor.dtype);
}

void Buckets::begin_step() {
    for (Bucket& bucket : buckets_) {
        bucket.passes = 0;
        for (BucketSlot& slot : bucket.slots) slot.arrived = 0, slot.fresh = true;
        bucket.gradients = bucket.gradient_piece = {};
    }
}

void Buckets::arrived(size_t parameter, Tensor gradient) {
    Bucket& bucket = buckets_[place_of_[parameter].bucket];
    BucketSlot& slot = bucket.slots[place_of_[parameter].slot];
    if (!bucket.gradients) {
        bucket.gradients =
            make_tensor(rank_.heap, {bucket.count}, {bucket.name, "gradients"}, Purpose::gradient, bucket.dtype);
        if (bucket.padded) fill_zero(bucket.gradients);
    }
    add_in(gradient, view(bucket.gradients, slot.offset, gradient.shape), slot.fresh);
    gradient = {};
    slot.fresh = false;
    slot.arrived += 1;
    if (bucket.late) return;
    const int wanted = plan_.zero >= 2 ? bucket.passes + 1 : bucket.comes;
    if (std::all_of(bucket.slots.begin(), bucket.slots.end(), [&](const BucketSlot& s) { return s.arrived >= wanted; }))
        reduce(bucket);
}

void Buckets::reduce(Bucket& bucket) {
    bucket.passes += 1;
    const Purposeful purpose(log_, "gradients");
    const About about(log_, bucket.holds);
    if (gradient_group_) gradient_group_->wait_until(rank_.world.time_us());
    if (bucket.add_over) {
        auto& beside = added_over_[bucket.add_over];
        if (!beside) beside = bucket.add_over->on(gradient_stream);
        beside->wait_until(rank_.world.time_us());
        all_reduce(*beside, rank_.device, bucket.gradients);
        rank_.world.wait_until(beside->time_us());
        if (gradient_group_) gradient_group_->wait_until(beside->time_us());
    }
    if (gradient_group_) {
        Message message(rank_.device, bucket.gradients, Message::Way::both);
        const Buffer& whole = message.buffer();
        if (plan_.zero > 0)
            gradient_group_->reduce_scatter(whole, whole.part(bucket.piece.begin, bucket.piece.count));
        else if (compressor)
            compressor->all_reduce(bucket, whole, *gradient_group_);
        else if (log_.library)
            gradient_group_->all_reduce(whole);
        else {
            const NotedCollective noted(log_, *gradient_group_, "all_reduce", rank_.plan.all_reduce, whole);
            comm::run_collective(*comm::collective("all_reduce", rank_.plan.all_reduce, {.ranks = gradient_group_->size()}),
                                 *gradient_group_, whole);
        }
        message.done();
    }
    if (plan_.zero < 2) return;
    if (bucket.piece.count > 0 && !gradient_group_ && !bucket.gradient_piece) {  // nobody else: all of it stays
        bucket.gradient_piece = std::move(bucket.gradients);
    } else if (bucket.piece.count > 0) {
        const bool first = !bucket.gradient_piece;
        if (first)
            bucket.gradient_piece = make_tensor(rank_.heap, {bucket.piece.count}, {bucket.name, "gradient piece"},
                                                Purpose::gradient, bucket.dtype);
        add_in(flat_part(bucket.gradients, bucket.piece), bucket.gradient_piece, first);
    }
    bucket.gradients = {};
    for (BucketSlot& slot : bucket.slots) slot.fresh = true;
}

void Buckets::finish() {
    for (Bucket& bucket : buckets_) {
        const int due = plan_.zero >= 2 && !bucket.late ? bucket.comes : 1;
        while (bucket.passes < due) {
            if (!bucket.gradients) {
                bucket.gradients =
                    make_tensor(rank_.heap, {bucket.count}, {bucket.name, "gradients"}, Purpose::gradient, bucket.dtype);
                fill_zero(bucket.gradients);
            } else {
                for (const BucketSlot& slot : bucket.slots)  // of parameters that took no part
                    if (slot.fresh) fill_zero(view(bucket.gradients, slot.offset, {slot.count}));
            }
            reduce(bucket);
        }
    }
    if (gradient_group_) rank_.world.wait_until(gradient_group_->time_us());
}

void Buckets::release_gradients() {
    for (Bucket& bucket : buckets_) bucket.gradients = bucket.gradient_piece = {};
}

Tensor Buckets::gradient_of(const Bucket& bucket, const BucketSlot& slot) const {
    return view(bucket.gradients, slot.offset, model_.shards[slot.parameter].parameter->value.shape);
}

void Buckets::share_weights() {
    if (!parameter_group_ || plan_.zero == 0 || plan_.zero == 3) return;
    const Purposeful purpose(log_, "parameters");
    parameter_group_->wait_until(rank_.world.time_us());
    for (Bucket& bucket : buckets_) {
        const About about(log_, bucket.holds);
        Message message(rank_.device, bucket.weights, Message::Way::both);
        const Buffer& whole = message.buffer();
        parameter_group_->all_gather(whole.part(bucket.piece.begin, bucket.piece.count), whole);
        message.done();
    }
    rank_.world.wait_until(parameter_group_->time_us());
}

void Buckets::gather(Bucket& bucket, double from_us) {
    if (bucket.weights) return;
    const Purposeful purpose(log_, "parameters");
    const About about(log_, bucket.holds);
    bucket.weights = make_tensor(rank_.heap, {bucket.count}, {bucket.name, "gathered"}, Purpose::buffer, bucket.dtype);
    if (bucket.weight_piece) add_in(bucket.weight_piece, flat_part(bucket.weights, bucket.piece), true);
    if (parameter_group_) {
        parameter_group_->wait_until(from_us);
        Message message(rank_.device, bucket.weights, Message::Way::both);
        const Buffer& whole = message.buffer();
        parameter_group_->all_gather(whole.part(bucket.piece.begin, bucket.piece.count), whole);
        message.done();
        bucket.weights_ready_us = parameter_group_->time_us();
    }
    point_parameters(bucket);
}

void Buckets::wait(Bucket& bucket) {
    rank_.world.wait_until(bucket.weights_ready_us);
}

void Buckets::let_go(Bucket& bucket) {
    for (const BucketSlot& slot : bucket.slots) model_.shards[slot.parameter].parameter->value.storage.reset();
    bucket.weights = {};
}

std::vector<std::byte> Buckets::whole_of(const Bucket& bucket, const Tensor& own, DType type, device::Device& of) {
    const size_t size = size_of(type);
    std::vector<std::byte> bytes(static_cast<size_t>(bucket.count) * size);
    if (own)
        of.copy_out(bytes.data() + static_cast<size_t>(bucket.piece.begin) * size, own.pointer(),
                    static_cast<size_t>(own.bytes()));
    if (plan_.zero == 0 || !replicas_) return bytes;
    const Buffer whole{bytes.data(), bucket.count, type};
    replicas_->all_gather(whole.part(bucket.piece.begin, bucket.piece.count), whole);
    return bytes;
}

}  // namespace lockstep::parallel
