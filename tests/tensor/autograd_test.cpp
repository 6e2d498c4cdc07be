// What the tape offers beyond one backward: other orders, several roots, second derivatives, hooks, ops of one's own,
// stepping, and saying where a gradient is wrong or a NaN began.
#include <cmath>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/device/meta.h"
#include "core/tensor/gradcheck.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace tensor_autograd_test {

using namespace lockstep;
using namespace lockstep::tensor;

namespace {
struct Host {
    std::unique_ptr<device::Device> device = device::open_device("host").value();
    Heap heap{*device};

    Variable input(Tape& tape, const Shape& shape, const std::vector<double>& values, const std::string& name,
                   DType type = DType::f64) {
        return tape.input(tensor_from(heap, shape, values, name, Purpose::data, type), name, true);
    }
    double value(const Variable& variable) const { return values_of(heap, variable.value)[0]; }
};

template <class Run>
std::string failure_of(Run run) {
    try {
        run();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "no failure";
}

bool close(double a, double b, double tolerance = 1e-9) {
    return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

// z = log(3 x^2 + 5 x y)
Variable worked(Tape& tape, const Variable& x, const Variable& y) {
    const Variable squares = affine(tape, unary(tape, "square", x, "x^2"), 3, 0, "3x^2");
    const Variable products = affine(tape, mul(tape, x, y, "xy"), 5, 0, "5xy");
    return unary(tape, "log", add(tape, squares, products, "sum"), "z");
}
}  // namespace

TEST_CASE("z = log(3x^2 + 5xy) at (2, 3): value, gradient and Hessian") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {}, {2}, "x"), y = host.input(tape, {}, {3}, "y");
    const Variable z = worked(tape, x, y);
    CHECK(close(host.value(z), 3.7376696182833684, 1e-14));
    const auto g = tape.gradients(z, {x, y}, {.create_graph = true});
    CHECK(close(host.value(g[0]), 0.642857142857143, 1e-14));
    CHECK(close(host.value(g[1]), 0.238095238095238, 1e-14));
    const auto of_x = tape.gradients(g[0], {x, y}, {.create_graph = true});
    const auto of_y = tape.gradients(g[1], {x, y}, {.create_graph = true});
    CHECK(close(host.value(of_x[0]), -0.2704081633, 1e-9));
    CHECK(close(host.value(of_x[1]), -0.0340136054, 1e-9));
    CHECK(close(host.value(of_y[0]), -0.0340136054, 1e-9));
    CHECK(close(host.value(of_y[1]), -0.0566893424, 1e-9));
    // dz/dx = (6x + 5y) / (3x^2 + 5xy); its third derivative in x by central differences of the second
    const auto third = tape.gradients(of_x[0], {x}, {.create_graph = true});
    const auto second_at = [&](double at) {
        Tape other(host.heap);
        const Variable u = host.input(other, {}, {at}, "x"), v = host.input(other, {}, {3}, "y");
        const auto first = other.gradients(worked(other, u, v), {u}, {.create_graph = true});
        return host.value(other.gradients(first[0], {u}, {.create_graph = true})[0]);
    };
    CHECK(close(host.value(third[0]), (second_at(2 + 1e-5) - second_at(2 - 1e-5)) / 2e-5, 1e-7));
}

TEST_CASE("backward with create_graph leaves gradients that can be differentiated") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {3}, {1, 2, 3}, "x");
    const Variable y = sum(tape, mul(tape, mul(tape, x, x, "x^2"), x, "x^3"), "y");
    tape.backward(y, {}, {.create_graph = true});
    CHECK(tape.gradient_values(x.node) == std::vector<double>{3, 12, 27});
    const Variable g = tape.gradient_variable(x);
    const auto second = tape.gradients(sum(tape, g, "sum of g"), {x});
    CHECK(values_of(host.heap, second[0].value) == std::vector<double>{6, 12, 18});
}

TEST_CASE("an op without a gradient of its gradient says so") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {4}, {1, 2, 3, 4}, "x");
    const Variable largest = amax(tape, x, "largest");
    CHECK(failure_of([&] { tape.gradients(largest, {x}, {.create_graph = true}); }) ==
          "largest: amax has a gradient but no gradient of its gradient");
    const auto once = tape.gradients(largest, {x});
    CHECK(values_of(host.heap, once[0].value) == std::vector<double>{0, 0, 0, 1});
}

