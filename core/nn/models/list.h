// What the model files hand to the list in models.cpp: one function each.
#pragma once
#include <memory>

#include "core/nn/train/task.h"

namespace lockstep::nn {

std::unique_ptr<Task> make_autoencoder(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_gan(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_gcn(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_gpt(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_kmeans(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_lenet5(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_linear_regression(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_llama(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_lstm(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_mlp(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_mlp512(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_policy(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_resnet8(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_rnn(const TaskOptions& options, tensor::Heap& heap);
std::unique_ptr<Task> make_spirals(const TaskOptions& options, tensor::Heap& heap);

}  // namespace lockstep::nn
