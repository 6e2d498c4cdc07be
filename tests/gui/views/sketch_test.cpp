// Predictions on the picture: where things stand, what clicks and keys put there, and that nothing of the truth is drawn or
// told before the lock.
#include "app/gui/views/sketch/sketch.h"

#include <algorithm>
#include <cmath>

#include "tests/gui/desk.h"

namespace gui_sketch_test {

using namespace lockstep;
using namespace lockstep::gui;
using lessons::Sketch;
using lessons::SketchBoard;

namespace {

const Rect area{40, 200, 1100, 480};

SketchBoard board_with(const char* kind, size_t places) {
    SketchBoard board;
    board.kind = kind;
    for (size_t i = 0; i < places; ++i) board.places.push_back({"place " + std::to_string(i), ""});
    board.axis = {0, 40, false, true, "x"};
    return board;
}

struct SketchDesk : test::Desk {
    SketchDesk(const char* lesson, int step, const char* theme = "dark")
        : Desk({.lesson = lesson, .lesson_step = step}, theme) {
        session.workspace = Workspace::learn;
        settle();
        REQUIRE(session.lesson.lesson);
    }
    LessonState::Prediction& given() {
        LessonState::Prediction* const one = sketch_of(session.lesson);
        REQUIRE(one != nullptr);
        return *one;
    }
    std::string said() const {  // long texts are written word by word
        std::string all;
        for (const auto& text : written) all += text.text + " ";
        return all;
    }
    // What is written in the picture, but for its panel's header.
    std::vector<std::pair<std::string, Point>> words() const {
        std::vector<std::pair<std::string, Point>> all;
        for (const auto& text : written)
            if (text.ink.x > 460) all.emplace_back(text.text, Point{text.ink.x, text.ink.y});
        return all;
    }
};

}  // namespace

TEST_CASE("the cells of a sketch stand side by side, within their picture, and pencil strokes stay in theirs") {
    for (const size_t sectors : {8u, 16u, 24u, 32u}) {
        const SectorPlaces at(area, sectors, true);
        for (size_t i = 0; i < sectors; ++i) {
            const Rect box = at.sector(i);
            CHECK(box.x >= area.x - 0.5f);
            CHECK(box.right() <= area.right() + 0.5f);
            if (i > 0) CHECK(box.x >= at.sector(i - 1).right());
            CHECK(at.word(8 * i).x == Approx(box.x));
            CHECK(at.ghost(i).bottom() <= area.bottom() + 0.5f);
        }
        CHECK(at.lane(31).right() <= area.right());
    }
    for (int lane = 1; lane < 32; ++lane) CHECK(lane_cell(area, lane).x >= lane_cell(area, lane - 1).right());
    for (int bank = 1; bank < 32; ++bank) CHECK(bank_column(area, bank).x >= bank_column(area, bank - 1).right());
    const Rect cell{100, 100, 130, 140};
    const auto strokes = pencil_strokes(cell, 7);
    CHECK(strokes.size() > 20);
    for (const auto& [a, b] : strokes)
        for (const Point p : {a, b}) {
            CHECK(p.x >= cell.x);
            CHECK(p.x <= cell.right());
            CHECK(p.y >= cell.y);
            CHECK(p.y <= cell.bottom());
        }
    const auto again = pencil_strokes(cell, 7);  // a stroke stays as it was drawn
    for (size_t i = 0; i < strokes.size(); ++i) CHECK(again[i].first.x == strokes[i].first.x);
}

TEST_CASE("a request of neighbouring words can be moved along them; one with gaps cannot") {
    lessons::SketchTruth truth;
    truth.sketch.values = {1, 1, 1, 1, 1, 0, 0, 0};
    truth.notes.resize(8);
    for (int lane = 0; lane < 32; ++lane) truth.words.push_back(lane + 1);
    for (int shift = 0; shift <= most_shift; ++shift) {
        const auto moved = moved_request(truth, shift);
        REQUIRE(moved);
        CHECK(moved->figure == (shift % 8 == 0 ? 4 : 5));
        CHECK(moved->words[31] == shift + 31);
    }
    CHECK(moved_request(truth, 1)->notes[4] == "1 of 8 used");
    CHECK_FALSE(moved_request(truth, 33));
    truth.words[5] = 40;
    CHECK_FALSE(moved_request(truth, 0));
}

TEST_CASE("beside a bar stand the amount that was put and how far off it is, in wide panels and in narrow ones") {
    for (const float width : {560.0f, 700.0f, 816.0f, 1100.0f}) {
        const Rect row = bar_row({0, 0, width, 200}, 2, 1);
        INFO(width);
        CHECK(width - row.right() - 14 >= 156);  // "you 137,440, too much"
        CHECK(row.w > 0.3f * width);
    }
}

TEST_CASE("a bar ends where it was dragged, on whole numbers where the answers are whole, and a log axis keeps ratios") {
    const Rect row = bar_row(area, 3, 2);
    lessons::SketchAxis axis{0, 40, false, true, "sectors"};
    for (const double v : {0.0, 7.0, 40.0}) CHECK(bar_value(row, axis, bar_end(row, axis, v)) == Approx(v));
    CHECK(bar_value(row, axis, row.x - 50) == 0);
    CHECK(bar_value(row, axis, row.right() + 50) == 40);
    axis = {0.1, 1000, true, false, ""};
    CHECK(bar_end(row, axis, 10) == Approx(row.x + row.w / 2));
    CHECK(bar_value(row, axis, row.x + row.w / 2) == Approx(10).epsilon(0.02));
}

TEST_CASE("keys paint, move, type and clear in every kind") {
    const auto key = [](const char* kind, Sketch& pencil, SketchHand& hand, const SketchBoard& board, KeyCode code) {
        static const lessons::Predict predict;
        const SketchScene scene{.predict = predict, .board = board};
        return sketch_picture(kind)->key(scene, pencil, hand, {code, false, false});
    };
    CHECK(sketch_pictures().size() == lessons::sketch_kinds().size());
    for (const lessons::SketchKind& kind : lessons::sketch_kinds()) {
        INFO(kind.name);
        REQUIRE(sketch_picture(kind.name) != nullptr);
        const std::string name(kind.name);
        SketchBoard board = board_with(name.c_str(), name == "banks" || name == "lanes" ? 32
                                                     : name == "typed" || name == "bar" ? 1
                                                                                        : 2);
        board.rows = 2;
        board.across = {0.01, 100, true, false, ""};
        if (name == "dot") board.axis = {1, 1000, true, false, ""};
        Sketch pencil = lessons::unmarked(board);
        const Sketch blank = pencil;
        SketchHand hand;
        if (name == "order") CHECK(key(name.c_str(), pencil, hand, board, KeyCode::right));
        for (const KeyCode code : {KeyCode::one, KeyCode::right, KeyCode::up, KeyCode::enter})
            key(name.c_str(), pencil, hand, board, code);
        CHECK_FALSE(pencil == blank);
        for (int i = 0; i < 3; ++i) CHECK(key(name.c_str(), pencil, hand, board, KeyCode::backspace));
        CHECK(pencil == blank);
    }
}

TEST_CASE("sectors are painted with mouse and keys; before the lock nothing tells how many, and the reveal moves nothing") {
    SketchDesk desk("A08", 4);
    CHECK(desk.said().find("Offset 1: which sectors will memory send?") != std::string::npos);
    CHECK(desk.shows("__global__"));  // the set-up stays in sight: the source
    CHECK(desk.shows("offset = 1"));
    CHECK(desk.shows("offset 0"));
    CHECK(desk.shows("lane 0 reads in[1]"));
    CHECK(desk.given().sketch.empty());
    for (int digit = 0; digit < 4; ++digit) desk.key(static_cast<KeyCode>('0' + digit));
    CHECK(desk.session.workspace == Workspace::learn);  // digits paint here
    CHECK(desk.given().sketch.values == std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0});
    desk.key(KeyCode::backspace);
    CHECK(desk.given().sketch.empty());
    Point last{-1, -1};
    for (const auto& [word, at] : desk.words())  // dragged over the sectors from the first to the fourth
        if (word == "sector 3") last = at;
    REQUIRE(last.x > 0);
    Point first{-1, -1};
    for (const auto& [word, at] : desk.words())
        if (word == "sector 0") first = at;
    desk.drag(first.x + 40, first.y + 60, last.x + 40, first.y + 60);  // a fast hand: a frame or two for all of them
    CHECK(desk.given().sketch.values == std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0});
    desk.given().sketch.values = {1, 1, 1, 1, 0, 0, 0, 0};
    desk.frames(2);
    const std::string before = desk.shell.describe("learn");
    CHECK(before.find("your pencil: sector 0, sector 1, sector 2, sector 3") != std::string::npos);
    CHECK(before.find("missed") == std::string::npos);
    CHECK(before.find("lane crosses") == std::string::npos);
    CHECK(before.find("the run: ") == std::string::npos);
    CHECK_FALSE(desk.shows("missed"));
    CHECK_FALSE(desk.shows("of 8 used"));
    CHECK(desk.said().find("crosses a line") == std::string::npos);
    const auto placed = desk.words();
    REQUIRE(desk.click_on("Run it"));
    desk.settle();
    desk.frames(6);
    REQUIRE(desk.given().told);
    CHECK_FALSE(desk.given().right);
    CHECK(desk.said().find("5 sectors: the last lane crosses a line") != std::string::npos);
    CHECK(desk.shows("missed"));
    CHECK(desk.shows("Why 4 tempts"));
    CHECK(desk.shows("NOT YET: 4 of 5"));
    CHECK(desk.shell.describe("learn").find("sector 4: missed") != std::string::npos);
    const auto after = desk.words();  // every word that is still there stands where it stood
    size_t same = 0;
    for (const auto& [word, at] : placed)
        if (word.starts_with("sector ") || word.starts_with("128-byte"))
            for (const auto& [now, there] : after)
                if (now == word) {
                    CHECK(there.x == Approx(at.x));
                    CHECK(there.y == Approx(at.y));
                    ++same;
                }
    CHECK(same >= 8);
    // The run stands there instead when it is asked for, and the picture again after that.
    REQUIRE(desk.click_on("the run"));
    desk.settle();
    CHECK(desk.shows("Coalescing"));
    CHECK_FALSE(shows_sketch(desk.session));
    REQUIRE(desk.click_on("picture"));
    desk.settle();
    CHECK(shows_sketch(desk.session));
    REQUIRE(desk.click_on("Sketch again"));
    desk.frames(2);
    CHECK(desk.given().sketch.empty());
    CHECK_FALSE(desk.given().locked);
    CHECK(desk.given().again);  // neither right nor wrong in the list of steps
}

