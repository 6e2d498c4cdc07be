// Cheaper arithmetic: mixed precision, int8, pruning, distillation and LoRA, each beside a plain definition of its own.
#include "core/nn/cheaper/cheaper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "core/model/launch/launch.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/cheaper/workbench.h"
#include "core/nn/data/text.h"
#include "core/nn/train/trainer.h"
#include "core/tensor/cheap_ops.h"
#include "tests/catch.h"

namespace nn_cheaper_test {

using namespace lockstep;
using namespace lockstep::nn;

static TrainerOptions cheap_options(const std::string& model, DType type) {
    TrainerOptions options{.model = model, .batch = 16, .dtype = type, .keep_images = false};
    options.learning_rate = model == "mlp" ? 0.1 : 0.002;
    options.keep_cost = true;
    return options;
}

TEST_CASE("in f16 and bf16 the losses follow those of f32, and activations halve what a step moves", "[long]") {
    for (const std::string model : {"mlp", "lenet5", "resnet8", "gpt", "llama"}) {
        const int steps = model == "gpt" || model == "llama" ? 2 : 6;
        std::vector<double> full;
        double moved = 0, operations = 0;
        for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
            TrainerOptions options = cheap_options(model, type);
            if (model == "gpt" || model == "llama") options.batch = 2;
            Trainer trainer(options);
            bool rounded = type == DType::f32;  // some loss differs: a single one may round to the same
            for (int i = 0; i < steps; ++i) {
                const StepRecord record = trainer.step();
                INFO(model << " in " << name_of(type) << ", step " << i << ": " << record.loss);
                if (type == DType::f32) {
                    full.push_back(record.loss);
                    moved = record.moved, operations = record.operations;
                    CHECK(record.loss_scale == 0);
                } else {
                    const double wanted = full[size_t(i)];
                    CHECK(std::abs(record.loss - wanted) <= (type == DType::f16 ? 2e-3 : 1.5e-2) * wanted);
                    rounded |= record.loss != wanted;
                    // Rounded copies of the weights cost more than halves of few activations save; resnet8 normalises in
                    // f32.
                    CHECK(record.moved < (model == "mlp" ? 1.4 : model == "resnet8" ? 1 : 0.9) * moved);
                    CHECK((record.moved > moved) == (model == "mlp"));
                    CHECK(record.operations > 0.99 * operations);  // and the casts
                    CHECK((record.loss_scale == 0) == (type == DType::bf16));
                }
            }
            CHECK(rounded);
        }
    }
}

TEST_CASE("under mixed precision parameters and their gradients are f32, what layers exchange is half") {
    TrainerOptions options = cheap_options("mlp", DType::bf16);
    options.keep_graph = true;
    Trainer trainer(options);
    const StepRecord record = trainer.step();
    const auto bytes = [&](const std::string& name) {
        for (const GraphNode& node : record.nodes)
            if (node.name == name) return node.bytes;
        return int64_t{-1};
    };
    CHECK(bytes("fc1.weight") == 784 * 128 * 4);
    CHECK(bytes("fc1.weight bf16") == 784 * 128 * 2);
    CHECK(bytes("x") == 16 * 784 * 2);
    CHECK(bytes("relu1") == 16 * 128 * 2);
    CHECK(bytes("logits f32") == 16 * 10 * 4);
    // A rate too small for bf16, which keeps 8 bits of a weight, still moves the master copies.
    const auto before = trainer.export_parameters();
    trainer.set_learning_rate(1e-4);
    trainer.step();
    const auto after = trainer.export_parameters();
    size_t moved = 0, seen = 0;
    for (size_t i = 0; i < after.size(); ++i) {
        moved += after[i] != before[i];
        seen += f32_to_bf16(after[i]) != f32_to_bf16(before[i]);
    }
    CHECK(moved > after.size() / 4);
    CHECK(seen < moved / 4);
}

