// The task of the character language models, gpt and llama, and the text that they write.
#include "core/nn/models/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/nn/data/made/sequences.h"
#include "core/nn/data/sampler.h"
#include "core/nn/models/evaluate.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

// Token tensors are i32 [B,T].
static tensor::Tensor tokens_on(tensor::Heap& heap, std::span<const int32_t> tokens, int64_t batch, const char* name) {
    return tensor::reshaped(tensor::labels_from(heap, tokens, name), {batch, static_cast<int64_t>(tokens.size()) / batch});
}

std::vector<int32_t> generate(const Model& model, tensor::Heap& heap, std::vector<int32_t> prompt, int64_t count,
                              const Sampling& sampling, const std::function<bool(int32_t)>& each_token) {
    if (prompt.empty()) throw Failure("a text to go on from must not be empty");
    Rng rng(sampling.seed);
    const auto context = static_cast<size_t>(model.shape.context);
    std::vector<int32_t> made, pending = std::move(prompt);
    if (pending.size() > context) pending.erase(pending.begin(), pending.end() - static_cast<int64_t>(context));
    std::vector<int32_t> seen;  // what the caches hold
    std::vector<Cache> caches(static_cast<size_t>(model.shape.layers));
    tensor::Tape tape(heap);
    while (static_cast<int64_t>(made.size()) < count) {
        if (seen.size() + pending.size() > context) {  // start anew from the last half
            seen.insert(seen.end(), pending.begin(), pending.end());
            pending.assign(seen.end() - static_cast<int64_t>(context / 2), seen.end());
            seen.clear();
            caches.assign(caches.size(), {});
        }
        tape.clear();
        heap.recycle();
        const tensor::NoGrad no_gradients(tape);
        Pass pass{.tape = tape, .training = false, .caches = &caches};
        const Variable tokens = tape.label(tokens_on(heap, pending, 1, "tokens"), "tokens");
        const Variable logits = model(pass, tokens);
        seen.insert(seen.end(), pending.begin(), pending.end());
        const auto values =
            tensor::values_of(heap, tensor::sliced(logits.value, 0, logits.shape()[0] - 1, logits.shape()[0]));
        std::vector<int32_t> order(values.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
        });
        if (sampling.top_k > 0 && sampling.top_k < static_cast<int64_t>(order.size()))
            order.resize(static_cast<size_t>(sampling.top_k));
        int32_t chosen = order.front();
        if (sampling.temperature > 0) {
            const double largest = values[static_cast<size_t>(order.front())];
            std::vector<double> weight;
            double sum = 0;
            for (const int32_t token : order) {
                weight.push_back(std::exp((values[static_cast<size_t>(token)] - largest) / sampling.temperature));
                sum += weight.back();
            }
            double left = rng.uniform() * sum;
            for (size_t i = 0; i < order.size(); ++i) {
                chosen = order[i];
                if ((left -= weight[i]) < 0) break;
            }
        }
        made.push_back(chosen);
        if (each_token && !each_token(chosen)) break;
        pending = {chosen};
    }
    return made;
}

