// The machine: its marks stand where the trace says, no request arrives before it left, what is counted is what is there,
// and the workspace can be used by mouse and keyboard at any size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/gui/views/machine/gpu_places.h"
#include "app/gui/views/machine/host_work.h"
#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/scene/run.h"
#include "tests/gui/desk.h"
#include "tests/model/cases.h"
#include "tests/simt/text.h"

namespace gui_machine_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

std::shared_ptr<const model::KernelRun> recorded(uint64_t seed, std::string_view gpu) {
    model::test::Case c = model::test::make_case(seed);
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named(gpu).value();
    run->before = std::make_shared<const simt::Memory>(c.memory);
    model::TimedOptions options;
    options.machine = true;
    run->program = std::make_shared<const ptx::Program>(c.program);
    run->config = c.config;
    run->result = model::launch(run->gpu, *run->program, c.config, c.memory, options);
    return run;
}

MachineScene scene_of(const std::shared_ptr<const model::KernelRun>& run) {
    return make_machine_scene(run, std::make_shared<const Timeline>(make_timeline(run)));
}

bool near(Point a, Point b, float most) {
    return std::hypot(a.x - b.x, a.y - b.y) <= most;
}

struct MachineDesk : Desk {
    explicit MachineDesk(uint64_t seed = 3, std::string_view gpu = "v100") {
        session.workspace = Workspace::machine;
        session.grain = Grain::cycle;
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel.run = recorded(seed, gpu);
        show(snapshot);
        frames(4);
    }
    const model::KernelRun& run() const { return *session.snapshot()->kernel.run; }
    void at_rest() {
        for (int i = 0; i < 200 && session.machine.zoom != session.machine.wanted; ++i) frame();
        frames(3);
    }
    void zoom(Stop stop) {
        zoom_to(session, stop);
        at_rest();
    }
};

}  // namespace

TEST_CASE("A request leaves its SM's door, passes its slice and its channel and comes home, never too early") {
    for (const std::string_view gpu : {"v100", "h100", "teaching:4"})
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            const MachineScene scene = scene_of(recorded(seed, gpu));
            REQUIRE(scene.machine != nullptr);
            const MachineTrace& machine = *scene.machine;
            const GpuPlaces p = place_gpu({8, 100, 1584, 640}, scene.run->gpu.sms, machine.slices, machine.channels);
            for (size_t i = 0; i < machine.requests.size(); i += 1 + machine.requests.size() / 200) {
                const RequestRecord& r = machine.requests[i];
                if (r.level == MemoryLevel::l1) continue;
                const Stations s = stations_of(machine, r);
                const Point door = route_out(p, r).at(0), slice = route_out(p, r).at(1), home = route_back(p, r).at(1);
                CHECK(near(door, {p.tile[r.sm].x + p.tile_w, door.y}, p.tile_w * 0.2f));
                double at = static_cast<double>(s.begin());
                bool back = false;
                for (int k = 0; k <= 40; ++k, at += static_cast<double>(r.ready) / 40) {
                    const RequestPlace place = place_of(p, machine, r, at);
                    REQUIRE(std::isfinite(place.at.x));
                    REQUIRE(std::isfinite(place.at.y));
                    if (at < static_cast<double>(s.at[2])) CHECK(near(place.at, door, 0.5f));
                    REQUIRE(!(back && !place.comes_back));  // it never turns round twice
                    back = place.comes_back;
                    if (place.comes_back && k < 40)
                        REQUIRE(at >= static_cast<double>(s.at[static_cast<size_t>(Station::back)]) - 1e-6);
                }
                if (s.cycles(Station::slice_queue) > 0)
                    CHECK(near(place_of(p, machine, r, static_cast<double>(s.at[3])).at, slice, 0.5f));
                if (s.cycles(Station::dram) > 0)
                    CHECK(p.channel[r.channel].contains(
                        place_of(p, machine, r, static_cast<double>(s.at[static_cast<size_t>(Station::dram)])).at));
                if (r.kind != RequestKind::store && s.cycles(Station::back) > 0)
                    CHECK(near(place_of(p, machine, r, static_cast<double>(s.end()) - 1e-9).at, home, 1));
            }
        }
}

TEST_CASE("Who is on the way at a moment is who has begun and has not arrived") {
    const MachineScene scene = scene_of(recorded(11, "v100"));
    for (int k = 0; k < 60; ++k) {
        const double cycle = static_cast<double>(scene.trace().cycles) * k / 60 + 0.37 * (k % 3);
        std::vector<uint32_t> slow;
        for (size_t i = 0; i < scene.machine->requests.size(); ++i) {
            const RequestRecord& r = scene.machine->requests[i];
            if (r.level != MemoryLevel::l1 && static_cast<double>(r.begin) <= cycle && static_cast<double>(r.end()) > cycle)
                slow.push_back(static_cast<uint32_t>(i));
        }
        REQUIRE(requests_at(scene, cycle) == slow);
        size_t drawn = 0;
        for (const uint32_t i : slow) drawn += is_drawn(scene, i);
        CHECK(drawn <= 3 * most_marks);
    }
}

TEST_CASE("No warp lights up before what it waited for is home") {
    int waits = 0;
    for (const std::string_view gpu : {"v100", "h100", "teaching:4"})
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            const MachineScene scene = scene_of(recorded(seed, gpu));
            const KernelTrace& trace = scene.trace();
            for (uint32_t w = 0; w < trace.warps.size(); ++w)
                for (const StallRun& stall : trace.warps[w].runs) {
                    const int64_t awaited = awaited_request(scene, w, stall.begin);
                    if (awaited < 0 || stall.reason != StallReason::long_scoreboard) continue;
                    const RequestRecord& request = scene.machine->requests[static_cast<size_t>(awaited)];
                    INFO(gpu << " seed " << seed << " warp " << w << " from " << stall.begin << " to " << stall.end);
                    REQUIRE(stall.end >= request.end());
                    REQUIRE(state_at(trace, trace.warps[w], std::max(stall.begin, request.end() - 1)).issue == nullptr);
                    ++waits;
                }
        }
    CHECK(waits > 100);
}

