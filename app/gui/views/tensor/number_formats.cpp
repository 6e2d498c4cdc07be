// Number formats: the bits of each type, the range that it reaches, its numbers around one, and what that one becomes.
// Worked out from the bits alone; the number is the lane's of the launch on show, or one that is picked.
#include "app/gui/views/tensor/number_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::gui {
namespace {

constexpr NumberFormat format_rows[] = {
    {"f32", 8, 23, 32, 0, ""}, {"tf32", 8, 10, 32, 0, "13 unused"},   {"bf16", 8, 7, 16, 0, ""},
    {"f16", 5, 10, 16, 0, ""}, {"e4m3", 4, 3, 8, 448, "no infinity"}, {"e5m2", 5, 2, 8, 0, ""},
};
constexpr double well_kept = 0.002;                    // a scaled number that is off by less came through
constexpr size_t sixteen_first = 1, sixteen_last = 3;  // those that the lesson compares: tf32, bf16, f16

constexpr float row_least = 21;  // of a format

constexpr std::string_view formats_title = "Number formats: bits, range, step";
constexpr std::string_view formats_hidden = "What the number becomes is hidden until you lock an answer.";

struct Picked {
    std::string_view label;
    double value;
};
constexpr Picked picks[] = {{"257", 257},   {"2e-8", 2e-8},   {"1,024 × 2e-8", 1024 * 2e-8}, {"1.4", 1.4}, {"0.1", 0.1},
                            {"1e-6", 1e-6}, {"65,520", 65520}};

int least_exponent(const NumberFormat& format) {  // of a normal number
    return 2 - (1 << (format.exponent - 1));
}

std::string number_text(double value) {
    if (std::isinf(value)) return "too large";
    const double a = std::abs(value);
    if (a == 0 || (a >= 1e-3 && a < 1e7)) return readable_number(fmt::format("{:.7g}", value));
    std::string text = fmt::format("{:.4g}", value);  // 2e-08 as 2e-8
    if (const size_t zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
    return text;
}
std::string error_text(double value, double kept) {
    if (std::isinf(kept)) return "beyond the largest";
    if (kept == value) return "exact";
    if (kept == 0) return "lost";
    const double percent = 100 * std::abs(kept - value) / std::abs(value);
    return percent < 1e-3 ? "off by less than 0.001 %" : fmt::format("off {:.2g} %", percent);
}

// The lane's number among those that the step's launch was given, or the one of all lanes; none: its first argument is no
// f32.
std::optional<double> value_of_launch(const Session& session, const Focus& focus) {
    const scene::Scene* const scene = drawn_scene(session);
    if (scene == nullptr || scene->arguments.empty()) return std::nullopt;
    const auto argument = scene::parse_argument(scene->arguments.front());
    if (!argument || argument.value().values.dtype != DType::f32) return std::nullopt;
    const auto lane = argument.value().values.count() == 1 ? 0 : static_cast<size_t>(std::max(0, focus.lane));
    if (lane >= argument.value().values.count()) return std::nullopt;
    const float value = argument.value().values.as<float>()[lane];
    // As it was written: 2e-8 is told as that, though f32 has it only nearly.
    return std::isfinite(value) && value != 0 ? std::optional(std::stod(fmt::format("{}", value))) : std::nullopt;
}

const NumberFormat& worst_of(double value) {  // of the types of 16 bits and TF32: in which the number changes most
    const NumberFormat* worst = &format_rows[sixteen_first];
    const auto off = [&](const NumberFormat& format) { return std::abs(nearest_in(format, value) - value); };
    for (size_t i = sixteen_first; i <= sixteen_last; ++i)
        if (off(format_rows[i]) >= off(*worst)) worst = &format_rows[i];
    return *worst;
}

// What a number was made of, "1,024 × 2e-8", where it is such a pick; else empty.
std::string_view made_of(double value) {
    for (const Picked& pick : picks)
        if (std::abs(pick.value - value) < 1e-6 * std::abs(value) && pick.label.find(' ') != std::string_view::npos)
            return pick.label;
    return {};
}

std::string headline_of(double value) {
    const NumberFormat& worst = worst_of(value);
    const double kept = nearest_in(worst, value);
    if (std::isinf(kept)) return fmt::format("{} is too large for {}", number_text(value), worst.name);
    if (const std::string_view product = made_of(value);
        !product.empty() && std::abs(kept - value) < well_kept * std::abs(value))
        return fmt::format("{} comes through in tf32, bf16 and f16, {} at most", product, error_text(value, kept));
    if (kept == value) return fmt::format("{} is exact in tf32, bf16 and f16", number_text(value));
    std::vector<std::string_view> in;  // all in which it becomes that
    for (size_t i = sixteen_first; i <= sixteen_last; ++i)
        if (nearest_in(format_rows[i], value) == kept) in.push_back(format_rows[i].name);
    std::string names(in.front());
    for (size_t i = 1; i < in.size(); ++i) names += (i + 1 == in.size() ? " and " : ", ") + std::string(in[i]);
    std::string text = fmt::format("{} becomes {} in {}", number_text(value), number_text(kept), names);
    double before = kept;
    for (size_t i = sixteen_first; i <= sixteen_last; ++i) {  // and what it becomes elsewhere
        const double other = nearest_in(format_rows[i], value);
        if (other == kept || other == value) continue;
        text += other == before ? fmt::format(" and {}", format_rows[i].name)
                                : fmt::format(", {} in {}", number_text(other), format_rows[i].name);
        before = other;
    }
    return text;
}

std::string caption_of(double value) {
    const NumberFormat& worst = worst_of(value);
    if (std::abs(value) > worst.largest())
        return fmt::format("{} ends at {}. {} bits of exponent make the range, the fraction makes the step.", worst.name,
                           number_text(worst.largest()), worst.exponent);
    return fmt::format("At {} the numbers of {} are {} apart. The nearest one is taken, of two as near the even one.",
                       number_text(value), worst.name, number_text(step_at(worst, value)));
}

// The numbers of a format from `from` to `to`, at most `most` of them; empty: there are more.
std::vector<double> numbers_between(const NumberFormat& format, double from, double to, size_t most) {
    std::vector<double> numbers;
    double at = nearest_in(format, from);
    while (at < from) at += step_at(format, at);
    while (at <= to && std::isfinite(at) && at <= format.largest()) {
        numbers.push_back(at);
        if (numbers.size() > most) return {};
        at += step_at(format, at);
    }
    return numbers;
}

struct Columns {
    Rect names, bits, range, line, kept;
};

class NumberFormatsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        if (const scene::Scene* const scene = drawn_scene(session); scene != nullptr && scene->id != scene_) {
            scene_ = scene->id;
            picked_ = -1;
        }
        const double value = value_on_show(session, focus);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(formats_hidden) : caption_of(value);
        const Rect body = ui.panel(area, {.title = formats_title,
                                          .right = "the nearest number, ties to even",
                                          .badge = Provenance::derived,
                                          .caption = caption});
        float y = body.y;
        if (body.h <= 300) {  // above a sketch
            ui.text(body.x, y + 12, hidden ? "What becomes of " + number_text(value) + "?" : headline_of(value),
                    {.size = 16, .weight = 700, .width = body.w});
            y += 22;
        } else {
            ui.text(body.x, y + 22, hidden ? "What becomes of " + number_text(value) + "?" : headline_of(value),
                    {.size = 20, .weight = 700, .width = body.w});
            y += 36;
        }
        if (!has_room_to_itself(session, body.h)) {
            draw_picks(ui, session, focus, {body.x, y, body.w, 26});
            y += 36;
        }
        // In little room the formats need it more than the words for their colours.
        const bool legend = body.bottom() - 26 - y >= 58 + row_least * static_cast<float>(std::size(format_rows));
        draw_table(ui, value, hidden, {body.x, y, body.w, body.bottom() - (legend ? 26 : 0) - y});
        if (!legend) return;
        const float at = body.bottom() - 6;
        float x = ui.legend(body.x, at, data::grey, Hatch::solid, "sign");
        x = ui.legend(x, at, data::orange, Hatch::diagonal, "exponent");
        x = ui.legend(x, at, data::sky, Hatch::solid, "fraction");
        x = ui.legend(x, at, data::blue, Hatch::cross, "subnormal");
        if (!hidden && x + 110 < body.right()) ui.legend(x, at, data::green, Hatch::solid, "what it becomes");
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const double value = value_on_show(session, focus);
        std::string text = fmt::format("{} (derived)\n", formats_title);
        const bool hidden = session.learn.reveal_steps >= 0;
        for (const NumberFormat& format : format_rows) {
            text += fmt::format("  {}: 1 sign, {} exponent, {} fraction; {} to {}", format.name, format.exponent,
                                format.fraction, number_text(format.least()), number_text(format.largest()));
            if (!hidden) {
                const double kept = nearest_in(format, value);
                text += fmt::format("; {} becomes {}, {}", number_text(value), number_text(kept), error_text(value, kept));
            }
            text += "\n";
        }
        return text + "  " + (hidden ? std::string(formats_hidden) : headline_of(value) + ". " + caption_of(value)) + "\n";
    }

