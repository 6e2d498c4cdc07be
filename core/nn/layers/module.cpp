#include "core/nn/layers/module.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

Parameter* ParameterList::add(Parameter parameter) {
    if (find(parameter.name)) throw Failure(fmt::format("two parameters are called {}", parameter.name));
    return &parameters_.emplace_back(std::move(parameter));
}

Buffer* ParameterList::add(Buffer buffer) {
    return &buffers_.emplace_back(std::move(buffer));
}

std::vector<Parameter*> ParameterList::all() {
    std::vector<Parameter*> pointers;
    for (Parameter& parameter : parameters_) pointers.push_back(&parameter);
    return pointers;
}

int64_t ParameterList::count() const {
    int64_t sum = 0;
    for (const Parameter& parameter : parameters_) sum += parameter.value.count();
    return sum;
}

Parameter* ParameterList::find(std::string_view name) {
    for (Parameter& parameter : parameters_)
        if (parameter.name == name) return &parameter;
    return nullptr;
}

Init Init::fan_in(int64_t inputs) {
    return uniform(1.0 / std::sqrt(static_cast<double>(inputs)));
}

static std::vector<double> sliced_values(const std::vector<double>& values, const tensor::Shape& full, const Slice& slice) {
    int64_t outer = 1, inner = 1;
    const auto axis = static_cast<size_t>(slice.axis);
    for (size_t i = 0; i < full.size(); ++i)
        if (i != axis) (i < axis ? outer : inner) *= full[i];
    const int64_t run = full[axis] / slice.parts * inner, row = full[axis] * inner;
    std::vector<double> kept;
    kept.reserve(static_cast<size_t>(outer * run));
    for (int64_t o = 0; o < outer; ++o) {
        const auto first = values.begin() + o * row + slice.part * run;
        kept.insert(kept.end(), first, first + run);
    }
    return kept;
}

Parameter* Build::parameter(const std::string& name, const tensor::Shape& full, Init init, Cut cut) {
    if (asked) asked(name, full);
    const bool meta = heap.device().name() == "meta";  // holds no values: a model of any size is made at once
    std::vector<double> values;
    if (!meta && (held || init.kind != Init::Kind::constant)) {
        values.assign(static_cast<size_t>(tensor::count_of(full)), init.value);
        if (init.kind == Init::Kind::uniform)
            for (double& value : values) value = rng.uniform(-init.value, init.value);
        if (init.kind == Init::Kind::normal)
            for (double& value : values) value = init.value * rng.normal();
    }
    if (!held) return nullptr;
    tensor::Shape shape = full;
    if (const Slice slice = sharding->slice(cut); slice.axis >= 0) {
        int64_t& extent = shape[static_cast<size_t>(slice.axis)];
        if (extent % slice.parts)
            throw Failure(fmt::format("{}: axis {} of {} does not divide into {} parts", name, slice.axis,
                                      tensor::text_of(full), slice.parts));
        extent /= slice.parts;
        if (!meta) values = sliced_values(values, full, slice);
    }
    const auto purpose = tensor::Purpose::parameter;
    Parameter* parameter = list.add(Parameter{.name = name,
                                              .value = meta ? tensor::make_tensor(heap, shape, name, purpose, dtype)
                                                            : tensor::tensor_from(heap, shape, values, name, purpose, dtype),
                                              .compute = activations()});
    if (made) made(parameter, full, cut);
    return parameter;
}

Buffer* Build::buffer(const std::string& name, const tensor::Shape& shape, double value) {
    if (!held) return nullptr;
    const std::vector<double> values(static_cast<size_t>(tensor::count_of(shape)), value);
    return list.add(Buffer{name, tensor::tensor_from(heap, shape, values, name, tensor::Purpose::parameter, dtype)});
}

uint64_t Pass::next_number() {
    static std::atomic<uint64_t> passes{0};
    return ++passes;
}

tensor::Variable Pass::leaf(Parameter* parameter) {
    if (parameter->pass != number) {
        const bool learns = training && parameter->trainable;
        parameter->node =
            (learns ? tape.parameter(parameter->value, parameter->name) : tape.input(parameter->value, parameter->name))
                .node;
        parameter->pass = number;
        parameter->seen = -1;
    }
    return {parameter->node, parameter->value};
}

tensor::Variable Pass::operator()(Parameter* parameter) {
    tensor::Variable value = leaf(parameter);
    const bool rounds = parameter->compute != parameter->value.dtype;
    if (!rounds && !parameter->mask) return value;
    const auto at = static_cast<size_t>(parameter->seen);
    if (parameter->seen < 0 || at >= seen.size() || seen[at].first != parameter) {
        if (parameter->mask)
            value = tensor::mul(tape, value, tape.input(parameter->mask, parameter->name + " mask"),
                                parameter->name + " masked");
        if (rounds)
            value = tensor::cast(tape, value, parameter->compute,
                                 fmt::format("{} {}", parameter->name, name_of(parameter->compute)));
        parameter->seen = static_cast<int>(seen.size());
        seen.emplace_back(parameter, value);
    }
    return seen[static_cast<size_t>(parameter->seen)].second;
}

tensor::Variable Pass::operator()(Buffer* buffer) {
    return tape.input(buffer->value, buffer->name);
}

tensor::Variable in_full(Pass& pass, const tensor::Variable& logits, DType full) {
    return logits.dtype() == full ? logits : tensor::cast(pass.tape, logits, full, fmt::format("logits {}", name_of(full)));
}

void sgd_step(tensor::Tape& tape, std::span<Parameter* const> parameters, double learning_rate) {
    for (const Parameter* parameter : parameters) {
        const tensor::Tensor gradient = tape.take_gradient(parameter->node);
        if (!gradient) continue;
        tensor::Launch update = tensor::elementwise(
            "sgd", gradient.count(),
            {parameter->value.pointer(), gradient.pointer(), tensor::scalar_argument(learning_rate, gradient.dtype),
             tensor::size_argument(gradient.count())});
        update.learning_rate = 2;
        const int launch = tape.launch(update, {parameter->name, "sgd"}, "update", gradient.dtype);
        tape.note_update(parameter->node, launch);
    }
}

}  // namespace lockstep::nn
