// One rank's pieces of whole arrays, for checkpoints: out of flat buckets and off again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/diagnostic.h"
#include "core/nn/data/files/parameter_arrays.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/train/rank_learning.h"

namespace lockstep::parallel {

using tensor::Tensor;

namespace {
Array array_of_bytes(DType type, const tensor::Shape& shape, const std::byte* from) {
    Array array{type, shape, {}};
    array.bytes.assign(from, from + static_cast<size_t>(tensor::count_of(shape)) * size_of(type));
    return array;
}

// Part `part` of `parts` of an array along an axis, onto or out of the whole.
template <class Each>
void each_run(const std::vector<int64_t>& full, int axis, int64_t parts, int64_t part, size_t element, Each each) {
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < full.size(); ++i) (static_cast<int>(i) < axis ? outer : inner) *= full[i];
    const auto whole_run = static_cast<size_t>(inner) * element, run = whole_run / static_cast<size_t>(parts);
    for (size_t o = 0; o < static_cast<size_t>(outer); ++o)
        each(o * whole_run + static_cast<size_t>(part) * run, o * run, run);
}
}  // namespace

Array cut_from(const Array& whole, int axis, int64_t parts, int64_t part) {
    if (axis < 0 || parts == 1) return whole;
    Array cut{whole.dtype, whole.shape, std::vector<std::byte>(whole.bytes.size() / static_cast<size_t>(parts))};
    cut.shape[static_cast<size_t>(axis)] /= parts;
    each_run(whole.shape, axis, parts, part, size_of(whole.dtype), [&](size_t in_whole, size_t in_part, size_t n) {
        std::memcpy(&cut.bytes[in_part], &whole.bytes[in_whole], n);
    });
    return cut;
}

void paste_into(Array& whole, const RankPiece& piece) {
    if (piece.axis < 0 || piece.parts == 1) {
        whole = piece.array;
        whole.shape = piece.full;
        return;
    }
    if (whole.bytes.empty()) {
        whole = {piece.array.dtype, piece.full, {}};
        whole.bytes.resize(piece.array.bytes.size() * static_cast<size_t>(piece.parts));
    }
    each_run(piece.full, piece.axis, piece.parts, piece.part, size_of(whole.dtype),
             [&](size_t in_whole, size_t in_part, size_t n) {
                 std::memcpy(&whole.bytes[in_whole], &piece.array.bytes[in_part], n);
             });
}

std::vector<ParameterHolding> RankTrainer::holdings() const {
    std::vector<ParameterHolding> all(model_->shards.size());
    for (const Bucket& bucket : buckets_->all()) {
        const comm::Piece own = options_.plan.zero > 0 && replicas_ ? bucket.piece : comm::Piece{0, bucket.count};
        for (const BucketSlot& slot : bucket.slots) {
            const ShardedParameter& shard = model_->shards[slot.parameter];
            const int64_t begin = std::clamp<int64_t>(own.begin - slot.offset, 0, slot.count),
                          end = std::clamp<int64_t>(own.begin + own.count - slot.offset, 0, slot.count);
            const comm::Piece whole{0, slot.count}, piece{begin, end - begin};
            all[slot.parameter] = {.name = shard.parameter->name,
                                   .full = shard.full,
                                   .axis = shard.axis,
                                   .parts = shard.axis < 0 ? 1 : shard.parts,
                                   .part = shard.axis < 0 ? 0 : shard.part,
                                   .count = slot.count,
                                   .weights = options_.plan.zero == 3 ? piece : whole,
                                   .gradients = options_.plan.zero >= 2 ? piece : whole,
                                   .optimizer = piece};
        }
    }
    return all;
}

// Zero 3 keeps a piece of each bucket; otherwise a parameter is where the blocks see it.
comm::Piece RankTrainer::weights_of(const Bucket& bucket, const BucketSlot& slot) const {
    const bool cut = options_.plan.zero == 3 && replicas_;
    const comm::Piece own = cut ? bucket.piece : comm::Piece{0, bucket.count};
    const int64_t begin = std::clamp<int64_t>(own.begin - slot.offset, 0, slot.count),
                  end = std::clamp<int64_t>(own.begin + own.count - slot.offset, 0, slot.count);
    return {begin, end - begin};
}
Tensor RankTrainer::held_of(const Bucket& bucket, const BucketSlot& slot, const comm::Piece& piece) const {
    if (!bucket.weight_piece) return model_->shards[slot.parameter].parameter->value;
    const int64_t begin = slot.offset + piece.begin - bucket.piece.begin;
    return piece.count == 0 ? Tensor() : tensor::sliced(bucket.weight_piece, 0, begin, begin + piece.count);
}

