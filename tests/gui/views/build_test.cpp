// The Build workspace: what its pictures may not break (sums of areas, budgets, medals), handles that run designs, the way
// back, and files of designs.
#include <algorithm>
#include <filesystem>

#include "app/gui/desk/progress.h"
#include "app/gui/desk/puzzle_medals.h"
#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/die_life.h"
#include "app/gui/views/build/die_places.h"
#include "core/model/gpus/gpu_file.h"
#include "core/trace/machine_trace.h"
#include "tests/gui/build_window.h"

namespace gui_build_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("rows of the kit sum to their group, groups to the die, and the boxes of the die to both") {
    for (const auto& task : all_tasks())
        for (const lessons::Figures& figures : designs_of(*task)) {
            const model::GpuSpec gpu = task->design(figures);
            const model::AreaEstimate area = model::area_of(gpu, task->process);
            INFO(task->title << ", " << area.mm2 << " mm2");
            double whole = 0;
            std::vector<const lessons::Puzzle::Free*> handles;
            for (const KitGroup& group : kit_of(*task, gpu, area))
                for (const KitRow& row : group.rows)
                    if (row.free != nullptr) handles.push_back(row.free);
            CHECK(handles.size() == task->free.size());  // whatever is free has a handle
            for (const KitGroup& group : kit_of(*task, gpu, area)) {
                double mm2 = 0, watts = 0;
                for (const KitRow& row : group.rows) mm2 += row.mm2, watts += row.watts;
                CHECK(mm2 == Approx(group.mm2).epsilon(1e-9));
                CHECK(watts == Approx(group.watts).epsilon(1e-9));
                whole += group.mm2;
            }
            CHECK(whole == Approx(area.mm2).epsilon(1e-9));

            const DiePlaces places = places_of_die(gpu, area, task->most_mm2, {10, 20, 760, 420});
            const double px = area_of_box(places.die) / area.mm2;
            const auto sum = [](const std::vector<DieBox>& boxes) {
                double all = 0;
                for (const DieBox& box : boxes) all += area_of_box(box.box);
                return all;
            };
            CHECK(sum(places.sms) / px == Approx(area.of(model::PartGroup::sms)).epsilon(1e-3));
            CHECK(sum(places.l2) / px == Approx(area.of(model::PartGroup::l2)).epsilon(1e-3).margin(1e-3));
            CHECK(sum(places.channels) / px == Approx(area.of(model::PartGroup::memory)).epsilon(1e-3));
            CHECK(area_of_box(places.rest) / px == Approx(area.of(model::PartGroup::rest)).epsilon(1e-3));
            CHECK(places.sms.size() == gpu.sms.value);
            for (const DieBox& sm : places.sms)
                CHECK(area_of_box(sm.box) == Approx(area_of_box(places.sms.front().box)).epsilon(1e-3));
            CHECK((places.die.w <= places.outline.w + 0.01f));
            if (area.mm2 <= task->most_mm2)
                CHECK(places.die.w / places.outline.w == Approx(area.mm2 / task->most_mm2).epsilon(1e-4));
            double parts = 0;
            for (const TilePart& part : places.tile) parts += part.mm2 * double(gpu.sms.value);
            CHECK(parts == Approx(area.of(model::PartGroup::sms)).epsilon(1e-9));
        }
}

TEST_CASE("no design over the budget gets a medal, nor one with another latency, however fast it is") {
    const auto task = task_of_puzzle("02");
    const lessons::Thresholds slow{.bronze_us = 1e9, .silver_us = 1e8, .gold_us = 1e7};
    BuiltDesign start = built(*task, {});
    REQUIRE(start.ran());
    judge(*task, slow, start);
    CHECK(start.medal == lessons::Medal::gold);
    BuiltDesign wide = built(*task, {{"sms", 16}});
    REQUIRE(wide.ran());
    REQUIRE_FALSE(wide.within(*task));
    judge(*task, slow, wide);
    CHECK(wide.medal == lessons::Medal::none);
    CHECK(wide.why.find("mm2") != std::string::npos);
    BuiltDesign near = built(*task, {{"dram_latency", 100}});
    judge(*task, slow, near);
    CHECK(near.medal == lessons::Medal::none);
}