TEST_CASE("A block stays on its SM, and those that wait, run and are done are all blocks") {
    for (uint64_t seed = 20; seed < 26; ++seed) {
        const MachineScene scene = scene_of(recorded(seed, "teaching:4"));
        const KernelTrace& trace = scene.trace();
        std::vector<int> home(static_cast<size_t>(scene.blocks), -1);
        for (int64_t cycle = 0; cycle < trace.cycles; cycle += 1 + trace.cycles / 150) {
            int64_t resident = 0, done = 0;
            for (uint32_t sm = 0; sm < scene.run->gpu.sms; ++sm)
                for (const uint32_t block : blocks_on(scene, sm, cycle).resident) {
                    if (block == TileState::nobody) continue;
                    ++resident;
                    int& at = home[block];
                    REQUIRE((at < 0 || at == static_cast<int>(sm)));
                    at = static_cast<int>(sm);
                }
            for (const BlockRun& block : trace.blocks) done += block.end <= cycle;
            REQUIRE(blocks_waiting(scene, cycle).waiting + resident + done == scene.blocks);
        }
    }
}

TEST_CASE("A scheduler issues at most what its GPU dispatches in a cycle") {
    for (const std::string_view gpu : {"v100", "p100", "a100"}) {
        const MachineScene scene = scene_of(recorded(31, gpu));
        for (uint32_t sm = 0; sm < scene.run->gpu.sms; sm += 7)
            for (int64_t cycle = 0; cycle < scene.trace().cycles; cycle += 3) {
                uint32_t by_scheduler[16] = {};
                for (const TileIssue& issue : issues_of_sm(scene, sm, cycle, cycle + 1)) ++by_scheduler[issue.scheduler];
                for (const uint32_t n : by_scheduler) REQUIRE(n <= scene.run->gpu.issue_width);
            }
    }
}

TEST_CASE("Tiles, slices and channels lie apart and inside, for any GPU and any size") {
    const auto apart = [](const Rect& a, const Rect& b) {
        return a.right() <= b.x + 0.01f || b.right() <= a.x + 0.01f || a.bottom() <= b.y + 0.01f ||
               b.bottom() <= a.y + 0.01f;
    };
    for (const uint32_t sms : {1u, 2u, 4u, 15u, 80u, 132u, 170u, 256u})
        for (const auto& [w, h] : {std::pair{1584.0f, 640.0f}, {1264.0f, 420.0f}, {760.0f, 300.0f}, {2544.0f, 1100.0f}}) {
            INFO(sms << " SMs in " << w << " x " << h);
            const GpuPlaces p = place_gpu({8, 100, w, h}, sms, 40, 32);
            REQUIRE(p.tile.size() == sms);
            std::vector<Rect> all = p.tile;
            all.insert(all.end(), p.slice.begin(), p.slice.end());
            all.insert(all.end(), p.channel.begin(), p.channel.end());
            for (size_t i = 0; i < all.size(); ++i) {
                REQUIRE(all[i].w > 0);
                REQUIRE(all[i].h > 0);
                REQUIRE(all[i].x >= 7.9f);
                REQUIRE(all[i].right() <= 8.1f + w);
                REQUIRE(all[i].y >= 99.9f);
                REQUIRE(all[i].bottom() <= 100.1f + h);
                for (size_t j = 0; j < i; ++j) REQUIRE(apart(all[i], all[j]));
            }
            for (const Rect& tile : p.tile) REQUIRE(apart(tile, p.crossbar));
        }
}

TEST_CASE("The machine reads at any size and zoom: nothing clashes, and all of it is within the budget of quads") {
    for (const std::string_view gpu : {"v100", "teaching:4"}) {
        MachineDesk desk(3, gpu);
        for (const auto& [w, h, scale] : {std::tuple{1600.0f, 1000.0f, 1.0f},
                                          {1280.0f, 720.0f, 1.0f},
                                          {1600.0f, 1000.0f, 2.0f},
                                          {1280.0f, 720.0f, 2.0f},
                                          {2560.0f, 1440.0f, 1.0f}}) {
            desk.size(w, h, scale);
            for (const StopRow& row : stop_rows()) {
                desk.zoom(row.stop);
                for (const int64_t cycle : {desk.run().result.cycles / 7, desk.run().result.cycles / 2}) {
                    desk.shell.focus.time = cycle;
                    desk.frames(3);
                    INFO(gpu << " " << row.name << " at " << w << "x" << h << " x" << scale << " cycle " << cycle);
                    const std::vector<std::string> clashes = desk.clashes();
                    for (const std::string& clash : clashes) UNSCOPED_INFO(clash);
                    CHECK(clashes.empty());
                    CHECK(desk.quads <= 8'000);
                }
            }
        }
    }
}

TEST_CASE("Enter goes in, Escape goes out, and between two stops nothing can be pressed") {
    MachineDesk desk;
    desk.zoom(Stop::gpu);
    desk.input.mouse_x = 800, desk.input.mouse_y = 500;
    desk.frame();
    desk.key(KeyCode::plus);
    CHECK(desk.session.machine.wanted == 3);
    desk.at_rest();
    CHECK(desk.session.machine.zoom == 3);
    desk.key(KeyCode::escape);
    desk.at_rest();
    CHECK(desk.session.machine.zoom == 2);
}

TEST_CASE("The clock runs smoothly at the chosen speed, and the focus is its whole cycle") {
    MachineDesk desk;
    desk.session.machine.speed = 100;
    desk.shell.focus.time = 10;
    desk.frames(2);
    desk.session.playing = true;
    desk.pace = 0.01;
    desk.frame();
    double before = desk.session.machine.clock;
    for (int i = 0; i < 20; ++i) {
        desk.frame();
        CHECK(std::fabs(desk.session.machine.clock - before - 1) < 0.01);
        CHECK(desk.shell.focus.time == static_cast<int64_t>(desk.session.machine.clock));
        before = desk.session.machine.clock;
    }
    desk.session.machine.speed = 1e9;
    desk.frames(3);
    CHECK_FALSE(desk.session.playing);  // the end
    CHECK(desk.shell.focus.time == desk.run().result.cycles - 1);
}

TEST_CASE("A cycle that is typed is gone to when it is whole") {
    MachineDesk desk;
    const auto label =
        std::find_if(desk.written.begin(), desk.written.end(), [](const auto& t) { return t.text == "cycle"; });
    REQUIRE(label != desk.written.end());
    desk.click(label->ink.right() + 40, label->ink.y + 6);
    const int64_t before = desk.shell.focus.time;
    const int64_t wanted = desk.run().result.cycles / 2;
    for (const char digit : std::to_string(wanted)) {
        CHECK(desk.shell.focus.time == before);
        desk.input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(digit)});
        desk.frames(2);
    }
    CHECK(desk.shell.focus.time == before);
    desk.key(KeyCode::enter);
    CHECK(desk.shell.focus.time == wanted);
}

