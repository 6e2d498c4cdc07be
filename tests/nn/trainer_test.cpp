#include "core/nn/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/nn/data/made/points.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/models.h"
#include "core/nn/train/finite.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace nn_trainer_test {

using namespace lockstep;
using namespace lockstep::nn;

// Whether `run` throws a Failure whose sentence has `part` in it.
template <class Run>
static bool fails_with(const std::string& part, Run run) {
    try {
        run();
    } catch (const Failure& failure) {
        UNSCOPED_INFO(failure.what());
        return std::string(failure.what()).find(part) != std::string::npos;
    }
    return false;
}

static bool close(double a, double b, double relative, double absolute = 0) {
    return std::abs(a - b) <= absolute + relative * std::abs(b);  // false for NaN
}

static bool all_close(const std::vector<float>& got, const nlohmann::json& expected, double relative, double absolute) {
    if (got.size() != expected.size()) return false;
    for (size_t i = 0; i < got.size(); ++i)
        if (!close(double(got[i]), expected[i].get<double>(), relative, absolute)) {
            UNSCOPED_INFO("element " << i << " is " << got[i] << ", expected " << expected[i]);
            return false;
        }
    return true;
}

static nlohmann::json reference() {
    return nlohmann::json::parse(read_file(resource_root() / "assets/reference/mlp_step.json").value());
}

static std::vector<float> floats(const nlohmann::json& values) {
    std::vector<float> all;
    for (const auto& value : values) all.push_back(value.get<float>());
    return all;
}

TEST_CASE("an mlp reads digits of unseen fonts after a few hundred steps", "[long]") {
    Trainer trainer({.model = "mlp", .batch = 64, .learning_rate = 0.1, .keep_images = false});
    const double before = trainer.evaluate().accuracy;
    for (int i = 0; i < 1500; ++i) trainer.step();
    const Evaluation after = trainer.evaluate();
    INFO("accuracy " << before << " -> " << after.accuracy);
    CHECK(before < 0.3);
    CHECK(after.accuracy > 0.9);
    CHECK(after.step == 1500);
}

TEST_CASE("the same seed gives the same bits, another seed other ones") {
    const auto losses = [](uint64_t seed) {
        Trainer trainer({.batch = 16, .seed = seed});
        std::vector<double> all;
        for (int i = 0; i < 3; ++i) all.push_back(trainer.step().loss);
        return std::pair(all, trainer.export_parameters());
    };
    const auto first = losses(3), again = losses(3), other = losses(4);
    CHECK(first == again);
    CHECK(first.first[0] != other.first[0]);
}

TEST_CASE("the number of threads changes no bit of a loss or a parameter") {
    const auto losses = [](const std::string& model, int threads) {
        Trainer trainer({.model = model, .threads = threads});
        std::vector<double> all;
        for (int i = 0; i < 5; ++i) all.push_back(trainer.step().loss);
        return std::pair(all, trainer.export_parameters());
    };
    for (const std::string model : {"mlp", "mlp512"}) {
        const auto one = losses(model, 1);
        CHECK(losses(model, 2) == one);
        CHECK(losses(model, 3) == one);
    }
}

TEST_CASE("host and modelled GPU agree on the losses") {
    Trainer host({.device = "host", .batch = 16});
    Trainer sim({.device = "sim:v100", .batch = 16, .functional = true});
    REQUIRE(host.export_parameters() == sim.export_parameters());
    for (int i = 0; i < 4; ++i) {
        const StepRecord a = host.step(), b = sim.step();
        INFO("step " << i << ": " << fmt::format("{:.9} {:.9}", a.loss, b.loss));
        CHECK(close(a.loss, b.loss, 1e-5));
        CHECK(a.labels == b.labels);
        CHECK(*a.images == *b.images);
    }
}

