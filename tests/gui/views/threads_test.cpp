// The threads of a launch as the picture places them, against the definition of blockIdx, threadIdx and warps.
#include <algorithm>
#include <set>

#include "app/gui/shell/layout.h"
#include "app/gui/views/sm/threads_data.h"
#include "core/base/rng.h"
#include "tests/gui/desk.h"
#include "tests/gui/sm_scene.h"

namespace gui_threads_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {
simt::LaunchConfig launch(simt::Dim3 grid, simt::Dim3 block) {
    simt::LaunchConfig config;
    config.grid = grid;
    config.block = block;
    return config;
}
simt::Dim3 random_extent(Rng& rng, uint64_t x, uint64_t y, uint64_t z) {
    return {static_cast<uint32_t>(1 + rng.next() % x), static_cast<uint32_t>(1 + rng.next() % y),
            static_cast<uint32_t>(1 + rng.next() % z)};
}
}  // namespace

TEST_CASE("every thread of a block has one place, one warp and one cell") {
    Rng rng(5);
    for (int round = 0; round < 200; ++round) {
        const auto config = launch(random_extent(rng, 9, 3, 2), random_extent(rng, 70, 5, 3));
        const uint64_t threads = config.block.count();
        std::set<std::tuple<uint32_t, uint32_t, uint32_t>> places;
        std::set<std::pair<uint64_t, uint64_t>> cells;
        std::vector<uint64_t> in_warp(warps_in_block(config), 0);
        const Cell extent = cells_of(config);
        for (uint64_t linear = 0; linear < threads; ++linear) {
            const ThreadPlace t = thread_at(config, config.grid.count() - 1, linear);
            CHECK(t.thread.x + config.block.x * (t.thread.y + config.block.y * t.thread.z) == linear);
            CHECK(t.warp * 32 + t.lane == linear);
            REQUIRE(t.warp < in_warp.size());
            ++in_warp[t.warp];
            places.emplace(t.thread.x, t.thread.y, t.thread.z);
            const Cell cell = cell_of(config, linear);
            CHECK(cell.column < extent.column);
            CHECK(cell.row < extent.row);
            cells.emplace(cell.column, cell.row);
        }
        CHECK(places.size() == threads);
        CHECK(cells.size() == threads);
        for (uint64_t warp = 0; warp < in_warp.size(); ++warp) CHECK(in_warp[warp] == threads_in_warp(config, warp));
        CHECK(threads_in_warp(config, in_warp.size()) == 0);
    }
}

TEST_CASE("a warp never spans blocks: two blocks of twelve threads are two warps with twelve lanes each") {
    const auto config = launch({2, 1, 1}, {12, 1, 1});
    CHECK(warps_in_block(config) == 1);
    CHECK(threads_in_warp(config, 0) == 12);
    CHECK(thread_at(config, 1, 0).warp == 0);
    CHECK(launch_sentence(config) == "2 blocks of 12 threads: 24 threads in 2 warps, each with 12 of its 32 lanes in use.");
    CHECK(launch_sentence(launch({3, 1, 1}, {40, 1, 1})) ==
          "3 blocks of 40 threads: 120 threads in 6 warps, the last of each block with 8 of its 32 lanes in use.");
    CHECK(launch_sentence(launch({1, 1, 1}, {32, 1, 1})) == "One block of 32 threads in 1 warp, all 32 lanes in use.");
}

TEST_CASE("the threads of a whole line of blocks count on without a gap") {
    const auto config = launch({7, 1, 1}, {12, 1, 1});
    uint64_t next = 0;
    for (uint64_t block = 0; block < 7; ++block)
        for (uint64_t linear = 0; linear < 12; ++linear)
            CHECK(label_of(config, thread_at(config, block, linear)) == std::to_string(next++));
    const auto formulas = formulas_of(config, thread_at(config, 1, 3));
    REQUIRE(formulas.size() == 1);
    CHECK(formulas[0].name == "i");
    CHECK(formulas[0].numbers == "1 * 12 + 3 = 15");
    CHECK(label_of(config, thread_at(config, 1, 3), true) == "3");
    CHECK(formulas_of(config, thread_at(config, 1, 3), {.index = false}).front().name == "thread");
    const auto rows = formulas_of(config, thread_at(config, 1, 3), {.rows = true});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].numbers == "0 * 1 + 0 = 0");
    CHECK(rows[1].numbers == "1 * 12 + 3 = 15");
}