TEST_CASE("a retained graph runs backward again, and leaves add up") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {2}, {3, 4}, "x");
    const Variable y = sum(tape, unary(tape, "square", x, "square"), "y");
    tape.backward(y, {}, {.retain_graph = true});
    CHECK(tape.gradient_values(x.node) == std::vector<double>{6, 8});
    CHECK(tape.saved_bytes() == 16);
    tape.backward(y);
    CHECK(tape.gradient_values(x.node) == std::vector<double>{12, 16});
    CHECK(tape.saved_bytes() == 0);
    CHECK(failure_of([&] { tape.backward(y); }) ==
          "backward ran already through square: what it saved is freed (retain_graph keeps it)");
}

TEST_CASE("two losses of one graph, in any order or at once, give the same gradient") {
    const auto gradient = [](int way) {
        Host host;
        Tape tape(host.heap);
        const Variable x = host.input(tape, {2}, {0.5, -1}, "x");
        const Variable e = unary(tape, "exp", x, "e");
        const Variable a = sum(tape, e, "a"), b = sum(tape, mul(tape, e, x, "ex"), "b");
        if (way == 0) {
            tape.backward(a, {}, {.retain_graph = true});
            tape.backward(b);
        } else if (way == 1) {
            tape.backward(b, {}, {.retain_graph = true});
            tape.backward(a);
        } else {
            const Root roots[] = {{a}, {b}};
            tape.backward(roots);
        }
        return tape.gradient_values(x.node);
    };
    // d/dx (e^x + x e^x) = (2 + x) e^x
    for (int way = 0; way < 3; ++way) {
        const auto g = gradient(way);
        CHECK(close(g[0], 2.5 * std::exp(0.5), 1e-14));
        CHECK(close(g[1], std::exp(-1.0), 1e-14));
    }
}

TEST_CASE("a root inside another root's graph counts on its own too") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {}, {3}, "x");
    const Variable inner = unary(tape, "square", x, "inner"), outer = unary(tape, "square", inner, "outer");
    const Root roots[] = {{outer}, {inner}};
    tape.backward(roots);
    CHECK(tape.gradient_values(x.node) == std::vector<double>{4 * 27 + 2 * 3});
}

TEST_CASE("backward can be stepped node by node") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {}, {2}, "x"), y = host.input(tape, {}, {3}, "y");
    const Variable z = worked(tape, x, y);
    const Root root{z};
    tape.begin_backward(std::span(&root, 1));
    std::vector<std::string> order;
    while (true) {
        const int next = tape.next_backward();
        const auto ran = tape.step_backward();
        CHECK(ran.value_or(-1) == next);
        if (!ran) break;
        order.push_back(tape.nodes()[size_t(*ran)].name);
        if (order.size() == 1) CHECK(close(tape.gradient_values(tape.nodes()[size_t(*ran)].inputs[0])[0], 1.0 / 42, 1e-14));
    }
    CHECK(order == std::vector<std::string>{"z", "sum", "5xy", "xy", "3x^2", "x^2"});
    CHECK(close(tape.gradient_values(x.node)[0], 0.642857142857143, 1e-14));
    CHECK(close(tape.gradient_values(y.node)[0], 0.238095238095238, 1e-14));
}

TEST_CASE("what passes along each edge is the local derivative times the upstream gradient") {
    Host host;
    Tape tape(host.heap);
    tape.keep_edges(true);
    const Variable x = host.input(tape, {}, {2}, "x"), y = host.input(tape, {}, {3}, "y");
    tape.backward(worked(tape, x, y));
    std::vector<std::string> along;
    std::vector<double> passed;
    for (const Edge& edge : tape.edges()) {
        const Node& node = tape.nodes()[size_t(edge.node)];
        along.push_back(tape.nodes()[size_t(node.inputs[edge.input])].name + " from " + node.name);
        passed.push_back(edge.gradient.at(0));
    }
    CHECK(along == std::vector<std::string>{"sum from z", "3x^2 from sum", "5xy from sum", "xy from 5xy", "x from xy",
                                            "y from xy", "x^2 from 3x^2", "x from x^2"});
    const double up = 1.0 / 42;  // 3x^2 + 5xy = 42
    const double expected[] = {up, up, up, 5 * up, 15 * up, 10 * up, 3 * up, 12 * up};
    for (size_t i = 0; i < passed.size(); ++i) CHECK(close(passed[i], expected[i], 1e-14));
}

