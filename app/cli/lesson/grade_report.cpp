// Grades as text, JSON, CSV, JUnit's XML and Gradescope's results.json.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/lesson/grade.h"

namespace lockstep::cli {
namespace {

// What Ctrl-C came before has no points: a zero would be a grade.
nlohmann::ordered_json points_json(const Graded& graded) {
    return graded.ended_before ? nlohmann::ordered_json() : nlohmann::ordered_json(graded.points());
}
std::string points_csv(const Graded& graded) {
    return graded.ended_before ? std::string() : fmt::format("{:.4g}", graded.points());
}

nlohmann::ordered_json json_of(const GradedSubmission& submission) {
    nlohmann::ordered_json exercises = nlohmann::ordered_json::array();
    for (const Graded& graded : submission.exercises) {
        nlohmann::ordered_json clauses = nlohmann::ordered_json::array();
        for (const lessons::Clause& clause : graded.report.clauses)
            clauses.push_back({{"check", clause.text},
                               {"holds", clause.holds},
                               {"detail", clause.detail},
                               {"required", clause.required},
                               {"points", clause.points},
                               {"of_points", clause.of_points}});
        exercises.push_back(
            {{"exercise", graded.exercise},
             {"file", graded.file},
             {"compiler", graded.compiler},
             {"passed", graded.ended_before ? nlohmann::ordered_json() : nlohmann::ordered_json(graded.passed())},
             {"points", points_json(graded)},
             {"of_points", graded.report.of_points},
             {"checks", std::move(clauses)},
             {"note", graded.note},
             {"reasons", graded.reasons()},
             {"seconds", graded.seconds}});
        if (const auto& medal = graded.report.medal) {
            exercises.back()["medal"] = lessons::name_of(medal->medal);
            exercises.back()["challenge_figure"] = medal->figure;
        }
        if (!graded.design) continue;
        const GradedDesign& design = *graded.design;
        nlohmann::ordered_json& row = exercises.back();
        const bool ran = design.time_us > 0;
        const auto figure = [&](double value) { return ran ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
        row["medal"] = graded.report.passed ? nlohmann::ordered_json(design.medal) : nlohmann::ordered_json();
        row["time_us"] = figure(design.time_us);
        row["estimated_mm2"] = figure(design.mm2);
        row["estimated_watts"] = figure(design.watts);
    }
    return {{"submission", submission.name},
            {"passed", submission.judged() ? nlohmann::ordered_json(submission.passed()) : nlohmann::ordered_json()},
            {"points", submission.judged() ? nlohmann::ordered_json(submission.points) : nlohmann::ordered_json()},
            {"of_points", submission.of_points},
            {"exercises", std::move(exercises)}};
}

// A test of Gradescope's results.json ("Autograder specifications"): score, max_score, status, output.
nlohmann::ordered_json gradescope_of(const lessons::Lesson& lesson, const GradedSubmission& submission) {
    nlohmann::ordered_json tests = nlohmann::ordered_json::array();
    for (const Graded& graded : submission.exercises)
        tests.push_back({{"name", fmt::format("{} {}", lesson.id, graded.exercise)},
                         {"score", points_json(graded)},
                         {"max_score", graded.report.of_points},
                         {"status", graded.passed() ? "passed" : "failed"},
                         {"output", graded.reasons()},
                         {"output_format", "text"}});
    return {{"score", submission.points}, {"output", fmt::format("{}: {}", lesson.id, lesson.title)}, {"tests", tests}};
}

// Bytes of the UTF-8 character at `at`; 0: there is none.
size_t utf8_length(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    const unsigned first = byte(0);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : first >= 0xe0 && first < 0xf0 ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool surrogate = first == 0xed && byte(1) >= 0xa0, beyond = first == 0xf4 && byte(1) >= 0x90;
    const bool never = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;  // U+FFFE and U+FFFF are no characters of XML
    return too_long || surrogate || beyond || never ? 0 : length;
}

// What a submission prints, as a terminal and XML can hold it: no other control characters than ends of lines and tabs, and
// U+FFFD for what is no UTF-8.
std::string clean_text(std::string_view text) {
    std::string clean;
    for (size_t at = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        const size_t length = utf8_length(text, at);
        const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
                             (c == 0xc2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
        if (length == 0)
            clean += "\xef\xbf\xbd";
        else if (control)
            clean += fmt::format("\\x{:02x}", length == 1 ? c : static_cast<unsigned char>(text[at + 1]));
        else
            clean += text.substr(at, length);
        at += std::max<size_t>(length, 1);
    }
    return clean;
}

std::string xml_text(const std::string& text) {
    std::string escaped;
    for (const char c : clean_text(text)) switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                escaped += c;
        }
    return escaped;
}

// A suite a submission, a case an exercise: what Jenkins, GitLab and their like read.
std::string junit_of(const lessons::Lesson& lesson, const std::vector<GradedSubmission>& submissions) {
    std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
    for (const GradedSubmission& submission : submissions) {
        size_t failures = 0;
        for (const Graded& graded : submission.exercises) failures += !graded.passed() && !graded.ended_before;
        xml += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", xml_text(submission.name),
                           submission.exercises.size(), failures);
        for (const Graded& graded : submission.exercises) {
            xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml_text(lesson.id),
                               xml_text(graded.exercise), graded.seconds);
            xml += graded.passed() ? "/>\n"
                   : graded.ended_before
                       ? fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml_text(graded.problem))
                       : fmt::format(">\n      <failure message=\"{:.4g} of {:.4g} points\">{}</failure>\n    </testcase>\n",
                                     graded.points(), graded.report.of_points, xml_text(graded.reasons()));
        }
        xml += "  </testsuite>\n";
    }
    return xml + "</testsuites>";
}

