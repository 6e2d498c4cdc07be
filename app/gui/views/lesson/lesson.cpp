// The lesson panel: title and steps, prose, the predictions (answers, confidence, Lock), the exercise with its report,
// and the list of steps. It writes the player's state and posts requests; the worker computes every answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/desk/work_file.h"
#include "app/gui/view.h"
#include "app/gui/views/lesson/companion_parts.h"
#include "app/gui/views/sketch/sketch.h"
#include "core/base/diagnostic.h"
#include "lessons/player/predict.h"

namespace lockstep::gui {
namespace {

using lessons::TextBlock;

std::string answer_text(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return with_commas(static_cast<int64_t>(value));
    return fmt::format("{:.4g}", value);
}

// A path in lines of at most so many letters, broken behind a folder where one ends.
std::vector<std::string> path_lines(const std::string& path, size_t columns) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < path.size();) {
        size_t end = std::min(path.size(), begin + columns);
        if (end < path.size())
            if (const size_t slash = path.find_last_of("/\\", end - 1); slash != std::string::npos && slash > begin)
                end = slash + 1;
        lines.push_back(path.substr(begin, end - begin));
        begin = end;
    }
    return lines;
}

// Of a choice in words: the words; a yes or no needs no number beside them.
std::string truth_text(const lessons::Predict& predict, double truth) {
    const int right = predict.type == "choice" ? lessons::right_answer(predict, truth) : -1;
    if (right < 0) return answer_text(truth);
    const std::string& words = predict.answers[static_cast<size_t>(right)].text;
    // Answers that are counted off, 0, 1, 2 ..., stand for their words alone.
    bool counted = true;
    for (size_t i = 0; i < predict.answers.size(); ++i) counted &= predict.answers[i].value == static_cast<double>(i);
    return counted || truth == 0 || truth == 1 ? words : fmt::format("{} ({})", words, answer_text(truth));
}

// Whether the run said otherwise than an answer of the step.
bool missed(const LessonState& state, size_t step) {
    if (step >= state.predictions.size()) return false;
    const auto& given = state.predictions[step];
    return std::any_of(given.begin(), given.end(),
                       [](const auto& p) { return p.locked && p.truth && !p.right && !p.by_class; });
}

// Whether an answer of the step was taken back: neither right nor wrong until the next one is locked.
bool answers_again(const LessonState& state, size_t step) {
    if (step >= state.predictions.size()) return false;
    const auto& given = state.predictions[step];
    return std::any_of(given.begin(), given.end(), [](const auto& p) { return p.again && !p.locked; });
}

bool told_to_class(const LessonState& state, size_t step) {  // an answer of it is no answer of the learner's
    const auto& given = state.predictions[step];
    return std::any_of(given.begin(), given.end(), [](const auto& p) { return p.by_class; });
}

// "2 points; told when you hand in"
std::string exam_words(double points) {
    return fmt::format("{:g} point{}; what is right is told when you hand in", points, points == 1 ? "" : "s");
}

int tries_of(const LessonState& state) {
    int tries = 0;
    for (const auto& [place, checked] : state.checked)
        if (place.first == state.step) tries += checked.checks;
    if (state.step < static_cast<int>(state.predictions.size()))
        for (const auto& p : state.predictions[static_cast<size_t>(state.step)]) tries += p.locked && p.truth && !p.right;
    return tries;
}

std::string plain_text(const std::vector<TextBlock>& blocks) {
    std::string text;
    for (const TextBlock& block : blocks) {
        text += "  ";
        for (const auto& run : block.runs) text += run.text;
        text += '\n';
    }
    return text;
}

