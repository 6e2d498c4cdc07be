// Catch2's main, compiled once for all tests (version 2 or 3).
#ifdef LOCKSTEP_CATCH2_V3
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) {
    return Catch::Session().run(argc, argv);
}
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
