#include "lessons/player/certificate/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/files.h"

namespace lockstep::lessons {

namespace {

using Json = nlohmann::json;

std::string word_of(const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}
double number_of_line(const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_number() ? found->get<double>() : 0;
}

// What the file says of one lesson, by the names of its steps and exercises.
struct Said {
    std::set<std::string> steps, predictions;
    std::map<std::string, Certificate::Exercise> exercises;
    Medal medal = Medal::none;
    std::optional<Certificate::Row> exam;
    std::string on;
};

void take_line(const Json& line, Said& said) {
    const std::string event = word_of(line, "event"), on = word_of(line, "on");
    said.on = std::max(said.on, on);
    if (event == "step") said.steps.insert(word_of(line, "step"));
    if (event == "prediction") said.predictions.insert(word_of(line, "predict"));
    if (event == "medal") said.medal = std::max(said.medal, medal_named(word_of(line, "medal")));
    if (event == "exercise") {
        const std::string id = word_of(line, "exercise");
        said.exercises.try_emplace(id, Certificate::Exercise{id, on, number_of_line(line, "points")});
    }
    if (event != "exam" || (said.exam && said.exam->points >= number_of_line(line, "points"))) return;
    said.exam.emplace();
    said.exam->points = number_of_line(line, "points");
    said.exam->of_points = number_of_line(line, "of");
    said.exam->passed = line.value("passed", Json(false)) == Json(true);
    said.exam->on = on;
}

Certificate::Row row_of(const Lesson& lesson, const Said& said) {
    Certificate::Row row{.id = lesson.id, .title = lesson.title, .part = lesson.part, .steps = lesson.steps.size()};
    row.medal = said.medal;
    row.exam = lesson.exam;
    row.on = said.on;
    if (said.exam) {
        row.points = said.exam->points, row.of_points = said.exam->of_points;
        row.passed = said.exam->passed, row.on = said.exam->on;
    }
    for (const Step& step : lesson.steps) {
        bool done = said.steps.count(step.title) > 0;
        for (const Exercise& exercise : step.exercises) {
            ++row.all_exercises;
            const auto found = said.exercises.find(exercise.id);
            if (found == said.exercises.end()) continue;
            row.exercises.push_back(found->second);
            done = true;
        }
        row.done += done;
    }
    return row;
}

std::string html_text(std::string_view text) {
    std::string all;
    for (const char c : text)
        all += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
    return all;
}

constexpr std::string_view page_style = R"(
  body { font: 10.5pt/1.4 Inter, "Helvetica Neue", Arial, sans-serif; color: #1b1f24; max-width: 52em; margin: 2.5em auto; padding: 0 1.5em }
  h1 { font-size: 2em; margin: 0; letter-spacing: -.01em } h2 { font-size: 1.1em; margin: 1.5em 0 .3em; break-after: avoid }
  .name { font-size: 1.35em; margin: .35em 0 } .quiet { color: #5b6570 } .sum { display: flex; gap: 2.4em; margin: 1.2em 0 }
  .sum div { border-left: 3px solid #2f6fdf; padding-left: .7em } .sum b { display: block; font-size: 1.5em }
  table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .22em .7em .22em 0; border-bottom: 1px solid #dde2e7 }
  th { color: #5b6570; font-weight: 600 } tr { break-inside: avoid } td.number { white-space: nowrap }
  .gold { color: #7a6200; font-weight: 600 } .silver { color: #5b6470; font-weight: 600 } .bronze { color: #8a5322; font-weight: 600 }
  @media print { body { margin: 0; max-width: none } }
)";

std::string exercises_html(const Certificate::Row& row) {
    std::string text;
    for (const Certificate::Exercise& one : row.exercises)
        text += fmt::format("{}<code>{}</code>{}", text.empty() ? "" : ", ", html_text(one.id),
                            one.on.empty() ? "" : " <span class=\"quiet\">" + html_text(one.on) + "</span>");
    if (row.exercises.size() < row.all_exercises)
        text += fmt::format("{}{} of {}", text.empty() ? "" : " · ", row.exercises.size(), row.all_exercises);
    return text;
}

std::string row_html(const Certificate::Row& row) {
    const std::string medal =
        row.medal == Medal::none ? std::string() : fmt::format("<span class=\"{0}\">{0}</span>", name_of(row.medal));
    const std::string steps = row.exam
                                  ? (row.of_points > 0 ? fmt::format("{:g} of {:g} points, {}", row.points, row.of_points,
                                                                     row.passed ? "passed" : "not passed")
                                                       : std::string("not handed in"))
                                  : fmt::format("{} of {}", row.done, row.steps);
    return fmt::format(
        "<tr><td>{}</td><td>{}{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td></tr>\n",
        html_text(row.id), row.exam ? "Exam: " : "", html_text(row.title), steps, exercises_html(row), medal,
        html_text(row.on));
}

}  // namespace

size_t Certificate::whole() const {
    return static_cast<size_t>(
        std::ranges::count_if(rows, [](const Row& row) { return !row.exam && row.done == row.steps; }));
}

size_t Certificate::medals(Medal medal) const {
    return static_cast<size_t>(std::ranges::count_if(rows, [&](const Row& row) { return row.medal == medal; }));
}

std::string today() {
    using namespace std::chrono;
    const year_month_day day(floor<days>(system_clock::now()));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
}

Certificate certificate_of(const std::string& progress, const std::vector<Lesson>& course) {
    std::map<std::string, Said> by_lesson;
    std::istringstream in(progress);
    for (std::string text; std::getline(in, text);) {
        const Json line = Json::parse(text, nullptr, false);
        if (!line.is_object()) continue;
        if (const std::string lesson = word_of(line, "lesson"); !lesson.empty()) take_line(line, by_lesson[lesson]);
    }
    Certificate certificate;
    for (const Lesson& lesson : course) {
        certificate.lessons += !lesson.exam;
        const auto said = by_lesson.find(lesson.id);
        if (said == by_lesson.end()) continue;
        Certificate::Row row = row_of(lesson, said->second);
        if (row.done > 0 || !row.exercises.empty() || row.of_points > 0 || row.medal != Medal::none)
            certificate.rows.push_back(std::move(row));
    }
    return certificate;
}

std::string certificate_page(const Certificate& certificate, const std::string& name, const std::string& today) {
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Lockstep: what was done</title>\n"
        "<style>{}</style>\n</head>\n<body>\n<h1>GPUs and training at scale</h1>\n",
        page_style);
    if (!name.empty()) html += fmt::format("<p class=\"name\">{}</p>\n", html_text(name));
    size_t exercises = 0, exams = 0;
    for (const Certificate::Row& row : certificate.rows) exercises += row.exercises.size(), exams += row.exam && row.passed;
    html += fmt::format(
        "<div class=\"sum\"><div><b>{} of {}</b>lessons done</div><div><b>{}</b>exercises passed</div>"
        "<div><b>{} · {} · {}</b>gold · silver · bronze</div><div><b>{}</b>exam{} passed</div></div>\n",
        certificate.whole(), certificate.lessons, exercises, certificate.medals(Medal::gold),
        certificate.medals(Medal::silver), certificate.medals(Medal::bronze), exams, exams == 1 ? "" : "s");
    std::string part;
    for (const Certificate::Row& row : certificate.rows) {
        if (row.part != part) {
            html += (part.empty() ? "" : "</table>\n") +
                    fmt::format(
                        "<h2>{}</h2>\n<table><tr><th></th><th>lesson</th><th>steps</th><th>exercises passed</th>"
                        "<th>medal</th><th>last</th></tr>\n",
                        html_text(part_title(row.part)));
            part = row.part;
        }
        html += row_html(row);
    }
    if (!part.empty()) html += "</table>\n";
    return html + "<p class=\"quiet\">" + html_text(certificate_says(today)) + "</p>\n</body>\n</html>";
}

std::string certificate_says(const std::string& today) {
    return fmt::format(
        "Written by Lockstep on {}. This is what this computer recorded while somebody learned on it: exercises and medals "
        "were judged by the engine, and the rest was clicked. It is no proof of who that was.",
        today);
}

std::string part_title(const std::string& part) {
    return part == "A"   ? "Part A: one GPU"
           : part == "B" ? "Part B: training"
           : part == "C" ? "Part C: many GPUs"
                         : "Part " + part;
}

Result<Certificate> certificate_in(const std::filesystem::path& progress) {
    const Result<std::string> text = read_text(progress, size_t{64} << 20);
    if (!text)
        return Diagnostic{fmt::format("there is no progress yet: '{}' is not there; the app writes it as lessons are done",
                                      progress.string())};
    std::vector<Lesson> course;
    for (const std::filesystem::path& folder : lesson_folders()) {
        Result<Lesson> lesson = load_lesson(folder);
        if (!lesson) return lesson.error();
        course.push_back(std::move(lesson.value()));
    }
    Certificate certificate = certificate_of(text.value(), course);
    if (certificate.rows.empty()) return Diagnostic{fmt::format("'{}' names nothing that was done yet", progress.string())};
    return certificate;
}

Result<std::string> certificate_from(const std::filesystem::path& progress, const std::string& name) {
    const Result<Certificate> certificate = certificate_in(progress);
    if (!certificate) return certificate.error();
    return certificate_page(certificate.value(), name, today());
}

}  // namespace lockstep::lessons
