// Dimensions of the Llama 3 models: arXiv 2407.21783, table 3; the module tree is that of core/nn/models/language.h.
#include <fmt/format.h>

#include <map>

#include "core/base/diagnostic.h"
#include "core/nn/models/language.h"
#include "core/scene/figures/figures.h"

namespace lockstep::scene {
namespace {

nn::LanguageShape llama3(int64_t layers, int64_t width, int64_t heads, int64_t ffn) {
    nn::LanguageShape shape;
    shape.layers = layers;
    shape.width = width;
    shape.heads = heads;
    shape.kv_heads = 8;
    shape.context = 8192;
    shape.vocabulary = 128256;
    shape.ffn = ffn;
    shape.llama = true;
    return shape;
}

const std::map<std::string, nn::LanguageShape>& known_models() {
    static const std::map<std::string, nn::LanguageShape> rows = {{"llama3_8b", llama3(32, 4096, 32, 14336)},
                                                                  {"llama3_70b", llama3(80, 8192, 64, 28672)},
                                                                  {"llama3_405b", llama3(126, 16384, 128, 53248)}};
    return rows;
}

// Elements of all parameters whose names begin so; each model's tree is built anew: a thousand tensors without data.
double parameters_of(const nn::LanguageShape& shape, const std::string& prefix) {
    const auto meta = device::open_device("meta").value();
    tensor::Heap heap(*meta);
    Rng rng(1);
    nn::ParameterList list;
    nn::Build build{heap, rng, list};
    const nn::LanguageModel model(build, shape);
    double sum = 0;
    for (const nn::Parameter& parameter : list.parameters())
        if (parameter.name.starts_with(prefix)) sum += static_cast<double>(parameter.value.count());
    return sum;
}

constexpr Figure<nn::LanguageShape> model_rows[] = {
    {"model.parameters", "", "Of the whole model.", [](const nn::LanguageShape& s) { return parameters_of(s, ""); },
     "model"},
    {"model.attention_parameters", "", "Of one layer's attention.",
     [](const nn::LanguageShape& s) { return parameters_of(s, "layers.0.attention"); }, "model"},
    {"model.ffn_parameters", "", "Of one layer's feed-forward part.",
     [](const nn::LanguageShape& s) { return parameters_of(s, "layers.0.mlp"); }, "model"},
    {"model.embedding_parameters", "", "Of the table of tokens alone.",
     [](const nn::LanguageShape& s) { return parameters_of(s, "tokens"); }, "model"},
    {"model.layers", "", "Of the model.", [](const nn::LanguageShape& s) { return s.layers; }, "model"},
    {"model.width", "", "Of a token between layers.", [](const nn::LanguageShape& s) { return s.width; }, "model"},
    {"model.heads", "", "Of an attention layer.", [](const nn::LanguageShape& s) { return s.heads; }, "model"},
    {"model.kv_heads", "", "Of keys and values.", [](const nn::LanguageShape& s) { return s.kv_heads; }, "model"},
    {"model.ffn", "", "Width of the feed-forward part.", [](const nn::LanguageShape& s) { return s.ffn; }, "model"},
    {"model.vocabulary", "", "Tokens that there are.", [](const nn::LanguageShape& s) { return s.vocabulary; }, "model"},
};

}  // namespace

std::vector<FigureText> model_figures() {
    return texts_of(model_rows);
}

std::optional<Result<double>> figure_of_named_model(const FigureName& name) {
    const std::string which = name.place("model");
    if (!name.base.starts_with("model.") || which.empty()) return std::nullopt;
    const auto model = known_models().find(which);
    if (model == known_models().end())
        return Diagnostic{fmt::format("no model '{}' is known; there are llama3_8b, llama3_70b and llama3_405b", which)};
    return figure_among<nn::LanguageShape>(model_rows, model->second, name, "a model");
}

}  // namespace lockstep::scene
