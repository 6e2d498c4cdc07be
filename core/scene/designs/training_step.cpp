// A training step as what a design runs: the launches of a step that was timed on a GPU, each with the memory that it found.
#include <fmt/format.h>

#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/scene/designs/designs.h"

namespace lockstep::scene {

DesignLaunch launches_of(const std::vector<device::LaunchEvent>& launches, std::string name) {
    DesignLaunch all;
    all.name = std::move(name);
    for (const device::LaunchEvent& launch : launches) {
        if (!launch.run || !launch.run->before)
            throw Failure(fmt::format("kernel {} did not keep the memory that it began with", launch.label));
        if (all.program) {
            all.then.push_back(
                {launch.run->program, launch.run->config, launch.run->before, launch.label, launch.run->source});
            continue;
        }
        all.program = launch.run->program;
        all.config = launch.run->config;
        all.memory = launch.run->before;
        all.label = launch.label;
        all.source = launch.run->source;
    }
    if (!all.program) throw Failure("the training step launched no kernel on a modelled GPU");
    return all;
}

DesignLaunch step_of_model(const std::string& model, const model::GpuSpec& gpu, const std::stop_token& stop) {
    nn::TrainerOptions options;
    const nn::ModelRow& row = nn::model_named(model);
    options.model = model;
    options.batch = row.batch;
    options.device = "sim:" + std::string(gpu.name);
    options.keep_runs = true;
    options.stop = stop;
    nn::Trainer trainer(options);
    return launches_of(trainer.step().launches, "a training step of " + model);
}

}  // namespace lockstep::scene
