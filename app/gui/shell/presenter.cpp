// Presenter mode: the question as the statement over everything, the line that it is about, the picture, and a card an
// answer with its hands; a step without a question has its prose beside the picture and the transport below. Space goes on:
// first an open question is answered by the run, then the next step comes. The pointer is a laser's dot that fades once it
// rests. The speaker's notes go to the terminal, where there is one, else into a window of their own
// (window/notes_window.h); the projected picture shows them only where neither can be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/notes.h"
#include "app/gui/shell/shell.h"
#include "app/gui/views/kernel/source_text.h"
#include "core/base/units.h"
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

float prose_height(Ui& ui, const lessons::Step& step, float width, float size, float line) {
    float height = 0;
    for (const lessons::TextBlock& block : step.prose)
        if (block.kind != lessons::TextBlock::Kind::code)
            height += ui.paragraph({0, 0, width, 2000}, runs_of(block, size), line, false) + 8;
    for (const lessons::Exercise& exercise : step.exercises)
        height += ui.paragraph({0, 0, width, 2000}, exercise.prompt, {.size = size}, line, false) + 8;
    return height;
}

std::string hands_text(int hands) {
    return counted(hands, "hand");
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
    presenter.notes_page = 0;
    lesson.step = wanted;
    session.post(ask::ShowLessonStep{wanted});
}

