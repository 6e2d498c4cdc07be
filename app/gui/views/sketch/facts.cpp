// A sketch as words: the board, the pencil, and after the lock the difference; and the lesson panel's card of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/views/sketch/sketch.h"
#include "lessons/player/predict.h"

namespace lockstep::gui {

using lessons::amount_text;
using lessons::SketchBoard;
using lessons::Verdict;

Provenance sketch_badge(const LessonState& state) {
    if (const int at = sketch_on_show(state); at >= 0) {
        const lessons::Predict& predict =
            state.lesson->steps[static_cast<size_t>(state.step)].predicts[static_cast<size_t>(at)];
        const std::vector<scene::FigureName> names = predict.of.names();
        if (!names.empty() && std::all_of(names.begin(), names.end(), lessons::of_no_scene)) return Provenance::derived;
    }
    const scene::Scene* const scene = lessons::scene_at(*state.lesson, static_cast<size_t>(state.step));
    if (scene == nullptr) return Provenance::simulated;
    if (!scene->train.empty() || !scene->tape.empty()) return Provenance::executed;
    constexpr std::pair<std::string_view, Provenance> of_rows[] = {
        {"parallel", Provenance::times_derived}, {"plan", Provenance::derived}, {"mesh", Provenance::derived}};
    for (const auto& [kind, badge] : of_rows)
        if (kind == scene->parallel_kind) return badge;
    return Provenance::simulated;
}

std::string put_text(const SketchBoard& board, const lessons::Sketch& pencil) {
    const double put = lessons::measure_of(board, pencil);
    if (board.kind == "order") {
        const auto at = std::isfinite(put) ? static_cast<size_t>(put) - 1 : board.places.size();
        return at < board.places.size() ? board.places[at].name : "?";
    }
    if (lessons::is_painted(board) && pencil.empty()) return "0";
    return amount_text(put);
}

std::string follows_text(const SketchBoard& board, const lessons::Sketch& pencil) {
    const double put = lessons::measure_of(board, pencil);
    const SketchPicture* const picture = sketch_picture(board.kind);
    if (picture != nullptr && picture->follows != nullptr && std::isfinite(put)) return picture->follows(board, pencil, put);
    const auto open = std::count_if(pencil.values.begin(), pencil.values.end(), [](double v) { return !std::isfinite(v); });
    if (open > 0) return open == 1 ? "one place is open" : fmt::format("{} places are open", open);
    return board.axis.unit;
}

std::string sketch_text(const LessonState& state) {
    const LessonState::Prediction* given = sketch_of(state);
    if (given == nullptr) return "Your prediction: nothing is asked on a picture here.\n";
    const SketchBoard& board = *given->board;
    const lessons::Predict& predict =
        state.lesson->steps[static_cast<size_t>(state.step)].predicts[static_cast<size_t>(sketch_on_show(state))];
    const lessons::SketchKind& kind = *lessons::sketch_kind(board.kind);
    std::string text = fmt::format("Your prediction, on the picture ({})\n  {}\n  {}\n", name_of(sketch_badge(state)),
                                   predict.question, kind.words);
    if (!board.where.empty()) text += fmt::format("  {}, line {} of {}\n", board.where, board.line, board.file);
    for (const std::string& value : board.values) text += "  " + value + "\n";
    for (const lessons::SketchCase& one : board.before)
        text += fmt::format("  known: {}: {}\n", one.name, amount_text(one.value, board.axis.unit));
    if (!board.ghost.values.empty())
        text += fmt::format("  ghost: {}: {}\n", board.ghost_name, lessons::places_text(board, board.ghost));
    if (board.lane_word >= 0)
        text += fmt::format("  lane 0 reads {}\n", word_name(board, board.first_word + board.lane_word));
    text +=
        fmt::format("  {} places: {} ... {}\n", board.places.size(), board.places.front().name, board.places.back().name);
    text += fmt::format("  your pencil: {}; {}: {}\n", lessons::places_text(board, given->sketch), kind.counted,
                        put_text(board, given->sketch));
    if (!given->told) return text + "  What the run does stays unknown until you run it.\n";
    text += fmt::format("  {}\n  the run: {}\n  {}\n", given->told->finding,
                        lessons::places_text(board, given->told->sketch), given->score.sentence);
    for (size_t i = 0; i < given->score.verdicts.size() && i < board.places.size(); ++i)
        if (const std::string_view word = word_of(given->score.verdicts[i]); !word.empty())
            text += fmt::format("  {}: {}\n", board.places[i].name, word);
    return text;
}

namespace {

// An answer of an order is told by its number: which entry stands first.
std::string answer_text(const SketchBoard& board, const lessons::Answer& answer) {
    const auto first = static_cast<size_t>(answer.value) - 1;
    if (board.kind == "order" && answer.value >= 1 && first < board.places.size())
        return board.places[first].name + " first";
    return readable_number(answer.text);
}

float draw_why(Ui& ui, const lessons::Predict& predict, const LessonState::Prediction& given, float x, float w, float y) {
    const Theme& theme = *ui.theme;
    const auto say = [&](const std::string& title, const std::string& reply) {
        ui.text(x, y + 14, title, {.size = 14, .weight = 600, .width = w});
        y += 22 + ui.paragraph({x, y + 20, w, 400}, reply, {.size = 14, .color = theme.ink2}, 21) + 6;
    };
    const auto answer = [&](int at) -> const lessons::Answer* {
        return at >= 0 && at < static_cast<int>(predict.answers.size()) ? &predict.answers[static_cast<size_t>(at)]
                                                                        : nullptr;
    };
    if (const lessons::Answer* right = answer(given.told->right)) say("Why", right->reply);
    if (const lessons::Answer* mine = answer(given.chosen); mine && given.chosen != given.told->right && !given.score.right)
        say(fmt::format("Why {} tempts", answer_text(*given.board, *mine)), mine->reply);
    return y;
}

float draw_answered(Ui& ui, Session& session, const lessons::Predict& predict, LessonState::Prediction& given, float x,
                    float w, float y) {
    const Theme& theme = *ui.theme;
    const SketchBoard& board = *given.board;
    const bool order = board.kind == "order";
    const std::string says = order ? put_text(board, given.told->sketch) : amount_text(given.told->figure);
    const bool large = ui.text_width(says, {.size = 32, .weight = 700}) < w * 0.45f;
    const float end =
        ui.text(x, y + 32, says,
                {.size = large ? 32.0f : 20.0f, .color = given.right ? theme.right : theme.ink, .weight = 700, .width = w});
    if (large) {
        std::string unit = order ? "" : board.axis.unit;
        if (says == "1" && unit.ends_with("sses"))  // passes, accesses
            unit.resize(unit.size() - 2);
        else if (says == "1" && unit.ends_with("s"))
            unit.pop_back();
        ui.text(end + 14, y + 18, unit.empty() || unit.size() > 16 ? std::string("the run says") : unit + ", the run says",
                {.size = 14, .weight = 600, .width = x + w - end - 14});
        if (!given.by_class)
            ui.text(end + 14, y + 37, "you put " + put_text(board, given.sketch),
                    {.size = 13, .color = theme.ink2, .width = x + w - end - 14});
    }
    y += 50;
    if (!given.by_class) y += ui.paragraph({x, y, w, 200}, given.score.sentence, {.size = 14, .color = theme.ink2}, 20) + 8;
    y = draw_why(ui, predict, given, x, w, y);
    ui.text(x, y + 17, "See", {.size = 13, .color = theme.ink2});
    float at = x + 36;
    const int now = session.learn.run_shown == session.lesson.step ? 1 : 0;
    const int wanted = ui.segmented(at, y, {"picture", "the run"}, now);
    session.learn.run_shown = wanted == 1 ? session.lesson.step : -1;
    const float again = ui.chip_width("Sketch again");
    float to = at + 12;
    if (to + again > x + w) to = x, y += 34;
    if (ui.chip(to, y, "Sketch again")) {
        sketch_again(given);
        session.learn.run_shown = -1;
        if (asked_below_picture(session.lesson, session.lesson.step) >= 0)
            session.post(ask::ShowLessonStep{session.lesson.step});
    }
    return y + 38;
}

}  // namespace

float draw_sketch_card(Ui& ui, Session& session, const lessons::Predict& predict, LessonState::Prediction& given,
                       size_t index, float x, float w, float y) {
    const Theme& theme = *ui.theme;
    const bool waiting = given.locked && !given.told, told = given.locked && given.told && given.board;
    std::string title = "SKETCH";
    if (told) title = given.by_class ? "TOLD TO A CLASS" : given.right ? "RIGHT" : "NOT YET";
    if (told && !given.right && !given.by_class && (predict.type == "sectors" || predict.type == "lanes")) {
        const auto& said = given.score.verdicts;
        const auto count = [&](Verdict one) { return std::count(said.begin(), said.end(), one); };
        title += count(Verdict::missed) > 0
                     ? fmt::format(": {} of {}", count(Verdict::agrees), amount_text(given.told->figure))
                     : fmt::format(": {} spare", count(Verdict::spare));
    }
    ui.text(x, y + 25, title,
            {.size = 12,
             .color = !told || given.by_class ? theme.accent
                      : given.right           ? theme.right
                                              : theme.wrong,
             .weight = 700});
    ui.text(x + w, y + 25,
            told && predict.sure && !given.by_class ? fmt::format("you were {} % sure", given.confidence)
            : waiting                               ? "working it out"
            : told                                  ? ""
            : session.lesson.holds_back()           ? "told when you hand in"
                                                    : "then run it",
            {.size = 13, .color = theme.quiet, .align = Align::right});
    y += 34;
    if (told) return draw_answered(ui, session, predict, given, x, w, y);
    const lessons::SketchKind& kind = *lessons::sketch_kind(predict.type);
    y += ui.paragraph({x, y, w, 400}, predict.question, {.size = 14, .color = theme.ink2}, 20) + 8;
    y += ui.paragraph({x, y, w, 100}, kind.words, {.size = 16, .weight = 600}, 22) + 2;
    y += ui.paragraph({x, y, w, 200}, kind.help, {.size = 13, .color = theme.ink2}, 19) + 10;
    if (!given.board || waiting) {
        ui.text(x, y + 14, waiting ? "The engine runs it ..." : "The picture is being set up ...",
                {.size = 14, .color = theme.ink2});
        return y + 34;
    }
    const std::string put = put_text(*given.board, given.sketch);
    const bool large = put.size() < 9;
    const float end = ui.text(x, y + 30, put, {.size = large ? 32.0f : 18.0f, .weight = 700, .width = w * 0.55f});
    ui.text(end + 14, y + 16, kind.counted, {.size = 14, .weight = 600, .width = x + w - end - 14});
    ui.text(end + 14, y + 34, follows_text(*given.board, given.sketch),
            {.size = 13, .color = theme.ink2, .width = x + w - end - 14});
    y += 50;
    if (predict.sure) {
        const float s1 = x + 84, s2 = x + w - 56;
        ui.text(x, y + 16, "How sure?", {.size = 14});
        given.confidence = static_cast<int>(
            std::lround(100 * ui.slider("sure", {s1, y + 3, s2 - s1, 16}, static_cast<float>(given.confidence) / 100, 51)));
        ui.text(x + w, y + 16, fmt::format("{} %", given.confidence), {.size = 14, .align = Align::right, .weight = 600});
        y += 34;
    }
    const bool exam = session.lesson.holds_back();
    if (exam)
        ui.text(x, y + 21, fmt::format("{:g} point{}", predict.points, predict.points == 1 ? "" : "s"),
                {.size = 13, .color = theme.quiet});
    else if (ui.button({x, y, 132, 32}, "Run it", true, lessons::complete(*given.board, given.sketch))) {
        given.locked = true;
        session.post(ask::LockPrediction{index});
    }
    if (ui.button({x + 144, y, 84, 32}, "Clear", false, !(given.sketch == lessons::unmarked(*given.board))))
        given.sketch = lessons::unmarked(*given.board);
    return y + 44;
}

}  // namespace lockstep::gui
