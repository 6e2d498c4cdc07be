// What training answers by name: of its first run, or with @curve:NAME of another; of cheaper forms beside f32
// (core/nn/cheaper) of the table's first row, or with @row:NAME of another; and whatever the last step answers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/scene/figures/figures.h"
#include "core/scene/training/training_runs.h"

namespace lockstep::scene {
namespace {

double mean_of_last(const std::vector<double>& values, size_t count) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const size_t n = std::min(count, values.size());
    return std::accumulate(values.end() - static_cast<std::ptrdiff_t>(n), values.end(), 0.0) / static_cast<double>(n);
}

double steps_of(const TrainedRun& run) {
    return static_cast<double>(run.loss.size());
}

Result<double> loss(const TrainedRun& run, const FigureName& name) {
    if (name.place("step").empty()) return run.loss.back();
    const Result<size_t> step = name.number_at("step");
    if (!step) return step.error();
    if (step.value() >= run.loss.size())
        return Diagnostic{fmt::format("'{}': the run has {} steps, from 0", name.text, run.loss.size())};
    return run.loss[step.value()];
}

Result<double> steps_to_target(const TrainedRun& run) {
    if (run.spec.target <= 0) return Diagnostic{"the run names no target=..."};
    if (const int64_t steps = steps_to_target_of(run); steps > 0) return static_cast<double>(steps);
    return Diagnostic{
        fmt::format("the run '{}' does not reach its target {} in {} steps", run.spec.name, run.spec.target, steps_of(run))};
}

Result<double> of_test(const TrainedRun& run, const FigureName& name, double nn::Evaluation::*part) {
    if (!run.test) return Diagnostic{fmt::format("'{}' needs test=... of the run", name.base)};
    return (*run.test).*part;
}

// What the run's model is judged by besides: each model brings its own.
Result<double> measured(const TrainedRun& run, const FigureName& name) {
    if (run.test)
        for (const nn::Measure& measure : run.test->measures)
            if (figure_word(measure.name) == name.base) return measure.value;
    return Diagnostic{fmt::format("the model is not measured by '{}', or needs test=...", name.base)};
}

constexpr Figure<TrainedRun> run_rows[] = {
    {"loss", "", "Of the last step, or of one of them.",
     [](const TrainedRun& r, const FigureName& name) { return loss(r, name); }, "curve step"},
    {"first_loss", "", "Of the first step.", [](const TrainedRun& r) { return r.loss.front(); }, "curve"},
    {"mean_loss", "", "Of the last ten steps.", [](const TrainedRun& r) { return mean_of_last(r.loss, 10); }, "curve"},
    {"lowest_loss", "", "Of all steps.", [](const TrainedRun& r) { return *std::min_element(r.loss.begin(), r.loss.end()); },
     "curve"},
    {"train_accuracy", "", "Of the last ten batches, 0 to 1, where the model has one.",
     [](const TrainedRun& r) {
         return r.accuracy.empty() ? std::optional<double>() : std::optional<double>(mean_of_last(r.accuracy, 10));
     },
     "curve"},
    {"accuracy", "", "Of the held-out examples, 0 to 1: needs test=.",
     [](const TrainedRun& r, const FigureName& name) { return of_test(r, name, &nn::Evaluation::accuracy); }, "curve"},
    {"test_loss", "", "Of the held-out examples: needs test=.",
     [](const TrainedRun& r, const FigureName& name) { return of_test(r, name, &nn::Evaluation::loss); }, "curve"},
    {"steps", "", "That were trained.", [](const TrainedRun& r) { return steps_of(r); }, "curve"},
    {"batch", "", "Examples of a step.", [](const TrainedRun& r) { return r.spec.options.batch; }, "curve"},
    {"examples", "", "Of all steps.",
     [](const TrainedRun& r) { return steps_of(r) * static_cast<double>(r.spec.options.batch); }, "curve"},
    {"lr", "", "The learning rate.", [](const TrainedRun& r) { return r.spec.options.learning_rate; }, "curve"},
    {"parameters", "", "Of the model.", [](const TrainedRun& r) { return r.parameters; }, "curve"},
    {"diverged", "", "1 where the last ten losses are not finite or above the first, else 0.",
     [](const TrainedRun& r) {
         const double last = mean_of_last(r.loss, 10);
         return !(std::isfinite(last) && last <= r.loss.front());
     },
     "curve"},
    {"noise_scale", "examples", "Of the gradient: needs noise=1.",
     [](const TrainedRun& r) -> Result<double> {
         if (!r.noise_scale) return Diagnostic{"the run does not measure noise: noise=1"};
         return *r.noise_scale;
     },
     "curve"},
    {"steps_to_target", "", "After which the mean of five losses is the target or less: needs target=.",
     [](const TrainedRun& r) { return steps_to_target(r); }, "curve"},
    {"examples_to_target", "", "The same, counted in examples.",
     [](const TrainedRun& r) -> Result<double> {
         const Result<double> steps = steps_to_target(r);
         if (!steps) return steps.error();
         return steps.value() * static_cast<double>(r.spec.options.batch);
     },
     "curve"},
};

// The measures of core/nn's models.
constexpr FigureText measure_rows[] = {
    {"modes_covered_of_8", "", "Modes of the data from which a generator draws.", "curve"},
    {"samples_near_a_mode", "", "The share of a generator's samples that lie near one.", "curve"},
    {"mean_return", "", "Of the learned policy.", "curve"},
    {"of_the_best_policy", "", "The return that the best policy has.", "curve"},
    {"their_ratio", "", "What was reached over the best that is known.", "curve"},
    {"inertia", "", "Squared distances to the centres.", "curve"},
    {"the_best_of_50_plain_starts", "", "The least inertia of 50 random starts.", "curve"},
    {"sequences_said_again_without_a_mistake", "", "The share of the held-out sequences.", "curve"},
    {"mean_squared_error_of_held_out_pictures", "", "Of an autoencoder.", "curve"},
    {"the_same_of_16_principal_components", "", "The error of the best linear code.", "curve"},
    {"largest_error_of_w", "", "From the weights that made the data.", "curve"},
    {"error_of_b", "", "From the bias that made the data.", "curve"},
    {"held_out_loss", "nats a character", "Of a language model.", "curve"},
    {"a_table_of_pairs", "nats a character", "The loss of a table of pairs of characters.", "curve"},
};

struct CheaperOf {
    const nn::CheaperRow &row, &first;
};

constexpr Figure<CheaperOf> cheaper_rows[] = {
    {"quality", "", "The accuracy, or the loss in nats a character.", [](const CheaperOf& c) { return c.row.quality; },
     "row"},
    {"test_loss", "", "Of the held-out examples.", [](const CheaperOf& c) { return c.row.loss; }, "row"},
    {"bytes", "B", "That the parameters take.", [](const CheaperOf& c) { return c.row.bytes; }, "row"},
    {"moved", "B", "That an example moves.", [](const CheaperOf& c) { return c.row.moved; }, "row"},
    {"operations", "", "Of an example.", [](const CheaperOf& c) { return c.row.operations; }, "row"},
    {"trained", "", "Parameters that were trained.", [](const CheaperOf& c) { return c.row.trained; }, "row"},
    {"state_bytes", "B", "Of the optimiser's moments.", [](const CheaperOf& c) { return c.row.state_bytes; }, "row"},
    {"bytes_ratio", "", "Bytes over the first row's.", [](const CheaperOf& c) { return c.row.bytes / c.first.bytes; },
     "row"},
    {"moved_ratio", "", "Bytes moved over the first row's.", [](const CheaperOf& c) { return c.row.moved / c.first.moved; },
     "row"},
    {"operations_ratio", "", "Operations over the first row's.",
     [](const CheaperOf& c) { return c.row.operations / c.first.operations; }, "row"},
};

// What a form tells of its own rows.
constexpr FigureText form_rows[] = {
    {"weights_kept", "%", "Of the pruned layers.", "row"},
    {"loss_of_the_masked_dense_form_off_by", "", "The 2:4 form against the dense form with zeros.", "row"},
    {"weights_off_by", "%", "The rounded weights against those in f32.", "row"},
    {"loss_scale", "", "At the end.", "row"},
    {"steps_left_out", "", "Whose gradients overflowed.", "row"},
    {"growths", "", "How often the loss scale grew.", "row"},
    {"worst_seed", "%", "Accuracy of the worst of several seeds.", "row"},
    {"best_seed", "%", "Accuracy of the best of several seeds.", "row"},
    {"loss_off_by", "", "Of the merged weights against the adapters beside them.", "row"},
};

Result<double> cheaper_figure(const nn::Comparison& comparison, const FigureName& name) {
    const std::string wanted = name.place("row");
    const nn::CheaperRow* row = wanted.empty() ? &comparison.rows.front() : nullptr;
    std::vector<std::string> known;
    for (const nn::CheaperRow& one : comparison.rows) {
        known.push_back(figure_word(one.method, true));
        if (known.back() == wanted) row = &one;
    }
    if (!row) return Diagnostic{fmt::format("no row is called '{}'; there are {}", wanted, fmt::join(known, ", "))};
    for (const nn::Measure& measure : row->more)
        if (figure_word(measure.name, true) == name.base) return measure.value;
    if (row_named(form_rows, name.base)) return Diagnostic{fmt::format("the row has no '{}'", name.base)};
    return figure_among<CheaperOf>(cheaper_rows, {*row, comparison.rows.front()}, name, "a cheaper form");
}

}  // namespace

