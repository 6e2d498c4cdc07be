// Why a training fails: a failing run for each cause, and no word for a healthy one.
#include "core/nn/train/diagnose.h"

#include <algorithm>
#include <cmath>

#include "core/nn/models/models.h"
#include "core/nn/train/finite.h"
#include "core/nn/train/trainer.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::nn;
using Catch::Matchers::Contains;

namespace nn_diagnose_test {

namespace {

std::vector<Cause> causes_of_run(TrainerOptions options, int64_t steps,
                                 const std::function<void(Trainer&)>& begin = nullptr) {
    options.keep_launches = options.keep_images = false;
    std::vector<Cause> heard;
    TrainRequest request{.options = options, .steps = steps};
    request.on_begin = begin;
    request.on_cause = [&](const Cause& cause) { heard.push_back(cause); };
    try {
        train(request);
    } catch (const NotFiniteFailure&) {
    }
    return heard;
}

TrainerOptions own_options(const ModelRow& row) {
    TrainerOptions options;
    options.model = row.name;
    options.batch = row.batch;
    options.learning_rate = row.learning_rate;
    options.planned_steps = row.steps;
    return options;
}

TrainerOptions spirals(double rate) {
    TrainerOptions options = own_options(model_named("spirals"));
    options.learning_rate = rate;
    return options;
}

// Sets parameters whose name ends so.
void set(Trainer& trainer, const std::string& end, float value) {
    std::vector<float> all = trainer.export_parameters();
    for (const Trainer::ParameterInfo& info : trainer.parameters()) {
        if (!info.name.ends_with(end)) continue;
        int64_t count = 1;
        for (const int64_t extent : info.shape) count *= extent;
        std::fill_n(all.begin() + info.offset, count, value);
    }
    trainer.import_parameters(all, trainer.next_step());
}

}  // namespace

TEST_CASE("no word is said of the project's own models with their own settings") {
    for (const ModelRow& row : models()) {
        const bool heavy = row.name == "gpt" || row.name == "llama" || row.name == "resnet8";
        TrainerOptions options = own_options(row);
        if (heavy) options.batch = 4;
        INFO(row.name);
        const std::vector<Cause> heard = causes_of_run(options, heavy ? 20 : row.name == "spirals" ? 400 : 50);
        INFO((heard.empty() ? std::string() : heard.front().text));
        CHECK(heard.empty());
    }
}

TEST_CASE("a run that diverged is told with its layer, its step and a rate that is stable") {
    const std::vector<Cause> heard = causes_of_run(spirals(100), 60);
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].name == "diverged");
    CHECK(heard[0].step <= 10);
    CHECK_THAT(heard[0].layer, Contains("fc"));
    CHECK_THAT(heard[0].text, Contains("the loss grew from 1."));
    CHECK_THAT(heard[0].text, Contains("2 / curvature at the beginning"));
    const size_t at = heard[0].advice.find("--lr ");
    REQUIRE(at != std::string::npos);
    const double rate = std::stod(heard[0].advice.substr(at + 5));
    CHECK(rate > 0.05);
    CHECK(causes_of_run(spirals(rate), 60).empty());  // what is advised mends it
}

TEST_CASE("the curvature is that of the loss where the seed begins") {
    // A line fitted by least squares: the Hessian is 2 X'X / n, of points that the model's own batch holds.
    TrainerOptions options = own_options(model_named("linear_regression"));
    Trainer trainer(options);
    const double curvature = trainer.curvature_at_beginning(0);
    CHECK(curvature > 0.1);
    options.learning_rate = 2.2 / curvature;
    CHECK(causes_of_run(options, 60).size() == 1);
    options.learning_rate = 1.8 / curvature;
    CHECK(causes_of_run(options, 60).empty());
}

TEST_CASE("a learning rate that is far too small is told by its factor") {
    const std::vector<Cause> heard = causes_of_run(spirals(1e-6), 60);
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].name == "rate_too_small");
    CHECK_THAT(heard[0].text, Contains("times too small"));
    CHECK_THAT(heard[0].text, Contains("ln 3"));
}

TEST_CASE("a learning rate of 0 is told as that") {
    const std::vector<Cause> heard = causes_of_run(spirals(0), 60);
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].name == "rate_too_small");
    CHECK(heard[0].text == "the learning rate is 0, so that no weight ever changes");
}

TEST_CASE("a learning rate that is too large to learn with, and too small to diverge, is told") {
    const std::vector<Cause> dead = causes_of_run(spirals(5), 60);  // it has killed a layer
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].name == "no_gradient");
    CHECK_THAT(dead[0].advice, Contains("smaller learning rate"));

    Trainer trainer(spirals(5));  // where all units live, and the loss goes up and down
    Diagnosis diagnosis;
    std::vector<Cause> heard;
    StepRecord record;
    record.learning_rate = 5;
    for (int step = 0; step < 50; ++step) {
        record.step = step;
        record.loss = 1.1 + 0.1 * (step % 2);
        for (const Cause& cause : diagnosis.after(trainer, record)) heard.push_back(cause);
    }
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].name == "rate_too_large");
}

TEST_CASE("weights that are all zero stop the gradient, and equal ones keep units alike") {
    const std::vector<Cause> zero = causes_of_run(spirals(0.5), 60, [](Trainer& trainer) { set(trainer, "", 0); });
    REQUIRE_FALSE(zero.empty());
    CHECK(zero[0].name == "no_gradient");
    CHECK_THAT(zero[0].text, Contains("no gradient reaches"));
    CHECK_THAT(zero[0].advice, Contains("different random numbers"));
    const std::vector<Cause> equal = causes_of_run(spirals(1e-3), 60, [](Trainer& trainer) { set(trainer, "", 0.1f); });
    REQUIRE_FALSE(equal.empty());
    CHECK(equal[0].name == "symmetry");
}

