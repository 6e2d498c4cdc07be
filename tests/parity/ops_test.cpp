// Every op against PyTorch: values, and gradients of every differentiable input for a random upstream, in float64 (1e-9) and
// float32 (1.3e-6 relative, 1e-5 absolute, times the case's slack), on `host`. What is not there yet is listed
// (tests/parity/parity.h).
#include "tests/parity/parity.h"

namespace parity_ops_test {

using namespace lockstep;
using namespace lockstep::parity;

namespace {
const std::vector<std::string> families = {"elementwise",   "reductions", "views",     "products", "convolution",
                                           "normalisation", "losses",     "attention", "recurrent"};

struct Results {
    std::vector<reference::Values> outputs;
    std::map<std::string, reference::Values> gradients;
};

Results run_case(device::Device& device, const reference::Case& test, const std::string& type) {
    tensor::Heap heap(device);
    Tape tape(heap);
    Call call{tape, test.op, {}, {}, test.options};
    for (const reference::Input& input : test.inputs) {
        const tensor::Tensor value = tensor_of(heap, input, type);
        call.inputs[input.name] = tensor::floating(value.dtype) ? tape.input(value, input.name, input.differentiable)
                                                                : tape.label(value, input.name);
        call.order.push_back(input.name);
    }
    const Outputs outputs = run(call);
    REQUIRE(outputs.size() == test.outputs.size());
    Results results;
    std::vector<tensor::Root> roots;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const reference::Output& want = test.outputs[i];
        CHECK(std::vector<int64_t>(outputs[i].shape()) == want.shape);
        results.outputs.push_back(tensor::values_of(heap, outputs[i].value));
        if (want.upstream.empty()) continue;
        roots.push_back({outputs[i], tensor::tensor_from(heap, Shape(want.shape), want.upstream, "upstream",
                                                         tensor::Purpose::gradient, dtype_named(type).value())});
    }
    if (!roots.empty()) tape.backward(roots);
    for (const reference::Gradient& gradient : test.gradients)
        results.gradients[gradient.of] = tape.gradient_values(call.in(gradient.of).node);
    return results;
}

// Whether the case ran in all its types; `why`: what stopped it.
bool agrees(device::Device& device, const reference::Case& test, std::string& why) {
    for (const std::string& type : test.types) {
        INFO(test.name() << " " << type);
        Results results;
        try {
            results = run_case(device, test, type);
        } catch (const NotThere&) {
            why = "no such op";
            return false;
        } catch (const Failure& failure) {
            why = failure.what();
            return false;
        }
        for (size_t i = 0; i < test.outputs.size(); ++i) {
            INFO(test.outputs[i].name);
            CHECK(reference::difference(results.outputs[i], test.outputs[i].values, type, test.slack) == "");
        }
        for (const reference::Gradient& gradient : test.gradients) {
            INFO("gradient of " << gradient.of);
            CHECK(reference::difference(results.gradients[gradient.of], gradient.values, type, test.slack) == "");
        }
    }
    return true;
}
}  // namespace

TEST_CASE("values and gradients of every op are PyTorch's") {
    auto device = device::open_device("host").value();
    std::map<std::string, std::map<std::string, std::string>> stopped;  // op, case: why
    std::map<std::string, size_t> cases;
    size_t ran = 0;
    for (const std::string& family : families) {
        for (const reference::Case& test : reference::cases_of(family)) {
            ++cases[test.op];
            std::string why;
            if (agrees(*device, test, why))
                ++ran;
            else
                stopped[test.op][test.note] = why;
        }
    }
    std::set<std::string> missing;
    for (const auto& [op, notes] : stopped) {
        if (notes.size() == cases[op]) {
            missing.insert(op);
            continue;
        }
        for (const auto& [note, why] : notes) missing.insert(op + ": " + note);
    }
    CHECK(ran > 0);
    check_not_there("op ", missing);
}

TEST_CASE("a comparison fails on a wrong value, a NaN and another count") {
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    CHECK(reference::difference({1, 2, 3}, {1, 2, 3}, "f64", 1) == "");
    CHECK(reference::difference({1, 2 + 3e-9, 3}, {1, 2, 3}, "f64", 1) != "");
    CHECK(reference::difference({1, 2 + 1e-9, 3}, {1, 2, 3}, "f64", 1) == "");
    CHECK(reference::difference({1, 2.00002, 3}, {1, 2, 3}, "f32", 1) != "");
    CHECK(reference::difference({1, 2.00002, 3}, {1, 2, 3}, "f32", 4) == "");
    CHECK(reference::difference({1, nan, 3}, {1, 2, 3}, "f32", 1) != "");
    CHECK(reference::difference({1, 2, 3}, {1, nan, 3}, "f32", 1) != "");
    CHECK(reference::difference({infinity, nan}, {infinity, nan}, "f32", 1) == "");
    CHECK(reference::difference({-infinity}, {infinity}, "f32", 1) != "");
    CHECK(reference::difference({1e30}, {infinity}, "f32", 1) != "");
    CHECK(reference::difference({infinity}, {1e30}, "f32", 1) != "");
    CHECK(reference::difference({1, 2}, {1, 2, 3}, "f64", 1) != "");
}

}  // namespace parity_ops_test
