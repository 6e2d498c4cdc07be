// Pictures of single lessons: what each tells of the lesson's own run, what it keeps back while a question is open, and that
// it reads at any size.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/gui/views/roofline/measured_data.h"
#include "app/gui/views/sketch/sketch.h"
#include "tests/gui/lesson_desk.h"

namespace gui_lesson_pictures_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("the line's picture squares its misses, and keeps the cost back while it is asked for") {
    Desk desk({.lesson = "B01", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK_FALSE(desk.shows("the cost is 16"));
    answer(desk, 1);
    CHECK(desk.shows("w = 1, b = 1: the cost is 16"));
    go_to(desk, 6);
    CHECK(desk.shows("40 corrections: the cost goes from 29 to"));
    CHECK(said_by(desk, "line_fit").find("after 0 corrections: w 0, b 0, cost 29\n") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("steps against examples: one curve through two runs, and no run before its question is answered") {
    Desk desk({.lesson = "B09", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "batch_sizes").find("batch 512") == std::string::npos);
    for (int step = 1; step <= 3; ++step) {
        go_to(desk, step);
        answer(desk, step);
    }
    go_to(desk, 4);
    const std::string said = said_by(desk, "batch_sizes");
    CHECK(said.find("batch 8: 133 steps, 1,064 examples\n") != std::string::npos);
    CHECK(said.find("it bends at batch 14") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("a shift of the data costs little in a flat valley and ten times as much in a sharp one") {
    Desk desk({.lesson = "B10", .lesson_step = 8});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("The same shift costs 0.09 in the flat valley and 0.9 in the sharp valley"));
    reads_at_any_size(desk);
}

TEST_CASE("each layer has the lengths of its weights and of its gradient", "[long]") {
    Desk desk({.lesson = "B10", .lesson_step = 6});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const std::string said = said_by(desk, "layer_rates");
    for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
        CHECK(said.find(std::string(name) + " (") != std::string::npos);
    reads_at_any_size(desk);
}

namespace {

struct Steps : Desk {
    Steps(const char* lesson, int step) : Desk({.lesson = lesson, .lesson_step = step}) {
        session.workspace = Workspace::learn;
        settle();
    }
    // Where a text stands in a picture, which is written after the lesson's; it has to be there.
    UiState::Written text(const std::string& words) const {
        for (size_t i = written.size(); i-- > 0;)
            if (written[i].text == words) return written[i];
        FAIL("nothing says '" << words << "'");
        return {};
    }
};

// At twice the text size every panel stands behind a tab of its own.
void reads_behind_every_tab(Desk& desk) {
    desk.size(1600, 1000, 2);
    desk.frames(3);
    std::vector<std::pair<std::string, Rect>> tabs;
    for (const UiState::Written& one : desk.written)
        if (one.ink.y > 110 && one.ink.bottom() < 165) tabs.emplace_back(one.text, one.ink);
    CHECK(tabs.size() > 1);
    for (const auto& [name, ink] : tabs) {
        desk.click(ink.x + ink.w / 2, ink.y + ink.h / 2);
        desk.frames(3);
        INFO("behind the tab " << name);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

}  // namespace

TEST_CASE("a number can be typed by mouse at any size: the last chip of the pad is whole and clears a digit") {
    for (const auto& [lesson, step] : {std::pair{"A02", 1}, {"A05", 2}, {"A06", 6}}) {
        Steps desk(lesson, step);
        reads_at_any_size(desk);
        desk.size(1280, 720, 1);
        desk.frames(3);
        INFO(lesson);
        REQUIRE(desk.click_on("9"));
        CHECK(sketch_of(desk.session.lesson)->sketch.values.front() == 9);
        REQUIRE(desk.click_on("take back"));
        CHECK_FALSE(std::isfinite(sketch_of(desk.session.lesson)->sketch.values.front()));
    }
}

TEST_CASE("a number below zero can be written: the sign is turned by its chip and by its key") {
    Steps desk("BX", 4);
    desk.size(1280, 720, 1);
    desk.frames(3);
    const auto put = [&] { return sketch_of(desk.session.lesson)->sketch.values.front(); };
    for (const char* sign : {"9", "-", "9"}) {
        INFO(sign);
        REQUIRE(desk.click_on(sign));
    }
    CHECK(put() == -99);
    REQUIRE(desk.click_on("-"));
    CHECK(put() == 99);
    for (int i = 0; i < 2; ++i) REQUIRE(desk.click_on("take back"));
    REQUIRE(desk.click_on("-"));
    CHECK_FALSE(std::isfinite(put()));
}

TEST_CASE("lanes have their numbers at any size, before the answer and after it") {
    Steps desk("A06", 5);
    const auto numbered = [&](float width, float height, float scale) {
        desk.size(width, height, scale);
        desk.frames(3);
        INFO(width << " x " << height << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
        if (!desk.shows("The 32 lanes at line 8")) return;  // the lesson's text has the whole window
        for (const char* lane : {"0", "4", "16", "28", "31"}) CHECK(desk.text(lane).ink.x > 0);
        CHECK(desk.text("31").ink.right() > desk.text("28").ink.right());
    };
    for (const bool answered : {false, true}) {
        if (answered) {
            for (size_t lane = 0; lane < 16; ++lane) sketch_of(desk.session.lesson)->sketch.values[lane] = 1;
            sketch_of(desk.session.lesson)->locked = true;
            desk.session.post(ask::LockPrediction{0});
            desk.settle();
        }
        numbered(1600, 1000, 1), numbered(1280, 720, 1), numbered(1600, 1000, 2);
    }
}

TEST_CASE("the bars of the funnel stand at one pitch, so that each loss begins at the bar above it") {
    for (const auto& [width, height] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
        Steps desk("A05", 4);
        desk.size(width, height, 1);
        desk.frames(3);
        const float pitch = desk.text("fit at once").ink.y - desk.text("can hold").ink.y;
        CHECK(desk.text("active").ink.y - desk.text("fit at once").ink.y == Approx(pitch).margin(2));
        CHECK(desk.text("in a lens").ink.y - desk.text("can hold").ink.y == Approx(5 * pitch).margin(6));
    }
}

TEST_CASE("a run is guessed on the roofline where the step asks for it, and in no step after that") {
    Steps desk("A11", 0);
    CHECK(desk.session.roof.guessing());
    go_to(desk, 1);  // left without a guess: its text tells of the run
    CHECK_FALSE(desk.session.roof.guessing());
    CHECK(desk.shows("Run 1 reaches"));
    go_to(desk, 8);
    CHECK_FALSE(desk.session.roof.guessing());
}

TEST_CASE("a step begins where its line is issued for the n-th time") {
    Steps desk("A04", 2);
    const auto& steps = desk.session.snapshot()->kernel.history->steps;
    const auto now = static_cast<size_t>(desk.session.sm.history_step);
    REQUIRE(now < steps.size());
    CHECK(std::count_if(steps.begin(), steps.begin() + static_cast<int64_t>(now) + 1,
                        [&](const simt::WarpStep& one) { return one.pc == steps[now].pc; }) == 6);
}

TEST_CASE("where the own picture stands above a question, what is not asked for may be seen") {
    {
        Steps ladder("A07", 2);
        CHECK_FALSE(ladder.shows("Hidden until you lock an answer."));
        const std::string rungs = said_by(ladder, "ladder");
        CHECK(rungs.find("shared memory, median") != std::string::npos);
        CHECK(rungs.find("L2") == std::string::npos);
        CHECK(rungs.find("DRAM") == std::string::npos);
    }
    Steps warps("A04", 3);
    CHECK(warps.session.learn.reveal_steps > 1);
    CHECK(warps.shell.focus.time > 0);
}

TEST_CASE("threads past the end of the arrays are marked and said, once nothing is asked about them") {
    Steps desk("A02", 5);
    CHECK(desk.shows("past the end"));
    CHECK(said_by(desk, "threads").find("From 20 on they are past the end of the arrays.") != std::string::npos);
    go_to(desk, 0);
    CHECK_FALSE(desk.shows("past the end"));
    reads_at_any_size(desk);
}

TEST_CASE("a few SMs share the width of their picture, with their names and those of their blocks") {
    Steps desk("A02", 7);
    answer(desk, 7);
    desk.size(1280, 720, 1);
    desk.frames(3);
    CHECK(desk.text("SM 1").ink.x - desk.text("SM 0").ink.x > 84);
    CHECK(desk.shows("block 0"));
    reads_at_any_size(desk);
}

TEST_CASE("a line with several loads opens on the one that costs most") {
    Steps desk("A12", 13);
    CHECK(said_by(desk, "coalesce").find("touches 32 sectors") != std::string::npos);
}

TEST_CASE("products of FP16 are drawn, with the matrix that they are added to and the tiles of a launch's blocks") {
    Steps desk("A13", 0);
    std::string said = said_by(desk, "products");
    CHECK(said.find("D (derived): A [16 × 16] times B [16 × 16]") != std::string::npos);
    CHECK(said.find("added to C's") != std::string::npos);
    CHECK(desk.shows("Each element of D is a row of A times a column of B"));
    reads_at_any_size(desk);
    go_to(desk, 15);
    said = said_by(desk, "products");
    CHECK(said.find("Each of 16 blocks makes 16 × 16 elements, from 16 rows of A and 16 columns of B.") !=
          std::string::npos);
    CHECK(desk.quads < 8000);
    reads_at_any_size(desk);
}

TEST_CASE("a tensor core's piece shows four multiply-adds of a sum and the lanes that hold their numbers") {
    Steps desk("A13", 4);
    const std::string said = said_by(desk, "tensor_core");
    CHECK(said.find("64 pieces an instruction: 4,096 multiply-adds") != std::string::npos);
    CHECK(said.find("A[1][0] of lane 4 times B[0][2] of lane 8") != std::string::npos);
    CHECK(said.find("A[1][3] of lane 5 times B[3][2] of lane 9") != std::string::npos);
    CHECK(said.find("their sum goes to D[1][2], lane 5") != std::string::npos);
    CHECK(said.find("32 cycles for them") != std::string::npos);
    reads_at_any_size(desk);
    reads_behind_every_tab(desk);
    CHECK(desk.shows("Source"));
    desk.size(1600, 1000, 1);
    desk.frames(3);
    REQUIRE(desk.click_on("4 ... 7"));
    CHECK(desk.shows("A[1][4] lane 6"));
}

TEST_CASE("a sum of FP16 ones is drawn on from real sums, and stands still at 2,048") {
    Steps desk("A13", 11);
    const LessonState::Prediction& given = *sketch_of(desk.session.lesson);
    REQUIRE(given.board->kind == "curve");
    CHECK(given.board->places[1].known == 1000);
    CHECK_FALSE(given.board->places[5].known);
    answer(desk, 11);
    REQUIRE(given.told);
    CHECK(given.told->sketch.values == std::vector<double>{500, 1000, 1500, 2000, 2048, 2048});
}

TEST_CASE("above a prediction the memory chart and coalescing stand whole in a window of 1280 x 720") {
    const auto whole = [](const Desk& desk, const std::string& words) {
        for (const UiState::Written& one : desk.written)
            if (one.text.ends_with(words) && one.ink.bottom() <= one.clip.bottom() + 0.5f) return true;
        return false;
    };
    for (const auto& [lesson, step, last] : {std::tuple{"A09", 6, "peak."}, {"A16", 1, "%)."}}) {
        Steps desk(lesson, step);
        desk.size(1280, 720, 1);
        desk.frames(4);
        INFO(lesson);
        CHECK(whole(desk, last));  // of the caption
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a bar's unit is told whole in a small window") {
    for (const auto& [lesson, step, unit] : {std::tuple{"A04", 3, "cycles from one issue to the next"},
                                             {"A09", 6, "global loads a warp"},
                                             {"A12", 5, "times as fast as naive"}}) {
        Steps desk(lesson, step);
        desk.size(1280, 720, 1);
        desk.frames(4);
        CHECK(desk.shows(unit));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a CPU stands beside the GPU by what can be counted of both") {
    Steps desk("A01", 0);
    const std::string said = said_by(desk, "cpu_gpu");
    for (const char* fact : {"multiply-adds a cycle: 64 and 5,120, x 80", "threads at hand: 8 and 163,840, x 20,480",
                             "FP32 peak, TFLOP/s: 0.538 and 15.7, x 29.1", "memory on the chip, MiB: 9.25 and 36, x 3.89"})
        CHECK(said.find(fact) != std::string::npos);
    CHECK(desk.shows("of it for each lane, KiB"));
    CHECK(desk.quads < 8000);
    reads_at_any_size(desk);
    reads_behind_every_tab(desk);
    go_to(desk, 1);
    CHECK(desk.session.snapshot()->kernel.run);
}

TEST_CASE("the machine tells what registers, L1, L2 and DRAM can hold") {
    Steps desk("A07", 7);
    for (const float width : {1600.0f, 1280.0f}) {
        desk.size(width, width == 1600 ? 1000 : 720, 1);
        desk.frames(4);
        CHECK(desk.shows("256 KiB"));
        CHECK(desk.shows("L2 6 MiB"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("no step of part A, and of B's pictures, writes text on text or cuts it, at any size", "[long]") {
    std::vector<std::string> ids = {"B07", "B08", "B10", "B12", "BX"};
    for (int number = 1; number <= 16; ++number) ids.push_back(fmt::format("A{:02}", number));
    for (const std::string& id : ids) {
        Steps desk(id.c_str(), 0);
        const int count = static_cast<int>(desk.session.lesson.lesson->steps.size());
        for (int step = 0; step < count; ++step) {
            go_to(desk, step);
            for (const bool answered : {false, true}) {
                if (answered && desk.session.lesson.predictions[static_cast<size_t>(step)].empty()) continue;
                if (answered) answer(desk, step);
                INFO(id << " step " << step + 1 << (answered ? " answered" : ""));
                reads_at_any_size(desk);
                reads_behind_every_tab(desk);
            }
        }
    }
}

TEST_CASE("each card of a plan has its unit beside its number, whole, in a small window") {
    Desk desk({.lesson = "C12", .lesson_step = 10});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 1);
    desk.settle();
    desk.frames(3);
    for (const char* unit : {"TFLOP/s", "MWh", "days", "MW", "%"}) {
        INFO(unit);
        CHECK(desk.shows(unit));
    }
    CHECK_FALSE(desk.shows("TFL…"));
}

TEST_CASE("a GPU's figure that a later step asks about is in no table before it") {
    Desk desk({.lesson = "A15", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto told = [&] { return desk.shell.describe("generations"); };
    INFO(told());
    CHECK(told().find("FP64 hidden;") != std::string::npos);
    go_to(desk, 3);
    answer(desk, 3);
    CHECK(told().find("FP64 hidden;") == std::string::npos);
}

TEST_CASE("a step of training says where its time goes, and beside another GPU's how much longer it takes") {
    Desk desk({.lesson = "A15", .lesson_step = 6});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 1);
    desk.settle();
    desk.frames(2);
    CHECK(desk.shows("Where the time goes"));
    CHECK(desk.shows("The longest kernels"));
    CHECK(desk.shell.describe("kernels").find("  18 kernels in 92.8 µs; for 41.9 µs none runs\n") != std::string::npos);
    go_to(desk, 8);
    const std::string beside = desk.shell.describe("kernels");
    INFO(beside);
    CHECK(beside.find("  P100: 106.5 µs against 92.8 µs on A100, 1.15 times as long\n") != std::string::npos);
    CHECK(beside.find("where the time goes on A100: matrix products 37.7 µs, other kernels ") != std::string::npos);
}

TEST_CASE("generations say what the kernel gained where peak and bandwidth grew apart, not before it is asked") {
    Desk desk({.lesson = "A15", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 1);
    desk.settle();
    CHECK(said_by(desk, "generations").find("From A100 to H100 FP32 grew 3.43 times, the memory's rate 2.15") !=
          std::string::npos);
    answer(desk, 1);
    CHECK(said_by(desk, "generations").find("From A100 to H100 1.54 times as fast: FP32 grew 3.43 times") !=
          std::string::npos);
}

TEST_CASE("a launch is told as processes first, then by local ranks, then by the hops that cross the network") {
    Desk desk({.lesson = "C03", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "processes").find("One program, 8 processes: ranks 0 to 7") != std::string::npos);
    CHECK(said_by(desk, "processes").find("LOCAL_RANK=2 WORLD_SIZE=8: server 2") == std::string::npos);
    go_to(desk, 1);
    answer(desk, 1);
    CHECK(said_by(desk, "processes").find("Local ranks begin at 0 again on every server") != std::string::npos);
    go_to(desk, 2);
    CHECK(said_by(desk, "processes").find("2 of 8 hops cross the network: 3 → 4, 7 → 0") != std::string::npos);
}

TEST_CASE("keys that lie on two GPUs open as two tiles, and what an axis sends is told of both ways") {
    Desk desk({.lesson = "C07", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 1);
    desk.settle();
    desk.frames(2);
    CHECK(said_by(desk, "scores").find("2 sums of 4 keys, rescaled to one largest score, add up to that of all 8") !=
          std::string::npos);
    CHECK(said_by(desk, "scores").find("a tile of query 4: ") != std::string::npos);
    go_to(desk, 2);
    desk.frames(2);
    CHECK(desk.shows("2 GPUs, 4 queries, 4 keys each"));
    go_to(desk, 6);
    CHECK(said_by(desk, "groups").find("as Ulysses") == std::string::npos);
    answer(desk, 6);
    CHECK(said_by(desk, "groups").find("For context a GPU sends 21.5 GB as ring, 16.1 GB as Ulysses") != std::string::npos);
}

TEST_CASE("two GPUs' kernels stand in pairs, and what a real one took on an axis of powers of ten") {
    Desk desk({.lesson = "A15", .lesson_step = 8});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("above on A100, below on P100"));
    CHECK(desk.shows("24.9 µs → 31.8 µs, x 1.28"));
    reads_at_any_size(desk);
    go_to(desk, 5);
    if (!desk.session.measured->gpus.empty()) {
        CHECK(desk.shows("On the " + desk.session.measured->gpus.front().file.gpu + ": "));
        CHECK(desk.shows("100 µs"));
    }
    reads_at_any_size(desk);
}

TEST_CASE("runs that lie on each other are all seen, and a restart from a checkpoint has its mark") {
    Desk desk({.lesson = "C03", .lesson_step = 6});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK_FALSE(desk.shows("goes on from its checkpoint"));
    answer(desk, 6);
    CHECK(desk.shows("step 20: four then two goes on from its checkpoint"));
    CHECK(said_by(desk, "curves").find("four then two: 40 steps") != std::string::npos);
    CHECK(said_by(desk, "curves").find(", from step 20 on from its checkpoint") != std::string::npos);
    CHECK(said_by(desk, "curves").find("All 3 runs draw one line: at every step their losses are the same to within ") !=
          std::string::npos);
}

}  // namespace gui_lesson_pictures_test
