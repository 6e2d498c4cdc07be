// Walking back: node by node in reverse order, which is an order in which every gradient is complete before it is used.
// A gradient that two nodes show is "borrowed": it is never added into in place.
// With defer_weights the walk asks every op for its activations' gradients alone; an op that has parameters among its inputs
// keeps what it saved and its upstream gradient, and backward_weights() walks once more, over those ops and what is made of
// parameters alone (a cast of a weight). Both walks go down the same numbers, so sums are made in the same order as in one.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

Tensor Tape::ones(const Node& node, std::vector<int>& launches) {
    Tensor one = make_tensor(heap_, node.shape, {node.name, "gradient"}, Purpose::gradient, node.dtype);
    launches.push_back(
        launch(elementwise("fill", one.count(), {one.pointer(), scalar_argument(1, node.dtype), size_argument(one.count())}),
               {node.name, "gradient"}, "backward", node.dtype));
    return one;
}

// gradient += another: in place, into whichever of the two no other node shows as its own.
void Tape::add_gradient(int id, Tensor gradient, bool borrowed, std::string_view from, std::vector<int>& launches) {
    Node& node = nodes_[size_t(id)];
    if (gradient.shape != node.shape || gradient.dtype != node.dtype)
        throw Failure(fmt::format("{}: its backward gave {} of shape {} {} for a gradient of {} {}", from, node.name,
                                  text_of(gradient.shape), name_of(gradient.dtype), text_of(node.shape),
                                  name_of(node.dtype)));
    if (!gradient.contiguous()) {
        gradient = contiguous(gradient, {node.name, "gradient"}, "backward", launches);
        borrowed = false;
    }
    if (node.gradient_is_one) {  // a root that is not the end of the graph
        node.gradient = ones(node, launches);
        node.gradient_is_one = node.gradient_borrowed = false;
    }
    if (node.gradient) {
        const std::string label = fmt::format("{} += from {}", node.name, without_last_word(from));
        const auto accumulate = [&](const Tensor& into, const Tensor& other) {
            launches.push_back(launch(
                elementwise("accumulate", into.count(), {into.pointer(), other.pointer(), size_argument(into.count())}),
                label, "backward", node.dtype));
        };
        if (!node.gradient_borrowed) {
            accumulate(node.gradient, gradient);
            gradient = node.gradient;
        } else if (!borrowed) {
            accumulate(gradient, node.gradient);
        } else {
            Tensor total = make_tensor(heap_, node.shape, {node.name, "gradient"}, Purpose::gradient, node.dtype);
            launches.push_back(
                launch(elementwise("fill", total.count(),
                                   {total.pointer(), scalar_argument(0, node.dtype), size_argument(total.count())}),
                       label, "backward", node.dtype));
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

void Tape::backward_through(int id, const std::vector<bool>* only) {
    Node& node = nodes_[size_t(id)];
    if (node.freed)
        throw Failure(
            fmt::format("backward ran already through {}: what it saved is freed (retain_graph keeps it)", node.name));
    const Running running(*this, node);
    std::vector<int> launches = std::move(passed_);
    launches.clear();
    if (node.gradient_is_one && !node.op->takes_unit_upstream) {
        node.gradient = ones(node, launches);
        node.gradient_at = node.gradient.pointer();
        node.gradient_is_one = false;
    }
    std::vector<TensorType> inputs = std::move(types_);
    types_of(node, inputs);
    const TensorType output{node.shape, node.dtype};
    BackwardCall call{*this,
                      *node.op,
                      inputs,
                      output,
                      node.inputs,
                      node.attributes,
                      node.saved,
                      node.name,
                      compute_type(inputs, node.dtype),
                      std::move(node.gradient),
                      std::move(gradients_),
                      std::move(launches),
                      std::move(ready_),
                      only};
    node.gradient = {};
    call.gradients.resize(inputs.size());
    call.ready.assign(inputs.size(), -1);
    bool asked = false, later = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        asked = asked || call.wants(i);
        later =
            later || (deferring_ && only == &activations_ && nodes_[size_t(node.inputs[i])].requires_grad && !call.wants(i));
    }
    if (later) node.deferred_upstream = call.upstream;
    if (asked) node.op->backward(call);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!call.wants(i) || !call.gradients[i]) continue;
        if (check_ != Check::none) look_at(node, call.gradients[i], true);
        if (keep_edges_) edges_.push_back({id, i, values_of(heap_, call.gradients[i])});
        const bool borrowed = call.upstream && call.gradients[i].storage == call.upstream.storage;
        const size_t before = call.launches.size();
        add_gradient(node.inputs[i], std::move(call.gradients[i]), borrowed, node.name, call.launches);
        Node& from = nodes_[size_t(node.inputs[i])];
        const int written = call.ready[i] >= 0 ? call.ready[i] : node.gradient_after;
        from.gradient_after = std::max(from.gradient_after, call.launches.size() > before ? call.launches.back() : written);
    }
    node.backward_launches.insert(node.backward_launches.end(), call.launches.begin(), call.launches.end());
    call.gradients.clear();
    gradients_ = std::move(call.gradients), passed_ = std::move(call.launches), ready_ = std::move(call.ready);
    types_ = std::move(inputs);
    node.deferred = later;
    if (!later) node.deferred_upstream = {};
    if (!retain_ && !later) free_saved(node);
}

void Tape::free_saved(Node& node) {
    if (node.saved.empty()) return;
    for (Saved& saved : node.saved) saved.tensor = {};
    node.freed = true;
    node.freed_after = launches_ - 1;
}