  private:
    double value_on_show(const Session& session, const Focus& focus) const {
        if (picked_ >= 0) return picks[picked_].value;
        return value_of_launch(session, focus).value_or(picks[0].value);
    }

    void draw_picks(Ui& ui, const Session& session, const Focus& focus, const Rect& row) {
        constexpr int count = static_cast<int>(std::size(picks));
        const auto of_lane = value_of_launch(session, focus);
        const int least = of_lane ? -1 : 0, shown = std::max(picked_, least);
        if (ui.pressed(Key::d, row)) picked_ = std::min(shown + 1, count - 1);
        if (ui.pressed(Key::a, row)) picked_ = std::max(shown - 1, least);
        float x = row.x;
        x = ui.text(x, row.y + 18, "the number", {.size = 13, .color = ui.theme->ink2}) + 10;
        if (of_lane) {
            const std::string label = fmt::format("lane {}: {}", std::max(0, focus.lane), number_text(*of_lane));
            if (ui.chip(x, row.y, label, picked_ < 0)) picked_ = -1;
        }
        for (int i = 0; i < count; ++i) {
            if (x + ui.chip_width(picks[i].label) > row.right()) break;
            if (ui.chip(x, row.y, picks[i].label, std::max(picked_, least) == i)) picked_ = i;
        }
    }

