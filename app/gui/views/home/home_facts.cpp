// The facts of Home in words: where one goes on, what a part of the course holds, what the tiles show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/views/home/home.h"
#include "core/base/units.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

namespace {

const lessons::Lesson* lesson_of(const Session& session, std::string_view id) {
    for (const auto& lesson : session.home.course)
        if (lesson->id == id) return lesson.get();
    return nullptr;
}

// "about 8 minutes left": the lesson's minutes, by the steps that are left.
std::string left_of(const lessons::Lesson& lesson, const LessonProgress& progress) {
    const size_t steps = std::max<size_t>(1, lesson.steps.size());
    const double minutes =
        lesson.minutes * static_cast<double>(steps - std::min(steps, progress.done)) / static_cast<double>(steps);
    if (progress.whole()) return "All its steps are done.";
    return minutes < 1.5 ? "About a minute left." : fmt::format("About {:.0f} minutes left.", minutes);
}

GoOn in_lesson(const Session& session, const lessons::Lesson& lesson, int step) {
    GoOn on{.lesson = lesson.id, .step = step};
    on.progress = progress_of(session, lesson);
    const int last = std::max(0, static_cast<int>(lesson.steps.size()) - 1);
    const int at = std::clamp(step < 0 ? on.progress->next : step, 0, last);
    on.title = fmt::format("Continue: {} {}, step {} of {}", lesson.id, lesson.title, at + 1, lesson.steps.size());
    if (lesson.steps.empty()) return on;
    const lessons::Step& shown = lesson.steps[static_cast<size_t>(at)];
    on.detail = shown.title + (shown.title.ends_with('?') ? " " : ". ");
    if (!shown.predicts.empty()) on.detail += shown.predicts.front().question + " ";
    std::replace(on.detail.begin(), on.detail.end(), '\n', ' ');
    on.detail += left_of(lesson, *on.progress);
    return on;
}

std::string cycles_text(const Remembered& left) {
    if (left.kernel.empty() || left.cycle < 0) return {};
    return fmt::format("{}, cycle {} of {}.", left.kernel, with_commas(left.cycle), with_commas(left.cycles));
}

}  // namespace

LessonProgress progress_of(const Session& session, const lessons::Lesson& lesson) {
    if (session.lesson.lesson && session.lesson.lesson->id == lesson.id) return progress_in(session.lesson);
    const auto kept = session.home.progress.find(lesson.id);
    return kept != session.home.progress.end() ? kept->second : LessonProgress{0, lesson.steps.size(), 0};
}

GoOn go_on_of(const Session& session) {
    const Remembered& left = session.home.left;
    const std::optional<Workspace> was = workspace_named(left.workspace);
    const lessons::Lesson* open = lesson_of(session, left.lesson);
    if (was == Workspace::kernel) {
        const KernelDocument& document = session.desk.document();
        GoOn on{.workspace = *was};
        on.title = fmt::format("Continue: your {} {}",
                               document.is_program() || document.is_host() || document.is_tape() ? "program" : "kernel",
                               document.shown_name());
        on.detail = cycles_text(left);
        if (on.detail.empty())
            on.detail = document.path.empty() ? "As you left it, not saved as a file yet." : document.path;
        return on;
    }
    if (open != nullptr && was && row_of(*was).shows_kernel) {
        GoOn on = in_lesson(session, *open, left.lesson_step);
        on.workspace = *was;
        return on;
    }
    // A lesson that is under way comes before a workspace that was only looked into.
    const lessons::Lesson* const last = lesson_of(session, session.learn.last_lesson);
    if (last != nullptr && !progress_of(session, *last).whole()) return in_lesson(session, *last, -1);
    if (was == Workspace::training || was == Workspace::build) {
        GoOn on{.workspace = *was};
        on.title = fmt::format("Continue in {}", row_of(*was).title);
        on.detail = "The workspace that was open last.";
        return on;
    }
    if (last != nullptr) return in_lesson(session, *last, -1);
    if (session.home.course.empty())
        return {.label = "Look around", .title = "No lessons are installed", .detail = "The machine is there."};
    const lessons::Lesson& first = *session.home.course.front();
    GoOn on{.lesson = first.id, .step = 0, .label = "Start: " + first.id};
    on.title = fmt::format("Start here: {} {}", first.id, first.title);
    on.detail = fmt::format("{} {} minutes, {} steps; nothing to install, no account.", first.question, first.minutes,
                            first.steps.size());
    on.progress = LessonProgress{0, first.steps.size(), 0};
    return on;
}

