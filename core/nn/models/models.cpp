// The table of models: one row a model.
#include "core/nn/models/models.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/nn/models/list.h"

namespace lockstep::nn {

std::span<const ModelRow> models() {
    static const std::vector<ModelRow> table = {
        {.name = "linear_regression",
         .summary = "y = w x + b",
         .data = "line",
         .learning_rate = 0.05,
         .batch = 256,
         .steps = 2000,
         .aim = "w and b within 1e-3 of the line's",
         .make = make_linear_regression},
        {.name = "mlp",
         .summary = "784-128-10",
         .data = "digits",
         .steps = 2000,
         .aim = "95 % of digits of held-out fonts",
         .make = make_mlp},
        {.name = "mlp512",
         .summary = "784-512-512-10",
         .data = "digits",
         .steps = 2000,
         .aim = "95 % of digits of held-out fonts",
         .make = make_mlp512},
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
