// The trials, each a few lines of options; one loop runs them all.
#include "core/nn/train/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::nn {

namespace {
Trial trial_of(std::string name, const char* model, int64_t batch, double rate, int64_t steps) {
    Trial trial{.name = std::move(name), .steps = steps};
    trial.options.model = model;
    trial.options.batch = batch;
    trial.options.learning_rate = rate;
    trial.options.planned_steps = steps;
    trial.options.keep_launches = trial.options.keep_images = false;
    trial.options.nan = NanPolicy::warn;
    return trial;
}

std::vector<Trial> learning_rates() {
    std::vector<Trial> trials;
    for (const auto& [word, rate] : {std::pair("too small", 0.01), std::pair("right", 0.5), std::pair("too large", 20.0)})
        trials.push_back(trial_of(fmt::format("rate {}, {}", rate, word), "spirals", 64, rate, 1000));
    return trials;
}

std::vector<Trial> batch_sizes() {  // each with three rates: the best one is a batch size's own
    std::vector<Trial> trials;
    for (int64_t batch = 8; batch <= 1024; batch *= 2)
        for (const double rate : {0.2, 0.4, 0.8}) {
            trials.push_back(trial_of(fmt::format("batch {}, rate {}", batch, rate), "spirals", batch, rate, 1500));
            trials.back().target = 0.9;
        }
    return trials;
}

std::vector<Trial> noise_scales() {
    std::vector<Trial> trials;
    for (const int64_t steps : {25, 50, 100, 200, 400}) {
        trials.push_back(trial_of(fmt::format("the first {} steps", steps), "spirals", 128, 0.4, steps));
        trials.back().options.noise_scale = true;
        trials.back().options.accumulate = 8;
    }
    return trials;
}

// The mlp's own batch is 64 and its rate 0.1.
std::vector<Trial> large_batches() {
    std::vector<Trial> trials;
    const auto add = [&](const char* name, const char* rule, double rate, auto change) {
        Trial& trial = trials.emplace_back(trial_of(name, "mlp", 512, rate, 100));
        trial.options.optimizer = rule;
        change(trial.options);
    };
    const auto as_it_is = [](TrainerOptions&) {};
    const auto scaled = [](const char* how) { return [how](TrainerOptions& o) { o.scale_rate = how; }; };
    add("sgd, the rate of batch 64", "sgd", 0.1, as_it_is);
    add("sgd, square-root scaling", "sgd", 0.1, scaled("sqrt"));
    add("sgd, linear scaling", "sgd", 0.1, scaled("linear"));
    add("momentum 0.9", "sgd", 0.4, [](TrainerOptions& o) { o.momentum = 0.9; });
    add("adam, rate 0.2 at once", "adam", 0.2, as_it_is);
    add("adam, rate 0.2 after 50 steps of warm-up", "adam", 0.2, [](TrainerOptions& o) { o.warm_up = 50; });
    add("lars", "lars", 20, as_it_is);
    add("larc", "larc", 1, as_it_is);
    add("novograd", "novograd", 0.1, as_it_is);
    return trials;
}
}  // namespace

std::span<const Experiment> experiments() {
    static const std::vector<Experiment> table = {
        {"learning_rates", "spirals, batch 64: step sizes that are too small, right and too large", learning_rates},
        {"batch_sizes", "spirals: steps to 90 % with batches of 8 to 1024", batch_sizes},
        {"noise_scale", "spirals, batch 128: the gradient noise scale as training goes on", noise_scales},
        {"large_batches", "mlp, batch 512, 100 steps: scaled rates, warm-up, rates of layers", large_batches},
    };
    return table;
}

const Experiment& experiment_named(const std::string& name) {
    std::vector<std::string> known;
    for (const Experiment& row : experiments()) {
        if (row.name == name) return row;
        known.emplace_back(row.name);
    }
    throw Failure(fmt::format("unknown experiment '{}'{}", name, did_you_mean(name, known)));
}

TrialResult run_trial(const Trial& trial, const std::stop_token& stop) {
    TrainerOptions options = trial.options;
    options.stop = stop;
    Trainer trainer(options);
    TrialResult result{.name = trial.name, .batch = options.batch};
    while (trainer.next_step() < trial.steps && result.steps < 0) {
        throw_if_stopped(stop);
        const StepRecord record = trainer.step();
        result.loss.push_back(record.loss);
        result.peak = record.loss <= result.peak ? result.peak : record.loss;  // NaN stays
        result.learning_rate = record.learning_rate;
        if (record.noise_scale) result.noise_scale = record.noise_scale->simple;
        result.diverged = record.not_finite.has_value();
        if (result.diverged) break;
        if (trial.target > 0 && trainer.next_step() % trial.look == 0 && trainer.evaluate(512).accuracy >= trial.target)
            result.steps = trainer.next_step();
    }
    const size_t tail = std::min<size_t>(result.loss.size(), 20);
    double end = 0;
    for (size_t i = result.loss.size() - tail; i < result.loss.size(); ++i) end += result.loss[i] / double(tail);
    result.diverged = result.diverged || !(end <= result.loss.front());
    result.accuracy = trainer.evaluate().accuracy;
    return result;
}

CriticalBatch critical_batch(std::span<const TrialResult> trials) {
    std::map<int64_t, int64_t> fastest;
    for (const TrialResult& trial : trials) {
        if (trial.steps < 0) continue;
        const auto [row, made] = fastest.try_emplace(trial.batch, trial.steps);
        row->second = std::min(row->second, trial.steps);
    }
    if (fastest.size() < 2) throw Failure("a critical batch size needs runs of two batch sizes that reach the target");
    // Minimise sum ((a + b / batch) / steps - 1)^2 over a and b.
    double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
    for (const auto& [batch, steps] : fastest) {
        const double u = 1 / double(steps), v = u / double(batch);
        aa += u * u, ab += u * v, bb += v * v, a1 += u, b1 += v;
    }
    const double determinant = aa * bb - ab * ab;
    CriticalBatch fit{.least_steps = (a1 * bb - b1 * ab) / determinant, .least_examples = (b1 * aa - a1 * ab) / determinant};
    fit.batch = fit.least_examples / fit.least_steps;
    return fit;
}

}  // namespace lockstep::nn
