// Rings and chains. In each round of a ring, rank r sends one block to r+1 and receives one from r-1; a rank sends (n-1)/n
// of the buffer in a reduce-scatter, as much in an all-gather, and twice that in an all-reduce, which is both. A chain
// passes pieces on from rank to rank, each as soon as it is there.
#include "core/comm/collectives/algorithms/ring.h"

#include <algorithm>

#include "core/comm/collectives/algorithms/algorithms.h"

namespace lockstep::comm {

int ring_reduce_scatter(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> blocks) {
    const int n = static_cast<int>(ranks.size());
    for (int k = 0; k + 1 < n; ++k)
        for (int i = 0; i < n; ++i)  // block i is complete when it has come round to rank i
            list.transfer(round + k, ranks[size_t(i)], ranks[size_t((i + 1) % n)], blocks[size_t((i - 1 - k + 2 * n) % n)],
                          true);
    return round + std::max(0, n - 1);
}

int ring_all_gather(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> blocks) {
    const int n = static_cast<int>(ranks.size());
    for (int k = 0; k + 1 < n; ++k)
        for (int i = 0; i < n; ++i)
            list.transfer(round + k, ranks[size_t(i)], ranks[size_t((i + 1) % n)], blocks[size_t((i - k + n) % n)], false);
    return round + std::max(0, n - 1);
}

int chain_broadcast(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> pieces) {
    const int n = static_cast<int>(ranks.size()), count = static_cast<int>(pieces.size());
    if (n < 2) return round;
    for (int i = 0; i + 1 < n; ++i)
        for (int piece = 0; piece < count; ++piece)
            list.transfer(round + i + piece, ranks[size_t(i)], ranks[size_t(i + 1)], pieces[size_t(piece)], false);
    return round + n - 2 + count;
}

int chain_reduce(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> pieces) {
    const int n = static_cast<int>(ranks.size()), count = static_cast<int>(pieces.size());
    if (n < 2) return round;
    for (int i = n - 1; i > 0; --i)
        for (int piece = 0; piece < count; ++piece)
            list.transfer(round + (n - 1 - i) + piece, ranks[size_t(i)], ranks[size_t(i - 1)], pieces[size_t(piece)], true);
    return round + n - 2 + count;
}

namespace {
std::vector<int> ranks_from(const CollectiveShape& shape) {  // the root first
    std::vector<int> ranks = all_ranks(shape.ranks);
    std::rotate(ranks.begin(), ranks.begin() + shape.root, ranks.end());
    return ranks;
}
}  // namespace

Collective ring_all_reduce(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    const auto ranks = all_ranks(shape.ranks);
    const auto blocks = one_chunk_each(shape.ranks);
    ring_all_gather(list, ring_reduce_scatter(list, 0, ranks, blocks), ranks, blocks);
    return list.finish();
}

Collective ring_reduce_scatter(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    ring_reduce_scatter(list, 0, all_ranks(shape.ranks), one_chunk_each(shape.ranks));
    return list.finish();
}

Collective ring_all_gather(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    ring_all_gather(list, 0, all_ranks(shape.ranks), one_chunk_each(shape.ranks));
    return list.finish();
}

Collective chain_broadcast(const CollectiveShape& shape) {
    StepList list(shape, shape.pieces);
    chain_broadcast(list, 0, ranks_from(shape), one_chunk_each(shape.pieces));
    return list.finish();
}

Collective chain_reduce(const CollectiveShape& shape) {
    StepList list(shape, shape.pieces);
    chain_reduce(list, 0, ranks_from(shape), one_chunk_each(shape.pieces));
    return list.finish();
}

Collective pairwise_all_to_all(const CollectiveShape& shape) {
    const int n = shape.ranks;
    StepList list(shape, n * n);
    for (int distance = 1; distance < n; ++distance)  // every round is a permutation: nobody is sent to twice
        for (int from = 0; from < n; ++from) {
            const int to = (from + distance) % n;
            list.transfer(distance - 1, from, to, {from * n + to, 1}, false);
        }
    return list.finish();
}

Collective ring_barrier(const CollectiveShape& shape) {  // after n-1 rounds word of every rank has come round
    StepList list(shape, 1);
    for (int round = 0; round + 1 < shape.ranks; ++round)
        for (int rank = 0; rank < shape.ranks; ++rank) list.transfer(round, rank, (rank + 1) % shape.ranks, {0, 1}, false);
    return list.finish();
}

}  // namespace lockstep::comm
