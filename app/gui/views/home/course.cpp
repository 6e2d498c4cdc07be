// Where the parts of Home stand at any width, and the course on it: a card a lesson with its question, minutes and how far
// one is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/gui/views/home/home.h"
#include "app/gui/widgets/ui_state.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

namespace {

constexpr float gap = 16, pitch = 56, card_height = 50, tile_height = 244, part_head = 68, more_height = 26;

constexpr std::pair<char, std::string_view> part_titles[] = {{'A', "One GPU"}, {'B', "Learning on it"}, {'C', "Many GPUs"}};

// The lessons of each part; what belongs to none, one's own, comes with the last.
std::vector<HomePlan::Part> parts_of(const Session& session) {
    std::vector<HomePlan::Part> parts;
    for (const auto& [letter, title] : part_titles) parts.push_back({.letter = letter, .title = title});
    for (size_t i = 0; i < session.home.course.size(); ++i) {
        const std::string& part = session.home.course[i]->part;
        const size_t at = part.size() == 1 && part[0] >= 'A' && part[0] <= 'C' ? static_cast<size_t>(part[0] - 'A') : 2;
        parts[at].lessons.push_back(i);
    }
    return parts;
}

// As many cards as are shown unasked: the first ones, all where the lesson to go on with lies behind them.
size_t shown_of(const Session& session, const HomePlan::Part& part, bool whole) {
    const size_t all = part.lessons.size();
    if (whole || all <= cards_shown + 1) return all;
    const std::string lesson = go_on_of(session).lesson;
    for (size_t i = cards_shown; i < all; ++i)
        if (session.home.course[part.lessons[i]]->id == lesson) return all;
    return cards_shown;
}

void draw_card(const HomeFrame& frame, const lessons::Lesson& lesson, const Rect& card, bool current) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (ui.area(lesson.id, card)) go_on(frame.session, {.lesson = lesson.id});
    if (!frame.shows(card)) return;
    const LessonProgress progress = progress_of(frame.session, lesson);
    const bool over = ui.hovered(card);
    ui.rect(card, current ? t.selected : over ? t.panel2 : t.panel, 5);
    ui.frame(card, current || over ? t.accent : t.line, 1, 5);
    const Rect thumb{card.x + 1, card.y + 1, 82, card.h - 2};
    ui.rect(thumb, t.code, 4);
    {
        const Faded fresh(ui, progress.done > 0 || current ? 1.0f : 0.75f);
        draw_thumb(ui, lesson.id, thumb);
    }
    const Color second = current ? t.ink : t.ink2;
    float x = ui.text(card.x + 96, card.y + 20, lesson.id, {.size = 13, .color = second, .mono = true}) + 8;
    const float minutes = ui.text(card.right() - 40, card.y + 20, fmt::format("{} min", lesson.minutes),
                                  {.size = 13, .color = second, .align = Align::right});
    fit_text(ui, x, card.y + 20, lesson.title, {.size = 14, .weight = 600, .width = minutes - x - 10});
    draw_progress(ui, {card.right() - 20, card.y + 16}, 7, 2.5f,
                  static_cast<double>(progress.done) / static_cast<double>(std::max<size_t>(1, progress.steps)));
    fit_text(ui, card.x + 96, card.y + 40, lesson.question, {.size = 13, .color = second, .width = card.w - 104});
    if (over)
        ui.tooltip(fmt::format("{} of {} steps done{}", progress.done, lesson.steps.size(),
                               lesson.needs.empty() ? "" : fmt::format("; builds on {}", fmt::join(lesson.needs, ", "))));
}

}  // namespace

