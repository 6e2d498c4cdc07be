// A rank's places are 1 run or, balanced, 2: pieces of equal length, numbered over the whole sequence. A pair of pieces, of
// queries and of keys, is seen whole, by the causal triangle, or not at all; each that is seen is a plain attention
// (kernels/attention.cu), in forward joined to what came before, in backward with the log-sum-exp of the whole row.
#include "core/parallel/blocks/context_parallel.h"

#include <array>
#include <cmath>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::parallel {

using tensor::BackwardCall;
using tensor::elementwise;
using tensor::ForwardCall;
using tensor::Launch;
using tensor::scalar_argument;
using tensor::size_argument;
using tensor::Tape;
using tensor::Tensor;
using tensor::Variable;

std::shared_ptr<const Ring> make_ring(Rank& rank) {
    auto ring = std::make_shared<Ring>();
    ring->rank = &rank;
    ring->cp = rank.cp.get();
    ring->beside = rank.cp->on(context_stream);
    ring->balanced = rank.plan.context == Context::balanced_ring;
    return ring;
}

int ring_piece(int ranks, int rank, int piece) {
    return piece == 0 ? rank : 2 * ranks - 1 - rank;
}

std::vector<RingPair> ring_pairs(int ranks, bool balanced, int rank, int round) {
    std::vector<RingPair> pairs;
    const int from = (rank - round + ranks) % ranks, pieces = balanced ? 2 : 1;  // whose keys are here
    for (int i = 0; i < pieces; ++i)
        for (int j = 0; j < pieces; ++j) {
            const int query = ring_piece(ranks, rank, i), key = ring_piece(ranks, from, j);
            if (key <= query) pairs.push_back({query, key, i, j, key == query});
        }
    return pairs;
}

namespace {
const Ring& ring_of(const tensor::Attributes& attributes) {
    return *static_cast<const Ring*>(attributes.context);
}

struct RingWork {  // of one call: sizes, and where to launch
    const Ring& ring;
    Tape& tape;
    std::function<void(const Launch&)> launch;
    tensor::Purpose purpose;
    DType type, sums;  // of tensors; of statistics and what is joined
    int64_t batch, places, heads, kv_heads, size;
    int pieces, ranks, here;

    int64_t length() const { return places / pieces; }
    std::vector<RingPair> pairs(int round) const { return ring_pairs(ranks, ring.balanced, here, round); }
    int neighbour(int by) const { return (here + by + ranks) % ranks; }
    device::Device& device() const { return tape.heap().device(); }
    Tensor fresh(const tensor::Shape& shape, std::string_view what, DType of) const {
        return make_tensor(tape.heap(), shape, {"ring attention", what}, purpose, of);
    }
    Tensor zeros(const tensor::Shape& shape, std::string_view what, DType of) const {
        const Tensor y = fresh(shape, what, of);
        run("fill", y.count(), {y.pointer(), scalar_argument(0, of), size_argument(y.count())}, of);
        return y;
    }
    void run(std::string_view kernel, int64_t count, tensor::Arguments arguments, DType of) const {
        Launch each = elementwise(kernel, count, arguments);
        each.type = of;
        launch(each);
    }
    void each(std::string_view kernel, const Tensor& x, const Tensor& y) const {
        run(kernel, y.count(), {x.pointer(), y.pointer(), size_argument(y.count())}, y.dtype);
    }
    void pair(std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& y) const {
        run(kernel, y.count(), {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())}, y.dtype);
    }
    void cast(const Tensor& x, const Tensor& y) const {
        const std::string kernel = "cast_" + std::string(name_of(x.dtype)) + "_" + std::string(name_of(y.dtype));
        Launch rounding = elementwise(kernel, y.count(), {x.pointer(), y.pointer(), size_argument(y.count())});
        rounding.named_whole = true;
        launch(rounding);
    }
    Tensor piece(const Tensor& x, int at) const {  // [B,T,..] -> its piece, without gaps
        const Tensor view = sliced(x, 1, at * length(), (at + 1) * length());
        if (view.contiguous()) return view;
        const Tensor copy = fresh(view.shape, "piece", x.dtype);
        launch(copy_strided(view, copy));
        return copy;
    }
    void took(bool causal, bool backward) const {  // an attention of one pair of pieces
        const std::array<tensor::TensorType, 3> types = {{{{batch, length(), heads, size}, type},
                                                          {{batch, length(), kv_heads, size}, type},
                                                          {{batch, length(), kv_heads, size}, type}}};
        const OpTime time = ring.rank->times.of(tensor::attention_row, types, {.causal = causal, .mode = 1});
        ring.rank->world.advance(backward ? time.backward_us : time.forward_us, "attention");
    }
    void append_sizes(tensor::Arguments& arguments, bool causal) const {
        for (const int64_t n : {batch, heads, kv_heads, length(), length(), size}) arguments.push_back(size_argument(n));
        arguments.push_back(int32_t{1});
        arguments.push_back(int32_t{causal});
        arguments.push_back(scalar_argument(1 / std::sqrt(double(size)), type));
    }
    uint32_t tiles() const { return static_cast<uint32_t>((length() + 15) / 16); }
};

