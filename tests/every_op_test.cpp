// Walks the list of ops: host = modelled GPU, gradients by finite differences, shapes, kernels and cost. A new row is tested
// the day it lands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/diagnostic.h"
#include "core/device/kernel_library.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::tensor;

namespace {
using Inputs = std::vector<std::vector<float>>;  // labels as floats

int64_t classes_of(const Sample& sample) {
    return sample.shapes[0].back();
}

Inputs draw(const OpRow& op, const Sample& sample, Rng& rng) {
    Inputs inputs;
    for (size_t i = 0; i < op.inputs; ++i) {
        std::vector<float> values(size_t(count_of(sample.shapes[i])));
        for (float& value : values) {
            if (int(i) == op.label_input) {
                value = float(rng.below(uint64_t(classes_of(sample))));
            } else {
                const double x = rng.uniform(-1, 1);
                value = float(x < 0 ? std::min(x, -sample.gap) : std::max(x, sample.gap));
            }
        }
        inputs.push_back(std::move(values));
    }
    return inputs;
}

struct Outcome {
    std::vector<float> output;
    std::vector<std::vector<float>> gradients;
    std::vector<device::LaunchEvent> launches;
};

// Forward, then backward from `seed`, a gradient of the output (none: forward alone).
Outcome run(device::Device& device, const OpRow& op, const Sample& sample, const Inputs& inputs,
            const std::vector<float>& seed) {
    Outcome outcome;
    device.on_launch = [&](const device::LaunchEvent& event) { outcome.launches.push_back(event); };
    Heap heap(device);
    Tape tape(heap);
    std::vector<Variable> variables;
    for (size_t i = 0; i < op.inputs; ++i) {
        const std::string name(1, char('a' + i));
        if (int(i) == op.label_input)
            variables.push_back(
                tape.label(labels_from(heap, std::vector<int32_t>(inputs[i].begin(), inputs[i].end()), name), name));
        else
            variables.push_back(tape.input(tensor_from(heap, sample.shapes[i], inputs[i], name), name, true));
    }
    const Variable y = tape.apply(op, variables, "op", sample.attributes);
    outcome.output = to_host(heap, y.value);
    if (!seed.empty()) {
        tape.backward(y, tensor_from(heap, y.value.shape, seed, "seed", Purpose::gradient));
        for (const Variable& variable : variables) outcome.gradients.push_back(tape.read_gradient(variable.node));
    }
    device.on_launch = nullptr;
    return outcome;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
    return sum;
}

std::vector<float> draw_seed(size_t count, Rng& rng) {
    std::vector<float> seed(count);
    for (float& value : seed) value = float(rng.uniform(0.5, 1.5)) * (rng.below(2) ? 1.0f : -1.0f);
    return seed;
}

bool close(double a, double b, double relative, double absolute) {
    return std::abs(a - b) <= absolute + relative * std::abs(b);
}

template <class Check>
void for_each_sample(Check check) {
    Rng rng(11);
    for (const OpRow& op : ops())
        for (const Sample& sample : op.samples(rng)) {
            std::string shapes;
            for (const Shape& shape : sample.shapes) shapes += text_of(shape);
            INFO(op.name << " " << shapes << (sample.attributes.transpose_b ? " b transposed" : ""));
            check(op, sample, rng);
        }
}

// The worst disagreement of backward with central differences, in units of the tolerance 2e-4 + 1e-3 |numeric|: above 1 is
// wrong. The forward pass is f32: the step is large enough for rounding, small enough for curvature.
double gradient_error(device::Device& host, const OpRow& op, const Sample& sample, Rng& rng) {
    Inputs inputs = draw(op, sample, rng);
    const auto seed = draw_seed(run(host, op, sample, inputs, {}).output.size(), rng);
    const Outcome exact = run(host, op, sample, inputs, seed);
    const float step = 1.0f / 64;
    double worst = 0;
    for (size_t input = 0; input < op.inputs; ++input) {
        if (int(input) == op.label_input) {
            CHECK(exact.gradients[input].empty());
            continue;
        }
        REQUIRE(exact.gradients[input].size() == inputs[input].size());
        const size_t tries = std::min<size_t>(inputs[input].size(), 24);
        for (size_t t = 0; t < tries; ++t) {
            const size_t i = inputs[input].size() <= 24 ? t : rng.below(inputs[input].size());
            const float kept = inputs[input][i];
            const float up = kept + step, down = kept - step;
            inputs[input][i] = up;
            const double above = dot(run(host, op, sample, inputs, {}).output, seed);
            inputs[input][i] = down;
            const double below = dot(run(host, op, sample, inputs, {}).output, seed);
            inputs[input][i] = kept;
            const double numeric = (above - below) / (double(up) - double(down)),
                         backward = double(exact.gradients[input][i]);
            const double error = std::abs(backward - numeric) / (2e-4 + 1e-3 * std::abs(numeric));
            UNSCOPED_INFO("input " << input << " element " << i << ": backward " << backward << ", numeric " << numeric);
            if (!(error <= worst)) worst = error;  // NaN too
        }
    }
    return worst;
}

// The host, noting the bytes of every buffer that a launch is given: each is moved once.
struct Counting final : device::Device {
    std::unique_ptr<device::Device> host = device::open_device("host").value();
    std::map<uint64_t, size_t> sizes;
    std::map<std::string, double> bytes;  // by phase
    std::set<std::string> kernels;