TEST_CASE("threads of a sheet are named by row and column of the whole grid") {
    const auto config = launch({3, 2, 1}, {8, 4, 1});
    const ThreadPlace t = thread_at(config, 4, 17);  // block (1, 1), thread (1, 2)
    CHECK(block_text(config, t) == "blockIdx = (1, 1)");
    CHECK(label_of(config, t) == "6,9");
    CHECK(label_of(config, t, true) == "2,1");
    const auto formulas = formulas_of(config, t);
    REQUIRE(formulas.size() == 2);
    CHECK(formulas[0].numbers == "1 * 4 + 2 = 6");
    CHECK(formulas[1].numbers == "1 * 8 + 1 = 9");
}

TEST_CASE("a thread's state is known for the recorded warp alone") {
    const auto history = test::even_odd_history();
    const auto program = test::small_program();
    const auto config = launch({2, 1, 1}, {64, 1, 1});
    CHECK(state_of(*program, *history, 4, thread_at(config, 0, 0)) == ThreadState::runs);
    CHECK(state_of(*program, *history, 4, thread_at(config, 0, 1)) == ThreadState::waits);
    CHECK(state_of(*program, *history, 6, thread_at(config, 0, 0)) == ThreadState::waits);
    CHECK(state_of(*program, *history, 4, thread_at(config, 0, 32)) == ThreadState::unknown);
    CHECK(state_of(*program, *history, 4, thread_at(config, 1, 0)) == ThreadState::unknown);
    CHECK(state_of(*program, *history, 999, thread_at(config, 0, 0)) == ThreadState::unknown);
    simt::WarpHistory leaving = *history;
    leaving.steps[9].active = 0x0000ffffu;
    leaving.steps[9].exited = 0xffff0000u;
    CHECK(state_of(*program, leaving, 9, thread_at(config, 0, 16)) == ThreadState::exited);
}

TEST_CASE("an element is named by its array, and past the end it says so") {
    auto run = std::make_shared<model::KernelRun>(*test::small_run({.sms = 2, .blocks = 4, .cycles = 60}));
    auto program = std::make_shared<ptx::Program>(*run->program);
    ptx::DecodedInstruction& load = program->instructions[1];
    load.space = ptx::Space::global;
    load.address = 256;
    run->program = program;
    auto memory = std::make_shared<simt::Memory>();
    const uint64_t a = memory->allocate(80, "a");
    run->before = memory;
    std::vector<simt::LaneValues> lanes(1);
    lanes[0].reg = {"%rd1", ptx::Type::b64, 256};
    for (uint64_t lane = 0; lane < 32; ++lane) lanes[0].bits[lane] = a + 4 * (lane + 12);
    const simt::WarpStep step{1, 0xfffu, 0xfffu, 0, {}};
    CHECK(touched_by(*run, step, lanes, 3) == "loads a[15]");
    CHECK(touched_by(*run, step, lanes, 8) == "loads a[20], past its end (20 elements)");
    CHECK(touched_by(*run, step, lanes, 12).empty());  // this lane is off
    CHECK(touched_by(*run, {0, 0xfffu, 0xfffu, 0, {}}, lanes, 3).empty());
    CHECK(touched_by(*run, step, {}, 3).empty());
}

TEST_CASE("in a real launch, thread i of all threads touches element i") {
    Session session({.lesson = "A02"});  // c[i] = a[i] + b[i], two blocks of four threads
    REQUIRE(session.wait_until_idle(60));
    Focus focus;
    session.adopt_results(focus);
    const auto opened = session.snapshot();
    REQUIRE(opened->kernel.run);
    std::vector<std::string> arrays;
    for (size_t block = 0; block < 2; ++block) {
        session.post(ask::FocusWarp{track_of(opened->kernel.run->result.trace, block, 0)});
        REQUIRE(session.wait_until_idle(20));
        const auto history = session.snapshot()->kernel.history;
        REQUIRE(history);
        CHECK(history->block == block);
        for (size_t step = 0; step < history->steps.size(); ++step) {
            const auto& instruction = opened->kernel.run->program->instructions[history->steps[step].pc];
            if (instruction.space != ptx::Space::global) continue;
            session.post(ask::LanesAt{static_cast<int64_t>(step)});
            REQUIRE(session.wait_until_idle(20));
            const auto snapshot = session.snapshot();
            REQUIRE(snapshot->kernel.lanes_step == static_cast<int64_t>(step));
            for (uint32_t lane = 0; lane < 4; ++lane) {
                const std::string touched =
                    touched_by(*opened->kernel.run, history->steps[step], *snapshot->kernel.lanes, lane);
                const std::string element = "[" + std::to_string(4 * block + lane) + "]";
                REQUIRE(touched.size() > element.size());
                CHECK(touched.substr(touched.size() - element.size()) == element);
                if (lane == 0) arrays.push_back(touched.substr(0, touched.find('[')));
            }
        }
    }
    REQUIRE(arrays.size() == 6);
    std::sort(arrays.begin(), arrays.end());
    CHECK(arrays == std::vector<std::string>{"loads a", "loads a", "loads b", "loads b", "stores c", "stores c"});
}

