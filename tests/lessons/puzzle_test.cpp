// Every puzzle can be solved to gold, begins below bronze, and gives no medal for a way around it.
#include "lessons/player/puzzles/puzzle.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/model/gpus/area.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"
#include "tests/catch.h"

namespace lessons_puzzle_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {
// As a player does: the lines of the first design's file are changed, and others written below.
model::GpuSpec player(const Puzzle& puzzle, const Figures& figures, std::string_view more = {}) {
    std::string text = start_file(puzzle);
    for (const auto& [field, value] : figures) {
        const size_t at = text.find("\n" + field + " = ");
        REQUIRE(at != std::string::npos);
        const size_t end = text.find('\n', at + 1);
        text.replace(at, end - at, "\n" + field + " = " + std::to_string(value));
    }
    return model::parse_gpu_file(text + std::string(more), "player.toml").value();
}

struct Played {  // a puzzle whose reference designs are run once
    explicit Played(const std::filesystem::path& file)
        : puzzle(puzzle_named(file.string()).value()),
          launch(launch_of(puzzle)),
          thresholds(thresholds_of(puzzle, launch)) {}
    PuzzleResult judged(const Figures& figures, std::string_view more = {}) const {
        return judge_for(puzzle, launch, thresholds, player(puzzle, figures, more));
    }
    Puzzle puzzle;
    scene::DesignLaunch launch;
    Thresholds thresholds;
};
}  // namespace

TEST_CASE("there are twelve puzzles, each with a card, three hints, a recap and a cheat") {
    const auto files = puzzle_files();
    REQUIRE(files.size() == 12);
    for (const auto& file : files) {
        const Puzzle puzzle = puzzle_named(file.string()).value();
        INFO(puzzle.id);
        CHECK(puzzle.question.size() <= 240);
        CHECK(puzzle.hints.size() == 3);
        CHECK(puzzle.recap.size() >= 40);
        CHECK(!puzzle.cheat.empty());
        CHECK(puzzle.reference.size() == 3);
        // A player of the app sees labels, never a field of the file such as l1_mshrs.
        std::string words = puzzle.title + puzzle.question + puzzle.recap;
        for (const std::string& hint : puzzle.hints) words += hint;
        CHECK(words.find('_') == std::string::npos);
        // The file that a player begins with is the first design, and may take part.
        const model::GpuSpec first = player(puzzle, {});
        CHECK(against_the_rules(puzzle, first).empty());
        CHECK(model::area_of(first, puzzle.process).mm2 ==
              Approx(model::area_of(design_of(puzzle, {}), puzzle.process).mm2));
    }
}

TEST_CASE("a puzzle is named by its number, its name or a part of it that only one has") {
    const auto files = puzzle_files();
    for (size_t i = 0; i < files.size(); ++i) {
        CHECK(puzzle_named(std::to_string(i + 1)).value().file == files[i]);
        CHECK(puzzle_named(files[i].stem().string().substr(0, 2)).value().file == files[i]);
    }
    CHECK(puzzle_named("half").value().id == "10_half_the_watts");
    CHECK_FALSE(puzzle_named("13").ok());
    CHECK_FALSE(puzzle_named("the").ok());  // several have it
}

TEST_CASE("every puzzle begins below bronze, and each reference design earns its medal within the budget") {
    for (const auto& file : puzzle_files()) {
        const Played played(file);
        const Puzzle& puzzle = played.puzzle;
        INFO(puzzle.id);
        const Thresholds& t = played.thresholds;
        const PuzzleResult start = played.judged({});
        CHECK(start.run.refused.empty());
        CHECK(start.medal == Medal::none);
        // A medal is worth some work: the steps are of 3 % at least.
        CHECK(start.run.time_us > 1.03 * t.bronze_us);
        CHECK(t.bronze_us > 1.03 * t.silver_us);
        CHECK(t.silver_us > 1.03 * t.gold_us);
        if (puzzle.most_mm2 > 0) CHECK(start.run.mm2 <= puzzle.most_mm2);
        for (const auto& [medal, figures] : puzzle.reference) {
            const PuzzleResult result = played.judged(figures);
            INFO(name_of(medal) << ": " << result.run.time_us << " us, " << result.run.mm2 << " mm2, " << result.run.watts
                                << " W, " << result.why);
            CHECK(result.medal == medal);
        }
        // All that is free at its most is over the budget, else the budget would be none.
        Figures most;
        for (const Puzzle::Free& free : puzzle.free) most.emplace_back(free.field, free.most);
        const model::GpuSpec largest = player(puzzle, most);
        CHECK(against_the_rules(puzzle, largest).empty());
        CHECK(model::area_of(largest, puzzle.process).mm2 > puzzle.most_mm2);
    }
}

