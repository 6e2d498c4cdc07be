// The frame of every sketch: headline, what differs, the source with the asked line, the table of cases, and the kind's
// picture over the rest.
#include "app/gui/views/sketch/sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/kernel/source_text.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

using lessons::amount_text;

std::span<const SketchPicture> sketch_pictures() {
    static const std::array rows = {sectors_picture(), bar_picture(),    typed_picture(),   lanes_picture(),
                                    banks_picture(),   blocks_picture(), order_picture(),   curve_picture(),
                                    dot_picture(),     shares_picture(), barrier_picture(), elements_picture()};
    return rows;
}

const SketchPicture* sketch_picture(std::string_view kind) {
    for (const SketchPicture& row : sketch_pictures())
        if (row.kind == kind) return &row;
    return nullptr;
}

namespace {

constexpr double fade_seconds = 0.3;

// Lines of the source that stand in the box: those around the asked one.
std::pair<size_t, size_t> window_of(const std::vector<std::string>& lines, int line, size_t most) {
    size_t end = lines.size();
    while (end > 0 && lines[end - 1].empty()) --end;
    if (end <= most) return {0, end};
    if (line == -1) return {end - most, end};  // a host program: what it does stands at its end
    const size_t middle = line > 0 ? static_cast<size_t>(line) - 1 : 0, half = most * 2 / 3;
    const size_t begin = std::min(middle > half ? middle - half : 0, end - most);
    return {begin, begin + most};
}

int asked_line(const lessons::SketchBoard& board) {
    return board.line == 0 && board.file.ends_with(".host") ? -1 : board.line;
}

// Columns that all of these lines are indented by: a narrow box leaves them out.
size_t indent_of(const std::vector<std::string>& lines, size_t begin, size_t end) {
    size_t least = std::string::npos;
    for (size_t i = begin; i < end; ++i) least = std::min(least, lines[i].find_first_not_of(' '));
    return least == std::string::npos ? 0 : least;
}

class SketchView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        LessonState& state = session.lesson;
        LessonState::Prediction* given = sketch_of(state);
        if (given == nullptr) {
            const Rect body = ui.panel(area, {.title = "Your prediction"});
            const std::string busy = session.snapshot()->busy;
            return ui.say_nothing_yet(
                body, sketch_on_show(state) < 0 ? "Nothing is asked here." : "The picture is being set up.", busy);
        }
        const auto at = static_cast<size_t>(sketch_on_show(state));
        const lessons::Predict& predict = state.lesson->steps[static_cast<size_t>(state.step)].predicts[at];
        const SketchPicture* const picture = sketch_picture(given->board->kind);
        if (picture == nullptr) return;
        const bool open = !given->locked;
        if (board_ != given->board) hand_ = {}, board_ = given->board, told_ = given->told, told_at_ = -10;
        if (told_ != given->told) told_ = given->told, told_at_ = ui.now;
        const double passed = ui.now - told_at_;
        SketchScene scene{
            .predict = predict, .board = *given->board, .open = open, .by_hand = open && !session.learn.presented};
        if (given->told) {
            scene.truth = given->told.get();
            scene.score = &given->score;
            scene.shown = passed < 0 || passed > fade_seconds ? 1.0f : static_cast<float>(passed / fade_seconds);
            if (scene.shown < 1) ui.animate();
        }
        for (const KeyPress& key : ui.state->sketch_keys) {
            if (!open || given->locked || picture->key(scene, given->sketch, hand_, key)) continue;
            // Enter, where the picture has no use for it, runs what stands there.
            if (key.code != KeyCode::enter || state.holds_back() || !lessons::complete(*given->board, given->sketch))
                continue;
            given->locked = true;
            session.post(ask::LockPrediction{at});
        }
        ui.state->sketch_keys.clear();
        const std::string caption = caption_of(scene, *given, session.lesson.lesson->exam);
        const Rect body = session.learn.presented ? bare_body(ui, area, caption)
                                                  : ui.panel(area, {.title = "Your prediction, on the picture",
                                                                    .right = scene.board.where,
                                                                    .badge = sketch_badge(session.lesson),
                                                                    .caption = caption});
        ui.push_scope("sketch");
        if (picture_above(state) != nullptr && !session.learn.presented && body.h < 460)
            draw_strip(ui, scene, *given, *picture, body);
        else
            draw_frame(ui, scene, *given, *picture, body, session.learn.presented);
        ui.pop_scope();
    }

    // In front of a class its headline and source stand above it.
    float needs(Ui&, Session& session, Focus&, const Rect&) override {
        if (session.learn.presented) return 180;
        if (picture_above(session.lesson) != nullptr) return 250;
        const LessonState::Prediction* const given = sketch_of(session.lesson);
        const bool rows = given != nullptr && given->board && given->board->kind == "elements";  // a line each
        return rows ? 230 + 17 * static_cast<float>(given->board->rows) : 400;
    }

    std::string describe(const Session& session, const Focus&) const override { return sketch_text(session.lesson); }

  private:
    SketchHand hand_;
    std::shared_ptr<const lessons::SketchBoard> board_;
    std::shared_ptr<const lessons::SketchTruth> told_;
    double told_at_ = -10;

    static std::string caption_of(const SketchScene& scene, const LessonState::Prediction& given, bool exam) {
        if (!scene.truth && exam) return "What this task's run does stays unknown until you hand the exam in.";
        if (!scene.truth) return "What this step's run does stays unknown, here and everywhere, until you run it.";
        const std::string says = scene.board.kind == "barrier" ? "behind line " + amount_text(scene.truth->figure)
                                 : scene.board.kind == "order" ? put_text(scene.board, scene.truth->sketch) + " first"
                                                               : amount_text(scene.truth->figure, scene.board.axis.unit);
        return fmt::format("The run: {}. {}", says, given.score.sentence);
    }

    // The question, and in the height that it takes its finding, in smaller letters where that is longer: nothing moves when
    // one becomes the other. Returns that height.
    static float draw_head(Ui& ui, const SketchScene& scene, const Rect& box, TextStyle head, float line) {
        const auto height_of = [&](const std::string& text, const TextStyle& style, float pitch) {
            return std::max(pitch, ui.paragraph({0, 0, box.w, 200}, text, style, pitch, false));
        };
        while (head.size > 16 && height_of(scene.predict.question, head, line) > 2 * line + 1) head.size -= 2, line -= 2;
        const float height = height_of(scene.predict.question, head, line);
        if (!scene.truth) {
            ui.paragraph({box.x, box.y, box.w, height}, scene.predict.question, head, line);
            return height;
        }
        const Faded faint(ui, scene.shown);
        while (head.size > 13 && height_of(scene.truth->finding, head, line) > height + 1) head.size -= 1, line -= 1;
        ui.paragraph({box.x, box.y, box.w, height}, scene.truth->finding, head, line);
        return height;
    }

    void draw_frame(Ui& ui, const SketchScene& scene, LessonState::Prediction& given, const SketchPicture& picture,
                    const Rect& body, bool presented) {
        const Theme& theme = *ui.theme;
        if (presented) return draw_presented(ui, scene, given, picture, body);
        const bool low = body.h < 560, tiny = body.w < 640 || body.h < 400;  // tiny: in front of a class
        // Both headlines have the height of the higher one, so that nothing moves when one becomes the other.
        const TextStyle head{.size = tiny ? 16.0f : low ? 20.0f : 24.0f, .weight = 700};
        const float line = tiny ? 21.0f : low ? 26.0f : 31.0f;
        float y = body.y + 4;
        y += draw_head(ui, scene, {body.x, y, body.w, 200}, head, line) + 6;
        const lessons::SketchKind& kind = *lessons::sketch_kind(scene.board.kind);
        if (scene.truth) {
            const Faded faint(ui, scene.shown);
            ui.text(body.x, y + 12, given.score.sentence,
                    {.size = 14, .color = given.score.right ? theme.right : theme.wrong, .weight = 600, .width = body.w});
        } else {
            ui.text(body.x, y + 12, kind.help, {.size = 14, .color = theme.ink2, .width = body.w});
        }
        y += 26;
        const float rows = 40 + 24 * static_cast<float>(std::min<size_t>(scene.board.before.size(), 4) + 2);
        // Where the picture needs little height, the source has it.
        const bool high = picture.high;
        const float room = tiny ? 80.0f : low ? 96.0f : high || body.h < 700 ? 152.0f : 300.0f;
        const float source = source_height(scene, room), h = tiny ? source : std::max(rows, source);
        const float table = tiny ? 0 : std::clamp(body.w * 0.36f, 250.0f, 400.0f);
        if (picture.bare) return picture.draw(ui, scene, given.sketch, hand_, {body.x, y, body.w, body.bottom() - y - 8});
        if (!scene.board.text.empty()) draw_source(ui, scene, {body.x, y, body.w - table - (tiny ? 0 : 16), h});
        if (!tiny) draw_table(ui, scene, given, {body.right() - table, y, table, h});
        // A curve alone has the room beside the table: its names stand right of its plane, at the foot.
        if (picture.kind == "curve" && !tiny && scene.board.text.empty())
            return picture.draw(ui, scene, given.sketch, hand_, {body.x, y, body.w - table + 134, body.bottom() - y - 8});
        if (h > 0) y += h + (low ? 10 : 18);
        picture.draw(ui, scene, given.sketch, hand_, {body.x, y, body.w, body.bottom() - y - 8});
    }

    // Below the picture of the case before: the source beside what is asked, which no table needs, for its rows are there.
    void draw_strip(Ui& ui, const SketchScene& scene, LessonState::Prediction& given, const SketchPicture& picture,
                    const Rect& body) {
        const Theme& theme = *ui.theme;
        const bool tiny = body.h < 250;
        const TextStyle head{.size = tiny ? 16.0f : 20.0f, .weight = 700};
        float y = body.y + (tiny ? 2.0f : 4.0f);
        const float below =
            y + draw_head(ui, scene, {body.x, y, body.w, 200}, head, tiny ? 20.0f : 25.0f) + (tiny ? 12 : 17);
        if (scene.truth) {
            const Faded faint(ui, scene.shown);
            ui.text(body.x, below, given.score.sentence,
                    {.size = 13, .color = given.score.right ? theme.right : theme.wrong, .weight = 600, .width = body.w});
        } else {
            ui.text(body.x, below, lessons::sketch_kind(scene.board.kind)->help,
                    {.size = 13, .color = theme.ink2, .width = body.w});
        }
        y = below;
        y += tiny ? 8 : 14;
        Rect rest{body.x, y, body.w, body.bottom() - y - 4};
        const bool all_width = tiny && picture.kind == "shares";  // its legend stands in columns
        // Of a program's first lines nobody asks: what is asked for needs the room.
        const bool head_alone = scene.board.line == 0 && scene.board.file.ends_with(".tape") &&
                                lines_of(scene.board.text).size() > lines_in(scene, rest.h);
        if (!scene.board.text.empty() && body.w >= 700 && !all_width && !head_alone) {
            // As wide as its lines, so far as the picture keeps half.
            const float h = std::min(rest.h, source_height(scene, rest.h));
            const float w = std::clamp(source_width(ui, scene, h), std::min(260.0f, body.w * 0.4f), body.w * 0.5f);
            draw_source(ui, scene, {rest.x, rest.y, w, h});
            rest.x += w + 16, rest.w -= w + 16;
        }
        picture.draw(ui, scene, given.sketch, hand_, rest);
    }

    // In front of a class: question and asked line stand outside; the finding comes over the picture once the run told it.
    void draw_presented(Ui& ui, const SketchScene& scene, LessonState::Prediction& given, const SketchPicture& picture,
                        const Rect& body) {
        float y = body.y;
        if (scene.truth) {
            const Faded faint(ui, scene.shown);
            y += 4 + ui.paragraph({body.x, y, body.w, 200}, scene.truth->finding, {.size = 16, .weight = 700}, 20);
        }
        picture.draw(ui, scene, given.sketch, hand_, {body.x, y, body.w, body.bottom() - y - 8});
    }

    // In front of a class nobody needs to be told that it is their prediction: no header, and the caption as high as it is.
    static Rect bare_body(Ui& ui, const Rect& area, const std::string& caption) {
        ui.frame(area, ui.theme->line, 1, 5);
        const TextStyle style{.size = 13, .color = ui.theme->ink2};
        const Rect words{area.x + 12, area.y, area.w - 24, area.h};
        const float high = ui.paragraph(words, caption, style, 18, false);
        ui.paragraph({words.x, area.bottom() - high - 5, words.w, high}, caption, style, 18);
        return {words.x, area.y + 8, words.w, area.h - high - 16};
    }

    static float source_height(const SketchScene& scene, float room) {
        if (scene.board.text.empty()) return 0;
        const auto lines = static_cast<float>(std::count(scene.board.text.begin(), scene.board.text.end(), '\n') + 1);
        return std::min(room, lines * 21 + 14 + (scene.board.values.empty() ? 0.0f : 26.0f));
    }

    static size_t lines_in(const SketchScene& scene, float height) {
        return static_cast<size_t>(std::max(1.0f, (height - 8 - (scene.board.values.empty() ? 0.0f : 28.0f)) / 21));
    }

    static float source_width(Ui& ui, const SketchScene& scene, float height) {
        const std::vector<std::string> lines = lines_of(scene.board.text);
        const auto [begin, end] = window_of(lines, asked_line(scene.board), lines_in(scene, height));
        const size_t indent = indent_of(lines, begin, end);
        float widest = 0;
        for (size_t i = begin; i < end; ++i)
            if (lines[i].size() > indent)
                widest = std::max(widest, ui.text_width(lines[i].substr(indent), {.size = 13, .mono = true}));
        return widest + 62;
    }

    static void draw_source(Ui& ui, const SketchScene& scene, const Rect& box) {
        const Theme& theme = *ui.theme;
        ui.rect(box, theme.code, 5);
        ui.frame(box, theme.line, 1, 5);
        float bottom = box.bottom();
        if (!scene.board.values.empty()) {  // values in boxes under the code
            bottom -= 28;
            float x = box.x + 44;
            for (const std::string& value : scene.board.values) {
                const float w = ui.text_width(value, {.size = 12, .mono = true}) + 14;
                if (x + w > box.right() - 8) break;
                ui.frame({x, bottom, w, 21}, theme.accent, 1, 4);
                ui.text(x + 7, bottom + 15, value, {.size = 12, .mono = true});
                x += w + 8;
            }
        }
        const std::vector<std::string> lines = lines_of(scene.board.text);
        const auto [begin, end] = window_of(lines, asked_line(scene.board), lines_in(scene, box.h));
        const size_t indent = indent_of(lines, begin, end);
        float y = box.y + 6;
        for (size_t i = begin; i < end; ++i, y += 21) {
            const bool asked = static_cast<int>(i) + 1 == scene.board.line;
            if (asked) {
                ui.rect({box.x + 1, y, box.w - 2, 21}, theme.selected);
                ui.rect({box.x + 1, y, 3, 21}, theme.accent);
            }
            ui.text(box.x + 30, y + 15, std::to_string(i + 1),
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
            if (lines[i].size() > indent) draw_code(ui, box.x + 44, y + 15, lines[i].substr(indent), 13, box.w - 54);
        }
    }

    static void draw_table(Ui& ui, const SketchScene& scene, const LessonState::Prediction& given, const Rect& box) {
        const Theme& theme = *ui.theme;
        ui.rect(box, theme.panel2, 5);
        ui.frame(box, theme.line, 1, 5);
        const float right = box.right() - 14;
        const std::string_view unit =
            scene.board.axis.unit.empty() ? std::string_view("value") : std::string_view(scene.board.axis.unit);
        ui.text(right, box.y + 18, unit, {.size = 12, .color = theme.ink2, .align = Align::right});
        float y = box.y + 26;
        const auto row = [&](std::string_view who, std::string_view what, const std::string& value, int weight, Color ink) {
            const float w = ui.text(right, y + 17, value, {.size = 15, .color = ink, .align = Align::right, .weight = 700});
            const float x = ui.text(box.x + 14, y + 17, who, {.size = 13, .weight = weight, .width = w - box.x - 26});
            if (!what.empty() && w - x > 60)
                ui.text(x + 12, y + 17, what, {.size = 12, .color = theme.ink2, .width = w - x - 22});
            y += 24;
        };
        const size_t shown = std::min<size_t>(scene.board.before.size(), 4);
        for (size_t i = 0; i < shown && y + 24 * 3 <= box.bottom() + 4; ++i)
            row(scene.board.before[i].name, scene.board.before[i].what, amount_text(scene.board.before[i].value), 400,
                theme.ink);
        if (y > box.y + 30) ui.line({box.x + 10, y}, {box.right() - 10, y}, theme.line);
        row("you", scene.predict.sketch.label, put_text(scene.board, given.sketch), 700, theme.ink);
        if (scene.truth) {
            const Faded faint(ui, scene.shown);
            const bool order = scene.board.kind == "order";
            row("the run", scene.predict.sketch.label,
                order ? put_text(scene.board, scene.truth->sketch) : amount_text(scene.truth->figure), 700,
                given.score.right ? theme.right : theme.wrong);
        } else {
            row("the run", scene.predict.sketch.label, "?", 400, theme.quiet);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_sketch_view() {
    return std::make_unique<SketchView>();
}

}  // namespace lockstep::gui
