// Two runs beside each other, the occupancy calculator, resident warps, and the sums behind "whole".
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/sm/resident_warps.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/compare_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "tests/catch.h"
#include "tests/gui/sm_desk.h"

namespace gui_compare_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

// A run with metrics of its own, by name.
std::shared_ptr<model::KernelRun> run_with(int64_t cycles,
                                           std::initializer_list<std::pair<std::string_view, double>> values) {
    auto run = std::make_shared<model::KernelRun>(*small_run({.cycles = cycles}));
    run->result.cycles = cycles;
    run->result.metrics.clear();
    for (const model::MetricRow& row : model::metric_rows())
        for (const auto& [name, value] : values)
            if (row.name == name) run->result.metrics.push_back({row.name, row.nsight, row.unit, value});
    return run;
}

const CompareRow* row_called(const std::vector<CompareRow>& rows, std::string_view label) {
    for (const CompareRow& row : rows)
        if (row.label == label) return &row;
    return nullptr;
}

}  // namespace

TEST_CASE("a change that is too small for a digit is not minus nothing") {
    const auto rows =
        compare_rows(*run_with(1000, {{"achieved_occupancy", 6.16}}), *run_with(1000, {{"achieved_occupancy", 6.13}}));
    const CompareRow* const row = row_called(rows, "achieved occupancy");
    REQUIRE(row != nullptr);
    CHECK(row->change == "-0.03 points");
    const auto same =
        compare_rows(*run_with(1000, {{"achieved_occupancy", 6.16}}), *run_with(1000, {{"achieved_occupancy", 6.159}}));
    CHECK(row_called(same, "achieved occupancy")->change == "same");
    CHECK(difference_of(*run_with(100000, {}), *run_with(100008, {}))
              .starts_with("B takes 100,008 cycles, 8 more than A (< 0.1 %)."));
}

TEST_CASE("quick sums of any window are the plain ones") {
    const Timeline timeline = make_timeline(small_run({.cycles = 30000}));
    REQUIRE(timeline.levels.front().bucket > 1);
    Rng rng(3);
    for (int i = 0; i < 60; ++i) {
        const auto begin = static_cast<int64_t>(rng.next() % 29000);
        const auto end = begin + 1 + static_cast<int64_t>(rng.next() % static_cast<uint64_t>(30000 - begin));
        const WindowSums plain = sum_window(timeline, begin, end), quick = quick_sums(timeline, begin, end);
        REQUIRE(quick.states == plain.states);
        REQUIRE(quick.issued == plain.issued);
        REQUIRE(quick.busy == plain.busy);
        REQUIRE(quick.slot_cycles == plain.slot_cycles);
        REQUIRE(quick.issue_slots == plain.issue_slots);
        REQUIRE(quick.begin == begin);
        REQUIRE(quick.end == end);
    }
    const WindowSums all = sum_window(timeline, 0, timeline.cycles);
    for (size_t s = 0; s < all.issued.size(); ++s)
        CHECK(issued_before(timeline, s, 1e9) == static_cast<double>(all.issued[s]));
}

TEST_CASE("a wait without a known cause still says why, and one that was not picked names who was") {
    const Timeline timeline = make_timeline(small_run({.cycles = 2000}));
    const KernelTrace& trace = timeline.trace();
    int named = 0, reasons = 0;
    for (uint32_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            const Wait wait = wait_of(timeline, w, run);
            REQUIRE_FALSE(wait.chip.empty());
            REQUIRE_FALSE(wait.sentence.empty());
            if (run.cause >= 0) continue;
            ++reasons;
            if (run.reason != StallReason::not_selected || !wait.cause) continue;
            ++named;
            REQUIRE(wait.cause->cycle == run.begin);
            REQUIRE(trace.warps[wait.cause->warp].scheduler == trace.warps[w].scheduler);
            REQUIRE(wait.cause->warp != w);
        }
    CHECK(reasons > 20);
    CHECK(named > 20);
}

TEST_CASE("runs are named by what tells them apart") {
    auto a = std::make_shared<model::KernelRun>(*small_run()), b = std::make_shared<model::KernelRun>(*small_run());
    b->result.occupancy = model::occupancy(b->gpu, 256, 24, 20736, 1);
    CHECK(names_of(*a, *b).a == "4 blocks an SM");
    CHECK(names_of(*a, *b).b == "1 block an SM");
    b->gpu = model::gpu_named("a100").value();
    CHECK(names_of(*a, *b).b.find(std::string(b->gpu.title)) == 0);
    b = std::make_shared<model::KernelRun>(*a);
    CHECK(names_of(*a, *b).a == "rms_norm");
    b->program = small_program();
    CHECK(names_of(*a, *b).b == "rms_norm after the edit");
}

