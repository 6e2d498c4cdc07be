#include "app/gui/views/lesson/companion_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gui/desk/work_file.h"
#include "app/gui/views/build/build_data.h"
#include "app/gui/widgets/ui_state.h"
#include "core/base/units.h"
#include "lessons/player/companion/companion.h"
#include "lessons/player/exercise.h"
#include "lessons/player/story/story.h"

namespace lockstep::gui {
namespace {

using lessons::Companion;

constexpr float code_pitch = 18;

// A line of code that is too long goes on below, further in.
std::vector<std::string> code_lines(const std::string& code, size_t columns) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin <= code.size();) {
        const size_t end = std::min(code.find('\n', begin), code.size());
        std::string line = code.substr(begin, end - begin);
        const size_t in = std::min(line.find_first_not_of(' '), columns / 2) + 4;
        while (line.size() > columns) {
            size_t cut = line.rfind(' ', columns);
            if (cut == std::string::npos || cut <= in) cut = columns;
            lines.push_back(line.substr(0, cut));
            line = std::string(in, ' ') + line.substr(std::min(line.find_first_not_of(' ', cut), line.size()));
        }
        lines.push_back(line);
        begin = end + 1;
    }
    return lines;
}

float heading(Ui& ui, std::string_view words, float x, float y) {
    ui.text(x, y + 16, words, {.size = 13, .color = ui.theme->ink2, .weight = 600});
    return y + 26;
}

}  // namespace

std::string Calibration::words() const {
    if (asked == 0) return {};
    const double share = 100.0 * right / asked;
    return fmt::format("You were {:.0f} % sure on average, and right in {} of {} ({:.0f} %): {}.", sure, right, asked, share,
                       sure > share + 15   ? "less sure would have been nearer"
                       : sure < share - 15 ? "you may trust yourself more"
                                           : "that is well judged");
}

Calibration calibration_of(const LessonState& state) {
    Calibration all;
    if (!state.lesson) return all;
    for (size_t i = 0; i < state.lesson->steps.size() && i < state.predictions.size(); ++i)
        for (size_t p = 0; p < state.lesson->steps[i].predicts.size() && p < state.predictions[i].size(); ++p) {
            const LessonState::Prediction& given = state.predictions[i][p];
            if (!state.lesson->steps[i].predicts[p].sure || !given.locked || !given.truth || given.by_class) continue;
            ++all.asked;
            all.right += given.right;
            all.sure += given.confidence;
        }
    if (all.asked > 0) all.sure /= all.asked;
    return all;
}

const lessons::Exercise* challenge_exercise(const LessonState& state, int& step, size_t& index) {
    if (!state.lesson || !state.lesson->challenge) return nullptr;
    for (size_t s = 0; s < state.lesson->steps.size(); ++s)
        for (size_t e = 0; e < state.lesson->steps[s].exercises.size(); ++e)
            if (const lessons::Exercise& one = state.lesson->steps[s].exercises[e];
                one.id == state.lesson->challenge->exercise) {
                step = static_cast<int>(s), index = e;
                return &one;
            }
    return nullptr;
}

static const lessons::MedalWon* last_medal(const LessonState& state) {
    int step = 0;
    size_t index = 0;
    if (challenge_exercise(state, step, index) == nullptr) return nullptr;
    const LessonState::Checked* const last = state.last_check(step, index);
    return last != nullptr && last->report && last->report->medal ? &*last->report->medal : nullptr;
}

static std::optional<lessons::MedalLimits> known_limits(const LessonState& state) {
    if (const lessons::MedalWon* const won = last_medal(state)) return won->limits;
    return state.ending ? state.ending->limits : std::nullopt;
}

std::string medal_limits_words(const LessonState& state) {
    const auto limits = known_limits(state);
    return limits ? "Medals: " + limits->words() + "." : std::string();
}

std::string medal_won_words(const LessonState& state) {
    if (const lessons::MedalWon* const won = last_medal(state)) {
        const std::string words = won->problem.empty() && won->medal == lessons::Medal::none
                                      ? "no medal yet: " + lessons::limit_words(won->figure, won->limits.unit)
                                  : won->problem.empty() ? fmt::format("{}: {}", lessons::name_of(won->medal),
                                                                       lessons::limit_words(won->figure, won->limits.unit))
                                                         : "no medal: " + won->problem;
        return fmt::format("Yours, {}.", words);
    }
    if (state.medal != lessons::Medal::none) return fmt::format("Yours, from before: {}.", lessons::name_of(state.medal));
    return {};
}