TEST_CASE("what limits is the busiest part of the run, or what bounds how many warps wait") {
    const auto waits = built(*task_of_puzzle("01"), {});
    CHECK(waits.part == "waiting");
    CHECK(waits.busy < 0.6);
    CHECK((waits.limits == "warps_per_sm" || waits.limits == "blocks_per_sm" || waits.limits == "registers_per_sm"));
    const auto computes = built(*task_of_puzzle("02"), {});
    CHECK(computes.busy == std::max({computes.use.issue, computes.use.fp32, computes.use.l1, computes.use.l2,
                                     computes.use.memory, computes.use.tensor, computes.use.fp64, computes.use.port}));
    CHECK((computes.limits == "fp32_lanes" || computes.limits == "sub_cores"));
    CHECK(limit_sentence(computes).find("busy") != std::string::npos);
    CHECK_FALSE(computes.issue.empty());
    double sum = 0;
    for (const float share : computes.issue) sum += double(share);
    CHECK(sum / double(computes.issue.size()) == Approx(computes.use.issue).margin(0.08));
}

TEST_CASE("a change is within the budget, and what it gains is what its own run takes") {
    BuildWindow window;
    const BuildTask& task = *window.session.build.task();
    REQUIRE(window.state().designs.size() == 1);
    for (const lessons::Figures& figures : changes_of(task, *window.state().newest()))
        CHECK(model::area_of(task.design(figures), task.process).mm2 <= task.most_mm2);
    REQUIRE(window.state().next);
    CHECK(window.state().next_of == 1);
    const std::shared_ptr<const BuiltDesign> kept = window.state().next;  // for longer than the snapshot
    const BuiltDesign& next = *kept;
    CHECK(next.time_us < window.state().newest()->time_us);
    CHECK(built(task, next.figures).cycles == next.cycles);
    REQUIRE(window.click_on("How much?"));
    window.frames(2);
    REQUIRE(window.click_on("Try it"));
    window.settle();
    CHECK(window.session.build.number() == 2);
    REQUIRE(window.state().designs.size() == 2);
    CHECK(window.state().newest()->cycles == next.cycles);
    CHECK(window.state().newest()->figures == next.figures);
    window.key(static_cast<KeyCode>('Z'), false, true);
    window.settle();
    CHECK(window.session.build.figures().empty());
    CHECK(window.state().newest()->cycles == window.state().designs.front()->cycles);
}

TEST_CASE("a stream never hits L2, on any design, and a stencil does") {
    const auto stream = task_of_puzzle("03");
    for (const lessons::Figures& figures : designs_of(*stream)) {
        const BuiltDesign design = built(*stream, figures);
        REQUIRE(design.ran());
        CHECK(design.use.l2 > 0);
        CHECK(design.use.l2_hits == 0);
    }
    const auto stencil = task_of_puzzle("04");
    CHECK(built(*stencil, {}).use.l2_hits == 0);  // there is no L2
    CHECK(built(*stencil, stencil->puzzle->reference.at(lessons::Medal::bronze)).use.l2_hits > 0.5);
    CHECK(BuildWindow("03").words("die").find("(0 % of reads hit)") != std::string::npos);
}

TEST_CASE("each part of a proposed change is needed for what it gains") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    desk.take(window.session,
              {{"warps_per_sm", 14}, {"blocks_per_sm", 12}, {"registers_per_sm", 6144}});  // registers are short
    window.settle();
    const auto next = window.state().next;
    REQUIRE(next);
    CHECK(value_in(next->figures, "registers_per_sm") > 6144);
    CHECK(value_in(next->figures, "warps_per_sm") == 14);
    const BuildTask& task = *desk.task();
    for (const auto& free : task.free) {
        const double before = desk.value_of(free.field);
        if (figure_of(next->gpu, free.field) == before) continue;
        INFO(free.field);
        lessons::Figures without = next->figures;
        for (auto& [field, value] : without)
            if (field == free.field) value = before;
        const BuiltDesign less = built(task, without);
        CHECK((less.time_us > next->time_us || less.area.mm2 > next->area.mm2));
    }
}

