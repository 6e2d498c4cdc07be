// Predictions that are put into a picture: how they are written, what their boards know, their truths and their scores.
#include "lessons/player/sketch/sketch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "lessons/player/sketch/picture.h"
#include "tests/catch.h"

namespace lessons_sketch_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

const std::string front =
    "+++\nid = \"X01\"\ntitle = \"A test\"\npart = \"A\"\nminutes = 5\ngpu = \"v100\"\nseed = 3\n+++\n## A | predict\n"
    "::: scene id=\"s\" file=\"add.cu\" kernel=\"add\" grid=\"2\" block=\"32\" args=\"in:f32[64] out:f32[64]\" "
    "view=\"warps\"\n";
const std::string answers = "How many?\n| 4 | no\n| 8 | yes\n:::\n";

std::string error_of(const std::string& predict) {
    const Result<Lesson> lesson = parse_lesson(front + "::: predict " + predict + "\n" + answers, "x/lesson.md");
    return lesson ? "" : lesson.error().message;
}

// The sketch of a real lesson, its board and its truth.
struct Asked {
    Lesson lesson;
    SceneRuns runs;
    size_t step = 0;
    const Predict* predict = nullptr;
    SketchBoard board;
    SketchTruth truth;
    Asked(const std::string& id, const std::string& name) : lesson(lesson_named(id).value()), runs(lesson) {
        for (size_t s = 0; s < lesson.steps.size(); ++s)
            for (const Predict& one : lesson.steps[s].predicts)
                if (one.id == name) predict = &one, step = s;
        REQUIRE(predict != nullptr);
        const Result<SketchBoard> made = board_of(runs, step, *predict);
        INFO((made ? std::string() : made.error().message));
        REQUIRE(made.ok());
        board = made.value();
        const Result<SketchTruth> told = sketch_truth_of(runs, step, *predict, board);
        INFO((told ? std::string() : told.error().message));
        REQUIRE(told.ok());
        truth = told.value();
    }
    SketchScore score(const Sketch& sketch) const { return score_of(*predict, board, sketch, truth); }
};

}  // namespace

TEST_CASE("a prediction becomes a sketch by its type, and its attributes are those of its kind") {
    CHECK(error_of("id=q of=cycles type=number") == "");
    CHECK(error_of("id=q of=\"sectors_per_request@line:3\" type=sectors base=s label=\"stride 2\"") == "");
    CHECK(error_of("id=q of=cycles type=bar known=\"a: cycles; b: 2 * cycles\" unit=cycles axis=\"0..40\"") == "");
    CHECK(error_of("id=q of=cycles type=curve points=\"16: cycles; 64: cycles\" known=\"8: cycles\"") == "");
    CHECK(error_of("id=q of=cycles type=paint").find("unknown type 'paint': there are number, choice, sectors") == 0);
    CHECK(error_of("id=q of=cycles type=bar base=s") == "");
    CHECK(error_of("id=q of=cycles type=bar base=none") == "");
    CHECK(error_of("id=q of=cycles type=bar base=nowhere") == "no scene has the id 'nowhere'");
    CHECK(error_of("id=q of=cycles type=number base=s") == "");  // beside answers, too
    CHECK(error_of("id=q of=cycles type=bar base=s@first") == "'s' is no scene of rows that are written in it with ;");
    CHECK(error_of("id=q of=cycles type=bar base=nowhere@first") == "no scene has the id 'nowhere'");
    CHECK(error_of("id=q of=cycles type=blocks base=s") == "a sketch of type blocks has no attribute 'base'");
    CHECK(error_of("id=q of=cycles type=number known=\"a: cycles\"") == "a sketch of type number has no attribute 'known'");
    CHECK(error_of("id=q of=cycles type=curve") == "a sketch of type curve needs points=");
    CHECK(error_of("id=q of=cycles type=sectors base=nowhere") == "no scene has the id 'nowhere'");
    CHECK(error_of("id=q of=cycles type=bar axis=\"40..0\"").find("the lesser number first") != std::string::npos);
    CHECK(error_of("id=q of=cycles type=bar axis=\"0..4\" log=yes") == "a logarithmic axis begins above zero");
    CHECK(error_of("id=q of=cycles type=bar known=\"cycles\"") == "'known' is written name: figure; name: figure");
    CHECK(error_of("id=q of=cycles type=bar known=\"a: cycels\"").find("did you mean 'cycles'") != std::string::npos);
    CHECK(error_of("id=q of=cycles type=bar known=\"a: cycles; a: cycles\"") == "'a' stands here twice");
    CHECK(error_of("id=q of=cycles type=bar sure=perhaps") == "'sure' is yes or no");
    CHECK(error_of("id=q of=cycles type=order items=\"a: cycles\"").find("takes 2 to 12") != std::string::npos);
    const Lesson lesson =
        parse_lesson(front + "::: predict id=q of=cycles type=bar known=\"a: cycles@scene:s\"\n" + answers, "x/lesson.md")
            .value();
    const Predict& predict = lesson.steps[0].predicts[0];
    CHECK(predict.is_sketch());
    CHECK_FALSE(predict.sure);  // asked for only where the lesson says so
    CHECK(predict.tolerance == Approx(0.1));
    REQUIRE(predict.sketch.known.size() == 1);
    CHECK(predict.sketch.known[0].name == "a");
    CHECK(predict.sketch.known[0].value.text() == "cycles@scene:s");
    CHECK(sketch_kinds().size() >= 9);
}

