// Values of a sweep as people write them, and the front of random designs.
#include "core/scene/designs/designs.h"

#include "core/base/rng.h"
#include "tests/catch.h"

namespace scene_designs_test {

using namespace lockstep;
using namespace lockstep::scene;

TEST_CASE("a figure is varied by a list, by doubling and by steps, and the last value is always one of them") {
    using Values = std::vector<double>;
    CHECK(parse_vary("sms=4..32").value().values == Values{4, 8, 16, 32});
    CHECK(parse_vary("sms=3..20").value().values == Values{3, 6, 12, 20});
    CHECK(parse_vary("sms=4..12:4").value().values == Values{4, 8, 12});
    CHECK(parse_vary("sms=0..5:2").value().values == Values{0, 2, 4, 5});
    CHECK(parse_vary("l2_mb=0,0.25,1..4").value().values == Values{0, 0.25, 1, 2, 4});
    CHECK(parse_vary("tensor_fmas=64").value().values == Values{64});
    CHECK(parse_vary("l2_mb=1").value().field == "l2_mb");
    for (const char* wrong : {"sms", "=4", "sms=", "sms=a", "sms=4..", "sms=..4", "sms=4..2", "sms=0..4", "sms=1..4:0",
                              "sms=1..4:-1", "sms=1,,2", "scheduler=1", "smss=1", "sms=1..1e9:1", "sms=nan", "sms=inf"}) {
        INFO(wrong);
        CHECK_FALSE(parse_vary(wrong).ok());
    }
}

TEST_CASE("nobody beats a design of the front in area and time, and who is not on it is beaten") {
    Rng rng(3);
    for (int round = 0; round < 50; ++round) {
        std::vector<Design> designs(1 + rng.below(40));
        for (Design& design : designs) {
            design.run.mm2 = 1 + static_cast<double>(rng.below(12));
            design.run.time_us = 1 + static_cast<double>(rng.below(12));
            if (rng.below(8) == 0) design.run.refused = "no";
        }
        find_front(designs);
        bool any = false;
        for (const Design& design : designs) any |= design.run.refused.empty();
        for (const Design& design : designs) {
            if (!design.run.refused.empty()) {
                CHECK_FALSE(design.on_front);
                continue;
            }
            bool beaten = false, equal = false;
            for (const Design& other : designs) {
                if (&other == &design || !other.run.refused.empty()) continue;
                const bool no_worse = other.run.mm2 <= design.run.mm2 && other.run.time_us <= design.run.time_us;
                const bool same = other.run.mm2 == design.run.mm2 && other.run.time_us == design.run.time_us;
                beaten |= no_worse && !same;
                equal |= same && other.on_front;
            }
            CHECK(design.on_front == !(beaten || (equal && !design.on_front)));
        }
        size_t front = 0;
        for (const Design& design : designs) front += design.on_front;
        CHECK((front > 0) == any);
    }
}

}  // namespace scene_designs_test
