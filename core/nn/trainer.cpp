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
#include "core/nn/data/data_set.h"
#include "core/nn/model.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Heap;
using tensor::Node;
using tensor::Tape;

namespace {
struct Batch {
    std::vector<float> images;
    std::vector<int32_t> labels;
};

Batch make_batch(const std::function<int32_t(uint64_t, std::span<float>)>& picture, uint64_t first, int64_t count,
                 size_t pixels) {
    Batch batch;
    batch.images.resize(static_cast<size_t>(count) * pixels);
    batch.labels.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < batch.labels.size(); ++i)
        batch.labels[i] = picture(first + i, std::span(batch.images).subspan(i * pixels, pixels));
    return batch;
}

struct Predictions {
    std::vector<int32_t> labels;
    std::vector<float> confidence;  // softmax of the largest logit
    int64_t right = 0;
};

Predictions predict(std::span<const float> logits, const std::vector<int32_t>& labels) {
    Predictions made;
    const size_t classes = logits.size() / labels.size();
    for (size_t row = 0; row < labels.size(); ++row) {
        const auto x = logits.subspan(row * classes, classes);
        const size_t best = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
        double sum = 0;
        for (float logit : x) sum += std::exp(double(logit) - double(x[best]));
        made.labels.push_back(static_cast<int32_t>(best));
        made.confidence.push_back(static_cast<float>(1 / sum));
        made.right += made.labels.back() == labels[row];
    }
    return made;
}

Values keep(std::vector<float> values) {
    return values.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(values));
}

GraphNode describe(const Tape& tape, int id, int loss) {
    const Node& node = tape.nodes()[static_cast<size_t>(id)];
    GraphNode out;
    out.kind = id == loss                           ? GraphNode::Kind::loss
               : node.kind == Node::Kind::parameter ? GraphNode::Kind::parameter
               : node.kind == Node::Kind::label     ? GraphNode::Kind::label
               : node.kind == Node::Kind::op        ? GraphNode::Kind::op
                                                    : GraphNode::Kind::input;
    out.id = id;
    out.op = node.op ? node.op->name : "";
    out.name = node.name;
    out.shape = node.shape;
    out.inputs = node.inputs;
    out.bytes = node.bytes();
    out.requires_grad = node.requires_grad;
    out.forward_launches = node.forward_launches;
    out.backward_launches = node.backward_launches;
    out.gradient_after = node.gradient_after;
    out.update_launches = node.update_launches;
    out.saved = tape.saved_names(id);
    out.saved_bytes = node.saved_bytes;
    out.freed_after = node.freed_after;
    return out;
}

std::unique_ptr<device::Device> open(const std::string& name, const device::DeviceOptions& options) {
    return device::open_device(name, options).value();
}

// Clears the device's callback however the step ends.
struct Listening {
    device::Device& device;
    ~Listening() { device.on_launch = nullptr, device.on_copy = nullptr; }
};
}  // namespace

struct Trainer::State {
    TrainerOptions options;
    const ModelRow& row;
    DataSet data;
    std::unique_ptr<device::Device> device;
    Heap heap;
    Model model;
    int64_t next = 0;

    struct Evaluator {  // always on the host
        std::unique_ptr<device::Device> device;
        Heap heap;
        Model model;
        Batch test;
    };
    std::unique_ptr<Evaluator> evaluator;

    explicit State(TrainerOptions o)
        : options(std::move(o)),
          row(model_named(options.model)),
          data(open_data_set(options.data, options.seed)),
          device(open(options.device, {.functional = options.functional,
                                       .keep_runs = options.keep_runs,
                                       .threads = options.threads,
                                       .stop = options.stop})),
          heap(*device),
          model(heap, row, options.seed) {}

    size_t pixels() const { return data.pixels(); }
};

static void check_learning_rate(double rate) {
    if (!std::isfinite(rate) || rate < 0)
        throw Failure(fmt::format("a learning rate of {} is impossible: 0 or more, and finite", rate));
}

