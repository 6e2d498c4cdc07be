// Products by owner, and collectives along trees: what is told of real rows, and that no text clashes.
#include <algorithm>
#include <tuple>

#include "app/gui/views/cluster/owners_data.h"
#include "app/gui/views/collective/collective_trees.h"
#include "core/scene/cluster/parallel_scene.h"
#include "tests/gui/rows_desk.h"

namespace gui_owners_test {

using namespace lockstep;
using namespace lockstep::gui;
using test::RowsDesk;

namespace {

constexpr const char* two_layers =
    "product name=first mesh=x:4 shape=8x8x16 a=-,- b=-,x to=-,x; product name=second shape=8x16x8 a=-,x b=x,- to=-,-";
constexpr const char* sums = "product name=sums mesh=x:2,y:2 shape=4x6x4 a=-,x b=x,- to=-,-; product name=cut to=x,-";
constexpr const char* trees = "tree ranks=8 bytes=64000000 link=nvlink4; ring";

}  // namespace

TEST_CASE("two products whose layouts meet stand in one row, and one all-reduce is counted") {
    RowsDesk desk("mesh", two_layers, "owners", false);
    const auto chains = owned_chains(*desk.session.snapshot()->cluster);
    REQUIRE(chains.size() == 1);
    const OwnedChain& chain = chains.front();
    REQUIRE(chain.columns.size() == 6);  // X, A, H, B, parts of Y, Y
    CHECK(chain.wrong == 0);
    CHECK(chain.columns[1].matrix.words == "cut by columns");
    CHECK(chain.columns[2].matrix.parts ==
          std::vector<OwnedMatrix::Part>{{{0, 8}, {0, 4}}, {{0, 8}, {4, 4}}, {{0, 8}, {8, 4}}, {{0, 8}, {12, 4}}});
    CHECK(chain.columns[3].matrix.words == "cut by rows");
    CHECK(chain.columns[4].matrix.summands);
    CHECK(chain.columns[5].matrix.everywhere());
    CHECK(chain.columns[5].move.collective == "all-reduce");
    CHECK(chain.bytes == 2 * 3 * 8 * 8 * 4 / 4);  // 2(N-1)/N of Y
    desk.size(1600, 1000, 1);
    desk.frames(3);
    CHECK(desk.shows("Two products, one message: the all-reduce at the end"));
    CHECK(desk.shows("384 bytes"));
}

TEST_CASE("a part that several ranks hold has one owner, and a question hides what comes of the factors") {
    RowsDesk desk("mesh", sums, "owners", true);
    const auto chains = owned_chains(*desk.session.snapshot()->cluster);
    REQUIRE(chains.size() == 2);
    CHECK(chains[0].columns[0].matrix.owners() == 2);
    CHECK(chains[0].columns[0].matrix.holders(0) == "0 1");
    desk.size(1600, 1000, 1);
    desk.frames(3);
    CHECK_FALSE(desk.shows("Bytes a rank sends"));
}

TEST_CASE("ranks along an axis that cuts nothing hold the same summand, and it is drawn once") {
    const auto parts_of = [](const char* rows) {
        RowsDesk desk("mesh", rows, "owners", false);
        return owned_chains(*desk.session.snapshot()->cluster)[0].columns[2].matrix;
    };
    const OwnedMatrix parts = parts_of(sums);
    REQUIRE(parts.summands);
    CHECK(parts.first_holders() == std::vector<int>{0, 2});
    CHECK(parts.holders(2) == "2 3");
    CHECK(part_words(parts, 3) == "the same summand as rank 2");
    const OwnedMatrix cut = parts_of("product name=both mesh=x:2,y:2 shape=4x6x4 a=y,x b=x,- to=-,-");
    CHECK(cut.owners() == 4);
    CHECK(cut.places() == 2);
    CHECK(cut.first_holders() == std::vector<int>{0, 2, 1, 3});  // a line a part of the rows
}

TEST_CASE("a double tree's halves go along two trees, whose leaves are the other's inner ranks") {
    const auto trees_of_rows = [](const char* rows) {
        RowsDesk desk("collective", rows, "collective", false);
        return trees_of(desk.session.snapshot()->cluster->collective);
    };
    const auto found = trees_of_rows(trees);
    REQUIRE(found.size() == 2);
    CHECK(found[0].root() == 0);
    CHECK(found[1].root() == 7);
    for (const RankTree& tree : found) {
        CHECK(tree.levels == 4);
        CHECK(tree.leaves() == 4);
    }
    const auto inner = [](const RankTree& tree, int rank) {
        return std::find(tree.parent.begin(), tree.parent.end(), rank) != tree.parent.end();
    };
    for (int rank = 0; rank < 8; ++rank)
        if (rank != 0 && rank != 7) CHECK(inner(found[0], rank) != inner(found[1], rank));
    CHECK(trees_of_rows("ring ranks=8 bytes=64000 link=nvlink4").empty());
    const auto one = trees_of_rows("tree operation=broadcast ranks=8 bytes=64000 link=nvlink4");
    REQUIRE(one.size() == 1);
    CHECK(one.front().levels == 4);
}

TEST_CASE("no text of products by owner or of trees clashes at any size", "[long]") {
    for (const auto& [kind, rows, view] :
         {std::tuple{"mesh", two_layers, "owners"}, {"mesh", sums, "owners"}, {"collective", trees, "collective"}})
        for (const auto& [width, height, scale] :
             {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
            RowsDesk desk(kind, rows, view, false);
            desk.size(width, height, scale);
            desk.frames(6);
            for (const std::string& clash : desk.clashes())
                FAIL_CHECK(view << ", " << width << " x " << height << " at " << scale << ": " << clash);
        }
}

}  // namespace gui_owners_test
