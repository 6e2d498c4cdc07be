// Optimisers on the device: the worked values, clipping, the loss scale, what a checkpoint holds, and that the modelled GPU
// takes the host's steps bit for bit.
#include "core/nn/layers/optim.h"

#include <fmt/format.h>

#include <cmath>

#include "core/device/devices.h"
#include "tests/catch.h"

namespace nn_optim_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
using Values = std::vector<double>;
const std::vector<Values> worked = {{.1, -.2, .3}, {-.3, .1, .2}, {.5, .5, -.1}};

struct Bench {  // one device with parameters, whose gradients are handed in
    std::unique_ptr<device::Device> device;
    tensor::Heap heap{*device};
    tensor::Tape tape{heap};
    ParameterList list;
    DType dtype;
    std::vector<device::LaunchEvent> launches;

    explicit Bench(const std::string& name = "host", DType type = DType::f64)
        : device(device::open_device(name, {.functional = true}).value()), dtype(type) {
        device->on_launch = [this](const device::LaunchEvent& event) { launches.push_back(event); };
    }
    void add(const std::string& name, const Values& values) {
        list.add(Parameter{
            name, tensor::tensor_from(heap, {int64_t(values.size())}, values, name, tensor::Purpose::parameter, dtype)});
    }
    void step(Optimizer& optimizer, const std::vector<Values>& gradients, double scale = 1) {
        tape.clear();
        heap.recycle();
        std::vector<tensor::Root> roots;
        size_t i = 0;
        for (Parameter* parameter : list.all()) {
            const tensor::Variable leaf = tape.parameter(parameter->value, parameter->name);
            parameter->node = leaf.node;
            Values values = gradients[i++];
            for (double& value : values) value *= scale;
            roots.push_back(
                {leaf, tensor::tensor_from(heap, leaf.shape(), values, "gradient", tensor::Purpose::gradient, dtype)});
        }
        tape.backward(roots);
        optimizer.step(tape);
    }
    Values values(size_t parameter = 0) { return tensor::values_of(heap, list.parameters()[parameter].value); }
};

void check_near(const Values& got, const Values& want, double tolerance) {
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) {
        INFO("element " << i << ": " << got[i] << ", not " << want[i]);
        CHECK(std::abs(got[i] - want[i]) <= tolerance);
    }
}

std::vector<Values> drawn(Rng& rng, std::initializer_list<int> sizes) {
    std::vector<Values> all;
    for (int size : sizes) {
        Values& values = all.emplace_back(size_t(size));
        for (double& value : values) value = double(float(rng.uniform(-1, 1)));
    }
    return all;
}

const std::vector<Rule> every_rule = {SGD{.lr = 0.1},
                                      SGD{.lr = 0.1, .momentum = 0.9, .dampening = 0.3},
                                      SGD{.lr = 0.1, .momentum = 0.8, .weight_decay = 0.05, .nesterov = true},
                                      Adam{.lr = 0.01, .weight_decay = 0.1},
                                      AdamW{.lr = 0.01},
                                      LARS{.lr = 1, .weight_decay = 0.01, .trust = 0.02},
                                      LARC{.weight_decay = 0.01},
                                      NovoGrad{.weight_decay = 0.01}};
}  // namespace

TEST_CASE("AdamW, Adam and SGD take the worked steps of PyTorch") {
    const auto after_three = [](const Rule& rule) {
        Bench bench;
        bench.add("p", {1, -2, 3});
        Optimizer optimizer(bench.heap, rule, bench.list.all());
        for (const Values& gradient : worked) bench.step(optimizer, {gradient});
        return bench.values();
    };
    check_near(after_three(AdamW{.lr = .01, .weight_decay = .1}), {.9886012653, -1.9863578314, 2.9658162513}, 1e-10);
    check_near(after_three(Adam{.lr = .01, .weight_decay = .1}), {.9849586616, -1.9803147356, 2.9710923587}, 1e-10);
    check_near(after_three(SGD{.lr = .1, .momentum = .9, .weight_decay = .01}), {.974302789, -2.003655578, 2.874018367},
               1e-9);
}

TEST_CASE("the modelled GPU takes every rule's steps bit for bit as the host does") {
    for (const Rule& rule : every_rule)
        for (DType dtype : {DType::f32, DType::f64}) {
            INFO(nn::name_of(rule) << " " << lockstep::name_of(dtype));
            Bench host("host", dtype), sim("sim:v100", dtype);
            std::vector<Values> ends;
            for (Bench* bench : {&host, &sim}) {
                Rng rng(5);
                for (const Values& values : drawn(rng, {3, 5000})) bench->add(fmt::format("p{}", values.size()), values);
                Optimizer optimizer(bench->heap, rule, bench->list.all(), {.max_norm = 3});
                for (int step = 0; step < 3; ++step) bench->step(optimizer, drawn(rng, {3, 5000}));
                ends.push_back(bench->values(0));
                const Values second = bench->values(1);
                ends.back().insert(ends.back().end(), second.begin(), second.end());
            }
            CHECK(ends[0] == ends[1]);
        }
}

