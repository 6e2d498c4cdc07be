// `lockstep run --sample`, --whole and --time-only: what they print, what JSON has, and what they refuse.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace cli_sample_test {

using Json = nlohmann::json;

namespace {

std::string add(const std::string& more, int blocks = 3000) {
    const std::string n = std::to_string(blocks * 128);
    return "run kernels/ptx/bench.ptx --kernel vector_add_f32 --gpu teaching:2 --grid " + std::to_string(blocks) +
           " --block 128 --what-if none --arg 'in:f32[" + n + " ramp]' --arg 'in:f32[" + n + " ramp]' --arg 'out:f32[" + n +
           "]' --arg i32:" + n + " " + more;
}

}  // namespace

TEST_CASE("a sampled run says how much of it was timed and how far off it may be, in words and in JSON") {
    const Outcome told = lockstep_command(add("--sample"));
    REQUIRE(told.status == 0);
    CHECK(told.out.find("Sampled: ") != std::string::npos);
    CHECK(told.out.find(" of 3,000 blocks ran cycle by cycle") != std::string::npos);
    CHECK(told.out.find("% of the whole run, as estimated from") != std::string::npos);

    const Json sampled = Json::parse(lockstep_command(add("--sample --json -")).out);
    const Json whole = Json::parse(lockstep_command(add("--whole --json -")).out);
    CHECK_FALSE(whole.contains("sampling"));
    REQUIRE(sampled.contains("sampling"));
    CHECK(sampled["sampling"]["sampled"] == true);
    CHECK(sampled["sampling"]["outputs"] == "all");
    CHECK(sampled["sampling"]["timed_blocks"].get<int>() < 1600);
    int64_t cycles = sampled["sampling"]["timed_cycles"];
    for (const Json& gap : sampled["sampling"]["gaps"]) cycles += gap["cycles"].get<int64_t>();
    CHECK(cycles == sampled["cycles"].get<int64_t>());
    CHECK(std::abs(sampled["cycles"].get<double>() / whole["cycles"].get<double>() - 1) < 0.03);
    CHECK(sampled["outputs"] == whole["outputs"]);
    CHECK(sampled["instructions"]["warp"] == whole["instructions"]["warp"]);
}

TEST_CASE("timed only, a run gives the same cycles and the timed blocks' outputs alone") {
    const Json only = Json::parse(lockstep_command(add("--time-only --json -")).out);
    const Json sampled = Json::parse(lockstep_command(add("--sample --threads 1 --json -")).out);
    CHECK(only["cycles"] == sampled["cycles"]);
    CHECK(only["sampling"]["outputs"] == "timed blocks");
    CHECK(only["outputs"] != sampled["outputs"]);
    CHECK(lockstep_command(add("--time-only")).out.find("Outputs are those of the timed blocks alone.") !=
          std::string::npos);
}

TEST_CASE("a launch that is too short to be sampled is run whole, and that is said") {
    const Outcome told = lockstep_command(add("--sample", 4));
    CHECK(told.status == 0);
    CHECK(told.out.find("not sampled, every cycle was run: it is too short") != std::string::npos);
    const Json json = Json::parse(lockstep_command(add("--sample --json -", 4)).out);
    CHECK(json["sampling"]["sampled"] == false);
}

TEST_CASE("options that contradict sampling are refused in one sentence") {
    const auto refused = [](const std::string& options, const std::string& words) {
        INFO(options);
        const Outcome told = lockstep_command(add(options, 4));
        CHECK(told.status == 2);
        CHECK(told.err.find(words) != std::string::npos);
    };
    refused("--sample --whole", "--sample and --whole contradict each other");
    refused("--time-only --functional", "--time-only is of timed runs");
    refused("--sample --metrics by-window", "counters by time are those of a whole run");
    refused("--sample --trace t.json --trace-cycles 0-10", "--trace-cycles goes back in a whole run");
}

}  // namespace cli_sample_test