void EndingAsked::ask(const Ui& ui, Session& session) {
    const LessonState& state = session.lesson;
    if (!state.lesson || state.ending) return;
    constexpr double soon = 3;  // seconds: the worker may not have begun yet
    if (of_ == state.lesson.get() && (ui.now - at_ < soon || !session.snapshot()->busy.empty())) return;
    of_ = state.lesson.get();
    at_ = ui.now;
    session.post(ask::WorkOutEnding{});
}

void CompanionParts::begin_step() {
    same_open_.clear();
    answers_open_.clear();
    certificate_.clear();
    copied_ = ~size_t{0};
}

bool CompanionParts::has_ending(const LessonState& state) {
    if (!state.companion || !state.lesson) return false;
    const size_t last = state.lesson->steps.size() - 1;
    return static_cast<size_t>(state.step) == last && last < state.done.size() && state.done[last];
}

float CompanionParts::draw_code(Ui& ui, const std::string& code, float x, float w, float y) const {
    const float letter = std::max(1.0f, ui.text_width("0", {.size = 12, .mono = true}));
    const std::vector<std::string> lines = code_lines(code, static_cast<size_t>(std::max(24.0f, (w - 20) / letter)));
    ui.rect({x, y, w, static_cast<float>(lines.size()) * code_pitch + 12}, ui.theme->code, 4);
    float at = y + 19;
    for (const std::string& line : lines) {
        const bool comment =
            line.find_first_not_of(' ') != std::string::npos &&
            (line.compare(line.find_first_not_of(' '), 2, "//") == 0 || line[line.find_first_not_of(' ')] == '#');
        ui.text(x + 10, at, line,
                {.size = 12, .color = comment ? ui.theme->quiet : ui.theme->ink, .mono = true, .width = w - 16});
        at += code_pitch;
    }
    return at;
}

float CompanionParts::draw_same(Ui& ui, const LessonState& state, float x, float w, float y) {
    if (!state.companion) return y;
    for (size_t i = 0; i < state.companion->same.size(); ++i) {
        const Companion::Same& one = state.companion->same[i];
        if (one.step != state.step + 1) continue;
        ui.push_scope(fmt::format("same {}", i));
        const bool open = same_open_.count(i) > 0;
        const std::string label = fmt::format("{} The same {}", open ? "Hide:" : "Show:", one.where());
        if (ui.link(x, y + 20, label)) {
            if (open)
                same_open_.erase(i);
            else
                same_open_.insert(i);
        }
        const float end = x + ui.text_width(label, {.size = 13}) + 10;
        ui.text(end, y + 20, one.title, {.size = 13, .color = ui.theme->quiet, .width = x + w - end - (open ? 64 : 0)});
        if (open) {
            const std::string copy = copied_ == i ? "Copied" : "Copy";
            if (ui.state->set_clipboard && ui.link(x + w - ui.text_width(copy, {.size = 13}), y + 20, copy)) {
                ui.state->set_clipboard(one.code);
                copied_ = i;
            }
            y = draw_code(ui, one.code, x, w, y + 28);
        }
        y += open ? 4 : 28;
        ui.pop_scope();
    }
    return y;
}

float CompanionParts::draw_ending(Ui& ui, Session& session, float x, float w, float y) {
    const LessonState& state = session.lesson;
    const Companion& companion = *state.companion;
    const TextStyle said{.size = 14, .color = ui.theme->ink2};
    y = heading(ui, "What this lesson found", x, y);
    y += ui.paragraph({x, y, w, 400}, companion.recap, {.size = 15}, 23) + 6;
    if (const std::string words = calibration_of(state).words(); !words.empty())
        y += ui.paragraph({x, y, w, 400}, words, said, 21) + 6;
    asked_.ask(ui, session);
    y = draw_challenge(ui, session, x, w, y);
    y = draw_story(ui, state, x, w, y);
    y = heading(ui, "To think about", x, y + 6);
    for (size_t i = 0; i < companion.questions.size(); ++i) {
        ui.push_scope(fmt::format("question {}", i));
        y += ui.paragraph({x, y, w, 400}, companion.questions[i].ask, {.size = 14}, 21);
        if (answers_open_.count(i) > 0)
            y += ui.paragraph({x + 12, y + 2, w - 12, 600}, companion.questions[i].answer, said, 21) + 10;
        else {
            if (ui.link(x, y + 18, "Show the answer")) answers_open_.insert(i);
            y += 32;
        }
        ui.pop_scope();
    }
    for (const auto& [text, name] : {std::pair(&companion.back, "Back to"), std::pair(&companion.forward, "On to")}) {
        const auto [id, words] = Companion::link(*text);
        if (id.empty()) continue;
        if (ui.button({x, y + 2, 116, 30}, fmt::format("{} {}", name, id), text == &companion.forward))
            session.post(ask::OpenLesson{id});
        y += std::max(38.0f, ui.paragraph({x + 128, y + 6, w - 128, 100}, words, said, 20) + 12);
    }
    if (ui.link(x, y + 18, "Write my certificate")) certificate_ = session.write_certificate();
    y += 30;
    if (!certificate_.empty()) y += ui.paragraph({x, y, w, 100}, certificate_, {.size = 13, .color = ui.theme->ink2}, 19);
    return y + 6;
}