TEST_CASE("above an amount stands the picture of the case before, which the lesson may name") {
    const Lesson lesson = lesson_named("A03").value();
    const auto above = [&](size_t step) { return picture_before(lesson, step, lesson.steps[step].predicts[0]); };
    CHECK(above(1) == &lesson.steps[0].scenes.back());
    CHECK(above(2) == &lesson.steps[1].scenes.back());
    Predict asked = lesson.steps[2].predicts[0];
    asked.sketch.base = "first";
    CHECK(picture_before(lesson, 2, asked) == scene_named(lesson, "first"));
    asked.sketch.base = alone;
    CHECK(picture_before(lesson, 2, asked) == nullptr);
    asked.sketch.base.clear();
    asked.type = "number";  // a list of answers stands beside its step's own pictures
    CHECK(picture_before(lesson, 2, asked) == nullptr);
    Lesson exam = lesson;  // its tasks must not tell each other's answers
    exam.exam = true;
    CHECK(picture_before(exam, 2, lesson.steps[2].predicts[0]) == nullptr);
}

TEST_CASE("the case before may be the first row alone of a scene, and it stands beside a question in words as well") {
    const Lesson lesson = lesson_named("C09").value();
    const scene::Scene* const first = picture_before(lesson, 1, lesson.steps[1].predicts[0]);
    const scene::Scene* const own = scene_at(lesson, 1);
    REQUIRE(first);
    REQUIRE(own);
    CHECK(first != own);
    CHECK(own->parallel.starts_with(first->parallel + ";"));
    CHECK(first->view == own->view);
    const Lesson words = lesson_named("C01").value();
    const Predict& asked = words.steps[1].predicts[0];
    REQUIRE(asked.type == "choice");
    CHECK(picture_before(words, 1, asked) == scene_named(words, "batch"));
}

TEST_CASE("rows of a lesson are a program, a line each, and a question about data sheets has none") {
    const Asked rows("C08", "largest");
    CHECK(rows.board.text.starts_with("mlp name=whole dp=4"));
    CHECK(std::count(rows.board.text.begin(), rows.board.text.end(), '\n') == 3);
    CHECK(rows.board.text.find(';') == std::string::npos);
    CHECK(rows.board.where.empty());
    CHECK(Asked("C12", "wall").board.text.empty());
}

TEST_CASE("a word of an array of numbers is its element, and one of records is a word") {
    const Asked numbers("A08", "shifted"), records("A08", "records");
    CHECK(word_name(numbers.board, 1) == "in[1]");
    CHECK(numbers.board.places[0].detail.starts_with("in[0] ... in[7]"));
    CHECK(records.board.array == "particle");
    CHECK(word_name(records.board, 3) == "word 3 of particle");
}