class LessonView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        LessonState& state = session.lesson;
        if (!state.lesson || state.lesson->steps.empty()) {
            return draw_none(ui, session, area);
        }
        const lessons::Lesson& lesson = *state.lesson;
        state.step = std::clamp(state.step, 0, static_cast<int>(lesson.steps.size()) - 1);
        if (shown_ != state.lesson || shown_step_ != state.step) begin_step(ui, state);
        const Rect whole{area.x + 1, area.y + 32, area.w - 2, area.h - 36};
        tight_ = whole.h < 720;
        std::string title = (lesson.exam ? "Exam " : "Lesson ") + lesson.id,
                    right = fmt::format("{} minutes", lesson.minutes);
        const std::string named = title + ": " + lesson.title,
                          step = fmt::format("step {} of {}", state.step + 1, lesson.steps.size());
        low_ = whole.h < 340 && ui.text_width(named, {.size = 14, .weight = 600}) + ui.text_width(step) + 70 < area.w;
        if (low_) title = named, right = step;
        const Rect body = ui.panel(area, {.title = title, .right = right});
        ui.push_scope("lesson");
        // The way on stays in sight: where a step is longer than the panel, its button stands at the panel's foot.
        const float foot = !foot_ ? 0.0f : low_ ? 37.0f : 53.0f;
        const Rect page{whole.x, whole.y, whole.w, whole.h - foot};
        const float offset = ui.scroll("page", page, height_);
        ui.clip(page);
        x_ = body.x + 4;
        w_ = body.w - 8;
        float y = page.y - offset;
        y = draw_head(ui, state, y);
        y = draw_prose(ui, lesson.steps[static_cast<size_t>(state.step)].prose, y + (tight_ ? 10 : 16));
        y = draw_predicts(ui, session, y);
        bring_answer_in_sight(ui, state, page, offset);
        y = draw_exercises(ui, session, y);
        y = draw_hints(ui, state, y);
        y = parts_.draw_same(ui, state, x_, w_, y);
        if (lesson.exam) y = draw_exam(ui, session, y);
        next_bottom_ = 0;
        if (may_go_on(state)) {
            next_bottom_ = y + 44;
            if (!foot_) draw_next(ui, session, y + 12);
            y += 56;
        }
        // An exercise that is not solved keeps nobody from the last page.
        const bool stands_at_end = state.companion && state.step + 1 == static_cast<int>(lesson.steps.size());
        if (stands_at_end && !may_go_on(state) && !CompanionParts::has_ending(state) && !unsolved_end_) {
            if (ui.link(x_, y + 20, "To the last page")) unsolved_end_ = true;
            y += 32;
        }
        const bool ends = CompanionParts::has_ending(state) || unsolved_end_;
        if (ends) {
            if (!ended_) ui.scroll_to("page", y + offset - page.y), ui.animate();
            y = parts_.draw_ending(ui, session, x_, w_, y + 12);
        }
        ended_ = ends;
        const float list = 40 + 22 * static_cast<float>(lesson.steps.size());
        y = draw_list(ui, session, std::max(y + 8, page.bottom() - offset - list));  // at the foot when there is room
        height_ = y + offset - page.y;
        if (height_ <= page.h + 1) height_ = page.h;
        ui.unclip();
        if (foot_) {
            ui.line({whole.x, page.bottom()}, {whole.right(), page.bottom()}, ui.theme->line);
            if (next_bottom_ > 0) draw_next(ui, session, page.bottom() + (low_ ? 4 : 11));
        }
        ui.pop_scope();
        const bool below = next_bottom_ > whole.bottom() && whole.h > 160;
        if (below != foot_) ui.animate();
        foot_ = below;
    }

    std::string describe(const Session& session, const Focus&) const override {
        const LessonState& state = session.lesson;
        if (!state.lesson || state.lesson->steps.empty()) return "Lesson: none is open.";
        const lessons::Lesson& lesson = *state.lesson;
        const auto at = static_cast<size_t>(std::clamp(state.step, 0, static_cast<int>(lesson.steps.size()) - 1));
        const lessons::Step& step = lesson.steps[at];
        std::string text = fmt::format("Lesson {}  {}, {} minutes\n  Step {} of {}: {} ({})\n", lesson.id, lesson.title,
                                       lesson.minutes, at + 1, lesson.steps.size(), step.title, step.verb);
        text += plain_text(step.prose);
        for (size_t p = 0; p < step.predicts.size(); ++p) {
            text += "  Predict: " + step.predicts[p].question + "\n";
            const auto* given =
                at < state.predictions.size() && p < state.predictions[at].size() ? &state.predictions[at][p] : nullptr;
            if (step.predicts[p].is_sketch()) continue;  // the picture says what was put into it
            for (const size_t a : lessons::shown_order(lesson, step.predicts[p], session.learn.learner))
                text += fmt::format("    {} {}\n", given && given->chosen == static_cast<int>(a) ? "(x)" : "( )",
                                    step.predicts[p].answers[a].text);
            if (given && given->locked && given->truth)
                text += fmt::format("    {}: the run says {}\n",
                                    given->by_class ? "told to a class"
                                    : given->right  ? "right"
                                                    : "not so",
                                    truth_text(step.predicts[p], *given->truth));
        }
        for (const auto& exercise : step.exercises)
            text += fmt::format("  Exercise {}: {} ({})\n", exercise.id, exercise.prompt, exercise.check.text());
        for (size_t e = 0; e < step.exercises.size(); ++e)
            if (const LessonState::Checked* const last = state.last_check(static_cast<int>(at), e))
                for (const std::string& line : lines_of(*last)) text += "    " + line + "\n";
        for (size_t i = 0; i < lesson.steps.size() && i < state.done.size(); ++i)
            if (state.done[i])
                text += fmt::format("  Step {} is done{}.\n", i + 1,
                                    missed(state, i) ? ", answered otherwise than the run says" : "");
        if (lesson.exam) text += "  " + exam_state_words(state) + "\n";
        return text + CompanionParts::describe(state);
    }

  private:
    std::shared_ptr<const lessons::Lesson> shown_;
    int shown_step_ = -1, hints_open_ = 0;
    float height_ = 0, x_ = 0, w_ = 0, next_bottom_ = 0, answer_top_ = 0, answer_bottom_ = 0;
    bool tight_ = false, foot_ = false;  // a low panel: lines and cards stand closer
    bool low_ = false;  // a lower one, as with large text: the lesson's name and the step's number stand in the panel's head
    CompanionParts parts_;
    bool ended_ = false, unsolved_end_ = false, asked_to_hand_in_ = false;
    size_t answered_ = 0;
    int reveal_frames_ = 0;
    std::string work_id_, work_path_, certificate_;

    float draw_head(Ui& ui, const LessonState& state, float y) {
        const Theme& theme = *ui.theme;
        const lessons::Lesson& lesson = *state.lesson;
        if (low_) {
            const std::string& title = lesson.steps[static_cast<size_t>(state.step)].title;
            return y + 6 + ui.paragraph({x_, y + 6, w_, 100}, title, {.size = 16, .weight = 600}, 22) - 4;
        }
        y += ui.paragraph({x_, y + (tight_ ? 6 : 8), w_, 200}, lesson.title, {.size = tight_ ? 21.0f : 24.0f, .weight = 700},
                          tight_ ? 28 : 34) +
             (tight_ ? 6 : 12);
        const lessons::Step& step = lesson.steps[static_cast<size_t>(state.step)];
        y += 16;
        const float end =
            ui.text(x_, y, fmt::format("Step {} of {}", state.step + 1, lesson.steps.size()), {.size = 14, .weight = 600});
        ui.text(end + 10, y, step.title, {.size = 14, .color = theme.ink2, .width = x_ + w_ - end - 10});
        if (low_) return y - 2;  // the list of steps says what is done
        y += 20;
        const auto count = lesson.steps.size();
        const float pitch = std::min(24.0f, (w_ - 12) / static_cast<float>(std::max<size_t>(1, count)));
        for (size_t i = 0; i < count; ++i) {
            const Point at{x_ + 6 + pitch * static_cast<float>(i), y};
            const bool done = i < state.done.size() && state.done[i];
            if (i + 1 < count) ui.line({at.x + 8, y}, {at.x + pitch - 8, y}, done ? theme.accent : theme.line, 2);
            if (static_cast<int>(i) == state.step) {
                ui.ring(at, 6, theme.accent, 2);
                ui.circle(at, 2.5f, theme.accent);
            } else if (done) {
                ui.circle(at, 5, theme.accent);
            } else {
                ui.ring(at, 5, theme.ink3, 1.5f);
            }
        }
        return y + 8;
    }

    static void draw_none(Ui& ui, Session& session, const Rect& area) {
        const Rect body = ui.panel(area, {.title = "Lesson"});
        ui.say_nothing_yet(body, "No lesson is open.",
                           "Choose one at the top of the window: each one shows a run that really happens.");
        const std::string id = session.learn.last_lesson.empty() ? "A01" : session.learn.last_lesson;
        const std::string label = session.learn.last_lesson.empty() ? "Begin with A01" : "Go on with " + id;
        if (ui.button({body.x + (body.w - std::min(420.0f, body.w)) / 2, body.y + body.h / 2 + 52, 168, 32}, label, true))
            session.post(ask::OpenLesson{id});
    }

    void begin_step(Ui& ui, const LessonState& state) {
        shown_ = state.lesson;
        shown_step_ = state.step;
        foot_ = false;
        ended_ = CompanionParts::has_ending(state);  // a lesson that is opened again begins at its top
        unsolved_end_ = asked_to_hand_in_ = false;
        certificate_.clear();
        parts_.begin_step();
        answered_ = answered(state);
        ui.push_scope("lesson");
        ui.scroll_to("page", 0);
        ui.pop_scope();
    }

    float draw_prose(Ui& ui, const std::vector<TextBlock>& blocks, float y) const {
        const Theme& theme = *ui.theme;
        const Telling telling(ui);
        for (const TextBlock& block : blocks) {
            std::vector<Run> runs;
            const bool code = block.kind == TextBlock::Kind::code;
            for (const auto& run : block.runs)
                runs.push_back({run.text,
                                {.size = code       ? 13.0f
                                         : run.code ? 14.0f
                                                    : 15.0f,
                                 .weight = run.bold || run.italic || block.kind == TextBlock::Kind::heading ? 600 : 400,
                                 .mono = run.code || code},
                                run.code && !code});
            const float indent = block.kind == TextBlock::Kind::list_item ? 16.0f : code ? 10.0f : 0.0f;
            if (block.kind == TextBlock::Kind::list_item) ui.circle({x_ + 5, y + 12}, 2.5f, theme.ink2);
            if (code) {
                y += draw_code_block(ui, block, y);
                continue;
            }
            y += ui.paragraph({x_ + indent, y, w_ - indent, 2000}, runs, tight_ ? 22 : 24) + (tight_ ? 5 : 8);
        }
        return y;
    }

    float draw_code_block(Ui& ui, const TextBlock& block, float y) const {
        std::string text;
        for (const auto& run : block.runs) text += run.text;
        while (!text.empty() && text.back() == '\n') text.pop_back();
        const auto lines = static_cast<float>(std::count(text.begin(), text.end(), '\n') + 1);
        ui.rect({x_, y, w_, lines * 20 + 12}, ui.theme->code, 4);
        float at = y + 20;
        for (size_t begin = 0; begin <= text.size();) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            ui.text(x_ + 10, at, text.substr(begin, end - begin), {.size = 13, .mono = true, .width = w_ - 20});
            at += 20;
            begin = end + 1;
        }
        return lines * 20 + 20;
    }

    // A card with an accent edge; `draw` fills it from y and returns where it ends. Its height is known from last frame.
    template <class Draw>
    float card(Ui& ui, float y, float& height, Draw&& draw) {
        ui.rect({x_ - 8, y, w_ + 16, height}, ui.theme->panel2, 5);
        ui.frame({x_ - 8, y, w_ + 16, height}, ui.theme->line, 1, 5);
        ui.rect({x_ - 8, y, 3, height}, ui.theme->accent);
        const float end = draw(x_ + 8, w_ - 16);
        if (std::abs(end - y - height) > 0.5f) ui.animate();
        height = end - y;
        return end + 8;
    }
    std::vector<float> card_heights_;
    float& card_height(size_t index) {
        if (card_heights_.size() <= index) card_heights_.resize(index + 1, 260);
        return card_heights_[index];
    }

    float draw_predicts(Ui& ui, Session& session, float y) {
        LessonState& state = session.lesson;
        const auto at = static_cast<size_t>(state.step);
        const auto& predicts = state.lesson->steps[at].predicts;
        if (predicts.empty()) return y;
        if (state.predictions.size() <= at) state.predictions.resize(at + 1);
        if (state.predictions[at].size() < predicts.size()) state.predictions[at].resize(predicts.size());
        for (size_t p = 0; p < predicts.size(); ++p) {
            ui.push_scope(fmt::format("predict {}", p));
            const float top = y + 8;
            y = card(ui, top, card_height(p), [&](float x, float w) {
                if (predicts[p].is_sketch())
                    return draw_sketch_card(ui, session, predicts[p], state.predictions[at][p], p, x, w, top);
                return draw_predict(ui, session, predicts[p], state.predictions[at][p], p, x, w, top);
            });
            ui.pop_scope();
            if (state.predictions[at][p].truth) answer_bottom_ = y;
        }
        return y;
    }

    static size_t answered(const LessonState& state) {
        const auto at = static_cast<size_t>(state.step);
        if (at >= state.predictions.size()) return 0;
        return static_cast<size_t>(std::count_if(state.predictions[at].begin(), state.predictions[at].end(),
                                                 [](const auto& one) { return one.truth.has_value(); }));
    }

    // What the run says of an answer just given is scrolled into sight; a card's height is known after a frame or two.
    void bring_answer_in_sight(Ui& ui, const LessonState& state, const Rect& page, float offset) {
        const size_t now = answered(state);
        if (now > answered_) reveal_frames_ = 4;
        answered_ = now;
        if (reveal_frames_ <= 0) return;
        --reveal_frames_;
        ui.animate();
        if (answer_bottom_ > page.bottom())  // of what is longer than the page its beginning
            ui.scroll_to("page", offset + std::min(answer_bottom_ - page.bottom(), answer_top_ - page.y));
    }

    float draw_predict(Ui& ui, Session& session, const lessons::Predict& predict, LessonState::Prediction& given,
                       size_t index, float x, float w, float y) {
        const Theme& theme = *ui.theme;
        const bool waiting = given.locked && !given.truth, by_class = given.by_class && !waiting;
        ui.text(x, y + 25, "PREDICT", {.size = 12, .color = theme.accent, .weight = 700});
        ui.text(x + w, y + 25,
                session.lesson.holds_back() ? ""
                : !given.locked             ? "then run it"
                : waiting                   ? "working it out"
                : by_class                  ? "told to a class"
                : given.right               ? "right"
                                            : "not so",
                {.size = 13,
                 .color = !given.locked || waiting || by_class ? theme.quiet
                          : given.right                        ? theme.right
                                                               : theme.wrong,
                 .align = Align::right,
                 .weight = given.locked ? 600 : 400});
        y += 32 + ui.paragraph({x, y + 34, w, 400}, predict.question, {.size = 16, .weight = 600}, 22) + 12;
        for (const size_t a : lessons::shown_order(*session.lesson.lesson, predict, session.learn.learner)) {
            const bool told = given.locked && given.truth && !session.lesson.holds_back();
            const int right = told ? lessons::right_answer(predict, *given.truth) : -1;
            y = draw_answer(ui, predict.answers[a], given, static_cast<int>(a), right, x, w, y) + (tight_ ? 6 : 8);
        }
        if (waiting) {
            ui.text(x, y + 18, "The engine works out the answer ...", {.size = 14, .color = theme.ink2});
            return y + 38;
        }
        answer_top_ = y;
        if (session.lesson.holds_back()) {
            ui.text(x, y + 18, exam_words(predict.points), {.size = 13, .color = theme.quiet, .width = w});
            return y + 34;
        }
        if (given.locked) {
            y = draw_truth(ui, predict, given, x, w, y);
            if (!given.by_class) return y;
            if (ui.button({x, y, 190, 32}, "Answer it yourself", false)) sketch_again(given);
            return y + 44;
        }
        if (predict.sure) y = draw_confidence(ui, given, x, w, y);
        if (ui.button({x, y, 152, 32}, "Lock answer", true, given.chosen >= 0)) {
            given.locked = true;
            session.post(ask::LockPrediction{index});
        }
        ui.text(x + 168, y + 21, given.chosen < 0 ? "choose an answer first" : "then the run answers",
                {.size = 13, .color = theme.quiet, .width = w - 168});
        return y + 44;
    }

    static float draw_confidence(Ui& ui, LessonState::Prediction& given, float x, float w, float y) {
        const Theme& theme = *ui.theme;
        const float s1 = x + 84, s2 = x + w - 56;
        ui.text(x, y + 16, "How sure?", {.size = 14});
        given.confidence = static_cast<int>(
            std::lround(100 * ui.slider("sure", {s1, y + 3, s2 - s1, 16}, static_cast<float>(given.confidence) / 100, 51)));
        ui.text(x + w, y + 16, fmt::format("{} %", given.confidence), {.size = 14, .align = Align::right, .weight = 600});
        for (int i = 0; i <= 4; ++i) ui.rect({s1 + (s2 - s1) * static_cast<float>(i) / 4 - 0.5f, y + 18, 1, 4}, theme.ink3);
        ui.text(s1, y + 36, "a guess", {.size = 12, .color = theme.quiet});
        ui.text(s2, y + 36, "certain", {.size = 12, .color = theme.quiet, .align = Align::right});
        return y + 46;
    }

    // What the run says, the lesson's words to the answer that was given, and after a wrong one to the right one, always.
    static float draw_truth(Ui& ui, const lessons::Predict& predict, const LessonState::Prediction& given, float x, float w,
                            float y) {
        const Theme& theme = *ui.theme;
        const std::string sure =
            predict.sure && !given.by_class ? fmt::format("you were {} % sure", given.confidence) : std::string();
        const std::string says = fmt::format("The run says {}.", truth_text(predict, *given.truth));
        const TextStyle bold{.size = 14, .weight = 600};
        // Beside each other where both fit, else below each other: an answer is never cut.
        if (ui.text_width(says, bold) + ui.text_width(sure, {.size = 13}) + 14 <= w)
            ui.text(x, y + 18, says, bold);
        else
            y += ui.paragraph({x, y + 3, w, 400}, says, bold, 20);
        ui.text(x + w, y + 18, sure, {.size = 13, .color = theme.quiet, .align = Align::right});
        y += 26;
        const int right = lessons::right_answer(predict, *given.truth);
        const auto say = [&](int answer, const std::string& title) {
            if (answer < 0 || answer >= static_cast<int>(predict.answers.size())) return;
            if (!title.empty()) y += ui.paragraph({x, y + 2, w, 100}, title, {.size = 14, .weight = 600}, 20) + 2;
            y += ui.paragraph({x, y + 2, w, 400}, predict.answers[static_cast<size_t>(answer)].reply,
                              {.size = 14, .color = theme.ink2}, 21) +
                 4;
        };
        const bool both = right >= 0 && given.chosen != right;  // or nothing was chosen
        if (both) say(right, "Why " + readable_number(predict.answers[static_cast<size_t>(right)].text));
        const auto chosen = static_cast<size_t>(std::max(0, given.chosen));
        say(given.chosen, both && chosen < predict.answers.size()
                              ? "Why not " + readable_number(predict.answers[chosen].text)
                              : std::string());
        return y + 10;
    }

    // A card with a radio mark, once the run has answered with a tick or a cross; returns its bottom.
    float draw_answer(Ui& ui, const lessons::Answer& answer, LessonState::Prediction& given, int index, int right, float x,
                      float w, float y) const {
        const Theme& theme = *ui.theme;
        const bool on = given.chosen == index, is_right = right == index, is_wrong = right >= 0 && on && !is_right;
        const Color tone = is_right ? theme.right : is_wrong ? theme.wrong : on ? theme.accent : theme.line;
        const TextStyle name{.size = 14, .weight = 600}, detail{.size = 13, .color = theme.ink2};
        const std::string said = readable_number(answer.text);
        const float name_h = ui.paragraph({0, 0, w - 52, 400}, said, name, 20, false);
        const float detail_h =
            answer.detail.empty() ? 0 : ui.paragraph({0, 0, w - 52, 400}, answer.detail, detail, 18, false);
        const Rect box{x, y, w, std::max(tight_ ? 36.0f : 40.0f, name_h + detail_h + (tight_ ? 12 : 16))};
        ui.rect(box, on && !is_wrong ? theme.selected : theme.panel, 4);
        ui.frame(box, tone, on || is_right ? 1.5f : 1.0f, 4);
        const Point mark{x + 20, y + box.h / 2};
        if (is_right || is_wrong) {
            ui.icon(mark.x, mark.y + 5, is_right ? Icon::check : Icon::close,
                    {.size = 14, .color = tone, .align = Align::center});
        } else {
            ui.ring(mark, 7, on ? theme.accent : theme.ink3, 1.5f);
            if (on) ui.circle(mark, 3.5f, theme.accent);
        }
        const float top = y + (box.h - name_h - detail_h) / 2;
        ui.paragraph({x + 40, top, w - 52, name_h}, said, name, 20);
        if (detail_h > 0) ui.paragraph({x + 40, top + name_h, w - 52, detail_h}, answer.detail, detail, 18);
        if (!given.locked && ui.area(fmt::format("answer {}", index), box)) given.chosen = index;
        return box.bottom();
    }

    float draw_exercises(Ui& ui, Session& session, float y) {
        LessonState& state = session.lesson;
        const auto& exercises = state.lesson->steps[static_cast<size_t>(state.step)].exercises;
        for (size_t e = 0; e < exercises.size(); ++e) {
            ui.push_scope(fmt::format("exercise {}", e));
            const float top = y + 8;
            y = card(ui, top, card_height(8 + e),
                     [&](float x, float w) { return draw_exercise(ui, session, e, x, w, top); });
            ui.pop_scope();
        }
        return y;
    }

    float draw_exercise(Ui& ui, Session& session, size_t index, float x, float w, float y) {
        const Theme& theme = *ui.theme;
        LessonState& state = session.lesson;
        const lessons::Exercise& exercise = state.lesson->steps[static_cast<size_t>(state.step)].exercises[index];
        const bool passed =
            static_cast<size_t>(state.step) < state.done.size() && state.done[static_cast<size_t>(state.step)];
        ui.text(x, y + 25, "EXERCISE", {.size = 12, .color = theme.accent, .weight = 700});
        const auto failing = [](const std::string& line) { return line.rfind("FAIL", 0) == 0; };
        const LessonState::Checked* const last = state.last_check(state.step, index);
        const std::vector<std::string> report = last == nullptr ? std::vector<std::string>() : lines_of(*last);
        const bool failed_since = std::any_of(report.begin(), report.end(), failing);
        ui.text(
            x + w, y + 25,
            passed ? (failed_since ? "passed before" : "passed")
                   : fmt::format("{:g} point{}", exercise.points, exercise.points == 1 ? "" : "s"),
            {.size = 13, .color = passed ? theme.right : theme.quiet, .align = Align::right, .weight = passed ? 600 : 400});
        y += 34 + ui.paragraph({x, y + 34, w, 600}, exercise.prompt, {.size = 15}, 23) + 8;
        const bool exam = state.holds_back();
        ui.text(x, y + 14,
                exam ? "Edit it here or in this file, then keep it:" : "Edit it here or in this file, then check it:",
                {.size = 13, .color = theme.ink2});
        y += 20;
        find_work_file(*state.lesson, exercise);
        const std::string& path = work_path_;
        const auto columns = static_cast<size_t>(std::max(10.0f, (w - 20) / 7.3f));
        const std::vector<std::string> lines = path_lines(path, columns);
        ui.rect({x, y, w, static_cast<float>(lines.size()) * 18 + 10}, theme.code, 4);
        for (const std::string& line : lines) {
            ui.text(x + 10, y + 17, line, {.size = 12, .mono = true});
            y += 18;
        }
        y += 20;
        if (ui.button({x + 160, y, 152, 32}, "Edit it here")) edit_exercise(session, exercise);
        if (!session.snapshot()->checking.empty()) {
            if (ui.button({x, y, 152, 32}, "Cancel the check")) session.post(ask::CancelCheck{});
        } else if (ui.button({x, y, 152, 32}, exam ? "Keep it" : "Check it", !passed || failed_since)) {
            check_exercise(session, state.step, index);
        }
        y += 42;
        if (exam)
            y += ui.paragraph({x, y, w, 60},
                              last != nullptr && last->checks > 0 ? "Kept. It is judged when you hand in, as it is then."
                                                                  : "It is judged when you hand in, not before.",
                              {.size = 13, .color = theme.ink2}, 19) +
                 4;
        for (const std::string& line : report)
            y += ui.paragraph({x, y, w, 400}, line, {.size = 13, .color = failing(line) ? theme.wrong : theme.ink2}, 19) + 4;
        return y + 8;
    }

    // The learner's copy of the starter is made once, when the exercise is first seen.
    void find_work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise) {
        const std::string id = lesson.id + "/" + exercise.id;
        if (id == work_id_) return;
        work_id_ = id;
        try {
            work_path_ = work_file(lesson, exercise).string();
        } catch (const Failure& failure) {
            work_path_ = failure.what();
        }
    }

    float draw_hints(Ui& ui, const LessonState& state, float y) {
        const lessons::Step& step = state.lesson->steps[static_cast<size_t>(state.step)];
        const auto& hints = step.hints;
        const int tries = tries_of(state);
        const Theme& theme = *ui.theme;
        // A prediction has one try: its hints help before the answer is out, and nobody after.
        const bool predicts = step.exercises.empty() && !step.predicts.empty();
        if (predicts && answered(state) == step.predicts.size()) return y;
        const auto at = static_cast<size_t>(state.step);
        if (!step.exercises.empty() && at < state.done.size() && state.done[at]) return y;
        int offered = 0;
        for (const lessons::Hint& hint : hints) offered += predicts || tries >= hint.after;
        if (offered == 0) return y;
        for (int i = 0; i < std::min(hints_open_, offered); ++i)
            y += ui.paragraph({x_, y + 8, w_, 400}, hints[static_cast<size_t>(i)].text, {.size = 14, .color = theme.ink2},
                              21) +
                 12;
        if (hints_open_ >= offered) return y;
        if (ui.link(x_, y + 24, "Hint")) ++hints_open_;
        ui.text(x_ + 40, y + 24, "costs no points", {.size = 13, .color = theme.quiet});
        return y + 34;
    }

    void go(Session& session, int step) {
        hints_open_ = 0;
        session.lesson.step = step;
        session.post(ask::ShowLessonStep{step});
    }

    // How far an exam is, or what it came to.
    float draw_exam(Ui& ui, Session& session, float y) {
        const LessonState& state = session.lesson;
        const bool last = state.step + 1 == static_cast<int>(state.lesson->steps.size());
        std::string words = exam_state_words(state);
        if (const ExamResult result = exam_result(state); asked_to_hand_in_ && result.answered < result.tasks) {
            const size_t open = result.tasks - result.answered;
            words =
                fmt::format("{} of {} tasks {} no answer. Handed in, that cannot be made up for: the list below leads back.",
                            open, result.tasks, open == 1 ? "has" : "have");
        }
        y += ui.paragraph({x_, y + 8, w_, 100}, words,
                          {.size = 14, .color = ui.theme->ink2, .weight = state.handed_in ? 600 : 400}, 21) +
             10;
        if (!state.handed_in || !last) return y;
        if (ui.link(x_, y + 18, "Take it again")) {
            session.take_again();
            shown_step_ = -1;
            return y;
        }
        if (ui.link(x_ + 120, y + 18, "Write my certificate")) certificate_ = session.write_certificate();
        y += 30;
        if (!certificate_.empty())
            y += ui.paragraph({x_, y, w_, 100}, certificate_, {.size = 13, .color = ui.theme->ink2}, 19);
        return y;
    }

    static std::string exam_state_words(const LessonState& state) {
        const ExamResult result = exam_result(state);
        if (!state.handed_in)
            return fmt::format(
                "An exam: {} of {} tasks answered, {:g} points in all, {:g} % to pass. Nothing is told before "
                "you hand it in, and nothing is kept if you leave before.",
                result.answered, result.tasks, result.of_points, state.lesson->pass_mark);
        return fmt::format("{}: {} ({:g} % are needed). Every step now says what is right.", result.words(),
                           result.passed ? "passed" : "not passed", state.lesson->pass_mark);
    }

    // Every question of the step is answered and a step follows, or the lesson can be finished.
    static bool may_go_on(const LessonState& state) {
        const auto at = static_cast<size_t>(state.step);
        const lessons::Step& step = state.lesson->steps[at];
        if (state.lesson->exam) return at + 1 < state.lesson->steps.size() || !state.handed_in;
        for (size_t p = 0; p < step.predicts.size(); ++p)
            if (!state.predictions[at][p].locked) return false;
        if (at + 1 < state.lesson->steps.size()) return true;
        return step.exercises.empty() && !(at < state.done.size() && state.done[at]);
    }

    void draw_next(Ui& ui, Session& session, float y) {
        LessonState& state = session.lesson;
        const auto at = static_cast<size_t>(state.step);
        const bool last = at + 1 == state.lesson->steps.size(), plain = state.lesson->steps[at].exercises.empty();
        const bool exam = state.holds_back(), done = at < state.done.size() && state.done[at];
        const std::string label = !last               ? "Next step"
                                  : !exam             ? "Finish"
                                  : asked_to_hand_in_ ? "Hand in all the same"
                                                      : "Hand in";
        if (!ui.button({x_, y, asked_to_hand_in_ ? 200.0f : 152.0f, 32}, label, plain || exam || done)) return;
        if (state.done.size() <= at) state.done.resize(state.lesson->steps.size());
        const auto& given = state.predictions[at];
        if (plain)
            state.done[at] =
                !exam ? last || !told_to_class(state, at) : std::all_of(given.begin(), given.end(), [](const auto& p) {
                    return p.chosen >= 0 || (p.board && lessons::complete(*p.board, p.sketch));
                });
        if (last && exam) {  // with tasks that are open it is asked for twice
            const ExamResult result = exam_result(state);
            if (result.answered < result.tasks && !std::exchange(asked_to_hand_in_, true)) return;
            asked_to_hand_in_ = false;
            return hand_in_exam(session);
        }
        if (!last) go(session, state.step + 1);
    }

    float draw_list(Ui& ui, Session& session, float y) {
        const Theme& theme = *ui.theme;
        LessonState& state = session.lesson;
        const float end = ui.text(x_, y + 16, state.lesson->exam ? "In this exam" : "In this lesson",
                                  {.size = 13, .color = theme.ink2, .weight = 600});
        ui.line({end + 14, y + 12}, {x_ + w_, y + 12}, theme.line);
        y += 26;
        const float right = x_ + w_;
        for (size_t i = 0; i < state.lesson->steps.size(); ++i) {
            const lessons::Step& step = state.lesson->steps[i];
            const bool now = static_cast<int>(i) == state.step, done = i < state.done.size() && state.done[i];
            const Rect row{x_ - 8, y, w_ + 16, 22};
            if (now)
                ui.rect(row, theme.selected, 3);
            else if (ui.hovered(row))
                ui.rect(row, theme.panel2, 3);
            ui.text(x_ + 14, y + 16, std::to_string(i + 1),
                    {.size = 13, .color = now || done ? theme.ink2 : theme.quiet, .align = Align::right, .mono = true});
            const float verb = ui.text(right - 20, y + 16, step.verb,
                                       {.size = 13, .color = now ? theme.ink2 : theme.quiet, .align = Align::right});
            ui.text(x_ + 28, y + 16, step.title,
                    {.size = 13, .color = now ? theme.ink : theme.ink2, .weight = now ? 600 : 400, .width = verb - x_ - 36});
            if (done && missed(state, i)) {  // answered, but not so
                ui.icon(right - 6, y + 16, Icon::close, {.size = 12, .color = theme.quiet, .align = Align::center});
                if (ui.hovered(row)) ui.tooltip("done; the run said otherwise than the answer");
            } else if (done && !answers_again(state, i))
                ui.icon(right - 6, y + 16, Icon::check, {.size = 12, .color = theme.right, .align = Align::center});
            else if (now)
                ui.circle({right - 6, y + 11}, 3, theme.accent);
            if (ui.area(fmt::format("step {}", i), row) && !now) go(session, static_cast<int>(i));
            y += 22;
        }
        return y + 8;
    }
};

}  // namespace

std::unique_ptr<View> make_lesson_view() {
    return std::make_unique<LessonView>();
}

}  // namespace lockstep::gui
