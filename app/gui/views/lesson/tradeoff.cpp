// Cheaper forms of a network as dots: what each takes across, on a log axis, what it reads upwards. The first row is the one
// that the others are held against: dashed lines go through it. Chips choose what is counted across; a click, A and D pick a
// row. Of a table without a quality there is nothing to draw.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/figures/figure_table.h"

namespace lockstep::gui {
namespace {

using scene::FigureTable;

constexpr std::string_view tradeoff_title = "What it costs, and what it reads";
constexpr std::string_view tradeoff_hidden = "Costs and quality stay hidden until you lock an answer.";
constexpr double least_span = 12;  // points of accuracy on the axis: a point or two is no mountain

struct Tradeoff {
    const FigureTable* table = nullptr;
    size_t quality = 0;         // column
    std::vector<size_t> costs;  // columns that may stand across
    bool in_percent = true;

    double cost(size_t row, size_t at) const { return table->rows[row].values[costs[at]]; }
    double read(size_t row) const { return table->rows[row].values[quality]; }
    size_t rows() const { return table->rows.size(); }
};
// The rows on show; no costs: they are none of cheaper forms.
Tradeoff tradeoff_of(const Snapshot& snapshot) {
    Tradeoff found;
    if (!snapshot.cluster || !snapshot.cluster->table || snapshot.cluster->table->rows.empty()) return found;
    found.table = snapshot.cluster->table.get();
    bool judged = false;
    for (size_t c = 0; c < found.table->columns.size(); ++c) {
        const scene::FigureColumn& column = found.table->columns[c];
        if (!judged && (column.title == "accuracy" || column.title == "nats a character")) {
            judged = true;
            found.quality = c;
            found.in_percent = column.title == "accuracy";
        } else if (column.unit == "B" || column.title == "operations") {
            found.costs.push_back(c);
        }
    }
    if (!judged) found.costs.clear();
    return found;
}
std::string cost_name(const Tradeoff& it, size_t at) {
    const std::string& title = it.table->columns[it.costs[at]].title;
    return title == "operations" ? title : "bytes " + title.substr(0, title.find(','));
}

class TradeoffView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Tradeoff it = tradeoff_of(*snapshot);
        if (it.costs.empty()) {
            const Rect body = ui.panel(area, {.title = tradeoff_title});
            return ui.say_nothing_yet(body, "No cheaper forms have run yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        cost_ = std::min(cost_, it.costs.size() - 1);
        const int by = (ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0);
        if (by != 0) picked_ = std::clamp(row_told(it) + by, 0, static_cast<int>(it.rows()) - 1);
        const std::string caption = hidden ? std::string(tradeoff_hidden) : caption_of(it);
        const Rect body = ui.panel(area, {.title = tradeoff_title,
                                          .right = it.table->title,
                                          .badge = hidden ? Provenance::none : Provenance::executed,
                                          .caption = caption});
        ui.push_scope("tradeoff");
        float y = body.y;
        if (body.h > 260 && !has_room_to_itself(session, body.h) && it.costs.size() > 1) {
            float x = ui.text(body.x, y + 18, "across", {.size = 13, .color = ui.theme->ink2}) + 8;
            for (size_t i = 0; i < it.costs.size(); ++i)
                if (x + ui.chip_width(cost_name(it, i)) < body.right() && ui.chip(x, y, cost_name(it, i), i == cost_))
                    cost_ = i;
            y += 32;
        }
        if (!hidden && body.bottom() - y > 170) {
            ui.text(body.x, y + 20, headline_of(it, row_told(it)), {.size = 20, .weight = 700, .width = body.w});
            y += 32;
        }
        if (hidden)
            ui.dashed({body.x, y, body.w, body.bottom() - y}, ui.theme->ink3, 4, 4);
        else
            draw_dots(ui, it, {body.x, y, body.w, body.bottom() - y});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Tradeoff it = tradeoff_of(*session.snapshot());
        if (it.costs.empty()) return std::string(tradeoff_title) + ": no cheaper forms have run yet.\n";
        std::string text = fmt::format("{} (executed): {}\n", tradeoff_title, it.table->title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(tradeoff_hidden) + "\n";
        for (size_t row = 1; row < it.rows(); ++row) text += "  " + headline_of(it, static_cast<int>(row)) + "\n";
        return text + "  " + caption_of(it) + "\n";
    }

  private:
    size_t cost_ = 0;
    int picked_ = -1;  // a row; -1: the cheapest, of such as cost alike the best

    int row_told(const Tradeoff& it) const {
        if (picked_ >= 0 && picked_ < static_cast<int>(it.rows())) return picked_;
        const size_t at = std::min(cost_, it.costs.size() - 1);
        int best = it.rows() > 1 ? 1 : 0;
        for (size_t row = 1; row < it.rows(); ++row) {
            const auto other = static_cast<size_t>(best);
            const double cost = it.cost(row, at), so_far = it.cost(other, at);
            const bool better = it.in_percent ? it.read(row) > it.read(other) : it.read(row) < it.read(other);
            if (cost < 0.99 * so_far || (cost <= 1.01 * so_far && better)) best = static_cast<int>(row);
        }
        return best;
    }
    // "int8 weights: 0.25 times the bytes stored, 0.2 points less"
    std::string headline_of(const Tradeoff& it, int row) const {
        const auto at = static_cast<size_t>(row);
        const std::string name = it.table->rows[at].name;
        const double less = it.read(0) - it.read(at);
        const size_t cost = std::min(cost_, it.costs.size() - 1);
        const std::string share =
            fmt::format("{:.2g} times the {}", it.cost(at, cost) / it.cost(0, cost), cost_name(it, cost));
        if (row == 0) return fmt::format("{}: what the others are held against", name);
        if (!it.in_percent) return fmt::format("{}: {}, {:.3g} nats a character", name, share, it.read(at));
        return std::abs(less) < 0.05
                   ? fmt::format("{}: {}, as many read", name, share)
                   : fmt::format("{}: {}, {:.1f} points {}", name, share, std::abs(less), less > 0 ? "less" : "more");
    }
    static std::string caption_of(const Tradeoff& it) {
        return fmt::format("Left is cheaper, {} is better. Dashed: {}.", it.in_percent ? "up" : "down",
                           it.table->rows.front().name);
    }

    void draw_dots(Ui& ui, const Tradeoff& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        double least = 1e300, most = 0, low = 1e300, high = -1e300;
        for (size_t row = 0; row < it.rows(); ++row) {
            least = std::min(least, it.cost(row, cost_)), most = std::max(most, it.cost(row, cost_));
            if (!std::isfinite(it.read(row))) continue;
            low = std::min(low, it.read(row)), high = std::max(high, it.read(row));
        }
        const Rect plot{r.x + 46, r.y + 22, r.w - 46 - 20, r.h - 22 - 38};
        if (plot.w < 160 || plot.h < 60 || !(least > 0) || !(high >= low)) return;
        const double margin = std::max(0.15 * (high - low), it.in_percent ? (least_span - (high - low)) / 2 : 0.1);
        low -= margin, high += margin;
        const double left = least / 1.8, right = std::max(most * 1.8, least * 4);
        const auto x_of = [&](double cost) {
            return plot.x + plot.w * static_cast<float>(std::log(cost / left) / std::log(right / left));
        };
        const auto y_of = [&](double read) {
            return plot.bottom() - plot.h * static_cast<float>((read - low) / (high - low));
        };
        ui.text(r.x, r.y + 12, it.in_percent ? "% read right" : it.table->columns[it.quality].title,
                {.size = 13, .color = theme.ink2});
        const double step = high - low > 40 ? 20 : high - low > 18 ? 10 : high - low > 3 ? 5 : 0.5;
        for (double mark = std::ceil(low / step) * step; mark <= high; mark += step) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, fmt::format("{:g}", mark),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        const std::string& of_cost = it.table->columns[it.costs[cost_]].unit;
        for (double power = std::pow(10.0, std::floor(std::log10(left))); power <= right; power *= 10)
            for (const double factor : {1.0, 2.0, 5.0}) {
                const double mark = factor * power;
                if (mark < left || mark > right) continue;
                ui.line({x_of(mark), plot.y}, {x_of(mark), plot.bottom()}, theme.grid);
                ui.text(x_of(mark), plot.bottom() + 16, scene::figure_text(mark, of_cost),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            }
        ui.text(plot.x + plot.w / 2, plot.bottom() + 33, cost_name(it, cost_) + ", log",
                {.size = 13, .color = theme.ink2, .align = Align::center});
        const Point base{x_of(it.cost(0, cost_)), y_of(it.read(0))};
        const Point down[] = {{base.x, plot.y}, {base.x, plot.bottom()}},
                    along[] = {{plot.x, base.y}, {plot.right(), base.y}};
        ui.polyline(down, theme.ink3, 1.5f, 6, 5);
        ui.polyline(along, theme.ink3, 1.5f, 6, 5);
        draw_names(ui, it, plot, x_of, y_of);
        for (size_t row = it.rows(); row-- > 0;) {
            if (!std::isfinite(it.read(row))) continue;
            const Point at{x_of(it.cost(row, cost_)), y_of(it.read(row))};
            const bool told = static_cast<int>(row) == row_told(it);
            row == 0 ? ui.rect({at.x - 6, at.y - 6, 12, 12}, theme.ink)
                     : ui.circle(at, 6, told ? data::orange : data::green);
            if (told) ui.ring(at, 9, theme.ink, 2);
            const Rect near{at.x - 8, at.y - 8, 16, 16};
            if (ui.hovered(near)) ui.tooltip(headline_of(it, static_cast<int>(row)));
            if (ui.clicked(near)) picked_ = static_cast<int>(row);
        }
    }

    // Beside, above or below its dot, where neither another name nor another dot is; the one that is told comes first.
    template <typename X, typename Y>
    void draw_names(Ui& ui, const Tradeoff& it, const Rect& plot, const X& x_of, const Y& y_of) const {
        std::vector<Rect> taken;
        for (size_t row = 0; row < it.rows(); ++row) {
            const Point at{x_of(it.cost(row, cost_)), y_of(it.read(row))};
            taken.push_back({at.x - 8, at.y - 8, 16, 16});
        }
        std::vector<size_t> order = {static_cast<size_t>(row_told(it)), 0};
        for (size_t row = 1; row < it.rows(); ++row)
            if (static_cast<int>(row) != row_told(it)) order.push_back(row);
        for (size_t n = 0; n < order.size(); ++n) {
            const size_t row = order[n];
            if (!std::isfinite(it.read(row)) || (n > 0 && row == order[0])) continue;
            const Point at{x_of(it.cost(row, cost_)), y_of(it.read(row))};
            const TextStyle style{.size = 13, .weight = n < 2 ? 700 : 400};
            const float w = ui.text_width(it.table->rows[row].name, style) + 4, h = 17;
            const Rect places[] = {{at.x + 12, at.y - h / 2, w, h},
                                   {at.x - 12 - w, at.y - h / 2, w, h},
                                   {at.x - w / 2, at.y - 12 - h, w, h},
                                   {at.x - w / 2, at.y + 12, w, h}};
            for (const Rect& place : places) {
                if (place.x < plot.x || place.right() > plot.right() + 16 || place.y < plot.y - 8 ||
                    place.bottom() > plot.bottom() + 2)
                    continue;
                if (std::any_of(taken.begin(), taken.end(), [&](const Rect& other) {
                        return place.x < other.right() && other.x < place.right() && place.y < other.bottom() &&
                               other.y < place.bottom();
                    }))
                    continue;
                taken.push_back(place);
                ui.rect(place, ui.theme->panel);
                ui.text(place.x + 2, place.bottom() - 4, it.table->rows[row].name, style);
                break;
            }
        }
    }
};

}  // namespace

std::unique_ptr<View> make_tradeoff_view() {
    return std::make_unique<TradeoffView>();
}

}  // namespace lockstep::gui
