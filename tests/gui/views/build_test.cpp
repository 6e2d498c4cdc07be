// The Build workspace: what its pictures may not break (sums of areas, budgets, medals), handles that run designs, the way
// back, and files of designs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <thread>

#include "app/gui/desk/progress.h"
#include "app/gui/desk/puzzle_medals.h"
#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/build_play.h"
#include "app/gui/views/build/die_life.h"
#include "app/gui/views/build/die_places.h"
#include "app/gui/views/build/recap.h"
#include "core/model/gpus/gpu_file.h"
#include "core/trace/machine_trace.h"
#include "lessons/player/puzzles/design_file.h"
#include "tests/gui/desk.h"

namespace gui_build_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

std::vector<std::shared_ptr<const BuildTask>> all_tasks() {
    std::vector<std::shared_ptr<const BuildTask>> tasks;
    for (const std::filesystem::path& file : lessons::puzzle_files()) tasks.push_back(task_of_puzzle(file.string()));
    return tasks;
}

// The first design, the references, and one with every figure at its most.
std::vector<lessons::Figures> designs_of(const BuildTask& task) {
    std::vector<lessons::Figures> designs = {{}};
    for (const auto& [medal, figures] : task.puzzle->reference) designs.push_back(figures);
    lessons::Figures most;
    for (const auto& free : task.free) most.emplace_back(free.field, free.most);
    designs.push_back(most);
    return designs;
}

double area_of_box(const Rect& box) {
    return double(box.w) * double(box.h);
}

// A window on a puzzle, whose first design has run.
struct BuildWindow : Desk {
    explicit BuildWindow(const std::string& puzzle = "01", const char* theme = "dark") : Desk({.own_kernel = true}, theme) {
        session.build.open(session, lessons::puzzle_named(puzzle).value().file.string());
        settle();  // else the workspace opens the first puzzle itself
        session.workspace = Workspace::build;
        settle();
        REQUIRE(session.build.task() != nullptr);
    }
    const BuildState& state() const { return *session.snapshot()->build; }
    std::string words(const char* view) const { return view_named(view)->make()->describe(session, shell.focus); }
};

