// `lockstep grade`: a submission against a lesson's exercises, as points with reasons; text, JSON, JUnit's XML, or
// Gradescope's results.json. A file answers the exercise that has its name (or the lesson's only one); a folder answers
// every exercise whose file lies in it. Several submissions are graded one after the other.
#include "app/cli/lesson/grade.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "app/cli/cli.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/program/program.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"
#include "core/device/kernels/kernel_library.h"
#include "lessons/player/check.h"
#include "lessons/player/exercise.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// Asks to stop after so many seconds, unless it goes out of scope before.
class TimeLimit {
  public:
    explicit TimeLimit(double seconds)
        : timer_([this, seconds](const std::stop_token& done) {
              std::unique_lock lock(mutex_);
              if (!changed_.wait_for(lock, done, std::chrono::duration<double>(seconds), [] { return false; }) &&
                  !done.stop_requested())
                  source_.request_stop();
          }) {}
    std::stop_token token() const { return source_.get_token(); }
    bool ran_out() const { return source_.stop_requested(); }

  private:
    std::stop_source source_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::jthread timer_;
};

std::vector<const lessons::Exercise*> exercises_of(const lessons::Lesson& lesson, const GradeAsked& asked) {
    std::vector<const lessons::Exercise*> all;
    std::vector<std::string> names;
    for (const lessons::Step& step : lesson.steps)
        for (const lessons::Exercise& exercise : step.exercises) {
            if (asked.exercise.empty() || asked.exercise == exercise.id) all.push_back(&exercise);
            names.push_back(exercise.id);
        }
    if (names.empty()) throw Failure(fmt::format("lesson {} has no exercise to grade", lesson.id));
    if (all.empty()) {
        throw Failure(fmt::format("lesson {} has no exercise {}{}; it has {}", lesson.id, asked.exercise,
                                  did_you_mean(asked.exercise, names, ""), fmt::join(names, ", ")));
    }
    return all;
}

Graded grade_one(const lessons::Lesson& lesson, const lessons::Exercise& exercise, const fs::path& file,
                 const GradeAsked& asked) {
    Graded graded{exercise.id, file.filename().string(), {}, {}, {}, 0};
    graded.report.of_points = exercise.points;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
        graded.problem = fmt::format("there is no file {} in the submission", file.filename().string());
        return graded;
    }
    if (const fs::path true_place = fs::canonical(file, error), folder = fs::canonical(file.parent_path() / ".", error);
        !true_place.string().starts_with((folder / "").string())) {
        graded.problem =
            fmt::format("{} is a link out of the submission: hand in the file itself", file.filename().string());
        return graded;
    }
    // A computer without a compiler is nobody's wrong answer: that fails here, not the submission.
    if (fs::path(exercise.file).extension() == ".cu") graded.compiler = device::compiler_version(asked.compiler);
    const auto begin = std::chrono::steady_clock::now();
    TimeLimit limit(asked.max_seconds);
    try {
        // The exercise's own name: what the file is (CUDA, host program) goes by the exercise, not by how it was handed in.
        auto report = lessons::check_submission(lesson, exercise, read_text(file).value(), exercise.file,
                                                {.compiler = asked.compiler,
                                                 .compile_seconds = std::min(30.0, asked.max_seconds),
                                                 .submission = file.parent_path(),
                                                 .stop = limit.token()});
        if (report)
            graded.report = std::move(report.value());
        else
            graded.problem = render(report.error());
    } catch (const Failure& failure) {
        graded.problem = render(failure.diagnostic);
    } catch (const std::bad_alloc&) {  // this one's, not the end of all others
        graded.problem = "it asks for more memory than there is here";
    } catch (const std::exception& problem) {
        graded.problem = fmt::format("it could not be judged: {}", problem.what());
    }
    if (limit.ran_out() && !graded.report.passed)
        graded.problem = fmt::format("it took longer than the {:g} seconds that --max-seconds allows", asked.max_seconds);
    graded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return graded;
}