TEST_CASE("while a prediction is open, the picture says neither the index nor what a thread does") {
    Session session({.start = false});
    auto run = std::make_shared<model::KernelRun>(*test::small_run({.sms = 2, .blocks = 4, .cycles = 200}));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    snapshot->kernel.history = test::even_odd_history();
    session.publish_for_test(snapshot);
    session.sm.history_step = 4;
    Focus focus;
    focus.warp = 0;
    focus.lane = 3;
    std::unique_ptr<View> view;
    for (const ViewRow& row : views())
        if (row.name == "threads") view = row.make();
    REQUIRE(view);
    const std::string open = view->describe(session, focus);
    CHECK(open.find("waits on another path") != std::string::npos);
    CHECK(open.find("+ 3 = 3") != std::string::npos);
    for (const int64_t revealed : {0, 5, 8}) {
        session.learn.reveal_steps = revealed;
        const std::string hidden = view->describe(session, focus);
        CHECK(hidden.find("waits") == std::string::npos);
        CHECK(hidden.find("run") == std::string::npos);
        CHECK(hidden.find("+ 3 = ") == std::string::npos);
        CHECK(hidden.find("until you lock an answer") != std::string::npos);
    }
}

TEST_CASE("the launch stands beside the source in scenes that show it") {
    const Arrangement plan =
        arrange(scene_named(Workspace::learn, "threads").tree, {8, 52, 1584, 884}, [](const std::string&) { return 0; });
    std::set<std::string_view> shown;
    for (const Placed& panel : plan.panels) shown.insert(panel.view);
    CHECK(shown == std::set<std::string_view>{"lesson", "source", "threads", "divergence"});
}

TEST_CASE("a click on a thread focuses its block, warp and lane, whatever the launch, within the quad budget") {
    for (const auto& [grid, block] : {std::pair<simt::Dim3, simt::Dim3>{{4, 1, 1}, {96, 1, 1}},
                                      {{400, 1, 1}, {1024, 1, 1}},
                                      {{3, 2, 1}, {12, 7, 1}},
                                      {{2, 2, 2}, {4, 4, 4}}})
        for (const float scale : {0.75f, 1.0f, 2.5f}) {
            auto run = std::make_shared<model::KernelRun>(*test::small_run({.sms = 2, .blocks = 4, .cycles = 60}));
            run->config.grid = grid;
            run->config.block = block;
            auto& warps = run->result.trace.warps;
            warps.resize(2 * warps_in_block(run->config));  // of the first two blocks
            for (size_t i = 0; i < warps.size(); ++i) {
                warps[i].block = static_cast<uint32_t>(i / warps_in_block(run->config));
                warps[i].warp_in_block = static_cast<uint32_t>(i % warps_in_block(run->config));
            }
            auto snapshot = std::make_shared<Snapshot>();
            snapshot->kernel.run = run;
            snapshot->kernel.history = test::even_odd_history();
            test::Desk desk({.start = false}, "light", scale);
            desk.session.sm.history_step = 4;
            REQUIRE(desk.shell.show_alone("threads"));
            desk.show(snapshot);
            std::set<std::pair<int32_t, int32_t>> picked;
            for (float y = 90 * scale; y < 1000 - 64 * scale;
                 y += sanitized ? 51 : 17)  // below the header, above the transport
                for (float x = 30; x < 1570; x += 61) {
                    desk.input.mouse_x = x;
                    desk.input.mouse_y = y;
                    desk.input.clicked = desk.input.down = true;
                    desk.frame();
                    REQUIRE(desk.quads <= 8000);
                    const Focus& focus = desk.shell.focus;
                    if (focus.lane < 0) continue;
                    REQUIRE(focus.warp >= 0);
                    REQUIRE(static_cast<size_t>(focus.warp) < warps.size());
                    CHECK(static_cast<uint64_t>(focus.lane) < std::max<uint64_t>(1, std::min<uint64_t>(32, block.count())));
                    CHECK(static_cast<uint64_t>(focus.block) < grid.count());
                    picked.emplace(focus.warp, focus.lane);
                }
            INFO(block.x << " by " << block.y << " by " << block.z << " at " << scale);
            CHECK(picked.size() >= 3);
        }
}

}  // namespace gui_threads_test
