// One axis for all rows of a stack, from zero to the largest bar or board. What is over the board is hatched in vermillion
// on black, and says so; parts have hatches beside their colours wherever their name does not stand in them.
#include "app/gui/views/lesson/figure_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

using scene::FigureStack;
using scene::FigureTable;

constexpr float stack_head = 52, stack_foot = 26, stack_least_pitch = 24, stack_most_pitch = 130;

struct PartLook {
    std::string_view part;
    Color fill;
    Hatch twin;
};
constexpr PartLook part_looks[] = {{"weights", data::sky, Hatch::solid},
                                   {"gradients", data::green, Hatch::horizontal},
                                   {"optimiser", data::purple, Hatch::diagonal},
                                   {"activations", data::orange, Hatch::dots},
                                   {"buffers", data::grey, Hatch::cross},
                                   {"forward", data::green, Hatch::solid},
                                   {"backward", data::blue, Hatch::horizontal},
                                   {"recompute", data::sky, Hatch::vertical},
                                   {"tensor parallel", data::orange, Hatch::dots},
                                   {"context parallel", data::yellow, Hatch::vertical},
                                   {"data parallel", data::purple, Hatch::diagonal},
                                   {"update", data::dark_orange, Hatch::cross},
                                   {"bubble", data::grey, Hatch::diagonal},
                                   {"computing", data::green, Hatch::solid},
                                   {"gradients on their way", data::purple, Hatch::diagonal},
                                   {"sent: gradients", data::green, Hatch::horizontal},
                                   {"sent: parameters", data::sky, Hatch::solid},
                                   {"sent: activations", data::orange, Hatch::dots},
                                   {"sent: losses", data::purple, Hatch::diagonal},
                                   {"sent: norms", data::yellow, Hatch::vertical},
                                   {"latency", data::orange, Hatch::dots},
                                   {"bytes", data::sky, Hatch::solid},
                                   {"everything else", data::grey, Hatch::dots}};

const PartLook& look_of_part(const std::string& part) {
    for (const PartLook& look : part_looks)
        if (look.part == part) return look;
    return part_looks[4];
}

}  // namespace

std::string stack_amount(double value, const std::string& unit) {
    if (unit == "us") return time_text(value, {.significant = value >= 1 ? 4 : 3});
    if (unit == "MWh" && value >= 1000) return fmt::format("{:.4g} GWh", value / 1000);
    return unit == "MWh" ? fmt::format("{:.4g} MWh", value) : scene::figure_text(value, unit);
}

