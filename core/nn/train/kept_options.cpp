// One list of the options, read and written by the same visit.
#include "core/nn/train/kept_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
template <class Options, class Visit>
void each_kept(Options& o, Visit visit) {
    visit("data", o.data);
    visit("batch", o.batch);
    visit("optimizer", o.optimizer);
    visit("dtype", o.dtype);
    visit("lr", o.learning_rate);
    visit("momentum", o.momentum);
    visit("weight-decay", o.weight_decay);
    visit("nesterov", o.nesterov);
    visit("clip-norm", o.clip_norm);
    visit("dropout", o.dropout);
    visit("schedule", o.schedule);
    visit("planned-steps", o.planned_steps);
    visit("loss-scale", o.loss_scale);
    visit("loss-scale-interval", o.scale_interval);
    visit("warm-up", o.warm_up);
    visit("scale-lr", o.scale_rate);
    visit("accumulate", o.accumulate);
    visit("noise-scale", o.noise_scale);
}

std::string text_of_option(const std::string& value) {
    return value;
}
std::string text_of_option(int64_t value) {
    return fmt::format("{}", value);
}
std::string text_of_option(double value) {
    return fmt::format("{}", value);
}
std::string text_of_option(bool value) {
    return value ? "1" : "0";
}
std::string text_of_option(DType value) {
    return std::string(name_of(value));
}

template <class Number>
bool reads(const std::string& text, Number& value) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size();
}
bool read_option(const std::string& text, std::string& value) {
    value = text;
    return true;
}
bool read_option(const std::string& text, int64_t& value) {
    return reads(text, value) && value >= -1;
}
bool read_option(const std::string& text, double& value) {
    return reads(text, value) && std::isfinite(value);
}
bool read_option(const std::string& text, bool& value) {
    value = text == "1";
    return value || text == "0";
}
bool read_option(const std::string& text, DType& value) {
    const auto type = dtype_named(text);
    value = type.value_or(value);
    return type.has_value();
}
}  // namespace

std::map<std::string, std::string> texts_of(const TrainerOptions& options) {
    std::map<std::string, std::string> texts;
    each_kept(options, [&](const char* name, const auto& value) { texts[name] = text_of_option(value); });
    return texts;
}

void take_options(TrainerOptions& options, const Checkpoint& checkpoint, const std::function<bool(std::string_view)>& keep) {
    each_kept(options, [&](const char* name, auto& value) {
        const auto found = checkpoint.options.find(name);
        if (found == checkpoint.options.end() || (keep && keep(name))) return;
        if (!read_option(found->second, value))
            throw Failure(fmt::format("the checkpoint's option {} cannot be {}", name, in_quotes(found->second)));
    });
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
