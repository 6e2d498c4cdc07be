#include "app/gui/views/lesson/companion_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gui/widgets/ui_state.h"
#include "lessons/player/companion/companion.h"

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

void CompanionParts::begin_step() {
    same_open_.clear();
    answers_open_.clear();
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
    return y + 6;
}

std::string CompanionParts::describe(const LessonState& state) {
    if (!state.companion) return {};
    std::string text;
    for (const Companion::Same& one : state.companion->same)
        if (one.step == state.step + 1) text += fmt::format("  The same {}: {}\n", one.where(), one.title);
    if (!has_ending(state)) return text;
    text += fmt::format("  Found: {}\n", state.companion->recap);
    if (const std::string words = calibration_of(state).words(); !words.empty()) text += "  " + words + "\n";
    for (const Companion::Question& question : state.companion->questions)
        text += "  To think about: " + question.ask + "\n";
    if (!state.companion->back.empty()) text += "  Back: " + state.companion->back + "\n";
    if (!state.companion->forward.empty()) text += "  On: " + state.companion->forward + "\n";
    return text;
}

}  // namespace lockstep::gui
