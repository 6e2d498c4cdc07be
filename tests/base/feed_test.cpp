// Programs that are fed piece by piece.
#include "core/system/feed.h"

#include <optional>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace base_feed_test {

using namespace lockstep;
using system::ChildOutcome;

TEST_CASE("a program is fed piece by piece, and what it prints comes back") {
    const std::string piece(100'000, 'x');
    int pieces = 0;
    const ChildOutcome counted = system::run_fed({.program = "/bin/sh", .name = "sh", .arguments = {"-c", "wc -c"}}, [&] {
        return std::optional<std::string_view>(pieces++ < 30 ? std::string_view(piece) : std::string_view());
    });
    CHECK(counted.succeeded());
    CHECK(counted.output.find("3000000") != std::string::npos);
    CHECK(pieces == 31);
}

TEST_CASE("a fed program that prints more than is kept is read all the same") {
    const std::string piece(1'000'000, 'y');
    int pieces = 0;
    const ChildOutcome copied = system::run_fed({.program = "/bin/cat", .name = "cat"}, [&] {
        return std::optional<std::string_view>(pieces++ < 3 ? std::string_view(piece) : std::string_view());
    });
    CHECK(copied.succeeded());
    CHECK(copied.output.size() == 65536);
}

TEST_CASE("a fed program that ends early is asked for no more, and its words and status come back") {
    const std::string piece(1'000'000, 'z');
    int pieces = 0;
    const ChildOutcome failed =
        system::run_fed({.program = "/bin/sh", .name = "sh", .arguments = {"-c", "echo no encoder >&2; exit 3"}}, [&] {
            ++pieces;
            return std::optional<std::string_view>(piece);
        });
    CHECK(failed.end == ChildOutcome::End::exited);
    CHECK(failed.status == 3);
    CHECK(failed.output == "no encoder\n");
    CHECK(pieces < 3);
    CHECK(system::run_fed({.program = "/no/such/program", .name = "x"}, [] { return std::string_view(); }).status == 127);
}

TEST_CASE("a fed program ends at once when there is no further piece") {
    int pieces = 0;
    const ChildOutcome ended = system::run_fed({.program = "/bin/sh", .name = "sh", .arguments = {"-c", "sleep 60"}},
                                               [&]() -> std::optional<std::string_view> {
                                                   if (pieces++ > 0) return std::nullopt;
                                                   return std::string_view("x");
                                               });
    CHECK(ended.end == ChildOutcome::End::timed_out);
    struct Gone {};
    CHECK_THROWS_AS(system::run_fed({.program = "/bin/sh", .name = "sh", .arguments = {"-c", "sleep 60"}},
                                    []() -> std::optional<std::string_view> { throw Gone(); }),
                    Gone);
}

}  // namespace base_feed_test
