// What models that tell classes apart predict.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::nn {

struct Predictions {
    std::vector<int32_t> labels;
    std::vector<float> confidence;  // softmax of the largest logit
    int64_t right = 0;
};
Predictions predictions_of(std::span<const double> logits, std::span<const int32_t> labels);
// The same, appended; how many are right.
int64_t predict(std::span<const double> logits, std::span<const int32_t> labels, std::vector<int32_t>& predicted,
                std::vector<float>& confidence);

}  // namespace lockstep::nn