TEST_CASE("a loss scale that overflows f16 leaves steps out until it fits, then grows again, and all are counted") {
    TrainerOptions options = cheap_options("mlp", DType::f16);
    options.loss_scale = 67108864;  // 2^26: the gradient of a logit reaches 2^26 / 16, beyond 65504
    options.scale_interval = 3;
    Trainer trainer(options);
    const auto start = trainer.export_parameters();
    double scale = options.loss_scale;
    int64_t left_out = 0, grown = 0, good = 0;
    for (int i = 0; i < 20; ++i) {
        const auto before = trainer.export_parameters();
        const StepRecord record = trainer.step();
        INFO("step " << i << " with scale " << record.loss_scale);
        CHECK(record.loss_scale == scale);
        const bool stayed = trainer.export_parameters() == before;
        CHECK((record.left_out == left_out + 1) == stayed);
        if (stayed) {
            ++left_out, good = 0, scale /= 2;
        } else if (++good == 3) {
            ++grown, good = 0, scale *= 2;
        }
        CHECK(record.left_out == left_out);
        CHECK(record.grown == grown);
    }
    CHECK(left_out >= 4);
    CHECK(grown >= 1);
    CHECK(trainer.export_parameters() != start);
}

TEST_CASE("gradients of parts of a batch add up to the whole batch's in half precision too", "[long]") {
    for (const DType type : {DType::f16, DType::bf16}) {
        TrainerOptions options = cheap_options("mlp", type);
        Trainer whole(options);
        options.accumulate = 4;
        Trainer parts(options);
        for (int i = 0; i < 3; ++i) {
            const double a = whole.step().loss, b = parts.step().loss;
            INFO(name_of(type) << ": " << fmt::format("{:.9} {:.9}", a, b));
            CHECK(std::abs(a - b) <= (type == DType::f16 ? 1e-3 : 8e-3) * a);
        }
        const auto a = whole.export_parameters(), b = parts.export_parameters();
        double apart = 0, moved = 0;
        const auto start = Trainer(cheap_options("mlp", type)).export_parameters();
        for (size_t i = 0; i < a.size(); ++i)
            apart += std::abs(double(a[i]) - double(b[i])), moved += std::abs(double(a[i]) - double(start[i]));
        INFO(apart << " of " << moved);
        CHECK(apart < 0.05 * moved);
    }
}

TEST_CASE("half precision gives the host's losses on the modelled GPU") {
    for (const DType type : {DType::f16, DType::bf16}) {
        TrainerOptions options = cheap_options("mlp", type);
        Trainer host(options);
        options.device = "sim:v100", options.functional = true;
        Trainer sim(options);
        for (int i = 0; i < 2; ++i) {
            const double a = host.step().loss, b = sim.step().loss;
            INFO(name_of(type) << ": " << fmt::format("{:.9} {:.9}", a, b));
            CHECK(std::abs(a - b) <= 2e-3 * a);
        }
    }
}

