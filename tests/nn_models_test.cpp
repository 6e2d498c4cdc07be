// Models reach their aims: trained as `lockstep train --model NAME` trains them, judged on what they have not seen.
#include "core/nn/models/models.h"
#include "core/nn/trainer.h"
#include "tests/catch.h"

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

TEST_CASE("LeNet-5 reads digits of unseen fonts after a few hundred steps") {
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
