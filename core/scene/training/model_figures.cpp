// Dimensions of the Llama 3 models: arXiv 2407.21783, table 3; the module tree is that of core/nn/models/language.h.
#include "core/scene/training/model_figures.h"

#include <fmt/format.h>

#include <map>

#include "core/base/diagnostic.h"
#include "core/nn/models/language.h"

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

const std::map<std::string, nn::LanguageShape>& llama_rows() {
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

}  // namespace

std::optional<Result<double>> figure_of_named_model(const std::string& name) {
    const size_t at = name.find("@model:");
    if (!name.starts_with("model.") || at == std::string::npos) return std::nullopt;
    const std::string what = name.substr(6, at - 6), which = name.substr(at + 7);
    const auto row = llama_rows().find(which);
    if (row == llama_rows().end())
        return Result<double>(
            Diagnostic{fmt::format("no model '{}' is known; there are llama3_8b, llama3_70b and llama3_405b", which)});
    const nn::LanguageShape& shape = row->second;
    const std::map<std::string, int64_t> plain = {{"layers", shape.layers}, {"width", shape.width},
                                                  {"heads", shape.heads},   {"kv_heads", shape.kv_heads},
                                                  {"ffn", shape.ffn},       {"vocabulary", shape.vocabulary}};
    if (const auto found = plain.find(what); found != plain.end()) return Result<double>(static_cast<double>(found->second));
    if (what == "parameters") return Result<double>(parameters_of(shape, ""));
    if (what == "attention_parameters") return Result<double>(parameters_of(shape, "layers.0.attention"));
    if (what == "ffn_parameters") return Result<double>(parameters_of(shape, "layers.0.mlp"));
    if (what == "embedding_parameters") return Result<double>(parameters_of(shape, "tokens"));
    return Result<double>(Diagnostic{fmt::format("a model has no figure '{}'", what)});
}

}  // namespace lockstep::scene
