// Attention as a grid: queries down, keys across, a score or a share a cell, what the mask takes; beside it how one row's
// shares come about, and what they mix. Once somebody picks a size of tiles the row is run as tiled attention runs it, tile
// by tile. A click picks the row. What has not run yet at the moment
// of the tape, or waits for an answer, is not told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "app/gui/view.h"
#include "app/gui/views/tensor/attention/attention_grid.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "app/gui/views/training/tape_data.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view scores_title = "Attention: who looks at whom";
constexpr std::string_view shares_hidden = "The shares are hidden until you lock an answer.";

std::string score_text(double value, int digits = 3) {  // "2", "0.25", "-1.3"
    return readable_number(digits < 3 ? fmt::format("{:.{}f}", value, digits) : element_number(value));
}
std::string share_text(double share) {
    const double percent = 100 * share;
    return fmt::format("{:.{}f}", percent, percent < 9.95 && percent > 0 ? 1 : 0);
}

std::string e_text(double value) {  // "2.718", "20.1", "1.2e+05"
    return value < 1000 ? fmt::format("{:.{}f}", value, value < 10 ? 3 : 1) : fmt::format("{:.2g}", value);
}

struct ScoresKnown {
    bool scores = false, shares = false, mixed = false;
};

// The sizes of tiles that cut `keys` evenly into at most eight, smallest first; one of a key each for few of them.
std::vector<int64_t> tile_sizes(int64_t keys) {
    std::vector<int64_t> sizes;
    for (int64_t tile = 1; tile <= keys; ++tile)
        if (keys % tile == 0 && keys / tile <= 8) sizes.push_back(tile);
    return sizes;
}

