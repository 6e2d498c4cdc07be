// From top to bottom: title and name, four sums, a row for every lesson that was begun, and what this is no proof of. Rows
// stand as close as they must to fit the page.
#include "app/gui/views/lesson/certificate.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/build/build_data.h"

namespace lockstep::gui {
namespace {

using lessons::Certificate;
using lessons::Medal;

std::string done_words(const Certificate::Row& row) {
    if (!row.exam) return fmt::format("{} of {} steps", row.done, row.steps);
    return row.of_points > 0
               ? fmt::format("{:g} of {:g} points, {}", row.points, row.of_points, row.passed ? "passed" : "not passed")
               : std::string("not handed in");
}

// Four columns: a number, and what it counts.
float certificate_sums(Ui& ui, const Certificate& all, float x, float w, float y) {
    size_t exercises = 0, exams = 0;
    for (const Certificate::Row& row : all.rows) exercises += row.exercises.size(), exams += row.exam && row.passed;
    const std::pair<std::string, std::string> sums[] = {
        {fmt::format("{} of {}", all.whole(), all.lessons), "lessons done"},
        {fmt::format("{}", exercises), "exercises passed"},
        {fmt::format("{} · {} · {}", all.medals(Medal::gold), all.medals(Medal::silver), all.medals(Medal::bronze)),
         "gold · silver · bronze"},
        {fmt::format("{}", exams), exams == 1 ? "exam passed" : "exams passed"}};
    for (const auto& [number, what] : sums) {
        ui.rect({x, y, 3, 46}, ui.theme->accent);
        ui.text(x + 12, y + 20, number, {.size = 22, .weight = 700});
        ui.text(x + 12, y + 41, what, {.size = 13, .color = ui.theme->ink2});
        x += w / 4;
    }
    return y + 66;
}

void certificate_row(Ui& ui, const Certificate::Row& row, const Rect& at) {
    const Theme& theme = *ui.theme;
    const float base = at.y + at.h * 0.72f, size = std::clamp(at.h * 0.58f, 8.0f, 13.0f);
    ui.text(at.x, base, row.id, {.size = size, .weight = 600});
    ui.text(at.x + at.w * 0.06f, base, (row.exam ? "Exam: " : "") + row.title, {.size = size, .width = at.w * 0.31f});
    ui.text(at.x + at.w * 0.38f, base, done_words(row), {.size = size, .width = at.w * 0.17f});
    std::string exercises;
    for (const Certificate::Exercise& one : row.exercises) exercises += (exercises.empty() ? "" : ", ") + one.id;
    ui.text(at.x + at.w * 0.56f, base, exercises, {.size = size, .color = theme.ink2, .width = at.w * 0.24f});
    if (row.medal != Medal::none)
        ui.text(at.x + at.w * 0.81f, base, lessons::name_of(row.medal),
                {.size = size, .color = medal_color(row.medal, theme), .weight = 700});
    ui.text(at.right(), base, row.on, {.size = size, .color = theme.ink2, .align = Align::right});
    ui.line({at.x, at.bottom()}, {at.right(), at.bottom()}, theme.line);
}

}  // namespace

void draw_certificate(Ui& ui, const Certificate& certificate, const std::string& name, const Rect& page) {
    const Theme& theme = *ui.theme;
    ui.rect(page, theme.panel);
    const float x = page.x + 64, w = page.w - 128;
    float y = page.y + 84;
    ui.text(x, y, "GPUs and training at scale", {.size = 32, .weight = 700, .width = w});
    y += 14;
    if (!name.empty()) {
        ui.text(x, y + 26, name, {.size = 20, .width = w});
        y += 36;
    }
    y = certificate_sums(ui, certificate, x, w, y + 16);
    const std::string says = lessons::certificate_says(lessons::today());
    const TextStyle foot{.size = 12, .color = theme.ink2};
    const float foot_h = ui.paragraph({0, 0, w, 200}, says, foot, 18, false), bottom = page.bottom() - 56 - foot_h;
    size_t lines = certificate.rows.size();
    std::string part;
    for (const Certificate::Row& row : certificate.rows)
        if (row.part != part) part = row.part, lines += 2;
    const float pitch = std::min(26.0f, (bottom - y - 16) / static_cast<float>(std::max<size_t>(1, lines)));
    part.clear();
    for (const Certificate::Row& row : certificate.rows) {
        if (row.part != part) {
            part = row.part;
            ui.text(x, y + pitch * 1.4f, lessons::part_title(part),
                    {.size = std::clamp(pitch * 0.62f, 9.0f, 15.0f), .weight = 700});
            y += 2 * pitch;
        }
        certificate_row(ui, row, {x, y, w, pitch});
        y += pitch;
    }
    ui.paragraph({x, bottom + 12, w, 200}, says, foot, 18);
}

}  // namespace lockstep::gui