void go_on(Session& session, const GoOn& where) {
    session.workspace = where.workspace;
    session.playing = false;
    if (where.lesson.empty() || (session.lesson.lesson && session.lesson.lesson->id == where.lesson)) return;
    session.post(ask::OpenLesson{where.lesson, where.step});
}

std::string facts_of(const Session& session, const HomePlan::Part& part) {
    int minutes = 0, done = 0;
    size_t exams = 0;
    for (const size_t i : part.lessons) {
        const lessons::Lesson& lesson = *session.home.course[i];
        exams += lesson.exam;
        if (lesson.exam) continue;
        minutes += lesson.minutes;
        done += progress_of(session, lesson).whole();
    }
    const int hours = static_cast<int>(std::lround(minutes / 60.0));
    const size_t lessons = part.lessons.size() - exams;
    return fmt::format("{}{}, {}{}", counted(lessons, "lesson"), exams > 0 ? " and an exam" : "",
                       minutes < 55 ? fmt::format("{} min", minutes) : fmt::format("{} h", hours),
                       done > 0 ? fmt::format(", {} done", done) : "");
}

std::string more_of(const Session& session, const HomePlan::Part& part) {
    if (part.shown >= part.lessons.size()) return {};
    const auto named = [&](size_t i) {
        const lessons::Lesson& lesson = *session.home.course[part.lessons[i]];
        return lesson.id + " " + lesson.title;
    };
    const size_t left = part.lessons.size() - part.shown;
    if (left == 1) return "1 more: " + named(part.shown);
    return fmt::format("{} more: {} … {}", left, named(part.shown), named(part.lessons.size() - 1));
}

TileText machine_text(const Snapshot& snapshot, const HomeKernel& kernel) {
    TileText text{"Watch a GPU run a kernel", "The modelled GPU starts its first kernel ..."};
    if (kernel.run)
        text.sentence = fmt::format("{} on a modelled {}", kernel.label, kernel.run->gpu.title);
    else if (snapshot.busy.empty())
        text.sentence = "Nothing has run yet: open a lesson or a kernel, and it runs here";
    return text;
}

TileText own_text_of(const Session& session, const Snapshot& snapshot) {
    const KernelDocument& document = session.desk.document();
    const bool untouched = document.path.empty() && session.desk.documents().size() == 1;
    TileText text{untouched ? "Open your own CUDA program"
                            : "Your " + std::string(document.is_program() ? "program " : "kernel ") + document.shown_name(),
                  "Drop any .cu file here, or press to edit this one"};
    const auto& ran = snapshot.own.run;
    if (ran && ran->run && ran->timed && !document.is_program())
        text.sentence = fmt::format("{} on a {}; drop any .cu file here", counted(ran->run->result.cycles, "cycle"),
                                    ran->run->gpu.title);
    if (snapshot.program.run && document.is_program())
        text.sentence = fmt::format("{}, {}; drop any .cu file here",
                                    counted(snapshot.program.run->report.launches.size(), "launch", "launches"),
                                    snapshot.program.run->running ? "it runs" : snapshot.program.run->ended);
    return text;
}

TileText training_text(const Snapshot& snapshot) {
    const TrainingState& training = training_run_of(snapshot);
    if (!training.step) return {"Train a network", "A real one, on this computer: press to begin"};
    const nn::StepRecord& step = *training.step;
    TileText text{"Train " + step.model, fmt::format("on {}: every number is computed", step.device)};
    if (step.model == "mlp") text.title = "Train a network to read digits";
    if (!training.written.empty()) text.sentence = "It starts with noise and learns to spell, on this computer";
    return text;
}

}  // namespace lockstep::gui