TEST_CASE("what limits is a handle that would help: not more bytes where requests are many, nor what may not change") {
    const auto matmul = built(*task_of_puzzle("09"), {});
    CHECK(matmul.part == "L1");
    CHECK(matmul.limits == "sms");
    const auto ports = built(*task_of_puzzle("05"), {});
    CHECK(ports.part == "L2");
    CHECK(ports.limits == "l2_slices");
    const auto misses =
        built(*task_of_puzzle("05"), {{"l2_slices", 16}, {"sm_read_bytes_per_cycle", 128}, {"l1_mshrs", 64}});
    CHECK(misses.part == "the lists of misses");
    CHECK(misses.limits == "l1_mshrs");
    CHECK(built(*task_of_puzzle("05"), {{"l2_slices", 16}, {"sm_read_bytes_per_cycle", 128}, {"l1_mshrs", 128}}).time_us <
          0.9 * misses.time_us);  // and it was true
    for (const auto& task : all_tasks()) {
        INFO(task->title);
        for (const lessons::Figures& figures : designs_of(*task))
            if (const BuiltDesign design = built(*task, figures);
                design.ran() && design.busy >= 0.6 && design.limits != "l2_slices" && design.limits != "dram_channels" &&
                task->free_named("sms"))
                CHECK(task->free_named(design.limits) != nullptr);
    }
}

TEST_CASE("hints come one after the other when asked for, and go with the next design") {
    BuildWindow window;
    const lessons::Puzzle& puzzle = *window.session.build.task()->puzzle;
    for (size_t i = 0; i < puzzle.hints.size(); ++i) {
        REQUIRE(window.click_on("Hint"));
        window.frames(2);
        CHECK(window.words("puzzle").find(fmt::format("Hint, {} of 3: {}", i + 1, puzzle.hints[i])) != std::string::npos);
        CHECK(window.clashes() == std::vector<std::string>{});
    }
    window.session.build.set(window.session, "warps_per_sm", 8);
    window.settle();
    CHECK(window.words("puzzle").find("Hint, ") == std::string::npos);
    REQUIRE(window.click_on("Hint"));
    window.frames(2);
    CHECK(window.words("puzzle").find("Hint, 1 of 3") != std::string::npos);
}

TEST_CASE("gold leads to the next puzzle, and a puzzle that was open has its medals at once") {
    BuildWindow window;
    CHECK_FALSE(window.shows("Next puzzle"));
    window.session.build.take(window.session, window.session.build.task()->puzzle->reference.at(lessons::Medal::gold));
    window.settle();
    const lessons::Thresholds before = *window.state().thresholds;
    REQUIRE(window.click_on("Next puzzle"));
    window.settle();
    CHECK(window.session.build.task()->puzzle->file == lessons::puzzle_files().at(1));
    CHECK(window.shows("GPU  yours"));
    window.session.build.open(window.session, lessons::puzzle_files().front().string());
    window.settle();
    REQUIRE(window.state().thresholds);
    CHECK(window.state().thresholds->gold_us == before.gold_us);
    CHECK(window.state().thresholds->bronze_us == before.bronze_us);
}

TEST_CASE("a design is compared with the one before, the first or the best") {
    BuildWindow window;
    Session& session = window.session;
    const auto compared = [&] {
        const BuiltDesign* const other = earlier_design(session, *session.snapshot());
        return other == nullptr ? 0 : other->number;
    };
    CHECK(compared() == 0);
    CHECK_FALSE(window.shows("vs before"));
    for (const double warps : {12.0, 11.0, 10.0}) {  // designs 2, 3 and 4
        session.build.take(session, {{"warps_per_sm", warps}, {"blocks_per_sm", warps}, {"registers_per_sm", warps * 1024}});
        window.settle();
    }
    CHECK(compared() == 3);
    REQUIRE(window.click_on("vs before"));
    CHECK(compared() == 1);
    REQUIRE(window.click_on("vs first"));
    CHECK(compared() == 2);
    REQUIRE(window.click_on("vs best"));
    CHECK(compared() == 3);
    window.input.mouse_x = window.input.mouse_y = 4;  // off the chip and its tooltip
    window.frames(2);
    CHECK(window.clashes() == std::vector<std::string>{});
}

TEST_CASE("what a design is compared with is chosen by keyboard, by C or on its chip, which keeps the keyboard") {
    BuildWindow window;
    Session& session = window.session;
    using Against = BuildDesk::Against;
    session.build.take(session, {{"warps_per_sm", 12}, {"blocks_per_sm", 12}, {"registers_per_sm", 12 * 1024}});
    window.settle();
    window.key(static_cast<KeyCode>('C'));
    CHECK(session.build.against == Against::first);
    window.key(static_cast<KeyCode>('C'));
    window.key(static_cast<KeyCode>('C'));
    CHECK(session.build.against == Against::before);
    UiState names;  // the chip's name lies in its view's scope, in the panel's
    for (int i = 0; i < 2; ++i) names.scopes.push_back(names.id_of("puzzle"));
    for (int i = 0; i < 120 && window.shell.state.focused != names.id_of("vs before"); ++i) window.key(KeyCode::tab);
    REQUIRE(window.shell.state.focused == names.id_of("vs before"));
    for (const Against wanted : {Against::first, Against::best, Against::before}) {
        window.key(KeyCode::enter);
        CHECK(session.build.against == wanted);
    }
}

