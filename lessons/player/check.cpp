// Each check adds one item, passed or not; nothing stops at the first problem but a lesson that does not parse.
#include "lessons/player/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/files.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/challenge/challenge.h"
#include "lessons/player/companion/companion.h"
#include "lessons/player/sketch/sketch.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

namespace fs = std::filesystem;
constexpr int most_words = 45;
constexpr size_t most_predictions = 4;
constexpr double worth_the_work = 0.92;  // gold takes at most so much of what bronze does

bool is_wrong_proof(const std::string& file) {
    return file.find("_wrong_") != std::string::npos;
}

// "// fails: cycles" or "# fails: it keeps to the task" -> "cycles".
std::string failing_clause(const std::string& text) {
    const std::string first = text.substr(0, text.find_first_of("\r\n"));
    constexpr std::string_view mark = "fails: ";
    const size_t at = first.find(mark);
    return at == std::string::npos ? "" : first.substr(at + mark.size());
}

class Checker {
  public:
    Checker(const Lesson& lesson, LessonCheck& check, const Sink& sink, const std::stop_token& stop)
        : lesson_(lesson), check_(check), sink_(sink), stop_(stop), runs_(lesson) {}

    void all() {
        for (size_t i = 0; i < lesson_.steps.size(); ++i) step(i);
        if (lesson_.challenge) attempt("challenge", [&] { challenge(); });
        if (lesson_.exam)
            exam();
        else
            spread();
        companion();
        files();
    }
    void add(std::string what, bool passed, std::string detail) {
        if (sink_) sink_(fmt::format("{} {} {}: {}", passed ? "pass" : "FAIL", lesson_.id, what, detail));
        check_.items.push_back({std::move(what), passed, std::move(detail)});
    }

  private:
    void step(size_t index) {
        const Step& step = lesson_.steps[index];
        const std::string name = fmt::format("step {}", index + 1);
        const int words = word_count(step.prose);
        if (words > most_words)
            add(name, false, fmt::format("{} words of prose, at most {} are allowed", words, most_words));
        for (const Scene& one : step.scenes) attempt(name + ", scene", [&] { scene(name, one); });
        for (const Predict& predict : step.predicts) {
            const std::string what = fmt::format("{}, prediction {}", name, predict.id);
            attempt(what, [&] { prediction(what, index, predict); });
        }
        for (const Exercise& exercise : step.exercises) {
            const std::string what = fmt::format("{}, exercise {}", name, exercise.id);
            kernel_file(exercise.file);
            kernel_file(exercise.reference);
            kernel_file("solution/" + exercise.file);
            attempt(what, [&] { judged(what + ", starter", exercise, exercise.file, false); });
            attempt(what, [&] { judged(what + ", solution", exercise, "solution/" + exercise.file, true); });
            for (const std::string& file : proofs_of(lesson_, exercise)) {
                kernel_file(file);
                attempt(what, [&] { proof(what + ", " + file, exercise, file); });
            }
        }
    }

    // What this machine lacks, such as a compiler for a kernel whose PTX is stale, fails its own item and no other.
    void attempt(const std::string& what, const std::function<void()>& work) {
        check_.cut = check_.cut || stop_.stop_requested();
        if (check_.cut) return;
        try {
            work();
        } catch (const Failure& failure) {
            add(what, false, render(failure.diagnostic));
        }
    }

    void scene(const std::string& name, const Scene& scene) {
        if (!scene.file.empty()) kernel_file(scene.file);
        if (!scene.host.empty()) kernel_file(scene.host);
        if (!scene.tape.empty()) kernel_file(scene.tape);
        if (is_engine_program(scene.train)) kernel_file(scene.train);
        if (is_parallel_program(scene.parallel)) kernel_file(scene.parallel);
        const Result<SceneResult> result = runs_.of(scene);
        if (!result) return add(name + ", scene", false, render(result.error()));
        const auto [holds, detail] = std::visit([&](const auto& run) { return seen(scene, *run); }, result.value().of);
        add(name + ", scene", holds, detail);
    }