TEST_CASE("the sectors of a shifted request: five belong there, and what was missed or is spare is named") {
    const Asked asked("A08", "shifted");
    CHECK(asked.board.places.size() == 8);  // two lines of 128 bytes: room that says nothing
    CHECK(asked.board.array == "in");
    CHECK(asked.board.lane_word == 1);  // in[1]
    CHECK(asked.board.line == 3);
    CHECK(asked.board.text.find("in[i + offset]") != std::string::npos);
    REQUIRE(asked.board.before.size() == 1);
    CHECK(asked.board.before[0].value == Approx(4));
    CHECK(asked.board.ghost.values == std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0});
    CHECK(asked.truth.sketch.values == std::vector<double>{1, 1, 1, 1, 1, 0, 0, 0});
    CHECK(asked.truth.figure == Approx(5));
    CHECK(asked.truth.finding == "5 sectors: the last lane crosses a line");
    CHECK(asked.truth.words[31] == 32);
    CHECK(asked.truth.notes[4] == "1 of 8 used");
    const SketchScore right = asked.score(asked.truth.sketch);
    CHECK(right.right);
    CHECK(right.near == Approx(1));
    const SketchScore missed = asked.score(asked.board.ghost);
    CHECK_FALSE(missed.right);
    CHECK(missed.near == Approx(0.8));
    CHECK(missed.sentence == "You painted 4 of 5 sectors; sector 4 was missed.");
    CHECK(missed.verdicts[4] == Verdict::missed);
    CHECK(missed.verdicts[0] == Verdict::agrees);
    const SketchScore spare = asked.score({{1, 1, 1, 1, 1, 0, 0, 1}});
    CHECK_FALSE(spare.right);
    CHECK(spare.sentence == "You painted all 5 sectors; sector 7 is spare.");
    SketchTruth lone = asked.truth;
    lone.sketch.values = {0, 0, 1, 0, 0, 0, 0, 0};
    CHECK(score_of(*asked.predict, asked.board, {{0, 1, 1, 0, 0, 0, 0, 0}}, lone).sentence ==
          "You painted the one sector; sector 1 is spare.");
    CHECK(nearest_answer(*asked.predict, asked.board, asked.board.ghost) == 0);  // "Why 4 tempts"
    CHECK(asked.predict->answers[static_cast<size_t>(asked.truth.right)].value == 5);
    CHECK_FALSE(complete(asked.board, unmarked(asked.board)));
    CHECK(complete(asked.board, asked.board.ghost));
}

TEST_CASE("banks: words stacked on a bank are passes, one word for all lanes is one") {
    const Asked column("A10", "column");
    CHECK(measure_of(column.board, column.truth.sketch) == 32);
    CHECK(column.truth.sketch.values[0] == 32);  // lane x reads word 32 x: all in bank 0
    CHECK(column.score(column.truth.sketch).right);
    CHECK_FALSE(column.score(column.board.ghost).right);
    const Asked same("A10", "same");
    CHECK(measure_of(same.board, same.truth.sketch) == 1);
    CHECK(measure_of(same.board, unmarked(same.board)) != measure_of(same.board, unmarked(same.board)));  // NaN: too little
}

TEST_CASE("lanes, blocks and bars come from the lesson's own run") {
    const Asked guarded("A02", "guarded");
    double on = 0;
    for (size_t lane = 0; lane < 32; ++lane) {
        on += guarded.truth.sketch.values[lane];
        CHECK((guarded.truth.sketch.values[lane] > 0) == (lane < 8));  // i = 12 to 19 of 20
    }
    CHECK(on == 8);
    const Asked spread("A02", "spread");
    CHECK(spread.board.rows == 2);
    CHECK(spread.board.places.size() == 8);
    CHECK(spread.score(spread.truth.sketch).right);
    Sketch swapped = spread.truth.sketch;  // which SM takes a block is nobody's promise
    std::swap(swapped.values[0], swapped.values[1]);
    CHECK(spread.score(swapped).right);
    Sketch crowded = spread.truth.sketch;  // all on one SM, in its first turn
    for (double& v : crowded.values) v = 0;
    CHECK_FALSE(spread.score(crowded).right);
    const Asked far("A08", "apart");
    REQUIRE(far.board.places.size() == 3);
    CHECK(*far.board.places[0].known == Approx(4));
    CHECK(*far.board.places[1].known == Approx(8));
    CHECK(far.board.axis.high > 64);  // as far as the answers go
    CHECK(far.score({{4, 8, 32}}).right);
    const SketchScore low = far.score({{4, 8, 16}});
    CHECK_FALSE(low.right);
    CHECK(low.near == Approx(0.5));
    CHECK(low.verdicts[2] == Verdict::low);
    CHECK(low.sentence == "You drew 16, it is 32: 16 too little.");
}

