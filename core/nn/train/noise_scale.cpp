// Host arithmetic in double on copies of the gradients: a measurement, not part of the step.
#include "core/nn/train/noise_scale.h"

#include <algorithm>
#include <limits>

#include "core/tensor/tape.h"

namespace lockstep::nn {

void NoiseMeter::part(const tensor::Tape& tape, std::span<Parameter* const> parameters, int64_t examples, int64_t batch,
                      double loss_scale) {
    const bool first = parts_ == 0;
    sum_.resize(parameters.size());
    double part_square = 0;
    whole_square_ = 0;
    const double share = double(examples) / double(batch);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i]->node < 0) continue;
        const auto now = tape.gradient_values(parameters[i]->node);
        if (first) sum_[i].assign(now.size(), 0);
        for (size_t k = 0; k < now.size(); ++k) {
            const double sum = now[k] / loss_scale, of_part = (sum - sum_[i][k]) / share;
            part_square += of_part * of_part;
            whole_square_ += sum * sum;
            sum_[i][k] = sum;
        }
    }
    part_squares_ += part_square;
    inverse_sizes_ += 1 / double(examples);
    parts_ += 1;
    batch_ = double(batch);
}

NoiseScale NoiseMeter::end() {
    NoiseScale now;
    const double part_square = part_squares_ / parts_, inverse = inverse_sizes_ / parts_;  // 1 / b
    now.small_batch = 1 / inverse;
    now.big_batch = batch_;
    now.step_gradient_square = (batch_ * whole_square_ - part_square / inverse) / (batch_ - 1 / inverse);
    now.step_noise = (part_square - whole_square_) / (inverse - 1 / batch_);
    steps_ += 1;
    const double weight = 1 / std::min(steps_, 50.0);
    gradient_square_ += weight * (now.step_gradient_square - gradient_square_);
    noise_ += weight * (now.step_noise - noise_);
    now.gradient_square = gradient_square_;
    now.noise = noise_;
    now.simple = gradient_square_ > 0 ? noise_ / gradient_square_ : std::numeric_limits<double>::infinity();
    part_squares_ = inverse_sizes_ = parts_ = 0;
    return now;
}

void NoiseMeter::keep(Checkpoint& checkpoint) const {
    checkpoint.keep("noise_scale.steps", steps_);
    checkpoint.keep("noise_scale.gradient_square", gradient_square_);
    checkpoint.keep("noise_scale.noise", noise_);
}

void NoiseMeter::restore(const Checkpoint& checkpoint) {
    *this = {};
    if (!checkpoint.state.contains("noise_scale.steps")) return;
    steps_ = checkpoint.number("noise_scale.steps");
    gradient_square_ = checkpoint.number("noise_scale.gradient_square");
    noise_ = checkpoint.number("noise_scale.noise");
}

}  // namespace lockstep::nn
