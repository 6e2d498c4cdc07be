// Settings come first, checked one by one; then the form's own comparison runs, and its losses are kept by phase.
#include "core/scene/training/cheaper_runs.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/nn/models/models.h"

namespace lockstep::scene {
namespace {

struct CheaperSpec {
    std::string form;
    nn::CheaperRun run;
    std::vector<DType> types = {DType::f16, DType::bf16};
    nn::PruneOptions prune;
    nn::DistillOptions distill;
    nn::LoraOptions lora;
};

const std::vector<std::string> cheaper_forms = {"precision", "int8", "prune", "distill", "lora"};

double cheaper_number(const std::string& key, const std::string& value, double least, double most, bool whole = false) {
    double number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || rest != value.data() + value.size() || !(number >= least) || !(number <= most) ||
        (whole && number != std::floor(number)))
        throw Failure(
            fmt::format("{} is a {}number from {:g} to {:g}, not '{}'", key, whole ? "whole " : "", least, most, value));
    return number;
}

std::vector<std::string> comma_list(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream words(text);
    for (std::string part; std::getline(words, part, ',');) parts.push_back(part);
    return parts;
}

void set_cheaper(CheaperSpec& spec, const std::string& key, const std::string& value) {
    const auto whole = [&](double least, double most) {
        return static_cast<int64_t>(cheaper_number(key, value, least, most, true));
    };
    if (key == "steps")
        spec.run.steps = whole(1, 2000);
    else if (key == "batch")
        spec.run.batch = whole(1, 4096);
    else if (key == "lr")
        spec.run.learning_rate = cheaper_number(key, value, 0, 100);
    else if (key == "test")
        spec.run.test_examples = whole(1, 100'000);
    else if (key == "seed")
        spec.run.seed = static_cast<uint64_t>(whole(0, 1e9));
    else if (key == "data")
        spec.run.data = value;
    else if (key == "types" && spec.form == "precision") {
        spec.types.clear();
        for (const std::string& name : comma_list(value)) {
            const auto type = dtype_named(name);
            if (!type || (*type != DType::f16 && *type != DType::bf16))
                throw Failure(fmt::format("types are f16 and bf16, not '{}'", name));
            spec.types.push_back(*type);
        }
    } else if (key == "shares" && spec.form == "prune") {
        spec.prune.shares.clear();
        if (value != "none")
            for (const std::string& share : comma_list(value))
                spec.prune.shares.push_back(cheaper_number(key, share, 0, 0.9999));
        if (spec.prune.shares.size() > 6) throw Failure("at most 6 shares");
    } else if (key == "two_of_four" && spec.form == "prune")
        spec.prune.two_of_four = whole(0, 1) == 1;
    else if (key == "fine_tune" && spec.form == "prune")
        spec.prune.fine_tune = whole(1, 2000);
    else if (key == "teacher" && spec.form == "distill")
        spec.distill.teacher = value;
    else if (key == "temperature" && spec.form == "distill")
        spec.distill.temperature = cheaper_number(key, value, 0.01, 100);
    else if (key == "weight" && spec.form == "distill")
        spec.distill.weight = cheaper_number(key, value, 0, 1);
    else if (key == "seeds" && spec.form == "distill")
        spec.distill.seeds = whole(1, 8);
    else if (key == "teacher_steps" && spec.form == "distill")
        spec.distill.teacher_steps = whole(1, 2000);
    else if (key == "rank" && spec.form == "lora")
        spec.lora.rank = whole(1, 64);
    else if (key == "alpha" && spec.form == "lora")
        spec.lora.alpha = cheaper_number(key, value, 0, 1000);
    else if (key == "tune_data" && spec.form == "lora")
        spec.lora.data = value;
    else if (key == "tune_steps" && spec.form == "lora")
        spec.lora.tune_steps = whole(1, 2000);
    else
        throw Failure(fmt::format("'{}' is no setting of {}; there are steps, batch, lr, test, seed, data and its own", key,
                                  spec.form));
}

CheaperSpec cheaper_spec(const std::string& train, uint64_t seed) {
    std::istringstream words(train);
    std::string word;
    words >> word;  // "cheaper"
    CheaperSpec spec;
    spec.run.seed = seed;
    if (!(words >> spec.form) || std::find(cheaper_forms.begin(), cheaper_forms.end(), spec.form) == cheaper_forms.end()) {
        throw Failure(fmt::format("unknown form '{}'{}", spec.form, did_you_mean(spec.form, cheaper_forms)));
    }
    if (!(words >> spec.run.model)) throw Failure("the model's name is missing, as in cheaper int8 mlp steps=200");
    nn::model_named(spec.run.model);
    while (words >> word) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos || equals + 1 == word.size())
            throw Failure(fmt::format("'{}' has no value: {}=...", word, word.substr(0, equals)));
        set_cheaper(spec, word.substr(0, equals), word.substr(equals + 1));
    }
    if (spec.run.steps == 0) throw Failure("a lesson says how long it trains: steps=...");
    return spec;
}

