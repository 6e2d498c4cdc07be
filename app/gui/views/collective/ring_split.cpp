#include "app/gui/views/collective/ring_split.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"
#include "core/parallel/blocks/context_parallel.h"
#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {

double RingSplit::work_of(int rank) const {
    double sum = 0;
    for (const RingTurn& turn : turns[static_cast<size_t>(rank)]) sum += turn.work;
    return sum;
}
double RingSplit::work() const {
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += work_of(rank);
    return sum;
}
std::vector<int> RingSplit::pieces_of(int rank) const {
    if (!balanced) return {2 * rank, 2 * rank + 1};
    return {parallel::ring_piece(ranks, rank, 0), parallel::ring_piece(ranks, rank, 1)};
}
int RingSplit::holder(int rank, int round) const {
    return (rank - round + ranks) % ranks;
}
const RingBlock* RingSplit::block_at(int query, int key) const {
    for (const RingBlock& block : blocks)
        if (block.query == query && block.key == key) return &block;
    return nullptr;
}
int RingSplit::idlest() const {
    int least = 0;
    for (int rank = 1; rank < ranks; ++rank)
        if (work_of(rank) < work_of(least)) least = rank;
    return least;
}
int RingSplit::busiest() const {
    int most = 0;
    for (int rank = 1; rank < ranks; ++rank)
        if (work_of(rank) >= work_of(most)) most = rank;
    return most;
}

RingSplit ring_split(int ranks, bool balanced) {
    RingSplit ring{.ranks = ranks, .balanced = balanced};
    const size_t count = static_cast<size_t>(ranks);
    ring.turns.assign(count, std::vector<RingTurn>(count));
    for (int rank = 0; rank < ranks; ++rank)
        for (int round = 0; round < ranks; ++round) {
            double& work = ring.turns[static_cast<size_t>(rank)][static_cast<size_t>(round)].work;
            for (const parallel::RingPair& pair : parallel::ring_pairs(ranks, balanced, rank, round)) {
                const int side = balanced ? 1 : 2;  // of a pair of the engine's pieces, in pieces of the picture
                for (int i = 0; i < side; ++i)
                    for (int j = 0; j < side; ++j) {
                        const RingBlock block{side * pair.query + i, side * pair.key + j, rank, round, pair.past && i == j};
                        if (block.key > block.query) continue;
                        ring.blocks.push_back(block);
                        work += block.half ? 0.5 : 1;
                    }
            }
        }
    for (size_t round = 1; round < count; ++round)
        for (size_t rank = 0; rank < count; ++rank) {
            const std::vector<RingTurn>& before = ring.turns[(rank + count - 1) % count];
            ring.turns[rank][round].begin = std::max(ring.turns[rank][round - 1].end(), before[round - 1].begin);
        }
    for (const std::vector<RingTurn>& of_rank : ring.turns)
        for (const RingTurn& turn : of_rank) ring.end = std::max(ring.end, turn.end());
    return ring;
}

std::vector<RingSplit> rings_shown(const scene::ClusterScene& scene) {
    std::vector<RingSplit> rings;
    if (!scene.ran) return rings;
    for (const scene::ParallelRow& row : scene.ran->rows) {
        if (row.split.cp < 2 || row.split.cp > 32 || row.split.context == parallel::Context::all_to_all) continue;
        const bool balanced = row.split.context == parallel::Context::balanced_ring;
        if (!rings.empty() && rings.back().balanced == balanced && rings.back().ranks == row.split.cp) continue;
        RingSplit ring = ring_split(row.split.cp, balanced);
        ring.name = row.name;
        if (row.plan) ring.step_us = row.plan->step_us;
        if (rings.size() == 2) rings.pop_back();
        rings.push_back(std::move(ring));
    }
    return rings;
}

std::string ring_name(const RingSplit& ring) {
    return ring.balanced ? "Balanced" : "Cut in order";
}

std::string ring_headline(const std::vector<RingSplit>& rings) {
    const RingSplit &first = rings.front(), &last = rings.back();
    if (rings.size() > 1)
        return fmt::format("{}: {:g} blocks of time instead of {:g}", ring_name(last), last.end, first.end);
    if (first.work_of(first.busiest()) > first.work_of(first.idlest()))
        return fmt::format("Rank {} works on {:g} of {:g} blocks, rank {} on {:g}", first.busiest(),
                           first.work_of(first.busiest()), first.work(), first.idlest(), first.work_of(first.idlest()));
    return fmt::format("Every rank works on {:g} of {:g} blocks", first.work_of(0), first.work());
}

std::string ring_difference(const std::vector<RingSplit>& rings) {
    const RingSplit &first = rings.front(), &last = rings.back();
    const auto shares = [](const RingSplit& ring) {
        return ring.work_of(ring.busiest()) > ring.work_of(ring.idlest())
                   ? fmt::format("rank {} works on {:g} blocks and rank {} on {:g}", ring.busiest(),
                                 ring.work_of(ring.busiest()), ring.idlest(), ring.work_of(ring.idlest()))
                   : fmt::format("every rank works on {:g}", ring.work_of(0));
    };
    if (rings.size() > 1)
        return fmt::format("{}, {}; {}, {}. The sum is {:g} both times.", ring_name(first), shares(first),
                           last.balanced ? "balanced" : "cut in order", shares(last), last.work());
    return fmt::format(
        "A rank keeps its queries; in round {} it has the keys of the rank {} places before it. {:.0f} % busy.", 1, 1,
        100 * first.busy());
}

std::string ring_caption(const std::vector<RingSplit>& rings) {
    std::string text;
    for (const RingSplit& ring : rings)
        text += fmt::format(
            "{}{}: {:.0f} % busy{}.", text.empty() ? "" : " ", ring_name(ring), 100 * ring.busy(),
            ring.step_us > 0 ? fmt::format(", the whole step {} by the planner", time_text(ring.step_us)) : std::string());
    return text + " A block on the diagonal is half a block.";
}

std::string ring_turn_words(const RingSplit& ring, int rank, int round) {
    const RingTurn& turn = ring.turns[static_cast<size_t>(rank)][static_cast<size_t>(round)];
    const int holder = ring.holder(rank, round);
    const std::vector<int> queries = ring.pieces_of(rank), keys = ring.pieces_of(holder);
    std::string text = fmt::format("{}, rank {}, round {}: queries {} and {} with keys {} and {}, ", ring_name(ring), rank,
                                   round, queries[0], queries[1], keys[0], keys[1]);
    text += holder == rank ? "its own" : fmt::format("rank {}'s", holder);
    if (turn.work == 0) return text + ": all of them lie in their future, nothing to do.";
    return text + fmt::format(": {:g} block{} of time, from {:g} to {:g}.", turn.work, turn.work == 1 ? "" : "s", turn.begin,
                              turn.end());
}

std::string ring_block_words(const RingSplit& ring, const RingBlock& block) {
    return fmt::format("{}: queries {} with keys {}{}\nrank {} in round {}, with rank {}'s keys", ring_name(ring),
                       block.query, block.key, block.half ? ", each its past: half a block" : "", block.rank, block.round,
                       ring.holder(block.rank, block.round));
}

}  // namespace lockstep::gui