GradedSubmission grade(const lessons::Lesson& lesson, const std::vector<const lessons::Exercise*>& exercises,
                       const std::string& path, const GradeAsked& asked) {
    GradedSubmission result{path, {}, 0, 0};
    if (fs::is_directory(path)) {
        for (const lessons::Exercise* exercise : exercises)
            result.exercises.push_back(grade_one(lesson, *exercise, fs::path(path) / exercise->file, asked));
    } else {
        const lessons::Exercise* answered = exercises.size() == 1 ? exercises.front() : nullptr;
        for (const lessons::Exercise* exercise : exercises)
            if (!answered && fs::path(path).filename() == fs::path(exercise->file).filename()) answered = exercise;
        if (!answered) {
            std::vector<std::string> names;
            for (const lessons::Exercise* exercise : exercises) names.push_back(exercise->id + " (" + exercise->file + ")");
            throw Failure(
                Diagnostic{fmt::format("lesson {} has the exercises {}: say which one this file answers with --exercise",
                                       lesson.id, fmt::join(names, ", ")),
                           {path}});
        }
        result.exercises.push_back(grade_one(lesson, *answered, path, asked));
    }
    for (const Graded& graded : result.exercises) {
        result.points += graded.problem.empty() ? graded.report.points : 0;
        result.of_points += graded.report.of_points;
    }
    return result;
}

nlohmann::ordered_json json_of(const GradedSubmission& submission) {
    nlohmann::ordered_json exercises = nlohmann::ordered_json::array();
    for (const Graded& graded : submission.exercises) {
        nlohmann::ordered_json clauses = nlohmann::ordered_json::array();
        for (const lessons::Clause& clause : graded.report.clauses)
            clauses.push_back({{"check", clause.text}, {"holds", clause.holds}, {"detail", clause.detail}});
        exercises.push_back({{"exercise", graded.exercise},
                             {"file", graded.file},
                             {"compiler", graded.compiler},
                             {"passed", graded.passed()},
                             {"points", graded.problem.empty() ? graded.report.points : 0},
                             {"of_points", graded.report.of_points},
                             {"checks", std::move(clauses)},
                             {"reasons", graded.reasons()},
                             {"seconds", graded.seconds}});
    }
    return {{"submission", submission.name},
            {"passed", submission.passed()},
            {"points", submission.points},
            {"of_points", submission.of_points},
            {"exercises", std::move(exercises)}};
}

// A test of Gradescope's results.json ("Autograder specifications"): score, max_score, status, output.
nlohmann::ordered_json gradescope_of(const lessons::Lesson& lesson, const GradedSubmission& submission) {
    nlohmann::ordered_json tests = nlohmann::ordered_json::array();
    for (const Graded& graded : submission.exercises)
        tests.push_back({{"name", fmt::format("{} {}", lesson.id, graded.exercise)},
                         {"score", graded.problem.empty() ? graded.report.points : 0},
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
        for (const Graded& graded : submission.exercises) failures += !graded.passed();
        xml += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", xml_text(submission.name),
                           submission.exercises.size(), failures);
        for (const Graded& graded : submission.exercises) {
            xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml_text(lesson.id),
                               xml_text(graded.exercise), graded.seconds);
            xml += graded.passed()
                       ? "/>\n"
                       : fmt::format(">\n      <failure message=\"{:g} of {:g} points\">{}</failure>\n    </testcase>\n",
                                     graded.problem.empty() ? graded.report.points : 0.0, graded.report.of_points,
                                     xml_text(graded.reasons()));
        }
        xml += "  </testsuite>\n";
    }
    return xml + "</testsuites>";
}

