// Optimisers, schedules and clipping beside PyTorch, and LARS, LARC and NovoGrad beside two derivations of their papers'
// formulas (tests/reference/optimisers.py): ten steps on fixed gradients, parameters compared after steps 1, 2, 5 and 10.
#include <cmath>

#include "core/nn/layers/optim.h"
#include "tests/parity/parity.h"

namespace parity_optimisers_test {

using namespace lockstep;
using namespace lockstep::parity;

namespace {
struct Step {  // what an optimiser is given
    Tape& tape;
    std::span<nn::Parameter* const> parameters;
    const Json& options;
    int number;  // from 0
    bool last;
};
using Optimiser = std::function<void(const Step&)>;

// Names of options are the reference's; an option that is not read here means that the rule is not there yet.
template <class Rule>
std::optional<nn::Rule> rule_of(const Json& options) {
    Rule rule;
    size_t read = 0;
    const auto take = [&](const char* name, auto& value) {
        if (!options.contains(name)) return;
        value = options[name];
        ++read;
    };
    take("lr", rule.lr);
    take("weight_decay", rule.weight_decay);
    if constexpr (requires { rule.momentum; }) take("momentum", rule.momentum);
    if constexpr (requires { rule.nesterov; }) take("nesterov", rule.nesterov), take("dampening", rule.dampening);
    if constexpr (requires { rule.trust; }) take("trust", rule.trust);
    if constexpr (requires { rule.beta1; }) take("beta1", rule.beta1), take("beta2", rule.beta2), take("eps", rule.eps);
    if (read != options.size()) return std::nullopt;
    return rule;
}

Optimiser optimiser_for(const std::string& name, const Json& options) {
    const std::map<std::string, std::optional<nn::Rule> (*)(const Json&)> known = {
        {"sgd", rule_of<nn::SGD>},   {"adam", rule_of<nn::Adam>}, {"adamw", rule_of<nn::AdamW>},
        {"lars", rule_of<nn::LARS>}, {"larc", rule_of<nn::LARC>}, {"novograd", rule_of<nn::NovoGrad>}};
    const auto found = known.find(name);
    const auto rule = found == known.end() ? std::nullopt : found->second(options);
    if (!rule) return nullptr;
    const auto optimizer = std::make_shared<std::optional<nn::Optimizer>>();
    return [rule = *rule, optimizer](const Step& step) {
        if (step.number == 0) {  // new parameters
            optimizer->reset();
            optimizer->emplace(step.tape.heap(), rule, std::vector(step.parameters.begin(), step.parameters.end()));
        }
        (*optimizer)->step(step.tape);
        if (step.last) optimizer->reset();  // before the device goes
    };
}

using Schedule = std::function<double(const Json& options, int step)>;
const std::map<std::string, Schedule> schedules = {
    {"step", [](const Json& o, int step) { return nn::step_lr(o["lr"], step, o["step_size"], o["gamma"]); }},
    {"cosine", [](const Json& o, int step) { return nn::cosine(o["lr"], step, o["steps"], o["lowest"]); }},
    {"warm_up", [](const Json& o, int step) { return nn::warm_up(o["lr"], step, o["steps"], o["from"]); }},
    {"warm_up_cosine",
     [](const Json& o, int step) { return nn::warm_up_cosine(o["lr"], step, o["warm_up"], o["steps"], o["lowest"]); }},
};

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
        optimiser({tape, pointers, row["options"], step, step + 1 == document["steps"]});
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

TEST_CASE("clipping by norm scales gradients as PyTorch does") {
    const Json document = reference::document("optimisers");
    for (const Json& row : document["clipping"]) {
        auto device = device::open_device("host").value();
        tensor::Heap heap(*device);
        std::vector<nn::Parameter> parameters;
        for (const Json& spec : document["parameters"]) {
            const reference::Input drawn = reference::input_of(spec);
            parameters.push_back(
                {drawn.name, tensor::tensor_from(heap, Shape(drawn.shape), reference::Values(drawn.values.size()),
                                                 drawn.name, tensor::Purpose::parameter, DType::f64)});
        }
        std::vector<nn::Parameter*> pointers;
        for (auto& parameter : parameters) pointers.push_back(&parameter);
        nn::Optimizer optimizer(heap, nn::SGD{.lr = 1}, pointers, {.max_norm = row["max_norm"]});
        Tape tape(heap);
        std::vector<tensor::Root> roots;
        for (size_t p = 0; p < parameters.size(); ++p) {
            const auto values =
                reference::draw(document["gradient_seed"].get<uint64_t>() + p, size_t(parameters[p].value.count()),
                                document["gradient_low"], document["gradient_high"]);
            const Variable variable = tape.parameter(parameters[p].value, parameters[p].name);
            parameters[p].node = variable.node;
            roots.push_back({variable, tensor::tensor_from(heap, variable.shape(), values, "gradient",
                                                           tensor::Purpose::gradient, DType::f64)});
        }
        tape.backward(roots);
        optimizer.step(tape);
        reference::Values clipped, want;
        for (const auto& parameter : parameters)
            for (double value : tensor::values_of(heap, parameter.value)) clipped.push_back(-value);
        for (const Json& value : row["gradients"]) want.push_back(value);
        CHECK(reference::difference(clipped, want, "f64", 1) == "");
        CHECK(std::abs(optimizer.report().norm - row["norm"].get<double>()) <= 1e-12);
    }
}

}  // namespace parity_optimisers_test
