// Amounts as people read them.
#include "core/base/units.h"

#include "tests/catch.h"

namespace base_units_test {

using namespace lockstep;

TEST_CASE("what is counted is one of it, or several, with commas in long numbers") {
    CHECK(counted(1, "warp") == "1 warp");
    CHECK(counted(0, "warp") == "0 warps");
    CHECK(counted(2048u, "warp") == "2,048 warps");
    CHECK(counted(size_t{1}, "launch", "launches") == "1 launch");
    CHECK(counted(size_t{3}, "launch", "launches") == "3 launches");
    CHECK(counted(int64_t{-1}, "point") == "-1 points");
}

}  // namespace base_units_test
