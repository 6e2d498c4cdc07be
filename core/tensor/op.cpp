// The calls that an op's forward and backward are written against.
#include "core/tensor/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/diagnostic.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

Launch elementwise(std::string_view kernel, int64_t count, Arguments arguments) {
    return {kernel, {static_cast<uint32_t>((count + 255) / 256), 1, 1}, {256, 1, 1}, arguments};
}

device::Argument size_argument(int64_t size) {
    return static_cast<int32_t>(size);
}

device::Argument scalar_argument(double value, DType type) {
    switch (type) {
        case DType::f64:
            return value;
        case DType::i64:
            return static_cast<int64_t>(value);
        case DType::i32:
            return static_cast<int32_t>(value);
        default:
            return static_cast<float>(value);
    }
}

int64_t whole(double value) {
    if (value != std::floor(value) || std::fabs(value) > 1e6)
        throw Failure(fmt::format("{} is no whole number here", value));
    return static_cast<int64_t>(value);
}

struct AttributeName {
    std::string_view name;
    void (*set)(Attributes& attributes, double value);
    bool several = false;  // takes all numbers that are left
};
static constexpr AttributeName attribute_names[] = {
    {"axis", [](Attributes& a, double value) { a.axis = whole(value); }},
    {"axes", [](Attributes& a, double value) { a.axes.push_back(whole(value)); }, true},
    {"sizes", [](Attributes& a, double value) { a.sizes.push_back(whole(value)); }, true},
    {"start", [](Attributes& a, double value) { a.start = whole(value); }},
    {"stop", [](Attributes& a, double value) { a.stop = whole(value); }},
    {"step", [](Attributes& a, double value) { a.step = whole(value); }},
    {"window",
     [](Attributes& a, double value) {
         a.kernel = a.stride = {whole(value), whole(value)};
     }},
    {"groups", [](Attributes& a, double value) { a.groups = whole(value); }},
    {"alpha", [](Attributes& a, double value) { a.alpha = value; }},
    {"beta", [](Attributes& a, double value) { a.beta = value; }},
};

Attributes attributes_of(const OpRow& op, std::span<const double> numbers) {
    Attributes attributes;
    size_t given = 0, least = 0;
    for (std::string_view rest = op.numbers; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        const size_t equals = word.find('=');
        const auto* const known = std::find_if(std::begin(attribute_names), std::end(attribute_names),
                                               [&](const AttributeName& a) { return a.name == word.substr(0, equals); });
        if (known == std::end(attribute_names)) throw Failure(fmt::format("a text cannot call {}", op.name));
        const bool optional = equals != std::string_view::npos;
        least += !optional;
        if (given < numbers.size()) do
                known->set(attributes, numbers[given++]);
            while (known->several && given < numbers.size());
        else if (optional && equals + 1 < word.size())
            known->set(attributes, std::strtod(word.data() + equals + 1, nullptr));
    }
    if (numbers.size() < least || given < numbers.size())
        throw Failure(fmt::format("{} takes {} numbers ({}), not {}", op.name, least, op.numbers, numbers.size()));
    return attributes;
}

// "fc1 matmul" and "dW" make "fc1 dW"; "relu1" and "dx" make "relu1 dx".
std::string_view without_last_word(std::string_view name) {
    return name.substr(0, name.rfind(' '));
}
std::string gradient_label(std::string_view name, std::string_view gradient) {
    return fmt::format("{} {}", without_last_word(name), gradient);
}
static std::string_view gradient_name(const OpRow& op, size_t input) {
    const std::string_view name = op.gradient_names[std::min(input, op.gradient_names.size() - 1)];
    return name.empty() ? "dx" : name;
}

bool ForwardCall::needs_grad(size_t input) const {
    return tape.recording() && tape.nodes()[size_t(nodes[input])].requires_grad;
}

void ForwardCall::launch(const Launch& what, std::string_view step) {
    launches.push_back(tape.launch(what, {name, step}, "forward", dtype));
}

Tensor ForwardCall::temporary(const Shape& shape, std::string_view what) {
    return temporary(shape, what, dtype);
}
Tensor ForwardCall::temporary(const Shape& shape, std::string_view what, DType type) {
    return make_tensor(tape.heap(), shape, {name, what}, Purpose::activation, type);
}

void ForwardCall::save(std::string_view what, const Tensor& tensor) {
    saved.push_back({tensor, -1, what});
}
void ForwardCall::save_input(size_t index) {
    saved.push_back({inputs[index], nodes[index]});
}
void ForwardCall::save_output() {
    saved.push_back({output, node});
}

bool BackwardCall::wants(size_t input) const {
    return tape.nodes()[size_t(nodes[input])].requires_grad && (!only || (*only)[size_t(nodes[input])]);
}

Tensor& BackwardCall::allocate(size_t input) {
    gradients[input] = make_tensor(tape.heap(), inputs[input].shape, {without_last_word(name), gradient_name(op, input)},
                                   Purpose::gradient, inputs[input].dtype);
    return gradients[input];
}

void BackwardCall::launch(size_t input, const Launch& what) {
    launches.push_back(tape.launch(what, {without_last_word(name), gradient_name(op, input)}, "backward", dtype));
    ready.at(input) = launches.back();
}

Tensor BackwardCall::temporary(const Shape& shape, std::string_view what, DType type) {
    return make_tensor(tape.heap(), shape, {name, what}, Purpose::gradient, type);
}

double BackwardCall::upstream_scalar() const {
    return upstream ? values_of(tape.heap(), upstream)[0] : 1.0;
}

bool DifferentiateCall::wants(size_t input) const {
    return tape.nodes()[size_t(nodes[input])].requires_grad && (!only || (*only)[size_t(nodes[input])]);
}

Variable DifferentiateCall::kept(size_t index) const {
    const Saved& one = saved[index];
    if (one.node < 0) throw Failure(fmt::format("{}: '{}' is no node's value, so it has no derivative", name, one.what));
    return {one.node, one.tensor};
}

NodeName DifferentiateCall::label(size_t input, std::string_view step) const {
    const std::string text = gradient_label(name, gradient_name(op, input));
    return step.empty() ? text : fmt::format("{} {}", text, step);
}

}  // namespace lockstep::tensor
