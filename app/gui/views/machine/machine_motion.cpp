#include "app/gui/views/machine/machine_motion.h"

#include <algorithm>
#include <cmath>

#include "app/gui/views/machine/machine_view.h"

namespace lockstep::gui {

float Lights::flash(double clock, double happened) const {
    if (calm || fast || !runs || a_second <= 0 || clock < happened) return 0;
    const double passed = (clock - happened) / a_second;
    return static_cast<float>(std::clamp(1 - passed / flash_seconds, 0.0, 1.0));
}

float Lights::glow(double clock, double came) const {
    if (clock < came || (runs && fast)) return 0;
    const bool in_its_unit = std::floor(clock) == std::floor(came);
    if (!runs || calm || a_second <= 0) return in_its_unit ? 1.0f : 0.0f;  // it is there and gone, and does not fade
    const double passed = (clock - came) / a_second;
    return static_cast<float>(std::clamp(1 - passed / glow_seconds, 0.0, 1.0));
}

Lights lights_of(const MachineFrame& frame) {
    const double filmed = frame.session.machine.filmed;
    const bool runs = frame.session.playing || filmed > 0;
    return {runs, frame.speed > slowest_blur, frame.session.less_motion, frame.speed};
}

Color lit(Color fill, float flash, const Theme& theme) {
    return flash <= 0 ? fill : mix(fill, theme.dark ? data::white : rgb(0xD8FFF0), 0.6f * flash);
}

void draw_glow(Ui& ui, const Rect& around, float glow) {
    if (glow <= 0) return;
    ui.rect({around.x - 2, around.y - 2, around.w + 4, around.h + 4}, faded(ui.theme->accent, 0.28f * glow), 3);
    ui.frame({around.x - 1, around.y - 1, around.w + 2, around.h + 2}, faded(ui.theme->accent, glow), 1.5f, 3);
}

}  // namespace lockstep::gui
