#include "core/base/cores.h"

#include "tests/catch.h"

namespace base_cores_test {

using namespace lockstep;

TEST_CASE("Work has all cores of the host, or the share that its thread was given, and other threads keep theirs") {
    const unsigned all = cores();
    CHECK(all == std::max(1u, std::thread::hardware_concurrency()));
    {
        const ShareOfCores mine(1);
        CHECK(cores() == 1);
        unsigned of_another = 0;
        std::thread([&] { of_another = cores(); }).join();
        CHECK(of_another == all);
        {
            const ShareOfCores none(0);  // there is always one
            CHECK(cores() == 1);
            const ShareOfCores too_many(all + 1);
            CHECK(cores() == all);
        }
        CHECK(cores() == 1);
    }
    CHECK(cores() == all);
}

}  // namespace base_cores_test
