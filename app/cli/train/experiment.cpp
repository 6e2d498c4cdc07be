// `lockstep experiment`: training runs set beside each other, a line a run: step sizes, batch sizes, large batches.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "core/base/tell.h"
#include "core/nn/train/experiments.h"

namespace lockstep::cli {
namespace {

struct Asked {
    std::string name, json;
};

nlohmann::ordered_json trial_json(const nn::TrialResult& trial, bool has_target) {
    nlohmann::ordered_json json{{"name", trial.name}, {"batch", trial.batch}, {"learning_rate", trial.learning_rate}};
    if (has_target) {
        json["steps"] = trial.steps < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(trial.steps);
        json["examples"] = trial.steps < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(trial.examples());
    }
    json["diverged"] = trial.diverged;
    json["accuracy"] = trial.accuracy;
    json["first_loss"] = json_number(trial.loss.front());
    json["peak_loss"] = json_number(trial.peak);
    json["last_loss"] = json_number(trial.loss.back());
    if (trial.noise_scale != 0) json["noise_scale"] = json_number(trial.noise_scale);
    return json;
}

int experiment(const Asked& asked) {
    const nn::Experiment& row = nn::experiment_named(asked.name);
    if (asked.json.empty()) fmt::print("{} (executed)\n", row.summary);
    std::vector<nn::TrialResult> results;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    bool has_target = false;
    const std::vector<nn::Trial> trials = row.trials();
    LongWork work(std::string(row.name), LongWork::Interrupt::held);
    work.keep_looking();
    for (const nn::Trial& trial : trials) {
        work(static_cast<double>(results.size()) / static_cast<double>(trials.size()));
        try {
            results.push_back(nn::run_trial(trial, work.token()));
        } catch (const Cancelled&) {
            break;
        }
        work.clear();
        const nn::TrialResult& result = results.back();
        has_target = has_target || trial.target > 0;
        rows.push_back(trial_json(result, trial.target > 0));
        if (!asked.json.empty()) continue;
        const std::string steps = trial.target <= 0 ? ""
                                  : result.steps < 0
                                      ? "not reached    "
                                      : fmt::format("{:5} steps {:8} examples    ", result.steps, result.examples());
        fmt::print("{:<42} {}accuracy {:5.1f} %, loss at most {:.3g}, at the end {:.3g}{}{}\n", result.name, steps,
                   100 * result.accuracy, result.peak, result.loss.back(), result.diverged ? ", diverged" : "",
                   result.noise_scale == 0 ? "" : fmt::format(", noise scale {:.0f} examples", result.noise_scale));
    }
    nlohmann::ordered_json json{{"experiment", row.name}, {"trials", rows}};
    if (work.interrupted()) tell("stopped by Ctrl-C after {} of {} runs\n", results.size(), trials.size());
    if (has_target && !work.interrupted()) {
        const nn::CriticalBatch fit = nn::critical_batch(results);
        json["critical_batch"] = {
            {"batch", fit.batch}, {"least_steps", fit.least_steps}, {"least_examples", fit.least_examples}};
        if (asked.json.empty())
            fmt::print("critical batch size {:.0f}: {:.0f} steps at least, {:.0f} examples at least (derived)\n", fit.batch,
                       fit.least_steps, fit.least_examples);
    }
    if (!asked.json.empty()) write_json(json, asked.json, 2);
    return work.interrupted() ? interrupted_status : 0;
}

}  // namespace

void add_experiment(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("experiment", "compare training runs: step sizes, batch sizes, large batches");
    auto asked = std::make_shared<Asked>();
    std::string names;
    for (const nn::Experiment& row : nn::experiments())
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", row.name, row.summary);
    command.add_option("name", asked->name, names).required();
    command.add_option("--json", asked->json, "write the result as JSON; '-' for stdout");
    command.callback([asked, &status] { status = experiment(*asked); });
}

}  // namespace lockstep::cli
