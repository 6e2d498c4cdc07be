#include "core/parallel/train/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/data/sampler.h"
#include "core/nn/models/models.h"

namespace lockstep::parallel {

using tensor::Purpose;
using tensor::Tensor;

// A task is made on `meta`, where its parameters take no memory, for its data alone.
struct Examples::Made {
    std::unique_ptr<device::Device> device = device::open_device("meta").value();
    tensor::Heap heap{*device};
    std::unique_ptr<nn::Task> task;
};

Examples::Examples(const ParallelOptions& options) : options_(options) {
    const nn::TrainerOptions& training = options_.training;
    shape_ = options_.shape ? *options_.shape : shape_named(training.model);
    if (options_.partition && options_.set == 0)
        throw Failure("each worker's part is of a set: --partition works with --set-examples");
    if (options_.set < 0 || (options_.partition && options_.set % options_.plan.dp != 0))
        throw Failure(fmt::format("--set-examples {} does not divide over --dp {}: {} would", options_.set, options_.plan.dp,
                                  (std::max<int64_t>(0, options_.set) / options_.plan.dp + 1) * options_.plan.dp));
    if (options_.examples) {
        make_ = options_.examples;
        return;
    }
    made_ = std::make_unique<Made>();
    const nn::ModelRow& row = nn::model_named(training.model);
    const nn::TaskOptions asked{.data = training.data, .batch = training.batch, .seed = training.seed};
    made_->task = row.make(asked, made_->heap);
    if (!made_->task->make_batch)
        throw Failure(fmt::format("model {} takes no batches of examples, which ranks could share", training.model));
    make_ = made_->task->make_batch;
}
Examples::~Examples() = default;

double Examples::share(const Rank& rank, int) const {
    return 1.0 / (double(rank.plan.dp) * double(rank.plan.microbatches));
}

// One example after another, each where the data has it.
void Examples::draw_from_set(int worker, int workers, int64_t step, nn::Batch& batch) const {
    const int64_t whole = options_.training.batch, own = whole / workers, size = options_.set / workers;
    std::vector<int32_t> followers;  // of tokens, which lie behind all rows' tokens
    for (int64_t i = 0; i < batch.count; ++i) {
        const auto drawn = static_cast<uint64_t>(options_.partition ? step * own + batch.first - worker * own + i
                                                                    : step * whole + batch.first + i);
        const auto place = static_cast<int64_t>(
            options_.partition ? nn::place_of(drawn, static_cast<uint64_t>(size),
                                              options_.training.seed + static_cast<uint64_t>(worker) + 1)
                               : nn::place_of(drawn, static_cast<uint64_t>(options_.set), options_.training.seed));
        const int64_t index = options_.partition ? worker * size + place : place;
        nn::Batch one;
        one.first = index % whole, one.count = 1;
        make_(static_cast<uint64_t>(index / whole), one);
        const auto cut =
            one.labels.begin() + static_cast<std::ptrdiff_t>(language() ? one.labels.size() / 2 : one.labels.size());
        batch.values.insert(batch.values.end(), one.values.begin(), one.values.end());
        batch.labels.insert(batch.labels.end(), one.labels.begin(), cut);
        followers.insert(followers.end(), cut, one.labels.end());
    }
    batch.labels.insert(batch.labels.end(), followers.begin(), followers.end());
}

MicroBatch Examples::micro_batch(Rank& rank, int64_t step, int part, DType dtype) const {
    const ParallelPlan& plan = rank.plan;
    const int worker = rank.along("dp");
    const int64_t count = options_.training.batch / plan.dp / plan.microbatches;
    nn::Batch batch;
    batch.count = count;
    batch.first = worker * (options_.training.batch / plan.dp) + part * count;
    if (options_.set > 0)
        draw_from_set(worker, plan.dp, step, batch);
    else
        make_(static_cast<uint64_t>(step), batch);

    MicroBatch made;
    if (language()) {  // tokens in the first half, their followers in the second
        const auto half = static_cast<int64_t>(batch.labels.size() / 2), context = half / count;
        std::vector<int32_t> tokens, targets;
        for (int64_t row = 0; row < count; ++row)
            for (const PlaceRun& run : places_of(plan, plan.cp > 1 ? rank.along("cp") : 0, context))
                for (int64_t t = run.first; t < run.last; ++t) {
                    tokens.push_back(batch.labels[static_cast<size_t>(row * context + t)]);
                    targets.push_back(batch.labels[static_cast<size_t>(half + row * context + t)]);
                }
        made.input = tensor::reshaped(tensor::labels_from(rank.heap, tokens, "tokens"),
                                      {count, static_cast<int64_t>(tokens.size()) / count});
        made.target = tensor::labels_from(rank.heap, targets, "next");
        made.examples = count * context;
        return made;
    }
    const int64_t values = static_cast<int64_t>(batch.values.size()) / count;
    tensor::Shape shape = {count, values};
    if (shape_.kind == ModelShape::Kind::convolutional) {
        const int64_t channels = values % 3 == 0 && made_ && made_->task->rows * made_->task->columns * 3 == values ? 3 : 1;
        const auto side = static_cast<int64_t>(std::llround(std::sqrt(double(values / channels))));
        shape = {count, channels, side, side};
    }
    made.input = tensor::tensor_from(rank.heap, shape, batch.values, "x", Purpose::data, dtype);
    made.target = tensor::labels_from(rank.heap, batch.labels, "labels");
    made.examples = count;
    return made;
}

}  // namespace lockstep::parallel