TEST_CASE("the modelled GPU takes the same cycles again, whether or not the step is looked at") {
    const auto cycles = [](bool look, int steps) {
        Trainer trainer({.device = "sim:teaching:2", .batch = 2, .keep_graph = look, .keep_values = look});
        StepRecord record;
        for (int i = 0; i < steps; ++i) record = trainer.step();
        std::vector<int64_t> all;
        for (const auto& launch : record.launches) all.push_back(launch.cycles);
        return all;
    };
    const auto once = cycles(false, 1);
    for (int64_t count : once) CHECK(count > 0);
    CHECK(cycles(true, 1) == once);
    CHECK(cycles(false, 2) == once);
}

TEST_CASE("a step run again from its parameters gives the same bits") {
    Trainer trainer({.batch = 16});
    trainer.step();
    const auto kept = trainer.export_parameters();
    const double loss = trainer.step().loss;
    const auto after = trainer.export_parameters();
    trainer.step();
    Trainer other({.batch = 16, .keep_graph = true, .keep_values = true});
    other.import_parameters(kept, 1);
    CHECK(other.step().loss == loss);
    CHECK(other.export_parameters() == after);
    CHECK(other.next_step() == 2);
    CHECK(fails_with("101770 parameters, not 3", [&] { (void)other.import_parameters(std::vector<float>(3), 0); }));
}

TEST_CASE("a step says what every launch and node was") {
    Trainer trainer({.batch = 8, .keep_graph = true, .keep_values = true});
    trainer.step();
    const StepRecord record = trainer.step();
    REQUIRE(record.launches.size() == 18);
    CHECK(record.live_bytes.size() == record.launches.size());
    std::vector<std::string> labels;
    for (const auto& launch : record.launches) labels.push_back(launch.label);
    CHECK(labels == std::vector<std::string>{"fc1 matmul", "fc1 add", "relu1", "fc2 matmul", "fc2 add", "loss", "loss mean",
                                             "loss dlogits", "fc2 db", "fc2 dW", "fc2 dx", "relu1 dx", "fc1 db", "fc1 dW",
                                             "fc1.weight sgd", "fc1.bias sgd", "fc2.weight sgd", "fc2.bias sgd"});
    CHECK(record.launches.front().phase == "forward");
    CHECK(record.launches[7].phase == "backward");
    CHECK(record.launches.back().phase == "update");

    std::vector<int> seen(record.launches.size(), 0);
    for (size_t id = 0; id < record.nodes.size(); ++id) {
        const GraphNode& node = record.nodes[id];
        INFO(node.name);
        CHECK(node.id == int(id));
        for (int from : node.inputs) CHECK(from < node.id);
        for (const auto* launches : {&node.forward_launches, &node.backward_launches, &node.update_launches})
            for (int launch : *launches) ++seen[size_t(launch)];
        REQUIRE(node.value);
        CHECK(int64_t(node.value->size()) == tensor::count_of(node.shape));
        CHECK(bool(node.gradient) == node.requires_grad);
        if (node.gradient) CHECK(node.gradient->size() == node.value->size());
        if (!node.saved.empty()) CHECK(node.freed_after >= 7);
    }
    for (int times : seen) CHECK(times == 1);

    const GraphNode& relu = record.nodes[5];
    CHECK(relu.name == "relu1");
    CHECK(relu.saved == "relu1");
    CHECK(relu.saved_bytes == 8 * 128 * 4);
    CHECK(relu.freed_after == 11);
    CHECK(record.nodes.back().kind == GraphNode::Kind::loss);
    CHECK(close(double(record.nodes.back().value->at(0)), record.loss, 0));
    CHECK(record.nodes[0].saved_bytes == 0);
    CHECK(record.nodes[2].saved == "x");
    CHECK(record.predictions.size() == 8);
    CHECK(record.confidence.size() == 8);
    CHECK(record.images->size() == 8 * 784);
}

