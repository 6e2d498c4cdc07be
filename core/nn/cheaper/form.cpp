// A run that begins with trained weights in a cheaper form: values of the checkpoint first, then masks, then adapters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/cheaper/workbench.h"
#include "core/nn/data/files/parameter_arrays.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

using namespace cheaper;

namespace {
std::vector<double> kept_values(const Checkpoint& from, const std::string& name) {
    const Array& array = from.tensor(name);
    if (array.dtype != DType::f32 && array.dtype != DType::f64)
        throw Failure(
            fmt::format("{} is {} in the checkpoint: weights are f32 or f64", in_quotes(name), name_of(array.dtype)));
    std::vector<double> values(array.bytes.size() / size_of(array.dtype));
    tensor::convert_values(array.bytes.data(), array.dtype, reinterpret_cast<std::byte*>(values.data()), DType::f64,
                           values.size(), name);
    return values;
}

struct Start {  // what the run begins with, by name
    std::map<std::string, std::vector<double>> values, masks;
    std::vector<std::string> adapted;
};

void begin_with(const Start& start, Task& task, tensor::Heap& heap) {
    const auto write = [&](const auto& one) {
        const auto found = start.values.find(one.name);
        if (found == start.values.end()) throw Failure(fmt::format("the checkpoint has no {}", in_quotes(one.name)));
        tensor::write_values(heap, one.value, found->second, one.name);
    };
    for (const Parameter& parameter : task.list.parameters()) write(parameter);
    for (const Buffer& buffer : task.list.buffers()) write(buffer);
    for (const auto& [name, mask] : start.masks) {
        Parameter& parameter = *task.list.find(name);
        parameter.mask = tensor::tensor_from(heap, parameter.value.shape, mask, name + ".mask", tensor::Purpose::parameter,
                                             parameter.value.dtype);
    }
}
}  // namespace

FormedRun begin_in_form(const TrainerOptions& options, const Checkpoint& from, const Form& form) {
    if (options.model != from.model)
        throw Failure(fmt::format("the checkpoint is of {}, not of {}", in_quotes(from.model), options.model));
    if (form.rank < 0 || form.rank > 4096 || !std::isfinite(form.alpha))
        throw Failure(fmt::format("a rank of {} with alpha {} is impossible: 1 to 4096, finite", form.rank, form.alpha));
    if (std::any_of(from.tensors.begin(), from.tensors.end(),
                    [](const NamedArray& row) { return row.name.ends_with(".lora_a"); }))
        throw Failure("the checkpoint has adapters already: it is gone on from as it is, without another form");
    const auto before = alter_of(from);  // its masks
    TrainerOptions plain = options;
    plain.alter = before;
    auto start = std::make_shared<Start>();
    Weights weights;
    for (const NamedArray& row : from.tensors) {
        if (row.array.dtype != DType::f32 && row.array.dtype != DType::f64) continue;
        const std::vector<double>& wide = start->values[row.name] = kept_values(from, row.name);
        weights[row.name].assign(wide.begin(), wide.end());
    }
    const std::vector<Layer> layers = layers_of(plain, weights, 1, false);
    std::vector<std::vector<float>> seen;
    std::vector<const std::vector<float>*> masked;  // before; null: never
    for (const Layer& layer : layers) {
        seen.push_back(weights.at(layer.name));
        const auto mask = weights.find(layer.name + ".mask");
        masked.push_back(mask == weights.end() ? nullptr : &mask->second);
        for (size_t i = 0; masked.back() && i < seen.back().size(); ++i) seen.back()[i] *= mask->second[i];
        if (!layer.convolution) start->adapted.push_back(layer.name);
    }
    FormedRun run;
    if (form.prunes) {
        auto masks = form.two_of_four ? std::vector<std::vector<float>>() : magnitude_masks(seen, form.share, form.by_layer);
        for (size_t i = 0; i < layers.size(); ++i) {
            if (form.two_of_four) masks.push_back(two_of_four_mask(seen[i], layers[i].rows));
            std::vector<double>& values = start->values.at(layers[i].name);
            for (size_t at = 0; at < values.size(); ++at) {
                if (masked[i] && (*masked[i])[at] == 0) masks[i][at] = 0;
                values[at] *= double(masks[i][at]);
            }
            run.kept += std::accumulate(masks[i].begin(), masks[i].end(), int64_t{0},
                                        [](int64_t sum, float one) { return sum + (one != 0); });
            run.weights += static_cast<int64_t>(values.size());
            start->masks[layers[i].name].assign(masks[i].begin(), masks[i].end());
        }
    }
    if (form.rank > 0 && start->adapted.empty())
        throw Failure(fmt::format("model {} has no linear layers for adapters", options.model));
    run.alter = [start, before, rank = form.rank, scale = form.alpha / double(std::max<int64_t>(form.rank, 1)),
                 seed = options.seed](Task& task, tensor::Heap& heap) {
        if (before) before(task, heap);
        begin_with(*start, task, heap);
        if (rank > 0) add_adapters(task, heap, start->adapted, rank, scale, seed);
    };
    return run;
}

}  // namespace lockstep::nn
