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

// One row with all inputs in the reference's order; its name is the reference's unless said.
using Told = Attributes (*)(const Call&);
inline Adapter same(Told told = nullptr, std::string row = {}) {
    return [told, row](const Call& call) {
        std::vector<Variable> values;
        for (const std::string& name : call.order) values.push_back(call.in(name));
        return Outputs{call.apply_all(row.empty() ? call.op : row, values, told ? told(call) : Attributes{})};
    };
}

inline Attributes axis(const Call& call) {
    return {.axis = call.integer("axis")};
}
inline Attributes axes(const Call& call) {  // of a reduction, which may also name one axis
    return {.keepdim = call.flag("keepdim"),
            .axes = call.options.contains("axis") ? Shape{call.integer("axis")} : call.shape("axes"),
            .alpha = call.number("correction")};
}
inline Attributes sizes(const Call& call) {
    return {.sizes = call.shape("shape")};
}
inline Attributes slice(const Call& call) {
    return {.axis = call.integer("axis"),
            .start = call.integer("start"),
            .stop = call.integer("stop"),
            .step = call.integer("step")};
}
inline Attributes bounds(const Call& call) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {.alpha = call.number("low", -infinity), .beta = call.number("high", infinity)};
}

inline Outputs transpose(const Call& call) {
    const Shape two = call.shape("axes");
    return {tensor::transpose(call.tape, call.in("x"), two[0], two[1], call.op)};
}

inline Outputs stack(const Call& call) {
    std::vector<Variable> pieces;
    for (const std::string& name : call.order) pieces.push_back(call.in(name));
    return {tensor::stack(call.tape, pieces, call.integer("axis"), call.op)};
}

inline Outputs pad(const Call& call) {  // axis after axis
    Variable x = call.in("x");
    for (size_t i = 0; i < x.shape().size(); ++i) {
        const auto [before, after] = call.options["padding"][i].get<std::pair<int64_t, int64_t>>();
        Shape whole = x.shape();
        whole[i] += before + after;
        x = call.apply("put_slice", {x},
                       {.axis = int64_t(i), .sizes = whole, .start = before, .stop = before + x.shape()[i]});
    }
    return {x};
}

inline Outputs where(const Call& call) {
    return {tensor::where(call.tape, call.in("condition"), call.in("a"), call.in("b"), call.op)};
}

inline Outputs logsumexp(const Call& call) {
    return {tensor::logsumexp(call.tape, call.in("x"), call.op, call.shape("axes"), call.flag("keepdim"))};
}

// A vector takes part as a row or a column; the axis that makes it a matrix goes again.
inline Outputs matmul(const Call& call) {
    Variable a = call.in("a"), b = call.in("b");
    const bool row = a.shape().size() == 1, column = b.shape().size() == 1;
    if (row) a = tensor::unsqueeze(call.tape, a, 0, call.op);
    if (column) b = tensor::unsqueeze(call.tape, b, 1, call.op);
    if (call.flag("transpose_a")) a = tensor::transpose(call.tape, a, -2, -1, call.op);
    Variable c = tensor::matmul(call.tape, a, b, call.op, call.flag("transpose_b"));
    if (column) c = tensor::squeeze(call.tape, c, -1, call.op);
    return {row ? tensor::squeeze(call.tape, c, column ? -1 : -2, call.op) : c};
}

inline Outputs linear(const Call& call) {
    const Variable product = call.apply("matmul", {call.in("x"), call.in("weight")}, {.transpose_b = true});
    return {call.has("bias") ? call.apply("add_bias", {product, call.in("bias")}) : product};
}

inline Outputs outer(const Call& call) {
    return {call.apply("mul", {call.apply("unsqueeze", {call.in("a")}, {.axis = 1}), call.in("b")})};
}

inline Outputs mse(const Call& call) {
    const std::string reduction = call.text("reduction", "mean");
    if (reduction == "mean") return {call.apply("mse", {call.in("prediction"), call.in("target")})};
    const Variable squares = call.apply("square", {call.apply("sub", {call.in("prediction"), call.in("target")})});
    return {reduction == "sum" ? call.apply("sum", {squares}) : squares};
}

// Of every row of a from every row of b.
inline Outputs squared_distances(const Call& call) {
    const Variable apart = call.apply("sub", {call.apply("unsqueeze", {call.in("a")}, {.axis = 1}), call.in("b")});
    return {call.apply("sum", {call.apply("square", {apart})}, {.axes = {2}})};
}

std::map<std::string, Adapter> layer_adapters();  // tests/parity/layers.h

inline const std::map<std::string, Adapter>& adapters() {
    static const std::map<std::string, Adapter> table = [] {
        std::map<std::string, Adapter> all = {
            {"leaky_relu", same([](const Call& call) { return Attributes{.alpha = call.number("slope")}; })},
            {"elu", same([](const Call& call) { return Attributes{.alpha = call.number("alpha")}; })},
            {"gelu", same([](const Call&) { return Attributes{}; })},
            {"gelu_tanh", same([](const Call&) { return Attributes{}; })},
            {"clamp", same(bounds)},
            {"pow_scalar", same([](const Call& call) { return Attributes{.alpha = call.number("exponent")}; })},
            {"add_scalar",
             same([](const Call& call) { return Attributes{.alpha = 1, .beta = call.number("scalar")}; }, "affine")},
            {"sub_scalar",
             same([](const Call& call) { return Attributes{.alpha = 1, .beta = -call.number("scalar")}; }, "affine")},
            {"rsub_scalar",
             same([](const Call& call) { return Attributes{.alpha = -1, .beta = call.number("scalar")}; }, "affine")},
            {"mul_scalar", same([](const Call& call) { return Attributes{.alpha = call.number("scalar")}; }, "affine")},
            {"div_scalar", same([](const Call& call) { return Attributes{.alpha = 1 / call.number("scalar")}; }, "affine")},
            {"where", where},
            {"sum", same(axes)},
            {"mean", same(axes)},
            {"amax", same(axes)},
            {"amin", same(axes)},
            {"var", same(axes)},
            {"prod", same(axes)},
            {"logsumexp", logsumexp},
            {"argmax", same(axes)},
            {"argmin", same(axes)},
            {"cumsum", same(axis)},
            {"reshape", same(sizes)},
            {"expand", same(sizes)},
            {"transpose", transpose},
            {"permute", same([](const Call& call) { return Attributes{.axes = call.shape("axes")}; })},
            {"slice", same(slice)},
            {"select", same([](const Call& call) {
                 return Attributes{.axis = call.integer("axis"), .start = call.integer("index")};
             })},
            {"unsqueeze", same(axis)},
            {"squeeze", same(axis)},
            {"flip", same(axis)},
            {"cat", same(axis)},
            {"stack", stack},
            {"pad", pad},
            {"tril", same([](const Call& call) { return Attributes{.start = call.integer("diagonal")}; })},
            {"matmul", matmul},
            {"bmm", same()},
            {"linear", linear},
            {"outer", outer},
            {"mse", mse},
            {"squared_distances", squared_distances},
            {"distances", [](const Call& call) { return Outputs{call.apply("sqrt", {squared_distances(call)[0]})}; }},
        };
        all.merge(layer_adapters());
        return all;
    }();
    return table;
}

inline const std::map<std::string, Adapter>& sequence_adapters();  // parity_sequences.h

inline Outputs run(const Call& call) {
    for (const auto* table : {&adapters(), &sequence_adapters()})
        if (const auto found = table->find(call.op); found != table->end()) return found->second(call);
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

#include "tests/parity/layers.h"
#include "tests/parity/sequences.h"
