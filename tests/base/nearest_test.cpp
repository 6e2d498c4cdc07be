#include "core/base/nearest.h"

#include "tests/catch.h"

namespace base_nearest_test {

using namespace lockstep;

TEST_CASE("edit distance counts inserts, deletes, changes and swaps of neighbours") {
    CHECK(edit_distance("add.f32", "ad.f32") == 1);
    CHECK(edit_distance("v100", "v010") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("", "abc") == 3);
}

TEST_CASE("a misspelt name finds its nearest, a strange one finds none") {
    CHECK(nearest_name("v1000", {"p100", "v100", "a100"}) == "v100");
    CHECK(nearest_name("--stpes", {"--steps", "--batch"}) == "--steps");
    CHECK(nearest_name("V100", {"p100", "v100", "a100"}) == "v100");
    CHECK(nearest_name("banana", {"p100", "v100", "a100"}).empty());
}

}  // namespace base_nearest_test
