// The rows of ops that communicate. Parts of another axis than the first are brought into the order of ranks by one strided
// copy, before or after the collective.
#include "core/parallel/blocks/comm_ops.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::Attributes;
using tensor::BackwardCall;
using tensor::ForwardCall;
using tensor::NodeName;
using tensor::OpRow;
using tensor::Tape;
using tensor::Tensor;
using tensor::Types;
using tensor::Variable;

Message::Message(device::Device& device, const Tensor& tensor, Way way) : device_(device), at_(tensor.pointer()), way_(way) {
    buffer_ = {nullptr, tensor.count(), tensor.dtype};
    const std::string name = device.name();
    if (name == "host") {
        buffer_.data = reinterpret_cast<void*>(static_cast<uintptr_t>(at_.address));
    } else if (name != "meta") {
        copy_.resize(static_cast<size_t>(tensor.bytes()));
        if (way != Way::in) device.copy_out(copy_.data(), at_, copy_.size());
        buffer_.data = copy_.data();
    }
}

void Message::done() {
    if (way_ != Way::out && !copy_.empty()) device_.copy_in(at_, copy_.data(), copy_.size());
}

void all_reduce(comm::Communicator& group, device::Device& device, const Tensor& tensor, comm::Reduction reduction) {
    Message message(device, tensor, Message::Way::both);
    group.all_reduce(message.buffer(), reduction);
    message.done();
}

void send(comm::Communicator& group, device::Device& device, int to, const Tensor& tensor, std::string_view label) {
    group.send(to, Message(device, tensor, Message::Way::out).buffer(), label);
}

void receive(comm::Communicator& group, device::Device& device, int from, const Tensor& tensor, std::string_view label) {
    Message message(device, tensor, Message::Way::in);
    group.receive(from, message.buffer(), label);
    message.done();
}

namespace {
const Crossing& crossing_of(const Attributes& attributes) {
    return *static_cast<const Crossing*>(attributes.context);
}
int64_t members_of(const Attributes& attributes) {
    return crossing_of(attributes).group->size();
}

// What forward and backward have in common: where to launch, and whose memory.
struct Moves {
    const Crossing& crossing;
    Tape& tape;
    std::function<void(const tensor::Launch&)> launch;
    std::function<Tensor(const tensor::Shape&)> fresh;  // a tensor of the call's type