TEST_CASE("while an amount is asked for the run of the step before stays in sight, and its own comes with the answer") {
    SketchDesk desk("A03", 2, "dark");
    desk.size(1600, 1000, 1);
    desk.frames(4);
    const auto before = desk.session.snapshot()->host;
    REQUIRE(before);
    CHECK(shows_case_before(desk.session.lesson));
    CHECK(desk.session.learn.reveal_steps < 0);
    CHECK(desk.shows("Streams and copy engines"));
    CHECK(desk.shows("critical path"));  // its legend: nothing of it is hidden
    CHECK(desk.shows("Your prediction, on the picture"));
    desk.given().sketch.values.back() = 2;
    desk.given().locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(desk.given().told);
    CHECK_FALSE(shows_case_before(desk.session.lesson));
    CHECK(desk.session.snapshot()->host != before);
    CHECK(desk.shows("Streams and copy engines"));
    REQUIRE(desk.click_on("Sketch again"));
    desk.settle();
    CHECK(desk.session.snapshot()->host == before);
}

TEST_CASE("beside a question in words the case before stands whole, and the step's own comes with the answer") {
    SketchDesk desk("C01", 1, "dark");
    desk.size(1600, 1000, 1);
    desk.frames(4);
    CHECK(shows_case_before(desk.session.lesson));
    CHECK(desk.session.learn.reveal_steps < 0);
    CHECK(desk.shows("Devices and layout"));
    CHECK(desk.shell.describe("mesh").find("rank 3") != std::string::npos);
    CHECK_FALSE(desk.shows("Learning curves"));
    auto given = [&]() -> LessonState::Prediction& { return desk.session.lesson.predictions.at(1).at(0); };
    given().chosen = 0;
    given().locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(given().truth);
    CHECK_FALSE(shows_case_before(desk.session.lesson));
    CHECK_FALSE(desk.shows("Devices and layout"));
    CHECK(desk.session.snapshot()->training.curves.size() == 2);
}

