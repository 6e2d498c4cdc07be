// The rows of a lesson's scene as a table: schedules, collectives, plans, runs on many ranks, cheaper forms. A bar a figure,
// as long as its share of the column's largest. One row is the base: the others say how many times its figure theirs is.
// Where there is room, the rows' memory and time come first, as stacked bars below a headline; figures that are the same in
// every row stand in one line below the table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/lesson/figure_findings.h"
#include "app/gui/views/lesson/figure_stacks.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/figures/figure_table.h"

namespace lockstep::gui {
namespace {

using scene::FigureRow;
using scene::FigureTable;

std::string times_of(double value, double base) {
    if (!(std::fabs(base) > 0) || std::isnan(value)) return {};
    return fmt::format("x {:.3g}", value / base);
}

// "The whole run takes 54.3 days and 21,700 MWh."; empty: no whole run was planned.
std::string whole_run(const FigureTable& table, size_t row) {
    std::string text;
    for (size_t c = 0; c < table.columns.size(); ++c)
        if (table.columns[c].title == "whole run" && table.rows[row].values[c] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                                scene::figure_text(table.rows[row].values[c], table.columns[c].unit), table.columns[c].unit);
    return text.empty() ? text : fmt::format("{}: the whole run takes {}.", table.rows[row].name, text);
}

// "own: time 14 units, bubble 14.3 % of total."
std::string one_row(const FigureTable& table) {
    if (std::string run = whole_run(table, 0); !run.empty()) return run;
    std::string text = table.rows.front().name + ":";
    for (size_t c = 0; c < std::min<size_t>(2, table.columns.size()); ++c)
        text +=
            fmt::format("{} {} {}{}", c > 0 ? "," : "", table.columns[c].title,
                        scene::figure_text(table.rows.front().values[c], table.columns[c].unit),
                        table.columns[c].unit.empty() || table.columns[c].unit == "B" ? "" : " " + table.columns[c].unit);
    return text + ".";
}

std::string figures_caption(const FigureTable& table, size_t base) {
    if (!table.note.empty()) return table.note;
    if (table.rows.size() == 1 && table.over(0) > 0)
        return fmt::format("{} {}.", table.rows.front().name, over_text(table, 0));
    if (table.rows.size() < 2 || table.columns.empty()) return table.rows.empty() ? "Nothing ran." : one_row(table);
    for (size_t row = 0; row < table.rows.size(); ++row) {  // what fits and what does not is told first
        if (!(table.over(row) > 0)) continue;
        for (size_t other = 0; other < table.rows.size(); ++other)
            if (!(table.over(other) > 0))
                return fmt::format("{} {}; {} fits.", table.rows[row].name, over_text(table, row), table.rows[other].name);
    }
    // Of collectives how long they take is what is asked; else the largest change of any figure against the base row.
    const auto timed = std::find_if(table.columns.begin(), table.columns.end(), [](const scene::FigureColumn& column) {
        return column.title == "time" && column.unit == "µs";
    });
    if (table.stacks.empty() && timed != table.columns.end()) {
        const auto at = static_cast<size_t>(timed - table.columns.begin());
        const auto by_time = [at](const FigureRow& a, const FigureRow& b) { return a.values[at] < b.values[at]; };
        const auto [least, most] = std::minmax_element(table.rows.begin(), table.rows.end(), by_time);
        if (least->values[at] > 0 && most->values[at] > 1.005 * least->values[at])
            return fmt::format("{} takes {:.3g} times as long as {}.", most->name, most->values[at] / least->values[at],
                               least->name);
    }
    double most = 0;
    std::string text;
    for (const FigureRow& row : table.rows)
        for (size_t c = 0; c < table.columns.size(); ++c) {
            const double from = table.rows[base].values[c], to = row.values[c];
            if (!(from > 0) || !(to > 0)) continue;
            const double change = std::fabs(std::log(to / from));
            if (change <= most) continue;
            most = change;
            const bool more = to > from;
            text = fmt::format(
                "{} has {:.3g} times the {} of {}.", more ? row.name : table.rows[base].name, more ? to / from : from / to,
                table.columns[c].title.starts_with("a ")        ? table.columns[c].unit + " " + table.columns[c].title
                : table.columns[c].title == "stored"            ? std::string("bytes stored")
                : table.columns[c].title.starts_with("moved, ") ? "bytes " + table.columns[c].title + ","
                : table.columns[c].unit.starts_with("%")        ? table.columns[c].title + " (" + table.columns[c].unit + ")"
                                                                : table.columns[c].title,
                more ? table.rows[base].name : row.name);
        }
    return text.empty() ? "All rows have the same figures." : text;
}

const FigureTable* table_shown(const Snapshot& snapshot) {
    return snapshot.cluster && snapshot.cluster->table && !snapshot.cluster->table->rows.empty()
               ? snapshot.cluster->table.get()
               : nullptr;
}

Provenance provenance_of(const FigureTable& table) {
    return table.provenance == "executed"    ? Provenance::executed
           : table.provenance == "simulated" ? Provenance::simulated
           : table.provenance == "derived"   ? Provenance::derived
                                             : Provenance::times_derived;
}

class FigureRowsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const bool hidden = session.learn.reveal_steps >= 0;
        const FigureTable* found = table_shown(*snapshot);
        if (!found) {
            const Rect body =
                ui.panel(area, {.title = "Figures", .badge = Provenance::derived, .caption = "No rows have run yet."});
            ui.text(body.x, body.y + 24, "A scene with several rows shows its figures here.",
                    {.size = 13, .color = ui.theme->ink2});
            return;
        }
        const FigureTable table = asked_first(*found, session.lesson);
        const size_t base = std::min(base_, table.rows.size() - 1);
        const std::string sentence = hidden ? "The figures stay hidden until you lock an answer."
                                            : said_below(table, base, session.lesson, area.h >= least_with_headline);
        const Rect body = ui.panel(area, {.title = table.title, .badge = provenance_of(table), .caption = sentence});
        ui.push_scope("figure rows");
        Rect rest = body;
        const bool low = body.h < 300 && has_room_to_itself(session, body.h);
        if (const std::string says = figures_headline(table, part_asked(session.lesson));
            !hidden && (low || area.h >= least_with_headline) && !says.empty()) {
            const bool fits = !low && ui.text_width(says, {.size = 20, .weight = 700}) <= body.w;
            const float taken = low ? 24 : 34;
            ui.text(body.x, body.y + (low ? 14 : 18), says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = body.w});
            rest = {body.x, body.y + taken, body.w, body.h - taken};
        }
        if (low && draw_bars_alone(ui, table, rest, hidden)) return ui.pop_scope();
        if (table.rows.size() == 1)
            draw_row(ui, table, rest, hidden);
        else
            draw_table(ui, table, base, rest, hidden);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const FigureTable* found = table_shown(*snapshot);
        if (!found) return "Figures: no rows have run yet.\n";
        const FigureTable table = asked_first(*found, session.lesson);
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{} ({})\n", table.title, table.provenance);
        for (const FigureRow& row : table.rows) {
            text += fmt::format("  {}:", row.name);
            for (size_t c = 0; c < table.columns.size(); ++c)
                text += fmt::format(
                    " {}{} {};", table.columns[c].title,
                    table.columns[c].unit.empty() || table.columns[c].unit == "B" ? "" : " (" + table.columns[c].unit + ")",
                    hidden ? "hidden" : scene::figure_text(row.values[c], table.columns[c].unit));
            if (const std::string over = over_text(table, static_cast<size_t>(&row - table.rows.data()));
                !hidden && !over.empty())
                text += " " + over;
            text += "\n";
        }
        for (const scene::FigureStack& stack : table.stacks)
            text += hidden ? fmt::format("  {}: hidden\n", stack.title) : describe_figure_stack(table, stack);
        if (const std::string says = hidden ? std::string() : figures_headline(table, part_asked(session.lesson));
            !says.empty())
            text += "  " + says + "\n";
        return text + "  " +
               (hidden ? std::string("The figures stay hidden until you lock an answer.")
                       : said_below(table, std::min(base_, table.rows.size() - 1), session.lesson, false)) +
               "\n";
    }

  private:
    static constexpr float least_with_headline = 440;  // of the panel

    size_t base_ = 0;  // row

    // The stack that the step asks about comes first, at every size of the picture.
    static FigureTable asked_first(FigureTable table, const LessonState& state) {
        std::stable_partition(table.stacks.begin(), table.stacks.end(),
                              [&](const scene::FigureStack& stack) { return is_about(stack, state); });
        return table;
    }
    // What is the same in every row, behind the finding where no headline tells it.
    static std::string said_below(FigureTable table, size_t base, const LessonState& state, bool headline) {
        const std::string finding = caption_of(table, base, state);
        const bool told = headline && table.rows.size() > 1 && !figures_headline(table).empty();
        const std::string equal = take_equal_columns(table);
        if (equal.empty()) return finding;
        return (told ? "" : finding + " ") + "The same in every row: " + equal + ".";
    }
    // Of a question about what a stack is made of, how far the rows are apart in that; else in any figure.
    static std::string caption_of(const FigureTable& table, size_t base, const LessonState& state) {
        if (table.rows.size() < 2 || table.stacks.empty() || !table.note.empty()) return figures_caption(table, base);
        if (!is_about(table.stacks.front(), state)) {
            const std::string says = figures_headline(table, part_asked(state));
            return says.empty() ? figures_caption(table, base) : says + ".";
        }
        const scene::FigureStack& stack = table.stacks.front();
        const double from = stack.total(base);
        size_t far = base;
        const auto apart = [&](size_t row) { return std::fabs(std::log(stack.total(row) / from)); };
        for (size_t row = 0; row < table.rows.size(); ++row) {
            if (stack.limits[row] > 0 && stack.total(row) > stack.limits[row]) return figures_caption(table, base);
            if (from > 0 && stack.total(row) > 0 && apart(row) > apart(far)) far = row;
        }
        if (!(from > 0) || apart(far) < 0.005) return figures_caption(table, base);
        return fmt::format("{}: {} {}, {:.3g} times as much as {}.", stack.title, table.rows[far].name,
                           stack_amount(stack.total(far), stack.unit), stack.total(far) / from, table.rows[base].name);
    }

    // A table whose columns need more than its width is cut into bands, one below the other; what is then too high scrolls.
    void draw_table(Ui& ui, const FigureTable& whole, size_t base, Rect body, bool hidden) {
        FigureTable table = whole;
        if (!hidden) take_equal_columns(table);
        // Of what the bars say nobody needs a column; how many bars there is room for depends on the columns.
        for (size_t drawn = table.stacks.size(); !hidden; --drawn) {
            FigureTable fewer = table;
            take_drawn_columns(fewer, drawn);
            if (drawn > 0 && place_columns(ui, fewer, body, hidden).stacks < drawn) continue;
            table = std::move(fewer);
            break;
        }
        const Columns columns = place_columns(ui, table, body, hidden);
        draw_placed(ui, table, base, body, hidden, columns);
    }

    struct Columns {  // how a table stands in its room
        float name = 0, height = 0;
        size_t bands = 1, each = 1, stacks = 0;
    };
    static constexpr float band_head = 40;

    static Columns place_columns(Ui& ui, const FigureTable& table, const Rect& body, bool hidden) {
        const float head = band_head;
        // As wide as the longest name, up to a share of the whole that leaves its columns room.
        float name = std::clamp(body.w * 0.16f, 90.0f, 190.0f);
        for (const FigureRow& row : table.rows)
            name = std::max(name, std::min(ui.text_width(row.name, {.size = 13, .weight = 700}) + 12, body.w * 0.36f));
        const size_t columns = std::max<size_t>(1, table.columns.size());
        float needed = 56;
        for (size_t c = 0; c < table.columns.size(); ++c)
            for (const FigureRow& row : table.rows)
                needed =
                    std::max(needed, ui.text_width(hidden ? "?" : scene::figure_text(row.values[c], table.columns[c].unit),
                                                   {.size = 13, .mono = true}) +
                                         16);
        const auto most = static_cast<size_t>(std::max(1.0f, (body.w - name) / needed));
        const size_t bands = (columns + most - 1) / most, each = (columns + bands - 1) / bands;
        const float count = static_cast<float>(table.rows.size()), all = static_cast<float>(bands);
        float height = std::clamp((body.h / all - head) / count, 22.0f, 58.0f);
        const size_t stacks = stacks_that_fit(table, body.h - all * head, all, height);
        return {name, height, bands, each, stacks};
    }

    void draw_placed(Ui& ui, const FigureTable& table, size_t base, Rect body, bool hidden, const Columns& place) {
        const auto [name, height, bands, each, stacks] = place;
        if (table.columns.empty())  // the bars say it all
            return draw_stacks_alone(ui, table, stacks, body, name, hidden);
        const size_t columns = std::max<size_t>(1, table.columns.size());
        const float count = static_cast<float>(table.rows.size()), all = static_cast<float>(bands);
        const float content = all * (band_head + height * count);
        if (stacks > 0) {
            float most_high = 14;
            for (size_t i = 0; i < stacks; ++i) most_high += figure_stack_most(table.stacks[i]) + 14;
            const float above = std::min(body.h - content, most_high);
            draw_stacks(ui, table, stacks, {body.x, body.y, body.w, above - 14}, name, hidden);
            body = {body.x, body.y + above, body.w, body.h - above};
        }
        const bool scrolls = content > body.h + 1;
        const float offset = scrolls ? ui.scroll("rows", body, content) : 0;
        const Rect inside{body.x, body.y - offset, body.w - (scrolls ? 10.0f : 0.0f), content};
        if (scrolls) ui.clip({body.x - 12, body.y, body.w + 24, body.h});
        float y = inside.y;
        for (size_t band = 0; band < bands; ++band)
            y = draw_band(ui, table, base, band * each, std::min(columns, (band + 1) * each), each,
                          {inside.x, y, inside.w, 0}, name, height, hidden, body);
        if (scrolls) ui.unclip();
    }

    // Some columns with their heads, of all rows; returns where it ends.
    float draw_band(Ui& ui, const FigureTable& table, size_t base, size_t first, size_t last, size_t each, const Rect& area,
                    float name, float height, bool hidden, const Rect& seen) {
        const Theme& theme = *ui.theme;
        const float pitch = (area.w - name) / static_cast<float>(each);
        for (size_t c = first; c < std::min(last, table.columns.size()); ++c) {
            const float right = area.x + name + pitch * static_cast<float>(c - first + 1) - 10;
            ui.text(right, area.y + 14, table.columns[c].title,
                    {.size = 12, .color = theme.ink2, .align = Align::right, .width = pitch - 6});
            ui.text(right, area.y + 30, table.columns[c].unit == "B" ? "bytes" : table.columns[c].unit,
                    {.size = 12, .color = theme.quiet, .align = Align::right, .width = pitch - 6});
        }
        const bool bars = !hidden && height >= 34, times = !hidden && height >= 50;
        if (bars) ui.text(area.x, area.y + 14, "bar: of the largest", {.size = 12, .color = theme.quiet, .width = name});
        if (times) ui.text(area.x, area.y + 30, "x: times the base", {.size = 12, .color = theme.quiet, .width = name});
        float y = area.y + 40;
        for (size_t r = 0; r < table.rows.size(); ++r, y += height) {
            if (y > seen.bottom()) continue;
            const FigureRow& row = table.rows[r];
            const Rect line{area.x, y, area.w, height};
            if (r == base && table.rows.size() > 1) ui.rect({line.x - 4, line.y, line.w + 8, line.h - 2}, theme.grid);
            ui.line({line.x, line.y}, {line.right(), line.y}, theme.line);
            ui.text(line.x, line.y + 16, !hidden && height < 38 && table.over(r) > 0 ? "over: " + row.name : row.name,
                    {.size = 13, .weight = r == base ? 700 : 600, .width = name - 6});
            const bool over = !hidden && table.over(r) > 0;
            if (over) {  // hatched at its edge, and in words
                ui.rect({line.x - 10, line.y, 6, line.h - 2}, data::black);
                ui.hatch({line.x - 10, line.y, 6, line.h - 2}, data::vermillion, Hatch::diagonal);
                if (height >= 38) {  // its number before its words
                    const TextStyle style{.size = 12, .color = theme.wrong, .weight = 600, .width = name - 6};
                    const std::string whole = over_text(table, r),
                                      number = scene::figure_text(table.over(r), "B") + " too much";
                    ui.text(line.x, line.y + 32, ui.text_width(whole, style) <= style.width ? whole : number, style);
                }
            }
            if (r == base && table.rows.size() > 1 && height >= (over ? 54.0f : 38.0f))
                ui.text(line.x, line.y + (over ? 48 : 32), "base", {.size = 12, .color = theme.quiet, .width = name - 6});
            for (size_t c = first; c < std::min(last, table.columns.size()); ++c) {
                const float right = area.x + name + pitch * static_cast<float>(c - first + 1) - 10, width = pitch - 20;
                ui.text(right, line.y + 16, hidden ? "?" : scene::figure_text(row.values[c], table.columns[c].unit),
                        {.size = 13, .align = Align::right, .mono = true, .width = pitch - 6});
                if (hidden) continue;
                double most = 0;
                for (const FigureRow& other : table.rows)
                    if (std::fabs(other.values[c]) > most) most = std::fabs(other.values[c]);
                if (bars && most > 0 && !std::isnan(row.values[c])) {
                    const Rect track{right - width, line.y + 22, width, 6};
                    ui.rect(track, theme.grid);
                    ui.rect({track.x, track.y, std::max(1.0f, track.w * static_cast<float>(std::fabs(row.values[c]) / most)),
                             track.h},
                            sequential(0.6f, theme));
                }
                if (times && r != base)
                    ui.text(right, line.y + 44, times_of(row.values[c], table.rows[base].values[c]),
                            {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true, .width = pitch - 6});
            }
            if (table.rows.size() > 1) {
                if (ui.hovered(line))
                    ui.tooltip(r == base ? "the base: the others are told in its figures" : "click: compare with this row");
                if (ui.area(fmt::format("row {} from {}", r, first), line)) base_ = r;
            }
        }
        return y;
    }

    // One row alone: its figures as cards, large, and what its memory and time are made of below.
    static void draw_row(Ui& ui, const FigureTable& table, const Rect& body, bool hidden) {
        float below = 0;
        size_t stacks = table.stacks.size();
        for (; stacks > 0; --stacks) {
            below = 0;
            for (size_t i = 0; i < stacks; ++i) below += 14 + figure_stack_least(table.stacks[i]);
            if (body.h - below >= 154) break;
        }
        if (stacks == 0) return static_cast<void>(draw_cards(ui, table, body, hidden));
        FigureTable fewer = table;  // what the bars say needs no card
        if (!hidden) take_drawn_columns(fewer, stacks);
        if (fewer.columns.size() < 2)  // one card alone would fill a page: the caption has its figure
            return draw_stacks_alone(ui, table, stacks, body, std::clamp(body.w * 0.16f, 90.0f, 190.0f), hidden);
        const float cards = fewer.columns.size() > 6 ? 200 : 136;
        const float above = std::max(below, std::min(body.h - cards, below + 110 * static_cast<float>(stacks)));
        draw_stacks(ui, table, stacks, {body.x, body.y, body.w, above - 14}, std::clamp(body.w * 0.16f, 90.0f, 190.0f),
                    hidden);
        draw_cards(ui, fewer, {body.x, body.y + above + 4, body.w, body.h - above - 4}, hidden);
    }

    static float draw_cards(Ui& ui, const FigureTable& table, const Rect& body, bool hidden) {
        const Theme& theme = *ui.theme;
        const FigureRow& row = table.rows.front();
        const size_t count = std::max<size_t>(1, table.columns.size());
        const float after = ui.text(body.x, body.y + 16, row.name, {.size = 15, .weight = 700, .width = body.w}) + 14;
        if (const std::string over = over_text(table, 0); !hidden && !over.empty() && after + 40 < body.right())
            ui.text(after, body.y + 16, over,
                    {.size = 14, .color = theme.wrong, .weight = 600, .width = body.right() - after});
        const float top = body.y + 28, room = std::max(30.0f, body.bottom() - top), gap = 10;
        // As few lines as leave a card 128 wide, and as many as cards stay under 96 high; narrower where all are in sight
        // then.
        size_t each = 1, lines = count;
        for (const float least : {128.0f, 112.0f, 100.0f}) {
            each = static_cast<size_t>(std::clamp((body.w + gap) / (least + gap), 1.0f, static_cast<float>(count)));
            lines = (count + each - 1) / each;
            if (static_cast<float>(lines) * (50 + gap) - gap <= room) break;
        }
        each = (count + lines - 1) / lines;
        const float width = (body.w + gap) / static_cast<float>(each) - gap;
        const float height = std::clamp((room + gap) / static_cast<float>(lines) - gap, 50.0f, 92.0f);
        const float content = static_cast<float>(lines) * (height + gap) - gap;
        const Rect seen{body.x, top, body.w, room};
        const bool scrolls = content > room + 1;
        const float offset = scrolls ? ui.scroll("cards", seen, content) : 0;
        ui.clip({body.x - 12, top, body.w + 24, room});
        for (size_t c = 0; c < table.columns.size(); ++c) {
            const Rect card{body.x + (width + gap) * static_cast<float>(c % each),
                            top + (height + gap) * static_cast<float>(c / each) - offset, width - (scrolls ? 6.0f : 0.0f),
                            height};
            if (card.y > body.bottom()) break;
            ui.rect(card, theme.panel2, 4);
            const std::string figure = hidden ? "?" : scene::figure_text(row.values[c], table.columns[c].unit);
            const auto [size, unit] = number_and_unit(ui, figure, table.columns[c].unit, card.w - 20);
            const float middle = card.y + card.h / 2;
            ui.text(card.x + 10, middle - 8, table.columns[c].title,
                    {.size = 12, .color = theme.ink2, .width = card.w - 20});
            const float x =
                ui.text(card.x + 10, middle + 15, figure, {.size = size, .weight = 700, .width = card.w - 20}) + 6;
            ui.text(x, middle + 15, unit, {.size = 12, .color = theme.quiet});
        }
        ui.unclip();
        return 28 + std::min(content, room);
    }

    // How large a card's number is, so that its unit stands beside it; where none is small enough, the unit's first word.
    static std::pair<float, std::string> number_and_unit(Ui& ui, const std::string& figure, std::string unit, float width) {
        if (unit == "B") unit.clear();  // the number has it
        const std::string first = unit.substr(0, unit.find_first_of(" ,"));
        for (const std::string& shown : {unit, first})
            for (const float size : {20.0f, 18.0f, 16.0f, 14.0f}) {
                const float beside = shown.empty() ? 0 : 6 + ui.text_width(shown, {.size = 12});
                if (ui.text_width(figure, {.size = size, .weight = 700}) + beside <= width) return {size, shown};
            }
        return {14.0f, first};
    }

    // How many of the stacks there is room for below the table; its rows move closer where that makes room.
    static size_t stacks_that_fit(const FigureTable& table, float room, float bands, float& height) {
        const float rows = static_cast<float>(table.rows.size()) * bands;
        for (size_t stacks = table.stacks.size(); stacks > 0; --stacks) {
            float least = 14.0f * static_cast<float>(stacks);
            for (size_t i = 0; i < stacks; ++i) least += figure_stack_least(table.stacks[i]);
            for (const float pitch : {38.0f, 24.0f}) {
                if (pitch > height || pitch * rows + least + (pitch > 24 ? 60.0f : 0.0f) > room) continue;
                height = pitch;
                return stacks;
            }
        }
        return 0;
    }

    // The figures that the step asks for: its question's, else its exercise's, else those of the last question before it
    // about the same scene.
    static std::vector<scene::FigureName> names_asked(const LessonState& state) {
        if (!state.lesson || state.step < 0 || static_cast<size_t>(state.step) >= state.lesson->steps.size()) return {};
        const auto step = static_cast<size_t>(state.step);
        const lessons::Step& now = state.lesson->steps[step];
        if (const int at = sketch_on_show(state); at >= 0) return now.predicts[static_cast<size_t>(at)].of.names();
        std::vector<scene::FigureName> names;
        for (const lessons::Exercise& exercise : now.exercises)
            for (const scene::FigureName& name : exercise.check.names())
                if (std::any_of(name.places.begin(), name.places.end(),
                                [](const auto& at) { return at.value == "starter"; }))
                    names.push_back(name);  // it is to become better than the starter's
        if (!names.empty()) return names;
        const scene::Scene* const shown = lessons::scene_at(*state.lesson, step);
        for (size_t i = step + 1; shown != nullptr && i-- > 0;)
            if (!state.lesson->steps[i].predicts.empty() && lessons::scene_at(*state.lesson, i) == shown)
                return state.lesson->steps[i].predicts.back().of.names();
        return {};
    }

    // Of what its stack is made of the part that the step asks for, as figures_headline() takes it.
    static std::string_view part_asked(const LessonState& state) {
        static constexpr std::pair<std::string_view, std::string_view> parts[] = {{"share.tensor", "tensor parallel"},
                                                                                  {"share.context", "context parallel"},
                                                                                  {"share.data", "data parallel"},
                                                                                  {"share.bubble", "bubble"},
                                                                                  {"share.update", "update"},
                                                                                  {"tflops", "rate"},
                                                                                  {"mfu", "rate"}};
        const std::vector<scene::FigureName> names = names_asked(state);
        for (const auto& [figure, part] : parts)
            if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return name.base == figure; })) return part;
        return {};
    }

    // "time" of focus="of:time": the step's scene says which of its stacks it is about; empty: it does not.
    static std::string said_by_scene(const LessonState& state) {
        if (!state.lesson || state.step < 0) return {};
        const scene::Scene* const shown = lessons::scene_at(*state.lesson, static_cast<size_t>(state.step));
        return shown != nullptr && shown->focus.starts_with("of:") ? shown->focus.substr(3) : std::string();
    }

    // Whether the step is about what the stack is made of: memory, time, energy, or what is sent.
    static bool is_about(const scene::FigureStack& stack, const LessonState& state) {
        static constexpr std::string_view of_memory[] = {"weights", "gradients", "optimizer", "activations", "memory"};
        const bool sketch = sketch_on_show(state) >= 0;  // what it asks for is never anything but these
        if (const std::string said = said_by_scene(state); !sketch && !said.empty())
            return said == (stack.unit == "us" ? "time" : stack.unit == "MWh" ? "energy" : "memory");
        for (const scene::FigureName& name : names_asked(state)) {
            static constexpr std::string_view of_time[] = {"step_us", "tflops", "mfu"};
            const bool time = name.base.starts_with("share.") ||
                              std::find(std::begin(of_time), std::end(of_time), name.base) != std::end(of_time);
            const bool sent = name.base.starts_with("bytes");
            const bool energy = name.base == "run_mwh" || name.base == "megawatts";
            const bool is_sent = stack.parts.front().starts_with("sent: "), is_time = stack.unit == "us",
                       is_energy = stack.unit == "MWh";
            const bool memory =
                sketch || std::find(std::begin(of_memory), std::end(of_memory), name.base) != std::end(of_memory);
            if (energy ? is_energy : time ? is_time : sent ? is_sent : memory && !is_sent && !is_time && !is_energy)
                return true;
        }
        return false;
    }

    // In little room what the rows are made of says more than a table of cut figures. False: not even a bar fits.
    static bool draw_bars_alone(Ui& ui, const FigureTable& table, const Rect& body, bool hidden) {
        const std::vector<scene::FigureStack>& stacks = table.stacks;
        const float name = std::clamp(body.w * 0.16f, 90.0f, 190.0f);
        float y = body.y;
        for (size_t i = 0; i < stacks.size(); ++i) {
            float height = figure_stack_least(stacks[i]);
            const float room = body.bottom() - y, tight = height - 5 * static_cast<float>(stacks[i].rows.size());
            if (i == 0 && height > room && tight <= room) height = room;  // rather close together than a table
            if (height > room) return i > 0;
            const bool last = i + 1 == stacks.size() || height + 14 + figure_stack_least(stacks[i + 1]) > room;
            if (last) height = std::min(room, figure_stack_most(stacks[i]));
            draw_figure_stack(ui, table, stacks[i], {body.x, y, body.w, height}, name, hidden);
            if (last) return true;
            y += height + 14;
        }
        return false;
    }

    // Without a table below them one stack fills the room, several stand as they do beside a table.
    static void draw_stacks_alone(Ui& ui, const FigureTable& table, size_t stacks, Rect area, float name, bool hidden) {
        if (stacks != 1) return draw_stacks(ui, table, stacks, area, name, hidden);
        area.h = std::min(area.h, figure_stack_least(table.stacks[0]) + 220 * static_cast<float>(table.rows.size()));
        draw_figure_stack(ui, table, table.stacks[0], area, name, hidden);
    }

    // The first is asked about: it takes what the others leave.
    static void draw_stacks(Ui& ui, const FigureTable& table, size_t stacks, Rect area, float name, bool hidden) {
        float left = area.h;
        for (size_t i = 0; i < stacks; ++i) left -= figure_stack_least(table.stacks[i]) + (i > 0 ? 14.0f : 0.0f);
        for (size_t i = 0; i < stacks; ++i) {
            const float least = figure_stack_least(table.stacks[i]);
            const float more =
                std::clamp(i == 0 && stacks > 1 ? left * 0.7f : left, 0.0f, figure_stack_most(table.stacks[i]) - least);
            left -= more;
            draw_figure_stack(ui, table, table.stacks[i], {area.x, area.y, area.w, least + more}, name, hidden);
            area.y += least + more + 14;
        }
    }
};

}  // namespace

std::unique_ptr<View> make_figure_rows_view() {
    return std::make_unique<FigureRowsView>();
}

}  // namespace lockstep::gui
