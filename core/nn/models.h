// The models that can be trained, one row a model: the list is models.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::nn {

struct ModelRow {
    std::string_view name;        // "mlp512"
    std::string_view summary;     // "784-512-512-10"
    std::vector<int64_t> widths;  // of the layers, input first; ReLU between them, none after the last
};

std::span<const ModelRow> models();
const ModelRow& model_named(const std::string& name);  // throws Failure with the nearest name

}  // namespace lockstep::nn