    // Whether a scene's run shows what it is there to show, and what it shows.
    using Seen = std::pair<bool, std::string>;
    static Seen seen(const Scene& scene, const HostRun& host) {
        const std::string fault = host.fault ? host.fault->kind : !host.hazards.empty() ? "hazard" : "";
        if (fault == scene.expect && fault.empty())
            return {true, fmt::format("{:.1f} µs, {} operations", host.schedule.total_us, host.program.operations.size())};
        if (fault == scene.expect) return {true, "shows a " + fault + ", as it should"};
        return {false, host.fault              ? simt::render(*host.fault)
                       : !host.hazards.empty() ? host.hazards.front()
                                               : fmt::format("it runs to its end, but '{}' should stop it", scene.expect)};
    }
    static Seen seen(const Scene&, const ParallelScene& parallel) {
        std::string rows;
        for (const ParallelRow& row : parallel.rows) rows += (rows.empty() ? "" : ", ") + row.name;
        return {true, fmt::format("{} of {}", parallel.kind, rows)};
    }
    static Seen seen(const Scene&, const TrainingRuns& training) {
        if (training.runs.front().spec.steps == 0) return {true, step_text(*training.step)};
        std::string runs;
        for (const TrainedRun& run : training.runs)
            runs += fmt::format("{}{}: loss {:.4g} after {} steps", runs.empty() ? "" : ", ", run.spec.name, run.loss.back(),
                                run.loss.size());
        return {true, runs};
    }
    static Seen seen(const Scene&, const TapeRun& tape) { return {true, step_text(*tape.step)}; }
    static Seen seen(const Scene& scene, const KernelResult& kernel) {
        const model::TimedResult& run = kernel.run->result;
        const std::string fault = run.fault ? run.fault->kind : !run.reports.empty() ? run.reports.front().kind : "";
        if (fault == scene.expect)
            return {true, fault.empty() ? fmt::format("{} cycles", run.cycles)
                          : run.fault   ? "stopped by " + fault + ", as it should be"
                                        : "reported by " + fault + ", as it should be"};
        return {false, run.fault ? simt::render(*run.fault)
                                 : fmt::format("it runs to its end, but '{}' should stop or report it", scene.expect)};
    }
    static std::string step_text(const nn::StepRecord& step) {
        return std::isnan(step.loss) ? fmt::format("{} launches", step.launches.size())
                                     : fmt::format("loss {:.6f}, {} launches", step.loss, step.launches.size());
    }

    void prediction(const std::string& what, size_t step, const Predict& predict) {
        Result<double> truth = truth_of(runs_, step, predict);
        if (!truth) return add(what, false, render(truth.error()));
        const int right = right_answer(predict, truth.value());
        if (right >= 0 && predict.is_sketch()) return sketch(what, step, predict);
        if (right >= 0 && predict.type == "choice") count_place(predict, static_cast<size_t>(right));
        if (right >= 0)
            return add(what, true,
                       fmt::format("{} = {:.6g}, answer '{}'", predict.of.text(), truth.value(),
                                   predict.answers[static_cast<size_t>(right)].text));
        add(what, false,
            fmt::format("{} = {:.6g}: {} of the answers agrees", predict.of.text(), truth.value(),
                        right == -1 ? "none" : "more than one"));
    }

    void count_place(const Predict& predict, size_t right) {
        const std::vector<size_t> order = shown_order(lesson_, predict, 0);
        ++shown_right_[static_cast<size_t>(std::find(order.begin(), order.end(), right) - order.begin())];
    }

    // The picture shows something before the answer, and does not show the answer; what belongs there counts as right.
    void sketch(const std::string& what, size_t step, const Predict& predict) {
        const Result<SketchBoard> made = board_of(runs_, step, predict);
        if (!made) return add(what, false, render(made.error()));
        const SketchBoard& board = made.value();
        const Result<SketchTruth> told = sketch_truth_of(runs_, step, predict, board);
        if (!told) return add(what, false, render(told.error()));
        const SketchTruth& truth = told.value();
        const Sketch blank = unmarked(board);
        const SketchScore best = score_of(predict, board, truth.sketch, truth);
        std::string wrong;
        if (board.places.empty() || (board.text.empty() && board.before.empty() && board.cells.empty()))
            wrong = "its picture is blank before the answer: it has neither a source nor a known case";
        else if (!complete(board, truth.sketch) || !best.right || best.near < 0.999)
            wrong = "what the run says does not count as right";
        else if (score_of(predict, board, blank, truth).right)
            wrong = "an empty picture counts as right";
        else if (truth.sketch == board.ghost)
            wrong = "the ghost of the case before is the answer itself";
        else if (given_away(predict, board, truth))
            wrong =
                fmt::format("the answer, {}, stands in the question, the label or a known case", amount_text(truth.figure));
        add(what, wrong.empty(),
            wrong.empty() ? fmt::format("{} = {:.6g}, {}: {}", predict.of.text(), truth.figure, predict.type,
                                        places_text(board, truth.sketch))
                          : wrong);
    }