class ScoresView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        refresh(*session.snapshot());
        asked_ = asked_row(session);
        if (grids_.empty()) {
            const Rect body = ui.panel(area, {.title = scores_title});
            return ui.say_nothing_yet(body, "No attention is on show.",
                                      "The grid appears where a tensor program makes a softmax of scores.");
        }
        const AttentionGrid& grid = grids_.front();
        const bool hidden = session.learn.reveal_steps >= 0;
        const ScoresKnown known = known_now(session, focus);
        const int64_t row = row_of(grid);
        const std::string caption = caption_of(grid, known, hidden);
        const Rect body = ui.panel(area, {.title = scores_title,
                                          .right = fmt::format("{} queries, {} keys", grid.queries, grid.keys),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        ui.push_scope("scores");
        float y = body.y;
        if (body.h > 260) {
            ui.text(body.x, y + 20, headline_of(grid, known, hidden, row, tile_),
                    {.size = 20, .weight = 700, .width = body.w});
            y += 36;
        }
        const float legend = 26, gap = 32;
        const Rect room{body.x, y, body.w, body.bottom() - legend - y};
        const bool beside = room.w > 700 && room.h > 190;
        const float left = beside ? std::min(room.w * 0.45f, room.h + 30) : room.w;
        draw_grid(ui, grid, known, hidden, {room.x, room.y, left, room.h});
        if (beside) draw_row(ui, grid, known, hidden, {room.x + left + gap, room.y, room.w - left - gap, room.h});
        draw_legend(ui, grid, known, body);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        ScoresView fresh;
        fresh.refresh(*session.snapshot());
        fresh.asked_ = asked_row(session);
        if (fresh.seen_ == seen_) fresh.row_ = row_, fresh.tile_ = tile_;
        if (fresh.grids_.empty()) return "Attention: no softmax of scores is on show.\n";
        const AttentionGrid& grid = fresh.grids_.front();
        const bool hidden = session.learn.reveal_steps >= 0;
        const ScoresKnown known = fresh.known_now(session, focus);
        const int64_t row = fresh.row_of(grid);
        std::string text = fmt::format("{} (executed), {} queries, {} keys\n  {}\n", scores_title, grid.queries, grid.keys,
                                       headline_of(grid, known, hidden, row, fresh.tile_));
        for (int64_t q = 0; known.scores && q < std::min<int64_t>(grid.queries, 16); ++q) {
            text += fmt::format("  query {}:", q + 1);
            for (int64_t k = 0; k < std::min<int64_t>(grid.keys, 16); ++k) {
                text += !grid.sees(q, k) ? " masked" : " " + score_text(grid.score(q, k));
                if (known.shares && grid.sees(q, k)) text += fmt::format(" ({} %)", share_text(grid.share(q, k)));
            }
            text += "\n";
        }
        if (known.shares && !fresh.tiled())
            text +=
                fmt::format("  row of query {}: e to each score sums to {}\n", row + 1, e_text(fresh.plain_sum(grid, row)));
        if (known.shares && fresh.tiled())
            for (const RunningTile& tile : fresh.tiles_of_row(grid, row))
                text += fmt::format("  a tile of query {}: largest {}, sum {:.3f}\n", row + 1, score_text(tile.largest),
                                    tile.sum);
        return text + "  " + caption_of(grid, known, hidden) + "\n";
    }

  private:
    void refresh(const Snapshot& snapshot) {
        const auto& step = snapshot.training.step;
        if (step == seen_) return;
        seen_ = step;
        grids_ = step ? attention_grids(*step) : std::vector<AttentionGrid>();
        if (step) plan_ = plan_tape(*step);
        row_ = -1;
        tile_ = grids_.empty() ? 0 : grids_.front().part;  // keys that lie in parts begin as they lie
    }
    ScoresKnown known_now(const Session& session, const Focus& focus) const {
        const AttentionGrid& grid = grids_.front();
        const int moment = tape_position(session, focus, plan_);
        const bool hidden = session.learn.reveal_steps >= 0;
        const auto known = [&](int node) { return node >= 0 && plan_.value_known(node, moment); };
        return {known(grid.scores_node), known(grid.shares_node) && !hidden, known(grid.mixed_node) && !hidden};
    }
    int64_t row_of(const AttentionGrid& grid) const {
        if (row_ >= 0 && row_ < grid.queries) return row_;
        return asked_ >= 0 && asked_ < grid.queries ? asked_ : grid.queries - 1;
    }
    // The row of the value that the lesson's step asks for: "O[4]" of two columns is of the third.
    static int64_t asked_row(const Session& session) {
        const LessonState& state = session.lesson;
        const auto& step = session.snapshot()->training.step;
        if (session.workspace != Workspace::learn || !state.lesson || !step || state.step < 0 ||
            static_cast<size_t>(state.step) >= state.lesson->steps.size())
            return -1;
        for (const lessons::Predict& predict : state.lesson->steps[static_cast<size_t>(state.step)].predicts) {
            const std::string& of = predict.of.text();
            const size_t at = of.find('[');
            if (at == std::string::npos || at + 1 >= of.size() || of[at + 1] < '0' || of[at + 1] > '9') continue;
            for (const nn::GraphNode& node : step->nodes)
                if (node.name == of.substr(0, at) && node.shape.size() >= 2 && node.shape.back() > 0)
                    return std::stoll(of.substr(at + 1)) / node.shape.back();
        }
        return -1;
    }
    int64_t tile_of(const AttentionGrid& grid) const {
        if (tile_ > 0) return tile_;
        return grid.causal && grid.keys >= 8 ? (grid.keys + 3) / 4 : grid.keys;
    }
    bool tiled() const { return tile_ > 0; }
    std::vector<RunningTile> tiles_of_row(const AttentionGrid& grid, int64_t row) const {
        return running_softmax(row_scores(grid, row), seen_of(grid, row), tile_of(grid));
    }
    static double plain_sum(const AttentionGrid& grid, int64_t row) {  // of e to each score that is seen
        double sum = 0;
        for (int64_t k = 0; k < seen_of(grid, row); ++k) sum += std::exp(static_cast<double>(grid.score(row, k)));
        return sum;
    }
    static std::span<const float> row_scores(const AttentionGrid& grid, int64_t row) {
        return std::span<const float>(grid.scores)
            .subspan(static_cast<size_t>(row * grid.keys), static_cast<size_t>(grid.keys));
    }
    static int64_t seen_of(const AttentionGrid& grid, int64_t row) {
        int64_t seen = 0;
        while (seen < grid.keys && grid.sees(row, seen)) ++seen;
        return seen;
    }

    static std::string headline_of(const AttentionGrid& grid, const ScoresKnown& known, bool hidden, int64_t row,
                                   int64_t tile) {
        if (hidden && known.scores) return fmt::format("What does place {} give to whom?", row + 1);
        if (!known.scores) return "Every query meets every key";
        if (!known.shares) return fmt::format("{} scores: each query times each key", grid.queries * grid.keys);
        if (tile > 0 && tile == grid.part)
            return fmt::format("{} sums of {} keys, rescaled to one largest score, add up to that of all {}",
                               grid.keys / tile, tile, grid.keys);
        const int64_t most = grid.most_seen(row);
        if (grid.causal && row == grid.queries - 1)
            return fmt::format("{} of {} scores are masked: nobody looks ahead", grid.masked(), grid.queries * grid.keys);
        return most == row ? fmt::format("Place {} looks most at itself: {} %", row + 1, share_text(grid.share(row, most)))
                           : fmt::format("Place {} looks most at place {}: {} %", row + 1, most + 1,
                                         share_text(grid.share(row, most)));
    }
    std::string caption_of(const AttentionGrid& grid, const ScoresKnown& known, bool hidden) const {
        if (hidden) return std::string(shares_hidden);
        if (!known.shares)
            return fmt::format("{} has run; softmax makes shares of each of its rows next.", grid.scores_name);
        if (grid.causal)
            return fmt::format(
                "A query has no share for a later key; the {} shares of a row still sum to 1. Tiles that are "
                "masked whole need not be computed.",
                grid.keys);
        if (!tiled())
            return fmt::format(
                "Each share is e to its score, divided by the sum of those of its row: {} shares that sum to 1.", grid.keys);
        return "A running largest and sum give, tile by tile, the same shares as the whole row at once: no tile waits for a "
               "later one.";
    }

    void draw_legend(Ui& ui, const AttentionGrid& grid, const ScoresKnown& known, const Rect& body) const {
        const Theme& theme = *ui.theme;
        const float at = body.bottom() - 6;
        float x = body.x;
        if (known.shares) {
            const TextStyle words{.size = 13, .color = theme.ink2};
            x = ui.text(x, at, "0", words) + 6;
            for (int i = 0; i < 24; ++i, x += 4)
                ui.rect({x, at - 10, 4, 12}, share_color(static_cast<float>(i) / 23, theme));
            x = ui.text(x + 6, at, "100 % of a row", words) + 24;
        } else {
            x = ui.legend(x, at, diverging(1, theme), Hatch::solid, "score above zero");
            x = ui.legend(x, at, diverging(0, theme), Hatch::solid, "below zero");
        }
        if (grid.causal && x + 170 < body.right()) x = ui.legend(x, at, theme.ink3, Hatch::diagonal, "masked: a later key");
        if (tiled() && x + 140 < body.right()) ui.legend_line(x, at, data::orange, false, "largest so far");
    }
    static Color share_color(float share, const Theme& theme) {  // by its root: small shares can be told apart
        return share > 0 ? sequential(std::sqrt(share), theme) : theme.panel2;
    }

    void draw_grid(Ui& ui, const AttentionGrid& grid, const ScoresKnown& known, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head = ui.text(r.x, r.y + 18, "Who looks at whom", {.size = 14, .weight = 600});
        const bool shares = known.shares && !shows_scores_;
        if (known.shares) {
            const std::string_view names[] = {"shares", "scores"};
            float x = std::max(head + 14, r.right() - ui.segmented_width(names));
            if (x + ui.segmented_width(names) <= r.right() + 1)
                shows_scores_ = ui.segmented(x, r.y, names, shows_scores_ ? 1 : 0) == 1;
        } else if (r.right() - head > 190) {
            ui.text(head + 8, r.y + 18, known.scores ? "a score a cell" : "nothing has run yet",
                    {.size = 13, .color = theme.quiet});
        }
        const float labels = 44, top = r.y + (grid.part_names.empty() ? 54.0f : 62.0f);
        const int64_t tile = tile_of(grid);
        const auto gaps = [&](int64_t n) {
            return tile > 1 && tile < grid.keys ? 4.0f * static_cast<float>((n - 1) / tile) : 0.0f;
        };
        const float cell =
            std::floor(std::min({64.0f, (r.w - labels - gaps(grid.keys)) / static_cast<float>(grid.keys),
                                 (r.bottom() - top - 4 - gaps(grid.queries)) / static_cast<float>(grid.queries)}));
        if (cell < 4) return;
        // Fewer queries than keys: a row takes the height that there is.
        const float tall = std::clamp(
            std::floor((r.bottom() - top - 4 - gaps(grid.queries)) / static_cast<float>(grid.queries)), cell, 1.8f * cell);
        const auto along = [&](int64_t i, float side) {
            return side * static_cast<float>(i) +
                   (tile > 1 && tile < grid.keys ? 4.0f * static_cast<float>(i / tile) : 0.0f);
        };
        const auto place = [&](int64_t q, int64_t k) {
            return Rect{r.x + labels + along(k, cell), top + along(q, tall), cell - 1, tall - 1};
        };
        const int64_t row = row_of(grid), every = cell >= 18 ? 1 : cell >= 9 ? 4 : 8;
        const TextStyle small{.size = 12, .color = theme.quiet, .align = Align::center, .mono = true};
        for (int64_t k = every > 1 ? every - 1 : 0; k < grid.keys; k += every)
            ui.text(place(0, k).x + cell / 2, top - 5, std::to_string(k + 1), small);
        for (int64_t q = every > 1 ? every - 1 : 0; q < grid.queries; q += every) {
            TextStyle style = small;
            style.align = Align::right;
            if (q == row) style.color = theme.ink, style.weight = 700;
            ui.text(r.x + labels - 8, place(q, 0).y + tall / 2 + 4, std::to_string(q + 1), style);
        }
        ui.text(r.x, top - 5, "query", {.size = 12, .color = theme.quiet});
        // Keys that lie in parts: whose they are, above the numbers.
        for (size_t part = 0; tile == grid.part && cell >= 18 && part < grid.part_names.size(); ++part) {
            const Rect first = place(0, static_cast<int64_t>(part) * grid.part),
                       last = place(0, static_cast<int64_t>(part + 1) * grid.part - 1);
            ui.text(
                (first.x + last.right()) / 2, top - 20, "keys of " + grid.part_names[part],
                {.size = 12, .color = theme.ink2, .align = Align::center, .weight = 600, .width = last.right() - first.x});
        }
        double most = 1e-9;
        for (const float score : grid.scores) most = std::max(most, std::abs(static_cast<double>(score)));
        for (int64_t q = 0; q < grid.queries; ++q)
            for (int64_t k = 0; k < grid.keys; ++k) {
                const Rect at = place(q, k);
                if (!known.scores) {
                    ui.rect(at, theme.panel2);
                    continue;
                }
                if (!grid.sees(q, k) && (shares || known.shares)) {
                    ui.rect(at, theme.panel2);
                    ui.hatch(at, theme.ink3, Hatch::diagonal);
                    continue;
                }
                const float share = grid.share(q, k);
                const Color fill = shares ? share_color(share, theme)
                                          : diverging(0.5f + 0.5f * static_cast<float>(grid.score(q, k) / most), theme);
                ui.rect(at, fill);
                const std::string text = !shares     ? score_text(grid.score(q, k))
                                         : cell < 34 ? fmt::format("{:.0f}", 100 * share)
                                                     : share_text(share);
                if ((!shares || share >= 0.045f || (cell >= 34 && share >= 5e-4f)) &&
                    ui.text_width(text, {.size = 12, .mono = true}) < cell - 3)
                    ui.text(at.x + (cell - 1) / 2, at.y + tall / 2 + 4, text,
                            {.size = 12, .color = text_on(fill), .align = Align::center, .mono = true});
                if (!ui.hovered(at)) continue;
                ui.tooltip(known.shares ? fmt::format("query {} and key {}: score {:.4g}, share {:.3g} %", q + 1, k + 1,
                                                      grid.score(q, k), 100 * share)
                                        : fmt::format("query {} and key {}: score {:.4g}{}", q + 1, k + 1, grid.score(q, k),
                                                      hidden ? "" : "; its share has not run yet"));
            }
        for (int64_t q = 0; q < grid.queries; ++q) {
            const Rect first = place(q, 0), last = place(q, grid.keys - 1);
            const Rect line{r.x, first.y, last.right() - r.x, first.h};
            if (ui.clicked(line)) row_ = q;
        }
        const Rect whole{r.x, top, r.w, r.bottom() - top};
        if (ui.pressed(Key::down, whole)) row_ = std::min(row + 1, grid.queries - 1);
        if (ui.pressed(Key::up, whole)) row_ = std::max<int64_t>(row - 1, 0);
        const Rect first = place(row, 0), last = place(row, grid.keys - 1);
        if (known.scores) ui.outline({first.x - 2, first.y - 2, last.right() - first.x + 4, first.h + 4});
    }

    void draw_row(Ui& ui, const AttentionGrid& grid, const ScoresKnown& known, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int64_t row = row_of(grid), tile = tile_of(grid), seen = seen_of(grid, row);
        float x = ui.text(r.x, r.y + 18, fmt::format("The row of place {}", row + 1), {.size = 14, .weight = 600}) + 14;
        const std::vector<int64_t> sizes = tile_sizes(grid.keys);
        if (known.shares && sizes.size() > 1 && x + 300 < r.right()) {
            x = ui.text(x, r.y + 18, "keys a tile", {.size = 13, .color = theme.ink2}) + 8;
            if (ui.chip(x, r.y, "whole row", !tiled())) tile_ = 0;
            for (const int64_t size : sizes) {
                const std::string label = std::to_string(size);
                if (size == grid.keys || x + ui.chip_width(label) > r.right()) break;
                if (ui.chip(x, r.y, label, size == tile_)) tile_ = size;
            }
        }
        if (!known.scores) return;
        const std::vector<RunningTile> tiles = tiles_of_row(grid, row);
        const float label = 112, lines = r.h < 300 ? 20.0f : 22.0f;
        const std::vector<KeyLine> plain =
            tiled() || !known.shares ? std::vector<KeyLine>()
                                     : key_lines(ui, grid, row, seen, (r.w - label) / static_cast<float>(grid.keys));
        const float rows = tiled()        ? 4.0f
                           : known.shares ? static_cast<float>(plain.size())
                                          : 2.0f,
                    table = rows * lines + 4 + 34;
        const bool mixture = r.h > 340;
        const float chart = std::clamp(r.h - 40 - table - (mixture ? 176.0f : 0.0f), 60.0f, 170.0f);
        const Rect plot{r.x + label, r.y + 40, r.w - label, chart};
        draw_bars(ui, grid, tiles, row, seen, tile, tiled(), plot);
        float y = plot.bottom() + 8;
        const Rect figures{r.x, y, r.w, table};
        if (!known.shares) {
            ui.dashed({r.x, y + 8, r.w, 42}, theme.ink3, 3, 3);
            ui.text(r.x + r.w / 2, y + 34,
                    hidden ? std::string("Hidden until you lock an answer.")
                           : fmt::format("{} has not run yet: step on along the tape.", grid.shares_name),
                    {.size = 13, .color = theme.ink2, .align = Align::center, .width = r.w - 20});
            return;
        }
        if (tiled())
            draw_sums(ui, grid, tiles, row, seen, figures, label, lines);
        else
            draw_shares(ui, grid, row, plain, figures, label, lines);
        y = figures.bottom() + 18;
        const Rect rest{r.x, y, r.w, r.bottom() - y};
        if (rest.h < 70) return;
        if (grid.causal && grid.keys >= 8)
            draw_skipped(ui, grid, tile, rest, label);
        else
            draw_mixture(ui, grid, known, row, rest, label);
    }

    static void draw_bars(Ui& ui, const AttentionGrid& grid, const std::vector<RunningTile>& tiles, int64_t row,
                          int64_t seen, int64_t tile, bool running, const Rect& r) {
        const Theme& theme = *ui.theme;
        double low = 0, high = 1e-9;
        for (int64_t k = 0; k < seen; ++k) {
            low = std::min(low, static_cast<double>(grid.score(row, k)));
            high = std::max(high, static_cast<double>(grid.score(row, k)));
        }
        high = std::max(high, -low * 0.12);
        const double span = high - low;
        const auto y_of = [&](double score) {
            return r.bottom() - 16 - static_cast<float>((score - low) / span) * (r.h - 24);
        };
        const float zero = y_of(0), w = r.w / static_cast<float>(grid.keys);
        for (size_t t = 0; t < tiles.size(); ++t) {
            const float from = r.x + w * static_cast<float>(static_cast<int64_t>(t) * tile),
                        wide = w * static_cast<float>(std::min(tile, grid.keys - static_cast<int64_t>(t) * tile));
            const Rect ground{from + 1, r.y, wide - 3, r.h};
            ui.rect(ground, theme.panel2);
            if (tiles[t].seen == 0) ui.hatch(ground, theme.ink3, Hatch::diagonal);
        }
        ui.line({r.x, zero}, {r.right(), zero}, theme.ink3);
        ui.text(r.x - 10, zero + 4, "score 0", {.size = 12, .color = theme.quiet, .align = Align::right});
        for (int64_t k = 0; k < grid.keys; ++k) {
            const float from = r.x + w * static_cast<float>(k);
            const float bar = std::min(w - 6, 46.0f);
            if (k < seen && bar > 1) {
                const float y = y_of(grid.score(row, k));
                ui.rect({from + (w - bar) / 2, std::min(y, zero), bar, std::max(1.5f, std::abs(zero - y))},
                        diverging(grid.score(row, k) < 0 ? 0.0f : 1.0f, theme));
                if (ui.hovered({from, r.y, w, r.h}))
                    ui.tooltip(fmt::format("key {}: score {:.4g}", k + 1, grid.score(row, k)));
            }
            if (w > 16) {
                ui.text(from + w / 2, r.bottom() - 3, std::to_string(k + 1),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            }
        }
        if (!running) return;
        // The largest so far, as it stands after each tile.
        std::vector<Point> steps;
        for (size_t t = 0; t < tiles.size() && tiles[t].seen > 0; ++t) {
            const float y = y_of(tiles[t].largest), from = r.x + w * static_cast<float>(static_cast<int64_t>(t) * tile);
            if (t == 0 || steps.back().y != y) steps.push_back({from, y});  // no point twice: the line would swell there
            steps.push_back({from + w * static_cast<float>(tile), y});
        }
        if (steps.size() > 1) ui.polyline(steps, data::orange, 2.5f);
    }

    // Key by key: e to the score, and its share of their sum; a line whose numbers do not all fit is left out.
    struct KeyLine {
        std::string_view name;
        std::vector<std::string> texts;
        TextStyle style;
    };
    static std::vector<KeyLine> key_lines(Ui& ui, const AttentionGrid& grid, int64_t row, int64_t seen, float wide) {
        const Theme& theme = *ui.theme;
        const bool digits = wide > 42;
        TextStyle style{.size = digits ? 13.0f : 12.0f, .color = theme.ink2, .align = Align::center, .mono = true};
        KeyLine powers{"e to the score", {}, style};
        style.color = theme.ink, style.weight = 700;
        KeyLine shares{digits ? "share of the sum" : "share, %", {}, style};
        for (int64_t k = 0; k < grid.keys; ++k) {
            powers.texts.push_back(k < seen ? e_text(std::exp(static_cast<double>(grid.score(row, k)))) : "0");
            shares.texts.push_back(k >= seen ? std::string("0")
                                   : digits  ? fmt::format("{:.3f}", grid.share(row, k))
                                             : fmt::format("{:.0f}", 100 * grid.share(row, k)));
        }
        std::vector<KeyLine> lines;
        for (KeyLine& line : {std::ref(powers), std::ref(shares)})
            if (std::all_of(line.texts.begin(), line.texts.end(),
                            [&](const std::string& text) { return ui.text_width(text, line.style) < wide - 2; }))
                lines.push_back(std::move(line));
        return lines;
    }
    static void draw_shares(Ui& ui, const AttentionGrid& grid, int64_t row, const std::vector<KeyLine>& all, const Rect& r,
                            float label, float lines) {
        const Theme& theme = *ui.theme;
        const double sum = plain_sum(grid, row);
        const float w = (r.w - label) / static_cast<float>(grid.keys);
        float y = r.y + 15;
        for (const KeyLine& line : all) {
            if (&line != &all.front()) ui.line({r.x, y - 15}, {r.right(), y - 15}, theme.grid);
            ui.text(r.x, y, line.name,
                    {.size = 13, .color = line.style.color, .weight = line.style.weight, .width = label - 6});
            for (size_t k = 0; k < line.texts.size(); ++k)
                ui.text(r.x + label + w * (static_cast<float>(k) + 0.5f), y, line.texts[k], line.style);
            y += lines;
        }
        const Rect band{r.x, y - 9, r.w, 28};
        ui.rect(band, theme.selected, 3);
        const float left = ui.text(band.x + 8, band.y + 19, fmt::format("the row's sum: {}", e_text(sum)),
                                   {.size = 14, .weight = 600, .width = band.w - 16});
        const int64_t most = grid.most_seen(row);
        const std::string right =
            fmt::format("largest share {} / {} = {} %", e_text(std::exp(static_cast<double>(grid.score(row, most)))),
                        e_text(sum), share_text(grid.share(row, most)));
        if (left + 24 + ui.text_width(right, {.size = 13}) < band.right() - 8)
            ui.text(band.right() - 8, band.y + 19, right, {.size = 13, .color = theme.ink2, .align = Align::right});
    }

    static void draw_sums(Ui& ui, const AttentionGrid& grid, const std::vector<RunningTile>& tiles, int64_t row,
                          int64_t seen, const Rect& r, float label, float lines) {
        const Theme& theme = *ui.theme;
        const std::string_view names[] = {"largest so far", "old sum times", "this tile adds", "sum so far"};
        const float w = (r.w - label) / static_cast<float>(tiles.size());
        for (int line = 0; line < 4; ++line) {
            const float y = r.y + lines * static_cast<float>(line) + 15;
            const bool strong = line == 0 || line == 3;
            ui.text(
                r.x, y, names[line],
                {.size = 13, .color = strong ? theme.ink : theme.ink2, .weight = strong ? 600 : 400, .width = label - 6});
            if (line > 0) ui.line({r.x, y - 15}, {r.right(), y - 15}, theme.grid);
            for (size_t t = 0; t < tiles.size(); ++t) {
                const RunningTile& tile = tiles[t];
                const std::string text = line == 1 && t == 0 ? std::string("-")
                                         : tile.seen == 0    ? std::string(line == 3 ? "same" : "-")
                                         : line == 0         ? score_text(tile.largest)
                                         : line == 1         ? fmt::format("{:.3f}", tile.factor)
                                         : line == 2         ? fmt::format("{:.3f}", tile.adds)
                                                             : fmt::format("{:.3f}", tile.sum);
                const TextStyle style{.size = 13,
                                      .color = strong ? theme.ink : theme.ink2,
                                      .align = Align::center,
                                      .weight = strong ? 700 : 400,
                                      .mono = true};
                if (ui.text_width(text, style) < w - 4)
                    ui.text(r.x + label + w * (static_cast<float>(t) + 0.5f), y, text, style);
            }
        }
        const double whole = whole_sum(row_scores(grid, row), seen);
        const Rect band{r.x, r.y + 4 * lines + 6, r.w, 28};
        ui.rect(band, theme.selected, 3);
        const float left = ui.text(band.x + 8, band.y + 19, fmt::format("the whole row at once: sum {:.3f}", whole),
                                   {.size = 14, .weight = 600, .width = band.w - 16});
        const int64_t most = grid.most_seen(row);
        const std::string right = fmt::format("largest share 1 / {:.3f} = {} %", whole, share_text(grid.share(row, most)));
        if (left + 24 + ui.text_width(right, {.size = 13}) < band.right() - 8)
            ui.text(band.right() - 8, band.y + 19, right, {.size = 13, .color = theme.ink2, .align = Align::right});
    }

    static void draw_skipped(Ui& ui, const AttentionGrid& grid, int64_t tile, const Rect& r, float label) {
        const Theme& theme = *ui.theme;
        const float head = ui.text(r.x, r.y + 10, "Tiles that are never computed", {.size = 14, .weight = 600});
        if (head + 190 < r.right())
            ui.text(head + 8, r.y + 10, "never half: the diagonal stays", {.size = 13, .color = theme.quiet});
        std::vector<int64_t> across = {(grid.queries + tile - 1) / tile};
        for (const int64_t more : {8, 32, 128})
            if (more > across.back()) across.push_back(more);
        const float pitch = 28, wide = (r.w - label - 150) * 2;  // half of the tiles in the room
        const float half = r.x + label + wide / 2;
        float y = r.y + 24;
        const float top = y;
        for (const int64_t n : across) {
            if (y + pitch > r.bottom()) break;
            const SkippedTiles tiles = skipped_tiles(n, 1);
            ui.text(r.x + label - 10, y + 15, fmt::format("{} × {} tiles", n, n),
                    {.size = 13, .color = n == across.front() ? theme.ink : theme.ink2, .align = Align::right});
            const float w = wide * static_cast<float>(tiles.share());
            ui.rect({r.x + label, y + 2, w, 18}, n == across.front() ? data::sky : mix(theme.panel, data::sky, 0.5f));
            ui.text(
                half + 10, y + 15,
                fmt::format("{} of {}, {:.1f} %", whole_number(tiles.skipped), whole_number(tiles.all), 100 * tiles.share()),
                {.size = 13, .color = theme.ink2, .width = r.right() - half - 10});
            y += pitch;
        }
        const Point mark[] = {{half, top - 2}, {half, y}};
        ui.polyline(mark, theme.ink3, 1, 4, 3);
    }

    static void draw_mixture(Ui& ui, const AttentionGrid& grid, const ScoresKnown& known, int64_t row, const Rect& r,
                             float label) {
        const Theme& theme = *ui.theme;
        const bool told = known.mixed;
        const float head = ui.text(r.x, r.y + 10, "What the row mixes", {.size = 14, .weight = 600});
        if (head + 200 < r.right())
            ui.text(head + 8, r.y + 10,
                    grid.mixed_node < 0 ? std::string("its shares; no values are mixed here")
                    : told              ? fmt::format("shares of {} times {}", grid.shares_name, grid.values_name)
                                        : fmt::format("{} has not run yet", grid.mixed_name),
                    {.size = 13, .color = theme.quiet});
        bool values = told && grid.width <= 4;
        const float pitch = 24, last = values ? pitch + 4 : 0;
        const auto fits = static_cast<size_t>(std::max(0.0f, (r.bottom() - r.y - 22 - last) / pitch));
        std::vector<int64_t> keys(static_cast<size_t>(grid.keys));
        for (size_t k = 0; k < keys.size(); ++k) keys[k] = static_cast<int64_t>(k);
        if (keys.size() > fits) {  // the largest shares
            std::stable_sort(keys.begin(), keys.end(),
                             [&](int64_t a, int64_t b) { return grid.share(row, a) > grid.share(row, b); });
            keys.resize(fits);
        }
        // The bars give way to the vectors, these to fewer digits; where that is not enough, the shares stand alone.
        constexpr float least_bar = 32;
        const float share_width = ui.text_width("0.000", {.size = 13, .mono = true}) + 20;
        float bar = (r.w - label) * 0.42f;
        int digits = 3;
        for (const int fewer : {3, 2}) {
            if (!values) break;
            digits = fewer;
            float widest = ui.text_width(vector_text(grid, grid.mixed, row, digits), bold_vector) - share_width;
            for (const int64_t k : keys)
                widest = std::max(
                    widest, ui.text_width("× " + vector_text(grid, grid.values, k, digits), {.size = 13, .mono = true}));
            bar = std::min((r.w - label) * 0.42f, r.w - label - share_width - widest);
            if (bar >= least_bar) break;
        }
        if (values && bar < least_bar) values = false;
        if (!values) bar = (r.w - label) * 0.42f;
        float y = r.y + 20;
        for (const int64_t k : keys) {
            const float share = grid.share(row, k);
            ui.text(r.x + label - 10, y + 16, fmt::format("place {}", k + 1),
                    {.size = 13, .color = theme.ink2, .align = Align::right});
            ui.rect({r.x + label, y + 4, bar, 14}, theme.panel2);
            ui.rect({r.x + label, y + 4, bar * share, 14}, data::sky);
            float x = ui.text(r.x + label + bar + 12, y + 16, fmt::format("{:.3f}", share), {.size = 13, .mono = true});
            if (values)
                ui.text(x + 8, y + 16, "× " + vector_text(grid, grid.values, k, digits),
                        {.size = 13, .color = theme.ink2, .mono = true});
            y += pitch;
        }
        if (!values) return;
        ui.line({r.x, y + 2}, {r.right(), y + 2}, theme.grid);
        ui.text(r.x + label - 10, y + 20, "the sum", {.size = 13, .align = Align::right, .weight = 600});
        ui.text(r.x + label + bar + 12, y + 20, vector_text(grid, grid.mixed, row, digits), bold_vector);
    }

    static constexpr TextStyle bold_vector{.size = 14, .weight = 700, .mono = true};
    static std::string vector_text(const AttentionGrid& grid, const std::vector<float>& from, int64_t at, int digits) {
        std::string text;
        for (int64_t i = 0; i < grid.width; ++i)
            text += (i > 0 ? ", " : "(") +
                    score_text(static_cast<double>(from[static_cast<size_t>(at * grid.width + i)]), digits);
        return text + ")";
    }

    std::shared_ptr<const nn::StepRecord> seen_;  // kept: no other one gets its address
    std::vector<AttentionGrid> grids_;
    TapePlan plan_;
    int64_t asked_ = -1;  // the row that a question is about; -1: none
    int64_t row_ = -1;    // picked; -1: the asked one, else the last
    int64_t tile_ = 0;    // keys a tile; 0: as many as make four
    bool shows_scores_ = false;
};

}  // namespace

std::unique_ptr<View> make_scores_view() {
    return std::make_unique<ScoresView>();
}

}  // namespace lockstep::gui