RingWork ring_work(const Ring& ring, Tape& tape, const tensor::Shape& q, const tensor::Shape& k, DType type, bool backward) {
    const DType sums = type == DType::f64 ? DType::f64 : DType::f32;
    return {ring,
            tape,
            {},
            backward ? tensor::Purpose::gradient : tensor::Purpose::activation,
            type,
            sums,
            q[0],
            q[1],
            q[2],
            k[2],
            q[3],
            ring.balanced ? 2 : 1,
            ring.cp->size(),
            ring.cp->rank()};
}

struct Joined {       // what a piece of queries has found so far; null: nothing
    Tensor out, lse;  // [B,t,H,D] and [B,H,t], in the type of sums
};

// softmax over the keys of both: out = (out exp(lse - m) + more exp(more_lse - m)) / (their sum), m the larger.
void join_into(const RingWork& work, Joined& joined, const Tensor& out, const Tensor& lse) {
    Tensor more = out;
    if (out.dtype != work.sums) {
        more = work.fresh(out.shape, "widened", work.sums);
        work.cast(out, more);
    }
    if (!joined.out) {
        joined = {more, lse};
        return;
    }
    const Tensor m = work.fresh(lse.shape, "larger", work.sums), share = work.fresh(lse.shape, "share", work.sums);
    work.pair("maximum", joined.lse, lse, m);
    work.pair("sub", joined.lse, m, joined.lse);
    work.each("exp_value", joined.lse, joined.lse);
    work.pair("sub", lse, m, share);
    work.each("exp_value", share, share);
    const Tensor sum = work.fresh(lse.shape, "sum", work.sums);
    work.pair("add", joined.lse, share, sum);
    work.pair("div", joined.lse, sum, joined.lse);
    work.pair("div", share, sum, share);
    const auto scale = [&](const Tensor& x, const Tensor& by) {  // x[B,t,H,D] *= by[B,H,t]
        tensor::Arguments arguments = {x.pointer(), by.pointer(), x.pointer(), size_argument(x.count()), int32_t{4}};
        append_walk(arguments, x.shape, x.strides);
        append_strides(arguments, {by.strides[0], by.strides[2], by.strides[1], 0});
        work.run("mul_broadcast", x.count(), arguments, work.sums);
    };
    scale(joined.out, joined.lse);
    scale(more, share);
    work.run("accumulate", more.count(), {joined.out.pointer(), more.pointer(), size_argument(more.count())}, work.sums);
    work.each("log_value", sum, sum);
    work.pair("add", m, sum, joined.lse);
}