TEST_CASE("the table says how much each metric changed, shares in points") {
    const auto a =
        run_with(2000, {{"cycles", 2000}, {"achieved_occupancy", 40}, {"stall_long_scoreboard", 60}, {"l1_hit_rate", NAN}});
    const auto b = run_with(
        1500, {{"cycles", 1500}, {"achieved_occupancy", 52.5}, {"stall_long_scoreboard", 10}, {"l1_hit_rate", NAN}});
    const std::vector<CompareRow> rows = compare_rows(*a, *b);
    REQUIRE(row_called(rows, "cycles") != nullptr);
    CHECK(row_called(rows, "cycles")->change == "-25 %");
    REQUIRE(row_called(rows, "achieved occupancy") != nullptr);
    CHECK(row_called(rows, "achieved occupancy")->change == "+12.5 points");
    const CompareRow* global = row_called(rows, "long scoreboard");
    REQUIRE(global != nullptr);
    CHECK(global->state == StallReason::long_scoreboard);
    CHECK(global->change == "-50.0 points");
    CHECK(row_called(rows, "l1 hit rate") == nullptr);  // neither run has one
    const std::string same = " Both have the same kernel, GPU, blocks and threads a block.";
    CHECK(difference_of(*a, *b) == "B takes 1,500 cycles, 500 fewer than A (-25 %): 1.33 times as fast." + same);
    CHECK(difference_of(*b, *b) == "B takes 1,500 cycles, as many as A." + same);
}

TEST_CASE(
    "two runs are told as times as fast or as long, by time where the clocks differ, and with what is the same in both") {
    const auto a = std::make_shared<model::KernelRun>(*run_with(2000, {})),
               b = std::make_shared<model::KernelRun>(*run_with(1000, {}));
    CHECK(factor_of(*a, *b) == "2 times as fast");
    CHECK(factor_of(*b, *a) == "2 times as long");
    CHECK(factor_of(*a, *a).empty());
    b->config.block.x *= 2;
    b->gpu = model::gpu_named("p100").value();
    b->gpu.boost_mhz.value = 2 * a->gpu.boost_mhz;
    a->result.time_us = 20, b->result.time_us = 5;
    CHECK(factor_of(*a, *b) == "4 times as fast");
    CHECK(difference_of(*a, *b).ends_with(": 4 times as fast. Both have the same kernel and blocks."));
    b->result.fault = simt::Fault{};
    CHECK(factor_of(*a, *b).empty());
}

TEST_CASE("the table leads from the warps that a scheduler can hold to those selected, each at most the one before") {
    const auto a = run_with(
        2000, {{"theoretical_occupancy", 50}, {"active_warps", 6}, {"eligible_warps", 0.9}, {"issued_per_scheduler", 0.6}});
    double before = INFINITY;
    int steps = 0;
    for (const CompareRow& row : compare_rows(*a, *a)) {
        if (!row.chain) continue;
        CHECK(row.a <= before);
        before = row.a;
        ++steps;
    }
    CHECK(steps == 5);
    CHECK(row_called(compare_rows(*a, *a), "it can hold")->a == 16);
    CHECK(row_called(compare_rows(*a, *a), "fit at once (theoretical)")->a == 8);
}

TEST_CASE("runs that fit more blocks than the grid has are not told apart by that") {
    const auto a = std::make_shared<model::KernelRun>(*small_run()), b = std::make_shared<model::KernelRun>(*small_run());
    a->config.grid = b->config.grid = {1, 1, 1};
    b->program = a->program;
    b->result.occupancy = model::occupancy(b->gpu, 256, 24, 20736, 2);
    REQUIRE(a->result.occupancy.blocks != b->result.occupancy.blocks);
    CHECK(names_of(*a, *b).a == "rms_norm");
}

