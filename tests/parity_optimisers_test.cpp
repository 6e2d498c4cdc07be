// Optimisers, schedules and clipping beside PyTorch, and LARS, LARC and NovoGrad beside two derivations of their papers'
// formulas (tests/reference/optimisers.py): ten steps on fixed gradients, parameters compared after steps 1, 2, 5 and 10.
#include <cmath>

#include "core/nn/module.h"
#include "tests/parity.h"

using namespace lockstep;
using namespace lockstep::parity;

namespace {
struct Step {  // what an optimiser is given
    Tape& tape;
    std::span<nn::Parameter* const> parameters;
    const Json& options;
    int number;  // from 0
};
using Optimiser = std::function<void(const Step&)>;

// Names of options are the reference's; an option that is not read here means that the rule is not there yet.
Optimiser optimiser_for(const std::string& rule, const Json& options) {
    if (rule == "sgd" && options.size() == 1)
        return [](const Step& step) { nn::sgd_step(step.tape, step.parameters, step.options["lr"]); };
    return nullptr;
}

using Schedule = std::function<double(const Json& options, int step)>;
const std::map<std::string, Schedule> schedules = {};

std::string name_of_rule(const Json& row) {
    std::string name = row["rule"];
    for (const auto& [key, value] : row["options"].items())
        if (key != "lr") name += fmt::format(" {} {}", key, value.dump());
    return name + (row["zero_weights"] ? ", zero weights" : "");
}

void compare(const Json& document, const Json& row, const Optimiser& optimiser, const std::string& type) {
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    const DType dtype = dtype_named(type).value();
    std::vector<nn::Parameter> parameters;
    for (const Json& spec : document["parameters"]) {
        reference::Input drawn = reference::input_of(spec);
        if (row["zero_weights"]) std::fill(drawn.values.begin(), drawn.values.end(), 0.0);
        parameters.push_back(
            {drawn.name,
             tensor::tensor_from(heap, Shape(drawn.shape), drawn.values, drawn.name, tensor::Purpose::parameter, dtype),
             true, -1, 0});
    }
    std::vector<nn::Parameter*> pointers;
    for (auto& parameter : parameters) pointers.push_back(&parameter);
    const auto after = document["after_steps"].get<std::vector<int>>();
    size_t next = 0;
    for (int step = 0; step < document["steps"]; ++step) {
        Tape tape(heap);
        std::vector<tensor::Root> roots;
        for (size_t p = 0; p < parameters.size(); ++p) {
            const uint64_t seed = document["gradient_seed"].get<uint64_t>() + 100 * uint64_t(step) + p;
            const auto values = reference::draw(seed, size_t(parameters[p].value.count()), document["gradient_low"],
                                                document["gradient_high"]);
            const Variable variable = tape.parameter(parameters[p].value, parameters[p].name);
            parameters[p].node = variable.node;
            roots.push_back({variable, tensor::tensor_from(heap, variable.shape(), values, "gradient",
                                                           tensor::Purpose::gradient, dtype)});
        }
        tape.backward(roots);
        optimiser({tape, pointers, row["options"], step});
        if (next == after.size() || after[next] != step + 1) continue;
        reference::Values all, want;
        for (const auto& parameter : parameters)
            for (double value : tensor::values_of(heap, parameter.value)) all.push_back(value);
        for (const Json& value : row["after"][next]) want.push_back(value);
        INFO(name_of_rule(row) << " " << type << " after " << step + 1 << " steps");
        CHECK(reference::difference(all, want, type, 1) == "");
        ++next;
    }
    CHECK(next == after.size());
}
}  // namespace

TEST_CASE("optimisers take PyTorch's steps") {
    const Json document = reference::document("optimisers");
    std::set<std::string> missing;
    for (const Json& row : document["rules"]) {
        const Optimiser optimiser = optimiser_for(row["rule"], row["options"]);
        if (!optimiser) {
            missing.insert(name_of_rule(row));
            continue;
        }
        for (const std::string type : {"f64", "f32"}) compare(document, row, optimiser, type);
    }
    check_not_there("optimiser ", missing);
}

TEST_CASE("schedules give PyTorch's learning rates") {
    const Json document = reference::document("optimisers");
    std::set<std::string> missing;
    for (const Json& row : document["schedules"]) {
        const auto found = schedules.find(row["schedule"]);
        if (found == schedules.end()) {
            missing.insert(row["schedule"]);
            continue;
        }
        for (size_t step = 0; step < row["rates"].size(); ++step) {
            INFO(row["schedule"].get<std::string>() << ", step " << step);
            CHECK(std::abs(found->second(row["options"], int(step)) - row["rates"][step].get<double>()) <= 1e-12);
        }
    }
    check_not_there("schedule ", missing);
}
