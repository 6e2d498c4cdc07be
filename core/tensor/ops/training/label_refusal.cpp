#include "core/tensor/ops/training/label_refusal.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

void refuse_label(const ForwardCall& call, const Tensor& logits, const Tensor& labels) {
    const std::vector<double> values = values_of(call.tape.heap(), labels);
    const auto first = std::find(values.begin(), values.end(), double(labels.largest)) - values.begin();
    const int64_t classes = logits.shape[1];
    throw Failure(
        fmt::format("{}: the label {} is outside the {} classes of logits of shape {}: example {} of the batch has it, "
                    "and labels count from 0 to {}",
                    call.name, labels.largest, classes, text_of(logits.shape), first, classes - 1));
}

}  // namespace lockstep::tensor
