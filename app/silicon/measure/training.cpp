// A step's time is the host's, from the batch's copy to the loss that comes back; nobody listens to single launches, so that
// graphs are graphs. How many launches a step has is counted in a run of its own.
#include "app/silicon/measure/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"

namespace lockstep::nn {
namespace {

constexpr int silicon_warm_up = 4;  // two are recorded before a replay, which is made ready by the next

TrainerOptions silicon_training_options(const std::string& model, const std::string& device, Mode mode, bool quick) {
    const ModelRow& row = model_named(model);
    TrainerOptions options;
    options.model = model;
    options.device = device;
    options.mode = mode;
    options.batch = quick ? 2 : row.batch;
    options.learning_rate = row.learning_rate;
    options.planned_steps = row.steps;
    options.keep_launches = false;
    options.keep_images = false;
    options.prefetch = !quick;
    options.threads = 4;
    return options;
}

}  // namespace

void measure_training(device::SiliconRun& run) {
    const bool quick = run.options.quick;
    const int steps = quick ? 1 : 20;
    std::vector<std::string> all = {"mlp", "lenet5", "gpt", "llama"};
    if (quick) all.resize(2);
    for (const std::string& model : all) {
        std::vector<double> host;  // losses; the same whatever the mode
        for (const Mode mode : {Mode::eager, Mode::graph, Mode::fused}) {
            const std::string name = fmt::format("{} {}", model, name_of(mode));
            run.row(name, [&] {
                if (host.empty()) {
                    Trainer trainer(silicon_training_options(model, "host", Mode::direct, quick));
                    for (int i = 0; i < silicon_warm_up + steps; ++i) host.push_back(trainer.step().loss);
                }
                Trainer trainer(silicon_training_options(model, run.device_name, mode, quick));
                device::SiliconTraining row{.name = name,
                                            .batch = static_cast<uint32_t>(trainer.options().batch),
                                            .steps = static_cast<uint32_t>(steps)};
                std::vector<double> times;
                for (int i = 0; i < silicon_warm_up + steps; ++i) {
                    const StepRecord step = trainer.step();
                    if (i >= silicon_warm_up) times.push_back(1e6 * step.seconds);
                    row.loss = step.loss;
                    row.host_loss = host[static_cast<size_t>(i)];
                    row.host_difference =
                        std::max(row.host_difference, std::abs(row.loss - row.host_loss) / std::abs(row.host_loss));
                    if (!std::isfinite(row.loss)) throw Failure(fmt::format("the loss of step {} is no finite number", i));
                }
                row.time_us = device::median_of(times);
                row.fastest_us = *std::min_element(times.begin(), times.end());
                row.slowest_us = *std::max_element(times.begin(), times.end());
                TrainerOptions counted = silicon_training_options(model, run.device_name, mode, quick);
                counted.keep_launches = true;
                Trainer counter(counted);
                for (int i = 0; i < silicon_warm_up; ++i)
                    row.launches = static_cast<uint32_t>(counter.step().launches.size());
                run.add(std::move(row));
            });
        }
    }
}

}  // namespace lockstep::nn
