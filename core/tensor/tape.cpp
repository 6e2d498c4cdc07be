#include "core/tensor/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "core/base/diagnostic.h"

namespace lockstep::tensor {

Launch elementwise(std::string_view kernel, int64_t count, std::vector<device::Argument> arguments) {
    return {kernel, {static_cast<uint32_t>((count + 255) / 256), 1, 1}, {256, 1, 1}, std::move(arguments)};
}

device::Argument size_argument(int64_t size) {
    return static_cast<int32_t>(size);
}

void ForwardCall::launch(const Launch& what, const std::string& label) {
    launches.push_back(tape.launch(what, label.empty() ? name : label, "forward"));
}

Tensor ForwardCall::temporary(const Shape& shape, const std::string& what) {
    return make_tensor(tape.heap(), shape, name + " " + what, Purpose::activation);
}

void ForwardCall::save(const std::string& what, const Tensor& tensor) {
    saved.push_back({what, tensor});
}

void ForwardCall::save_input(size_t index) {
    save(input_names[index], inputs[index]);
}

// "fc1 matmul" and "dW" make "fc1 dW"; "relu1" and "dx" make "relu1 dx".
static std::string gradient_label(const std::string& name, std::string_view gradient) {
    return fmt::format("{} {}", name.substr(0, name.rfind(' ')), gradient);
}

Tensor& BackwardCall::allocate(size_t input) {
    gradients[input] =
        make_tensor(tape.heap(), shapes[input], gradient_label(name, gradient_names[input]), Purpose::gradient);
    return gradients[input];
}

void BackwardCall::launch(size_t input, const Launch& what) {
    launches.push_back(tape.launch(what, gradient_label(name, gradient_names[input]), "backward"));
    ready.at(input) = launches.back();
}

float BackwardCall::upstream_scalar() const {
    return upstream ? to_host(tape.heap(), upstream)[0] : 1.0f;
}

Variable Tape::leaf(Node::Kind kind, const Tensor& value, const std::string& name, bool requires_grad) {
    Node node;
    node.kind = kind;
    node.name = name;
    node.shape = value.shape;
    node.dtype = value.dtype;
    node.requires_grad = requires_grad;
    node.value = value.pointer();
    nodes_.push_back(std::move(node));
    return {static_cast<int>(nodes_.size()) - 1, value};
}

Variable Tape::input(const Tensor& value, const std::string& name, bool requires_grad) {
    return leaf(Node::Kind::input, value, name, requires_grad);
}
Variable Tape::parameter(const Tensor& value, const std::string& name) {
    return leaf(Node::Kind::parameter, value, name, true);
}
Variable Tape::label(const Tensor& value, const std::string& name) {
    return leaf(Node::Kind::label, value, name, false);
}

int Tape::launch(const Launch& what, const std::string& label, const std::string& phase) {
    device::LaunchRequest request;
    request.kernel = what.kernel;
    request.grid = what.grid;
    request.block = what.block;
    request.arguments = what.arguments;
    request.label = label;
    request.phase = phase;
    heap_.device().launch(request);
    live_bytes_.push_back(heap_.live_bytes());
    return launches_++;
}

Variable Tape::apply(const OpRow& op, const std::vector<Variable>& inputs, const std::string& name,
                     const Attributes& attributes) {
    assert(inputs.size() == op.inputs);
    std::vector<Shape> shapes;
    std::vector<Tensor> values;
    std::vector<std::string> names;
    std::array<bool, 2> needs_grad = {};
    Node node;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Node& from = nodes_[size_t(inputs[i].node)];
        const bool labels = static_cast<int>(i) == op.label_input;
        if ((from.dtype == DType::i32) != labels)
            throw Failure(fmt::format("{}: {} holds {} but {} takes {} there", name, from.name, name_of(from.dtype), op.name,
                                      labels ? "labels (i32)" : "f32"));
        shapes.push_back(from.shape);
        values.push_back(inputs[i].value);
        names.push_back(from.name);
        needs_grad[i] = from.requires_grad;
        node.inputs.push_back(inputs[i].node);
        node.requires_grad = node.requires_grad || from.requires_grad;
    }
    node.op = &op;
    node.attributes = attributes;
    node.name = name;
    node.shape = op.shape(shapes, attributes, name);
    ForwardCall call{*this, values, attributes, names, {needs_grad.data(), inputs.size()}, name, {}, {}, {}};
    call.output = make_tensor(heap_, node.shape, name, Purpose::activation);
    op.forward(call);
    node.value = call.output.pointer();
    node.forward_launches = std::move(call.launches);
    if (node.requires_grad) {
        node.saved = std::move(call.saved);
        for (const Saved& saved : node.saved) {
            node.saved_names += (node.saved_names.empty() ? "" : ", ") + saved.name;
            if (saved.tensor.storage->purpose() != Purpose::parameter) node.saved_bytes += saved.tensor.bytes();
        }
    }
    nodes_.push_back(std::move(node));
    return {static_cast<int>(nodes_.size()) - 1, call.output};
}