TEST_CASE("live bytes rise through forward and fall as backward frees what it used") {
    Trainer trainer({.batch = 64, .keep_graph = true});
    const StepRecord record = trainer.step();
    const int64_t x = 64 * 784 * 4 + 64 * 4 /* and the labels */, a = 64 * 128 * 4, logits = 64 * 10 * 4,
                  dw1 = 128 * 784 * 4;
    CHECK(record.live_bytes[0] == x + a);
    CHECK(record.live_bytes[1] == x + 2 * a);  // fc1 matmul's value is freed once the bias is added
    CHECK(record.live_bytes[3] == x + a + logits);
    CHECK(record.live_bytes[13] > dw1);
    CHECK(record.live_bytes.back() < record.live_bytes[13]);
}

TEST_CASE("values, gradients and losses are PyTorch's") {
    const auto ref = reference();
    auto device = device::open_device("host").value();
    tensor::Heap heap(*device);

    SECTION("a small perceptron, every number") {
        const auto& small = ref["small"];
        const auto widths = small["widths"].get<std::vector<int64_t>>();
        Rng rng(small["seed"].get<uint64_t>());
        ParameterList list;
        Build build{heap, rng, list};
        const Perceptron model(build, widths);
        const auto& parameters = list.parameters();
        for (size_t i = 0; i < parameters.size(); ++i)
            CHECK(all_close(tensor::to_host(heap, parameters[i].value), small["parameters"][i], 0, 0));
        tensor::Tape tape(heap);
        Pass pass{tape};
        const auto x = tape.input(tensor::tensor_from(heap, {4, widths[0]}, floats(small["x"]), "x"), "x", true);
        const auto logits = model(pass, x);
        const auto labels = tape.label(tensor::labels_from(heap, small["labels"].get<std::vector<int32_t>>(), "y"), "y");
        const auto loss = tensor::softmax_cross_entropy(tape, logits, labels, "loss");
        tape.backward(loss);
        CHECK(all_close(tape.read_value(logits.node), small["logits"], 1.3e-6, 1e-6));
        CHECK(close(double(tape.read_value(loss.node)[0]), small["loss"].get<double>(), 1.3e-6));
        CHECK(all_close(tape.read_gradient(x.node), small["gradient_x"], 1.3e-6, 1e-7));
        for (size_t i = 0; i < parameters.size(); ++i)
            CHECK(all_close(tape.read_gradient(parameters[i].node), small["gradients"][i], 1.3e-6, 1e-7));
    }
    SECTION("twenty steps of 784-128-10") {
        const auto& full = ref["full"];
        Rng draws(full["parameter_seed"].get<uint64_t>());
        ParameterList list;
        Build build{heap, draws, list};
        const std::vector<int64_t> widths = {784, 128, 10};
        const Perceptron model(build, widths);
        const int64_t batch = full["batch"];
        Rng rng(full["data_seed"].get<uint64_t>());
        std::vector<float> x(size_t(batch) * 784);
        for (float& value : x) value = float(rng.uniform(0, 1));
        std::vector<int32_t> y;
        for (int64_t i = 0; i < batch; ++i) y.push_back(int32_t(rng.below(10)));
        for (size_t step = 0; step < 20; ++step) {
            heap.recycle();
            tensor::Tape tape(heap);
            Pass pass{tape};
            const auto logits = model(pass, tape.input(tensor::tensor_from(heap, {batch, 784}, x, "x"), "x"));
            const auto loss =
                tensor::softmax_cross_entropy(tape, logits, tape.label(tensor::labels_from(heap, y, "y"), "y"), "loss");
            tape.backward(loss);
            const auto& parameters = list.parameters();
            for (size_t i = 0; step == 0 && i < parameters.size(); ++i) {
                double squares = 0;
                for (float g : tape.read_gradient(parameters[i].node)) squares += double(g) * double(g);
                CHECK(close(std::sqrt(squares), full["gradient_norms"][i].get<double>(), 1e-5));
            }
            sgd_step(tape, list.all(), full["learning_rate"]);
            INFO("step " << step);
            CHECK(close(double(tape.read_value(loss.node)[0]), full["losses"][step].get<double>(), 1e-5));
        }
    }
    SECTION("the worked values") {
        const auto& worked = ref["worked"];
        CHECK(close(worked["cross_entropy"]["loss"].get<double>(), 1.2038029822221903, 1e-15));
        tensor::Tape tape(heap);
        const auto logits =
            tape.input(tensor::tensor_from(heap, {2, 3}, floats(worked["cross_entropy"]["logits"]), "x"), "x", true);
        const auto labels = tape.label(tensor::labels_from(heap, std::vector<int32_t>{0, 0}, "y"), "y");
        const auto loss = tensor::softmax_cross_entropy(tape, logits, labels, "loss");
        tape.backward(loss);
        CHECK(close(double(tape.read_value(loss.node)[0]), 1.2038029822221903, 1.3e-6));
        CHECK(all_close(tape.read_gradient(logits.node), worked["cross_entropy"]["gradient"], 1.3e-6, 1e-7));

        tensor::Tape second(heap);
        const auto p = second.input(tensor::tensor_from(heap, {2, 3}, floats(worked["mse"]["prediction"]), "p"), "p", true);
        const auto t = second.input(tensor::tensor_from(heap, {2, 3}, floats(worked["mse"]["target"]), "t"), "t");
        const auto squared = tensor::mse(second, p, t, "mse");
        second.backward(squared);
        CHECK(close(double(second.read_value(squared.node)[0]), worked["mse"]["loss"].get<double>(), 1.3e-6));
        CHECK(all_close(second.read_gradient(p.node), worked["mse"]["gradient"], 1.3e-6, 1e-7));
    }
}

