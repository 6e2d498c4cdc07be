// The task of the models that tell pictures apart, mlp, lenet5 and resnet8: data, loss and evaluation.
#include "core/nn/models/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/data/data_set.h"
#include "core/nn/data/sampler.h"
#include "core/nn/models/blocks.h"
#include "core/nn/models/evaluate.h"
#include "core/nn/models/list.h"
#include "core/nn/models/models.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Shape;
using tensor::Variable;

int64_t predict(std::span<const double> logits, std::span<const int32_t> labels, std::vector<int32_t>& predicted,
                std::vector<float>& confidence) {
    int64_t right = 0;
    const size_t classes = labels.empty() ? 0 : logits.size() / labels.size();
    for (size_t row = 0; row < labels.size(); ++row) {
        const auto x = logits.subspan(row * classes, classes);
        const size_t best = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
        double sum = 0;
        for (const double logit : x) sum += std::exp(logit - x[best]);
        predicted.push_back(static_cast<int32_t>(best));
        confidence.push_back(static_cast<float>(1 / sum));
        right += predicted.back() == labels[row];
    }
    return right;
}

Predictions predictions_of(std::span<const double> logits, std::span<const int32_t> labels) {
    Predictions made;
    made.right = predict(logits, labels, made.labels, made.confidence);
    return made;
}

namespace {
Shape with_batch(int64_t batch, const Shape& picture) {
    Shape shape = {batch};
    for (const int64_t extent : picture) shape.push_back(extent);
    return shape;
}

tensor::Tensor pictures_on(tensor::Heap& heap, const Shape& shape, std::span<const float> values, DType dtype) {
    return tensor::tensor_from(heap, shape, values, "x", tensor::Purpose::data, dtype);
}

struct Pictures {
    DataSet data;
    Model model;
    Shape shape;        // of a picture, as the model takes it: {pixels} or {channels, rows, columns}
    DType dtype, full;  // of layers; of the loss
    Batch test;         // filled at the first evaluation
};

// Pictures that are smaller than the model's get an empty rim, as LeNet-5's authors gave MNIST's. Throws Failure where the
// data's pictures are not what the model takes.
std::unique_ptr<Task> picture_task(std::string_view model, const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Pictures>();
    it->data =
        open_data_set(options.data.empty() ? std::string(model_named(std::string(model)).data) : options.data, options.seed);
    it->dtype = options.compute.value_or(options.dtype);
    it->full = options.dtype;
    ModelShape network = *find_shape(model);
    if (network.any_picture) {
        network.picture = {it->data.channels, it->data.rows, it->data.columns};
        network.classes = it->data.classes;
    }
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype, options.compute};
    it->model = Model(build, network);
    const bool flat = network.picture.empty();
    it->shape = flat ? Shape{network.widths.front()} : network.picture;
    if (!flat && it->shape[1] == it->shape[2]) it->data = with_rim(std::move(it->data), static_cast<int>(it->shape[1]));
    const DataSet& data = it->data;
    const bool fits = flat ? it->shape[0] == static_cast<int64_t>(data.pixels())
                           : it->shape == Shape{data.channels, data.rows, data.columns};
    if (!fits)
        throw Failure(flat ? fmt::format("model {} takes {} inputs but the images of {} have {} x {} pixels", model,
                                         it->shape[0], data.name, data.rows, data.columns)
                           : fmt::format("model {} takes pictures of {} but those of {} are [{}, {}, {}]", model,
                                         tensor::text_of(it->shape), data.name, data.channels, data.rows, data.columns));
    if (data.classes != network.classes)
        throw Failure(
            fmt::format("model {} has {} outputs but {} has {} classes", model, network.classes, data.name, data.classes));

    task->model = model;
    task->data = data.name;
    task->rows = data.rows;
    task->columns = data.columns;
    task->classifies = true;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler](uint64_t step, Batch& batch) {
        const size_t pixels = it->data.pixels();
        const auto count = static_cast<size_t>(batch.examples(sampler.batch));
        batch.values.resize(count * pixels);
        batch.labels.resize(count);
        for (size_t i = 0; i < batch.labels.size(); ++i)
            batch.labels[i] = it->data.train(sampler.index(step, batch.first + static_cast<int64_t>(i)),
                                             std::span(batch.values).subspan(i * pixels, pixels));
    };
    task->forward = [it](Pass& pass, const Batch& batch, size_t) {
        tensor::Heap& on = pass.tape.heap();
        const Shape shape = with_batch(static_cast<int64_t>(batch.labels.size()), it->shape);
        const Variable x = pass.tape.input(pictures_on(on, shape, batch.values, it->dtype), "x");
        const auto targets = tensor::labels_from(on, batch.labels, "labels");  // copied before the first launch: no gap
        Forward result;
        result.output = in_full(pass, it->model(pass, x), it->full);
        const Variable labels = pass.tape.label(targets, "labels");
        result.loss = tensor::softmax_cross_entropy(pass.tape, result.output, labels, "loss");
        return result;
    };
    task->evaluate = [it](tensor::Heap& on, int64_t examples, const std::stop_token& stop) {
        const size_t pixels = it->data.pixels();
        if (it->test.labels.empty()) {
            it->test.values.resize(static_cast<size_t>(it->data.test_count) * pixels);
            it->test.labels.resize(static_cast<size_t>(it->data.test_count));
            for (size_t i = 0; i < it->test.labels.size(); ++i)
                it->test.labels[i] = it->data.test(i, std::span(it->test.values).subspan(i * pixels, pixels));
        }
        std::span<const int32_t> labels;
        const Judging judging{
            .count = examples > 0 ? std::min(examples, it->data.test_count) : it->data.test_count,
            .group = 256,
            .forward =
                [&](Pass& pass, int64_t first, int64_t rows) {
                    const auto from = static_cast<size_t>(first), some = static_cast<size_t>(rows);
                    labels = std::span(it->test.labels).subspan(from, some);
                    const auto values = std::span(it->test.values).subspan(from * pixels, some * pixels);
                    const auto pictures = pictures_on(on, with_batch(rows, it->shape), values, it->dtype);
                    Forward made;
                    made.output = in_full(pass, it->model(pass, pass.tape.input(pictures, "x")), it->full);
                    const Variable y = pass.tape.label(tensor::labels_from(on, labels, "labels"), "labels");
                    made.loss = tensor::softmax_cross_entropy(pass.tape, made.output, y, "loss");
                    return made;
                },
            .right = [&](std::span<const double> logits, int64_t) { return double(predictions_of(logits, labels).right); }};
        return judge(judging, on, stop);
    };
    return task;
}

}  // namespace

std::unique_ptr<Task> make_mlp(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("mlp", options, heap);
}
std::unique_ptr<Task> make_mlp512(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("mlp512", options, heap);
}
std::unique_ptr<Task> make_lenet5(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("lenet5", options, heap);
}
std::unique_ptr<Task> make_resnet8(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("resnet8", options, heap);
}

}  // namespace lockstep::nn