TEST_CASE("clipping scales all gradients to one norm, and says what it was") {
    Bench bench;
    bench.add("a", {1, 1});
    bench.add("b", {1});
    Optimizer optimizer(bench.heap, SGD{.lr = 1}, bench.list.all(), {.max_norm = 1});
    bench.step(optimizer, {{3, 4}, {12}});  // norm 13
    CHECK(std::abs(optimizer.report().norm - 13) < 1e-12);
    const double factor = 1 / (13 + 1e-6);
    check_near(bench.values(0), {1 - 3 * factor, 1 - 4 * factor}, 1e-12);
    check_near(bench.values(1), {1 - 12 * factor}, 1e-12);
    bench.step(optimizer, {{0.3, 0.4}, {0}});  // within
    check_near(bench.values(0), {1 - 3 * factor - 0.3, 1 - 4 * factor - 0.4}, 1e-12);

    Bench piece;  // of a larger set of parameters: the others' squares come from elsewhere
    piece.add("a", {1, 1});
    piece.add("b", {1});
    Optimizer of_piece(piece.heap, SGD{.lr = 1}, piece.list.all(), {.max_norm = 1});
    std::vector<double> own;
    of_piece.sum_squares = [&](std::span<const double> squares) {
        own.assign(squares.begin(), squares.end());
        return squares[0] + squares[1] + 87;  // 256 in all
    };
    piece.step(of_piece, {{3, 4}, {12}});
    CHECK(own == std::vector<double>{25, 144});
    CHECK(of_piece.report().norm == 16);
    check_near(piece.values(1), {1 - 12 / (16 + 1e-6)}, 1e-12);

    Bench single;
    single.add("a", {0, 0, 0});
    Optimizer by_value(single.heap, SGD{.lr = 1}, single.list.all(), {.max_value = 0.5});
    single.step(by_value, {{2, -0.25, -7}});
    check_near(single.values(), {-0.5, 0.25, 0.5}, 0);
}

TEST_CASE("a step whose gradients overflow is left out, and the loss scale falls and grows again") {
    Bench bench;
    bench.add("w", {1, 2});
    Optimizer optimizer(bench.heap, AdamW{.lr = 0.1}, bench.list.all(), {}, LossScaling{.scale = 8, .growth_interval = 2});
    Bench plain;
    plain.add("w", {1, 2});
    Optimizer unscaled(plain.heap, AdamW{.lr = 0.1}, plain.list.all());
    CHECK(tensor::values_of(bench.heap, optimizer.seed(bench.tape)) == Values{8});

    bench.step(optimizer, {{0.5, INFINITY}}, 8);
    CHECK(bench.values() == Values{1, 2});
    CHECK(optimizer.report().skipped);
    CHECK(optimizer.report().steps == 0);
    CHECK(optimizer.report().loss_scale == 4);
    bench.step(optimizer, {{0.5, NAN}}, 4);
    CHECK(bench.values() == Values{1, 2});
    CHECK(optimizer.report().loss_scale == 2);
    for (double scale : {2.0, 2.0, 4.0}) {  // two good steps double the scale
        CHECK(optimizer.report().loss_scale == scale);
        bench.step(optimizer, {{0.5, -0.25}}, scale);
        plain.step(unscaled, {{0.5, -0.25}});
    }
    CHECK(bench.values() == plain.values());
    CHECK(optimizer.report().steps == 3);
}

TEST_CASE("an optimizer's state brings training back to the same bits") {
    for (const Rule& rule : every_rule) {
        INFO(nn::name_of(rule));
        Rng rng(9);
        const auto start = drawn(rng, {7}), first = drawn(rng, {7}), second = drawn(rng, {7}), third = drawn(rng, {7});
        Bench whole, before, after;
        for (Bench* bench : {&whole, &before}) bench->add("w", start[0]);
        Optimizer all(whole.heap, rule, whole.list.all()), half(before.heap, rule, before.list.all());
        for (const auto& gradients : {first, second, third}) whole.step(all, gradients);
        for (const auto& gradients : {first, second}) before.step(half, gradients);
        after.add("w", before.values());
        Optimizer rest(after.heap, rule, after.list.all());
        const auto from = half.state(), to = rest.state();
        REQUIRE(from.size() == to.size());
        for (size_t i = 0; i < from.size(); ++i) {
            CHECK(from[i].name == to[i].name);
            tensor::write_values(after.heap, to[i].tensor, tensor::values_of(before.heap, from[i].tensor), to[i].name);
        }
        rest.restored();
        after.step(rest, third);
        CHECK(after.values() == whole.values());
    }
}

TEST_CASE("a step allocates nothing, and launches one update a parameter") {
    Bench bench("host", DType::f32);
    bench.add("a", Values(3000, 1.0));
    bench.add("b", {1, 2});
    Optimizer optimizer(bench.heap, AdamW{}, bench.list.all());
    const std::vector<Values> gradients = {Values(3000, 0.5), {1, 2}};
    bench.step(optimizer, gradients);
    const uint64_t allocations = bench.heap.device_allocations();
    bench.launches.clear();
    bench.step(optimizer, gradients);
    CHECK(bench.heap.device_allocations() == allocations);
    std::vector<std::string> kernels;
    for (const auto& launch : bench.launches) kernels.push_back(launch.kernel);
    CHECK(kernels == std::vector<std::string>{"optimizer_begin_f64", "adamw_f32", "adamw_f32"});
    CHECK(bench.launches[1].label == "a adamw");
    CHECK(bench.launches[1].phase == "update");
}

TEST_CASE("rates scale with the batch, and an unknown optimizer is named with its neighbour") {
    CHECK(linear_scaling(0.1, 1024, 256) == 0.4);
    CHECK(square_root_scaling(0.1, 1024, 256) == 0.2);
    CHECK(warm_up_cosine(0.1, 0, 4, 20, 0.01) == 0.1 / 4);
    CHECK(std::abs(warm_up_cosine(0.1, 20, 4, 20, 0.01) - 0.01) < 1e-15);
    CHECK(std::get<Adam>(rule_named("adam", 0.5)).lr == 0.5);
    CHECK_THROWS_WITH(rule_named("adamq", 1), Catch::Matchers::Contains("did you mean 'adam"));
}

}  // namespace nn_optim_test