    static bool given_away(const Predict& predict, const SketchBoard& board, const SketchTruth& truth) {
        const std::string says = amount_text(truth.figure);
        if (says.size() < 2) return false;  // a digit stands in many questions
        const auto word = [&](const std::string& text) {
            for (size_t at = text.find(says); at != std::string::npos; at = text.find(says, at + 1)) {
                const auto part = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; };
                if ((at == 0 || !part(text[at - 1])) && (at + says.size() >= text.size() || !part(text[at + says.size()])))
                    return true;
            }
            return false;
        };
        return word(predict.question) || word(predict.sketch.label) ||
               (board.axis.high == truth.figure && board.kind == "bar");
    }

    // Over the whole lesson: right answers stand in different places, and there are few enough questions to think about.
    void spread() {
        size_t asked = 0, sketched = 0, most = 0, all = 0;
        for (const Step& step : lesson_.steps)
            for (const Predict& predict : step.predicts) ++asked, sketched += predict.is_sketch();
        for (const auto& [place, count] : shown_right_) most = std::max(most, count), all += count;
        // Each learner sees an order of their own, so that one place for all is chance, and worth no more than a word.
        if (all >= 4)
            add("answers", true,
                most < all ? "right ones stand in different places"
                           : "warning: for a new learner all right ones stand in one place");
        if (asked > most_predictions)
            add("predictions", sketched == 0,
                fmt::format("{}{} predictions, at most {} leave room to play, to read and to make",
                            sketched == 0 ? "warning: " : "", asked, most_predictions));
    }

    // Who hands in the starter has no medal, whatever its clauses say; the solution has one, and gold is worth the work.
    void challenge() {
        const Challenge& challenge = *lesson_.challenge;
        const Exercise& exercise = *challenged(lesson_);
        kernel_file(challenge.gold);
        const Result<MedalLimits> limits = medal_limits(lesson_);
        if (!limits) return add("challenge", false, render(limits.error()));
        const Result<AtSize> starter = at_challenge_size(lesson_, exercise.file, {}, false);
        if (!starter) return add("challenge, starter", false, render(starter.error()));
        const bool wrong = !starter.value().wrong.empty();
        add("challenge, starter", wrong || limits.value().of(starter.value().figure) == Medal::none,
            wrong ? "no medal: " + starter.value().wrong : fmt::format("{:.6g}", starter.value().figure));
        for (const auto& [file, least] :
             {std::pair("solution/" + exercise.file, Medal::bronze), std::pair(challenge.gold, Medal::gold)}) {
            const Result<ExerciseReport> report = judge(exercise, file);
            if (!report) return add("challenge, " + file, false, render(report.error()));
            const auto& medal = report.value().medal;
            add("challenge, " + file, medal && medal->medal >= least,
                medal ? medal->words() : "it does not pass the exercise: " + first_failing(report.value()));
        }
        add("challenge", limits.value().gold <= worth_the_work * limits.value().bronze, limits.value().words());
    }

    static std::string first_failing(const ExerciseReport& report) {
        for (const Clause& clause : report.clauses)
            if (!clause.holds) return clause.text + ": " + clause.detail;
        return {};
    }

    // Ten to twelve tasks without a hint, behind all lessons of the part.
    void exam() {
        size_t tasks = 0, hints = 0;
        double points = 0;
        for (const Step& step : lesson_.steps) {
            tasks += step.predicts.size() + step.exercises.size();
            hints += step.hints.size();
            for (const Predict& predict : step.predicts) points += predict.points;
            for (const Exercise& exercise : step.exercises) points += exercise.points;
        }
        add("exam", tasks >= 10 && tasks <= 12 && hints == 0 && lesson_.pass_mark > 0,
            fmt::format("{} tasks, {:g} points, {:g} % to pass, {} hints", tasks, points, lesson_.pass_mark, hints));
        std::string lacks;
        for (const fs::path& folder : lesson_folders()) {
            const Result<Lesson> one = load_lesson(folder);
            if (one && one.value().part == lesson_.part && !one.value().exam &&
                std::ranges::find(lesson_.needs, one.value().id) == lesson_.needs.end())
                lacks += (lacks.empty() ? "" : ", ") + one.value().id;
        }
        add("exam, needs", lacks.empty(),
            lacks.empty() ? "all lessons of its part" : "it comes after " + lacks + " as well");
    }

    void companion() {
        const Result<std::optional<Companion>> read = companion_of(lesson_);
        if (!read) return add("companion.toml", false, render(read.error()));
        if (!read.value()) return;
        const std::vector<std::string> problems = companion_problems(lesson_, *read.value());
        for (const std::string& problem : problems) add("companion.toml", false, problem);
        if (problems.empty()) add("companion.toml", true, fmt::format("{} plans", read.value()->plans.size()));
    }

    void judged(const std::string& what, const Exercise& exercise, const std::string& file, bool should_pass) {
        Result<ExerciseReport> report = judge(exercise, file);
        if (!report) return add(what, false, render(report.error()));
        const bool passed = report.value().passed;
        const std::string first =
            passed ? fmt::format("{} launches", report.value().launches) : first_failing(report.value());
        add(what, passed == should_pass,
            passed ? (should_pass ? "passes, " : "passes, but a starter must fail: ") + first
                   : (should_pass ? "fails, but a solution must pass: " : "fails as it should: ") + first);
    }

    // Somebody else's right way passes; a cheat or half a way fails, by the clause that its first line names.
    void proof(const std::string& what, const Exercise& exercise, const std::string& file) {
        if (!is_wrong_proof(file)) return judged(what, exercise, file, true);
        Result<ExerciseReport> report = judge(exercise, file);
        if (!report) return add(what, false, render(report.error()));
        if (report.value().passed) return add(what, false, "passes, but it is there to fail");
        const auto& clauses = report.value().clauses;
        const auto failed = std::find_if(clauses.begin(), clauses.end(), [](const Clause& clause) { return !clause.holds; });
        const std::string wanted = failing_clause(text_of(lesson_.folder / file));
        if (wanted.empty())
            return add(what, false, "its first line does not say which clause fails, as in '// fails: cycles'");
        if (!failed->text.starts_with(wanted))
            return add(what, false, fmt::format("fails by '{}: {}', and not by '{}'", failed->text, failed->detail, wanted));
        add(what, true,
            fmt::format("fails as it should, {:.4g} of {:.4g} points: {}: {}", report.value().points,
                        report.value().of_points, failed->text, failed->detail));
    }

    Result<ExerciseReport> judge(const Exercise& exercise, const std::string& file) {
        Yardstick& known = yardsticks_[exercise.id];
        if (is_host_program(file) || is_engine_program(file) || is_parallel_program(file))
            return check_submission(lesson_, exercise, text_of(lesson_.folder / file), file, {}, &known);
        Result<std::shared_ptr<const ptx::Program>> program = load_kernel(lesson_.folder, file, exercise.kernel);
        if (!program) return program.error();
        return check_exercise(lesson_, exercise, program.value(), {}, text_of(lesson_.folder / file), false, &known);
    }

    static std::string text_of(const fs::path& file) {
        Result<std::string> text = read_text(file, 1 << 20);
        return text ? text.value() : "";
    }

    void kernel_file(const std::string& file) {
        if (!known_.insert(fs::path(file).lexically_normal().string()).second) return;
        const fs::path path = fs::path(file);
        if (is_host_program(file)) {  // and the kernels that it names
            if (Result<HostText> host = parse_host(text_of(lesson_.folder / file), file))
                for (const std::string& kernels : host.value().kernel_files) kernel_file(kernels);
            return;
        }
        if (is_engine_program(file) || is_parallel_program(file)) return;
        known_.insert((path.parent_path() / "ptx" / (path.stem().string() + ".ptx")).lexically_normal().string());
        if (Result<bool> current = check_ptx(lesson_.folder / file); !current)
            add("kernel " + file, false, render(current.error()));
    }

    void files() {
        for (const Step& step : lesson_.steps) {  // npy files that arguments name
            for (const Scene& scene : step.scenes) argument_files(scene.arguments);
            for (const Exercise& exercise : step.exercises) argument_files(exercise.arguments);
        }
        known_.insert("lesson.md");
        known_.insert("companion.toml");
        for (const auto& entry : fs::recursive_directory_iterator(lesson_.folder)) {
            if (!entry.is_regular_file()) continue;
            const std::string name = entry.path().lexically_relative(lesson_.folder).generic_string();
            if (!known_.count(name)) add("file " + name, false, "no step of the lesson uses this file");
        }
    }
    void argument_files(const std::vector<std::string>& arguments) {
        for (const std::string& text : arguments)
            if (Result<KernelArgument> argument = parse_argument(text); argument && !argument.value().file.empty())
                known_.insert(argument.value().file);
    }

    const Lesson& lesson_;
    LessonCheck& check_;
    const Sink& sink_;
    const std::stop_token stop_;
    SceneRuns runs_;
    std::set<std::string> known_;
    std::map<size_t, size_t> shown_right_;         // choices whose right answer is shown in this place
    std::map<std::string, Yardstick> yardsticks_;  // by exercise
};

}  // namespace

