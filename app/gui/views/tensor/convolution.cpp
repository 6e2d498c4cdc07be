// A convolution as a matrix product: the picture with its window, the row that the window becomes among the patches (or the
// row of the one matrix of weights with zeros), the weights, the product, and the maps that it makes. A click on a window, a
// row or a result picks it; a pixel under the pointer has all its copies marked. Results wait for an open answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/tensor/product_data.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "app/gui/views/tensor/window_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view windows_title = "Convolution: window, patches, product";
constexpr std::string_view products_hidden = "What the windows sum up to is hidden until you lock an answer.";

class ConvolutionView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        refresh(session);
        if (!it_) {
            const Rect body = ui.panel(area, {.title = windows_title});
            return ui.say_nothing_yet(body, "No convolution of one channel is on show.",
                                      "The picture appears with a layer's first step, or a kernel that is given one.");
        }
        const Convolution& it = *it_;
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = caption_of(it, hidden);
        const Rect body =
            ui.panel(area, {.title = windows_title,
                            .right = fmt::format("{} × {} picture, {} × {} kernel{}", it.rows, it.columns, it.high, it.wide,
                                                 it.filters > 1 ? fmt::format(", {} filters", it.filters) : ""),
                            .badge = it.ran ? Provenance::executed : Provenance::derived,
                            .caption = caption});
        ui.push_scope("convolution");
        window_ = std::clamp<int64_t>(window_ < 0 ? 0 : window_, 0, it.windows() - 1);
        filter_ = std::clamp<int64_t>(filter_, 0, std::max<int64_t>(0, it.filters - 1));
        float y = body.y;
        if (body.h > 260) {
            ui.text(body.x, y + 20, headline_of(it), {.size = 20, .weight = 700, .width = body.w});
            y += 38;
        }
        under_ = -1;
        const Rect room{body.x, y, body.w, body.bottom() - 26 - y};
        const float left = draw_picture(ui, it, room);
        const Rect rest{room.x + left + 44, room.y, room.w - left - 44, room.h};
        if (rest.w > 200) draw_matrix(ui, it, hidden, rest);
        move_by_keys(ui, it, room);
        draw_legend(ui, it, hidden, body);
        if (marked_ != under_) ui.animate();
        marked_ = under_;
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        ConvolutionView fresh;
        fresh.window_ = window_;
        fresh.filter_ = filter_;
        fresh.chosen_form_ = chosen_form_;
        fresh.refresh(session);
        if (!fresh.it_) return "Convolution: no layer of one channel is on show.\n";
        const Convolution& it = *fresh.it_;
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{} ({}), {} x {} picture, {} x {} kernel, {} windows\n  {}\n", windows_title,
                                       name_of(it.ran ? Provenance::executed : Provenance::derived), it.rows, it.columns,
                                       it.high, it.wide, it.windows(), fresh.headline_of(it));
        for (int64_t w = 0; w < std::min<int64_t>(it.windows(), 16); ++w) {
            text += fmt::format("  window {}:", w);
            for (int64_t e = 0; e < it.elements(); ++e) text += " " + element_number(it.patch(w, e));
            for (int64_t f = 0; f < std::min<int64_t>(it.filters, 4) && !hidden; ++f)
                text += fmt::format("{} {}", f == 0 ? " makes" : ",",
                                    element_number(it.made[static_cast<size_t>(f * it.windows() + w)]));
            text += "\n";
        }
        return text + "  " + fresh.caption_of(it, hidden) + "\n";
    }

  private:
    void refresh(const Session& session) {
        const auto snapshot = session.snapshot();
        if (snapshot->version == version_ && session.lesson.step == step_) return;
        version_ = snapshot->version;
        step_ = session.lesson.step;
        std::optional<Convolution> found;
        if (const auto& step = snapshot->training.step)
            found = convolution_of(*step);
        else if (const scene::Scene* const scene = drawn_scene(session))
            found = convolution_of(arguments_of(*scene), session.lesson.lesson->seed);
        if (it_ && found && (it_->form != found->form || it_->pixels() != found->pixels())) window_ = -1, chosen_form_ = -1;
        it_ = std::move(found);
        brightest_ = 1e-9f;
        if (it_)
            for (const float v : it_->picture) brightest_ = std::max(brightest_, std::abs(v));
    }
    // Cells too small for numbers, as one picture.
    template <class ColorOf>
    void texture(Ui& ui, std::string_view name, int64_t columns, int64_t rows, const Rect& to,
                 const ColorOf& color_of) const {
        const uint64_t version = (version_ * 64 + static_cast<uint64_t>(filter_)) * 2 + (ui.theme->dark ? 1 : 0);
        ui.picture(fmt::format("convolution {}", name), version, static_cast<int>(columns), static_cast<int>(rows), to,
                   [&](std::span<Color> into) {
                       for (size_t i = 0; i < into.size(); ++i) into[i] = color_of(static_cast<int64_t>(i));
                   });
    }
    bool shows_spread(const Convolution& it) const {
        if (it.filters == 0 || it.pixels() > 36) return false;
        return chosen_form_ >= 0 ? chosen_form_ == 1 : it.form == Convolution::Form::spread;
    }
    std::string headline_of(const Convolution& it) const {
        if (shows_spread(it))
            return fmt::format("{} of {} weights are zeros: one matrix, mostly idle", whole_number(it.zeros()),
                               whole_number(it.windows() * it.pixels()));
        const int64_t patches = it.windows() * it.elements();
        if (it.form == Convolution::Form::patches)
            return fmt::format("{} pixels become {}: the price of one big product", whole_number(it.pixels()),
                               whole_number(patches));
        return fmt::format("{} windows share {} weights: each is a row of one matrix", whole_number(it.windows()),
                           it.elements());
    }
    std::string caption_of(const Convolution& it, bool hidden) const {
        if (hidden && it.filters > 0) return std::string(products_hidden);
        const int64_t most = most_copies(it);
        if (shows_spread(it))
            return fmt::format(
                "Row {} has the kernel's {} weights under the pixels of window {}, and zeros elsewhere: {} "
                "multiplications, {} of use.",
                window_of(it), it.elements(), window_of(it), it.pixels(), used_of(it, window_of(it)));
        const std::string copies =
            most == 1 ? std::string("no pixel is copied twice") : fmt::format("a pixel stands in it up to {} times", most);
        if (it.filters == 0)
            return fmt::format("im2col writes {} rows of {}; {}.", whole_number(it.windows()), it.elements(), copies);
        return fmt::format("im2col writes {} rows of {}; {}. One product of {} multiply-adds makes {}.",
                           whole_number(it.windows()), it.elements(), copies,
                           whole_number(it.windows() * it.elements() * it.filters),
                           it.filters == 1 ? "the map" : fmt::format("all {} maps", it.filters));
    }
    int64_t window_of(const Convolution& it) const { return std::clamp<int64_t>(window_, 0, it.windows() - 1); }
    static int64_t used_of(const Convolution& it, int64_t window) {
        int64_t used = 0;
        for (int64_t e = 0; e < it.elements(); ++e) used += it.pixel(window, e) >= 0;
        return used;
    }
    static int64_t most_copies(const Convolution& it) {
        int64_t most = 0;
        for (int64_t p = 0; p < it.pixels(); ++p) most = std::max(most, it.copies(p));
        return most;
    }

    void move_by_keys(Ui& ui, const Convolution& it, const Rect& room) {
        const int64_t across = it.windows_wide();
        int64_t by = 0;
        if (ui.pressed(Key::d, room)) by = 1;
        if (ui.pressed(Key::a, room)) by = -1;
        if (ui.pressed(Key::down, room)) by = across;
        if (ui.pressed(Key::up, room)) by = -across;
        if (window_ + by >= 0 && window_ + by < it.windows()) window_ += by;
    }

    void draw_legend(Ui& ui, const Convolution& it, bool hidden, const Rect& body) const {
        const float at = body.bottom() - 6;
        const Theme& theme = *ui.theme;
        float x = body.x;
        ui.outline({x, at - 11, 14, 13});
        x = ui.text(x + 20, at, fmt::format("window {}", window_of(it)), {.size = 13, .color = theme.ink2}) + 24;
        x = ui.legend(x, at, data::yellow, Hatch::dots, "copies of the pixel pointed at");
        if (it.filters == 0 || hidden) return;
        if (x + 240 < body.right()) {
            x = ui.legend(x, at, diverging(1, theme), Hatch::solid, "above zero");
            x = ui.legend(x, at, diverging(0, theme), Hatch::solid, "below zero");
        }
    }

    Color pixel_color(float value, const Theme& theme) const {
        const float t = std::clamp(std::abs(value) / brightest_, 0.0f, 1.0f);
        return theme.dark ? mix(theme.panel2, rgb(0xD8DCE2), t) : mix(rgb(0xFFFFFF), rgb(0x60666E), t);
    }
    static std::string cell_number(float value) { return element_number(value, std::abs(value) < 1 ? 2 : 3); }
    static std::string without_zero(std::string number) {  // "-.17" of "-0.17"
        if (const size_t zero = number.find("0."); zero == 0 || (zero == 1 && number.front() == '-')) number.erase(zero, 1);
        return number;
    }
    // A number in its cell, where there is room; `marked`: a copy of the pixel pointed at.
    void number_cell(Ui& ui, const Rect& at, Color fill, const std::string& text, bool marked, bool quiet = false) const {
        ui.rect(at, fill);
        if (marked) ui.hatch(at, data::yellow, Hatch::dots);
        if (at.w < 16 || at.h < 13) return;
        TextStyle style{.size = at.h >= 24 && at.w >= 30 ? 13.0f : 12.0f,
                        .color = marked  ? data::ink_on_light
                                 : quiet ? ui.theme->quiet
                                         : text_on(fill),
                        .align = Align::center,
                        .weight = marked ? 700 : 400,
                        .mono = true};
        if (ui.text_width(text, style) >= at.w - 1) style.size = 12;
        const std::string fitting = ui.text_width(text, style) < at.w - 1 ? text : without_zero(text);
        if (ui.text_width(fitting, style) < at.w - 1) ui.text(at.x + at.w / 2, at.y + at.h / 2 + 4.5f, fitting, style);
    }

    // The picture with its window, and below it how often each pixel is copied. Returns the width.
    float draw_picture(Ui& ui, const Convolution& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float labels = it.rows <= 12 ? 20 : 0, head = labels > 0 ? 44 : 30;
        const auto longest = static_cast<float>(std::max(it.rows, it.columns));
        const bool both = r.h > 300;
        const float cell = std::floor(std::clamp((r.h * (both ? 0.54f : 1.0f) - head - 6) / longest, 3.0f, 48.0f));
        const float width = std::max(208.0f, labels + cell * static_cast<float>(it.columns));
        const float title = ui.text(r.x, r.y + 14, "The picture", {.size = 14, .weight = 600});
        if (width > title - r.x + 110) ui.text(title + 8, r.y + 14, "click a window", {.size = 13, .color = theme.quiet});
        const auto place = [&](int64_t p) {
            return Rect{r.x + labels + cell * static_cast<float>(p % it.columns),
                        r.y + head + cell * static_cast<float>(p / it.columns), cell - (cell >= 12 ? 1.0f : 0.0f),
                        cell - (cell >= 12 ? 1.0f : 0.0f)};
        };
        const TextStyle small{.size = 12, .color = theme.quiet, .align = Align::center, .mono = true};
        for (int64_t c = 0; labels > 0 && c < it.columns; ++c)
            ui.text(place(c).x + cell / 2, r.y + head - 9, std::to_string(c), small);
        for (int64_t row = 0; labels > 0 && row < it.rows; ++row)
            ui.text(r.x + 5, place(row * it.columns).y + cell / 2 + 4, std::to_string(row), small);
        const bool fine = cell < 12;
        if (fine)
            texture(ui, "pixels", it.columns, it.rows,
                    {place(0).x, place(0).y, cell * static_cast<float>(it.columns), cell * static_cast<float>(it.rows)},
                    [&](int64_t p) { return pixel_color(it.picture[static_cast<size_t>(p)], theme); });
        for (int64_t p = 0; p < it.pixels(); ++p) {
            const Rect at = place(p);
            const float value = it.picture[static_cast<size_t>(p)];
            if (!fine) number_cell(ui, at, pixel_color(value, theme), element_number(value), p == marked_);
            if (fine && p == marked_) ui.rect(at, data::yellow);
            if (ui.hovered(at)) {
                under_ = p;
                ui.tooltip(fmt::format("pixel ({}, {}): {}; it stands in {}", p / it.columns, p % it.columns,
                                       element_number(value), counted(it.copies(p), "window")));
            }
            if (ui.clicked(at)) {
                const int64_t row = std::clamp<int64_t>(p / it.columns + it.pad_rows, 0, it.windows_high() - 1),
                              column = std::clamp<int64_t>(p % it.columns + it.pad_columns, 0, it.windows_wide() - 1);
                window_ = row * it.windows_wide() + column;
            }
        }
        const Rect origin = place(0);
        const int64_t top = window_ / it.windows_wide() - it.pad_rows, left = window_ % it.windows_wide() - it.pad_columns;
        const Rect frame{origin.x + cell * static_cast<float>(left) - 2, origin.y + cell * static_cast<float>(top) - 2,
                         cell * static_cast<float>(it.wide) + 3, cell * static_cast<float>(it.high) + 3};
        ui.outline(frame);
        arrow_from_ = {std::max(frame.right(), origin.x + cell * static_cast<float>(it.columns)) + 3, frame.y + frame.h / 2};
        picture_right_ = r.x + width;
        const float below = place(it.pixels() - 1).bottom() + 26;
        if (both) draw_copies(ui, it, {r.x, below, width, r.bottom() - below}, labels, cell);
        return width;
    }
    void draw_copies(Ui& ui, const Convolution& it, const Rect& r, float labels, float picture_cell) {
        const Theme& theme = *ui.theme;
        const float room = r.h - 26;
        const float cell = std::floor(std::min(picture_cell * 0.8f, room / static_cast<float>(it.rows)));
        if (cell < 3) return;
        ui.text(r.x, r.y + 10, shows_spread(it) ? "In how many windows each lies" : "How often each is copied",
                {.size = 14, .weight = 600, .width = r.w});
        const auto most = static_cast<float>(std::max<int64_t>(1, most_copies(it)));
        const auto color_of = [&](int64_t p) { return sequential(static_cast<float>(it.copies(p)) / most * 0.8f, theme); };
        const bool fine = cell < 12;
        if (fine)
            texture(ui, "copies", it.columns, it.rows,
                    {r.x + labels, r.y + 24, cell * static_cast<float>(it.columns), cell * static_cast<float>(it.rows)},
                    color_of);
        for (int64_t p = 0; p < it.pixels(); ++p) {
            const Rect at{r.x + labels + cell * static_cast<float>(p % it.columns),
                          r.y + 24 + cell * static_cast<float>(p / it.columns), cell - (cell >= 12 ? 1.0f : 0.0f),
                          cell - (cell >= 12 ? 1.0f : 0.0f)};
            if (!fine) ui.rect(at, color_of(p));
            if (cell >= 16)
                ui.text(at.x + at.w / 2, at.y + at.h / 2 + 4.5f, std::to_string(it.copies(p)),
                        {.size = 12, .color = text_on(color_of(p)), .align = Align::center, .mono = true});
            if (p == marked_) ui.outline(at);
            if (ui.hovered(at)) under_ = p;
        }
        if (shows_spread(it)) return;  // nothing is copied there
        const float x = r.x + labels + cell * static_cast<float>(it.columns) + 14, w = r.x + r.w - x;
        const std::string times =
            fmt::format("x {:.3g}", static_cast<double>(it.windows() * it.elements()) / static_cast<double>(it.pixels()));
        if (w < ui.text_width(times, {.size = 20, .weight = 700}) + 2) return;
        ui.text(x, r.y + 48, times, {.size = 20, .weight = 700});
        if (w > 66) ui.text(x, r.y + 66, "the memory", {.size = 12, .color = theme.ink2, .width = w});
    }

    // The matrix that multiplies, its other factor, the product and the maps; from left to right as far as there is room.
    void draw_matrix(Ui& ui, const Convolution& it, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const bool spread = shows_spread(it);
        const int64_t across = spread ? it.pixels() : it.elements();
        float x = ui.text(r.x, r.y + 14, spread ? "weights as one matrix" : "patches", {.size = 14, .weight = 600}) + 8;
        const std::string size = fmt::format("{} × {}", whole_number(it.windows()), across);
        x = ui.text(x, r.y + 14, size, {.size = 13, .color = theme.quiet}) + 16;
        const float labels = 38, head = 44;
        const float cw = across > 16 ? 22 : 33;
        const bool all = (r.h - head) / static_cast<float>(it.windows()) >= 15;
        const float ch = all ? std::floor(std::min(36.0f, (r.h - head) / static_cast<float>(it.windows()))) : 20;
        const auto shown = all ? it.windows() : std::min(it.windows(), static_cast<int64_t>((r.h - head - 18) / ch));
        const int64_t first = std::clamp<int64_t>(window_ - shown / 2, 0, it.windows() - shown);
        const int64_t group = spread ? it.columns : it.wide;  // a gap between the picture's rows
        const auto column_x = [&](int64_t e) {
            return r.x + labels + cw * static_cast<float>(e) + 5 * static_cast<float>(e / group);
        };
        const auto row_y = [&](int64_t w) { return r.y + head + ch * static_cast<float>(w - first); };
        const TextStyle small{.size = 12, .color = theme.quiet, .align = Align::center, .mono = true};
        const float most = largest_weight(it);
        for (int64_t g = 0; g * group < across; ++g) {
            const int64_t end = std::min(across, (g + 1) * group);
            const float from = column_x(g * group), to = column_x(end - 1) + cw;
            const std::string words = spread ? fmt::format("pixel row {}", g) : fmt::format("row {}", g);
            if (ui.text_width(words, {.size = 12}) < to - from)
                ui.text((from + to) / 2, r.y + head - 9, words, {.size = 12, .color = theme.quiet, .align = Align::center});
        }
        for (int64_t w = first; w < first + shown; ++w) {
            const float y = row_y(w);
            TextStyle label = small;
            label.align = Align::right;
            if (w == window_) label.color = theme.ink, label.weight = 700;
            ui.text(r.x + labels - 8, y + ch / 2 + 4, std::to_string(w), label);
            for (int64_t e = 0; e < across; ++e) {
                const Rect at{column_x(e), y, cw - 1, ch - 1};
                if (spread) {
                    const float weight = it.spread(filter_, w, e);
                    const bool used = inside(it, w, e);
                    number_cell(ui, at, used ? diverging(0.5f + 0.5f * weight / most, theme) : theme.panel2,
                                cell_number(weight), e == marked_ && used, !used);
                    if (ui.hovered(at)) under_ = e;
                } else {
                    const int64_t p = it.pixel(w, e);
                    number_cell(ui, at, p < 0 ? theme.panel2 : pixel_color(it.patch(w, e), theme),
                                cell_number(it.patch(w, e)), p >= 0 && p == marked_, p < 0);
                    if (ui.hovered(at)) {
                        under_ = p;
                        ui.tooltip(p < 0 ? fmt::format("window {}, element {}: a zero around the picture", w, e)
                                         : fmt::format("window {}, element {}: pixel ({}, {})", w, e, p / it.columns,
                                                       p % it.columns));
                    }
                }
                if (ui.clicked(at)) window_ = w;
            }
        }
        const float right = column_x(across - 1) + cw;
        if (!all)
            ui.text(r.x + labels, row_y(first + shown) + 13,
                    fmt::format("rows {} to {} of {}", whole_number(first), whole_number(first + shown - 1),
                                whole_number(it.windows())),
                    {.size = 12, .color = theme.quiet});
        const float y = row_y(window_);
        ui.outline({column_x(0) - 2, y - 2, right - column_x(0) + 3, ch + 3});
        const float bend = picture_right_ + 12;
        if (arrow_from_.x < bend) {
            const Point way[] = {arrow_from_, {bend, arrow_from_.y}, {bend, y + ch / 2}, {r.x + labels - 34, y + ch / 2}};
            ui.polyline(way, data::sky, 2);
            ui.arrow_head({r.x + labels - 30, y + ch / 2}, Way::right, data::sky);
        }
        if (it.filters == 0) return say_no_product(ui, {right + 30, r.y, r.right() - right - 30, r.h});
        draw_factor(ui, it, hidden, spread, {right, r.y, r.right() - right, r.h}, head, ch, first, shown);
        if (it.pixels() <= 36) {
            const std::string_view forms[] = {"patches", "one matrix"};
            // In front of the other factor's heading, or below the rows.
            const float half = ui.text_width(spread ? "picture" : "weights", {.size = 14, .weight = 600}) / 2 + 10;
            const bool beside = x + ui.segmented_width(forms) < right + 36 + factor_width / 2 - half;
            float at = beside ? x : r.x + labels;
            const float below = row_y(first + shown) + (all ? 8.0f : 22.0f);
            if (beside || below + 26 < r.bottom()) chosen_form_ = ui.segmented(at, beside ? r.y - 4 : below, forms, spread);
        }
    }
    static bool inside(const Convolution& it, int64_t window, int64_t pixel) {
        for (int64_t e = 0; e < it.elements(); ++e)
            if (it.pixel(window, e) == pixel) return true;
        return false;
    }
    static void say_no_product(Ui& ui, const Rect& r) {
        if (r.w < 180) return;
        ui.paragraph({r.x, r.y + 44, std::min(r.w, 320.0f), 90},
                     "This kernel copies alone. The product of these rows and the kernel's weights is the next launch.",
                     {.size = 13, .color = ui.theme->ink2});
    }

    static constexpr float factor_width = 46;  // of a weight below zero: "-0.033"

    void draw_factor(Ui& ui, const Convolution& it, bool hidden, bool spread, const Rect& r, float head, float ch,
                     int64_t first, int64_t shown) {
        const Theme& theme = *ui.theme;
        const TextStyle sign{.size = 20, .color = theme.ink2, .align = Align::center};
        const float middle = r.y + head + ch * static_cast<float>(shown) / 2;
        // the other factor: the kernel's weights as a column, or the picture as one
        const int64_t rows = spread ? it.pixels() : it.elements();
        const float fw = factor_width, fh = std::floor(std::min(30.0f, (r.h - head) / static_cast<float>(rows)));
        if (r.w < 36 + fw) return;
        const float fx = r.x + 36;
        ui.text(r.x + 18, middle + 6, "×", sign);
        ui.text(fx + fw / 2, r.y + 14, spread ? "picture" : "weights", {.size = 14, .align = Align::center, .weight = 600});
        const float most = largest_weight(it);
        for (int64_t e = 0; e < rows; ++e) {
            const Rect at{fx, r.y + head + fh * static_cast<float>(e), fw - 1, fh - 1};
            if (spread) {
                const float value = it.picture[static_cast<size_t>(e)];
                number_cell(ui, at, pixel_color(value, theme), element_number(value), e == marked_);
                if (ui.hovered(at)) under_ = e;
            } else {
                const float w = it.weights[static_cast<size_t>(filter_ * it.elements() + e)];
                number_cell(ui, at, diverging(0.5f + 0.5f * w / most, theme), weight_text(w), false);
            }
        }
        if (it.filters > 1 && !spread) {
            float x = fx - 8;
            const float y = r.y + head + fh * static_cast<float>(rows) + 12;
            const float begin = x;
            float line = y;
            for (int64_t f = 0; f < std::min<int64_t>(it.filters, 12); ++f) {
                if (x + 26 > begin + 90) x = begin, line += 30;
                if (line + 26 > r.bottom()) break;
                if (ui.chip(x, line, std::to_string(f), f == filter_)) filter_ = f;
            }
        }
        // the product
        const float ex = fx + fw + 18, px = ex + 18, pw = 50;
        if (px + pw > r.right()) return;
        ui.text(ex, middle + 6, "=", sign);
        ui.text(px + pw / 2, r.y + 14, "product", {.size = 14, .align = Align::center, .weight = 600});
        if (!it.bias.empty())
            ui.text(px + pw / 2, r.y + head - 9, fmt::format("{:+.2g} bias", it.bias[static_cast<size_t>(filter_)]),
                    {.size = 12, .color = theme.quiet, .align = Align::center});
        float largest = 1e-9f;
        const auto made = [&](int64_t w) { return it.made[static_cast<size_t>(filter_ * it.windows() + w)]; };
        for (int64_t w = 0; w < it.windows(); ++w) largest = std::max(largest, std::abs(made(w)));
        for (int64_t w = first; w < first + shown; ++w) {
            const Rect at{px, r.y + head + ch * static_cast<float>(w - first), pw - 1, ch - 1};
            if (hidden) {
                ui.dashed(at, theme.ink3, 3, 3);
                ui.text(at.x + at.w / 2, at.y + at.h / 2 + 5, "?",
                        {.size = 13, .color = theme.quiet, .align = Align::center});
            } else {
                number_cell(ui, at, diverging(0.5f + 0.5f * made(w) / largest, theme), element_number(made(w)), false);
            }
            if (ui.clicked(at)) window_ = w;
        }
        const float y = r.y + head + ch * static_cast<float>(window_ - first);
        ui.outline({px - 2, y - 2, pw + 3, ch + 3});
        draw_map(ui, it, hidden, largest, {px + pw + 34, r.y, r.right() - px - pw - 34, r.h});
    }
    static float largest_weight(const Convolution& it) {
        float most = 1e-9f;
        for (const float w : it.weights) most = std::max(most, std::abs(w));
        return most;
    }
    static std::string weight_text(float weight) { return cell_number(weight); }

    void draw_map(Ui& ui, const Convolution& it, bool hidden, float largest, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int64_t wide = it.windows_wide(), high = it.windows_high();
        const float room = std::min(r.w, r.h * 0.55f);
        const float cell =
            std::floor(std::min(44.0f, std::min(r.w / static_cast<float>(wide), room / static_cast<float>(high))));
        if (cell < 2.5f || r.w < 90) return;
        const float head = ui.text(r.x, r.y + 14, "as a map", {.size = 14, .weight = 600});
        ui.text(head + 8, r.y + 14, fmt::format("{} × {}", high, wide),
                {.size = 13, .color = theme.quiet, .width = r.right() - head - 8});
        const float gap = cell >= 12 ? 1.0f : 0.0f;
        const auto place = [&](int64_t w) {
            return Rect{r.x + cell * static_cast<float>(w % wide), r.y + 44 + cell * static_cast<float>(w / wide),
                        cell - gap, cell - gap};
        };
        const auto value_of = [&](int64_t w) { return it.made[static_cast<size_t>(filter_ * it.windows() + w)]; };
        const bool fine = cell < 12;
        if (fine)
            texture(
                ui, hidden ? "hidden map" : "map", wide, high,
                {place(0).x, place(0).y, cell * static_cast<float>(wide), cell * static_cast<float>(high)},
                [&](int64_t w) { return hidden ? theme.panel2 : diverging(0.5f + 0.5f * value_of(w) / largest, theme); });
        for (int64_t w = 0; w < it.windows(); ++w) {
            const Rect at = place(w);
            if (hidden) {
                if (!fine) ui.rect(at, theme.panel2);
            } else {
                const float v = value_of(w);
                if (!fine) number_cell(ui, at, diverging(0.5f + 0.5f * v / largest, theme), element_number(v), false);
                if (ui.hovered(at)) ui.tooltip(fmt::format("window {}: {:.4g}", w, v));
            }
            if (ui.clicked(at)) window_ = w;
        }
        const Rect at = place(window_);
        ui.outline({at.x - 2, at.y - 2, at.w + 4, at.h + 4});
        const float below = place(it.windows() - 1).bottom() + 20;
        if (!hidden) draw_sum(ui, it, {r.x, below, r.w, r.bottom() - below});
    }
    // The picked window's sum, written out.
    void draw_sum(Ui& ui, const Convolution& it, const Rect& r) const {
        std::string text;
        for (int64_t e = 0; e < it.elements(); ++e) {
            const float w = it.weights[static_cast<size_t>(filter_ * it.elements() + e)];
            text += fmt::format("{}{}·{}", e == 0 ? "" : " + ", weight_text(w), element_number(it.patch(window_, e)));
        }
        if (!it.bias.empty()) text += " + " + element_number(it.bias[static_cast<size_t>(filter_)]);
        text += " = " + element_number(it.made[static_cast<size_t>(filter_ * it.windows() + window_)]);
        ui.text(r.x, r.y + 6, fmt::format("window {}", window_), {.size = 13, .color = ui.theme->ink2});
        const Rect box{r.x, r.y + 14, r.w, r.h - 14};
        const TextStyle style{.size = 13, .mono = true};
        if (ui.paragraph(box, text, style, 20, false) <= box.h) ui.paragraph(box, text, style, 20);
    }

    std::optional<Convolution> it_;
    uint64_t version_ = UINT64_MAX;
    int step_ = -1;
    float brightest_ = 1;
    int64_t window_ = -1, filter_ = 0;
    int64_t marked_ = -1, under_ = -1;  // the pixel under the pointer in the last frame, and in this one
    int chosen_form_ = -1;              // 0 patches, 1 one matrix; -1: the run's own
    Point arrow_from_;
    float picture_right_ = 0;
};

}  // namespace

std::unique_ptr<View> make_convolution_view() {
    return std::make_unique<ConvolutionView>();
}

}  // namespace lockstep::gui
