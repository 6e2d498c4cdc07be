// Tensor programs and training runs of lessons: what they compute, the words of their mistakes, and that no text harms.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/scene/figures/figures.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/cheaper_runs.h"
#include "core/scene/training/training_runs.h"
#include "tests/catch.h"

namespace scene_tape_test {

using namespace lockstep;
using namespace lockstep::scene;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::shared_ptr<const TapeRun> run_text(const std::string& text, const std::string& device = "host") {
    const Result<TapeText> tape = parse_tape(text, "x.tape");
    if (!tape) FAIL(render(tape.error()));
    const auto run = run_tape(tape.value(), {.device = device});
    if (!run) FAIL(render(run.error()));
    return run.value();
}
double value(const std::shared_ptr<const TapeRun>& run, const std::string& name) {
    const Result<double> found = figure_of(*run, name);
    if (!found) FAIL(render(found.error()));
    return found.value();
}
std::string mistake(const std::string& text) {
    const Result<TapeText> tape = parse_tape(text, "x.tape");
    if (!tape) return render(tape.error());
    const auto run = run_tape(tape.value(), {});
    return run ? "no mistake" : render(run.error());
}
bool near(double a, double b, double relative = 1e-9) {
    return std::fabs(a - b) <= relative * std::max(std::fabs(b), 1e-12);
}

const std::string chain = R"(dtype f64
param x = 2
param y = 3
a = x^2
s = 3 * a + 5*x*y
z = log(s)     # a comment
backward z
gradcheck z
)";

}  // namespace

TEST_CASE("the worked example of the chain rule comes out on host and on the modelled GPU") {
    for (const char* device : {"host", "sim:teaching"}) {
        const auto run = run_text(chain, device);
        CHECK(near(value(run, "z"), 3.7376696182833684));
        CHECK(near(value(run, "d.x"), 0.642857142857143));
        CHECK(near(value(run, "d.y"), 0.238095238095238));
        CHECK(value(run, "s") == 42);
        CHECK(value(run, "accumulations") == 1);
        CHECK(value(run, "gradcheck.compared") == 2);
        CHECK(value(run, "gradcheck.wrong") == 0);
        CHECK(run->step->nodes.size() == 8);  // x y; square, scale, 5 x, times y, sum, log: 5*x*y is (5x)y
    }
}

TEST_CASE("a program of several steps corrects its parameters as gradient descent does") {
    const auto run = run_text(
        "steps 2\ninput x = 2\ninput y = 7\nparam w = 1\nparam b = 1\n"
        "C = (w * x + b - y)^2\nbackward C\nupdate 0.05\n");
    CHECK(value(run, "C@step:0") == 16);
    CHECK(value(run, "d.w@step:0") == -16);
    CHECK(value(run, "d.b@step:0") == -8);
    CHECK(near(value(run, "w@step:1"), 1.8, 1e-6));
    CHECK(near(value(run, "C@step:1"), 4, 1e-5));
    CHECK(near(value(run, "w@step:2"), 1.8 + 0.05 * 8, 1e-5));
    CHECK(run->loss.size() == 2);
}

TEST_CASE("an op of one's own keeps what save names, and gradcheck finds a wrong backward") {
    const std::string head = "op multiply(a, b) = a * b\n  save a, b\n",
                      leaves =
                          "end\nparam x = {1, 2, 3, 4}\nparam y = {1, 5, 6, 7}\n"
                          "z = sum(multiply(2 * x, y))\nbackward z\ngradcheck z\n";
    const auto right = run_text(head + "backward a = up * b\nbackward b = up * a\n" + leaves);
    CHECK(value(right, "gradcheck.wrong") == 0);
    CHECK(value(right, "d.x[1]") == 10);
    CHECK(value(right, "d.y[3]") == 8);
    const auto wrong = run_text(head + "backward a = up * a\nbackward b = up * a\n" + leaves);
    CHECK(value(wrong, "gradcheck.wrong") == 3);  // 2x is y in one place
    CHECK(near(value(wrong, "gradcheck.backward") / value(wrong, "gradcheck.numeric"), 2, 1e-6));
    const auto constant =
        run_text("op twice(a) = 2 * a - 1\nbackward a = 2 * up\nend\nparam x = {1, 5}\nz = sum(twice(x))\nbackward z\n");
    CHECK(value(constant, "z") == 10);
    CHECK(value(constant, "d.x[0]") == 2);
    CHECK(mistake("op f(a, b) = a / b\nsave a\nbackward a = up / b\nend\nparam x = 1\nz = f(x, x)\n") ==
          "x.tape:3:1: error: 'b' is not at hand here; there are a, up\n    backward a = up / b\n    ^");
    CHECK_THAT(mistake("op f(a) = matmul(a, a)\nend\n"), Contains("an op of one's own is made of signs and of"));
}