TEST_CASE("nothing is kept in a no-grad scope, and detach stops the gradient") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {8}, std::vector<double>(8, 2.0), "x");
    {
        const NoGrad quiet(tape);
        const Variable y = unary(tape, "exp", x, "y");
        CHECK(!tape.nodes()[size_t(y.node)].requires_grad);
        CHECK(tape.saved_bytes() == 0);
        CHECK(failure_of([&] { tape.backward(sum(tape, y, "s")); }).starts_with("s needs no gradient"));
    }
    CHECK(tape.recording());
    const Variable product = mul(tape, x, detach(tape, x, "constant"), "product");
    tape.backward(sum(tape, product, "total"));
    CHECK(tape.gradient_values(x.node) == std::vector<double>(8, 2.0));
}

TEST_CASE("a hook sees a gradient when it is complete and may change it") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {2}, {1, 2}, "x");
    const Variable y = unary(tape, "square", x, "y");
    const Variable total = sum(tape, add(tape, y, y, "twice"), "total");
    std::vector<double> seen;
    tape.on_gradient(y, [&](const Tensor& gradient) {
        seen = values_of(host.heap, gradient);
        return tensor_from(host.heap, {2}, std::vector<double>{10, 100}, "changed", Purpose::gradient);
    });
    int leaves = 0;
    tape.on_gradient(x, [&](const Tensor&) {
        ++leaves;
        return Tensor{};
    });
    tape.backward(total);
    CHECK(seen == std::vector<double>{2, 2});
    CHECK(leaves == 1);
    CHECK(tape.gradient_values(x.node) == std::vector<double>{20, 400});
}

namespace {
OpRow multiply(bool wrong) {  // an op of one's own: its row is made here
    OpRow row;
    row.name = "multiply";
    row.inputs = 2;
    row.gradient_names = {"da", "db"};
    row.shape = [](Types in, const Attributes&) {
        if (in[0].shape != in[1].shape) throw Failure("shapes differ");
        return in[0].shape;
    };
    row.forward = [](ForwardCall& call) {
        const Tensor &a = call.inputs[0], &b = call.inputs[1];
        call.launch(
            elementwise("mul", a.count(), {a.pointer(), b.pointer(), call.output.pointer(), size_argument(a.count())}));
        call.save_input(0);
        call.save_input(1);
    };
    row.backward = [](BackwardCall& call) {
        for (size_t i = 0; i < 2; ++i) {
            if (!call.wants(i)) continue;
            const Tensor &other = call.kept(1 - i), &dy = call.upstream;
            const Tensor& dx = call.allocate(i);
            call.launch(
                i, elementwise("mul", dx.count(), {dy.pointer(), other.pointer(), dx.pointer(), size_argument(dx.count())}));
        }
    };
    if (wrong)
        row.backward = [](BackwardCall& call) {  // takes its own value for the other's
            for (size_t i = 0; i < 2; ++i) {
                const Tensor &own = call.kept(i), &dy = call.upstream;
                const Tensor& dx = call.allocate(i);
                call.launch(i, elementwise("mul", dx.count(),
                                           {dy.pointer(), own.pointer(), dx.pointer(), size_argument(dx.count())}));
            }
        };
    return row;
}
}  // namespace

TEST_CASE("an op of one's own is checked, and a planted mistake is named with both numbers") {
    Host host;
    const OpRow right = multiply(false), wrong = multiply(true);
    const std::vector<GradcheckInput> inputs = {{"a", {2, 2}, {1, 2, 3, 4}}, {"b", {2, 2}, {1, 5, 6, 7}}};
    const auto check = [&](const OpRow& row) {
        return gradcheck(
            host.heap,
            [&](Tape& tape, std::span<const Variable> x) {
                return tape.apply(row, {x[0], x[1]}, "product");
            },
            inputs);
    };
    const GradcheckResult good = check(right), bad = check(wrong);
    CHECK(good.ok());
    CHECK(good.compared == 8);
    CHECK(good.text() == "8 gradients agree with central differences");
    REQUIRE(!bad.ok());
    CHECK(bad.mismatches.size() == 6);  // a[0] = b[0]: there the mistake does not show
    const GradcheckMismatch& first = bad.mismatches[0];
    CHECK(first.op == "product (multiply)");
    CHECK(first.input == "a");
    CHECK(first.at == Shape{0, 1});
    CHECK(close(first.backward / first.numeric, 2.0 / 5.0, 1e-6));
    CHECK(bad.text().find("product (multiply): the gradient of a at [0, 1] is") == 0);
}

