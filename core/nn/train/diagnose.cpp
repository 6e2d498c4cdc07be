// What losses and labels say from step to step, and the table of causes. Looks at the model only where the loss is wrong.
#include "core/nn/train/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "core/base/units.h"
#include "core/nn/layers/rules.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/nn/train/training_options.h"

namespace lockstep::nn {

namespace {

// Two digits, as people write them: 0.012, 9.1, 36,000.
std::string two_digits(double value) {
    if (!(std::abs(value) >= 100 && std::abs(value) < 1e9)) return fmt::format("{:.2g}", value);
    const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
    return with_commas(std::llround(std::round(value / unit) * unit));
}

constexpr size_t window = 5;              // steps whose losses are averaged
constexpr int64_t first_look = 50;        // then after twice as many steps each time
constexpr int64_t least_steps = 20;       // of a run that is looked at when it ends
constexpr int64_t most_repeated = 100;    // steps run again for the layer whose gradient grew first
constexpr double batches_of_labels = 10;  // before their order is judged
constexpr size_t examined_batches = 4;

constexpr CauseRow cause_rows[] = {
    {"diverged", "the loss grew", 3, "times the first losses, by the last five's mean",
     "gradient descent on a quadratic grows from a rate of 2 / curvature on (Cohen et al. 2021, arXiv 2103.00065); batches' "
     "losses of the project's models never treble"},
    {"no_gradient", "a parameter's gradient is zero, element by element", 0, "of the gradient", "exact"},
    {"symmetry", "units of a layer have equal weights", 0, "of their difference", "exact"},
    {"dead_units", "units of a ReLU never fire", 0.5, "of a layer's units, over four batches",
     "up to 40 % die in nets that learn (Karpathy, CS231n notes, Neural Networks 1)"},
    {"vanishing", "the first layer's gradient is small", 1e-5, "of the last layer's, each relative to its weights' norm",
     "updates are healthy near 1e-3 of the weights (CS231n notes, Neural Networks 3); 1e-5 of those move nothing"},
    {"not_shuffled", "batches have few labels", 0.6, "of the entropy of all labels, corrected for the batch's size",
     "a shuffled batch has all of it (Miller 1955 for the correction)"},
    {"rate_too_small", "the learning rate is small", 0.02, "of the largest stable rate, or of the model's own",
     "the best constant rate on a quadratic is 1 / curvature; fifty times less needs fifty times the steps"},
    {"rate_too_large", "the learning rate is large", 0.2, "of the largest stable rate, where the loss does not fall",
     "curvature grows from the beginning until it meets 2 / rate (Cohen et al. 2021)"},
    {"guessing", "the loss stays at ln C", 0.02, "off ln C, in shares of it, after 1,000 steps or more",
     "ln C is the cross-entropy of C equal probabilities"},
    {"ranks_disagree", "ranks hold the same parameter unlike (core/parallel/train/agreement.h)", 0,
     "of its bytes' checksums", "exact: what ranks add up together has the same bits on each"},
};

const CauseRow& row_of(std::string_view name) {
    return *std::find_if(std::begin(cause_rows), std::end(cause_rows),
                         [&](const CauseRow& row) { return row.name == name; });
}

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(std::max<size_t>(1, values.size()));
}

double entropy(std::span<const double> counts) {  // in nats
    const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
    double sum = 0;
    for (const double count : counts)
        if (count > 0) sum -= count / all * std::log(count / all);
    return sum;
}

// The largest rate at which gradient descent does not grow along the sharpest direction; 0: the rule or the loss has none.
double largest_stable_rate(Trainer& trainer) {
    const Rule rule = rule_of(trainer.options());
    const SGD* const descent = std::get_if<SGD>(&rule);
    if (!descent) return 0;
    const double curvature = trainer.curvature_at_beginning(0);
    return curvature > 0 ? 2 * (1 + descent->momentum) / curvature : 0;
}

// Which layer's gradient was first ten times its first one, in the same steps run again on the host.
struct Grower {
    std::string layer;
    int64_t step = 0;
    double times = 0;
};
std::optional<Grower> first_grower(const TrainerOptions& options, int64_t last) {
    TrainerOptions again = options;
    again.device = "host";
    again.mode = Mode::direct;
    again.nan = NanPolicy::warn;
    again.keep_launches = again.keep_graph = again.keep_images = again.keep_cost = again.keep_runs = again.prefetch = false;
    Trainer trainer(again);
    const std::vector<Trainer::ParameterInfo> parameters = trainer.parameters();
    std::map<std::string, double> begin;
    std::optional<Grower> found;
    while (!found && trainer.next_step() <= std::min(last, most_repeated)) {
        const int64_t step = trainer.next_step();
        trainer.step();
        const std::vector<double> norms = trainer.gradient_norms();
        std::map<std::string, double> layers;
        for (size_t i = 0; i < norms.size(); ++i) {
            const std::string layer = parameters[i].name.substr(0, parameters[i].name.find_last_of('.'));
            layers[layer] = std::hypot(layers[layer], norms[i]);
        }
        if (begin.empty()) begin = layers;
        for (const auto& [layer, norm] : layers)
            if (const double times = norm / begin[layer]; begin[layer] > 0 && times > 10 && (!found || times > found->times))
                found = Grower{layer, step, times};
    }
    return found;
}

}  // namespace

