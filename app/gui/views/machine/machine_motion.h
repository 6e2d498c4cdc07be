// How long a mark shows that something has just happened: what issues flashes while the clock runs, a value that has come
// glows. Both are told from the trace's times and the clock alone; they change how bright a mark is, never what it says.
#pragma once
#include <cstdint>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct MachineFrame;

constexpr double flash_seconds = 0.3, glow_seconds = 0.8;
constexpr double slowest_blur = 30;  // cycles a second from which on a cycle is no longer on the screen alone

struct Lights {
    bool runs = false;    // the clock does: else a flash would never end
    bool fast = false;    // so that every frame is another unit of time: nothing lights up
    bool calm = false;    // less motion was asked for
    double a_second = 1;  // units of time that pass in a second

    // 1 when it happens, 0 when the flash is over or has not begun; 0 always where nothing flashes.
    float flash(double clock, double happened) const;
    // The same of a value that came. While the clock stands it is 1 through the unit of time in which it came: a step of the
    // clock says what it has changed.
    float glow(double clock, double came) const;
};
Lights lights_of(const MachineFrame& frame);  // of the kernel's clock

// A fill as it flashes; letters on it are told by text_on() of what this returns.
Color lit(Color fill, float flash, const Theme& theme);
// The frame of a value that has come.
void draw_glow(Ui& ui, const Rect& around, float glow);

}  // namespace lockstep::gui
