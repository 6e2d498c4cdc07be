// Pruning: masks by magnitude and two of four, fine-tuning under a mask, and the compressed form of two of four, whose
// products Sparse24Product runs (kernels/sparse24.cu). Unstructured zeros are stored as a bit a weight and the weights that
// stay, and count as operations saved: what a kernel that skips them would save, not what the dense one does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/workbench.h"
#include "core/tensor/cheap_ops.h"

namespace lockstep::nn {

using namespace cheaper;
using tensor::Tensor;
using tensor::Variable;

std::vector<std::vector<float>> magnitude_masks(std::span<const std::vector<float>> layers, double share, bool by_layer) {
    if (!(share >= 0) || !(share <= 1)) throw Failure(fmt::format("a share of {} cannot be pruned: 0 to 1", share));
    struct Place {
        float magnitude;
        size_t layer, at;
    };
    std::vector<std::vector<float>> masks;
    std::vector<Place> all;
    const auto prune = [&] {
        const auto count = static_cast<std::ptrdiff_t>(std::llround(share * double(all.size())));
        std::stable_sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.magnitude < b.magnitude; });
        std::for_each(all.begin(), all.begin() + count, [&](const Place& place) { masks[place.layer][place.at] = 0; });
        all.clear();
    };
    for (size_t i = 0; i < layers.size(); ++i) {
        masks.emplace_back(layers[i].size(), 1.0f);
        for (size_t at = 0; at < layers[i].size(); ++at) all.push_back({std::abs(layers[i][at]), i, at});
        if (by_layer) prune();
    }
    prune();
    return masks;
}

std::vector<float> two_of_four_mask(std::span<const float> values, int64_t rows) {
    const auto columns = values.size() / static_cast<size_t>(rows);
    std::vector<float> mask(values.size(), 1.0f);
    for (size_t first = 0; first < values.size(); first += columns)
        for (size_t group = 0; group < columns; group += 4) {
            const size_t count = std::min<size_t>(4, columns - group);
            std::array<size_t, 4> order = {0, 1, 2, 3};
            std::stable_sort(order.begin(), order.begin() + count, [&](size_t a, size_t b) {
                return std::abs(values[first + group + a]) < std::abs(values[first + group + b]);
            });
            for (size_t i = 0; i + 2 < count; ++i) mask[first + group + order[i]] = 0;
        }
    return mask;
}

int64_t Sparse24::bytes() const {
    return static_cast<int64_t>(values.size() * sizeof(float) + values.size() / 4);
}

std::vector<float> Sparse24::dense() const {
    std::vector<float> full(static_cast<size_t>(rows * columns));
    const auto kept = static_cast<size_t>(columns / 2), words = static_cast<size_t>((columns + 31) / 32);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
        for (size_t i = 0; i < kept; ++i)
            full[row * 2 * kept + i / 2 * 4 + (places[row * words + i / 16] >> 2 * (i % 16) & 3)] = values[row * kept + i];
    return full;
}

Sparse24 compress_two_of_four(std::span<const float> values, int64_t rows) {
    Sparse24 made{
        .rows = rows, .columns = rows > 0 ? static_cast<int64_t>(values.size()) / rows : 0, .values = {}, .places = {}};
    if (made.columns % 4 != 0) throw Failure(fmt::format("rows of {} are not made of groups of four", made.columns));
    const auto columns = static_cast<size_t>(made.columns), words = (columns + 31) / 32;
    made.places.assign(static_cast<size_t>(rows) * words, 0);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
        for (size_t group = 0; group < columns; group += 4) {
            const auto four = values.subspan(row * columns + group, 4);
            std::vector<uint32_t> kept;
            for (uint32_t i = 0; i < 4; ++i)
                if (four[i] != 0) kept.push_back(i);
            if (kept.size() > 2)
                throw Failure(
                    fmt::format("row {} keeps {} of the four values from column {}: two at most", row, kept.size(), group));
            for (uint32_t i = 0; kept.size() < 2; ++i)  // zeros fill up, in order
                if (std::find(kept.begin(), kept.end(), i) == kept.end()) kept.push_back(i);
            std::sort(kept.begin(), kept.end());
            for (size_t i = 0; i < 2; ++i) {
                const size_t at = group / 2 + i;
                made.values.push_back(four[kept[i]]);
                made.places[row * words + at / 16] |= kept[i] << 2 * (at % 16);
            }
        }
    return made;
}

namespace {
struct Sparse24Product final : StandIn {
    Tensor values, places;
    int64_t stored = 0;

