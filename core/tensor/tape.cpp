// Recording: leaves, ops, launches, and what can be asked of the nodes afterwards. backward.cpp walks back.
#include "core/tensor/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/device/kernels/kernel_library.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

Variable Tape::leaf(Node::Kind kind, const Tensor& value, NodeName name, bool requires_grad) {
    if (!value) throw Failure(fmt::format("{} has no value", name.text));
    nodes_.push_back(fresh_node());
    Node& node = nodes_.back();
    node.kind = kind;
    node.name = std::move(name.text);
    node.where = name.where;
    node.shape = value.shape;
    node.strides = value.strides;
    node.dtype = value.dtype;
    node.requires_grad = requires_grad;
    node.weights_only = kind == Node::Kind::parameter;
    node.value = value.pointer();
    return {static_cast<int>(nodes_.size()) - 1, value};
}

Variable Tape::input(const Tensor& value, NodeName name, bool requires_grad) {
    if (requires_grad && !floating(value.dtype))
        throw Failure(
            fmt::format("{} holds {}: only floating-point tensors have gradients", name.text, name_of(value.dtype)));
    return leaf(Node::Kind::input, value, std::move(name), requires_grad);
}
Variable Tape::parameter(const Tensor& value, NodeName name) {
    return leaf(Node::Kind::parameter, value, std::move(name), true);
}
Variable Tape::label(const Tensor& value, NodeName name) {
    return leaf(Node::Kind::label, value, std::move(name), false);
}

Node Tape::fresh_node() {
    Node node;
    if (nodes_.size() >= spare_.size()) return node;
    Node& old = spare_[nodes_.size()];
    const auto take = [](auto& to, auto& from) { to.swap(from), to.clear(); };
    take(node.inputs, old.inputs);
    take(node.saved, old.saved);
    take(node.forward_launches, old.forward_launches);
    take(node.backward_launches, old.backward_launches);
    take(node.update_launches, old.update_launches);
    return node;
}

void Tape::clear() {
    for (Node& node : nodes_) {
        node.gradient = node.deferred_upstream = {};
        node.saved.clear();
    }
    nodes_.swap(spare_);
    nodes_.clear();
    live_bytes_.clear();
    hooks_.clear();
    edges_.clear();
    launches_ = 0;
    position_ = weights_position_ = -1;
    anomaly_.reset();
}

int Tape::launch(const Launch& what, const Label& label, std::string_view phase, DType type) {
    request_.kernel = what.named_whole ? what.kernel : device::typed_kernel(what.kernel, what.type.value_or(type));
    request_.grid = what.grid;
    request_.block = what.block;
    request_.dynamic_shared = what.dynamic_shared;
    request_.arguments.assign(what.arguments.begin(), what.arguments.end());
    request_.label.assign(label.name);
    if (!label.what.empty()) request_.label.append(" ").append(label.what);
    request_.phase.assign(phase);
    request_.op = running_ && running_->op ? running_->op->name : std::string_view();
    request_.where = running_ ? running_->where : std::source_location();
    heap_.device().launch(request_);
    if (on_launch) on_launch(what, request_);
    live_bytes_.push_back(heap_.live_bytes());
    return launches_++;
}

Tensor Tape::contiguous(const Tensor& tensor, const Label& name, std::string_view phase, std::vector<int>& launches) {
    if (tensor.contiguous()) return tensor;
    Tensor copy =
        make_tensor(heap_, tensor.shape, name, phase == "backward" ? Purpose::gradient : Purpose::activation, tensor.dtype);
    copy.largest = tensor.largest;
    launches.push_back(launch(copy_strided(tensor, copy), name, phase, tensor.dtype));
    return copy;
}

void Tape::check_inputs(const OpRow& op, std::span<const Variable> inputs, const std::string& name) const {
    if (inputs.size() < op.inputs || (inputs.size() > op.inputs && !op.variadic))
        throw Failure(fmt::format("{}: {} takes {}{} input{}, not {}", name, op.name, op.inputs,
                                  op.variadic ? " or more" : "", op.inputs == 1 && !op.variadic ? "" : "s", inputs.size()));
    const Node* first = nullptr;  // of the floating inputs
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].node < 0 || size_t(inputs[i].node) >= nodes_.size())
            throw Failure(fmt::format("{}: input {} is not on this tape", name, i + 1));
        const Node& from = nodes_[size_t(inputs[i].node)];
        if (!inputs[i].value) throw Failure(fmt::format("{}: the value of {} was given up", name, from.name));
        const uint32_t bit = i < 32 ? 1u << i : 0u;
        if (op.any_inputs & bit) continue;
        const bool integers = op.integer_inputs & bit;
        if (floating(from.dtype) == integers)
            throw Failure(fmt::format("{}: {} holds {} but {} takes {} there", name, from.name, name_of(from.dtype), op.name,
                                      integers ? "integers" : "floating-point values"));
        if (integers) continue;
        if (!first) first = &from;
        if (from.dtype != first->dtype)
            throw Failure(fmt::format("{}: {} holds {} but {} holds {}: {} takes one type, so cast one of them", name,
                                      first->name, name_of(first->dtype), from.name, name_of(from.dtype), op.name));
    }
}