TEST_CASE("issue slots used are kept for each number of resident warps of one launch") {
    const auto full = run_with(2000, {{"issue_slot_utilization", 30}}),
               half = run_with(2000, {{"issue_slot_utilization", 20}});
    half->result.occupancy = model::occupancy(half->gpu, 256, 24, 20736, 2);
    IssueTrail trail;
    trail.adopt(full);
    trail.adopt(half);
    trail.adopt(half);
    CHECK(trail.used() == std::map<uint32_t, double>{{16, 20}, {32, 30}});
    const auto other = run_with(2000, {{"issue_slot_utilization", 10}});
    other->config.grid = {7, 1, 1};
    trail.adopt(other);  // another launch begins anew
    CHECK(trail.used().size() == 1);
}

TEST_CASE("resident warps say what keeps more out") {
    auto run = std::make_shared<model::KernelRun>(*small_run());
    CHECK(resident_of(*run).number(4) == "8 of 16");
    CHECK(resident_of(*run).most == 4);  // 20,736 B of 96 KiB
    CHECK(resident_of(*run).why == "(shared memory allows no more)");
    run->result.occupancy = model::occupancy(run->gpu, 256, 24, 20736, 2);
    CHECK(resident_of(*run).blocks == 2);
    CHECK(resident_of(*run).most == 4);
    CHECK(resident_of(*run).why == "(your limit: 8 would fit)");
    run->config.grid = {80, 1, 1};
    CHECK(resident_of(*run).most == 1);
}

TEST_CASE("C keeps a run as A; both stand on one axis; C again ends it") {
    SmDesk desk(Workspace::sm);
    const auto key = [&](char c) {
        desk.input.mouse_x = 500;
        desk.input.mouse_y = 300;
        desk.input.keys.push_back({static_cast<KeyCode>(c), false, false});
        desk.frame();
        desk.frame();
    };
    const auto a = desk.session.snapshot()->kernel.run;
    key('C');
    CHECK(desk.session.sm.pinned == a);
    CHECK(desk.session.sm.page == SmPage::compare);
    CHECK(desk.shell.describe("compare").find("A and B are the same run") != std::string::npos);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->kernel.run = small_run({.cycles = 1200, .seed = 9});
    desk.session.publish_for_test(snapshot);
    for (int i = 0; i < 3; ++i) desk.frame();
    CHECK(desk.quads < 8000);
    CHECK(desk.shell.describe("compare").find("1,800 fewer than A") != std::string::npos);
    const auto white = [&](float x, float y) {  // corners of the double outline around what the pointer is on
        desk.input.mouse_x = x;
        desk.input.mouse_y = y;
        desk.frame();
        int count = 0;
        const ImDrawData* drawn = ImGui::GetDrawData();
        for (int l = 0; l < drawn->CmdListsCount; ++l)
            for (const ImDrawVert& v : drawn->CmdLists[l]->VtxBuffer)
                count += v.col == gui::data::white && std::abs(v.pos.y - y) < 30;
        return count;
    };
    int outlined = 0;
    for (float y = 160; y < 700; y += 20) outlined += white(300, y) > white(2, y);
    CHECK(outlined > 3);
    desk.click(400, 500);
    CHECK(desk.shell.focus.time < 1200);
    key('C');
    CHECK(desk.session.sm.pinned == nullptr);
    CHECK(desk.session.sm.page == SmPage::one_run);
}

TEST_CASE("V switches the numbers between the cycles in view and the whole kernel") {
    SmDesk desk(Workspace::sm);
    const std::string in_view = desk.shell.describe("warps"), waits = desk.shell.describe("code");
    CHECK(waits.find("Warps in view spent") != std::string::npos);
    desk.input.mouse_x = 500;
    desk.input.mouse_y = 300;
    desk.input.keys.push_back({static_cast<KeyCode>('V'), false, false});
    desk.frame();
    CHECK(desk.session.sm.whole);
    const std::string whole = desk.shell.describe("warps");
    CHECK(whole != in_view);
    CHECK(whole.find("Whole kernel: ") != std::string::npos);
    CHECK(desk.shell.describe("code") != waits);  // the instructions' waits follow the same switch
    CHECK(desk.shell.describe("code").find("In the whole kernel this SM's warps spent") != std::string::npos);
}

