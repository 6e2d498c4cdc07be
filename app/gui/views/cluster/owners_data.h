// Products on a mesh by owner: which part of every matrix a rank holds, and what had to be moved for the result. Where one
// product's result is the next one's factor, in the same layout, the two stand in one row. Tested without a window.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/comm/collectives/collectives.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/mesh_product.h"

namespace lockstep::gui {

struct OwnedMatrix {
    std::string name;   // "A"
    std::string words;  // "cut by columns"
    int64_t rows = 0, columns = 0;
    struct Part {
        comm::Piece rows, columns;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;                    // by rank
    std::vector<int> owner;                     // by rank: the first rank that holds the same part, or the same summand
    bool summands = false;                      // to be added up
    bool everywhere() const;                    // every rank has all of it
    int owners() const;                         // different parts, or summands
    int places() const;                         // different parts, whatever their summands
    std::vector<int> first_holders() const;     // of every owner, by the place of its part
    std::string holders(int owner_rank) const;  // "0", "0 2": who holds the part of that rank
};
struct OwnedMove {  // between two matrices; empty collective: the layout stays as it is
    std::string collective;
    int64_t bytes = 0, total = 0;  // counted: by the rank that sends most; by all
};
struct OwnedColumn {
    std::string sign;  // "x", "=" before the matrix; "" where a move stands before it
    OwnedMatrix matrix;
    bool moved = false;  // what comes before it is a move
    OwnedMove move;
};
struct OwnedChain {
    std::vector<OwnedColumn> columns;
    std::vector<size_t> rows;  // of the scene that it shows
    int ranks = 0;
    int64_t bytes = 0;  // by the rank that sends most, of all its moves
    int64_t wrong = 0;
};
struct OwnedRow {  // of the scene: what a rank sends
    std::string name;
    OwnedMove move;
};

std::vector<OwnedRow> owned_rows(const scene::ClusterScene* scene);      // empty: no product ran
std::vector<OwnedChain> owned_chains(const scene::ClusterScene& scene);  // in the order of the rows
std::string owned_headline(const OwnedChain& chain);
std::string owned_caption(const OwnedChain& chain);
std::string part_words(const OwnedMatrix& matrix, int rank);  // "rows 4-7", "columns 0-3", "all of it"

}  // namespace lockstep::gui