std::string text_of(const std::vector<GradedSubmission>& submissions) {
    std::string text;
    for (const GradedSubmission& submission : submissions) {
        text += fmt::format("{}: {:g} of {:g} points\n", submission.name, submission.points, submission.of_points);
        for (const Graded& graded : submission.exercises) {
            text += fmt::format("  {} {}: {}\n", graded.exercise, graded.file, graded.passed() ? "passed" : "not passed");
            std::istringstream lines(graded.reasons());
            for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
        }
    }
    if (!text.empty()) text.pop_back();
    return clean_text(text);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(file, error) &&
           fs::weakly_canonical(fs::absolute(file, error), error)
               .string()
               .starts_with((fs::weakly_canonical(fs::absolute(folder, error), error) / "").string());
}

// The file that the result goes to is none of a submission's, nor of the lesson's. A result from before may lie there.
void keep_out_apart(const lessons::Lesson& lesson, const std::vector<const lessons::Exercise*>& exercises,
                    const GradeAsked& asked) {
    std::vector<FileUse> read;
    const fs::path out = asked.out, extension = out.extension();
    const bool result = extension == ".json" || extension == ".xml" || extension == ".txt";
    for (const std::string& path : asked.submissions) {
        if (!fs::is_directory(path)) {
            read.push_back({"--submission", path});
            continue;
        }
        for (const lessons::Exercise* exercise : exercises)
            read.push_back({"--submission", (fs::path(path) / exercise->file).string()});
        if (!result && lies_in(out, path)) read.push_back({"--submission", asked.out});
    }
    if (!lesson.folder.empty() && lies_in(out, lesson.folder)) read.push_back({"the lesson", asked.out});
    keep_apart(read, {{"--out", asked.out}});
}

int grade_all(const GradeAsked& asked) {
    static const std::vector<std::string> formats = {"text", "json", "junit", "gradescope"};
    if (std::find(formats.begin(), formats.end(), asked.format) == formats.end()) {
        throw Failure(fmt::format("--format {} is not one of text, json, junit and gradescope{}", asked.format,
                                  did_you_mean(asked.format, formats, "")));
    }
    if (asked.format == "gradescope" && asked.submissions.size() != 1)
        throw Failure(fmt::format("Gradescope's format holds one submission, not {}", asked.submissions.size()));
    if (!(asked.max_seconds > 0)) throw Failure("--max-seconds is a number above 0");
    lessons::Lesson lesson;
    std::vector<const lessons::Exercise*> exercises;
    if (asked.program.asked) {
        check_program_test(asked.program);
        lesson.id = "program";
        lesson.title = "a whole program";
    } else {
        lesson = fs::exists(fs::path(asked.lesson) / "lesson.md") ? lessons::load_lesson(asked.lesson).value()
                                                                  : lessons::lesson_named(asked.lesson).value();
        exercises = exercises_of(lesson, asked);
    }
    for (const std::string& path : asked.submissions)
        if (std::error_code error; !fs::exists(path, error))
            throw Failure(Diagnostic{"there is no such submission", {path}});
    keep_out_apart(lesson, exercises, asked);
    check_can_write(asked.out);
    std::vector<GradedSubmission> graded;
    for (size_t i = 0; i < asked.submissions.size(); ++i) {
        graded.push_back(asked.program.asked ? grade_program(asked.submissions[i], asked)
                                             : grade(lesson, exercises, asked.submissions[i], asked));
        if (asked.submissions.size() > 1)
            tell("{} of {}: {} {:g} of {:g}\n", i + 1, asked.submissions.size(), graded.back().name, graded.back().points,
                 graded.back().of_points);
    }
    std::string text;
    if (asked.format == "text") {
        text = text_of(graded);
    } else if (asked.format == "junit") {
        text = junit_of(lesson, graded);
    } else if (asked.format == "gradescope") {
        text = gradescope_of(lesson, graded.front()).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    } else {
        nlohmann::ordered_json json{{"lesson", lesson.id}, {"submissions", nlohmann::ordered_json::array()}};
        for (const GradedSubmission& submission : graded) json["submissions"].push_back(json_of(submission));
        text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    if (asked.out == "-")
        fmt::print("{}\n", text);
    else
        write_file(asked.out, text + "\n");
    const bool passed =
        std::all_of(graded.begin(), graded.end(), [](const GradedSubmission& submission) { return submission.passed(); });
    return static_cast<int>(passed ? ExitStatus::done : ExitStatus::faulted);
}

}  // namespace