// gradient += another: in place, into whichever of the two no other node shows as its own.
void Tape::add_gradient(Node& node, Tensor gradient, bool borrowed, const std::string& from, std::vector<int>& launches) {
    if (node.gradient) {
        const std::string label = fmt::format("{} += from {}", node.name, from.substr(0, from.rfind(' ')));
        const auto accumulate = [&](const Tensor& into, const Tensor& other) {
            launches.push_back(launch(
                elementwise("accumulate_f32", into.count(), {into.pointer(), other.pointer(), size_argument(into.count())}),
                label, "backward"));
        };
        if (!node.gradient_borrowed) {
            accumulate(node.gradient, gradient);
            gradient = node.gradient;
        } else if (!borrowed) {
            accumulate(gradient, node.gradient);
        } else {
            Tensor total = make_tensor(heap_, node.shape, node.name + " gradient", Purpose::gradient);
            launches.push_back(
                launch(elementwise("fill_f32", total.count(), {total.pointer(), 0.0f, size_argument(total.count())}), label,
                       "backward"));
            accumulate(total, node.gradient);
            accumulate(total, gradient);
            gradient = total;
        }
        borrowed = false;
    }
    node.gradient_borrowed = borrowed;
    node.gradient = std::move(gradient);
    node.gradient_at = node.gradient.pointer();
    node.has_gradient = true;
}

void Tape::backward_through(Node& node) {
    std::vector<Shape> shapes;
    std::array<bool, 2> wanted = {};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Node& from = nodes_[size_t(node.inputs[i])];
        shapes.push_back(from.shape);
        wanted[i] = from.requires_grad;
    }
    BackwardCall call{*this,
                      shapes,
                      node.attributes,
                      node.saved,
                      {wanted.data(), node.inputs.size()},
                      node.name,
                      node.op->gradient_names,
                      std::move(node.gradient),
                      {},
                      {}};
    node.gradient = {};
    call.gradients.resize(node.inputs.size());
    call.ready.assign(node.inputs.size(), -1);
    node.op->backward(call);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!wanted[i] || !call.gradients[i]) continue;
        const bool borrowed = call.gradients[i].storage == call.upstream.storage;
        Node& from = nodes_[size_t(node.inputs[i])];
        const size_t before = call.launches.size();
        add_gradient(from, std::move(call.gradients[i]), borrowed, node.name, call.launches);
        const int written = call.ready[i] >= 0 ? call.ready[i] : node.gradient_after;
        from.gradient_after = std::max(from.gradient_after, call.launches.size() > before ? call.launches.back() : written);
    }
    node.backward_launches = std::move(call.launches);
}

void Tape::backward(const Variable& root, const Tensor& seed) {
    if (ran_backward_) throw Failure("backward ran already on this tape: what it saved is freed");
    Node& last = nodes_[size_t(root.node)];
    if (!seed && count_of(last.shape) != 1)
        throw Failure(
            fmt::format("{} has shape {}: backward starts at a loss of one element", last.name, text_of(last.shape)));
    if (seed && seed.shape != last.shape)
        throw Failure(fmt::format("{} has shape {} but the gradient given for it {}", last.name, text_of(last.shape),
                                  text_of(seed.shape)));
    ran_backward_ = true;
    last.gradient = seed;
    last.has_gradient = true;
    last.gradient_after = launches_ - 1;
    last.gradient_is_one = !seed;
    if (seed) last.gradient_at = seed.pointer();
    last.gradient_borrowed = true;
    for (int id = root.node; id >= 0; --id) {
        Node& node = nodes_[size_t(id)];
        if (node.kind == Node::Kind::op && node.has_gradient && node.requires_grad) backward_through(node);
        if (!node.saved.empty()) {
            node.saved.clear();
            node.freed_after = launches_ - 1;
        }
    }
}

std::vector<float> Tape::read_value(int id) const {
    const Node& node = nodes_[size_t(id)];
    std::vector<float> values(static_cast<size_t>(count_of(node.shape)));
    if (node.dtype == DType::i32) {
        std::vector<int32_t> labels(values.size());
        heap_.device().copy_out(labels.data(), node.value, labels.size() * sizeof(int32_t));
        for (size_t i = 0; i < labels.size(); ++i) values[i] = static_cast<float>(labels[i]);
    } else {
        heap_.device().copy_out(values.data(), node.value, values.size() * sizeof(float));
    }
    return values;
}

std::vector<float> Tape::read_gradient(int id) const {
    const Node& node = nodes_[size_t(id)];
    if (!node.has_gradient) return {};
    std::vector<float> values(static_cast<size_t>(count_of(node.shape)), 1.0f);
    if (!node.gradient_is_one) heap_.device().copy_out(values.data(), node.gradient_at, values.size() * sizeof(float));
    return values;
}

}  // namespace lockstep::tensor
