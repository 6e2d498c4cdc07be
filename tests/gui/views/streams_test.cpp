// D8 in the whole interface without a window: what it says, dragging a copy to another stream, the same by keyboard, zoom,
// what an open prediction hides, and a training step's own calls.
#include <fstream>

#include "app/gui/view.h"
#include "app/gui/views/streams/streams_data.h"
#include "core/base/files.h"
#include "tests/gui/desk.h"

namespace gui_streams_test {

using namespace lockstep;
using namespace lockstep::gui;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const scene::HostRun> host_run() {
    static const auto run = [] {
        const auto text = scene::parse_host(R"(kernels damp.cu
host   x  f32[32768 ramp] pinned
host   y  f32[32768 zero] pinned
malloc dx f32[32768]
malloc dy f32[32768]
let n = 8192
for i = 0 .. 3
  h2d    dx[$(i * n):$(i * n + n)] x[$(i * n):$(i * n + n)] stream=$(i + 1)
  launch damp(dy[$(i * n):$(i * n + n)], dx[$(i * n):$(i * n + n)], 2, $n) grid=32 block=256 stream=$(i + 1)
  d2h    y[$(i * n):$(i * n + n)] dy[$(i * n):$(i * n + n)] stream=$(i + 1)
end
event e stream=1
wait  e stream=2
sync
)",
                                            "four.host");
        return scene::run_host(text.value(), model::gpu_named("teaching").value(),
                               resource_root() / "lessons" / "A03_host_and_device")
            .value();
    }();
    return run;
}

struct Desk : test::Desk {
    explicit Desk(std::shared_ptr<const scene::HostRun> host, std::shared_ptr<const nn::StepRecord> step = nullptr)
        : test::Desk({.start = false}, "light") {
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->host = std::move(host);
        snapshot->training.step = std::move(step);
        shell.show_alone("streams");
        show(snapshot);
    }
    std::string text() { return shell.describe("streams"); }
};

}  // namespace

TEST_CASE("the timeline says every operation with its stream, bytes, speed and time") {
    Desk desk(host_run());
    const std::string text = desk.text();
    CHECK_THAT(text, Contains("four.host · Teaching GPU") || Contains("four.host"));
    CHECK_THAT(text, Contains("line 8, stream 1: h2d dx[0:8192]; 32,768 bytes in 3.0 µs, 10.8 GB/s"));
    CHECK_THAT(text, Contains("on the critical path"));
    CHECK_THAT(text, Contains("copy engine H2D: works 12.2 µs"));
    CHECK(desk.quads > 100);
    CHECK(desk.quads < 8000);
}

TEST_CASE("Up and Down choose an operation, Page Down moves it to the next stream, and the change is told") {
    Desk desk(host_run());
    for (int i = 0; i < 4; ++i) desk.key(KeyCode::down);  // two mallocs, the copy in, the kernel
    CHECK_THAT(desk.text(), Contains(">   line 9, stream 1: damp(dy[0:8192], dx[0:8192])") ||
                                Contains("> line 9, stream 1: damp(dy[0:8192], dx[0:8192])"));
    CHECK(desk.session.host_line == 9);
    desk.key(KeyCode::page_down);
    CHECK_THAT(desk.text(),
               Contains("line 9, stream 2: damp") && Contains("nothing orders this: damp(dy[0:8192], dx[0:8192]) reads "
                                                              "'dx' while h2d dx[0:8192] may still be writing it"));
    desk.key(KeyCode::page_up);
    CHECK_THAT(desk.text(), Contains("line 9, stream 1: damp") && !Contains("nothing orders this"));
    CHECK_THAT(desk.text(), Contains("in stream 1: "));
}

TEST_CASE("a bar dragged to another stream's row moves there, a drag along the row pans, and a click only chooses") {
    Desk desk(host_run());
    const StreamBoard board = make_board(*desk.session.snapshot());
    // Where the copy out of the last chunk stands: find it by its tooltip-free facts, by clicking along the row of stream 4.
    const auto chosen_line = [&] { return desk.session.host_line; };
    float found_x = -1, found_y = -1;
    for (float y = 150; y < 900 && found_x < 0; y += 12)
        for (float x = 200; x < 1580 && found_x < 0; x += 12) {
            desk.session.host_line = -1;
            desk.click(x, y);
            if (chosen_line() == 8 && desk.text().find("> line 8, stream 1: h2d") != std::string::npos)
                found_x = x, found_y = y;
        }
    REQUIRE(found_x > 0);
    const std::string before = desk.text();
    // Downwards row by row until it lands in another stream.
    bool moved = false;
    for (float by = 20; by < 120 && !moved; by += 10) {
        desk.drag(found_x, found_y, found_x, found_y + by);
        moved = desk.text().find("> line 8, stream 1") == std::string::npos &&
                desk.text().find("> line 8, stream") != std::string::npos;
    }
    CHECK(moved);
    CHECK_THAT(desk.text(), Contains("µs, "));
}

