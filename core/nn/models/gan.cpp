// A generative adversarial network on eight Gaussians on a circle (Goodfellow et al. 2014, non-saturating loss): the
// discriminator learns to tell points of the set from the generator's, the generator to be taken for the set. A penalty on
// the discriminator's slope at the set's points (Mescheder, Geiger, Nowozin 2018: R1) keeps the game from going round in
// circles, so that all modes stay; it is a derivative that is differentiated again. Judged is the generator's running
// average over about a hundred steps (Yazici et al. 2019), which does not follow the game's last turns.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/data/made/points.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr int64_t noise_size = 8, width = 128;
constexpr double slope_weight = 0.1, average_rate = 0.01;

struct Player {  // three linear layers, leaky ReLU between them
    Linear a, b, c;
    std::string name;

    Player() = default;
    Player(Build& build, const std::string& who, int64_t inputs, int64_t outputs)
        : a(build, who + ".fc1", inputs, width),
          b(build, who + ".fc2", width, width),
          c(build, who + ".fc3", width, outputs),
          name(who) {}
    Variable operator()(Pass& pass, Variable x, const std::string& of) const {
        x = tensor::leaky_relu(pass.tape, a(pass, x), 0.2, name + " relu1 " + of);
        x = tensor::leaky_relu(pass.tape, b(pass, x), 0.2, name + " relu2 " + of);
        return c(pass, x);
    }
};

struct Game {
    PointSet data;
    Player generator, discriminator, average;
    DType dtype = DType::f32;

    tensor::Tensor on(tensor::Heap& heap, std::span<const float> values, int64_t columns, const char* name) const {
        return tensor::tensor_from(heap, {static_cast<int64_t>(values.size()) / columns, columns}, values, name,
                                   tensor::Purpose::data, dtype);
    }
};

// average += rate (generator - average), in place.
void follow_generator(Pass& pass, const std::vector<Parameter*>& generator, const std::vector<Parameter*>& average) {
    tensor::Tape& tape = pass.tape;
    const tensor::NoGrad no_gradients(tape);
    for (size_t i = 0; i < generator.size(); ++i) {
        const Variable behind = tensor::sub(tape, pass(average[i]), pass(generator[i]), average[i]->name + " behind");
        const tensor::Tensor& value = average[i]->value;
        tape.launch(
            tensor::elementwise("sgd", value.count(),
                                {value.pointer(), behind.value.pointer(), tensor::scalar_argument(average_rate, value.dtype),
                                 tensor::size_argument(value.count())}),
            {average[i]->name, "average"}, "update", value.dtype);
    }
}

void draw_noise(std::span<float> out, Rng& rng) {
    for (float& value : out) value = static_cast<float>(rng.normal());
}
}  // namespace

std::unique_ptr<Task> make_gan(const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Game>();
    it->data = eight_gaussians(options.seed);
    it->dtype = options.dtype;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->discriminator = Player(build, "discriminator", 2, 1);
    it->generator = Player(build, "generator", noise_size, 2);
    it->average = Player(build, "average", noise_size, 2);
    const auto all = task->list.all();
    const std::vector<Parameter*> generator(all.begin() + 6, all.begin() + 12), average(all.begin() + 12, all.end());
    for (size_t i = 0; i < average.size(); ++i) {
        average[i]->trainable = false;
        tensor::write_values(heap, average[i]->value, tensor::values_of(heap, generator[i]->value), average[i]->name);
    }
    task->groups = {{"discriminator", {all.begin(), all.begin() + 6}}, {"generator", generator}};
    task->model = "gan";
    task->data = it->data.name;
    const Sampler sampler{options.batch, options.rank, options.world};
    task->make_batch = [it, sampler, seed = options.seed](uint64_t step, Batch& batch) {  // points, then noise
        const auto rows = static_cast<size_t>(batch.examples(sampler.batch));
        batch.values.resize(rows * (2 + noise_size));
        const std::span both(batch.values);
        for (size_t i = 0; i < rows; ++i) {
            const uint64_t index = sampler.index(step, batch.first + static_cast<int64_t>(i));
            it->data.train(index, both.subspan(2 * i, 2));
            Rng draws(seed * 0x2545f4914f6cdd1du + index);
            draw_noise(both.subspan(2 * rows + i * noise_size, noise_size), draws);
        }
    };
    // Turn 0: the discriminator's, turn 1: the generator's. softplus(-x) = -log sigmoid(x).
    task->forward = [it, generator, average](Pass& pass, const Batch& batch, size_t turn) {
        tensor::Tape& tape = pass.tape;
        if (turn == 1 && batch.first == 0) follow_generator(pass, generator, average);
        const size_t rows = batch.values.size() / (2 + noise_size);
        const std::span<const float> values(batch.values);
        const Variable z = tape.input(it->on(tape.heap(), values.subspan(2 * rows), noise_size, "noise"), "noise");
        const Variable made = it->generator(pass, z, "made");
        const Variable judged = it->discriminator(pass, made, "made");
        const auto likely = [&](const Variable& logit, double sign, const char* name) {
            return tensor::mean(tape, tensor::unary(tape, "softplus", tensor::affine(tape, logit, sign, 0, name), name),
                                name);
        };
        Forward result;
        result.output = made;
        if (turn == 1) {
            result.loss = likely(judged, -1, "generator loss");
            return result;
        }
        const Variable x = tape.input(it->on(tape.heap(), values.first(2 * rows), 2, "points"), "points", true);
        const Variable real = it->discriminator(pass, x, "real");
        const Variable slope =
            tape.gradients(tensor::sum(tape, real, "real total"), {x}, {.create_graph = true}).front();  // [B,2]
        const Variable squares = tensor::sum(tape, tensor::unary(tape, "square", slope, "slope^2"), "slopes");
        const Variable told = tensor::add(tape, likely(real, -1, "real loss"), likely(judged, 1, "made loss"), "told apart");
        result.loss = tensor::add(tape, told, tensor::affine(tape, squares, slope_weight / 2 / double(rows), 0, "penalty"),
                                  "discriminator loss");
        return result;
    };
    task->evaluate = [it](tensor::Heap& on, int64_t examples, const std::stop_token&) {
        const size_t count = examples > 0 ? static_cast<size_t>(examples) : 2000;
        std::vector<float> noise(count * noise_size);
        Rng draws(123);
        draw_noise(noise, draws);
        on.recycle();
        tensor::Tape tape(on);
        const tensor::NoGrad no_gradients(tape);
        Pass pass{tape, false};
        const Variable made = it->average(pass, tape.input(it->on(on, noise, noise_size, "noise"), "noise"), "made");
        const Coverage coverage = coverage_of(it->data, tensor::to_host(on, made.value));
        Evaluation result;
        result.accuracy = coverage.near;
        result.measures = {{"modes covered of 8", "", double(coverage.covered)}, {"samples near a mode", "", coverage.near}};
        for (const int64_t near : coverage.count) result.parts.push_back(double(near) / double(count));
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