void add_grade(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand(
        "grade",
        "points and reasons for a submission to a lesson's exercises; or, with --program, for a whole program with main(): "
        "lockstep grade --program --stdin in.txt --expect out.txt --submission alice/ -- ARGUMENTS. It is compiled and run "
        "in "
        "a sandbox of Linux' namespaces: no network, no files but the compilers' and its own, limits on time, memory, "
        "processes and output");
    auto asked = std::make_shared<GradeAsked>();
    auto* lesson = command->add_option("--lesson", asked->lesson, "a lesson such as A06, or its folder");
    ProgramTest& program = asked->program;
    auto* whole = command
                      ->add_flag("--program", program.asked,
                                 "the submissions are whole programs: a file, or a folder with its sources")
                      ->excludes(lesson);
    command->add_option("--stdin", program.input, "of a program: the file that it reads")->needs(whole);
    command
        ->add_option("--expect", program.expected,
                     "of a program: the file with what it is to print; blanks at ends of "
                     "lines do not count")
        ->needs(whole);
    command->add_option("--status", program.status, "of a program: its exit status, 0 unless said")->needs(whole);
    command
        ->add_option("--check", program.check,
                     "of a program: all, none or a list, as for 'lockstep run'; what is found costs the points")
        ->needs(whole);
    command->add_option("--gpu", program.gpu, "of a program: the modelled GPU, see 'lockstep gpus'")->needs(whole);
    command->add_option("--points", program.points, "of a program: how many it is worth, 1 unless said")->needs(whole);
    command
        ->add_option("--cpu-seconds", program.processor_seconds,
                     "of a program and its compiler: processor time, 60 unless said")
        ->needs(whole)
        ->check(CLI::Range(1.0, 86400.0));
    command->add_option("--memory", program.memory_gib, "of a program and its compiler: GiB, 4 unless said")
        ->needs(whole)
        ->check(CLI::Range(0.25, 4096.0));
    command->add_option("--processes", program.threads, "of a program: processes and threads at once, 256 unless said")
        ->needs(whole)
        ->check(CLI::Range(16, 100'000));
    command->add_option("--output", program.output_bytes, "of a program: bytes that it may print, 1048576 unless said")
        ->needs(whole)
        ->check(CLI::Range(1, 1 << 28));
    command->add_option("--submission", asked->submissions, "a file, or a folder with a file an exercise; may be repeated")
        ->required();
    command->add_option("--exercise", asked->exercise,
                        "which one, where the lesson has several and the file's name does not say");
    command->add_option("--format", asked->format, "text, json, junit or gradescope");
    command->add_option("--out", asked->out, "where to; '-' is stdout");
    command->add_option("--compiler", asked->compiler, "nvrtc, nvcc or clang; default: the first found");
    command->add_option(
        "--max-seconds", asked->max_seconds,
        "of wall time, for one exercise of one submission, 60 unless said; for a program ten times --cpu-seconds");
    command->callback([asked, command, &status] {
        asked->program.arguments = words_behind();
        if (asked->program.asked && command->count("--max-seconds") == 0)  // a busy computer is nobody's wrong answer
            asked->max_seconds = 10 * asked->program.processor_seconds;
        if (asked->lesson.empty() && !asked->program.asked)
            throw Failure("grade needs --lesson, such as A06, or --program for a whole program");
        if (!asked->program.asked && !asked->program.arguments.empty())
            throw Failure("arguments behind -- are a program's: say --program");
        status = grade_all(*asked);
    });
}

}  // namespace lockstep::cli
