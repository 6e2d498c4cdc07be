// Data parallelism and ZeRO against the serial run: losses, weights, bytes and memory.
#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/parallel/trainer.h"
#include "core/parallel/zero.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::parallel;

namespace {
// 16-32-32-8, every extent a multiple of eight, so that no bucket is padded.
ModelShape small_perceptron() {
    ModelShape shape;
    shape.name = "mlp";
    shape.kind = ModelShape::Kind::perceptron;
    shape.widths = {16, 32, 32, 8};
    return shape;
}
constexpr int64_t small_parameters = 16 * 32 + 32 + 32 * 32 + 32 + 32 * 8 + 8;

void small_examples(uint64_t step, nn::Batch& batch) {
    const auto count = static_cast<size_t>(batch.count);
    batch.values.resize(count * 16);
    batch.labels.resize(count);
    for (size_t i = 0; i < count; ++i) {
        Rng rng(1000 * step + static_cast<uint64_t>(batch.first) + i);
        for (size_t j = 0; j < 16; ++j) batch.values[i * 16 + j] = static_cast<float>(rng.uniform(-1, 1));
        batch.labels[i] = static_cast<int32_t>(rng.next() % 8);
    }
}

ParallelOptions small_options(const ParallelPlan& plan, DType dtype = DType::f64, const std::string& optimizer = "adamw") {
    ParallelOptions options;
    options.training.model = "mlp";
    options.training.batch = 24;
    options.training.learning_rate = 0.01;
    options.training.optimizer = optimizer;
    options.training.dtype = dtype;
    options.plan = plan;
    options.shape = small_perceptron();
    options.examples = small_examples;
    return options;
}

struct Ran {
    std::vector<double> losses;
    std::map<std::string, std::vector<double>> weights;
    ParallelStepRecord last;
};
Ran run_steps(const ParallelOptions& options, int steps = 5) {
    ParallelTrainer trainer(options);
    Ran ran;
    for (int i = 0; i < steps; ++i) {
        ran.last = trainer.step();
        ran.losses.push_back(ran.last.loss);
    }
    for (const nn::NamedArray& row : trainer.parameters()) {
        std::vector<double>& values = ran.weights[row.name];
        for (size_t i = 0; i < row.array.count(); ++i)
            values.push_back(row.array.dtype == DType::f64 ? row.array.as<double>()[i] : double(row.array.as<float>()[i]));
    }
    return ran;
}

double worst_difference(const Ran& a, const Ran& b) {
    double worst = 0;
    const auto compare = [&](double x, double y) {
        const double off = std::abs(x - y) / std::max(1e-3, std::abs(y));
        worst = off <= worst ? worst : off;  // a NaN is the worst
    };
    REQUIRE(a.losses.size() == b.losses.size());
    for (size_t i = 0; i < a.losses.size(); ++i) compare(a.losses[i], b.losses[i]);
    REQUIRE(a.weights.size() == b.weights.size());
    for (const auto& [name, values] : b.weights) {
        REQUIRE(a.weights.at(name).size() == values.size());
        for (size_t i = 0; i < values.size(); ++i) compare(a.weights.at(name)[i], values[i]);
    }
    return worst;
}

int64_t sent_for(const RankStep& rank, std::string_view purpose) {
    int64_t bytes = 0;
    for (const Traffic& row : rank.sent)
        if (row.purpose == purpose) bytes += row.bytes;
    return bytes;
}
std::string why_not(const ParallelOptions& options) {
    try {
        ParallelTrainer trainer(options);
        trainer.step();
        trainer.step();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "it ran";
}
}  // namespace

TEST_CASE("with a plan of 1s a run is nn::Trainer's, bit for bit") {
    for (const char* model : {"mlp", "lenet5"}) {
        ParallelOptions options;
        options.training.model = model;
        options.training.batch = 16;
        options.training.prefetch = false;
        nn::Trainer serial(options.training);
        ParallelTrainer parallel(options);
        for (int i = 0; i < 3; ++i) CHECK(parallel.step().loss == serial.step().loss);
        const std::vector<float> expected = serial.export_parameters();
        const nn::NamedArrays whole = parallel.parameters();
        for (const nn::Trainer::ParameterInfo& info : serial.parameters()) {
            const Array* array = nn::find(whole, info.name);
            REQUIRE(array);
            CHECK(std::vector<float>(array->as<float>(), array->as<float>() + array->count()) ==
                  std::vector<float>(expected.begin() + info.offset,
                                     expected.begin() + info.offset + static_cast<int64_t>(array->count())));
        }
        CHECK(parallel.evaluate(64).loss == serial.evaluate(64).loss);
    }
}

TEST_CASE("data parallelism and every ZeRO stage take the serial run's steps, with every all-reduce") {
    const Ran serial = run_steps(small_options({}));
    for (const int dp : {2, 3, 4})
        for (const int zero : {0, 1, 2, 3})
            for (const int microbatches : {1, 2}) {
                ParallelPlan plan{.dp = dp, .zero = zero, .microbatches = microbatches, .bucket_bytes = 4096};
                CHECK(worst_difference(run_steps(small_options(plan)), serial) < 1e-10);
            }
    for (const char* algorithm : {"halving_doubling"})
        CHECK(worst_difference(run_steps(small_options({.dp = 4, .all_reduce = algorithm})), serial) < 1e-10);
    auto clipped = small_options({});
    clipped.training.clip_norm = 0.1;
    const Ran serial_clipped = run_steps(clipped);
    for (const int zero : {0, 1, 2, 3}) {
        clipped.plan = {.dp = 4, .zero = zero};
        CHECK(worst_difference(run_steps(clipped), serial_clipped) < 1e-10);
    }
    auto half = small_options({}, DType::f32);  // f32: sums in another order
    const Ran serial_f32 = run_steps(half);
    half.plan = {.dp = 4, .zero = 3};
    CHECK(worst_difference(run_steps(half), serial_f32) < 1e-4);
}

TEST_CASE("ZeRO's bits are those of plain data parallelism on two workers") {
    const Ran plain = run_steps(small_options({.dp = 2}, DType::f32));
    for (const int zero : {1, 2, 3})
        CHECK(worst_difference(run_steps(small_options({.dp = 2, .zero = zero}, DType::f32)), plain) == 0);
}

TEST_CASE("bytes a rank keeps and sends are ZeRO's formulas") {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
        for (const int zero : {0, 1, 2, 3}) {
            const int n = 4;
            ParallelOptions options = small_options({.dp = n, .zero = zero, .bucket_bytes = 8192}, dtype);
            const Ran ran = run_steps(options, 2);
            const ModelState expected = zero_bytes(zero, n, dtype);
            double sent = 0;
            for (const RankStep& rank : ran.last.ranks) {
                CHECK(double(rank.kept[0]) == expected.weights * small_parameters);
                CHECK(double(rank.kept[1]) == expected.gradients * small_parameters);
                CHECK(double(rank.kept[2]) == expected.optimizer * small_parameters);
                CHECK(sum_of(rank.peak) >= sum_of(rank.kept));
                sent += double(sent_for(rank, "gradients") + sent_for(rank, "parameters"));
            }
            CHECK(sent == n * zero_traffic(zero, n) * small_parameters * double(size_of(dtype)));
        }
    // The paper's table: 7.5 billion parameters on 64.
    CHECK(std::abs(zero_bytes(0, 64, DType::f16).sum() * 7.5 - 120) < 0.05);
    CHECK(std::abs(zero_bytes(1, 64, DType::f16).sum() * 7.5 - 31.4) < 0.05);
    CHECK(std::abs(zero_bytes(2, 64, DType::f16).sum() * 7.5 - 16.6) < 0.05);
    CHECK(std::abs(zero_bytes(3, 64, DType::f16).sum() * 7.5 - 1.88) < 0.005);
}

TEST_CASE("an offloaded optimiser lives in the host's memory and gives the same steps") {
    const Ran serial = run_steps(small_options({}));
    for (const int zero : {0, 1, 3}) {
        const Ran ran = run_steps(small_options({.dp = 2, .zero = zero, .offload = true}));
        CHECK(worst_difference(ran, serial) < 1e-10);
        const int64_t own = zero == 0 ? small_parameters : small_parameters / 2;
        for (const RankStep& rank : ran.last.ranks) {
            CHECK(rank.kept[2] == 0);
            CHECK(rank.host_bytes >= 3 * 8 * own);    // weights and two moments
            CHECK(rank.copied_bytes == 2 * 8 * own);  // gradients there, weights back
        }
    }
}

TEST_CASE("gradients travel while backward goes on") {
    ParallelOptions options = small_options({.dp = 4, .bucket_bytes = 1024}, DType::f32);
    options.link = {1, 5000};
    const ParallelStepRecord overlapped = run_steps(options, 2).last;
    options.plan.bucket_bytes = 0;
    const ParallelStepRecord after = run_steps(options, 2).last;
    bool beside = false;
    for (const RankSpan& communication : overlapped.ranks[0].spans)
        for (const RankSpan& compute : overlapped.ranks[0].spans)
            beside = beside || (communication.stream == gradient_stream && compute.stream == compute_stream &&
                                compute.label == "backward" && communication.begin_us < compute.end_us &&
                                compute.begin_us < communication.end_us);
    CHECK(beside);
    for (const RankSpan& communication : after.ranks[0].spans)
        for (const RankSpan& compute : after.ranks[0].spans)
            if (communication.stream == gradient_stream && compute.label == "backward")
                CHECK(communication.begin_us >= compute.end_us);
    // The same times again, whatever the threads do.
    const ParallelStepRecord again = run_steps(options, 2).last;
    CHECK(again.end_us == after.end_us);
    CHECK(again.ranks[3].sent == after.ranks[3].sent);
}

TEST_CASE("workers with unequal numbers of batches end in a dead-lock that names who waits for whom") {
    ParallelOptions options = small_options({.dp = 3});
    options.batches_of_worker = {1, 2, 2};
    const std::string why = why_not(options);
    CHECK(why.find("waits for rank 0, which has finished") != std::string::npos);
}

TEST_CASE("a plan that cannot be is refused in one sentence that says what would work") {
    CHECK(why_not(small_options({.dp = 5})).find("24") != std::string::npos);
    CHECK(why_not(small_options({.dp = 2, .zero = 1, .compression = Compression::fp16})) ==
          "compressed gradients are all-reduced whole: --compression works with --zero 0");
    CHECK(why_not(small_options({.dp = 2, .zero = 1}, DType::f64, "lars")).find("whole layers") != std::string::npos);
}

TEST_CASE("a run goes on from a whole checkpoint with another plan and number of ranks") {
    ParallelTrainer serial(small_options({}));
    ParallelTrainer first(small_options({.dp = 4, .zero = 3}));
    for (int i = 0; i < 3; ++i) CHECK(std::abs(first.step().loss / serial.step().loss - 1) < 1e-10);
    const nn::Checkpoint whole = first.checkpoint();
    CHECK(whole.step == 3);
    for (const ParallelPlan& plan :
         {ParallelPlan{.dp = 2, .zero = 1}, ParallelPlan{.tp = 2}, ParallelPlan{.dp = 3, .tp = 2, .zero = 2},
          ParallelPlan{.dp = 2, .zero = 3, .offload = true}}) {
        ParallelTrainer again(small_options(plan));
        again.restore(whole);
        ParallelTrainer expected(small_options({}));
        expected.restore(serial.checkpoint());
        for (int i = 0; i < 2; ++i) {
            const double loss = expected.step().loss;
            CHECK(std::abs(again.step().loss / loss - 1) < 1e-10);
        }
    }
}

TEST_CASE("compressed gradients: all of them is no compression, less of them still learns and sends less") {
    const Ran plain = run_steps(small_options({.dp = 2}));
    CHECK(worst_difference(run_steps(small_options({.dp = 2, .compression = Compression::top_k, .keep = 1})), plain) <
          1e-10);
    CHECK(worst_difference(run_steps(small_options({.dp = 2, .compression = Compression::fp16})), plain) < 0.5);
    const int64_t whole = sent_for(plain.last.ranks[0], "gradients");
    for (const Compression compression : {Compression::fp16, Compression::top_k, Compression::power_sgd}) {
        const Ran less = run_steps(small_options({.dp = 2, .compression = compression, .keep = 0.05, .rank = 2}), 20);
        CHECK(less.losses.back() > 0);
        CHECK(sent_for(less.last.ranks[0], "gradients") < whole / 2);
    }
    // 8 k (N - 1) bytes with f32.
    const Ran pairs =
        run_steps(small_options({.dp = 4, .compression = Compression::top_k, .keep = 0.1}, DType::f32, "sgd"), 1);
    const auto k = static_cast<int64_t>(std::llround(0.1 * double(small_parameters)));
    CHECK(sent_for(pairs.last.ranks[2], "gradients") == 8 * k * 3);
}