TEST_CASE("A loop keeps the clock within its cycles, and a followed request stops it where it arrives") {
    MachineDesk desk;
    desk.session.machine.speed = 1000;
    desk.session.machine.loop_from = 40;
    desk.session.machine.loop_to = 90;
    desk.shell.focus.time = 50;
    desk.session.playing = true;
    for (int i = 0; i < 40; ++i) {
        desk.frame();
        CHECK(desk.session.machine.clock >= 40);
        CHECK(desk.session.machine.clock <= 90);
    }
    desk.session.machine.loop_from = desk.session.machine.loop_to = -1;
    desk.session.playing = false;
    const MachineScene scene = scene_of(desk.session.snapshot()->kernel.run);
    const int64_t followed = request_to_follow(scene, 0);
    REQUIRE(followed >= 0);
    const RequestRecord& r = scene.machine->requests[static_cast<size_t>(followed)];
    desk.session.machine.followed = followed;
    desk.session.machine.follow = true;
    desk.shell.focus.time = r.begin;
    desk.frames(2);
    desk.session.playing = true;
    for (int i = 0; i < 4000 && desk.session.playing; ++i) desk.frame();
    CHECK(desk.shell.focus.time == r.end());
    CHECK(desk.shows(with_commas(r.ready) + " cycles"));
}

TEST_CASE("What issues flashes and fades, a value glows when it comes, and with less motion nothing flashes") {
    const Lights runs{.runs = true, .a_second = 10};
    CHECK(runs.flash(40, 40) == 1);
    CHECK(runs.flash(39.9, 40) == 0);  // never before it happens
    float before = 1;
    for (double clock = 40.1; clock < 44; clock += 0.1) {
        const float flash = runs.flash(clock, 40);
        CHECK(flash <= before);
        CHECK((flash == 0) == (clock - 40 >= 10 * flash_seconds - 1e-9));
        before = flash;
    }
    CHECK(runs.glow(40, 40) == 1);
    CHECK(runs.glow(39, 40) == 0);
    CHECK(runs.glow(40 + 10 * glow_seconds, 40) == 0);
    const Lights stands{};  // a step says what it has changed
    CHECK(stands.flash(40, 40) == 0);
    CHECK(stands.glow(40.5, 40) == 1);
    CHECK(stands.glow(41, 40) == 0);
    const Lights calm{.runs = true, .calm = true, .a_second = 10};
    CHECK(calm.flash(40, 40) == 0);
    CHECK((calm.glow(40.9, 40) == 1 && calm.glow(41, 40) == 0));
    const Lights fast{.runs = true, .fast = true, .a_second = 1000};
    CHECK((fast.flash(40, 40) == 0 && fast.glow(40, 40) == 0));
    for (const std::string_view name : {"dark", "light", "high-contrast", "print"})  // letters stay readable on it
        for (const float flash : {0.0f, 0.5f, 1.0f}) {
            const Color fill = lit(data::green, flash, theme_named(name));
            CHECK(contrast(text_on(fill), fill) >= 4.5f);
        }
}

TEST_CASE("Flashes change how bright a mark is and nothing that is said") {
    MachineDesk desk;
    desk.session.machine.speed = 5;
    desk.zoom(Stop::sm);
    const auto words = [&](bool plays, bool calm) {
        desk.shell.motion = calm ? "reduced" : "full";
        desk.session.machine.clock = static_cast<double>(desk.run().result.cycles / 2);
        desk.shell.focus.time = desk.run().result.cycles / 2;
        desk.pace = 0.001;
        desk.session.playing = plays;
        desk.frames(2);
        desk.session.playing = false;
        std::vector<std::string> said;
        for (const UiState::Written& text : desk.written) said.push_back(text.text);
        return said;
    };
    const auto still = words(false, false);
    CHECK(words(true, false) == still);
    CHECK(words(true, true) == still);
}

TEST_CASE("With less motion the zoom jumps") {
    MachineDesk desk;
    desk.shell.motion = "reduced";
    zoom_to(desk.session, Stop::lane);
    desk.frame();
    CHECK(desk.session.machine.zoom == static_cast<double>(Stop::lane));
}

TEST_CASE("At any size an SM shows its units and its memory side, or a chip that brings what is folded") {
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}, {1280.0f, 720.0f, 2.0f}}) {
        INFO(w << "x" << h << " x" << scale);
        MachineDesk desk;
        desk.size(w, h, scale);
        desk.zoom(Stop::sm);
        std::set<std::string> seen;
        const auto look = [&] {
            for (const UiState::Written& text : desk.written) seen.insert(text.text);
        };
        desk.input.mouse_x = w / 2, desk.input.mouse_y = h / 2;
        for (int page = 0; page < 40; ++page) {  // from its head to its foot
            look();
            desk.input.wheel = -2;
            desk.frames(2);
            if (desk.session.machine.wanted != static_cast<double>(Stop::sm)) desk.zoom(Stop::sm);
        }
        desk.zoom(Stop::sm);
        if (desk.click_on("memory side")) look();
        for (const std::string_view part : {"sub-core 0", "sub-core 3", "FP32", "LD/ST", "lanes", "shared memory pipe",
                                            "waiting misses (MSHR)", "crossbar", "L1 and shared memory"}) {
            const bool there = std::any_of(seen.begin(), seen.end(), [&](const std::string& text) {
                return text == part || std::string(part).starts_with(text + " ") || text.find(part) != std::string::npos;
            });
            INFO(part);
            CHECK(there);
        }
    }
}

