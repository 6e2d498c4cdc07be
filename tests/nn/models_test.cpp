// Models reach their aims: trained as `lockstep train --model NAME` trains them, judged on what they have not seen.
#include "core/nn/models/models.h"

#include <cmath>
#include <map>

#include "core/device/device.h"
#include "core/nn/train/experiments.h"
#include "core/nn/train/trainer.h"
#include "tests/catch.h"

namespace nn_models_test {

using namespace lockstep;
using namespace lockstep::nn;

static Evaluation trained(const std::string& name, uint64_t seed, int64_t steps = 0) {
    const ModelRow& row = model_named(name);
    Trainer trainer({.model = name,
                     .batch = row.batch,
                     .learning_rate = row.learning_rate,
                     .seed = seed,
                     .keep_launches = false,
                     .keep_images = false});
    for (int64_t i = 0; i < (steps > 0 ? steps : row.steps); ++i) trainer.step();
    return trainer.evaluate();
}

TEST_CASE("linear regression finds the line within a thousandth, from several seeds") {
    for (const uint64_t seed : {1, 2, 3}) {
        const Evaluation end = trained("linear_regression", seed);
        REQUIRE(end.measures.size() == 2);
        for (const Measure& measure : end.measures) {
            INFO(measure.name << " " << measure.value);
            CHECK(measure.value < 1e-3);
        }
    }
}

TEST_CASE("a graph network, a policy and k-means reach what they are for, from several seeds") {
    for (const uint64_t seed : {1, 2}) {
        INFO("seed " << seed);
        CHECK(trained("gcn", seed).accuracy >= 0.9);
        CHECK(trained("policy", seed).accuracy >= 0.95);
        const Evaluation centres = trained("kmeans", seed);
        INFO("inertia over the best of 50 starts: " << centres.measures.at(2).value);
        CHECK(centres.measures[2].value <= 1.01);
    }
}

TEST_CASE("LeNet-5 reads digits of unseen fonts after a few hundred steps", "[long]") {
    CHECK(trained("lenet5", 1, 300).accuracy > 0.9);
}

TEST_CASE("every model says what it is, what it reads and what it reaches") {
    for (const ModelRow& row : models()) {
        INFO(row.name);
        CHECK(!row.summary.empty());
        CHECK(!row.aim.empty());
        CHECK(row.steps >= 1);
        CHECK(row.make != nullptr);
        CHECK(&model_named(std::string(row.name)) == &row);
    }
}

TEST_CASE("spirals are told apart, and a generator covers the modes of its set", "[long]") {
    for (const uint64_t seed : {1, 2}) CHECK(trained("spirals", seed, 500).accuracy >= 0.95);
    const Evaluation made = trained("gan", 1, 1500);  // of 8000: all modes are there early, samples come near later
    CHECK(made.measures.at(0).value >= 7);
    CHECK(made.accuracy >= 0.6);
}

TEST_CASE("the critical batch size is found again from the steps that it makes", "[long]") {
    std::vector<TrialResult> runs;
    for (int64_t batch = 8; batch <= 1024; batch *= 4)
        for (const double slower : {1.0, 1.5})  // the faster run of a batch size counts
            runs.push_back({.batch = batch, .steps = int64_t(slower * (200 + 12800.0 / double(batch)))});
    runs.push_back({.batch = 4});  // did not reach the target
    const CriticalBatch fit = critical_batch(runs);
    CHECK(std::abs(fit.least_steps - 200) < 1);
    CHECK(std::abs(fit.least_examples - 12800) < 60);
    CHECK(std::abs(fit.batch - 64) < 0.7);
    CHECK_THROWS_WITH(critical_batch(std::span(runs).first(2)), Catch::Matchers::Contains("two batch sizes"));
}

TEST_CASE("step sizes: too small learns slowly, right learns, too large diverges; warm-up saves a large rate", "[long]") {
    const auto rates = experiment_named("learning_rates").trials();
    const TrialResult small = run_trial(rates.at(0)), right = run_trial(rates.at(1)), large = run_trial(rates.at(2));
    CHECK(!small.diverged);
    CHECK(small.accuracy < 0.7);
    CHECK(right.accuracy > 0.98);
    CHECK(large.diverged);
    std::map<std::string, TrialResult> runs;
    for (const Trial& trial : experiment_named("large_batches").trials())
        if (trial.name.find("adam") == 0 || trial.name == "lars") runs[trial.name] = run_trial(trial);
    CHECK(runs.at("adam, rate 0.2 at once").accuracy < 0.5);
    CHECK(runs.at("adam, rate 0.2 after 50 steps of warm-up").accuracy > 0.8);
    CHECK(runs.at("lars").accuracy > 0.9);
}

TEST_CASE("larger batches need fewer steps and more examples", "[long]") {
    std::vector<TrialResult> runs;
    for (const Trial& trial : experiment_named("batch_sizes").trials())
        if (trial.options.batch == 8 || trial.options.batch == 256) runs.push_back(run_trial(trial));
    const CriticalBatch fit = critical_batch(runs);
    CHECK(fit.least_steps > 20);
    CHECK(fit.batch > 2);
    CHECK(fit.batch < 100);
    CHECK_THROWS_WITH(experiment_named("batch_size"), Catch::Matchers::Contains("did you mean 'batch_sizes'?"));
}

namespace {

struct ModelGradients {
    std::vector<std::vector<double>> parameters;
    int reached_first = 0;  // parameters that had a gradient before backward_weights()
    int64_t kept_between = 0, kept_after = 0;
};
ModelGradients gradients_of_model(const ModelRow& row, std::optional<DType> compute, bool defer) {
    const auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    const auto task = row.make({.steps = 1, .batch = 4, .seed = 3, .compute = compute}, heap);
    ModelGradients found;
    if (task->update) return found;
    Batch batch;
    if (task->make_batch) task->make_batch(0, batch);
    tensor::Tape tape(heap);
    Pass pass{.tape = tape, .random = {3, 0}};
    Forward made = task->forward(pass, batch, 0);
    made.output.value = {};
    tape.backward(made.loss, {}, {.defer_weights = defer});
    for (const tensor::Node& node : tape.nodes())
        found.reached_first += node.kind == tensor::Node::Kind::parameter && node.has_gradient;
    found.kept_between = tape.saved_bytes();
    if (defer) tape.backward_weights();
    found.kept_after = tape.saved_bytes();
    for (size_t id = 0; id < tape.nodes().size(); ++id)
        if (tape.nodes()[id].kind == tensor::Node::Kind::parameter)
            found.parameters.push_back(tape.gradient_values(static_cast<int>(id)));
    return found;
}

}  // namespace

TEST_CASE("every model's weight gradients are the same bits when they come after those of the activations") {
    int layers = 0;
    for (const ModelRow& row : models())
        for (const std::optional<DType> compute : {std::optional<DType>(), std::optional(DType::bf16)}) {
            if (compute && !row.mixed) continue;
            INFO(row.name << (compute ? " bf16" : ""));
            const ModelGradients whole = gradients_of_model(row, compute, false),
                                 split = gradients_of_model(row, compute, true);
            CHECK(split.parameters == whole.parameters);
            CHECK(split.reached_first == 0);
            if (whole.parameters.empty()) continue;
            CHECK(whole.reached_first > 0);
            CHECK(split.kept_after == whole.kept_after);
            layers += split.kept_between > 0;
        }
    CHECK(layers >= 8);
}

}  // namespace nn_models_test
