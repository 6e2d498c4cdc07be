// Derivatives of derivatives beside PyTorch (tests/reference/higher.py): gradients taken with create_graph are
// differentiated again, for random upstreams, by every input and by the first derivative's own seed; and the Hessian of
// log(3x^2 + 5xy) at (2, 3).
#include "tests/parity/parity.h"

namespace parity_higher_test {

using namespace lockstep;
using namespace lockstep::parity;

namespace {
using Named = std::vector<std::pair<std::string, Variable>>;

// What a case differentiates, in terms of the reference's ops.
Variable function_of(const Call& call) {
    Tape& tape = call.tape;
    const std::string op = call.op.substr(call.op.find('/') + 1);
    if (op == "softmax") return run(tape, "softmax", {{"x", call.in("x")}}, {{"axis", 1}});
    if (op == "mlp") {
        const Variable inner = run(tape, "tanh", {{"x", run(tape, "matmul", {{"a", call.in("x")}, {"b", call.in("w1")}})}});
        const Variable outer = run(tape, "matmul", {{"a", inner}, {"b", call.in("w2")}});
        return run(tape, "mean", {{"x", run(tape, "square", {{"x", outer}})}}, {{"axes", {0, 1}}, {"keepdim", false}});
    }
    if (op == "hessian") {
        const Variable &x = call.in("x"), &y = call.in("y");
        const Variable squares = run(tape, "mul_scalar", {{"x", run(tape, "mul", {{"a", x}, {"b", x}})}}, {{"scalar", 3.0}});
        const Variable products =
            run(tape, "mul_scalar", {{"x", run(tape, "mul", {{"a", x}, {"b", y}})}}, {{"scalar", 5.0}});
        return run(tape, "log", {{"x", run(tape, "add", {{"a", squares}, {"b", products}})}});
    }
    Named inputs;
    for (const std::string& name : call.order)
        if (name != "seed") inputs.push_back({name, call.in(name)});
    return run(tape, op, inputs);
}

void check(const reference::Case& test, const std::string& type) {
    INFO(test.name() << " " << type);
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    Tape tape(heap);
    const DType dtype = dtype_named(type).value();
    Call call{tape, test.op, {}, {}, test.options};
    std::vector<Variable> inputs;
    for (const reference::Input& input : test.inputs) {
        call.inputs[input.name] = tape.input(tensor_of(heap, input, type), input.name, true);
        call.order.push_back(input.name);
        if (input.name != "seed") inputs.push_back(call.in(input.name));
    }
    const Variable y = function_of(call);
    const auto agree = [&](const Variable& got, const reference::Output& want) {
        INFO(want.name);
        REQUIRE(got.node >= 0);
        CHECK(reference::difference(tensor::values_of(heap, got.value), want.values, type, test.slack) == "");
    };
    if (test.op == "hessian") {  // outputs: z, dx, dy, dxx, dxy, dyy
        const auto first = tape.gradients(y, {inputs[0], inputs[1]}, {.create_graph = true});
        const auto of_dx = tape.gradients(first[0], {inputs[0], inputs[1]}, {.create_graph = true});
        const auto of_dy = tape.gradients(first[1], {inputs[1]}, {.create_graph = true});
        const Variable all[] = {y, first[0], first[1], of_dx[0], of_dx[1], of_dy[0]};
        for (size_t i = 0; i < 6; ++i) agree(all[i], test.outputs[i]);
        return;
    }
    const Variable seed = call.in("seed");
    const auto first = tape.gradients(y, std::span<const Variable>(inputs), {.create_graph = true}, &seed);
    std::vector<tensor::Root> roots;
    for (size_t i = 0; i < first.size(); ++i) {
        agree(first[i], test.outputs[i]);
        roots.push_back({first[i], tensor::tensor_from(heap, Shape(test.outputs[i].shape), test.outputs[i].upstream,
                                                       "upstream", tensor::Purpose::gradient, dtype)});
    }
    tape.backward(roots);
    for (const reference::Gradient& gradient : test.gradients) {
        INFO("gradient of " << gradient.of);
        CHECK(reference::difference(tape.gradient_values(call.in(gradient.of).node), gradient.values, type, test.slack) ==
              "");
    }
}
}  // namespace

TEST_CASE("derivatives of derivatives are PyTorch's") {
    std::set<std::string> missing;
    for (const reference::Case& test : reference::cases_of("higher")) {
        try {
            for (const std::string& type : test.types) check(test, type);
        } catch (const NotThere&) {
            missing.insert(test.op);
        } catch (const Failure&) {
            missing.insert(test.op);
        }
    }
    check_not_there("derivative ", missing);
}

}  // namespace parity_higher_test
