// Pictures of parts A and B that tell a step's message: second derivatives, a gate, a loop as a whole, costs beside quality,
// the index that the kernel's own text makes; and none that tells an answer before it is asked for.
#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "tests/gui/lesson_desk.h"

namespace gui_answers_shown_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

struct Opened : Desk {
    Opened(const char* lesson, int step) : Desk({.lesson = lesson, .lesson_step = step}) {
        session.workspace = Workspace::learn;
        settle();
    }
    bool says(const char* view, const std::string& words) const {
        return said_by(*this, view).find(words) != std::string::npos;
    }
};

}  // namespace

TEST_CASE("second derivatives are a field for each pair, and mirrored ones are one number") {
    Opened desk("B02", 7);
    CHECK(desk.shows("as x moves"));
    CHECK(desk.shows("As y grows, dz/dx falls, by 0.034 for each 1 at first"));
    CHECK(desk.says("hessian", "dz/dx as x moves: -0.27\n"));
    CHECK(desk.says("hessian", "dz/dy as x moves: -0.034\n"));
    CHECK(desk.says("hessian", "it makes no difference which moves first"));
    reads_at_any_size(desk);
}

TEST_CASE("a gate is shown on its curve, with what it lets through") {
    Opened desk("B07", 5);
    CHECK(desk.shows("Gate 2: 1.76 times the content passes, 3 becomes 5.28"));
    CHECK(desk.says("gate", "Here sigmoid is 0.881"));
    reads_at_any_size(desk);
}

TEST_CASE("a long loop is drawn as a whole, from its first place to its last") {
    Opened desk("B06", 0);
    desk.size(1280, 720, 1);
    desk.frames(3);
    for (const char* place : {"0", "7", "14", "15"}) CHECK(desk.shows(place));
    CHECK_FALSE(desk.shows("more to the right"));
    reads_at_any_size(desk);
}

TEST_CASE("the graph of a model that learns keeps its loss back while a question is open") {
    Opened desk("B08", 5);
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK(desk.says("graph", "Only what goes in is shown"));
    CHECK_FALSE(desk.says("graph", "value +0.04"));
    answer(desk, 5);
    CHECK(desk.says("batch", "edges"));
}

TEST_CASE("a graph with two rows opens at its first box") {
    Opened desk("B08", 2);
    desk.size(1280, 720, 1);
    desk.frames(3);
    CHECK_FALSE(desk.shows("more above"));
    CHECK_FALSE(desk.shows("more to the left"));
}

TEST_CASE("cheaper forms stand as bars of their cost beside their quality, once that is not asked for") {
    Opened desk("B12", 6);
    INFO(said_by(desk, "tradeoff"));
    CHECK_FALSE(desk.says("tradeoff", "magnitude 90 %"));  // of the step before
    CHECK(desk.says("tradeoff", "50 % of the operations; "));
    reads_at_any_size(desk);
}

TEST_CASE("an answered question brings the picture that tells the answer to the front", "[long]") {
    Opened desk("B10", 6);
    desk.size(1280, 720, 1);
    desk.frames(3);
    CHECK(front_view_of(desk.session) == "layer_rates");
    answer(desk, 6);
    CHECK(front_view_of(desk.session) == "seeds");
}

TEST_CASE("the target of a training run is a line in its picture") {
    Opened desk("B09", 8);
    CHECK(desk.shows("target 1.2, as a mean of five"));
    CHECK(desk.says("curves", "target 1.2, as a mean of five"));
}

TEST_CASE("programs that differ in their work are told by the cycles of their forward kernels") {
    Opened desk("B06", 6);
    CHECK(desk.shows("forward, cycles"));
}

TEST_CASE("threads stand under the index that the kernel's own text makes, wrong as it may be") {
    Opened desk("A02", 8);
    CHECK(desk.says("threads", "i = blockIdx.x * 12 + threadIdx.x = 1 * 12 + 0 = 12"));
    for (const char* index : {"7", "12", "19", "24", "31"}) CHECK(desk.shows(index));
}

TEST_CASE("a long line of source goes on below where there is room") {
    Opened desk("A02", 0);
    desk.size(1280, 720, 1);
    desk.frames(3);
    // The end of line 2, which has no room behind the rest of it.
    CHECK(std::any_of(desk.written.begin(), desk.written.end(), [](const UiState::Written& text) {
        return text.text.find_first_not_of(' ') == text.text.find("threadIdx") &&
               text.text.find("threadIdx") != std::string::npos;
    }));
    reads_at_any_size(desk);
}

}  // namespace gui_answers_shown_test
