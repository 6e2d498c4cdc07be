#include "core/tensor/gradcheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::tensor {

namespace {
struct Run {
    std::vector<double> output;
    std::vector<std::vector<double>> gradients;
    std::string op;
};

Run run(Heap& heap, const GradcheckFunction& function, const std::vector<GradcheckInput>& inputs,
        const std::vector<double>& weights) {
    Tape tape(heap);
    std::vector<Variable> variables;
    for (const GradcheckInput& input : inputs)
        variables.push_back(tape.input(tensor_from(heap, input.shape, input.values, input.name, Purpose::data, DType::f64),
                                       input.name, true));
    const Variable y = function(tape, variables);
    const Node& last = tape.nodes()[static_cast<size_t>(y.node)];
    Run result{values_of(heap, y.value), {}, last.op ? fmt::format("{} ({})", last.name, last.op->name) : last.name};
    if (weights.empty()) return result;
    tape.backward(y, tensor_from(heap, y.shape(), weights, "weights", Purpose::gradient, y.dtype()));
    for (const Variable& variable : variables) {
        result.gradients.push_back(tape.gradient_values(variable.node));
        if (result.gradients.back().empty())
            result.gradients.back().assign(static_cast<size_t>(variable.value.count()), 0.0);
    }
    return result;
}
}  // namespace

GradcheckResult gradcheck(Heap& heap, const GradcheckFunction& function, const std::vector<GradcheckInput>& inputs,
                          const GradcheckOptions& options) {
    std::vector<GradcheckInput> moved = inputs;
    Rng rng(options.seed);
    std::vector<double> weights = run(heap, function, inputs, {}).output;
    for (double& weight : weights) weight = weights.size() == 1 ? 1 : rng.uniform(0.5, 1.5) * (rng.below(2) ? 1 : -1);
    const Run exact = run(heap, function, inputs, weights);
    const auto weighted = [&] {
        heap.recycle();
        const Run once = run(heap, function, moved, {});
        double sum = 0;
        for (size_t i = 0; i < weights.size(); ++i) sum += once.output[i] * weights[i];
        return sum;
    };
    GradcheckResult result;
    for (size_t input = 0; input < inputs.size(); ++input) {
        std::vector<double>& values = moved[input].values;
        const size_t tries = std::min(options.most, values.size());
        for (size_t t = 0; t < tries; ++t) {
            const size_t i = t * values.size() / tries;
            const double kept = values[i], up = kept + options.step, down = kept - options.step;
            values[i] = up;
            const double above = weighted();
            values[i] = down;
            const double below = weighted();
            values[i] = kept;
            const double numeric = (above - below) / (up - down), backward = exact.gradients[input][i];
            const double error = std::abs(backward - numeric) / (options.absolute + options.relative * std::abs(numeric));
            ++result.compared;
            GradcheckPair pair{inputs[input].name, {}, backward, numeric, error};
            auto left = static_cast<int64_t>(i);
            for (int64_t stride : strides_of(inputs[input].shape)) {
                pair.at.push_back(left / stride);
                left %= stride;
            }
            result.pairs.push_back(pair);
            if (error <= 1) {  // false for NaN
                result.worst = std::max(result.worst, error);
                continue;
            }
            result.worst = std::isnan(error) ? error : std::max(result.worst, error);
            result.mismatches.push_back({exact.op, inputs[input].name, std::move(pair.at), backward, numeric});
        }
    }
    return result;
}

std::string GradcheckResult::text() const {
    if (ok()) return fmt::format("{} gradients agree with central differences", compared);
    if (mismatches.empty()) return "nothing was compared";
    const GradcheckMismatch& first = mismatches.front();
    return fmt::format(
        "{}: the gradient of {} at {} is {:.9g} by backward but {:.9g} by central differences ({} of {} differ)", first.op,
        first.input, text_of(first.at), first.backward, first.numeric, mismatches.size(), compared);
}

}  // namespace lockstep::tensor
