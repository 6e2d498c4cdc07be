// How fast the clock runs while it plays, one control for every workspace, and going to a cycle by its number.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/widgets/text_editor.h"

namespace lockstep::gui {

namespace {

constexpr double slowest = 1, fastest = 1e9;

std::string power_text(double a_second) {  // "1,000", "10^6"
    const double power = std::round(std::log10(a_second));
    return a_second <= 1000 ? with_commas(std::llround(a_second)) : fmt::format("10^{:.0f}", power);
}

std::string any_speed(double a_second) {  // "107", "1.35 k", "20 M"
    return a_second < 999.5 ? fmt::format("{:.3g}", a_second)
           : a_second < 1e6 ? fmt::format("{:.3g} k", a_second / 1e3)
                            : fmt::format("{:.3g} M", a_second / 1e6);
}

std::string_view unit_of_speed(const Session& session) {
    return session.grain == Grain::instruction ? "instructions" : "cycles";
}

}  // namespace

double own_speed(const Session& session) {
    if (session.workspace == Workspace::machine && session.grain == Grain::cycle) return speed_at(session.machine.zoom);
    return session.grain == Grain::cycle ? 30 : session.grain == Grain::instruction ? 4 : 1.5;
}

bool has_speed(const Session& session, const Snapshot& snapshot) {
    return (session.grain == Grain::cycle || session.grain == Grain::instruction) && trace_of(snapshot) != nullptr &&
           !machine_at_cluster(session) && !shows_cluster(session);
}

void change_speed(Session& session, int way) {
    const double now = session.machine.speed > 0 ? session.machine.speed : own_speed(session), power = std::log10(now);
    const double next = way > 0 ? std::floor(power + 1e-6) + 1 : std::ceil(power - 1e-6) - 1;
    session.machine.speed = std::clamp(std::pow(10.0, next), slowest, fastest);
}

// Slower, the speed, faster. Returns where they end.
float choose_speed(Ui& ui, Session& session, float x, float y, float room) {
    double& speed = session.machine.speed;
    const bool zooms = session.workspace == Workspace::machine && session.grain == Grain::cycle;
    const std::string_view unit = unit_of_speed(session);
    const bool words = room - x > 330;
    const auto words_of = [&](const std::string& number) {
        if (!words) return number + "/s";
        return fmt::format("{} {} a second", number, number == "1" ? unit.substr(0, unit.size() - 1) : unit);
    };
    const auto label_of = [&](double value, bool chosen) {
        return words_of(value < 1000 && !chosen ? fmt::format("{:.3g}", value) : power_text(value));
    };
    const auto by_zoom = [&](double value) {
        return words ? fmt::format("by zoom: {} a second", power_text(value)) : fmt::format("zoom: {}/s", power_text(value));
    };
    const double filmed = session.machine.filmed;  // of a recording: its stretch in so many seconds
    const std::string label = filmed > 0 && filmed != speed ? words_of(any_speed(filmed))
                              : speed > 0                   ? label_of(speed, true)
                              : zooms                       ? by_zoom(own_speed(session))
                                                            : label_of(own_speed(session), false);
    const float widest = std::max({ui.chip_width(label_of(1000, true)), ui.chip_width(label_of(1e9, true)),
                                   zooms ? ui.chip_width(by_zoom(10'000)) : 0.0f}),
                least = 2 * ui.chip_width("+") + 8 + widest;
    if (x + least > room) return x;
    ui.push_scope("speed");
    if (words) x = ui.text(x, y + 33, "speed", {.size = 13, .color = ui.theme->quiet}) + 10;
    const float begin = x;
    if (ui.chip(x, y + 15, "−", false, speed <= 0 || speed > slowest)) change_speed(session, -1);
    // As wide whatever it says: what stands beside it stays where it is.
    const Rect box{x, y + 15, widest, 26};
    if (ui.area("speed", box)) speed = 0;
    ui.rect(box, speed > 0 ? ui.theme->selected : ui.theme->panel2, 4);
    ui.frame(box, speed > 0 ? ui.theme->accent : ui.hovered(box) ? ui.theme->ink3 : ui.theme->line, 1, 4);
    ui.text(box.x + box.w / 2, y + 33, label,
            {.size = 13, .color = ui.theme->ink, .align = Align::center, .weight = speed > 0 ? 600 : 400});
    x += widest + 4;
    if (ui.chip(x, y + 15, "+", false, speed < fastest)) change_speed(session, 1);
    if (ui.hovered({begin, y + 15, x - begin, 26}))
        ui.tooltip(fmt::format("while it plays: slower (,), faster (.)\n{}",
                               speed <= 0 ? std::string("the speed that the picture has by itself")
                               : zooms    ? std::string("press the number: as the zoom says")
                                          : fmt::format("press the number: {:.3g} {} a second", own_speed(session), unit)));
    ui.pop_scope();
    return x;
}

std::optional<int64_t> cycle_typed(const std::string& text, int64_t cycles, int64_t shown, std::string& wrong) {
    std::string digits;
    for (const char c : text)
        if (c != ',' && c != ' ' && c != '\'') digits += c;
    const bool share = digits.ends_with('%');
    if (share) digits.pop_back();
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string last = with_commas(std::max<int64_t>(0, shown - 1));
    if (digits.empty() || error != std::errc{} || rest != digits.data() + digits.size() || number < 0 ||
        (share && number > 100)) {
        wrong = fmt::format("'{}' is no cycle: a number from 0 to {}, or a share such as 50 %", text, last);
        return std::nullopt;
    }
    if (share) number = static_cast<int64_t>(static_cast<double>(number) / 100 * static_cast<double>(shown - 1));
    if (number < shown) return number;
    wrong = shown < cycles
                ? fmt::format("cycles from {} on stay hidden until you lock an answer", with_commas(shown))
                : fmt::format("cycle {} is behind the end: the last of this run is {}", with_commas(number), last);
    return std::nullopt;
}

// Where a cycle is typed, in the place of the transport's words.
void Shell::cycle_field(Ui& ui, const Snapshot& snapshot, const Rect& box) {
    const KernelTrace* const trace = trace_of(snapshot);
    if (trace == nullptr || trace->cycles <= 0) {
        asks_cycle_ = false;
        return;
    }
    bool submitted = false, has_keyboard = false;
    const bool begins = !cycle_open_;
    if (begins) typed_cycle_.clear(), cycle_wrong_.clear();
    cycle_open_ = true;
    const float field = std::min(130.0f, box.w - 90);
    ui.text(box.x, box.y + 33, "go to cycle", {.size = 13, .color = theme->ink2});
    const float left = box.x + 82;
    if (text_field(ui, "cycle", {left, box.y + 15, field, 26}, typed_cycle_,
                   {.hint = "0 to " + with_commas(cycles_shown(session, focus, snapshot) - 1),
                    .wrong = !cycle_wrong_.empty(),
                    .submitted = &submitted,
                    .has_keyboard = &has_keyboard,
                    .take_keyboard = begins}))
        cycle_wrong_.clear();
    if (submitted) {
        const auto cycle = cycle_typed(typed_cycle_, trace->cycles, cycles_shown(session, focus, snapshot), cycle_wrong_);
        if (cycle) {
            go_to_cycle(*cycle);
            state.focused = 0;
            has_keyboard = false;
        } else {
            ui.animate();
        }
    }
    if (!cycle_wrong_.empty()) {
        const float width = std::min(420.0f, width_ - 32);
        const float height = ui.paragraph({0, 0, width - 24, 80}, cycle_wrong_, {.size = 13}, 20, false) + 14;
        const Rect told{std::min(left, width_ - width - 12), box.y - height - 4, width, height};
        ui.rect(told, theme->panel2, 4);
        ui.frame(told, theme->wrong, 1, 4);
        ui.paragraph({told.x + 12, told.y + 7, width - 24, height}, cycle_wrong_, {.size = 13}, 20);
    }
    if (!begins && !has_keyboard) asks_cycle_ = cycle_open_ = false;
}

}  // namespace lockstep::gui