TEST_CASE("the worked example's Hessian is that of the formula") {
    const auto run = run_text("dtype f64\nparam x = 2\nparam y = 3\nz = log(3*x^2 + 5*x*y)\nbackward z\nhessian z\n");
    CHECK(near(value(run, "hessian.x.x"), 6.0 / 42 - 27.0 * 27 / (42 * 42)));
    CHECK(near(value(run, "hessian.x.y"), 5.0 / 42 - 27.0 * 10 / (42 * 42)));
    CHECK(near(value(run, "hessian.y.x"), value(run, "hessian.x.y")));
    CHECK(near(value(run, "hessian.y.y"), -100.0 / (42 * 42)));
    CHECK(run->hessians.at(0).text().find("-0.034014") != std::string::npos);
    const auto cubes = run_text("param w = {1, 2, 3}\nc = sum(w * w * w)\nbackward c\nhessian c\n");
    CHECK(near(value(cubes, "hessian.w[1].w[1]"), 12));
    CHECK(value(cubes, "hessian.w[0].w[2]") == 0);
    CHECK_THAT(mistake("param w = {1, 2}\nv = w * w\nhessian v\n"), Contains("x.tape:3") && Contains("that of one number"));
    CHECK_THAT(mistake("param w[40] = 1\nc = sum(w * w)\nhessian c\n"), Contains("32 at most"));
}

TEST_CASE("a hook replaces a gradient once it is complete, before it is passed on") {
    const auto run = run_text("param x = 3\na = x * x\nhook a = 0.5 * up\nz = 4 * a\nhook x = up - 1\nbackward z\n");
    CHECK(value(run, "z") == 36);
    CHECK(value(run, "d.a") == 2);    // 4, halved
    CHECK(value(run, "d.x") == 11);   // 2 * (3 + 3), less 1
    REQUIRE(run->hooks.size() == 2);  // what each saw, and made of it
    CHECK((run->hooks[0].of == "a" && run->hooks[0].came == 4 && run->hooks[0].went == 2));
    CHECK((run->hooks[1].of == "x" && run->hooks[1].came == 12 && run->hooks[1].went == 11));
    CHECK_THAT(mistake("param x = 3\nhook x = up * x\nz = x * x\nbackward z\n"), Contains("x.tape:2"));
    CHECK_THAT(mistake("param x = 3\nhook y = up\n"), Contains("no line above makes 'y'"));
}

TEST_CASE("a watched program names the first value that is not finite, its op and its line") {
    const auto watched = [](const std::string& text) {
        return run_tape(parse_tape(text, "x.tape").value(), {.watch = true}).value();
    };
    const auto forward = watched("param x = {1, 0}\ny = log(x)\nz = sum(y)\nbackward z\n");
    REQUIRE(forward->anomaly);
    CHECK(forward->anomaly->op == "log");
    CHECK(forward->anomaly_line == 2);
    CHECK(!forward->anomaly->backward);
    CHECK(forward->anomaly->at == tensor::Shape{1});
    const auto backward = watched("param x = {1, 0}\ny = sqrt(x)\nz = sum(y)\nbackward z\n");
    REQUIRE(backward->anomaly);
    CHECK(backward->anomaly->backward);
    CHECK((value(forward, "anomaly.line") == 2 && value(forward, "anomaly.backward") == 0));
    CHECK((value(backward, "anomaly.line") == 2 && value(backward, "anomaly.backward") == 1));
    CHECK_THAT(anomaly_text(*backward), Contains("an infinity in what the backward of y (sqrt) hands on, element [1]"));
    const auto fine = watched("param x = 2\nz = log(x)\nbackward z\n");
    CHECK(!fine->anomaly);
    CHECK(value(fine, "anomaly.found") == 0);
    CHECK(!figure_of(*fine, "anomaly.line"));
}

