#include "core/base/close_enough.h"

#include <limits>

#include "tests/catch.h"

namespace base_close_enough_test {

using namespace lockstep;

TEST_CASE("numbers are close within a share of the larger, and near zero within a share of the least that counts") {
    CHECK(close_enough(100, 101, 0.01));
    CHECK_FALSE(close_enough(100, 102, 0.01));
    CHECK(close_enough(0, 0, 0));
    CHECK_FALSE(close_enough(0, 1e-9, 0.01));
    CHECK(close_enough(0, 1e-9, 0.01, 1e-3));
    CHECK(within(5, 5.5, 0.5));
    CHECK_FALSE(within(1e308, -1e308, 1e300));
}

TEST_CASE("an infinity is close to itself alone, and NaN to nothing") {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double other : {0.0, 5.0, -inf, 1e308, nan}) {
        CHECK_FALSE(close_enough(inf, other, 1));
        CHECK_FALSE(close_enough(other, inf, 1));
        CHECK_FALSE(close_enough(nan, other, 1));
        CHECK_FALSE(close_enough(other, nan, 1));
        CHECK_FALSE(within(inf, other, inf));
    }
    CHECK(close_enough(inf, inf, 0));
    CHECK(close_enough(-inf, -inf, 0));
}

}  // namespace base_close_enough_test
