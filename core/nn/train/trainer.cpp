// A step: the batch of its number -> forward on a tape -> backward -> update -> StepRecord. Host copies are taken after the
// last launch (parameters: before the first), so looking changes neither the kernels' times nor their addresses.
#include "core/nn/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/train/diagnose.h"
#include "core/nn/train/graph_record.h"
#include "core/nn/train/trainer_state.h"
#include "core/tensor/op.h"

namespace lockstep::nn {

namespace {
Values keep(std::vector<float> values) {
    return values.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(values));
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

static void check_learning_rate(double rate) {
    if (!std::isfinite(rate) || rate < 0)
        throw Failure(fmt::format("a learning rate of {} is impossible: 0 or more, and finite", rate));
}

static void check_recording(Mode mode) {
    if (mode == Mode::graph || mode == Mode::fused)
        throw Failure(
            fmt::format("mode {} keeps no values to look at: the graph is kept in modes direct and eager", name_of(mode)));
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
    if (options.keep_graph) check_recording(options.mode);
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

// What is known before the first launch; the batch is in its place then.
void Trainer::State::begin(StepRecord& record) {
    begin_again(record);
    record.step = next;
    record.learning_rate = rate_at(options, next);
    record.device = device->name();
    record.warm_l2 = options.warm_l2;
    record.model = task->model;
    record.batch = options.batch;
    record.mode = name_of(options.mode);
    record.batches_ahead = -1, record.loader_waited = 0;
    record.image_rows = task->rows;
    record.image_columns = task->columns;
    tape.clear();
    heap.recycle();
    load_batch();
    if (!loader) return;
    const LoaderProgress loaded = loader->progress();
    record.batches_ahead = static_cast<int64_t>(loaded.made - loaded.taken);
    record.loader_waited = loaded.waited_seconds;
}

Trainer::State::Learnt Trainer::State::learn(StepRecord& record) {
    Learnt learnt{.pass = {.tape = tape, .training = true, .random = {options.seed, random_base()}, .step = next}};
    Pass& pass = learnt.pass;
    for (size_t turn = 0; turn < players.size(); ++turn) {
        if (turn > 0) pass.renumber();
        if (turn > 0 && options.keep_graph) learnt.earlier.push_back(gradients_of_turn(tape));
        let_learn(turn);
        for (size_t part = 0; part < parts.size(); ++part) {
            pass.seen.clear();  // a part's backward frees what it went through
            learnt.last_part = static_cast<int>(part == 0 ? 0 : tape.nodes().size());
            learnt.made = task->forward(pass, parts[part], turn);
            if (!task->update) learn_part(record, learnt.made, turn, part);
        }
        if (task->update) {
            task->update(pass, learnt.made);
            continue;
        }
        players[turn].optimizer.set_lr(record.learning_rate);
        players[turn].optimizer.step(tape);
    }
    learnt.made.output.value = {};
    return learnt;
}

void Trainer::State::note_cost(StepRecord& record) const {
    const tensor::OpCost cost = tape.cost();
    record.operations = cost.forward.operations + cost.backward.operations;
    record.moved = cost.forward.bytes + cost.backward.bytes;
    for (const Player& player : players) record.moved += player.optimizer.bytes_per_step();
}

void Trainer::step(StepRecord& record) {
    State& s = *state_;
    const auto started = std::chrono::steady_clock::now();
    s.begin(record);
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
    const auto end = [&](int last_part) {  // what every step says at its end
        record.launches.resize(hearing.heard);
        record.peak_bytes = s.heap.peak_bytes();
        record.device_bytes = s.heap.device_bytes();
        if (s.execution.traffic()) record.traffic = s.execution.traffic()->bytes;
        record.not_finite = s.watch.look(
            {s.heap, s.tape, s.task->list, name_of(s.players[0].optimizer.rule()), s.next, record.loss, last_part});
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
        end(0);
        leave();
        return;
    }
    if (s.parts.size() == 1) s.execution.begin(s.tape, inputs);
    const State::Learnt learnt = s.learn(record);
    const Forward& made = learnt.made;
    s.device->synchronize();
    record.issue_seconds = seconds_since(issued);
    s.device->on_copy = nullptr;
    s.execution.end(made.loss.node, s.task->classifies ? made.output.node : -1);

    record.live_bytes = s.tape.live_bytes();
    s.note_scale(record);
    if (s.options.keep_cost) s.note_cost(record);
    if (s.parts.size() == 1) s.note(record, made, s.parts[0]);
    if (s.options.noise_scale) record.noise_scale = s.noise.end();
    end(learnt.last_part);
    if (s.options.keep_graph) record.nodes = record_nodes(s.tape, made.loss.node, s.options.keep_values, learnt.earlier);
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
        auto host = device::open_device("host", {.threads = s.options.threads}).value();
        tensor::Heap heap(*host);
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

void Trainer::set_recording(bool on) {
    TrainerOptions& o = state_->options;
    if (on) check_recording(o.mode);
    o.keep_graph = o.keep_values = o.keep_images = o.keep_launches = on;
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
    Diagnosis diagnosis;
    const auto tell = [&](const std::vector<Cause>& causes) {
        for (const Cause& cause : causes) request.on_cause(cause);
    };
    while (go_on && trainer.next_step() < end) {
        try {
            trainer.step(record);
        } catch (const NotFiniteFailure& failure) {
            if (request.on_cause) tell(diagnosis.after(trainer, *failure.record));
            throw;
        }
        if (request.on_cause) tell(diagnosis.after(trainer, record));
        go_on = !request.on_step || request.on_step(record);
        const int64_t done = trainer.next_step();
        const bool last = !go_on || done == end;
        if (last && request.on_cause) tell(diagnosis.at_end(trainer));
        const auto is_due = [&](int64_t every) { return last || (every > 0 && done % every == 0); };
        if (request.on_evaluation && is_due(request.evaluate_every)) request.on_evaluation(trainer.evaluate());
        if (request.save.empty() || !is_due(request.save_every)) continue;
        save_checkpoint(request.save, trainer.checkpoint());
        if (request.on_save) request.on_save(done);
    }
    if (request.on_end) request.on_end(trainer);
}

}  // namespace lockstep::nn
