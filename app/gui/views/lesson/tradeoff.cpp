// Cheaper forms of a network, a row each: a bar of what it takes beside a bar of what it reads. The first row is the one
// that the others are held against: dashed lines go through its ends. Chips choose what is counted; a click, A and D pick
// the row that the headline tells, which a lesson's focus= names too. Of a table without a quality there is nothing to draw.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/figures/figure_table.h"
#include "core/scene/scene.h"

namespace lockstep::gui {
namespace {

using scene::FigureTable;

constexpr std::string_view tradeoff_title = "What it costs, and what it reads";
constexpr std::string_view tradeoff_hidden = "Costs and quality stay hidden until you lock an answer.";

struct Tradeoff {
    const FigureTable* table = nullptr;
    size_t quality = 0;          // column
    std::vector<size_t> costs;   // columns that may stand across
    size_t worst = 0, best = 0;  // columns of the seeds that read least and most; alike: the rows have none
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
        } else if (column.title == "worst seed") {
            found.worst = c;
        } else if (column.title == "best seed") {
            found.best = c;
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

// "magnitude 90 %, tuned" as figures call it: "magnitude_90_tuned"
std::string called(const std::string& name) {
    std::string word;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            word += c;
        else if (!word.empty() && word.back() != '_')
            word += '_';
    while (!word.empty() && word.back() == '_') word.pop_back();
    return word;
}
// What a lesson's scene is about: "row:student_mlp_taught@against:student_mlp_alone@of:operations".
struct About {
    int row = -1, against = 0;
    int cost = -1;
};
About about_of(const Session& session, const Tradeoff& it) {
    About about;
    const scene::Scene* const scene = drawn_scene(session);
    if (scene == nullptr || scene->focus.rfind("row:", 0) != 0) return about;
    const auto after = [&](std::string_view key) {
        const size_t at = scene->focus.find(key);
        if (at == std::string::npos) return std::string();
        const size_t from = at + key.size();
        return scene->focus.substr(from, std::min(scene->focus.find('@', from), scene->focus.size()) - from);
    };
    for (size_t row = 0; row < it.rows(); ++row) {
        const std::string name = called(it.table->rows[row].name);
        if (name == after("row:")) about.row = static_cast<int>(row);
        if (name == after("against:")) about.against = static_cast<int>(row);
    }
    for (size_t at = 0; at < it.costs.size(); ++at)
        if (it.table->columns[it.costs[at]].title.rfind(after("@of:"), 0) == 0 && !after("@of:").empty())
            about.cost = static_cast<int>(at);
    return about;
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
        look_at(session, it);
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
        if (!hidden) {
            const bool low = body.h < 260;
            const std::string full = headline_of(it, row_told(it));
            TextStyle head{.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w};
            while (head.size > 13 && ui.text_width(full, head) > body.w) head.size -= 1;  // rather small than cut
            ui.text(body.x, y + (low ? 17.0f : 22.0f), full, head);
            y += low ? 26 : 36;
        }
        if (body.h > 300 && !has_room_to_itself(session, body.h) && it.costs.size() > 1) {
            float x = ui.text(body.x, y + 18, "counted:", {.size = 13, .color = ui.theme->ink2}) + 8;
            for (size_t i = 0; i < it.costs.size(); ++i)
                if (x + ui.chip_width(cost_name(it, i)) < body.right() && ui.chip(x, y, cost_name(it, i), i == cost_))
                    cost_ = i;
            y += 38;
        }
        if (hidden)
            ui.dashed({body.x, y, body.w, body.bottom() - y}, ui.theme->ink3, 4, 4);
        else
            draw_rows(ui, it, {body.x, y, body.w, body.bottom() - y});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Tradeoff it = tradeoff_of(*session.snapshot());
        if (it.costs.empty()) return std::string(tradeoff_title) + ": no cheaper forms have run yet.\n";
        std::string text = fmt::format("{} (executed): {}\n", tradeoff_title, it.table->title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(tradeoff_hidden) + "\n";
        TradeoffView fresh;
        fresh.look_at(session, it);
        text += "  " + fresh.headline_of(it, fresh.row_told(it)) + ".\n";
        for (size_t row = 1; row < it.rows(); ++row)
            text += fmt::format("  {}: {} {}, {}\n", it.table->rows[row].name,
                                scene::figure_text(it.cost(row, fresh.cost_), unit_of(it, fresh.cost_)),
                                cost_name(it, fresh.cost_), read_text(it, row));
        return text + "  " + fresh.caption_of(it) + "\n";
    }

  private:
    size_t cost_ = 0, against_ = 0;
    int picked_ = -1;  // a row; -1: the lesson's, else the cheapest, of such as cost alike the best
    int asked_ = -1;   // the row that the lesson's scene is about
    std::string scene_;

    // A lesson's scene says what it is about; what is picked by hand goes with the scene.
    void look_at(const Session& session, const Tradeoff& it) {
        const scene::Scene* const scene = drawn_scene(session);
        const std::string now = scene == nullptr ? std::string() : scene->id + scene->train + scene->focus;
        const About about = about_of(session, it);
        asked_ = about.row;
        against_ = static_cast<size_t>(about.against);
        if (now == scene_) return;
        scene_ = now;
        picked_ = -1;
        cost_ = about.cost >= 0 ? static_cast<size_t>(about.cost) : 0;
    }
    static const std::string& unit_of(const Tradeoff& it, size_t cost) { return it.table->columns[it.costs[cost]].unit; }
    static std::string read_text(const Tradeoff& it, size_t row) {
        return it.in_percent ? fmt::format("{:.1f} %", it.read(row)) : fmt::format("{:.3g}", it.read(row));
    }

    int row_told(const Tradeoff& it) const {
        if (picked_ >= 0 && picked_ < static_cast<int>(it.rows())) return picked_;
        if (asked_ >= 0) return asked_;
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
    // Whether the means of two rows lie closer than the seeds of either.
    static bool seeds_overlap(const Tradeoff& it, size_t a, size_t b) {
        if (it.worst == it.best) return false;
        const auto& rows = it.table->rows;
        return std::abs(it.read(a) - it.read(b)) < std::max(rows[a].values[it.best] - rows[a].values[it.worst],
                                                            rows[b].values[it.best] - rows[b].values[it.worst]);
    }
    // "int8 weights: 25 % of the bytes stored; 69.8 % are read, f32 reads 69.8 %"
    std::string headline_of(const Tradeoff& it, int row) const {
        const auto at = static_cast<size_t>(row);
        const std::string& name = it.table->rows[at].name;
        if (at == against_) return fmt::format("{}: what the others are held against", name);
        const size_t cost = std::min(cost_, it.costs.size() - 1);
        const double share = 100 * it.cost(at, cost) / it.cost(against_, cost);
        const std::string how = std::abs(share - 100) < 1 ? "as many " + cost_name(it, cost)
                                                          : fmt::format("{:.2g} % of the {}", share, cost_name(it, cost));
        const std::string& other = it.table->rows[against_].name;
        if (!it.in_percent)
            return fmt::format("{}: {}; {} nats a character, {} {}", name, how, read_text(it, at), other,
                               read_text(it, against_));
        return fmt::format("{}: {}; {} read right, {} {}{}", name, how, read_text(it, at), other, read_text(it, against_),
                           seeds_overlap(it, at, against_) ? ", less apart than seeds" : "");
    }
    std::string caption_of(const Tradeoff& it) const {
        const bool calibrated = std::any_of(it.table->rows.begin(), it.table->rows.end(),
                                            [](const auto& row) { return row.name.find("min-max") != std::string::npos; });
        return fmt::format("Dashed lines: {}. A short bar on the left is cheap, a {} one on the right reads well.{}{}",
                           it.table->rows[against_].name, it.in_percent ? "long" : "short",
                           it.worst != it.best ? " Whiskers go from the worst seed to the best." : "",
                           calibrated ? " Activations' scale is of the largest (min-max) or of what 99.9 % stay below; "
                                        "requantised: they stay int8 between layers."
                                      : "");
    }

    // Few rows leave room for all that is counted, side by side: what gets cheaper, and what does not.
    static void draw_costs(Ui& ui, const Tradeoff& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y - 8}, {r.right(), r.y - 8}, theme.line);
        float names = 40;
        for (size_t row = 0; row < it.rows(); ++row)
            names = std::max(names, ui.text_width(it.table->rows[row].name, {.size = 13}) + 12);
        const float gap = 28, wide = (r.w - names - gap * static_cast<float>(it.costs.size() - 1)) /
                                     static_cast<float>(it.costs.size());
        const float pitch = std::min(44.0f, (r.h - 30) / static_cast<float>(it.rows())), thick = std::min(18.0f, pitch - 8);
        if (wide < 110) return;
        for (size_t row = 0; row < it.rows(); ++row)
            ui.text(r.x, r.y + 30 + pitch * (static_cast<float>(row) + 0.5f) + 4, it.table->rows[row].name,
                    {.size = 13, .color = theme.ink2, .width = names - 8});
        for (size_t c = 0; c < it.costs.size(); ++c) {
            const float x = r.x + names + (wide + gap) * static_cast<float>(c), room = wide - 92;
            ui.text(x, r.y + 16, cost_name(it, c), {.size = 14, .weight = 600, .width = wide});
            double most = 1e-9;
            for (size_t row = 0; row < it.rows(); ++row) most = std::max(most, it.cost(row, c));
            for (size_t row = 0; row < it.rows(); ++row) {
                const float middle = r.y + 30 + pitch * (static_cast<float>(row) + 0.5f);
                const float w = std::max(2.0f, room * static_cast<float>(it.cost(row, c) / most));
                ui.rect({x, middle - thick / 2, w, thick}, row == 0 ? theme.ink2 : data::green);
                ui.text(x + w + 8, middle + 4, scene::figure_text(it.cost(row, c), unit_of(it, c)),
                        {.size = 13, .width = 84});
            }
        }
    }
    // From the seed that reads least to the one that reads most: a bar that others lie within tells little.
    static void draw_spread(Ui& ui, const Tradeoff& it, size_t row, const Rect& right, float middle, double most) {
        if (it.worst == it.best) return;
        const auto at = [&](size_t column) {
            return right.x + right.w * static_cast<float>(it.table->rows[row].values[column] / most);
        };
        const float from = at(it.worst), to = at(it.best);
        if (!std::isfinite(from) || !std::isfinite(to)) return;
        ui.line({from, middle}, {to, middle}, ui.theme->panel, 5);
        ui.line({from, middle}, {to, middle}, ui.theme->ink, 2);
        for (const float end : {from, to}) ui.rect({end - 1.5f, middle - 8, 3, 16}, ui.theme->ink);
    }
    void draw_rows(Ui& ui, const Tradeoff& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        float names = 60;
        double most_cost = 1e-9, most_read = it.in_percent ? 100 : 1e-9;
        for (size_t row = 0; row < it.rows(); ++row) {
            names = std::max(names, ui.text_width(it.table->rows[row].name, {.size = 14, .weight = 700}) + 16);
            most_cost = std::max(most_cost, it.cost(row, cost_));
            if (std::isfinite(it.read(row))) most_read = std::max(most_read, it.read(row));
        }
        names = std::min(names, r.w * 0.32f);
        const bool wide = r.w > 700;  // room to say what a number is of the row that it is held against
        const float numbers = wide ? 150 : 86, gap = 24, half = (r.w - names - gap) / 2 - numbers, head = 24;
        if (half < 40) return;
        const Rect left{r.x + names, r.y + head, half, r.h - head},
            right{left.right() + numbers + gap, r.y + head, half, r.h - head};
        ui.text(left.x, r.y + 14, cost_name(it, cost_), {.size = 13, .color = theme.ink2, .width = half + numbers});
        ui.text(right.x, r.y + 14, it.in_percent ? "% read right, of 100" : it.table->columns[it.quality].title,
                {.size = 13, .color = theme.ink2, .width = half + numbers});
        const float pitch = std::clamp(left.h / static_cast<float>(it.rows()), 17.0f, 140.0f),
                    thick = std::clamp(pitch * 0.5f, 11.0f, 52.0f);
        const auto cost_at = [&](size_t row) { return half * static_cast<float>(it.cost(row, cost_) / most_cost); };
        const auto read_at = [&](size_t row) { return half * static_cast<float>(std::max(0.0, it.read(row)) / most_read); };
        for (size_t row = 0; row < it.rows(); ++row) {
            const float y = left.y + pitch * static_cast<float>(row), middle = y + pitch / 2;
            if (y + pitch > r.bottom() + 2) break;
            const bool told = static_cast<int>(row) == row_told(it), base = row == against_;
            const Rect line{r.x, y, r.w, pitch};
            if (told) ui.rect({line.x - 4, line.y, line.w + 8, line.h}, theme.panel2);
            const Color fill = base ? theme.ink : told ? data::orange : data::green;
            ui.text(r.x, middle + 5, it.table->rows[row].name,
                    {.size = 14, .weight = told || base ? 700 : 400, .width = names - 8});
            ui.rect({left.x, middle - thick / 2, std::max(2.0f, cost_at(row)), thick}, fill);
            const std::string cost = scene::figure_text(it.cost(row, cost_), unit_of(it, cost_));
            ui.text(left.right() + 8, middle + 5,
                    wide && !base ? fmt::format("{}, {:.0f} %", cost, 100 * it.cost(row, cost_) / it.cost(against_, cost_))
                                  : cost,
                    {.size = 13, .weight = told ? 700 : 400, .width = numbers - 8});
            if (std::isfinite(it.read(row))) {
                if (it.in_percent) ui.rect({right.x, middle - thick / 2, half, thick}, theme.grid);
                ui.rect({right.x, middle - thick / 2, std::max(2.0f, read_at(row)), thick}, fill);
                draw_spread(ui, it, row, right, middle, most_read);
                const double apart = it.read(row) - it.read(against_);
                ui.text(right.right() + 8, middle + 5,
                        wide && !base && it.in_percent ? fmt::format("{}, {:+.1f}", read_text(it, row), apart)
                                                       : read_text(it, row),
                        {.size = 13, .weight = told ? 700 : 400, .width = numbers - 8});
            }
            if (ui.hovered(line)) ui.tooltip(headline_of(it, static_cast<int>(row)));
            if (ui.clicked(line)) picked_ = static_cast<int>(row);
        }
        const float end = std::min(r.bottom(), left.y + pitch * static_cast<float>(it.rows()));
        if (it.costs.size() > 1 && r.bottom() - end > 60 + 26 * static_cast<float>(it.rows()))
            draw_costs(ui, it, {r.x, end + 24, r.w, std::min(r.bottom() - end - 24, 240.0f)});
        const Point cost_line[] = {{left.x + cost_at(against_), left.y}, {left.x + cost_at(against_), end}},
                    read_line[] = {{right.x + read_at(against_), left.y}, {right.x + read_at(against_), end}};
        ui.polyline(cost_line, theme.ink3, 1.5f, 6, 5);
        if (std::isfinite(it.read(against_))) ui.polyline(read_line, theme.ink3, 1.5f, 6, 5);
    }
};

}  // namespace

std::unique_ptr<View> make_tradeoff_view() {
    return std::make_unique<TradeoffView>();
}

}  // namespace lockstep::gui