    comm::Communicator& group() const { return *crossing.group; }
    device::Device& device() const { return tape.heap().device(); }
};
Moves moves_of(ForwardCall& call) {
    const Crossing& crossing = crossing_of(call.attributes);
    crossing.rank->forward_took(call.tape);
    return {crossing, call.tape, [&call](const tensor::Launch& launch) { call.launch(launch); },
            [&call](const tensor::Shape& shape) { return call.temporary(shape, "parts"); }};
}
Moves moves_of(BackwardCall& call) {
    return {crossing_of(call.attributes), call.tape, [&call](const tensor::Launch& launch) { call.launch(0, launch); },
            [&call](const tensor::Shape& shape) { return call.temporary(shape, "parts", call.dtype); }};
}

struct AxisCut {  // a shape around one axis: [outer, parts, inner]
    int64_t outer = 1, parts = 1, inner = 1;
};
AxisCut cut_at(const tensor::Shape& shape, int64_t axis, int64_t parts) {
    AxisCut cut{.parts = parts};
    const size_t at = tensor::axis_of(axis, shape.size());
    for (size_t i = 0; i < shape.size(); ++i) (i < at ? cut.outer : cut.inner) *= shape[i];
    cut.inner /= parts;
    return cut;
}
tensor::Shape with_axis(tensor::Shape shape, int64_t axis, int64_t times, int64_t over) {
    int64_t& extent = shape[tensor::axis_of(axis, shape.size())];
    if (extent % over)
        throw Failure(fmt::format("axis {} of {} does not divide into {} parts", axis, tensor::text_of(shape), over));
    extent = extent / over * times;
    return shape;
}

// Parts in the order of ranks, [parts, outer, inner], and back.
Tensor by_rank(const Moves& moves, const Tensor& x, const AxisCut& cut) {
    const Tensor to = moves.fresh({cut.parts, cut.outer, cut.inner});
    moves.launch(copy_strided(permuted(reshaped(x, {cut.outer, cut.parts, cut.inner}), {1, 0, 2}), to));
    return to;
}
void from_ranks(const Moves& moves, const Tensor& parts, const Tensor& to, const AxisCut& cut) {
    moves.launch(copy_strided(permuted(reshaped(parts, {cut.parts, cut.outer, cut.inner}), {1, 0, 2}),
                              reshaped(to, {cut.outer, cut.parts, cut.inner})));
}

void sum_into(const Moves& moves, const Tensor& x, const Tensor& to) {
    moves.launch(copy_strided(x, to));
    all_reduce(moves.group(), moves.device(), to);
}

void gather_into(const Moves& moves, const Tensor& part, const Tensor& to, int64_t axis) {
    const AxisCut cut = cut_at(to.shape, axis, moves.group().size());
    const Tensor parts = cut.outer == 1 ? to : moves.fresh({cut.parts, cut.outer, cut.inner});
    Message piece(moves.device(), part, Message::Way::out), whole(moves.device(), parts, Message::Way::in);
    moves.group().all_gather(piece.buffer(), whole.buffer());
    whole.done();
    if (cut.outer != 1) from_ranks(moves, parts, to, cut);
}

void scatter_sums_into(const Moves& moves, const Tensor& x, const Tensor& to, int64_t axis) {
    const Tensor parts = by_rank(moves, x, cut_at(x.shape, axis, moves.group().size()));  // the sums are made in it
    Message whole(moves.device(), parts, Message::Way::out), piece(moves.device(), to, Message::Way::in);
    moves.group().reduce_scatter(whole.buffer(), piece.buffer());
    piece.done();
}

void part_into(const Moves& moves, const Tensor& x, const Tensor& to, int64_t axis) {
    const int64_t extent = to.shape[tensor::axis_of(axis, to.shape.size())], first = moves.group().rank() * extent;
    moves.launch(copy_strided(sliced(x, axis, first, first + extent), to));
}

void exchange_into(const Moves& moves, const Tensor& x, const Tensor& to, int64_t split, int64_t join) {
    const int64_t members = moves.group().size();
    const Tensor from = by_rank(moves, x, cut_at(x.shape, split, members));
    const Tensor parts = moves.fresh(from.shape);
    Message out(moves.device(), from, Message::Way::out), in(moves.device(), parts, Message::Way::in);
    moves.group().all_to_all(out.buffer(), in.buffer());
    in.done();
    from_ranks(moves, parts, to, cut_at(to.shape, join, members));
}

void shift_into(const Moves& moves, const Tensor& x, const Tensor& to, int64_t by) {
    const int members = moves.group().size(), here = moves.group().rank(), step = static_cast<int>(by);
    const auto place = [&](int rank) { return (rank % members + members) % members; };
    send(moves.group(), moves.device(), place(here + step), x, "shift");
    receive(moves.group(), moves.device(), place(here - step), to, "shift");
}

tensor::Shape same_extents(Types in, const Attributes&) {
    return in[0].shape;
}
tensor::Shape joined_extents(Types in, const Attributes& a) {
    return with_axis(in[0].shape, a.axis, members_of(a), 1);
}
tensor::Shape part_extents(Types in, const Attributes& a) {
    return with_axis(in[0].shape, a.axis, 1, members_of(a));
}
tensor::OpCost no_arithmetic(Types, const Attributes&) {
    return {};
}

OpRow crossing_row(std::string_view name, tensor::Shape (*extents)(Types, const Attributes&), void (*forward)(ForwardCall&),
                   void (*backward)(BackwardCall&)) {
    OpRow row;
    row.name = name;
    row.shape = extents;
    row.forward = forward;
    row.backward = backward;
    row.cost = no_arithmetic;
    return row;
}

const OpRow spread_copy_row = [] {
    OpRow row = crossing_row("spread_copy", nullptr, nullptr, [](BackwardCall& call) {
        if (call.wants(0)) sum_into(moves_of(call), call.upstream, call.allocate(0));
    });
    row.view = [](const Tensor& x, const Attributes&) { return x; };
    row.takes_strides = true;
    return row;
}();
const OpRow sum_over_row = crossing_row(
    "sum_over", same_extents, [](ForwardCall& call) { sum_into(moves_of(call), call.inputs[0], call.output); },
    [](BackwardCall& call) { call.gradients[0] = call.upstream; });
const OpRow gather_parts_row = crossing_row(
    "gather_parts", joined_extents,
    [](ForwardCall& call) { gather_into(moves_of(call), call.inputs[0], call.output, call.attributes.axis); },
    [](BackwardCall& call) {
        if (call.wants(0)) scatter_sums_into(moves_of(call), call.upstream, call.allocate(0), call.attributes.axis);
    });
const OpRow sum_to_parts_row = crossing_row(
    "sum_to_parts", part_extents,
    [](ForwardCall& call) { scatter_sums_into(moves_of(call), call.inputs[0], call.output, call.attributes.axis); },
    [](BackwardCall& call) {
        if (call.wants(0)) gather_into(moves_of(call), call.upstream, call.allocate(0), call.attributes.axis);
    });
const OpRow take_part_row = crossing_row(
    "take_part", part_extents,
    [](ForwardCall& call) { part_into(moves_of(call), call.inputs[0], call.output, call.attributes.axis); },
    [](BackwardCall& call) {
        if (call.wants(0)) gather_into(moves_of(call), call.upstream, call.allocate(0), call.attributes.axis);
    });
const OpRow join_parts_row = crossing_row(
    "join_parts", joined_extents,
    [](ForwardCall& call) { gather_into(moves_of(call), call.inputs[0], call.output, call.attributes.axis); },
    [](BackwardCall& call) {
        if (call.wants(0)) part_into(moves_of(call), call.upstream, call.allocate(0), call.attributes.axis);
    });
const OpRow exchange_row = crossing_row(
    "exchange",
    [](Types in, const Attributes& a) {
        return with_axis(with_axis(in[0].shape, a.start, 1, members_of(a)), a.stop, members_of(a), 1);
    },
    [](ForwardCall& call) {
        exchange_into(moves_of(call), call.inputs[0], call.output, call.attributes.start, call.attributes.stop);
    },
    [](BackwardCall& call) {
        if (call.wants(0))
            exchange_into(moves_of(call), call.upstream, call.allocate(0), call.attributes.stop, call.attributes.start);
    });
const OpRow shift_row = crossing_row(
    "shift", same_extents,
    [](ForwardCall& call) { shift_into(moves_of(call), call.inputs[0], call.output, call.attributes.start); },
    [](BackwardCall& call) {
        if (call.wants(0)) shift_into(moves_of(call), call.upstream, call.allocate(0), -call.attributes.start);
    });
}  // namespace