std::vector<std::string> proofs_of(const Lesson& lesson, const Exercise& exercise) {
    std::vector<std::string> files;
    std::error_code error;
    const std::string extension = fs::path(exercise.file).extension().string();
    for (const auto& entry : fs::directory_iterator(lesson.folder / "proof", error)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() == extension &&
            (name.starts_with(exercise.id + "_right_") || name.starts_with(exercise.id + "_wrong_")))
            files.push_back("proof/" + name);
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool LessonCheck::passed() const {
    return !items.empty() && std::all_of(items.begin(), items.end(), [](const CheckItem& item) { return item.passed; });
}

LessonCheck check_lesson(const fs::path& folder, const Sink& sink, const std::stop_token& stop) {
    LessonCheck check;
    check.folder = folder;
    Result<Lesson> lesson = load_lesson(folder);
    if (!lesson) {
        check.id = folder.filename().string();
        check.unreadable = lesson.error();
        check.items.push_back({"lesson.md", false, render(lesson.error())});
        if (sink) sink(fmt::format("FAIL {} lesson.md: {}", check.id, render(lesson.error())));
        return check;
    }
    check.id = lesson.value().id;
    check.title = lesson.value().title;
    Checker checker(lesson.value(), check, sink, stop);
    checker.add("lesson.md", true, fmt::format("{} steps", lesson.value().steps.size()));
    checker.all();
    return check;
}

Result<std::vector<LessonCheck>> check(const std::string& what, const Sink& sink, const std::stop_token& stop) {
    std::vector<LessonCheck> checks;
    if (what == "all") {
        for (const fs::path& folder : lesson_folders())
            if (!stop.stop_requested()) checks.push_back(check_lesson(folder, sink, stop));
    } else if (fs::exists(fs::path(what) / "lesson.md")) {
        checks.push_back(check_lesson(what, sink, stop));
    } else {  // a folder of the learner's own may be named as a lesson is
        Result<Lesson> lesson = lesson_named(what);
        if (!lesson && lesson.error().where.file.empty()) {  // an unknown name
            if (fs::is_directory(what)) return Diagnostic{"this folder holds no lesson.md, so it is no lesson", {what}};
            return lesson.error();
        }
        for (const fs::path& folder : lesson_folders())
            if (folder.filename() == what || folder.filename().string().rfind(what + "_", 0) == 0)
                checks.push_back(check_lesson(folder, sink, stop));
    }
    return checks;
}

}  // namespace lockstep::lessons