// A window on a large puzzle: what could be changed next in its first design is not waited for.
struct LargePuzzle : Desk {
    explicit LargePuzzle(const std::string& puzzle) : Desk({.own_kernel = true}) {
        const std::string file = lessons::puzzle_named(puzzle).value().file.string();
        session.build.open(session, file);
        // Before that the workspace would open the first puzzle itself.
        REQUIRE(until([&](const BuildState& state) { return state.task->puzzle->file == file; }));
        session.workspace = Workspace::build;
    }
    bool until(const std::function<bool(const BuildState&)>& reached) {
        for (int i = 0; i < 200'000; ++i) {
            frame();
            const auto snapshot = session.snapshot();
            if (snapshot->build && snapshot->build->newest() != nullptr && reached(*snapshot->build)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
};

double value_in(const lessons::Figures& figures, const std::string& field) {
    for (const auto& [name, value] : figures)
        if (name == field) return value;
    return -1;
}

}  // namespace

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

TEST_CASE("a saved design that is dropped onto the window opens in its puzzle") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_build_dropped";
    std::filesystem::remove_all(folder);
    {
        BuildWindow window("02");
        window.session.build.folder = folder;
        window.session.build.take(window.session, {{"sms", 3}});
        window.settle();
        window.session.build.save(*window.session.snapshot());
    }
    const std::filesystem::path file = std::filesystem::directory_iterator(folder)->path();
    CHECK(lessons::puzzle_of_design(file.string()) == lessons::puzzle_files().at(1));
    BuildWindow other("01");
    Input once = other.input;
    once.dropped = {file.string()};
    other.frame(once);
    other.settle();
    REQUIRE(other.session.build.task()->puzzle->file == lessons::puzzle_files().at(1));
    CHECK(other.session.build.value_of("sms") == 3);
    CHECK(other.state().newest()->ran());
    CHECK_FALSE(other.session.snapshot()->problem);
    CHECK(lessons::puzzle_of_design((folder / "none.toml").string()).empty());
    std::filesystem::remove_all(folder);
}

TEST_CASE("a kernel on show can be built for too: it runs as on its own GPU, and every figure of the kit is free") {
    const auto puzzle = task_of_puzzle("02");
    model::KernelRun run;
    run.gpu = model::gpu_named("v100").value();
    run.program = puzzle->launch.program;
    run.config = puzzle->launch.config;
    CHECK_THROWS(task_of_kernel(run));
    run.before = puzzle->launch.memory;
    const auto task = task_of_kernel(run);
    CHECK(task->most_mm2 == 0);
    const BuiltDesign as_it_is = built(*task, {});
    REQUIRE(as_it_is.ran());
    simt::Memory memory = *run.before;
    CHECK(as_it_is.cycles == model::launch(run.gpu, *run.program, run.config, memory).cycles);
    const BuiltDesign few = built(*task, {{"sms", 2}});
    REQUIRE(few.ran());
    CHECK(few.cycles > as_it_is.cycles);
    CHECK(few.area.mm2 < as_it_is.area.mm2);
    CHECK(few.medal == lessons::Medal::none);
    for (const auto& free : task->free) {
        const std::vector<double> stops = stops_of(free);
        CHECK(stops.front() == free.least);
        CHECK(stops.back() == free.most);
        CHECK(std::is_sorted(stops.begin(), stops.end()));
    }
}

TEST_CASE("a click on a puzzle's chip opens it, and the design of the one before is gone") {
    BuildWindow window;
    for (const char* number : {"3", "12", "7"}) {
        INFO(number);
        REQUIRE(window.click_on(number));
        window.settle();
        const auto files = lessons::puzzle_files();
        CHECK(window.session.build.task()->puzzle->file == files.at(static_cast<size_t>(std::stoi(number)) - 1));
        REQUIRE(window.state().designs.size() == 1);
        CHECK(window.state().designs.front()->ran());
        CHECK(window.session.build.figures().empty());
        CHECK(window.shows(window.session.build.task()->title));
        window.frames(2);
    }
}

TEST_CASE("handles show the value before and the proposed one") {
    BuildWindow window;
    CHECK(window.words("kit").find(", more proposed") != std::string::npos);
    CHECK(window.words("kit").find(" before") == std::string::npos);
    const double first = window.session.build.value_of("warps_per_sm");
    window.session.build.set(window.session, "warps_per_sm", 8);
    window.settle();
    CHECK(window.words("kit").find(fmt::format(", {:g} before", first)) != std::string::npos);
    const auto next = window.state().next;
    REQUIRE(next);
    window.session.build.shows_values = true;
    for (const auto& free : window.session.build.task()->free)
        if (const double wanted = figure_of(next->gpu, free.field); wanted != window.session.build.value_of(free.field))
            CHECK(window.words("kit").find(fmt::format(", {:.4g} proposed", wanted)) != std::string::npos);
}

TEST_CASE("what to change next names the part and the way at first, and the value when asked again") {
    BuildWindow window("06");
    const auto next = window.state().next;
    REQUIRE(next);
    const auto told = [&] { return window.words("puzzle") + window.words("kit"); };
    const std::string values = change_words(*window.session.build.task(), {}, next->figures);
    const std::string ways = change_words(*window.session.build.task(), {}, next->figures, false);
    CHECK((ways.find(" up") != std::string::npos || ways.find(" down") != std::string::npos));
    CHECK(told().find("Next: " + ways) != std::string::npos);
    CHECK(told().find(values) == std::string::npos);
    CHECK_FALSE(window.shows("Try it"));
    REQUIRE(window.click_on("How much?"));
    window.frames(2);
    CHECK(told().find("Next: " + values) != std::string::npos);
    CHECK(window.shows("Try it"));
    CHECK(window.clashes() == std::vector<std::string>{});
    window.session.build.set(window.session, "sms", 3);  // of another design it has to be asked again
    window.settle();
    CHECK_FALSE(window.shows("Try it"));
}

TEST_CASE("no handle stops where there is no GPU, and none is in another one's way") {
    for (const auto& task : all_tasks()) {
        const lessons::Puzzle::Free* const warps = task->free_named("warps_per_sm");
        if (warps == nullptr) continue;
        INFO(task->title);
        const lessons::Puzzle::Free* const sub_cores = task->free_named("sub_cores");
        const std::vector<double> parts = sub_cores != nullptr ? possible_stops(*task, {}, *sub_cores)
                                                               : std::vector<double>{figure_of(task->base, "sub_cores")};
        for (const double part : parts) {
            lessons::Figures figures;
            if (sub_cores != nullptr) figures.emplace_back("sub_cores", part);
            const std::vector<double> stops = possible_stops(*task, figures, *warps);
            CHECK(stops.size() >= 4);
            figures.emplace_back("warps_per_sm", 0);
            for (const double stop : stops) {
                INFO(stop << " warps, " << part << " sub-cores");
                figures.back().second = stop;
                CHECK_NOTHROW(task->design(figures));
                // From there more sub-cores may be had, whatever the warps are.
                if (sub_cores != nullptr) CHECK(possible_stops(*task, figures, *sub_cores).back() == sub_cores->most);
            }
        }
        for (const lessons::Puzzle::Free& free : task->free) {
            const std::vector<double> stops = possible_stops(*task, {}, free);
            CHECK(std::ranges::find(stops, figure_of(task->base, free.field)) != stops.end());  // and there is a way back
        }
    }
}

TEST_CASE("where the SMs' ports let nothing more through, they are what limits") {
    const auto task = task_of_puzzle("06");
    const BuiltDesign narrow = built(*task, {});
    CHECK(narrow.part == "the SMs' ports");
    CHECK(narrow.limits == "sm_read_bytes_per_cycle");
    CHECK(narrow.use.port <= 1);
    const BuiltDesign wide = built(*task, {{"sm_read_bytes_per_cycle", 128}});
    CHECK(wide.use.port < narrow.use.port / 2);
    CHECK(wide.time_us < narrow.time_us);
    CHECK(wide.limits != "sm_read_bytes_per_cycle");
}

TEST_CASE("a change that wins a better medal is proposed by however little it is faster") {
    BuildWindow window("06");
    window.session.build.take(
        window.session,
        {{"sms", 4}, {"tensor_fmas", 64}, {"l1_kb", 14}, {"sm_read_bytes_per_cycle", 48}, {"warps_per_sm", 32}});
    window.settle();
    REQUIRE(window.state().newest()->medal == lessons::Medal::silver);
    REQUIRE(window.state().newest()->time_us < window.state().thresholds->gold_us * 1.02);
    REQUIRE(window.state().next);
    CHECK(window.state().next->medal == lessons::Medal::gold);
}

TEST_CASE("groups fill the bar: side by side, without a gap, as long as their share of the budget") {
    for (const auto& task : all_tasks()) {
        const model::AreaEstimate area = model::area_of(task->base, task->process);
        const std::vector<KitGroup> groups = kit_of(*task, task->base, area);
        const double budget = task->most_mm2 > 0 ? task->most_mm2 : area.mm2;
        const std::vector<GroupShare> shares = shares_of_groups(groups, false, area.mm2, budget);
        REQUIRE(shares.size() == groups.size());
        double end = 0;
        for (size_t i = 0; i < shares.size(); ++i) {
            CHECK(shares[i].from == Approx(end).margin(1e-12));
            CHECK((shares[i].to - shares[i].from) * budget == Approx(groups[i].mm2).margin(1e-9));
            end = shares[i].to;
        }
        CHECK(end * budget == Approx(area.mm2).epsilon(1e-9));
    }
}

TEST_CASE("a latency may be tried, is told as what if, and costs the medal until it is put back") {
    BuildWindow window;
    BuildDesk& desk = window.session.build;
    const double first = desk.value_of("dram_latency");
    const lessons::Figures gold = desk.task()->puzzle->reference.at(lessons::Medal::gold);
    lessons::Figures near = gold;
    near.emplace_back("dram_latency", first / 2);
    desk.take(window.session, near);
    window.settle();
    REQUIRE(window.state().newest()->ran());
    CHECK(window.state().newest()->medal == lessons::Medal::none);
    CHECK(window.words("puzzle").find("no medal: put it back") != std::string::npos);
    CHECK(window.words("kit").find(fmt::format("what if: DRAM latency {:g} cycles", first / 2)) != std::string::npos);
    desk.set(window.session, "dram_latency", first);
    window.settle();
    CHECK(window.state().newest()->medal == lessons::Medal::gold);
}

TEST_CASE("lanes that the run never issued to are told") {
    const auto words = [](const char* puzzle) { return BuildWindow(puzzle).words("kit"); };
    const std::string matmul = words("09");
    CHECK(matmul.find(", not used") != std::string::npos);
    CHECK(matmul.find("FP64 lanes a sub-core 16") < matmul.find(", not used"));
    CHECK(words("02").find(", not used") == std::string::npos);
}

TEST_CASE("the die plays by itself and goes round, and stands still where motion is reduced") {
    BuildWindow window("02");
    BuildDesk& desk = window.session.build;
    window.frames(2);
    CHECK(window.session.playing);
    const BuiltDesign* const design = playing_design(window.session, *window.session.snapshot());
    REQUIRE(design != nullptr);
    const int64_t before = cycle_on_die(desk, *design);
    REQUIRE(before >= 0);
    window.frames(5);
    CHECK(cycle_on_die(desk, *design) - before == Approx(5 * window.pace * desk.speed).margin(2));
    CHECK(window.words("die").find("at cycle ") != std::string::npos);
    const PlayedStretch stretch = played_stretch(*design);
    CHECK(stretch.begin < stretch.end);
    CHECK(stretch.end <= design->run->result.cycles);
    desk.at = 0.9999 * static_cast<double>(stretch.end) / static_cast<double>(design->run->result.cycles);
    desk.speed = 1e4;
    window.frames(3);
    CHECK(cycle_on_die(desk, *design) >= stretch.begin);
    CHECK(cycle_on_die(desk, *design) < stretch.end);
    // By the transport: a pause, a cycle on, the end; and all of the run.
    window.key(KeyCode::space);
    CHECK_FALSE(window.session.playing);
    const int64_t paused = cycle_on_die(desk, *design);
    window.key(KeyCode::right);
    CHECK(cycle_on_die(desk, *design) == paused + 1);
    window.key(KeyCode::end);
    CHECK(cycle_on_die(desk, *design) == design->run->result.cycles - 1);
    REQUIRE(window.click_on("whole run"));
    CHECK(desk.at < 0);

    window.session.workspace = Workspace::sm;
    window.frames(2);
    window.shell.motion = "reduced";
    window.session.workspace = Workspace::build;
    window.frames(3);
    CHECK_FALSE(window.session.playing);
    CHECK(desk.at < 0);
}

TEST_CASE("marks on the die stand within it, and come from requests that are on their way") {
    const auto task = task_of_puzzle("03");
    BuiltDesign design = built(*task, {});
    design.number = 1;
    design.run = recorded(*task, design, 0);
    REQUIRE(design.run);
    CHECK(design.run->result.cycles == design.cycles);  // recording changes no cycle
    const auto timeline = std::make_shared<Timeline>(make_timeline(design.run));
    const MachineScene scene = make_machine_scene(design.run, timeline);
    const DiePlaces places = places_of_die(design.gpu, design.area, task->most_mm2, {10, 20, 760, 420});
    size_t marks = 0, issues = 0;
    for (double clock = 0; clock < static_cast<double>(design.cycles); clock += 997.5) {
        const DieLife life{&scene, clock, 0};
        for (const DieMark& mark : marks_on_die(life, places)) {
            ++marks;
            const RequestRecord& request = scene.machine->requests[mark.request];
            CHECK(static_cast<double>(request.begin) <= clock);
            CHECK(clock <= static_cast<double>(request.end()));
            CHECK((mark.at.x >= places.die.x - 1 && mark.at.x <= places.die.right() + 1));
            CHECK((mark.at.y >= places.die.y - 1 && mark.at.y <= places.die.bottom() + 1));
        }
        for (uint32_t sm = 0; sm < design.gpu.sms; ++sm) {
            const SubCoresNow now = sub_cores_now(life, sm);
            for (uint32_t s = 0; s < design.gpu.sub_cores; ++s) issues += now.share[s] > 0;
            CHECK(warps_now(life, sm).resident <= static_cast<int>(design.gpu.warps_per_sm.value));
        }
    }
    CHECK(marks > 50);
    CHECK(issues > 10);
}

TEST_CASE("a click on an SM of the die goes into it with the design's run, and Escape leads back") {
    BuildWindow window("02");
    window.session.build.set(window.session, "sms", 3);
    window.settle();
    window.frames(2);
    const auto place = [&](const std::string& words) {
        for (const UiState::Written& text : window.written)
            if (text.text == words) return text.ink;
        return Rect{-1, -1, 0, 0};
    };
    const Rect above = place("3 SMs");
    REQUIRE(above.x > 0);
    window.click(above.x + 8, above.bottom() + 30);
    CHECK(window.session.workspace == Workspace::machine);
    window.settle();
    const auto snapshot = window.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    CHECK(snapshot->kernel.run == snapshot->build->newest()->run);
    CHECK(snapshot->kernel.run->gpu.sms == 3);
    CHECK(snapshot->kernel.run->result.trace.sm == static_cast<uint32_t>(window.session.build.sm));
    for (int i = 0; i < 12; ++i) window.frame();
    for (int i = 0; i < 40 && window.session.machine.zoom != window.session.machine.wanted; ++i) window.settle();
    CHECK(window.session.machine.zoom == Approx(3));
    CHECK(window.shows("back to Build"));
    CHECK(snapshot->build->next_of == 2);  // the next change was looked for all the same
    window.key(KeyCode::escape);
    CHECK(window.session.workspace == Workspace::build);
    // By keyboard: the third SM is chosen, and gone into.
    window.key(static_cast<KeyCode>(']'));
    window.key(static_cast<KeyCode>(']'));
    CHECK(window.session.build.sm == 2);
    window.input.mouse_x = above.x + 8, window.input.mouse_y = above.y - 60;  // over the die's panel, on no tile
    window.frames(2);
    window.key(KeyCode::enter);
    CHECK(window.session.workspace == Workspace::machine);
    window.settle();
    CHECK(window.session.snapshot()->kernel.run->result.trace.sm == 2);
    window.key(KeyCode::escape);
    CHECK(window.session.workspace == Workspace::build);
}

TEST_CASE("gold shows what made it gold, from the runs of the first design, one's own and the reference") {
    BuildWindow window;
    const BuildTask& task = *window.session.build.task();
    CHECK_FALSE(recap_of(window.session, *window.session.snapshot()));
    window.session.build.take(window.session, task.puzzle->reference.at(lessons::Medal::gold));
    window.settle();
    const auto recap = recap_of(window.session, *window.session.snapshot());
    REQUIRE(recap);
    CHECK(recap->yours->cycles == recap->reference->cycles);
    CHECK(recap->first->cycles == built(task, {}).cycles);
    CHECK(recap->reference->time_us == recap->state->thresholds->gold_us);
    CHECK(window.shows("What made it gold"));
    CHECK(window.words("designs").find(task.puzzle->recap) != std::string::npos);
    // Each change put back alone is a run of that design, the one that costs most comes first.
    const std::vector<PutBack>& put_back = recap->state->put_back;
    REQUIRE_FALSE(put_back.empty());
    for (const PutBack& each : put_back) {
        INFO(each.field);
        CHECK(figure_of(each.design->gpu, each.field) == figure_of(task.base, each.field));
        CHECK(each.design->cycles == built(task, each.design->figures).cycles);
        for (const auto& [field, value] : recap->yours->figures)
            if (field != each.field) CHECK(figure_of(each.design->gpu, field) == value);
    }
    CHECK(std::ranges::is_sorted(put_back, std::greater<>(), [](const PutBack& each) { return each.design->time_us; }));
    CHECK(put_back.front().design->time_us > recap->yours->time_us);
    CHECK(window.words("designs").find("put back alone: ") != std::string::npos);
    CHECK(window.shows("put back alone"));
    for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
        window.size(w, h, 1);
        window.frames(3);
        CHECK(window.clashes() == std::vector<std::string>{});
        CHECK(window.shows("ref.") == (w > 1300));
    }
    REQUIRE(window.click_on("by time"));
    CHECK_FALSE(window.shows("What made it gold"));
    REQUIRE(window.click_on("recap"));
    CHECK(window.shows("What made it gold"));
}

