#include "lessons/player/exam/exam.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/base/nearest.h"
#include "lessons/player/parse_directives.h"
#include "lessons/player/predict.h"

namespace lockstep::lessons {

namespace {

std::string lower_words(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_right(const Predict& predict, const std::string& said, double truth) {
    Answer answer;
    for (const Answer& one : predict.answers)
        if (lower_words(one.text) == lower_words(said)) answer = one;
    if (const auto value = number_with_thousands(said); value && !answer.has_value)
        answer.value = *value, answer.has_value = true;
    return agrees(predict, answer, truth);
}

}  // namespace

Exercise exam_answers(const Lesson& lesson) {
    Exercise answers;
    answers.id = "answers";
    answers.file = exam_answers_file;
    answers.points = 0;
    for (const Step& step : lesson.steps)
        for (const Predict& predict : step.predicts) answers.points += predict.points;
    return answers;
}

Result<ExamKey> exam_key(const Lesson& lesson, const scene::RunOptions& options) {
    SceneRuns runs(lesson, options);
    ExamKey key;
    for (size_t s = 0; s < lesson.steps.size(); ++s)
        for (const Predict& predict : lesson.steps[s].predicts) {
            const Result<double> truth = truth_of(runs, s, predict);
            if (!truth) return truth.error();
            key[predict.id] = truth.value();
        }
    return key;
}

ExerciseReport judge_exam_answers(const Lesson& lesson, const ExamKey& key, const std::string& text) {
    std::map<std::string, std::string> said;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        line = line.substr(0, line.find('#'));
        if (const size_t equals = line.find('='); equals != std::string::npos)
            said[without_spaces(line.substr(0, equals))] = without_spaces(line.substr(equals + 1));
    }
    const Exercise answers = exam_answers(lesson);
    ExerciseReport report;
    report.exercise = answers.id;
    report.of_points = answers.points;
    std::vector<std::string> known;
    for (const Step& step : lesson.steps)
        for (const Predict& predict : step.predicts) {
            known.push_back(predict.id);
            const auto found = said.find(predict.id);
            Clause clause{.text = predict.id, .of_points = predict.points};
            clause.holds = found != said.end() && is_right(predict, found->second, key.at(predict.id));
            clause.detail = found == said.end() ? "no answer"
                                                : fmt::format("{}, the run says {:.6g}", found->second, key.at(predict.id));
            clause.points = clause.holds ? clause.of_points : 0;
            report.points += clause.points;
            report.lines.push_back(fmt::format("{} {}: {} ({:g} of {:g} points)", clause.holds ? "pass" : "FAIL",
                                               clause.text, clause.detail, clause.points, clause.of_points));
            report.clauses.push_back(std::move(clause));
        }
    for (const auto& [id, answer] : said)
        if (std::ranges::find(known, id) == known.end())
            report.lines.push_back(fmt::format("there is no task '{}'{}", id, did_you_mean(id, known)));
    report.passed = report.points >= lesson.pass_mark / 100 * report.of_points;
    report.lines.push_back(fmt::format("{:g} of {:g} points", report.points, report.of_points));
    return report;
}

}  // namespace lockstep::lessons
