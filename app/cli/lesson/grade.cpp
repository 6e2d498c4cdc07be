// `lockstep grade`: submissions against a lesson's exercises, as points with reasons. handed_in.cpp says what a submission
// is, grade_work.cpp judges in child processes, grade_program.cpp whole programs in a sandbox, grade_puzzle.cpp designs of a
// GPU; grade_report.cpp writes.
#include "app/cli/lesson/grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "app/cli/cli.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/long_work.h"
#include "app/cli/program/program.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"
#include "core/system/scratch.h"
#include "lessons/player/check.h"
#include "lessons/player/exercise.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

std::vector<const lessons::Exercise*> exercises_of(const lessons::Lesson& lesson, const GradeAsked& asked) {
    std::vector<const lessons::Exercise*> all;
    std::vector<std::string> names;
    for (const lessons::Step& step : lesson.steps)
        for (const lessons::Exercise& exercise : step.exercises) {
            if (asked.exercise.empty() || asked.exercise == exercise.id) all.push_back(&exercise);
            names.push_back(exercise.id);
        }
    if (lesson.answers) {
        if (asked.exercise.empty() || asked.exercise == lesson.answers->id) all.push_back(&*lesson.answers);
        names.push_back(lesson.answers->id);
    }
    if (names.empty()) throw Failure(fmt::format("lesson {} has no exercise to grade", lesson.id));
    if (all.empty()) {
        throw Failure(fmt::format("lesson {} has no exercise {}{}; it has {}", lesson.id, asked.exercise,
                                  did_you_mean(asked.exercise, names, ""), fmt::join(names, ", ")));
    }
    return all;
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
    const bool result = extension == ".json" || extension == ".xml" || extension == ".txt" || extension == ".csv";
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

// Whole programs, each in its sandbox, `jobs` of them at once.
std::vector<GradedSubmission> grade_programs(const std::vector<HandedIn>& submissions, const GradeAsked& asked,
                                             const GradedSink& sink) {
    std::vector<GradedSubmission> graded(submissions.size());
    std::mutex mutex;
    size_t next = 0, done = 0;
    std::optional<Failure> failed;
    const auto work = [&] {
        for (;;) {
            size_t mine = 0;
            {
                const std::lock_guard lock(mutex);
                if (next == submissions.size() || failed || asked.stopped()) return;
                mine = next++;
            }
            try {
                const HandedIn& submission = submissions[mine];
                GradedSubmission made = grade_program(submission.place.string(), asked, submission.problem);
                made.name = submission.name;
                const std::lock_guard lock(mutex);
                graded[mine] = std::move(made);
                if (sink) sink(++done, graded[mine]);
            } catch (const Failure& failure) {  // there is no sandbox here
                const std::lock_guard lock(mutex);
                failed = failure;
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        const size_t jobs = std::min(submissions.size(), static_cast<size_t>(std::max(1, asked.jobs)));
        for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
        work();
    }
    if (failed) throw *failed;
    for (size_t i = 0; i < graded.size(); ++i)
        if (graded[i].exercises.empty()) graded[i] = not_judged(submissions[i], "program", asked.program.points);
    return graded;
}

// A lone submission that cannot be read, or of which nobody knows what it answers, is a mistake of whoever grades.
void refuse_alone(const std::vector<HandedIn>& submissions, const HandedInWanted& wanted, const GradeAsked& asked,
                  const fs::path& scratch) {
    if (asked.submissions.size() != 1 || submissions.size() != 1) return;
    std::error_code error;
    if (!fs::exists(submissions.front().place, error))
        throw Failure(Diagnostic{submissions.front().problem, {submissions.front().name}});
    if (wanted.programs) return;
    for (const Answer& answer : answers_in(submissions.front(), wanted, scratch))
        if (!answer.exercise) throw Failure(Diagnostic{answer.problem, {submissions.front().name}});
}

void check_asked(const GradeAsked& asked) {
    const std::vector<std::string>& formats = grade_formats();
    if (std::find(formats.begin(), formats.end(), asked.format) == formats.end()) {
        throw Failure(fmt::format("--format {} is not one of text, json, csv, junit and gradescope{}", asked.format,
                                  did_you_mean(asked.format, formats, "")));
    }
    if (!(asked.max_seconds > 0)) throw Failure("--max-seconds is a number above 0");
}

int grade_all(GradeAsked asked) {
    check_asked(asked);
    const system::ScratchFolder scratch("lockstep-grade");
    if (scratch.path().empty())
        throw Failure("no temporary folder can be made: set TMPDIR to a folder that can be written", ExitStatus::missing);
    lessons::Lesson lesson;
    std::vector<const lessons::Exercise*> exercises;
    DesignsWanted designs;
    if (asked.program.asked) {
        check_program_test(asked.program);
        lesson.id = "program";
        lesson.title = "a whole program";
    } else if (!asked.puzzle.empty()) {
        designs = designs_wanted(asked.puzzle);
        exercises = designs.exercises();
        lesson.id = graded_puzzle;
        lesson.title = designs.puzzle.title;
    } else {
        lesson = fs::exists(fs::path(asked.lesson) / "lesson.md") ? lessons::load_lesson(asked.lesson).value()
                                                                  : lessons::lesson_named(asked.lesson).value();
        exercises = exercises_of(lesson, asked);
    }
    const HandedInWanted wanted{exercises, asked.program.asked};
    const std::vector<HandedIn> submissions = find_handed_in(asked.submissions, wanted, scratch.path());
    refuse_alone(submissions, wanted, asked, scratch.path());
    if (asked.format == "gradescope" && submissions.size() != 1)
        throw Failure(fmt::format("Gradescope's format holds one submission, not {}", submissions.size()));
    keep_out_apart(lesson, exercises, asked);
    check_can_write(asked.out);
    const GradedSink sink = [&](size_t done, const GradedSubmission& graded) {
        if (submissions.size() > 1)
            tell("{} of {}: {} {:.4g} of {:.4g}\n", done, submissions.size(), graded.name, graded.points, graded.of_points);
    };
    LongWork work("grading");
    asked.stopped = [&] { return work.asked_to_stop(); };
    const std::vector<GradedSubmission> graded =
        asked.program.asked     ? grade_programs(submissions, asked, sink)
        : !asked.puzzle.empty() ? grade_designs(designs, submissions, asked, scratch.path(), work.token(), sink)
                                : grade_answers(lesson, exercises, submissions, asked, scratch.path(), sink);
    const std::string text = grades_as(asked.format, lesson, graded);
    if (asked.out == "-")
        fmt::print("{}\n", text);
    else
        write_file(asked.out, text + "\n");
    if (work.interrupted()) {
        const auto judged = std::count_if(graded.begin(), graded.end(), [](const auto& each) { return each.judged(); });
        tell("the grading was ended after {} of {} submissions\n", judged, submissions.size());
        return interrupted_status;
    }
    const bool passed =
        std::all_of(graded.begin(), graded.end(), [](const GradedSubmission& submission) { return submission.passed(); });
    return static_cast<int>(passed ? ExitStatus::done : ExitStatus::faulted);
}

}  // namespace

void add_grade(const Command& app, int& status) {
    const Command command = app.add_subcommand(
        "grade",
        "points and reasons for a submission to a lesson's exercises; or, with --program, for a whole program with main(): "
        "lockstep grade --program --stdin in.txt --expect out.txt --submission alice/ -- ARGUMENTS. It is compiled and run "
        "in "
        "a sandbox of Linux' namespaces: no network, no files but the compilers' and its own, limits on time, memory, "
        "processes and output");
    auto asked = std::make_shared<GradeAsked>();
    const Option lesson = command.add_option("--lesson", asked->lesson, "a lesson such as A06, or its folder");
    const Option puzzle =
        command
            .add_option("--puzzle", asked->puzzle,
                        "a puzzle such as waits, whose submissions are designs, mine.toml: no medal 0 points, "
                        "bronze 1, silver 2, gold 3")
            .excludes(lesson);
    ProgramTest& program = asked->program;
    const Option whole =
        command
            .add_flag("--program", program.asked, "the submissions are whole programs: a file, or a folder with its sources")
            .excludes(lesson)
            .excludes(puzzle);
    command.add_option("--stdin", program.input, "of a program: the file that it reads").needs(whole);
    command
        .add_option("--expect", program.expected,
                    "of a program: the file with what it is to print; blanks at ends of "
                    "lines do not count")
        .needs(whole);
    command.add_option("--status", program.status, "of a program: its exit status, 0 unless said").needs(whole);
    command
        .add_option("--check", program.check,
                    "of a program: all, none or a list, as for 'lockstep run'; what is found costs the points")
        .needs(whole);
    command.add_option("--gpu", program.gpu, "of a program: the modelled GPU, see 'lockstep gpus'").needs(whole);
    command.add_option("--points", program.points, "of a program: how many it is worth, 1 unless said").needs(whole);
    command
        .add_option("--cpu-seconds", program.processor_seconds,
                    "of a program and its compiler: processor time, 60 unless said")
        .needs(whole)
        .between(1.0, 86400.0);
    command.add_option("--memory", program.memory_gib, "of a program and its compiler: GiB, 4 unless said")
        .needs(whole)
        .between(0.25, 4096.0);
    command.add_option("--processes", program.threads, "of a program: processes and threads at once, 256 unless said")
        .needs(whole)
        .between(16, 100'000);
    command.add_option("--output", program.output_bytes, "of a program: bytes that it may print, 1048576 unless said")
        .needs(whole)
        .between(1, 1 << 28);
    command.add_option(
        "--submission", asked->submissions,
        "a file, a notebook, a folder or a .zip with a file an exercise; or a folder or a .zip that holds one of "
        "these a student; may be repeated");
    command.add_option("SUBMISSIONS", asked->places, "the same without the word, as in grade --puzzle waits class.zip");
    command.add_option("--exercise", asked->exercise,
                       "which one, where the lesson has several and the file's name does not say");
    command.add_option("--format", asked->format, "text, json, csv, junit or gradescope");
    command.add_option("--out", asked->out, "where to; '-' is stdout");
    command.add_option("--compiler", asked->compiler, "nvrtc, nvcc, clang or ziglang; default: the first found");
    command.add_option(
        "--max-seconds", asked->max_seconds,
        "of processor time, for one exercise of one submission, compiler included, 60 unless said; what takes ten times as "
        "long on the wall is ended too. Of a program: of wall time, ten times --cpu-seconds unless said");
    command.add_option("--jobs", asked->jobs, "submissions at once, as many as there are cores unless said; of programs 1")
        .between(1, 256);
    command.callback([asked, command, &status] {
        asked->program.arguments = words_behind();
        if (asked->program.asked && !command.given("--max-seconds"))  // a busy computer is nobody's wrong answer
            asked->max_seconds = 10 * asked->program.processor_seconds;
        if (asked->lesson.empty() && asked->puzzle.empty() && !asked->program.asked)
            throw Failure("grade needs --lesson, such as A06, --puzzle, such as waits, or --program for a whole program");
        asked->submissions.insert(asked->submissions.end(), asked->places.begin(), asked->places.end());
        if (asked->submissions.empty()) missing_option("--submission");
        if (!asked->program.asked && !asked->program.arguments.empty())
            throw Failure("arguments behind -- are a program's: say --program");
        status = grade_all(*asked);
    });
}

}  // namespace lockstep::cli
