// The table of models: one row a model.
#include "core/nn/models.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::nn {

std::span<const ModelRow> models() {
    static const std::vector<ModelRow> table = {
        {"mlp", "784-128-10", {784, 128, 10}},
        {"mlp512", "784-512-512-10", {784, 512, 512, 10}},
    };
    return table;
}

const ModelRow& model_named(const std::string& name) {
    std::vector<std::string> known;
    for (const ModelRow& row : models()) {
        if (row.name == name) return row;
        known.emplace_back(row.name);
    }
    const std::string nearest = nearest_name(name, known);
    throw Failure(nearest.empty() ? fmt::format("unknown model '{}': known are {}", name, fmt::join(known, ", "))
                                  : fmt::format("unknown model '{}', did you mean '{}'?", name, nearest));
}

}  // namespace lockstep::nn
