// The library's own models beside PyTorch's twenty training steps (tests/reference/models.py): modules, names of parameters
// and optimisers together. Losses of every step, float64 to 1e-9 relative, float32 to 1e-5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/nn/layers/optim.h"
#include "core/nn/models/language.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"
#include "tests/reference.h"

namespace nn_parity_test {

using namespace lockstep;
using namespace lockstep::nn;
using reference::Json;

namespace {
Json model_of(const std::string& name) {
    const Json document = reference::document("models");
    for (const Json& model : document["models"])
        if (model["name"] == name) return model;
    throw Failure("the reference has no model " + name);
}

Rule rule_of(const Json& options) {
    if (options["rule"] == "sgd") return SGD{.lr = options["lr"], .momentum = options.value("momentum", 0.0)};
    return AdamW{.lr = options["lr"],
                 .beta1 = options["beta1"],
                 .beta2 = options["beta2"],
                 .eps = options["eps"],
                 .weight_decay = options["weight_decay"]};
}

void fill(tensor::Heap& heap, ParameterList& list, const Json& rows) {
    REQUIRE(list.parameters().size() == rows.size());
    for (const Json& row : rows) {
        const reference::Input drawn = reference::input_of(row);
        Parameter* parameter = list.find(drawn.name);
        INFO(drawn.name);
        REQUIRE(parameter);
        CHECK(parameter->value.shape == tensor::Shape(drawn.shape));
        tensor::write_values(heap, parameter->value, drawn.values, drawn.name);
    }
}

ModelShape small_language(bool llama, double dropout = 0) {
    return {.kind = llama ? ModelShape::Kind::llama : ModelShape::Kind::gpt,
            .layers = 2,
            .width = 32,
            .heads = 4,
            .kv_heads = llama ? 2 : 4,
            .ffn = 48,
            .vocabulary = 20,
            .context = 16,
            .tied_head = !llama,
            .dropout = dropout};
}

void language(const std::string& name, const std::string& type, double relative, double dropout = 0) {
    const Json model = model_of(name), config = model["config"];
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    Rng rng(1);
    ParameterList list;
    Build build{heap, rng, list, dtype_named(type).value()};
    const int64_t heads = config["heads"], width = config["width"], context = config["context"];
    const bool llama = model["kind"] == "llama";
    const Model net(build, {.kind = llama ? ModelShape::Kind::llama : ModelShape::Kind::gpt,
                            .layers = config["layers"],
                            .width = width,
                            .heads = heads,
                            .kv_heads = config.value("kv_heads", heads),
                            .ffn = config.value("ffn", 4 * width),
                            .vocabulary = config["vocabulary"],
                            .context = context,
                            .tied_head = !llama,
                            .dropout = dropout});
    fill(heap, list, model["parameters"]);
    Optimizer optimizer(heap, rule_of(model["optimiser"]), list.all());
    const int64_t batch = model["batch"];
    tensor::Tape tape(heap);
    for (size_t step = 0; step < model["losses"].size(); ++step) {
        tape.clear();
        heap.recycle();
        const uint64_t seed = model["data"]["seed"].get<uint64_t>() + step % model["data"]["batches"].get<uint64_t>();
        const auto drawn = reference::draw_below(seed, size_t(batch * (context + 1)), config["vocabulary"]);
        std::vector<int32_t> tokens, next;
        for (int64_t i = 0; i < batch * (context + 1); ++i) {
            if (i % (context + 1) < context) tokens.push_back(int32_t(drawn[size_t(i)]));
            if (i % (context + 1) > 0) next.push_back(int32_t(drawn[size_t(i)]));
        }
        Pass pass{tape};
        const auto x = tensor::reshaped(tensor::labels_from(heap, tokens, "tokens"), {batch, context});
        const auto logits = net(pass, tape.label(x, "tokens"));
        const auto labels = tape.label(tensor::labels_from(heap, next, "next"), "next");
        const auto loss = tensor::softmax_cross_entropy(tape, logits, labels, "loss");
        tape.backward(loss);
        optimizer.step(tape);
        const double got = tape.values(loss.node)[0], wanted = model["losses"][step];
        INFO(name << " " << type << " step " << step << ": " << got << " against " << wanted);
        CHECK(std::abs(got - wanted) <= relative * std::abs(wanted));
    }
}
}  // namespace

TEST_CASE("a GPT trains as in PyTorch, with the library's modules and AdamW") {
    language("gpt_small", "f64", 1e-9);
    language("gpt_small", "f32", 1e-5);
}

TEST_CASE("a Llama trains as in PyTorch, with the library's modules and AdamW") {
    language("llama_small", "f64", 1e-9);
    language("llama_small", "f32", 1e-5);
}

TEST_CASE("with dropout that never drops, attention's weights as a matrix train as in PyTorch too") {
    for (const char* name : {"gpt_small", "llama_small"}) {
        language(name, "f64", 1e-9, 1e-12);  // below 2^-32: no number drawn lies under it
        language(name, "f32", 1e-5, 1e-12);
    }
}

TEST_CASE("a GPT drops a value as often as it was told, in PyTorch's places, the same ones on every device") {
    const double p = 0.3;
    std::vector<double> logits[2], evaluated[2];
    std::vector<std::vector<bool>> dropped[2];
    for (const bool llama : {false, true}) {
        for (const size_t on : {0, 1}) {
            auto device = device::open_device(on == 0 ? "host" : "sim:v100", {.functional = true}).value();
            tensor::Heap heap(*device);
            Rng rng(4);
            ParameterList list;
            Build build{heap, rng, list};
            const Model net(build, small_language(llama, p));
            std::vector<int32_t> tokens;
            for (int i = 0; i < 64; ++i) tokens.push_back((7 * i + i / 5) % 20);
            dropped[on].clear();
            for (const bool training : {true, false}) {
                tensor::Tape tape(heap);
                heap.recycle();
                Pass pass{.tape = tape, .training = training, .random = {5, uint64_t{3} << 32}};
                const auto x = tensor::reshaped(tensor::labels_from(heap, tokens, "tokens"), {4, 16});
                const auto made = tape.values(net(pass, tape.label(x, "tokens")).node);
                (training ? logits : evaluated)[on] = made;
                std::vector<std::string> names;
                for (size_t id = 0; id < tape.nodes().size(); ++id) {
                    const tensor::Node& node = tape.nodes()[id];
                    if (!node.op || node.op->name != "dropout") continue;
                    names.push_back(node.name);
                    const auto before = tape.values(node.inputs[0]), after = tape.values(int(id));
                    double zeros = 0, all = 0;
                    std::vector<bool>& which = dropped[on].emplace_back();
                    for (size_t i = 0; i < before.size(); ++i) {
                        which.push_back(after[i] == 0);
                        if (before[i] == 0) continue;  // the future, in attention's weights
                        all += 1, zeros += after[i] == 0;
                        if (after[i] != 0) CHECK(std::abs(after[i] * (1 - p) / before[i] - 1) < 1e-6);
                    }
                    INFO(node.name << ": " << zeros << " of " << all);
                    CHECK(std::abs(zeros - p * all) < 5 * std::sqrt(p * (1 - p) * all));
                    CHECK(all >= 4 * 16 * 32);
                }
                const std::vector<std::string> places = {
                    "embedding dropout",  "layers.0.attention attention dropout", "layers.0 dropout 1",
                    "layers.0 dropout 2", "layers.1.attention attention dropout", "layers.1 dropout 1",
                    "layers.1 dropout 2"};
                CHECK(names == (training ? places : std::vector<std::string>()));
            }
        }
        CHECK(dropped[0] == dropped[1]);
        REQUIRE(logits[0].size() == logits[1].size());
        double far = 0, learns = 0;
        for (size_t i = 0; i < logits[0].size(); ++i) {
            far = std::max(far, std::abs(logits[0][i] - logits[1][i]));
            learns = std::max(learns, std::abs(logits[0][i] - evaluated[0][i]));
        }
        CHECK(far < 1e-5);
        CHECK(learns > 1e-3);
    }
}

TEST_CASE("text made with a cache of keys and values is the text made without one") {
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    for (const bool llama : {false, true}) {
        Rng rng(4);
        ParameterList list;
        Build build{heap, rng, list, DType::f64};
        const Model net(build, small_language(llama));
        const std::vector<int32_t> prompt = {3, 1, 4, 1, 5};
        const auto made = generate(net, heap, prompt, 9, {.temperature = 0});
        std::vector<int32_t> all = prompt;
        for (size_t i = 0; i < 9; ++i) {  // every place anew
            tensor::Tape tape(heap);
            heap.recycle();
            Pass pass{tape, false};
            const auto x = tensor::reshaped(tensor::labels_from(heap, all, "tokens"), {1, int64_t(all.size())});
            const auto logits = tensor::values_of(heap, net(pass, tape.label(x, "tokens")).value);
            const auto last = logits.end() - 20;
            all.push_back(int32_t(std::max_element(last, logits.end()) - last));
            CHECK(all.back() == made[i]);
        }
        CHECK(generate(net, heap, prompt, 40, {.seed = 5}) == generate(net, heap, prompt, 40, {.seed = 5}));
        CHECK(generate(net, heap, prompt, 40, {.seed = 5}) != generate(net, heap, prompt, 40, {.seed = 6}));
    }
}

// The largest distance between the values' distribution and the one they should have (Kolmogorov and Smirnov).
template <class Cumulative>
static double distance_from(std::vector<double> values, Cumulative cumulative) {
    std::sort(values.begin(), values.end());
    double most = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const double want = cumulative(values[i]), below = double(i) / double(values.size()),
                     above = double(i + 1) / double(values.size());
        const double apart = std::max(std::abs(want - below), std::abs(want - above));
        most = apart <= most ? most : apart;  // NaN stays
    }
    return most;
}