TEST_CASE("a move that orders what nothing ordered before says so") {
    const auto folder = resource_root() / "lessons" / "A14_streams";
    const auto text = scene::parse_host(read_file(folder / "too_early.host").value(), "too_early.host");
    REQUIRE(text.ok());
    const auto run = scene::run_host(text.value(), model::gpu_named("teaching").value(), folder);
    REQUIRE(run.ok());
    Snapshot snapshot;
    snapshot.host = run.value();
    StreamBoard board = make_board(snapshot);
    REQUIRE(board.hazards.size() == 1);
    CHECK_THAT(caption_of(board), Contains("Nothing orders this"));
    for (size_t i = 0; i < board.program.operations.size(); ++i)
        if (board.program.operations[i].name == "h2d dw") board.move(static_cast<int>(i), 2);
    CHECK(board.hazards.empty());
    CHECK_THAT(caption_of(board), Contains("everything is ordered now"));
}

TEST_CASE("the wheel zooms around the pointer and Home shows everything again") {
    Desk desk(host_run());
    const int whole = desk.quads;
    desk.input.mouse_x = 500;
    desk.input.mouse_y = 400;
    desk.input.wheel = 12;
    desk.frame();
    desk.frame();
    CHECK(desk.quads != whole);
    desk.input.mouse_x = -1;
    desk.key(KeyCode::home);
    desk.frame();
    CHECK(std::abs(desk.quads - whole) < 40);
}

TEST_CASE("the cursor stands where the clock of the kernel on show stands, and a click in its bar sets that clock") {
    const auto host = host_run();
    Desk desk(host);
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    size_t kernel = 0;
    while (kernel < host->runs.size() && !(host->runs[kernel] && host->runs[kernel]->before)) ++kernel;
    REQUIRE(kernel < host->runs.size());
    snapshot->kernel.run = host->runs[kernel];
    desk.show(snapshot);
    const int64_t cycles = snapshot->kernel.run->result.cycles;
    const model::OperationTime bar = make_board(*snapshot).schedule.operations[kernel];
    for (const double share : {0.25, 0.75}) {
        desk.shell.focus.time = static_cast<int64_t>(share * static_cast<double>(cycles));
        desk.frames(2);
        INFO(bar.begin_us << " to " << bar.end_us);
        CHECK(desk.shows(fmt::format("{:.1f}", bar.begin_us + share * (bar.end_us - bar.begin_us))));
    }
    // Along the picture: every clock that a click sets is that of the moment under it, so it grows with x.
    std::vector<int64_t> clocks;
    for (float y = 150; y < 900 && clocks.size() < 2; y += 14) {
        clocks.clear();
        for (float x = 150; x < 1590; x += 6) {
            desk.shell.focus.time = -1;
            desk.frame();
            desk.click(x, y);
            if (desk.shell.focus.time >= 0) clocks.push_back(desk.shell.focus.time);
        }
    }
    REQUIRE(clocks.size() > 2);
    CHECK(std::is_sorted(clocks.begin(), clocks.end()));
    CHECK(clocks.back() < cycles);
}

