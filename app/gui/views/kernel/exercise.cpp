// The exercise that the document on the desk answers: its task, what it is graded by, Check, hints, and the way back to the
// lesson. A target has a tick only where a check of this very text found that it holds; before that stands what the run on
// show makes of it.
#include "lessons/player/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/desk/work_file.h"
#include "app/gui/view.h"
#include "app/gui/views/lesson/companion_parts.h"
#include "core/base/hash.h"
#include "core/base/units.h"
#include "core/scene/figures/figures.h"
#include "core/scene/host/host_program.h"

namespace lockstep::gui {
namespace {

struct Target {  // a clause of check=
    std::string text;
    enum class State : uint8_t { unknown, so_far, holds, fails } state = State::unknown;
    std::string value = {};   // today's, in words
    std::string points = {};  // "2 of 3 points", "required"; empty: not known before a check
};

std::string number_words(double value) {
    if (std::abs(value) >= 10'000 && std::abs(value) < 1e15) return with_commas(std::llround(value));
    return std::isnan(value) ? "not known" : fmt::format("{:.5g}", value);
}

// A check as a person would say it: "cycles <= 0.5 * cycles@run:starter" is "cycles: at most 0.5 × cycles of the starter".
std::string in_words(std::string check) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {" <= ", ": at most "}, {" >= ", ": at least "},     {" < ", ": below "},
        {" > ", ": above "},    {" == ", ": equal to "},     {" * ", " × "},
        {"@run:", " of the "},  {"@before:", " before of "}, {"_", " "}};
    for (const auto& [from, to] : words)
        for (size_t at = check.find(from); at != std::string::npos; at = check.find(from, at + to.size()))
            check.replace(at, from.size(), to);
    return check;
}

// Figures of what the learner ran last, without a check.
scene::Expression::Lookup figures_of_run(const Snapshot& snapshot) {
    return [&snapshot](const scene::FigureName& name) -> Result<double> {
        if (name.text == "outputs" || name.text == "reference" || name.text == "races" || !name.place("run").empty())
            return Diagnostic{"a check tells"};
        const auto& own = snapshot.own.run;
        if (snapshot.host) return scene::figure_of(*snapshot.host, name);
        if (snapshot.tape) return scene::figure_of(*snapshot.tape, name);
        if (!own || !own->run || !own->timed || own->run->result.fault) return Diagnostic{"nothing has run"};
        scene::KernelResult result;
        result.run = own->run;
        result.bound = own->bound;
        return scene::figure_of(result, name);
    };
}

Target target_of_run(const scene::Expression& clause, const Snapshot& snapshot) {
    Target target{.text = clause.text()};
    if (!clause.is_comparison() || clause.names("outputs")) {
        target.value = "Check tells";
        return target;
    }
    const auto lookup = figures_of_run(snapshot);
    const auto [left, right] = clause.sides();
    const auto a = left.evaluate(lookup), b = right.evaluate(lookup);
    if (a.ok() && b.ok()) {
        const auto holds = clause.evaluate(lookup);
        target.state = holds.ok() && holds.value() != 0 ? Target::State::so_far : Target::State::fails;
        target.value = fmt::format("now {}", number_words(a.value()));
    } else {
        target.value = a.ok() ? fmt::format("now {}; Check compares", number_words(a.value())) : "Check tells";
    }
    return target;
}

std::vector<Target> targets_of(const lessons::Exercise& exercise, const LessonState::Checked* checked, uint64_t text,
                               const Snapshot& snapshot) {
    std::vector<Target> targets;
    const std::vector<scene::Expression> clauses = exercise.check.clauses();
    const lessons::ExerciseReport* const report = checked == nullptr ? nullptr : checked->report.get();
    const bool weighed = report != nullptr && report->clauses.size() == clauses.size();
    const bool fresh = report != nullptr && checked->text == text;
    if (fresh && !weighed)  // it did not compile
        for (const lessons::Clause& clause : report->clauses)
            targets.push_back({clause.text, clause.holds ? Target::State::holds : Target::State::fails, clause.detail, ""});
    for (size_t i = 0; i < clauses.size(); ++i) {
        Target target = target_of_run(clauses[i], snapshot);
        if (fresh && weighed) {
            const lessons::Clause& clause = report->clauses[i];
            target.state = clause.holds ? Target::State::holds : Target::State::fails;
            const bool measured = !clause.detail.starts_with("not measured");
            target.value =
                measured || !target.value.starts_with("now ") ? clause.detail : target.value + "; " + clause.detail;
        }
        const double worth = weighed && (report->clauses[i].of_points > 0 || report->clauses[i].required)
                                 ? report->clauses[i].of_points
                             : i < exercise.clause_points.size() ? exercise.clause_points[i]
                             : clauses.size() == 1               ? exercise.points
                                                                 : -1;
        if (worth == 0)
            target.points = "required";
        else if (worth > 0 && fresh && weighed)
            target.points = fmt::format("{:.3g} of {:.3g}", report->passed ? worth : report->clauses[i].points, worth);
        else if (worth > 0)
            target.points = fmt::format("{:.3g} point{}", worth, worth == 1 ? "" : "s");
        targets.push_back(std::move(target));
    }
    return targets;
}

std::string_view word_of(Target::State state) {
    switch (state) {
        case Target::State::holds:
            return "holds";
        case Target::State::fails:
            return "not yet";
        case Target::State::so_far:
            return "so far";
        default:
            return "open";
    }
}

class ExerciseView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const ExerciseOnDesk& found = exercise_on_desk(session, known_);
        const lessons::Exercise* const exercise = found.exercise();
        if (exercise == nullptr) {
            const Rect body = ui.panel(area, {.title = "Exercise"});
            return ui.say_nothing_yet(body,
                                      found.lesson_id.empty() ? "This text answers no exercise."
                                                              : "Lesson " + found.lesson_id + " has no such exercise now.",
                                      "An exercise opens here from its lesson: Edit it here.");
        }
        const LessonState::Checked* const checked = last_check(session, found);
        const uint64_t text = fnv1a64(session.desk.document().text);
        const std::string right = score_words(*exercise, session, found, checked);
        const Rect body = ui.panel(area, {.title = "Exercise  " + found.lesson_id + " " + exercise->id, .right = right});
        ui.push_scope("exercise");
        const float foot = 40;
        const Rect page{body.x, body.y - 6, body.w + 10, body.h - foot + 6};
        const float offset = ui.scroll("task", page, height_);
        ui.clip({body.x - 8, page.y, body.w + 18, page.h});
        float y = page.y - offset;
        y += ui.paragraph({body.x, y, body.w - 4, 400}, exercise->prompt, {.size = 14}, 21) + 6;
        for (const Target& target : targets_of(*exercise, checked, text, *snapshot))
            y = paint(ui, target, {body.x, y, body.w - 4, 0}) + 4;
        const std::string state = sentence_of(checked, text, *snapshot);
        if (!state.empty())
            y += ui.paragraph({body.x, y + 2, body.w - 4, 100}, state, {.size = 13, .color = ui.theme->ink2}, 19) + 4;
        y = medals(ui, session, found, {body.x, y, body.w - 4, 0});
        y = hints(ui, found, {body.x, y, body.w - 4, 0});
        height_ = y + offset - page.y;
        ui.unclip();
        buttons(ui, session, *snapshot, found, checked, {body.x, body.bottom() - foot + 8, body.w, 28});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        ExerciseOnDesk known;
        const ExerciseOnDesk& found = exercise_on_desk(session, known);
        const lessons::Exercise* const exercise = found.exercise();
        if (exercise == nullptr) return "Exercise: the text on the desk answers none.\n";
        const auto snapshot = session.snapshot();
        const LessonState::Checked* const checked = last_check(session, found);
        const uint64_t text = fnv1a64(session.desk.document().text);
        std::string all = fmt::format("Exercise {} {}, {}\n  {}\n", found.lesson_id, exercise->id,
                                      score_words(*exercise, session, found, checked), exercise->prompt);
        for (const Target& target : targets_of(*exercise, checked, text, *snapshot))
            all += fmt::format("  {}: {} ({}{}{})\n", word_of(target.state), target.text, target.value,
                               target.points.empty() ? "" : ", ", target.points);
        const std::string state = sentence_of(checked, text, *snapshot);
        if (!state.empty()) all += "  " + state + "\n";
        if (is_challenge(session, found))
            for (const std::string& words : {medal_limits_words(session.lesson), medal_won_words(session.lesson)})
                if (!words.empty()) all += "  " + words + "\n";
        return all;
    }

  private:
    ExerciseOnDesk known_;
    float height_ = 0;
    int hints_open_ = 0;
    const lessons::Exercise* hints_of_ = nullptr;

    EndingAsked asked_;

    static bool is_challenge(const Session& session, const ExerciseOnDesk& found) {
        int step = 0;
        size_t index = 0;
        return found.open && challenge_exercise(session.lesson, step, index) != nullptr && step == found.step &&
               index == found.index;
    }

    // Of the exercise that is the lesson's challenge: what to beat, where its medals begin, and which the learner has.
    float medals(Ui& ui, Session& session, const ExerciseOnDesk& found, const Rect& at) {
        if (!is_challenge(session, found)) return at.y;
        const LessonState& state = session.lesson;
        std::string words = medal_limits_words(state);
        if (words.empty()) asked_.ask(ui, session);
        const TextStyle said{.size = 13, .color = ui.theme->ink2};
        float y = at.y + 6;
        y += ui.paragraph({at.x, y, at.w, 200}, "Challenge: " + state.lesson->challenge->prompt, {.size = 13}, 19) + 2;
        for (const std::string& line : {std::move(words), medal_won_words(state)})
            if (!line.empty()) y += ui.paragraph({at.x, y, at.w, 100}, line, said, 19) + 2;
        return y + 4;
    }

    static const LessonState::Checked* last_check(const Session& session, const ExerciseOnDesk& found) {
        return found.open ? session.lesson.last_check(found.step, found.index) : nullptr;
    }

    static std::string score_words(const lessons::Exercise& exercise, const Session& session, const ExerciseOnDesk& found,
                                   const LessonState::Checked* checked) {
        const auto at = static_cast<size_t>(found.step);
        const bool passed = found.open && at < session.lesson.done.size() && session.lesson.done[at];
        const std::string points = fmt::format("{:.3g} point{}", exercise.points, exercise.points == 1 ? "" : "s");
        if (checked == nullptr || !checked->report) return passed ? "passed before, " + points : points;
        const lessons::ExerciseReport& report = *checked->report;
        const std::string earned = fmt::format("{:.3g} of {}", report.points, points);
        return report.passed ? "passed, " + earned : passed ? "passed before; now " + earned : earned;
    }

    static std::string sentence_of(const LessonState::Checked* checked, uint64_t text, const Snapshot& snapshot) {
        if (!snapshot.checking.empty()) return "Checking " + snapshot.checking + " as lockstep grade does ...";
        if (checked != nullptr && !checked->problem.empty()) return checked->problem;
        if (checked == nullptr || !checked->report)
            return "\"now\" is of the run on show; Check tries other inputs and launch shapes as well.";
        if (checked->text != text) return "The text has changed since it was checked.";
        return checked->report->passed ? "All of it holds." : "";
    }

    static float paint(Ui& ui, const Target& target, const Rect& at) {
        const Theme& theme = *ui.theme;
        using State = Target::State;
        const float points_w = 86, left = 26, words_w = 58;
        const float text_w = at.w - left - points_w - words_w;
        const std::string words = in_words(target.text);
        const TextStyle said{.size = 14}, value{.size = 13, .color = theme.ink2};
        const float text_h = ui.paragraph({0, 0, text_w, 200}, words, said, 19, false);
        const float value_h = ui.paragraph({0, 0, text_w + words_w, 400}, target.value, value, 19, false);
        const Rect box{at.x, at.y, at.w, text_h + value_h + 10};
        ui.rect(box, theme.panel2, 4);
        const Point mark{box.x + 14, box.y + 15};
        if (target.state == State::holds)
            ui.icon(mark.x, mark.y + 5, Icon::check, {.size = 13, .color = theme.right, .align = Align::center});
        else if (target.state == State::fails)
            ui.icon(mark.x, mark.y + 5, Icon::close, {.size = 13, .color = theme.wrong, .align = Align::center});
        else
            ui.ring(mark, 5, theme.ink3, 1.5f);
        ui.paragraph({box.x + left, box.y + 5, text_w, 200}, words, said, 19);
        if (ui.hovered({box.x + left, box.y, text_w, text_h + 8})) ui.tooltip("as the lesson has it: " + target.text);
        ui.paragraph({box.x + left, box.y + 5 + text_h, text_w + words_w, 400}, target.value, value, 19);
        ui.text(box.right() - 10, box.y + 19, target.points, {.size = 13, .color = theme.ink2, .align = Align::right});
        ui.text(box.right() - points_w - 6, box.y + 19, word_of(target.state),
                {.size = 13,
                 .color = target.state == State::holds   ? theme.right
                          : target.state == State::fails ? theme.wrong
                                                         : theme.quiet,
                 .align = Align::right});
        return box.bottom();
    }

    float hints(Ui& ui, const ExerciseOnDesk& found, const Rect& at) {
        if (hints_of_ != found.exercise()) hints_of_ = found.exercise(), hints_open_ = 0;
        const auto& all = found.lesson->steps[static_cast<size_t>(found.step)].hints;
        float y = at.y;
        for (size_t i = 0; i < std::min(all.size(), static_cast<size_t>(hints_open_)); ++i)
            y += ui.paragraph({at.x, y + 4, at.w, 400}, "Hint: " + all[i].text, {.size = 13, .color = ui.theme->ink2}, 19) +
                 8;
        return y;
    }

    // How many hints the tries so far have opened.
    static int hints_offered(const ExerciseOnDesk& found, const LessonState::Checked* checked) {
        const int tries = checked == nullptr ? 0 : checked->checks;
        int offered = 0;
        for (const lessons::Hint& hint : found.lesson->steps[static_cast<size_t>(found.step)].hints)
            offered += tries >= hint.after;
        return offered;
    }

    void buttons(Ui& ui, Session& session, const Snapshot& snapshot, const ExerciseOnDesk& found,
                 const LessonState::Checked* checked, const Rect& r) {
        float x = r.x;
        const auto button = [&](std::string_view label, bool primary = false) {
            const Rect at{x, r.y, ui.text_width(label, {.size = 14, .weight = 600}) + 28, 28};
            x += at.w + 8;
            return ui.button(at, label, primary);
        };
        if (!found.open) {
            if (button("Open lesson " + found.lesson_id, true)) session.post(ask::OpenLesson{found.lesson_id, found.step});
            return;
        }
        const bool passed = checked != nullptr && checked->report && checked->report->passed;
        if (!snapshot.checking.empty()) {
            if (button("Cancel the check")) session.post(ask::CancelCheck{});
        } else if (button(session.lesson.holds_back() ? "Keep it" : "Check it", !passed)) {
            check_exercise(session, found.step, found.index);
        }
        if (button("Back to the lesson", passed)) return_to_lesson(session, found.step);
        const int offered = hints_offered(found, checked);
        if (!passed && hints_open_ < offered && button("Hint")) ++hints_open_;
        const std::string_view again = "Begin again";
        if (x + ui.text_width(again, {.size = 14, .weight = 600}) + 28 < r.right() && button(again))
            begin_again(session, *found.lesson, *found.exercise());
        const std::string_view keys = "F7 checks";
        if (x + 70 < r.right())
            ui.text(r.right(), r.y + 19, keys, {.size = 12, .color = ui.theme->quiet, .align = Align::right});
    }

    static void return_to_lesson(Session& session, int step) {
        session.workspace = Workspace::learn;
        if (session.lesson.step == step) return;
        session.lesson.step = step;
        session.post(ask::ShowLessonStep{step});
    }
};

}  // namespace

std::unique_ptr<View> make_exercise_view() {
    return std::make_unique<ExerciseView>();
}

}  // namespace lockstep::gui
