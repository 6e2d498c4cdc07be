// The page of the Build workspace: chips, handles, the die that is alive, real GPUs, words, and how it reads at any size.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/gui/desk/progress.h"
#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/build_play.h"
#include "app/gui/views/build/die_life.h"
#include "app/gui/views/build/die_places.h"
#include "app/gui/views/build/recap.h"
#include "core/model/gpus/gpu_file.h"
#include "core/trace/machine_trace.h"
#include "lessons/player/puzzles/design_file.h"
#include "tests/gui/build_window.h"

namespace gui_build_page_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

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
    for (const auto& chip : window.state().real) {
        INFO(chip->name);
        CHECK(window.shows(chip->name));
    }
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

}  // namespace gui_build_page_test
