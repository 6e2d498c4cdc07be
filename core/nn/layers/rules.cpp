#include "core/nn/layers/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"

namespace lockstep::nn {

Rule rule_of(const TrainerOptions& options) {
    const ModelRow& row = model_named(options.model);
    Rule rule =
        rule_named(std::string(options.optimizer.empty() ? row.optimizer : options.optimizer), options.learning_rate);
    std::visit(
        [&](auto& it) {
            if (options.weight_decay >= 0) it.weight_decay = options.weight_decay;
            if constexpr (requires { it.momentum; })
                if (options.momentum >= 0) it.momentum = options.momentum;
            if constexpr (requires { it.nesterov; }) it.nesterov = options.nesterov;
            if constexpr (requires { it.beta1; })
                if (row.beta1 > 0 && options.optimizer.empty()) it.beta1 = row.beta1;
        },
        rule);
    return rule;
}

double rate_at(const TrainerOptions& options, int64_t next) {
    const ModelRow& row = model_named(options.model);
    const std::string_view schedule = options.schedule.empty() ? row.schedule : std::string_view(options.schedule);
    const int64_t steps = options.planned_steps > 0 ? options.planned_steps : row.steps, now = std::min(next, steps);
    double lr = options.learning_rate;
    if (options.scale_rate == "linear") lr = linear_scaling(lr, double(options.batch), double(row.batch));
    if (options.scale_rate == "sqrt") lr = square_root_scaling(lr, double(options.batch), double(row.batch));
    if (schedule != "constant" && schedule != "step" && schedule != "cosine" && schedule != "warm_up" &&
        schedule != "warm_up_cosine")
        throw Failure(fmt::format("unknown schedule '{}': constant, step, cosine, warm_up or warm_up_cosine", schedule));
    const bool warms = schedule == "warm_up" || schedule == "warm_up_cosine";
    const int64_t warm = options.warm_up >= 0 ? options.warm_up : warms ? std::max<int64_t>(1, steps / 20) : 0;
    if (next < warm && schedule != "warm_up") return lr * double(next + 1) / double(warm);
    if (schedule == "cosine" || schedule == "warm_up_cosine")
        return warm_up_cosine(lr, now, std::min(warm, now), std::max(steps, warm + 1), lr / 10);
    if (schedule == "warm_up") return warm_up(lr, next, warm);
    if (schedule == "step") return step_lr(lr, next, std::max<int64_t>(1, steps / 3), 0.1);
    return lr;
}

Clipping clipping_of(const TrainerOptions& options) {
    return {.max_norm = options.clip_norm < 0 ? model_named(options.model).clip_norm : options.clip_norm};
}

std::optional<LossScaling> scaling_of(const TrainerOptions& options) {
    const double scale = options.loss_scale >= 0 ? options.loss_scale : options.dtype == DType::f16 ? 65536 : 0;
    if (scale == 0) return {};
    return LossScaling{.scale = scale, .growth_interval = options.scale_interval};
}

}  // namespace lockstep::nn
