// Dimensions and counts of parameters of the Llama 3 models, from the table of core/nn/models/blocks.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/nn/models/blocks.h"
#include "core/scene/figures/figures.h"

namespace lockstep::scene {
namespace {

double counted(const nn::ModelShape& shape, std::string_view prefix) {
    return static_cast<double>(nn::parameters_of(shape, prefix));
}

constexpr Figure<nn::ModelShape> rows[] = {
    {"model.parameters", "", "Of the whole model.", [](const nn::ModelShape& s) { return counted(s, ""); }, "model"},
    {"model.attention_parameters", "", "Of one layer's attention.",
     [](const nn::ModelShape& s) { return counted(s, "layers.0.attention"); }, "model"},
    {"model.ffn_parameters", "", "Of one layer's feed-forward part.",
     [](const nn::ModelShape& s) { return counted(s, "layers.0.mlp"); }, "model"},
    {"model.embedding_parameters", "", "Of the table of tokens alone.",
     [](const nn::ModelShape& s) { return counted(s, "tokens"); }, "model"},
    {"model.layers", "", "Of the model.", [](const nn::ModelShape& s) { return s.layers; }, "model"},
    {"model.width", "", "Of a token between layers.", [](const nn::ModelShape& s) { return s.width; }, "model"},
    {"model.heads", "", "Of an attention layer.", [](const nn::ModelShape& s) { return s.heads; }, "model"},
    {"model.kv_heads", "", "Of keys and values.", [](const nn::ModelShape& s) { return s.kv_heads; }, "model"},
    {"model.ffn", "", "Width of the feed-forward part.", [](const nn::ModelShape& s) { return s.ffn; }, "model"},
    {"model.vocabulary", "", "Tokens that there are.", [](const nn::ModelShape& s) { return s.vocabulary; }, "model"},
};

}  // namespace

std::vector<FigureText> model_figures() {
    return texts_of(rows);
}

std::optional<Result<double>> figure_of_named_model(const FigureName& name) {
    const std::string which = name.place("model");
    if (!name.base.starts_with("model.") || which.empty()) return std::nullopt;
    std::string row = which;  // "llama3_8b" is the row llama3-8b
    std::replace(row.begin(), row.end(), '_', '-');
    const nn::ModelShape* const model = which.starts_with("llama3_") ? nn::find_shape(row) : nullptr;
    if (!model)
        return Diagnostic{fmt::format("no model '{}' is known; there are llama3_8b, llama3_70b and llama3_405b", which)};
    return figure_among<nn::ModelShape>(rows, *model, name, "a model");
}

}  // namespace lockstep::scene