TEST_CASE("The parts of an SM use the height of a large window") {
    MachineDesk desk;
    desk.size(2560, 1440, 1);
    desk.zoom(Stop::sm);
    desk.shell.focus.time = desk.run().result.cycles / 2;
    desk.frames(3);
    float first = 0, last = 0;  // of the belts in the first column
    for (const UiState::Written& text : desk.written) {
        if (text.ink.x > 100) continue;
        if (text.text == "FP32") first = text.ink.y;
        if (text.text == "tensor") last = text.ink.y;
    }
    REQUIRE(first > 0);
    CHECK(last - first > 160);  // 110 where there is no room to spare
    CHECK((desk.shows("issued last") || desk.shows("nothing was issued lately")));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("describe() says what the picture shows") {
    MachineDesk desk;
    desk.shell.focus.time = desk.run().result.cycles / 2;
    desk.frames(2);
    const std::string text = desk.shell.describe("machine");
    CHECK(text.find("cycle " + with_commas(desk.run().result.cycles / 2)) != std::string::npos);
    CHECK(text.find("blocks on") != std::string::npos);
    CHECK(text.find("schedulers issue in this cycle") != std::string::npos);
    desk.zoom(Stop::sm);
    CHECK(desk.shell.describe("machine").find("sub-core 3: issues in") != std::string::npos);
}

TEST_CASE("While a lesson's question is open the machine gives nothing away") {
    MachineDesk desk;
    const std::unique_ptr<View> view = view_named("machine")->make();  // without the shell, which sets what is revealed
    desk.shell.focus.time = 0;
    for (const Stop stop : {Stop::gpu, Stop::sm, Stop::sub_core}) {
        desk.session.machine.zoom = static_cast<double>(stop);
        desk.session.learn.reveal_steps = -1;
        CHECK(view->describe(desk.session, desk.shell.focus).find("cycle 0") != std::string::npos);
        desk.session.learn.reveal_steps = 1;
        const std::string text = view->describe(desk.session, desk.shell.focus);
        CHECK(text.find("stays hidden until you lock an answer") != std::string::npos);
        CHECK(text.find("cycle") == std::string::npos);
        CHECK(text.find("schedulers") == std::string::npos);
    }
}

TEST_CASE("Before a kernel has run the machine shows the GPU that it will run on, and says what is being done") {
    Desk desk;
    desk.session.workspace = Workspace::machine;
    desk.frames(3);
    CHECK(desk.shows("No kernel has run yet."));
    CHECK(desk.clashes().empty());
    const int empty = desk.quads;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->busy = "timing kernel 1 of 18";
    desk.show(snapshot);
    CHECK(desk.shows("The first kernel runs now."));
    CHECK(desk.shows("timing kernel 1 of 18"));
    CHECK(desk.clashes().empty());
    desk.session.gpu = "teaching:4";
    desk.frames(3);
    CHECK(desk.quads < empty - 76);  // so many SMs fewer
}

TEST_CASE("A click on an SM traces it and goes in, with a warp that is there") {
    MachineDesk desk(3, "teaching:4");
    const model::KernelRun& run = desk.run();
    desk.shell.focus.time = run.result.cycles / 2;
    desk.frames(2);
    desk.session.machine.entering = run.result.trace.sm;  // as if it had been another, and is traced now
    desk.shell.focus.warp = -1;
    desk.frame();
    CHECK(desk.session.machine.entering == -1);
    desk.at_rest();
    CHECK(desk.session.machine.zoom == static_cast<double>(Stop::sm));
    const auto& warps = run.result.trace.warps;
    const auto there = [&](int32_t w) {
        return w >= 0 && warps[static_cast<size_t>(w)].begin <= desk.shell.focus.time &&
               desk.shell.focus.time < warps[static_cast<size_t>(w)].end;
    };
    if (std::any_of(warps.begin(), warps.end(),
                    [&](const WarpTrack& w) { return there(static_cast<int32_t>(&w - warps.data())); }))
        CHECK(there(desk.shell.focus.warp));
}

TEST_CASE("Bring it home runs the clock until the followed request is there") {
    MachineDesk desk;
    desk.session.machine.speed = 1000;
    const MachineScene scene = scene_of(desk.session.snapshot()->kernel.run);
    const int64_t followed = request_to_follow(scene, 0);
    REQUIRE(followed >= 0);
    const RequestRecord& r = scene.machine->requests[static_cast<size_t>(followed)];
    desk.session.machine.followed = followed;
    desk.shell.focus.time = r.begin + 1;
    desk.frames(2);
    REQUIRE(desk.click_on("bring it home"));
    for (int i = 0; i < 4000 && desk.session.playing; ++i) desk.frame();
    CHECK(desk.shell.focus.time == r.end());
    CHECK_FALSE(desk.shows("bring it home"));  // it is
}

TEST_CASE("Where the bar has no room for all stops, where one stands has its place and a mark leads out") {
    MachineDesk desk;
    desk.size(1280, 720, 2);
    desk.zoom(Stop::lane);
    CHECK(desk.shows("one thread"));
    REQUIRE(desk.click_on("..."));
    desk.at_rest();
    CHECK(desk.session.machine.zoom < static_cast<double>(Stop::lane));
}

TEST_CASE("The tour rests at its stops, goes on between them and ends where one can go on alone") {
    REQUIRE(tour_seconds() == 20);
    double before = -1;
    for (double at = 0; at <= 20.5; at += 0.05) {
        const double zoom = tour_at(at).zoom;
        CHECK(zoom >= before);
        CHECK(zoom - before < 1.1);
        before = zoom;
    }
    CHECK(tour_at(0).zoom == 0);
    CHECK(tour_at(3).zoom == 0);
    CHECK(tour_at(5.5).zoom == 1);
    CHECK(tour_at(19).zoom == static_cast<double>(Stop::lane));

    MachineDesk desk;
    begin_tour(desk.session);
    desk.pace = 0.05;
    std::set<std::string> sentences;
    int frames = 0;
    for (; frames < 500 && desk.session.machine.tour >= 0; ++frames) {
        desk.frame();
        if (frames % 20 != 10 || desk.session.machine.tour < 0) continue;
        INFO("after " << desk.session.machine.tour << " s");
        const double zoom = desk.session.machine.zoom;
        if (zoom != std::round(zoom)) continue;
        const std::vector<std::string> clashes = desk.clashes();
        for (const std::string& clash : clashes) UNSCOPED_INFO(clash);
        CHECK(clashes.empty());
        std::string words;
        for (const UiState::Written& text : desk.written)
            if (text.size >= 23) words += text.text + " ";
        CHECK(words.size() > 20);
        sentences.insert(words);
    }
    CHECK(std::abs(frames * 0.05 - 20) < 0.5);
    CHECK(sentences.size() >= 6);
    CHECK(desk.session.machine.zoom == static_cast<double>(Stop::lane));
    CHECK_FALSE(desk.session.playing);
    CHECK(desk.shows("tour"));  // it may be taken again
}

TEST_CASE("A GPU with one memory channel has one heading over it, and one without an L2 none of that name") {
    const auto headings = [](const Desk& desk, std::string_view text) {
        return std::count_if(desk.written.begin(), desk.written.end(),
                             [&](const UiState::Written& w) { return w.text == text && w.size > 12.5f; });
    };
    {  // a desk at a time
        MachineDesk nano(3, "jetson-nano");
        CHECK(headings(nano, name_of(nano.run().gpu.dram_kind.value)) == 1);
        CHECK(nano.clashes() == std::vector<std::string>{});
    }
    MachineDesk desk(3, "teaching:4");
    CHECK(headings(desk, "L2") == 2);
    auto run = std::make_shared<model::KernelRun>(desk.run());
    run->gpu.l2_bytes.value = 0;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    desk.show(snapshot);
    const MachineScene scene = scene_of(run);
    REQUIRE_FALSE(scene.has_l2());
    const int64_t busy = scene.machine->requests[scene.machine->requests.size() / 2].begin + 1;
    desk.shell.focus.time = busy;
    desk.frames(3);
    CHECK(headings(desk, "L2") == 0);
    CHECK(headings(desk, "ports") == 2);
    const std::string said = desk.shell.describe("machine");
    CHECK(said.find("this GPU has no L2") != std::string::npos);
    CHECK(said.find("turn round") == std::string::npos);
    for (const RequestRecord& r : scene.machine->requests) CHECK(request_text(scene, r).find("L2") == std::string::npos);
}

TEST_CASE("A jump comes to the warp that it happens to, and to the next one each time") {
    int found[3] = {};
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        const MachineScene scene = scene_of(recorded(seed, "v100"));
        const KernelTrace& trace = scene.trace();
        int64_t after = 0;
        for (int k = 0; k < 4; ++k) {
            const LandmarkAt next = next_landmark(scene, Landmark::barrier, after);
            if (next.cycle < 0) break;
            REQUIRE(next.cycle > after);
            const WarpState state = state_at(trace, trace.warps[static_cast<size_t>(next.warp)], next.cycle);
            CHECK(state.reason() == StallReason::barrier);
            after = next.cycle, ++found[0];
        }
        if (const LandmarkAt next = next_landmark(scene, Landmark::divergence, 0); next.cycle >= 0) {
            const WarpState state = state_at(trace, trace.warps[static_cast<size_t>(next.warp)], next.cycle);
            REQUIRE(state.issue != nullptr);
            CHECK(std::popcount(state.issue->active) < 32);
            ++found[1];
        }
        if (const LandmarkAt next = next_landmark(scene, Landmark::miss, 0); next.cycle >= 0) {
            const RequestRecord& r = scene.machine->requests[static_cast<size_t>(next.request)];
            CHECK(r.begin == next.cycle);
            CHECK(r.channel != RequestRecord::none);
            CHECK(trace.issues[static_cast<size_t>(r.issue)].warp == static_cast<uint32_t>(next.warp));
            ++found[2];
        }
        CHECK(next_landmark(scene, Landmark::fault, 0).cycle == -1);
        CHECK(next_landmark(scene, Landmark::miss, trace.cycles).cycle == -1);
    }
    CHECK(found[0] > 0);
    CHECK(found[1] > 0);
    CHECK(found[2] > 0);
}

