// Paths of lanes, and blocks on SMs, against figures worked out by hand.
#include <cstring>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/sm/fragments_data.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "core/simt/launch.h"
#include "tests/catch.h"
#include "tests/gui/sm_desk.h"

namespace gui_sm_lanes_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("lanes are named by what they have in common") {
    CHECK(lanes_text(0xffffffffu) == "all 32 lanes");
    CHECK(lanes_text(0x55555555u) == "even lanes");
    CHECK(lanes_text(0xaaaaaaaau) == "odd lanes");
    CHECK(lanes_text(0x000000ffu) == "lanes 0 to 7");
    CHECK(lanes_text(0x80000000u) == "lane 31");
    CHECK(lanes_text(0x88888888u) == "lanes 3, 7, 11 ...");
    CHECK(lanes_text(0x08888888u) == "7 lanes");
    CHECK(lanes_text(0x0000f00fu) == "8 lanes");
    const auto path = [](std::vector<uint32_t> masks) { return lanes_of_path(masks); };
    CHECK(path({0x55555555u, 0x55555555u}) == "even lanes");
    CHECK(path({0x55555555u, 0x11111111u, 0x01010101u}) == "some lanes (16, 8, 4)");  // a tree that halves
    CHECK(path({0xffffu, 0xffu, 0xfu, 0x3u, 0x1u}) == "some lanes (16, 8, 4 ...)");
    CHECK(path({0xffu, 0xff00u}) == "lanes 0 to 15, on several paths");
}

TEST_CASE("both sides of a branch together are the lanes that met it") {
    const auto history = even_odd_history();
    const auto& steps = history->steps;
    CHECK((steps[4].active | steps[6].active) == 0xffffffffu);
    CHECK((steps[4].active & steps[6].active) == 0);
    CHECK(path_of_lane(steps[4], 0) == 2);
    CHECK(path_of_lane(steps[4], 1) == 1);
    CHECK(path_of_lane(steps[6], 0) == 0);
    CHECK(path_code(1).hatch != path_code(2).hatch);
}

TEST_CASE("even lanes are solid and odd ones hatched, whichever side of the branch runs first") {
    for (const bool even_first : {true, false}) {
        simt::WarpHistory history = *even_odd_history();
        if (!even_first)
            for (simt::WarpStep& step : history.steps)
                for (simt::StackEntry& entry : step.stack)
                    if (entry.mask != 0xffffffffu) entry.mask = ~entry.mask;
        simt::number_paths(history);
        INFO(even_first);
        CHECK(path_code(static_cast<size_t>(path_of_lane(history.steps[4], 0))).hatch == Hatch::solid);
        CHECK(path_code(static_cast<size_t>(path_of_lane(history.steps[4], 1))).hatch == Hatch::diagonal);
        const LaneSums sums = sum_lanes(history, 2, 8);
        CHECK(sums.order == (even_first ? std::vector<size_t>{0, 2, 1} : std::vector<size_t>{0, 1, 2}));
    }
}

TEST_CASE("the average counts from the branch that splits the warp on") {
    const auto history = even_odd_history();
    CHECK(counting_from(*history) == 3);
    const LaneSums sums = sum_lanes(*history, 2, 8);
    CHECK(sums.issues == 6);
    CHECK(sums.lanes == 2 * 32 + 4 * 16);
    CHECK(sums.partial == 4);
    CHECK(sums.average() == Approx(128.0 / 6));
    REQUIRE(sums.by_path.size() == 3);
    CHECK(sums.by_path[0] == 64);
    CHECK(sums.by_path[1] == 32);
    CHECK(sums.by_path[2] == 32);
    simt::WarpHistory straight;
    for (uint32_t pc = 0; pc < 5; ++pc)
        straight.steps.push_back({pc, 0xffffffffu, 0xffffffffu, 0, {{pc, ptx::no_pc, 0xffffffffu}}});
    CHECK(counting_from(straight) == 0);
}

TEST_CASE("the ghost card is the path that left the stack last") {
    const auto history = even_odd_history();
    CHECK_FALSE(last_popped(*history, 5).any);
    const Popped even = last_popped(*history, 7);
    CHECK(even.any);
    CHECK(even.after == 5);
    CHECK(even.entry.mask == 0x55555555u);
    const Popped odd = last_popped(*history, 9);
    CHECK(odd.entry.mask == 0xaaaaaaaau);
    CHECK(odd.after == 7);
}