RankDigests RankTrainer::digests() const {
    RankDigests digests;
    if (device_->name() == "meta") return digests;
    digests.resize(model_->shards.size());
    for (const Bucket& bucket : buckets_->all())
        for (const BucketSlot& slot : bucket.slots) {
            const ShardedParameter& shard = model_->shards[slot.parameter];
            ReplicaDigest& digest = digests[slot.parameter];
            digest = {shard.parameter->name, shard.axis, shard.axis < 0 ? 1 : shard.parts, shard.axis < 0 ? 0 : shard.part,
                      weights_of(bucket, slot)};
            const Tensor value = held_of(bucket, slot, digest.piece);
            if (!value) continue;
            const Message message(*device_, value, Message::Way::out);
            const auto* const bytes = static_cast<const std::byte*>(message.buffer().data);
            digest.checksum = checksum_of({bytes, static_cast<size_t>(value.bytes())});
            if (!options_.library_collectives) continue;
            std::vector<double> values(static_cast<size_t>(value.count()));
            tensor::convert_values(bytes, value.dtype, reinterpret_cast<std::byte*>(values.data()), DType::f64,
                                   values.size(), digest.name);
            for (const double v : values) digest.largest = std::max(digest.largest, std::abs(v));
        }
    return digests;
}

Array RankTrainer::replica(const std::string& parameter) const {
    for (const Bucket& bucket : buckets_->all())
        for (const BucketSlot& slot : bucket.slots) {
            if (model_->shards[slot.parameter].parameter->name != parameter) continue;
            const Tensor value = held_of(bucket, slot, weights_of(bucket, slot));
            if (!value) return {};
            Array array{value.dtype, value.shape, std::vector<std::byte>(static_cast<size_t>(value.bytes()))};
            device_->copy_out(array.bytes.data(), value.pointer(), array.bytes.size());
            return array;
        }
    return {};
}

// The uppermost bit of the mantissa of an element in the middle.
void RankTrainer::turn_bit() {
    for (const ToldRank& told : options_.told) {
        if (told.name != "flip" || told.rank != rank_.world.rank()) continue;
        const size_t at = told.value.rfind('@');
        if (at == std::string::npos || told.value.substr(at + 1) != fmt::format("{}", next_)) continue;
        for (const Bucket& bucket : buckets_->all())
            for (const BucketSlot& slot : bucket.slots) {
                if (model_->shards[slot.parameter].parameter->name != told.value.substr(0, at)) continue;
                const Tensor value = held_of(bucket, slot, weights_of(bucket, slot));
                if (!value) continue;
                const size_t size = size_of(value.dtype), from = static_cast<size_t>(value.count() / 2) * size;
                std::vector<std::byte> bytes(static_cast<size_t>(value.bytes()));
                device_->copy_out(bytes.data(), value.pointer(), bytes.size());
                const int mantissa = value.dtype == DType::f64    ? 52
                                     : value.dtype == DType::f32  ? 23
                                     : value.dtype == DType::bf16 ? 7
                                                                  : 10;
                bytes[from + static_cast<size_t>(mantissa - 1) / 8] ^= std::byte(1 << (mantissa - 1) % 8);
                device_->copy_in(value.pointer(), bytes.data(), bytes.size());
            }
    }
}

namespace {
// What a checkpoint has of every parameter: "" its weights, and the optimizer's moments.
std::vector<std::string> kinds_of(const nn::Optimizer& optimizer) {
    std::vector<std::string> kinds = {""};
    for (const std::string_view what : optimizer.moments()) kinds.emplace_back(what);
    return kinds;
}

std::string name_of_kind(const std::string& parameter, const std::string& kind) {
    return kind.empty() ? parameter : fmt::format("optimizer.{}.{}", parameter, kind);
}

Tensor tensor_named(const std::vector<nn::NamedTensor>& state, const std::string& name) {
    for (const nn::NamedTensor& row : state)
        if (row.name == name) return row.tensor;
    return {};
}

Array array_from(device::Device& device, const Tensor& value) {
    Array array{value.dtype, value.shape, std::vector<std::byte>(static_cast<size_t>(value.bytes()))};
    device.copy_out(array.bytes.data(), value.pointer(), array.bytes.size());
    return array;
}

RankPiece piece_of(const ShardedParameter& shard, const std::string& name, Array array) {
    return {name, shard.full, shard.axis, shard.axis < 0 ? 1 : shard.parts, shard.part, std::move(array)};
}

void put(tensor::Heap& heap, const Tensor& to, const std::byte* from) {
    if (to) heap.device().copy_in(to.pointer(), from, static_cast<size_t>(to.bytes()));
}
}  // namespace