TEST_CASE("What is no cycle is told, and so is a jump that leads nowhere") {
    MachineDesk desk;
    const auto label =
        std::find_if(desk.written.begin(), desk.written.end(), [](const auto& t) { return t.text == "cycle"; });
    REQUIRE(label != desk.written.end());
    const float x = label->ink.right() + 40, y = label->ink.y + 6;
    const int64_t before = desk.shell.focus.time;
    desk.click(x, y);
    for (const char letter : std::string_view("99999999")) {
        desk.input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(letter)});
        desk.frames(2);
    }
    desk.key(KeyCode::enter);
    CHECK(desk.shell.focus.time == before);
    CHECK(desk.said().find("is behind the end") != std::string::npos);
    desk.session.playing = true;  // also while the clock goes on
    desk.frames(3);
    CHECK(desk.said().find("is behind the end") != std::string::npos);
    desk.session.playing = false;
    desk.shell.focus.time = desk.run().result.cycles - 1;
    desk.frames(3);
    CHECK(desk.said().find("is behind the end") == std::string::npos);
    REQUIRE(desk.click_on("miss"));
    CHECK(desk.said().find("no miss comes after this cycle") != std::string::npos);
    CHECK(desk.click_on("barrier"));  // what says so leaves the other jumps where they are
}