TEST_CASE("what says that a design is saved goes with its puzzle") {
    BuildWindow window;
    Session& session = window.session;
    session.post(ask::Tell{"saved as waits.toml", true});
    window.settle();
    REQUIRE(window.shows("saved"));
    session.build.open(session, lessons::puzzle_named("02").value().file.string());
    window.settle();
    CHECK_FALSE(session.snapshot()->problem);
    session.post(ask::Tell{"a file is missing"});  // what went wrong stays
    window.settle();
    session.build.open(session, lessons::puzzle_named("01").value().file.string());
    window.settle();
    CHECK(session.snapshot()->problem);
}

TEST_CASE("keys on one handle, one after the other, are one design") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    const double before = desk.value_of("warps_per_sm");
    for (int i = 0; i < 60 && desk.value_of("warps_per_sm") == before; ++i) {
        window.key(KeyCode::tab);
        window.key(KeyCode::right);
    }
    const int number = desk.number();
    for (int i = 0; i < 5; ++i) window.key(KeyCode::right);
    CHECK(desk.value_of("warps_per_sm") == before + 6);
    CHECK(desk.number() == number);
    desk.undo(window.session);
    CHECK(desk.value_of("warps_per_sm") == before);
}

TEST_CASE("a run that is stopped is a sample where its length is known, earns nothing and says so") {
    const auto task = task_of_puzzle("09");
    const BuiltDesign whole = built(*task, {});
    REQUIRE(whole.ran());
    CHECK(whole.sampled == 0);
    std::stop_source source;
    std::jthread timer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        source.request_stop();
    });
    BuiltDesign part = built(*task, {}, source.get_token(), &whole);
    timer.join();
    if (part.sampled == 0) return;  // a fast computer
    // What is drawn all the time is drawn once, however little of it ran.
    CHECK(part.watts < whole.watts * 2);
    CHECK(part.watts > whole.watts / 3);
    INFO(part.sampled << " of it: " << part.time_us << " us of " << whole.time_us);
    CHECK(part.sampled < 1);
    CHECK(part.instructions < whole.instructions);
    const double close = part.sampled > 0.05 ? 1.3 : 3;  // the other run's course is its own
    CHECK(part.time_us > whole.time_us / close);
    CHECK(part.time_us < whole.time_us * close);
    judge(*task, {.bronze_us = 1e9, .silver_us = 1e8, .gold_us = 1e7}, part);
    CHECK(part.medal == lessons::Medal::none);
    CHECK(part.why.find("under way") != std::string::npos);
    CHECK_THROWS_AS(built(*task, {}, source.get_token()), Cancelled);
}

TEST_CASE("a design that a newer one cut short has its whole run in the end, and is compared with nothing before") {
    LargePuzzle window("09");
    Session& session = window.session;
    session.build.take(session, {{"fp32_lanes", 24}, {"sms", 22}});
    REQUIRE(window.until([](const BuildState& state) { return state.newest()->number == 2; }));
    session.build.take(session, {{"fp32_lanes", 32}, {"sms", 22}});
    REQUIRE(window.until([](const BuildState& state) { return state.newest()->number == 3; }));
    if (const BuiltDesign* const other = earlier_design(session, *session.snapshot())) CHECK(other->sampled == 0);
    REQUIRE(window.until([](const BuildState& state) {
        return std::ranges::none_of(state.designs, [](const auto& design) { return design->sampled > 0; });
    }));
    const auto state = session.snapshot()->build;
    REQUIRE(state->designs.size() == 3);
    for (const auto& design : state->designs) {
        INFO(design->number);
        CHECK(design->cycles == built(*state->task, design->figures).cycles);
    }
    CHECK(earlier_design(session, *session.snapshot())->number == 2);
    // Back to what ran before: its run is known at once.
    session.build.undo(session);
    REQUIRE(window.until([](const BuildState& now) { return now.newest()->number == 4; }));
    CHECK(session.snapshot()->build->newest()->sampled == 0);
    CHECK(session.snapshot()->build->newest()->cycles == state->numbered(2)->cycles);
}