TEST_CASE("the longest chain of a recurrence grows with its length, that of attention does not") {
    const auto recurrence = [](int places) {
        return run_text("input x[" + std::to_string(places) +
                        ",4] = random\ninput h0[1,4] = 0\nparam W[4,4] = random\nh = h0\nfor t = 0 .. " +
                        std::to_string(places - 1) + "\nh = tanh(row(x, $t) + matmul(h, W))\nend\n");
    };
    CHECK(value(recurrence(8), "chain") == 24);
    CHECK(value(recurrence(16), "chain") == 48);
    CHECK(recurrence(8)->step->launches.size() == 24);
    for (const char* places : {"8", "16"})
        CHECK(value(run_text("input x[" + std::string(places) +
                             ",4] = random\nP = softmax(matmul_t(x, x))\nO = matmul(P, x)\n"),
                    "chain") == 3);
}

TEST_CASE("a program in each mode gives the same bits, with fewer launches and bytes when they are fused") {
    const std::string body = R"(steps 4
param w[32,32] = normal 0.2
param b[32] = 0.1
input x[16,32] = random
h = relu(linear(x, w, b))
z = mean(h * h)
backward z
update 0.1
)";
    std::map<std::string, std::shared_ptr<const TapeRun>> runs;
    const auto figure = [&](const std::string& mode, const std::string& name) {
        const Result<double> found = figure_of(*runs[mode], name);
        if (!found) FAIL(render(found.error()));
        return found.value();
    };
    for (const char* mode : {"direct", "eager", "graph", "fused"})
        runs[mode] = run_text(fmt::format("mode {}\n{}", mode, body), "sim:teaching");
    for (const char* mode : {"eager", "graph", "fused"}) {
        INFO(mode);
        CHECK(runs[mode]->loss == runs["direct"]->loss);
        for (int i : {0, 77, 1023}) {
            const std::string name = fmt::format("w[{}]@step:4", i);
            CHECK(value(runs[mode], name) == value(runs["direct"], name));
        }
        CHECK(value(runs[mode], "z") == value(runs["direct"], "z"));
    }
    CHECK(figure("eager", "launches") == figure("direct", "launches"));
    CHECK(figure("graph", "launches") <= figure("direct", "launches"));
    CHECK(figure("fused", "launches") < figure("graph", "launches"));
    CHECK(figure("graph", "bytes_moved") <= figure("eager", "bytes_moved"));
    CHECK(figure("fused", "bytes_moved") < figure("graph", "bytes_moved"));
    CHECK(figure("graph", "dispatch_us") < figure("eager", "dispatch_us"));
    CHECK(figure("graph", "replayed") == 1);
    CHECK(figure("eager", "replayed") == 0);
    CHECK(figure("eager", "queue_nodes") >= figure("eager", "launches"));
    // Every launch of a replayed step is some node's.
    for (const char* mode : {"graph", "fused"}) {
        std::set<int> owned;
        for (const nn::GraphNode& node : runs[mode]->step->nodes)
            for (const auto* list : {&node.forward_launches, &node.backward_launches, &node.update_launches})
                owned.insert(list->begin(), list->end());
        CHECK(owned.size() == runs[mode]->step->launches.size());
    }
    CHECK_THAT(mistake("mode graph\ninput x = 1\ny = 2 * x"), Contains("steps 3 is the least"));
    CHECK_THAT(mistake("mode jit\ninput x = 1\ny = 2 * x"), Contains("unknown execution mode 'jit'"));
}

TEST_CASE("convolution, norm, rope and attention give the textbook's numbers") {
    const auto conv = run_text(
        "input x[1,1,3,3] = {1,2,3,4,5,6,7,8,9}\nparam w[1,1,2,2] = {1,2,3,4}\nparam b = {1}\ny = conv2d(x, w, b)\nz = "
        "sum(y)\nbackward z\n");
    CHECK(value(conv, "y[0]") == 38);
    CHECK(value(conv, "y[3]") == 78);
    CHECK(value(conv, "d.w[0]") == 12);
    const auto rope = run_text("param x[1,4] = {1,2,3,4}\nr = rope(x, 3)\n");
    CHECK(near(value(rope, "r[0]"), -1.41335252, 1e-6));
    CHECK(near(value(rope, "r[3]"), 4.05819114, 1e-6));
    const auto scores = run_text("input S[1,3] = {1,1,2}\nP = softmax(S)\nQ = causal_softmax(S)\n");
    CHECK(near(value(scores, "P[2]"), std::exp(2) / (std::exp(2) + 2 * std::exp(1)), 1e-6));
}

