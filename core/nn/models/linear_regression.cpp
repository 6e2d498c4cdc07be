// y = w x + b, fitted by the mean squared error to noisy points of a known line, or to the rows of a file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nn/data/made/points.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

std::unique_ptr<Task> make_linear_regression(const TaskOptions& options, tensor::Heap& heap) {
    struct Fit {
        LineSet data;
        Linear layer;
        DType dtype;
    };
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Fit>();
    it->data = options.data.empty() || options.data == "line" ? line(options.seed) : open_line(options.data, options.seed);
    it->dtype = options.dtype;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    const auto inputs = static_cast<int64_t>(it->data.w.size());
    it->layer = Linear(build, "fc", inputs, 1);

    task->model = "linear_regression";
    task->data = it->data.name;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler, inputs](uint64_t step, Batch& batch) {  // x row by row, then y
        const auto rows = static_cast<size_t>(batch.examples(sampler.batch)), width = static_cast<size_t>(inputs);
        batch.values.resize(rows * (width + 1));
        for (size_t i = 0; i < rows; ++i)
            batch.values[rows * width + i] = it->data.train(sampler.index(step, batch.first + static_cast<int64_t>(i)),
                                                            std::span(batch.values).subspan(i * width, width));
    };
    task->forward = [it, inputs](Pass& pass, const Batch& batch, size_t) {
        const int64_t rows = static_cast<int64_t>(batch.values.size()) / (inputs + 1);
        const std::span<const float> all(batch.values);
        const auto x = all.first(static_cast<size_t>(rows * inputs)), y = all.last(static_cast<size_t>(rows));
        tensor::Heap& on = pass.tape.heap();
        const auto input = tensor::tensor_from(on, {rows, inputs}, x, "x", tensor::Purpose::data, it->dtype);
        const auto target = tensor::tensor_from(on, {rows, 1}, y, "y", tensor::Purpose::data, it->dtype);
        Forward result;
        result.output = it->layer(pass, pass.tape.input(input, "x"));
        result.loss = tensor::mse(pass.tape, result.output, pass.tape.input(target, "y"), "loss");
        return result;
    };
    // How far w and b are from the line that made the points; from the least squares' of a file.
    task->evaluate = [it](tensor::Heap& on, int64_t, const std::stop_token&) {
        const auto w = tensor::values_of(on, it->layer.weight->value), b = tensor::values_of(on, it->layer.bias->value);
        double apart = 0;
        for (size_t i = 0; i < w.size(); ++i) {
            const double error = std::abs(w[i] - static_cast<double>(it->data.w[i]));
            apart = error <= apart ? apart : error;  // NaN stays
        }
        const double off = std::abs(b[0] - static_cast<double>(it->data.b));
        Evaluation result;
        result.measures = {{"largest error of w", "", apart}, {"error of b", "", off}};
        result.loss = apart * apart + off * off;
        result.accuracy = std::max(apart, off) <= 1e-3 ? 1 : 0;
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