namespace {

double axis_end(const FigureStack& stack) {
    double most = 0;
    for (size_t row = 0; row < stack.rows.size(); ++row) most = std::max({most, stack.total(row), stack.limits[row] * 1.02});
    return most;
}

void draw_part(Ui& ui, const Rect& box, const PartLook& look) {
    ui.rect(box, look.fill);
    for (float x = box.x; look.twin != Hatch::solid && x < box.right(); x += 440)  // a hatch is that wide at most
        ui.hatch({x, box.y, std::min(440.0f, box.right() - x), box.h}, faded(data::black, 0.45f), look.twin);
}

void draw_stack_legend(Ui& ui, const FigureStack& stack, float x, float y, float right) {
    for (const std::string& part : stack.parts) {
        if (x + 20 + ui.text_width(part, {.size = 12}) > right) return;
        draw_part(ui, {x, y - 10, 14, 12}, look_of_part(part));
        x = ui.text(x + 20, y, part, {.size = 12, .color = ui.theme->ink2}) + 14;
    }
    const bool boards = std::any_of(stack.limits.begin(), stack.limits.end(), [](double limit) { return limit > 0; });
    if (!boards || x + 20 + ui.text_width("does not fit", {.size = 12}) > right) return;
    ui.rect({x, y - 10, 14, 12}, data::black);
    ui.hatch({x, y - 10, 14, 12}, data::vermillion, Hatch::diagonal);
    ui.text(x + 20, y, "does not fit", {.size = 12, .color = ui.theme->ink2});
}

// A board's GB are 2^30 bytes: what it is sold as stands behind what it holds.
std::string board_words(const FigureStack& stack, size_t row) {
    const double limit = stack.limits[row], gib = limit / (1 << 30);
    std::string text = fmt::format("{} holds {}", stack.limits_of[row], stack_amount(limit, stack.unit));
    if (stack.unit == "B" && gib >= 1 && gib == std::floor(gib)) text += fmt::format(" ({:.0f} GiB)", gib);
    return text;
}

std::string stack_tip(const FigureTable& table, const FigureStack& stack, size_t row) {
    std::string text = fmt::format("{}: {}", table.rows[row].name, stack_amount(stack.total(row), stack.unit));
    for (size_t part = 0; part < stack.parts.size(); ++part)
        if (stack.rows[row][part] > 0)
            text += fmt::format("\n{} {}", stack.parts[part], stack_amount(stack.rows[row][part], stack.unit));
    if (stack.limits[row] > 0) text += "\n" + board_words(stack, row);
    return text;
}

// What the board has no room for: black, hatched in vermillion, with a strip of the parts' own colours below.
void draw_overflow(Ui& ui, const FigureStack& stack, size_t row, const Rect& track, double most, float over) {
    const Color part_edge = text_on(data::black);
    const auto x_of = [&](double value) { return track.x + track.w * static_cast<float>(value / most); };
    const float strip = track.h >= 30 ? 6.0f : 0.0f;
    const Rect rest{over, track.y, x_of(stack.total(row)) - over, track.h - strip};
    ui.rect(rest, data::black);
    for (float x = rest.x; x < rest.right(); x += 440)
        ui.hatch({x, rest.y, std::min(440.0f, rest.right() - x), rest.h}, data::vermillion, Hatch::diagonal);
    double done = 0;
    for (size_t part = 0; part < stack.parts.size(); ++part) {
        const double value = stack.rows[row][part];
        const float from = std::max(over, x_of(done)), to = x_of(done += value);
        if (!(value > 0) || to - from < 1) continue;
        if (from > over) ui.rect({from, track.y, 1.5f, track.h}, part_edge);
        const std::string words = fmt::format("{} {}", stack.parts[part], stack_amount(value, stack.unit));
        const float width = ui.text_width(words, {.size = 12, .weight = 600}) + 10;
        const bool named = from <= over && over - x_of(done - value) > width;  // in what the board has room for
        if (track.h < 24 || width + 6 > to - from || named) continue;
        const float middle = (from + to) / 2, y = rest.y + rest.h / 2;
        ui.rect({middle - width / 2, y - 9, width, 18}, data::black);
        ui.text(middle, y + 4.5f, words, {.size = 12, .color = part_edge, .align = Align::center, .weight = 600});
    }
}

void draw_stack_bar(Ui& ui, const FigureStack& stack, size_t row, const Rect& track, double most) {
    const auto x_of = [&](double value) { return track.x + track.w * static_cast<float>(value / most); };
    const double limit = stack.limits[row], total = stack.total(row);
    const float over = limit > 0 && total > limit ? x_of(limit) : 1e9f;
    double done = 0;
    for (size_t part = 0; part < stack.parts.size(); ++part) {
        const double value = stack.rows[row][part];
        if (!(value > 0)) continue;
        const Rect box{x_of(done), track.y, std::max(1.0f, x_of(done + value) - x_of(done)), track.h};
        const PartLook& look = look_of_part(stack.parts[part]);
        const float seen = std::min(box.right(), over) - box.x;
        std::string words = fmt::format("{} {}", stack.parts[part], stack_amount(value, stack.unit));
        if (ui.text_width(words, {.size = 12, .weight = 600}) + 10 > seen) words = stack.parts[part];
        if (track.h >= 16 && ui.text_width(words, {.size = 12, .weight = 600}) + 10 <= seen) {
            ui.rect(box, look.fill);
            ui.text(box.x + seen / 2, box.y + box.h / 2 + 4.5f, words,
                    {.size = 12, .color = text_on(look.fill), .align = Align::center, .weight = 600});
        } else {
            draw_part(ui, box, look);
        }
        done += value;
    }
    if (over < 1e9f) draw_overflow(ui, stack, row, track, most, over);
    if (limit > 0) ui.rect({x_of(limit) - 1, track.y - 4, 2, track.h + 8}, data::vermillion);
}

}  // namespace

float figure_stack_least(const FigureStack& stack) {
    return stack_head + stack_foot + stack_least_pitch * static_cast<float>(stack.rows.size());
}
float figure_stack_most(const FigureStack& stack) {
    return stack_head + stack_foot + stack_most_pitch * static_cast<float>(stack.rows.size());
}