TEST_CASE("real GPUs run the same when asked, and are told apart by word, area and sign") {
    BuildWindow window;
    CHECK(window.state().real.empty());
    REQUIRE(window.click_on("real GPUs"));
    window.settle();
    window.settle();
    REQUIRE(window.state().real.size() == real_chips().size());
    for (const auto& chip : window.state().real) {
        INFO(chip->name);
        REQUIRE(chip->runs.ran());
        simt::Memory memory = *window.session.build.task()->launch.memory;
        const auto& launch = window.session.build.task()->launch;
        CHECK(chip->runs.cycles ==
              model::launch(model::gpu_named(chip->runs.gpu.name).value(), *launch.program, launch.config, memory).cycles);
        CHECK(window.words("puzzle").find(chip->name + ", a real GPU") != std::string::npos);
    }
    CHECK(std::ranges::any_of(window.state().real, [&](const auto& chip) { return window.shows(chip->name); }));
    window.input.mouse_x = window.input.mouse_y = 4;  // off the chip and its tooltip
    window.frames(2);
    CHECK(window.clashes() == std::vector<std::string>{});
    CHECK(window.state().next_of == 1);
}

TEST_CASE("a training step is built for as the sum of its kernels") {
    Desk window({.gpu = "teaching", .own_kernel = true});
    window.session.workspace = Workspace::build;
    window.settle();
    REQUIRE(window.click_on("training step"));
    window.settle();
    const auto snapshot = window.session.snapshot();
    REQUIRE(snapshot->build);
    const BuildTask& task = *snapshot->build->task;
    CHECK(task.step);
    CHECK(task.launch.parts().size() > 8);
    const BuiltDesign& design = *snapshot->build->designs.front();
    REQUIRE(design.ran());
    REQUIRE(design.kernels.size() == task.launch.parts().size());
    double sum = 0;
    for (const KernelShare& kernel : design.kernels) sum += kernel.time_us;
    CHECK(sum == Approx(design.time_us));
    CHECK(scene::run_design(design.gpu, task.launch).cycles == design.cycles);
    REQUIRE(design.run);
    CHECK(design.run->result.time_us == Approx(design.kernels[design.longest()].time_us));
    const std::string words = view_named("designs")->make()->describe(window.session, window.shell.focus);
    CHECK(words.find(design.kernels.front().label) != std::string::npos);
}

