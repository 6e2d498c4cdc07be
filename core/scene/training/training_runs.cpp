// A run keeps nothing but its losses; its last step is run again by a second trainer that keeps the graph and its values: a
// step depends on the parameters and its number alone.
#include "core/scene/training/training_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/nn/models/models.h"
#include "core/nn/train/training_options.h"
#include "core/scene/training/cheaper_runs.h"

namespace lockstep::scene {
namespace {

constexpr int64_t most_training_steps = 2000;
constexpr size_t most_training_runs = 8, most_with_seeds = 24;
constexpr int64_t most_seeds = 5;

// What a scene says of a run beside the options that every run has.
std::string set_of_scene(TrainingSpec& spec, const std::string& key, const std::string& value) {
    double number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = error == std::errc{} && rest == value.data() + value.size() && std::isfinite(number);
    const auto whole = [&](int64_t& into, double least, double most) -> std::string {
        if (!is_number || number != std::floor(number) || number < least || number > most)
            return fmt::format("{} is a whole number from {} to {}", key, least, most);
        into = static_cast<int64_t>(number);
        return {};
    };
    if (key == "steps") return whole(spec.steps, 1, most_training_steps);
    if (key == "test") return whole(spec.test, 1, 100'000);
    if (key == "target") {
        spec.target = number;
        return is_number ? "" : "target is a number";
    }
    if (key == "seeds") return whole(spec.seeds, 1, most_seeds);
    int64_t timed = 0;
    const std::string wrong = whole(timed, 0, 1);
    spec.timed = timed == 1;
    return wrong;
}

// One setting; a sentence where it is wrong.
std::string set_training(TrainingSpec& spec, const std::string& word) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (value.empty()) return fmt::format("'{}' has no value: {}=...", key, key);
    if (const nn::TrainingOption* row = nn::training_option_of_scene(key)) return set_in_scene(spec.options, *row, value);
    if (key == "name") return spec.name = value, "";
    std::vector<std::string> keys = {"name", "steps", "test", "target", "timed", "seeds"};
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return set_of_scene(spec, key, value);
    for (const nn::TrainingOption& row : nn::training_options())
        if (!row.in_scene.empty()) keys.emplace_back(row.in_scene);
    const std::string near = nearest_name(key, keys);
    return near.empty() ? fmt::format("unknown setting '{}'; there are {}", word, fmt::join(keys, ", "))
                        : fmt::format("unknown setting '{}', did you mean '{}='?", word, near);
}

// What runs of this process have come to: one that is asked for again, by a later scene beside others, is not run twice. The
// same settings give the same bits, so nothing on screen depends on who ran it.
struct Known {
    TrainedRun run;
    std::vector<float> before_last;  // parameters that the last step began with
};
class KnownRuns {
  public:
    std::shared_ptr<const Known> find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        const auto found = runs_.find(key);
        return found == runs_.end() ? nullptr : found->second;
    }
    void keep(const std::string& key, Known known) {
        if (known.before_last.size() > most_parameters) return;
        const std::lock_guard lock(mutex_);
        if (runs_.size() >= most_runs) runs_.clear();
        runs_[key] = std::make_shared<const Known>(std::move(known));
    }

  private:
    static constexpr size_t most_runs = 48, most_parameters = 500'000;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Known>> runs_;
};
KnownRuns& known_runs() {
    static KnownRuns runs;
    return runs;
}
std::string key_of(const TrainingSpec& spec, const nn::TrainerOptions& asked) {
    std::string key = fmt::format("{} seed={} steps={} test={}", asked.model, asked.seed, spec.steps, spec.test);
    for (const auto& [name, value] : nn::texts_of(asked)) key += fmt::format(" {}={}", name, value);
    return key;
}

nn::StepRecord step_again(std::span<const float> parameters, const TrainingSpec& spec, const TrainingRunOptions& options) {
    nn::TrainerOptions again = spec.options;
    again.keep_graph = true;
    again.keep_values = options.keep_values;
    again.stop = options.stop;
    again.nan = nn::NanPolicy::warn;
    again.noise_scale = false;
    if (spec.timed) {
        again.device = "sim:" + options.gpu;
        again.keep_runs = options.keep_runs;
    }
    nn::Trainer last(again);
    last.import_parameters(parameters, spec.steps - 1);
    double launches = 0;
    if (options.progress && spec.timed)
        last.on_launch = [&](const device::LaunchEvent&) { options.progress(-(launches += 1)); };
    return last.step();
}

// The run's first step, as it was before anything was learned.
std::shared_ptr<const nn::StepRecord> first_step_of(const TrainingSpec& spec, const TrainingRunOptions& options) {
    nn::TrainerOptions first = spec.options;
    first.keep_graph = first.keep_values = true;
    first.stop = options.stop;
    first.nan = nn::NanPolicy::warn;
    first.noise_scale = false;
    return std::make_shared<const nn::StepRecord>(nn::Trainer(first).step());
}

}  // namespace