TEST_CASE("gradcheck is not content with a NaN") {
    Host host;
    const auto checked =
        gradcheck(host.heap, [](Tape& tape, std::span<const Variable> x) { return unary(tape, "log", x[0], "log"); },
                  {{"x", {2}, {1, -1}}});
    CHECK(!checked.ok());
    CHECK(checked.mismatches.size() == 2);  // the weighted sum is a NaN, whichever element moves
}

TEST_CASE("the first value that is not finite is named with op, layer, element and line") {
    Host host;
    Tape tape(host.heap);
    tape.check_values(Tape::Check::stop);
    const Variable x = host.input(tape, {2, 2}, {1, 2, -3, 4}, "x");
    const Variable shifted = affine(tape, x, 1, 0, "layer1 shift");
    const int line = __LINE__ + 1;
    const std::string message = failure_of([&] { unary(tape, "log", shifted, "layer1 log"); });
    CHECK(message ==
          "the first value that is not finite is a NaN in the value of layer1 log (log), element [1, 0], recorded at "
          "tests/tensor/autograd_test.cpp:" +
              std::to_string(line));
    tape.clear();
    tape.check_values(Tape::Check::note);
    const Variable y = host.input(tape, {2}, {1, 0}, "y");
    const Variable root = sum(tape, unary(tape, "sqrt", y, "root"), "total");
    CHECK(!tape.anomaly());
    tape.backward(root);
    REQUIRE(tape.anomaly());
    CHECK(tape.anomaly()->backward);
    CHECK(tape.anomaly()->name == "root");
    CHECK(tape.anomaly()->at == Shape{1});
    CHECK(std::isinf(tape.anomaly()->value));
}

TEST_CASE("views share storage, and their gradients reach the whole") {
    Host host;
    Tape tape(host.heap);
    const Variable x = host.input(tape, {2, 3}, {1, 2, 3, 4, 5, 6}, "x");
    const Variable turned = transpose(tape, x, 0, 1, "turned"), row = select(tape, turned, 0, 1, "row"),
                   wide = expand(tape, unsqueeze(tape, row, 1, "column"), {2, 4}, "wide");
    CHECK(wide.value.storage == x.value.storage);
    CHECK(tape.launches() == 0);
    CHECK(values_of(host.heap, turned.value) == std::vector<double>{1, 4, 2, 5, 3, 6});
    CHECK(tape.values(row.node) == std::vector<double>{2, 5});
    CHECK(tape.values(wide.node) == std::vector<double>{2, 2, 2, 2, 5, 5, 5, 5});
    const Variable flat = reshape(tape, wide, {-1}, "flat");
    CHECK(flat.value.storage != x.value.storage);  // it had gaps
    tape.backward(sum(tape, unary(tape, "square", flat, "squares"), "total"));
    CHECK(tape.gradient_values(x.node) == std::vector<double>{0, 16, 0, 0, 40, 0});
    CHECK(failure_of([&] {
              reshape(tape, x, {4, -1}, "odd");
          }) == "odd (reshape): [2, 3] cannot be reshaped to [4, -1]: 6 elements");
    CHECK(failure_of([&] { slice(tape, x, 1, 2, 2, 1, "none"); }) ==
          "none (slice): a slice from 2 to 2 by 1 takes nothing from axis 1 of [2, 3]");
    CHECK(failure_of([&] {
              permute(tape, x, {0, 0}, "p");
          }) == "p (permute): axes [0, 0] do not permute [2, 3]: each axis once");
    CHECK(failure_of([&] { select(tape, x, 2, 0, "s"); }) == "s (select): there is no axis 2 in a tensor of 2 axes");
}