TEST_CASE("areas and watts are called estimates, times simulated, and everything is told in words") {
    BuildWindow window("02");
    for (const char* view : {"kit", "die", "designs", "puzzle"}) {
        INFO(view);
        const std::string words = window.words(view);
        CHECK(words.size() > 60);
        if (words.find("mm2") != std::string::npos) CHECK(words.find("estimate") != std::string::npos);
        if (words.find(" ms") != std::string::npos) CHECK(words.find("simulated") != std::string::npos);
    }
    CHECK(window.words("puzzle").find("bronze") != std::string::npos);
    CHECK(window.words("kit").find("limits") != std::string::npos);
    CHECK(window.shows("limits"));
    CHECK(window.shows("estimate"));
}

TEST_CASE("every puzzle has a chip, in a small window too") {
    BuildWindow window;
    const size_t puzzles = lessons::puzzle_files().size();
    REQUIRE(puzzles >= 12);
    for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
        window.size(w, h, 1);
        window.frames(3);
        for (size_t i = 1; i <= puzzles; ++i) {  // in the panel on the right, at its top
            const bool there = std::any_of(window.written.begin(), window.written.end(), [&](const UiState::Written& text) {
                return text.text == std::to_string(i) && text.ink.x > w * 0.7f && text.ink.y < 160;
            });
            INFO("puzzle " << i << " at " << w);
            CHECK(there);
        }
        CHECK(window.shows("kernel on show"));
    }
}

TEST_CASE("no text of the Build workspace lies on another or is cut, at any size and in any theme") {
    for (const char* puzzle : {"01", "03"}) {
        BuildWindow window(puzzle, "light");
        window.session.build.set(window.session, "warps_per_sm", 16);
        window.settle();
        for (const auto& [w, h, scale] : {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
            window.size(w, h, scale);
            window.frames(3);
            INFO(puzzle << " at " << w << " x " << h << ", scale " << scale);
            CHECK(window.clashes() == std::vector<std::string>{});
            CHECK(window.quads <= 8000);
            for (const char* view : {"kit", "die", "designs", "puzzle"}) {
                REQUIRE(window.shell.show_alone(view));
                window.frames(2);
                INFO(view);
                CHECK(window.clashes() == std::vector<std::string>{});
            }
            window.key(static_cast<KeyCode>('9'));
        }
    }
}

}  // namespace gui_build_test
