// Training beside PyTorch: models from the same parameters, on the same batches, twenty steps (tests/reference/models.py
// says how they are built and drawn). Losses of every step, each parameter's first gradient and its final norm. float64 to
// 1e-9 relative; float32 to 1e-5, where PyTorch's own float32 is off by 4e-7 at most. The optimisers here are plain loops in
// double, so that forward and backward alone are in question; core/nn's are held to optimisers.json. The large language
// models run in float32 for a few steps.
#include <cmath>

#include "tests/parity/parity.h"

namespace parity_models_test {

using namespace lockstep;
using namespace lockstep::parity;

namespace {
struct Parameter {
    std::string name;
    tensor::Tensor tensor;
    Variable variable;
    std::vector<double> first, second;  // an optimiser's moments
};

struct Net {  // a model's forward, in terms of the reference's ops
    Tape& tape;
    std::map<std::string, Parameter>& parameters;
    const Json& config;

    const Variable& at(const std::string& name) const { return parameters.at(name).variable; }
    Variable op(const std::string& name, const std::vector<std::pair<std::string, Variable>>& inputs,
                const Json& options = Json::object()) const {
        return run(tape, name, inputs, options);
    }
    Variable linear(const std::string& name, const Variable& x) const {
        if (!parameters.count(name + ".bias")) return op("linear", {{"x", x}, {"weight", at(name + ".weight")}});
        return op("linear", {{"x", x}, {"weight", at(name + ".weight")}, {"bias", at(name + ".bias")}});
    }
    Variable norm(const std::string& name, const Variable& x) const {
        if (!parameters.count(name + ".bias"))
            return op("rms_norm", {{"x", x}, {"weight", at(name + ".weight")}}, {{"eps", 1e-5}});
        return op("layer_norm", {{"x", x}, {"weight", at(name + ".weight")}, {"bias", at(name + ".bias")}},
                  {{"axes", 1}, {"eps", 1e-5}});
    }
    Variable add(const Variable& a, const Variable& b) const { return op("add", {{"a", a}, {"b", b}}); }
    Variable reshape(const Variable& x, const std::vector<int64_t>& shape) const {
        return op("reshape", {{"x", x}}, {{"shape", shape}});
    }
    Variable swap(const Variable& x) const { return op("permute", {{"x", x}}, {{"axes", {0, 2, 1, 3}}}); }

