// The execution modes of a Trainer: the same bits, fewer launches to dispatch, planned memory; what cannot be a graph.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/tensor/ops.h"
#include "tests/allocation_counter.h"
#include "tests/catch.h"

namespace nn_execution_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
TrainerOptions options_of(const std::string& model) {
    const ModelRow& row = model_named(model);
    TrainerOptions options;
    options.model = model;
    options.batch = std::min<int64_t>(row.batch, 8);
    options.learning_rate = row.learning_rate;
    options.keep_images = false;
    return options;
}

Trainer in_mode(TrainerOptions options, Mode mode) {
    options.mode = mode;
    return Trainer(std::move(options));
}

// Steps in modes direct and `mode`, each compared bit by bit: loss, predictions, every parameter.
int64_t compare(const TrainerOptions& options, Mode mode, int64_t steps) {
    Trainer direct = in_mode(options, Mode::direct), other = in_mode(options, mode);
    int64_t replayed = 0;
    for (int64_t i = 0; i < steps; ++i) {
        const StepRecord a = direct.step(), b = other.step();
        INFO(options.model << " in mode " << name_of(mode) << ", step " << i);
        CHECK(a.loss == b.loss);
        CHECK(a.loss > 0);
        CHECK(a.learning_rate == b.learning_rate);
        CHECK(a.predictions == b.predictions);
        CHECK(direct.export_parameters() == other.export_parameters());
        if (mode == Mode::fused && b.replayed)
            CHECK(b.launches.size() < a.launches.size());
        else if (mode == Mode::graph && b.replayed)  // launches that need nothing of each other are one
            CHECK(b.launches.size() <= a.launches.size());
        else
            CHECK(a.launches.size() == b.launches.size());
        replayed += b.replayed;
    }
    return replayed;
}

// The sentence that a step throws.
std::string refusal(const std::string& model) {
    Trainer trainer = in_mode(options_of(model), Mode::graph);
    try {
        for (int i = 0; i < 3; ++i) trainer.step();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "";
}
}  // namespace

TEST_CASE("dropout, a schedule and Adam's count of steps go on in a replayed graph: 20 steps, bit for bit") {
    TrainerOptions options = options_of("gcn");  // dropout 0.5, Adam
    options.schedule = "warm_up_cosine";
    options.planned_steps = 20;
    options.clip_norm = 1;
    CHECK(compare(options, Mode::graph, 20) == 18);
    CHECK(compare(options, Mode::eager, 20) == 0);
}

TEST_CASE("plain SGD's rate, which its kernel takes as an argument, follows the schedule in a replayed graph") {
    TrainerOptions options = options_of("mlp");
    options.schedule = "cosine";
    options.planned_steps = 12;
    CHECK(compare(options, Mode::graph, 12) >= 6);  // a label larger than those before takes an eager step
    CHECK(compare(options, Mode::eager, 4) == 0);
}

TEST_CASE("every model that can be captured has the same bits in every mode") {
    for (const char* model : {"linear_regression", "lenet5", "resnet8", "autoencoder", "gan", "rnn"}) {
        CHECK(compare(options_of(model), Mode::graph, 6) >= 2);
        CHECK(compare(options_of(model), Mode::eager, 2) == 0);
    }
    for (const char* model : {"lstm", "gpt", "llama"}) {
        TrainerOptions options = options_of(model);
        options.batch = 2;
        CHECK(compare(options, Mode::graph, 6) >= 1);
    }
}

TEST_CASE("fused launches have the same bits, and there are fewer of them, which move fewer bytes", "[long]") {
    for (const char* model : {"mlp", "lenet5", "gpt", "llama", "gcn", "autoencoder"}) {
        TrainerOptions options = options_of(model);
        options.batch = std::min<int64_t>(options.batch, 4);
        CHECK(compare(options, Mode::fused, 8) > 0);
        Trainer graph = in_mode(options, Mode::graph), fused = in_mode(options, Mode::fused);
        StepRecord a, b;
        for (int i = 0; i < 8 && !(a.replayed && b.replayed); ++i) a = graph.step(), b = fused.step();
        INFO(model << ": " << a.launches.size() << " launches and " << a.traffic << " bytes, fused " << b.launches.size()
                   << " and " << b.traffic);
        CHECK(b.replayed);
        CHECK(b.traffic < a.traffic);
        CHECK(b.launches.size() < a.launches.size());
    }
}