TEST_CASE("layers draw their parameters from the distributions that PyTorch's draw from") {
    const auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    std::set<std::string> without;
    int checked = 0;
    const Json document = reference::document("initialisers");
    for (const Json& row : document["layers"]) {
        const std::string layer = row["layer"], parameter = row["parameter"];
        const Json& o = row["options"];
        const auto extent = [&](const char* name) { return o.at(name).get<int64_t>(); };
        Rng rng(11);
        ParameterList list;
        Build build{heap, rng, list, DType::f64};
        if (layer == "Linear")
            Linear(build, "it", extent("inputs"), extent("outputs"));
        else if (layer == "Conv2d")
            Conv2d(build, "it", extent("inputs"), extent("outputs"), extent("kernel"));
        else if (layer == "Embedding")
            Embedding(build, "it", extent("count"), extent("width"));
        else if (layer == "RNN")
            RNNCell(build, "it", extent("inputs"), extent("hidden"));
        else if (layer == "LSTM")
            LSTMCell(build, "it", extent("inputs"), extent("hidden"));
        else if (layer == "GRU")
            GRUCell(build, "it", extent("inputs"), extent("hidden"));
        else if (layer == "ConvTranspose2d")
            ConvTranspose2d(build, "it", extent("inputs"), extent("outputs"), extent("kernel"));
        else if (layer == "GroupNorm")
            GroupNorm(build, "it", extent("groups"), extent("width"));
        else if (layer == "LayerNorm")
            LayerNorm(build, "it", extent("width"));
        else if (layer == "BatchNorm2d")
            BatchNorm2d(build, "it", extent("width"));
        else {
            without.insert(layer);
            continue;
        }
        const std::string name = "it." + parameter.substr(0, parameter.find("_l0"));
        INFO(layer << " " << parameter);
        std::vector<double> values;
        if (const Parameter* found = list.find(name)) values = tensor::values_of(heap, found->value);
        for (const Buffer& buffer : list.buffers())
            if (buffer.name == name) values = tensor::values_of(heap, buffer.value);
        REQUIRE(!values.empty());
        const double number = row["number"], enough = 1.63 / std::sqrt(double(values.size()));  // 1 in 100 is beyond
        if (row["distribution"] == "constant")
            CHECK(values == std::vector<double>(values.size(), number));
        else if (row["distribution"] == "uniform")
            CHECK(distance_from(values, [&](double x) { return std::clamp((x / number + 1) / 2, 0.0, 1.0); }) < enough);
        else if (row["distribution"] == "normal")
            CHECK(distance_from(values, [&](double x) { return std::erfc(-x / number / std::sqrt(2)) / 2; }) < enough);
        else
            FAIL("no such distribution");
        ++checked;
    }
    CHECK(checked == 16);
    CHECK(without == std::set<std::string>{"Conv1d"});  // no module of ours: Conv2d with a kernel of one row
}

}  // namespace nn_parity_test