TEST_CASE("f16 and bf16 products train on tensor cores where the GPU has them, in fewer cycles than without") {
    struct Case {
        const char* gpu;
        DType type;
        bool has;  // bf16: since Ampere
    };
    for (const auto& [gpu, type, has] : {Case{"sim:v100", DType::f16, true}, Case{"sim:p100", DType::f16, false},
                                         Case{"sim:a100", DType::bf16, true}, Case{"sim:v100", DType::bf16, false}}) {
        INFO(gpu << " " << name_of(type));
        TrainerOptions options{.model = "mlp", .device = gpu, .batch = 64, .dtype = type, .keep_runs = true};
        options.keep_images = false;
        const StepRecord step = Trainer(options).step();
        double multiplied = 0;
        int products = 0, on_tensor_cores = 0;
        for (const device::LaunchEvent& event : step.launches) {
            if (!event.kernel.starts_with("matmul_")) continue;
            ++products;
            on_tensor_cores += event.kernel.starts_with("matmul_tc_");
            REQUIRE(event.run);
            const char* of = type == DType::f16 ? "tensor_f16" : "tensor_bf16";
            multiplied += model::metric_of(*event.run->program, event.run->result, of).value();
        }
        CHECK(products == 5);  // two forward, three backward
        CHECK(on_tensor_cores == (has ? 5 : 0));
        // Tiles of 32 x 32 x 32, zeros beyond the edges counted: [M, N, K] of the five.
        const auto tiles = [](double m, double n, double k) {
            return 2 * std::ceil(m / 32) * std::ceil(n / 32) * std::ceil(k / 32) * 32 * 32 * 32;
        };
        const double wanted =
            tiles(64, 128, 784) + tiles(64, 10, 128) + tiles(10, 128, 64) + tiles(64, 128, 10) + tiles(128, 784, 64);
        CHECK(multiplied == (has ? wanted : 0));
    }
    for (const auto& [gpu, type] : {std::pair{"sim:v100", "f16"}, std::pair{"sim:a100", "bf16"}}) {
        auto sim = device::open_device(gpu, {}).value();
        int64_t cycles[2] = {};
        sim->on_launch = [&](const device::LaunchEvent& event) {
            cycles[event.kernel.starts_with("matmul_tc_")] = event.cycles;
        };
        const int m = 64, n = 128, k = 784;
        const auto a = sim->allocate(2 * m * k, "a"), b = sim->allocate(2 * n * k, "b"), c = sim->allocate(2 * m * n, "c");
        const std::vector<std::byte> zeros(2 * n * k);
        sim->copy_in(a, zeros.data(), 2 * m * k), sim->copy_in(b, zeros.data(), 2 * n * k);
        const std::string plain = fmt::format("matmul_nt_{}", type), cores = fmt::format("matmul_tc_nt_{}", type);
        sim->launch({.kernel = plain, .grid = {8, 4, 1}, .block = {16, 16, 1}, .arguments = {a, b, c, m, n, k}});
        sim->launch({.kernel = cores, .grid = {4, 2, 1}, .block = {128, 1, 1}, .arguments = {a, b, c, m, n, k}});
        INFO(gpu << ": " << cycles[0] << " cycles without, " << cycles[1] << " on tensor cores");
        CHECK(cycles[1] > 0);
        CHECK(double(cycles[1]) < 0.7 * double(cycles[0]));
    }
}

TEST_CASE("a model that has no half-precision form says which have one") {
    CHECK_THROWS_WITH(Trainer({.model = "kmeans", .dtype = DType::f16}), Catch::Matchers::Contains("mlp, mlp512, lenet5"));
}

// ---- int8

static std::vector<float> drawn_weights(uint64_t seed, size_t count) {
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(rng.uniform(-1.0, 1.0));
    return values;
}

TEST_CASE("an 8-bit matrix is off by half a scale at most, and as a uniform error is in the mean square") {
    const int64_t rows = 20, columns = 501;
    std::vector<float> w = drawn_weights(3, size_t(rows * columns));
    for (int64_t i = 0; i < columns; ++i) w[size_t(i)] *= 0.01f;  // a small row: a scale of its own serves it
    for (const bool by_row : {false, true}) {
        const QuantizedMatrix q = quantize_matrix(w, rows, by_row);
        REQUIRE(q.scales.size() == (by_row ? size_t(rows) : 1));
        for (int64_t row = 0; row < rows; ++row) {
            double largest = 0, square = 0;
            for (int64_t i = 0; i < columns; ++i) {
                const auto from = w.begin() + (by_row ? row * columns : 0);
                const auto end = by_row ? from + columns : w.end();
                if (i == 0)
                    for (auto at = from; at != end; ++at) largest = std::max(largest, std::abs(double(*at)));
                const double value = w[size_t(row * columns + i)], off = value - q.value(row, i);
                CHECK(std::abs(off) <= largest / 127 / 2 * (1 + 1e-5));
                CHECK(int(q.values[size_t(row * columns + i)]) >= -127);
                square += off * off;
            }
            const double scale = largest / 127, error = std::sqrt(square / double(columns));
            if (by_row || row > 0) CHECK(std::abs(error - scale / std::sqrt(12.0)) < 0.1 * scale / std::sqrt(12.0));
        }
    }
    CHECK_THROWS_WITH(quantize_matrix(std::vector<float>{1, NAN}, 1, false), Catch::Matchers::Contains("8-bit"));
    CHECK(quantize_matrix(std::vector<float>(6), 2, true).scales == std::vector<float>{1, 1});
}

