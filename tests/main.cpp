// Catch2's main (version 2 or 3), compiled once for all tests.
#ifdef LOCKSTEP_CATCH2_V3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

namespace lockstep::device {
[[gnu::weak]] void serve_task(int argc, char** argv);  // there in tests that link what starts compilers
}

int main(int argc, char** argv) {
    if (lockstep::device::serve_task != nullptr) lockstep::device::serve_task(argc, argv);
    return Catch::Session().run(argc, argv);
}
