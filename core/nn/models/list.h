// What the model files hand to the list in models.cpp: one function each.
#pragma once
#include <memory>

#include "core/nn/task.h"

namespace lockstep::nn {

std::unique_ptr<Task> make_linear_regression(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_mlp(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_mlp512(const TaskOptions& options, tensor::Heap& heap);

}  // namespace lockstep::nn