TEST_CASE("a warp's 32 lanes take as many goes on 24 lanes as on 16, and that is told where the lanes limit") {
    const auto task = task_of_puzzle("12");
    const lessons::Figures bare = {{"fp64_lanes", 0}, {"tensor_fmas", 0}};
    lessons::Figures wide = bare;
    wide.emplace_back("fp32_lanes", 24);
    const BuiltDesign sixteen = built(*task, bare), more = built(*task, wide);
    REQUIRE(more.limits == "fp32_lanes");
    CHECK(std::fabs(more.time_us / sixteen.time_us - 1) < 0.01);
    CHECK(limit_sentence(*task, more).find("24 lanes take a warp's 32 in 2 cycles, as 16 do.") != std::string::npos);
    CHECK(limit_sentence(*task, sixteen).find("as 16 do") == std::string::npos);
}

TEST_CASE("what a run with more of it did not make faster is not said to limit") {
    LargePuzzle window("05");
    Session& session = window.session;
    session.build.take(session, {{"l2_slices", 13}, {"sm_read_bytes_per_cycle", 128}, {"l1_mshrs", 256}});
    CHECK(built(*task_of_puzzle("05"), session.build.figures()).limits == "warps_per_sm");
    REQUIRE(window.until([](const BuildState& state) { return state.newest()->number == 2 && state.next_of == 2; }));
    const auto state = session.snapshot()->build;
    CHECK(state->newest()->limits.empty());
    CHECK(state->newest()->part == "latency");
    CHECK(limit_sentence(*state->task, *state->newest()).find("a run with room for more of them gains nothing") !=
          std::string::npos);
}

TEST_CASE("the best medal of each puzzle stands at its number, and is there after the next start") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "progress.jsonl";
    const std::string gold = "medals so far: 01_one_core_that_waits gold\n";
    BuildWindow window;
    CHECK(window.words("puzzle").find("medals so far") == std::string::npos);
    const auto reference = window.session.build.task()->puzzle->reference;
    window.session.build.take(window.session, reference.at(lessons::Medal::gold));
    window.settle();
    window.session.build.take(window.session, reference.at(lessons::Medal::bronze));
    window.settle();
    CHECK(window.words("puzzle").find(gold) != std::string::npos);
    REQUIRE(keep_puzzle_medal(file, "01_one_core_that_waits", lessons::Medal::gold));
    REQUIRE(keep_puzzle_medal(file, "01_one_core_that_waits", lessons::Medal::bronze));
    CHECK(last_lesson_in(file).empty());
    window.session.home.progress = progress_of(file, {});
    window.frames(2);
    CHECK(window.words("puzzle").find(gold) != std::string::npos);
    CHECK(window.clashes() == std::vector<std::string>{});
}

TEST_CASE("handles stop at what the reference designs have, so that every medal can be won by them") {
    for (const auto& task : all_tasks())
        for (const auto& [medal, figures] : task->puzzle->reference)
            for (const auto& [field, value] : figures) {
                INFO(task->title << ", " << lessons::name_of(medal) << ": " << field << " = " << value);
                const lessons::Puzzle::Free* const free = task->free_named(field);
                REQUIRE(free != nullptr);
                const std::vector<double> stops = possible_stops(*task, figures, *free);
                CHECK(stops.size() <= 65);
                CHECK(std::ranges::any_of(stops, [&](double stop) { return std::fabs(stop - value) < 1e-9; }));
                CHECK(std::ranges::adjacent_find(stops, std::greater_equal<>()) == stops.end());
            }
}

TEST_CASE("a design over its budget is led back into it, change by change") {
    BuildWindow window("half");
    REQUIRE_FALSE(window.state().newest()->within(*window.session.build.task()));
    for (int i = 0; i < 4 && !window.state().newest()->within(*window.session.build.task()); ++i) {
        REQUIRE(window.state().next);
        CHECK(window.words("puzzle").find("over the budget. Next: ") != std::string::npos);
        const double before = window.state().newest()->spent(*window.session.build.task());
        REQUIRE(window.click_on("How much?"));
        window.frames(2);
        REQUIRE(window.click_on("Try it"));
        window.settle();
        CHECK(window.state().newest()->spent(*window.session.build.task()) < before);
    }
    CHECK(window.state().newest()->within(*window.session.build.task()));
    CHECK(window.state().newest()->time_us < window.state().designs.front()->time_us);  // by fewer bytes, not by fewer SMs
    // And one that was dragged over its area.
    window.session.build.take(window.session, {{"sms", 6}, {"l2_mb", 8}, {"dram_channels", 2}});
    window.settle();
    const BuildTask& task = *window.session.build.task();
    REQUIRE_FALSE(window.state().newest()->within(task));
    REQUIRE(window.state().next);
    CHECK(window.state().next->spent(task) < window.state().newest()->spent(task));
}

