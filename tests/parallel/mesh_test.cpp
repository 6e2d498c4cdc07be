// Meshes: every rank has one place, groups along an axis part the ranks, and what is no mesh is refused with its place.
#include "core/parallel/layout/mesh.h"

#include <set>

#include "core/base/diagnostic.h"
#include "core/parallel/plan.h"
#include "tests/catch.h"

namespace parallel_mesh_test {

using namespace lockstep;
using namespace lockstep::parallel;

TEST_CASE("A rank's coordinates lead back to it, the last axis fastest") {
    const Mesh mesh = mesh_named("x:3,y:2,z:4");
    REQUIRE(mesh.ranks() == 24);
    for (int rank = 0; rank < 24; ++rank) CHECK(mesh.rank_at(mesh.coordinates(rank)) == rank);
    CHECK(mesh.coordinates(1) == std::vector<int>{0, 0, 1});
    CHECK(mesh.coordinate(23, "x") == 2);
}

TEST_CASE("The groups along an axis part all ranks") {
    const Mesh mesh = mesh_of({.dp = 2, .tp = 4, .pp = 3});
    for (const MeshAxis& axis : mesh.axes) {
        std::set<std::vector<int>> groups;
        size_t members = 0;
        for (int rank = 0; rank < mesh.ranks(); ++rank) groups.insert(mesh.group(rank, axis.name));
        for (const auto& group : groups) members += group.size();
        CHECK(members == static_cast<size_t>(mesh.ranks()));
        CHECK(groups.size() == static_cast<size_t>(mesh.ranks() / axis.size));
    }
    CHECK(mesh.group(5, "tp") == std::vector<int>{4, 5, 6, 7});
    CHECK(mesh.group(1, "pp") == std::vector<int>{1, 9, 17});
}

TEST_CASE("What is no mesh is refused, with its place") {
    CHECK_THROWS_WITH(mesh_named("x:3,y"),
                      Catch::Matchers::Contains("x:3,y=2") || Catch::Matchers::Contains("as in x:3,y:2"));
    CHECK_THROWS_WITH(mesh_named("x:0"), Catch::Matchers::Contains("from 1 on, not '0'"));
    CHECK_THROWS_WITH(mesh_named("x:2,x:2"), Catch::Matchers::Contains("twice"));
    CHECK_THROWS_WITH(mesh_named("x:999,y:999"), Catch::Matchers::Contains("65,536"));
    CHECK_THROWS_WITH(mesh_named("x:2").axis("z"), Catch::Matchers::Contains("its axes are x"));
}

}  // namespace parallel_mesh_test
