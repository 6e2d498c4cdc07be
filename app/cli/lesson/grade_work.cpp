// Grading in child processes. Each takes a list of answers from a file, judges one after the other and says a line of JSON
// for each. One that ends early has met an answer that ends processes: that one gets no points, the rest goes to another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/lesson/grade.h"
#include "app/cli/lesson/grade_task.h"
#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/system/system.h"
#include "lessons/player/exam/exam.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double wall_for_processor = 10;  // a busy computer is nobody's wrong answer
constexpr size_t most_in_a_task = 24;

// Asks to stop when this process has used so many seconds of processor time, but for what is of use to all, or ten times as
// many have passed.
class ProcessorLimit {
  public:
    ProcessorLimit(double seconds, const lessons::TimeForAll& for_all)
        : seconds_(seconds), for_all_(for_all), begin_(system::process_seconds() - for_all.seconds()) {
        timer_ = std::jthread([this](const std::stop_token& done) { watch(done); });
    }
    std::stop_token token() const { return source_.get_token(); }
    double used() const { return system::process_seconds() - for_all_.seconds() - begin_; }
    // Why it asked to; empty: it has not.
    std::string ran_out() const {
        if (used() >= seconds_)
            return fmt::format("it took longer than the {:g} seconds of processor time that --max-seconds allows", seconds_);
        if (!source_.stop_requested()) return {};
        return fmt::format("it was not done after {:g} seconds, ten times those of processor time that --max-seconds allows",
                           wall_for_processor * seconds_);
    }

  private:
    void watch(const std::stop_token& done) {
        const auto begin = std::chrono::steady_clock::now();
        while (!done.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (used() >= seconds_ || wall >= wall_for_processor * seconds_) {
                source_.request_stop();
                return;
            }
        }
    }

    double seconds_;
    const lessons::TimeForAll& for_all_;
    double begin_;
    std::stop_source source_;
    std::jthread timer_;
};

struct Item {  // one answer to be judged
    size_t submission = 0, answer = 0;
    std::string exercise, file, folder, shown, note, compiler;
    double max_seconds = 60;
};

json as_json(const Item& item) {
    return {
        {"submission", item.submission},  {"answer", item.answer}, {"exercise", item.exercise}, {"file", item.file},
        {"folder", item.folder},          {"shown", item.shown},   {"note", item.note},         {"compiler", item.compiler},
        {"max_seconds", item.max_seconds}};
}
Item item_of(const json& from) {
    return {from.at("submission"), from.at("answer"), from.at("exercise"), from.at("file"),       from.at("folder"),
            from.at("shown"),      from.at("note"),   from.at("compiler"), from.at("max_seconds")};
}

json as_json(const Graded& graded) {
    json clauses = json::array();
    for (const lessons::Clause& clause : graded.report.clauses)
        clauses.push_back({clause.text, clause.holds, clause.detail, clause.required, clause.points, clause.of_points});
    return {{"exercise", graded.exercise},
            {"file", graded.file},
            {"problem", graded.problem},
            {"compiler", graded.compiler},
            {"note", graded.note},
            {"seconds", graded.seconds},
            {"passed", graded.report.passed},
            {"points", graded.report.points},
            {"of_points", graded.report.of_points},
            {"launches", graded.report.launches},
            {"lines", graded.report.lines},
            {"medal", graded.report.medal ? std::string(lessons::name_of(graded.report.medal->medal)) : std::string()},
            {"figure", graded.report.medal ? graded.report.medal->figure : 0.0},
            {"clauses", std::move(clauses)}};
}
Graded graded_of(const json& from) {
    Graded graded;
    graded.exercise = from.at("exercise");
    graded.file = from.at("file");
    graded.problem = from.at("problem");
    graded.compiler = from.at("compiler");
    graded.note = from.at("note");
    graded.seconds = from.at("seconds");
    graded.report.exercise = graded.exercise;
    graded.report.passed = from.at("passed");
    graded.report.points = from.at("points");
    graded.report.of_points = from.at("of_points");
    graded.report.launches = from.at("launches");
    graded.report.lines = from.at("lines").get<std::vector<std::string>>();
    if (const std::string medal = from.at("medal"); !medal.empty())
        graded.report.medal = lessons::MedalWon{lessons::medal_named(medal), from.at("figure").get<double>()};
    for (const json& clause : from.at("clauses"))
        graded.report.clauses.push_back(
            {clause.at(0), clause.at(1), clause.at(2), clause.at(3), clause.at(4), clause.at(5)});
    return graded;
}