TEST_CASE("impossible options are refused in one sentence") {
    CHECK(fails_with("unknown model 'mpl', did you mean 'mlp'?", [&] { Trainer trainer({.model = "mpl"}); }));
    CHECK(fails_with("did you mean 'digits'?", [&] { Trainer trainer({.data = "digit"}); }));
    CHECK(fails_with("hots", [&] { Trainer trainer({.device = "hots"}); }));
    CHECK(fails_with("a batch of 0 is impossible", [&] { Trainer trainer({.batch = 0}); }));
    CHECK(fails_with("learning rate", [&] { Trainer trainer({.learning_rate = std::nan("")}); }));
}

TEST_CASE("a run can be stopped from outside and by its callback") {
    std::stop_source source;
    Trainer trainer({.batch = 4, .stop = source.get_token()});
    trainer.step();
    source.request_stop();
    CHECK(fails_with("cancelled", [&] { (void)trainer.step(); }));

    int steps = 0, evaluations = 0;
    train({.options = {.batch = 4},
           .steps = 10,
           .on_step = [&](const StepRecord&) { return ++steps < 3; },
           .on_evaluation = [&](const Evaluation& e) { evaluations += e.step == 3; }});
    CHECK(steps == 3);
    CHECK(evaluations == 1);
}

// An mlp of batch 1 whose parameters `change` has changed, and what its first step says.
template <class Change>
static NotFinite first_cause(TrainerOptions options, Change change) {
    options.keep_graph = true;
    options.batch = 1;
    Trainer trainer(options);
    std::vector<float> values = trainer.export_parameters();
    change(values, trainer.parameters());
    trainer.import_parameters(values, 0);
    try {
        (void)trainer.step();
    } catch (const NotFiniteFailure& failure) {
        CHECK(failure.status == ExitStatus::faulted);
        CHECK(std::string(failure.what()).find("step 0: the first value that is not finite is ") != std::string::npos);
        CHECK(trainer.next_step() == 1);
        return *failure.record->not_finite;
    }
    return {};
}