TEST_CASE("while a warm-up goes on nothing is said of a loss that does not fall yet") {
    TrainerOptions options = own_options(model_named("lenet5"));
    options.planned_steps = 100000;
    CHECK(causes_of_run(options, 60).empty());
}

TEST_CASE("where the inputs are all zeros the advice is to look at the data") {
    GraphNode x{.kind = GraphNode::Kind::input, .id = 0, .op = "", .name = "x", .shape = {1, 2}};
    x.value = std::make_shared<std::vector<float>>(2, 0.0f);
    GraphNode w{.kind = GraphNode::Kind::parameter, .id = 1, .op = "", .name = "w", .shape = {2, 1}};
    w.requires_grad = true;
    w.value = std::make_shared<std::vector<float>>(2, 0.5f);
    w.gradient = std::make_shared<std::vector<float>>(2, 0.0f);
    GraphNode y{.kind = GraphNode::Kind::op, .id = 2, .op = "matmul", .name = "y", .shape = {1, 1}, .inputs = {0, 1}};
    y.value = std::make_shared<std::vector<float>>(1, 0.0f);
    y.gradient = std::make_shared<std::vector<float>>(1, 1.0f);
    const std::vector<GraphNode> nodes{x, w, y};
    const auto cause = dead_gradients(nodes, 3);
    REQUIRE(cause);
    CHECK(cause->advice == "look at the data: where x is all zeros there is nothing to learn from");
}

TEST_CASE("units that never fire are counted, and a layer of them is named as what stops the gradient") {
    const std::vector<Cause> all = causes_of_run(spirals(0.5), 60, [](Trainer& trainer) {
        set(trainer, trainer.parameters()[1].name, -1000);  // the first layer's bias
    });
    REQUIRE_FALSE(all.empty());
    CHECK(all[0].name == "no_gradient");
    CHECK_THAT(all[0].text, Contains("zero or negative"));

    const auto node = [](std::vector<float> values) {
        GraphNode relu{.op = "relu", .name = "fc1 relu", .shape = {2, 4}};
        relu.value = std::make_shared<const std::vector<float>>(std::move(values));
        return std::vector<GraphNode>{relu};
    };
    const std::vector<GraphNode> first = node({0, 1, 0, 0, 0, 0, 0, 0}), second = node({0, 0, 0, 0, 0, 0, 0, 0});
    const auto dead = dead_units(std::vector{first, second}, 30);
    REQUIRE(dead);
    CHECK_THAT(dead->text, Contains("3 of the 4 units of fc1 relu are dead after step 30"));
    CHECK_THAT(dead->text, Contains("last 4 examples"));
    CHECK_FALSE(dead_units(std::vector{first, node({0, 0, 1, 0, 1, 0, 0, 0})}, 30));
}

TEST_CASE("a gradient that vanishes on its way is told with both ends") {
    const auto weight = [](const char* name, float gradient) {
        GraphNode node{.kind = GraphNode::Kind::parameter, .name = name, .shape = {2, 2}};
        node.value = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4});
        node.gradient = std::make_shared<const std::vector<float>>(4, gradient);
        return node;
    };
    const auto cause = vanishing_gradients(std::vector{weight("fc1.weight", 1e-8f), weight("fc9.weight", 0.1f)}, 7);
    REQUIRE(cause);
    CHECK(cause->layer == "fc1");
    CHECK_THAT(cause->text, Contains("fc9"));
    CHECK_FALSE(vanishing_gradients(std::vector{weight("fc1.weight", 1e-3f), weight("fc9.weight", 0.1f)}, 7));
}

TEST_CASE("batches of one class each are told by their labels") {
    Trainer trainer(spirals(0.5));
    for (const bool sorted : {true, false}) {
        Diagnosis diagnosis;
        std::vector<Cause> heard;
        StepRecord record;
        record.learning_rate = 0.5;
        for (int step = 0; step < 40; ++step) {
            record.step = step;
            record.loss = 1.0 / (step + 1);
            record.labels.clear();
            for (int i = 0; i < 32; ++i) record.labels.push_back(sorted ? step / 4 % 10 : (7 * step + 3 * i) % 10);
            for (const Cause& cause : diagnosis.after(trainer, record)) heard.push_back(cause);
        }
        if (!sorted) {
            CHECK(heard.empty());
            continue;
        }
        REQUIRE(heard.size() == 1);
        CHECK(heard[0].name == "not_shuffled");
        CHECK_THAT(heard[0].text, Contains("a batch of 32 has the labels of 1.0 classes"));
    }
}

TEST_CASE("a model that still guesses after a thousand steps is told so") {
    Trainer trainer(spirals(0.5));
    Diagnosis diagnosis;
    std::vector<Cause> heard;
    StepRecord record;
    record.learning_rate = 0.5;
    for (int step = 0; step < 1600; ++step) {
        record.step = step;
        record.loss = std::log(10) * (1 + 0.001 * (step % 3));
        record.labels.clear();
        for (int i = 0; i < 32; ++i) record.labels.push_back((7 * step + 3 * i) % 10);
        for (const Cause& cause : diagnosis.after(trainer, record)) heard.push_back(cause);
    }
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].name == "guessing");
    CHECK_THAT(heard[0].text, Contains("ln 10"));
}

TEST_CASE("every cause has a threshold with its source") {
    for (const CauseRow& row : causes()) {
        INFO(row.name);
        CHECK_FALSE(row.summary.empty());
        CHECK_FALSE(row.means.empty());
        CHECK_FALSE(row.source.empty());
        CHECK(row.threshold >= 0);
    }
}

}  // namespace nn_diagnose_test
