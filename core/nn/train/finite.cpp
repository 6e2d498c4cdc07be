// Detection by the exponent's bits; then the tape in the order in which things happened: values forward, gradients backward,
// parameters.
#include "core/nn/train/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/tensor/op.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

using tensor::Node;

namespace {
constexpr int64_t small_parameter = 4096, slice_a_step = 8192;

template <class Bits>
bool exponents_finite(const std::byte* bytes, int64_t count, Bits exponent) {
    constexpr int64_t lanes = 16;  // a block at a time, so that it is done in vectors
    std::array<Bits, lanes> bad{}, block;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        std::memcpy(block.data(), bytes + i * static_cast<int64_t>(sizeof(Bits)), sizeof block);
        for (size_t k = 0; k < lanes; ++k) bad[k] |= static_cast<Bits>((block[k] & exponent) == exponent);
    }
    block.fill(0);
    if (i < count)
        std::memcpy(block.data(), bytes + i * static_cast<int64_t>(sizeof(Bits)),
                    static_cast<size_t>(count - i) * sizeof(Bits));
    for (size_t k = 0; k < lanes; ++k) bad[k] |= static_cast<Bits>((block[k] & exponent) == exponent);
    return std::all_of(bad.begin(), bad.end(), [](Bits one) { return one == 0; });
}

std::string_view word_for(double value) {
    return std::isnan(value) ? "a NaN" : value > 0 ? "an infinity" : "a negative infinity";
}

// The first element that is not finite, or none.
std::optional<size_t> first_bad(const std::vector<double>& values) {
    const auto bad = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    return bad == values.end() ? std::nullopt : std::optional(static_cast<size_t>(bad - values.begin()));
}

std::string place_in(const tensor::Shape& shape, size_t element) {
    tensor::Shape at;
    auto left = static_cast<int64_t>(element);
    for (const int64_t stride : tensor::strides_of(shape)) {
        at.push_back(left / stride);
        left %= stride;
    }
    return at.empty() ? "" : fmt::format(", element {}", tensor::text_of(at));
}

std::optional<NotFinite> forward_cause(const Step& step) {
    const auto& nodes = step.tape.nodes();
    for (size_t id = static_cast<size_t>(step.first_node); id < nodes.size(); ++id) {
        const Node& node = nodes[id];
        if ((node.kind != Node::Kind::op && node.kind != Node::Kind::input) || !tensor::floating(node.dtype)) continue;
        const auto values = step.tape.values(static_cast<int>(id));
        const auto bad = first_bad(values);
        if (!bad) continue;
        const double value = values[*bad];
        const std::string op(node.op ? node.op->name : "");
        return NotFinite{
            step.number,
            node.op ? "forward" : "data",
            op,
            node.name,
            tensor::place_of(node.where),
            value,
            fmt::format("{} in the value of {}{}{}, recorded at {}", word_for(value), node.name,
                        node.op ? fmt::format(" ({})", op) : "", place_in(node.shape, *bad), tensor::place_of(node.where))};
    }
    return std::nullopt;
}

std::optional<NotFinite> backward_cause(const Step& step) {
    const auto& nodes = step.tape.nodes();
    for (size_t id = nodes.size(); id-- > 0;) {
        const Node& node = nodes[id];
        const bool leaf = node.kind != Node::Kind::op;  // gradients of leaves stay through all parts
        if (!node.has_gradient || node.gradient_is_one || !tensor::floating(node.dtype)) continue;
        if (!leaf && id < static_cast<size_t>(step.first_node)) continue;
        const auto values = step.tape.gradient_values(static_cast<int>(id));
        const auto bad = first_bad(values);
        if (!bad) continue;
        // What the nodes behind it were handed is finite: the last of them that takes it made the value.
        const Node* from = &node;
        for (size_t user = nodes.size(); user-- > id + 1 && from == &node;)
            if (nodes[user].has_gradient && std::count(nodes[user].inputs.begin(), nodes[user].inputs.end(), int(id)) > 0)
                from = &nodes[user];
        const double value = values[*bad];
        const std::string op(from->op ? from->op->name : "");
        return NotFinite{step.number,
                         "backward",
                         op,
                         from->name,
                         tensor::place_of(from->where),
                         value,
                         fmt::format("{} in the gradient that {}{} passes to {}{}, recorded at {}", word_for(value),
                                     from->name, from->op ? fmt::format(" ({})", op) : "", node.name,
                                     place_in(node.shape, *bad), tensor::place_of(from->where))};
    }
    return std::nullopt;
}