std::span<const CauseRow> causes() {
    return cause_rows;
}

bool Diagnosis::knows(std::string_view name) const {
    return std::any_of(told_.begin(), told_.end(), [&](const Cause& cause) { return cause.name == name; });
}

void Diagnosis::note(const StepRecord& record) {
    if (losses_.empty()) first_ = record.step;
    rate_rises_ = !losses_.empty() && record.learning_rate > rate_;
    rate_ = record.learning_rate;
    losses_.push_back(record.loss);
    if (record.labels.size() < 8) return;
    std::vector<double> batch;
    for (const int32_t label : record.labels) {
        if (label < 0) continue;
        if (batch.size() <= size_t(label)) batch.resize(size_t(label) + 1);
        ++batch[size_t(label)];
    }
    if (set_.size() < batch.size()) set_.resize(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) set_[i] += batch[i];
    batch_entropy_ += entropy(batch);
    ++batches_;
    size_ = double(record.labels.size());
}

std::string Diagnosis::guess_text() const {
    const auto classes = std::count_if(set_.begin(), set_.end(), [](double count) { return count > 0; });
    if (classes < 2) return "";
    const double now = mean(std::span(losses_).last(std::min<size_t>(20, losses_.size()))),
                 guess = std::log(double(classes));
    if (std::abs(now / guess - 1) > 0.05) return "";
    return fmt::format(" (the loss stays at {:.3g}, near ln {} = {:.3g}, which guessing among {} classes costs)", now,
                       classes, guess, classes);
}