    static Columns columns_of(const Rect& r) {
        Columns c;
        const float kept = 118, names = 50, gap = 18;
        const float rest = std::max(0.0f, r.w - kept - names - 3 * gap);
        c.names = {r.x, r.y, names, r.h};
        c.bits = {c.names.right(), r.y, std::floor(rest * 0.32f), r.h};
        c.range = {c.bits.right() + gap, r.y, std::floor(rest * 0.28f), r.h};
        c.line = {c.range.right() + gap, r.y, std::floor(rest * 0.40f), r.h};
        c.kept = {r.right() - kept, r.y, kept, r.h};
        return c;
    }

    static void draw_table(Ui& ui, double value, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        constexpr float head = 40;
        constexpr auto rows = static_cast<float>(std::size(format_rows));
        const float high = std::min(84.0f, (r.h - head - 18) / rows);
        if (high < row_least || r.w < 420) return;
        const Columns c = columns_of(r);
        const TextStyle heads{.size = 14, .weight = 600}, small{.size = 12, .color = theme.quiet};
        ui.text(c.names.x, r.y + 14, "Bits", heads);
        ui.text(c.bits.x, r.y + 14, "sign, exponent, fraction", small);
        const float range = ui.text(c.range.x, r.y + 14, "Range", heads);
        ui.text(range + 8, r.y + 14, "powers of ten", small);
        const NumberFormat& bf16 = format_rows[2];
        const double half = 4 * step_at(bf16, value), from = value - half, to = value + half;
        const float line = ui.text(c.line.x, r.y + 14, "Numbers near it", heads);
        if (c.line.right() - line > 90) ui.text(line + 8, r.y + 14, number_text(value), small);
        ui.text(c.kept.right(), r.y + 14, "it becomes", {.size = 12, .color = theme.quiet, .align = Align::right});
        const float top = r.y + head, bottom = top + high * rows;
        draw_scale(ui, c.range, value, top, bottom);
        const float middle = c.line.x + c.line.w / 2;
        const Point mark[] = {{middle, top - 8}, {middle, bottom}};
        ui.polyline(mark, theme.ink, 1.5f);
        for (size_t i = 0; i < std::size(format_rows); ++i) {
            const NumberFormat& format = format_rows[i];
            const float y = top + high * static_cast<float>(i), mid = y + high / 2;
            ui.text(c.names.x, mid + 5, format.name, {.size = 14, .weight = 600});
            draw_bits(ui, format, {c.bits.x, mid - 10, c.bits.w, 20});
            draw_range(ui, format, {c.range.x, mid - 6, c.range.w, 12});
            draw_numbers(ui, format, value, hidden, from, to, {c.line.x, mid - 10, c.line.w, 20});
            if (hidden) continue;
            const double kept = nearest_in(format, value);
            const bool bad = std::isinf(kept) || std::abs(kept - value) > 0.01 * std::abs(value);
            ui.text(
                c.kept.right(), mid + (high > 34 ? -1.0f : 5.0f), number_text(kept),
                {.size = 14, .color = bad ? theme.wrong : theme.ink, .align = Align::right, .weight = 700, .mono = true});
            if (high > 34)
                ui.text(c.kept.right(), mid + 15, error_text(value, kept),
                        {.size = 12, .color = bad ? theme.wrong : theme.quiet, .align = Align::right});
        }
        for (const double at : {from, value, to})
            ui.text(c.line.x + c.line.w * static_cast<float>((at - from) / (to - from)), bottom + 14, number_text(at),
                    {.size = 12,
                     .color = theme.quiet,
                     .align = at == from ? Align::left
                              : at == to ? Align::right
                                         : Align::center});
    }