std::string text_of(const std::vector<GradedSubmission>& submissions) {
    std::string text;
    for (const GradedSubmission& submission : submissions) {
        text += submission.judged()
                    ? fmt::format("{}: {:.4g} of {:.4g} points\n", submission.name, submission.points, submission.of_points)
                    : fmt::format("{}: not judged to its end\n", submission.name);
        for (const Graded& graded : submission.exercises) {
            text += fmt::format("  {} {}: {}\n", graded.exercise, graded.file,
                                graded.passed()       ? "passed"
                                : graded.ended_before ? "not judged"
                                                      : "not passed");
            if (!graded.note.empty()) text += "    " + graded.note + "\n";
            std::istringstream lines(graded.reasons());
            for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
        }
    }
    if (!text.empty()) text.pop_back();
    return clean_text(text);
}

// A field as RFC 4180 has it. What a spreadsheet would take for a formula is none.
std::string csv_field(const std::string& text) {
    std::string field = clean_text(text);
    if (!field.empty() && std::string_view("=+-@\t").find(field.front()) != std::string_view::npos) field.insert(0, "'");
    if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
    std::string quoted = "\"";
    for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

// A line an exercise of a submission.
std::string csv_of(const std::vector<GradedSubmission>& submissions) {
    std::string text = "submission,exercise,file,passed,points,of_points,processor_seconds,checks,reasons,medal\n";
    for (const GradedSubmission& submission : submissions)
        for (const Graded& graded : submission.exercises) {
            std::string checks;
            for (const lessons::Clause& clause : graded.report.clauses)
                checks += fmt::format("{}{}: {}", checks.empty() ? "" : "; ", clause.text,
                                      clause.of_points > 0 ? fmt::format("{:.4g} of {:.4g}", clause.points, clause.of_points)
                                      : clause.holds       ? "holds"
                                                           : "does not hold");
            text += fmt::format("{},{},{},{},{},{:.4g},{:.2f},{},{},{}\n", csv_field(submission.name),
                                csv_field(graded.exercise), csv_field(graded.file),
                                graded.passed()       ? "yes"
                                : graded.ended_before ? ""
                                                      : "no",
                                points_csv(graded), graded.report.of_points, graded.seconds, csv_field(checks),
                                csv_field(graded.reasons()),
                                graded.report.medal ? lessons::name_of(graded.report.medal->medal) : "");
        }
    text.pop_back();
    return text;
}

// A line a design; what was not run has no figures.
std::string designs_csv(const std::vector<GradedSubmission>& submissions) {
    std::string text = "submission,puzzle,file,medal,points,of_points,time_us,estimated_mm2,estimated_watts,reasons\n";
    for (const GradedSubmission& submission : submissions)
        for (const Graded& graded : submission.exercises) {
            const GradedDesign design = graded.design.value_or(GradedDesign{});
            const bool ran = design.time_us > 0;
            // The figures have columns of their own: the last line says what is missing. Of a problem the sentence, without
            // the line of the file and its caret.
            const std::string why =
                graded.problem.empty() ? graded.report.lines.back() : graded.problem.substr(0, graded.problem.find('\n'));
            const auto figure = [&](double value) { return ran ? fmt::format("{:.6g}", value) : std::string(); };
            text += fmt::format("{},{},{},{},{},{:.4g},{},{},{},{}\n", csv_field(submission.name),
                                csv_field(graded.exercise), csv_field(graded.file),
                                graded.passed()       ? design.medal
                                : graded.ended_before ? std::string()
                                                      : "none",
                                points_csv(graded), graded.report.of_points, figure(design.time_us), figure(design.mm2),
                                figure(design.watts), csv_field(why));
        }
    text.pop_back();
    return text;
}

}  // namespace

const std::vector<std::string>& grade_formats() {
    static const std::vector<std::string> formats = {"text", "json", "csv", "junit", "gradescope"};
    return formats;
}

std::string grades_as(const std::string& format, const lessons::Lesson& lesson,
                      const std::vector<GradedSubmission>& graded) {
    const auto dump = [](const nlohmann::ordered_json& json) {
        return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    if (format == "text") return text_of(graded);
    if (format == "csv") return lesson.id == graded_puzzle ? designs_csv(graded) : csv_of(graded);
    if (format == "junit") return junit_of(lesson, graded);
    if (format == "gradescope") return dump(gradescope_of(lesson, graded.front()));
    if (lesson.id == graded_puzzle) {
        nlohmann::ordered_json json{{"puzzle", lesson.title}, {"submissions", nlohmann::ordered_json::array()}};
        for (const GradedSubmission& submission : graded) json["submissions"].push_back(json_of(submission));
        return dump(json);
    }
    nlohmann::ordered_json json{{"lesson", lesson.id}, {"submissions", nlohmann::ordered_json::array()}};
    for (const GradedSubmission& submission : graded) json["submissions"].push_back(json_of(submission));
    return dump(json);
}

}  // namespace lockstep::cli
