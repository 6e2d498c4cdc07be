// The table, in the order of the command's help; then what reads and writes a value by its row.
#include "core/nn/train/training_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "core/base/diagnostic.h"
#include "core/nn/data/refusal.h"
#include "core/nn/layers/optim.h"

namespace lockstep::nn {

std::span<const TrainingOption> training_options() {
    std::string names;
    for (const OptimizerRow& row : optimizers())
        names += fmt::format("{}{}", names.empty() ? "" : &row == &optimizers().back() ? " or " : ", ", row.name);
    static const std::string optimizers_text = names + "; the model's own unless said";
    using T = TrainerOptions;
    static const TrainingOption table[] = {
        {.name = "data",
         .in_scene = "data",
         .field = &T::data,
         .summary = "the model's own unless said: digits, digits32, or a folder with MNIST's or CIFAR-10's files",
         .kept = true},
        {.name = "device", .field = &T::device, .summary = "host or sim:GPU, see 'lockstep devices'"},
        {.name = "batch",
         .in_scene = "batch",
         .field = &T::batch,
         .summary = "examples a step",
         .least = 1,
         .most_in_scene = 4096,
         .kept = true},
        {.name = "optimizer", .in_scene = "optimizer", .field = &T::optimizer, .summary = optimizers_text, .kept = true},
        {.name = "momentum",
         .in_scene = "momentum",
         .field = &T::momentum,
         .summary = "of sgd, lars and larc",
         .least = 0,
         .most = 1,
         .kept = true},
        {.name = "weight-decay",
         .in_scene = "weight_decay",
         .field = &T::weight_decay,
         .summary = "of the optimizer",
         .least = 0,
         .most = 1e9,
         .kept = true},
        {.name = "nesterov", .field = &T::nesterov, .summary = "sgd looks ahead", .kept = true},
        {.name = "clip-norm",
         .in_scene = "clip",
         .field = &T::clip_norm,
         .summary = "largest norm of all gradients together; 0: none",
         .least = 0,
         .kept = true},
        {.name = "dropout",
         .field = &T::dropout,
         .summary = "how often gpt, llama and gcn drop a value while they learn; the model's own unless said",
         .least = 0,
         .most = 1,
         .kept = true},
        {.name = "schedule",
         .in_scene = "schedule",
         .field = &T::schedule,
         .summary = "of the learning rate: constant, step, cosine, warm_up or warm_up_cosine; or of the pipeline: 1f1b, "
                    "gpipe, interleaved, zb-h1, ...",
         .kept = true},
        {.name = "warm-up",
         .in_scene = "warm_up",
         .field = &T::warm_up,
         .summary = "steps in which the rate rises to the schedule's",
         .least = 0,
         .most_in_scene = 2000,
         .kept = true},
        {.name = "scale-lr",
         .in_scene = "scale",
         .field = &T::scale_rate,
         .summary = "linear or sqrt: the learning rate is for the model's own batch and grows with this one",
         .kept = true},
        {.name = "accumulate",
         .field = &T::accumulate,
         .summary = "parts that a batch goes through in, their gradients added up",
         .least = 1,
         .kept = true},
        {.name = "noise-scale",
         .in_scene = "noise",
         .field = &T::noise_scale,
         .summary = "measure the gradient noise scale, from a batch and its parts",
         .kept = true},
        {.name = "nan", .field = &T::nan, .summary = "what a loss or gradient that is no finite number does: stop or warn"},
        {.name = "planned-steps",
         .field = &T::planned_steps,
         .summary = "that the schedule is laid out for; as many as --steps unless said",
         .least = 1,
         .kept = true},
        {.name = "lr", .in_scene = "lr", .field = &T::learning_rate, .summary = "learning rate", .least = 0, .kept = true},
        {.name = "dtype",
         .in_scene = "dtype",
         .field = &T::dtype,
         .summary = "f32, f64, or mixed with f32 parameters: f16, bf16",
         .kept = true},
        {.name = "loss-scale",
         .in_scene = "loss_scale",
         .field = &T::loss_scale,
         .summary = "that the loss begins with; 0: none; 65536 with f16",
         .least = 0,
         .kept = true},
        {.name = "loss-scale-interval", .field = &T::scale_interval, .summary = "", .kept = true},
        {.name = "seed",
         .in_scene = "seed",
         .field = &T::seed,
         .summary = "of parameters and data",
         .least = 0,
         .most_in_scene = 1e9},
        {.name = "functional", .field = &T::functional, .summary = "modelled GPU without timing, much faster"},
        {.name = "threads", .field = &T::threads, .summary = "of the host"},
    };
    return table;
}

const TrainingOption* training_option_of_scene(std::string_view word) {
    for (const TrainingOption& row : training_options())
        if (row.in_scene == word && !word.empty()) return &row;
    return nullptr;
}

namespace {
template <class Number>
bool reads(const std::string& text, Number& value) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size();
}

bool read_named(const std::string& text, DType& value) {
    const auto type = dtype_named(text);
    if (!type || (*type != DType::f32 && *type != DType::f64 && *type != DType::f16 && *type != DType::bf16)) return false;
    value = *type;
    return true;
}
bool read_named(const std::string& text, NanPolicy& value) {
    value = text == "warn" ? NanPolicy::warn : NanPolicy::stop;
    return text == "warn" || text == "stop";
}

// As checkpoints write them.
std::string text_of_value(const std::string& value) {
    return value;
}
std::string text_of_value(bool value) {
    return value ? "1" : "0";
}
std::string text_of_value(DType value) {
    return std::string(name_of(value));
}
std::string text_of_value(NanPolicy value) {
    return value == NanPolicy::warn ? "warn" : "stop";
}
template <class Number>
std::string text_of_value(Number value) {
    return fmt::format("{}", value);
}

bool read_value(const std::string& text, std::string& value) {
    value = text;
    return true;
}
bool read_value(const std::string& text, bool& value) {
    value = text == "1";
    return value || text == "0";
}
bool read_value(const std::string& text, double& value) {
    return reads(text, value) && std::isfinite(value);
}
template <class Value>
bool read_value(const std::string& text, Value& value) {
    if constexpr (std::is_integral_v<Value>)
        return reads(text, value) && (std::is_unsigned_v<Value> || value >= Value(-1));
    else
        return read_named(text, value);
}
}  // namespace

