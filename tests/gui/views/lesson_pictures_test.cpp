// Pictures of single lessons: what each tells of the lesson's own run, what it keeps back while a question is open, and that
// it reads at any size.
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
    Desk desk({.lesson = "B10", .lesson_step = 10});
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

}  // namespace gui_lesson_pictures_test
