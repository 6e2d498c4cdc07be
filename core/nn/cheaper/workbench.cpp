// Training, evaluating and counting for the comparisons, and their table as text.
#include "core/nn/cheaper/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"
#include "core/tensor/ops.h"

namespace lockstep::nn::cheaper {

using tensor::Heap;
using tensor::Tape;
using tensor::Variable;

int64_t steps_of(const CheaperRun& run) {
    return run.steps > 0 ? run.steps : model_named(run.model).steps;
}

TrainerOptions trainer_options(const CheaperRun& run, const std::string& model, int64_t steps) {
    const ModelRow& row = model_named(model);
    return {.model = model,
            .data = run.data,
            .device = run.device,
            .batch = run.batch > 0 ? run.batch : row.batch,
            .learning_rate = run.learning_rate > 0 ? run.learning_rate : row.learning_rate,
            .planned_steps = steps,
            .seed = run.seed,
            .functional = run.functional,
            .threads = run.threads,
            .prefetch = true,
            .keep_launches = false,
            .keep_images = false,
            .stop = run.stop};
}

Alter then(Alter first, Alter second) {
    return [first = std::move(first), second = std::move(second)](Task& task, Heap& heap) {
        if (first) first(task, heap);
        if (second) second(task, heap);
    };
}

void put(Task& task, Heap& heap, const Weights& values) {
    const auto write = [&](const auto& list) {
        for (const auto& one : list) {
            const auto found = values.find(one.name);
            if (found == values.end()) continue;
            const std::vector<double> wide(found->second.begin(), found->second.end());
            tensor::write_values(heap, one.value, wide, one.name);
        }
    };
    write(task.list.parameters());
    write(task.list.buffers());
}

Outcome trained(const CheaperRun& run, const TrainerOptions& asked, int64_t steps, const std::string& phase) {
    Outcome outcome;
    Task* task = nullptr;
    Heap* heap = nullptr;
    TrainerOptions options = asked;
    options.alter = [&, alter = asked.alter](Task& made, Heap& on) {
        if (!task) task = &made, heap = &on;  // the evaluator's comes later
        if (alter) alter(made, on);
    };
    Trainer trainer(options);
    outcome.trained = trainer.trained_parameters();
    outcome.state_bytes = double(trainer.optimizer_bytes());
    for (int64_t i = 0; i < steps; ++i) {
        outcome.last = trainer.step();
        if (run.on_step) run.on_step(phase, outcome.last);
    }
    for (const Parameter& parameter : task->list.parameters())
        outcome.values[parameter.name] = tensor::to_host(*heap, parameter.value);
    for (const Buffer& buffer : task->list.buffers()) outcome.values[buffer.name] = tensor::to_host(*heap, buffer.value);
    outcome.test = trainer.evaluate(run.test_examples);
    return outcome;
}

Evaluation evaluated(const CheaperRun& run, const TrainerOptions& asked) {
    TrainerOptions options = asked;
    options.device = "host", options.functional = false, options.prefetch = false;
    return Trainer(options).evaluate(run.test_examples);
}

namespace {
struct Bench {  // a task on a device of its own
    std::unique_ptr<device::Device> device;
    Heap heap;
    std::unique_ptr<Task> task;

    Bench(const std::string& name, const TrainerOptions& o)
        : device(device::open_device(name, {.threads = o.threads}).value()), heap(*device), task(make(o, heap)) {}

    static std::unique_ptr<Task> make(const TrainerOptions& o, Heap& heap) {
        const bool mixed = o.dtype == DType::f16 || o.dtype == DType::bf16;
        auto task = model_named(o.model).make({.steps = o.planned_steps,
                                               .data = o.data,
                                               .batch = o.batch,
                                               .seed = o.seed,
                                               .dtype = mixed ? DType::f32 : o.dtype,
                                               .compute = mixed ? std::optional(o.dtype) : std::nullopt},
                                              heap);
        if (!task->make_batch)
            throw Failure(fmt::format("model {} has no batches of examples: pictures and texts have", o.model));
        if (o.alter) o.alter(*task, heap);
        return task;
    }
};

struct Observer final : StandIn {  // the plain product, written down
    Layer& layer;
    bool keep;
    Observer(Layer& at, bool keeps) : layer(at), keep(keeps) {}