bool set_named(TrainerOptions& options, const TrainingOption& row, const std::string& name) {
    return std::visit(
        [&](auto field) {
            if constexpr (requires { read_named(name, options.*field); })
                return read_named(name, options.*field);
            else
                return false;
        },
        row.field);
}

std::string_view names_of(const TrainingOption& row) {
    if (std::holds_alternative<TrainingOption::Of<DType>>(row.field)) return "f32, f64, f16 and bf16";
    return std::holds_alternative<TrainingOption::Of<NanPolicy>>(row.field) ? "stop and warn" : "";
}

std::string set_in_scene(TrainerOptions& options, const TrainingOption& row, const std::string& text) {
    const double most = std::min(row.most, row.most_in_scene);
    return std::visit(
        [&](auto field) -> std::string {
            auto& value = options.*field;
            using Value = std::remove_reference_t<decltype(value)>;
            if (!names_of(row).empty())
                return set_named(options, row, text) ? "" : fmt::format("{} is one of {}", row.in_scene, names_of(row));
            if constexpr (std::is_same_v<Value, double>) {
                double number = 0;
                if (!read_value(text, number) || number < row.least || number > most)
                    return fmt::format("{} is a number{}{}", row.in_scene,
                                       row.least > -1e300 ? fmt::format(" from {}", row.least) : "",
                                       most < 1e300 ? fmt::format(" to {}", most) : "");
                value = number;
            } else if constexpr (std::is_same_v<Value, bool>) {
                if (!read_value(text, value)) return fmt::format("{} is a whole number from 0 to 1", row.in_scene);
            } else if constexpr (std::is_integral_v<Value>) {
                double number = 0;
                if (!read_value(text, number) || number != std::floor(number) || number < row.least || number > most)
                    return fmt::format("{} is a whole number from {} to {}", row.in_scene, row.least, most);
                value = static_cast<Value>(number);
            } else {
                read_value(text, value);
            }
            return {};
        },
        row.field);
}

std::map<std::string, std::string> texts_of(const TrainerOptions& options) {
    std::map<std::string, std::string> texts;
    for (const TrainingOption& row : training_options())
        if (row.kept)
            texts[std::string(row.name)] = std::visit([&](auto field) { return text_of_value(options.*field); }, row.field);
    return texts;
}

void take_options(TrainerOptions& options, const Checkpoint& checkpoint, const std::function<bool(std::string_view)>& keep) {
    for (const TrainingOption& row : training_options()) {
        const auto found = checkpoint.options.find(std::string(row.name));
        if (!row.kept || found == checkpoint.options.end() || (keep && keep(row.name))) continue;
        if (!std::visit([&](auto field) { return read_value(found->second, options.*field); }, row.field))
            throw Failure(fmt::format("the checkpoint's option {} cannot be {}", row.name, in_quotes(found->second)));
    }
    if (!keep || !keep("model")) options.model = checkpoint.model;
    if (!keep || !keep("seed")) options.seed = checkpoint.seed;
}

void check_goes_on(const TrainerOptions& options, const Checkpoint& checkpoint) {
    const auto differs = [&](std::string_view name, const std::string& here, const std::string& there) {
        if (here != there)
            throw Failure(
                fmt::format("the checkpoint is of a run with {} {}, not {}", name, in_quotes(there), in_quotes(here)));
    };
    differs("model", options.model, checkpoint.model);
    differs("seed", fmt::format("{}", options.seed), fmt::format("{}", checkpoint.seed));
    const auto here = texts_of(options);
    for (const char* name : {"data", "batch", "optimizer", "dtype"})
        if (const auto there = checkpoint.options.find(name); there != checkpoint.options.end())
            differs(name, here.at(name), there->second);
}

}  // namespace lockstep::nn