Result<std::vector<TrainingSpec>> parse_training(const std::string& text, const SourceLocation& where, uint64_t seed) {
    std::vector<TrainingSpec> specs;
    size_t asked = 0;
    std::string all = text;
    int line = where.line;
    std::istringstream lines(all);
    for (std::string whole_line; std::getline(lines, whole_line); ++line) {
        std::istringstream parts(whole_line.substr(0, whole_line.find('#')));
        for (std::string part; std::getline(parts, part, ';');) {
            const SourceLocation here{where.file, line, where.column};
            const auto bad = [&](const std::string& message) { return Diagnostic{"train: " + message, here, whole_line}; };
            std::istringstream words(part);
            std::string word;
            if (!(words >> word)) continue;
            TrainingSpec spec = specs.empty() ? TrainingSpec{} : specs.front();
            spec.name.clear();
            if (specs.empty()) {
                spec.options.model = word;
                try {
                    const nn::ModelRow& row = nn::model_named(word);
                    spec.options.batch = row.batch;
                    spec.options.learning_rate = row.learning_rate;
                } catch (const Failure& failure) {
                    return bad(failure.diagnostic.message);
                }
                spec.options.seed = seed;
                if (!(words >> word)) word.clear();
            }
            for (; !word.empty(); words >> word ? void() : word.clear())
                if (const std::string wrong = set_training(spec, word); !wrong.empty()) return bad(wrong);
            if (spec.name.empty()) spec.name = fmt::format("lr_{:g}", spec.options.learning_rate);
            if (++asked > most_training_runs) return bad(fmt::format("at most {} runs", most_training_runs));
            if (specs.size() + static_cast<size_t>(spec.seeds) > most_with_seeds)
                return bad(fmt::format("at most {} runs with all their seeds", most_with_seeds));
            const std::string name = spec.name;
            for (int64_t i = 0; i < spec.seeds; ++i, ++spec.options.seed) {
                if (spec.seeds > 1) spec.name = fmt::format("{}_{}", name, i + 1);
                specs.push_back(spec);
            }
        }
    }
    if (specs.empty()) return Diagnostic{"train: the model's name is missing", where, text};
    if (specs.size() > 1)
        for (const TrainingSpec& spec : specs)
            if (spec.steps == 0) return Diagnostic{"train: several runs need steps=...", where, text};
    return specs;
}

Result<TrainingRuns> run_training(const std::vector<TrainingSpec>& specs, const TrainingRunOptions& options) {
    TrainingRuns all;
    double done = 0, steps = 0;
    for (const TrainingSpec& spec : specs) steps += static_cast<double>(spec.steps);
    for (const TrainingSpec& spec : specs) {
        TrainedRun& run = all.runs.emplace_back();
        run.spec = spec;
        nn::TrainerOptions asked = spec.options;
        asked.stop = options.stop;
        asked.nan = nn::NanPolicy::warn;  // a run that diverges is there to be seen
        if (spec.steps == 0) {            // one step, timed
            asked.device = "sim:" + options.gpu;
            asked.keep_graph = true;
            asked.keep_values = options.keep_values;
            asked.keep_runs = options.keep_runs;
        } else {
            asked.keep_launches = asked.keep_images = false;
            if (asked.planned_steps == 0) asked.planned_steps = spec.steps;
            run.spec.options.planned_steps = asked.planned_steps;
        }
        const bool first = &run == &all.runs.front();
        if (first && spec.steps > 1 && options.keep_values) all.first_step = first_step_of(run.spec, options);
        const bool writes = first && (spec.options.model == "gpt" || spec.options.model == "llama");
        const std::string key = spec.steps > 0 && !writes ? key_of(spec, asked) : "";
        if (const auto known = key.empty() ? nullptr : known_runs().find(key)) {
            const TrainingSpec own = run.spec;
            run = known->run;
            run.spec = own;
            if (first) all.step = std::make_shared<nn::StepRecord>(step_again(known->before_last, run.spec, options));
            done += static_cast<double>(spec.steps);
            if (options.progress) options.progress(done / steps);
            continue;
        }
        std::vector<float> before_last;
        nn::Trainer trainer(asked);
        run.parameters = static_cast<int64_t>(trainer.export_parameters().size());
        double launches = 0;
        if (spec.steps == 0 && options.progress)
            trainer.on_launch = [&](const device::LaunchEvent&) { options.progress(-(launches += 1)); };
        for (int64_t step = 0; step < std::max<int64_t>(1, spec.steps); ++step) {
            throw_if_stopped(options.stop);
            const bool last = spec.steps > 0 && step + 1 == spec.steps;
            if (last) before_last = trainer.export_parameters();
            if (last && first) all.step = std::make_shared<nn::StepRecord>(step_again(before_last, run.spec, options));
            nn::StepRecord record = trainer.step();
            run.loss.push_back(record.loss);
            if (record.noise_scale) run.noise_scale = record.noise_scale->simple;
            if (!record.predictions.empty()) run.accuracy.push_back(record.train_accuracy);
            if (spec.steps == 0) all.step = std::make_shared<nn::StepRecord>(std::move(record));
            if (options.progress && spec.steps > 0) options.progress(++done / steps);
        }
        if (spec.test > 0) run.test = trainer.evaluate(spec.test);
        if (writes && spec.steps > 0) run.text = trainer.sample("Once", 60);
        if (!key.empty()) known_runs().keep(key, {run, std::move(before_last)});
    }
    return all;
}

}  // namespace lockstep::scene