TEST_CASE("no puzzle gives a medal for its cheat, for changed latencies or for figures that are not free") {
    for (const auto& file : puzzle_files()) {
        const Played played(file);
        const Puzzle& puzzle = played.puzzle;
        INFO(puzzle.id);
        const Figures& gold = puzzle.reference.at(Medal::gold);
        const std::string nearer = "dram_latency = " + std::to_string(player(puzzle, {}).l2_latency + 1) + "\n";
        for (const char* cheat : {nearer.c_str(), "fp32_latency = 1\n", "boost_mhz = 1999\n", "dram_gb_per_second = 5000\n",
                                  "l1_latency = 1\n", "block_start_latency = 0\n", "lsu_queue = 8\n", "folds_ptx = 1\n",
                                  "scheduler = \"lrr\"\n", "compute = \"9.0\"\n"}) {
            const auto gpu = player(puzzle, gold, cheat);
            // What this GPU has already is no cheat.
            if (puzzle.gpu == "v100" && std::string_view(cheat).find("folds_ptx") == 0) continue;
            INFO(cheat);
            CHECK(against_the_rules(puzzle, gpu).find("may change") != std::string::npos);
        }
        std::string lines;
        for (const auto& [field, value] : puzzle.cheat) lines += field + " = " + std::to_string(value) + "\n";
        INFO(puzzle.cheat_text);
        const PuzzleResult result = played.judged(gold, lines);
        CHECK(result.medal == Medal::none);
        CHECK(!result.why.empty());
        // It would pay: it is faster than gold, or takes less power where that is the question.
        const scene::DesignRun run = scene::run_design(player(puzzle, gold, lines), played.launch);
        const scene::DesignRun honest = scene::run_design(player(puzzle, gold), played.launch);
        CHECK((puzzle.most_watts > 0 ? run.watts < honest.watts : run.time_us < honest.time_us));
    }
}

TEST_CASE("no figure of the machine may be other than in the puzzle, whichever it is") {
    // Peaks for the roofline alone, and what a run's time and area do not ask for.
    constexpr std::string_view harmless[] = {"fp32_tflops", "fp16_tflops", "memory_gb", "year"};
    for (const auto& file : puzzle_files()) {
        const Puzzle puzzle = puzzle_named(file.string()).value();
        INFO(puzzle.id);
        const Figures& gold = puzzle.reference.at(Medal::gold);
        const model::GpuSpec honest = player(puzzle, gold);
        size_t tried = 0;
        for (const model::GpuField& field : model::gpu_fields()) {
            if (std::ranges::find(harmless, field.name) != std::end(harmless)) continue;
            const auto free = [&](const Puzzle::Free& row) {
                return model::field_named(row.field).first == &field ||
                       (row.field == "tensor_fmas" && field.name == "fp16_tensor_tflops");
            };
            if (std::ranges::any_of(puzzle.free, free)) continue;
            const double now = model::value_of(honest, field);
            for (const double other : {now / 2, now * 2, now - 1, now + 1}) {
                if (!model::refused_value(field, other).empty() || other == now) continue;
                model::GpuSpec cheat = honest;
                model::set_value(cheat, field, other, "a cheat");
                INFO(field.name << " = " << other << " instead of " << now);
                CHECK_FALSE(against_the_rules(puzzle, cheat).empty());
                ++tried;
            }
        }
        CHECK(tried > 200);
    }
}

TEST_CASE("a design over the budget, or within it by being slow, earns nothing") {
    const Played waits(puzzle_files().front());
    const PuzzleResult over = waits.judged({{"warps_per_sm", 32}, {"blocks_per_sm", 32}, {"registers_per_sm", 65536}});
    CHECK(over.run.time_us < waits.thresholds.gold_us);
    CHECK(over.medal == Medal::none);
    CHECK(over.why.find("it takes ") == 0);
    const Played watts(puzzle_files().at(9));
    REQUIRE(watts.puzzle.most_watts > 0);
    const PuzzleResult slow = watts.judged({{"sms", 1}, {"dram_channels", 1}});
    CHECK(slow.run.watts <= watts.puzzle.most_watts);
    CHECK(slow.medal == Medal::none);
    CHECK(slow.why.find("bronze takes ") == 0);
    // Within the area, but not the watts.
    const PuzzleResult hot = watts.judged({{"sms", 6}, {"l2_mb", 1.5}, {"fp64_lanes", 0}, {"dram_channels", 1}});
    CHECK(hot.run.time_us < watts.thresholds.gold_us);
    CHECK(hot.run.mm2 <= watts.puzzle.most_mm2);
    CHECK(hot.medal == Medal::none);
    CHECK(hot.why.find(" W of ") != std::string::npos);
}

