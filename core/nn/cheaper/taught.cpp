// Comparisons of trainings: mixed precision beside f32, a student with and without its teacher, LoRA beside tuning whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/cheaper/workbench.h"
#include "core/nn/models/models.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using namespace cheaper;
using tensor::Variable;

Comparison compare_precision(const CheaperRun& run, std::span<const DType> types) {
    Comparison comparison = comparison_of("mixed precision", run);
    comparison.moves = "an example trained";
    std::vector<DType> all = {DType::f32};
    for (const DType type : types)
        if (type != DType::f32) all.push_back(type);
    for (const DType type : all) {
        TrainerOptions options = trainer_options(run, run.model, steps_of(run));
        options.dtype = type;
        options.keep_cost = true;
        const Outcome made = trained(run, options, steps_of(run), std::string(name_of(type)));
        CheaperRow row = row_of(std::string(name_of(type)), comparison, made.test, forward_cost(options));
        row.moved = made.last.moved / double(options.batch);
        row.operations = made.last.operations / double(options.batch);
        if (made.last.loss_scale > 0)
            row.more = {{"loss scale", "", made.last.loss_scale},
                        {"steps left out", "", double(made.last.left_out)},
                        {"growths", "", double(made.last.grown)}};
        add_row(run, comparison, row);
    }
    return comparison;
}

// ---- distillation
static Alter taught_by(const TrainerOptions& teacher, const Weights& values, const DistillOptions& options) {
    return [teacher, values, options](Task& task, tensor::Heap& heap) {
        const std::shared_ptr<Task> wise =
            model_named(teacher.model)
                .make({.steps = teacher.planned_steps, .data = teacher.data, .batch = teacher.batch, .seed = teacher.seed},
                      heap);
        put(*wise, heap, values);
        if (!task.classifies || !wise->classifies)
            throw Failure(fmt::format("{} cannot teach {}: both must tell classes apart", wise->model, task.model));
        task.forward = [wise, options, own = task.forward](Pass& pass, const Batch& batch, size_t turn) {
            tensor::Tape& tape = pass.tape;
            Forward made = own(pass, batch, turn);
            Variable soft;
            {
                const tensor::NoGrad no_gradients(tape);
                Pass reading{.tape = tape, .training = false};
                const Variable logits = wise->forward(reading, batch, 0).output;
                soft = tensor::softmax(tape, tensor::affine(tape, logits, 1 / options.temperature, 0, "teacher cooled"), -1,
                                       "teacher softmax");
            }
            const Variable said = tensor::log_softmax(
                tape, tensor::affine(tape, made.output, 1 / options.temperature, 0, "student cooled"), -1, "student log");
            const Variable apart = tensor::kl_div(tape, said, soft, "distillation kl_div");
            const double square = options.temperature * options.temperature;
            made.loss = tensor::add(tape, tensor::affine(tape, made.loss, 1 - options.weight, 0, "labels' share"),
                                    tensor::affine(tape, apart, options.weight * square, 0, "teacher's share"), "loss");
            return made;
        };
    };
}

Comparison compare_distilled(const CheaperRun& run, const DistillOptions& options) {
    if (options.seeds < 1 || !(options.temperature > 0) || !(options.weight >= 0) || !(options.weight <= 1))
        throw Failure(fmt::format("temperature {}, weight {} and {} seeds: above 0, 0 to 1, and at least 1",
                                  options.temperature, options.weight, options.seeds));
    Comparison comparison = comparison_of("distillation", run);
    const auto averaged = [&](const std::string& name, const std::vector<Outcome>& outcomes, const PassCost& cost) {
        Evaluation mean;
        for (const Outcome& outcome : outcomes)
            mean.loss += outcome.test.loss / double(outcomes.size()),
                mean.accuracy += outcome.test.accuracy / double(outcomes.size());
        CheaperRow row = row_of(name, comparison, mean, cost);
        const auto by_accuracy = [](const Outcome& a, const Outcome& b) { return a.test.accuracy < b.test.accuracy; };
        const auto [worst, best] = std::minmax_element(outcomes.begin(), outcomes.end(), by_accuracy);
        row.more = {{"worst seed", "%", 100 * worst->test.accuracy}, {"best seed", "%", 100 * best->test.accuracy}};
        add_row(run, comparison, row);
    };
    const int64_t long_steps = options.teacher_steps > 0 ? options.teacher_steps : model_named(options.teacher).steps;
    CheaperRun of_teacher = run;
    of_teacher.batch = 0, of_teacher.learning_rate = 0;
    const TrainerOptions wise = trainer_options(of_teacher, options.teacher, long_steps);
    const Outcome teacher = trained(of_teacher, wise, long_steps, "teacher");
    averaged(fmt::format("teacher {}", options.teacher), {teacher}, forward_cost(wise));

    std::vector<Outcome> alone, taught;
    TrainerOptions student = trainer_options(run, run.model, steps_of(run));
    for (int64_t i = 0; i < options.seeds; ++i) {
        student.seed = run.seed + static_cast<uint64_t>(i);
        student.alter = {};
        alone.push_back(trained(run, student, steps_of(run), "student alone"));
        student.alter = taught_by(wise, teacher.values, options);
        taught.push_back(trained(run, student, steps_of(run), "student taught"));
    }
    student.alter = {};
    const PassCost cost = forward_cost(student);
    averaged(fmt::format("student {} alone", run.model), alone, cost);
    averaged(fmt::format("student {} taught", run.model), taught, cost);
    return comparison;
}

