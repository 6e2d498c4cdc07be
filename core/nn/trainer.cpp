// A step: the batch of its number -> forward on a tape -> backward -> update -> StepRecord. Host copies are taken after the
// last launch (parameters: before the first), so looking changes neither the kernels' times nor their addresses.
#include "core/nn/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/data/loader.h"
#include "core/nn/data/parameter_arrays.h"
#include "core/nn/finite.h"
#include "core/nn/graph_record.h"
#include "core/nn/kept_options.h"
#include "core/nn/models/models.h"
#include "core/nn/models/pictures.h"
#include "core/nn/noise_scale.h"
#include "core/nn/optim.h"
#include "core/nn/rules.h"
#include "core/nn/task.h"
#include "core/tensor/op.h"

namespace lockstep::nn {

using tensor::Heap;
using tensor::Node;
using tensor::Tape;

namespace {
Values keep(std::vector<float> values) {
    return values.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(values));
}

std::unique_ptr<device::Device> open(const std::string& name, const device::DeviceOptions& options) {
    return device::open_device(name, options).value();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A record as new, with the memory of an earlier step's lists and texts. `launches` keeps its elements: they are
// overwritten.
void begin_again(StepRecord& record) {
    StepRecord fresh;
    const auto keep_memory = [](auto& to, auto& from) {
        from.clear();
        to = std::move(from);
    };
    keep_memory(fresh.device, record.device);
    keep_memory(fresh.model, record.model);
    keep_memory(fresh.copies, record.copies);
    keep_memory(fresh.queue, record.queue);
    keep_memory(fresh.live_bytes, record.live_bytes);
    keep_memory(fresh.labels, record.labels);
    keep_memory(fresh.predictions, record.predictions);
    keep_memory(fresh.confidence, record.confidence);
    fresh.launches = std::move(record.launches);
    record = std::move(fresh);
}

// What a step hears of its launches. One pointer to it is all that a callback holds: a small one is not allocated.
struct Hearing {
    StepRecord& record;
    bool keeps;
    const std::function<void(const device::LaunchEvent&)>& also;
    size_t heard = 0;

    void hear(const device::LaunchEvent& event) {
        if (keeps && heard < record.launches.size())
            record.launches[heard] = event;
        else if (keeps)
            record.launches.push_back(event);
        heard += keeps;
        if (also) also(event);
    }
};

// Clears the callbacks however the step ends.
struct Listening {
    device::Device& device;
    Execution& execution;
    ~Listening() {
        device.on_launch = nullptr, device.on_copy = nullptr;
        if (auto* queue = dynamic_cast<graph::Queue*>(&device)) queue->on_queue = nullptr;
        execution.abandon();
    }
};
}  // namespace

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

struct Trainer::State {
    TrainerOptions options;
    const ModelRow& row;
    std::unique_ptr<device::Device> device;
    Heap heap;
    Execution execution;
    Tape tape;
    std::unique_ptr<Task> task;
    struct Player {
        Group group;
        Optimizer optimizer;
    };
    std::vector<Player> players;
    int64_t next = 0;
    double next_scale = 0;     // of the loss, in the step to come
    std::vector<Batch> parts;  // of the step's batch: one, unless gradients accumulate
    FiniteWatch watch;
    NoiseMeter noise;
    // Part number % parts of batch number / parts, whichever thread asks.
    std::function<void(uint64_t number, Batch& into)> make_part;
    std::unique_ptr<Loader<Batch>> loader;  // with prefetch: stands at batch number `next`
    // Memory that steps use again.
    graph::StepInputs step_inputs;
    std::vector<double> logits;
    std::shared_ptr<std::vector<float>> pictures;

    struct Evaluator {  // always on the host
        std::unique_ptr<device::Device> device;
        Heap heap;
        std::unique_ptr<Task> task;
    };
    std::unique_ptr<Evaluator> evaluator;