Tensor gathered_again(Tape& tape, const Tensor& part, int64_t axis, const Crossing& crossing, const std::string& name) {
    const auto fresh = [&](const tensor::Shape& shape) {
        return make_tensor(tape.heap(), shape, name, tensor::Purpose::activation, part.dtype);
    };
    const Moves moves = {crossing, tape,
                         [&](const tensor::Launch& launch) { tape.launch(launch, name, "backward", part.dtype); }, fresh};
    const Tensor whole = fresh(with_axis(part.shape, axis, crossing.group->size(), 1));
    gather_into(moves, part, whole, axis);
    return whole;
}

Variable spread_copy(Tape& tape, const Variable& x, const Crossing& crossing, NodeName name) {
    return tape.apply(spread_copy_row, {x}, std::move(name), {.context = &crossing});
}
Variable sum_over(Tape& tape, const Variable& x, const Crossing& crossing, NodeName name) {
    return tape.apply(sum_over_row, {x}, std::move(name), {.context = &crossing});
}
Variable gather_parts(Tape& tape, const Variable& x, int64_t axis, const Crossing& crossing, NodeName name) {
    return tape.apply(gather_parts_row, {x}, std::move(name), {.axis = axis, .context = &crossing});
}
Variable sum_to_parts(Tape& tape, const Variable& x, int64_t axis, const Crossing& crossing, NodeName name) {
    return tape.apply(sum_to_parts_row, {x}, std::move(name), {.axis = axis, .context = &crossing});
}
Variable take_part(Tape& tape, const Variable& x, int64_t axis, const Crossing& crossing, NodeName name) {
    return tape.apply(take_part_row, {x}, std::move(name), {.axis = axis, .context = &crossing});
}
Variable join_parts(Tape& tape, const Variable& x, int64_t axis, const Crossing& crossing, NodeName name) {
    return tape.apply(join_parts_row, {x}, std::move(name), {.axis = axis, .context = &crossing});
}
Variable exchange(Tape& tape, const Variable& x, int64_t split, int64_t join, const Crossing& crossing, NodeName name) {
    return tape.apply(exchange_row, {x}, std::move(name), {.start = split, .stop = join, .context = &crossing});
}
Variable shift(Tape& tape, const Variable& x, int by, const Crossing& crossing, NodeName name) {
    return tape.apply(shift_row, {x}, std::move(name), {.start = by, .context = &crossing});
}

}  // namespace lockstep::parallel
