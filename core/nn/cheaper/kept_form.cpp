// Names say it all: what ends in ".mask" is its parameter's mask, what ends in ".lora_a" an adapter of the weight beside it.
#include "core/nn/cheaper/kept_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "core/base/diagnostic.h"
#include "core/nn/data/files/parameter_arrays.h"
#include "core/nn/data/refusal.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr std::string_view mask_end = ".mask", lower_end = ".lora_a", scale_name = "lora.scale";

// "fc1.weight" of "fc1.weight.mask"; "" where the name ends otherwise.
std::string without_end(std::string_view name, std::string_view end) {
    return name.size() > end.size() && name.ends_with(end) ? std::string(name.substr(0, name.size() - end.size())) : "";
}

void check_mask(const NamedArray& mask) {
    const auto look = [&](const auto* values) {
        for (size_t i = 0; i < mask.array.count(); ++i)
            if (!(values[i] == 0 || values[i] == 1))
                throw Failure(fmt::format("{} holds {} at element {}: a mask is made of 0 and 1", in_quotes(mask.name),
                                          double(values[i]), i));
    };
    if (mask.array.dtype == DType::f32) return look(mask.array.as<float>());
    if (mask.array.dtype == DType::f64) return look(mask.array.as<double>());
    throw Failure(fmt::format("{} is {}: a mask is f32 or f64", in_quotes(mask.name), name_of(mask.array.dtype)));
}

struct LoraProduct final : StandIn {
    Parameter *down, *up;
    double scale;
    int64_t stored;
    LoraProduct(Parameter* a, Parameter* b, double by, int64_t weight) : down(a), up(b), scale(by), stored(weight) {}

    int64_t bytes() const override { return stored; }
    Variable linear(Pass& pass, const Linear& at, const Variable& x) const override {
        tensor::Tape& tape = pass.tape;
        const Variable y = tensor::matmul(tape, x, pass(at.weight), at.name + " matmul", true);
        const Variable narrow = tensor::matmul(tape, x, pass(down), at.name + " lora_a matmul", true);
        const Variable wide = tensor::matmul(tape, narrow, pass(up), at.name + " lora_b matmul", true);
        return tensor::add(tape, y, tensor::affine(tape, wide, scale, 0, at.name + " lora scale"), at.name + " lora add");
    }
    Variable conv2d(Pass&, const Conv2d& at, const Variable&) const override {
        throw Failure(fmt::format("{}: LoRA is for linear layers", at.name));
    }
};
}  // namespace

std::string adapter_name(const std::string& weight, std::string_view part) {
    return fmt::format("{}.{}", weight.substr(0, weight.rfind('.')), part);
}

void add_adapters(Task& task, tensor::Heap& heap, std::span<const std::string> weights, int64_t rank, double scale,
                  uint64_t seed) {
    if (task.groups.size() > 1) throw Failure(fmt::format("model {} has two losses: adapters learn from one", task.model));
    for (Parameter& parameter : task.list.parameters()) parameter.trainable = false;
    Rng rng(seed);
    Build build{heap, rng, task.list};
    Group adapters{"adapters", {}};
    for (const std::string& name : weights) {
        Parameter* weight = task.list.find(name);
        if (!weight || weight->value.shape.size() != 2)
            throw Failure(fmt::format("{} is no weight of a linear layer of {}", in_quotes(name), task.model));
        const int64_t rows = weight->value.shape[0], columns = weight->value.shape[1];
        const double deviation = 1 / std::sqrt(double(columns));
        Parameter* a = build.parameter(adapter_name(name, "lora_a"), {rank, columns}, Init::normal(deviation));
        Parameter* b = build.parameter(adapter_name(name, "lora_b"), {rows, rank}, Init::constant(0));
        weight->product = std::make_shared<LoraProduct>(a, b, scale, weight->value.bytes());
        adapters.parameters.insert(adapters.parameters.end(), {a, b});
    }
    build.buffer(std::string(scale_name), {1}, scale);
    task.groups = {adapters};
}

std::function<void(Task& task, tensor::Heap& heap)> alter_of(const Checkpoint& checkpoint) {
    auto masks = std::make_shared<std::map<std::string, Array>>();
    std::vector<std::string> weights;
    int64_t rank = 0;
    double scale = 0;
    for (const NamedArray& row : checkpoint.tensors) {
        if (const std::string name = without_end(row.name, mask_end); !name.empty()) {
            check_mask(row);
            masks->emplace(name, row.array);
        }
        const std::string layer = without_end(row.name, lower_end);
        if (layer.empty()) continue;
        if (row.array.shape.size() != 2 || row.array.shape[0] < 1 || (rank > 0 && rank != row.array.shape[0]))
            throw Failure(fmt::format("{} is no adapter [rank, inputs] like the others", in_quotes(row.name)));
        rank = row.array.shape[0];
        weights.push_back(layer + ".weight");
    }
    if (masks->empty() && weights.empty()) return {};
    if (!weights.empty()) {
        const Array& kept = checkpoint.tensor(std::string(scale_name));
        if (kept.dtype != DType::f32 || kept.shape != std::vector<int64_t>{1} || !std::isfinite(*kept.as<float>()))
            throw Failure(fmt::format("{} is no finite f32 number", scale_name));
        scale = *kept.as<float>();
    }
    return [masks, weights, rank, scale](Task& task, tensor::Heap& heap) {
        for (const auto& [name, values] : *masks) {
            Parameter* parameter = task.list.find(name);
            if (!parameter)
                throw Failure(fmt::format("there is a mask of {}, which {} has not", in_quotes(name), task.model));
            tensor::Tensor mask = tensor::make_tensor(heap, parameter->value.shape, name + std::string(mask_end),
                                                      tensor::Purpose::parameter, parameter->value.dtype);
            write_array(heap, mask, values, name + std::string(mask_end));
            parameter->mask = std::move(mask);
        }
        if (!weights.empty()) add_adapters(task, heap, weights, rank, scale, 1);
    };
}

void check_form(const ParameterList& list, const NamedArrays& arrays) {
    const auto named = [&](const std::string& name) {
        return std::any_of(list.parameters().begin(), list.parameters().end(),
                           [&](const Parameter& one) { return one.name == name; });
    };
    for (const Parameter& parameter : list.parameters())
        if (const bool there = find(arrays, parameter.name + std::string(mask_end)); there != bool(parameter.mask))
            throw Failure(
                fmt::format("{} is pruned by a mask in {} alone", parameter.name, there ? "the checkpoint" : "this model"));
    for (const NamedArray& row : arrays)
        if (!without_end(row.name, lower_end).empty() && !named(row.name))
            throw Failure(fmt::format("the checkpoint has an adapter {}, this model has none", in_quotes(row.name)));
}

}  // namespace lockstep::nn