namespace {
struct Characters {
    std::shared_ptr<const TextSet> text;
    SequenceSet windows;
    Model model;
};

std::unique_ptr<Task> language_task(const char* name, const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Characters>();
    ModelShape shape = *find_shape(name);
    const int64_t context = shape.context;
    it->text = std::make_shared<const TextSet>(open_text(options.data.empty() ? "stories" : options.data, options.seed));
    it->windows = windows(it->text, static_cast<int>(context), options.seed);
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype, options.compute};
    shape.vocabulary = std::max<int64_t>(shape.vocabulary, it->text->vocabulary.size());
    shape.dropout = options.dropout.value_or(0);
    it->model = Model(build, shape);
    task->model = name;
    task->data = it->text->name;
    const Sampler sampler{options.batch, options.rank, options.world};
    // Tokens of all windows in `labels`' first half, targets in its second.
    task->make_batch = [it, sampler, context](uint64_t step, Batch& batch) {
        const auto rows = static_cast<size_t>(batch.examples(sampler.batch)), length = static_cast<size_t>(context);
        batch.labels.resize(2 * rows * length);
        const std::span all(batch.labels);
        static thread_local std::vector<int64_t> window;  // a step allocates nothing
        window.resize(length);
        for (size_t i = 0; i < rows; ++i) {
            it->windows.train(sampler.index(step, batch.first + static_cast<int64_t>(i)), window,
                              all.subspan((rows + i) * length, length));
            for (size_t t = 0; t < length; ++t) all[i * length + t] = static_cast<int32_t>(window[t]);
        }
    };
    const auto loss_of = [it, context, dtype = options.dtype](Pass& pass, std::span<const int32_t> tokens,
                                                              std::span<const int32_t> targets) {
        tensor::Heap& on = pass.tape.heap();
        const int64_t rows = static_cast<int64_t>(tokens.size()) / context;
        const Variable x = pass.tape.label(tokens_on(on, tokens, rows, "tokens"), "tokens");
        const auto next = tensor::labels_from(on, targets, "next");
        Forward result;
        result.output = in_full(pass, it->model(pass, x), dtype);
        result.loss = tensor::softmax_cross_entropy(pass.tape, result.output, pass.tape.label(next, "next"), "loss");
        return result;
    };
    task->forward = [loss_of](Pass& pass, const Batch& batch, size_t) {
        const std::span<const int32_t> all(batch.labels);
        return loss_of(pass, all.first(all.size() / 2), all.last(all.size() / 2));
    };
    task->evaluate = [it, loss_of, context](tensor::Heap& on, int64_t examples, const std::stop_token& stop) {
        std::vector<int32_t> tokens, targets;
        const Judging judging{.count = examples > 0 ? std::min(examples, it->windows.test_count) : it->windows.test_count,
                              .group = 16,
                              .forward =
                                  [&](Pass& pass, int64_t first, int64_t rows) {
                                      tokens.resize(static_cast<size_t>(rows * context)), targets.resize(tokens.size());
                                      std::vector<int64_t> window(static_cast<size_t>(context));
                                      for (int64_t i = 0; i < rows; ++i) {
                                          it->windows.test(
                                              static_cast<uint64_t>(first + i), window,
                                              std::span(targets).subspan(static_cast<size_t>(i * context), context));
                                          std::transform(window.begin(), window.end(), tokens.begin() + i * context,
                                                         [](int64_t token) { return static_cast<int32_t>(token); });
                                      }
                                      return loss_of(pass, tokens, targets);
                                  },
                              .right =
                                  [&](std::span<const double> logits, int64_t) {
                                      const size_t classes = logits.size() / targets.size();
                                      double right = 0;
                                      for (size_t i = 0; i < targets.size(); ++i)
                                          right += place_of_largest(logits.subspan(i * classes, classes)) == targets[i];
                                      return right / double(context);
                                  }};
        Evaluation result = judge(judging, on, stop);
        result.measures = {{"held-out loss", "nats a character", result.loss},
                           {"a table of pairs", "nats a character", bigram_nats(*it->text)}};
        return result;
    };
    task->sample = [it](tensor::Heap& on, const std::string& prompt, int64_t count, uint64_t seed) {
        const auto start = it->text->vocabulary.encode(prompt.empty() ? "\n" : prompt, "prompt").value();
        return it->text->vocabulary.decode(generate(it->model, on, start, count, {.temperature = 0.8, .seed = seed}));
    };
    return task;
}
}  // namespace

std::unique_ptr<Task> make_gpt(const TaskOptions& options, tensor::Heap& heap) {
    return language_task("gpt", options, heap);
}
std::unique_ptr<Task> make_llama(const TaskOptions& options, tensor::Heap& heap) {
    return language_task("llama", options, heap);
}

}  // namespace lockstep::nn