TEST_CASE("a handle that is moved posts a run, a held one keeps its number, and of many wishes the newest wins") {
    BuildWindow window;
    Session& session = window.session;
    BuildDesk& desk = session.build;
    for (const double warps : {4.0, 6.0, 8.0, 10.0, 12.0}) desk.set(session, "warps_per_sm", warps, true);
    window.settle();
    CHECK(desk.number() == 2);
    REQUIRE(window.state().designs.size() == 2);
    CHECK(value_in(window.state().newest()->figures, "warps_per_sm") == 12);
    CHECK(window.state().newest()->gpu.warps_per_sm.value == 12);
    desk.release();
    desk.set(session, "blocks_per_sm", 6);
    desk.set(session, "blocks_per_sm", 12);
    window.settle();
    CHECK(desk.number() == 4);
    CHECK(value_in(window.state().newest()->figures, "blocks_per_sm") == 12);
    desk.undo(session);
    window.settle();
    CHECK(window.state().newest()->gpu.blocks_per_sm.value == 6);
    // By keyboard: the slider that has the focus moves by its stops.
    const uint32_t before = desk.gpu().warps_per_sm.value;
    bool moved = false;
    for (int i = 0; i < 60 && !moved; ++i) {
        window.key(KeyCode::tab);
        window.key(KeyCode::right);
        moved = desk.gpu().warps_per_sm.value == before + 1;
    }
    CHECK(moved);
}

TEST_CASE("a medal is of a design that has a place, not of one that a held handle went over on its way") {
    BuildWindow window("06");
    Session& session = window.session;
    BuildDesk& desk = session.build;
    lessons::Figures figures = desk.task()->puzzle->reference.at(lessons::Medal::gold);
    for (auto& [field, value] : figures)
        if (field == "sms") value = 2;
    desk.take(session, figures);
    window.settle();
    const std::string gold = "06_tensor_lanes_that_starve gold";
    CHECK(window.words("puzzle").find(gold) == std::string::npos);
    desk.set(session, "sms", 4, true);
    const auto passes = [&] {  // as soon as it has run, before it is recorded
        const auto snapshot = session.snapshot();
        const BuiltDesign& newest = *snapshot->build->newest();
        return newest.sampled == 0 && newest.medal == lessons::Medal::gold && value_in(newest.figures, "sms") == 4;
    };
    for (int i = 0; i < 20'000 && !passes(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(passes());
    window.frame();
    if (session.snapshot()->build->newest()->run != nullptr) return;  // a slow moment: it stood long enough to be looked at
    CHECK(window.words("puzzle").find(gold) == std::string::npos);
    desk.set(session, "sms", 5, true);
    window.settle();
    CHECK(window.state().newest()->medal == lessons::Medal::none);
    desk.set(session, "sms", 4, true);
    window.settle();
    window.frames(2);
    CHECK(window.words("puzzle").find(gold) != std::string::npos);
}

TEST_CASE("a drag that is let go late, in the frame of its last move, is one design") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    const auto at = std::ranges::find(window.written, "resident warps an SM", &UiState::Written::text);
    REQUIRE(at != window.written.end());
    const float x = at->ink.x, y = at->ink.y + at->ink.h / 2 + 18;
    window.input.mouse_x = x + 9;
    window.input.mouse_y = y;
    window.input.clicked = window.input.down = true;
    window.frame();
    window.input.mouse_x = x + 60;
    window.frame();
    REQUIRE(desk.number() == 2);
    const double before = desk.value_of("warps_per_sm");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    window.input.mouse_x = x + 120;
    window.input.down = false;
    window.input.released = true;
    window.frames(2);
    CHECK(desk.value_of("warps_per_sm") > before);
    CHECK(desk.number() == 2);
}