TEST_CASE("broadcasting sums the gradient back, and types do not mix") {
    Host host;
    Tape tape(host.heap);
    const Variable a = host.input(tape, {2, 3}, {1, 2, 3, 4, 5, 6}, "a"), b = host.input(tape, {3}, {1, 10, 100}, "b"),
                   c = host.input(tape, {2, 1}, {1, -1}, "c");
    const Variable y = mul(tape, mul(tape, a, b, "ab"), c, "abc");
    CHECK(tape.values(y.node) == std::vector<double>{1, 20, 300, -4, -50, -600});
    tape.backward(sum(tape, y, "total"));
    CHECK(tape.gradient_values(b.node) == std::vector<double>{-3, -3, -3});
    CHECK(tape.gradient_values(c.node) == std::vector<double>{321, 654});
    const Variable single = host.input(tape, {3}, {1, 2, 3}, "single", DType::f32);
    CHECK(failure_of([&] { add(tape, a, single, "sum"); }) ==
          "sum: a holds f64 but single holds f32: add takes one type, so cast one of them");
    CHECK(failure_of([&] {
              add(tape, a, host.input(tape, {2}, {1, 2}, "two"), "fc bias");
          }) == "fc bias (add): [2, 3] and [2] do not broadcast: counted from the right, extents must be equal or 1");
    CHECK(failure_of([&] { mse(tape, a, b, "loss"); }) ==
          "loss (mse): a prediction of shape [2, 3] and a target of shape [3] differ: a loss does not broadcast");
    CHECK(failure_of([&] { tape.apply(op_named("add"), {a}, "one"); }) == "one: add takes 2 inputs, not 1");
}

TEST_CASE("tensors hold seven types and round to them") {
    Host host;
    const std::vector<double> values = {0, 1, 2.5, 100};
    for (DType type : {DType::f64, DType::f32, DType::f16, DType::bf16})
        CHECK(values_of(host.heap, tensor_from(host.heap, {4}, values, "t", Purpose::data, type)) == values);
    const std::vector<double> third = {1.0 / 3};
    CHECK(values_of(host.heap, tensor_from(host.heap, {1}, third, "t", Purpose::data, DType::f16))[0] == 0.333251953125);
    CHECK(values_of(host.heap, tensor_from(host.heap, {1}, third, "t", Purpose::data, DType::bf16))[0] == 0.333984375);
    for (DType type : {DType::i64, DType::i32, DType::u8})
        CHECK(values_of(host.heap, tensor_from(host.heap, {2}, std::vector<double>{0, 200}, "t", Purpose::data, type)) ==
              std::vector<double>{0, 200});
    CHECK(failure_of([&] { tensor_from(host.heap, {1}, std::vector<double>{2.5}, "t", Purpose::data, DType::i32); }) ==
          "t holds 2.5, which no i32 can");
    CHECK(failure_of([&] { tensor_from(host.heap, {1}, std::vector<double>{256}, "t", Purpose::data, DType::u8); }) ==
          "t holds 256, which no u8 can");
    CHECK(failure_of([&] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }) == "a tensor has at most 8 extents");
}

TEST_CASE("a step in steady state takes no memory from the device, and a tape can be used again") {
    Host host;
    Tape tape(host.heap);
    std::vector<uint64_t> allocations;
    std::vector<double> first;
    for (int step = 0; step < 4; ++step) {
        host.heap.recycle();
        tape.clear();
        const Variable x = host.input(tape, {16, 16}, std::vector<double>(256, 0.01), "x", DType::f32);
        Variable y = x;
        for (int i = 0; i < 3; ++i) y = unary(tape, "tanh", matmul(tape, y, x, "product"), "tanh");
        tape.backward(mean(tape, y, "mean"));
        allocations.push_back(host.heap.device_allocations());
        if (step == 0) first = tape.gradient_values(x.node);
        CHECK(tape.gradient_values(x.node) == first);
        CHECK(tape.saved_bytes() == 0);
    }
    CHECK(allocations[3] == allocations[1]);
}

