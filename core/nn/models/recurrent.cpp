// Recurrent networks on the copy task: read symbols, then say them again. lstm: 5 of 8 symbols; rnn: 3 of 8, which is as far
// as a plain recurrence carries them.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/nn/data/made/sequences.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/evaluate.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
struct Recurrent {
    SequenceSet data;
    LSTMCell lstm;
    RNNCell rnn;
    Linear out;
    bool gated = true;
    int64_t hidden = 128;
    DType dtype = DType::f32;

    // Symbols i32 [T, B] row by row -> logits of the places that are asked, [asked * B, vocabulary].
    Variable operator()(Pass& pass, std::span<const int32_t> symbols, int64_t batch) const {
        tensor::Tape& tape = pass.tape;
        tensor::Heap& heap = tape.heap();
        const auto zeros = [&](const char* name) {
            const std::vector<double> none(static_cast<size_t>(batch * hidden), 0.0);
            return tape.input(tensor::tensor_from(heap, {batch, hidden}, none, name, tensor::Purpose::data, dtype), name);
        };
        Variable h = zeros("h0"), c = gated ? zeros("c0") : Variable{};
        std::vector<Variable> said;
        for (int64_t t = 0; t < data.length; ++t) {
            const auto now = symbols.subspan(static_cast<size_t>(t * batch), static_cast<size_t>(batch));
            const Variable indices = tape.label(tensor::labels_from(heap, now, "symbols"), fmt::format("symbols[{}]", t));
            const Variable x = tensor::one_hot(tape, indices, data.vocabulary, fmt::format("one-hot[{}]", t), dtype);
            if (gated)
                std::tie(h, c) = lstm(pass, x, h, c, t);
            else
                h = rnn(pass, x, h, t);
            if (t >= data.first_target) said.push_back(h);
        }
        return out(pass, tensor::cat(tape, said, 0, "answers"));  // [asked * B, hidden]
    }
};

// Sequences side by side: [T, B], as the recurrence takes them.
void fill(const SequenceSet& data, const std::function<void(uint64_t, std::span<int64_t>, std::span<int32_t>)>& sequence,
          const std::function<uint64_t(int64_t)>& index, int64_t batch, std::vector<int32_t>& tokens,
          std::vector<int32_t>& targets) {
    const auto length = static_cast<size_t>(data.length), width = static_cast<size_t>(batch);
    std::vector<int64_t> x(length);
    std::vector<int32_t> y(length);
    tokens.resize(length * width);
    targets.resize((length - static_cast<size_t>(data.first_target)) * width);
    for (size_t b = 0; b < width; ++b) {
        sequence(index(static_cast<int64_t>(b)), x, y);
        for (size_t t = 0; t < length; ++t) tokens[t * width + b] = static_cast<int32_t>(x[t]);
        for (size_t t = static_cast<size_t>(data.first_target); t < length; ++t)
            targets[(t - static_cast<size_t>(data.first_target)) * width + b] = y[t];
    }
}

std::unique_ptr<Task> recurrent_task(const char* name, const TaskOptions& options, tensor::Heap& heap, bool gated) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Recurrent>();
    it->data = gated ? copy_task(options.seed) : copy_task(options.seed, 3, 8);
    it->gated = gated;
    it->dtype = options.dtype;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    if (gated)
        it->lstm = LSTMCell(build, "lstm", it->data.vocabulary, it->hidden);
    else
        it->rnn = RNNCell(build, "rnn", it->data.vocabulary, it->hidden);
    it->out = Linear(build, "out", it->hidden, it->data.vocabulary);
    task->model = name;
    task->data = it->data.name;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler](uint64_t step, Batch& batch) {  // tokens [T,B], then targets [asked,B]
        std::vector<int32_t> targets;
        fill(
            it->data, it->data.train, [&](int64_t i) { return sampler.index(step, batch.first + i); },
            batch.examples(sampler.batch), batch.labels, targets);
        batch.labels.insert(batch.labels.end(), targets.begin(), targets.end());
    };
    const auto run = [it](Pass& pass, std::span<const int32_t> tokens, std::span<const int32_t> targets) {
        const int64_t width = static_cast<int64_t>(tokens.size()) / it->data.length;
        const auto wanted = tensor::labels_from(pass.tape.heap(), targets, "targets");
        Forward result;
        result.output = (*it)(pass, tokens, width);
        result.loss = tensor::softmax_cross_entropy(pass.tape, result.output, pass.tape.label(wanted, "targets"), "loss");
        return result;
    };
    task->forward = [it, run, sampler](Pass& pass, const Batch& batch, size_t) {
        const auto tokens = static_cast<size_t>(it->data.length * batch.examples(sampler.batch));
        const std::span<const int32_t> all(batch.labels);
        return run(pass, all.first(tokens), all.subspan(tokens));
    };
    task->evaluate = [it, run](tensor::Heap& on, int64_t examples, const std::stop_token& stop) {
        std::vector<int32_t> tokens, targets;
        const Judging judging{.count = examples > 0 ? std::min(examples, it->data.test_count) : it->data.test_count,
                              .group = 100,
                              .forward =
                                  [&](Pass& pass, int64_t first, int64_t width) {
                                      fill(
                                          it->data, it->data.test,
                                          [&](int64_t i) { return static_cast<uint64_t>(first + i); }, width, tokens,
                                          targets);
                                      return run(pass, tokens, targets);
                                  },
                              .right = [&](std::span<const double> logits, int64_t width) {  // sequences without a mistake
                                  const size_t classes = logits.size() / targets.size(), rows = static_cast<size_t>(width);
                                  std::vector<char> right(rows, 1);
                                  for (size_t place = 0; place < targets.size(); ++place)
                                      if (place_of_largest(logits.subspan(place * classes, classes)) != targets[place])
                                          right[place % rows] = 0;
                                  return double(std::count(right.begin(), right.end(), 1));
                              }};
        Evaluation result = judge(judging, on, stop);
        result.measures = {{"sequences said again without a mistake", "", result.accuracy}};
        return result;
    };
    return task;
}
}  // namespace

std::unique_ptr<Task> make_lstm(const TaskOptions& options, tensor::Heap& heap) {
    return recurrent_task("lstm", options, heap, true);
}
std::unique_ptr<Task> make_rnn(const TaskOptions& options, tensor::Heap& heap) {
    return recurrent_task("rnn", options, heap, false);
}

}  // namespace lockstep::nn
