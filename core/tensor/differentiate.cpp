// Gradients as Variables. With create_graph each op's `differentiate` records the gradient as ops, so that it has a
// derivative itself; without, each op's `backward` runs and its results become leaves.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

std::vector<Variable> Tape::walk_back(std::span<const Root> roots, const Variable* seed, const std::vector<bool>* only,
                                      bool create_graph) {
    std::vector<Variable> gradients(nodes_.size());
    int last = -1;
    const auto add_to = [&](int id, Variable gradient) {
        Variable& sum = gradients[size_t(id)];
        const std::string& name = nodes_[size_t(id)].name;
        sum = sum.node < 0 ? std::move(gradient) : add(*this, sum, gradient, fmt::format("{} gradient", name));
    };
    for (const Root& root : roots) {
        const int id = root.variable.node;
        last = std::max(last, id);
        if (seed) {
            add_to(id, *seed);
            continue;
        }
        Tensor value = root.seed;
        if (!value) {
            std::vector<int> launches;
            const Node node = nodes_[size_t(id)];
            value = ones(node, launches);
        }
        add_to(id, input(value, fmt::format("{} seed", nodes_[size_t(id)].name)));
    }
    for (int id = last; id >= 0; --id) {
        if (nodes_[size_t(id)].kind != Node::Kind::op || gradients[size_t(id)].node < 0) continue;
        if (!nodes_[size_t(id)].requires_grad || (only && !(*only)[size_t(id)])) continue;
        const Node node = nodes_[size_t(id)];  // a copy: recording moves the nodes
        if (node.freed)
            throw Failure(
                fmt::format("backward ran already through {}: what it saved is freed (retain_graph keeps it)", node.name));
        const std::vector<TensorType> inputs = types_of(node);
        std::vector<Variable> found(inputs.size());
        if (create_graph) {
            if (!node.op->differentiate)
                throw Failure(
                    fmt::format("{}: {} has a gradient but no gradient of its gradient", node.name, node.op->name));
            DifferentiateCall call{*this,
                                   *node.op,
                                   inputs,
                                   node.inputs,
                                   node.attributes,
                                   node.saved,
                                   node.name,
                                   gradients[size_t(id)],
                                   std::vector<Variable>(inputs.size()),
                                   only};
            node.op->differentiate(call);
            found = std::move(call.gradients);
        } else {
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
                              gradients[size_t(id)].value,
                              std::vector<Tensor>(inputs.size()),
                              {},
                              std::vector<int>(inputs.size(), -1),
                              only};
            node.op->backward(call);
            for (size_t i = 0; i < inputs.size(); ++i)
                if (call.wants(i) && call.gradients[i])
                    found[i] = input(contiguous(call.gradients[i], {node.name, "gradient"}, "backward", call.launches),
                                     gradient_label(node.name, "gradient"));
        }
        for (size_t i = 0; i < inputs.size(); ++i)
            if (found[i].node >= 0 && nodes_[size_t(node.inputs[i])].requires_grad &&
                (!only || (*only)[size_t(node.inputs[i])]))
                add_to(node.inputs[i], found[i]);
    }
    return gradients;
}

std::vector<Variable> Tape::gradients(const Variable& root, std::span<const Variable> inputs, BackwardOptions options,
                                      const Variable* seed) {
    const Root one{root, seed ? seed->value : Tensor{}};
    check_roots(std::span(&one, 1));
    std::vector<bool> reached(nodes_.size(), false);
    for (const Variable& variable : inputs) {
        if (variable.node < 0 || size_t(variable.node) >= nodes_.size())
            throw Failure("gradients: an input is not on this tape");
        if (!nodes_[size_t(variable.node)].requires_grad)
            throw Failure(fmt::format("{} needs no gradient, so none can be asked for", nodes_[size_t(variable.node)].name));
        reached[size_t(variable.node)] = true;
    }
    for (size_t id = 0; id < reached.size(); ++id)
        for (int from : nodes_[id].inputs)
            if (reached[size_t(from)]) reached[id] = true;
    const auto walk = [&] { return walk_back(std::span(&one, 1), seed, &reached, options.create_graph); };
    std::vector<Variable> all;
    if (options.create_graph) {
        all = walk();
    } else {
        const NoGrad quiet(*this);
        all = walk();
    }
    if (!options.create_graph && !options.retain_graph)
        for (int id = 0; id <= root.node; ++id)
            if (reached[size_t(id)] && all[size_t(id)].node >= 0) free_saved(nodes_[size_t(id)]);
    std::vector<Variable> wanted;
    for (const Variable& variable : inputs) wanted.push_back(all[size_t(variable.node)]);
    return wanted;
}

void Tape::backward_recorded(std::span<const Root> roots) {
    const size_t before = nodes_.size();
    const std::vector<Variable> all = walk_back(roots, nullptr, nullptr, true);
    for (size_t id = 0; id < before; ++id) {
        if (all[id].node < 0) continue;
        const bool leaf = nodes_[id].kind != Node::Kind::op;
        Variable gradient = all[id];
        if (leaf && nodes_[id].gradient_node >= 0)
            gradient = add(*this, gradient_variable({static_cast<int>(id), {}}), gradient, nodes_[id].name + " gradient");
        Node& node = nodes_[id];
        std::vector<int> launches;
        gradient.value = contiguous(gradient.value, {node.name, "gradient"}, "backward", launches);
        node.gradient_node = gradient.node;
        node.gradient_at = gradient.value.pointer();
        node.has_gradient = true;
        node.gradient_is_one = false;
        node.gradient_borrowed = true;
        if (leaf) node.gradient = gradient.value;
        node.gradient_after = launches_ - 1;
    }
}

Variable Tape::gradient_variable(const Variable& variable) const {
    const Node& node = nodes_[size_t(variable.node)];
    if (node.gradient_node < 0 || !node.gradient)
        throw Failure(
            fmt::format("{} has no gradient that is on the tape: backward with create_graph makes one", node.name));
    return {node.gradient_node, node.gradient};
}

}  // namespace lockstep::tensor
