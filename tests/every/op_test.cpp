// Walks the list of ops, with each element type that an op has: host = modelled GPU, gradients by central differences (in
// double where there is one), the gradient as ops, strided inputs, shapes, kernels and cost. A new row is tested the day it
// lands; a failure says op, sample and type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/diagnostic.h"
#include "core/device/kernels/kernel_library.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace every_op_test {

using namespace lockstep;
using namespace lockstep::tensor;

namespace {
using Inputs = std::vector<std::vector<double>>;  // integers too

bool is_integer(const OpRow& op, size_t input) {
    return input < 32 && (op.integer_inputs & 1u << input);
}

bool has_gradient(const OpRow& op, size_t input) {
    return !is_integer(op, input) && !(input < 32 && (op.constant_inputs & 1u << input));
}

Inputs draw(const OpRow& op, const Sample& sample, Rng& rng) {
    Inputs inputs;
    for (size_t i = 0; i < sample.shapes.size(); ++i) {
        if (i < sample.given.size() && !sample.given[i].empty()) {
            inputs.push_back(sample.given[i]);
            continue;
        }
        std::vector<double> values(size_t(count_of(sample.shapes[i])));
        const auto range = i < sample.ranges.size() ? sample.ranges[i] : std::array<double, 2>{sample.low, sample.high};
        const int64_t classes = sample.classes ? sample.classes : sample.shapes[0].empty() ? 1 : sample.shapes[0].back();
        for (double& value : values) {
            if (is_integer(op, i)) {
                value = double(rng.below(uint64_t(classes)));
            } else {
                const double x = rng.uniform(range[0], range[1]);
                value = x < 0 ? std::min(x, -sample.gap) : std::max(x, sample.gap);
                value = double(float(value));
            }
        }
        inputs.push_back(std::move(values));
    }
    return inputs;
}

struct Outcome {
    TensorType type;  // of the output
    std::vector<double> output;
    std::vector<std::vector<double>> gradients;
    std::vector<device::LaunchEvent> launches;
};

struct How {
    bool strided = false;  // inputs lie in memory with their axes turned round
    bool as_ops = false;   // gradients by the row's differentiate
};

// The same values, stored with the axes in reverse order, shown as `shape`.
Tensor turned(Heap& heap, const Shape& shape, const std::vector<double>& values, const std::string& name, DType type) {
    const Tensor straight = tensor_from(heap, shape, values, name, Purpose::data, type);
    Shape reversed;
    for (size_t i = shape.size(); i-- > 0;) reversed.push_back(int64_t(i));
    const Tensor shown = permuted(straight, reversed);
    const Tensor stored = tensor_from(heap, shown.shape, values_of(heap, shown), name, Purpose::data, type);
    return permuted(stored, reversed);
}

Tensor input_of(Heap& heap, const OpRow& op, size_t i, const Shape& shape, const std::vector<double>& values,
                const std::string& name, DType type, DType integers, How how) {
    if (is_integer(op, i) && integers == DType::i32 && shape.size() == 1 && !how.strided)
        return labels_from(heap, std::vector<int32_t>(values.begin(), values.end()), name);
    const DType held = is_integer(op, i) ? integers : type;
    if (how.strided) return turned(heap, shape, values, name, held);
    return tensor_from(heap, shape, values, name, Purpose::data, held);
}

// Forward, then backward from `seed`, a gradient of the output (none: forward alone).
Outcome run(device::Device& device, const OpRow& op, const Sample& sample, const Inputs& inputs,
            const std::vector<double>& seed, DType type, How how = {}) {
    Outcome outcome;
    device.on_launch = [&](const device::LaunchEvent& event) { outcome.launches.push_back(event); };
    Heap heap(device);
    Tape tape(heap);
    std::vector<Variable> variables;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const std::string name(1, char('a' + i));
        const Tensor value = input_of(heap, op, i, sample.shapes[i], inputs[i], name, type, sample.integers, how);
        variables.push_back(is_integer(op, i) ? tape.label(value, name) : tape.input(value, name, true));
    }
    const Variable y = tape.apply(op, variables, "op", sample.attributes);
    outcome.type = {y.value.shape, y.value.dtype};
    outcome.output = values_of(heap, y.value);
    if (!seed.empty() && op.backward && floating(y.value.dtype)) {
        const Tensor upstream = tensor_from(heap, y.value.shape, seed, "seed", Purpose::gradient, y.value.dtype);
        tape.backward(y, upstream, {.create_graph = how.as_ops});
        for (const Variable& variable : variables) outcome.gradients.push_back(tape.gradient_values(variable.node));
    }
    device.on_launch = nullptr;
    return outcome;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

std::vector<double> draw_seed(size_t count, Rng& rng) {
    std::vector<double> seed(count);
    for (double& value : seed) value = double(float(rng.uniform(0.5, 1.5))) * (rng.below(2) ? 1.0 : -1.0);
    return seed;
}

bool close(double a, double b, double relative, double absolute) {
    return std::abs(a - b) <= absolute + relative * std::abs(b);  // false for NaN
}

// Elements that differ, said in words; empty: none do.
std::string difference(const std::vector<double>& a, const std::vector<double>& b, double relative, double absolute) {
    if (a.size() != b.size()) return fmt::format("{} elements and {}", a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
        if (!close(a[i], b[i], relative, absolute)) return fmt::format("element {}: {:.17g} and {:.17g}", i, a[i], b[i]);
    return "";
}

double unit(DType type) {  // half the distance of 1 to the next number, a few times
    return type == DType::f64 ? 1e-14 : type == DType::f32 ? 2e-6 : type == DType::f16 ? 2e-3 : 1.6e-2;
}

double rounded(double value, DType type) {
    if (type == DType::f16) return double(f16_to_f32(f32_to_f16(float(value))));
    if (type == DType::bf16) return double(bf16_to_f32(f32_to_bf16(float(value))));
    return double(float(value));
}

bool has(const OpRow& op, DType type) {
    return std::find(op.types.begin(), op.types.end(), type) != op.types.end();
}

template <class Check>
void for_each_sample(const OpRow& op, Check check) {
    Rng rng(11);
    for (const Sample& sample : op.samples(rng))
        for (DType type : op.types) {
            std::string shapes;
            for (const Shape& shape : sample.shapes) shapes += text_of(shape);
            INFO(op.name << " " << shapes << " " << name_of(type) << (sample.attributes.transpose_b ? " b transposed" : "")
                         << (sample.attributes.mode ? fmt::format(" mode {}", sample.attributes.mode) : ""));
            check(sample, type, rng);
        }
}
template <class Check>
void for_each_sample(Check check) {
    for (const OpRow& op : ops())
        for_each_sample(op, [&](const Sample& sample, DType type, Rng& rng) { check(op, sample, type, rng); });
}

// The worst disagreement of backward with central differences, in units of the tolerance: above 1 is wrong. In f64: step
// 1e-6, tolerance 1e-5 + 1e-3 |numeric|. An op without f64 runs in f32, whose step is large enough for rounding, small
// enough for curvature.
double gradient_error(device::Device& host, const OpRow& op, const Sample& sample, Rng& rng) {
    const bool precise = has(op, DType::f64);
    const DType type = precise ? DType::f64 : DType::f32;
    const double step = precise ? 1e-6 : 1.0 / 64, absolute = precise ? 1e-5 : 2e-4;
    Inputs inputs = draw(op, sample, rng);
    const auto seed = draw_seed(run(host, op, sample, inputs, {}, type).output.size(), rng);
    const Outcome exact = run(host, op, sample, inputs, seed, type);
    double worst = 0;
    for (size_t input = 0; input < inputs.size(); ++input) {
        if (!has_gradient(op, input)) {
            CHECK(exact.gradients[input].empty());
            continue;
        }
        REQUIRE(exact.gradients[input].size() == inputs[input].size());
        const size_t tries = std::min<size_t>(inputs[input].size(), 24);
        for (size_t t = 0; t < tries; ++t) {
            const size_t i = inputs[input].size() <= 24 ? t : rng.below(inputs[input].size());
            const double kept = inputs[input][i];
            const auto nudged = [&](double by) { return precise ? kept + by : double(float(kept + by)); };
            inputs[input][i] = nudged(step);
            const double above = dot(run(host, op, sample, inputs, {}, type).output, seed);
            inputs[input][i] = nudged(-step);
            const double below = dot(run(host, op, sample, inputs, {}, type).output, seed);
            inputs[input][i] = kept;
            const double numeric = (above - below) / (nudged(step) - nudged(-step)), backward = exact.gradients[input][i];
            const double error = std::abs(backward - numeric) / (absolute + 1e-3 * std::abs(numeric));
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
    std::vector<std::string> beyond;  // launches whose kernel's row counts more elements than there are behind a pointer

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
        std::vector<uint64_t> pointers;
        for (const auto& argument : request.arguments)
            if (const auto* pointer = std::get_if<device::Pointer>(&argument)) pointers.push_back(pointer->address);
        // A pointer given twice is one that the kernel does not use; but the last one is written, and what it points to may
        // be read first, in place.
        if (!pointers.empty()) {
            const uint64_t written = pointers.back();
            std::sort(pointers.begin(), pointers.end() - 1);
            pointers.erase(std::unique(pointers.begin(), pointers.end() - 1), pointers.end());
            pointers.push_back(written);
        }
        const device::KernelRow& row = device::kernel_named(request.kernel);
        const device::Signature signature = device::signature_of(*row.kernel);
        for (size_t i = 0; i < request.arguments.size(); ++i) {
            const auto* const pointer = std::get_if<device::Pointer>(&request.arguments[i]);
            const auto count = pointer ? row.elements(i, request.arguments) : std::nullopt;
            if (!count) continue;
            const auto& [address, size] = *std::prev(sizes.upper_bound(pointer->address));
            const uint64_t reach =
                pointer->address - address + uint64_t(*count) * size_of(type_of(signature.parameters[i], row.type));
            if (reach > std::max<uint64_t>(size, 1))
                beyond.push_back(fmt::format("{} {}: {} elements", row.name, signature.parameters[i].name, *count));
        }
        for (const uint64_t pointer : pointers)  // also into the middle of a buffer
            bytes[request.phase] += double(std::prev(sizes.upper_bound(pointer))->second);
        host->launch(request);
    }
    device::Event record(device::Stream) override { return 0; }
    void wait(device::Stream, device::Event) override {}
    void synchronize() override {}
};

bool is_whole_name(std::string_view kernel) {  // "index_order_i32": of one type, whatever the op's
    const auto rows = device::kernels();
    return std::any_of(rows.begin(), rows.end(), [&](const device::KernelRow& row) { return row.name == kernel; });
}

std::vector<TensorType> types_of(const OpRow& op, const Sample& sample, DType type) {
    std::vector<TensorType> types;
    for (size_t i = 0; i < sample.shapes.size(); ++i)
        types.push_back({sample.shapes[i], is_integer(op, i) ? sample.integers : type});
    return types;
}
}  // namespace

TEST_CASE("every op gives the same values and gradients on the host and on the modelled GPU") {
    auto host = device::open_device("host").value();
    auto sim = device::open_device("sim:v100", {.functional = true}).value();
    for_each_sample([&](const OpRow& op, const Sample& sample, DType type, Rng& rng) {
        const Inputs inputs = draw(op, sample, rng);
        const auto seed = draw_seed(run(*host, op, sample, inputs, {}, type).output.size(), rng);
        const Outcome a = run(*host, op, sample, inputs, seed, type), b = run(*sim, op, sample, inputs, seed, type);
        REQUIRE(a.launches.size() == b.launches.size());
        for (const device::LaunchEvent& launch : b.launches) CHECK(launch.warp_instructions > 0);
        CHECK(difference(b.output, a.output, unit(type), unit(type)) == "");
        REQUIRE(a.gradients.size() == b.gradients.size());
        for (size_t input = 0; input < a.gradients.size(); ++input)
            CHECK(difference(b.gradients[input], a.gradients[input], unit(type), unit(type)) == "");
    });
}

TEST_CASE("every op's gradient agrees with finite differences") {
    auto host = device::open_device("host").value();
    for (const OpRow& op : ops()) {
        if (!op.backward) continue;
        Rng rng(12);
        for (const Sample& sample : op.samples(rng)) {
            if (!sample.smooth) continue;
            INFO(op.name << " " << text_of(sample.shapes[0]));
            const double error = gradient_error(*host, op, sample, rng);
            CHECK(error <= 1);
        }
    }
}

TEST_CASE("every op whose gradient is written as ops gets the same gradient from them") {
    auto host = device::open_device("host").value();
    for_each_sample([&](const OpRow& op, const Sample& sample, DType type, Rng& rng) {
        if (!op.differentiate) return;
        const Inputs inputs = draw(op, sample, rng);
        const auto seed = draw_seed(run(*host, op, sample, inputs, {}, type).output.size(), rng);
        const Outcome a = run(*host, op, sample, inputs, seed, type),
                      b = run(*host, op, sample, inputs, seed, type, {.as_ops = true});
        REQUIRE(a.gradients.size() == b.gradients.size());
        for (size_t input = 0; input < a.gradients.size(); ++input)
            CHECK(difference(b.gradients[input], a.gradients[input], 4 * unit(type), 4 * unit(type)) == "");
    });
}

TEST_CASE("every op takes inputs that lie in memory in another order") {
    auto host = device::open_device("host").value();
    for_each_sample([&](const OpRow& op, const Sample& sample, DType type, Rng& rng) {
        if (type != DType::f32 && type != DType::f64) return;
        const Inputs inputs = draw(op, sample, rng);
        const auto seed = draw_seed(run(*host, op, sample, inputs, {}, type).output.size(), rng);
        const Outcome a = run(*host, op, sample, inputs, seed, type),
                      b = run(*host, op, sample, inputs, seed, type, {.strided = true});
        CHECK(difference(b.output, a.output, unit(type), unit(type)) == "");
        for (size_t input = 0; input < a.gradients.size(); ++input)
            CHECK(difference(b.gradients[input], a.gradients[input], unit(type), unit(type)) == "");
    });
}

TEST_CASE("half precision and single precision stay near double precision") {
    auto host = device::open_device("host").value();
    for_each_sample([&](const OpRow& op, const Sample& sample, DType type, Rng& rng) {
        if (type == DType::f64 || !has(op, DType::f64)) return;
        Inputs inputs = draw(op, sample, rng);
        for (std::vector<double>& values : inputs)  // as the narrow type holds them: a tie is one in both
            for (double& value : values) value = rounded(value, type);
        const auto seed = draw_seed(run(*host, op, sample, inputs, {}, type).output.size(), rng);
        const Outcome wide = run(*host, op, sample, inputs, seed, DType::f64),
                      narrow = run(*host, op, sample, inputs, seed, type);
        if (!floating(wide.type.dtype)) return;  // an index turns where two values are near
        const double bound = 16 * unit(type);
        CHECK(difference(narrow.output, wide.output, bound, bound) == "");
        for (size_t input = 0; input < wide.gradients.size(); ++input)
            CHECK(difference(narrow.gradients[input], wide.gradients[input], 2 * bound, 2 * bound) == "");
    });
}

TEST_CASE("finite differences find a planted mistake") {
    auto host = device::open_device("host").value();
    Rng rng(3);
    OpRow wrong = op_named("mse");
    wrong.backward = [](BackwardCall& call) {  // forgets the 1/n of the mean
        for (size_t input = 0; input < 2; ++input) {
            const Tensor &self = call.kept(input), &other = call.kept(1 - input);
            const Tensor& gradient = call.allocate(input);
            call.launch(input, elementwise("mse_backward", self.count(),
                                           {self.pointer(), other.pointer(), gradient.pointer(), size_argument(self.count()),
                                            scalar_argument(call.upstream_scalar(), call.dtype)}));
        }
    };
    CHECK(gradient_error(*host, op_named("mse"), {{{2, 3}, {2, 3}}}, rng) <= 1);
    CHECK(gradient_error(*host, wrong, {{{2, 3}, {2, 3}}}, rng) > 1);
}

TEST_CASE("every op launches the kernels its row names, moves the bytes its cost says, and says a shape before it runs") {
    for (const OpRow& op : ops()) {
        std::map<DType, std::set<std::string>> launched;
        for_each_sample(op, [&](const Sample& sample, DType type, Rng& rng) {
            Counting device;
            const Inputs inputs = draw(op, sample, rng);
            const auto types = types_of(op, sample, type);
            const auto once = run(*device.host, op, sample, inputs, {}, type);
            if (op.shape) CHECK(op.shape(types, sample.attributes) == once.type.shape);
            run(device, op, sample, inputs, draw_seed(size_t(count_of(once.type.shape)), rng), type);
            const OpCost cost = op.cost(types, sample.attributes);
            CHECK(cost.forward.bytes == device.bytes["forward"]);
            CHECK(cost.backward.bytes == device.bytes["backward"]);
            CHECK(cost.forward.operations >= 0);
            CHECK(cost.backward.operations >= 0);
            CHECK(device.beyond == std::vector<std::string>());
            launched[type].insert(device.kernels.begin(), device.kernels.end());
        });
        for (const auto& [type, kernels] : launched) {
            INFO(op.name << " " << name_of(type));
            std::set<std::string> named;
            for (std::string_view base : op.kernels)
                if (!base.ends_with("*"))
                    named.insert(std::string(is_whole_name(base) ? base : device::typed_kernel(base, type)));
            if (op.kernels.size() == 1 && op.kernels[0].ends_with("*")) {
                for (const std::string& kernel : kernels)
                    CHECK(kernel.starts_with(op.kernels[0].substr(0, op.kernels[0].size() - 1)));
                continue;
            }
            CHECK(kernels == named);
        }
    }
}

TEST_CASE("operations are counted as the textbook does") {
    const auto cost = [](std::string_view op, const std::vector<Shape>& shapes) {
        std::vector<TensorType> types;
        for (const Shape& shape : shapes) types.push_back({shape, DType::f32});
        return op_named(op).cost(types, {});
    };
    CHECK(cost("matmul", {{64, 784}, {784, 128}}).forward.operations == 2.0 * 64 * 784 * 128);
    CHECK(cost("matmul", {{64, 784}, {784, 128}}).backward.operations == 4.0 * 64 * 784 * 128);
    CHECK(cost("add_bias", {{64, 128}, {128}}).forward.operations == 64.0 * 128);
    CHECK(cost("add_bias", {{64, 128}, {128}}).backward.operations == 63.0 * 128);
    CHECK(cost("sum", {{100}}).forward.operations == 99);
}

}  // namespace every_op_test