void draw_figure_stack(Ui& ui, const FigureTable& table, const FigureStack& stack, const Rect& area, float names,
                       bool hidden) {
    const Theme& theme = *ui.theme;
    const double most = axis_end(stack);
    ui.line({area.x, area.y}, {area.right(), area.y}, theme.line);
    const float title = ui.text(area.x, area.y + 20, stack.title, {.size = 13, .weight = 600});
    ui.text(title + 10, area.y + 20, stack.provenance, {.size = 12, .color = theme.quiet});
    draw_stack_legend(ui, stack, area.x, area.y + 40, area.right());
    const float numbers = std::min(170.0f, area.w * 0.3f);
    const Rect plot{area.x + names, area.y + stack_head, area.w - names - numbers, area.h - stack_head - stack_foot};
    if (plot.w < 60 || !(most > 0)) return;
    const float pitch = plot.h / static_cast<float>(stack.rows.size()),
                height = std::min(110.0f, pitch * (pitch > 60 ? 0.5f : 0.66f));
    if (!hidden) {
        const double step = rounded(most, {{1.2, 0.2}, {1.5, 0.25}, {3, 0.5}, {any_other, 1}});
        for (double value = 0; value <= most * 1.0001; value += step) {
            const float x = plot.x + plot.w * static_cast<float>(value / most);
            ui.rect({x, plot.y, 1, plot.h}, theme.grid);
            const std::string words = value > 0 ? stack_amount(value, stack.unit) : "0";
            const float half = ui.text_width(words, {.size = 12}) / 2;
            if (x + half <= area.right())
                ui.text(x, plot.bottom() + 17, words, {.size = 12, .color = theme.quiet, .align = Align::center});
        }
    } else {
        ui.text(plot.x, plot.bottom() + 17,
                stack.unit == "B"    ? "0 bytes"
                : stack.unit == "us" ? "0 µs"
                                     : "0 " + stack.unit,
                {.size = 12, .color = theme.quiet});
        ui.text(plot.right(), plot.bottom() + 17, "hidden until you lock an answer",
                {.size = 12, .color = theme.quiet, .align = Align::right, .width = plot.w - 60});
    }
    ui.rect({plot.x, plot.bottom(), plot.w, 1}, theme.line);
    ui.rect({plot.x, plot.y, 1, plot.h}, theme.line);
    for (size_t row = 0; row < stack.rows.size(); ++row) {
        const float middle = plot.y + pitch * (static_cast<float>(row) + 0.5f);
        const Rect track{plot.x, middle - height / 2, plot.w, height};
        ui.text(area.x, middle + 4.5f, table.rows[row].name, {.size = 13, .width = names - 8});
        if (hidden) {
            ui.dashed(track, theme.ink3);
            ui.text(plot.right() + 10, middle + 4.5f, "?", {.size = 13, .mono = true});
            continue;
        }
        draw_stack_bar(ui, stack, row, track, most);
        const std::string total = stack.total(row) > 0 ? stack_amount(stack.total(row), stack.unit) : "-";
        const bool over = stack.limits[row] > 0 && stack.total(row) > stack.limits[row], two = over && pitch >= 36;
        ui.text(plot.right() + 10, middle + (two ? -3.0f : 4.5f), two || !over ? total : over_text(table, row),
                {.size = 13, .color = over && !two ? theme.wrong : theme.ink, .weight = 600, .width = numbers - 10});
        if (two)
            ui.text(plot.right() + 10, middle + 14, over_text(table, row),
                    {.size = 12, .color = theme.wrong, .weight = 600, .width = numbers - 10});
        const Rect line{area.x, middle - pitch / 2, area.w, pitch};
        if (ui.hovered(line)) ui.tooltip(stack_tip(table, stack, row));
    }
    // The board's name, once, beside its line: at the top right of the heading's row.
    if (!hidden && stack.limits.front() > 0) {
        const std::string board = board_words(stack, 0);
        if (ui.text_width(board, {.size = 12, .weight = 600}) + 180 < area.right() - title) {
            const float left = ui.text(area.right(), area.y + 20, board, {.size = 12, .align = Align::right, .weight = 600});
            ui.rect({left - 10, area.y + 9, 2, 14}, data::vermillion);
        }
    }
}

std::string over_text(const FigureTable& table, size_t row) {
    const double over = table.over(row);
    return over > 0 ? "does not fit by " + scene::figure_text(over, "B") : std::string();
}

std::string describe_figure_stack(const FigureTable& table, const FigureStack& stack) {
    std::string text = fmt::format("  {} ({}):\n", stack.title, stack.provenance);
    for (size_t row = 0; row < stack.rows.size(); ++row) {
        text += fmt::format("    {}: {}", table.rows[row].name, stack_amount(stack.total(row), stack.unit));
        for (size_t part = 0; part < stack.parts.size(); ++part)
            if (stack.rows[row][part] > 0)
                text += fmt::format(", {} {}", stack.parts[part], stack_amount(stack.rows[row][part], stack.unit));
        if (stack.limits[row] > 0) text += "; " + board_words(stack, row);
        if (stack.limits[row] > 0 && stack.total(row) > stack.limits[row]) text += "; " + over_text(table, row);
        text += "\n";
    }
    return text;
}

}  // namespace lockstep::gui