TEST_CASE("mistakes of a program name the line and what would be right") {
    CHECK_THAT(mistake("param x = 2\nz = lgo(x)\n"),
               Contains("x.tape:2:1") && Contains("unknown function 'lgo', did you mean 'log'?"));
    CHECK_THAT(mistake("param x = 2\nz = x + w\n"), Contains("x.tape:2:1") && Contains("nothing is called 'w' here"));
    CHECK_THAT(mistake("param x = {1, 2}\nz = 2 * x\nbackward z\n"),
               Contains("x.tape:3:1") && Contains("backward starts from one number; z has 2"));
    CHECK_THAT(mistake("param x[2,2] = {1, 2, 3}\nz = x\n"), Contains("3 numbers stand here for 4 elements"));
    CHECK_THAT(mistake("param x[2,3] = 1\nparam y[2,3] = 1\nz = matmul(x, y)\n"),
               Contains("x.tape:3:1") && Contains("[2, 3]"));
    CHECK_THAT(mistake("for i = 0 .. 3\nparam x = 1\n"), Contains("a line 'end' is missing"));
    CHECK_THAT(mistake("for i = 0 .. 9999\nend\nparam x = 1\nz = x\n"), Contains("x.tape:1:1") && Contains("too long"));
    CHECK_THAT(mistake("for i = 0 .. 4000\nfor j = 0 .. 9999\nfor k = 0 .. 9999\nend\nend\nend\nz = x\n"),
               Contains("too long"));
    CHECK_THAT(mistake("param x = 1\nz = x ^ x\n"), Contains("a power of a tensor has a number above"));
    CHECK_THAT(mistake("param x = 1\nupdate 0.1\n"), Contains("an update follows a backward"));
    CHECK_THAT(mistake("steps 1000000\nparam x = 1\nz = x\n"), Contains("from 1 to 500"));
    CHECK_THAT(mistake("param x[65536,65536] = 1\nz = x\n"), Contains("too large for a lesson"));
    CHECK(mistake("") != "no mistake");
}

TEST_CASE("no text harms the reader of programs") {
    Rng rng(5);
    const std::string pieces[] = {"param",    "x",     "=",  "2",  "(",         ")",    "[",     "]", "{",   "}", "log",
                                  "for",      "end",   "..", "op", ",",         "\n",   "\n",    "*", "^",   "-", "z",
                                  "backward", "steps", "$x", "$(", "gradcheck", "save", "1e309", "#", "let", "\t"};
    for (int i = 0; i < 3000; ++i) {
        std::string text = i % 2 ? chain.substr(0, rng.below(chain.size())) : "";
        for (uint64_t n = rng.below(30); n > 0; --n)
            text += pieces[rng.below(std::size(pieces))] + (rng.below(2) ? " " : "");
        if (const auto tape = parse_tape(text, "x.tape")) static_cast<void>(run_tape(tape.value(), {}));
    }
    std::string deep = "z = ";
    for (int i = 0; i < 400; ++i) deep += "(-";
    CHECK(!parse_tape(deep, "x.tape").ok());
}

TEST_CASE("training runs are told by their curves") {
    const auto specs =
        parse_training("linear_regression steps=40 batch=32 lr=0.1 name=right; name=small lr=0.001; name=large lr=4", {}, 3);
    REQUIRE(specs.ok());
    REQUIRE(specs.value().size() == 3);
    CHECK(specs.value()[1].options.batch == 32);
    const auto runs = run_training(specs.value(), {.gpu = "teaching"});
    REQUIRE(runs.ok());
    const auto figure = [&](const std::string& name) {
        const Result<double> found = figure_of(runs.value(), name);
        if (!found) FAIL(render(found.error()));
        return found.value();
    };
    CHECK(figure("steps") == 40);
    CHECK(figure("loss") < figure("loss@curve:small"));
    CHECK(figure("first_loss") == figure("first_loss@curve:large"));
    CHECK(figure("diverged") == 0);
    CHECK(figure("diverged@curve:large") == 1);
    CHECK(runs.value().step->loss == figure("loss"));  // the step that was run again is the same, bit for bit
    CHECK(!runs.value().step->nodes.empty());
    CHECK(figure("launches") == static_cast<double>(runs.value().step->launches.size()));  // of the last step
    for (const auto& [text, words] : {std::pair{"mpl steps=3", "did you mean 'mlp'?"},
                                      {"mlp stesp=3", "did you mean 'stesp=3='?"},
                                      {"mlp steps=0", "from 1 to 2000"},
                                      {"mlp lr=0.1; lr=0.2", "several runs need steps"},
                                      {"", "the model's name is missing"}}) {
        const auto bad = parse_training(text, {}, 1);
        REQUIRE(!bad.ok());
        if (std::string(text) != "mlp stesp=3") CHECK_THAT(bad.error().message, Contains(words));
    }
}