TEST_CASE("an int8 layer computes what its integers say, and requantizing is quantizing what it gives") {
    auto host = device::open_device("host").value();
    tensor::Heap heap(*host);
    tensor::Tape tape(heap);
    const int64_t m = 5, k = 37, n = 18, padded = 40;
    const auto x = drawn_weights(5, size_t(m * k)), w = drawn_weights(6, size_t(n * k)), b = drawn_weights(7, size_t(n));
    const QuantizedMatrix q = quantize_matrix(w, n, true);
    std::vector<double> bytes(size_t(n * padded));
    for (int64_t row = 0; row < n; ++row)
        for (int64_t i = 0; i < k; ++i) bytes[size_t(row * padded + i)] = uint8_t(q.values[size_t(row * k + i)]);
    const double scale = 1.0 / 127, scale_out = 0.05;
    const auto weight =
        tape.label(tensor::tensor_from(heap, {n, padded}, bytes, "w", tensor::Purpose::data, DType::u8), "w");
    const auto scales = tape.input(tensor::tensor_from(heap, {n}, q.scales, "scales"), "scales");
    const auto bias = tape.input(tensor::tensor_from(heap, {n}, b, "bias"), "bias");
    const auto in = tape.input(tensor::tensor_from(heap, {m, k}, x, "x"), "x");
    const auto sums = tensor::int8_matmul(tape, tensor::quantize_int8(tape, in, scale, "quantize"), weight, "matmul");
    const auto y = tensor::values_of(heap, tensor::dequantize_int8(tape, sums, scales, scale, "dequantize").value);
    CHECK(tensor::values_of(heap, tensor::int8_linear(tape, in, weight, scales, scale, "linear").value) == y);
    double worst = 0;
    for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column) {
            double sum = 0, whole = 0;
            for (int64_t i = 0; i < k; ++i) {
                const float value = x[size_t(row * k + i)] / float(scale);
                sum += std::clamp(std::nearbyint(value), -127.0f, 127.0f) * q.values[size_t(column * k + i)];
                whole += double(x[size_t(row * k + i)]) * double(w[size_t(column * k + i)]);
            }
            const double wanted = sum * scale * double(q.scales[size_t(column)]);
            CHECK(std::abs(y[size_t(row * n + column)] - wanted) < 1e-6 * (1 + std::abs(wanted)));
            worst = std::max(worst, std::abs(wanted - whole));
        }
    CHECK(worst > 1e-4);
    CHECK(worst < double(k) * (0.5 / 127 + 0.5 / 127));  // each product is off by half a step of either side at most
    for (const bool relu : {false, true}) {
        auto direct = tensor::dequantize_int8(tape, sums, scales, scale, "dequantize");
        direct = tensor::add_bias(tape, direct, bias, "add");
        if (relu) direct = tensor::relu(tape, direct, "relu");
        const auto once = tensor::values_of(heap, tensor::quantize_int8(tape, direct, scale_out, "quantize").value);
        const auto at_once = tensor::values_of(
            heap, tensor::requantize_int8(tape, sums, scales, bias, scale, scale_out, relu, "requantize").value);
        CHECK(once == at_once);
    }
}

static double quality_of(const Comparison& c, const std::string& method) {
    for (const CheaperRow& row : c.rows)
        if (row.method == method) return row.quality;
    throw Failure("no row " + method);
}
static const CheaperRow& row_of(const Comparison& c, const std::string& method) {
    for (const CheaperRow& row : c.rows)
        if (row.method == method) return row;
    throw Failure("no row " + method);
}