// What to beat, the three medals with the figure that earns each, and the way to the editor.
float CompanionParts::draw_challenge(Ui& ui, Session& session, float x, float w, float y) {
    const LessonState& state = session.lesson;
    int step = 0;
    size_t index = 0;
    const lessons::Exercise* const exercise = challenge_exercise(state, step, index);
    if (exercise == nullptr) return y;
    const TextStyle said{.size = 14, .color = ui.theme->ink2};
    y = heading(ui, "Challenge", x, y + 6);
    y += ui.paragraph({x, y, w, 400}, state.lesson->challenge->prompt, {.size = 14}, 21) + 6;
    const auto limits = known_limits(state);
    if (!limits) {
        y += ui.paragraph({x, y, w, 100},
                          state.ending && !state.ending->problem.empty() ? state.ending->problem
                                                                         : "The engine works out where the medals begin ...",
                          said, 21) +
             4;
    } else {
        const float column = w / 3;
        float at = x;
        for (const lessons::Medal medal : {lessons::Medal::bronze, lessons::Medal::silver, lessons::Medal::gold}) {
            const Color color = medal_color(medal, *ui.theme);
            const bool mine = state.medal >= medal;
            if (mine)
                ui.circle({at + 7, y + 11}, 6, color);
            else
                ui.ring({at + 7, y + 11}, 6, color, 1.5f);
            ui.text(at + 20, y + 16, lessons::name_of(medal), {.size = 13, .color = color, .weight = 600});
            ui.text(at + 20, y + 34, "to " + lessons::limit_words(limits->of(medal), limits->unit),
                    {.size = 13, .width = column - 22});
            at += column;
        }
        y += 44;
    }
    if (const std::string words = medal_won_words(state); !words.empty())
        y += ui.paragraph({x, y, w, 100}, words, said, 21) + 2;
    if (ui.link(x, y + 18, "Try it: " + exercise->file)) edit_exercise(session, *exercise);
    return y + 32;
}

// The job's versions as bars, the first on top; what each adds, and what it takes.
float CompanionParts::draw_story(Ui& ui, const LessonState& state, float x, float w, float y) {
    if (!state.ending || state.ending->bars.empty()) return y;
    const lessons::Ending& ending = *state.ending;
    y = heading(ui, "The same job since A01", x, y + 6);
    y += ui.paragraph({x, y, w, 100}, ending.words(), {.size = 14}, 21) + 4;
    const float left = 38, right = 74, most = static_cast<float>(ending.bars.front().us);
    for (const lessons::Ending::Bar& bar : ending.bars) {
        const bool now = &bar == &ending.bars.back();
        const float length = std::max(2.0f, (w - left - right) * static_cast<float>(bar.us) / most);
        ui.text(x, y + 13, bar.lesson, {.size = 13, .weight = now ? 600 : 400});
        ui.rect({x + left, y + 2, length, 13}, now ? ui.theme->accent : ui.theme->ink3, 2);
        ui.text(x + left + length + 8, y + 13, time_text(bar.us), {.size = 13, .weight = now ? 600 : 400});
        ui.text(x + left, y + 30, bar.what, {.size = 13, .color = ui.theme->ink2, .width = w - left});
        y += 38;
    }
    return y + 4;
}

std::string CompanionParts::describe(const LessonState& state) {
    if (!state.companion) return {};
    std::string text;
    for (const Companion::Same& one : state.companion->same)
        if (one.step == state.step + 1) text += fmt::format("  The same {}: {}\n", one.where(), one.title);
    if (!has_ending(state)) return text;
    text += fmt::format("  Found: {}\n", state.companion->recap);
    if (const std::string words = calibration_of(state).words(); !words.empty()) text += "  " + words + "\n";
    if (state.lesson->challenge) text += "  Challenge: " + state.lesson->challenge->prompt + "\n";
    for (const std::string& words : {medal_limits_words(state), medal_won_words(state)})
        if (!words.empty()) text += "  " + words + "\n";
    if (state.ending && !state.ending->bars.empty()) text += "  " + state.ending->words() + "\n";
    for (const Companion::Question& question : state.companion->questions)
        text += "  To think about: " + question.ask + "\n";
    if (!state.companion->back.empty()) text += "  Back: " + state.companion->back + "\n";
    if (!state.companion->forward.empty()) text += "  On: " + state.companion->forward + "\n";
    return text;
}

}  // namespace lockstep::gui
