#include "app/gui/views/timeline/state_code.h"

#include <array>

namespace lockstep::gui {
namespace {

constexpr std::array<StateCode, state_count> codes = {{
    {StallReason::selected, data::green, Hatch::solid, 1, false, "issued", "issue"},
    {StallReason::not_selected, data::sky, Hatch::solid, 1, true, "eligible", "are ready but not picked"},
    {StallReason::long_scoreboard, data::orange, Hatch::diagonal, 1, false, "long", "wait for global memory"},
    {StallReason::short_scoreboard, data::yellow, Hatch::dots, 1, false, "short",
     "wait for shared memory, a shuffle or a special function"},
    {StallReason::barrier, data::purple, Hatch::cross, 1, false, "barrier", "wait at the barrier"},
    {StallReason::wait, data::grey, Hatch::solid, 0.45f, false, "wait", "wait out a fixed latency"},
    {StallReason::math_pipe_throttle, data::blue, Hatch::horizontal, 1, false, "math", "wait for a busy arithmetic unit"},
    {StallReason::lg_throttle, data::dark_orange, Hatch::horizontal, 1, false, "LG thr.",
     "wait for room in the global memory queue"},
    {StallReason::mio_throttle, data::dark_orange, Hatch::dots, 1, false, "MIO thr.",
     "wait for room in the shared memory queue"},
    {StallReason::branch_resolving, data::vermillion, Hatch::vertical, 1, false, "branch", "wait for a branch target"},
    {StallReason::no_instruction, data::vermillion, Hatch::dots, 1, false, "no instr.", "wait for their next instruction"},
    {StallReason::imc_miss, data::orange, Hatch::cross, 1, false, "IMC miss", "wait for a constant"},
    {StallReason::dispatch_stall, data::blue, Hatch::diagonal, 1, false, "dispatch", "are held by the dispatcher"},
    {StallReason::drain, data::grey, Hatch::cross, 1, false, "drain", "wait for their last stores to leave"},
    {StallReason::membar, data::purple, Hatch::horizontal, 1, false, "mem. barrier", "wait at a memory fence"},
    {StallReason::sleeping, data::grey, Hatch::vertical, 1, false, "sleeping", "sleep"},
}};

bool on_stroke(Hatch hatch, int x, int y) {
    switch (hatch) {
        case Hatch::solid:
            return true;
        case Hatch::diagonal:
            return (x + y) % 6 < 2;
        case Hatch::dots:
            return x % 4 < 2 && (y + x / 4 % 2 * 2) % 4 < 2;
        case Hatch::cross:
            return (x + y) % 6 == 0 || (x - y + 6000) % 6 == 0;
        case Hatch::horizontal:
            return y % 4 < 2;
        case Hatch::vertical:
            return x % 4 < 2;
    }
    return true;
}

}  // namespace

const StateCode& code_of(StallReason reason) {
    return codes[static_cast<size_t>(reason)];
}

void draw_state(Ui& ui, const Rect& rect, StallReason reason) {
    const StateCode& code = code_of(reason);
    if (code.hollow && rect.w < 20) {  // two quads instead of four
        ui.rect(rect, code.color);
        ui.rect({rect.x + 1, rect.y + 1, rect.w - 2, rect.h - 2}, ui.theme->panel);
    } else if (code.hollow)
        ui.frame(rect, code.color, 1.25f);
    else if (code.hatch == Hatch::solid)
        ui.rect(rect, faded(code.color, code.opacity));
    else
        ui.hatch(rect, code.color, code.hatch);
}

Color state_pixel(StallReason reason, int x, int y, Color background) {
    const StateCode& code = code_of(reason);
    if (code.hollow) return mix(background, code.color, 0.55f);
    if (code.hatch == Hatch::solid) return mix(background, code.color, code.opacity);
    return mix(background, code.color, on_stroke(code.hatch, x, y) ? 0.8f : 0.42f);
}

StatePixels::StatePixels(Color background, float strength) : colors_{}, on_{} {
    for (size_t s = 0; s < state_count; ++s) {
        const StateCode& code = codes[s];
        for (int y = 0; y < 12; ++y)
            for (int x = 0; x < 24; ++x) {
                const bool on = on_stroke(code.hatch, x, y);
                on_[s][static_cast<size_t>(y)][static_cast<size_t>(x)] = on;
                colors_[s][on] = mix(background, state_pixel(code.reason, x, y, background), strength);
            }
    }
}

}  // namespace lockstep::gui