    static void draw_bits(Ui& ui, const NumberFormat& format, const Rect& r) {
        const float wide = std::floor(std::clamp(r.w / 32, 3.0f, 8.0f));
        const auto cell = [&](int i) { return Rect{r.x + wide * static_cast<float>(i), r.y, wide - 1, r.h}; };
        const int bits = 1 + format.exponent + format.fraction;
        for (int i = 0; i < bits; ++i) {
            if (i > 0 && i <= format.exponent)
                ui.hatch(cell(i), data::orange, Hatch::diagonal);
            else
                ui.rect(cell(i), i == 0 ? data::grey : data::sky);
        }
        const auto number = [&](int first, int count) {
            const std::string text = std::to_string(count);
            const float w = ui.text_width(text, {.size = 12, .weight = 700}) + 6,
                        mid = r.x + wide * (static_cast<float>(first) + static_cast<float>(count) / 2);
            ui.rect({mid - w / 2, r.y + 2, w, r.h - 4}, ui.theme->panel, 2);
            ui.text(mid, r.y + 14, text, {.size = 12, .align = Align::center, .weight = 700});
        };
        number(1, format.exponent);
        number(1 + format.exponent, format.fraction);
        if (bits < format.stored) {
            const Rect unused{cell(bits).x, r.y, wide * static_cast<float>(format.stored - bits) - 1, r.h};
            ui.dashed(unused, ui.theme->ink3);
            if (ui.text_width(format.remark, {.size = 12}) < unused.w - 6)
                ui.text(unused.x + unused.w / 2, r.y + 14, format.remark,
                        {.size = 12, .color = ui.theme->quiet, .align = Align::center});
        } else if (!format.remark.empty()) {
            ui.text(cell(bits).x + 8, r.y + 14, format.remark, {.size = 12, .color = ui.theme->quiet});
        }
    }

    static float x_of(const Rect& r, double value) {  // of 1e-46 to 1e40
        return r.x + r.w * static_cast<float>((std::log10(value) + 46) / 86);
    }
    static void draw_scale(Ui& ui, const Rect& r, double value, float top, float bottom) {
        const Theme& theme = *ui.theme;
        for (const int power : {-40, -20, 0, 20, 40}) {
            const float x = x_of(r, std::pow(10, power));
            ui.line({x, top - 6}, {x, bottom}, theme.grid);
            if (r.w > 190 || power % 40 == 0)
                ui.text(x, bottom + 14, power == 0 ? "1" : fmt::format("1e{}", power),
                        {.size = 12, .color = theme.quiet, .align = power == 40 ? Align::right : Align::center});
        }
        const float x = x_of(r, std::abs(value));
        const Point here[] = {{x, top - 8}, {x, bottom}};
        ui.polyline(here, theme.ink, 1.5f, 4, 3);
        ui.text(x, top - 11, number_text(value), {.size = 12, .align = Align::center, .weight = 600});
    }
    static void draw_range(Ui& ui, const NumberFormat& format, const Rect& r) {
        const float least = x_of(r, format.least()), normal = x_of(r, format.least_normal()),
                    most = x_of(r, format.largest());
        ui.rect({normal, r.y, std::max(2.0f, most - normal), r.h}, data::blue);
        ui.hatch({least, r.y, normal - least, r.h}, data::blue, Hatch::cross);
        const std::string text = number_text(format.largest());
        if (most + 6 + ui.text_width(text, {.size = 12, .mono = true}) < r.right() + 14)
            ui.text(most + 6, r.y + 10, text, {.size = 12, .color = ui.theme->ink2, .mono = true});
        if (ui.hovered(r))
            ui.tooltip(fmt::format("{}: from {} (subnormal) and {} (normal) to {}", format.name, number_text(format.least()),
                                   number_text(format.least_normal()), text));
    }

