// Catch2's main (version 2 or 3), compiled once for all tests.
#ifdef LOCKSTEP_CATCH2_V3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "tests/tasks.h"

namespace lockstep::device {
[[gnu::weak]] extern const system::ChildTask nvrtc_task;  // there in tests that link what starts compilers
}

int main(int argc, char** argv) {
    using namespace lockstep;
    if (&device::nvrtc_task != nullptr) test_tasks().push_back(device::nvrtc_task);
    system::serve_task(argc, argv, test_tasks());
    return Catch::Session().run(argc, argv);
}
