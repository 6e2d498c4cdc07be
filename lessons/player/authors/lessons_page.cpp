// The table of all lessons, lessons/README.md: the question, the picture that most of its scenes open, exercises, challenge.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lessons/player/authors/authors.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {
namespace {

std::string table_cell(std::string_view text) {  // a '|' would end the column
    std::string safe;
    for (const char c : text) safe += c == '|' ? "\\|" : std::string(1, c);
    return safe;
}

// Of scenes that name no view those that they open with are not counted.
std::string picture_of(const Lesson& lesson) {
    std::map<std::string, int> scenes;
    std::vector<std::string> order;
    for (const Step& step : lesson.steps)
        for (const scene::Scene& scene : step.scenes) {
            if (scene.view.empty()) continue;
            if (scenes[scene.view]++ == 0) order.push_back(scene.view);
        }
    if (order.empty()) return {};
    const std::string& most =
        *std::ranges::max_element(order, [&](const std::string& a, const std::string& b) { return scenes[a] < scenes[b]; });
    for (const LessonView& view : lesson_views())
        if (view.name == most) return std::string(view.shows);
    return most;
}

std::string exercises_of_lesson(const Lesson& lesson) {
    std::string text;
    for (const Step& step : lesson.steps)
        for (const Exercise& exercise : step.exercises) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", exercise.id);
    return text;
}

void add_lesson_row(std::string& page, const Lesson& lesson, const std::string& folder) {
    const std::string challenge =
        lesson.challenge ? fmt::format("`{}`: {}", lesson.challenge->exercise, lesson.challenge->of.text()) : "";
    page += fmt::format("| [{}]({}/lesson.md) {} | {} | {} | {} | {} |\n", lesson.id, folder, table_cell(lesson.title),
                        table_cell(lesson.question), table_cell(picture_of(lesson)), exercises_of_lesson(lesson),
                        table_cell(challenge));
}

}  // namespace

Result<std::string> lessons_page() {
    std::string page =
        "# Lessons\n\nA folder a lesson; how they run is in [`player`](player/README.md), how to write one in\n"
        "[player/AUTHORS.md](player/AUTHORS.md). `puzzles` holds GPUs to build, `story` the one job of part A, faster from\n"
        "lesson to lesson, and `coverage.toml` what the lecture decks teach. `lockstep lesson table` prints this page from "
        "the\n"
        "lessons themselves, and a test holds the two equal. Medals of a challenge begin where reference files come to, "
        "which\n"
        "`lockstep lesson show A08` runs.\n";
    std::string part;
    for (const std::filesystem::path& folder : lesson_folders()) {
        Result<Lesson> lesson = load_lesson(folder);
        if (!lesson) return lesson.error();
        if (lesson.value().part != part) {
            part = lesson.value().part;
            page += fmt::format(
                "\n## Part {}\n\n| lesson | its question | its picture | exercises | challenge, the less the better |\n"
                "|---|---|---|---|---|\n",
                part);
        }
        add_lesson_row(page, lesson.value(), folder.filename().string());
    }
    page.pop_back();
    return page;
}

}  // namespace lockstep::lessons