TEST_CASE("launches and bytes fall from eager to graph to fused, with the same loss") {
    struct Least {
        const char* model;
        size_t updates;  // parameters: as many launches of the update become one
    };
    for (const Least& it : {Least{"mlp", 4}, Least{"lenet5", 10}, Least{"gpt", 68}, Least{"llama", 39}}) {
        TrainerOptions options = options_of(it.model);
        options.batch = 2;
        StepRecord eager, graph, fused;
        Trainer a = in_mode(options, Mode::eager), b = in_mode(options, Mode::graph), c = in_mode(options, Mode::fused);
        for (int i = 0; i < 12 && !(graph.replayed && fused.replayed); ++i) a.step(eager), b.step(graph), c.step(fused);
        INFO(it.model << ": launches " << eager.launches.size() << ", " << graph.launches.size() << ", "
                      << fused.launches.size() << ", bytes " << eager.traffic << ", " << graph.traffic << ", "
                      << fused.traffic);
        CHECK(graph.replayed);
        CHECK(fused.replayed);
        CHECK(eager.loss == graph.loss);
        CHECK(eager.loss == fused.loss);
        CHECK(graph.launches.size() + it.updates - 1 <= eager.launches.size());
        CHECK(fused.launches.size() < graph.launches.size());
    }
}

TEST_CASE("a step on the modelled V100 takes less time from eager to graph to fused", "[long]") {
    TrainerOptions options = options_of("mlp");
    options.device = "sim:v100";
    options.batch = 16;
    options.keep_launches = true;
    std::vector<double> time;  // microseconds, of a step in its steady state
    for (const Mode mode : {Mode::eager, Mode::graph, Mode::fused}) {
        Trainer trainer = in_mode(options, mode);
        StepRecord step;
        for (int i = 0; i < 6 && !(i >= 2 && (mode == Mode::eager || step.replayed)); ++i) trainer.step(step);
        REQUIRE((mode == Mode::eager || step.replayed));
        REQUIRE(!step.launches.empty());
        time.push_back(step.launches.back().end_us - step.launches.front().enqueue_begin_us);
    }
    INFO("eager " << time[0] << ", graph " << time[1] << ", fused " << time[2] << " us");
    CHECK(time[1] < time[0]);
    CHECK(time[2] < time[1]);
}

TEST_CASE("bytes fall from eager to graph to fused in every model that can be captured", "[long]") {
    for (const ModelRow& row : models()) {
        if (row.name == "policy" || row.name == "kmeans" || row.name == "mlp512") continue;  // refused; mlp made larger
        TrainerOptions options = options_of(std::string(row.name));
        options.batch = std::min<int64_t>(options.batch, 4);
        INFO(row.name);
        StepRecord eager, graph, fused;
        Trainer a = in_mode(options, Mode::eager), b = in_mode(options, Mode::graph), c = in_mode(options, Mode::fused);
        for (int i = 0; i < 12 && !(graph.replayed && fused.replayed); ++i) a.step(eager), b.step(graph), c.step(fused);
        INFO("launches " << eager.launches.size() << ", " << graph.launches.size() << ", " << fused.launches.size()
                         << ", bytes " << eager.traffic << ", " << graph.traffic << ", " << fused.traffic);
        CHECK(fused.replayed);
        CHECK(graph.traffic < eager.traffic);
        CHECK(fused.traffic < graph.traffic);
        CHECK(graph.launches.size() < eager.launches.size());
        CHECK(fused.launches.size() < graph.launches.size());
    }
}

