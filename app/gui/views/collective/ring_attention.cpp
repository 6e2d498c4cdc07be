// Ring attention: the causal triangle of queries and keys with the rank that works on each block and the round in which it
// does, the ring as it stands in one round, and below, on one scale, how long each rank works and waits. Of two cuts of a
// scene both triangles stand side by side. A click on a block or on a bar picks its rank and its round; A and D go from
// round to round, Up and Down from rank to rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/rank_look.h"
#include "app/gui/views/collective/ring_split.h"

namespace lockstep::gui {
namespace {

using Rings = std::vector<RingSplit>;

constexpr std::string_view ring_title = "Ring attention: who works on which block";
constexpr std::string_view ring_hidden =
    "Who works on which block, and for how long, stays hidden until you lock an answer.";

class RingAttentionView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Rings rings = snapshot->cluster ? rings_shown(*snapshot->cluster) : Rings();
        if (rings.empty()) {
            const Rect body = ui.panel(area, {.title = ring_title});
            return ui.say_nothing_yet(body, "No sequence is cut over a ring of ranks here.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(ring_hidden) : ring_caption(rings);
        const Rect body = ui.panel(
            area, {.title = ring_title,
                   .right = fmt::format("one sequence in {} pieces, {} ranks", rings.front().pieces(), rings.front().ranks),
                   .badge = hidden ? Provenance::none : Provenance::derived,
                   .caption = caption});
        ui.push_scope("ring");
        keep_within(rings);
        if (!hidden) pick_by_keys(ui, area);
        float y = body.y;
        const bool low = body.h < low_body;
        if (!hidden && low && !picked_) {
            ui.text(body.x, y + 16, ring_headline(rings), {.size = 18, .weight = 700, .width = body.w});
            y += 26;
        } else if (!hidden && low) {
            ui.text(body.x, y + 16, ring_turn_words(rings[group_], rank_, round_), {.size = 14, .width = body.w});
            y += 26;
        } else if (!hidden) {
            ui.text(body.x, y + 22, ring_headline(rings), {.size = 24, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44, picked_ ? ring_turn_words(rings[group_], rank_, round_) : ring_difference(rings),
                    {.size = 14, .color = picked_ ? ui.theme->ink : ui.theme->ink2, .width = body.w});
            y += 56;
        }
        constexpr float legend = 24;
        const Rect room{body.x, y, body.w, body.bottom() - legend - y};
        if (low && !hidden) {  // beside each other, and the ring is left out
            const float wide = std::min(room.w * 0.6f, static_cast<float>(rings.size()) * (62 + room.h - 50));
            draw_triangles(ui, rings, hidden, {room.x, room.y, wide, room.h});
            draw_times(ui, rings, {room.x + wide + 16, room.y, room.w - wide - 16, room.h});
        } else {
            const float times = hidden ? 0 : height_of_times(rings, body);
            draw_triangles(ui, rings, hidden, {room.x, room.y, room.w, room.h - times});
            if (!hidden) draw_times(ui, rings, {room.x, room.bottom() - times, room.w, times});
        }
        draw_legend(ui, rings, hidden, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const Rings rings = snapshot->cluster ? rings_shown(*snapshot->cluster) : Rings();
        if (rings.empty()) return std::string(ring_title) + ": no sequence is cut over a ring of ranks.\n";
        std::string text = fmt::format("{} (derived): {} ranks\n", ring_title, rings.front().ranks);
        for (const RingSplit& ring : rings)
            for (int rank = 0; rank < ring.ranks; ++rank) {
                const std::vector<int> own = ring.pieces_of(rank);
                text += fmt::format("  {}: rank {} holds pieces {} and {}\n", ring_name(ring), rank, own[0], own[1]);
            }
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(ring_hidden) + "\n";
        text += "  " + ring_headline(rings) + ". " + ring_difference(rings) + "\n";
        for (const RingSplit& ring : rings)
            for (int rank = 0; rank < ring.ranks; ++rank)
                for (int round = 0; round < ring.ranks; ++round) text += "  " + ring_turn_words(ring, rank, round) + "\n";
        return text + "  " + ring_caption(rings) + "\n";
    }

  private:
    size_t group_ = 1;  // of the rings: whose ring and turn are looked at
    int rank_ = 1, round_ = 1;
    bool picked_ = false;

    void keep_within(const Rings& rings) {
        group_ = std::min(group_, rings.size() - 1);
        const int most = rings[group_].ranks - 1;
        rank_ = std::min(rank_, most);
        round_ = std::min(round_, most);
        most_ = most;
    }
    int most_ = 0;

    void pick_by_keys(Ui& ui, const Rect& area) {
        const auto moved = [&](Key more, Key less) {
            return (ui.pressed(more, area) ? 1 : 0) - (ui.pressed(less, area) ? 1 : 0);
        };
        const int rank = moved(Key::down, Key::up), round = moved(Key::d, Key::a);
        if (rank == 0 && round == 0) return;
        rank_ = std::clamp(rank_ + rank, 0, most_);
        round_ = std::clamp(round_ + round, 0, most_);
        picked_ = true;
    }
    void pick(size_t group, int rank, int round) {
        group_ = group;
        rank_ = rank;
        round_ = round;
        picked_ = true;
    }

    // Above: the triangles, and beside them the ring.
    void draw_triangles(Ui& ui, const Rings& rings, bool hidden, const Rect& r) {
        const auto count = static_cast<float>(rings.size());
        const auto pieces = static_cast<float>(rings.front().pieces());
        constexpr float labels = 46, head = 50;
        float ring_width = hidden ? 0 : std::clamp(r.w - count * (labels + r.h - head + 28), 0.0f, 460.0f);
        if (ring_width < 230) ring_width = 0;
        const float each = (r.w - ring_width) / count;
        const float cell = std::floor(std::max(3.0f, std::min((r.h - head) / pieces, (each - labels - 16) / pieces)));
        for (size_t i = 0; i < rings.size(); ++i)
            draw_triangle(ui, rings[i], i, hidden, {r.x + each * static_cast<float>(i), r.y, each, r.h}, cell);
        if (ring_width > 0) draw_ring(ui, rings[group_], {r.right() - ring_width + 16, r.y, ring_width - 16, r.h});
    }

    void draw_triangle(Ui& ui, const RingSplit& ring, size_t group, bool hidden, const Rect& r, float cell) {
        const Theme& theme = *ui.theme;
        const int pieces = ring.pieces();
        const float side = cell * static_cast<float>(pieces), left = r.x + 46, top = r.y + 50;
        const float end = ui.text(r.x, r.y + 14, ring_name(ring), {.size = 14, .weight = 600});
        const std::string note = hidden          ? "rows: queries, columns: keys"
                                 : ring.balanced ? "one piece from the front, its mirror image from the back"
                                                 : "later ranks see more keys";
        if (end + 10 + ui.text_width(note, {.size = 13}) < r.right() - 8)
            ui.text(end + 10, r.y + 14, note, {.size = 13, .color = theme.ink2});
        ui.rect({left, top, side, side}, theme.panel2);
        const int every = cell >= 16 ? 1 : cell >= 9 ? 2 : 4;
        std::vector<int> owner(static_cast<size_t>(pieces));
        for (int rank = 0; rank < ring.ranks; ++rank)
            for (const int piece : ring.pieces_of(rank)) owner[static_cast<size_t>(piece)] = rank;
        for (int piece = 0; piece < pieces; ++piece) {
            const float y = top + cell * static_cast<float>(piece), x = left + cell * static_cast<float>(piece);
            fill_of_rank(ui, {left - 14, y, 10, cell - 1}, owner[static_cast<size_t>(piece)]);
            fill_of_rank(ui, {x, top - 12, cell - 1, 8}, owner[static_cast<size_t>(piece)]);
            if (piece % every) continue;
            ui.text(left - 18, y + cell / 2 + 4.5f, fmt::format("q{}", piece),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            ui.text(x + cell / 2, top - 16, std::to_string(piece),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        for (const RingBlock& block : ring.blocks) {
            const Rect box{left + cell * static_cast<float>(block.key), top + cell * static_cast<float>(block.query),
                           cell - 1, cell - 1};
            draw_block(ui, block, hidden, box);
            if (hidden) continue;
            if (ui.clicked(box)) pick(group, block.rank, block.round);
            if (ui.hovered(box)) ui.tooltip(ring_block_words(ring, block));
            if (picked_ && block.rank == rank_ && block.round == round_) ui.outline(box);
        }
        if (side > 150) {
            ui.text(left + side - 6, top + 16, "masked:", {.size = 12, .color = theme.quiet, .align = Align::right});
            ui.text(left + side - 6, top + 31, "the future", {.size = 12, .color = theme.quiet, .align = Align::right});
        }
    }

    static void draw_block(Ui& ui, const RingBlock& block, bool hidden, const Rect& box) {
        const auto fill = [&](const Rect& part) {
            if (hidden)
                ui.rect(part, mix(ui.theme->panel2, ui.theme->ink3, 0.5f));
            else
                fill_of_rank(ui, part, block.rank);
        };
        if (block.half) {  // as a staircase
            const float steps = box.w >= 12 ? 4 : 2, step = box.w / steps;
            for (float i = 0; i < steps; ++i) {
                const Rect part{box.x, box.y + i * box.h / steps, (i + 1) * step, box.h / steps};
                if (hidden)
                    ui.rect(part, mix(ui.theme->panel2, ui.theme->ink3, 0.5f));
                else
                    ui.rect(part, rank_look(block.rank).fill);
            }
        } else {
            fill(box);
        }
        if (hidden || box.w < 12) return;
        const float x = block.half ? box.x + box.w * 0.32f : box.x + box.w / 2;
        const float y = block.half ? box.bottom() - 1.5f : box.y + box.h / 2 + 4.5f;
        if (block.half && box.w < 18) return;
        write_on_rank(ui, x, y, std::to_string(block.round), block.rank);
    }

    // The ring as it stands in the round that is looked at: whose keys are where.
    void draw_ring(Ui& ui, const RingSplit& ring, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float end = ui.text(r.x, r.y + 14, fmt::format("The ring in round {}", round_), {.size = 14, .weight = 600});
        const std::string note = round_ == 0 ? "everybody has its own keys" : "right, in colour: whose keys a rank has";
        if (end + 10 + ui.text_width(note, {.size = 13}) < r.right())
            ui.text(end + 10, r.y + 14, note, {.size = 13, .color = theme.ink2});
        const float high = 44;
        float wide = 92;
        bool boxes = ring.ranks <= 8;
        const Point middle{r.x + r.w / 2, r.y + 30 + (r.h - 34) / 2};
        const auto place_in = [&](int rank, float w, float h) {
            const double turn = -1.5707963 + 6.2831853 * rank / ring.ranks;
            return Point{middle.x + ((r.w - w) / 2 - 4) * static_cast<float>(std::cos(turn)),
                         middle.y + ((r.h - 34 - h) / 2 - 2) * static_cast<float>(std::sin(turn))};
        };
        const auto apart = [&] {  // no box lies on another
            for (int a = 0; a < ring.ranks; ++a)
                for (int b = 0; b < a; ++b) {
                    const Point one = place_in(a, wide, high), other = place_in(b, wide, high);
                    if (std::abs(one.x - other.x) < wide + 4 && std::abs(one.y - other.y) < high + 3) return false;
                }
            return true;
        };
        if (boxes && !apart()) wide = 78, boxes = apart();
        const float reach_y = (r.h - 34 - high) / 2 - 2;
        const auto place = [&](int rank) { return boxes ? place_in(rank, wide, high) : place_in(rank, 52, 24); };
        for (int rank = 0; rank < ring.ranks; ++rank) {
            const Point a = place(rank), b = place((rank + 1) % ring.ranks);
            ui.line(a, b, rank_ == (rank + 1) % ring.ranks ? data::sky : theme.ink3,
                    rank_ == (rank + 1) % ring.ranks ? 2.5f : 1.5f);
        }
        for (int rank = 0; rank < ring.ranks; ++rank) {
            const Point at = place(rank);
            const int holder = ring.holder(rank, round_);
            const RingTurn& turn = ring.turns[static_cast<size_t>(rank)][static_cast<size_t>(round_)];
            if (!boxes) {  // the rank, and beside it whose keys it has
                const Rect card{at.x - 24, at.y - 10, 48, 20};
                ui.rect(card, theme.panel2, 4);
                ui.frame(card, rank == rank_ ? theme.accent : theme.line, rank == rank_ ? 2.0f : 1.0f, 4);
                ui.text(card.x + 12, at.y + 4.5f, fmt::format("r{}", rank),
                        {.size = 12, .align = Align::center, .weight = 600, .mono = true});
                fill_of_rank(ui, {card.x + 24, card.y + 2, 22, 16}, holder);
                write_on_rank(ui, card.x + 35, at.y + 4.5f, std::to_string(holder), holder);
                if (ui.clicked(card)) pick(group_, rank, round_);
                if (ui.hovered(card)) ui.tooltip(ring_turn_words(ring, rank, round_));
                continue;
            }
            const Rect box{at.x - wide / 2, at.y - high / 2, wide, high};
            ui.rect(box, theme.panel2, 4);
            ui.frame(box, rank == rank_ ? theme.accent : theme.line, rank == rank_ ? 2.0f : 1.0f, 4);
            fill_of_rank(ui, {box.x + 5, box.y + 5, 8, high - 10}, rank);
            ui.text(box.x + 19, box.y + 17, fmt::format("rank {}", rank), {.size = 13, .weight = 600});
            const std::vector<int> keys = ring.pieces_of(holder);
            const std::string words = fmt::format("k{} k{}", keys[0], keys[1]);
            const RankLook look = rank_look(holder);
            const float width = ui.text_width(words, {.size = 12, .weight = 700, .mono = true}) + 8;
            ui.rect({box.x + 18, box.y + 23, width, 16}, look.fill, 2);
            ui.text(box.x + 22, box.y + 35, words, {.size = 12, .color = text_on(look.fill), .weight = 700, .mono = true});
            if (turn.work == 0 && wide > 90)
                ui.text(box.right() - 6, box.y + 17, "idle", {.size = 12, .color = theme.wrong, .align = Align::right});
            if (ui.clicked(box)) pick(group_, rank, round_);
            if (ui.hovered(box)) ui.tooltip(ring_turn_words(ring, rank, round_));
        }
        if (boxes && reach_y > 80) {
            ui.text(middle.x, middle.y - 4, ring_name(ring), {.size = 13, .align = Align::center, .weight = 600});
            ui.text(middle.x, middle.y + 14, "each hands its keys on",
                    {.size = 12, .color = theme.quiet, .align = Align::center});
        }
    }

    static float height_of_times(const Rings& rings, const Rect& body) {
        const auto ranks = static_cast<float>(rings.front().ranks);
        return 26 + std::clamp((body.h * 0.36f - 26) / ranks, 8.0f, 24.0f) * ranks + 6;
    }

    // Below: one bar a round, of both cuts on one scale.
    void draw_times(Ui& ui, const Rings& rings, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        constexpr float names = 34, numbers = 34;
        double all = 0;
        for (const RingSplit& ring : rings) all += ring.end;
        const float saved = rings.size() > 1 && r.w > 900 ? 130.0f : 0.0f;
        const float unit =
            (r.w - saved - static_cast<float>(rings.size()) * (names + numbers + 16)) / static_cast<float>(all);
        float x = r.x;
        for (size_t i = 0; i < rings.size(); ++i) {
            const float width = names + numbers + unit * static_cast<float>(rings[i].end);
            draw_ranks_over_time(ui, rings[i], i, {x, r.y, width, r.h}, unit);
            x += width + 16;
        }
        if (saved == 0 || rings.front().end <= rings.back().end) return;
        const float middle = r.y + r.h / 2;
        ui.text(x + 4, middle, fmt::format("{:g} sooner", rings.front().end - rings.back().end),
                {.size = 16, .color = theme.right, .weight = 700});
        ui.text(x + 4, middle + 20, fmt::format("{:.0f} % of the time", 100 * rings.back().end / rings.front().end),
                {.size = 13, .color = theme.ink2});
    }

    void draw_ranks_over_time(Ui& ui, const RingSplit& ring, size_t group, const Rect& r, float unit) {
        const Theme& theme = *ui.theme;
        constexpr float names = 34;
        const float pitch = (r.h - 32) / static_cast<float>(ring.ranks), bar = pitch - (pitch > 12 ? 3.0f : 1.0f);
        const bool longest = ring.busy() < 0.999;
        float end = ui.text(r.x, r.y + 18, ring_name(ring), {.size = 14, .weight = 600});
        const std::string total = fmt::format("{:g} blocks of time", ring.end);
        if (end + 8 + ui.text_width(total, {.size = 14, .weight = 600}) < r.right()) {
            end =
                ui.text(end + 8, r.y + 18, total, {.size = 14, .color = longest ? theme.wrong : theme.right, .weight = 600});
            const std::string busy = fmt::format("{:.0f} % busy", 100 * ring.busy());
            if (end + 8 + ui.text_width(busy, {.size = 13}) + 40 < r.right())
                ui.text(end + 8, r.y + 18, busy, {.size = 13, .color = theme.ink2});
        }
        for (int rank = 0; rank < ring.ranks; ++rank) {
            const float y = r.y + 26 + pitch * static_cast<float>(rank), mid = y + bar / 2 + 4.5f;
            const bool told = pitch >= 14 || (pitch >= 7 && rank % 2 == 0);
            if (told) ui.text(r.x, mid, fmt::format("r{}", rank), {.size = 12, .color = theme.ink2, .mono = true});
            const float left = r.x + names;
            double done = 0;
            for (int round = 0; round < ring.ranks; ++round) {
                const RingTurn& turn = ring.turns[static_cast<size_t>(rank)][static_cast<size_t>(round)];
                if (turn.work == 0) continue;
                if (turn.begin > done) wait(ui, left, y, bar, unit, done, turn.begin);
                const Rect box{left + unit * static_cast<float>(turn.begin), y,
                               std::max(1.0f, unit * static_cast<float>(turn.work) - 1), bar};
                fill_of_rank(ui, box, rank);
                if (box.w >= 10 && bar >= 12) write_on_rank(ui, box.x + box.w / 2, mid, std::to_string(round), rank);
                if (ui.clicked(box)) pick(group, rank, round);
                if (ui.hovered(box)) ui.tooltip(ring_turn_words(ring, rank, round));
                if (picked_ && group == group_ && rank == rank_ && round == round_) ui.outline(box);
                done = turn.end();
            }
            if (ring.end > done) wait(ui, left, y, bar, unit, done, ring.end);
            if (told)
                ui.text(left + unit * static_cast<float>(ring.end) + 6, mid, fmt::format("{:g}", ring.work_of(rank)),
                        {.size = 12, .weight = 700, .mono = true});
        }
    }

    static void wait(Ui& ui, float left, float y, float bar, float unit, double from, double to) {
        const Rect box{left + unit * static_cast<float>(from) + 1, y, unit * static_cast<float>(to - from) - 2, bar};
        if (box.w < 2) return;
        ui.dashed(box, ui.theme->ink3);
        const std::string words = fmt::format("waits {:g}", to - from);
        if (bar >= 13 && ui.text_width(words, {.size = 12}) + 8 < box.w)
            ui.text(box.x + box.w / 2, box.y + bar / 2 + 4.5f, words,
                    {.size = 12, .color = ui.theme->quiet, .align = Align::center});
    }

    static void draw_legend(Ui& ui, const Rings& rings, bool hidden, float x, float y, float right) {
        const int ranks = std::min(8, rings.front().ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            const std::string words = rank == 0 ? "rank 0" : std::to_string(rank);
            if (x + 40 + ui.text_width(words, {.size = 13}) > right) return;
            fill_of_rank(ui, {x, y - 10, 14, 12}, rank);
            x = ui.text(x + 19, y, words, {.size = 13, .color = ui.theme->ink2}) + 12;
        }
        const std::string more = hidden ? "strips: who holds which queries and keys"
                                        : "digit: the round in which it is worked on; dashed: nothing to do";
        if (x + 10 + ui.text_width(more, {.size = 13}) < right)
            ui.text(x + 10, y, more, {.size = 13, .color = ui.theme->ink2});
    }
};

}  // namespace

std::unique_ptr<View> make_ring_attention_view() {
    return std::make_unique<RingAttentionView>();
}

}  // namespace lockstep::gui
