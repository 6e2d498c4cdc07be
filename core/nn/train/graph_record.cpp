// Copies of a tape's nodes. Nothing is launched: looking changes neither times nor addresses.
#include "core/nn/train/graph_record.h"

#include <algorithm>

#include "core/nn/train/follow.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Node;
using tensor::Tape;

namespace {

Values kept_values(std::vector<float> values) {
    return values.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(values));
}

GraphNode graph_node(Tape& tape, int id, int loss) {
    const Node& node = tape.nodes()[static_cast<size_t>(id)];
    GraphNode out;
    out.kind = id == loss                           ? GraphNode::Kind::loss
               : node.kind == Node::Kind::parameter ? GraphNode::Kind::parameter
               : node.kind == Node::Kind::label     ? GraphNode::Kind::label
               : node.kind == Node::Kind::op        ? GraphNode::Kind::op
                                                    : GraphNode::Kind::input;
    out.id = id;
    out.op = node.op ? node.op->name : "";
    out.name = node.name;
    out.shape = node.shape;
    out.inputs = node.inputs;
    out.bytes = node.bytes();
    out.requires_grad = node.requires_grad;
    out.forward_launches = node.forward_launches;
    out.backward_launches = node.backward_launches;
    out.gradient_after = node.gradient_after;
    out.update_launches = node.update_launches;
    out.saved = tape.saved_names(id);
    out.saved_bytes = node.saved_bytes;
    out.freed_after = node.freed_after;
    out.dtype = node.dtype;
    out.row = node.op;
    if (node.op) out.attributes = std::make_shared<const tensor::Attributes>(node.attributes);
    out.went_back = node.kind == Node::Kind::op && node.requires_grad && node.has_gradient;
    return out;
}

Values gradient_at(Tape& tape, const TurnGradients::Place& place) {
    const Node& node = tape.nodes()[static_cast<size_t>(place.node)];
    if (place.is_one) return kept_values(std::vector<float>(static_cast<size_t>(tensor::count_of(node.shape)), 1.0f));
    const auto wide =
        tensor::read_values(tape.heap().device(), place.at, node.shape, tensor::strides_of(node.shape), node.dtype);
    return kept_values({wide.begin(), wide.end()});
}

}  // namespace

TurnGradients gradients_of_turn(Tape& tape) {
    TurnGradients turn;
    turn.end = static_cast<int>(tape.nodes().size());
    for (int id = 0; id < turn.end; ++id) {
        const Node& node = tape.nodes()[static_cast<size_t>(id)];
        if (node.has_gradient) turn.places.push_back({id, node.gradient_after, node.gradient_at, node.gradient_is_one});
    }
    return turn;
}

std::vector<GraphNode> record_nodes(Tape& tape, int loss, bool values, std::span<const TurnGradients> earlier) {
    std::vector<GraphNode> nodes;
    nodes.reserve(tape.nodes().size());
    for (size_t id = 0; id < tape.nodes().size(); ++id) {
        GraphNode& node = nodes.emplace_back(graph_node(tape, static_cast<int>(id), loss));
        while (node.turn < static_cast<int>(earlier.size()) && node.id >= earlier[static_cast<size_t>(node.turn)].end)
            ++node.turn;
        if (!values) continue;
        node.value = kept_values(tape.read_value(node.id));
        node.gradient = kept_values(tape.read_gradient(node.id));
    }
    for (const TurnGradients& turn : earlier)
        for (const TurnGradients::Place& place : turn.places) {
            GraphNode& node = nodes[static_cast<size_t>(place.node)];
            if (node.gradient || tape.nodes()[static_cast<size_t>(place.node)].has_gradient) continue;
            node.gradient_after = place.after;
            node.went_back = node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss;
            if (values) node.gradient = gradient_at(tape, place);
        }
    return nodes;
}

StepRecord record_of(Tape& tape, int loss, std::vector<device::LaunchEvent> launches) {
    StepRecord record;
    record.device = tape.heap().device().name();
    record.launches = std::move(launches);
    record.live_bytes = tape.live_bytes();
    record.nodes = record_nodes(tape, loss, true);
    if (loss >= 0) record.loss = tape.values(loss)[0];
    record.followed = std::make_shared<const Followed>(follow(record));
    for (GraphNode& node : record.nodes) {
        if (!node.row) continue;
        const auto found = std::find_if(tensor::ops().begin(), tensor::ops().end(),
                                        [&](const tensor::OpRow& row) { return row.name == node.op; });
        const bool listed = found != tensor::ops().end() && found->shape == node.row->shape && found->view == node.row->view;
        node.row = listed && found->forward == node.row->forward ? &*found : nullptr;
    }
    return record;
}

}  // namespace lockstep::nn