std::optional<NotFinite> update_cause(const Step& step) {
    for (const Parameter& parameter : step.list.parameters()) {
        const auto values = tensor::values_of(step.heap, parameter.value);
        const auto bad = first_bad(values);
        if (!bad) continue;
        const double value = values[*bad];
        return NotFinite{step.number,
                         "update",
                         std::string(step.rule),
                         parameter.name,
                         "",
                         value,
                         fmt::format("{} in {}{}, after the update by {}", word_for(value), parameter.name,
                                     place_in(parameter.value.shape, *bad), step.rule)};
    }
    return std::nullopt;
}
}  // namespace

bool FiniteWatch::finite(device::Device& device, device::Pointer at, int64_t count, DType type) {
    const size_t size = static_cast<size_t>(count) * size_of(type);
    if (bytes_.size() < size) bytes_.resize(std::max(size, static_cast<size_t>(slice_a_step) * sizeof(double)));
    device.copy_out(bytes_.data(), at, size);
    switch (type) {
        case DType::f64:
            return exponents_finite<uint64_t>(bytes_.data(), count, 0x7ff0000000000000u);
        case DType::f32:
            return exponents_finite<uint32_t>(bytes_.data(), count, 0x7f800000u);
        case DType::f16:
            return exponents_finite<uint16_t>(bytes_.data(), count, 0x7c00u);
        case DType::bf16:
            return exponents_finite<uint16_t>(bytes_.data(), count, 0x7f80u);
        default:
            return true;
    }
}

bool FiniteWatch::parameters_finite(const Step& step) {
    const auto& all = step.list.parameters();
    device::Device& device = step.heap.device();
    bool good = true, large = false;
    for (const Parameter& parameter : all) {
        const tensor::Tensor& value = parameter.value;
        if (value.count() > small_parameter)
            large = true;
        else
            good = finite(device, value.pointer(), value.count(), value.dtype) && good;
    }
    int64_t left = large ? slice_a_step : 0;
    for (size_t looked = 0; left > 0 && looked <= all.size(); ++looked) {
        if (turn_ >= all.size()) turn_ = 0;
        const tensor::Tensor& value = all[turn_].value;
        const int64_t count = value.count() > small_parameter ? std::min(left, value.count() - place_) : 0;
        if (count > 0)
            good = finite(device, {value.pointer().address + static_cast<uint64_t>(place_) * size_of(value.dtype)}, count,
                          value.dtype) &&
                   good;
        left -= count;
        place_ += count;
        if (count > 0 && place_ < value.count()) break;
        ++turn_;
        place_ = 0;
    }
    return good;
}

std::optional<NotFinite> FiniteWatch::look(const Step& step) {
    if (parameters_finite(step) && std::isfinite(step.loss)) return std::nullopt;
    std::optional<NotFinite> cause;
    if (!told_) {
        cause = forward_cause(step);
        if (!cause) cause = backward_cause(step);
        if (!cause) cause = update_cause(step);
    }
    if (!cause) cause = NotFinite{step.number, "", "", "", "", step.loss, fmt::format("the loss is {}", step.loss)};
    cause->text = fmt::format("step {}: {}{}", step.number,
                              cause->phase.empty() ? "" : "the first value that is not finite is ", cause->text);
    told_ = true;
    return cause;
}

NotFiniteFailure::NotFiniteFailure(std::shared_ptr<const StepRecord> of)
    : Failure(of->not_finite->text, ExitStatus::faulted), record(std::move(of)) {}

}  // namespace lockstep::nn