    std::string name() const override { return "counting"; }
    std::string description() const override { return ""; }
    std::string_view provenance() const override { return "measured"; }
    device::Pointer allocate(size_t size, std::string_view what) override {
        const auto pointer = host->allocate(size, what);
        sizes[pointer.address] = size;
        return pointer;
    }
    void release(device::Pointer pointer) override { host->release(pointer); }
    void copy_in(device::Pointer to, const void* from, size_t size, device::Stream) override {
        host->copy_in(to, from, size);
    }
    void copy_out(void* to, device::Pointer from, size_t size, device::Stream) override { host->copy_out(to, from, size); }
    void launch(const device::LaunchRequest& request) override {
        kernels.insert(std::string(request.kernel));
        for (const auto& argument : request.arguments)
            if (const auto* pointer = std::get_if<device::Pointer>(&argument))
                bytes[request.phase] += double(sizes.at(pointer->address));
        host->launch(request);
    }
    device::Event record(device::Stream) override { return 0; }
    void wait(device::Stream, device::Event) override {}
    void synchronize() override {}
};
}  // namespace

TEST_CASE("every op gives the same values and gradients on the host and on the modelled GPU") {
    auto host = device::open_device("host").value();
    auto sim = device::open_device("sim:v100", {.functional = true}).value();
    for_each_sample([&](const OpRow& op, const Sample& sample, Rng& rng) {
        const Inputs inputs = draw(op, sample, rng);
        const auto seed = draw_seed(run(*host, op, sample, inputs, {}).output.size(), rng);
        const Outcome a = run(*host, op, sample, inputs, seed), b = run(*sim, op, sample, inputs, seed);
        REQUIRE(a.output.size() == b.output.size());
        REQUIRE(a.launches.size() == b.launches.size());
        for (const device::LaunchEvent& launch : b.launches) CHECK(launch.warp_instructions > 0);
        for (size_t i = 0; i < a.output.size(); ++i) CHECK(close(double(b.output[i]), double(a.output[i]), 2e-6, 2e-6));
        for (size_t input = 0; input < op.inputs; ++input) {
            REQUIRE(a.gradients[input].size() == b.gradients[input].size());
            for (size_t i = 0; i < a.gradients[input].size(); ++i)
                CHECK(close(double(b.gradients[input][i]), double(a.gradients[input][i]), 2e-6, 2e-6));
        }
    });
}

TEST_CASE("every op's gradient agrees with finite differences") {
    auto host = device::open_device("host").value();
    for_each_sample([&](const OpRow& op, const Sample& sample, Rng& rng) {
        const double error = gradient_error(*host, op, sample, rng);
        CHECK(error <= 1);
    });
}

TEST_CASE("finite differences find a planted mistake") {
    auto host = device::open_device("host").value();
    Rng rng(3);
    OpRow wrong = op_named("mse");
    wrong.backward = [](BackwardCall& call) {  // forgets the 1/n of the mean
        for (size_t input = 0; input < 2; ++input) {
            const Tensor &self = call.saved[input].tensor, &other = call.saved[1 - input].tensor;
            const Tensor& gradient = call.allocate(input);
            call.launch(input, elementwise("mse_backward_f32", self.count(),
                                           {self.pointer(), other.pointer(), gradient.pointer(), size_argument(self.count()),
                                            call.upstream_scalar()}));
        }
    };
    CHECK(gradient_error(*host, op_named("mse"), {{{2, 3}, {2, 3}}}, rng) <= 1);
    CHECK(gradient_error(*host, wrong, {{{2, 3}, {2, 3}}}, rng) > 1);
}

TEST_CASE("every op launches the kernels its row names, moves the bytes its cost says, and says a shape before it runs") {
    for (const OpRow& op : ops()) {
        Counting device;
        Rng rng(5);
        INFO(op.name);
        for (const Sample& sample : op.samples(rng)) {
            device.bytes.clear();
            const Inputs inputs = draw(op, sample, rng);
            const Shape shape = op.shape(sample.shapes, sample.attributes, "op");
            const auto outcome = run(device, op, sample, inputs, draw_seed(size_t(count_of(shape)), rng));
            CHECK(int64_t(outcome.output.size()) == count_of(shape));
            const OpCost cost = op.cost(sample.shapes, sample.attributes);
            CHECK(cost.forward.bytes == device.bytes["forward"]);
            CHECK(cost.backward.bytes == device.bytes["backward"]);
            CHECK(cost.forward.operations >= double(count_of(shape)) - 1);
            CHECK(cost.backward.operations >= 0);
        }
        CHECK(device.kernels == std::set<std::string>(op.kernels.begin(), op.kernels.end()));
        for (std::string_view kernel : op.kernels) CHECK(device::kernel_named(kernel).name == kernel);
    }
}

TEST_CASE("operations are counted as the textbook does") {
    const auto cost = [](std::string_view op, const std::vector<Shape>& shapes) { return op_named(op).cost(shapes, {}); };
    CHECK(cost("matmul", {{64, 784}, {784, 128}}).forward.operations == 2.0 * 64 * 784 * 128);
    CHECK(cost("matmul", {{64, 784}, {784, 128}}).backward.operations == 4.0 * 64 * 784 * 128);
    CHECK(cost("add_bias", {{64, 128}, {128}}).forward.operations == 64.0 * 128);
    CHECK(cost("add_bias", {{64, 128}, {128}}).backward.operations == 63.0 * 128);
    CHECK(cost("sum", {{100}}).forward.operations == 99);
}