TEST_CASE("int8 keeps an mlp's and LeNet-5's accuracy within a percent or two, for a quarter of the bytes", "[long]") {
    for (const std::string model : {"mlp", "lenet5"}) {
        const Comparison c = compare_quantized({.model = model, .steps = model == "mlp" ? 400 : 150, .test_examples = 1000});
        INFO(text_of(c));
        CHECK(c.rows.front().quality > 0.5);
        for (const CheaperRow& row : c.rows) {
            CHECK(std::abs(row.quality - c.rows.front().quality) < 0.03);
            if (row.method == "f32") continue;
            CHECK(row.bytes < 0.28 * c.rows.front().bytes);
            CHECK(row.bytes > 0.24 * c.rows.front().bytes);
            CHECK(row.more.at(0).value > 0.1);  // percent
            CHECK(row.more.at(0).value < 3);
        }
        CHECK(row_of(c, "int8, per channel, min-max").more[0].value < row_of(c, "int8, per tensor, min-max").more[0].value);
        if (model != "mlp") continue;
        const CheaperRow &chain = row_of(c, "int8, per channel, requantised"),
                         &apart = row_of(c, "int8, per channel, min-max");
        CHECK(std::abs(chain.loss - apart.loss) < 1e-3 * apart.loss);  // ReLU and bias before rounding, as op by op
        // Of an example, in bytes. Layer by layer: the 128 hidden values as f32 out of a product, through bias and ReLU, and
        // into the next. Requantised: pictures as bytes there and back, 128 sums there and back and as bytes likewise, and
        // the 10 sums of the last product there and back.
        const double by_layer = 128 * (4 + 8 + 8 + 4), by_integers = 784 * 2 + 128 * (4 + 4 + 1 + 1) + 10 * (4 + 4);
        CHECK(std::abs(apart.moved - chain.moved - (by_layer - by_integers)) < 16);  // scales and biases, a batch's share
        CHECK(chain.bytes == apart.bytes);
    }
}

TEST_CASE("a gpt keeps its loss with weights and activations in 8 bits", "[long]") {
    const Comparison c = compare_quantized({.model = "gpt", .steps = 24, .batch = 4, .test_examples = 4});
    INFO(text_of(c));
    REQUIRE(c.rows.size() == 7);
    CHECK(c.rows[0].loss < 3.6);
    int differ = 0;  // an untrained block adds little: a loss may round to the same
    for (const CheaperRow& row : c.rows) {
        INFO(row.method);
        CHECK(std::abs(row.loss - c.rows[0].loss) < 0.03 * c.rows[0].loss);
        if (row.method == "f32") continue;
        differ += row.loss != c.rows[0].loss;
        CHECK(row.bytes < 0.35 * c.rows[0].bytes);  // embeddings, norms and biases stay f32
        CHECK(row.moved < c.rows[0].moved);
    }
    CHECK(differ >= 4);
    // The head's product is one of the integers too, though its matrix is the embedding's, which stays: its 8-bit form and
    // scales are stored beside it. Blocks: 12 d² + 13 d values each, of which biases and norms stay f32.
    TrainerOptions options{.model = "gpt", .batch = 1};
    const cheaper::PassCost whole = cheaper::forward_cost(options);
    const auto layers = cheaper::layers_of(options, {}, 1, false, true), apart = cheaper::layers_of(options, {}, 1, false);
    REQUIRE(layers.size() == apart.size() + 1);
    double saved = 0;
    for (const cheaper::Layer& layer : layers) {
        const double values = double(layer.rows * layer.columns);
        saved += (layer.tied ? -1 : 3) * values - 4 * double(layer.rows);
    }
    CHECK(whole.bytes == c.rows[0].bytes);
    CHECK(row_of(c, "int8, per channel, min-max").bytes == whole.bytes - saved);
}

// ---- pruning

TEST_CASE("masks by magnitude take the smallest, of each layer or of all together") {
    const std::vector<std::vector<float>> layers = {{1, -2, 3, -4}, {0.1f, 0.2f, -0.3f, 5}};
    const auto together = magnitude_masks(layers, 0.5, false), apart = magnitude_masks(layers, 0.5, true);
    CHECK(together == std::vector<std::vector<float>>{{0, 1, 1, 1}, {0, 0, 0, 1}});
    CHECK(apart == std::vector<std::vector<float>>{{0, 0, 1, 1}, {0, 0, 1, 1}});
    CHECK(magnitude_masks(layers, 0, false) == std::vector<std::vector<float>>{{1, 1, 1, 1}, {1, 1, 1, 1}});
    CHECK_THROWS_WITH(magnitude_masks(layers, 1.5, false), Catch::Matchers::Contains("0 to 1"));
    CHECK(two_of_four_mask(std::vector<float>{1, -2, 3, -4, 1, 1, 1, 1, 7, 8, -9}, 1) ==
          std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1});
}

