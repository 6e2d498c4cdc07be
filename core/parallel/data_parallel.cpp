#include "core/parallel/data_parallel.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"

namespace lockstep::parallel {

using tensor::Purpose;
using tensor::Tensor;

// Tasks are made on `meta`, where their parameters take no memory, for their data alone.
struct Examples::Made {
    std::unique_ptr<device::Device> device = device::open_device("meta").value();
    tensor::Heap heap{*device};
    std::vector<std::unique_ptr<nn::Task>> tasks;
};

Examples::Examples(const ParallelOptions& options) : options_(options) {
    const nn::TrainerOptions& training = options_.training;
    shape_ = options_.shape ? *options_.shape : shape_named(training.model);
    if (options_.examples) {
        make_.push_back(options_.examples);
        return;
    }
    made_ = std::make_unique<Made>();
    const nn::ModelRow& row = nn::model_named(training.model);
    // A worker with a part of its own draws from it with a seed of its own: the sets of several workers differ.
    const int workers = options_.partition ? options_.plan.dp : 1;
    for (int worker = 0; worker < workers; ++worker) {
        nn::TaskOptions asked{.data = training.data, .batch = training.batch, .seed = training.seed};
        if (workers > 1) asked.batch = training.batch / workers, asked.rank = worker, asked.world = workers;
        made_->tasks.push_back(row.make(asked, made_->heap));
        if (!made_->tasks.back()->make_batch)
            throw Failure(fmt::format("model {} takes no batches of examples, which ranks could share", training.model));
        make_.push_back(made_->tasks.back()->make_batch);
    }
}
Examples::~Examples() = default;

double Examples::share(const Rank& rank, int) const {
    return 1.0 / (double(rank.plan.dp) * double(rank.plan.microbatches));
}

MicroBatch Examples::micro_batch(Rank& rank, int64_t step, int part, DType dtype) const {
    const ParallelPlan& plan = rank.plan;
    const int worker = rank.along("dp");
    const int64_t count = options_.training.batch / plan.dp / plan.microbatches;
    nn::Batch batch;
    batch.count = count;
    batch.first = (make_.size() > 1 ? 0 : worker * (options_.training.batch / plan.dp)) + part * count;
    make_[make_.size() > 1 ? static_cast<size_t>(worker) : 0](static_cast<uint64_t>(step), batch);

    MicroBatch made;
    const bool language = shape_.kind == ModelShape::Kind::gpt || shape_.kind == ModelShape::Kind::llama;
    if (language) {  // tokens in the first half, their followers in the second
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
        const int64_t channels =
            values % 3 == 0 && made_ && made_->tasks[0]->rows * made_->tasks[0]->columns * 3 == values ? 3 : 1;
        const auto side = static_cast<int64_t>(std::llround(std::sqrt(double(values / channels))));
        shape = {count, channels, side, side};
    }
    made.input = tensor::tensor_from(rank.heap, shape, batch.values, "x", Purpose::data, dtype);
    made.target = tensor::labels_from(rank.heap, batch.labels, "labels");
    made.examples = count;
    return made;
}

}  // namespace lockstep::parallel
