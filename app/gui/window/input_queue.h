// What the window system says between two frames, as inputs of single frames. A slow frame may span a whole drag or several
// presses of one key: each press and release of the button has a frame of its own, at the place where the pointer was then,
// a key that comes twice comes in two frames, and keys that came behind a click come in a frame behind it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>

#include "app/gui/input.h"

namespace lockstep::gui {

class InputQueue {
  public:
    void move(float x, float y) { latest_.mouse_x = x, latest_.mouse_y = y; }
    void press(double now, bool shift) {
        const bool twice =
            now - last_click_ < 0.35 && std::abs(latest_.mouse_x - click_x_) + std::abs(latest_.mouse_y - click_y_) < 8;
        last_click_ = now, click_x_ = latest_.mouse_x, click_y_ = latest_.mouse_y;
        latest_.down = true;
        buttons_.push_back({latest_.mouse_x, latest_.mouse_y, true, twice, shift});
        ++pressed_;
    }
    void release() {
        latest_.down = false;
        buttons_.push_back({latest_.mouse_x, latest_.mouse_y, false, false, false});
        ++pressed_;
    }
    void turn(float notches) { latest_.wheel += notches; }
    void key(const KeyPress& key) { keys_.push_back({key, pressed_}); }
    void drop(std::string file) { latest_.dropped.push_back(std::move(file)); }

    // Of the next frame. `more()` afterwards: another frame is wanted at once.
    Input take() {
        Input input = latest_;
        latest_.wheel = 0;
        latest_.dropped.clear();
        // Those in front of the first button that has not been told, up to the first key that has come before; characters
        // come as they are typed.
        const uint64_t told = pressed_ - buttons_.size();
        while (!keys_.empty() && keys_.front().behind <= told) {
            const KeyPress& key = keys_.front().key;
            const bool again =
                key.code != KeyCode::none && std::ranges::find(input.keys, key.code, &KeyPress::code) != input.keys.end();
            if (again) break;
            input.keys.push_back(key);
            keys_.pop_front();
        }
        if (buttons_.empty()) {
            input.down = down_;
            input.shift = shift_;
            return input;
        }
        const Button button = buttons_.front();
        buttons_.pop_front();
        down_ = button.down;
        if (button.down) shift_ = button.shift;
        input.mouse_x = button.x, input.mouse_y = button.y;
        input.down = down_, input.shift = shift_;
        input.clicked = button.down, input.double_clicked = button.twice, input.released = !button.down;
        moved_on_ = button.x != latest_.mouse_x || button.y != latest_.mouse_y;
        return input;
    }
    bool more() { return !buttons_.empty() || !keys_.empty() || std::exchange(moved_on_, false); }

  private:
    struct Button {
        float x, y;
        bool down, twice, shift;
    };
    struct Key {
        KeyPress key;
        uint64_t behind;  // so many presses and releases of the button
    };
    Input latest_;
    std::deque<Button> buttons_;
    std::deque<Key> keys_;
    uint64_t pressed_ = 0;  // presses and releases, ever
    bool down_ = false, shift_ = false, moved_on_ = false;
    double last_click_ = -1;
    float click_x_ = 0, click_y_ = 0;
};

}  // namespace lockstep::gui