nn::Comparison compared(const CheaperSpec& spec) {
    if (spec.form == "precision") return nn::compare_precision(spec.run, spec.types);
    if (spec.form == "int8") return nn::compare_quantized(spec.run);
    if (spec.form == "prune") return nn::compare_pruned(spec.run, spec.prune);
    if (spec.form == "distill") return nn::compare_distilled(spec.run, spec.distill);
    return nn::compare_lora(spec.run, spec.lora);
}

// "magnitude 90 %, tuned" -> "magnitude_90_tuned"

}  // namespace

bool is_cheaper(const std::string& train) {
    std::istringstream words(train);
    std::string word;
    return words >> word && word == "cheaper";
}

Result<TrainingRuns> run_cheaper(const std::string& train, const SourceLocation& where, uint64_t seed,
                                 const TrainingRunOptions& options) {
    CheaperSpec spec;
    try {
        spec = cheaper_spec(train, seed);
    } catch (const Failure& failure) {
        return Diagnostic{"train: " + failure.diagnostic.message, where, train};
    }
    TrainingRuns all;
    std::vector<std::string> seen;  // phases whose curve is kept: of several seeds the first one's
    bool keeps = false;
    spec.run.stop = options.stop;
    spec.run.on_step = [&](const std::string& phase, const nn::StepRecord& record) {
        throw_if_stopped(options.stop);
        if (record.step == 0 || seen.empty()) {
            keeps = std::find(seen.begin(), seen.end(), phase) == seen.end();
            if (keeps) {
                seen.push_back(phase);
                TrainedRun& run = all.runs.emplace_back();
                run.spec.name = phase;
                run.spec.options.model = spec.run.model;
                run.spec.options.batch = record.batch;
                run.spec.options.learning_rate = record.learning_rate;
            }
        }
        if (!keeps) return;
        TrainedRun& run = all.runs.back();
        run.loss.push_back(record.loss);
        if (!record.predictions.empty()) run.accuracy.push_back(record.train_accuracy);
        run.spec.steps = static_cast<int64_t>(run.loss.size());
        if (options.progress)
            options.progress(std::min(0.95, static_cast<double>(run.loss.size()) / static_cast<double>(spec.run.steps)));
    };
    all.comparison = compared(spec);
    if (all.runs.empty()) return Diagnostic{"train: nothing was trained", where, train};
    nn::Trainer first({.model = spec.run.model,
                       .data = spec.run.data,
                       .batch = all.runs.front().spec.options.batch,
                       .seed = spec.run.seed,
                       .keep_graph = true,
                       .keep_values = options.keep_values,
                       .stop = options.stop});
    all.runs.front().parameters = first.trained_parameters();
    all.step = std::make_shared<const nn::StepRecord>(first.step());
    return all;
}

}  // namespace lockstep::scene