bool RankTrainer::keeps_copies() const {
    return learning_->half_weights || host_heap_.has_value();
}

// With zero 0 a parameter's tensor is as it is.
void RankTrainer::add_whole_pieces(std::vector<RankPiece>& all, const Bucket& bucket, const std::string& kind) {
    const Learning& l = *learning_;
    const std::vector<nn::NamedTensor> state = l.optimizer->state();
    const bool weights = kind.empty() && !keeps_copies();
    for (const BucketSlot& slot : bucket.slots) {
        const ShardedParameter& shard = model_->shards[slot.parameter];
        const nn::Parameter& parameter = *shard.parameter;
        const std::string name = name_of_kind(parameter.name, kind);
        Tensor value = kind.empty() ? parameter.value : tensor_named(state, name);
        if (kind.empty() && keeps_copies())
            for (const nn::Parameter& own : l.own)
                if (own.name == parameter.name) value = own.value;
        if (!value) continue;
        Array array = array_from(weights || !host_ ? *device_ : *host_, value);
        if (!is_first_replica() || !bucket.counts) continue;
        if (value.count() == slot.count)
            all.push_back(piece_of(shard, name, std::move(array)));
        else  // a layer's one number
            all.push_back({name, value.shape, -1, 1, 0, std::move(array)});
    }
}

// What the workers have pieces of, put together.
void RankTrainer::add_cut_pieces(std::vector<RankPiece>& all, const Bucket& bucket, const std::string& kind) {
    const Learning& l = *learning_;
    const bool weights = kind.empty() && !keeps_copies();
    Tensor own;
    if (bucket.piece.count > 0)
        own = !kind.empty()    ? tensor_named(l.optimizer->state(), name_of_kind(bucket.name, kind))
              : keeps_copies() ? l.own[l.at(buckets_->all(), bucket)].value
                               : bucket.own_weights();
    const DType type = weights ? bucket.dtype : l.type;
    const std::vector<std::byte> flat = buckets_->whole_of(bucket, own, type, weights || !host_ ? *device_ : *host_);
    if (!is_first_replica() || !bucket.counts) return;
    for (const BucketSlot& slot : bucket.slots) {
        const ShardedParameter& shard = model_->shards[slot.parameter];
        const std::byte* from = flat.data() + static_cast<size_t>(slot.offset) * size_of(type);
        all.push_back(piece_of(shard, name_of_kind(shard.parameter->name, kind),
                               array_of_bytes(type, shard.parameter->value.shape, from)));
    }
}

bool RankTrainer::is_of_second_copy(std::string_view name) const {
    for (size_t run = 0; run < held_stages_.size(); ++run)
        for (int block = held_[run].first; block < held_[run].last; ++block)
            for (const std::string& prefix : model_->blocks[static_cast<size_t>(block)].prefixes)
                if (name.starts_with(prefix)) return !first_copy(held_stages_[run]);
    return false;
}

std::vector<RankPiece> RankTrainer::pieces() {
    std::vector<RankPiece> all;
    const Purposeful purpose(log_, "checkpoint");
    for (const Bucket& bucket : buckets_->all())
        for (const std::string& kind : kinds_of(*learning_->optimizer))
            if (options_.plan.zero == 0)
                add_whole_pieces(all, bucket, kind);
            else
                add_cut_pieces(all, bucket, kind);
    const Tensor settings = tensor_named(learning_->optimizer->state(), "optimizer.settings");
    if (rank_.world.rank() == 0 && settings)
        all.push_back({"optimizer.settings", settings.shape, -1, 1, 0, array_from(host_ ? *host_ : *device_, settings)});
    if (is_first_replica() && rank_.along("tp") == 0)
        for (const nn::Buffer& buffer : model_->list.buffers())
            if (!is_of_second_copy(buffer.name))
                all.push_back({buffer.name, buffer.value.shape, -1, 1, 0, nn::array_of(heap_, buffer.value)});
    return all;
}