TEST_CASE("a step of a layer of a 405-billion-parameter model is planned without memory") {
    auto meta = device::open_device("meta").value();
    Heap heap(*meta);
    const int64_t tokens = 8192, hidden = 16384, inner = 53248;
    const auto weight = [&](const Shape& shape, const char* name) {
        return make_tensor(heap, shape, name, Purpose::parameter, DType::bf16);
    };
    Tape tape(heap);
    const Variable x = tape.input(make_tensor(heap, {tokens, hidden}, "x", Purpose::data, DType::bf16), "x", true);
    const Variable up = tape.parameter(weight({inner, hidden}, "up"), "up"),
                   gate = tape.parameter(weight({inner, hidden}, "gate"), "gate"),
                   down = tape.parameter(weight({hidden, inner}, "down"), "down");
    const Variable g = unary(tape, "silu", matmul(tape, x, gate, "gate matmul", true), "silu");
    const Variable y = matmul(tape, mul(tape, g, matmul(tape, x, up, "up matmul", true), "mul"), down, "down matmul", true);
    tape.backward(mean(tape, y, "mean"));
    const double products = 2.0 * double(tokens) * double(hidden) * double(inner);
    const OpCost cost = tape.cost();
    CHECK(cost.forward.operations > 3 * products);
    CHECK(cost.forward.operations < 3.001 * products);
    CHECK(cost.backward.operations > 6 * products);
    CHECK(cost.backward.operations < 6.001 * products);
    const auto& use = dynamic_cast<const device::Meta&>(*meta).use();
    CHECK(use.peak_bytes > 3ull * 2 * hidden * inner * 2);  // the weights and their gradients
    CHECK(use.launches == uint64_t(tape.launches()));
    CHECK(failure_of([&] { values_of(heap, y.value); }) == "the meta device holds no values: 'down matmul' cannot be read");
}

namespace {
struct Layer {
    std::string name;
    std::vector<Shape> shapes;  // of the inputs that are differentiated
    std::function<Variable(Tape&, std::span<const Variable>)> run;
};

std::vector<Layer> layers_with_second_derivatives() {
    using In = std::span<const Variable>;
    const auto indices = [](Tape& tape) {
        return tape.label(labels_from(tape.heap(), std::vector<int32_t>{2, 0, 2, 1}, "indices"), "indices");
    };
    const auto statistic = [](Tape& tape, double value) {
        return tape.input(tensor_from(tape.heap(), {2}, std::vector<double>{value, value + 0.5}, "statistic"), "statistic");
    };
    const auto convolution = [](Window window) {
        return [window](Tape& t, In in) { return conv2d(t, in[0], in[1], in[2], "y", window); };
    };
    const auto transposed = [](Window window, std::array<int64_t, 2> end) {
        return [=](Tape& t, In in) { return conv_transpose2d(t, in[0], in[1], in[2], "y", window, end); };
    };
    const auto attend = [](bool causal, HeadLayout layout) {
        return [=](Tape& t, In in) { return attention(t, in[0], in[1], in[2], causal, layout, "y"); };
    };
    const auto batch = [statistic](bool training, int64_t ghosts) {
        return [=](Tape& t, In in) {
            return batch_norm(t, in[0], in[1], in[2], statistic(t, 0.2), statistic(t, 0.7), training, "y", ghosts);
        };
    };
    return {
        {"layer_norm", {{3, 5}, {5}, {5}}, [](Tape& t, In in) { return layer_norm(t, in[0], in[1], in[2], "y"); }},
        {"layer_norm 2",
         {{2, 3, 4}, {3, 4}, {3, 4}},
         [](Tape& t, In in) { return layer_norm(t, in[0], in[1], in[2], "y"); }},
        {"rms_norm", {{2, 3, 5}, {5}}, [](Tape& t, In in) { return rms_norm(t, in[0], in[1], "y"); }},
        {"group_norm", {{2, 4, 3, 2}, {4}, {4}}, [](Tape& t, In in) { return group_norm(t, in[0], 2, in[1], in[2], "y"); }},
        {"batch_norm", {{4, 2, 3}, {2}, {2}}, batch(true, 1)},
        {"ghost batch_norm", {{4, 2, 2, 2}, {2}, {2}}, batch(true, 2)},
        {"batch_norm as it runs", {{3, 2, 2}, {2}, {2}}, batch(false, 1)},
        {"attention", {{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}}, attend(false, HeadLayout::heads_first)},
        {"grouped causal attention", {{2, 3, 4, 2}, {2, 3, 2, 2}, {2, 3, 2, 2}}, attend(true, HeadLayout::positions_first)},
        {"conv2d", {{2, 2, 4, 5}, {3, 2, 3, 2}, {3}}, convolution({})},
        {"strided conv2d",
         {{1, 2, 6, 7}, {2, 2, 2, 3}, {2}},
         convolution({.stride = {2, 3}, .padding = {1, 1}, .dilation = {2, 1}})},
        {"grouped conv2d", {{1, 4, 4, 4}, {2, 2, 3, 3}, {2}}, convolution({.padding = {1, 1}, .groups = 2})},
        {"conv1d", {{2, 2, 6}, {3, 2, 3}, {3}}, convolution({.stride = {1, 2}, .padding = {0, 1}})},
        {"conv_transpose2d", {{1, 2, 3, 2}, {2, 3, 2, 3}, {3}}, transposed({.stride = {2, 2}, .padding = {1, 0}}, {1, 0})},
        {"max_pool2d",
         {{1, 2, 5, 4}},
         [](Tape& t, In in) {
             return max_pool2d(t, in[0], {3, 2}, "y", {.stride = {1, 2}, .padding = {1, 0}});
         }},
        {"avg_pool2d",
         {{1, 2, 5, 4}},
         [](Tape& t, In in) {
             return avg_pool2d(t, in[0], {3, 2}, "y", {.stride = {2, 2}, .padding = {1, 0}});
         }},
        {"avg_pool2d without padding",
         {{1, 2, 5, 4}},
         [](Tape& t, In in) {
             return avg_pool2d(t, in[0], {3, 3}, "y", {.stride = {1, 1}, .padding = {1, 1}}, false);
         }},
        {"embedding", {{3, 4}}, [=](Tape& t, In in) { return embedding(t, in[0], indices(t), "y"); }},
        {"padded embedding", {{3, 4}}, [=](Tape& t, In in) { return embedding(t, in[0], indices(t), "y", 2); }},
    };
}
}  // namespace

