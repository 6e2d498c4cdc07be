// While a question is open its picture shows what is given: runs that nobody asks about, a run's first step, what steps
// before have told of a tensor program. Only what is asked for is missing.
#include "tests/gui/lesson_desk.h"

namespace gui_given_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

bool says(const Desk& desk, const char* view, const std::string& words) {
    return said_by(desk, view).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("while a question asks what one group of seeds reads, the other keeps its dots and its curve") {
    Desk desk({.lesson = "B10", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK(says(desk, "seeds", "batch 64: mean 7"));
    CHECK(says(desk, "seeds", "batch 512: waits for an answer"));
    CHECK_FALSE(says(desk, "seeds", "batch 512: mean"));
    reads_at_any_size(desk);
    answer(desk, 0);
    CHECK(says(desk, "seeds", "batch 512: mean"));
    reads_at_any_size(desk);
}

TEST_CASE("runs of several batches come one by one, as steps tell them, and what they cost comes last") {
    Desk desk({.lesson = "B09", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(says(desk, "batch_sizes", "batch 8: 1"));  // it is told as known, and stands above the sketch
    CHECK_FALSE(says(desk, "batch_sizes", "batch 32: "));
    CHECK(desk.shows("batch 32: ?"));
    reads_at_any_size(desk);
    answer(desk, 1);
    CHECK(says(desk, "batch_sizes", "batch 8: 1"));
    CHECK(says(desk, "batch_sizes", "batch 32: "));
    CHECK_FALSE(says(desk, "batch_sizes", "batch 128: "));
    CHECK_FALSE(says(desk, "batch_sizes", "batch 512: "));
    CHECK(desk.shows("batch 512: ?"));
    CHECK_FALSE(desk.shows("Times the least"));
    reads_at_any_size(desk);
    go_to(desk, 2);
    answer(desk, 2);
    CHECK(says(desk, "batch_sizes", "batch 512: "));
    CHECK_FALSE(desk.shows("Times the least"));
    CHECK_FALSE(desk.shows("the bend"));
    go_to(desk, 3);
    answer(desk, 3);
    CHECK(desk.shows("Times the least"));
    CHECK(desk.shows("the bend"));
}

TEST_CASE("of learning curves the one that is asked about begins and then waits, and the others are drawn") {
    Desk desk({.lesson = "B01", .lesson_step = 7});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK(says(desk, "curves", "right: 60 steps"));
    CHECK(says(desk, "curves", "small: 60 steps"));
    CHECK(says(desk, "curves", "the rest waits for an answer"));
    CHECK_FALSE(says(desk, "curves", "large: 60 steps"));
    CHECK(desk.shows("large: ?"));
    reads_at_any_size(desk);
    answer(desk, 7);
    CHECK(says(desk, "curves", "large: 60 steps"));
}

TEST_CASE("of a curve that is drawn the runs of all its points wait, also the first one, which needs no name") {
    Desk desk({.lesson = "BX", .lesson_step = 11});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(says(desk, "curves", "small: 120 steps"));  // it is told as known
    CHECK_FALSE(says(desk, "curves", "middle: 120 steps"));
    CHECK_FALSE(says(desk, "curves", "large: 120 steps"));
    CHECK(desk.shows("middle: ?"));
    reads_at_any_size(desk);
}

TEST_CASE("an exercise that is judged by several seeds shows what each of them reads") {
    Desk desk({.lesson = "B10", .lesson_step = 9});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    INFO(said_by(desk, "seeds"));
    CHECK(said_by(desk, "seeds").find("five seeds") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("while a question asks what a model learns, its exhibit is that of the first step") {
    Desk desk({.lesson = "B08", .lesson_step = 5});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK(desk.shows("its label is known"));
    CHECK(desk.shows("before learning"));
    CHECK_FALSE(desk.shows("Step 59"));
    reads_at_any_size(desk);
    answer(desk, 5);
    CHECK(says(desk, "batch", "Step 59"));
}

TEST_CASE("a graph keeps the values and gradients that steps before have told, and hides those that are asked for") {
    Desk desk({.lesson = "B02", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK_FALSE(says(desk, "graph", "value +42"));  // the first step asks for it
    answer(desk, 0);
    go_to(desk, 3);
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK(says(desk, "graph", "value +42"));
    CHECK(says(desk, "graph", "grad +0.0238"));        // of s: step 3 has told it
    CHECK_FALSE(says(desk, "graph", "grad +0.2381"));  // of y: this one asks for it
    CHECK_FALSE(says(desk, "graph", "grad +0.1190"));  // on the way to it
    reads_at_any_size(desk);
    answer(desk, 3);
    CHECK(says(desk, "graph", "grad +0.2381"));
    go_to(desk, 4);
    CHECK(says(desk, "graph", "grad +0.2381"));
    CHECK_FALSE(says(desk, "graph", "grad +0.6429"));
    reads_at_any_size(desk);
}

}  // namespace gui_given_test
