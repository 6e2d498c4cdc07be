// `lockstep train` with --compare, --quantize, --prune, --distill or --lora: a table of the cheaper forms beside f32.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/dtype.h"

namespace CLI {
class App;
}
namespace lockstep::nn {
struct TrainerOptions;
}

namespace lockstep::cli {

struct CheaperChoice {
    bool compare = false;
    std::string quantize, prune, distill, tune_data = "pig latin";
    int64_t lora = 0, tune_steps = 0, seeds = 3;
    double temperature = 4, teacher_weight = 0.7, alpha = 16;

    bool any() const { return compare || !quantize.empty() || !prune.empty() || !distill.empty() || lora > 0; }
};

void add_cheaper(CLI::App& command, CheaperChoice& choice);
int train_cheaper(const CheaperChoice& choice, const nn::TrainerOptions& options, DType type, std::optional<int64_t> steps,
                  std::optional<int64_t> batch, std::optional<double> learning_rate, const std::string& json);

}  // namespace lockstep::cli
