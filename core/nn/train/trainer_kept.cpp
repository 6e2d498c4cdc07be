// What a Trainer hands out and takes back: its parameters, and the checkpoints that a run goes on from.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/data/files/parameter_arrays.h"
#include "core/nn/train/trainer_state.h"
#include "core/nn/train/training_options.h"

namespace lockstep::nn {

std::vector<Trainer::ParameterInfo> Trainer::parameters() const {
    std::vector<ParameterInfo> all;
    int64_t offset = 0;
    for (const Parameter& parameter : state_->task->list.parameters()) {
        all.push_back({parameter.name, parameter.value.shape, offset});
        offset += parameter.value.count();
    }
    return all;
}

std::vector<NamedTensor> Trainer::kept() const {
    std::vector<NamedTensor> all = tensors_of(state_->task->list);
    for (const State::Player& player : state_->players)
        for (NamedTensor& row : player.optimizer.state()) {
            if (!player.group.name.empty()) row.name = fmt::format("{}.{}", player.group.name, row.name);
            all.push_back(std::move(row));
        }
    return all;
}

Checkpoint Trainer::checkpoint() const {
    TrainerOptions options = state_->options;
    if (options.planned_steps == 0) options.planned_steps = state_->row.steps;
    Checkpoint made{.model = options.model,
                    .step = state_->next,
                    .seed = options.seed,
                    .options = texts_of(options),
                    .tensors = arrays_of(state_->heap, kept())};
    if (options.noise_scale) state_->noise.keep(made);
    return made;
}

void Trainer::restore(const Checkpoint& checkpoint) {
    check_goes_on(state_->options, checkpoint);
    if (checkpoint.step < 0) throw Failure(fmt::format("there is no step {}", checkpoint.step));
    check_form(state_->task->list, checkpoint.tensors);
    nn::restore(state_->heap, kept(), checkpoint.tensors);
    for (State::Player& player : state_->players) player.optimizer.restored();
    if (state_->scaling()) state_->next_scale = state_->players.front().optimizer.report().loss_scale;
    state_->noise.restore(checkpoint);
    state_->watch = {};
    if (checkpoint.step != state_->next) state_->loader.reset();
    state_->next = checkpoint.step;
}

std::vector<float> Trainer::export_parameters() const {
    std::vector<float> all;
    for (const Parameter& parameter : state_->task->list.parameters()) {
        const auto values = tensor::to_host(state_->heap, parameter.value);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

void Trainer::import_parameters(std::span<const float> values, int64_t next_step) {
    size_t wanted = 0;
    for (const ParameterInfo& info : parameters()) wanted += static_cast<size_t>(tensor::count_of(info.shape));
    if (values.size() != wanted)
        throw Failure(fmt::format("model {} has {} parameters, not {}", state_->task->model, wanted, values.size()));
    if (next_step < 0) throw Failure(fmt::format("there is no step {}", next_step));
    const float* from = values.data();
    for (const Parameter& parameter : state_->task->list.parameters()) {
        const std::vector<double> wide(from, from + parameter.value.count());
        tensor::write_values(state_->heap, parameter.value, wide, parameter.name);
        from += parameter.value.count();
    }
    if (next_step != state_->next) state_->loader.reset();
    state_->next = next_step;
}

}  // namespace lockstep::nn
