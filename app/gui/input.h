// One frame's input as plain data: the window's backend fills it from its events, a test by hand.
#pragma once
#include <string>
#include <vector>

namespace lockstep::gui {

enum class KeyCode {
    // Printable keys are their upper-case ASCII code: 'A', '1', '+', '-', ' '.
    none = 0,
    space = ' ',
    plus = '+',
    minus = '-',
    slash = '/',
    zero = '0',
    one = '1',
    a = 'A',
    d = 'D',
    s = 'S',
    w = 'W',
    left = 256,
    right,
    up,
    down,
    home,
    end,
    page_up,
    page_down,
    enter,
    escape,
    tab,
    f1,
    f11,
    backspace,
    delete_,
    f5,
    f6,
    f7,
    f8,
};

struct KeyPress {
    KeyCode code = KeyCode::none;
    bool shift = false, control = false;
    char32_t character = 0;  // not a key but what it typed; both come, in the order of typing
};

struct Input {
    float mouse_x = -1, mouse_y = -1;                                // window pixels; -1 outside
    bool down = false;                                               // left button held
    bool clicked = false, double_clicked = false, released = false;  // since the last frame
    float wheel = 0;                                                 // notches, up is positive
    bool shift = false;                                              // held at the last click
    std::vector<KeyPress> keys;                                      // pressed or repeated since the last frame
    std::vector<std::string> dropped = {};                           // files dropped onto the window
};

}  // namespace lockstep::gui
