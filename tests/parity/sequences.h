// How the engine runs the reference's ops on sequences and graphs: rows by number, attention, rotary positions, recurrent
// cells and layers, sparse products. Included by parity.h, in its namespace's terms.
#pragma once
#include "tests/parity/parity.h"

namespace lockstep::parity {

inline Variable gates_of(const Call& call, const Variable& x, const std::string& weight, const std::string& bias) {
    const Variable product = call.apply("matmul", {x, call.in(weight)}, {.transpose_b = true});
    return call.apply("add_bias", {product, call.in(bias)});
}

inline Variable part(const Call& call, const Variable& x, int64_t index) {  // x[index]
    return call.apply("select", {x}, {.axis = 0, .start = index});
}

// One step of a cell: the new states, h or {h, c}.
inline Outputs cell_step(const Call& call, const std::string& kind, const Variable& x, const Outputs& states,
                         const std::string& suffix, bool use_relu = false) {
    const Variable gi = gates_of(call, x, "w_input" + suffix, "b_input" + suffix);
    const Variable gh = gates_of(call, states[0], "w_hidden" + suffix, "b_hidden" + suffix);
    if (kind == "rnn") return {call.apply("rnn_cell", {gi, gh}, {.mode = use_relu})};
    if (kind == "gru") return {call.apply("gru_cell", {gi, gh, states[0]})};
    const Variable both = call.apply("lstm_cell", {gi, gh, states[1]});
    return {part(call, both, 0), part(call, both, 1)};
}

inline Outputs cell(const Call& call) {  // "gru_cell"
    Outputs states = {call.in("h")};
    if (call.has("c")) states.push_back(call.in("c"));
    return cell_step(call, call.op.substr(0, call.op.find('_')), call.in("x"), states, "",
                     call.text("nonlinearity") == "relu");
}

inline Variable stacked(const Call& call, const std::vector<Variable>& rows) {
    std::vector<Variable> wide;
    for (const Variable& row : rows) wide.push_back(call.apply("unsqueeze", {row}, {.axis = 0}));
    return call.apply_all("cat", wide, {.axis = 0});
}

inline Outputs sequence(const Call& call) {  // "gru": x [T,B,inputs], states [layers,B,hidden]
    const int64_t steps = call.in("x").shape()[0], layers = call.integer("layers", 1);
    std::vector<Variable> below;
    for (int64_t t = 0; t < steps; ++t) below.push_back(part(call, call.in("x"), t));
    std::vector<std::vector<Variable>> last(call.has("c") ? 2 : 1);
    for (int64_t layer = 0; layer < layers; ++layer) {
        Outputs states = {part(call, call.in("h"), layer)};
        if (call.has("c")) states.push_back(part(call, call.in("c"), layer));
        for (Variable& x : below) {
            states = cell_step(call, call.op, x, states, fmt::format("_{}", layer));
            x = states[0];
        }
        for (size_t i = 0; i < states.size(); ++i) last[i].push_back(states[i]);
    }
    Outputs outputs = {stacked(call, below)};
    for (const auto& state : last) outputs.push_back(stacked(call, state));
    return outputs;
}

inline Outputs rotary(const Call& call) {
    const Variable& x = call.in("x");
    const auto& extents = x.shape();
    const int64_t start = call.integer("start"), d = extents.back(), positions = start + extents[extents.size() - 2];
    const Variable table = call.tape.input(
        tensor::rope_table(call.tape.heap(), positions, d, call.number("theta", 1e4), x.dtype(), "table"), "table");
    return {
        call.apply("rope", {x, table}, {.axis = -2, .start = start, .mode = call.text("layout") == "half_split" ? 1 : 0})};
}

inline const std::map<std::string, Adapter>& sequence_adapters() {
    const auto along = [](const Call& call) { return Attributes{.axis = call.integer("axis")}; };
    static const std::map<std::string, Adapter> table = {
        {"embedding", same([](const Call& call) { return Attributes{.mode = int(call.integer("padding_index", -1)) + 1}; })},
        {"index_select", same(along)},
        {"gather", same(along)},
        {"scatter_add", same(along)},
        {"attention", same([](const Call& call) { return Attributes{.causal = call.flag("causal")}; })},
        {"rope", rotary},
        {"rnn_cell", cell},
        {"gru_cell", cell},
        {"lstm_cell", cell},
        {"rnn", sequence},
        {"gru", sequence},
        {"lstm", sequence},
    };
    return table;
}

}  // namespace lockstep::parity
