// A small network that tells three spiral arms apart: learns in a second, so step sizes and batch sizes can be compared.
#include <algorithm>
#include <array>

#include "core/nn/data/made/points.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/evaluate.h"
#include "core/nn/models/list.h"
#include "core/nn/models/pictures.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

std::unique_ptr<Task> make_spirals(const TaskOptions& options, tensor::Heap& heap) {
    struct Arms {
        PointSet data;
        Perceptron network;
        DType dtype;

        Forward operator()(Pass& pass, std::span<const float> x, std::span<const int32_t> labels) const {
            tensor::Tape& tape = pass.tape;
            const tensor::Tensor points = tensor::tensor_from(
                tape.heap(), {static_cast<int64_t>(labels.size()), data.dimensions}, x, "x", tensor::Purpose::data, dtype);
            const tensor::Tensor targets = tensor::labels_from(tape.heap(), labels, "labels");
            Forward made;
            made.output = network(pass, tape.input(points, "x"));
            made.loss = tensor::softmax_cross_entropy(tape, made.output, tape.label(targets, "labels"), "loss");
            return made;
        }
    };
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Arms>();
    it->data = options.data.empty() || options.data == "spirals" ? spirals(options.seed)
                                                                 : open_points(options.data, "", options.seed);
    const auto inputs = static_cast<size_t>(it->data.dimensions);
    it->dtype = options.dtype;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->network = Perceptron(build, std::array<int64_t, 4>{it->data.dimensions, 64, 64, it->data.classes});
    task->model = "spirals";
    task->data = it->data.name;
    task->classifies = true;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler, inputs](uint64_t step, Batch& batch) {
        batch.labels.resize(static_cast<size_t>(batch.examples(sampler.batch)));
        batch.values.resize(inputs * batch.labels.size());
        for (size_t i = 0; i < batch.labels.size(); ++i)
            batch.labels[i] = it->data.train(sampler.index(step, batch.first + static_cast<int64_t>(i)),
                                             std::span(batch.values).subspan(inputs * i, inputs));
    };
    task->forward = [it](Pass& pass, const Batch& batch, size_t) { return (*it)(pass, batch.values, batch.labels); };
    task->evaluate = [it, inputs](tensor::Heap& on, int64_t examples, const std::stop_token& stop) {
        std::vector<float> x;
        std::vector<int32_t> labels;
        const Judging judging{
            .count = examples > 0 ? std::min(examples, it->data.test_count) : it->data.test_count,
            .group = 512,
            .forward =
                [&](Pass& pass, int64_t first, int64_t rows) {
                    x.resize(inputs * static_cast<size_t>(rows)), labels.resize(static_cast<size_t>(rows));
                    for (size_t i = 0; i < labels.size(); ++i)
                        labels[i] =
                            it->data.test(static_cast<uint64_t>(first) + i, std::span(x).subspan(inputs * i, inputs));
                    return (*it)(pass, x, labels);
                },
            .right = [&](std::span<const double> logits, int64_t) { return double(predictions_of(logits, labels).right); }};
        return judge(judging, on, stop);
    };
    return task;
}

}  // namespace lockstep::nn
