// The Build workspace: what its pictures may not break (sums of areas, budgets, medals), handles that run designs, the way
// back, and files of designs.
#include <cmath>
#include <filesystem>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/die_places.h"
#include "core/model/gpus/gpu_file.h"
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
        session.workspace = Workspace::build;
        settle();
        REQUIRE(session.build.task() != nullptr);
    }
    const BuildState& state() const { return *session.snapshot()->build; }
    std::string words(const char* view) const { return view_named(view)->make()->describe(session, shell.focus); }
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
                                     computes.use.memory, computes.use.tensor, computes.use.fp64}));
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
            window.key(static_cast<KeyCode>('8'));
        }
    }
}

}  // namespace gui_build_test
