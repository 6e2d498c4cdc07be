// The gradient noise scale (McCandlish, Kaplan, Amodei 2018, appendix A), measured while training: a batch of B examples
// goes through in parts of b, and the squared norms of the parts' gradients and of the whole one's give
//     |G|^2 = (B |G_B|^2 - b |G_b|^2) / (B - b)      S = (|G_b|^2 - |G_B|^2) / (1/b - 1/B)
// without bias: G the gradient of all data, S the trace of the examples' covariance. B_simple = S / |G|^2 is the batch size
// from which more examples a step begin to help less. The two are averaged each for itself: a mean of ratios is biased.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/nn/data/files/checkpoint.h"
#include "core/nn/layers/module.h"
#include "core/nn/train/step_record.h"

namespace lockstep::nn {

class NoiseMeter {
  public:
    // After a part's backward: the gradients on the tape are sums over the parts so far, each times its share of the batch
    // and the loss scale.
    void part(const tensor::Tape& tape, std::span<Parameter* const> parameters, int64_t examples, int64_t batch,
              double loss_scale = 1);
    // After the last part. Averages: the mean of the first 50 steps, then over about the last 50.
    NoiseScale end();

    void keep(Checkpoint& checkpoint) const;
    void restore(const Checkpoint& checkpoint);  // none kept: from the beginning

  private:
    std::vector<std::vector<double>> sum_;  // a parameter each, through the parts so far
    double part_squares_ = 0, inverse_sizes_ = 0, parts_ = 0, batch_ = 0, whole_square_ = 0;
    double steps_ = 0, gradient_square_ = 0, noise_ = 0;
};

}  // namespace lockstep::nn
