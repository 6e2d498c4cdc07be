// What ops cost stands in the picture as the engine counts it, of two programs on one scale; weights that stay are told from
// those that are trained; a row in eight bits shows what its kernel did; nothing is told while a question is open.
#include "app/gui/views/tensor/costs/op_costs.h"

#include <functional>

#include "core/scene/figures/figures.h"
#include "core/scene/tape/tape_program.h"
#include "tests/gui/lesson_desk.h"

namespace gui_op_costs_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {
std::shared_ptr<const scene::TapeRun> run_of(const std::string& text) {
    const auto parsed = scene::parse_tape(text, "some/small_one.tape");
    REQUIRE(parsed.ok());
    const auto run = scene::run_tape(parsed.value(), {.device = "sim:v100"});
    REQUIRE(run.ok());
    return run.value();
}
bool says(Desk& desk, std::string_view view, std::string_view words) {
    return desk.shell.describe(view).find(words) != std::string::npos;
}
}  // namespace

TEST_CASE("operations and bytes by op add up to the engine's figures, and what lies between kernels stands apart") {
    const auto run =
        run_of("mode eager\nparam q[8,4] = random\nparam k[8,4] = random\ns = 0.5 * matmul_t(q, k)\np = softmax(s)\n");
    const ProgramCosts costs = op_costs(*run);
    const scene::SceneResult result{run};
    const auto figure = [&](const char* name) {
        const auto value = scene::figure_of(result, std::string(name));
        REQUIRE(value.ok());
        return value.value();
    };
    CHECK(costs.name == "small one");
    CHECK(costs.operations == figure("operations"));
    CHECK(costs.bytes == figure("bytes_moved"));
    REQUIRE(costs.rows.size() == 3);
    CHECK(costs.rows[0].between == 8 * 8 * 4);      // written, and read by the next
    CHECK(costs.rows[1].between == 2 * 8 * 8 * 4);  // read and written
    CHECK(costs.rows[2].between == 8 * 8 * 4);      // read; its result leaves
    CHECK(costly_rows(costs, false) == std::vector<size_t>{0, 2});
    CHECK(op_costs_headline({costs}, true) == "1.02 kB of 1.54 kB go from kernel to kernel through memory");
}

TEST_CASE("weights that stay are those drawn as weights; of a program without such all are trained") {
    const auto boxes = weight_boxes(
        *run_of("input W[8,8] = normal 0.1\nparam A[1,8] = normal 0.1\nparam B[8,1] = 0\ninput x[2,8] = random\n"
                "y = matmul_t(x, W) + matmul_t(matmul_t(x, A), B)\n"));
    REQUIRE(boxes.size() == 3);
    CHECK_FALSE(boxes[0].trained);
    CHECK(boxes[1].trained);
    CHECK(weights_headline(boxes) == "16 weights are trained beside 64 that stay: 25 %");
    CHECK(weights_headline({boxes[1]}) == "All 8 weights are trained");
}