TEST_CASE("two of four comes back whole from its compressed form, whose product is the masked dense one") {
    const int64_t rows = 19, columns = 72, m = 6;
    auto w = drawn_weights(8, size_t(rows * columns));
    const auto mask = two_of_four_mask(w, rows);
    for (size_t i = 0; i < w.size(); ++i) w[i] *= mask[i];
    for (size_t i = 0; i < 8; ++i) w[i] = 0;  // groups that keep fewer
    const Sparse24 s = compress_two_of_four(w, rows);
    CHECK(s.dense() == w);
    CHECK(s.bytes() == rows * columns / 2 * 4 + rows * columns / 2 / 4);
    CHECK((s.places[0] & 0xff) == 0x44);
    CHECK_THROWS_WITH(compress_two_of_four(std::vector<float>{1, 2, 3, 0}, 1), Catch::Matchers::Contains("two at most"));

    for (const char* name : {"host", "sim:v100"}) {
        auto on = device::open_device(name, {.functional = true}).value();
        tensor::Heap heap(*on);
        tensor::Tape tape(heap);
        const auto x = tape.input(tensor::tensor_from(heap, {m, columns}, drawn_weights(9, size_t(m * columns)), "x"), "x");
        const auto dense = tensor::matmul(tape, x, tape.input(tensor::tensor_from(heap, {rows, columns}, w, "w"), "w"),
                                          "dense matmul", true);
        std::vector<double> words;
        for (const uint32_t word : s.places) words.push_back(int32_t(word));
        const auto values = tape.input(tensor::tensor_from(heap, {rows, columns / 2}, s.values, "kept"), "kept");
        const auto places = tape.label(
            tensor::tensor_from(heap, {rows, (columns + 31) / 32}, words, "places", tensor::Purpose::data, DType::i32),
            "places");
        const auto sparse = tensor::values_of(heap, tensor::sparse24_matmul(tape, x, values, places, "matmul").value);
        const auto wanted = tensor::values_of(heap, dense.value);
        for (size_t i = 0; i < wanted.size(); ++i) CHECK(std::abs(sparse[i] - wanted[i]) <= 1e-5);
    }
}

TEST_CASE("a pruned mlp loses accuracy with its weights, wins some back under the mask, and its zeros stay", "[long]") {
    const Comparison c =
        compare_pruned({.model = "mlp", .steps = 400, .test_examples = 1000}, {.shares = {0.5, 0.95}, .fine_tune = 100});
    INFO(text_of(c));
    const double full = quality_of(c, "f32");
    CHECK(quality_of(c, "magnitude 50 %") > full - 0.05);
    CHECK(quality_of(c, "magnitude 95 %") < full - 0.02);
    CHECK(quality_of(c, "magnitude 95 %, tuned") > quality_of(c, "magnitude 95 %"));
    CHECK(quality_of(c, "2:4, tuned") > full - 0.05);
    const CheaperRow &most = row_of(c, "magnitude 95 %, tuned"), &half = row_of(c, "2:4, tuned");
    CHECK(most.operations < 0.1 * c.rows[0].operations);
    CHECK(most.bytes < 0.1 * c.rows[0].bytes);
    CHECK(half.operations < 0.51 * c.rows[0].operations);
    CHECK(half.bytes < 0.54 * c.rows[0].bytes);
    CHECK(half.more.at(0).value < 1e-5);  // against the masked dense form

    Trainer trainer({.model = "mlp", .batch = 16, .optimizer = "adamw", .alter = [](Task& task, tensor::Heap& heap) {
                         Parameter* weight = task.list.find("fc1.weight");
                         std::vector<float> mask(size_t(weight->value.count()), 1);
                         for (size_t i = 0; i < mask.size(); i += 3) mask[i] = 0;
                         auto values = tensor::values_of(heap, weight->value);
                         for (size_t i = 0; i < mask.size(); ++i) values[i] *= double(mask[i]);
                         tensor::write_values(heap, weight->value, values, "fc1.weight");
                         weight->mask = tensor::tensor_from(heap, weight->value.shape, mask, "mask");
                     }});
    const auto before = trainer.export_parameters();
    for (int i = 0; i < 5; ++i) trainer.step();
    const auto after = trainer.export_parameters();
    int zeros = 0, moved = 0;
    for (size_t i = 0; i < 784 * 128; ++i) zeros += i % 3 == 0 && after[i] == 0, moved += after[i] != before[i];
    CHECK(zeros == (784 * 128 + 2) / 3);
    CHECK(moved > 784 * 128 / 2);
}