DType compute_type(Types inputs, DType otherwise) {
    for (const TensorType& type : inputs)
        if (floating(type.dtype)) return type.dtype;
    return otherwise;
}

Variable Tape::apply(const OpRow& op, std::span<const Variable> inputs, NodeName name, const Attributes& attributes) {
    check_inputs(op, inputs, name.text);
    const size_t count = inputs.size();
    std::vector<TensorType> types = std::move(types_);
    std::vector<Tensor> values = std::move(values_);
    types.resize(count), values.resize(count);
    Node node = fresh_node();
    node.inputs.resize(count);
    node.weights_only = count > 0;
    for (size_t i = 0; i < count; ++i) {
        const Node& from = nodes_[size_t(inputs[i].node)];
        node.weights_only = node.weights_only && from.weights_only;
        types[i] = {inputs[i].value.shape, from.dtype};
        node.inputs[i] = inputs[i].node;
        node.requires_grad = node.requires_grad || from.requires_grad;
    }
    const DType dtype = compute_type(types, types.empty() ? DType::f32 : types[0].dtype);
    node.op = &op;
    node.attributes = attributes;
    node.name = std::move(name.text);
    node.where = name.where;
    node.requires_grad = node.requires_grad && recording_ && op.backward;
    Tensor output;
    const Running running(*this, node);
    try {
        node.dtype = op.result ? op.result(types, attributes) : dtype;
        node.requires_grad = node.requires_grad && floating(node.dtype);
        if (op.view) {
            output = op.view(op.takes_strides
                                 ? inputs[0].value
                                 : contiguous(inputs[0].value, {node.name, "copy"}, "forward", node.forward_launches),
                             attributes);
            node.shape = output.shape;
        } else {
            node.shape = op.shape(types, attributes);
        }
    } catch (const Failure& failure) {
        const bool says_op = node.name.find(op.name) != std::string::npos;  // "fc1 matmul"; but "loss (mse)"
        throw Failure(
            fmt::format("{}{}: {}", node.name, says_op ? "" : fmt::format(" ({})", op.name), failure.diagnostic.message),
            failure.status);
    }
    for (size_t i = 0; i < count; ++i)
        values[i] = op.takes_strides || op.view
                        ? inputs[i].value
                        : contiguous(inputs[i].value, {node.name, "copy"}, "forward", node.forward_launches);
    if (!op.view) output = make_tensor(heap_, node.shape, node.name, Purpose::activation, node.dtype);
    const int id = static_cast<int>(nodes_.size());
    ForwardCall call{*this,
                     op,
                     values,
                     node.inputs,
                     node.attributes,
                     node.name,
                     id,
                     dtype,
                     std::move(output),
                     node.saved,
                     node.forward_launches};
    if (op.forward) op.forward(call);
    node.value = call.output.pointer();
    node.strides = call.output.strides;
    if (node.requires_grad) {
        for (const Saved& saved : node.saved)
            if (!kept_from_step_to_step(saved.tensor.storage->purpose())) node.saved_bytes += saved.tensor.bytes();
    } else {
        node.saved.clear();
    }
    if (check_ != Check::none) look_at(node, call.output, false);
    Variable result{id, std::move(call.output)};
    nodes_.push_back(std::move(node));
    types.clear(), values.clear();
    types_ = std::move(types), values_ = std::move(values);
    return result;
}

int64_t Tape::saved_bytes() const {
    std::vector<const Storage*> seen;
    int64_t bytes = 0;
    for (const Node& node : nodes_)
        for (const Saved& saved : node.saved) {
            const Storage* storage = saved.tensor.storage.get();
            if (!storage || kept_from_step_to_step(storage->purpose())) continue;
            if (std::find(seen.begin(), seen.end(), storage) != seen.end()) continue;
            seen.push_back(storage);
            bytes += storage->bytes();
        }
    return bytes;
}

std::vector<Tape::SavedPlace> Tape::let_go(const Storage& storage, int first_node) {
    std::vector<SavedPlace> places;
    for (size_t id = static_cast<size_t>(first_node); id < nodes_.size(); ++id)
        for (size_t i = 0; i < nodes_[id].saved.size(); ++i)
            if (Saved& saved = nodes_[id].saved[i]; saved.tensor.storage.get() == &storage) {
                saved.tensor.storage.reset();
                places.push_back({static_cast<int>(id), i});
            }
    return places;
}

void Tape::bring_back(std::span<const SavedPlace> places, const std::shared_ptr<Storage>& storage) {
    for (const SavedPlace& place : places) {
        Node& node = nodes_[static_cast<size_t>(place.node)];
        if (place.index < node.saved.size() && !node.freed) node.saved[place.index].tensor.storage = storage;
    }
}