TEST_CASE("a barrier is right in any gap between the two lines that racecheck names, and early or late elsewhere") {
    const Asked where("A09", "where");
    CHECK(where.truth.figure == 6);
    CHECK(where.board.text.empty());
    CHECK(where.board.line == 0);  // no line is marked before the answer
    REQUIRE(where.truth.notes.size() == 2);
    CHECK(where.truth.notes[0] == "line 6 reads");
    CHECK(where.truth.notes[1] == "line 7 writes");
    CHECK(where.score({{6}}).right);
    const SketchScore early = where.score({{5}}), late = where.score({{7}});
    CHECK_FALSE(early.right);
    CHECK(early.verdicts == std::vector{Verdict::low});
    CHECK(early.sentence == "Behind line 5 it is too early: line 6 reads only after it.");
    CHECK_FALSE(late.right);
    CHECK(late.verdicts == std::vector{Verdict::high});
    CHECK(late.sentence == "Behind line 7 it is too late: line 7 writes before it.");
    CHECK(where.truth.finding.starts_with("Behind line 6: "));
    CHECK(places_text(where.board, where.truth.sketch) == "behind line 6");
}

TEST_CASE("the elements of a lane are painted, and only the first row is told before") {
    const Asked lane("A13", "lane");
    CHECK(lane.board.rows == 16);
    REQUIRE(lane.board.places.size() == 128);
    CHECK(lane.board.cells[2] == "1");
    CHECK(lane.board.cells[8] == "");
    CHECK(places_text(lane.board, lane.truth.sketch) ==
          "row 1, column 2, row 1, column 3, row 9, column 2, row 9, column 3");
    Sketch half = unmarked(lane.board);
    half.values[10] = half.values[11] = 1;
    const SketchScore some = lane.score(half);
    CHECK_FALSE(some.right);
    CHECK(some.near == Approx(0.5));
    CHECK(some.verdicts[74] == Verdict::missed);
    CHECK(lane.score(lane.truth.sketch).right);
}

TEST_CASE("nothing, and what is not a number, is never right, in any kind") {
    const SketchTruth truth = {.sketch = {{1, 2}}, .figure = 2, .notes = {"1", "2"}};
    for (const SketchKind& kind : sketch_kinds()) {
        INFO(kind.name);
        CHECK(kind.board != nullptr);
        CHECK(kind.truth != nullptr);
        CHECK_FALSE(kind.words.empty());
        CHECK_FALSE(kind.help.empty());
        SketchBoard board;
        board.kind = kind.name;
        board.axis = {0, 4, false, false, "x"};
        board.rows = 2;
        SketchTruth is = truth;
        if (kind.name == "order") is.sketch.values = {0, 1};
        const size_t places = kind.name == "banks" ? 32 : 2;
        for (size_t i = 0; i < places; ++i) board.places.push_back({"place " + std::to_string(i), ""});
        is.sketch.values.resize(places, 0);
        Predict predict;
        predict.type = kind.name;
        predict.tolerance = kind.tolerance;
        const Sketch nan{std::vector<double>(places, std::nan(""))};
        for (const Sketch& none : {nan, unmarked(board), Sketch{}}) {
            const SketchScore score = score_of(predict, board, none, is);
            CHECK_FALSE(score.right);
            CHECK(score.near < 1);
        }
        const SketchScore best = score_of(predict, board, is.sketch, is);
        CHECK(best.right);
        CHECK(best.near == Approx(1));
    }
}

TEST_CASE("one of a unit is said in the singular, but symbols and factors stay as they are") {
    for (const auto& [unit, one] : {std::pair<const char*, const char*>{"sectors", "1 sector"},
                                    {"sectors a load", "1 sector a load"},
                                    {"passes", "1 pass"},
                                    {"ops", "1 op"},
                                    {"micro-batches", "1 micro-batch"},
                                    {"times the bytes", "1 times the bytes"},
                                    {"% of the bytes", "1 % of the bytes"},
                                    {"µs", "1 µs"},
                                    {"s a step", "1 s a step"},
                                    {"TFLOP/s", "1 TFLOP/s"}})
        CHECK(amount_text(1, unit) == one);
    CHECK(amount_text(2, "sectors a load") == "2 sectors a load");
    CHECK(amount_text(1) == "1");
}

TEST_CASE("answers are shown in an order of the learner's own, the same every time") {
    const Lesson lesson = lesson_named("A06").value();
    const Predict& predict = lesson.steps[2].predicts[0];
    const std::vector<size_t> order = shown_order(lesson, predict, 1);
    CHECK(shown_order(lesson, predict, 1) == order);
    std::map<size_t, int> first;
    for (uint64_t learner = 0; learner < 60; ++learner) {
        std::vector<size_t> one = shown_order(lesson, predict, learner);
        ++first[one.front()];
        std::sort(one.begin(), one.end());
        CHECK(one == std::vector<size_t>{0, 1, 2});
    }
    CHECK(first.size() == 3);
    for (const auto& [answer, count] : first) CHECK(count > 8);
}

}  // namespace lessons_sketch_test
