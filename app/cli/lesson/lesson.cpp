// `lockstep lesson list | run ID|DIR|all [--json F|-] | check DIR|all | new DIR | ptx DIR | figures |
// coverage [DECK] | plan ID | handout ID -o F.html | show ID | table | certificate -o F.html`
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"
#include "core/base/units.h"
#include "core/system/system.h"
#include "lessons/player/authors/authors.h"
#include "lessons/player/authors/coverage.h"
#include "lessons/player/certificate/certificate.h"
#include "lessons/player/challenge/challenge.h"
#include "lessons/player/check.h"
#include "lessons/player/companion/handout.h"
#include "lessons/player/story/story.h"

namespace lockstep::cli {
namespace {

void write_text(const std::string& text, const std::string& path) {
    if (path == "-")
        fmt::print("{}\n", text);
    else
        write_file(path, text + "\n");
}

void list() {
    for (const lessons::Listing& lesson : lessons::list().value())
        fmt::print("{:<5} {:<36} part {}  {:>2} {}  {:>3} min  {}\n", lesson.id, lesson.title, lesson.part, lesson.steps,
                   lesson.exam ? "tasks" : "steps", lesson.minutes, lesson.gpu);
}

// A lesson as its card and its last page have it: question, steps, exercises, where the challenge's medals begin, the story.
void show(const std::string& id) {
    const lessons::Lesson lesson = lessons::lesson_named(id).value();
    fmt::print("{} {}{}\n", lesson.id, lesson.exam ? "Exam: " : "", lesson.title);
    if (!lesson.question.empty()) fmt::print("{}\n", lesson.question);
    fmt::print("{} minutes, on a modelled {}", lesson.minutes, lesson.gpu);
    if (!lesson.needs.empty()) fmt::print("; after {}", fmt::join(lesson.needs, ", "));
    if (lesson.exam) fmt::print("; {:g} % of the points to pass", lesson.pass_mark);
    fmt::print("\n");
    for (size_t i = 0; i < lesson.steps.size(); ++i) {
        fmt::print("{:>3} {} ({})\n", i + 1, lesson.steps[i].title, lesson.steps[i].verb);
        if (lesson.exam)
            for (const lessons::Predict& predict : lesson.steps[i].predicts)
                fmt::print("      {} = ?  {} ({:g} point{})\n", predict.id, predict.question, predict.points,
                           predict.points == 1 ? "" : "s");
        for (const lessons::Exercise& exercise : lesson.steps[i].exercises)
            fmt::print("      exercise {}: {:g} point{}, {}\n", exercise.id, exercise.points,
                       exercise.points == 1 ? "" : "s", exercise.check.text());
    }
    if (lesson.challenge) fmt::print("Challenge of {}: {}\n", lesson.challenge->exercise, lesson.challenge->prompt);
    const lessons::Ending ending = lessons::ending_of(lesson);
    if (ending.limits) fmt::print("  {} ({})\n", ending.limits->words(), lessons::provenance_of_challenge(lesson));
    if (!ending.bars.empty()) fmt::print("{}\n", ending.words());
    for (const lessons::Ending::Bar& bar : ending.bars)
        fmt::print("  {} {:>10}  {}\n", bar.lesson, time_text(bar.us), bar.what);
    if (!ending.problem.empty()) throw Failure(ending.problem);
}

struct CertificateAsked {
    std::string out, name, progress;
};
void certificate(const CertificateAsked& asked, const Hooks& hooks) {
    const std::string ending = std::filesystem::path(asked.out).extension().string();
    if (asked.out != "-" && ending != ".html" && ending != ".htm" && ending != ".png")
        throw Failure(fmt::format("--out takes F.html, F.png or '-', not '{}'; a browser prints a page as PDF", asked.out));
    check_can_write(asked.out);
    const std::filesystem::path progress =
        asked.progress.empty() ? system::state_folder() / "progress.jsonl" : std::filesystem::path(asked.progress);
    const lessons::Certificate made = lessons::certificate_in(progress).value();
    if (ending != ".png") return write_text(lessons::certificate_page(made, asked.name, lessons::today()), asked.out);
    gui::AppOptions drawn{.model = "mlp"};
    drawn.screenshot = asked.out, drawn.step = 1;
    drawn.width = 1240, drawn.height = 1754, drawn.scale = 1.25, drawn.theme = "print";
    drawn.certificate = progress.string(), drawn.certificate_name = asked.name;
    if (hooks.app(drawn) != 0) throw Failure("the certificate could not be drawn; F.html needs no graphics");
}

void run(const std::string& id, const std::string& json) {
    std::vector<std::string> ids;
    if (id == "all")
        for (const lessons::Listing& lesson : lessons::list().value()) ids.push_back(lesson.id);
    else
        ids.push_back(id);
    const bool quiet = json == "-";
    check_can_write(json);
    std::string texts;
    for (const std::string& one : ids) {
        const lessons::LessonRun result =
            lessons::run(one, [&](const std::string& line) { fmt::print(quiet ? stderr : stdout, "{}\n", line); }).value();
        texts += (texts.empty() ? "" : ",\n") + lessons::to_json(result);
    }
    if (!json.empty()) write_text(id == "all" ? "[" + texts + "]" : texts, json);
}

int check(const std::string& what, const std::string& json) {
    const bool quiet = json == "-";
    check_can_write(json);
    LongWork work("check", LongWork::Interrupt::held);
    work.keep_looking();
    const auto say = [&](const std::string& line) { fmt::print(quiet ? stderr : stdout, "{}\n", line); };
    std::vector<lessons::LessonCheck> checks = lessons::check(what, say, work.token()).value();
    if (work.interrupted()) tell("stopped by Ctrl-C{}\n", checks.empty() ? "" : " in lesson " + checks.back().id);
    if (!checks.empty() && checks.back().cut) checks.pop_back();
    size_t failed = 0;
    bool unreadable = false;
    for (const lessons::LessonCheck& lesson : checks) {
        failed += !lesson.passed();
        unreadable = unreadable || lesson.unreadable.has_value();
    }
    if (!quiet) fmt::print("{} of {} lessons hold\n", checks.size() - failed, checks.size());
    if (!json.empty()) write_text(lessons::to_json(checks), json);
    if (work.interrupted()) return interrupted_status;
    return static_cast<int>(unreadable ? ExitStatus::bad_input : failed ? ExitStatus::faulted : ExitStatus::done);
}

struct CoverageAsked {
    std::string deck, json;
    bool missing = false;
};

void coverage(const CoverageAsked& asked) {
    check_can_write(asked.json);
    std::vector<lessons::CoveredDeck> decks = lessons::coverage().value();
    if (!asked.deck.empty()) {
        std::vector<std::string> known;
        for (const lessons::CoveredDeck& deck : decks) known.push_back(deck.name);
        std::erase_if(decks, [&](const lessons::CoveredDeck& deck) { return deck.name != asked.deck; });
        if (decks.empty())
            throw Failure(Diagnostic{fmt::format("unknown deck '{}'{}", asked.deck, did_you_mean(asked.deck, known))});
    }
    size_t slides = 0, missing = 0;
    for (const lessons::CoveredDeck& deck : decks) slides += deck.slides.size(), missing += deck.missing();
    if (!asked.json.empty()) write_text(lessons::to_json(decks), asked.json);
    if (asked.json == "-") return;
    for (const lessons::CoveredDeck& deck : decks) {
        fmt::print("{}: {}\n", deck.name, deck.title);
        for (const lessons::CoveredSlide& slide : deck.slides) {
            if (asked.missing && !slide.missing()) continue;
            fmt::print("  {}\n", slide.about);
            for (const std::string& step : slide.steps) fmt::print("      {}\n", step);
            if (slide.missing()) fmt::print("      MISSING: no step teaches it yet\n");
            if (!slide.why.empty()) fmt::print("      no step: {}\n", slide.why);
        }
    }
    fmt::print("{} of {} rows of slides have no step yet\n", missing, slides);
}

struct HandoutAsked {
    std::string lesson, out = "-";
    int minutes = 50;
    uint64_t order = 0;  // 0: as in the app here
    bool lecturer = false, bare = false;
};

lessons::Companion needed_companion(const lessons::Lesson& lesson) {
    std::optional<lessons::Companion> companion = lessons::companion_of(lesson).value();
    if (!companion && lesson.exam)
        throw Failure(
            fmt::format("{} is an exam: it has no plan; 'lockstep lesson handout {}' prints it", lesson.id, lesson.id));
    if (!companion)
        throw Failure(fmt::format("lesson {} has no companion.toml, where plans and questions stand", lesson.id));
    return std::move(*companion);
}

void plan(const HandoutAsked& asked) {
    const lessons::Lesson lesson = lessons::lesson_named(asked.lesson).value();
    fmt::print("{}", lessons::plan_text(lesson, needed_companion(lesson), asked.minutes));
}

// The app draws every step, as it stands before the class, into a folder that is gone afterwards.
void handout(const HandoutAsked& asked, const Hooks& hooks) {
    const std::string ending = std::filesystem::path(asked.out).extension().string();
    if (asked.out != "-" && ending != ".html" && ending != ".htm")
        throw Failure(
            fmt::format("--out takes a page's name, F.html, or '-', not '{}'; a browser prints it as PDF", asked.out));
    check_can_write(asked.out);
    const lessons::Lesson lesson = lessons::lesson_named(asked.lesson).value();
    const std::optional<lessons::Companion> companion = lessons::companion_of(lesson).value();
    std::optional<lessons::LessonRun> run;
    if (asked.lecturer)
        run = lessons::run(asked.lesson, [](const std::string& line) { fmt::print(stderr, "{}\n", line); }).value();
    lessons::Handout page{.companion = companion ? &*companion : nullptr, .answers = run ? &*run : nullptr};
    page.learner =
        asked.order != 0 ? asked.order : lessons::learner_of((system::state_folder() / "progress.jsonl").string());
    std::optional<TemporaryFolder> folder;
    if (!asked.bare) {
        folder.emplace();
        fmt::print(stderr, "drawing {} steps of lesson {} ...\n", lesson.steps.size(), lesson.id);
        gui::AppOptions drawn{.lesson = asked.lesson};
        drawn.screenshot = folder->path().string() + "/";
        drawn.width = 1100, drawn.height = 620, drawn.scale = 1.25, drawn.theme = "print";
        drawn.present = drawn.paper = true;
        if (hooks.app(drawn) != 0) throw Failure("the lesson's pictures could not be drawn; --no-pictures does without");
        page.picture = [&](size_t step, bool answered) {
            const std::string name = fmt::format("{}-{}{}.png", lesson.id, step + 1, answered ? "-answered" : "");
            const auto png = read_text(folder->path() / name, size_t{1} << 26);
            return png ? png.value() : std::string();
        };
    }
    write_text(lessons::handout_page(lesson, page), asked.out);
}

}  // namespace

void add_lesson(const Command& app, int& status, const Hooks& hooks) {
    const Command command = app.add_subcommand("lesson", "list lessons, run one headless, or prove that it holds");
    command.require_subcommand();
    command.add_subcommand("list", "the lessons").callback(list);
    struct Options {
        std::string what, json;
    };
    auto options = std::make_shared<Options>();
    const Command show_command =
        command.add_subcommand("show", "a lesson's question, steps, exercises, and where its challenge's medals begin");
    show_command.add_option("ID", options->what, "a lesson such as A08, or a folder").required();
    show_command.callback([options] { show(options->what); });
    command.add_subcommand("table", "all lessons with question, picture, exercises and challenge, as Markdown").callback([] {
        fmt::print("{}\n", lessons::lessons_page().value());
    });
    auto paper = std::make_shared<CertificateAsked>();
    const Command certificate_command = command.add_subcommand(
        "certificate", "what was done on this computer, from its record of progress: an HTML page that a browser prints");
    certificate_command.add_option("-o,--out", paper->out, "F.html, F.png, or '-' for the page on stdout").required();
    certificate_command.add_option("--name", paper->name, "whose it is, as you write it");
    certificate_command.add_option("--progress", paper->progress, "another file than the app's progress.jsonl");
    certificate_command.callback([paper, hooks] { certificate(*paper, hooks); });
    const Command run_command = command.add_subcommand("run", "run every scene and compute every prediction");
    run_command.add_option("ID", options->what, "a lesson such as A06, the folder of one of your own, or all").required();
    run_command.add_option("--json", options->json, "write the result as JSON; '-' for stdout");
    run_command.callback([options] { run(options->what, options->json); });
    const Command check_command =
        command.add_subcommand("check", "scenes run, predictions have one right answer, starters fail, solutions pass");
    check_command.add_option("DIR", options->what, "a lesson's folder or id, or all").required();
    check_command.add_option("--json", options->json, "write the result as JSON; '-' for stdout");
    check_command.callback([options, &status] { status = check(options->what, options->json); });
    const Command new_command = command.add_subcommand("new", "begin a lesson of your own: a small one that holds already");
    new_command.add_option("DIR", options->what, "a folder such as X01_first_steps, which is made").required();
    new_command.callback([options] {
        for (const auto& file : lessons::new_lesson(options->what).value()) fmt::print("{}\n", file.string());
        fmt::print("next: lockstep lesson check {}\n", options->what);
    });
    const Command ptx_command = command.add_subcommand(
        "ptx", "compile the kernels of a lesson's folder whose PTX is missing or older, with whatever compiler is here");
    ptx_command.add_option("DIR", options->what, "a lesson's folder").required();
    ptx_command.add_option("--compiler", options->json, "nvrtc, nvcc, clang or ziglang; default: the first found");
    ptx_command.callback([options] {
        const auto written = lessons::write_missing_ptx(options->what, options->json).value();
        for (const auto& file : written) fmt::print("{}\n", file.string());
        if (written.empty()) fmt::print("the PTX of every kernel is as new as its source\n");
    });
    command.add_subcommand("figures", "every figure that a lesson may ask for, and every view, as Markdown").callback([] {
        fmt::print("{}\n", lessons::figures_page());
    });
    auto asked = std::make_shared<CoverageAsked>();
    const Command coverage_command = command.add_subcommand(
        "coverage", "what the lecture decks behind the course teach, against the steps that teach it");
    coverage_command.add_option("DECK", asked->deck, "one deck, such as ARCHI");
    coverage_command.add_flag("--missing", asked->missing, "only what no step teaches yet");
    coverage_command.add_option("--json", asked->json, "write the result as JSON; '-' for stdout");
    coverage_command.callback([asked] { coverage(*asked); });
    auto page = std::make_shared<HandoutAsked>();
    const Command plan_command =
        command.add_subcommand("plan", "a lesson in 25, 50 or 90 minutes, and what students believe");
    plan_command.add_option("ID", page->lesson, "a lesson such as A08, or a folder").required();
    plan_command.add_option("--minutes", page->minutes, "that there are, 50 unless said").between(1, 1000);
    plan_command.callback([page] { plan(*page); });
    const Command handout_command = command.add_subcommand(
        "handout", "a lesson on paper: an HTML page with its pictures and room for answers, which a browser prints as PDF");
    handout_command.add_option("ID", page->lesson, "a lesson such as A08, or a folder").required();
    handout_command.add_option("-o,--out", page->out, "the page, F.html; '-' for stdout").required();
    handout_command.add_flag("--lecturer", page->lecturer, "with the run's answers, the notes, plans and hints");
    handout_command.add_option("--order", page->order,
                               "a number that shuffles the answers; unless said they stand as in this computer's app");
    handout_command.add_flag("--no-pictures", page->bare, "text alone");
    handout_command.callback([page, hooks] { handout(*page, hooks); });
}

}  // namespace lockstep::cli