HomePlan plan_home(const Session& session, const Rect& area, const bool (&whole)[3]) {
    HomePlan plan;
    plan.columns = area.w >= 1060 ? 3 : area.w >= 720 ? 2 : 1;
    const float margin = plan.columns == 3 ? 40.0f : 20.0f;
    const float width =
        (area.w - 2 * margin - gap * static_cast<float>(plan.columns - 1)) / static_cast<float>(plan.columns);
    const auto x_of = [&](size_t i) {
        return area.x + margin + (width + gap) * static_cast<float>(i % static_cast<size_t>(plan.columns));
    };
    const auto last = [&](size_t i, size_t count) {  // of its row
        return (i + 1) % static_cast<size_t>(plan.columns) == 0 || i + 1 == count;
    };
    plan.head = {area.x + margin, area.y, area.w - 2 * margin, plan.columns == 1 ? 104.0f : 92.0f};
    float y = plan.head.bottom();
    for (size_t i = 0; i < 3; ++i) {
        plan.tiles[i] = {x_of(i), y, width, tile_height};
        if (last(i, 3)) y += tile_height + gap;
    }
    plan.go_on = {area.x + margin, y, area.w - 2 * margin, 56};
    y += 56;
    plan.parts = parts_of(session);
    float bottom = y;
    for (size_t p = 0; p < plan.parts.size(); ++p) {
        HomePlan::Part& part = plan.parts[p];
        part.shown = shown_of(session, part, whole[p]);
        part.head = {x_of(p), y, width, part_head};
        for (size_t i = 0; i < part.shown; ++i)
            part.cards.push_back({part.head.x, y + part_head - 8 + pitch * static_cast<float>(i), width, card_height});
        float end = y + part_head - 8 + pitch * static_cast<float>(part.shown);
        part.more = {part.head.x, end, width, part.shown < part.lessons.size() ? more_height : 0.0f};
        bottom = std::max(bottom, end + part.more.h);
        if (last(p, plan.parts.size())) y = bottom;
    }
    plan.height = bottom + 8 - area.y;
    return plan;
}

void draw_part(const HomeFrame& frame, const HomePlan::Part& part, bool& whole) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const Rect& head = part.head;
    ui.push_scope(std::string(1, part.letter));
    if (frame.shows(head)) {
        ui.text(head.x, head.y + 36, std::string(1, part.letter), {.size = 20, .color = t.accent, .weight = 700});
        const float facts = ui.text(head.right(), head.y + 36, facts_of(frame.session, part),
                                    {.size = 13, .color = t.ink2, .align = Align::right});
        fit_text(ui, head.x + 24, head.y + 36, part.title, {.size = 20, .weight = 700, .width = facts - head.x - 34});
        const float each = head.w / static_cast<float>(std::max<size_t>(1, part.lessons.size()));
        for (size_t i = 0; i < part.lessons.size(); ++i) {
            const LessonProgress progress = progress_of(frame.session, *frame.session.home.course[part.lessons[i]]);
            const float x = head.x + each * static_cast<float>(i) + 1,
                        done = static_cast<float>(progress.done) / static_cast<float>(std::max<size_t>(1, progress.steps));
            ui.rect({x, head.y + 46, each - 2, 4}, t.line);
            if (done > 0)  // whole ones are higher too: not by their colour alone
                ui.rect({x, head.y + (done >= 1 ? 45.0f : 46.0f), (each - 2) * done, done >= 1 ? 6.0f : 4.0f},
                        done >= 1 ? t.right : t.accent);
        }
    }
    const std::string current = go_on_of(frame.session).lesson;
    for (size_t i = 0; i < part.cards.size(); ++i) {
        const lessons::Lesson& lesson = *frame.session.home.course[part.lessons[i]];
        draw_card(frame, lesson, part.cards[i], lesson.id == current);
    }
    if (part.more.h > 0) {
        const std::string more = more_of(frame.session, part);
        const Rect row{part.more.x, part.more.y, part.more.w, part.more.h};
        if (ui.area("more", row)) whole = true;
        if (frame.shows(row)) {
            const Color color = ui.hovered(row) ? t.ink : t.ink2;
            ui.icon(row.x + 2, row.y + 18, Icon::caret_down, {.size = 13, .color = color});
            fit_text(ui, row.x + 24, row.y + 18, more, {.size = 13, .color = color, .width = row.w - 28});
        }
    }
    ui.pop_scope();
}

void draw_progress(Ui& ui, Point centre, float radius, float width, double share) {
    const Theme& t = *ui.theme;
    if (share >= 1) {
        ui.circle(centre, radius + 1, t.right);
        const Point tick[] = {{centre.x - radius * 0.45f, centre.y + 0.5f},
                              {centre.x - radius * 0.1f, centre.y + radius * 0.4f},
                              {centre.x + radius * 0.5f, centre.y - radius * 0.4f}};
        ui.polyline(tick, t.background, 2);
        return;
    }
    ui.ring(centre, radius, t.ink3, width * 0.6f);
    if (share <= 0) return;
    std::vector<Point> arc;
    for (int i = 0; i <= 24; ++i) {
        const double angle = share * 2 * std::numbers::pi * i / 24;
        arc.push_back({centre.x + radius * static_cast<float>(std::sin(angle)),
                       centre.y - radius * static_cast<float>(std::cos(angle))});
    }
    ui.polyline(arc, t.accent, width);
}

}  // namespace lockstep::gui