TEST_CASE("Where the clock jumps to, a warp is looked at that is there") {
    MachineDesk desk(5, "teaching:4");
    const KernelTrace& trace = desk.run().result.trace;
    desk.zoom(Stop::sm);
    for (int k = 0; k < 20; ++k) {
        desk.shell.focus.time = trace.cycles * k / 20;
        desk.frames(2);
        const int64_t now = desk.shell.focus.time;
        const bool any = std::any_of(trace.warps.begin(), trace.warps.end(),
                                     [&](const WarpTrack& w) { return w.begin <= now && now < w.end; });
        const WarpTrack& looked = trace.warps[static_cast<size_t>(desk.shell.focus.warp)];
        INFO("cycle " << now);
        CHECK((!any || (looked.begin <= now && now < looked.end)));
    }
}

TEST_CASE("A loop that is shorter than a frame still moves, and stays within its cycles") {
    MachineDesk desk;
    desk.session.machine.speed = 1e5;
    desk.session.machine.loop_from = 40;
    desk.session.machine.loop_to = 90;
    desk.shell.focus.time = 50;
    desk.pace = 0.0133;
    desk.session.playing = true;
    std::set<int64_t> seen;
    for (int i = 0; i < 40; ++i) {
        desk.frame();
        CHECK(desk.session.machine.clock >= 40);
        CHECK(desk.session.machine.clock <= 90);
        seen.insert(desk.shell.focus.time);
    }
    CHECK(seen.size() > 3);
}

TEST_CASE("Beside an SM stands how many of its warps are at each line, all of them") {
    MachineDesk desk;
    auto run = std::make_shared<model::KernelRun>(desk.run());
    int32_t lines = 0;
    for (const auto& instruction : run->program->instructions) lines = std::max(lines, instruction.line);
    REQUIRE(lines > 0);
    for (int32_t i = 1; i <= lines; ++i) run->source += "    float x" + std::to_string(i) + " = 0;\n";
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    desk.size(1600, 1400, 1);
    desk.show(snapshot);
    desk.zoom(Stop::sm);
    desk.shell.focus.time = run->result.cycles / 2;
    desk.frames(3);
    REQUIRE(desk.shows("warps here"));
    const KernelTrace& trace = run->result.trace;
    std::map<int32_t, int> expected;
    int all = 0, most = 0;
    for (const WarpTrack& warp : trace.warps)
        if (const WarpState state = state_at(trace, warp, desk.shell.focus.time); state.resident)
            most = std::max(most, ++expected[line_of_pc(*run->program, state.pc())]), ++all;
    REQUIRE(all > 0);
    const std::string sentence = all == most ? "All " + std::to_string(all) + " warps stand at"
                                             : std::to_string(most) + " of " + std::to_string(all) + " warps stand";
    CHECK(desk.said().find(all == 1 ? "Its one warp stands at" : sentence) != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});

    // A warp that stands at no line, on a page that shows but a few: the source is shown from its first line on.
    auto elsewhere = std::make_shared<model::KernelRun>(*run);
    auto program = std::make_shared<ptx::Program>(*run->program);
    for (auto& instruction : program->instructions) instruction.line = instruction.line > lines / 2 ? 1 : 0;
    elsewhere->program = program;
    snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = elsewhere;
    desk.show(snapshot);
    desk.zoom(Stop::sm);
    for (int64_t cycle = 0; cycle < elsewhere->result.cycles; cycle += 1 + elsewhere->result.cycles / 40)
        for (const int32_t line : {-1, 0, 1}) {
            desk.shell.focus.time = cycle;
            desk.shell.focus.line = line;
            desk.frames(2);
            CHECK(desk.shows("float"));
        }
}

TEST_CASE("Beside a launch of a program stand the copies in front of it and behind it") {
    MachineDesk desk;
    auto program = std::make_shared<ProgramRun>();
    runtime::LaunchRecord launch;
    launch.kernel = "histogram", launch.begin_us = 100, launch.end_us = 110;
    program->report.launches.push_back(launch);
    runtime::CopyRecord in, out;
    in.direction = "host to device", in.bytes = 4096, in.begin_us = 10, in.end_us = 20;
    out.direction = "device to host", out.bytes = 1024, out.begin_us = 120, out.end_us = 130;
    program->report.copies = {in, out};
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->source = Source::own;
    snapshot->program.run = program;
    snapshot->program.launch = 0;
    desk.show(snapshot);
    const auto y_of = [&](std::string_view words) {
        for (const UiState::Written& text : desk.written)
            if (text.text.find(words) != std::string::npos && text.ink.x < 140) return text.ink.y;
        FAIL("nothing says " << words);
        return 0.0f;
    };
    CHECK(y_of("copy in") < y_of("histogram"));
    CHECK(y_of("histogram") < y_of("copy out"));
    CHECK(y_of(", done") < y_of("runs"));
    CHECK(y_of("runs") < y_of("is next"));
    CHECK(desk.shows("copy engines"));
    CHECK(desk.shows("had 4 KiB"));  // nothing is copied while the kernel runs
    CHECK(desk.shows("then 1 KiB"));
    snapshot = std::make_shared<Snapshot>(*snapshot);  // the same copy while the kernel runs
    auto overlapped = std::make_shared<ProgramRun>(*program);
    overlapped->report.copies.front().begin_us = 95;
    overlapped->report.copies.front().end_us = 115;
    snapshot->program.run = overlapped;
    desk.show(snapshot);
    CHECK(desk.shows("4 KiB, runs"));
    CHECK_FALSE(desk.shows("had 4 KiB"));
}

