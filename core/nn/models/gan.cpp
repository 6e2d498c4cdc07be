// A generative adversarial network on eight Gaussians on a circle (Goodfellow et al. 2014, non-saturating loss): the
// discriminator learns to tell points of the set from the generator's, the generator to be taken for the set.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/data/points.h"
#include "core/nn/data/sampler.h"
#include "core/nn/layers.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr int64_t noise_size = 8, width = 128;

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
    Player generator, discriminator;
    DType dtype = DType::f32;

    tensor::Tensor on(tensor::Heap& heap, std::span<const float> values, int64_t columns, const char* name) const {
        return tensor::tensor_from(heap, {static_cast<int64_t>(values.size()) / columns, columns}, values, name,
                                   tensor::Purpose::data, dtype);
    }
};

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
    const auto all = task->list.all();
    task->groups = {{"discriminator", {all.begin(), all.begin() + 6}}, {"generator", {all.begin() + 6, all.end()}}};
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
    task->forward = [it](Pass& pass, const Batch& batch, size_t turn) {
        tensor::Tape& tape = pass.tape;
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
        const Variable x = tape.input(it->on(tape.heap(), values.first(2 * rows), 2, "points"), "points");
        result.loss = tensor::add(tape, likely(it->discriminator(pass, x, "real"), -1, "real loss"),
                                  likely(judged, 1, "made loss"), "discriminator loss");
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
        const Variable made = it->generator(pass, tape.input(it->on(on, noise, noise_size, "noise"), "noise"), "made");
        const Coverage coverage = coverage_of(it->data, tensor::to_host(on, made.value));
        Evaluation result;
        result.accuracy = coverage.near;
        result.measures = {{"modes covered of 8", "", double(coverage.covered)}, {"samples near a mode", "", coverage.near}};
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