TEST_CASE("who comes back to a puzzle finds its designs, and the way back through them") {
    BuildWindow window;
    Session& session = window.session;
    BuildDesk& desk = session.build;
    desk.set(session, "warps_per_sm", 8);
    window.settle();
    desk.set(session, "blocks_per_sm", 8);
    window.settle();
    const double time = window.state().newest()->time_us;
    desk.open(session, lessons::puzzle_files().at(1).string());
    window.settle();
    CHECK(desk.number() == 1);
    CHECK(desk.figures().empty());
    desk.open(session, lessons::puzzle_files().front().string());
    window.settle();
    REQUIRE(window.state().designs.size() == 3);
    CHECK(desk.number() == 3);
    CHECK(desk.value_of("warps_per_sm") == 8);
    CHECK(desk.gpu().blocks_per_sm.value == 8);
    CHECK(window.state().newest()->time_us == time);
    CHECK(window.state().newest()->run != nullptr);  // its die lives again
    desk.undo(session);
    window.settle();
    CHECK(desk.gpu().blocks_per_sm.value == 2);
    CHECK(desk.gpu().warps_per_sm.value == 8);
    CHECK(window.state().newest()->number == 4);
    CHECK(window.clashes() == std::vector<std::string>{});
}

TEST_CASE("where the budget is of watts, rows, groups and the bar tell those of the run") {
    BuildWindow window("10");
    const BuiltDesign design = *window.state().newest();
    const model::AreaEstimate told = with_watts_of(design.area, design);
    CHECK(told.watts == Approx(design.watts).epsilon(1e-9));
    double sum = 0, memory = 0;
    for (const KitGroup& group : kit_of(*window.session.build.task(), design.gpu, told)) {
        double watts = 0;
        for (const KitRow& row : group.rows) watts += row.watts;
        CHECK(watts == Approx(group.watts).epsilon(1e-9));
        sum += group.watts;
        if (group.group == model::PartGroup::memory) memory = group.watts;
    }
    CHECK(sum == Approx(design.watts).epsilon(1e-9));
    CHECK(window.words("kit").find(fmt::format("memory: 12.00 mm2, {:.2f} W", memory)) != std::string::npos);
    // A larger L2 ends most of what goes to DRAM, and the row of the channels says so.
    window.session.build.set(window.session, "l2_mb", 1.5);
    window.settle();
    const BuiltDesign cached = *window.state().newest();
    CHECK(with_watts_of(cached.area, cached).watts_of(model::PartGroup::memory) < memory / 2);
}

TEST_CASE("no sentence says that more warps gain nothing where the next change has more of them") {
    BuildWindow window("01");
    const BuildState& state = window.state();
    REQUIRE(state.next != nullptr);
    CHECK(state.next->gpu.warps_per_sm.value > state.newest()->gpu.warps_per_sm.value);
    CHECK(limit_sentence(*state.task, *state.newest()).find("gains nothing") == std::string::npos);
}

TEST_CASE("figures that make no GPU are told and do not run") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    desk.set(window.session, "registers_per_sm", 0);
    window.settle();
    CHECK_FALSE(desk.impossible().empty());
    REQUIRE(window.state().newest() != nullptr);
    CHECK_FALSE(window.state().newest()->ran());
    CHECK(window.words("kit").find("impossible") != std::string::npos);
    desk.undo(window.session);
    window.settle();
    CHECK(desk.impossible().empty());
    CHECK(window.state().newest()->ran());
}

TEST_CASE("a saved design is a file that makes the same GPU") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    desk.folder = std::filesystem::temp_directory_path() / "lockstep_build_test";
    std::filesystem::remove_all(desk.folder);
    desk.set(window.session, "warps_per_sm", 5);
    desk.set(window.session, "registers_per_sm", 5120);
    window.settle();
    desk.save(*window.session.snapshot());
    INFO(desk.note);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(desk.folder)) file = entry.path();
    REQUIRE_FALSE(file.empty());
    const auto read = model::read_gpu_file(file);
    REQUIRE(read.ok());
    CHECK(read.value().warps_per_sm.value == 5);
    CHECK(read.value().registers_per_sm.value == 5120);
    CHECK(read.value().sms.value == desk.gpu().sms.value);
    CHECK(lessons::against_the_rules(*desk.task()->puzzle, read.value()).empty());
    desk.save(*window.session.snapshot());  // and does not write over it
    CHECK(std::distance(std::filesystem::directory_iterator(desk.folder), {}) == 2);
    std::filesystem::remove_all(desk.folder);
}

}  // namespace gui_build_test