// The file as the submission's own, or why it is none.
Result<std::string> text_of_answer(const Item& item) {
    const fs::path file = item.file;
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        return Diagnostic{fmt::format("there is no file {} in the submission", file.filename().string())};
    if (const fs::path true_place = fs::canonical(file, error), folder = fs::canonical(fs::path(item.folder) / ".", error);
        !true_place.string().starts_with((folder / "").string()))
        return Diagnostic{
            fmt::format("{} is a link out of the submission: hand in the file itself", file.filename().string())};
    const Result<std::string> text = read_text(file, size_t{16} << 20);
    if (text) return text;
    Diagnostic problem = text.error();
    problem.where.file = file.filename().string();  // of an archive, whose folder here is nobody's business
    return problem;
}

Graded judge_answer(const lessons::Lesson& lesson, const lessons::Exercise& exercise, const Item& item,
                    lessons::Yardstick& known) {
    Graded graded;
    graded.exercise = exercise.id;
    graded.file = item.shown;
    graded.note = item.note;
    graded.report.of_points = exercise.points;
    if (fs::path(exercise.file).extension() == ".cu") graded.compiler = device::compiler_version(item.compiler);
    ProcessorLimit limit(item.max_seconds, known.time);
    try {
        const Result<std::string> text = text_of_answer(item);
        if (!text) {
            graded.problem = render(text.error());
            return graded;
        }
        // The exercise's own name: what the file is (CUDA, host program) goes by the exercise, not by how it was handed in.
        auto report = lessons::check_submission(lesson, exercise, text.value(), exercise.file,
                                                {.compiler = item.compiler,
                                                 .compile_seconds = wall_for_processor * std::min(30.0, item.max_seconds),
                                                 .compile_processor_seconds = std::min(30.0, item.max_seconds),
                                                 .submission = fs::path(item.folder),
                                                 .stop = limit.token()},
                                                &known);
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
    graded.seconds = limit.used();
    if (const std::string why = limit.ran_out(); !why.empty() && !graded.report.passed) graded.problem = why;
    return graded;
}

// An exam's answers.txt.
Graded judge_paper(const lessons::Lesson& lesson, const lessons::ExamKey& key, const Item& item) {
    Graded graded;
    graded.exercise = item.exercise;
    graded.file = item.shown;
    graded.note = item.note;
    graded.report.of_points = lesson.answers->points;
    const Result<std::string> text = text_of_answer(item);
    if (text)
        graded.report = lessons::judge_exam_answers(lesson, key, text.value());
    else
        graded.problem = render(text.error());
    return graded;
}

const lessons::Exercise* exercise_named(const lessons::Lesson& lesson, const std::string& id) {
    if (lesson.answers && lesson.answers->id == id) return &*lesson.answers;
    for (const lessons::Step& step : lesson.steps)
        for (const lessons::Exercise& exercise : step.exercises)
            if (exercise.id == id) return &exercise;
    return nullptr;
}

// words: the lesson's folder, a file with the list of items.
void judge_list(const std::vector<std::string>& words, const system::SayLine& say) {
    const ShareOfCores mine(1);  // others are judged beside it, and what is allowed is processor time
    const lessons::Lesson lesson = lessons::load_lesson(words.at(0)).value();
    std::map<std::string, lessons::Yardstick> known;
    std::optional<lessons::ExamKey> key;  // of an exam: worked out once for all
    for (const json& each : json::parse(read_file(words.at(1)).value())) {
        const Item item = item_of(each);
        const lessons::Exercise* exercise = exercise_named(lesson, item.exercise);
        if (!exercise) continue;
        const bool on_paper = lesson.answers && exercise == &*lesson.answers;
        if (on_paper && !key) key = lessons::exam_key(lesson).value();
        say(as_json(on_paper ? judge_paper(lesson, *key, item) : judge_answer(lesson, *exercise, item, known[exercise->id]))
                .dump(-1, ' ', false, json::error_handler_t::replace));
    }
}

class Grader {
  public:
    Grader(const lessons::Lesson& lesson, const GradeAsked& asked, const fs::path& scratch, const GradedSink& sink)
        : lesson_(lesson), asked_(asked), scratch_(scratch), sink_(sink) {}

    std::vector<GradedSubmission> all(const std::vector<const lessons::Exercise*>& exercises,
                                      const std::vector<HandedIn>& submissions) {
        for (size_t i = 0; i < submissions.size(); ++i) prepare(exercises, submissions[i], i);
        for (size_t i = 0; i < graded_.size(); ++i)
            if (left_[i] == 0) finished(i);
        const size_t jobs =
            std::min(asked_.jobs > 0 ? static_cast<size_t>(asked_.jobs) : cores(), std::max<size_t>(1, items_.size()));
        share_ = std::clamp<size_t>(items_.size() / (4 * jobs), 1, most_in_a_task);
        std::vector<std::jthread> threads;  // a task ends with the thread that waits for it
        for (size_t i = 1; i < jobs; ++i) threads.emplace_back([this] { work(); });
        work();
        threads.clear();
        if (asked_.stopped()) mark_what_was_not_judged();
        return std::move(graded_);
    }

  private:
    void prepare(const std::vector<const lessons::Exercise*>& exercises, const HandedIn& submission, size_t index) {
        GradedSubmission made{submission.name, {}, 0, 0};
        left_.push_back(0);
        const HandedInWanted wanted{exercises};
        for (const Answer& answer : answers_in(submission, wanted, scratch_)) {
            Graded graded;
            graded.exercise = answer.exercise ? answer.exercise->id : "?";
            graded.file = answer.shown;
            graded.note = answer.note;
            graded.problem = answer.problem;
            if (answer.exercise) graded.report.of_points = answer.exercise->points;
            if (!answer.exercise)
                for (const lessons::Exercise* exercise : exercises) graded.report.of_points += exercise->points;
            if (graded.problem.empty()) {
                items_.push_back({index, made.exercises.size(), answer.exercise->id, answer.file.string(),
                                  answer.folder.empty() ? "." : answer.folder.string(), answer.shown, answer.note,
                                  asked_.compiler, asked_.max_seconds});
                ++left_.back();
            }
            made.exercises.push_back(std::move(graded));
        }
        graded_.push_back(std::move(made));
    }

    // What Ctrl-C came before says so; a submission that it came into the middle of has the points that it has.
    void mark_what_was_not_judged() {
        for (size_t i = 0; i < graded_.size(); ++i) {
            if (left_[i] == 0) continue;
            for (Graded& graded : graded_[i].exercises)
                if (!is_judged(graded)) graded.not_judged();
            graded_[i].add_up();
        }
    }
    static bool is_judged(const Graded& graded) { return !graded.problem.empty() || !graded.report.exercise.empty(); }

    std::deque<Item> take() {
        const std::lock_guard lock(mutex_);
        std::deque<Item> mine;
        if (asked_.stopped()) return mine;
        while (!items_.empty() && mine.size() < share_) {
            mine.push_back(std::move(items_.front()));
            items_.pop_front();
        }
        return mine;
    }

    void work() {
        for (std::deque<Item> mine = take(); !mine.empty(); mine = take()) {
            while (!mine.empty()) {
                const system::ChildOutcome outcome = hand_over(mine);
                if (mine.empty()) break;
                if (asked_.stopped()) return;
                // The one that it did not come to the end of.
                Graded graded;
                graded.exercise = mine.front().exercise;
                graded.file = mine.front().shown;
                graded.note = mine.front().note;
                graded.problem = why_it_ended(outcome, mine.front());
                graded.report.of_points = exercise_named(lesson_, mine.front().exercise)->points;
                settle(mine.front(), std::move(graded));
                mine.pop_front();
            }
        }
    }

    static std::string why_it_ended(const system::ChildOutcome& outcome, const Item& item) {
        using End = system::ChildOutcome::End;
        if (outcome.end == End::timed_out)
            return fmt::format(
                "it was not done after {:g} seconds, ten times those of processor time that --max-seconds allows",
                wall_for_processor * item.max_seconds);
        if (outcome.end == End::killed)
            return fmt::format("judging it ended with {}: its text is one that this program does not survive",
                               system::signal_text(outcome.status));
        return outcome.end == End::not_started ? "no process could be started to judge it"
                                               : "judging it ended early, with no result";
    }

    // Judges from the front as far as a child comes; what it did is gone from the list.
    system::ChildOutcome hand_over(std::deque<Item>& items) {
        json list = json::array();
        for (const Item& item : items) list.push_back(as_json(item));
        const fs::path file = scratch_ / fmt::format("list{}.json", next_list());
        write_file(file, list.dump(-1, ' ', false, json::error_handler_t::replace));
        const double silence = wall_for_processor * items.front().max_seconds + 60;
        const auto heard = [&](std::string_view line) {
            const json said = json::parse(line, nullptr, false);
            if (said.is_object() && !items.empty()) {
                settle(items.front(), graded_of(said));
                items.pop_front();
            }
            return asked_.stopped() ? 0 : silence;
        };
        const system::ChildOutcome outcome =
            system::hear_task(grade_task.name, {lesson_.folder.string(), file.string()}, heard, silence);
        std::error_code error;
        fs::remove(file, error);
        return outcome;
    }

    size_t next_list() {
        const std::lock_guard lock(mutex_);
        return ++lists_;
    }

    void settle(const Item& item, Graded graded) {
        const std::lock_guard lock(mutex_);
        graded_[item.submission].exercises[item.answer] = std::move(graded);
        if (--left_[item.submission] == 0) finished(item.submission);
    }

    void finished(size_t index) {
        GradedSubmission& submission = graded_[index];
        submission.add_up();
        if (sink_) sink_(++done_, submission);
    }

    const lessons::Lesson& lesson_;
    const GradeAsked& asked_;
    const fs::path& scratch_;
    const GradedSink& sink_;
    std::mutex mutex_;
    std::deque<Item> items_;
    std::vector<GradedSubmission> graded_;
    std::vector<size_t> left_;  // by submission: answers that are not judged yet
    size_t share_ = 1, done_ = 0, lists_ = 0;
};

}  // namespace

const system::ChildTask grade_task = {"grade", nullptr, judge_list};

std::vector<GradedSubmission> grade_answers(const lessons::Lesson& lesson,
                                            const std::vector<const lessons::Exercise*>& exercises,
                                            const std::vector<HandedIn>& submissions, const GradeAsked& asked,
                                            const fs::path& scratch, const GradedSink& sink) {
    // A computer without a compiler is nobody's wrong answer: that fails here, not the submissions.
    for (const lessons::Exercise* exercise : exercises)
        if (fs::path(exercise->file).extension() == ".cu") {
            device::compiler_version(asked.compiler);
            break;
        }
    return Grader(lesson, asked, scratch, sink).all(exercises, submissions);
}

}  // namespace lockstep::cli
