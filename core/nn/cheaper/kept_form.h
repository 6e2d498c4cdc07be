// What a checkpoint keeps of a model that was made cheaper while it learns: a mask beside each pruned parameter
// ("fc1.weight.mask"), LoRA's adapters as parameters ("fc1.lora_a", "fc1.lora_b") and their factor ("lora.scale"). A run
// goes on from it with the alteration that the checkpoint itself describes:
//
//     options.alter = alter_of(checkpoint);      // empty where the model is plain
//     Trainer trainer(options);
//     trainer.restore(checkpoint);
#pragma once
#include <functional>
#include <span>
#include <string>

#include "core/nn/data/files/checkpoint.h"
#include "core/nn/layers/layers.h"
#include "core/nn/train/task.h"

namespace lockstep::nn {

// Masks and adapters of the checkpoint, put on a task that has none. Throws Failure where they do not fit it.
std::function<void(Task& task, tensor::Heap& heap)> alter_of(const Checkpoint& checkpoint);

// Throws Failure where masks or adapters stand on one side alone: training would go another way.
void check_form(const ParameterList& list, const NamedArrays& arrays);

// Freezes every parameter and puts adapters of `rank` on the weights of these names, [outputs, inputs], which alone learn:
// y = x Wᵀ + scale (x Aᵀ) Bᵀ with A from N(0, 1 / inputs) and B zero. Throws Failure where there is no such weight.
void add_adapters(Task& task, tensor::Heap& heap, std::span<const std::string> weights, int64_t rank, double scale,
                  uint64_t seed);
std::string adapter_name(const std::string& weight, std::string_view part);  // "fc1.weight", "lora_a" -> "fc1.lora_a"

}  // namespace lockstep::nn