TEST_CASE("the case before has its room to itself, and its chips come with the answer") {
    {
        SketchDesk desk("C06", 1, "dark");
        for (const auto& [width, height] : {std::pair{1280.f, 720.f}, {1600.f, 1000.f}}) {
            desk.size(width, height, 1);
            desk.frames(4);
            CHECK(shows_case_before(desk.session.lesson));
            CHECK(desk.shows("stage 3"));
            CHECK_FALSE(desk.shows("PipeDream"));
        }
        desk.given().sketch.values.back() = 27;
        desk.given().locked = true;
        desk.session.post(ask::LockPrediction{0});
        desk.settle();
        CHECK(desk.shows("GPipe: eight"));
        CHECK(desk.shows("PipeDream"));
    }
    SketchDesk walls("C12", 3, "dark");  // a ring over four nodes; what is asked is how long another way takes
    walls.size(1600, 1000, 1);
    walls.frames(4);
    CHECK(shows_case_before(walls.session.lesson));
    CHECK(walls.shows("spine"));
    CHECK_FALSE(walls.shows("what each algorithm takes"));
    CHECK(walls.shell.describe("network").find("hierarchical") == std::string::npos);
}

TEST_CASE("a layout of a small tensor shows its numbers on one sheet, and of the case before those that are not cut") {
    SketchDesk desk("C09", 1, "dark");
    desk.size(1600, 1000, 1);
    desk.frames(4);
    CHECK(desk.shows("6 x 4, by who holds it"));
    CHECK(desk.shows("23"));
    CHECK(desk.shows("Not cut: all of 6 ranks hold all of it"));
    CHECK_FALSE(desk.shows("6 ranks hold 6 different pieces"));
    desk.given().sketch.values.back() = 16;
    desk.given().locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    CHECK(desk.given().right);
    CHECK(desk.shows("6 ranks hold 6 different pieces"));
}

