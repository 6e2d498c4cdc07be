// Layouts: how a tensor lies on a mesh, as one placement a mesh axis. Read in this order: Placement and Layout with their
// text (layout.cpp), what an operation makes of its operands' layouts (layout_rules.cpp), and how a tensor comes from one
// layout into another: planned as data, run with real values (layout_redistribute.cpp).
//
//     text:  one item a dimension, in order, "-" where it is whole:   "x,-"    rows cut over x, columns whole
//            several axes on one dimension, in the mesh's order:      "x*y,-"  over x, and each of those pieces over y
//            and one item for each axis that holds summands:          "x,-,+y" what y's ranks hold is still to be added
//
// A cut is comm::piece_of: sizes differ by one at most, the first are the longer ones. Several axes cut one after the other.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/comm/collectives/collectives.h"
#include "core/parallel/layout/mesh.h"

namespace lockstep::parallel {

using Extents = std::vector<int64_t>;

struct Placement {
    enum class Kind : uint8_t { replicate, shard, partial };  // the same everywhere; cut; summands of the values
    Kind kind = Kind::replicate;
    int dimension = -1;  // that a shard cuts
    auto operator<=>(const Placement&) const = default;
};
inline Placement replicate() {
    return {};
}
inline Placement shard(int dimension) {
    return {Placement::Kind::shard, dimension};
}
inline Placement partial() {
    return {Placement::Kind::partial, -1};
}

struct Layout {
    int dimensions = 0;            // of the tensor
    std::vector<Placement> along;  // by mesh axis
    auto operator<=>(const Layout&) const = default;
};
// Throws Failure: an axis that the mesh has not, one that cuts twice, several against the mesh's order, too many items.
Layout layout_named(const Mesh& mesh, const std::string& text, int dimensions);
std::string text_of(const Mesh& mesh, const Layout& layout);

// What of the tensor a rank holds, by dimension.
using TensorRegion = std::vector<comm::Piece>;
TensorRegion region_of(const Mesh& mesh, const Extents& shape, const Layout& layout, int rank);
int64_t elements_in(const TensorRegion& region);

// ---- What an operation makes of layouts, without a message. Throws Failure where they do not meet, with layouts that
// would.

struct LaidOut {
    Extents shape;
    Layout layout;
    bool operator==(const LaidOut&) const = default;
};
// A [..., M, K] by B [..., K, N]: [..., M, N]. Leading dimensions broadcast. K cut in both alike: partial sums.
LaidOut matrix_product(const Mesh& mesh, const LaidOut& a, const LaidOut& b);
// Shapes broadcast from the right. sum: add, subtract, scale. product: linear in each operand. other: relu, exp, max, ...
enum class Elementwise : uint8_t { sum, product, other };
LaidOut elementwise(const Mesh& mesh, Elementwise kind, std::span<const LaidOut> operands);
// Along one dimension, which goes, or stays with extent 1. sum: means too, over the whole extent. largest: max, min.
enum class Reduce : uint8_t { sum, largest };
LaidOut reduction(const Mesh& mesh, Reduce kind, const LaidOut& operand, int dimension, bool keep = false);

// ---- From one layout into another.

struct RedistributionStep {  // along one axis: all its groups do the same beside each other
    int axis = 0;            // of the mesh
    std::string collective;  // "all-gather", "all-to-all", "all-reduce", "reduce-scatter"; "local": nothing is sent
    std::string formula;     // of what a rank sends, for even cuts: n ranks, S bytes
    Layout before, after;
    int64_t bytes = 0, total = 0;  // by the rank that sends most; by all ranks
};
struct Redistribution {  // plain data: nothing has run
    Mesh mesh;
    Extents shape;
    DType type = DType::f32;
    Layout from, to;
    std::vector<RedistributionStep> steps;
    int64_t bytes() const;  // of all steps, each by the rank that sends most
};
// The steps that send least (rank 0's count decides; then fewest steps; then the last axes first). An axis leaves or joins a
// dimension only as its innermost cut, so others step aside where they lie in its way. Throws Failure for shapes or meshes
// that are too large.
Redistribution plan_redistribution(const Mesh& mesh, const Extents& shape, DType type, const Layout& from, const Layout& to);
int64_t bytes_sent(const Redistribution& plan, const RedistributionStep& step, int rank);
// All ranks of `world`, numbered as in the mesh, call it. `local`: this rank's region, row by row; data null: sizes alone
// travel and nothing is returned. Even cuts use the communicator's collectives, others rings of our own with exact pieces.
std::vector<std::byte> redistribute(comm::Communicator& world, const Redistribution& plan, const comm::Buffer& local);

}  // namespace lockstep::parallel
