// The loop that every model with a test set of many examples is judged by: a few at a time, without gradients.
#pragma once
#include <functional>
#include <span>

#include "core/nn/train/task.h"

namespace lockstep::nn {

struct Judging {
    int64_t count = 0, group = 0;  // examples in all, and at a time
    // The mean loss and the output of examples first .. first + rows - 1.
    std::function<Forward(Pass& pass, int64_t first, int64_t rows)> forward;
    // How many of these examples the output is right for, fractions too; null: accuracy stays 0.
    std::function<double(std::span<const double> output, int64_t rows)> right;
};

// Loss and accuracy an example. `heap` is recycled as it goes. Throws Cancelled.
Evaluation judge(const Judging& judging, tensor::Heap& heap, const std::stop_token& stop);

int32_t place_of_largest(std::span<const double> logits);  // where the first largest stands

}  // namespace lockstep::nn