TEST_CASE("pruned models and models with adapters go on from a checkpoint to the bit, in a graph too") {
    const auto prune = [](Task& task, tensor::Heap& heap) {
        for (const char* name : {"fc1.weight", "fc2.weight"}) {
            Parameter* weight = task.list.find(name);
            const std::vector<std::vector<float>> layers = {tensor::to_host(heap, weight->value)};
            weight->mask = tensor::tensor_from(heap, weight->value.shape, magnitude_masks(layers, 0.6, true)[0], "mask",
                                               tensor::Purpose::parameter);
        }
    };
    const auto adapt = [](Task& task, tensor::Heap& heap) {
        const std::string weights[] = {"fc1.weight", "fc2.weight"};
        add_adapters(task, heap, weights, 3, 16.0 / 3, 9);
    };
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("lockstep_form_{}", getpid());
    const std::function<void(Task&, tensor::Heap&)> forms[] = {
        prune, adapt, [&](Task& task, tensor::Heap& heap) { prune(task, heap), adapt(task, heap); }};
    for (size_t form = 0; form < 3; ++form)
        for (const Mode mode : {Mode::direct, Mode::fused}) {
            INFO("form " << form << " in mode " << name_of(mode));
            TrainerOptions options{.model = "mlp", .batch = 8, .learning_rate = 0.01, .optimizer = "adamw", .mode = mode};
            options.keep_images = false;
            options.alter = forms[form];
            Trainer whole(options), first(options);
            std::vector<double> losses;
            for (int i = 0; i < 9; ++i) losses.push_back(whole.step().loss);
            for (int i = 0; i < 4; ++i) CHECK(first.step().loss == losses[size_t(i)]);
            save_checkpoint(folder, first.checkpoint());
            const Checkpoint kept = load_checkpoint(folder).value();
            std::filesystem::remove_all(folder);
            options.alter = alter_of(kept);
            REQUIRE(options.alter);
            Trainer rest(options);
            rest.restore(kept);
            for (int i = 4; i < 9; ++i) CHECK(rest.step().loss == losses[size_t(i)]);
            CHECK(rest.export_parameters() == whole.export_parameters());
            CHECK(rest.evaluate(50).loss == whole.evaluate(50).loss);
            CHECK(rest.trained_parameters() == whole.trained_parameters());
            const auto a = rest.checkpoint().tensors, b = whole.checkpoint().tensors;
            REQUIRE(a.size() == b.size());
            for (size_t i = 0; i < a.size(); ++i) CHECK(a[i].array.bytes == b[i].array.bytes);
            options.alter = {};
            Trainer plain(options);
            CHECK_THROWS_WITH(plain.restore(kept), Catch::Contains(form == 1 ? "adapter" : "mask"));
            CHECK_THROWS_WITH(Trainer(whole.options()).restore(plain.checkpoint()),
                              Catch::Contains(form == 1 ? "fc1.lora_a" : "mask"));
            int64_t steps = 0;  // and by train(), which asks the checkpoint
            train({.options = options, .steps = 5, .from = &kept, .on_step = [&](const StepRecord& step) {
                       CHECK(step.loss == losses[size_t(4 + steps++)]);
                       return true;
                   }});
            CHECK(steps == 5);
        }
    Checkpoint plain = Trainer({.model = "mlp", .batch = 8}).checkpoint();
    CHECK(!alter_of(plain));
    Array mask{.dtype = DType::f32, .shape = {3}};
    mask.bytes.resize(12);
    plain.tensors.push_back({"fc1.weight.mask", mask});
    CHECK_THROWS_WITH(Trainer({.model = "mlp", .batch = 8, .alter = alter_of(plain)}), Catch::Contains("[3] in the file"));
    plain.tensors.back().name = "fc9.weight.mask";
    CHECK_THROWS_WITH(Trainer({.model = "mlp", .batch = 8, .alter = alter_of(plain)}), Catch::Contains("fc9.weight"));
    Array half{.dtype = DType::f32, .shape = {2}};
    half.bytes.resize(8);
    half.as<float>()[1] = 0.5f;
    plain.tensors.back() = {"fc1.weight.mask", half};
    CHECK_THROWS_WITH(alter_of(plain), Catch::Contains("holds 0.5 at element 1: a mask is made of 0 and 1"));
    plain.tensors.back().name = "fc1.lora_a";
    CHECK_THROWS_WITH(alter_of(plain), Catch::Contains("fc1.lora_a"));
}