    explicit State(TrainerOptions o)
        : options(std::move(o)),
          row(model_named(options.model)),
          device(with_mode(open(options.device, {.functional = options.functional,
                                                 .keep_runs = options.keep_runs,
                                                 .threads = options.threads,
                                                 .stop = options.stop}),
                           options.mode)),
          heap(*device),
          execution(options.mode, heap),
          tape(heap),
          task(make_task(heap)) {
        if (options.noise_scale) options.accumulate = std::max<int64_t>(2, options.accumulate);
        if (options.accumulate > options.batch)
            throw Failure(fmt::format("a batch of {} does not go through in {} parts", options.batch, options.accumulate));
        if (options.accumulate > 1 && !task->make_batch)
            throw Failure(
                fmt::format("model {} takes no batches of examples, so there is nothing to accumulate", task->model));
        if (options.noise_scale && task->groups.size() > 1)
            throw Failure(fmt::format("model {} has two losses: a gradient noise scale is of one", task->model));
        if (options.accumulate > 1 && (options.mode == Mode::graph || options.mode == Mode::fused))
            throw Failure(fmt::format("mode {} captures a batch that goes through in one part, not in {}",
                                      name_of(options.mode), options.accumulate));
        parts.resize(static_cast<size_t>(options.accumulate));
        if (task->make_batch)
            make_part = [make = task->make_batch, count = parts.size(), batch = options.batch](uint64_t number,
                                                                                               Batch& into) {
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

    // What is new in this step, for recording and replay.
    const graph::StepInputs& inputs(double rate) {
        const Batch& batch = parts.front();
        step_inputs.sources.assign({{batch.values.data(), batch.values.size(), DType::f32},
                                    {batch.labels.data(), batch.labels.size(), DType::i32},
                                    {batch.tokens.data(), batch.tokens.size(), DType::i64}});
        step_inputs.random_base = random_base();
        step_inputs.learning_rate = rate;
        return step_inputs;
    }
    uint64_t random_base() const { return static_cast<uint64_t>(next) << 32; }

    // The step from a captured graph.
    void replay(graph::Executor& executor, const graph::StepInputs& with, StepRecord& record) {
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

    void note_scale(StepRecord& record) {
        if (!scaling()) return;
        const Optimizer::Report report = players.front().optimizer.report();
        record.loss_scale = next_scale;
        record.left_out = static_cast<int64_t>(report.left_out);
        record.grown = static_cast<int64_t>(report.grown);
        next_scale = report.loss_scale;
    }

    // Only the parameters of the group whose turn it is get gradients.
    void let_learn(size_t turn) {
        if (players.size() == 1) return;
        for (size_t i = 0; i < players.size(); ++i)
            for (Parameter* parameter : players[i].group.parameters) parameter->trainable = i == turn;
    }

    bool mixed() const { return options.dtype == DType::f16 || options.dtype == DType::bf16; }

    std::optional<LossScaling> scaling() const { return scaling_of(options); }

    std::unique_ptr<Task> make_task(Heap& on) const {
        auto made = row.make(task_options(), on);
        if (options.alter) options.alter(*made, on);
        return made;
    }

    TaskOptions task_options() const {
        if (mixed() && !row.mixed) {
            std::string able;
            for (const ModelRow& other : models())
                if (other.mixed) able += fmt::format("{}{}", able.empty() ? "" : ", ", other.name);
            throw Failure(
                fmt::format("model {} computes in f32 or f64: {} is for {}", row.name, name_of(options.dtype), able));
        }
        if (options.dropout >= 0 && !row.dropout) {
            std::string able;
            for (const ModelRow& other : models())
                if (other.dropout) able += fmt::format("{}{}", able.empty() ? "" : ", ", other.name);
            throw Failure(fmt::format("model {} drops no values while it learns: {} do", row.name, able));
        }
        if (row.own_data && !options.data.empty() && options.data != row.data)
            throw Failure(
                fmt::format("model {} has its own data, '{}': it reads no '{}'", row.name, row.data, options.data));
        return {.steps = options.planned_steps > 0 ? options.planned_steps : row.steps,
                .data = options.data,
                .batch = options.batch,
                .seed = options.seed,
                .dtype = mixed() ? DType::f32 : options.dtype,
                .compute = mixed() ? std::optional(options.dtype) : std::nullopt,
                .dropout = options.dropout >= 0 ? std::optional(options.dropout) : row.dropout};
    }

    void load_batch() {
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

    double share(const Batch& part) const {  // of the step's examples
        return double(part.examples(options.batch)) / double(options.batch);
    }

    // What the step says of one part; its output must still be readable.
    void note(StepRecord& record, const Forward& made, const Batch& part) const {
        note(record, tape.values(made.loss.node)[0],
             task->classifies ? tape.values(made.output.node) : std::vector<double>(), part);
    }
    void note(StepRecord& record, double loss, std::span<const double> said, const Batch& part) const {
        record.loss += parts.size() == 1 ? loss : share(part) * loss;
        if (!task->classifies) return;
        const int64_t right = predict(said, part.labels, record.predictions, record.confidence);
        record.train_accuracy += double(right) / double(options.batch);
        record.labels.insert(record.labels.end(), part.labels.begin(), part.labels.end());
    }

    void keep_pictures(StepRecord& record) {
        if (!pictures || pictures.use_count() > 1) pictures = std::make_shared<std::vector<float>>();
        pictures->clear();
        for (const Batch& part : parts) pictures->insert(pictures->end(), part.values.begin(), part.values.end());
        if (!pictures->empty()) record.images = pictures;
    }

    // The parts' gradients add up on the leaves, each with its share as the seed: the mean over the whole batch.
    void learn_part(StepRecord& record, Forward& made, size_t turn, size_t part) {
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
};

static void check_learning_rate(double rate) {
    if (!std::isfinite(rate) || rate < 0)
        throw Failure(fmt::format("a learning rate of {} is impossible: 0 or more, and finite", rate));
}

static void check(const TrainerOptions& options) {
    if (options.batch < 1 || options.batch > 65536)
        throw Failure(fmt::format("a batch of {} is impossible: 1 to 65536 examples", options.batch));
    if (options.accumulate < 1 || options.accumulate > 1024)
        throw Failure(fmt::format("{} parts of a batch are impossible: 1 to 1024", options.accumulate));
    if (!options.scale_rate.empty() && options.scale_rate != "linear" && options.scale_rate != "sqrt")
        throw Failure(fmt::format("unknown scaling of the learning rate '{}': linear or sqrt", options.scale_rate));
    if (options.threads < 1 || options.threads > 1024)
        throw Failure(fmt::format("{} threads are impossible: 1 to 1024", options.threads));
    check_learning_rate(options.learning_rate);
    if (options.device == "meta")
        throw Failure("device meta counts and computes nothing, so nothing is learned on it: train on host or sim:GPU");
    if (options.dropout > 1 || std::isnan(options.dropout))
        throw Failure(fmt::format("a dropout of {} is impossible: a probability from 0 to 1", options.dropout));
    if (options.keep_graph && (options.mode == Mode::graph || options.mode == Mode::fused))
        throw Failure(fmt::format("mode {} keeps no values to look at: the graph is kept in modes direct and eager",
                                  name_of(options.mode)));
}

Trainer::Trainer(TrainerOptions options) {
    check(options);
    state_ = std::make_unique<State>(std::move(options));
}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

StepRecord Trainer::step() {
    StepRecord record;
    step(record);
    return record;
}

void Trainer::step(StepRecord& record) {
    State& s = *state_;
    const auto started = std::chrono::steady_clock::now();
    begin_again(record);
    record.step = s.next;
    record.learning_rate = rate_at(s.options, s.next);
    record.device = s.device->name();
    record.model = s.task->model;
    record.batch = s.options.batch;
    record.mode = name_of(s.options.mode);
    record.batches_ahead = -1, record.loader_waited = 0;
    record.image_rows = s.task->rows;
    record.image_columns = s.task->columns;

    s.tape.clear();
    s.heap.recycle();
    s.load_batch();
    if (s.loader) {
        const LoaderProgress loaded = s.loader->progress();
        record.batches_ahead = static_cast<int64_t>(loaded.made - loaded.taken);
        record.loader_waited = loaded.waited_seconds;
    }
    std::vector<std::vector<float>> before;  // of the parameters, in order
    std::vector<Parameter*> parameters;
    if (s.options.keep_graph && s.options.keep_values) {
        parameters = s.task->list.all();
        for (const Parameter* parameter : parameters) before.push_back(tensor::to_host(s.heap, parameter->value));
    }

    const Listening listening{*s.device, s.execution};
    Hearing hearing{record, s.options.keep_launches, on_launch};
    if (s.options.keep_launches || on_launch)
        s.device->on_launch = [&hearing](const device::LaunchEvent& event) { hearing.hear(event); };
    s.device->on_copy = [&record](const device::CopyEvent& event) { record.copies.push_back(event); };
    auto* queue = s.options.keep_launches ? dynamic_cast<graph::Queue*>(s.device.get()) : nullptr;
    if (queue) queue->on_queue = [&record](const graph::QueueEvent& event) { record.queue.push_back(event); };
    Tape& tape = s.tape;
    int last_part = 0;      // its first node
    const auto end = [&] {  // what every step says at its end
        record.launches.resize(hearing.heard);
        record.peak_bytes = s.heap.peak_bytes();
        record.device_bytes = s.heap.device_bytes();
        if (s.execution.traffic()) record.traffic = s.execution.traffic()->bytes;
        record.not_finite = s.watch.look(
            {s.heap, tape, s.task->list, name_of(s.players[0].optimizer.rule()), s.next, record.loss, last_part});
    };
    const auto leave = [&] {
        if (s.options.keep_images && s.task->rows > 0) s.keep_pictures(record);
        ++s.next;
        record.seconds = seconds_since(started);
        if (record.not_finite && s.options.nan == NanPolicy::stop)
            throw NotFiniteFailure(std::make_shared<const StepRecord>(std::move(record)));
    };
    const graph::StepInputs& inputs = s.inputs(record.learning_rate);
    const auto issued = std::chrono::steady_clock::now();
    if (graph::Executor* executor = s.execution.ready(inputs)) {
        s.replay(*executor, inputs, record);
        record.issue_seconds = seconds_since(issued);
        s.device->on_copy = nullptr;
        s.note_scale(record);
        if (s.task->classifies) executor->values(1, s.logits);
        s.note(record, executor->scalar(0), s.logits, s.parts[0]);
        end();
        leave();
        return;
    }
    if (s.parts.size() == 1) s.execution.begin(tape, inputs);
    Pass pass{.tape = tape, .training = true, .random = {s.options.seed, s.random_base()}, .step = s.next};
    Forward made;
    std::vector<TurnGradients> earlier;
    for (size_t turn = 0; turn < s.players.size(); ++turn) {
        if (turn > 0) pass.renumber();
        if (turn > 0 && s.options.keep_graph) earlier.push_back(gradients_of_turn(tape));
        s.let_learn(turn);
        for (size_t part = 0; part < s.parts.size(); ++part) {
            pass.seen.clear();  // a part's backward frees what it went through
            last_part = static_cast<int>(part == 0 ? 0 : tape.nodes().size());
            made = s.task->forward(pass, s.parts[part], turn);
            if (!s.task->update) s.learn_part(record, made, turn, part);
        }
        if (s.task->update) {
            s.task->update(pass, made);
            continue;
        }
        s.players[turn].optimizer.set_lr(record.learning_rate);
        s.players[turn].optimizer.step(tape);
    }
    made.output.value = {};
    s.device->synchronize();
    record.issue_seconds = seconds_since(issued);
    s.device->on_copy = nullptr;
    s.execution.end(made.loss.node, s.task->classifies ? made.output.node : -1);

    record.live_bytes = tape.live_bytes();
    s.note_scale(record);
    if (s.options.keep_cost) {
        const tensor::OpCost cost = tape.cost();
        record.operations = cost.forward.operations + cost.backward.operations;
        record.moved = cost.forward.bytes + cost.backward.bytes;
        for (const State::Player& player : s.players) record.moved += player.optimizer.bytes_per_step();
    }
    if (s.parts.size() == 1) s.note(record, made, s.parts[0]);
    if (s.options.noise_scale) record.noise_scale = s.noise.end();
    end();
    if (s.options.keep_graph) record.nodes = record_nodes(tape, made.loss.node, s.options.keep_values, earlier);
    // What an update has changed since is shown as it was when it was read: before it in the player's own turn.
    for (GraphNode& node : record.nodes)
        for (size_t i = 0; i < before.size() && node.kind == GraphNode::Kind::parameter; ++i)
            if (node.name == parameters[i]->name && (node.requires_grad || node.turn == 0))
                node.value = keep(std::vector<float>(before[i]));
    leave();
}

Trainer::State& Trainer::on_host() {
    State& s = *state_;
    if (!s.evaluator) {
        auto host = open("host", {.threads = s.options.threads});
        Heap heap(*host);
        auto task = s.make_task(heap);
        s.evaluator.reset(new State::Evaluator{std::move(host), heap, std::move(task)});
    }
    State::Evaluator& e = *s.evaluator;
    const auto copy = [&](const tensor::Tensor& from, const tensor::Tensor& to) {
        std::vector<std::byte> bytes(static_cast<size_t>(from.bytes()));
        s.device->copy_out(bytes.data(), from.pointer(), bytes.size());
        e.device->copy_in(to.pointer(), bytes.data(), bytes.size());
    };
    for (size_t i = 0; i < s.task->list.parameters().size(); ++i) {
        const Parameter &mine = s.task->list.parameters()[i], &its = e.task->list.parameters()[i];
        copy(mine.value, its.value);
        if (mine.mask && its.mask) copy(mine.mask, its.mask);
    }
    for (size_t i = 0; i < s.task->list.buffers().size(); ++i)
        copy(s.task->list.buffers()[i].value, e.task->list.buffers()[i].value);
    return s;
}

std::string Trainer::sample(const std::string& prompt, int64_t count) {
    if (!state_->task->sample) throw Failure(fmt::format("model {} writes no text: gpt and llama do", state_->task->model));
    State::Evaluator& e = *on_host().evaluator;
    return e.task->sample(e.heap, prompt, count, state_->options.seed);
}

Evaluation Trainer::evaluate(int64_t examples) {
    State& s = on_host();
    State::Evaluator& e = *s.evaluator;
    Evaluation result = e.task->evaluate(e.heap, examples, s.options.stop);
    result.step = s.next;
    return result;
}

int64_t Trainer::next_step() const {
    return state_->next;
}

int64_t Trainer::trained_parameters() const {
    int64_t count = 0;
    for (const State::Player& player : state_->players)
        for (const Parameter* parameter : player.group.parameters) count += parameter->value.count();
    return count;
}

int64_t Trainer::optimizer_bytes() const {
    int64_t bytes = 0;
    for (const State::Player& player : state_->players) bytes += player.optimizer.state_bytes();
    return bytes;
}

const TrainerOptions& Trainer::options() const {
    return state_->options;
}

void Trainer::set_learning_rate(double learning_rate) {
    check_learning_rate(learning_rate);
    state_->options.learning_rate = learning_rate;
}

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

void train(const TrainRequest& request) {
    TrainerOptions options = request.options;
    if (request.from && !options.alter) options.alter = alter_of(*request.from);
    Trainer trainer(std::move(options));
    if (request.from) trainer.restore(*request.from);
    if (request.on_begin) request.on_begin(trainer);
    StepRecord record;
    const int64_t end = trainer.next_step() + request.steps;
    bool go_on = true;
    while (go_on && trainer.next_step() < end) {
        trainer.step(record);
        go_on = !request.on_step || request.on_step(record);
        const int64_t done = trainer.next_step();
        const bool last = !go_on || done == end;
        const auto is_due = [&](int64_t every) { return last || (every > 0 && done % every == 0); };
        if (request.on_evaluation && is_due(request.evaluate_every)) request.on_evaluation(trainer.evaluate());
        if (request.save.empty() || !is_due(request.save_every)) continue;
        save_checkpoint(request.save, trainer.checkpoint());
        if (request.on_save) request.on_save(done);
    }
    if (request.on_end) request.on_end(trainer);
}

}  // namespace lockstep::nn
