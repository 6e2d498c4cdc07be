// The models that can be trained, one row a model: the list is models.cpp. A row says what `lockstep train --model NAME`
// does when nothing else is asked for.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/nn/train/task.h"

namespace lockstep::nn {

struct ModelRow {
    std::string_view name;     // "mlp512"
    std::string_view summary;  // "784-512-512-10"
    std::string_view data;     // a row of data_sets()
    bool mixed = false;        // trains in f16 and bf16 too
    bool own_data = false;     // reads no other
    std::string_view optimizer = "sgd", schedule = "constant";
    double clip_norm = 0;                // 0: none
    std::optional<double> dropout = {};  // of what it drops while it learns; none: it has no such layers
    double beta1 = 0;                    // of Adam and its like; 0: its own
    double learning_rate = 0.1;
    int64_t batch = 64;
    int64_t steps = 100;   // that reach the model's target
    std::string_view aim;  // what it then reaches, on data that it has not seen: "95 % of held-out fonts' digits"
    std::unique_ptr<Task> (*make)(const TaskOptions& options, tensor::Heap& heap) = nullptr;
};

std::span<const ModelRow> models();
const ModelRow& model_named(const std::string& name);  // throws Failure with the nearest name

}  // namespace lockstep::nn