std::optional<Cause> Diagnosis::diverged(Trainer& trainer, const StepRecord& record) {
    if (knows("diverged") || !trainer.takes_batches_of_examples()) return std::nullopt;
    double guess = 0;  // a classifier that is worse than guessing
    if (!set_.empty()) guess = 1.5 * std::log(double(std::max<size_t>(2, set_.size())));
    double most = 0;
    for (const double loss : losses_) most = std::isfinite(loss) ? std::max(most, loss) : most;
    // A run that goes on from a checkpoint begins with a small loss, which a batch may be several times off.
    const double times = row_of("diverged").threshold * (first_ == 0 ? 1 : 10);
    const double limit = std::max(times * std::abs(losses_.front()), guess);
    const bool broke = record.not_finite && record.not_finite->phase != "data" && first_ == 0;
    const bool grew = losses_.size() > 2 * window && mean(std::span(losses_).last(window)) > limit;
    if (!grew && !(broke && (most > limit || losses_.size() <= 2 * window))) return std::nullopt;
    // From the step after the last one that was as good as the first.
    size_t since = losses_.size();
    while (since > 1 && !(losses_[since - 1] <= losses_.front())) --since;
    const int64_t step = first_ + static_cast<int64_t>(std::min(since, losses_.size() - 1));
    const TrainerOptions& options = trainer.options();
    const double rate = record.learning_rate;
    const double stable = first_ == 0 ? largest_stable_rate(trainer) : 0;
    const double own = model_named(options.model).learning_rate;
    if (broke && !grew && most <= limit && !(stable > 0 && rate > stable) && !(stable == 0 && rate > 10 * own))
        return std::nullopt;  // an overflow of its own, which not_finite tells
    std::optional<Grower> grower;
    if (first_ == 0) grower = first_grower(options, record.step);
    Cause cause{.name = "diverged", .step = step, .layer = grower ? grower->layer : ""};
    cause.text = fmt::format("the training diverged: from step {} on the loss grew from {:.4g} to {:.4g}", step,
                             losses_.front(), std::isfinite(record.loss) ? record.loss : most);
    if (grower)
        cause.text += fmt::format("; the gradient of {} grew first, to {} times its size by step {}", grower->layer,
                                  two_digits(grower->times), grower->step);
    if (stable > 0)
        cause.text += fmt::format(
            "; the learning rate {} is {} times the largest stable one, {} (2 / curvature at "
            "the beginning)",
            two_digits(rate), two_digits(rate / stable), two_digits(stable));
    else
        cause.text += fmt::format("; the learning rate is {:.3g}, the model's own {:.3g}", rate, own);
    cause.advice =
        stable > 0 && rate > stable / 10
            ? fmt::format("a learning rate well below {:.2g}, since the curvature grows as training goes on: --lr {:.1g}",
                          stable, stable / 10)
            : fmt::format("a learning rate ten times smaller, a warm-up, or --clip-norm 1: --lr {:.2g}",
                          std::min(rate / 10, own));
    return cause;
}

std::optional<Cause> Diagnosis::not_shuffled() const {
    if (knows("not_shuffled") || batches_ < batches_of_labels) return std::nullopt;
    const double all = entropy(set_);
    const auto classes = std::count_if(set_.begin(), set_.end(), [](double count) { return count > 0; });
    if (classes < 2 || all < 0.2) return std::nullopt;
    const double of_batch = batch_entropy_ / batches_;
    // What a batch's own entropy falls short by for being few examples; never more than a shuffled batch of them has.
    const double expected = all - std::min(0.5 * all, double(classes - 1) / (2 * size_));
    if (of_batch > row_of("not_shuffled").threshold * expected) return std::nullopt;
    return Cause{"not_shuffled", first_ + static_cast<int64_t>(losses_.size()) - 1, "",
                 fmt::format("the data is not shuffled: a batch of {:.0f} has the labels of {:.1f} classes on average, all "
                             "batches to step {} together those of {:.1f}, so each step unlearns the one before",
                             size_, std::exp(of_batch), first_ + static_cast<int64_t>(losses_.size()) - 1, std::exp(all)),
                 "shuffle the examples before they are cut into batches, anew each time through"};
}

std::optional<Cause> Diagnosis::wrong_rate(Trainer& trainer) const {
    const TrainerOptions& options = trainer.options();
    const double rate = options.learning_rate, own = model_named(options.model).learning_rate;
    if (rate == 0)
        return Cause{"rate_too_small", first_ + static_cast<int64_t>(losses_.size()) - 1, "",
                     "the learning rate is 0, so that no weight ever changes", fmt::format("--lr {:.1g}", own)};
    const double stable = first_ == 0 ? largest_stable_rate(trainer) : 0;
    const int64_t step = first_ + static_cast<int64_t>(losses_.size()) - 1;
    const double share = row_of("rate_too_small").threshold;
    const bool small = stable > 0 ? rate < share * stable && rate < own : rate < share * own;
    const bool large = rate > own && (stable > 0 ? rate > row_of("rate_too_large").threshold * stable : rate > 20 * own);
    if (!small && !large) return std::nullopt;
    const double right = stable > 0 ? std::min(stable / 2, std::max(own, stable / 10)) : own;
    const double factor = small ? right / rate : rate / right;
    return Cause{
        small ? "rate_too_small" : "rate_too_large", step, "",
        fmt::format("the learning rate {} is about {} times too {}: {}, and in {} steps the loss went from "
                    "{:.4g} to {:.4g}{}",
                    two_digits(rate), two_digits(factor), small ? "small" : "large",
                    stable > 0 ? fmt::format("at the beginning {:.2g} (2 / curvature) is the largest that is stable", stable)
                               : fmt::format("the model's own is {:.2g}", own),
                    losses_.size(), losses_.front(), losses_.back(), guess_text()),
        fmt::format("--lr {:.1g}", right)};
}