TEST_CASE("bars of eight streams keep their letters at 1280 x 720, and inside themselves") {
    test::Desk desk({.lesson = "A14", .lesson_step = 2}, "light");
    desk.size(1280, 720, 1);
    desk.session.workspace = Workspace::learn;
    desk.settle();
    auto& given = desk.session.lesson.predictions[2][0];
    given.chosen = 0, given.locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    desk.session.learn.run_shown = 2;  // the run's own views
    desk.settle();
    for (const char* letter : {"K", "I", "O"}) {
        const auto count = std::count_if(desk.written.begin(), desk.written.end(),
                                         [&](const UiState::Written& text) { return text.text == letter; });
        INFO(letter);
        CHECK(count >= 8);
    }
    CHECK(desk.shows("critical path"));  // the legend is there too
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("with ten rows and more the streams keep their legend, and names stay inside their bars") {
    test::Desk desk({.lesson = "A14", .lesson_step = 4}, "light");
    desk.size(1280, 720, 1);
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("critical path"));
    REQUIRE(desk.shell.show_alone("streams"));
    for (const float scale : {1.0f, 2.0f}) {
        desk.size(1280, 720, scale);
        desk.frames(3);
        INFO(scale);
        CHECK(desk.shows("K kernel"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("facts of an operation know its call on the critical path, as the picture does") {
    Snapshot snapshot;
    snapshot.host = host_run();
    const StreamBoard board = make_board(snapshot);
    int calls = 0;
    for (size_t i = 0; i < board.program.operations.size(); ++i) {
        const auto operation = static_cast<int>(i);
        const bool call = critical(board, operation, true), work = critical(board, operation, false);
        calls += call;
        INFO(facts_of(board, operation));
        CHECK((facts_of(board, operation).find("critical path") != std::string::npos) == (call || work));
    }
    CHECK(calls > 0);
}

TEST_CASE("the legend names what the picture has, and nothing else") {
    Desk desk(host_run());
    for (const char* words : {"K kernel", "I copy in", "O copy out", "a call"}) CHECK(desk.shows(words));
    for (const char* words : {"W host works", "D copy within"}) CHECK_FALSE(desk.shows(words));
}

TEST_CASE("an open prediction hides the timeline") {
    Desk desk(host_run());
    desk.session.learn.reveal_steps = 0;
    CHECK_THAT(view_named("streams")->make()->describe(desk.session, desk.shell.focus),
               Contains("stays hidden until you lock an answer") && !Contains("32,768 bytes"));
}

TEST_CASE("a timed training step shows its own copies and kernels, and nothing of it can be moved") {
    auto step = std::make_shared<nn::StepRecord>();
    step->device = "sim:v100";
    step->model = "mlp";
    device::CopyEvent copy;
    copy.name = "x";
    copy.bytes = 50176;
    step->copies.push_back(copy);
    device::LaunchEvent launch;
    launch.label = "fc1 matmul";
    launch.enqueue_begin_us = 10;
    launch.cycles = 15300;
    step->launches.push_back(launch);
    Desk desk(nullptr, step);
    CHECK_THAT(desk.text(),
               Contains("step 0 of mlp") && Contains("50,176 bytes") && Contains("fc1 matmul; 10.0 µs on the SMs"));
    StreamBoard board = make_board(*desk.session.snapshot());
    REQUIRE(!board.empty());
    CHECK(!board.movable(0));
    CHECK(board.schedule.operations[1].begin_us > board.schedule.operations[0].end_us);
    // A step that ran for its numbers alone has no times.
    auto untimed = std::make_shared<nn::StepRecord>(*step);
    untimed->launches[0].cycles = 0;
    Snapshot snapshot;
    snapshot.training.step = untimed;
    CHECK(make_board(snapshot).empty());
}

TEST_CASE("a host program that is refused says why and where, in place of its timeline") {
    test::Desk desk({.start = false}, "light");
    desk.session.desk.document().name = "bad.host";
    auto compiled = std::make_shared<CompiledKernel>();
    compiled->messages.push_back({"the extents are not closed: ']' is missing", {"bad.host", 2, 1}, {}});
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->own.compiled = compiled;
    desk.shell.show_alone("streams");
    desk.show(snapshot);
    CHECK(desk.shows("bad.host:2:"));
    CHECK_THAT(desk.shell.describe("streams"), Contains("bad.host:2: the extents are not closed"));
}

TEST_CASE("the caption compares the program with the same calls one after the other") {
    const StreamBoard board = [] {
        Snapshot snapshot;
        snapshot.host = host_run();
        return make_board(snapshot);
    }();
    REQUIRE(board.schedule.overlap > 0);
    CHECK(board.schedule.speedup() > 1);
    CHECK_THAT(caption_of(board), Contains(fmt::format("the same calls one after the other take {:.1f} µs, {:.2f} times",
                                                       board.schedule.serial_us, board.schedule.speedup())));
}

}  // namespace gui_streams_test
