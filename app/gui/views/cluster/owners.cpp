// Matrix products on a mesh, cut by owner: above every matrix in its owners' colours, below a lane a rank with its part of
// each matrix at its true place, and between the columns what is moved, or that nothing is. At the foot the bytes that a
// rank sends for each of the scene's products. A click or Up and Down pick a rank; "play" goes through it from left to
// right; chips choose among products that do not stand in one row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/cluster/owners_data.h"
#include "app/gui/views/cluster/rank_look.h"
#include "core/base/units.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view owners_title = "Products, cut by owner";
constexpr std::string_view owners_hidden =
    "Where the result lies, and what that takes, stays hidden until you lock an answer.";
constexpr double owners_seconds = 1.0;  // of the play: a column

std::string places_of(const OwnedMatrix& matrix) {
    return fmt::format("{} × {}", matrix.rows, matrix.columns);
}

class OwnersView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::vector<OwnedRow> rows = owned_rows(snapshot->cluster.get());
        if (rows.empty()) {
            const Rect body = ui.panel(area, {.title = owners_title});
            return ui.say_nothing_yet(body, "No product has been laid out on a mesh here.", snapshot->busy);
        }
        adopt(snapshot->cluster);
        const OwnedChain& chain = chains_[std::min(chain_, chains_.size() - 1)];
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(owners_hidden) : owned_caption(chain);
        const Rect body = ui.panel(area, {.title = owners_title,
                                          .right = fmt::format("{} ranks", chain.ranks),
                                          .badge = hidden ? Provenance::none : Provenance::executed,
                                          .caption = caption});
        ui.push_scope("owners");
        if (const int by = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0); by != 0)
            focus.rank = std::clamp(picked_rank(focus, chain.ranks) + by, 0, chain.ranks - 1);
        const int picked = std::clamp(picked_rank(focus, chain.ranks), 0, chain.ranks - 1);
        float y = body.y;
        if (!hidden && body.h > 180) {
            const bool low = body.h < low_body;
            ui.text(body.x, y + (low ? 16 : 20), owned_headline(chain),
                    {.size = low ? 18.0f : 20.0f, .weight = 700, .width = body.w});
            y += low ? 26 : 32;
        }
        float x = body.x;
        for (size_t i = 0; i < chains_.size() && chains_.size() > 1; ++i)
            if (ui.chip(x, y, rows[chains_[i].rows.front()].name, i == chain_)) chain_ = i, since_ = -1;
        if (!hidden) {
            if (chains_.size() > 1) x += 12;
            if (ui.chip(x, y, "play", since_ >= 0)) since_ = since_ >= 0 ? -1 : ui.now;
        }
        y += 34;
        const float foot = body.h > low_body ? 18 + 22 * static_cast<float>(std::min<size_t>(rows.size(), 4)) + 26 : 24;
        const Rect room{body.x, y, body.w, body.bottom() - foot - y};
        // Before the answer the factors stand alone: what comes of them is the question.
        const size_t columns = hidden ? std::min<size_t>(2, chain.columns.size()) : chain.columns.size();
        const double at = since_ >= 0 ? (ui.now - since_) / owners_seconds : 1e9;
        if (since_ >= 0) {
            if (at > static_cast<double>(columns) + 1)
                since_ = -1;
            else
                ui.animate();
        }
        draw_columns(ui, focus, chain, columns, at, picked, hidden, room);
        if (foot > 24 && !hidden) draw_bytes(ui, rows, chain, {room.x, room.bottom() + 4, room.w, foot - 30});
        draw_legend(ui, chain, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const std::vector<OwnedRow> rows = owned_rows(snapshot->cluster.get());
        if (rows.empty()) return std::string(owners_title) + ": no product has been laid out on a mesh.\n";
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{}{}\n", owners_title, hidden ? "" : " (executed)");
        for (const OwnedChain& chain : owned_chains(*snapshot->cluster)) {
            const size_t columns = hidden ? std::min<size_t>(2, chain.columns.size()) : chain.columns.size();
            if (!hidden) text += "  " + owned_headline(chain) + "\n";
            for (size_t i = 0; i < columns; ++i) {
                const OwnedColumn& column = chain.columns[i];
                if (column.moved)
                    text += fmt::format("  {}: {} bytes a rank, {} in all\n", column.move.collective, column.move.bytes,
                                        column.move.total);
                text += fmt::format("  {} ({}), {}\n", column.matrix.name, places_of(column.matrix), column.matrix.words);
                for (int rank = 0; rank < chain.ranks; ++rank)
                    text += fmt::format("    rank {}{}: {}\n", rank, rank == focus.rank ? " (picked)" : "",
                                        part_words(column.matrix, rank));
            }
            if (!hidden) text += "  " + owned_caption(chain) + "\n";
        }
        return hidden ? text + "  " + std::string(owners_hidden) + "\n" : text;
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    std::vector<OwnedChain> chains_;
    size_t chain_ = 0;
    double since_ = -1;  // of the play; below 0: everything stands there

    void adopt(const std::shared_ptr<const scene::ClusterScene>& scene) {
        if (scene == seen_) return;
        seen_ = scene;
        chains_ = owned_chains(*scene);
        chain_ = 0;
        since_ = -1;
        for (size_t i = 0; i < chains_.size(); ++i)
            for (const size_t row : chains_[i].rows)
                if (!scene->asked.empty() && scene->ran->rows[row].name == scene->asked) chain_ = i;
    }

    struct Places {
        std::vector<float> x, w;  // of every matrix
        float cell = 0, small = 0, top = 0, sheet = 0, lanes = 0, pitch = 0, names = 0;
        float gap = 0, moved_gap = 0, spare = 0;
    };

    // In cells: its columns, and of summands, which stand side by side, half as much again.
    static int64_t cells_across(const OwnedMatrix& matrix) {
        return std::max<int64_t>(5, matrix.summands ? matrix.columns + matrix.columns / 2 + 2 : matrix.columns);
    }

    static Places place(const OwnedChain& chain, size_t columns, const Rect& r) {
        Places it;
        it.names = 58;
        it.gap = 34, it.moved_gap = 126;
        float gaps = 0;
        int64_t wide = 0, tall = 1;
        for (size_t i = 0; i < columns; ++i) {
            const OwnedColumn& column = chain.columns[i];
            if (i > 0) gaps += column.moved ? it.moved_gap : it.gap;
            wide += cells_across(column.matrix);
            tall = std::max(tall, column.matrix.rows);
        }
        const float head = 42;
        const float lanes = static_cast<float>(std::max(1, chain.ranks));
        const float share = std::max({r.h * 0.42f, r.h - 22 - 62 * lanes, r.h < 200 ? r.h - 22 - 13.2f * lanes : 0});
        it.cell = std::clamp(
            std::min((r.w - it.names - gaps - 12) / static_cast<float>(wide), (share - head) / static_cast<float>(tall)),
            2.0f, 26.0f);
        it.sheet = it.cell * static_cast<float>(tall);
        it.top = r.y + head;
        it.lanes = it.top + it.sheet + 22;
        it.pitch = std::clamp((r.bottom() - it.lanes) / static_cast<float>(std::max(1, chain.ranks)), 9.0f, 62.0f);
        it.small = std::min(it.cell, (it.pitch - 5) / static_cast<float>(tall));
        float x = r.x + it.names;
        const float used = it.names + gaps + it.cell * static_cast<float>(wide);
        it.spare = std::min(40.0f, std::max(0.0f, (r.w - used - 12) / static_cast<float>(std::max<size_t>(1, columns))));
        for (size_t i = 0; i < columns; ++i) {
            const OwnedColumn& column = chain.columns[i];
            if (i > 0) x += (column.moved ? it.moved_gap : it.gap) + it.spare;
            it.x.push_back(x);
            it.w.push_back(it.cell * static_cast<float>(cells_across(column.matrix)));
            x += it.w.back();
        }
        return it;
    }

    static Rect box_of(const OwnedMatrix& matrix, int rank, float x, float y, float across, float down) {
        const OwnedMatrix::Part& part = matrix.parts[static_cast<size_t>(rank)];
        return {x + across * static_cast<float>(part.columns.begin), y + down * static_cast<float>(part.rows.begin),
                across * static_cast<float>(part.columns.count), down * static_cast<float>(part.rows.count)};
    }

    // Whole-size summands side by side, each once however many ranks hold it; where they are cut, a line a part.
    static void draw_summands(Ui& ui, const OwnedMatrix& matrix, int picked, float x, float w, float middle, float largest,
                              float sheet) {
        const std::vector<int> ranks = matrix.first_holders();
        const int places = matrix.places(), shown = std::min(static_cast<int>(ranks.size()), 8);
        const int across = places > 1   ? std::max(1, static_cast<int>(ranks.size()) / places)
                           : shown <= 2 ? shown
                                        : (shown + 1) / 2;
        const int down = (shown + across - 1) / across;
        const float pitch_x = w / static_cast<float>(across), pitch_y = std::min(sheet, w) / static_cast<float>(down);
        const float side = std::min(std::min(pitch_x - 12, pitch_y - 8), largest);
        if (side < 6) return;
        for (int i = 0; i < shown; ++i) {
            const int rank = ranks[static_cast<size_t>(i)];
            const Rect box{
                x + pitch_x * static_cast<float>(i % across) + (pitch_x - 12 - side) / 2,
                middle + pitch_y * (static_cast<float>(i / across) - static_cast<float>(down) / 2) + (pitch_y - side) / 2,
                side, side};
            fill_of_rank(ui, box, rank);
            std::string who = matrix.holders(rank);
            if (ui.text_width(who, {.size = 12, .weight = 700, .mono = true}) + 4 > side) who = std::to_string(rank);
            if (side > 16) write_on_rank(ui, box.x + side / 2, box.y + side / 2 + 4.5f, who, rank);
            if (i + 1 < shown && (places == 1 || i % across + 1 < across))
                ui.text(box.right() + 6, box.y + side / 2 + 5, "+", {.size = 14, .align = Align::center, .weight = 600});
            if (rank == matrix.owner[static_cast<size_t>(picked)]) ui.outline(box);
        }
    }

    // A matrix in its owners' colours; summands of it stand on each other, smaller.
    static void draw_sheet(Ui& ui, const OwnedMatrix& matrix, int ranks, int picked, float x, float w, float cell,
                           float middle, float sheet) {
        const Theme& theme = *ui.theme;
        const float width = cell * static_cast<float>(matrix.columns), height = cell * static_cast<float>(matrix.rows);
        const float left = x + (w - width) / 2, top = middle - height / 2;
        if (matrix.summands) return draw_summands(ui, matrix, picked, x, w, middle, std::min(width, height), sheet);
        if (matrix.everywhere()) {
            ui.rect({left, top, width, height}, data::grey);
            grid(ui, {left, top, width, height}, cell);
            return;
        }
        for (int rank = 0; rank < ranks; ++rank) {
            if (matrix.owner[static_cast<size_t>(rank)] != rank) continue;
            const Rect box = box_of(matrix, rank, left, top, cell, cell);
            fill_of_rank(ui, box, rank);
            ui.frame(box, theme.panel, 1);
            const std::string who = matrix.holders(rank);
            if (ui.text_width(who, {.size = 12, .weight = 700, .mono = true}) + 6 < box.w && box.h > 15)
                write_on_rank(ui, box.x + box.w / 2, box.y + box.h / 2 + 4.5f, who, rank);
        }
        ui.outline(box_of(matrix, picked, left, top, cell, cell));
    }

    static void grid(Ui& ui, const Rect& box, float cell) {
        if (cell < 6) return;
        for (float x = box.x + cell; x < box.right() - 1; x += cell)
            ui.rect({x, box.y, 1, box.h}, faded(data::black, 0.35f));
        for (float y = box.y + cell; y < box.bottom() - 1; y += cell)
            ui.rect({box.x, y, box.w, 1}, faded(data::black, 0.35f));
    }

    static void draw_lane_part(Ui& ui, const OwnedMatrix& matrix, int rank, const Rect& lane, float x, float w, float cell,
                               float small) {
        const float width = cell * static_cast<float>(matrix.columns), height = small * static_cast<float>(matrix.rows);
        const float left = x + (w - width) / 2, top = lane.y + (lane.h - height) / 2;
        ui.frame({left - 1, top - 1, width + 2, height + 2}, ui.theme->ink3, 1);
        const Rect box = box_of(matrix, rank, left, top, cell, small);
        if (matrix.everywhere())
            ui.rect(box, data::grey);
        else
            fill_of_rank(ui, box, matrix.owner[static_cast<size_t>(rank)]);
        std::string words = matrix.summands ? "+" : matrix.everywhere() ? "all" : part_words(matrix, rank);
        if (words.find(',') == std::string::npos) words = words.substr(words.find(' ') + 1);  // "4-7"
        const int look = matrix.everywhere() ? 7 : matrix.owner[static_cast<size_t>(rank)];
        if (lane.h >= 24 && box.h >= 15 && ui.text_width(words, {.size = 12, .weight = 700, .mono = true}) + 6 < box.w)
            write_on_rank(ui, box.x + box.w / 2, box.y + box.h / 2 + 4.5f, words, look);
        if (ui.hovered({left - 2, lane.y, width + 4, lane.h}))
            ui.tooltip(fmt::format("{} on rank {}: {}", matrix.name, rank, part_words(matrix, rank)));
    }

    void draw_columns(Ui& ui, Focus& focus, const OwnedChain& chain, size_t columns, double at, int picked, bool hidden,
                      const Rect& r) const {
        const Theme& theme = *ui.theme;
        const Places it = place(chain, columns, r);
        const float middle = it.top + it.sheet / 2;
        for (int rank = 0; rank < chain.ranks; ++rank) {
            const Rect lane{r.x, it.lanes + it.pitch * static_cast<float>(rank), r.w, it.pitch};
            if (rank == picked) ui.rect({lane.x - 4, lane.y + 1, lane.w + 4, lane.h - 2}, theme.selected, 3);
            if (it.pitch >= 13)
                ui.text(r.x, lane.y + lane.h / 2 + 4.5f, fmt::format("rank {}", rank),
                        {.size = 13, .weight = rank == picked ? 700 : 600});
            if (ui.clicked(lane)) focus.rank = rank;
        }
        for (size_t i = 0; i < columns; ++i) {
            const OwnedColumn& column = chain.columns[i];
            const float x = it.x[i], w = it.w[i];
            const bool there = at >= static_cast<double>(i);
            const float centre = x + w / 2;
            ui.text(centre, r.y + 15, column.matrix.name, {.size = 15, .align = Align::center, .weight = 700});
            const std::string words = fmt::format("{}, {}", places_of(column.matrix), column.matrix.words);
            const float room = w + it.gap + it.spare - 10;
            for (const std::string& one : {words, column.matrix.words, places_of(column.matrix)}) {
                if (ui.text_width(one, {.size = 12}) > room) continue;
                ui.text(centre, r.y + 32, one, {.size = 12, .color = theme.ink2, .align = Align::center});
                break;
            }
            if (!column.sign.empty() && i > 0)
                ui.text(x - (x - it.x[i - 1] - it.w[i - 1]) / 2, middle + 6, column.sign,
                        {.size = 18, .color = theme.ink2, .align = Align::center});
            if (there) {
                draw_sheet(ui, column.matrix, chain.ranks, picked, x, w, it.cell, middle, it.sheet);
            } else {
                const float width = it.cell * static_cast<float>(column.matrix.columns),
                            height = it.cell * static_cast<float>(column.matrix.rows);
                ui.dashed({x + (w - width) / 2, middle - height / 2, width, height}, theme.ink3);
            }
            for (int rank = 0; rank < chain.ranks && there; ++rank)
                draw_lane_part(ui, column.matrix, rank, {r.x, it.lanes + it.pitch * static_cast<float>(rank), r.w, it.pitch},
                               x, w, it.cell, it.small);
            if (column.moved)
                draw_move(ui, chain, column, it, it.x[i - 1] + it.w[i - 1], x, at - static_cast<double>(i) + 1);
            else if (column.sign == "=" && there)
                draw_nothing_moved(ui, it, chain.ranks, x - (x - it.x[i - 1] - it.w[i - 1]) / 2);
        }
        if (hidden) {
            const float from = it.x.back() + it.w.back() + 40;
            if (r.right() - from > 120)
                draw_hidden_place(
                    ui, {from, r.y, r.right() - from, it.lanes + it.pitch * static_cast<float>(chain.ranks) - r.y});
        }
    }

    // A product that needs no message.
    static void draw_nothing_moved(Ui& ui, const Places& it, int ranks, float x) {
        const float bottom = it.lanes + it.pitch * static_cast<float>(ranks);
        const Point ends[] = {{x, it.lanes}, {x, bottom}};
        ui.polyline(ends, ui.theme->ink3, 1, 4, 4);
        ui.text(x, it.lanes - 5, "0 bytes", {.size = 12, .color = ui.theme->ink2, .align = Align::center});
    }

    // The collective between two columns: a bar through all ranks' lanes, an arrow in and out of each.
    static void draw_move(Ui& ui, const OwnedChain& chain, const OwnedColumn& column, const Places& it, float from, float to,
                          double progress) {
        const Theme& theme = *ui.theme;
        const float bottom = it.lanes + it.pitch * static_cast<float>(chain.ranks), centre = (from + to) / 2;
        const Rect bar{centre - 13, it.lanes, 26, bottom - it.lanes};
        if (progress < 0) return ui.dashed(bar, theme.ink3);
        ui.rect(bar, data::yellow, 3);
        for (float y = bar.y; y < bar.bottom(); y += 56)
            ui.hatch({bar.x, y, bar.w, std::min(56.0f, bar.bottom() - y)}, faded(data::black, 0.42f), Hatch::cross);
        for (int rank = 0; rank < chain.ranks; ++rank) {
            const float y = it.lanes + it.pitch * (static_cast<float>(rank) + 0.5f);
            ui.line({from + 5, y}, {bar.x - 7, y}, theme.ink2, 1.5f);
            ui.arrow_head({bar.x - 2, y}, Way::right, theme.ink2);
            ui.line({bar.right() + 2, y}, {to - 10, y}, theme.ink2, 1.5f);
            ui.arrow_head({to - 4, y}, Way::right, theme.ink2);
            if (progress < 1) {  // under way
                const float x = from + 5 + (to - from - 10) * static_cast<float>(progress);
                fill_of_rank(ui, {x - 6, y - 6, 12, 12}, rank);
                ui.frame({x - 6, y - 6, 12, 12}, theme.panel, 1);
            }
        }
        const TextStyle strong{.size = 13, .align = Align::center, .weight = 700};
        const auto steps = 1 + std::count(column.move.collective.begin(), column.move.collective.end(), ',');
        const bool fits = ui.text_width(column.move.collective, strong) <= to - from - 6;
        ui.text(centre, it.lanes - 36, fits ? column.move.collective : fmt::format("{} collectives", steps), strong);
        ui.text(centre, it.lanes - 20, counted(column.move.bytes, "byte"), strong);
        ui.text(centre, it.lanes - 5, "a rank", {.size = 12, .color = theme.ink2, .align = Align::center});
        if (ui.hovered({from, it.lanes, to - from, bottom - it.lanes}))
            ui.tooltip(fmt::format("{}: the rank that sends most sends {}, all together {}", column.move.collective,
                                   counted(column.move.bytes, "byte"), with_commas(column.move.total)));
    }

    static void draw_bytes(Ui& ui, const std::vector<OwnedRow>& rows, const OwnedChain& chain, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        ui.text(r.x, r.y + 18, "Bytes a rank sends", {.size = 13, .weight = 600});
        int64_t most = 1;
        for (const OwnedRow& row : rows) most = std::max(most, row.move.bytes);
        const float names = 250, width = std::max(60.0f, r.w - names - 90);
        float y = r.y + 6;
        for (size_t i = 0; i < std::min<size_t>(rows.size(), 4); ++i, y += 22) {
            const OwnedRow& row = rows[i];
            const bool on = std::find(chain.rows.begin(), chain.rows.end(), i) != chain.rows.end();
            ui.text(r.x + names - 10, y + 13, row.name,
                    {.size = 13, .color = on ? theme.ink : theme.ink2, .align = Align::right, .weight = on ? 600 : 400});
            const Rect bar{r.x + names, y, width * static_cast<float>(row.move.bytes) / static_cast<float>(most), 17};
            if (row.move.bytes > 0) {
                ui.rect(bar, data::yellow);
                for (float x = bar.x; x < bar.right(); x += 440)
                    ui.hatch({x, bar.y, std::min(440.0f, bar.right() - x), bar.h}, faded(data::black, 0.3f), Hatch::cross);
            }
            std::string words = row.move.collective.empty() ? std::string("nothing") : row.move.collective;
            const float end = ui.text(bar.right() + 8, y + 13, with_commas(row.move.bytes), {.size = 13, .weight = 700});
            if (ui.text_width(words, {.size = 12}) + 8 < r.right() - end)
                ui.text(end + 8, y + 13, words, {.size = 12, .color = theme.ink2});
        }
    }

    static void draw_legend(Ui& ui, const OwnedChain& chain, float x, float y, float right) {
        const auto is_owner = [&](int rank) {  // its colour stands somewhere above
            return std::any_of(chain.columns.begin(), chain.columns.end(), [&](const OwnedColumn& column) {
                return !column.matrix.everywhere() && column.matrix.owner[static_cast<size_t>(rank)] == rank;
            });
        };
        for (int rank = 0; rank < std::min(chain.ranks, 8); ++rank) {
            if (!is_owner(rank)) continue;
            const std::string name = fmt::format("rank {}", rank);
            if (x + 24 + ui.text_width(name, {.size = 12}) > right) return;
            fill_of_rank(ui, {x, y - 10, 16, 12}, rank);
            x = ui.text(x + 22, y, name, {.size = 12, .color = ui.theme->ink2}) + 14;
        }
        if (x + 200 > right) return;
        ui.rect({x, y - 10, 16, 12}, data::grey);
        x = ui.text(x + 22, y, "whole, on every rank", {.size = 12, .color = ui.theme->ink2}) + 14;
        if (chain.bytes <= 0 || x + 110 > right) return;
        ui.rect({x, y - 10, 16, 12}, data::yellow);
        ui.hatch({x, y - 10, 16, 12}, faded(data::black, 0.42f), Hatch::cross);
        ui.text(x + 22, y, "moved", {.size = 12, .color = ui.theme->ink2});
    }
};

}  // namespace

std::unique_ptr<View> make_owners_view() {
    return std::make_unique<OwnersView>();
}

}  // namespace lockstep::gui