    Sparse24Product(tensor::Heap& heap, const Sparse24& s, const std::string& name) : stored(s.bytes()) {
        values = tensor::tensor_from(heap, {s.rows, s.columns / 2}, s.values, name, tensor::Purpose::parameter);
        std::vector<double> words;
        for (const uint32_t word : s.places) words.push_back(static_cast<int32_t>(word));
        places = tensor::tensor_from(heap, {s.rows, (s.columns + 31) / 32}, words, name + " places",
                                     tensor::Purpose::parameter, DType::i32);
    }
    int64_t bytes() const override { return stored; }
    Variable linear(Pass& pass, const Linear& at, const Variable& x) const override {
        return tensor::sparse24_matmul(pass.tape, x, pass.tape.input(values, at.name + " kept"),
                                       pass.tape.label(places, at.name + " places"), at.name + " matmul");
    }
    Variable conv2d(Pass&, const Conv2d& at, const Variable&) const override {
        throw Failure(fmt::format("{}: the compressed form of two of four is for linear layers", at.name));
    }
};

using Masks = std::map<std::string, std::vector<float>>;

Weights masked(Weights values, const Masks& masks) {
    for (const auto& [name, mask] : masks)
        for (size_t i = 0; i < mask.size(); ++i) values[name][i] *= mask[i];
    return values;
}
Alter with_masks(const Masks& masks) {
    return [&masks](Task& task, tensor::Heap& heap) {
        for (Parameter& parameter : task.list.parameters())
            if (const auto found = masks.find(parameter.name); found != masks.end())
                parameter.mask = tensor::tensor_from(heap, parameter.value.shape, found->second, parameter.name + " mask",
                                                     tensor::Purpose::parameter);
    };
}
Alter with_values(const Weights& values) {
    return [&values](Task& task, tensor::Heap& heap) { put(task, heap, values); };
}
bool compressible(const Layer& layer) {
    return !layer.convolution && layer.columns % 4 == 0;
}
}  // namespace

Comparison compare_pruned(const CheaperRun& run, const PruneOptions& options) {
    Comparison comparison = comparison_of("pruning", run);
    const int64_t steps = steps_of(run), tune = options.fine_tune > 0 ? options.fine_tune : std::max<int64_t>(1, steps / 5);
    const TrainerOptions plain = trainer_options(run, run.model, steps);
    const Outcome base = trained(run, plain, steps, "f32");
    const PassCost full = forward_cost(plain);
    add_row(run, comparison, row_of("f32", comparison, base.test, full));
    const std::vector<Layer> layers = layers_of(plain, base.values, 1, false);

    // Fine-tuning goes on with a fifth of the rate.
    TrainerOptions tuning = plain;
    tuning.learning_rate = plain.learning_rate / 5;
    tuning.planned_steps = tune;
    const auto fine_tuned = [&](const Masks& masks, const Weights& start, const std::string& phase) {
        TrainerOptions how = tuning;
        how.alter = then(with_values(start), with_masks(masks));
        return trained(run, how, tune, phase);
    };
    const auto judged = [&](const Weights& values) {
        TrainerOptions how = plain;
        how.alter = with_values(values);
        return evaluated(run, how);
    };

    for (const double share : options.shares) {
        std::vector<std::vector<float>> weights;
        for (const Layer& layer : layers) weights.push_back(base.values.at(layer.name));
        const auto made = magnitude_masks(weights, share, options.by_layer);
        Masks masks;
        PassCost cost = full;
        double kept = 0, all = 0;
        for (size_t i = 0; i < layers.size(); ++i) {
            const double count = double(made[i].size());
            const double stays = std::accumulate(made[i].begin(), made[i].end(), 0.0) / count;
            const double saved = 4 * count - (4 * stays * count + count / 8);
            cost.bytes -= saved;
            cost.cost.bytes -= saved / double(plain.batch);
            cost.cost.operations -= (1 - stays) * layers[i].operations / double(plain.batch);
            kept += stays * count, all += count;
            masks[layers[i].name] = made[i];
        }
        const std::string name = fmt::format("magnitude {:.4g} %{}", 100 * share, options.by_layer ? " of each layer" : "");
        const Weights start = masked(base.values, masks);
        const Measure stays{"weights kept", "%", 100 * kept / all};
        add_row(run, comparison, row_of(name, comparison, judged(start), cost), {stays});
        add_row(run, comparison, row_of(name + ", tuned", comparison, fine_tuned(masks, start, name).test, cost), {stays});
    }

    if (options.two_of_four) {
        Masks masks;
        for (const Layer& layer : layers) masks[layer.name] = two_of_four_mask(base.values.at(layer.name), layer.rows);
        const auto compressed = [&](const Weights& values, const std::string& name) {
            TrainerOptions how = plain;
            how.alter = then(with_values(values), [&](Task& task, tensor::Heap& heap) {
                for (const Layer& layer : layers)
                    if (compressible(layer))
                        task.list.find(layer.name)->product = std::make_shared<Sparse24Product>(
                            heap, compress_two_of_four(values.at(layer.name), layer.rows), layer.name);
            });
            const Evaluation test = evaluated(run, how);
            add_row(run, comparison, row_of(name, comparison, test, forward_cost(how)),
                    {{"loss of the masked dense form off by", "", std::abs(judged(values).loss - test.loss)}});
        };
        const Weights start = masked(base.values, masks);
        compressed(start, "2:4");
        compressed(fine_tuned(masks, start, "2:4").values, "2:4, tuned");
    }
    return comparison;
}

}  // namespace lockstep::nn