TEST_CASE("a replayed step on the host allocates nothing, its record included") {
    for (const char* model : {"mlp", "lenet5", "gpt", "llama"})
        for (const Mode mode : {Mode::graph, Mode::fused}) {
            if (sanitized && std::string_view(model) != "lenet5") continue;  // the allocations are theirs
            TrainerOptions options = options_of(model);
            options.batch = 2;
            options.keep_images = true;
            options.mode = mode;
            Trainer trainer(options);
            StepRecord record;
            int replays = 0;
            for (int i = 0; i < 24 && replays < 4; ++i) {  // a label larger than all before takes an eager step
                trainer.step(record);
                replays += record.replayed;
            }
            int64_t least = 1 << 20;
            double loss = 0;
            for (int i = 0; i < 6; ++i) {
                const int64_t before = allocations;
                trainer.step(record);
                if (record.replayed) least = std::min<int64_t>(least, allocations - before), loss += record.loss;
            }
            INFO(model << " in mode " << name_of(mode));
            CHECK(least == 0);
            CHECK(loss > 0);
            CHECK(!record.launches.empty());
            const int64_t before = allocations;
            Trainer(options).step();
            CHECK(allocations - before > 10);  // the counter counts
        }
}

TEST_CASE("a record used again says what a new one says") {
    TrainerOptions options = options_of("lenet5");
    Trainer fresh(options), again(options);
    StepRecord record;
    record.launches.resize(500);
    record.predictions.resize(99);
    for (int i = 0; i < 3; ++i) {
        const StepRecord wanted = fresh.step();
        again.step(record);
        CHECK(record.step == wanted.step);
        CHECK(record.loss == wanted.loss);
        CHECK(record.train_accuracy == wanted.train_accuracy);
        CHECK(record.labels == wanted.labels);
        CHECK(record.predictions == wanted.predictions);
        CHECK(record.confidence == wanted.confidence);
        CHECK(record.live_bytes == wanted.live_bytes);
        REQUIRE(record.launches.size() == wanted.launches.size());
        for (size_t k = 0; k < wanted.launches.size(); ++k) {
            CHECK(record.launches[k].kernel == wanted.launches[k].kernel);
            CHECK(record.launches[k].label == wanted.launches[k].label);
            CHECK(record.launches[k].index == wanted.launches[k].index);
        }
    }
}

TEST_CASE("the modelled GPU trains by generated kernels with the same bits") {
    TrainerOptions options = options_of("mlp");
    options.device = "sim:v100";
    options.functional = true;
    options.batch = 2;
    CHECK(compare(options, Mode::fused, 10) > 0);
}

TEST_CASE("a replayed graph takes doubles, halves with a loss scale, and every optimiser") {
    TrainerOptions options = options_of("mlp");
    options.dtype = DType::f64;
    CHECK(compare(options, Mode::graph, 8) >= 2);
    options.dtype = DType::f16;
    options.scale_interval = 2;
    CHECK(compare(options, Mode::graph, 8) >= 2);
    options.dtype = DType::f32;
    for (const char* optimizer : {"sgd", "adam", "adamw", "lars", "larc", "novograd"}) {
        options.optimizer = optimizer;
        options.momentum = 0.9;
        options.clip_norm = 0.5;
        options.schedule = "warm_up";
        options.planned_steps = 60;
        CHECK(compare(options, Mode::graph, 8) >= 2);
    }
}

TEST_CASE("the modelled GPU replays a graph with the same bits, and its host spends less time on launches") {
    TrainerOptions options = options_of("mlp");
    options.device = "sim:teaching:2";
    options.batch = 2;
    options.functional = true;
    CHECK(compare(options, Mode::graph, 6) >= 1);
    Trainer direct = in_mode(options, Mode::direct), graph = in_mode(options, Mode::graph);
    StepRecord a, b;
    for (int i = 0; i < 12 && !b.replayed; ++i) a = direct.step(), b = graph.step();
    const auto host_us = [](const StepRecord& record) {
        double sum = 0;
        for (const device::LaunchEvent& event : record.launches) sum += event.enqueue_end_us - event.enqueue_begin_us;
        return sum;
    };
    CHECK(b.replayed);
    CHECK(host_us(b) < 0.5 * host_us(a));
}

