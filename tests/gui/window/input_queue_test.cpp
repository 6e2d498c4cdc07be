// What comes between two frames of a slow computer is nothing less in the frames that follow.
#include "app/gui/window/input_queue.h"

#include "tests/catch.h"

namespace gui_input_queue_test {

using namespace lockstep::gui;

TEST_CASE("a drag between two frames is a press, a release where it ended, and then the pointer") {
    InputQueue queue;
    queue.move(10, 20);
    queue.press(1, false);
    queue.move(60, 20);
    queue.move(90, 20);
    queue.release();
    queue.move(95, 25);
    const Input pressed = queue.take();
    CHECK(pressed.clicked);
    CHECK(pressed.down);
    CHECK_FALSE(pressed.released);
    CHECK(pressed.mouse_x == 10);
    REQUIRE(queue.more());
    const Input released = queue.take();
    CHECK(released.released);
    CHECK_FALSE(released.down);
    CHECK_FALSE(released.clicked);
    CHECK(released.mouse_x == 90);
    REQUIRE(queue.more());
    const Input after = queue.take();
    CHECK(after.mouse_x == 95);
    CHECK_FALSE(after.released);
    CHECK_FALSE(queue.more());
}

TEST_CASE("two presses of a key are two frames, a chord and typed letters are one") {
    InputQueue queue;
    for (int i = 0; i < 3; ++i) queue.key({KeyCode::right});
    queue.key({KeyCode::tab});
    CHECK(queue.take().keys.size() == 1);
    CHECK(queue.more());
    CHECK(queue.take().keys.size() == 1);
    const Input last = queue.take();
    REQUIRE(last.keys.size() == 2);
    CHECK(last.keys[1].code == KeyCode::tab);
    CHECK_FALSE(queue.more());
    for (const char32_t letter : {U'a', U'b', U'b'}) queue.key({KeyCode::none, false, false, letter});
    CHECK(queue.take().keys.size() == 3);
}

TEST_CASE("what is typed behind a click comes behind it, what was typed before with it") {
    InputQueue queue;
    queue.key({KeyCode::tab});
    queue.move(5, 5);
    queue.press(1, false);
    queue.release();
    for (const char32_t letter : {U'1', U'2'}) queue.key({KeyCode::none, false, false, letter});
    const Input pressed = queue.take();
    CHECK(pressed.clicked);
    REQUIRE(pressed.keys.size() == 1);
    CHECK(pressed.keys[0].code == KeyCode::tab);
    const Input released = queue.take();
    CHECK(released.released);
    CHECK(released.keys.empty());
    REQUIRE(queue.more());
    CHECK(queue.take().keys.size() == 2);
    CHECK_FALSE(queue.more());
}

TEST_CASE("two clicks at one place within a third of a second are a double click") {
    const auto second_click = [](double at, float x) {
        InputQueue queue;
        queue.move(5, 5);
        queue.press(1, false);
        queue.release();
        queue.move(x, 5);
        queue.press(at, true);
        queue.release();
        queue.take();
        queue.take();
        return queue.take();
    };
    CHECK(second_click(1.2, 6).double_clicked);
    CHECK(second_click(1.2, 6).shift);
    CHECK_FALSE(second_click(1.5, 6).double_clicked);
    CHECK_FALSE(second_click(1.2, 30).double_clicked);
    CHECK(second_click(1.5, 6).clicked);
}

}  // namespace gui_input_queue_test
