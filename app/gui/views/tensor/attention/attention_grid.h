// One step's attention as a grid of queries by keys: the scores, the shares that a softmax makes of them, what is masked,
// and the same softmax tile by tile. Worked out from the tape's values without drawing; tested without a window.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/nn/train/step_record.h"

namespace lockstep::gui {

struct AttentionGrid {
    std::string scores_name = {}, shares_name = {}, values_name = {},
                mixed_name = {};                              // as the program calls them: "S", "P", "V", "O"
    int scores_node = -1, shares_node = -1, mixed_node = -1;  // mixed -1: nothing reads the shares in a product
    int64_t queries = 0, keys = 0, width = 0;                 // width: of a value
    bool causal = false;                                      // a query sees no later key
    int64_t part = 0;  // keys of each tensor that the keys were put together from (cat); 0: they are one, or not alike
    std::vector<std::string> part_names;          // "K1", of the tensors that the keys were put together from
    std::vector<float> scores = {}, shares = {};  // [queries, keys], as they ran
    std::vector<float> values = {}, mixed = {};   // [keys, width] and [queries, width], likewise
    bool sees(int64_t query, int64_t key) const { return !causal || key <= query + keys - queries; }
    float score(int64_t query, int64_t key) const { return scores[static_cast<size_t>(query * keys + key)]; }
    float share(int64_t query, int64_t key) const { return shares[static_cast<size_t>(query * keys + key)]; }
    int64_t masked() const;                  // how many scores the mask takes
    int64_t most_seen(int64_t query) const;  // the key with the largest share
};
// Every softmax over a matrix of scores that was made by a product: of a larger tensor the first matrix.
std::vector<AttentionGrid> attention_grids(const nn::StepRecord& step);

// Of tiles of `tile` x `tile` scores over `places` queries and keys: those that the causal mask takes whole.
struct SkippedTiles {
    int64_t across = 0, all = 0, skipped = 0;
    double share() const { return static_cast<double>(skipped) / static_cast<double>(all); }
};
SkippedTiles skipped_tiles(int64_t places, int64_t tile);

// A row's softmax as tiled attention runs it: with each tile the largest score so far, by how much the sum of the tiles
// before shrinks, what the tile adds, and the sum then. A tile without a key that is seen changes nothing.
struct RunningTile {
    int64_t seen = 0;
    double largest = 0, factor = 1, adds = 0, sum = 0;
};
std::vector<RunningTile> running_softmax(std::span<const float> scores, int64_t seen, int64_t tile);
// The same over the whole row: the sum of e to (score - largest).
double whole_sum(std::span<const float> scores, int64_t seen);

}  // namespace lockstep::gui