TEST_CASE("a value that is not finite stops training with the op and the layer where it came up") {
    using Infos = std::vector<Trainer::ParameterInfo>;
    const NotFinite forward = first_cause({}, [](std::vector<float>& values, const Infos& infos) {
        values[size_t(infos[3].offset) + 4] = INFINITY;  // fc2.bias
    });
    CHECK(forward.phase == "forward");
    CHECK(forward.op == "add_bias");
    CHECK(forward.name == "fc2 add");
    CHECK(forward.where.rfind("core/nn/layers/layers.cpp:", 0) == 0);
    CHECK(forward.text.find("an infinity in the value of fc2 add (add_bias), element [0, 4]") != std::string::npos);

    // One hidden unit of value 1e-30 whose weights are so large that its gradient is beyond a float, the loss is not.
    const int32_t label = Trainer({.batch = 1}).step().labels.at(0);
    const NotFinite backward = first_cause({}, [label](std::vector<float>& values, const Infos& infos) {
        for (size_t i = 0; i < 784; ++i) values[i] = 0;
        values[size_t(infos[1].offset)] = 1e-30f;
        for (size_t k = 0; k < 10; ++k) values[size_t(infos[2].offset) + k * 128] = int32_t(k) == label ? -3e38f : 3e38f;
    });
    CHECK(backward.phase == "backward");
    CHECK(backward.name == "fc2 matmul");
    CHECK(backward.op == "matmul");
    CHECK(backward.text.find("an infinity in the gradient that fc2 matmul (matmul) passes to relu1, element [0, 0]") !=
          std::string::npos);

    const NotFinite update = first_cause({.learning_rate = 1e39}, [](auto&, const auto&) {});
    CHECK(update.phase == "update");
    CHECK(update.op == "sgd");
    CHECK(update.name == "fc1.weight");
}

TEST_CASE("training goes on over values that are not finite where a warning was asked for") {
    Trainer trainer({.batch = 4, .nan = NanPolicy::warn});
    CHECK(!trainer.step().not_finite);
    std::vector<float> values = trainer.export_parameters();
    values[3] = std::nanf("");
    trainer.import_parameters(values, 1);
    const StepRecord first = trainer.step(), second = trainer.step();
    REQUIRE(first.not_finite);
    CHECK(first.not_finite->name == "fc1 matmul");
    REQUIRE(second.not_finite);
    CHECK(second.not_finite->text == "step 2: the loss is nan");
}

TEST_CASE("the watch finds one bad element of a large parameter that no loss shows") {
    const auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    const tensor::Tape tape(heap);
    for (const size_t bad : {size_t{0}, size_t{70000}, size_t{99999}}) {
        ParameterList list;
        std::vector<float> small(10, 1), large(100000, 1);
        large[bad] = std::nanf("");
        for (const auto& [name, values] : {std::pair("a", small), std::pair("b", large), std::pair("c", small)})
            list.add(Parameter{
                name, tensor::tensor_from(heap, {int64_t(values.size())}, values, name, tensor::Purpose::parameter)});
        FiniteWatch watch;
        int looks = 0;
        std::optional<NotFinite> found;
        while (!found && looks < 14) found = watch.look({heap, tape, list, "adamw", looks++, 1.0});
        REQUIRE(found);
        CHECK(found->name == "b");
        CHECK(looks == 1 + int(bad / 8192));
    }
}

TEST_CASE("parts of a batch add up to the gradient of the whole batch, parts of unequal size too", "[long]") {
    for (const std::string model : {"linear_regression", "mlp", "lenet5", "lstm", "autoencoder", "gan", "llama"}) {
        INFO(model);
        TrainerOptions options{.model = model, .batch = 7, .learning_rate = 0.05, .dtype = DType::f64};
        options.clip_norm = 0;
        options.optimizer = "sgd";  // Adam's first steps have the size of the rate however small a gradient is
        Trainer whole(options);
        options.accumulate = 3;  // 2, 2 and 3 examples
        options.prefetch = true;
        Trainer parts(options);
        for (int i = 0; i < 2; ++i) {
            const StepRecord a = whole.step(), b = parts.step();
            CHECK(close(b.loss, a.loss, 1e-10));
            CHECK(a.labels == b.labels);
            CHECK(a.predictions == b.predictions);
            CHECK(close(a.train_accuracy, b.train_accuracy, 1e-12));
        }
        const auto a = whole.export_parameters(), b = parts.export_parameters();
        double apart = 0;
        for (size_t i = 0; i < a.size(); ++i) apart = std::max(apart, std::abs(double(a[i]) - double(b[i])));
        CHECK(apart < 1e-6);  // exported in f32
    }
    const auto most_bytes = [](int64_t parts) {
        Trainer trainer({.model = "lenet5", .accumulate = parts});
        trainer.step();
        const auto bytes = trainer.step().live_bytes;
        return *std::max_element(bytes.begin(), bytes.end());
    };
    CHECK(most_bytes(8) < most_bytes(1) / 3);
    CHECK(fails_with("a batch of 4 does not go through in 5 parts", [] { Trainer t({.batch = 4, .accumulate = 5}); }));
    CHECK(fails_with("policy takes no batches", [] { Trainer t({.model = "policy", .accumulate = 2}); }));
}

