// How the engine runs each op of the reference: `adapters`, one line an op; without a line, by the row of the same name.
// What it cannot run yet (no such row: NotThere; a shape or option that the row refuses: Failure) must stand in
// tests/reference/not_there_yet.txt: a line an op ("op gelu"), a line a case where others of the op run ("op matmul: [7]
// [7]"). The tests fail when a line is missing, and when one stands there for what runs.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"
#include "tests/reference.h"

namespace lockstep::parity {

using reference::Json;
using tensor::Attributes;
using tensor::Shape;
using tensor::Tape;
using tensor::Variable;

struct NotThere {
    std::string what;
};

struct Call {  // one op of the reference, on a tape
    Tape& tape;
    std::string op;
    std::map<std::string, Variable> inputs;  // by their names in the reference
    std::vector<std::string> order;          // of the inputs
    Json options = Json::object();

    const Variable& in(const std::string& name) const { return inputs.at(name); }
    const Variable& in(size_t index) const { return inputs.at(order.at(index)); }
    bool has(const std::string& name) const { return inputs.count(name) > 0; }
    double number(const char* name, double otherwise = 0) const { return options.value(name, otherwise); }
    int64_t integer(const char* name, int64_t otherwise = 0) const { return options.value(name, otherwise); }
    bool flag(const char* name, bool otherwise = false) const { return options.value(name, otherwise); }
    std::string text(const char* name, const std::string& otherwise = {}) const { return options.value(name, otherwise); }
    Shape shape(const char* name) const {
        return options.contains(name) ? Shape(options[name].get<std::vector<int64_t>>()) : Shape();
    }
    Variable apply(std::string_view row, std::initializer_list<Variable> values, const Attributes& attributes = {}) const {
        return apply_all(row, std::vector<Variable>(values), attributes);
    }
    Variable apply_all(std::string_view row, const std::vector<Variable>& values, const Attributes& attributes = {}) const {
        for (const tensor::OpRow& known : tensor::ops())
            if (known.name == row) return tape.apply(known, values, op, attributes);
        throw NotThere{op};
    }
};

using Outputs = std::vector<Variable>;
using Adapter = std::function<Outputs(const Call&)>;

// The op of the same name, with all inputs in the reference's order.
inline Adapter same(std::function<Attributes(const Call&)> attributes = nullptr) {
    return [attributes](const Call& call) {
        std::vector<Variable> values;
        for (const std::string& name : call.order) values.push_back(call.in(name));
        return Outputs{call.apply_all(call.op, values, attributes ? attributes(call) : Attributes{})};
    };
}

// A sum or mean over all axes, which is what those rows can do alone.
inline Outputs whole_reduction(const Call& call) {
    if (call.shape("axes").size() != call.in("x").shape().size()) throw NotThere{call.op};
    return {call.apply(call.op, {call.in("x")})};
}

inline Outputs linear(const Call& call) {
    const Variable product = call.apply("matmul", {call.in("x"), call.in("weight")}, {.transpose_b = true});
    return {call.has("bias") ? call.apply("add_bias", {product, call.in("bias")}) : product};
}

inline const std::map<std::string, Adapter>& adapters() {
    static const std::map<std::string, Adapter> table = {
        {"relu", same()},
        {"matmul",
         [](const Call& call) {
             if (call.flag("transpose_a")) throw NotThere{call.op};
             return Outputs{call.apply("matmul", {call.in("a"), call.in("b")}, {.transpose_b = call.flag("transpose_b")})};
         }},
        {"linear", linear},
        {"sum", whole_reduction},
        {"mean", whole_reduction},
        {"cross_entropy",
         [](const Call& call) {
             if (!call.options.empty()) throw NotThere{call.op};
             return Outputs{call.apply("softmax_cross_entropy", {call.in("logits"), call.in("labels")})};
         }},
        {"mse",
         [](const Call& call) {
             if (call.text("reduction", "mean") != "mean") throw NotThere{call.op};
             return Outputs{call.apply("mse", {call.in("prediction"), call.in("target")})};
         }},
    };
    return table;
}

inline Outputs run(const Call& call) {
    const auto found = adapters().find(call.op);
    if (found != adapters().end()) return found->second(call);
    if (!call.options.empty()) throw NotThere{call.op};
    return same()(call);
}

// An op with one output, by its name in the reference: what the models of parity_models_test.cpp are written in.
inline Variable run(Tape& tape, const std::string& op, const std::vector<std::pair<std::string, Variable>>& inputs,
                    const Json& options = Json::object()) {
    Call call{tape, op, {}, {}, options};
    for (const auto& [name, value] : inputs) {
        call.inputs[name] = value;
        call.order.push_back(name);
    }
    return run(call).front();
}

inline tensor::Tensor tensor_of(tensor::Heap& heap, const reference::Input& input, const std::string& type) {
    const std::string held = input.type.empty() ? type : input.type;
    if (held == "i64" && input.shape.size() == 1 &&
        std::all_of(input.values.begin(), input.values.end(), [](double v) { return v >= 0; }))
        return tensor::labels_from(heap, std::vector<int32_t>(input.values.begin(), input.values.end()), input.name);
    const DType dtype = held == "i64" ? DType::i32 : dtype_named(held).value();
    return tensor::tensor_from(heap, Shape(input.shape), input.values, input.name, tensor::Purpose::data, dtype);
}

// The lines of not_there_yet.txt that begin with `kind`, without it; "" and a line's op or case name for ops.
inline std::set<std::string> known_not_there(const std::string& kind) {
    std::istringstream text(read_file(resource_root() / "tests/reference/not_there_yet.txt").value());
    std::set<std::string> lines;
    for (std::string line; std::getline(text, line);)
        if (!line.empty() && line[0] != '#' && line.rfind(kind, 0) == 0) lines.insert(line.substr(kind.size()));
    return lines;
}

// Says what is not there yet in one line, and checks that it is what the list says; prints the lines that the list should
// gain or lose.
inline void check_not_there(const std::string& kind, const std::set<std::string>& missing) {
    const auto known = known_not_there(kind);
    std::string line, gain, lose;
    for (const std::string& what : missing) {
        line += (line.empty() ? "" : "; ") + what;
        if (!known.count(what)) gain += kind + what + "\n";
    }
    for (const std::string& what : known)
        if (!missing.count(what)) lose += kind + what + "\n";
    if (!line.empty()) fmt::print("not there yet: {}{}\n", kind, line);
    if (!gain.empty()) fmt::print("does not run; not_there_yet.txt should say so, or it is broken:\n{}", gain);
    if (!lose.empty()) fmt::print("runs now; to be taken out of not_there_yet.txt:\n{}", lose);
    CHECK(gain == "");
    CHECK(lose == "");
    CHECK(missing.size() == known.size());
}

}  // namespace lockstep::parity
