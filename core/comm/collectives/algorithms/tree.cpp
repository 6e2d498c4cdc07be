// Trees. The double binary tree (Sanders 2009, as in NCCL 2.4) sends half of the buffer through each of two trees, up and
// down again; a rank that passes on in one tree is a leaf of the other, so that all ranks' links are used both ways.
// Broadcast and reduce take a binomial tree from the root: as many rounds as the rank count has bits.
#include "core/comm/collectives/algorithms/tree.h"

#include <algorithm>
#include <bit>

#include "core/comm/collectives/algorithms/algorithms.h"

namespace lockstep::comm {
namespace {

struct BinaryTree {  // by place
    std::vector<int> parent, height, depth;
    int top = 0;  // the root's height
};

// Place 0 is the root, with one child. The parent of place ...01(0) and ...11(0) is ...10(0), where (0) are trailing zeros;
// the first of the two takes ...00(0) when that place does not exist. Odd places are leaves.
BinaryTree binary_tree(int places) {
    BinaryTree tree;
    const auto count = static_cast<size_t>(places);
    tree.parent.assign(count, -1);
    tree.height.assign(count, 0);
    tree.depth.assign(count, 0);
    for (int place = 1; place < places; ++place) {
        const int low = place & -place, up = (place ^ low) | (low << 1);
        tree.parent[size_t(place)] = up < places ? up : place ^ low;
    }
    for (int place = 0; place < places; ++place) {
        int depth = 0;
        for (int at = place; at > 0;) {
            at = tree.parent[size_t(at)];
            tree.height[size_t(at)] = std::max(tree.height[size_t(at)], ++depth);
        }
        tree.depth[size_t(place)] = depth;
    }
    if (places > 0) tree.top = tree.height[0];
    return tree;
}

int binomial_rounds(int ranks) {
    return std::bit_width(static_cast<unsigned>(ranks - 1));
}

int binomial_broadcast_phase(StepList& list, int round, int ranks, int root) {
    for (int mask = 1 << binomial_rounds(ranks) >> 1; mask > 0; mask >>= 1, ++round)
        for (int place = 0; place + mask < ranks; place += 2 * mask)
            list.transfer(round, (root + place) % ranks, (root + place + mask) % ranks, {0, 1}, false);
    return round;
}

int binomial_reduce_phase(StepList& list, int round, int ranks, int root) {
    for (int mask = 1; mask < ranks; mask <<= 1, ++round)
        for (int place = 0; place + mask < ranks; place += 2 * mask)
            list.transfer(round, (root + place + mask) % ranks, (root + place) % ranks, {0, 1}, true);
    return round;
}

}  // namespace

// In round height + p a rank sends piece p up, in round top + depth + p down: a hop takes one round, a piece one more.
Collective double_tree_all_reduce(const CollectiveShape& shape) {
    const int n = shape.ranks, pieces = shape.pieces;
    StepList list(shape, 2 * pieces);
    const BinaryTree tree = binary_tree(n);
    for (int second = 0; second < 2; ++second) {
        // The second tree swaps odd and even places: mirrored where that does it, shifted by one otherwise.
        const auto rank_at = [&](int place) { return second == 0 ? place : n % 2 == 0 ? n - 1 - place : (place + 1) % n; };
        for (int place = 1; place < n; ++place) {
            const int rank = rank_at(place), parent = rank_at(tree.parent[size_t(place)]);
            for (int piece = 0; piece < pieces; ++piece) {
                const Chunks chunk = {second * pieces + piece, 1};
                list.transfer(tree.height[size_t(place)] + piece, rank, parent, chunk, true);
                list.transfer(tree.top + tree.depth[size_t(place)] - 1 + piece, parent, rank, chunk, false);
            }
        }
    }
    return list.finish();
}

Collective binomial_broadcast(const CollectiveShape& shape) {
    StepList list(shape, 1);
    binomial_broadcast_phase(list, 0, shape.ranks, shape.root);
    return list.finish();
}

Collective binomial_reduce(const CollectiveShape& shape) {
    StepList list(shape, 1);
    binomial_reduce_phase(list, 0, shape.ranks, shape.root);
    return list.finish();
}

Collective tree_barrier(const CollectiveShape& shape) {
    StepList list(shape, 1);
    binomial_broadcast_phase(list, binomial_reduce_phase(list, 0, shape.ranks, 0), shape.ranks, 0);
    return list.finish();
}

}  // namespace lockstep::comm