void Tape::run_hooks(int id) {
    for (size_t i = 0; i < hooks_.size(); ++i) {
        if (hooks_[i].first != id) continue;
        Node& node = nodes_[size_t(id)];
        if (node.gradient_is_one) {
            node.gradient = ones(node, node.backward_launches);
            node.gradient_at = node.gradient.pointer();
            node.gradient_is_one = false;
        }
        Tensor replaced = hooks_[i].second(node.gradient);
        if (!replaced) continue;
        Node& again = nodes_[size_t(id)];
        if (replaced.shape != again.shape || replaced.dtype != again.dtype || !replaced.contiguous())
            throw Failure(fmt::format("a hook on {} gave a gradient of shape {} {}, not a contiguous {} {}", again.name,
                                      text_of(replaced.shape), name_of(replaced.dtype), text_of(again.shape),
                                      name_of(again.dtype)));
        again.gradient = std::move(replaced);
        again.gradient_at = again.gradient.pointer();
        again.gradient_borrowed = true;  // somebody else may hold it
    }
}

void Tape::check_roots(std::span<const Root> roots) const {
    for (const Root& root : roots) {
        if (root.variable.node < 0 || size_t(root.variable.node) >= nodes_.size())
            throw Failure("backward: the root is not on this tape");
        const Node& node = nodes_[size_t(root.variable.node)];
        if (!node.requires_grad)
            throw Failure(fmt::format("{} needs no gradient: nothing it was made of does, or it was made without recording",
                                      node.name));
        if (!root.seed && count_of(node.shape) != 1)
            throw Failure(
                fmt::format("{} has shape {}: backward starts at a loss of one element", node.name, text_of(node.shape)));
        if (root.seed && root.seed.shape != node.shape)
            throw Failure(fmt::format("{} has shape {} but the gradient given for it {}", node.name, text_of(node.shape),
                                      text_of(root.seed.shape)));
    }
}

void Tape::begin_backward(std::span<const Root> roots, BackwardOptions options) {
    if (options.create_graph)
        throw Failure("create_graph records ops: use backward() or gradients(), which cannot be stepped");
    check_roots(roots);
    position_ = -1;
    for (const Root& root : roots) position_ = std::max(position_, root.variable.node);
    retain_ = options.retain_graph;
    deferring_ = options.defer_weights;
    weights_position_ = deferring_ ? position_ : -1;
    if (deferring_) {
        activations_.resize(nodes_.size()), weights_.resize(nodes_.size());
        for (size_t id = 0; id < nodes_.size(); ++id)
            weights_[id] = nodes_[id].weights_only, activations_[id] = !weights_[id];
    }
    for (int id = 0; id <= position_; ++id) {
        Node& node = nodes_[size_t(id)];
        if (node.kind != Node::Kind::op || !node.has_gradient) continue;
        node.gradient = {};
        node.has_gradient = node.gradient_is_one = node.gradient_borrowed = false;
        node.gradient_after = -1;
    }
    for (const Root& root : roots) {
        Node& node = nodes_[size_t(root.variable.node)];
        node.gradient_after = launches_ - 1;
        if (!root.seed && !node.has_gradient) {
            node.has_gradient = node.gradient_is_one = node.gradient_borrowed = true;
            continue;
        }
        Tensor seed = root.seed ? root.seed : ones(node, node.backward_launches);
        add_gradient(root.variable.node, std::move(seed), true, node.name, node.backward_launches);
    }
}

int Tape::next_backward() const {
    for (int id = position_; id >= 0; --id) {
        const Node& node = nodes_[size_t(id)];
        if (deferring_ && node.weights_only) continue;
        if (node.kind == Node::Kind::op && node.has_gradient && node.requires_grad) return id;
    }
    return -1;
}

std::optional<int> Tape::step_backward() {
    while (position_ >= 0) {
        const int id = position_--;
        const Node& node = nodes_[size_t(id)];
        if (!node.has_gradient || !node.requires_grad || (deferring_ && node.weights_only)) continue;
        if (!hooks_.empty()) run_hooks(id);
        if (nodes_[size_t(id)].kind != Node::Kind::op) continue;
        backward_through(id, deferring_ ? &activations_ : nullptr);
        return id;
    }
    return std::nullopt;
}

std::optional<int> Tape::step_backward_weights() {
    if (position_ >= 0 && weights_position_ >= 0)
        throw Failure("backward_weights: the backward of the activations has not come to its end");
    while (weights_position_ >= 0) {
        const int id = weights_position_--;
        Node& node = nodes_[size_t(id)];
        if (node.deferred) {
            node.gradient = std::move(node.deferred_upstream);
            node.deferred = false;
            backward_through(id, &weights_);
            return id;
        }
        if (!node.weights_only || !node.has_gradient || !node.requires_grad) continue;
        if (!hooks_.empty()) run_hooks(id);
        if (nodes_[size_t(id)].kind != Node::Kind::op) continue;
        backward_through(id, nullptr);
        return id;
    }
    return std::nullopt;
}

void Tape::backward_weights() {
    while (step_backward_weights()) {
    }
}

void Tape::backward(std::span<const Root> roots, BackwardOptions options) {
    if (options.create_graph) {
        if (options.defer_weights) throw Failure("create_graph records all gradients at once: it defers none");
        check_roots(roots);
        backward_recorded(roots);
        return;
    }
    begin_backward(roots, options);
    while (step_backward()) {
    }
}

void Tape::backward(const Variable& root, const Tensor& seed, BackwardOptions options) {
    const Root one{root, seed};
    backward(std::span(&one, 1), options);
}

}  // namespace lockstep::tensor
