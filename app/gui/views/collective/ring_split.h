// Who of ring attention's ranks works on which block of the causal triangle in which round, by the engine's own rule
// (core/parallel/blocks/context_parallel.h), and how long everybody waits for whom. The sequence is cut into twice as many
// pieces as there are ranks, so that the plain cut and the balanced one stand on one grid; a block is a piece of queries
// with a piece of keys, and takes one unit of time, on the diagonal half of one.
#pragma once
#include <string>
#include <vector>

#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {

struct RingBlock {
    int query = 0, key = 0;  // pieces
    int rank = 0, round = 0;
    bool half = false;  // on the diagonal: queries see their past
};
struct RingTurn {  // one rank's round
    double work = 0, begin = 0;
    double end() const { return begin + work; }
};
struct RingSplit {
    std::string name;  // of the row
    int ranks = 0;
    bool balanced = false;
    double step_us = 0;  // of the row's step; 0: not known
    std::vector<RingBlock> blocks;
    std::vector<std::vector<RingTurn>> turns;  // by rank and round
    double end = 0;

    int pieces() const { return 2 * ranks; }
    double work_of(int rank) const;
    double work() const;  // of all ranks
    double busy() const { return end > 0 ? work() / (end * ranks) : 0; }
    std::vector<int> pieces_of(int rank) const;           // two
    int holder(int rank, int round) const;                // whose keys the rank has in a round
    const RingBlock* block_at(int query, int key) const;  // null: it is masked
    int idlest() const;                                   // the rank with the least work
    int busiest() const;                                  // the last one with the most work
};
// A round begins when its keys are there: the neighbour sends them on as it begins its own round with them, and they take no
// time, as at the lengths that are worth a ring.
RingSplit ring_split(int ranks, bool balanced);

// The first row of a scene that goes round a ring, and the last one if that is another cut.
std::vector<RingSplit> rings_shown(const scene::ClusterScene& scene);

std::string ring_headline(const std::vector<RingSplit>& rings);
std::string ring_difference(const std::vector<RingSplit>& rings);
std::string ring_caption(const std::vector<RingSplit>& rings);
std::string ring_turn_words(const RingSplit& ring, int rank, int round);
std::string ring_block_words(const RingSplit& ring, const RingBlock& block);
std::string ring_name(const RingSplit& ring);  // "Cut in order", "Balanced"

}  // namespace lockstep::gui
