// A denoising autoencoder: pictures with noise in, the clean pictures out, through a code of 16 numbers. It is judged by its
// mean squared error on pictures of held-out fonts, beside the best linear code of the same size: principal components.
#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/data/data_set.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/evaluate.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr int64_t code_size = 16;
constexpr double noise = 0.2;  // deviation

// The mean squared error, an element, of projecting `test` on the first `size` principal components of `train` (rows of
// `width` numbers each). Orthogonal iteration: Q <- orthonormal(XᵀX Q).
double principal_component_loss(const std::vector<float>& train, const std::vector<float>& test, size_t width, size_t size) {
    const size_t rows = train.size() / width;
    std::vector<double> mean(width), x(train.begin(), train.end());
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < width; ++i) mean[i] += x[r * width + i] / double(rows);
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < width; ++i) x[r * width + i] -= mean[i];
    Rng rng(1);
    std::vector<std::vector<double>> q(size, std::vector<double>(width));
    for (auto& column : q)
        for (double& value : column) value = rng.normal();
    const auto dot = [&](const double* a, const double* b) {
        double sum = 0;
        for (size_t i = 0; i < width; ++i) sum += a[i] * b[i];
        return sum;
    };
    const auto orthonormalise = [&] {
        for (size_t j = 0; j < size; ++j) {
            for (size_t k = 0; k < j; ++k) {
                const double along = dot(q[j].data(), q[k].data());
                for (size_t i = 0; i < width; ++i) q[j][i] -= along * q[k][i];
            }
            const double length = std::sqrt(dot(q[j].data(), q[j].data()));
            for (double& value : q[j]) value /= length;
        }
    };
    orthonormalise();
    for (int iteration = 0; iteration < 12; ++iteration) {
        std::vector<std::vector<double>> next(size, std::vector<double>(width));
        for (size_t r = 0; r < rows; ++r)
            for (size_t j = 0; j < size; ++j) {
                const double along = dot(&x[r * width], q[j].data());
                for (size_t i = 0; i < width; ++i) next[j][i] += along * x[r * width + i];
            }
        q = std::move(next);
        orthonormalise();
    }
    double squares = 0;
    std::vector<double> row(width);
    for (size_t r = 0; r < test.size() / width; ++r) {
        for (size_t i = 0; i < width; ++i) row[i] = double(test[r * width + i]) - mean[i];
        squares += dot(row.data(), row.data());
        for (const auto& column : q) {
            const double along = dot(row.data(), column.data());
            squares -= along * along;
        }
    }
    return squares / double(test.size());
}

struct Denoiser {
    DataSet data;
    Linear encode1, encode2, decode1, decode2;
    DType dtype = DType::f32;
    double linear_loss = -1;

    Variable operator()(Pass& pass, const Variable& x) const {
        tensor::Tape& tape = pass.tape;
        const Variable h = tensor::relu(tape, encode1(pass, x), "encode relu");
        const Variable code = encode2(pass, h);
        const Variable g = tensor::relu(tape, decode1(pass, code), "decode relu");
        return tensor::unary(tape, "sigmoid", decode2(pass, g), "picture");
    }
    tensor::Tensor on(tensor::Heap& heap, std::span<const float> values, const char* name) const {
        const auto width = static_cast<int64_t>(data.pixels());
        return tensor::tensor_from(heap, {static_cast<int64_t>(values.size()) / width, width}, values, name,
                                   tensor::Purpose::data, dtype);
    }
};
}  // namespace

std::unique_ptr<Task> make_autoencoder(const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Denoiser>();
    it->data = open_data_set(options.data.empty() ? "digits" : options.data, options.seed);
    it->dtype = options.dtype;
    const auto pixels = static_cast<int64_t>(it->data.pixels());
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->encode1 = Linear(build, "encode1", pixels, 256);
    it->encode2 = Linear(build, "encode2", 256, code_size);
    it->decode1 = Linear(build, "decode1", code_size, 256);
    it->decode2 = Linear(build, "decode2", 256, pixels);
    task->model = "autoencoder";
    task->data = it->data.name;
    task->rows = it->data.rows;
    task->columns = it->data.columns;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler, seed = options.seed](uint64_t step, Batch& batch) {  // noisy pictures, then clean ones
        const size_t width = it->data.pixels(), rows = static_cast<size_t>(batch.examples(sampler.batch));
        batch.values.resize(2 * rows * width);
        const std::span all(batch.values);
        for (size_t i = 0; i < rows; ++i) {
            const uint64_t index = sampler.index(step, batch.first + static_cast<int64_t>(i));
            const auto clean = all.subspan((rows + i) * width, width), noisy = all.subspan(i * width, width);
            it->data.train(index, clean);
            Rng draws(seed * 0x9e3779b97f4a7c15u + index);
            for (size_t p = 0; p < width; ++p) noisy[p] = clean[p] + static_cast<float>(noise * draws.normal());
        }
    };
    task->forward = [it](Pass& pass, const Batch& batch, size_t) {
        const std::span<const float> all(batch.values);
        tensor::Heap& on = pass.tape.heap();
        const Variable x = pass.tape.input(it->on(on, all.first(all.size() / 2), "noisy"), "noisy");
        const Variable clean = pass.tape.input(it->on(on, all.last(all.size() / 2), "clean"), "clean");
        Forward result;
        result.output = (*it)(pass, x);
        result.loss = tensor::mse(pass.tape, result.output, clean, "loss");
        return result;
    };
    task->evaluate = [it](tensor::Heap& on, int64_t examples, const std::stop_token& stop) {
        const size_t width = it->data.pixels();
        const int64_t count = examples > 0 ? std::min(examples, it->data.test_count) : it->data.test_count;
        std::vector<float> test(static_cast<size_t>(count) * width);
        for (int64_t i = 0; i < count; ++i)
            it->data.test(static_cast<uint64_t>(i), std::span(test).subspan(static_cast<size_t>(i) * width, width));
        if (it->linear_loss < 0) {
            std::vector<float> train(1500 * width);
            for (size_t i = 0; i < 1500; ++i) it->data.train(i, std::span(train).subspan(i * width, width));
            it->linear_loss = principal_component_loss(train, test, width, code_size);
        }
        const auto forward = [&](Pass& pass, int64_t first, int64_t rows) {
            const auto some = std::span(test).subspan(static_cast<size_t>(first) * width, static_cast<size_t>(rows) * width);
            const Variable x = pass.tape.input(it->on(on, some, "clean"), "clean");
            Forward made;
            made.loss = tensor::mse(pass.tape, (*it)(pass, x), x, "loss");
            return made;
        };
        Evaluation result = judge({.count = count, .group = 250, .forward = forward}, on, stop);
        result.accuracy = result.loss < it->linear_loss ? 1 : 0;
        result.measures = {{"mean squared error of held-out pictures", "", result.loss},
                           {"the same of 16 principal components", "", it->linear_loss}};
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