TEST_CASE("A copy is on its engine from its begin to its end, and the host's clock is the kernel's within its launch") {
    MachineDesk desk;
    auto step = std::make_shared<nn::StepRecord>();
    step->launches.resize(3);
    for (size_t i = 0; i < 3; ++i) {
        step->launches[i].label = fmt::format("launch {}", i);
        step->launches[i].begin_us = 100 * static_cast<double>(i + 1);
        step->launches[i].end_us = step->launches[i].begin_us + 50;
    }
    step->copies.push_back({.name = "x", .bytes = 4096, .begin_us = 10, .end_us = 20});
    step->copies.push_back({.name = "y", .bytes = 64, .begin_us = 210, .end_us = 230});
    step->copies.push_back({.name = "loss", .bytes = 4, .to_device = false, .begin_us = 240, .end_us = 400});
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->source = Source::training;
    snapshot->training.step = step;
    desk.shell.focus.launch = 1;
    desk.show(snapshot);
    const MachineScene scene = scene_of(snapshot->kernel.run);
    Ui none;
    for (const double share : {0.0, 0.25, 0.5, 0.7, 0.9}) {
        MachineFrame frame{none, desk.session, desk.shell.focus, *snapshot, &scene};
        frame.clock = share * static_cast<double>(scene.trace().cycles);
        const HostClock clock = host_clock(frame);
        REQUIRE(clock.work.size() == 6);
        CHECK(clock.work[clock.shown].launch == 1);
        CHECK(std::abs(clock.now_us - (200 + 50 * share)) < 1e-6);
        CHECK(std::is_sorted(clock.work.begin(), clock.work.end(),
                             [](const HostWork& a, const HostWork& b) { return a.begin_us < b.begin_us; }));
        const EngineNow in = engine_at(clock, {CopyWay::in}), out = engine_at(clock, {CopyWay::out});
        CHECK((in.runs != nullptr) == (clock.now_us >= 210 && clock.now_us < 230));
        CHECK((out.runs != nullptr) == (clock.now_us >= 240));
        for (const EngineNow& engine : {in, out}) {
            if (engine.before != nullptr) CHECK(engine.before->end_us <= clock.now_us);
            if (engine.next != nullptr) CHECK(engine.next->begin_us > clock.now_us);
        }
    }
}

TEST_CASE("Each kernel of a training step is opened by a press beside the GPU") {
    Desk desk({.training_steps = 1, .setup = [] {
                   TrainingSetup setup = setup_of("mlp");
                   setup.batch = 16;
                   return setup;
               }()});
    desk.session.workspace = Workspace::machine;
    desk.settle();
    for (int i = 0; i < 20 && !desk.session.snapshot()->kernel.run; ++i) desk.settle();
    const auto first = desk.session.snapshot()->kernel.run;
    REQUIRE(first);
    const auto launches = desk.session.snapshot()->training.step->launches;
    const int before = desk.shell.focus.launch;
    REQUIRE(before > 0);
    const std::string wanted = launches[static_cast<size_t>(before) - 1].label;
    REQUIRE(desk.click_on(wanted));
    for (int i = 0; i < 6; ++i) desk.settle();
    CHECK(desk.shell.focus.launch == before - 1);
    CHECK(desk.session.snapshot()->kernel.run != first);
    CHECK(desk.session.snapshot()->kernel.label.starts_with(wanted));
}

TEST_CASE(
    "L2's rate is the time in which its slices serve, never more than all of it, and nothing issues before the first") {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        const MachineScene scene = scene_of(recorded(seed, "v100"));
        for (const Rates& r : scene.rates) CHECK(r.l2 <= 1.002);
        int64_t first = INT64_MAX;
        for (const auto& of_sm : scene.machine->issues)
            if (!of_sm.empty()) first = std::min(first, scene.machine->issues_from + of_sm.front().after);
        CHECK(scene.silent_until <= first);
        CHECK(issues_kept(scene, scene.silent_until - 1) == (scene.silent_until > 0));
        size_t before = SIZE_MAX;
        for (const auto& [letter, meaning] : scene.letters) {
            const auto uses = static_cast<size_t>(std::count_if(
                scene.trace().issues.begin(), scene.trace().issues.end(),
                [&, letter = letter](const auto& i) { return !i.folded && letter_of(*scene.timeline, i.pc) == letter; }));
            CHECK(uses > 0);
            CHECK(uses <= before);
            before = uses;
        }
    }
}

TEST_CASE("A followed request says whether it is to come, on its way or home") {
    MachineDesk desk;
    const MachineScene scene = scene_of(desk.session.snapshot()->kernel.run);
    const int64_t followed = request_to_follow(scene, 100);
    REQUIRE(followed >= 0);
    const RequestRecord& r = scene.machine->requests[static_cast<size_t>(followed)];
    REQUIRE(r.level != MemoryLevel::l1);
    desk.session.machine.followed = followed;
    const auto says = [&](int64_t cycle, const std::string& words) {
        desk.shell.focus.time = cycle;
        desk.frames(3);
        INFO(cycle);
        CHECK(desk.shows(words));
    };
    says(r.begin - 1, "leaves in cycle " + with_commas(r.begin));
    says(r.begin + 1, "1 so far");
    says(r.end(), "is home since cycle " + with_commas(r.end()));
}

TEST_CASE("A launch that a fault ends is told at its cycle, at its SM and its warp, and the jump goes there") {
    simt::Memory memory;
    const uint64_t word = memory.allocate(128, "word");
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("v100").value();
    run->before = std::make_shared<const simt::Memory>(memory);
    run->program = simt::test::text_program(
        simt::test::text_kernel("ld.param.u64 %rd1, [p0];\nmov.u32 %r2, %tid.x;\nst.global.u32 [%rd1+1048576], %r2;"));
    run->config = simt::test::config_of({2, 1, 1}, {64, 1, 1}, {word});
    model::TimedOptions options;
    options.machine = true;
    run->result = model::launch(run->gpu, *run->program, run->config, memory, options);
    REQUIRE(run->result.fault);
    const MachineScene scene = scene_of(run);
    const KernelTrace& trace = scene.trace();
    CHECK(scene.fault.cycle == trace.cycles - 1);
    CHECK(scene.fault.sm >= 0);
    CHECK(fault_sentence(scene, scene.fault.cycle - 1).empty());
    CHECK(fault_sentence(scene, scene.fault.cycle).find("The launch ends here: invalid global write") == 0);
    const LandmarkAt next = next_landmark(scene, Landmark::fault, 0);
    CHECK(next.cycle == trace.cycles - 1);
    CHECK(next_landmark(scene, Landmark::fault, next.cycle).cycle == -1);
    if (scene.fault.sm == static_cast<int64_t>(trace.sm)) {
        REQUIRE(next.warp >= 0);
        CHECK(trace.warps[static_cast<size_t>(next.warp)].block == 0);
    }
    MachineDesk desk;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    desk.show(snapshot);
    desk.session.machine.offers_tour = true;
    desk.frames(3);
    REQUIRE(desk.click_on("fault"));
    desk.frames(3);
    CHECK(desk.shell.focus.time == trace.cycles - 1);
    CHECK(desk.said().find("The launch ends here:") != std::string::npos);
}