TEST_CASE("Enter goes to what a warp waits for, and back") {
    SmDesk desk(Workspace::sm);
    const KernelTrace& trace = desk.trace();
    const auto enter = [&] {
        desk.input.mouse_x = 500;
        desk.input.mouse_y = 300;
        desk.input.keys.push_back({KeyCode::enter, false, false});
        desk.frame();
    };
    for (uint32_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            if (run.cause < 0 || run.end - run.begin < 20 || run.begin < desk.session.sm.cycles_begin) continue;
            desk.shell.focus.warp = static_cast<int32_t>(w);
            desk.shell.focus.time = run.begin + 3;
            desk.frame();
            enter();
            CHECK(desk.shell.focus.time == trace.issues[static_cast<size_t>(run.cause)].cycle);
            enter();
            CHECK(desk.shell.focus.time == run.begin + 3);
            CHECK(desk.shell.focus.warp == static_cast<int32_t>(w));
            return;
        }
    FAIL("the scene has no long wait with a cause");
}

TEST_CASE("the occupancy calculator starts from the kernel on show and says what the command says") {
    SmDesk desk(Workspace::sm);
    const std::string text = desk.shell.describe("occupancy");
    CHECK(text.find("256 threads a block, 24 registers a thread, 20736 B") != std::string::npos);
    CHECK(text.find("Shared memory stops at 4 blocks of 8 warps: 32 of 64 warps, occupancy 50 %.") != std::string::npos);
    desk.session.sm.page = SmPage::occupancy;
    desk.frame();
    desk.click(1375, 137);  // the first slider, threads a block
    CHECK(desk.shell.describe("occupancy") != text);
    CHECK(desk.quads < 8000);
}

TEST_CASE("the legend stays in small windows with large text") {
    for (const auto& [width, height, scale] :
         {std::tuple<float, float, float>{1280, 720, 2}, {1600, 1000, 2}, {1280, 720, 1}}) {
        SmDesk desk(Workspace::sm);
        desk.size(width, height, scale);
        int green = 0;  // text quads are not told apart: the legend's swatch is the only wide green box below the rows
        for (int i = 0; i < 3; ++i) desk.frame();
        const ImDrawData* drawn = ImGui::GetDrawData();
        for (int l = 0; l < drawn->CmdListsCount; ++l)
            for (const ImDrawVert& v : drawn->CmdLists[l]->VtxBuffer)
                green += v.col == gui::data::green && v.pos.y > height * 0.5f && v.pos.x < 0.07f * width;
        INFO(width << " x " << height << " at " << scale);
        CHECK(green >= 4);
    }
}

TEST_CASE("the worker runs the kernel on show again with fewer resident blocks, and with all of them") {
    Session session({.lesson = "A05", .lesson_step = 4});
    REQUIRE(session.wait_until_idle(120));
    const std::string funnel = view_named("funnel")->make()->describe(session, {});  // of both runs, stage by stage
    INFO(funnel);
    CHECK(funnel.find("can hold: 16\n  fit at once: 16; as many as it can hold\n  active: 13.9") != std::string::npos);
    CHECK(funnel.find("of them: long scoreboard") != std::string::npos);
    CHECK(funnel.find("beside it: 16 2 1.98 ") != std::string::npos);
    const auto all = session.snapshot()->kernel.run;
    REQUIRE(all);
    REQUIRE(session.snapshot()->kernel.other);  // the lesson names a scene to compare with
    CHECK(session.snapshot()->kernel.other != all);
    CHECK(all->result.occupancy.blocks == 8);
    session.post(ask::LimitBlocks{1});
    REQUIRE(session.wait_until_idle(120));
    const auto one = session.snapshot()->kernel.run;
    CHECK(one->result.occupancy.blocks == 1);
    CHECK(one->result.occupancy.limiter == "your limit");
    CHECK(5 * one->result.cycles > 6 * all->result.cycles);
    CHECK(one->result.warp_instructions == all->result.warp_instructions);
    session.post(ask::TraceSm{2, 100});  // the same launch, seen elsewhere
    REQUIRE(session.wait_until_idle(120));
    const auto elsewhere = session.snapshot()->kernel.run;
    CHECK(elsewhere->result.trace.sm == 2);
    CHECK(elsewhere->result.trace.cycles == one->result.cycles);
    CHECK(most_at_once(elsewhere->result.trace) == 1);
    session.post(ask::LimitBlocks{0});
    REQUIRE(session.wait_until_idle(120));
    CHECK(session.snapshot()->kernel.run->result.cycles == all->result.cycles);
    CHECK(session.snapshot()->kernel.run->result.occupancy.blocks == 8);
}

}  // namespace gui_compare_test