int64_t steps_to_target_of(const TrainedRun& run) {
    for (size_t i = 4; i < run.loss.size() && run.spec.target > 0; ++i) {
        const double mean = (run.loss[i] + run.loss[i - 1] + run.loss[i - 2] + run.loss[i - 3] + run.loss[i - 4]) / 5;
        if (mean <= run.spec.target) return static_cast<int64_t>(i + 1);
    }
    return 0;
}

std::vector<FigureText> training_figures() {
    std::vector<FigureText> all = texts_of(run_rows);
    all.insert(all.end(), std::begin(measure_rows), std::end(measure_rows));
    return all;
}

std::vector<FigureText> cheaper_figures() {
    std::vector<FigureText> all = texts_of(cheaper_rows);
    all.insert(all.end(), std::begin(form_rows), std::end(form_rows));
    return all;
}

Result<double> figure_of(const TrainingRuns& training, const FigureName& name) {
    if (training.comparison && (row_named(cheaper_rows, name.base) || row_named(form_rows, name.base)))
        return cheaper_figure(*training.comparison, name);
    const bool measure = row_named(measure_rows, name.base) != nullptr;
    const std::string curve = name.place("curve");
    if (!measure && curve.empty() && !row_named(run_rows, name.base)) return figure_of(*training.step, name);
    const TrainedRun* run = curve.empty() ? &training.runs.front() : nullptr;
    std::vector<std::string> known;
    for (const TrainedRun& trained : training.runs) {
        known.push_back(trained.spec.name);
        std::replace(known.back().begin(), known.back().end(), ' ', '_');
        if (known.back() == curve) run = &trained;
    }
    const auto of_run = [&](const TrainedRun& one) {
        return measure ? measured(one, name) : figure_among<TrainedRun>(run_rows, one, name, "a training run");
    };
    double sum = 0;
    size_t seeds = 0;  // of a row that was run with several: the mean of its runs
    for (size_t i = 0; run == nullptr && i < training.runs.size(); ++i)
        if (training.runs[i].spec.seeds > 1 && known[i].substr(0, known[i].rfind('_')) == curve) {
            const Result<double> one = of_run(training.runs[i]);
            if (!one) return one;
            sum += one.value();
            ++seeds;
        }
    if (seeds > 0) return sum / static_cast<double>(seeds);
    if (!run) return Diagnostic{fmt::format("no run is called '{}'; there are {}", curve, fmt::join(known, ", "))};
    return of_run(*run);
}

}  // namespace lockstep::scene