void ring_forward(ForwardCall& call) {
    const Ring& ring = ring_of(call.attributes);
    ring.rank->forward_took(call.tape);
    RingWork work = ring_work(ring, call.tape, call.inputs[0].shape, call.inputs[1].shape, call.dtype, false);
    work.launch = [&call](const Launch& launch) { call.launch(launch); };
    Tensor k = call.inputs[1], v = call.inputs[2];
    std::vector<Joined> joined(static_cast<size_t>(work.pieces));
    std::vector<Tensor> queries;
    for (int i = 0; i < work.pieces; ++i) queries.push_back(work.piece(call.inputs[0], i));
    ring.beside->wait_until(ring.cp->time_us());
    for (int step = 0; step < work.ranks; ++step) {
        const bool more = step + 1 < work.ranks;
        if (more) {
            send(*ring.beside, work.device(), work.neighbour(1), k, "keys");
            send(*ring.beside, work.device(), work.neighbour(1), v, "values");
        }
        for (const RingPair& pair : work.pairs(step)) {
            const Tensor &q = queries[size_t(pair.query_piece)], keys = work.piece(k, pair.key_piece),
                         values = work.piece(v, pair.key_piece);
            const Tensor out = work.fresh(q.shape, "part", work.type);
            const Tensor lse = work.fresh({work.batch, work.heads, work.length()}, "log-sum-exp", work.sums);
            Launch launch = {"attention",
                             {work.tiles(), static_cast<uint32_t>(work.heads), static_cast<uint32_t>(work.batch)},
                             {16, 16, 1},
                             {q.pointer(), keys.pointer(), values.pointer(), out.pointer(), lse.pointer()}};
            work.append_sizes(launch.arguments, pair.past);
            call.launch(launch);
            work.took(pair.past, false);
            join_into(work, joined[size_t(pair.query_piece)], out, lse);
        }
        if (!more) break;
        k = work.fresh(k.shape, "keys", work.type), v = work.fresh(v.shape, "values", work.type);
        receive(*ring.beside, work.device(), work.neighbour(-1), k, "keys");
        receive(*ring.beside, work.device(), work.neighbour(-1), v, "values");
        ring.cp->wait_until(ring.beside->time_us());
    }
    for (int i = 0; i < work.pieces; ++i) {
        Tensor out = joined[size_t(i)].out;
        if (out.dtype != work.type) {
            const Tensor rounded = work.fresh(out.shape, "rounded", work.type);
            work.cast(out, rounded);
            out = rounded;
        }
        call.launch(put_strided(out, sliced(call.output, 1, i * work.length(), (i + 1) * work.length())));
    }
    for (size_t input = 0; input < 3; ++input) call.save_input(input);
    call.save_output();
    for (const Joined& one : joined) call.save("log-sum-exp", one.lse);
}

struct Travelling {  // gradients of the keys and values of one rank, on their way home
    Tensor k, v;
};

void ring_backward(BackwardCall& call) {
    const Ring& ring = ring_of(call.attributes);
    RingWork work = ring_work(ring, call.tape, call.inputs[0].shape, call.inputs[1].shape, call.dtype, true);
    work.launch = [&call](const Launch& launch) { call.launch(0, launch); };
    Tensor k = call.kept(1), v = call.kept(2);
    const Tensor& dq = call.allocate(0);
    call.launch(0,
                elementwise("fill", dq.count(), {dq.pointer(), scalar_argument(0, work.type), size_argument(dq.count())}));
    struct Queries {
        Tensor q, dout, lse, delta;
    };
    std::vector<Queries> queries;
    for (int i = 0; i < work.pieces; ++i) {
        const Tensor out = work.piece(call.kept(3), i), dout = work.piece(call.upstream, i);
        const Tensor& lse = call.kept(4 + size_t(i));
        const Tensor delta = work.fresh(lse.shape, "delta", work.sums);
        call.launch(0, {"attention_delta",
                        {static_cast<uint32_t>((lse.count() + 3) / 4), 1, 1},
                        {128, 1, 1},
                        {out.pointer(), dout.pointer(), delta.pointer(), size_argument(work.batch),
                         size_argument(work.heads), size_argument(work.length()), size_argument(work.size), int32_t{1}}});
        queries.push_back({work.piece(call.kept(0), i), dout, lse, delta});
    }
    const auto add_piece = [&](const Tensor& gradient, const Tensor& to, int at) {
        call.launch(0, add_strided(gradient, sliced(to, 1, at * work.length(), (at + 1) * work.length())));
    };
    const auto pass_on = [&](const Travelling& one) {
        ring.beside->wait_until(ring.cp->time_us());
        send(*ring.beside, work.device(), work.neighbour(1), one.k, "key gradients");
        send(*ring.beside, work.device(), work.neighbour(1), one.v, "value gradients");
    };
    const auto arrived = [&] {
        const Travelling one = {work.fresh(k.shape, "dk", work.type), work.fresh(v.shape, "dv", work.type)};
        receive(*ring.beside, work.device(), work.neighbour(-1), one.k, "key gradients");
        receive(*ring.beside, work.device(), work.neighbour(-1), one.v, "value gradients");
        ring.cp->wait_until(ring.beside->time_us());
        return one;
    };
    ring.beside->wait_until(ring.cp->time_us());
    for (int step = 0; step < work.ranks; ++step) {
        const bool more = step + 1 < work.ranks;
        if (more) {
            send(*ring.beside, work.device(), work.neighbour(1), k, "keys");
            send(*ring.beside, work.device(), work.neighbour(1), v, "values");
        }
        const Travelling local = {work.zeros(k.shape, "dk", work.type), work.zeros(v.shape, "dv", work.type)};
        for (const RingPair& pair : work.pairs(step)) {
            const Queries& one = queries[size_t(pair.query_piece)];
            const Tensor keys = work.piece(k, pair.key_piece), values = work.piece(v, pair.key_piece);
            const Tensor dq_part = work.fresh(one.q.shape, "dq part", work.type),
                         dk = work.fresh(keys.shape, "dk part", work.type),
                         dv = work.fresh(values.shape, "dv part", work.type);
            Launch launch = {"attention_backward",
                             {2 * work.tiles(), static_cast<uint32_t>(work.heads), static_cast<uint32_t>(work.batch)},
                             {16, 16, 1},
                             {one.q.pointer(), keys.pointer(), values.pointer(), one.dout.pointer(), one.lse.pointer(),
                              one.delta.pointer(), dq_part.pointer(), dk.pointer(), dv.pointer()}};
            work.append_sizes(launch.arguments, pair.past);
            call.launch(0, launch);
            work.took(pair.past, true);
            add_piece(dq_part, dq, pair.query_piece);
            add_piece(dk, local.k, pair.key_piece);
            add_piece(dv, local.v, pair.key_piece);
        }
        if (step > 0) {  // what the ranks before found for these keys comes after them
            const Travelling before = arrived();
            const auto add_all = [&](const Tensor& to, const Tensor& other) {
                work.run("accumulate", to.count(), {to.pointer(), other.pointer(), size_argument(to.count())}, work.type);
            };
            add_all(local.k, before.k);
            add_all(local.v, before.v);
        }
        Tensor next_k, next_v;
        if (more) {
            next_k = work.fresh(k.shape, "keys", work.type), next_v = work.fresh(v.shape, "values", work.type);
            receive(*ring.beside, work.device(), work.neighbour(-1), next_k, "keys");
            receive(*ring.beside, work.device(), work.neighbour(-1), next_v, "values");
        }
        pass_on(local);
        if (more) {
            ring.cp->wait_until(ring.beside->time_us());
            k = next_k, v = next_v;
        }
    }
    const Travelling home = arrived();
    call.gradients[1] = home.k;
    call.gradients[2] = home.v;
    call.ready[1] = call.ready[2] = call.ready[0];
}