TEST_CASE("no sketch of the course writes text on text, small or large, open or answered") {
    for (const char* id : {"A01", "A02", "A03", "A05", "A06", "A08", "A10", "A11"}) {
        SketchDesk desk(id, 0, "light");
        const auto steps = desk.session.lesson.lesson->steps;
        for (size_t s = 0; s < steps.size(); ++s) {
            if (std::none_of(steps[s].predicts.begin(), steps[s].predicts.end(),
                             [](const auto& p) { return p.is_sketch(); }))
                continue;
            desk.session.lesson.step = static_cast<int>(s);
            desk.session.post(ask::ShowLessonStep{static_cast<int>(s)});
            desk.settle();
            for (const bool answered : {false, true}) {
                if (answered)
                    for (size_t p = 0; p < steps[s].predicts.size(); ++p) {
                        LessonState::Prediction& given = desk.session.lesson.predictions[s][p];
                        if (given.board) given.sketch = lessons::first_guess(steps[s].predicts[p], *given.board);
                        given.chosen = 0, given.locked = true;
                        desk.session.post(ask::LockPrediction{p});
                        desk.settle();
                    }
                for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
                    desk.size(w, h, 1);
                    desk.frames(4);
                    INFO(id << " step " << s + 1 << (answered ? " answered " : " open ") << w);
                    CHECK(desk.clashes() == std::vector<std::string>{});
                    CHECK(desk.quads < 8000);
                    CHECK(desk.shell.describe("learn").size() > 300);
                }
            }
        }
    }
}

