// Every puzzle can be solved to gold, begins below bronze, and gives no medal for a way around it.
#include "lessons/player/puzzles/puzzle.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"
#include "tests/catch.h"

namespace lessons_puzzle_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {
PuzzleResult judged(const Puzzle& puzzle, const Figures& figures, std::string_view more = {}) {
    std::string text = start_file(puzzle);
    for (const auto& [field, value] : figures) {  // as a player does: the line is changed
        const size_t at = text.find("\n" + field + " = ");
        REQUIRE(at != std::string::npos);
        const size_t end = text.find('\n', at + 1);
        text.replace(at, end - at, "\n" + field + " = " + std::to_string(value));
    }
    return judge(puzzle, model::parse_gpu_file(text + std::string(more), "player.toml").value());
}
}  // namespace

TEST_CASE("every puzzle begins below bronze, and each reference design earns its medal within the budget") {
    const auto files = puzzle_files();
    REQUIRE(files.size() >= 3);
    for (const auto& file : files) {
        const Puzzle puzzle = puzzle_named(file.string()).value();
        INFO(puzzle.id);
        const PuzzleResult start = judged(puzzle, {});
        CHECK(start.run.refused.empty());
        CHECK(start.medal == Medal::none);
        CHECK(start.run.time_us > start.thresholds.bronze_us);
        CHECK(start.thresholds.bronze_us > start.thresholds.silver_us);
        CHECK(start.thresholds.silver_us > start.thresholds.gold_us);
        if (puzzle.most_mm2 > 0) CHECK(start.run.mm2 <= puzzle.most_mm2);
        for (const auto& [medal, figures] : puzzle.reference) {
            const PuzzleResult result = judged(puzzle, figures);
            INFO(name_of(medal) << ": " << result.run.time_us << " us, " << result.run.mm2 << " mm2, " << result.run.watts
                                << " W, " << result.why);
            CHECK(result.medal == medal);
        }
        CHECK(puzzle.hints.size() >= 2);
    }
}

TEST_CASE("no puzzle gives a medal for changed latencies, for figures that are not free, or over its budget") {
    for (const auto& file : puzzle_files()) {
        const Puzzle puzzle = puzzle_named(file.string()).value();
        INFO(puzzle.id);
        const Figures& gold = puzzle.reference.at(Medal::gold);
        for (const char* cheat : {"dram_latency = 31\n", "fp32_latency = 1\n", "boost_mhz = 2000\n",
                                  "dram_gb_per_second = 5000\n", "l1_latency = 1\n", "block_start_latency = 0\n",
                                  "lsu_queue = 8\n", "folds_ptx = 1\n", "scheduler = \"lrr\"\n", "compute = \"9.0\"\n"}) {
            INFO(cheat);
            const PuzzleResult result = judged(puzzle, gold, cheat);
            CHECK(result.medal == Medal::none);
            CHECK(result.why.find("may change") != std::string::npos);
        }
        // All that is free at its most is over the budget, else the budget would be none.
        Figures most;
        for (const Puzzle::Free& free : puzzle.free) most.emplace_back(free.field, free.most);
        const PuzzleResult over = judged(puzzle, most);
        CHECK(over.medal == Medal::none);
        CHECK(over.why.find("it takes ") == 0);
        const auto gpu = model::parse_gpu_file(start_file(puzzle), "player.toml").value();
        CHECK(against_the_rules(puzzle, gpu).empty());
    }
}

TEST_CASE("what is wrong in a puzzle's file is said with its place") {
    const std::string good = read_file(puzzle_files().front()).value();
    const auto refused = [&](const std::string& what, const std::string& with) {
        std::string text = good;
        const size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        const auto puzzle = parse_puzzle(text.replace(at, what.size(), with), "p.toml");
        REQUIRE_FALSE(puzzle.ok());
        CHECK(puzzle.error().where.line > 0);
        return puzzle.error().message;
    };
    CHECK(refused("title", "titel") == "unknown key 'titel', did you mean 'title'?");
    CHECK(refused("process = \"7nm\"", "process = \"6nm\"").find("unknown process") == 0);
    CHECK(refused("mm2 = ", "mm = ").find("unknown key 'mm'") == 0);
    CHECK(refused("warps_per_sm = [1, 32]", "warp_per_sm = [1, 32]").find("did you mean 'warps_per_sm'?") !=
          std::string::npos);
    CHECK(refused("warps_per_sm = [1, 32]", "warps_per_sm = 3").find("two bounds") != std::string::npos);
    CHECK(refused("[bronze]\n", "[bronze]\nsms = 2\n").find("is not [free]") != std::string::npos);
    CHECK(refused("grid = \"256\"", "").find("the puzzle lacks 'grid'") == 0);
}

}  // namespace lessons_puzzle_test
