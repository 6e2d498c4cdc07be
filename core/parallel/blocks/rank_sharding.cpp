#include "core/parallel/blocks/rank_sharding.h"

#include <algorithm>

#include "core/parallel/blocks/recompute.h"
#include "core/parallel/blocks/tensor_parallel.h"
#include "core/tensor/ops.h"

namespace lockstep::parallel {

using nn::Cut;
using nn::PlaceRun;
using tensor::Tensor;
using tensor::Variable;

RankSharding::RankSharding(Rank& rank, const nn::ModelShape& shape, std::vector<bool> held)
    : rank_(rank),
      held_(std::move(held)),
      key_heads_(shape.kv_heads),
      sequence_(rank.plan.sequence_parallel && rank.plan.tp > 1) {
    const ParallelPlan& plan = rank.plan;
    tp = plan.tp;
    const auto over = [&](const std::unique_ptr<comm::Communicator>& group) {
        return std::make_shared<const Crossing>(Crossing{&rank, group.get()});
    };
    if (rank.tp) tp_ = over(rank.tp);
    if (rank.dp && plan.sync_batch_norm) dp_ = over(rank.dp);
    if (rank.cp && plan.context == Context::all_to_all)
        cp_ = over(rank.cp);
    else if (rank.cp)
        ring_ = make_ring(rank);
    if (!shape.decodes() || key_heads_ % tp == 0) return;
    const int64_t each = tp / key_heads_, first = rank.along("tp") / each * each;
    std::vector<int> ranks;
    for (int64_t i = 0; i < each; ++i) ranks.push_back(static_cast<int>(first + i));
    sharing_ = rank.tp->group(ranks);
}

nn::Slice RankSharding::slice(Cut cut) const {
    const int64_t part = rank_.along("tp");
    if (tp == 1 || cut == Cut::whole) return {};
    if (cut == Cut::keys && sharing_) return {0, key_heads_, part / (tp / key_heads_)};
    return {cut == Cut::rows ? 1 : 0, tp, part};
}

// A parameter that all have is outside of products: with sequence parallelism each rank sees a part of the places only.
ShardedParameter RankSharding::shard_of(nn::Parameter* parameter, const tensor::Shape& full, Cut cut) const {
    const nn::Slice part = slice(cut);
    ShardedParameter shard{parameter, full, part.axis, part.parts, part.part};
    const int64_t here = rank_.along("tp");
    if (cut == Cut::whole) {
        shard.add_over = sequence_ ? rank_.tp.get() : nullptr;
        shard.counts = here == 0;
    } else if (cut == Cut::keys && sharing_) {
        shard.add_over = sharing_.get();
        shard.counts = here % (tp / key_heads_) == 0;
    }
    return shard;
}

nn::Piece RankSharding::piece(nn::PieceKind kind, std::vector<nn::Parameter*> parameters, nn::Piece inside,
                              std::string name) const {
    if (rank_.plan.recompute != (kind == nn::PieceKind::layer ? Recompute::full : Recompute::selective)) return inside;
    const auto again = std::make_shared<const Rerun>(
        Rerun{.rank = &rank_, .parameters = std::move(parameters), .inside = std::move(inside)});
    return [again, name = std::move(name)](nn::Pass& pass, std::span<const Variable> inputs) {
        return rerun(pass, *again, inputs, {inputs[0].shape(), inputs[0].dtype()}, name);
    };
}

std::vector<PlaceRun> RankSharding::rotary_rows(int64_t context) const {
    return places_of(rank_.plan, rank_.along("cp"), context);
}

std::vector<PlaceRun> RankSharding::position_rows(int64_t, int64_t places, int64_t context) const {
    const std::vector<PlaceRun> here = rank_.cp ? rotary_rows(context) : std::vector<PlaceRun>{{0, places}};
    const int64_t outside = places_outside(places), first = sequence_ ? rank_.along("tp") * outside : 0;
    std::vector<PlaceRun> rows;  // number first to first + outside of the places in `here`
    int64_t at = 0;
    for (const PlaceRun& run : here) {
        const int64_t begin = std::max(first, at), end = std::min(first + outside, at + run.last - run.first);
        if (begin < end) rows.push_back({run.first + begin - at, run.first + end - at});
        at += run.last - run.first;
    }
    return rows;
}

Variable RankSharding::into(nn::Pass& pass, const Variable& x, const std::string& name) const {
    if (!tp_) return x;
    return sequence_ ? gather_parts(pass.tape, x, 1, *tp_, name + " gather_parts")
                     : spread_copy(pass.tape, x, *tp_, name + " spread_copy");
}

Variable RankSharding::out_of(nn::Pass& pass, const Variable& x, const std::string& name) const {
    if (!tp_) return x;
    return sequence_ ? sum_to_parts(pass.tape, x, 1, *tp_, name + " sum_to_parts")
                     : sum_over(pass.tape, x, *tp_, name + " sum_over");
}

Variable RankSharding::take_part(nn::Pass& pass, const Variable& x, const std::string& name) const {
    return tp_ ? parallel::take_part(pass.tape, x, 1, *tp_, name) : x;
}

void RankSharding::keep_part(nn::Pass& pass, const Variable& x, const Variable& gathered, const Variable& last,
                             const std::string& name, bool in_layer) const {
    tensor::Tape& tape = pass.tape;
    if (!sequence_ || (in_layer && rank_.plan.recompute == Recompute::full)) return;  // all of the layer runs again
    if (!tape.recording() || !tape.nodes()[size_t(last.node)].requires_grad) return;
    struct Kept {
        Tensor part;
        std::vector<tensor::Tape::SavedPlace> places;
    };
    const auto kept = std::make_shared<Kept>();
    kept->places = tape.let_go(*gathered.value.storage, gathered.node);
    kept->part = x.value;
    tape.on_gradient(last, [kept, &tape, crossing = tp_, what = name + " gathered again"](const Tensor&) {
        tape.bring_back(kept->places, gathered_again(tape, kept->part, 1, *crossing, what).storage);
        kept->part = {};
        return Tensor{};
    });
}

Variable RankSharding::embedding(nn::Pass& pass, const nn::Embedding& layer, const Variable& ids) const {
    if (!tp_) return Sharding::embedding(pass, layer, ids);
    tensor::Tape& tape = pass.tape;
    const Variable table = pass(layer.weight);
    const LocalLabels local =
        local_labels(tape.heap(), ids.value, layer.vocabulary, tp, rank_.along("tp"), table.dtype(), layer.name);
    tensor::Shape places = ids.shape();
    const Variable rows = tape.label(tensor::reshaped(local.row, places), layer.name + " here");
    places.push_back(1);
    const Variable mine = tape.input(tensor::reshaped(local.mine, places), layer.name + " mine");
    const Variable found = tensor::embedding(tape, table, rows, layer.name + " embedding");
    return out_of(pass, tensor::mul(tape, found, mine, layer.name + " masked"), layer.name);
}

Variable RankSharding::attention(nn::Pass& pass, const Variable& q, const Variable& k, const Variable& v,
                                 const std::string& name) const {
    if (ring_) return ring_attention(pass.tape, q, k, v, *ring_, name);
    return cp_ ? all_to_all_attention(pass.tape, q, k, v, *cp_, name) : Sharding::attention(pass, q, k, v, name);
}

Variable RankSharding::batch_norm(nn::Pass& pass, const nn::BatchNorm2d& layer, const Variable& x) const {
    return dp_ && pass.training ? synchronised_batch_norm(pass, layer, x, *dp_) : Sharding::batch_norm(pass, layer, x);
}

}  // namespace lockstep::parallel
