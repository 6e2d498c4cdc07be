// Figures of a model that is never allocated: its module tree is built on `meta`, and its parameters are counted.
#pragma once
#include <optional>
#include <string>

#include "core/base/result.h"

namespace lockstep::scene {

// "model.parameters@model:llama3_8b" (also llama3_70b, llama3_405b): parameters, attention_parameters and ffn_parameters (of
// one layer), embedding_parameters (of the table alone), layers, width, heads, kv_heads, ffn, vocabulary. Nothing for a name
// that does not begin with "model.".
std::optional<Result<double>> figure_of_named_model(const std::string& name);

}  // namespace lockstep::scene