// Of a run whose loss hardly fell.
std::vector<Cause> Diagnosis::stuck(Trainer& trainer) {
    std::vector<Cause> found;
    const int64_t step = first_ + static_cast<int64_t>(losses_.size()) - 1;
    if (!trainer.takes_batches_of_examples() || knows("diverged")) return found;
    const size_t count = std::min<size_t>(std::max<size_t>(window, losses_.size() / 5), losses_.size());
    const double begin = std::min(losses_.front(), mean(std::span(losses_).first(std::min(window, count))));
    const double end = mean(std::span(losses_).last(count));
    if (!(end > 0.9 * begin)) return found;
    const auto add = [&](std::optional<Cause> cause) {
        if (!cause || knows(cause->name)) return false;
        if (found.empty()) cause->text += guess_text();
        found.push_back(*std::move(cause));
        return true;
    };
    const auto batches = std::min<size_t>(examined_batches, losses_.size());
    std::vector<std::vector<GraphNode>> graphs;
    for (size_t i = 0; i < batches; ++i) graphs.push_back(trainer.examine(step - static_cast<int64_t>(i)));
    if (add(dead_gradients(graphs.front(), step)) || add(alike_units(graphs.front(), step))) return found;
    add(dead_units(graphs, step));
    if (!found.empty()) return found;
    if (add(vanishing_gradients(graphs.front(), step))) return found;
    if (!knows("rate_too_small") && !knows("rate_too_large"))
        if (auto cause = wrong_rate(trainer)) {
            found.push_back(*std::move(cause));
            return found;
        }
    const std::string guess = guess_text();
    const auto classes = double(std::count_if(set_.begin(), set_.end(), [](double examples) { return examples > 0; }));
    if (losses_.size() >= 1000 && classes > 1 && std::abs(end / std::log(classes) - 1) < row_of("guessing").threshold &&
        !knows("guessing"))
        found.push_back({"guessing", step, "",
                         fmt::format("after {} steps the model still guesses{}", losses_.size(), guess),
                         "look whether the labels belong to the examples, and whether the inputs differ at all"});
    return found;
}

std::vector<Cause> Diagnosis::after(Trainer& trainer, const StepRecord& record) {
    std::vector<Cause> found;
    note(record);
    if (auto cause = diverged(trainer, record)) found.push_back(*std::move(cause));
    const auto count = static_cast<int64_t>(losses_.size());
    const bool due = count >= first_look && count % first_look == 0 && (count / first_look & (count / first_look - 1)) == 0;
    if (count == least_steps || due)
        if (auto cause = not_shuffled()) found.push_back(*std::move(cause));
    if (due && found.empty() && !record.not_finite && !rate_rises_)
        for (Cause& cause : stuck(trainer)) found.push_back(std::move(cause));
    told_.insert(told_.end(), found.begin(), found.end());
    return found;
}

std::vector<Cause> Diagnosis::at_end(Trainer& trainer) {
    std::vector<Cause> found;
    if (auto cause = not_shuffled()) found.push_back(*std::move(cause));
    if (told_.empty() && found.empty() && !rate_rises_ && static_cast<int64_t>(losses_.size()) >= least_steps)
        found = stuck(trainer);
    told_.insert(told_.end(), found.begin(), found.end());
    return found;
}

}  // namespace lockstep::nn
