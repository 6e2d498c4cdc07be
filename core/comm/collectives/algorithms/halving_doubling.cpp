// Recursive halving: in each round a rank keeps half of what it has, reduced with a partner's, and hands over the other
// half; doubling takes the same way back. log2(n) rounds each and (n-1)/n of the buffer sent, where n is a power of two.
// Otherwise the first ranks join in pairs (2i, 2i+1): the odd one takes part for both, and hands the result back.
#include "core/comm/collectives/algorithms/halving_doubling.h"

#include <bit>

#include "core/comm/collectives/algorithms/algorithms.h"

namespace lockstep::comm {
namespace {

struct HalvingTeam {  // the power of two of ranks that take part, in order of their chunks
    std::vector<int> ranks;
    std::vector<Chunks> held;  // chunks that it stands for: its own, and those of the rank that joined it
    int pairs = 0;

    // Chunks of members [first, first + count).
    Chunks of(int first, int count) const {
        const Chunks& last = held[size_t(first + count - 1)];
        return {held[size_t(first)].first, last.first + last.run - held[size_t(first)].first};
    }
};

HalvingTeam halving_team(int ranks) {
    const int members = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    HalvingTeam team;
    team.pairs = ranks - members;
    for (int i = 0; i < members; ++i) {
        const bool pair = i < team.pairs;
        team.ranks.push_back(pair ? 2 * i + 1 : i + team.pairs);
        team.held.push_back(pair ? Chunks{2 * i, 2} : Chunks{i + team.pairs, 1});
    }
    return team;
}

int join_pairs(StepList& list, int round, const HalvingTeam& team, int chunks, bool reduce) {
    for (int i = 0; i < team.pairs; ++i)
        list.transfer(round, 2 * i, 2 * i + 1, reduce ? Chunks{0, chunks} : Chunks{2 * i, 1}, reduce);
    return round + (team.pairs > 0);
}

int recursive_halving(StepList& list, int round, const HalvingTeam& team) {
    const int members = static_cast<int>(team.ranks.size());
    for (int half = members / 2; half >= 1; half /= 2, ++round)
        for (int i = 0; i < members; ++i) {
            const int partner = i ^ half, base = partner / half * half;  // the partner's half: what it will hold
            list.transfer(round, team.ranks[size_t(i)], team.ranks[size_t(partner)], team.of(base, half), true);
        }
    return round;
}

int recursive_doubling(StepList& list, int round, const HalvingTeam& team) {
    const int members = static_cast<int>(team.ranks.size());
    for (int half = 1; half < members; half *= 2, ++round)
        for (int i = 0; i < members; ++i)
            list.transfer(round, team.ranks[size_t(i)], team.ranks[size_t(i ^ half)], team.of(i / half * half, half), false);
    return round;
}

}  // namespace

Collective halving_doubling_all_reduce(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    const HalvingTeam team = halving_team(shape.ranks);
    int round = join_pairs(list, 0, team, shape.ranks, true);
    round = recursive_doubling(list, recursive_halving(list, round, team), team);
    for (int i = 0; i < team.pairs; ++i) list.transfer(round, 2 * i + 1, 2 * i, {0, shape.ranks}, false);
    return list.finish();
}

Collective recursive_halving_reduce_scatter(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    const HalvingTeam team = halving_team(shape.ranks);
    const int round = recursive_halving(list, join_pairs(list, 0, team, shape.ranks, true), team);
    for (int i = 0; i < team.pairs; ++i) list.transfer(round, 2 * i + 1, 2 * i, {2 * i, 1}, false);
    return list.finish();
}

Collective recursive_doubling_all_gather(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    const HalvingTeam team = halving_team(shape.ranks);
    const int round = recursive_doubling(list, join_pairs(list, 0, team, shape.ranks, false), team);
    for (int i = 0; i < team.pairs; ++i) list.transfer(round, 2 * i + 1, 2 * i, {0, shape.ranks}, false);
    return list.finish();
}

// In round k rank r tells r + 2^k: after log2(n) rounds, rounded up, word of every rank has come to every rank.
Collective dissemination_barrier(const CollectiveShape& shape) {
    StepList list(shape, 1);
    int round = 0;
    for (int distance = 1; distance < shape.ranks; distance *= 2, ++round)
        for (int rank = 0; rank < shape.ranks; ++rank)
            list.transfer(round, rank, (rank + distance) % shape.ranks, {0, 1}, false);
    return list.finish();
}

}  // namespace lockstep::comm