TEST_CASE("paths are a stack before Volta and stand at convergence barriers since, and each can be seen as the other") {
    SmDesk desk(Workspace::learn);
    const auto on = [&](const char* gpu, int64_t step) {
        auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
        auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
        run->gpu = model::gpu_named(gpu).value();
        snapshot->kernel.run = run;
        desk.show(snapshot);
        desk.session.grain = Grain::instruction;
        desk.session.sm.history_step = step;
        return desk.shell.describe("stack");
    };
    const std::string stack = on("p100", 4);
    INFO(stack);
    CHECK(stack.find("Reconvergence stack (simulated)") == 0);
    CHECK(stack.find("even lanes (top, running)") != std::string::npos);
    CHECK(stack.find("odd lanes (waiting)") != std::string::npos);
    const std::string first = on("v100", 4), second = on("v100", 6), third = on("v100", 9);
    INFO(first << second << third);
    CHECK(first.find("Convergence barriers (derived)") == 0);
    CHECK(first.find("even lanes (running)") != std::string::npos);
    CHECK(first.find("odd lanes (ready to run)") != std::string::npos);
    CHECK(first.find("(0 of 32 lanes wait here)") != std::string::npos);
    CHECK(second.find("(16 of 32 lanes wait here)") != std::string::npos);  // the even lanes have come
    CHECK(second.find("odd lanes still on their way") != std::string::npos);
    CHECK(third.find("wait here") == std::string::npos);
    desk.frame();
    REQUIRE(desk.click_on("pre-Volta stack"));
    CHECK(on("v100", 4).find("Reconvergence stack") == 0);
    CHECK(desk.shows("itself has independent threads"));
    REQUIRE(desk.click_on("independent threads"));
    CHECK(on("p100", 4).find("Convergence barriers") == 0);
    desk.frames(12);  // slid in
    CHECK_FALSE(desk.shell.state.animate);
}