    Variable perceptron(Variable x, size_t layers) const {
        for (size_t i = 1; i <= layers; ++i) {
            x = linear(fmt::format("fc{}", i), x);
            if (i < layers) x = op("relu", {{"x", x}});
        }
        return x;
    }
    Variable lenet5(Variable x) const {
        for (const char* name : {"conv1", "conv2"}) {
            x = op("conv2d",
                   {{"x", x}, {"weight", at(std::string(name) + ".weight")}, {"bias", at(std::string(name) + ".bias")}});
            x = op("avg_pool2d", {{"x", op("relu", {{"x", x}})}},
                   {{"kernel", {2, 2}}, {"stride", {2, 2}}, {"padding", {0, 0}}});
        }
        return perceptron(reshape(x, {x.shape()[0], 576}), 3);
    }
    Variable heads(const std::string& name, const Variable& x, int64_t count, bool turned) const {
        const int64_t d = config["width"].get<int64_t>() / config["heads"].get<int64_t>();
        const Variable split = swap(reshape(linear(name, x), {x.shape()[0], x.shape()[1], count, d}));
        return turned ? op("rope", {{"x", split}}, {{"layout", "half_split"}, {"theta", 10000.0}, {"start", 0}}) : split;
    }
    Variable language(const Variable& tokens, bool llama) const {
        const int64_t width = config["width"], count = config["heads"], kv = config.value("kv_heads", count);
        Variable h = op("embedding", {{"weight", at("tokens.weight")}, {"indices", tokens}});
        if (!llama) h = add(h, at("positions.weight"));
        for (int i = 0; i < config["layers"].get<int>(); ++i) {
            const std::string layer = fmt::format("layers.{}.", i);
            const Variable n = norm(layer + "norm1", h);
            const Variable mixed = op("attention",
                                      {{"q", heads(layer + "attention.q", n, count, llama)},
                                       {"k", heads(layer + "attention.k", n, kv, llama)},
                                       {"v", heads(layer + "attention.v", n, kv, false)}},
                                      {{"causal", true}});
            h = add(h, linear(layer + "attention.out", reshape(swap(mixed), {n.shape()[0], n.shape()[1], width})));
            const Variable m = norm(layer + "norm2", h);
            const Variable inner =
                llama ? op("swiglu", {{"gate", linear(layer + "mlp.w1", m)}, {"up", linear(layer + "mlp.w3", m)}})
                      : op("gelu_tanh", {{"x", linear(layer + "mlp.up", m)}}, {{"approximate", "tanh"}});
            h = add(h, linear(layer + (llama ? "mlp.w2" : "mlp.down"), inner));
        }
        h = norm("norm", h);
        const Variable logits = llama ? linear("head", h) : op("linear", {{"x", h}, {"weight", at("tokens.weight")}});
        return reshape(logits, {h.shape()[0] * h.shape()[1], config["vocabulary"].get<int64_t>()});
    }
    Variable logits(const std::string& kind, const Variable& x) const {
        if (kind == "mlp") return perceptron(x, config["widths"].size() - 1);
        return kind == "lenet5" ? lenet5(x) : language(x, kind == "llama");
    }
};

struct Batch {
    reference::Input x, labels;
};

Batch batch_of(const Json& model, uint64_t step) {
    const auto& config = model["config"];
    const uint64_t seed = model["data"]["seed"], b = step % model["data"]["batches"].get<uint64_t>();
    const int64_t count = model["batch"];
    if (config.contains("vocabulary")) {
        const int64_t t = config["context"];
        const auto tokens = reference::draw_below(seed + b, size_t(count * (t + 1)), config["vocabulary"]);
        Batch batch{{"x", "i64", {count, t}, {}}, {"labels", "i64", {count * t}, {}}};
        for (int64_t i = 0; i < count * (t + 1); ++i) {
            if (i % (t + 1) < t) batch.x.values.push_back(tokens[size_t(i)]);
            if (i % (t + 1) > 0) batch.labels.values.push_back(tokens[size_t(i)]);
        }
        return batch;
    }
    std::vector<int64_t> shape = {count};
    for (int64_t extent : config.value("image", std::vector<int64_t>{config.value("widths", std::vector<int64_t>{0})[0]}))
        shape.push_back(extent);
    return {{"x", "", shape, reference::draw(seed + 2 * b, reference::count_of(shape), 0, 1)},
            {"labels", "i64", {count}, reference::draw_below(seed + 2 * b + 1, size_t(count), 10)}};
}

// One parameter's step, in double. m and v: the moments, kept from step to step; `step` counts from 1.
void update(const Json& rule, int step, std::vector<double>& w, const std::vector<double>& g, std::vector<double>& m,
            std::vector<double>& v) {
    const double lr = rule["lr"];
    m.resize(w.size());
    v.resize(w.size());
    if (rule["rule"] == "sgd") {
        for (size_t i = 0; i < w.size(); ++i) {
            m[i] = rule.value("momentum", 0.0) * m[i] + g[i];
            w[i] -= lr * m[i];
        }
        return;
    }
    const double b1 = rule["beta1"], b2 = rule["beta2"], decay = rule["weight_decay"];
    for (size_t i = 0; i < w.size(); ++i) {
        w[i] -= lr * decay * w[i];
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] -= lr * (m[i] / (1 - std::pow(b1, step))) /
                (std::sqrt(v[i] / (1 - std::pow(b2, step))) + rule["eps"].get<double>());
    }
}

double norm_of(const std::vector<double>& values) {
    double squares = 0;
    for (double value : values) squares += value * value;
    return std::sqrt(squares);
}

bool near(double got, double want, double relative) {
    return std::abs(got - want) <= relative * (std::abs(want) + 1e-3);  // false for NaN
}

void train(const Json& model, const std::string& type, size_t steps, double relative) {
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    const DType dtype = dtype_named(type).value();
    std::map<std::string, Parameter> parameters;
    for (const Json& row : model["parameters"]) {
        const reference::Input drawn = reference::input_of(row);
        parameters[drawn.name] = {
            drawn.name,
            tensor::tensor_from(heap, Shape(drawn.shape), drawn.values, drawn.name, tensor::Purpose::parameter, dtype),
            {},
            {},
            {}};
    }
    for (size_t step = 0; step < steps; ++step) {
        INFO(model["name"].get<std::string>() << " " << type << ", step " << step);
        heap.recycle();
        Tape tape(heap);
        for (auto& [name, parameter] : parameters) parameter.variable = tape.parameter(parameter.tensor, name);
        const Batch batch = batch_of(model, step);
        const tensor::Tensor x = tensor_of(heap, batch.x, type);
        const Net net{tape, parameters, model["config"]};
        const Variable logits =
            net.logits(model["kind"], tensor::floating(x.dtype) ? tape.input(x, "x") : tape.label(x, "x"));
        const Variable loss = net.op(
            "cross_entropy", {{"logits", logits}, {"labels", tape.label(tensor_of(heap, batch.labels, type), "labels")}});
        tape.backward(loss);
        CHECK(near(tape.values(loss.node).at(0), model["losses"][step], relative));
        for (size_t i = 0; i < model["parameters"].size(); ++i) {
            Parameter& parameter = parameters.at(model["parameters"][i]["name"]);
            const auto gradient = tape.gradient_values(parameter.variable.node);
            auto values = tensor::values_of(heap, parameter.tensor);
            REQUIRE(gradient.size() == values.size());
            INFO(parameter.name);
            if (step == 0) CHECK(near(norm_of(gradient), model["gradient_norms"][i], 10 * relative));
            update(model["optimiser"], int(step) + 1, values, gradient, parameter.first, parameter.second);
            tensor::write_values(heap, parameter.tensor, values, parameter.name);
            // A bias of the keys moves all scores of a query alike, so softmax leaves it no gradient: in float32 what Adam
            // scales up is rounding alone.
            const bool rounding = type == "f32" && parameter.name.ends_with("attention.k.bias");
            if (step + 1 == model["losses"].size() && !rounding)
                CHECK(near(norm_of(values), model["parameter_norms_after"][i], 10 * relative));
        }
    }
}
}  // namespace

TEST_CASE("models train as they do in PyTorch, step by step") {
    std::set<std::string> missing;
    const Json document = reference::document("models");
    for (const Json& model : document["models"]) {
        const std::string name = model["name"];
        const bool large = name == "gpt" || name == "llama";
        try {
            train(model, "f32", large ? 3 : 20, 1e-5);
            if (!large) train(model, "f64", name == "mlp512" ? 5 : 20, 1e-9);
        } catch (const NotThere& why) {
            missing.insert(name);
            UNSCOPED_INFO(name << " waits for " << why.what);
        }
    }
    check_not_there("model ", missing);
}

}  // namespace parity_models_test