    static void draw_numbers(Ui& ui, const NumberFormat& format, double value, bool hidden, double from, double to,
                             const Rect& r) {
        const Theme& theme = *ui.theme;
        const auto at = [&](double number) { return r.x + r.w * static_cast<float>((number - from) / (to - from)); };
        if (hidden) {  // where a format's numbers stand gives away which is the nearest
            ui.dashed({r.x, r.y + 3, r.w, 14}, theme.ink3, 3, 3);
            ui.text(r.x + r.w * 0.75f, r.y + 15, "?",
                    {.size = 14, .color = theme.ink2, .align = Align::center, .weight = 700});
            return;
        }
        const std::vector<double> numbers = numbers_between(format, from, to, static_cast<size_t>(r.w / 3));
        const double step = step_at(format, value);
        ui.line({r.x, r.y + 10}, {r.right(), r.y + 10}, theme.ink3);
        if (numbers.empty() && step < (to - from) / 8) {
            ui.rect({r.x, r.y + 4, r.w, 12}, faded(data::sky, 0.7f));
        } else {
            for (const double number : numbers) ui.rect({at(number) - 0.75f, r.y + 2, 1.5f, 16}, data::sky);
        }
        if (ui.hovered(r)) ui.tooltip(fmt::format("{}: {} apart here", format.name, number_text(step)));
        const double kept = nearest_in(format, value);
        if (kept >= from && kept <= to) {
            ui.circle({at(kept), r.y + 10}, 6, data::green);
            ui.ring({at(kept), r.y + 10}, 6, theme.ink, 1);
            return;
        }
        const bool right = kept > value;
        ui.arrow_head({right ? r.right() : r.x, r.y + 10}, right ? Way::right : Way::left, theme.wrong, 6);
        ui.text(right ? r.right() - 14 : r.x + 14, r.y + 6, std::isinf(kept) ? "beyond the largest" : number_text(kept),
                {.size = 12, .color = theme.wrong, .align = right ? Align::right : Align::left, .weight = 600});
    }

    int picked_ = -1;    // of `picks`; -1: the lane's
    std::string scene_;  // whose numbers one was picked beside
};

}  // namespace

double NumberFormat::largest() const {
    if (most != 0) return most;
    return std::ldexp(2 - std::ldexp(1.0, -fraction), (1 << (exponent - 1)) - 1);
}
double NumberFormat::least_normal() const {
    return std::ldexp(1.0, least_exponent(*this));
}
double NumberFormat::least() const {
    return std::ldexp(1.0, least_exponent(*this) - fraction);
}

std::span<const NumberFormat> number_formats() {
    return format_rows;
}

double step_at(const NumberFormat& format, double value) {
    int exponent = 0;
    std::frexp(std::abs(value), &exponent);  // value in [0.5, 1) times two to it
    const int at = value == 0 ? least_exponent(format) : std::max(exponent - 1, least_exponent(format));
    return std::ldexp(1.0, at - format.fraction);
}

double nearest_in(const NumberFormat& format, double value) {
    const double step = step_at(format, value), kept = std::nearbyint(value / step) * step;
    return std::abs(kept) > format.largest() ? std::copysign(std::numeric_limits<double>::infinity(), value) : kept;
}

std::unique_ptr<View> make_number_formats_view() {
    return std::make_unique<NumberFormatsView>();
}

}  // namespace lockstep::gui