static void check(const TrainerOptions& options) {
    if (options.batch < 1 || options.batch > 65536)
        throw Failure(fmt::format("a batch of {} is impossible: 1 to 65536 examples", options.batch));
    if (options.threads < 1 || options.threads > 1024)
        throw Failure(fmt::format("{} threads are impossible: 1 to 1024", options.threads));
    check_learning_rate(options.learning_rate);
}

Trainer::Trainer(TrainerOptions options) {
    check(options);
    state_ = std::make_unique<State>(std::move(options));
    const State& s = *state_;
    if (static_cast<int64_t>(s.pixels()) != s.row.widths.front())
        throw Failure(fmt::format("model {} takes {} inputs but the images of {} have {} x {} x {} values", s.row.name,
                                  s.row.widths.front(), s.data.name, s.data.channels, s.data.rows, s.data.columns));
    if (s.data.classes != s.row.widths.back())
        throw Failure(fmt::format("model {} has {} outputs but {} has {} classes", s.row.name, s.row.widths.back(),
                                  s.data.name, s.data.classes));
}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

StepRecord Trainer::step() {
    State& s = *state_;
    const auto started = std::chrono::steady_clock::now();
    StepRecord record;
    record.step = s.next;
    record.learning_rate = s.options.learning_rate;
    record.device = s.device->name();
    record.model = s.model.name;
    record.batch = s.options.batch;
    record.image_rows = s.data.rows;
    record.image_columns = s.data.columns;

    s.heap.recycle();
    Batch batch = make_batch(s.data.train, static_cast<uint64_t>(s.next) * static_cast<uint64_t>(s.options.batch),
                             s.options.batch, s.pixels());
    std::vector<std::vector<float>> before;  // of the parameters, in order
    const auto parameters = s.model.parameters();
    if (s.options.keep_graph && s.options.keep_values)
        for (const Parameter* parameter : parameters) before.push_back(tensor::to_host(s.heap, parameter->value));

    const Listening listening{*s.device};
    s.device->on_launch = [&](const device::LaunchEvent& event) {
        record.launches.push_back(event);
        if (on_launch) on_launch(event);
    };
    s.device->on_copy = [&](const device::CopyEvent& event) { record.copies.push_back(event); };
    Tape tape(s.heap);
    const tensor::Shape x_shape = {s.options.batch, s.row.widths.front()};
    auto x = tape.input(tensor::tensor_from(s.heap, x_shape, batch.images, "x"), "x");
    const auto targets = tensor::labels_from(s.heap, batch.labels, "labels");  // copied before the first launch: no gap
    auto logits = s.model(tape, std::move(x));
    const auto labels = tape.label(targets, "labels");
    const auto loss = tensor::softmax_cross_entropy(tape, logits, labels, "loss");
    const int logits_node = logits.node;
    logits.value = {};
    tape.backward(loss);
    sgd_step(tape, parameters, s.options.learning_rate);
    s.device->synchronize();
    s.device->on_copy = nullptr;

    record.live_bytes = tape.live_bytes();
    record.loss = tape.read_value(loss.node)[0];
    Predictions made = predict(tape.read_value(logits_node), batch.labels);
    record.train_accuracy = double(made.right) / double(s.options.batch);
    record.predictions = std::move(made.labels);
    record.confidence = std::move(made.confidence);
    if (s.options.keep_graph)
        for (size_t id = 0; id < tape.nodes().size(); ++id) {
            record.nodes.push_back(describe(tape, static_cast<int>(id), loss.node));
            if (!s.options.keep_values) continue;
            GraphNode& node = record.nodes.back();
            if (node.kind != GraphNode::Kind::parameter) node.value = keep(tape.read_value(node.id));
            node.gradient = keep(tape.read_gradient(node.id));
        }
    for (size_t i = 0; i < before.size(); ++i)
        record.nodes[static_cast<size_t>(parameters[i]->node)].value = keep(std::move(before[i]));
    if (s.options.keep_images) record.images = keep(std::move(batch.images));
    record.labels = std::move(batch.labels);
    ++s.next;
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return record;
}