void RankTrainer::check_whole(const nn::NamedArrays& whole) const {
    const Learning& l = *learning_;
    const bool layers = row_of(l.optimizer->rule()).second == nn::OptimizerRow::Second::layer;
    for (const ShardedParameter& shard : model_->shards)
        for (const std::string& kind : kinds_of(*l.optimizer)) {
            const std::string name = name_of_kind(shard.parameter->name, kind);
            const Array* array = nn::find(whole, name);
            if (!array) throw Failure(fmt::format("the checkpoint has no {}", name));
            if (layers && kind == "exp_avg_sq") continue;
            if (array->dtype != l.type)
                throw Failure(
                    fmt::format("{} is {} in the checkpoint, not {}", name, name_of(array->dtype), name_of(l.type)));
            if (array->shape != std::vector<int64_t>(shard.full))
                throw Failure(fmt::format("{} is {} in the checkpoint, not {}", name, tensor::text_of(array->shape),
                                          tensor::text_of(shard.full)));
        }
}

// A bucket's weights, where the optimizer has them and where blocks see them.
void RankTrainer::restore_weights(const Bucket& bucket, const std::vector<std::byte>& flat) {
    const Learning& l = *learning_;
    const auto at = [](const std::vector<std::byte>& values, int64_t element, DType type) {
        return values.data() + static_cast<size_t>(element) * size_of(type);
    };
    for (size_t i = 0; keeps_copies() && i < l.own.size(); ++i) {
        if (&buckets_->all()[l.rows[i].bucket] != &bucket) continue;
        const int64_t offset = l.rows[i].slot < 0 ? bucket.piece.begin : bucket.slots[size_t(l.rows[i].slot)].offset;
        put(host_heap_ ? *host_heap_ : heap_, l.own[i].value, at(flat, offset, l.type));
    }
    std::vector<std::byte> as_seen = flat;
    if (bucket.dtype != l.type) {
        as_seen.resize(static_cast<size_t>(bucket.count) * size_of(bucket.dtype));
        tensor::convert_values(flat.data(), l.type, as_seen.data(), bucket.dtype, static_cast<size_t>(bucket.count),
                               bucket.name);
    }
    if (bucket.weights) put(heap_, bucket.weights, as_seen.data());
    if (bucket.weight_piece) put(heap_, bucket.weight_piece, at(as_seen, bucket.piece.begin, bucket.dtype));
}

void RankTrainer::restore(const nn::NamedArrays& whole, int64_t next_step) {
    check_whole(whole);
    Learning& l = *learning_;
    tensor::Heap& of_optimizer = host_heap_ ? *host_heap_ : heap_;
    const std::vector<nn::NamedTensor> state = l.optimizer->state();
    for (const Bucket& bucket : buckets_->all())
        for (const std::string& kind : kinds_of(*l.optimizer)) {
            std::vector<std::byte> flat(static_cast<size_t>(bucket.count) * size_of(l.type));
            for (const BucketSlot& slot : bucket.slots) {
                const ShardedParameter& shard = model_->shards[slot.parameter];
                const std::string name = name_of_kind(shard.parameter->name, kind);
                const Array cut = cut_from(*nn::find(whole, name), shard.axis, shard.parts, shard.part);
                if (options_.plan.zero == 0 && !kind.empty())
                    put(of_optimizer, tensor_named(state, name), cut.bytes.data());
                else
                    std::memcpy(&flat[static_cast<size_t>(slot.offset) * size_of(l.type)], cut.bytes.data(),
                                cut.bytes.size());
            }
            if (kind.empty())
                restore_weights(bucket, flat);
            else if (options_.plan.zero > 0 && bucket.piece.count > 0)
                put(of_optimizer, tensor_named(state, name_of_kind(bucket.name, kind)),
                    flat.data() + static_cast<size_t>(bucket.piece.begin) * size_of(l.type));
        }
    if (const Array* settings = nn::find(whole, "optimizer.settings"))
        if (const Tensor here = tensor_named(state, "optimizer.settings");
            here && static_cast<size_t>(here.bytes()) == settings->bytes.size())
            put(of_optimizer, here, settings->bytes.data());
    for (nn::Buffer& buffer : model_->list.buffers())
        if (const Array* array = nn::find(whole, buffer.name)) nn::write_array(heap_, buffer.value, *array, buffer.name);
    l.optimizer->restored();
    next_ = next_step;
}

}  // namespace lockstep::parallel
