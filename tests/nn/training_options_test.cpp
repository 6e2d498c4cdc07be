// The table of training options: one row is what the command line, scenes and checkpoints read.
#include "core/nn/train/training_options.h"

#include <set>

#include "core/nn/layers/optim.h"
#include "tests/catch.h"

namespace nn_training_options_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
const TrainingOption& row_named(std::string_view name) {
    for (const TrainingOption& row : training_options())
        if (row.name == name) return row;
    throw Failure("no such option");
}
}  // namespace

TEST_CASE("Every training option has a name of its own, and a place in the options of its own") {
    std::set<std::string_view> names, words;
    for (const TrainingOption& row : training_options()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        if (!row.in_scene.empty()) CHECK(words.insert(row.in_scene).second);
        CHECK((row.kept || !row.summary.empty()));  // somebody reads it
        for (const TrainingOption& other : training_options())
            if (&other != &row) CHECK(row.field != other.field);
    }
}

TEST_CASE("What a scene says of a kept option comes back from a checkpoint") {
    for (const TrainingOption& row : training_options()) {
        if (row.in_scene.empty() || !row.kept) continue;
        INFO(row.name);
        TrainerOptions said;
        const std::string value = names_of(row).empty() ? "1" : "bf16";
        REQUIRE(set_in_scene(said, row, value).empty());
        CHECK(texts_of(said).at(std::string(row.name)) == value);
        Checkpoint checkpoint;
        checkpoint.options = texts_of(said);
        TrainerOptions again;
        take_options(again, checkpoint);
        CHECK(texts_of(again) == texts_of(said));
    }
}

TEST_CASE("A scene's option that cannot be says what it would have to be") {
    TrainerOptions options;
    CHECK(set_in_scene(options, row_named("batch"), "0") == "batch is a whole number from 1 to 4096");
    CHECK(set_in_scene(options, row_named("batch"), "1.5") == "batch is a whole number from 1 to 4096");
    CHECK(set_in_scene(options, row_named("momentum"), "2") == "momentum is a number from 0 to 1");
    CHECK(set_in_scene(options, row_named("lr"), "nan") == "lr is a number from 0");
    CHECK(set_in_scene(options, row_named("dtype"), "u8") == "dtype is one of f32, f64, f16 and bf16");
    CHECK(set_in_scene(options, row_named("noise-scale"), "2") == "noise is a whole number from 0 to 1");
    CHECK(options.batch == TrainerOptions().batch);
}

TEST_CASE("Every optimizer is found by its name, and its row by its rule") {
    for (const OptimizerRow& row : optimizers()) {
        INFO(row.name);
        const Rule rule = rule_named(std::string(row.name), 0.5);
        CHECK(&row_of(rule) == &row);
        CHECK(std::visit([](const auto& r) { return r.lr; }, rule) == 0.5);
    }
    CHECK(optimizers().size() == std::variant_size_v<Rule>);
}

}  // namespace nn_training_options_test