Evaluation Trainer::evaluate(int64_t examples) {
    State& s = *state_;
    if (!s.evaluator) {
        auto host = open("host", {.threads = s.options.threads});
        Heap heap(*host);
        Model model(heap, s.row, s.options.seed);
        s.evaluator.reset(new State::Evaluator{std::move(host), heap, std::move(model),
                                               make_batch(s.data.test, 0, s.data.test_count, s.pixels())});
    }
    State::Evaluator& e = *s.evaluator;
    const std::vector<float> values = export_parameters();
    const float* from = values.data();
    for (Parameter* parameter : e.model.parameters()) {
        e.device->copy_in(parameter->value.pointer(), from, static_cast<size_t>(parameter->value.bytes()));
        from += parameter->value.count();
    }
    const int64_t count = examples > 0 ? std::min(examples, s.data.test_count) : s.data.test_count;
    Evaluation result;
    result.step = s.next;
    for (int64_t first = 0; first < count; first += 256) {
        if (s.options.stop.stop_requested()) throw Failure("cancelled");
        e.heap.recycle();
        const int64_t rows = std::min<int64_t>(256, count - first);
        const auto images = std::span(e.test.images)
                                .subspan(static_cast<size_t>(first) * s.pixels(), static_cast<size_t>(rows) * s.pixels());
        const std::vector<int32_t> labels(e.test.labels.begin() + first, e.test.labels.begin() + first + rows);
        Tape tape(e.heap);
        auto x = tape.input(tensor::tensor_from(e.heap, {rows, s.row.widths.front()}, images, "x"), "x");
        const auto logits = e.model(tape, std::move(x), false);
        const auto y = tape.label(tensor::labels_from(e.heap, labels, "labels"), "labels");
        const auto loss = tensor::softmax_cross_entropy(tape, logits, y, "loss");
        result.loss += double(tape.read_value(loss.node)[0]) * double(rows);
        result.accuracy += double(predict(tape.read_value(logits.node), labels).right);
    }
    result.loss /= double(count);
    result.accuracy /= double(count);
    return result;
}

int64_t Trainer::next_step() const {
    return state_->next;
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
    for (const Parameter* parameter : state_->model.parameters()) {
        all.push_back({parameter->name, parameter->value.shape, offset});
        offset += parameter->value.count();
    }
    return all;
}

std::vector<float> Trainer::export_parameters() const {
    std::vector<float> all;
    for (const Parameter* parameter : state_->model.parameters()) {
        const auto values = tensor::to_host(state_->heap, parameter->value);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

void Trainer::import_parameters(std::span<const float> values, int64_t next_step) {
    size_t wanted = 0;
    for (const ParameterInfo& info : parameters()) wanted += static_cast<size_t>(tensor::count_of(info.shape));
    if (values.size() != wanted)
        throw Failure(fmt::format("model {} has {} parameters, not {}", state_->model.name, wanted, values.size()));
    if (next_step < 0) throw Failure(fmt::format("there is no step {}", next_step));
    const float* from = values.data();
    for (Parameter* parameter : state_->model.parameters()) {
        state_->device->copy_in(parameter->value.pointer(), from, static_cast<size_t>(parameter->value.bytes()));
        from += parameter->value.count();
    }
    state_->next = next_step;
}

void train(const TrainRequest& request) {
    Trainer trainer(request.options);
    for (int64_t done = 1; done <= request.steps; ++done) {
        const StepRecord record = trainer.step();
        const bool go_on = !request.on_step || request.on_step(record);
        const bool now = request.evaluate_every > 0 && done % request.evaluate_every == 0;
        if (request.on_evaluation && (now || !go_on || done == request.steps)) request.on_evaluation(trainer.evaluate());
        if (!go_on) return;
    }
}

}  // namespace lockstep::nn
