// What algorithms are written with: a transfer is a send and its receive. Ranks are named by their place in a list, so that
// a phase runs over all ranks, the ranks of one node, or one rank of every node.
#pragma once
#include <span>
#include <vector>

#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

struct Chunks {
    int first = 0, run = 1;
};

class StepList {
  public:
    StepList(const CollectiveShape& shape, int chunks);
    void transfer(int round, int from, int to, Chunks chunks, bool reduce);  // reduce: the receiver adds
    Collective finish();

  private:
    Collective made_;
};

std::vector<int> all_ranks(int ranks);
std::vector<Chunks> one_chunk_each(int ranks);

// Phases of algorithms. Each begins in `round` and returns the first round after it. blocks[i] belongs to ranks[i].
int ring_reduce_scatter(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> blocks);
int ring_all_gather(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> blocks);
int chain_broadcast(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> pieces);  // from ranks[0]
int chain_reduce(StepList& list, int round, std::span<const int> ranks, std::span<const Chunks> pieces);     // to ranks[0]

}  // namespace lockstep::comm