// True: the key was the presenter's.
bool Shell::presenter_key(const KeyPress& key) {
    if (key.code == KeyCode::f11 || (key.code == KeyCode::escape && !presenter.notes && state.focused == 0)) {
        presenter.on = presenter.blank = presenter.notes = false;
        fullscreen = false;
        return true;
    }
    if (key.control) return false;
    const auto sign = static_cast<char>(key.code);
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    const size_t open = learns ? open_prediction() : none;
    // While hands are counted B is an answer: the full stop blanks always.
    const bool blanks = key.code == static_cast<KeyCode>('.') || (key.code == static_cast<KeyCode>('B') && open == none);
    if (presenter.blank || blanks) return presenter.blank = !presenter.blank, true;
    if (!learns) return false;
    if (key.code == static_cast<KeyCode>('N')) return show_notes(), true;
    if (key.code == static_cast<KeyCode>('P')) return presenter.words = !presenter.words, true;
    if (presenter.notes && key.code == KeyCode::page_down) return ++presenter.notes_page, true;
    if (presenter.notes && key.code == KeyCode::page_up) return --presenter.notes_page, true;
    if (key.code == KeyCode::escape) return presenter.notes = false, true;
    // A presenter's remote sends Page Up and Page Down.
    if (key.code == KeyCode::backspace || key.code == KeyCode::page_up) return turn_page(-1), true;
    LessonState& lesson = session.lesson;
    if (key.code == KeyCode::page_down || (key.code == KeyCode::space && state.focused == 0)) {
        if (open == none || lesson.holds_back())
            return turn_page(1), true;  // an exam's tasks are not run in front of a class
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
    const size_t answers =
        open == none ? 0 : lesson.lesson->steps[static_cast<size_t>(lesson.step)].predicts[open].answers.size();
    if (sign >= 'A' && static_cast<size_t>(sign - 'A') < answers && key.code < KeyCode::left) {
        count_hand(open, static_cast<size_t>(sign - 'A'), key.shift ? -1 : 1);
        return true;
    }
    return false;
}

// To the speaker, of this step and of every one that follows, until the key is pressed again; over the picture where nothing
// can be shown to the speaker alone.
void Shell::show_notes() {
    presenter.notes = !presenter.notes;
    presenter.notes_page = 0;
    presenter.noted_step = -1;
}

static std::string text_of_blocks(const std::vector<lessons::TextBlock>& blocks) {
    std::string text;
    for (const lessons::TextBlock& block : blocks) {
        for (const auto& run : block.runs) text += run.text;
        text += "\n";
    }
    return text;
}

void Shell::say_notes() {
    const lessons::Lesson& lesson = *session.lesson.lesson;
    const auto at = static_cast<size_t>(session.lesson.step);
    if (!presenter.notes || !say_to_speaker || presenter.noted_step == session.lesson.step) return;
    presenter.noted_step = session.lesson.step;
    const lessons::Step& step = lesson.steps[at];
    std::string text = fmt::format("\n{} step {} of {}: {}\n", lesson.id, at + 1, lesson.steps.size(), step.title);
    text += step.presenter_notes.empty() ? "There are no notes for this step.\n" : text_of_blocks(step.presenter_notes);
    if (at + 1 < lesson.steps.size()) text += "Next: " + lesson.steps[at + 1].title + "\n";
    say_to_speaker(text);
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
    older_ = awaits_step(snapshot);
    if (presenter.blank) return ui.rect({0, 0, width_, height_}, data::black);
    if (presenter.lesson != session.lesson.lesson) presenter.lesson = session.lesson.lesson, presenter.hands.clear();
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    const lessons::Predict* const asked = learns ? presented_question() : nullptr;
    presenter.one_of_both = false;
    // Nothing moves when a sketch is answered: the transport comes with a picture of the run.
    const bool has_transport = asked == nullptr || (open_prediction() == none && !shows_sketch(session));
    const float foot = height_ - strip_height - (has_transport ? transport_height : 0);
    ui.rect({0, 0, width_, height_ - strip_height}, t.background);
    if (presenter.paper) return present_picture(ui, snapshot, asked, {0, 0, width_, height_});
    float top = desk_margin;
    if (!learns || !snapshot.problem || open_prediction() == none) top += problem_strip(ui, snapshot, desk_margin);
    Rect room{desk_margin, top, width_ - 2 * desk_margin, foot - top - desk_margin};
    ui.push_scope("presenter");
    if (learns) room = present_head(ui, asked, room);
    if (asked != nullptr) {
        room = present_tally(ui, static_cast<size_t>(asked - question_step().predicts.data()), room);
        room = present_line(ui, snapshot, *asked, room);
    } else if (learns) {
        room = present_prose(ui, room);
    }
    ui.pop_scope();
    if (room.w > 0) present_picture(ui, snapshot, asked, room);
    if (has_transport) {
        ui.rect({0, foot, width_, transport_height}, t.panel);
        transport(ui, snapshot, {0, foot, width_, transport_height});
    }
    present_strip(ui, {0, height_ - strip_height, width_, strip_height});
    if (learns) say_notes();
    if (presenter.notes && learns && !say_to_speaker) notes_on_picture(ui, room, foot);
    tooltip(ui);
    laser(ui);
}

// Of an open question that is no sketch the source stands in the picture's place, which would give it away.
void Shell::present_picture(Ui& ui, const Snapshot& snapshot, const lessons::Predict* asked, const Rect& room) {
    const bool source_alone = asked != nullptr && !asked->is_sketch() && open_prediction() != none && snapshot.kernel.run &&
                              !snapshot.kernel.run->source.empty();
    if (source_alone) return present_source(ui, snapshot.kernel.run->source, line_asked(*asked), room);
    ui.rect(room, theme->panel, 5);
    state.active_view = presented_view();
    panel(ui, presented_view(), room);
}

void Shell::notes_on_picture(Ui& ui, const Rect& room, float foot) {
    const Theme& t = *theme;
    const std::string notes = text_of_blocks(question_step().presenter_notes);
    const float height = std::min(176.0f, foot - 20);
    const bool narrow = room.w < 400;  // then over the prose too
    const Rect box{(narrow ? 0 : room.x) + 24, foot - height - 14, (narrow ? width_ : room.w) - 48, height};
    ui.rect(box, t.panel2, 6);
    ui.frame(box, t.accent, 2, 6);
    draw_notes(ui, "For the speaker\n" + (notes.empty() ? std::string("There are no notes for this step.\n") : notes), box,
               presenter.notes_page);
}

// A dot with a tail while the pointer moves; both fade once it rests.
void Shell::laser(Ui& ui) {
    constexpr double stays = 1.2, tail = 0.35;  // seconds
    const bool inside = ui.mouse.x >= 0 && ui.mouse.x < width_ && ui.mouse.y >= 0 && ui.mouse.y < height_;
    auto& trail = presenter.trail;
    const bool moved = inside && (presenter.pointer.x != ui.mouse.x || presenter.pointer.y != ui.mouse.y);
    presenter.pointer = ui.mouse;
    if (moved) trail.push_back({ui.mouse, now_});
    std::erase_if(trail, [&](const Presenter::Spot& spot) { return now_ - spot.seconds > stays || spot.seconds > now_; });
    if (trail.empty()) return;
    ui.animate();
    const Presenter::Spot last = trail.back();
    for (size_t i = 0; i + 1 < trail.size() && !ui.calm(); ++i) {
        const auto age = static_cast<float>((now_ - trail[i].seconds) / tail);
        if (age < 1) ui.line(trail[i].at, trail[i + 1].at, faded(data::vermillion, 0.55f * (1 - age)), 6 * (1 - age) + 1);
    }
    const auto strength = static_cast<float>(1 - (now_ - last.seconds) / stays);
    ui.circle(last.at, 13, faded(data::vermillion, 0.25f * strength));
    ui.circle(last.at, 7, faded(data::vermillion, strength));
    ui.ring(last.at, 8, faded(rgb(0xFFFFFF), strength), 1.5f);
}

const lessons::Step& Shell::question_step() const {
    const LessonState& lesson = session.lesson;
    return lesson.lesson
        ->steps[static_cast<size_t>(std::clamp(lesson.step, 0, static_cast<int>(lesson.lesson->steps.size()) - 1))];
}

// The step's open question, else its last that is answered; null: it asks none.
const lessons::Predict* Shell::presented_question() const {
    const lessons::Step& step = question_step();
    const auto at = static_cast<size_t>(session.lesson.step);
    if (step.predicts.empty() || at >= session.lesson.predictions.size()) return nullptr;
    const size_t open = open_prediction();
    const size_t index = open == none ? step.predicts.size() - 1 : open;
    return index < session.lesson.predictions[at].size() ? &step.predicts[index] : nullptr;
}

// Which lesson and step, and the statement: the question, else the step's title. Returns the room below.
Rect Shell::present_head(Ui& ui, const lessons::Predict* asked, const Rect& room) {
    const Theme& t = *theme;
    const lessons::Lesson& lesson = *session.lesson.lesson;
    const float left = room.x + 8, right = room.right() - 8;
    const float count =
        ui.text(right, room.y + 15, fmt::format("step {} of {}", session.lesson.step + 1, lesson.steps.size()),
                {.size = 13, .color = t.ink2, .align = Align::right});
    ui.text(left, room.y + 15, lesson.id + "  " + lesson.title,
            {.size = 13, .color = t.accent, .weight = 600, .width = count - left - 10});
    float y = room.y + 24;
    const std::string& statement = asked != nullptr ? asked->question : question_step().title;
    const float most = room.h * (room.h < 480 ? 0.14f : 0.22f);  // on a low screen the picture needs the room
    for (const float size : {32.0f, 24.0f, 18.0f}) {             // as large as two lines hold
        const TextStyle style{.size = size, .weight = 700};
        const float line = std::round(size * 1.16f),
                    height = ui.paragraph({left, y, right - left, 600}, statement, style, line, false);
        if ((height > line * 2.5f || height > most) && size > 18) continue;
        y += ui.paragraph({left, y, right - left, 600}, statement, style, line) + 6;
        break;
    }
    return {room.x, y, room.w, room.bottom() - y};
}

// The line of the source that is asked about, with the values that are known; a sketch's own source is left out then.
Rect Shell::present_line(Ui& ui, const Snapshot& snapshot, const lessons::Predict& asked, const Rect& room) {
    const Theme& t = *theme;
    const LessonState::Prediction* const given = sketch_of(session.lesson);
    const lessons::SketchBoard* const board = asked.is_sketch() && given != nullptr ? given->board.get() : nullptr;
    const bool open = open_prediction() != none;
    if (board == nullptr && open) return room;  // the source stands in the picture's place
    if (board != nullptr && board->values.empty() && line_asked(asked) <= 0) return room;  // nothing is asked about a line
    const std::string text = board != nullptr ? board->text : snapshot.kernel.run ? snapshot.kernel.run->source : "";
    const int32_t line = board != nullptr ? board->line : line_asked(asked);
    const std::vector<std::string> lines = lines_of(text);
    if (line < 1 || static_cast<size_t>(line) > lines.size()) return room;
    const Rect box{room.x, room.y, room.w, 32};
    ui.rect(box, t.code, 4);
    ui.frame(box, t.line, 1, 4);
    ui.rect({box.x, box.y, 4, box.h}, t.accent);
    ui.text(box.x + 34, box.y + 22, std::to_string(line),
            {.size = 14, .color = t.ink2, .align = Align::right, .mono = true});
    const std::string& whole = lines[static_cast<size_t>(line) - 1];
    const std::string code = whole.substr(std::min(whole.find_first_not_of(' '), whole.size()));
    float values = box.right() - 8;
    if (board != nullptr)
        for (size_t i = board->values.size(); i-- > 0;) {
            const float w = ui.text_width(board->values[i], {.size = 13, .mono = true}) + 14;
            if (values - w < box.x + box.w * 0.5f) break;
            values -= w;
            ui.rect({values, box.y + 5, w, 22}, t.selected, 3);
            ui.text(values + 7, box.y + 21, board->values[i], {.size = 13, .mono = true});
            values -= 6;
        }
    draw_code(ui, box.x + 50, box.y + 22, code, 15, values - box.x - 58);
    return {room.x, box.bottom() + 6, room.w, room.bottom() - box.bottom() - 6};
}

// A question about the source: as many lines as fit, the asked one among them.
void Shell::present_source(Ui& ui, const std::string& source, int32_t line, const Rect& room) {
    const Theme& t = *theme;
    ui.rect(room, t.code, 5);
    ui.frame(room, t.line, 1, 5);
    const std::vector<std::string> lines = lines_of(source);
    constexpr float pitch = 23;
    const auto fit = static_cast<size_t>(std::max(1.0f, (room.h - 12) / pitch));
    size_t begin = 0;
    if (lines.size() > fit && line > 0) {
        const size_t at = static_cast<size_t>(line) - 1;
        begin = std::min(at - std::min(at, fit / 2), lines.size() - fit);
    }
    float y = room.y + 6;
    for (size_t i = begin; i < std::min(lines.size(), begin + fit); ++i, y += pitch) {
        const bool asked = static_cast<int32_t>(i) + 1 == line;
        if (asked) {
            ui.rect({room.x + 1, y, room.w - 2, pitch}, t.selected);
            ui.rect({room.x + 1, y, 4, pitch}, t.accent);
        }
        ui.text(room.x + 40, y + 16, std::to_string(i + 1),
                {.size = 14, .color = t.ink2, .align = Align::right, .mono = true});
        draw_code(ui, room.x + 54, y + 16, lines[i], 15, room.w - 64);
    }
}

namespace {

int32_t line_that_runs(const Snapshot& snapshot, int64_t step, int32_t otherwise) {
    const auto& history = snapshot.kernel.history;
    if (!history || step < 0 || static_cast<size_t>(step) >= history->steps.size()) return otherwise;
    const auto& all = snapshot.kernel.run->program->instructions;
    const uint32_t pc = history->steps[static_cast<size_t>(step)].pc;
    return pc < all.size() && all[pc].line > 0 ? all[pc].line : otherwise;
}

// Lines of the source in a narrow page, where they wrap rather than be cut: from two before the one that runs, which is
// there also where the room is low.
void draw_lines(Ui& ui, const std::string& source, int32_t line, const Rect& room) {
    const Theme& t = *ui.theme;
    const std::vector<std::string> lines = lines_of(source);
    constexpr float pitch = 19, numbers = 28, gap = 2;
    const auto put = [&](size_t i, float y, bool draw) {  // returns its height
        const size_t indent = std::min(lines[i].find_first_not_of(' '), lines[i].size());
        const float in = numbers + 2 * static_cast<float>(indent);
        const std::string code = lines[i].substr(indent);
        const Run run[] = {{code, {.size = 13, .mono = true}}};
        return std::max(pitch, ui.paragraph({room.x + in, y, room.w - in, 400}, run, pitch, draw)) + gap;
    };
    if (lines.empty()) return;
    const size_t here = std::min(static_cast<size_t>(std::max(0, line - 1)), lines.size() - 1);
    const float from = room.y + 8;
    size_t first = here;
    for (float used = put(here, 0, false); first > 0 && here - first < 2; --first)
        if (used += put(first - 1, 0, false); from + used > room.bottom()) break;
    ui.line({room.x, room.y}, {room.right(), room.y}, t.line);
    float y = from;
    for (size_t i = first; i < lines.size(); ++i) {
        const float height = put(i, y, false);
        if (y + height > room.bottom()) return;
        if (static_cast<int32_t>(i) + 1 == line) ui.rect({room.x, y - 1, room.w, height}, t.selected, 3);
        ui.text(room.x + numbers - 8, y + 14, std::to_string(i + 1),
                {.size = 13, .color = t.ink2, .align = Align::right, .mono = true});
        put(i, y, true);
        y += height;
    }
}

}  // namespace

// The prose of a step that asks nothing, left of its picture.
// All of the statement is there: smaller, then wider, where it has no room; what still has none scrolls.
Rect Shell::present_prose(Ui& ui, const Rect& room) {
    const lessons::Step& step = question_step();
    struct Set {
        float share, size, line;
    };
    constexpr Set sets[] = {{0.33f, 15, 24}, {0.33f, 14, 21}, {0.33f, 13, 19}, {0.46f, 14, 21}, {0.46f, 13, 19}};
    Rect page;
    Set used{};
    float all = 0;
    for (const Set& set : sets) {
        used = set;
        page = {room.x, room.y, std::clamp(room.w * set.share, 230.0f, 460.0f), room.h};
        all = prose_height(ui, step, page.w - 28, set.size, set.line);
        if (all <= page.h - 16) break;
    }
    // In a small window there is room for one of both: the picture, or by P the words.
    constexpr float least_picture = 340;
    presenter.one_of_both = room.right() - page.right() - desk_margin < least_picture;
    if (presenter.one_of_both && !presenter.words) return room;
    if (presenter.one_of_both) {
        page = room;
        used = sets[1];
        all = prose_height(ui, step, page.w - 28, used.size, used.line);
    }
    ui.rect(page, theme->panel, 5);
    ui.frame(page, theme->line, 1, 5);
    Rect in{page.x + 14, page.y + 8, page.w - 28, page.h - 16};
    ui.clip(page);
    if (all > in.h) in.y -= ui.scroll("statement", {page.x, page.y + 4, page.w - 2, page.h - 8}, all + 8);
    float y = draw_blocks(ui, step.prose, {in.x, in.y, in.w, all}, used.size, used.line);
    for (const lessons::Exercise& exercise : step.exercises)
        y += ui.paragraph({in.x, y, in.w, 2000}, exercise.prompt, {.size = used.size}, used.line) + 8;
    ui.unclip();
    if (presenter.one_of_both) return {};
    // Words such as "follow lines 2 to 4" need the lines: below them, where there is room.
    constexpr float least_source = 96;
    const bool has_source = snapshot_->source == Source::lesson && snapshot_->kernel.run && !awaits_step(*snapshot_) &&
                            !snapshot_->kernel.run->source.empty();
    if (has_source && page.bottom() - y >= least_source)
        draw_lines(ui, snapshot_->kernel.run->source, line_that_runs(*snapshot_, session.sm.history_step, focus.line),
                   {page.x + 8, y + 2, page.w - 16, page.bottom() - y - 10});
    return {page.right() + desk_margin, room.y, room.right() - page.right() - desk_margin, room.h};
}

namespace {

// On one line, else smaller on two; returns where it ends.
float answer_text(Ui& ui, const std::string& words, const Rect& box) {
    const TextStyle large{.size = 16, .weight = 600}, small{.size = 13, .weight = 600};
    if (ui.text_width(words, large) <= box.w)
        return ui.text(box.x, box.y + 21, words, {.size = 16, .weight = 600, .width = box.w + 2});
    if (ui.paragraph({0, 0, box.w, 100}, words, small, 17, false) > 36)
        return ui.text(box.x, box.y + 21, words, {.size = 13, .weight = 600, .width = box.w});
    ui.paragraph({box.x, box.y, box.w, 36}, words, small, 17);
    return box.right();
}

// Of the hands that chose an answer with a value: right, within a factor of two of the truth, and the others.
struct Nearness {
    int right = 0, near = 0, wrong = 0;
};
Nearness nearness_of(const lessons::Predict& predict, const std::vector<int>& hands, int right, double truth) {
    Nearness all;
    for (size_t i = 0; i < hands.size(); ++i) {
        const lessons::Answer& answer = predict.answers[i];
        const double low = std::min(std::abs(answer.value), std::abs(truth)),
                     high = std::max(std::abs(answer.value), std::abs(truth));
        const bool near = answer.has_value && low > 0 && high <= 2 * low;
        (static_cast<int>(i) == right ? all.right : near ? all.near : all.wrong) += hands[i];
    }
    return all;
}

// Of a sketch that asks for several places the one that the answers are of, the last; "": it asks for one.
std::string hands_choose_for(const lessons::Predict& predict, const LessonState::Prediction& given) {
    if (!predict.is_sketch() || !given.board || predict.type != "curve") return {};
    std::string last;
    int open = 0;
    for (const lessons::SketchPlace& place : given.board->places)
        if (!place.known) ++open, last = place.name;
    return open > 1 ? last + (predict.sketch.label.empty() ? "" : " " + predict.sketch.label) : std::string();
}

}  // namespace

// A card an answer: its letter, what it says, how many hands, and a bar. Returns the room above.
Rect Shell::present_tally(Ui& ui, size_t index, const Rect& room) {
    const Theme& t = *theme;
    LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(lesson.step);
    const lessons::Predict& predict = lesson.lesson->steps[at].predicts[index];
    const LessonState::Prediction& given = lesson.predictions[at][index];
    const size_t count = predict.answers.size();
    std::vector<int>& hands = presenter.hands[{lesson.step, index}];
    hands.resize(count);
    int most = 1, all = 0;
    for (const int one : hands) most = std::max(most, one), all += one;
    const int right = given.locked && given.truth ? lessons::right_answer(predict, *given.truth) : -1;
    std::string said = hands_text(all);
    if (const std::string place = hands_choose_for(predict, given); !place.empty()) said += " for " + place;
    if (given.locked && !given.truth) said = "the run answers ...";
    if (right >= 0 && all > 0 && predict.is_sketch()) {
        const Nearness near = nearness_of(predict, hands, right, *given.truth);
        said += fmt::format(", {} right, {} near (within a factor of 2), {} wrong", near.right, near.near, near.wrong);
    } else if (right >= 0) {
        said += fmt::format(", {} right", hands[static_cast<size_t>(right)]);
    }
    const auto across = static_cast<size_t>(
        std::clamp(room.w / 150, 1.0f, static_cast<float>(std::max<size_t>(1, std::min<size_t>(count, 4)))));
    const size_t rows = count == 0 ? 0 : (count + across - 1) / across;
    const float gap = 10, width = (room.w - gap * static_cast<float>(across - 1)) / static_cast<float>(across);
    const float height = rows > 1 || room.h < 330 ? 40 : 58, all_rows = (height + 6) * static_cast<float>(rows);
    // Why the right answer is right: behind the hands where it fits, else below them; a sketch says it over the picture.
    const TextStyle quiet{.size = 14, .color = t.ink2};
    const std::string reply = right >= 0 ? predict.answers[static_cast<size_t>(right)].reply : std::string();
    const float behind = room.x + 4 + ui.text_width(said, {.size = 14, .weight = 600}) + 16;
    const bool fits = behind + ui.text_width(reply, quiet) <= room.right() - 4;
    const bool below = !reply.empty() && !fits && !predict.is_sketch();
    const float why = below ? ui.paragraph({0, 0, room.w - 8, 200}, reply, quiet, 20, false) + 4 : 0;
    const float top = room.bottom() - all_rows - 24 - why;
    ui.text(room.x + 4, top + 16, said, {.size = 14, .weight = 600});
    if (!reply.empty() && fits) ui.text(behind, top + 16, reply, quiet);
    if (below) ui.paragraph({room.x + 4, top + 22, room.w - 8, why}, reply, quiet, 20);
    if (given.truth && right < 0)
        ui.text(room.right() - 4, top + 16, fmt::format("the run says {:g}", *given.truth),
                {.size = 14, .color = t.ink2, .align = Align::right});
    const std::vector<size_t> order = lessons::shown_order(*lesson.lesson, predict, session.learn.learner);
    for (size_t place = 0; place < order.size(); ++place) {
        const size_t i = order[place];
        const bool is_right = static_cast<int>(i) == right, leads = all > 0 && hands[i] == most && right < 0;
        const Rect box{room.x + (width + gap) * static_cast<float>(place % across),
                       top + 24 + why + (height + 6) * static_cast<float>(place / across), width, height};
        ui.rect(box, t.panel, 5);
        ui.frame(box, is_right ? t.right : leads ? t.ink : t.line, is_right || leads ? 2.0f : 1.0f, 5);
        const Rect key{box.x + 8, box.y + 8, 24, 24};
        ui.rect(key, is_right || leads ? t.ink : t.panel, 4);
        ui.frame(key, t.ink2, 1.2f, 4);
        ui.text(key.x + 12, key.y + 17, std::string(1, static_cast<char>('A' + place)),
                {.size = 14, .color = is_right || leads ? t.panel : t.ink, .align = Align::center, .weight = 700});
        const float number = ui.text(box.right() - 10, box.y + 26, std::to_string(hands[i]),
                                     {.size = 18, .align = Align::right, .weight = 700});
        const float end = answer_text(ui, readable_number(predict.answers[i].text),
                                      {key.right() + 10, box.y + 4, number - key.right() - (is_right ? 36.0f : 18.0f), 36});
        if (is_right) ui.icon(end + 8, box.y + 25, Icon::check, {.size = 13, .color = t.right});
        if (height > 50) {
            const Rect bar{box.x + 10, box.bottom() - 14, box.w - 20, 7};
            ui.rect(bar, t.grid);
            const Rect part{bar.x, bar.y, bar.w * static_cast<float>(hands[i]) / static_cast<float>(most), bar.h};
            if (is_right)
                ui.rect(part, data::green);
            else if (leads)
                ui.hatch(part, t.ink2, Hatch::diagonal);
            else
                ui.rect(part, t.quiet);
        }
        if (!given.locked && ui.area(fmt::format("hand {}", i), box)) count_hand(index, place, 1);
    }
    return {room.x, room.y, room.w, top - room.y - 2};
}

void Shell::present_strip(Ui& ui, const Rect& strip) {
    ui.rect(strip, strip_ground);
    const bool learns = session.lesson.lesson && session.workspace == Workspace::learn;
    struct Help {
        std::string_view key, does;
    };
    std::string letters = "A";
    if (const lessons::Predict* const asked = learns ? presented_question() : nullptr; asked && asked->answers.size() > 1)
        letters += std::string(" - ") + static_cast<char>('A' + asked->answers.size() - 1);
    std::vector<Help> keys = {{"Space", "play"}};
    if (learns) {
        const size_t open = open_prediction();
        keys = {{"Space", open == none || session.lesson.holds_back() ? "next" : "run it"}, {"Backspace", "back"}};
        if (presenter.one_of_both) keys.insert(keys.begin() + 1, {"P", presenter.words ? "picture" : "text"});
        if (open != none) keys.push_back({letters, "a hand more"}), keys.push_back({"Shift", "one less"});
        keys.push_back({"N", say_to_speaker ? "notes for you" : "notes for all"});
        keys.push_back({open == none ? "B" : ".", "blank"});
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
