// The options of a training run, one row each: what `lockstep train` calls them, what scenes of lessons call them, which
// values go, and which of them a checkpoint keeps. All three read this table. Device, threads and what is recorded of a step
// are not kept: a run may go on elsewhere.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/nn/train/trainer.h"

namespace lockstep::nn {

struct TrainingOption {
    template <class T>
    using Of = T TrainerOptions::*;
    std::string_view name;      // of the command line, without its dashes, and in checkpoints: "weight-decay"
    std::string_view in_scene;  // "weight_decay"; "": scenes do not have it
    std::variant<Of<std::string>, Of<int64_t>, Of<uint64_t>, Of<int>, Of<double>, Of<bool>, Of<DType>, Of<NanPolicy>> field;
    std::string_view summary;             // of the command line; "": it does not have it
    double least = -1e300, most = 1e300;  // of numbers
    double most_in_scene = 1e300;
    bool kept = false;
};
std::span<const TrainingOption> training_options();
const TrainingOption* training_option_of_scene(std::string_view word);  // null: there is none

// Takes a value as a scene writes it, flags as 0 and 1; what is wrong with it, in a sentence, or "".
std::string set_in_scene(TrainerOptions& options, const TrainingOption& row, const std::string& text);
// A type or policy by its name, in `options`; whether there is one.
bool set_named(TrainerOptions& options, const TrainingOption& row, const std::string& name);
std::string_view names_of(const TrainingOption& row);  // "f32, f64, f16 and bf16", where it has names for values

std::map<std::string, std::string> texts_of(const TrainerOptions& options);  // those that are kept

// What the checkpoint was trained with goes into `options`, model and seed too, but for the names that `keep` is true for.
// Names that it lacks are left alone. Throws Failure with the name where a text cannot be read.
void take_options(TrainerOptions& options, const Checkpoint& checkpoint,
                  const std::function<bool(std::string_view)>& keep = {});

// Throws Failure where the checkpoint is of another model, or was trained on other data, in other batches or by another
// optimizer: it would go on, but not as the same run.
void check_goes_on(const TrainerOptions& options, const Checkpoint& checkpoint);

}  // namespace lockstep::nn
