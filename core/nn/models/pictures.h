// Tasks that tell pictures apart: the data, the loss and the evaluation that mlp, lenet5 and resnet8 share.
#pragma once
#include <functional>
#include <memory>

#include "core/nn/data/data_set.h"
#include "core/nn/train/task.h"

namespace lockstep::nn {

struct Network {
    // Logits [B, classes] of pictures x, [B, pixels] or [B, channels, rows, columns] as `shape` says (without B).
    std::function<tensor::Variable(Pass& pass, const tensor::Variable& x)> logits;
    tensor::Shape shape;
    int64_t classes = 10;
};

// `build` makes the layers, for these data where it can. Pictures that are smaller than the network's get an empty rim, as
// LeNet-5's authors gave MNIST's. Throws Failure where the data's pictures are not what the network takes.
std::unique_ptr<Task> picture_task(std::string_view model, const TaskOptions& options, tensor::Heap& heap,
                                   const std::string& default_data,
                                   const std::function<Network(Build& build, const DataSet& data)>& build);

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
