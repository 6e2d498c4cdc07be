// Rotary positions as dials: each pair of numbers is an arrow that turns with its place, the first pair fastest. Of a query
// and a key that meet, both arrows on one dial: what counts is the angle between them. The place can be moved; what was not
// run is worked out by the same rule, and says so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "app/gui/view.h"
#include "app/gui/views/tensor/llama_block_data.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "app/gui/views/training/tape_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view dials_title = "Rotary positions: a place is a turn";

struct Arrow {
    double a = 0, b = 0;
    double length() const { return std::hypot(a, b); }
};
Arrow turned_arrow(const Arrow& arrow, double angle) {
    return {arrow.a * std::cos(angle) - arrow.b * std::sin(angle), arrow.a * std::sin(angle) + arrow.b * std::cos(angle)};
}
Arrow arrow_of(const RopeTurn& turn, const std::vector<float>& from, int64_t pair) {
    return {static_cast<double>(from[turn.first(pair)]), static_cast<double>(from[turn.second(pair)])};
}

class DialsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        refresh(*session.snapshot());
        if (turns_.empty()) {
            const Rect body = ui.panel(area, {.title = dials_title});
            return ui.say_nothing_yet(body, "No rotary position is on show.",
                                      "The dials appear where a tensor program turns its numbers by their place.");
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const bool told = !hidden && known(session, focus);
        const bool own = place_ < 0;
        const std::string caption = caption_of();
        const Rect body = ui.panel(area, {.title = dials_title,
                                          .right = fmt::format("{} numbers, {}", size(), counted(turn().pairs(), "pair")),
                                          .badge = own ? Provenance::executed : Provenance::derived,
                                          .caption = caption});
        ui.push_scope("dials");
        draw_choices(ui, {body.x, body.y, body.w, 26});
        float y = body.y + 34;
        if (body.h > 280) {
            ui.text(body.x, y + 20, headline_of(told), {.size = 20, .weight = 700, .width = body.w});
            y += 38;
        }
        const float strip = 66;
        const bool beside = body.w > 720;
        const float left = beside ? body.w * 0.62f : body.w;
        draw_dials(ui, told, {body.x, y, left, body.bottom() - strip - y});
        if (beside) draw_numbers(ui, told, {body.x + left + 28, y, body.w - left - 28, body.bottom() - strip - y});
        draw_place(ui, {body.x, body.bottom() - strip + 8, body.w, 34});
        const float at = body.bottom() - 6;
        float x = ui.legend_line(body.x, at, ui.theme->ink3, true, "as it came in");
        x = ui.legend_line(x, at, data::sky, false, meeting() != nullptr ? "query, turned" : "turned");
        if (meeting() != nullptr) ui.legend_line(x, at, data::orange, false, "key, turned");
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        DialsView fresh;
        fresh.chosen_ = chosen_;
        fresh.place_ = place_;
        fresh.refresh(*session.snapshot());
        if (fresh.turns_.empty()) return "Rotary positions: none is on show.\n";
        const bool told = session.learn.reveal_steps < 0 && fresh.known(session, focus);
        std::string text =
            fmt::format("{} ({})\n  {}\n", dials_title, name_of(place_ < 0 ? Provenance::executed : Provenance::derived),
                        fresh.headline_of(told));
        const RopeTurn& turn = fresh.turn();
        for (int64_t pair = 0; pair < std::min<int64_t>(turn.pairs(), 8); ++pair) {
            const Arrow in = arrow_of(turn, turn.in, pair), out = fresh.at_place(turn, pair);
            text += fmt::format("  pair {}: ({}, {})", pair, element_number(in.a), element_number(in.b));
            if (told)
                text += fmt::format(" turned by {:.4g} becomes ({}, {})", fresh.angle_of(turn, pair), element_number(out.a),
                                    element_number(out.b));
            text += "\n";
        }
        for (const RopeMeeting& meeting : fresh.meetings_)
            if (told)
                text += fmt::format("  {}: places {} and {}, product {:.5g}\n", meeting.name, meeting.query.place,
                                    meeting.key.place, meeting.product);
        return text + "  " + fresh.caption_of() + "\n";
    }

  private:
    void refresh(const Snapshot& snapshot) {
        const auto& step = snapshot.training.step;
        if (step == seen_) return;
        seen_ = step;
        turns_.clear();
        meetings_.clear();
        place_ = -1;
        if (!step) return;
        plan_ = plan_tape(*step);
        turns_ = rope_turns(*step);
        meetings_ = rope_meetings(*step);
        chosen_ = turns_.empty() || !meetings_.empty() ? 0 : turns_.size() - 1;
        base_ = turns_.empty() ? 0 : rope_base(*step, turns_.front());
    }
    size_t choices() const { return meetings_.empty() ? turns_.size() : meetings_.size(); }
    const RopeMeeting* meeting() const {
        return meetings_.empty() ? nullptr : &meetings_[std::min(chosen_, meetings_.size() - 1)];
    }
    const RopeTurn& turn() const {
        return meeting() != nullptr ? meeting()->query : turns_[std::min(chosen_, turns_.size() - 1)];
    }
    int64_t size() const { return static_cast<int64_t>(turn().in.size()); }
    bool known(const Session& session, const Focus& focus) const {
        const int node = meeting() != nullptr ? meeting()->node : turn().node;
        return plan_.value_known(node, tape_position(session, focus, plan_));
    }
    // The place of the query, or of the one that turns, as it ran or as it was moved; a key keeps its distance.
    int64_t place_of(const RopeTurn& of) const {
        return place_ < 0 ? of.place : std::max<int64_t>(0, place_ + of.place - turn().place);
    }
    double angle_of(const RopeTurn& of, int64_t pair) const {
        return turn_of(pair, static_cast<int64_t>(of.in.size()), base_ > 0 ? base_ : 10000,
                       static_cast<double>(place_of(of)));
    }
    Arrow at_place(const RopeTurn& of, int64_t pair) const {
        return place_ < 0 ? arrow_of(of, of.out, pair) : turned_arrow(arrow_of(of, of.in, pair), angle_of(of, pair));
    }
    double product_now() const {
        if (place_ < 0) return meeting()->product;
        double sum = 0;
        for (int64_t pair = 0; pair < turn().pairs(); ++pair) {
            const Arrow q = at_place(meeting()->query, pair), k = at_place(meeting()->key, pair);
            sum += q.a * k.a + q.b * k.b;
        }
        return sum;
    }

    void draw_choices(Ui& ui, const Rect& r) {
        float x = r.x;
        for (size_t i = 0; i < choices() && i < 8; ++i) {
            const std::string label = meetings_.empty() ? fmt::format("{}: place {}", turns_[i].to, turns_[i].place)
                                                        : fmt::format("{}: {} and {}", meetings_[i].name,
                                                                      meetings_[i].query.place, meetings_[i].key.place);
            if (x + ui.chip_width(label) > r.right()) break;
            if (ui.chip(x, r.y, label, i == chosen_)) chosen_ = i, place_ = -1;
        }
    }
    std::string headline_of(bool told) const {
        if (const RopeMeeting* one = meeting()) {
            const int64_t apart = place_of(one->query) - place_of(one->key);
            for (const RopeMeeting& other : meetings_)
                if (told && &other != one && place_ < 0 && other.query.place - other.key.place == apart)
                    return fmt::format("{} apart, at {} and {} or at {} and {}: the product is {:.4g}",
                                       counted(apart, "place"), one->query.place, one->key.place, other.query.place,
                                       other.key.place, product_now());
            return told ? fmt::format("{} apart: the product is {:.4g}", counted(apart, "place"), product_now())
                        : std::string("A query and a key, each turned by its place");
        }
        const int64_t place = place_of(turn());
        if (place == 0) return "At place 0 nothing turns";
        return fmt::format("At place {} the first pair has turned {:.2f} times around", place,
                           angle_of(turn(), 0) / (2 * std::numbers::pi));
    }
    std::string caption_of() const {
        if (const RopeMeeting* one = meeting()) {
            for (const RopeMeeting& other : meetings_)
                if (&other != one && other.query.place - other.key.place == one->query.place - one->key.place && place_ < 0)
                    return fmt::format(
                        "{} and {} are as far apart: both arrows have turned on, the angles between them are "
                        "the same, and so are the products, but for rounding.",
                        one->name, other.name);
            return "The product depends on the angle between the arrows alone, and so on how far apart the places are.";
        }
        return fmt::format(
            "Pair i turns by place × {:.0f}^(-2i/{}) radians: pair 0 by one radian a place{}.", base_ > 0 ? base_ : 10000,
            size(),
            turn().pairs() > 1 ? fmt::format(", pair 1 by {:.3g}", turn_of(1, size(), base_ > 0 ? base_ : 10000, 1)) : "");
    }

    void draw_dials(Ui& ui, bool told, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int64_t count = std::min<int64_t>(turn().pairs(), 6);
        const int64_t across = count <= 2 ? count : 3, down = (count + across - 1) / across;
        const float w = r.w / static_cast<float>(across), h = r.h / static_cast<float>(down);
        const float radius = std::min({w / 2 - 12, (h - 62) / 2, 140.0f});
        if (radius < 18) return;
        double longest = 1e-9;
        for (int64_t pair = 0; pair < count; ++pair) {
            longest = std::max(longest, arrow_of(turn(), turn().in, pair).length());
            if (meeting() != nullptr)
                longest = std::max(longest, arrow_of(meeting()->key, meeting()->key.in, pair).length());
        }
        for (int64_t i = 0; i < count; ++i) {
            const int64_t pair = count < turn().pairs() && i + 1 == count ? turn().pairs() - 1 : i;
            const Point middle{r.x + w * (static_cast<float>(i % across) + 0.5f),
                               r.y + h * static_cast<float>(i / across) + radius + 8};
            ui.circle(middle, radius, theme.panel2);
            ui.ring(middle, radius, theme.line, 1);
            for (int tick = 0; tick < 8; ++tick) {
                const double a = tick * std::numbers::pi / 4;
                const Point edge = point_at(middle, radius, {std::cos(a), std::sin(a)}, 1),
                            inner = point_at(middle, radius - (tick % 2 == 0 ? 8 : 5), {std::cos(a), std::sin(a)}, 1);
                ui.line(inner, edge, theme.ink3);
            }
            draw_hand(ui, told, turn(), pair, middle, radius, longest, data::sky);
            if (meeting() != nullptr) draw_hand(ui, told, meeting()->key, pair, middle, radius, longest, data::orange);
            ui.circle(middle, 3, theme.ink);
            ui.text(middle.x, middle.y + radius + 20, fmt::format("pair {}", pair),
                    {.size = 13, .align = Align::center, .weight = 600});
            const double a_turn = 2 * std::numbers::pi / turn_of(pair, size(), base_ > 0 ? base_ : 10000, 1);
            ui.text(middle.x, middle.y + radius + 38, fmt::format("a turn in {:.3g} places", a_turn),
                    {.size = 12, .color = theme.quiet, .align = Align::center});
        }
    }
    static Point point_at(const Point& middle, float radius, const Arrow& arrow, double longest) {
        const auto share = radius / static_cast<float>(longest);
        return {middle.x + static_cast<float>(arrow.a) * share, middle.y - static_cast<float>(arrow.b) * share};
    }
    void draw_hand(Ui& ui, bool told, const RopeTurn& of, int64_t pair, const Point& middle, float radius, double longest,
                   Color color) const {
        const Arrow in = arrow_of(of, of.in, pair);
        const float reach = radius - 10;
        const Point start[] = {middle, point_at(middle, reach, in, longest)};
        ui.polyline(start, ui.theme->ink3, 2, 5, 4);
        if (!told) return;
        const int64_t place = place_of(of);
        for (int64_t before = std::max<int64_t>(1, place - 6); before < place; ++before) {  // where it came by
            const double angle =
                turn_of(pair, static_cast<int64_t>(of.in.size()), base_ > 0 ? base_ : 10000, static_cast<double>(before));
            ui.line(middle, point_at(middle, reach, turned_arrow(in, angle), longest), faded(color, 0.25f), 1.5f);
        }
        const Arrow out = at_place(of, pair);
        const Point tip = point_at(middle, reach, out, longest);
        ui.line(middle, tip, color, 3);
        ui.circle(tip, 4.5f, color);
        if (ui.hovered({tip.x - 9, tip.y - 9, 18, 18}))
            ui.tooltip(fmt::format("place {}, pair {}: ({}, {}), as long as ({}, {})", place, pair, element_number(out.a),
                                   element_number(out.b), element_number(in.a), element_number(in.b)));
    }

    void draw_numbers(Ui& ui, bool told, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const TextStyle mono{.size = 13, .mono = true};
        float y = r.y;
        if (const RopeMeeting* one = meeting()) {
            ui.text(r.x, y + 14, "Query times key", {.size = 14, .weight = 600});
            y += 30;
            for (int64_t pair = 0; pair < std::min<int64_t>(one->query.pairs(), 6) && told; ++pair) {
                const Arrow q = at_place(one->query, pair), k = at_place(one->key, pair);
                const float named = ui.text(r.x, y + 14, fmt::format("pair {}", pair), {.size = 13, .color = theme.ink2});
                const std::string sum = element_number(q.a * k.a + q.b * k.b),
                                  terms = fmt::format("{}·{} + {}·{} = {}", element_number(q.a), element_number(k.a),
                                                      element_number(q.b), element_number(k.b), sum);
                const bool fits = named + 8 + ui.text_width(terms, mono) < r.right();
                ui.text(r.right(), y + 14, fits ? terms : "adds " + sum, {.size = 13, .align = Align::right, .mono = true});
                y += 24;
            }
            y += 14;
            ui.text(r.x, y + 14, "All that ran", {.size = 14, .weight = 600});
            y += 30;
            for (const RopeMeeting& other : meetings_) {
                if (y + 24 > r.bottom()) break;
                if (&other == one) ui.rect({r.x - 6, y - 4, r.w + 12, 27}, theme.selected, 3);
                ui.text(r.x, y + 14, other.name, {.size = 13, .weight = 600});
                ui.text(r.x + 70, y + 14, fmt::format("places {} and {}", other.query.place, other.key.place),
                        {.size = 13, .color = theme.ink2});
                ui.text(r.right(), y + 14, told ? fmt::format("{:.5f}", other.product) : "?",
                        {.size = 13, .align = Align::right, .weight = 700, .mono = true});
                y += 28;
            }
            return;
        }
        ui.text(r.x, y + 14, fmt::format("{} at place {}", turn().from, place_of(turn())), {.size = 14, .weight = 600});
        y += 32;
        for (int64_t pair = 0; pair < std::min<int64_t>(turn().pairs(), 6); ++pair) {
            if (y + 86 > r.bottom() + 8) break;
            const Arrow in = arrow_of(turn(), turn().in, pair), out = at_place(turn(), pair);
            ui.text(r.x, y + 14,
                    fmt::format("pair {}: numbers {} and {}", pair, turn().first(pair) + 1, turn().second(pair) + 1),
                    {.size = 13, .color = theme.ink2});
            ui.text(r.x, y + 36, fmt::format("({}, {})", element_number(in.a), element_number(in.b)), mono);
            if (told) {
                ui.text(r.x, y + 56, fmt::format("turned by {:.4g} rad", angle_of(turn(), pair)),
                        {.size = 13, .color = theme.ink2});
                ui.text(r.x, y + 76, fmt::format("({}, {})", element_number(out.a), element_number(out.b)),
                        {.size = 14, .weight = 700, .mono = true});
            }
            y += 96;
        }
    }

    void draw_place(Ui& ui, const Rect& r) {
        constexpr int64_t most = 24;
        const int64_t offset = turn().place > most ? turn().place - turn().place % 100 : 0;  // near where it ran
        const int64_t now = place_of(turn()) - offset;
        const float label =
            ui.text(r.x, r.y + 20, fmt::format("place {}", place_of(turn())), {.size = 14, .weight = 600, .mono = true});
        const float from = std::max(label + 16, r.x + 96);
        const Rect track{from, r.y, std::min(r.right() - from - 130, 560.0f), 26};
        if (track.w < 80) return;
        const float moved =
            ui.slider("place", track, static_cast<float>(std::clamp<int64_t>(now, 0, most)) / most, most + 1);
        const auto to = static_cast<int64_t>(std::lround(moved * most)) + offset;
        if (to != place_of(turn())) place_ = to == turn().place ? -1 : to;
        float x = track.right() + 14;
        if (place_ >= 0 && x + 110 < r.right() && ui.chip(x, r.y, "as it ran")) place_ = -1;
    }

    std::shared_ptr<const nn::StepRecord> seen_;
    std::vector<RopeTurn> turns_;
    std::vector<RopeMeeting> meetings_;
    TapePlan plan_;
    size_t chosen_ = 0;
    int64_t place_ = -1;  // moved to; -1: as it ran
    double base_ = 0;
};

}  // namespace

std::unique_ptr<View> make_dials_view() {
    return std::make_unique<DialsView>();
}

}  // namespace lockstep::gui