TEST_CASE("one design is judged as many are, and told its time even where it is against the rules") {
    const Played played(puzzle_files().front());
    const Figures& silver = played.puzzle.reference.at(Medal::silver);
    const PuzzleResult alone = judge(played.puzzle, player(played.puzzle, silver));
    CHECK(alone.medal == Medal::silver);
    CHECK(alone.run.time_us == played.judged(silver).run.time_us);
    CHECK(alone.thresholds.gold_us == played.thresholds.gold_us);
    const PuzzleResult cheat = judge(played.puzzle, player(played.puzzle, silver, "l2_latency = 10\n"));
    CHECK(cheat.medal == Medal::none);
    CHECK(cheat.run.time_us > 0);
    CHECK(played.judged(silver, "l2_latency = 10\n").run.cycles == 0);
}

TEST_CASE("a puzzle may be about a training step: the times of its kernels add up, and its medals are runs of it") {
    std::string text = read_file(puzzle_files().front()).value();
    const auto put = [&](const std::string& what, const std::string& with) {
        const size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), with);
    };
    put("kernel = \"latency\"\ngrid = \"256\"\nblock = \"32\"", "kernel = \"step:mlp\"");
    const size_t arguments = text.find("arguments = ");
    text.erase(arguments, text.find('\n', arguments) + 1 - arguments);
    const size_t start = text.find("[start]");
    text.resize(start);
    text +=
        "[start]\nsms = 2\n[budget]\nmm2 = 120\n[free]\nsms = [1, 8]\n[bronze]\nsms = 3\n[silver]\nsms = 4\n"
        "[gold]\nsms = 6\n";
    const auto puzzle = parse_puzzle(text, "step.toml");
    INFO(text);
    REQUIRE(puzzle.ok());
    const scene::DesignLaunch launch = launch_of(puzzle.value());
    CHECK(launch.shown_name() == "a training step of mlp");
    REQUIRE(launch.parts().size() > 8);
    const model::GpuSpec gpu = design_of(puzzle.value(), {});
    const scene::DesignRun all = scene::run_design(gpu, launch);
    REQUIRE(all.refused.empty());
    double time = 0, joules = 0;
    int64_t cycles = 0;
    for (const scene::DesignPart& part : launch.parts()) {
        scene::DesignLaunch one = launch;
        one.then.clear();
        one.program = part.program, one.config = part.config, one.memory = part.memory;
        const scene::DesignRun run = scene::run_design(gpu, one);
        time += run.time_us, joules += run.joules, cycles += run.cycles;
    }
    CHECK(all.cycles == cycles);
    CHECK(all.time_us == Approx(time));
    CHECK(all.joules == Approx(joules));
    const Thresholds t = thresholds_of(puzzle.value(), launch);
    CHECK(all.time_us > t.bronze_us);
    CHECK(t.bronze_us > t.silver_us);
    CHECK(t.silver_us > t.gold_us);
    const PuzzleResult gold = judge_for(puzzle.value(), launch, t, player(puzzle.value(), {{"sms", 6}}));
    CHECK(gold.medal == Medal::gold);
    const auto with_grid = parse_puzzle("grid = \"1\"\n" + text, "step.toml");
    REQUIRE_FALSE(with_grid.ok());
    CHECK(with_grid.error().message.find("launches of its own") != std::string::npos);
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
    CHECK(refused("[cheat]\nwhat = ", "[cheat]\nfp32_latency = 12\nwhy = ").find("unknown figure 'why'") == 0);
    CHECK(refused("[cheat]\nwhat = ", "[cheat]\nwhat = 7 # ").find("'what' is a text") == 0);
    CHECK(refused("grid = \"256\"", "").find("the puzzle lacks 'grid'") == 0);
}

}  // namespace lessons_puzzle_test
