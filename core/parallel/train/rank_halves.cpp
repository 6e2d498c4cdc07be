// A rank's step in two halves, for asynchronous training: a worker computes gradients and takes weights, the server takes
// gradients and updates (asynchronous.h). Both travel as the flat memory of the buckets, one after another.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/layers/rules.h"
#include "core/parallel/train/rank_learning.h"
#include "core/parallel/train/rank_trainer.h"

namespace lockstep::parallel {

using tensor::Purpose;

bool RankTrainer::keeps_statistics() const {
    return !model_->list.buffers().empty();
}

int64_t RankTrainer::weight_bytes() const {
    int64_t bytes = 0;
    for (const Bucket& bucket : buckets_->all()) bytes += bucket.count * static_cast<int64_t>(size_of(bucket.dtype));
    return bytes;
}

double RankTrainer::gradients(std::span<std::byte> to) {
    Stepped stepped;
    log_.clear();
    *log_.calls = {.step = next_, .list = {}};
    heap_.recycle();
    buckets_->begin_step();
    train_alone(stepped);
    buckets_->finish();
    tape_.clear();
    for (const Bucket& bucket : buckets_->all()) {
        const auto bytes = static_cast<size_t>(bucket.gradients.bytes());
        device_->copy_out(to.data(), bucket.gradients.pointer(), bytes);
        to = to.subspan(bytes);
    }
    buckets_->release_gradients();
    ++next_;
    return stepped.rank.loss;
}

void RankTrainer::put_weights(std::span<const std::byte> from) {
    for (const Bucket& bucket : buckets_->all()) {
        const auto bytes = static_cast<size_t>(bucket.weights.bytes());
        device_->copy_in(bucket.weights.pointer(), from.data(), bytes);
        from = from.subspan(bytes);
    }
}

void RankTrainer::get_weights(std::span<std::byte> to) const {
    for (const Bucket& bucket : buckets_->all()) {
        const auto bytes = static_cast<size_t>(bucket.weights.bytes());
        device_->copy_out(to.data(), bucket.weights.pointer(), bytes);
        to = to.subspan(bytes);
    }
}

void RankTrainer::update_with(std::span<const std::byte> gradients, int64_t step) {
    next_ = step;
    heap_.recycle();
    buckets_->begin_step();
    for (Bucket& bucket : buckets_->all()) {
        bucket.gradients = make_tensor(heap_, {bucket.count}, {bucket.name, "gradients"}, Purpose::gradient, bucket.dtype);
        const auto bytes = static_cast<size_t>(bucket.gradients.bytes());
        device_->copy_in(bucket.gradients.pointer(), gradients.data(), bytes);
        gradients = gradients.subspan(bytes);
    }
    update();
    next_ = step + 1;
}

}  // namespace lockstep::parallel