// z = the sum of r times the layer's gradients for an upstream v. Its derivatives by inputs and v, from recorded gradients,
// against central differences of the same z from the layer's own backward.
TEST_CASE("layers' gradients of gradients are central differences of their gradients") {
    for (const Layer& layer : layers_with_second_derivatives()) {
        INFO(layer.name);
        Host host;
        Rng rng(7);
        std::vector<std::vector<double>> values, weights;
        for (const Shape& shape : layer.shapes) {
            auto draw = [&] {
                std::vector<double> all(size_t(count_of(shape)));
                for (double& value : all) value = rng.uniform(-1, 1);
                return all;
            };
            values.push_back(draw());
            weights.push_back(draw());
        }
        Shape shape;
        const auto z_of = [&](const std::vector<std::vector<double>>& at, const std::vector<double>& v) {
            Tape tape(host.heap);
            std::vector<Variable> in;
            for (size_t i = 0; i < layer.shapes.size(); ++i) in.push_back(host.input(tape, layer.shapes[i], at[i], "x"));
            const Variable y = layer.run(tape, in);
            shape = y.shape();
            if (v.empty()) return 0.0;
            tape.backward(y, tensor_from(host.heap, shape, v, "v"));
            double z = 0;
            for (size_t i = 0; i < in.size(); ++i) {
                const auto g = tape.gradient_values(in[i].node);
                for (size_t k = 0; k < g.size(); ++k) z += g[k] * weights[i][k];
            }
            return z;
        };
        (void)z_of(values, {});
        std::vector<double> v(size_t(count_of(shape)));
        for (double& value : v) value = rng.uniform(-1, 1);

        Tape tape(host.heap);
        std::vector<Variable> in;
        for (size_t i = 0; i < layer.shapes.size(); ++i) in.push_back(host.input(tape, layer.shapes[i], values[i], "x"));
        const Variable seed = host.input(tape, shape, v, "v"), y = layer.run(tape, in);
        const auto first = tape.gradients(y, in, {.create_graph = true}, &seed);
        std::vector<Root> roots;
        for (size_t i = 0; i < in.size(); ++i)
            roots.push_back({first[i], tensor_from(host.heap, layer.shapes[i], weights[i], "r")});
        tape.backward(roots);
        in.push_back(seed);
        values.push_back(v);
        for (size_t i = 0; i < in.size(); ++i) {
            INFO("input " << i);
            auto got = tape.gradient_values(in[i].node);
            if (got.empty()) got.resize(values[i].size());  // z does not depend on it
            REQUIRE(got.size() == values[i].size());
            for (size_t k = 0; k < got.size(); ++k) {
                auto moved = values;
                const double step = 1e-5;
                const auto at = [&](double by) {
                    moved[i][k] = values[i][k] + by;
                    return z_of({moved.begin(), moved.end() - 1}, moved.back());
                };
                const double want = (at(step) - at(-step)) / (2 * step);
                INFO("element " << k << " is " << got[k] << ", not " << want);
                CHECK(std::abs(got[k] - want) <= 1e-6 + 1e-5 * std::abs(want));
            }
        }
    }
}

}  // namespace tensor_autograd_test