TEST_CASE("the lesson's pictures of costs tell the step's message, and nothing before an answer") {
    const auto at = [](int step, const std::function<void(Desk&)>& look) {
        Desk desk({.lesson = "B12", .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        look(desk);
        for (const auto& [w, h, scale] :
             {std::tuple{1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.5f}}) {
            INFO(step << " at " << w << " x " << h << ", " << scale);
            desk.size(w, h, scale);
            desk.frames(3);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
    };
    at(3, [](Desk& desk) {
        CHECK(says(desk, "tradeoff", "f16: 58 % of the bytes moved"));
        CHECK(desk.shows("1,706,938"));  // operations: few rows leave room for all that is counted
    });
    at(4, [](Desk& desk) { CHECK(desk.shows("102.7 kB, 25 %")); });  // what it is of the first row's
    at(7, [](Desk& desk) {
        CHECK(says(desk, "tradeoff", "student mlp taught: as many bytes stored"));
        CHECK(says(desk, "tradeoff", "less apart than seeds"));
        CHECK(says(desk, "tradeoff", "Dashed lines: student mlp alone"));
        CHECK(says(desk, "tradeoff", "from the worst seed to the best"));
        CHECK(says(desk, "curves", "student alone: 150 steps"));
        CHECK_FALSE(says(desk, "curves", "student taught: 150 steps"));  // its loss counts the teacher's answers as well
        CHECK(says(desk, "curves", "student taught learns by another loss"));
    });
    at(8, [](Desk& desk) {
        CHECK(desk.shows("256 weights are trained beside 4,096 that stay: 6.25 %"));
        CHECK(desk.shows("what it learns, never stored"));  // the product of the thin ones, as large as what stays
    });
    at(9, [](Desk& desk) { CHECK(desk.shows("K and V: 95 % of the 137,440 operations")); });
    at(11, [](Desk& desk) {
        CHECK_FALSE(says(desk, "traffic", "459 kB"));
        CHECK(says(desk, "traffic", "stays hidden"));
    });
    at(12, [](Desk& desk) { CHECK(desk.shows("tiled moves 66 kB, scores 459 kB: 6.9 times as much")); });
    at(14, [](Desk& desk) {
        CHECK(desk.shows("6 of 8 come out wrong: -2.54 becomes -161, beyond 127 in size"));
        CHECK(says(desk, "int8_levels", "-2.54: level -127.00, nearest -127, made -161"));
    });
}

TEST_CASE("a gradient on its way back stands as a bar a tensor, the end of the program first") {
    Desk desk({.lesson = "B07", .lesson_step = 6});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("Of the gradient of 1 at z, 0.000064 reaches x"));
    CHECK(says(desk, "gradient_way", "  h[6]: 1\n  h[5]: 0.2\n  h[4]: 0.04\n"));
    for (const float scale : {1.0f, 1.5f}) {
        desk.size(1280, 720, scale);
        desk.frames(3);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("what a model shows, and what curves come to, stands in a headline once nothing is asked") {
    const auto at = [](int step, std::string_view view, std::string_view words, bool told = true,
                       const char* lesson = "B08") {
        INFO(lesson << ", step " << step);
        Desk desk({.lesson = lesson, .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        CHECK(says(desk, view, words) == told);
        CHECK(desk.clashes() == std::vector<std::string>{});
    };
    at(0, "batch", "All get nearly the same answer");
    at(2, "batch", "The made points cover 0 of the eight clumps");
    at(4, "curves", "near ln 2 = 0.693: yet 8 of 8 clumps are covered");
    at(5, "batch", "of the other nodes are placed right", false);
    at(6, "batch", "By its likeliest moves it walks against a wall after 1 step");
    at(8, "batch", "Without a gradient the sum of squared distances falls from 6,774 to 3,575");
    at(9, "seeds", "On average 5 seeds read 37.9 %");
    at(2, "seeds", "Nothing but the seed differs: 7.2 to 95.4 % are read", true, "B10");
    at(7, "seeds", "one seed alone could have put LARC before LARS", true, "B10");
    at(8, "curves", "The target of 1.2 is reached after", true, "B09");
    at(7, "made_wanted", "The mean of ratios is infinite, the ratio of sums 256", true, "B09");
    at(12, "batch", "From 40 known labels, 98.6 % of the other nodes are placed right");
}

TEST_CASE("beside the maze stand returns, beside the graph its edges, and what an exercise asks for is a line among seeds") {
    const auto at = [](const char* lesson, int step, std::initializer_list<const char*> words) {
        INFO(lesson << ", step " << step);
        Desk desk({.lesson = lesson, .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.size(1280, 720, 1);
        desk.settle();
        for (const char* one : words) {
            INFO(one);
            CHECK(desk.shows(one));
        }
        CHECK(desk.clashes() == std::vector<std::string>{});
    };
    at("B08", 6, {"mean return of a walk", "by chance", "-1.34", "0.77"});
    at("B08", 8, {"a new start, round 25", "best of 50 plain starts: 3,574"});
    at("B08", 9, {"asked: 95 on average"});
    at("B08", 12, {"join nodes read alike", "70.6 %", "a guess reads right"});
    at("B10", 9, {"asked: 85 on average"});
}

TEST_CASE("how a run ends stays unknown in every workspace while it is asked about") {
    Desk desk({.lesson = "B08", .lesson_step = 5});
    desk.session.workspace = Workspace::training;
    desk.settle();
    CHECK(desk.shell.describe("curves").find("the rest waits for an answer") != std::string::npos);
}

TEST_CASE("beside a generator's points stands how many of those judged lie in each clump, also above a sketch") {
    Desk desk({.lesson = "B08", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    for (const auto& [w, h] : {std::pair{1280.0f, 720.0f}, {1600.0f, 1000.0f}}) {
        desk.size(w, h, 1);
        desk.settle();
        CHECK(desk.shows("made points in each clump, of those judged"));
        CHECK(desk.shows("3 %: covered"));
        CHECK(desk.shows("clump 8"));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    desk.size(1280, 720, 1);
    go_to(desk, 3);
    answer(desk, 3);
    CHECK(desk.shows("The made points cover 8 of the eight clumps"));  // a small headline
    CHECK(desk.clashes() == std::vector<std::string>{});
    go_to(desk, 0);
    CHECK(desk.shows("16 numbers"));
    go_to(desk, 7);
    answer(desk, 7);
    CHECK(desk.shows("at the first update"));
    CHECK(desk.shows("at update 120"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    go_to(desk, 8);
    CHECK(desk.shows("sum of squared distances, by round"));
}

}  // namespace gui_op_costs_test