TEST_CASE("a run with several seeds is as many runs, and its figures are their mean") {
    const auto specs =
        parse_training("linear_regression steps=6 batch=32 lr=0.1 seeds=3 name=small; lr=0.2 name=large", {}, 3);
    REQUIRE(specs.ok());
    REQUIRE(specs.value().size() == 6);
    CHECK(specs.value()[1].name == "small_2");
    CHECK(specs.value()[1].options.seed == 4);
    CHECK(specs.value()[3].name == "large_1");
    CHECK(specs.value()[3].options.seed == 3);
    const auto runs = run_training(specs.value(), {.gpu = "teaching"});
    REQUIRE(runs.ok());
    const auto figure = [&](const std::string& name) { return figure_of(runs.value(), name).value(); };
    CHECK(figure("loss@curve:small_1") != figure("loss@curve:small_2"));
    CHECK(figure("loss@curve:large") ==
          Approx((figure("loss@curve:large_1") + figure("loss@curve:large_2") + figure("loss@curve:large_3")) / 3));
    CHECK(figure("loss") == figure("loss@curve:small_1"));
    CHECK(!figure_of(runs.value(), std::string("loss@curve:small_4")).ok());
    CHECK(!parse_training("mlp steps=2 seeds=6", {}, 1).ok());
}

TEST_CASE("cheaper forms are told by the rows of their table") {
    const Result<TrainingRuns> runs =
        run_cheaper("cheaper int8 mlp steps=20 test=100", {"lesson.md", 1, 1}, 3, {.keep_values = false});
    if (!runs) FAIL(render(runs.error()));
    const auto figure = [&](const std::string& name) {
        const Result<double> found = figure_of(runs.value(), name);
        if (!found) FAIL(render(found.error()));
        return found.value();
    };
    CHECK(runs.value().runs.size() == 1);
    CHECK(figure("steps") == 20);
    CHECK(figure("parameters") == 101770);
    CHECK(figure("bytes") == 4 * 101770);
    CHECK(figure("bytes_ratio@row:int8_weights_per_channel") ==
          Approx((784 * 128 + 128 * 10 + 4 * (128 + 10) * 2) / (4 * 101770.0)).epsilon(1e-9));
    CHECK(figure("quality@row:int8_weights_per_channel") <= 1);
    CHECK_FALSE(figure_of(runs.value(), "quality@row:int4"));
    const auto wrong = [](const std::string& text) {
        const Result<TrainingRuns> made = run_cheaper(text, {"lesson.md", 1, 1}, 3, {});
        return made ? std::string("no mistake") : render(made.error());
    };
    CHECK_THAT(wrong("cheaper int9 mlp steps=1"), Contains("did you mean 'int8'"));
    CHECK_THAT(wrong("cheaper int8 mlp"), Contains("steps="));
    CHECK_THAT(wrong("cheaper prune mlp steps=1 shares=2"), Contains("shares is a number"));
    CHECK_THAT(wrong("cheaper lora mlp steps=1 shares=0.5"), Contains("'shares' is no setting of lora"));
}

TEST_CASE("Llama 3's models have the paper's sizes") {
    const auto count = [](const std::string& name) {
        return figure_of_named_model("model.parameters@model:" + name)->value();
    };
    CHECK(count("llama3_8b") == 8'030'261'248.0);    // as published with the weights
    CHECK(count("llama3_70b") == 70'553'706'496.0);  // the same
    CHECK(count("llama3_405b") == 405'853'388'800.0);
    CHECK(!figure_of_named_model("gpu.sms").has_value());
    CHECK(!figure_of_named_model("model.parameters@model:llama9").value().ok());
}

}  // namespace scene_tape_test