// ---- LoRA
namespace {
std::string lora_name(const Layer& layer, const char* part) {
    return adapter_name(layer.name, part);
}

Alter with_lora(const std::vector<Layer>& layers, const LoraOptions& options, uint64_t seed) {
    std::vector<std::string> weights;
    for (const Layer& layer : layers)
        if (!layer.convolution) weights.push_back(layer.name);
    return [weights, options, seed](Task& task, tensor::Heap& heap) {
        add_adapters(task, heap, weights, options.rank, options.alpha / double(options.rank), seed);
    };
}

Weights merged(Weights values, const std::vector<Layer>& layers, const LoraOptions& options) {
    for (const Layer& layer : layers) {
        if (layer.convolution) continue;
        const std::vector<float>&a = values.at(lora_name(layer, "lora_a")), &b = values.at(lora_name(layer, "lora_b"));
        std::vector<float>& w = values.at(layer.name);
        const auto rank = static_cast<size_t>(options.rank), columns = static_cast<size_t>(layer.columns);
        for (size_t row = 0; row < static_cast<size_t>(layer.rows); ++row)
            for (size_t i = 0; i < columns; ++i) {
                double sum = 0;
                for (size_t r = 0; r < rank; ++r) sum += double(b[row * rank + r]) * double(a[r * columns + i]);
                w[row * columns + i] = static_cast<float>(double(w[row * columns + i]) + options.alpha / double(rank) * sum);
            }
    }
    return values;
}
}  // namespace

Comparison compare_lora(const CheaperRun& run, const LoraOptions& options) {
    if (options.rank < 1 || options.rank > 4096 || !std::isfinite(options.alpha))
        throw Failure(
            fmt::format("a rank of {} with alpha {} is impossible: 1 to 4096, finite", options.rank, options.alpha));
    Comparison comparison = comparison_of("LoRA", run);
    const int64_t steps = steps_of(run),
                  tune = options.tune_steps > 0 ? options.tune_steps : std::max<int64_t>(1, steps / 4);
    const TrainerOptions first = trainer_options(run, run.model, steps);
    const Outcome base = trained(run, first, steps, "base");
    const std::vector<Layer> layers = layers_of(first, base.values, 1, false);
    comparison.data = fmt::format("{}, then {}", comparison.data, options.data);

    TrainerOptions other = first;
    other.data = options.data;
    other.planned_steps = tune;
    const auto start = [&base](Task& task, tensor::Heap& heap) { put(task, heap, base.values); };
    other.alter = start;
    const PassCost cost = forward_cost(other);
    add_row(run, comparison, row_of("before tuning", comparison, evaluated(run, other), cost));

    const auto with_training = [&](const std::string& name, const Outcome& made, const PassCost& form) {
        CheaperRow row = row_of(name, comparison, made.test, form);
        row.trained = made.trained;
        row.state_bytes = made.state_bytes;
        add_row(run, comparison, row);
    };
    with_training("tuned whole", trained(run, other, tune, "tuned whole"), cost);

    other.alter = then(start, with_lora(layers, options, run.seed));
    const Outcome tuned = trained(run, other, tune, fmt::format("LoRA rank {}", options.rank));
    with_training(fmt::format("LoRA rank {}", options.rank), tuned, forward_cost(other));

    const Weights whole = merged(tuned.values, layers, options);
    other.alter = [&whole](Task& task, tensor::Heap& heap) { put(task, heap, whole); };
    const Evaluation test = evaluated(run, other);
    add_row(run, comparison, row_of("LoRA merged", comparison, test, cost),
            {{"loss off by", "", std::abs(test.loss - tuned.test.loss)}});
    return comparison;
}

}  // namespace lockstep::nn
