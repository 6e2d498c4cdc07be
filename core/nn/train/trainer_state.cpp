#include "core/nn/train/trainer_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/nn/models/pictures.h"

namespace lockstep::nn {

Trainer::State::State(TrainerOptions o)
    : options(std::move(o)),
      row(model_named(options.model)),
      device(with_mode(device::open_device(options.device, {.functional = options.functional,
                                                            .warm_l2 = options.warm_l2,
                                                            .keep_runs = options.keep_runs,
                                                            .threads = options.threads,
                                                            .stop = options.stop})
                           .value(),
                       options.mode)),
      heap(*device),
      execution(options.mode, heap),
      tape(heap),
      task(make_task(heap)) {
    if (options.noise_scale) options.accumulate = std::max<int64_t>(2, options.accumulate);
    if (options.accumulate > options.batch)
        throw Failure(fmt::format("a batch of {} does not go through in {} parts", options.batch, options.accumulate));
    if (options.accumulate > 1 && !task->make_batch)
        throw Failure(fmt::format("model {} takes no batches of examples, so there is nothing to accumulate", task->model));
    if (options.noise_scale && task->groups.size() > 1)
        throw Failure(fmt::format("model {} has two losses: a gradient noise scale is of one", task->model));
    if (options.accumulate > 1 && (options.mode == Mode::graph || options.mode == Mode::fused))
        throw Failure(fmt::format("mode {} captures a batch that goes through in one part, not in {}", name_of(options.mode),
                                  options.accumulate));
    parts.resize(static_cast<size_t>(options.accumulate));
    if (task->make_batch)
        make_part = [make = task->make_batch, count = parts.size(), batch = options.batch](uint64_t number, Batch& into) {
            const auto first = [&](uint64_t part) {
                return static_cast<int64_t>(part * static_cast<uint64_t>(batch) / count);
            };
            into.first = first(number % count);
            into.count = first(number % count + 1) - into.first;
            make(number / count, into);
        };
    if (task->groups.empty()) task->groups.push_back({"", task->list.all()});
    if (const auto scale = scaling()) next_scale = scale->scale;
    for (Group& group : task->groups)
        players.push_back(
            {group, Optimizer(heap, rule_of(options), group.parameters, clipping_of(options), scaling_of(options))});
}

const graph::StepInputs& Trainer::State::inputs(double rate) {
    const Batch& batch = parts.front();
    step_inputs.sources.assign({{batch.values.data(), batch.values.size(), DType::f32},
                                {batch.labels.data(), batch.labels.size(), DType::i32},
                                {batch.tokens.data(), batch.tokens.size(), DType::i64}});
    step_inputs.random_base = random_base();
    step_inputs.learning_rate = rate;
    return step_inputs;
}

void Trainer::State::replay(graph::Executor& executor, const graph::StepInputs& with, StepRecord& record) {
    for (Player& player : players) {
        player.optimizer.set_lr(with.learning_rate);
        player.optimizer.send_lr();
    }
    executor.replay(with);
    device->synchronize();
    record.replayed = true;
    record.planned_bytes = executor.bytes();
    if (options.keep_launches) record.live_bytes = executor.plan().live;
}

void Trainer::State::note_scale(StepRecord& record) {
    if (!scaling()) return;
    const Optimizer::Report report = players.front().optimizer.report();
    record.loss_scale = next_scale;
    record.left_out = static_cast<int64_t>(report.left_out);
    record.grown = static_cast<int64_t>(report.grown);
    next_scale = report.loss_scale;
}

void Trainer::State::let_learn(size_t turn) {
    if (players.size() == 1) return;
    for (size_t i = 0; i < players.size(); ++i)
        for (Parameter* parameter : players[i].group.parameters) parameter->trainable = i == turn;
}

std::unique_ptr<Task> Trainer::State::make_task(tensor::Heap& on) const {
    auto made = row.make(task_options(), on);
    if (options.alter) options.alter(*made, on);
    return made;
}

TaskOptions Trainer::State::task_options() const {
    if (mixed() && !row.mixed) {
        std::string able;
        for (const ModelRow& other : models())
            if (other.mixed) able += fmt::format("{}{}", able.empty() ? "" : ", ", other.name);
        throw Failure(fmt::format("model {} computes in f32 or f64: {} is for {}", row.name, name_of(options.dtype), able));
    }
    if (options.dropout >= 0 && !row.dropout) {
        std::string able;
        for (const ModelRow& other : models())
            if (other.dropout) able += fmt::format("{}{}", able.empty() ? "" : ", ", other.name);
        throw Failure(fmt::format("model {} drops no values while it learns: {} do", row.name, able));
    }
    if (row.own_data && !options.data.empty() && options.data != row.data)
        throw Failure(fmt::format("model {} has its own data, '{}': it reads no '{}'", row.name, row.data, options.data));
    return {.steps = options.planned_steps > 0 ? options.planned_steps : row.steps,
            .data = options.data,
            .batch = options.batch,
            .seed = options.seed,
            .dtype = mixed() ? DType::f32 : options.dtype,
            .compute = mixed() ? std::optional(options.dtype) : std::nullopt,
            .dropout = options.dropout >= 0 ? std::optional(options.dropout) : row.dropout};
}

void Trainer::State::load_batch() {
    if (!make_part) return;
    const auto count = static_cast<uint64_t>(parts.size());
    const uint64_t number = static_cast<uint64_t>(next) * count;
    if (options.prefetch && !loader)
        loader = std::make_unique<Loader<Batch>>(
            LoaderOptions{
                .first = number, .depth = 2 + static_cast<int>(std::min<uint64_t>(count, 100)), .stop = options.stop},
            make_part);
    for (uint64_t part = 0; part < count; ++part)
        if (options.prefetch)
            loader->next(parts[part]);
        else
            make_part(number + part, parts[part]);
}

void Trainer::State::note(StepRecord& record, const Forward& made, const Batch& part) const {
    note(record, tape.values(made.loss.node)[0], task->classifies ? tape.values(made.output.node) : std::vector<double>(),
         part);
}

void Trainer::State::note(StepRecord& record, double loss, std::span<const double> said, const Batch& part) const {
    record.loss += parts.size() == 1 ? loss : share(part) * loss;
    if (!task->classifies) return;
    const int64_t right = predict(said, part.labels, record.predictions, record.confidence);
    record.train_accuracy += double(right) / double(options.batch);
    record.labels.insert(record.labels.end(), part.labels.begin(), part.labels.end());
}

void Trainer::State::keep_pictures(StepRecord& record) {
    if (!pictures || pictures.use_count() > 1) pictures = std::make_shared<std::vector<float>>();
    pictures->clear();
    for (const Batch& part : parts) pictures->insert(pictures->end(), part.values.begin(), part.values.end());
    if (!pictures->empty()) record.images = pictures;
}

void Trainer::State::learn_part(StepRecord& record, Forward& made, size_t turn, size_t part) {
    made.output.value = {};  // lives on only where backward needs it
    const tensor::Tensor seed = players[turn].optimizer.seed(tape);
    if (parts.size() == 1) return tape.backward(made.loss, seed);
    const double scale = seed ? tensor::values_of(heap, seed)[0] : 1, weight[] = {share(parts[part]) * scale};
    tape.backward(made.loss, tensor::tensor_from(heap, made.loss.shape(), weight, "share", tensor::Purpose::data,
                                                 made.loss.value.dtype));
    made.loss.value = {};
    if (options.noise_scale)
        noise.part(tape, players[turn].group.parameters, parts[part].examples(options.batch), options.batch, scale);
    if (turn + 1 == players.size()) note(record, made, parts[part]);
    if (!options.keep_graph) heap.recycle();  // what the next part needs no more; leaves keep their gradients
}

}  // namespace lockstep::nn
