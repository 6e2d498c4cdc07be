// Batch norm across ranks: the values of one channel above, what they become below, a line each; at the left as the program
// ran, at the right with another number of groups, which chips choose. The lower axis has the scale of all examples' mean
// and deviation, so that lines are vertical where all are normalised together. Below, on one line a rank, its values with
// their mean and deviation, and those of all. A click, A and D pick an example.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/rank_look.h"
#include "app/gui/views/tensor/norm_groups.h"
#include "app/gui/widgets/axis.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view norms_title = "Batch norm across ranks: whose mean?",
                           one_rank_title = "Batch norm: what values become";
constexpr std::string_view norms_hidden = "What the values become stays hidden until you lock an answer.";

class NormsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto norm = snapshot->tape ? norm_groups(*snapshot->tape) : std::nullopt;
        if (!norm) {
            const Rect body = ui.panel(area, {.title = norms_title});
            return ui.say_nothing_yet(body, "No program with a batch_norm of a few examples has run yet.", snapshot->busy);
        }
        adopt(snapshot->tape, *norm);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(norms_hidden) : norm_caption(*norm);
        const Rect body = ui.panel(area, {.title = norm->groups > 1 ? norms_title : one_rank_title,
                                          .right = fmt::format("{} examples of {}", norm->examples(),
                                                               norm->channels == 1 ? "one channel" : "the first channel"),
                                          .badge = hidden ? Provenance::none : Provenance::executed,
                                          .caption = caption});
        ui.push_scope("norms");
        if (!hidden) pick_by_keys(ui, *norm, area);
        float y = body.y;
        if (!hidden && body.h < low_body) {  // one line says it
            const bool one = picked_ >= 0;
            ui.text(body.x, y + 16, one ? norm_words(*norm, other_, picked_) : norm_headline(*norm, other_),
                    {.size = one ? 14.0f : 18.0f, .weight = one ? 400 : 700, .width = body.w});
            y += 26;
        } else if (!hidden) {
            ui.text(body.x, y + 22, norm_headline(*norm, other_), {.size = 24, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44, picked_ >= 0 ? norm_words(*norm, other_, picked_) : norm_difference(*norm, other_),
                    {.size = 14, .color = picked_ >= 0 ? ui.theme->ink : ui.theme->ink2, .width = body.w});
            y += 56;
        }
        constexpr float legend = 24;
        const int lines = std::max(norm->groups, other_) + 1;
        const float below = hidden || body.h < 500
                                ? 0
                                : 30 + std::clamp((body.h * 0.34f - 30) / static_cast<float>(lines), 18.0f, 30.0f) *
                                           static_cast<float>(lines);
        const float high = body.bottom() - legend - below - y;
        const float each = (body.w - 24) / 2;
        draw_slopes(ui, *norm, norm->y, norm->groups, hidden, true, {body.x, y, each, high});
        draw_slopes(ui, *norm, normalised(*norm, other_), other_, hidden, false, {body.x + each + 24, y, each, high});
        if (below > 0) draw_statistics(ui, *norm, {body.x, body.bottom() - legend - below, body.w, below});
        draw_legend(ui, *norm, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const auto norm = snapshot->tape ? norm_groups(*snapshot->tape) : std::nullopt;
        if (!norm) return std::string(norms_title) + ": no program with a batch_norm has run yet.\n";
        std::string text = fmt::format("{} (executed): {} examples, {}\n  values", norms_title, norm->examples(),
                                       groups_words(norm->groups, norm->examples()));
        for (const double x : norm->x) text += " " + plain_number(x);
        text += "\n";
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(norms_hidden) + "\n";
        const int other = seen_ == snapshot->tape ? other_ : other_of(*norm);
        for (int i = 0; i < norm->examples(); ++i) text += "  " + norm_words(*norm, other, i) + "\n";
        return text + "  " + norm_headline(*norm, other) + ". " + norm_difference(*norm, other) + " " + norm_caption(*norm) +
               "\n";
    }

  private:
    std::shared_ptr<const scene::TapeRun> seen_;
    int other_ = 1, picked_ = -1;

    static int other_of(const NormGroups& norm) {  // what stands beside the run
        return norm.groups > 1 ? 1 : std::max(1, norm.examples() / 2);
    }
    void adopt(const std::shared_ptr<const scene::TapeRun>& tape, const NormGroups& norm) {
        if (tape == seen_) return;
        seen_ = tape;
        other_ = other_of(norm);
        picked_ = -1;
    }
    void pick_by_keys(Ui& ui, const NormGroups& norm, const Rect& area) {
        const int by = (ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0);
        if (by != 0) picked_ = std::clamp(picked_ + by, -1, norm.examples() - 1);
    }
    static int ranks_of(const NormGroups& norm, int other) { return std::max(norm.groups, other); }
    int rank_of(const NormGroups& norm, int example) const { return example * ranks_of(norm, other_) / norm.examples(); }

    static void dot(Ui& ui, Point at, float r, int rank, const std::string& words, bool picked) {
        const Color fill = rank_look(rank).fill;
        if (rank % 4 == 0)
            ui.circle(at, r, fill);
        else if (rank % 4 == 1)
            ui.rect({at.x - r + 1, at.y - r + 1, 2 * r - 2, 2 * r - 2}, fill);
        else if (rank % 4 == 2)
            ui.polygon({{at.x, at.y - r - 2}, {at.x + r + 2, at.y}, {at.x, at.y + r + 2}, {at.x - r - 2, at.y}}, fill);
        else
            ui.polygon({{at.x - r / 2, at.y - r},
                        {at.x + r / 2, at.y - r},
                        {at.x + r + 1, at.y},
                        {at.x + r / 2, at.y + r},
                        {at.x - r / 2, at.y + r},
                        {at.x - r - 1, at.y}},
                       fill);
        if (picked) ui.ring(at, r + 4, ui.theme->ink, 2);
        ui.text(at.x, at.y + 4.5f, words, {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 700});
    }

    // Places on a line, one above the other where they would touch: by example its row.
    static std::vector<int> stacked(const std::vector<float>& xs) {
        std::vector<size_t> order(xs.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return xs[a] < xs[b]; });
        std::vector<int> rows(xs.size());
        std::vector<float> ends;  // by row
        for (const size_t i : order) {
            size_t row = 0;
            while (row < ends.size() && ends[row] > xs[i] - 27) ++row;
            if (row == ends.size()) ends.push_back(0);
            ends[row] = xs[i];
            rows[i] = static_cast<int>(row);
        }
        return rows;
    }

    void draw_slopes(Ui& ui, const NormGroups& norm, const std::vector<double>& y, int groups, bool hidden, bool own,
                     const Rect& r) {
        const Theme& theme = *ui.theme;
        const std::string title =
            own ? "As it ran: " + groups_words(groups, norm.examples()) : groups_words(groups, norm.examples());
        const float end = ui.text(r.x, r.y + 18, title, {.size = 14, .weight = 600});
        if (own && end + 12 + ui.text_width("values, and what they become", {.size = 13}) < r.right())
            ui.text(end + 12, r.y + 18, "values, and what they become", {.size = 13, .color = theme.ink2});
        if (!own && !hidden) {
            const float badge = ui.badge(end + 10, r.y + 18, Provenance::derived);
            float x = end + 20 + badge;
            for (const int count : possible_groups(norm.examples())) {
                if (count == norm.groups) continue;
                const std::string words = count == 1 ? "all" : fmt::format("{} ranks", count);
                if (x + ui.chip_width(words) > r.right()) break;
                if (ui.chip(x, r.y, words, count == other_)) other_ = count;
            }
        }
        // Room for the word at the line of a mean, and as much beside it, so that both pictures stand level.
        const float words = norm.groups == 1 || other_ == 1 ? 16 : 0;
        const Rect plot{r.x + 8, r.y + 34 + words, r.w - 16, r.h - 38 - words};
        if (hidden && !own) return draw_hidden_place(ui, plot);
        const NormStatistics all = norm_statistics(norm.x, 1).front();
        const double deviation = std::sqrt(all.square + norm.epsilon);
        double from = *std::min_element(norm.x.begin(), norm.x.end()), to = *std::max_element(norm.x.begin(), norm.x.end());
        for (const double one : norm.y) {  // both panels have the run's scale
            from = std::min(from, all.mean + deviation * one);
            to = std::max(to, all.mean + deviation * one);
        }
        const double room = std::max(1e-9, to - from);
        from -= 0.06 * room, to += 0.06 * room;
        const auto x_of = [&](double value) { return plot.x + plot.w * static_cast<float>((value - from) / (to - from)); };
        std::vector<float> above, below;
        for (size_t i = 0; i < y.size(); ++i) {
            above.push_back(x_of(norm.x[i]));
            below.push_back(x_of(all.mean + deviation * y[i]));
        }
        const std::vector<int> above_rows = stacked(above), below_rows = stacked(below);
        const int highest = *std::max_element(above_rows.begin(), above_rows.end()),
                  lowest = *std::max_element(below_rows.begin(), below_rows.end());
        const bool low = plot.h < 190;
        const float radius = low ? 9.0f : 12.0f, pitch = low ? 18.5f : 28.0f;
        const float top = plot.y + (low ? 10 : 18) + pitch * static_cast<float>(highest),
                    bottom = std::max(top + (low ? 30 : 44),
                                      plot.bottom() - (low ? 30 : 38) - pitch * static_cast<float>(hidden ? 0 : lowest));
        ui.line({plot.x, top}, {plot.right(), top}, theme.ink3);
        ui.line({plot.x, bottom}, {plot.right(), bottom}, theme.ink3);
        for (int tick = -3; tick <= 3; ++tick) {
            const float x = x_of(all.mean + deviation * tick);
            if (x < plot.x + 8 || x > plot.right() - 8) continue;
            ui.line({x, bottom - 4}, {x, bottom + 4}, theme.ink2);
            ui.text(x, plot.bottom() - 4, tick > 0 ? fmt::format("+{}", tick) : plain_number(tick),
                    {.size = 13, .align = Align::center, .weight = tick == 0 ? 400 : 600});
        }
        if (groups == 1 && !hidden) {
            const float middle = x_of(all.mean);
            const Point line[] = {{middle, top - 14}, {middle, bottom + 14}};
            ui.polyline(line, theme.ink2, 1.5f, 4, 3);
            ui.text(middle, top - 19, "mean " + plain_number(all.mean),
                    {.size = 12, .color = theme.ink2, .align = Align::center});
        }
        if (!hidden)
            for (size_t i = 0; i < y.size(); ++i) {
                const Point a{above[i], top - pitch * static_cast<float>(above_rows[i]) + radius},
                    b{below[i], bottom - radius};
                const bool on = picked_ < 0 || picked_ == static_cast<int>(i);
                ui.line(a, b, faded(rank_look(rank_of(norm, static_cast<int>(i))).fill, on ? 1.0f : 0.25f),
                        on && picked_ >= 0 ? 3.0f : 2.0f);
            }
        for (size_t i = 0; i < y.size(); ++i) {
            const auto example = static_cast<int>(i);
            const Point a{above[i], top - pitch * static_cast<float>(above_rows[i])},
                b{below[i], bottom + pitch * static_cast<float>(below_rows[i])};
            for (const Point& at : {a, b}) {
                if (hidden && at.y > top + 1) continue;
                dot(ui, at, radius, rank_of(norm, example), plain_number(norm.x[i]), picked_ == example);
                const Rect box{at.x - radius, at.y - radius, 2 * radius, 2 * radius};
                if (hidden) continue;
                if (ui.clicked(box)) picked_ = picked_ == example ? -1 : example;
                if (ui.hovered(box)) ui.tooltip(norm_words(norm, other_, example));
            }
        }
    }

    // A line a rank, and one for all: values, their mean, and a deviation to each side.
    void draw_statistics(Ui& ui, const NormGroups& norm, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        const float end = ui.text(r.x, r.y + 20, "What each rank knows", {.size = 14, .weight = 600});
        ui.text(end + 10, r.y + 20, "its values, their mean, a deviation to each side",
                {.size = 13, .color = theme.ink2, .width = r.w - (end - r.x) - 10});
        const int ranks = ranks_of(norm, other_);
        const std::vector<NormStatistics> parts = norm_statistics(norm.x, ranks), all = norm_statistics(norm.x, 1);
        const float pitch = (r.h - 30) / static_cast<float>(ranks + 1);
        const float words = std::min(250.0f, r.w * 0.34f);
        const Rect plot{r.x + 64, r.y + 30, r.w - 64 - words, r.h - 30};
        double from = *std::min_element(norm.x.begin(), norm.x.end()), to = *std::max_element(norm.x.begin(), norm.x.end());
        const double reach = std::sqrt(all.front().square);
        from = std::min(from, all.front().mean - reach), to = std::max(to, all.front().mean + reach);
        const double room = std::max(1e-9, to - from);
        const auto x_of = [&](double value) {
            return plot.x + plot.w * static_cast<float>((value - from + 0.03 * room) / (1.06 * room));
        };
        for (int line = 0; line <= ranks; ++line) {
            const bool whole = line == ranks;
            const NormStatistics& of = whole ? all.front() : parts[static_cast<size_t>(line)];
            const float y = plot.y + pitch * (static_cast<float>(line) + 0.5f);
            const double deviation = std::sqrt(of.square);
            ui.text(r.x, y + 4.5f, whole ? "all" : fmt::format("rank {}", line), {.size = 13, .weight = whole ? 700 : 600});
            ui.line({plot.x, y}, {plot.right(), y}, theme.grid);
            const Color fill = whole ? theme.ink2 : rank_look(line).fill;
            ui.rect({x_of(of.mean - deviation), y - 5, x_of(of.mean + deviation) - x_of(of.mean - deviation), 10},
                    faded(fill, 0.35f));
            for (int i = 0; i < norm.examples(); ++i)
                if (whole || rank_of(norm, i) == line)
                    ui.circle({x_of(norm.x[static_cast<size_t>(i)]), y}, 4, rank_look(rank_of(norm, i)).fill);
            ui.rect({x_of(of.mean) - 1.5f, y - 9, 3, 18}, theme.ink);
            ui.text(r.right(), y + 4.5f,
                    fmt::format("mean {}, mean square deviation {}", plain_number(of.mean), plain_number(of.square)),
                    {.size = 13,
                     .color = whole ? theme.ink : theme.ink2,
                     .align = Align::right,
                     .weight = whole ? 700 : 400,
                     .width = words - 12});
        }
    }

    void draw_legend(Ui& ui, const NormGroups& norm, float x, float y, float right) const {
        const int ranks = std::min(8, ranks_of(norm, other_));
        for (int rank = 0; rank < ranks; ++rank) {
            std::string words = fmt::format("rank {}:", rank);
            for (int i = 0; i < norm.examples(); ++i)
                if (rank_of(norm, i) == rank) words += " " + plain_number(norm.x[static_cast<size_t>(i)]);
            if (x + 40 + ui.text_width(words, {.size = 13}) > right) return;
            x = ui.legend(x, y, rank_look(rank).fill, Hatch::solid, words);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_norms_view() {
    return std::make_unique<NormsView>();
}

}  // namespace lockstep::gui