// ---- distillation and LoRA

TEST_CASE("a taught student's loss is its share of the labels' and of the teacher's, and gradients reach it alone",
          "[long]") {
    const Comparison c = compare_distilled({.model = "mlp", .steps = 60, .test_examples = 500},
                                           {.teacher = "mlp512", .seeds = 2, .teacher_steps = 100});
    INFO(text_of(c));
    REQUIRE(c.rows.size() == 3);
    for (const CheaperRow& row : c.rows) CHECK(std::isfinite(row.loss));
    CHECK(c.rows[1].quality != c.rows[2].quality);
    CHECK(c.rows[1].bytes == c.rows[2].bytes);
    CHECK(c.rows[1].bytes < 0.2 * c.rows[0].bytes);
    CHECK_THROWS_WITH(compare_distilled({.model = "gpt", .steps = 1}, {.teacher_steps = 1}),
                      Catch::Matchers::Contains("classes apart"));
}

TEST_CASE("LoRA begins as the model that it adapts, trains its adapters alone, and merges into the same function",
          "[long]") {
    const Comparison c =
        compare_lora({.model = "gpt", .steps = 12, .batch = 2, .test_examples = 4}, {.rank = 4, .tune_steps = 6});
    INFO(text_of(c));
    REQUIRE(c.rows.size() == 4);
    const CheaperRow &whole = c.rows[1], &lora = c.rows[2], &merged = c.rows[3];
    CHECK(lora.quality < c.rows[0].quality);
    // Four layers: q, k, v, out are 128 by 128, up 512 by 128, down 128 by 512, each with rank (rows + columns).
    CHECK(lora.trained == 4 * 4 * (4 * 256 + 2 * 640));
    CHECK(lora.state_bytes == 8.0 * double(lora.trained));
    CHECK(whole.state_bytes == 8.0 * double(whole.trained));
    CHECK(lora.trained * 15 < whole.trained);
    CHECK(lora.bytes == whole.bytes + 4.0 * double(lora.trained));
    CHECK(merged.more.at(0).value < 2e-5 * lora.loss);
    CHECK(merged.bytes == whole.bytes);
}

TEST_CASE("pig latin is the stories, word by word, in the same characters") {
    const TextSet plain = stories(1), other = open_text("pig latin", 1);
    CHECK(other.vocabulary.symbols == plain.vocabulary.symbols);
    const auto words = [](const TextSet& set) {
        const std::string text = set.vocabulary.decode(set.held_out);
        return std::count(text.begin(), text.end(), ' ');
    };
    CHECK(words(plain) == words(other));
    CHECK(other.held_out.size() > plain.held_out.size());
    const std::string start = plain.vocabulary.decode(std::span(plain.held_out).first(400));
    const std::string turned = other.vocabulary.decode(std::span(other.held_out).first(400));
    CHECK(start != turned);
    if (start.find(" the ") < 300) CHECK(turned.find(" ethay ") != std::string::npos);
}

}  // namespace nn_cheaper_test