// Of the pairs of pieces that this rank sees.
tensor::OpCost ring_cost(tensor::Types in, const tensor::Attributes& attributes) {
    const Ring& ring = ring_of(attributes);
    const int ranks = ring.cp->size(), here = ring.cp->rank(), pieces = ring.balanced ? 2 : 1;
    std::array<tensor::TensorType, 3> types = {in[0], in[1], in[2]};
    for (tensor::TensorType& type : types) type.shape[1] /= pieces;
    tensor::OpCost cost;
    for (int round = 0; round < ranks; ++round)
        for (const RingPair& pair : ring_pairs(ranks, ring.balanced, here, round)) {
            const tensor::OpCost one = tensor::attention_row.cost(types, {.causal = pair.past, .mode = 1});
            cost.forward += one.forward;
            cost.backward += one.backward;
        }
    return cost;
}

tensor::Shape ring_shape(tensor::Types in, const tensor::Attributes& attributes) {
    const tensor::Shape shape = tensor::attention_row.shape(in, {.causal = true, .mode = 1});
    if (in[0].shape[1] != in[1].shape[1]) throw Failure("ring attention takes as many keys as queries a rank");
    if (ring_of(attributes).balanced && in[0].shape[1] % 2)
        throw Failure("a balanced ring takes two pieces of the sequence a rank: an even number of places");
    return shape;
}

const tensor::OpRow ring_row = {
    .name = "ring_attention",
    .inputs = 3,
    .gradient_names = {"dq", "dk", "dv"},
    .kernels = {},
    .shape = ring_shape,
    .forward = ring_forward,
    .backward = ring_backward,
    .cost = ring_cost,
};
}  // namespace

Variable ring_attention(Tape& tape, const Variable& q, const Variable& k, const Variable& v, const Ring& ring,
                        tensor::NodeName name) {
    return tape.apply(ring_row, {q, k, v}, std::move(name), {.context = &ring});
}

Variable all_to_all_attention(Tape& tape, const Variable& q, const Variable& k, const Variable& v, const Crossing& cp,
                              const std::string& name) {
    const Variable queries = exchange(tape, q, 2, 1, cp, name + " q exchange"),
                   keys = exchange(tape, k, 2, 1, cp, name + " k exchange"),
                   values = exchange(tape, v, 2, 1, cp, name + " v exchange");
    const Variable mixed = tensor::attention(tape, queries, keys, values, true, tensor::HeadLayout::positions_first, name);
    return exchange(tape, mixed, 1, 2, cp, name + " exchange");
}

}  // namespace lockstep::parallel