TEST_CASE("blocks that were put into turns stand on the clock once they have run: one follows where another has ended") {
    test::Desk desk({.lesson = "A02", .lesson_step = 6});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    LessonState::Prediction& given = desk.session.lesson.predictions[6][0];
    REQUIRE(given.board);
    CHECK_FALSE(desk.shows("as it ran"));
    given.sketch.values = {0, 8, 1, 9, 2, 10, 3, 11};
    given.locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(given.told);
    CHECK(given.right);
    CHECK(desk.shows("as it ran"));
    CHECK(desk.said().find("cycles after block 0 has ended there") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    for (size_t a = 0; a < given.told->spans.size(); ++a)  // an SM holds one at a time
        for (size_t b = 0; b < a; ++b)
            if (static_cast<size_t>(given.told->sketch.values[a]) / 8 ==
                static_cast<size_t>(given.told->sketch.values[b]) / 8)
                CHECK((given.told->spans[a].begin >= given.told->spans[b].end ||
                       given.told->spans[b].begin >= given.told->spans[a].end));
}

TEST_CASE("a barrier is dragged into the code, and the pair of lines is named with the answer alone") {
    SketchDesk desk("A09", 4);
    const SketchBoard& board = *desk.given().board;
    CHECK(board.kind == "barrier");
    CHECK(desk.said().find("line 6 reads") == std::string::npos);
    CHECK(desk.said().find("Nothing orders") == std::string::npos);
    for (size_t i = 1; i < board.cells.size(); ++i)
        CHECK(code_line(area, board.cells.size(), i).y >= code_line(area, board.cells.size(), i - 1).bottom() - 0.5f);
    desk.key(KeyCode::up);  // from the middle
    CHECK(std::isfinite(desk.given().sketch.values.front()));
    desk.given().sketch.values.front() = 7;
    desk.given().locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(desk.given().told);
    CHECK_FALSE(desk.given().right);
    CHECK(desk.said().find("line 6 reads") != std::string::npos);
    CHECK(desk.said().find("yours: too late") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("the elements that a lane holds are painted, and whose a spare one is stands beside its row") {
    SketchDesk desk("A13", 1);
    const SketchBoard& board = *desk.given().board;
    CHECK(board.kind == "elements");
    for (size_t i = 0; i < board.places.size(); ++i) {
        const Rect cell = element_cell(area, board, i);
        CHECK(cell.right() <= area.right());
        CHECK(cell.bottom() <= area.bottom());
        if (i % 8 > 0) CHECK(cell.x >= element_cell(area, board, i - 1).right());
    }
    for (const size_t i : {10u, 11u, 18u}) desk.given().sketch.values[i] = 1;
    desk.given().locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(desk.given().told);
    CHECK_FALSE(desk.given().right);
    CHECK(desk.said().find("you agree on 2") != std::string::npos);
    CHECK(desk.said().find("missed 2") != std::string::npos);
    CHECK(desk.said().find("spare: 9 stands there") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("Enter runs the number that was typed") {
    test::Desk desk({.lesson = "A05", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    LessonState::Prediction& given = desk.session.lesson.predictions[2][0];
    REQUIRE(given.board);
    desk.key(KeyCode::enter);
    CHECK_FALSE(given.locked);  // nothing is put
    desk.key(static_cast<KeyCode>('5'));
    desk.key(static_cast<KeyCode>('0'));
    CHECK_FALSE(given.locked);
    desk.key(KeyCode::enter);
    desk.settle();
    CHECK(given.locked);
    CHECK(given.right);
}

TEST_CASE("a step that was answered otherwise than the run says is told so, and has no green tick") {
    SketchDesk desk("A06", 2);
    LessonState::Prediction& given = desk.session.lesson.predictions[2][0];
    given.chosen = 1;
    given.locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(given.truth);
    REQUIRE_FALSE(given.right);
    desk.frames(3);
    CHECK(desk.shell.focus.line == 13);  // the line that was asked about, though the step began at its `until`
    CHECK(desk.session.lesson.done[2]);
    CHECK_THAT(desk.shell.describe("lesson"), Catch::Contains("Step 3 is done, answered otherwise than the run says."));
    given.right = true;
    CHECK_THAT(desk.shell.describe("lesson"), Catch::Contains("Step 3 is done."));
}

TEST_CASE("all parts of a bar of shares are told at any size, before the answer and after it") {
    SketchDesk desk("C10", 8, "dark");
    REQUIRE(desk.given().board->kind == "shares");
    for (const bool told : {false, true}) {
        if (told) {
            const size_t parts = desk.given().board->places.size();
            desk.given().sketch.values.assign(parts, 100.0 / static_cast<double>(parts));
            desk.given().locked = true;
            desk.session.post(ask::LockPrediction{0});
            desk.settle();
            REQUIRE(desk.given().told);
        }
        for (const auto& [width, height] : {std::pair{1280.f, 720.f}, {1600.f, 1000.f}}) {
            desk.size(width, height, 1);
            desk.frames(4);
            INFO(width << " x " << height << (told ? ", told" : ""));
            for (const lessons::SketchPlace& place : desk.given().board->places) CHECK(desk.shows(place.name));
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
    }
}

TEST_CASE("a long question is told whole above its picture") {
    SketchDesk desk("C08", 10, "dark");
    desk.size(1280, 720, 1);
    desk.frames(4);
    const std::string& question = desk.session.lesson.lesson->steps[10].predicts[0].question;
    REQUIRE(question.size() > 95);
    std::string said;
    for (const auto& text : desk.written)
        if (text.ink.x > 400) said += text.text + " ";  // right of the lesson's text
    CHECK(said.find(question.substr(question.rfind(' ') + 1)) != std::string::npos);
}

}  // namespace gui_sketch_test