std::string Tape::saved_names(int id) const {
    std::string names;
    for (const Saved& saved : nodes_[size_t(id)].saved) {
        if (!names.empty()) names += ", ";
        names += saved.node >= 0 ? nodes_[size_t(saved.node)].name : std::string(saved.what);
    }
    return names;
}

std::vector<TensorType> Tape::types_of(const Node& node) const {
    std::vector<TensorType> types;
    types_of(node, types);
    return types;
}
void Tape::types_of(const Node& node, std::vector<TensorType>& into) const {
    into.clear();
    for (int from : node.inputs) into.push_back({nodes_[size_t(from)].shape, nodes_[size_t(from)].dtype});
}

OpCost Tape::cost() const {
    OpCost total;
    for (const Node& node : nodes_) {
        if (!node.op || !node.op->cost) continue;
        const OpCost one = node.op->cost(types_of(node), node.attributes);
        total.forward += one.forward;
        if (node.requires_grad) total.backward += one.backward;
    }
    return total;
}

std::vector<double> Tape::values(int id) const {
    const Node& node = nodes_[size_t(id)];
    return read_values(heap_.device(), node.value, node.shape, node.strides, node.dtype);
}

std::vector<double> Tape::gradient_values(int id) const {
    const Node& node = nodes_[size_t(id)];
    if (!node.has_gradient) return {};
    if (node.gradient_is_one) return std::vector<double>(static_cast<size_t>(count_of(node.shape)), 1.0);
    return read_values(heap_.device(), node.gradient_at, node.shape, strides_of(node.shape), node.dtype);
}

static std::vector<float> narrow(const std::vector<double>& wide) {
    std::vector<float> values(wide.size());
    std::transform(wide.begin(), wide.end(), values.begin(), [](double value) { return static_cast<float>(value); });
    return values;
}
// As they lie there: a recorded step of a large model copies tens of megabytes.
static std::vector<float> copied(device::Device& device, device::Pointer first, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(count_of(shape)));
    device.copy_out(values.data(), first, values.size() * sizeof(float));
    return values;
}
std::vector<float> Tape::read_value(int id) const {
    const Node& node = nodes_[size_t(id)];
    const bool plain = node.dtype == DType::f32 && node.strides == strides_of(node.shape);
    return plain ? copied(heap_.device(), node.value, node.shape) : narrow(values(id));
}
std::vector<float> Tape::read_gradient(int id) const {
    const Node& node = nodes_[size_t(id)];
    const bool plain = node.dtype == DType::f32 && node.has_gradient && !node.gradient_is_one;
    return plain ? copied(heap_.device(), node.gradient_at, node.shape) : narrow(gradient_values(id));
}

std::string place_of(const std::source_location& where) {
    const std::string_view file = where.file_name();
    size_t begin = std::string_view::npos;
    for (std::string_view top : {"core/", "lessons/", "app/", "tests/"})
        if (const size_t at = file.rfind(top); at != std::string_view::npos && (at == 0 || file[at - 1] == '/'))
            begin = begin == std::string_view::npos ? at : std::min(begin, at);
    // A folder that all of the project lies in may be called so too.
    for (std::string_view top : {"core/", "app/"})
        if (begin != std::string_view::npos && file.substr(begin).starts_with(top))
            for (std::string_view next : {"core/", "lessons/", "app/", "tests/"})
                if (file.substr(begin + top.size()).starts_with(next)) begin += top.size();
    if (begin == std::string_view::npos) begin = file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1;
    return fmt::format("{}:{}", file.substr(begin), where.line());
}

void Tape::look_at(const Node& node, const Tensor& tensor, bool backward) {
    if (anomaly_ || !floating(tensor.dtype)) return;
    const std::vector<double> all = values_of(heap_, tensor);
    const auto bad = std::find_if(all.begin(), all.end(), [](double value) { return !std::isfinite(value); });
    if (bad == all.end()) return;
    anomaly_ = Anomaly{node.op ? std::string(node.op->name) : "", node.name, place_of(node.where), backward, {}, *bad};
    int64_t left = bad - all.begin();
    for (int64_t stride : strides_of(tensor.shape)) {
        anomaly_->at.push_back(left / stride);
        left %= stride;
    }
    if (check_ == Check::stop) throw Failure(anomaly_->text(), ExitStatus::faulted);
}

std::string Anomaly::text() const {
    return fmt::format("the first value that is not finite is {} in {} of {} ({}){}, element {}, recorded at {}",
                       std::isnan(value) ? "a NaN" : "an infinity", backward ? "what the backward" : "the value", name,
                       op.empty() ? "a leaf" : op, backward ? " hands on" : "", text_of(at), where);
}

}  // namespace lockstep::tensor