// y = w x + b, x uniform in -1 .. 1, so E x^2 = 1/3 and E x^4 = 1/5. With a and c the errors of w and b, an example's
// gradient is 2 (a x + c - noise) (x, 1); its mean and the trace of its covariance follow.
TEST_CASE("the gradient noise scale of a line is what its moments say") {
    Trainer trainer({.model = "linear_regression",
                     .batch = 64,
                     .learning_rate = 0,
                     .accumulate = 8,
                     .noise_scale = true,
                     .seed = 4,
                     .dtype = DType::f64,
                     .keep_launches = false});
    const LineSet data = line(4);
    const auto start = trainer.export_parameters();
    const double a = double(start[0]) - double(data.w[0]), c = double(start[1]) - double(data.b);
    const double gradient_square = 4 * (a * a / 9 + c * c);
    const double second_moment =
        4 * (a * a * (1.0 / 5 + 1.0 / 3) + c * c * (1.0 / 3 + 1) + data.noise * data.noise * (1.0 / 3 + 1));
    const double noise = second_moment - gradient_square;
    double mean_square = 0, mean_noise = 0;
    NoiseScale last;
    constexpr int steps = 3000;
    for (int i = 0; i < steps; ++i) {
        last = trainer.step().noise_scale.value();
        mean_square += last.step_gradient_square / steps;
        mean_noise += last.step_noise / steps;
    }
    CHECK(trainer.export_parameters() == start);
    INFO("|G|^2 " << mean_square << " of " << gradient_square << ", S " << mean_noise << " of " << noise);
    CHECK(close(mean_square, gradient_square, 0.03));
    CHECK(close(mean_noise, noise, 0.03));
    CHECK(close(last.simple, noise / gradient_square, 0.3));
    CHECK(close(last.small_batch, 8, 1e-12));
    CHECK(last.big_batch == 64);
}

TEST_CASE("the learning rate scales with the batch and warms up over the steps that were asked for") {
    const auto rates = [](TrainerOptions options) {
        options.batch = 1024;  // four times the model's own
        options.model = "linear_regression";
        options.learning_rate = 0.01;
        Trainer trainer(options);
        std::vector<double> all;
        for (int i = 0; i < 6; ++i) all.push_back(trainer.step().learning_rate);
        return all;
    };
    const double base = double(model_named("linear_regression").batch);
    CHECK(close(rates({.scale_rate = "linear"})[0], 0.01 * 1024 / base, 1e-12));
    CHECK(close(rates({.scale_rate = "sqrt"})[0], 0.01 * std::sqrt(1024 / base), 1e-12));
    const auto warm = rates({.warm_up = 4});
    for (size_t i = 0; i < 6; ++i) CHECK(close(warm[i], 0.01 * double(std::min<size_t>(i + 1, 4)) / 4, 1e-12));
    const auto past = rates({.schedule = "cosine", .planned_steps = 3});
    CHECK(close(past[3], 0.001, 1e-12));  // stays where the plan ends
    CHECK(close(past[5], 0.001, 1e-12));
    CHECK(fails_with("unknown scaling", [&] { (void)rates({.scale_rate = "cubic"}); }));
}

}  // namespace nn_trainer_test
