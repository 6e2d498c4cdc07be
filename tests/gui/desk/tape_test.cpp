// Tensor programs on the learner's desk: edited, run on every change, stepped both ways, told what is wrong and where.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/gui/views/training/tape_data.h"
#include "core/base/files.h"
#include "core/scene/tape/tape_program.h"
#include "tests/compilers_here.h"
#include "tests/gui/desk.h"

namespace gui_tape_test {

using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

namespace {

const fs::path lessons_folder = resource_root() / "lessons";

struct Desk : test::Desk {
    Desk() : test::Desk(SessionOptions{.own_kernel = true}) {
        pace = 0.3;
        session.workspace = Workspace::kernel;
    }
    std::shared_ptr<const Snapshot> snapshot() const { return session.snapshot(); }
    void write(const std::string& text) {
        session.desk.set_text(text);
        settle();
    }
    void open(const char* program) {  // of the lessons
        REQUIRE(!session.desk.open(lessons_folder / program));
        settle();
    }
    void go_to(Workspace workspace) {
        session.workspace = workspace;
        settle();
    }
    std::string told(const char* view) { return shell.describe(view); }
};

}  // namespace

TEST_CASE("a tensor program opens with its graph, gradients and products on the edges, and steps both ways") {
    Desk desk;
    desk.open("B02_chain_rule/chain.tape");
    REQUIRE(desk.session.desk.document().is_tape());
    REQUIRE(desk.snapshot()->tape);
    CHECK(desk.snapshot()->training.step->device == "sim:v100");
    CHECK(desk.session.grain == Grain::node);
    CHECK(desk.shows("Tensor program  chain.tape"));
    CHECK(desk.shows("Autograd graph"));
    CHECK(desk.shows("local derivative"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    // dz/dx = 27/42 at the end; at the beginning nothing of it is known yet.
    CHECK(desk.told("graph").find("grad +0.6429") != std::string::npos);
    CHECK(desk.told("reports").find("2 gradients agree") != std::string::npos);
    desk.key(KeyCode::home);
    CHECK(desk.told("graph").find("grad +0.6429") == std::string::npos);
    CHECK(desk.told("editor").find(">  5  a = x^2") != std::string::npos);
    desk.key(KeyCode::right);
    CHECK(desk.told("editor").find(">  6  b = 3 * a") != std::string::npos);
    desk.key(KeyCode::left);
    CHECK(desk.told("editor").find(">  5  a = x^2") != std::string::npos);
    desk.key(KeyCode::end);
    CHECK(desk.told("graph").find("grad +0.6429") != std::string::npos);
    // A click on a line goes to its node.
    REQUIRE(desk.click_on("10"));
    desk.settle();
    CHECK(desk.told("graph").find("moment 6 of 12") != std::string::npos);
}

TEST_CASE("a tensor program that is wrong leaves the last good one on show, and says line and place") {
    Desk desk;
    desk.open("B02_chain_rule/chain.tape");
    desk.write("dtype f64\nparam x = 2\nz = log(x\nbackward z\n");
    REQUIRE(desk.snapshot()->own.compiled);
    CHECK_FALSE(desk.snapshot()->own.compiled->ok);
    REQUIRE(desk.snapshot()->own.compiled->messages.size() == 1);
    CHECK(desk.snapshot()->own.compiled->messages[0].where.line == 3);
    CHECK(desk.snapshot()->own.compiled->messages[0].where.column == 10);  // of the line, not of the term
    CHECK(desk.told("reports").find("line 3") != std::string::npos);
    CHECK(desk.told("editor").find("         ^\n") != std::string::npos);
    REQUIRE(desk.snapshot()->tape);  // still there
    CHECK(desk.told("graph").find("grad +0.6429") != std::string::npos);
    CHECK(!desk.snapshot()->problem);

    desk.write("param x = {1, 2, 3}\nparam w[2] = 1\nz = sum(x * w)\nbackward z\n");
    CHECK(desk.told("reports").find("[3] and [2] do not broadcast") != std::string::npos);
    CHECK(desk.snapshot()->own.compiled->messages[0].where.line == 3);

    desk.write("param x = {1, 2, 3}\nz = sum(x * x)\nbackward z\n");
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK(desk.told("reports").find("every value and gradient is a finite number") != std::string::npos);
    CHECK(desk.told("graph").find("grad +1.0000") != std::string::npos);
}

TEST_CASE("the first value that is not finite, a wrong backward, a hook and a Hessian are reported with their lines") {
    Desk desk;
    desk.open("B03_custom_operator/planted.tape");
    CHECK(desk.told("reports").find("the gradient of x at [1] is 2 by backward but 5") != std::string::npos);
    CHECK(desk.told("reports").find("1 thing wrong.") != std::string::npos);
    desk.write("param x = {3, 2}\ny = log(x - 2)\nz = sum(y)\nhook y = 0.5 * up\nbackward z\n");
    CHECK(desk.told("reports").find("an infinity in the value of y (log), element [1] (line 2)") != std::string::npos);
    CHECK(desk.told("reports").find("the gradient of y came as 1 and went on as 0.5, the first of 2 elements (line 4)") !=
          std::string::npos);
    desk.write("dtype f64\nparam x = 2\nz = x^3\nbackward z\nhessian z\n");
    CHECK(desk.told("reports").find("z twice by x, x: 12 (line 5)") != std::string::npos);
}

TEST_CASE("a program that loses its numbers shows the step and the node in which the first of them went") {
    Desk desk;
    desk.open("B03_custom_operator/root.tape");
    // Of three steps the last has a loss of NaN; in step 0 all values are numbers, and the gradient of x is none.
    REQUIRE(desk.snapshot()->training.step->step == 0);
    CHECK(desk.snapshot()->training.step->loss == 1.5);
    CHECK(desk.snapshot()->tape->loss.size() == 3);
    CHECK(desk.told("graph").find("Backward has passed u:") != std::string::npos);
    CHECK(desk.told("editor").find(">  9  u = root(x)") != std::string::npos);
    CHECK(desk.told("curves").find("3 steps") != std::string::npos);
    CHECK(desk.told("curves").find("the program's loss is 1.500") != std::string::npos);
    // The pictures follow the element that was lost, not the one that the loss owes most to.
    CHECK(desk.told("graph").find("step 0: the element in which the backward of u lost its number") != std::string::npos);
    CHECK(desk.told("graph").find("x[2]                   4          value 0, grad -inf") != std::string::npos);
    CHECK(desk.told("graph").find("u[2] ") != std::string::npos);
    for (const nn::GraphNode& node : desk.snapshot()->training.step->nodes)
        if (node.name == "x") CHECK(std::isinf(node.gradient->at(2)));
    // Mended, it runs to its last step again.
    desk.write("steps 3\nparam x = {4, 1, 9}\nz = mean(sqrt(x))\nbackward z\nupdate 0.1\n");
    CHECK(desk.snapshot()->training.step->step == 2);
}

TEST_CASE("a tensor program's numbers carry its name in the Training workspace, where no run was open") {
    Desk desk;
    desk.open("B02_chain_rule/hook.tape");
    desk.go_to(Workspace::training);
    REQUIRE(desk.snapshot()->tape);
    CHECK(desk.shows("A tensor program: hook.tape on sim:v100"));
    CHECK(desk.shows("below: hook.tape, until a run begins"));
    CHECK(desk.shows("hook.tape reads no batch of examples."));
    CHECK(desk.shows("hook.tape has no layer of weights."));
    CHECK(desk.shows("hook.tape · step 0"));
    CHECK(!desk.shows("Training run"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    REQUIRE(desk.click_on("Step"));
    desk.settle();
    CHECK(desk.shows("Training run"));
    CHECK(desk.shows("A training step: mlp on sim:v100"));
}

TEST_CASE("the colours of an attention map have their range and unit beside them") {
    test::Desk desk(SessionOptions{.lesson = "B07", .lesson_step = 10});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    for (LessonState::Prediction& one : desk.session.lesson.predictions[10]) one.locked = true;
    desk.settle();
    REQUIRE(desk.shows("Attention and text"));
    CHECK(desk.shows("head 0"));
    CHECK((desk.shows("row looks at column, share of its attention") || desk.shows("share of a row's attention")));
    CHECK(desk.shows("100 %"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("what fusion made is hidden while a lesson asks how much it fused") {
    test::Desk desk(SessionOptions{.lesson = "B11", .lesson_step = 11});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.lesson.lesson->steps[11].predicts[0].of.text() == "launches");
    CHECK(desk.shell.describe("code").find("fused_") == std::string::npos);
    CHECK(!desk.shows("fused_"));
    CHECK(!desk.shows("kernels as one"));
    for (LessonState::Prediction& one : desk.session.lesson.predictions[11]) one.locked = true;
    desk.settle();
    CHECK(desk.shell.describe("code").find("fused_") != std::string::npos);
}

TEST_CASE("beside a program's lines stands what they have made, up to where the step's question is") {
    test::Desk desk(SessionOptions{.lesson = "B02", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto program = [&] { return desk.shell.describe("program"); };
    REQUIRE(desk.session.lesson.lesson->steps[0].predicts[0].of.text() == "s");
    CHECK(program().find("value") == std::string::npos);
    for (LessonState::Prediction& one : desk.session.lesson.predictions[0]) one.locked = true;
    desk.settle();
    CHECK(program().find("s = b + d   value 42\n") != std::string::npos);
    CHECK(program().find("z = log(s)\n") != std::string::npos);  // has not run yet
    desk.session.lesson.step = 4;                                // asks for d.x
    desk.session.post(ask::ShowLessonStep{4});
    desk.settle();
    CHECK(program().find(", grad ") == std::string::npos);
    for (LessonState::Prediction& one : desk.session.lesson.predictions[4]) one.locked = true;
    desk.settle();
    CHECK(program().find("param x = 2   value 2, grad 0.6429\n") != std::string::npos);
}

TEST_CASE("one kernel is no kernels") {
    Desk desk;
    desk.settle();
    desk.open("B12_cheaper_arithmetic/tiled.tape");
    REQUIRE(desk.snapshot()->training.step);
    REQUIRE(desk.snapshot()->training.step->launches.size() == 1);
    CHECK(desk.shows("· 1 kernel"));
    CHECK(!desk.shows("1 kernels"));
}

TEST_CASE("a tensor program runs on the host too, and a kernel takes its place on the desk") {
    Desk desk;
    desk.open("B02_chain_rule/chain.tape");
    REQUIRE(desk.click_on("on V100"));
    desk.settle();
    CHECK(desk.snapshot()->training.step->device == "host");
    CHECK(desk.told("graph").find("grad +0.6429") != std::string::npos);
    const auto refused = desk.session.desk.open(lessons_folder / "B02_chain_rule" / "lesson.md");
    REQUIRE(refused);
    CHECK(refused->find(".tape") != std::string::npos);
    desk.open("B02_chain_rule/by_hand.cu");
    CHECK_FALSE(desk.session.desk.document().is_tape());
    if (compiler_here()) CHECK(desk.snapshot()->own.run);
    CHECK(desk.shows("Launch and results"));
}

TEST_CASE("the text of every size lies free when a tensor program of many steps and tensors is open") {
    Desk desk;
    desk.session.desk.open_template(kernel_templates()[3]);
    desk.settle();
    REQUIRE(desk.snapshot()->tape);
    CHECK(desk.told("reports").find("3 gradients agree") != std::string::npos);
    desk.write(
        "steps 4\ninput x[3,4] = random\nparam w[4,2] = random\ny = tanh(matmul(x, w))\nloss = mean(y^2)\nbackward loss\n"
        "update 0.1\n");
    REQUIRE(desk.snapshot()->own.compiled->ok);
    CHECK(desk.shell.describe("weights").find("Weights of w at step 3") != std::string::npos);  // no step 0 was kept
    for (const auto& [w, h, scale] : {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
        desk.size(w, h, scale);
        desk.settle();
        INFO(w << "x" << h << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("a lesson's training curves stand at their end, and show what the model is judged by") {
    const auto curves_of_step = [](const char* lesson, int step) {
        test::Desk desk(SessionOptions{.lesson = lesson, .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        for (LessonState::Prediction& one : desk.session.lesson.predictions[static_cast<size_t>(step)]) one.locked = true;
        desk.settle();
        CHECK(!desk.shows("test accuracy"));  // none was measured there
        return desk.shell.describe("curves");
    };
    CHECK(curves_of_step("B12", 4).find("At step 199 the batch's loss is") != std::string::npos);
    // k-means has no accuracy: its inertia beside that of the best of fifty restarts.
    const std::string centres = curves_of_step("B08", 8);
    CHECK(centres.find("test accuracy") == std::string::npos);
    CHECK(centres.find(" at step 30") != std::string::npos);
}

TEST_CASE("a training run starts and stops beside a tensor program that was on show") {
    Desk desk;
    desk.open("B02_chain_rule/chain.tape");
    desk.go_to(Workspace::training);
    REQUIRE(desk.click_on("Step"));
    desk.settle();
    CHECK(!desk.snapshot()->tape);
    CHECK(desk.snapshot()->training.step->model == "mlp");
    REQUIRE(desk.click_on("Run"));
    desk.frames(3);
    CHECK(desk.session.grain == Grain::training_step);
    CHECK(desk.session.playing);
    REQUIRE(desk.click_on("Pause"));
    desk.settle();
    CHECK_FALSE(desk.session.playing);
    desk.go_to(Workspace::kernel);
    REQUIRE(desk.snapshot()->tape);  // and the program comes back
    CHECK(desk.told("graph").find("grad +0.6429") != std::string::npos);
}

TEST_CASE("a lesson shows what its model learned once the answer is locked") {
    test::Desk desk(SessionOptions{.lesson = "B08", .lesson_step = 5});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shell.describe("batch").find("waits for your answer") != std::string::npos);
    CHECK(desk.shell.describe("batch").find("read as") == std::string::npos);
    for (LessonState::Prediction& one : desk.session.lesson.predictions[5]) one.locked = true;
    desk.settle();
    CHECK(desk.shell.describe("batch").find("400 nodes, ") != std::string::npos);
    CHECK(desk.shell.describe("batch").find(" edges, 40 labelled") != std::string::npos);
    CHECK(desk.shows("Nodes of the graph"));
    // Nothing of it was timed: there are no cycles to step, and no kernel of another scene is named.
    CHECK(grains_of(desk.session, *desk.session.snapshot()) == std::vector{Grain::node, Grain::kernel});
    CHECK(!desk.session.snapshot()->kernel.run);
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("running statistics are told no sooner than the batch norm that writes them") {
    test::Desk desk(SessionOptions{.lesson = "BX", .lesson_step = 8});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shell.describe("graph").find("running mean") != std::string::npos);
    CHECK_FALSE(desk.shows("+0.4000"));  // a tenth of the mean that is asked about
    CHECK_FALSE(desk.shows("+1.4333"));
    CHECK(desk.shell.describe("graph").find("1.43") == std::string::npos);
}

TEST_CASE("a tensor program's exercise is edited and checked in the app") {
    const fs::path folder =
        fs::temp_directory_path() /
        ("lockstep-tape-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    fs::create_directories(folder);
    setenv("XDG_STATE_HOME", folder.c_str(), 1);
    {
        test::Desk desk(SessionOptions{.lesson = "B03", .lesson_step = 9});
        desk.pace = 0.3;
        desk.session.workspace = Workspace::learn;
        desk.settle();
        REQUIRE(desk.session.lesson.lesson->steps[9].exercises.size() == 1);
        REQUIRE(desk.click_on("Edit it here"));
        desk.settle();
        CHECK(desk.session.workspace == Workspace::kernel);
        REQUIRE(desk.session.desk.document().is_tape());
        CHECK(desk.shell.describe("reports").find("the gradient of x at [0] is -4 by backward but 12") != std::string::npos);
        const auto solution = read_file(lessons_folder / "B03_custom_operator" / "solution" / "cube.tape");
        REQUIRE(solution.ok());
        desk.session.desk.set_text(solution.value());
        desk.settle();
        CHECK(desk.shell.describe("reports").find("4 gradients agree") != std::string::npos);
        desk.session.workspace = Workspace::learn;
        desk.settle();
        REQUIRE(desk.click_on("Check it"));
        desk.settle();
        CHECK(desk.session.lesson.done[9]);
    }
    fs::remove_all(folder);
}

}  // namespace gui_tape_test
