// Presenter mode: on the left the step's statement and its question, with a bar of hands an answer; on the right the step's
// picture; below the transport and a strip with the keys. Space goes on: first an open question is answered by the run,
// then the next step comes. A ring around the pointer shows where it is.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/shell/shell.h"
#include "lessons/player/predict.h"

namespace lockstep::gui {

namespace {

constexpr float strip_height = 28;
constexpr size_t none = static_cast<size_t>(-1);
constexpr Color strip_ground = rgb(0x14171C), strip_ink = rgb(0xF2F4F7), strip_quiet = rgb(0xB6BDC8);

std::vector<Run> runs_of(const lessons::TextBlock& block, float size) {
    std::vector<Run> runs;
    for (const auto& run : block.runs)
        runs.push_back({run.text,
                        {.size = run.code ? std::min(size, 15.0f) : size,
                         .weight = run.bold || run.italic || block.kind == lessons::TextBlock::Kind::heading ? 600 : 400,
                         .mono = run.code},
                        run.code});
    return runs;
}

// Draws blocks of prose as far as they fit; returns where they end.
float draw_blocks(Ui& ui, const std::vector<lessons::TextBlock>& blocks, const Rect& area, float size, float line) {
    float y = area.y;
    for (const lessons::TextBlock& block : blocks) {
        if (block.kind == lessons::TextBlock::Kind::code) continue;  // the source stands in the picture's workspace
        const auto runs = runs_of(block, size);
        const float height = ui.paragraph({area.x, y, area.w, 2000}, runs, line, false);
        if (y + height > area.bottom() + 2) break;
        ui.paragraph({area.x, y, area.w, 2000}, runs, line);
        y += height + 8;
    }
    return y;
}

constexpr float answer_height = 30, foot_height = 26;

// Of a question with its answers and the line of hands below them.
float question_height(Ui& ui, const lessons::Predict& predict, float width) {
    return ui.paragraph({0, 0, width, 300}, predict.question, {.size = 16, .weight = 600}, 24, false) + 10 +
           answer_height * static_cast<float>(predict.answers.size()) + foot_height;
}

std::string hands_text(int hands) {
    return fmt::format("{} hand{}", hands, hands == 1 ? "" : "s");
}

}  // namespace

std::string_view Shell::presented_view() const {
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    return learns || maximised_.empty() ? scene_on_show(session).presented : std::string_view(maximised_);
}

size_t Shell::open_prediction() const {
    const LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(std::max(0, lesson.step));
    if (!lesson.lesson || at >= lesson.lesson->steps.size() || at >= lesson.predictions.size()) return none;
    const size_t count = std::min(lesson.predictions[at].size(), lesson.lesson->steps[at].predicts.size());
    for (size_t p = 0; p < count; ++p)
        if (!lesson.predictions[at][p].locked) return p;
    return none;
}

void Shell::turn_page(int way) {
    LessonState& lesson = session.lesson;
    if (!lesson.lesson) return;
    const int wanted = std::clamp(lesson.step + way, 0, static_cast<int>(lesson.lesson->steps.size()) - 1);
    if (wanted == lesson.step) return;
    session.playing = false;
    lesson.step = wanted;
    session.post(ask::ShowLessonStep{wanted});
}

// True: the key was the presenter's.
bool Shell::presenter_key(const KeyPress& key) {
    if (key.code == KeyCode::f11 || (key.code == KeyCode::escape && !presenter.notes && state.focused == 0)) {
        presenter.on = presenter.blank = presenter.notes = false;
        toggles_fullscreen = key.code == KeyCode::f11;
        return true;
    }
    if (key.control) return false;
    const auto sign = static_cast<char>(key.code);
    if (presenter.blank || key.code == static_cast<KeyCode>('B')) return presenter.blank = !presenter.blank, true;
    if (!session.lesson.lesson || session.workspace != Workspace::learn) return false;
    if (key.code == static_cast<KeyCode>('N')) return presenter.notes = !presenter.notes, true;
    if (key.code == KeyCode::escape) return presenter.notes = false, true;
    if (key.code == KeyCode::backspace) return turn_page(-1), true;
    const size_t open = open_prediction();
    LessonState& lesson = session.lesson;
    if (key.code == KeyCode::space && state.focused == 0) {
        if (open == none) return turn_page(1), true;
        const auto at = static_cast<size_t>(lesson.step);
        LessonState::Prediction& given = lesson.predictions[at][open];
        const std::vector<int>& hands = presenter.hands[{lesson.step, open}];
        const auto most = std::max_element(hands.begin(), hands.end());
        given.chosen = most == hands.end() || *most == 0 ? -1 : static_cast<int>(most - hands.begin());
        given.locked = given.by_class = true;
        session.post(ask::LockPrediction{open});
        return true;
    }
    if (sign >= '1' && sign <= '9' && key.code < KeyCode::left) {
        if (open == none) return true;  // not another workspace in front of a class
        count_hand(open, static_cast<size_t>(sign - '1'), key.shift ? -1 : 1);
        return true;
    }
    return false;
}

// Keys and rows follow the order that is shown; hands are counted by answer. What most of the class says is pencilled into
// the picture, where the kind of sketch can do that.
void Shell::count_hand(size_t open, size_t row, int by) {
    LessonState& lesson = session.lesson;
    const lessons::Predict& predict = lesson.lesson->steps[static_cast<size_t>(lesson.step)].predicts[open];
    const std::vector<size_t> order = lessons::shown_order(*lesson.lesson, predict, session.learn.learner);
    std::vector<int>& hands = presenter.hands[{lesson.step, open}];
    hands.resize(predict.answers.size());
    if (row < order.size()) hands[order[row]] = std::max(0, hands[order[row]] + by);
    const lessons::SketchKind* kind = lessons::sketch_kind(predict.type);
    LessonState::Prediction& given = lesson.predictions[static_cast<size_t>(lesson.step)][open];
    if (kind == nullptr || !given.board) return;
    given.sketch = lessons::unmarked(*given.board);
    const auto most = std::max_element(hands.begin(), hands.end());
    if (most != hands.end() && *most > 0 && kind->pencilled != nullptr)
        given.sketch = kind->pencilled(*given.board, predict.answers[static_cast<size_t>(most - hands.begin())].value);
}

void Shell::present(Ui& ui, const Snapshot& snapshot) {
    const Theme& t = *theme;
    if (presenter.blank) return ui.rect({0, 0, width_, height_}, data::black);
    if (presenter.lesson != session.lesson.lesson) presenter.lesson = session.lesson.lesson, presenter.hands.clear();
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    const float foot = height_ - strip_height - transport_height;
    ui.rect({0, 0, width_, foot}, t.background);
    float top = desk_margin;
    if (!learns || !snapshot.problem || open_prediction() == none) top += problem_strip(ui, snapshot, desk_margin);
    float left = desk_margin;
    if (learns) {
        const Rect page{desk_margin, top, std::clamp(width_ * 0.33f, 230.0f, 460.0f), foot - top - desk_margin};
        ui.rect(page, t.panel, 5);
        ui.frame(page, t.line, 1, 5);
        present_step(ui, page);
        left = page.right() + desk_margin;
    }
    const Rect picture{left, top, width_ - left - desk_margin, foot - top - desk_margin};
    ui.rect(picture, t.panel, 5);
    state.active_view = presented_view();
    panel(ui, presented_view(), picture);
    ui.rect({0, foot, width_, transport_height}, t.panel);
    transport(ui, snapshot, {0, foot, width_, transport_height});
    present_strip(ui, {0, height_ - strip_height, width_, strip_height});
    if (presenter.notes && learns) {
        const auto& steps = session.lesson.lesson->steps;
        const auto& notes = steps[static_cast<size_t>(session.lesson.step)].presenter_notes;
        const Rect box{left + 24, foot - 190, width_ - left - desk_margin - 48, 176};
        ui.rect(box, t.panel2, 6);
        ui.frame(box, t.accent, 2, 6);
        ui.text(box.x + 16, box.y + 24, "For the speaker", {.size = 13, .color = t.accent, .weight = 600});
        if (notes.empty())
            ui.text(box.x + 16, box.y + 50, "There are no notes for this step.", {.size = 14, .color = t.ink2});
        else
            draw_blocks(ui, notes, {box.x + 16, box.y + 36, box.w - 32, box.h - 44}, 14, 22);
    }
    tooltip(ui);
    if (ui.mouse.x >= 0 && ui.mouse.x < width_) {
        ui.ring(ui.mouse, 31, data::black, 1.5f);
        ui.ring(ui.mouse, 28, data::orange, 5);
    }
}

// Lesson, statement, and below it the question or the prose.
void Shell::present_step(Ui& ui, const Rect& area) {
    const Theme& t = *theme;
    const LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(std::clamp(lesson.step, 0, static_cast<int>(lesson.lesson->steps.size()) - 1));
    const lessons::Step& step = lesson.lesson->steps[at];
    const Rect in{area.x + 16, area.y + 10, area.w - 32, area.h - 20};
    ui.push_scope("presenter");
    ui.clip(area);
    const float count = ui.text(in.right(), in.y + 18, fmt::format("{} of {}", at + 1, lesson.lesson->steps.size()),
                                {.size = 13, .color = t.ink2, .align = Align::right});
    ui.text(in.x, in.y + 18, lesson.lesson->id + "  " + lesson.lesson->title,
            {.size = 13, .color = t.accent, .weight = 600, .width = count - in.x - 10});
    float y = in.y + 30;
    // The last question that is answered, until the next is put.
    const size_t open = open_prediction();
    const lessons::Predict* const asked =
        step.predicts.empty() ? nullptr : &step.predicts[open == none ? step.predicts.size() - 1 : open];
    const float below = asked == nullptr ? 0 : 20 + question_height(ui, *asked, in.w);
    for (const float size : {32.0f, 24.0f, 18.0f}) {  // as large as three lines hold and the question leaves room for
        const TextStyle style{.size = size, .weight = 700};
        const float line = std::round(size * 1.14f),
                    height = ui.paragraph({in.x, y, in.w, 600}, step.title, style, line, false);
        if ((height > line * 3.5f || y + height + below > in.bottom()) && size > 18) continue;
        y += ui.paragraph({in.x, y, in.w, 600}, step.title, style, line) + 10;
        break;
    }
    ui.line({in.x, y}, {in.right(), y}, t.line);
    y += 10;
    if (step.predicts.empty()) {
        y = draw_blocks(ui, step.prose, {in.x, y, in.w, in.bottom() - y}, 15, 24);
        for (const lessons::Exercise& exercise : step.exercises)
            if (in.bottom() - y > 40) y += ui.paragraph({in.x, y, in.w, in.bottom() - y}, exercise.prompt, {.size = 15}, 24);
    }
    if (asked != nullptr)
        present_prediction(ui, static_cast<size_t>(asked - step.predicts.data()), {in.x, y, in.w, in.bottom() - y});
    ui.unclip();
    ui.pop_scope();
}

// Question, answers with their bars, and how many hands were right; returns where it ends.
float Shell::present_prediction(Ui& ui, size_t index, const Rect& area) {
    const Theme& t = *theme;
    LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(lesson.step);
    const lessons::Predict& predict = lesson.lesson->steps[at].predicts[index];
    if (at >= lesson.predictions.size() || index >= lesson.predictions[at].size()) return area.y;
    const LessonState::Prediction& given = lesson.predictions[at][index];
    std::vector<int>& hands = presenter.hands[{lesson.step, index}];
    hands.resize(predict.answers.size());
    const int most = std::max(1, *std::max_element(hands.begin(), hands.end())), all = [&] {
        int sum = 0;
        for (const int one : hands) sum += one;
        return sum;
    }();
    const int right = given.locked && given.truth ? lessons::right_answer(predict, *given.truth) : -1;
    float y = area.y;
    const bool small = question_height(ui, predict, area.w) > area.h;
    y += ui.paragraph({area.x, y, area.w, 300}, predict.question, {.size = small ? 14.0f : 16.0f, .weight = 600},
                      small ? 19.0f : 24.0f) +
         (small ? 6 : 10);
    const float room = area.bottom() - y - foot_height,
                pitch = std::clamp(room / static_cast<float>(predict.answers.size()), 26.0f, 58.0f);
    const std::vector<size_t> order = lessons::shown_order(*lesson.lesson, predict, session.learn.learner);
    for (size_t at_row = 0; at_row < order.size() && y + 24 < area.bottom(); ++at_row, y += pitch) {
        const size_t i = order[at_row];
        const bool is_right = static_cast<int>(i) == right;
        const Rect key{area.x, y, 24, 24}, row{area.x, y - 2, area.w, pitch - 4};
        ui.rect(key, is_right ? t.ink : t.panel, 4);
        ui.frame(key, t.ink, 1.2f, 4);
        ui.text(key.x + 12, key.y + 17, std::to_string(at_row + 1),
                {.size = 14, .color = is_right ? t.panel : t.ink, .align = Align::center, .weight = 600});
        const float x = area.x + 36, number = area.right() - 30;
        const float end = ui.text(x, y + 17, readable_number(predict.answers[i].text),
                                  {.size = 15, .weight = is_right ? 600 : 400, .width = number - x - 26});
        if (is_right) ui.icon(end + 10, y + 17, Icon::check, {.size = 13, .color = t.right});
        ui.text(area.right(), y + 17, std::to_string(hands[i]), {.size = 15, .align = Align::right, .weight = 600});
        if (pitch >= 44) {
            const Rect bar{x, y + 27, number - x, 10};
            ui.rect(bar, t.grid);
            ui.rect({bar.x, bar.y, bar.w * static_cast<float>(hands[i]) / static_cast<float>(most), bar.h},
                    is_right ? data::green : t.quiet);
        }
        if (!given.locked && ui.area(fmt::format("hand {}", i), row)) count_hand(index, at_row, 1);
    }
    std::string foot = hands_text(all);
    if (right >= 0) foot += fmt::format(", {} right", hands[static_cast<size_t>(right)]);
    if (given.locked && !given.truth) foot = "the run answers ...";
    ui.text(area.x, area.bottom() - 4, foot, {.size = 13, .color = t.ink2});
    if (given.truth && right < 0)
        ui.text(area.right(), area.bottom() - 4, fmt::format("the run says {:g}", *given.truth),
                {.size = 13, .color = t.ink2, .align = Align::right});
    return area.bottom();
}

void Shell::present_strip(Ui& ui, const Rect& strip) {
    ui.rect(strip, strip_ground);
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    struct Help {
        std::string_view key, does;
    };
    std::vector<Help> keys = {{"Space", "play"}};
    if (learns) {
        const size_t open = open_prediction();
        keys = {{"Space", open == none ? "next" : "answer"}, {"Backspace", "back"}, {"B", "blank"}};
        if (open != none) keys.push_back({"1-9", "tally"});
        keys.push_back({"N", "notes"});
    } else {
        keys.push_back({"B", "blank"});
    }
    float x = strip.x + 10;
    const float y = strip.y + 19;
    const auto draw = [&](const Help& help) {
        const float w = ui.text_width(help.key, {.size = 12, .weight = 600}) + 12;
        ui.frame({x, strip.y + 5, w, 18}, strip_quiet, 1, 4);
        ui.text(x + 6, y - 1, help.key, {.size = 12, .color = strip_ink, .weight = 600});
        x = ui.text(x + w + 7, y - 1, help.does, {.size = 13, .color = strip_ink}) + 18;
    };
    const float leave = ui.text_width("F11", {.size = 12, .weight = 600}) + ui.text_width("leave", {.size = 13}) + 36;
    for (const Help& help : keys)
        if (x + ui.text_width(help.key, {.size = 12, .weight = 600}) + ui.text_width(help.does, {.size = 13}) + 40 <
            strip.right() - leave)
            draw(help);
    x = strip.right() - leave;
    draw({"F11", "leave"});
}

}  // namespace lockstep::gui
