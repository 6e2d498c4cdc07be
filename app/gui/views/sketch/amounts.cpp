// Amounts: a bar beside known bars, a number that is typed, the points of a curve, a dot below the roofs, the parts of a
// bar.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/gui/views/sketch/sketch.h"

namespace lockstep::gui {

using lessons::amount_text;
using lessons::Sketch;
using lessons::SketchAxis;
using lessons::Verdict;

namespace {

float share_of(const SketchAxis& axis, double value) {
    if (axis.log) {
        if (!(value > 0)) return 0;
        return static_cast<float>(std::clamp(std::log(value / axis.low) / std::log(axis.high / axis.low), 0.0, 1.0));
    }
    return static_cast<float>(std::clamp((value - axis.low) / (axis.high - axis.low), 0.0, 1.0));
}

double value_at(const SketchAxis& axis, float share) {
    const double s = std::clamp(static_cast<double>(share), 0.0, 1.0);
    return axis.log ? axis.low * std::pow(axis.high / axis.low, s) : axis.low + (axis.high - axis.low) * s;
}

std::vector<double> ticks_of(const SketchAxis& axis) {
    std::vector<double> ticks;
    if (axis.log) {
        for (double t = std::pow(10, std::ceil(std::log10(axis.low) - 1e-9)); t <= axis.high * 1.0001; t *= 10)
            ticks.push_back(t);
        return ticks;
    }
    const double span = axis.high - axis.low, decade = std::pow(10, std::floor(std::log10(span / 4)));
    double step = decade;
    for (const double times : {1.0, 2.0, 5.0, 10.0})
        if (span / (decade * times) <= 6) {
            step = decade * times;
            break;
        }
    for (double t = std::ceil(axis.low / step) * step; t <= axis.high + step * 1e-6; t += step) ticks.push_back(t);
    return ticks;
}

// The place that is asked for and stands last; -1: none.
int open_place(const SketchScene& scene) {
    for (int i = static_cast<int>(scene.board.places.size()) - 1; i >= 0; --i)
        if (!scene.board.places[static_cast<size_t>(i)].known) return i;
    return -1;
}

void clear(const SketchScene& scene, Sketch& pencil, SketchHand& hand) {
    pencil = lessons::unmarked(scene.board);
    hand.typed.clear();
    hand.cursor = hand.grabbed = -1;
}

bool clears(const KeyPress& key) {
    return key.code == KeyCode::backspace || key.code == KeyCode::delete_;
}

void draw_handle(Ui& ui, Point at, float half) {
    ui.rect({at.x - 5, at.y - half, 10, 2 * half}, ui.theme->ink, 3);
    ui.line({at.x - 1.5f, at.y - half * 0.4f}, {at.x - 1.5f, at.y + half * 0.4f}, ui.theme->panel, 1.4f);
    ui.line({at.x + 1.5f, at.y - half * 0.4f}, {at.x + 1.5f, at.y + half * 0.4f}, ui.theme->panel, 1.4f);
}

}  // namespace

Rect bar_row(const Rect& area, size_t rows, size_t row) {
    // In a narrow strip names and amounts keep a third each at most.
    const float names = std::clamp(area.w * 0.24f, std::min(124.0f, area.w / 3), 230.0f),
                amounts = std::clamp(area.w * 0.22f, std::min(176.0f, area.w / 3), 190.0f),
                pitch = std::clamp((area.h - (area.h < 190 ? 36.0f : 56.0f)) / static_cast<float>(rows), 20.0f, 104.0f);
    return {area.x + names, area.y + 8 + pitch * static_cast<float>(row), area.w - names - amounts, pitch * 0.58f};
}

float bar_end(const Rect& row, const SketchAxis& axis, double value) {
    return row.x + row.w * share_of(axis, value);
}

double snapped(const SketchAxis& axis, double value) {
    if (axis.whole) return std::clamp(std::round(value), std::ceil(axis.low), std::floor(axis.high));
    const double fine = axis.log ? std::pow(10, std::floor(std::log10(std::max(value, axis.low))) - 1)
                                 : std::pow(10, std::floor(std::log10(axis.high - axis.low)) - 2);
    return std::clamp(std::round(value / fine) * fine, axis.low, axis.high);
}

double bar_value(const Rect& row, const SketchAxis& axis, float x) {
    return snapped(axis, value_at(axis, (x - row.x) / row.w));
}

namespace {

// In a low picture the unit stands before the ticks where it fits there, else below them, closer, else where most of it
// fits.
void draw_bar_axis(Ui& ui, const SketchScene& scene, const Rect& first, const Rect& last, const Rect& area) {
    float free_from = -1e6f;
    for (const double tick : ticks_of(scene.board.axis)) {
        const float x = bar_end(first, scene.board.axis, tick);
        ui.line({x, first.y - 4}, {x, last.bottom() + 6}, ui.theme->grid);
        const std::string says = amount_text(tick);
        const float w = ui.text_width(says, {.size = 12, .mono = true});
        if (x - w / 2 < free_from) continue;
        ui.text(x, last.bottom() + 22, says, {.size = 12, .color = ui.theme->ink2, .align = Align::center, .mono = true});
        free_from = x + w / 2 + 10;
    }
    const std::string& unit = scene.board.axis.unit;
    if (unit.empty()) return;
    TextStyle style{.size = 12, .color = ui.theme->ink2, .align = Align::right};
    const bool low = area.h < 190;
    const float before = last.x - 22 - area.x, behind = area.right() - last.right() - 20, w = ui.text_width(unit, style);
    const float below = last.bottom() + (low ? 37 : 42);
    if (!low || (w > before && below <= area.bottom() + 2 && w < last.right() - area.x))
        return void(ui.text(last.right(), below, unit, style));
    style.width = std::max(before, behind);
    if (before >= behind || w <= before) return void(ui.text(last.x - 18, last.bottom() + 22, unit, style));
    style.align = Align::left;
    ui.text(last.right() + 20, last.bottom() + 22, unit, style);
}

// An amount in its row: a bar from zero, on powers of ten a dot, for these have no zero.
void draw_amount(Ui& ui, const SketchAxis& axis, const Rect& row, double value, Color color) {
    const float end = bar_end(row, axis, value);
    if (!axis.log) return ui.rect({row.x, row.y, end - row.x, row.h}, color);
    const float middle = row.y + row.h / 2;
    const Point stem[] = {{row.x, middle}, {end, middle}};
    ui.polyline(stem, faded(color, 0.6f), 2, 2, 4);
    ui.circle({end, middle}, std::min(8.0f, row.h / 2), color);
}

void draw_asked_bar(Ui& ui, const SketchScene& scene, const Sketch& pencil, size_t i, const Rect& row, float end_of_area) {
    const Theme& theme = *ui.theme;
    const double put = pencil.values[i];
    const bool has = std::isfinite(put);
    const float mine = has ? bar_end(row, scene.board.axis, put) : row.x;
    ui.dashed(row, theme.ink3);
    if (scene.truth) {
        const Faded faint(ui, scene.shown);
        const double is = scene.truth->sketch.values[i];
        const float end = bar_end(row, scene.board.axis, is);
        draw_amount(ui, scene.board.axis, row, is, data::green);
        if (scene.verdict(i) == Verdict::low || scene.verdict(i) == Verdict::high) {
            const float from = std::min(mine, end), to = std::max(mine, end);
            ui.frame({from, row.y, std::max(4.0f, to - from), row.h}, theme.wrong, 3.5f);
        }
    }
    if (has && mine > row.x + 3 && !scene.board.axis.log)
        draw_pencil(ui, {row.x, row.y, mine - row.x, row.h}, 17u + static_cast<uint32_t>(i));
    if (has) draw_handle(ui, {mine, row.y + row.h / 2}, row.h / 2 + 5);
    if (!has && scene.open)
        ui.text(row.x + 14, row.y + row.h / 2 + 5, "drag it from here",
                {.size = 13, .color = theme.quiet, .width = row.w - 20});
    const float right = row.right() + 14, y = row.y + row.h / 2, room = end_of_area - right;
    if (!scene.truth)
        return void(
            ui.text(right, y + 6, has ? "you " + amount_text(put) : "?", {.size = 16, .weight = 700, .width = room}));
    const Faded faint(ui, scene.shown);
    ui.text(right, y, amount_text(scene.truth->sketch.values[i]),
            {.size = 16, .color = theme.right, .weight = 700, .width = room});
    const Verdict verdict = scene.verdict(i);
    const bool agrees = verdict == Verdict::agrees;
    const std::string word = agrees ? "you agree" : std::string(word_of(verdict)),
                      whole = agrees ? word + ", " + amount_text(put) : fmt::format("you {}, {}", amount_text(put), word);
    TextStyle style{.size = 12, .color = agrees ? theme.ink2 : theme.wrong, .weight = 600};
    const bool fits =
        ui.text_width(whole, style) <= room;  // the verdict says more than one's own number, which the bar shows
    style.width = room;
    ui.text(right, y + 17, fits ? whole : word, style);
}

void draw_bar(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand&, const Rect& area) {
    const Theme& theme = *ui.theme;
    const size_t rows = scene.board.places.size();
    draw_bar_axis(ui, scene, bar_row(area, rows, 0), bar_row(area, rows, rows - 1), area);
    for (size_t i = 0; i < rows; ++i) {
        const Rect row = bar_row(area, rows, i);
        const lessons::SketchPlace& place = scene.board.places[i];
        ui.text(row.x - 14, row.y + row.h / 2 + 5, place.name,
                {.size = 14, .align = Align::right, .weight = place.known ? 400 : 700, .width = row.x - 14 - area.x});
        if (!place.known) {
            if (scene.open)
                if (const Drag drag = ui.drag(fmt::format("bar {}", i), {row.x - 8, row.y - 6, row.w + 16, row.h + 12});
                    drag.active)
                    pencil.values[i] = bar_value(row, scene.board.axis, drag.at.x);
            draw_asked_bar(ui, scene, pencil, i, row, area.right());
            continue;
        }
        draw_amount(ui, scene.board.axis, row, *place.known, data::sky);
        ui.text(row.right() + 14, row.y + row.h / 2 + 5, amount_text(*place.known),
                {.size = 14, .color = theme.ink2, .weight = 600, .width = 150});
    }
}

// By one step of the axis, a tenth with Shift.
double moved(const SketchAxis& axis, double value, int way, bool far) {
    if (!std::isfinite(value)) value = axis.log ? std::sqrt(axis.low * axis.high) : axis.low + (axis.high - axis.low) / 2;
    if (axis.log) return std::clamp(value * std::pow(10, way * (far ? 0.25 : 0.05)), axis.low, axis.high);
    const double step = axis.whole ? (far ? 8 : 1) : (axis.high - axis.low) / (far ? 10 : 100);
    return snapped(axis, value + way * step);
}

bool bar_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const int at = open_place(scene);
    if (at < 0) return false;
    if (clears(key)) return clear(scene, pencil, hand), true;
    const bool more = key.code == KeyCode::right || key.code == KeyCode::up;
    if (!more && key.code != KeyCode::left && key.code != KeyCode::down) return false;
    double& value = pencil.values[static_cast<size_t>(at)];
    value = moved(scene.board.axis, value, more ? 1 : -1, key.shift);
    return true;
}

// A number.

constexpr size_t most_typed = 12;

double typed_number(const std::string& typed) {
    const bool none = typed.find_first_of("0123456789") == std::string::npos;
    return none ? lessons::nothing_put : std::atof(typed.c_str());
}
// A digit or a point behind what is there; a minus turns its sign. '\b' takes the last one back.
void type_sign(Sketch& pencil, SketchHand& hand, char sign) {
    std::string& typed = hand.typed;
    const bool negative = typed.starts_with('-');
    if (sign == '\b') {
        if (!typed.empty()) typed.pop_back();
    } else if (sign == '-') {
        if (negative)
            typed.erase(0, 1);
        else
            typed.insert(0, 1, '-');
    } else if (typed.size() < most_typed && (sign != '.' || typed.find('.') == std::string::npos)) {
        typed += sign;
    }
    pencil.values.front() = typed_number(typed);
}

// A pad for whoever has no keyboard at hand: below the box on one line, and where that is too narrow or too low beside it,
// on as many lines as it takes.
void draw_pad(Ui& ui, Sketch& pencil, SketchHand& hand, const Rect& box, const Rect& area) {
    constexpr float gap = 4, row = 30;  // as chips stand
    constexpr std::string_view signs = "0123456789.-", back = "take back";
    float all = ui.chip_width(back);
    for (const char sign : signs) all += ui.chip_width(std::string(1, sign)) + gap;
    const bool below = all <= area.w && box.bottom() + 14 + 26 <= area.bottom();
    const float left = below ? area.x : box.right() + 24, right = area.right();
    float x = left, y = below ? box.bottom() + 14 : area.y + 4;
    const auto chip = [&](std::string_view label, bool able = true) {
        if (x > left && x + ui.chip_width(label) > right) x = left, y += row;
        return ui.chip(x, y, label, false, able);
    };
    ui.push_scope("pad");
    for (const char sign : signs)
        if (chip(std::string(1, sign))) type_sign(pencil, hand, sign);
    if (chip(back, !hand.typed.empty())) type_sign(pencil, hand, '\b');
    ui.pop_scope();
}

void draw_typed(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const double put = pencil.values.front();
    const Rect box{area.x, area.y + 30, std::min(360.0f, area.w * 0.5f), 84};
    ui.text(area.x, area.y + 16, "What you write", {.size = 14, .weight = 600});
    ui.rect(box, theme.panel2, 6);
    ui.frame(box, scene.open ? theme.accent : theme.line, scene.open ? 2.0f : 1.0f, 6);
    const std::string typed = scene.open && !hand.typed.empty() ? hand.typed : std::isfinite(put) ? amount_text(put) : "";
    const float end = ui.text(box.x + 24, box.y + 54, typed.empty() ? "?" : typed,
                              {.size = 32, .color = typed.empty() ? theme.quiet : theme.ink, .weight = 700});
    if (scene.open && scene.by_hand) ui.rect({end + 4, box.y + 24, 2, 36}, theme.accent);
    ui.text(box.right() - 16, box.y + 52, scene.board.axis.unit, {.size = 16, .color = theme.ink2, .align = Align::right});
    if (scene.open && scene.by_hand) draw_pad(ui, pencil, hand, box, area);
    if (!scene.truth) return;
    const Faded faint(ui, scene.shown);
    const Rect told{box.right() + 24, box.y, std::min(360.0f, area.right() - box.right() - 24), box.h};
    const bool good = scene.verdict(0) == Verdict::agrees;
    ui.text(told.x, area.y + 16, "What the run says", {.size = 14, .weight = 600});
    ui.rect(told, theme.panel2, 6);
    ui.frame(told, good ? theme.right : theme.wrong, 3, 6);
    ui.text(told.x + 24, told.y + 54, amount_text(scene.truth->figure),
            {.size = 32, .color = good ? theme.right : theme.wrong, .weight = 700});
    ui.text(told.right() - 16, told.y + 52, scene.board.axis.unit, {.size = 16, .color = theme.ink2, .align = Align::right});
}

bool typed_key(const SketchScene&, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const auto sign = static_cast<int>(key.code);
    const bool number = (sign >= '0' && sign <= '9') || sign == '.' || sign == '-';
    if (!clears(key) && !number) return false;
    type_sign(pencil, hand, clears(key) ? '\b' : static_cast<char>(sign));
    return true;
}

// A plane: the points of a curve, or a dot below the roofs.

struct Plane {
    Rect in;
    const SketchAxis &across, &axis;
    float x(double v) const { return in.x + in.w * share_of(across, v); }
    float y(double v) const { return in.bottom() - in.h * share_of(axis, v); }
    double x_at(float px) const { return value_at(across, (px - in.x) / in.w); }
    double y_at(float py) const { return value_at(axis, (in.bottom() - py) / in.h); }
};

bool is_low(const Rect& area) {
    return area.h < 220;
}

// In a low one the unit across stands beside the ticks, not below them.
Plane plane_of(const Rect& area, const SketchScene& scene) {
    const float below = is_low(area) ? 24 : 44;
    return {{area.x + 64, area.y + 18, area.w - 64 - 150, area.h - 18 - below}, scene.board.across, scene.board.axis};
}

void draw_plane(Ui& ui, const Plane& plane, const SketchScene& scene, bool ticks_across, bool low) {
    const Theme& theme = *ui.theme;
    ui.rect(plane.in, theme.panel2);
    float free_below = plane.in.bottom() + 15;  // a label that would lie on the one below it is left out
    for (const double tick : ticks_of(scene.board.axis)) {
        const float y = plane.y(tick);
        ui.line({plane.in.x, y}, {plane.in.right(), y}, theme.grid);
        if (y + 15 > free_below) continue;
        free_below = y;
        ui.text(plane.in.x - 8, y + 4, amount_text(tick),
                {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
    }
    if (ticks_across)
        for (const double tick : ticks_of(scene.board.across)) {
            const float x = plane.x(tick);
            ui.line({x, plane.in.y}, {x, plane.in.bottom()}, theme.grid);
            ui.text(x, plane.in.bottom() + 18, amount_text(tick),
                    {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
        }
    ui.frame(plane.in, theme.line);
    ui.text(plane.in.x, plane.in.y - 6, scene.board.axis.unit, {.size = 12, .color = theme.ink2});
    if (low)
        ui.text(plane.in.right() + 26, plane.in.bottom() + 18, scene.board.across.unit,
                {.size = 12, .color = theme.ink2, .width = 122});
    else
        ui.text(plane.in.right(), plane.in.bottom() + 38, scene.board.across.unit,
                {.size = 12, .color = theme.ink2, .align = Align::right});
}

void draw_curve(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const Plane plane = plane_of(area, scene);
    draw_plane(ui, plane, scene, false, is_low(area));
    const size_t count = scene.board.places.size();
    if (scene.open)
        if (const Drag drag = ui.drag("curve", plane.in); drag.active) {
            int nearest = -1;
            float best = 1e9f;
            for (size_t i = 0; i < count; ++i)
                if (const float off = std::fabs(plane.x(scene.board.places[i].at) - drag.at.x);
                    !scene.board.places[i].known && off < best)
                    best = off, nearest = static_cast<int>(i);
            if (nearest >= 0) {
                pencil.values[static_cast<size_t>(nearest)] = snapped(scene.board.axis, plane.y_at(drag.at.y));
                hand.cursor = nearest;
            }
        }
    std::vector<Point> mine, truth;
    for (size_t i = 0; i < count; ++i) {
        const float x = plane.x(scene.board.places[i].at);
        ui.text(x, plane.in.bottom() + 18, scene.board.places[i].name,
                {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
        if (!scene.board.places[i].known) {
            const Point places[] = {{x, plane.in.y}, {x, plane.in.bottom()}};
            ui.polyline(places, theme.ink3, 1, 4, 4);
        }
        if (std::isfinite(pencil.values[i])) mine.push_back({x, plane.y(pencil.values[i])});
        if (scene.truth) truth.push_back({x, plane.y(scene.truth->sketch.values[i])});
    }
    if (scene.truth) {
        const Faded faint(ui, scene.shown);
        ui.polyline(truth, data::green, 2.5f);
    }
    if (mine.size() > 1) ui.polyline(mine, theme.ink2, 1.8f, 7, 4);
    for (size_t i = 0; i < count; ++i) {
        const float x = plane.x(scene.board.places[i].at);
        if (scene.board.places[i].known) {
            ui.circle({x, plane.y(*scene.board.places[i].known)}, 6, data::sky);
            continue;
        }
        if (std::isfinite(pencil.values[i])) {
            ui.ring({x, plane.y(pencil.values[i])}, 7, theme.ink, 2);
            if (hand.cursor == static_cast<int>(i) && scene.open)
                ui.ring({x, plane.y(pencil.values[i])}, 11, theme.accent, 1.5f);
        } else if (scene.open) {
            ui.text(x, plane.in.y + 20, "?", {.size = 16, .color = theme.quiet, .align = Align::center, .weight = 700});
        }
        if (!scene.truth) continue;
        const Faded faint(ui, scene.shown);
        const float y = plane.y(scene.truth->sketch.values[i]);
        ui.rect({x - 6, y - 6, 12, 12}, data::green);
        const bool last = x + 24 > plane.in.right(),
                   below = std::isfinite(pencil.values[i]) && plane.y(pencil.values[i]) < y;
        ui.text(last ? plane.in.right() - 12 : x + 12, below ? y + 19 : y - 10, amount_text(scene.truth->sketch.values[i]),
                {.size = 13, .color = theme.right, .align = last ? Align::right : Align::left, .weight = 600});
        if (scene.verdict(i) == Verdict::agrees) continue;
        ui.line({x, y}, {x, plane.y(pencil.values[i])}, theme.wrong, 3.5f);
    }
    if (!scene.truth) return;
    const Faded faint(ui, scene.shown);
    const float legend = plane.in.right() + 14, foot = plane.in.bottom() - 8;
    const Point pencilled[] = {{legend, foot - 24}, {legend + 22, foot - 24}},
                ran[] = {{legend, foot - 4}, {legend + 22, foot - 4}};
    ui.polyline(pencilled, theme.ink2, 1.8f, 7, 4);
    ui.polyline(ran, data::green, 2.5f);
    ui.text(legend + 28, foot - 20, "your pencil", {.size = 12, .color = theme.ink2});
    ui.text(legend + 28, foot, "the run", {.size = 12, .color = theme.right, .weight = 600});
}

bool curve_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const int count = static_cast<int>(scene.board.places.size());
    if (clears(key)) return clear(scene, pencil, hand), true;
    const auto next = [&](int from, int way) {
        for (int i = from + way; i >= 0 && i < count; i += way)
            if (!scene.board.places[static_cast<size_t>(i)].known) return i;
        return from;
    };
    if (hand.cursor < 0) hand.cursor = next(-1, 1);
    if (hand.cursor < 0) return false;
    if (key.code == KeyCode::left || key.code == KeyCode::right)
        return hand.cursor = next(hand.cursor, key.code == KeyCode::left ? -1 : 1), true;
    if (key.code != KeyCode::up && key.code != KeyCode::down) return false;
    double& value = pencil.values[static_cast<size_t>(hand.cursor)];
    value = moved(scene.board.axis, value, key.code == KeyCode::up ? 1 : -1, key.shift);
    return true;
}

void draw_dot(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand&, const Rect& area) {
    const Theme& theme = *ui.theme;
    const Plane plane = plane_of(area, scene);
    draw_plane(ui, plane, scene, true, is_low(area));
    const double bandwidth = scene.board.limits[0].second, peak = scene.board.limits[1].second, ridge = peak / bandwidth;
    const Point roof[] = {{plane.x(scene.board.axis.low / bandwidth), plane.y(scene.board.axis.low)},
                          {plane.x(ridge), plane.y(peak)},
                          {plane.x(scene.board.across.high), plane.y(peak)}};
    const double left = std::max(scene.board.across.low, scene.board.axis.low / bandwidth);
    const Point slant[] = {{plane.x(left), plane.y(left * bandwidth)}, roof[1], roof[2]};
    ui.polyline(slant, theme.ink, 2);
    ui.text(plane.in.right() + 8, plane.y(peak) + 5, fmt::format("{} peak", scene.board.limits[1].first),
            {.size = 12, .color = theme.ink2});
    ui.text(plane.x(ridge / 30), plane.y(peak / 30) - 12, fmt::format("{} GB/s", amount_text(bandwidth)),
            {.size = 12, .color = theme.ink2, .align = Align::right});
    if (scene.open)
        if (const Drag drag = ui.drag("dot", plane.in); drag.active)
            pencil.values = {snapped(scene.board.across, plane.x_at(drag.at.x)),
                             snapped(scene.board.axis, plane.y_at(drag.at.y))};
    const bool has = std::isfinite(pencil.values[0]) && std::isfinite(pencil.values[1]);
    const Point mine{has ? plane.x(pencil.values[0]) : 0, has ? plane.y(pencil.values[1]) : 0};
    if (scene.truth) {
        const Faded faint(ui, scene.shown);
        const Point is{plane.x(scene.truth->sketch.values[0]), plane.y(scene.truth->sketch.values[1])};
        if (has && !scene.score->right) ui.line(mine, is, theme.wrong, 3.5f);
        ui.circle(is, 8, data::green);
        const std::string says =
            fmt::format("the run: {} FLOP a byte, {} GFLOP/s", amount_text(scene.truth->sketch.values[0]),
                        amount_text(scene.truth->sketch.values[1]));
        const bool fits = is.x + 16 + ui.text_width(says, {.size = 13, .weight = 600}) < plane.in.right();
        const bool above = has && mine.y >= is.y;  // away from the pencil
        ui.text(fits ? is.x + 16 : is.x - 16, above ? is.y - 14 : is.y + 24, says,
                {.size = 13, .color = theme.right, .align = fits ? Align::left : Align::right, .weight = 600});
    }
    if (!has) return;
    for (const int way : {0, 1, 2, 3}) {
        const Point corner[] = {{mine.x, mine.y - 9}, {mine.x + 9, mine.y}, {mine.x, mine.y + 9}, {mine.x - 9, mine.y}};
        ui.line(corner[way], corner[(way + 1) % 4], theme.ink, 2.2f);
    }
    const bool below = !scene.truth || mine.y >= plane.y(scene.truth->sketch.values[1]);
    ui.text(mine.x + 14, below ? mine.y + 20 : mine.y - 10, "you", {.size = 13, .weight = 600});
}

bool dot_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    if (clears(key)) return clear(scene, pencil, hand), true;
    const auto [across, up] = arrow_step(key);
    if (across == 0 && up == 0) return false;
    const double x = pencil.values[0], y = pencil.values[1];
    pencil.values[0] = across == 0 && std::isfinite(x) ? x : moved(scene.board.across, x, across, key.shift);
    pencil.values[1] = up == 0 && std::isfinite(y) ? y : moved(scene.board.axis, y, up, key.shift);
    return true;
}

// Shares: one bar of a hundred, cut at borders that are dragged.

constexpr Color share_colors[] = {data::orange, data::sky, data::green, data::purple, data::yellow, data::grey};
constexpr Hatch share_hatches[] = {Hatch::diagonal, Hatch::solid,      Hatch::dots,
                                   Hatch::cross,    Hatch::horizontal, Hatch::vertical};

// Until the first border is dragged all parts are equal, but nothing is put.
std::vector<double> parts_of(const SketchScene& scene, const Sketch& pencil) {
    std::vector<double> parts = pencil.values;
    for (double& part : parts)
        if (!std::isfinite(part)) part = 100.0 / static_cast<double>(scene.board.places.size());
    return parts;
}

void draw_parts(Ui& ui, const SketchScene& scene, const std::vector<double>& parts, const Rect& bar, bool pencilled) {
    const Theme& theme = *ui.theme;
    float x = bar.x;
    for (size_t i = 0; i < parts.size(); ++i) {
        const Rect box{x, bar.y, bar.w * static_cast<float>(parts[i] / 100), bar.h};
        x += box.w;
        ui.rect(box, faded(share_colors[i % 6], 0.75f));
        if (share_hatches[i % 6] != Hatch::solid) ui.hatch(box, faded(data::black, 0.35f), share_hatches[i % 6]);
        if (pencilled && box.w > 8) draw_pencil(ui, box, 23u * static_cast<uint32_t>(i) + 9, 10);
        ui.frame(box, theme.panel, 1);
        const std::string letter = scene.board.places[i].name, says = fmt::format("{:.0f} %", parts[i]);
        const TextStyle style{.size = 13, .align = Align::center, .weight = 700};
        if (ui.text_width(letter + "  " + says, style) + 20 <= box.w)
            draw_word(ui, {box.x + box.w / 2, box.y + box.h / 2}, letter + "  " + says, theme.ink, theme.panel, 13);
        else if (ui.text_width(says, style) + 14 <= box.w)
            draw_word(ui, {box.x + box.w / 2, box.y + box.h / 2}, says, theme.ink, theme.panel, 12);
    }
    ui.frame(bar, theme.ink3, 1.2f);
}

// Where the bars of shares and their legend stand: in little room the legend goes into columns, and bars get lower.
struct SharesPlace {
    Rect mine, is;
    float legend = 0, pitch = 0;
    size_t columns = 1;
};
SharesPlace place_shares(const Rect& area, size_t parts) {
    SharesPlace it;
    const bool low = area.h < 150 + 19 * static_cast<float>(parts);
    if (low) it.columns = std::clamp(static_cast<size_t>(area.w / 270), size_t{1}, parts);
    const auto lines = static_cast<float>((parts + it.columns - 1) / it.columns);
    const float head = low ? 22 : 30, between = low ? 24 : 46, gap = low ? 20 : 34;
    const float rest = area.h - head - between - gap;
    const float h = std::clamp((rest - 19 * (lines - 1) - 4) / 2, 14.0f, std::clamp(area.h * 0.2f, 44.0f, 84.0f));
    it.mine = {area.x, area.y + head, area.w, h};
    it.is = {area.x, it.mine.bottom() + between, area.w, h};
    it.legend = it.is.bottom() + gap;
    it.pitch = std::clamp((area.bottom() - it.legend) / lines, 17.0f, 24.0f);
    return it;
}

// What a part's pattern means, how much the learner gave it, and how much the run did.
void draw_shares_legend(Ui& ui, const SketchScene& scene, const std::vector<double>& parts, bool put, const SharesPlace& at,
                        const Rect& area) {
    const Theme& theme = *ui.theme;
    const float each = area.w / static_cast<float>(at.columns);
    for (size_t i = 0; i < parts.size(); ++i) {
        const float left = area.x + each * static_cast<float>(i % at.columns),
                    y = at.legend + at.pitch * static_cast<float>(i / at.columns);
        const float end = ui.legend(left, y, share_colors[i % 6], share_hatches[i % 6], scene.board.places[i].name);
        const float shown = at.columns == 1 ? area.x + std::min(360.0f, area.w * 0.5f) : 0;
        const std::string you = fmt::format("{}{:.0f} %", at.columns == 1 ? "you " : "", parts[i]);
        const TextStyle mine{.size = 13, .color = put ? theme.ink : theme.quiet};
        float x = at.columns == 1 ? shown : end + ui.text_width(you, mine);
        ui.text(x, y, you, {.size = 13, .color = mine.color, .align = Align::right});
        if (!scene.truth) continue;
        const Faded faint(ui, scene.shown);
        const bool good = scene.verdict(i) == Verdict::agrees;
        const std::string run = fmt::format("run {:.0f} %", scene.truth->sketch.values[i]);
        if (at.columns == 1) {
            ui.text(shown + 110, y, run, {.size = 13, .align = Align::right, .weight = 600});
            ui.text(shown + 126, y, good ? "agrees" : word_of(scene.verdict(i)),
                    {.size = 13, .color = good ? theme.right : theme.wrong, .weight = 600});
        } else {
            ui.text(x + 10, y, run, {.size = 13, .color = good ? theme.right : theme.wrong, .weight = 600});
        }
    }
}

void draw_shares(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    std::vector<double> parts = parts_of(scene, pencil);
    const SharesPlace at = place_shares(area, parts.size());
    const Rect &mine = at.mine, &is = at.is;
    ui.text(area.x, mine.y - 9, pencil.empty() ? "Nothing is drawn yet: all parts stand equal" : "Your parts",
            {.size = 14, .weight = 600});
    if (scene.open)
        if (const Drag drag = ui.drag("parts", {mine.x - 6, mine.y - 8, mine.w + 12, mine.h + 16}); drag.active) {
            const double at = std::clamp(100.0 * static_cast<double>((drag.at.x - mine.x) / mine.w), 0.0, 100.0);
            if (drag.started || hand.grabbed < 0) {
                double border = 0, best = 1e9;
                for (size_t i = 0; i + 1 < parts.size(); ++i) {
                    border += parts[i];
                    if (std::fabs(border - at) < best) best = std::fabs(border - at), hand.grabbed = static_cast<int>(i);
                }
            }
            const auto i = static_cast<size_t>(hand.grabbed);
            double before = 0;
            for (size_t j = 0; j < i; ++j) before += parts[j];
            const double both = parts[i] + parts[i + 1];
            parts[i] = std::clamp(std::round(at - before), 0.0, both);
            parts[i + 1] = both - parts[i];
            pencil.values = parts;
        }
    draw_parts(ui, scene, parts, mine, !pencil.empty());
    float x = mine.x;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
        x += mine.w * static_cast<float>(parts[i] / 100);
        if (scene.open) draw_handle(ui, {x, mine.y + mine.h / 2}, mine.h / 2 + 4);
    }
    if (scene.truth) {
        const Faded faint(ui, scene.shown);
        ui.text(area.x, is.y - 9, "The run's parts", {.size = 14, .weight = 600});
        draw_parts(ui, scene, scene.truth->sketch.values, is, false);
    }
    draw_shares_legend(ui, scene, parts, !pencil.empty(), at, area);
}

bool shares_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    if (clears(key)) return clear(scene, pencil, hand), true;
    const int count = static_cast<int>(scene.board.places.size());
    if (hand.cursor < 0) hand.cursor = 0;
    if (key.code == KeyCode::left || key.code == KeyCode::right) {
        hand.cursor = std::clamp(hand.cursor + (key.code == KeyCode::left ? -1 : 1), 0, count - 2);
        return true;
    }
    if (key.code != KeyCode::up && key.code != KeyCode::down) return false;
    std::vector<double> parts = parts_of(scene, pencil);
    const auto i = static_cast<size_t>(hand.cursor);
    const double both = parts[i] + parts[i + 1], step = (key.shift ? 10 : 1) * (key.code == KeyCode::up ? 1 : -1);
    parts[i] = std::clamp(parts[i] + step, 0.0, both);
    parts[i + 1] = both - parts[i];
    pencil.values = parts;
    return true;
}

}  // namespace

SketchPicture bar_picture() {
    return {"bar", draw_bar, bar_key};
}
SketchPicture typed_picture() {
    return {"typed", draw_typed, typed_key};
}
SketchPicture curve_picture() {
    return {"curve", draw_curve, curve_key, true};
}
SketchPicture dot_picture() {
    return {"dot", draw_dot, dot_key, true};
}
SketchPicture shares_picture() {
    return {"shares", draw_shares, shares_key};
}

}  // namespace lockstep::gui