TEST_CASE("however low, Blocks on SMs says its waves and what limits them, and nothing lies on anything") {
    SmDesk desk(Workspace::sm);
    REQUIRE(desk.shell.show_alone("blocks"));
    for (float height = 340; height < 620; height += 13) {
        desk.size(760, height, 1);
        desk.frames(2);
        INFO(height);
        CHECK(desk.shows("limiter"));
        CHECK(desk.shows("efficiency "));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("986 blocks on 80 SMs, 4 at a time, are 3.08 waves with 77 % efficiency") {
    const WaveFacts facts = wave_facts(986, 80, 4);
    CHECK(facts.waves == 4);
    CHECK(facts.exact == Approx(3.08125));
    CHECK(facts.last_share == Approx(26.0 / 320));
    CHECK(facts.efficiency == Approx(986.0 / 1280));
    const WaveFacts one = wave_facts(1, 1, 1);
    CHECK(one.waves == 1);
    CHECK(one.efficiency == Approx(1));
    CHECK(wave_facts(0, 80, 4).waves == 0);
    CHECK(wave_facts(10, 0, 0).waves == 0);
}

TEST_CASE("at every cycle each block is done, running or to come") {
    const auto run = small_run({.blocks = 300, .cycles = 4000});
    const WaveFacts facts = wave_facts(300, 80, 4);
    for (int64_t cycle : {0, 100, 700, 1500, 3999}) {
        int64_t all = 0;
        for (const BlockCounts& wave : count_blocks(run->result.trace, facts, cycle))
            all += wave.done + wave.running + wave.to_come;
        int64_t inside = 0;
        for (const BlockRun& block : run->result.trace.blocks) inside += block.block < 4 * 80;
        CHECK(all == inside);
    }
}

TEST_CASE("paths that run one after the other at one depth are told apart from one path in the legend") {
    SmDesk desk(Workspace::learn);
    desk.shell.show_alone("divergence");
    desk.session.grain = Grain::instruction;
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    const auto legend_after = [&](uint32_t first, uint32_t second) {
        auto history = std::make_shared<simt::WarpHistory>(*even_odd_history());
        const simt::StackEntry both{8, ptx::no_pc, simt::full_mask};
        history->steps.resize(4);
        for (const auto& [pc, mask] : {std::pair<uint32_t, uint32_t>{4, first}, {5, second}})
            history->steps.push_back({pc, mask, mask, 0, {both, {pc, 8, mask}}});
        snapshot->kernel.history = history;
        desk.session.sm.history_step = 5;
        desk.show(snapshot);
        return desk.shows("lanes 0 to 15, on several paths") ? "several" : desk.shows("some lanes (16, 8)") ? "one" : "none";
    };
    CHECK(std::string(legend_after(0xffff, 0xff)) == "one");  // a loop that lanes leave
    CHECK(std::string(legend_after(0xff, 0xff00)) == "several");
    desk.size(1280, 720, 2);  // a low panel keeps the legend
    CHECK(std::string(legend_after(0xff, 0xff00)) == "several");
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("instructions that are still to come can be read: only their squares are faint") {
    SmDesk desk(Workspace::learn);
    desk.shell.show_alone("divergence");
    desk.session.grain = Grain::instruction;
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->kernel.history = even_odd_history();
    desk.session.sm.history_step = 1;
    desk.show(snapshot);
    int rows = 0;
    for (const UiState::Written& text : desk.written) {
        if (!text.text.ends_with("/32")) continue;
        ++rows;
        CHECK(text.opacity == 1);
    }
    CHECK(rows > 3);
}

TEST_CASE("a limit chosen by hand is one: it stops") {
    SmDesk desk(Workspace::sm);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
    run->result.occupancy = model::occupancy(run->gpu, 256, 24, 20736, 2);
    snapshot->kernel.run = run;
    desk.show(snapshot);
    CHECK(desk.shell.describe("blocks").find("Your limit stops at 2 blocks") != std::string::npos);
}

TEST_CASE("exactly one limit is named, and it is the least") {
    const auto run = small_run();
    const auto rows = limiter_rows(*run);
    REQUIRE(rows.size() == 4);
    int named = 0;
    for (const LimiterRow& row : rows) {
        named += row.limiter;
        if (!row.limiter) continue;
        CHECK(row.name == "shared memory");
        for (const LimiterRow& other : rows) CHECK(row.blocks <= other.blocks);
        CHECK(row.each == "20,736 of 98,304 B a block");
    }
    CHECK(named == 1);
}

TEST_CASE("limits that bind alike are all named") {
    // 416 threads are 13 warps, and 26 registers a thread 13,312 a block: of either four fit on an SM of V100.
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    const auto rows = limiter_rows(model::occupancy_limits(gpu, 416, 26, 0));
    REQUIRE(model::occupancy(gpu, 416, 26, 0).blocks == 4);
    CHECK(limiter_names(rows) == "warps and registers");
    CHECK(limiter_names(limiter_rows(*small_run())) == "shared memory");
}

TEST_CASE("shared memory that a kernel does not use limits nothing") {
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    CHECK(limiter_names(limiter_rows(model::occupancy_limits(gpu, 32, 16, 0))) == "block slots");
    CHECK(limiter_names(limiter_rows(model::occupancy_limits(gpu, 32, 16, 32768))) == "shared memory");
}

TEST_CASE("source splits into lines whatever ends them") {
    const auto lines = lines_of("a\r\n\tb\nc");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "a");
    CHECK(lines[1] == "    b");
    CHECK(lines[2] == "c");
    CHECK(lines_of("").empty());
}

TEST_CASE("the owners of a product's elements are those that the machine's own lanes report") {
    // The kernel of lesson A13 reads its registers after ldmatrix and mma and writes each element's lane: D, A, B.
    const std::string path = "lessons/A13_tensor_cores/ptx/fragments.ptx";
    const ptx::Module module = ptx::parse(read_file(resource_root() / path).value(), path).value();
    const auto program = ptx::decode(module, std::string(module.entries.at(0).name)).value();
    simt::Memory memory;
    simt::LaunchConfig config{{1}, {32}, 0, std::vector<std::byte>(program->parameter_bytes)};
    uint64_t buffers[3];
    for (size_t i = 0; i < 3; ++i) {
        buffers[i] = memory.allocate(256 * 4, "owners");
        std::memcpy(config.parameters.data() + program->parameters[i].offset, &buffers[i], 8);
    }
    REQUIRE_FALSE(simt::launch(*program, config, memory).fault);
    const auto map = fragments_of(*program, 0);
    REQUIRE(map);
    CHECK(map->instruction.ends_with("m16n8k16"));
    const FragmentMatrix* matrices[] = {&map->d, &map->a, &map->b};
    for (size_t i = 0; i < 3; ++i) {
        INFO(matrices[i]->name);
        for (size_t e = 0; e < matrices[i]->owners.size(); ++e) {
            int lane = -1;
            std::memcpy(&lane, memory.read(buffers[i] + 4 * e, 4), 4);
            CHECK(matrices[i]->owners[e].lane == lane);
        }
    }
    CHECK(map->held_by(map->d, 5) == "row 1: columns 2, 3; row 9: columns 2, 3");
    CHECK(map->d.at(9, 3).word == 3);
    CHECK(map->a.at(1, 10).word == 2);
    using Registers = std::vector<std::pair<std::string, std::string>>;
    CHECK(map->registers_of(map->b, 5) == Registers{{"b0", "B[2][1] B[3][1]"}, {"b1", "B[10][1] B[11][1]"}});
    CHECK(map->registers_of(map->d, 5) ==
          Registers{{"d0", "D[1][2]"}, {"d1", "D[1][3]"}, {"d2", "D[9][2]"}, {"d3", "D[9][3]"}});
    CHECK(map->lanes_of_row(1) == std::vector<int>{4, 5, 6, 7});
    CHECK(map->lanes_of_column(2) == std::vector<int>{8, 9, 10, 11});
}

namespace {

// even_odd with nothing behind the branch but `ret`, which 20 of 32 lanes have gone to.
std::shared_ptr<Snapshot> with_early_return(const Snapshot& from) {
    auto program = std::make_shared<ptx::Program>(*small_program());
    program->instructions[8].kind = ptx::Kind::exit;
    auto run = std::make_shared<model::KernelRun>(*from.kernel.run);
    run->program = program;
    auto history = std::make_shared<simt::WarpHistory>();
    for (uint32_t pc = 0; pc < 4; ++pc)
        history->steps.push_back({pc, simt::full_mask, simt::full_mask, 0, {{pc, ptx::no_pc, simt::full_mask}}});
    for (uint32_t pc = 4; pc < 8; ++pc)
        history->steps.push_back({pc, 0xfff, 0xfff, 0, {{8, ptx::no_pc, simt::full_mask}, {pc, 8, 0xfff}}});
    auto snapshot = std::make_shared<Snapshot>(from);
    snapshot->kernel.run = run;
    snapshot->kernel.history = history;
    return snapshot;
}

}  // namespace

TEST_CASE("lanes that wait where only ret is left have returned, in the lanes' rows, in the legend and on the cards") {
    SmDesk desk(Workspace::learn);
    const auto snapshot = with_early_return(*desk.session.snapshot());
    const auto& steps = snapshot->kernel.history->steps;
    CHECK(returned_lanes(*snapshot->kernel.run->program, steps[5].stack) == ~0xfffu);
    CHECK(returned_lanes(*snapshot->kernel.run->program, steps[2].stack) == 0);
    CHECK(returned_lanes(*small_program(), steps[5].stack) == 0);  // something is left to do where they meet
    desk.session.grain = Grain::instruction;
    desk.session.sm.history_step = 5;
    desk.show(snapshot);
    desk.session.sm.history_step = 5;
    desk.frames(2);
    CHECK(desk.shell.describe("stack").find("(20 of 32 lanes have returned)") != std::string::npos);
    desk.shell.show_alone("divergence");
    desk.frames(2);
    CHECK(desk.shows("returned"));
    CHECK_FALSE(desk.shows("lane off: it waits for another path"));
}

TEST_CASE("one lane is counted as one lane") {
    SmDesk desk(Workspace::learn);
    auto history = std::make_shared<simt::WarpHistory>(*even_odd_history());
    for (simt::WarpStep& step : history->steps)
        for (simt::StackEntry& entry : step.stack) entry.mask &= 0xaaaaaaabu;  // of the even lanes only lane 0
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->kernel.history = history;
    desk.session.grain = Grain::instruction;
    desk.session.sm.history_step = 4;
    desk.show(snapshot);
    desk.session.sm.history_step = 4;
    const std::string text = desk.shell.describe("stack");
    INFO(text);
    CHECK(text.find(", 1 lane") != std::string::npos);
    CHECK(text.find("1 lanes") == std::string::npos);
}

TEST_CASE("of many waves the first, the last and those around the one that runs have a column") {
    std::vector<BlockCounts> waves(40, BlockCounts{.done = 10, .running = 0, .to_come = 0});
    waves[19].running = 3;
    CHECK(waves_shown(waves, 6) == std::vector<size_t>{0, 1, 18, 19, 20, 39});
    waves[19].running = 0;
    CHECK(waves_shown(waves, 6) == std::vector<size_t>{0, 1, 2, 3, 4, 39});
    waves[39].running = 1;
    CHECK(waves_shown(waves, 6) == std::vector<size_t>{0, 1, 2, 3, 38, 39});
    waves.resize(4);
    CHECK(waves_shown(waves, 6) == std::vector<size_t>{0, 1, 2, 3});
    CHECK(waves_shown({}, 6).empty());
}

TEST_CASE("short blocks that never fill an SM are said to be fewer than the limit") {
    KernelTrace trace;
    for (uint32_t block = 0; block < 40; ++block)  // one more every 10 cycles, each there for 25
        trace.blocks.push_back({block, static_cast<uint16_t>(block % 2), 0, 10 * block, 10 * block + 45});
    CHECK(most_at_once(trace) == 3);
    CHECK(most_at_once({}) == 0);
    SmDesk desk(Workspace::sm);
    CHECK(desk.shell.describe("blocks").find("at once: blocks start") == std::string::npos);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    auto run = std::make_shared<model::KernelRun>(*snapshot->kernel.run);
    run->result.trace.blocks = trace.blocks;
    snapshot->kernel.run = run;
    desk.show(snapshot);
    CHECK(desk.shell.describe("blocks").find("At most 3 were there at once: blocks start one a cycle.") !=
          std::string::npos);
}

}  // namespace gui_sm_lanes_test