TEST_CASE("a step whose course depends on values is refused, and the sentence says which value") {
    CHECK(
        refusal("policy") ==
        "this step cannot be captured as a graph: log policy is read on the host in the middle of the step, and what comes "
        "after may depend on its values");
    CHECK_THAT(refusal("kmeans"), Catch::Contains("this step cannot be captured as a graph: "));
    CHECK(refusal("mlp") == "");
}

TEST_CASE("a replayed step needs less memory than an eager one, and exactly what its plan says") {
    for (const char* model : {"mlp", "lenet5"}) {
        Trainer direct = in_mode(options_of(model), Mode::direct), graph = in_mode(options_of(model), Mode::graph);
        StepRecord a, b;
        for (int i = 0; i < 20 && !b.replayed; ++i) a = direct.step(), b = graph.step();
        INFO(model << ": " << a.peak_bytes << " eager, " << b.peak_bytes << " graph");
        CHECK(b.planned_bytes == b.peak_bytes);
        CHECK(b.peak_bytes > 0);
        CHECK(b.device_bytes < a.device_bytes);
        CHECK(b.traffic > 0);
        CHECK(a.planned_bytes == -1);
    }
}

TEST_CASE("parameters put in from outside and a rate set by hand are those of the next replayed step") {
    Trainer direct = in_mode(options_of("mlp"), Mode::direct), graph = in_mode(options_of("mlp"), Mode::graph);
    const std::vector<float> begin = direct.export_parameters();
    for (int i = 0; i < 4; ++i) direct.step(), graph.step();
    for (Trainer* trainer : {&direct, &graph}) {
        trainer->import_parameters(begin, 1);
        trainer->set_learning_rate(0.03);
    }
    CHECK(direct.step().loss == graph.step().loss);
    CHECK(direct.export_parameters() == graph.export_parameters());
}

TEST_CASE("a smaller batch is a second graph beside the first") {
    auto host = device::open_device("host").value();
    tensor::Heap heap(*host);
    Execution execution(Mode::graph, heap);
    tensor::Tape tape(heap);
    const std::vector<double> start = {0.5, -0.25};
    const tensor::Tensor w = tensor::tensor_from(heap, {1, 2}, start, "w", tensor::Purpose::parameter, DType::f32);
    std::string how;
    double expected = 0;
    const std::vector<float> all = {1, 2, 3, 4, 5, 6, 7, 8};
    for (const size_t rows : {4, 4, 4, 3, 3, 3, 4, 3}) {
        tape.clear();
        heap.recycle();
        const graph::StepInputs inputs{.sources = {{all.data(), 2 * rows, DType::f32}}};
        expected = 0;
        for (size_t i = 0; i < rows; ++i) expected += 0.5 * double(all[2 * i]) - 0.25 * double(all[2 * i + 1]);
        double sum = 0;
        if (graph::Executor* executor = execution.ready(inputs)) {
            executor->replay(inputs);
            sum = executor->scalar(0);
            how += 'r';
        } else {
            execution.begin(tape, inputs);
            const auto x =
                tape.input(tensor::tensor_from(heap, {int64_t(rows), 2}, std::span(all).first(2 * rows), "x"), "x");
            const auto total = tensor::sum(tape, tensor::matmul(tape, x, tape.parameter(w, "w"), "product", true), "sum");
            sum = tape.values(total.node)[0];
            execution.end(total.node, -1);
            how += 'e';
        }
        CHECK(sum == expected);
    }
    CHECK(how == "eereerrr");
}

TEST_CASE("mode names are known, and what keeps values is no graph") {
    CHECK(mode_named("fused") == Mode::fused);
    CHECK_THROWS_AS(mode_named("lazy"), Failure);
    TrainerOptions options = options_of("mlp");
    options.keep_graph = true;
    CHECK_THROWS_AS(in_mode(options, Mode::graph), Failure);
}

}  // namespace nn_execution_test
