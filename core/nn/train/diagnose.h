// Why a training fails. A Diagnosis hears of every step; it adds up losses and labels, no more. Where they look wrong it has
// the model examined: forward and backward once more on the host beside the run, the largest curvature by differences of
// gradients, and the first steps again for the layer whose gradient grew first. A healthy run is never examined.
//
//     Diagnosis diagnosis;
//     StepRecord record = trainer.step();
//     for (const Cause& cause : diagnosis.after(trainer, record)) ...   // each once, in the step in which it shows
//     for (const Cause& cause : diagnosis.at_end(trainer)) ...          // those not yet told
//
// dead_gradients() and the other functions of a graph serve tensor programs (core/scene/tape) too.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/train/cause.h"
#include "core/nn/train/step_record.h"

namespace lockstep::nn {

class Trainer;

struct CauseRow {
    std::string_view name, summary;
    double threshold = 0;
    std::string_view means, source;  // what the threshold is of, and where it is from
};
std::span<const CauseRow> causes();

class Diagnosis {
  public:
    std::vector<Cause> after(Trainer& trainer, const StepRecord& record);
    std::vector<Cause> at_end(Trainer& trainer);
    const std::vector<Cause>& told() const { return told_; }

  private:
    bool knows(std::string_view name) const;
    void note(const StepRecord& record);
    std::optional<Cause> diverged(Trainer& trainer, const StepRecord& record);
    std::optional<Cause> not_shuffled() const;
    std::vector<Cause> stuck(Trainer& trainer);
    std::optional<Cause> wrong_rate(Trainer& trainer) const;
    std::string guess_text() const;  // "which is ln 10, what guessing ... costs", or ""

    std::vector<double> losses_;  // by step, from first_
    int64_t first_ = 0;
    std::vector<double> set_;        // examples by label
    double batch_entropy_ = 0;       // summed over batches, in nats
    double batches_ = 0, size_ = 0;  // with labels; examples of one
    double rate_ = 0;                // the learning rate of the last step
    bool rate_rises_ = false;        // a warm-up is under way: a loss that does not fall yet is no failure
    std::vector<Cause> told_;
};

// Of a graph with values and gradients: no gradient reaches some of the parameters, and the op that stops it.
std::optional<Cause> dead_gradients(std::span<const GraphNode> nodes, int64_t step);
// A weight whose rows are all alike, so that the layer's units stay alike.
std::optional<Cause> alike_units(std::span<const GraphNode> nodes, int64_t step);
// Graphs of the same model, a batch each: units of a ReLU that were never above 0.
std::optional<Cause> dead_units(std::span<const std::vector<GraphNode>> batches, int64_t step);
// The first layer's gradient is small beside its weights, the last one's is not.
std::optional<Cause> vanishing_gradients(std::span<const GraphNode> nodes, int64_t step);

}  // namespace lockstep::nn