    int64_t bytes() const override { return 0; }
    void look(Pass& pass, const Variable& x) const {
        if (!keep) return;
        const auto values = tensor::to_host(pass.tape.heap(), x.value);
        layer.seen.reserve(layer.seen.size() + values.size());
        for (const float value : values) layer.seen.push_back(std::abs(value));
    }
    Variable linear(Pass& pass, const Linear& at, const Variable& x) const override {
        layer.operations = 2 * double(x.value.count()) * double(layer.rows);
        layer.tied = at.name + ".weight" != layer.name;
        look(pass, x);
        return tensor::matmul(pass.tape, x, pass(at.weight), at.name + " matmul", true);
    }
    Variable conv2d(Pass& pass, const Conv2d& at, const Variable& x) const override {
        layer.convolution = true;
        look(pass, x);
        const Variable y =
            tensor::conv2d(pass.tape, x, pass(at.weight), at.bias ? pass(at.bias) : Variable{}, at.name + " conv2d",
                           {.stride = {at.stride, at.stride}, .padding = {at.padding, at.padding}});
        layer.operations = 2 * double(y.value.count()) * double(layer.columns);
        return y;
    }
};
}  // namespace

std::vector<Layer> layers_of(const TrainerOptions& options, const Weights& values, int64_t batches, bool keep_inputs,
                             bool tied) {
    Bench bench("host", options);
    put(*bench.task, bench.heap, values);
    std::vector<Layer> all;
    all.reserve(bench.task->list.parameters().size());  // observers keep references
    for (Parameter& parameter : bench.task->list.parameters()) {
        const tensor::Shape& shape = parameter.value.shape;
        if (shape.size() < 2) continue;
        Layer& layer = all.emplace_back();
        layer.name = parameter.name;
        layer.rows = shape[0];
        layer.columns = parameter.value.count() / shape[0];
        parameter.product = std::make_shared<Observer>(layer, keep_inputs);
    }
    Tape tape(bench.heap);
    Batch batch;
    for (int64_t i = 0; i < batches; ++i) {
        tape.clear();
        bench.heap.recycle();
        bench.task->make_batch(static_cast<uint64_t>(i), batch);
        const tensor::NoGrad no_gradients(tape);
        Pass pass{.tape = tape, .training = false};
        bench.task->forward(pass, batch, 0);
    }
    std::erase_if(all, [&](const Layer& layer) { return layer.operations == 0 || (layer.tied && !tied); });  // embeddings
    if (all.empty()) throw Failure(fmt::format("model {} has no linear layers or convolutions", options.model));
    return all;
}

PassCost forward_cost(const TrainerOptions& options) {
    Bench bench("meta", options);
    PassCost result;
    for (const Parameter& parameter : bench.task->list.parameters())
        result.bytes += parameter.product ? double(parameter.product->bytes())
                                          : double(parameter.value.count()) * double(size_of(parameter.compute));
    Tape tape(bench.heap);
    Batch batch;
    bench.task->make_batch(0, batch);
    const tensor::NoGrad no_gradients(tape);
    Pass pass{.tape = tape, .training = false};
    bench.task->forward(pass, batch, 0);
    result.cost = tape.cost().forward;
    result.cost.bytes /= double(options.batch);
    result.cost.operations /= double(options.batch);
    return result;
}

Comparison comparison_of(const std::string& method, const CheaperRun& run) {
    const ModelRow& row = model_named(run.model);
    const bool text = row.name == "gpt" || row.name == "llama";
    return {.method = method,
            .model = run.model,
            .data = run.data.empty() ? std::string(row.data) : run.data,
            .measure = text ? "nats a character" : "accuracy",
            .lower_is_better = text,
            .moves = "an example forward",
            .rows = {}};
}

void add_row(const CheaperRun& run, Comparison& comparison, CheaperRow row, std::vector<Measure> more) {
    row.more.insert(row.more.end(), more.begin(), more.end());
    comparison.rows.push_back(std::move(row));
    if (run.on_row) run.on_row(comparison);
}

CheaperRow row_of(const std::string& method, const Comparison& comparison, const Evaluation& test, const PassCost& cost) {
    return {.method = method,
            .quality = comparison.lower_is_better ? test.loss : test.accuracy,
            .loss = test.loss,
            .bytes = cost.bytes,
            .moved = cost.cost.bytes,
            .operations = cost.cost.operations,
            .more = {}};
}

}  // namespace lockstep::nn::cheaper

namespace lockstep::nn {

// "1,234,567" as "1.23 M".
static std::string short_count(double value) {
    if (value >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
    if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
    if (value >= 1e3) return fmt::format("{:.1f} k", value / 1e3);
    return fmt::format("{:.0f}", value);
}

std::string text_of(const Comparison& c) {
    size_t width = 6;
    for (const CheaperRow& row : c.rows) width = std::max(width, row.method.size());
    std::string text = fmt::format("{} of {} on {} (quality executed; bytes and operations derived, an example's {})\n",
                                   c.method, c.model, c.data, c.moves);
    text += fmt::format("{:<{}}  {:>16}  {:>9} {:>6}  {:>9} {:>6}  {:>10} {:>6}\n", "", width, c.measure, "stored B",
                        "ratio", "moved B", "ratio", "operations", "ratio");
    for (const CheaperRow& row : c.rows) {
        const CheaperRow& first = c.rows.front();
        const auto ratio = [](double a, double b) { return b > 0 ? fmt::format("{:.3f}", a / b) : std::string("-"); };
        text +=
            fmt::format("{:<{}}  {:>16}  {:>9} {:>6}  {:>9} {:>6}  {:>10} {:>6}", row.method, width,
                        c.lower_is_better ? fmt::format("{:.4f}", row.quality) : fmt::format("{:.2f} %", 100 * row.quality),
                        short_count(row.bytes), ratio(row.bytes, first.bytes), short_count(row.moved),
                        ratio(row.moved, first.moved), short_count(row.operations), ratio(row.operations, first.operations));
        if (row.trained > 0)
            text +=
                fmt::format("  {} trained, {} B of moments", short_count(double(row.trained)), short_count(row.state_bytes));
        for (const Measure& measure : row.more)
            text +=
                fmt::format("  {} {:.4g}{}{}", measure.name, measure.value, measure.unit.empty() ? "" : " ", measure.unit);
        text += "\n";
    }
    return text;
}

}  // namespace lockstep::nn
