// gradcheck by element: the lesson's picture has both numbers of each, reads at any size, and waits for an answer.
#include "tests/gui/lesson_desk.h"

namespace gui_slopes_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("gradcheck's picture has both numbers of every element, once they are answered") {
    Desk desk({.lesson = "B03", .lesson_step = 3});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("All 8 gradients agree with the slope"));
    CHECK(said_by(desk, "slopes").find("x[1]: backward 9, slope 9\n") != std::string::npos);  // 2 · 4.5
    reads_at_any_size(desk);
    go_to(desk, 4);
    CHECK(said_by(desk, "slopes").find("slope 5") == std::string::npos);
    CHECK_FALSE(desk.shows("are wrong"));
    reads_at_any_size(desk);
    answer(desk, 4);
    CHECK(desk.shows("3 of 8 gradients are wrong"));
    CHECK(said_by(desk, "slopes").find("x[1]: backward 2, slope 5: they differ") != std::string::npos);
    CHECK(said_by(desk, "slopes").find("y[1]: backward 2, slope 2\n") != std::string::npos);
    reads_at_any_size(desk);
}

}  // namespace gui_slopes_test
