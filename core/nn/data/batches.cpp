#include "core/nn/data/batches.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"

namespace lockstep::nn {

namespace {
// `index` gives the i-th example's index; `width` values an example.
template <class Labelled, class Index>
void fill_labelled(std::vector<float>& values, std::vector<int32_t>& labels, const Labelled& example, size_t width,
                   int64_t count, Index index) {
    values.resize(static_cast<size_t>(count) * width);
    labels.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        labels[static_cast<size_t>(i)] = example(index(i), std::span(values).subspan(static_cast<size_t>(i) * width, width));
}

template <class Example, class Index>
void fill_sequences(SequenceBatch& batch, const Example& example, size_t length, int64_t count, Index index) {
    batch.tokens.resize(static_cast<size_t>(count) * length);
    batch.targets.resize(batch.tokens.size());
    for (int64_t i = 0; i < count; ++i) {
        const size_t at = static_cast<size_t>(i) * length;
        example(index(i), std::span(batch.tokens).subspan(at, length), std::span(batch.targets).subspan(at, length));
    }
}

auto of_step(const Sampler& sampler, uint64_t step) {
    return [&sampler, step](int64_t i) { return sampler.index(step, i); };
}

auto from(int64_t first, int64_t count, int64_t held, const std::string& name) {
    if (first < 0 || count < 0 || first > held || count > held - first)
        throw Failure(fmt::format("{} has {} test examples, not {} from number {} on", name, held, count, first));
    return [first](int64_t i) { return static_cast<uint64_t>(first + i); };
}
}  // namespace

void fill(PictureBatch& batch, const DataSet& set, const Sampler& sampler, uint64_t step) {
    fill_labelled(batch.images, batch.labels, set.train, set.pixels(), sampler.batch, of_step(sampler, step));
}

void fill(PointBatch& batch, const PointSet& set, const Sampler& sampler, uint64_t step) {
    fill_labelled(batch.x, batch.labels, set.train, static_cast<size_t>(set.dimensions), sampler.batch,
                  of_step(sampler, step));
}

void fill(SequenceBatch& batch, const SequenceSet& set, const Sampler& sampler, uint64_t step) {
    fill_sequences(batch, set.train, static_cast<size_t>(set.length), sampler.batch, of_step(sampler, step));
}

void fill(LineBatch& batch, const LineSet& set, const Sampler& sampler, uint64_t step) {
    const size_t inputs = set.w.size();
    batch.x.resize(static_cast<size_t>(sampler.batch) * inputs);
    batch.y.resize(static_cast<size_t>(sampler.batch));
    for (size_t i = 0; i < batch.y.size(); ++i)
        batch.y[i] = set.train(sampler.index(step, static_cast<int64_t>(i)), std::span(batch.x).subspan(i * inputs, inputs));
}

void fill_test(PictureBatch& batch, const DataSet& set, int64_t first, int64_t count) {
    fill_labelled(batch.images, batch.labels, set.test, set.pixels(), count, from(first, count, set.test_count, set.name));
}

void fill_test(PointBatch& batch, const PointSet& set, int64_t first, int64_t count) {
    fill_labelled(batch.x, batch.labels, set.test, static_cast<size_t>(set.dimensions), count,
                  from(first, count, set.test_count, set.name));
}

void fill_test(SequenceBatch& batch, const SequenceSet& set, int64_t first, int64_t count) {
    fill_sequences(batch, set.test, static_cast<size_t>(set.length), count, from(first, count, set.test_count, set.name));
}

}  // namespace lockstep::nn