TEST_CASE("Beside an SM stand the bits that its warp's last instruction left in a lane, where there is room") {
    MachineDesk desk;
    desk.zoom(Stop::sm);
    CHECK(desk.shows("bit by bit"));
    desk.size(1280, 720, 1);
    desk.frames(4);
    CHECK_FALSE(desk.shows("bit by bit"));
}

TEST_CASE("in a small window the tour's SM keeps its rows of warps above its key") {
    MachineDesk desk;
    desk.size(900, 500, 1);
    begin_tour(desk.session);
    desk.session.machine.zoom = desk.session.machine.wanted = static_cast<double>(Stop::sm);
    desk.pace = 0;
    desk.session.machine.tour = 11;
    desk.frames(2);
    REQUIRE(desk.shows("sub-core 0"));
    float key = 0;
    for (const UiState::Written& text : desk.written)
        if (text.text == "issued") key = text.ink.y;
    REQUIRE(key > 0);
    for (const UiState::Written& text : desk.written)
        if (text.text.starts_with("no warp is ready") || text.text.starts_with("picks ")) CHECK(text.ink.bottom() < key);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("an SM of a launch that was stopped is not waited for: it cannot be traced any more") {
    MachineDesk desk;
    desk.zoom(Stop::gpu);
    REQUIRE(desk.click_on("43"));
    CHECK(desk.session.machine.entering == 43);
    desk.session.machine.entering = -1;
    desk.shell.focus.sm = 0;
    auto stopped = std::make_shared<model::KernelRun>(desk.run());
    stopped->result.stopped = true;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = stopped;
    desk.show(snapshot);
    desk.zoom(Stop::gpu);
    REQUIRE(desk.click_on("43"));
    CHECK(desk.session.machine.entering == -1);
    CHECK(desk.shell.focus.sm == 0);
    desk.input.mouse_x += 3;
    desk.frames(12);
    CHECK(desk.said().find("the launch was stopped") != std::string::npos);
}

TEST_CASE("Escape ends the tour where it is") {
    MachineDesk desk;
    begin_tour(desk.session);
    desk.frames(80);
    REQUIRE(desk.session.machine.tour > 0);
    desk.key(KeyCode::escape);
    CHECK(desk.session.machine.tour < 0);
}

TEST_CASE("the liveliest moment has an instruction that issues and as many requests on their way as any issue") {
    for (const uint64_t seed : {3u, 7u, 11u}) {
        const auto run = recorded(seed, "v100");
        const MachineScene scene = scene_of(run);
        const LivelyMoment moment = lively_moment(scene);
        const auto& issues = scene.trace().issues;
        if (issues.empty()) continue;
        REQUIRE(moment.cycle >= 0);
        CHECK(std::ranges::any_of(issues, [&](const IssueRecord& issue) {
            return issue.cycle == moment.cycle && static_cast<int32_t>(issue.warp) == moment.warp;
        }));
        const size_t here = requests_at(scene, static_cast<double>(moment.cycle)).size();
        if (issues.size() < 2000)
            for (const IssueRecord& issue : issues)
                CHECK(requests_at(scene, static_cast<double>(issue.cycle)).size() <= here);
    }
}

TEST_CASE("a step that the host ran says that it launched no kernel, and offers one") {
    Desk desk({.training_steps = 1, .setup = [] {
                   TrainingSetup setup = setup_of("mlp");
                   setup.on_gpu = false;
                   setup.batch = 16;
                   return setup;
               }()});
    desk.session.workspace = Workspace::machine;
    desk.settle();
    for (int i = 0; i < 6 && !desk.session.snapshot()->training.step; ++i) desk.settle();
    REQUIRE(desk.session.snapshot()->training.step);
    REQUIRE_FALSE(desk.session.snapshot()->kernel.run);
    CHECK(desk.said().find("ran on this computer's processor, which launches no kernel") != std::string::npos);
    REQUIRE(desk.click_on("Run a step on the modelled V100"));
    for (int i = 0; i < 20 && !desk.session.snapshot()->kernel.run; ++i) desk.settle();
    CHECK(desk.session.snapshot()->kernel.run);
    CHECK(desk.session.snapshot()->training.setup.batch == 1);
    CHECK(desk.said().find("launches no kernel") == std::string::npos);
}

TEST_CASE("a lesson whose runs are planned says that no kernel runs in it, and offers one further in") {
    Desk desk({.lesson = "C10", .training_steps = 0});
    desk.session.workspace = Workspace::machine;
    desk.session.machine.zoom = desk.session.machine.wanted = static_cast<double>(Stop::sm);
    for (int i = 0; i < 20 && desk.said().find("C10 runs no kernel of its own") == std::string::npos; ++i) desk.settle();
    REQUIRE_FALSE(desk.session.snapshot()->kernel.run);
    CHECK(desk.said().find("C10 runs no kernel of its own") != std::string::npos);
    desk.session.machine.zoom = desk.session.machine.wanted =
        static_cast<double>(Stop::cluster);  // here the plan itself is on show
    desk.settle();
    CHECK(desk.said().find("runs no kernel of its own") == std::string::npos);
    desk.session.machine.zoom = desk.session.machine.wanted = static_cast<double>(Stop::sm);
    desk.settle();
    REQUIRE(desk.click_on("Run a step on the modelled H100"));
    for (int i = 0; i < 40 && !desk.session.snapshot()->kernel.run; ++i) desk.settle();
    CHECK(desk.session.snapshot()->kernel.run);
    CHECK(desk.said().find("runs no kernel of its own") == std::string::npos);
}

}  // namespace gui_machine_test
