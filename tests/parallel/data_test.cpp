// Data parallelism and ZeRO against the serial run: losses, weights, bytes and memory.
#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/parallel/train/compression.h"
#include "core/parallel/train/data_parallel.h"
#include "core/parallel/train/trainer.h"
#include "core/parallel/train/zero.h"
#include "tests/parallel/support.h"

namespace parallel_data_test {

using namespace parallel_test;

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
    for (const char* algorithm : {"tree", "halving_doubling", "parameter_server"})
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

TEST_CASE("in a pipeline ZeRO-2 and 3 send a run's gradients once, and ZeRO-1 the step's") {
    const int n = 2;
    for (const auto& [schedule, chunks, reductions] : {std::tuple{"1f1b", 1, 4}, {"interleaved", 2, 2}, {"zb-h1", 1, 4}})
        for (const int zero : {0, 1, 2, 3}) {
            INFO(schedule << " zero " << zero);
            ParallelOptions options = small_options({.dp = n,
                                                     .pp = 2,
                                                     .zero = zero,
                                                     .schedule = schedule,
                                                     .chunks = chunks,
                                                     .microbatches = 4,
                                                     .bucket_bytes = 1 << 20});
            options.shape->widths = {16, 32, 32, 32, 8};  // a layer for each of four stages
            const ParallelStepRecord last = run_steps(options, 2).last;
            double gradients = 0;
            for (const RankStep& rank : last.ranks) {
                gradients += double(sent_for(rank, "gradients"));
                if (zero >= 2) CHECK(rank.kept[1] * n == rank.kept[0] * (zero == 3 ? n : 1));
            }
            const double parameters = small_parameters + 32 * 32 + 32;
            const double each = n * double(n - 1) / n * parameters * 8;  // of all ranks: half an all-reduce
            CHECK(gradients == each * (zero == 0 ? 2 : zero == 1 ? 1 : reductions));
        }
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
    CHECK(why_not(small_options({.dp = 2, .sync_batch_norm = true})) ==
          "--sync-batch-norm works on batch norm, and mlp has none: resnet8 has");
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

namespace {
// Plain SGD on one rank, without ZeRO or buckets: every worker's gradient by itself, its share of the batch's mean, given to
// `joined`, which says what the workers' exchange makes of them.
using Gradients = std::map<std::string, std::vector<double>>;
using Exchange = std::function<Gradients(const std::vector<Gradients>& of_worker)>;

std::map<std::string, std::vector<double>> compressed_serially(int workers, int steps, double rate, const Exchange& joined) {
    std::map<std::string, std::vector<double>> weights;
    check_no_problem(run_ranks({}, [&](Rank& rank) {
        const auto model = own_stage(rank, small_perceptron(), 1, DType::f64);
        for (int step = 0; step < steps; ++step) {
            std::vector<Gradients> of_worker;
            for (int worker = 0; worker < workers; ++worker) {
                nn::Batch batch;
                batch.count = 24 / workers, batch.first = worker * batch.count;
                small_examples(uint64_t(step), batch);
                const std::vector<double> values(batch.values.begin(), batch.values.end());
                const MicroBatch part{tensor::tensor_from(rank.heap, {batch.count, 16}, values, "x"),
                                      tensor::labels_from(rank.heap, batch.labels, "labels"), batch.count};
                of_worker.push_back(step_of(rank, *model, part).gradients);
                for (auto& [name, gradient] : of_worker.back())
                    for (double& value : gradient) value /= workers;
            }
            const Gradients sum = joined(of_worker);
            for (nn::Parameter& parameter : model->list.parameters()) {
                std::vector<double> value = tensor::values_of(rank.heap, parameter.value);
                for (size_t i = 0; i < value.size(); ++i) value[i] -= rate * sum.at(parameter.name)[i];
                tensor::write_values(rank.heap, parameter.value, value, "w");
            }
        }
        for (const nn::Parameter& parameter : model->list.parameters())
            weights[parameter.name] = tensor::values_of(rank.heap, parameter.value);
    }));
    return weights;
}

// As a bucket lies in memory: the last parameter first.
const std::vector<std::string> bucket_order = {"fc3.bias", "fc3.weight", "fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight"};

void check_weights(const Ran& ran, const std::map<std::string, std::vector<double>>& expected) {
    REQUIRE(ran.weights.size() == expected.size());
    for (const auto& [name, values] : expected) {
        INFO(name);
        CHECK(apart(ran.weights.at(name), values) < 1e-10);
    }
}
ParallelOptions compressed(const ParallelPlan& plan, DType dtype = DType::f64) {
    ParallelOptions options = small_options(plan, dtype, "sgd");
    options.training.momentum = 0, options.training.learning_rate = 0.5, options.training.schedule = "constant";
    options.training.clip_norm = 0;
    return options;
}
}  // namespace

TEST_CASE("gradients rounded to half precision are a serial program's that rounds them the same") {
    const auto half = [](double value) { return double(f16_to_f32(f32_to_f16(float(value)))); };
    const auto expected = compressed_serially(2, 5, 0.5, [&](const std::vector<Gradients>& of_worker) {
        Gradients sum = of_worker[0];
        for (auto& [name, values] : sum)
            for (size_t i = 0; i < values.size(); ++i) values[i] = half(half(values[i]) + half(of_worker[1].at(name)[i]));
        return sum;
    });
    const Ran ran = run_steps(compressed({.dp = 2, .compression = Compression::fp16}));
    check_weights(ran, expected);
    CHECK(worst_difference(run_steps(compressed({.dp = 2})), ran) > 1e-6);    // it is not the plain run
    CHECK(sent_for(ran.last.ranks[0], "gradients") == 2 * small_parameters);  // a ring of two: its size once, 2 bytes each
}

TEST_CASE("top-k with error feedback is a serial program that keeps what each worker did not send") {
    const int n = 4;
    const auto k = static_cast<size_t>(std::llround(0.05 * double(small_parameters)));
    std::vector<std::vector<double>> error(n, std::vector<double>(small_parameters));
    const auto expected = compressed_serially(n, 5, 0.5, [&](const std::vector<Gradients>& of_worker) {
        std::vector<double> sum(small_parameters);
        for (size_t worker = 0; worker < n; ++worker) {
            std::vector<double>& left = error[worker];
            size_t at = 0;
            for (const std::string& name : bucket_order)
                for (const double value : of_worker[worker].at(name)) left[at++] += value;
            std::vector<double> sizes;
            for (const double value : left) sizes.push_back(std::abs(value));
            std::sort(sizes.begin(), sizes.end(), std::greater<>());
            for (size_t i = 0; i < left.size(); ++i)
                if (std::abs(left[i]) >= sizes[k - 1]) sum[i] += left[i], left[i] = 0;
        }
        Gradients joined;
        size_t at = 0;
        for (const std::string& name : bucket_order)
            for (size_t i = 0; i < of_worker[0].at(name).size(); ++i) joined[name].push_back(sum[at++]);
        return joined;
    });
    const ParallelPlan plan{.dp = n, .compression = Compression::top_k, .keep = 0.05};
    check_weights(run_steps(compressed(plan)), expected);
    for (const RankStep& rank : run_steps(compressed(plan, DType::f32), 2).last.ranks)
        CHECK(sent_for(rank, "gradients") == 8 * int64_t(k) * (n - 1));
}

TEST_CASE("PowerSGD with error feedback is a serial program that keeps what low rank leaves out") {
    const int n = 4;
    const int64_t r = 2;
    std::vector<Gradients> error(n);
    Gradients factor;  // q[columns, r] by parameter
    const std::map<std::string, std::array<int64_t, 2>> extents = {
        {"fc1.weight", {32, 16}}, {"fc2.weight", {32, 32}}, {"fc3.weight", {8, 32}}};
    const std::vector<std::string> names = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias"};
    const auto expected = compressed_serially(n, 5, 0.5, [&](const std::vector<Gradients>& of_worker) {
        Gradients joined;
        for (size_t number = 0; number < names.size(); ++number) {
            const std::string& name = names[number];
            std::vector<double> sum(of_worker[0].at(name).size());  // of gradient and error, over the workers
            std::vector<Gradients::mapped_type> own(n);
            for (size_t worker = 0; worker < n; ++worker) {
                own[worker] = of_worker[worker].at(name);
                std::vector<double>& left = error[worker][name];
                left.resize(sum.size());
                for (size_t i = 0; i < sum.size(); ++i) sum[i] += own[worker][i] += left[i];
            }
            const auto found = extents.find(name);
            if (found == extents.end()) {
                joined[name] = sum;
                continue;
            }
            const auto [rows, columns] = found->second;
            std::vector<double>& q = factor[name];
            if (q.empty()) q = first_q(number, columns, r);
            std::vector<std::vector<double>> p(static_cast<size_t>(r),
                                               std::vector<double>(static_cast<size_t>(rows)));  // by column
            for (int64_t c = 0; c < r; ++c) {
                std::vector<double>& column = p[size_t(c)];
                for (int64_t i = 0; i < rows; ++i)
                    for (int64_t j = 0; j < columns; ++j)
                        column[size_t(i)] += sum[size_t(i * columns + j)] * q[size_t(j * r + c)];
                const auto times = [&](const std::vector<double>& a, const std::vector<double>& b) {
                    double dot = 0;
                    for (size_t i = 0; i < a.size(); ++i) dot += a[i] * b[i];
                    return dot;
                };
                for (int64_t before = 0; before < c; ++before) {
                    const double along = times(column, p[size_t(before)]);
                    for (size_t i = 0; i < column.size(); ++i) column[i] -= along * p[size_t(before)][i];
                }
                const double length = std::sqrt(times(column, column));
                for (double& value : column) value /= length;
            }
            std::fill(q.begin(), q.end(), 0.0);
            std::vector<double> low(sum.size());
            for (int64_t c = 0; c < r; ++c)
                for (int64_t j = 0; j < columns; ++j) {
                    double& value = q[size_t(j * r + c)];
                    for (int64_t i = 0; i < rows; ++i) value += sum[size_t(i * columns + j)] * p[size_t(c)][size_t(i)];
                    for (int64_t i = 0; i < rows; ++i) low[size_t(i * columns + j)] += p[size_t(c)][size_t(i)] * value;
                }
            for (size_t worker = 0; worker < n; ++worker)
                for (size_t i = 0; i < low.size(); ++i) error[worker][name][i] = own[worker][i] - low[i] / n;
            joined[name] = low;
        }
        return joined;
    });
    const ParallelPlan plan{.dp = n, .compression = Compression::power_sgd, .rank = int(r)};
    check_weights(run_steps(compressed(plan)), expected);
    int64_t elements = 32 + 32 + 8;  // vectors go whole
    for (const auto& [name, extent] : extents) elements += r * (extent[0] + extent[1]);
    for (const RankStep& rank : run_steps(compressed(plan, DType::f32), 2).last.ranks)
        CHECK(sent_for(rank, "gradients") == 4 * elements * 2 * (n - 1) / n);
}

TEST_CASE("batch norm over all workers is the serial run; each worker's own is ghost batches") {
    ParallelOptions options;
    options.training.model = "resnet8";
    options.training.batch = 8;
    options.training.dtype = DType::f64;
    options.training.learning_rate = 0.05;
    const auto far = [&](const ParallelPlan& plan, int64_t parts, bool with_statistics) {
        options.plan = plan;
        nn::TrainerOptions training = options.training;
        training.accumulate = parts;
        nn::Trainer serial(training);
        ParallelTrainer ranks(options);
        double worst = 0;
        for (int step = 0; step < 5; ++step) {
            const double loss = serial.step().loss, off = std::abs(ranks.step().loss - loss) / loss;
            worst = off <= worst ? worst : off;
        }
        const nn::Checkpoint whole = ranks.checkpoint(), expected = serial.checkpoint();
        size_t compared = 0;
        for (const nn::NamedArray& row : expected.tensors) {
            const bool statistics = row.name.find(".running_") != std::string::npos;
            if (row.name.starts_with("optimizer.") || row.array.dtype != DType::f64) continue;
            if (statistics && !with_statistics) continue;
            const Array* array = nn::find(whole.tensors, row.name);
            REQUIRE(array);
            const auto values = [](const Array& of) {
                return std::vector<double>(of.as<double>(), of.as<double>() + of.count());
            };
            const double off = apart(values(*array), values(row.array), 1e-6);
            worst = off <= worst ? worst : off;
            ++compared;
        }
        CHECK(compared > 20);
        if (with_statistics) CHECK(std::abs(ranks.evaluate(16).loss / serial.evaluate(16).loss - 1) < 1e-9);
        return worst;
    };
    CHECK(far({.dp = 2, .sync_batch_norm = true}, 1, true) < 1e-10);
    CHECK(far({.dp = 4, .zero = 2, .sync_batch_norm = true}, 1, true) < 1e-10);
    CHECK(far({.dp = 2}, 2, false) < 1e-10);
    CHECK(far({.dp = 4}, 4, false) < 1e-10);
    CHECK(far({.dp = 2}, 1, false) > 1e-4);  // otherwise the two would be the same
}

TEST_CASE("PipeDream trains as a serial program with the same stale weights, and its records say so step by step") {
    const int steps = 6;
    for (const std::string kind : {"pipedream", "pipedream_2bw"})
        for (const auto& [dp, pp] : {std::pair{1, 2}, {1, 3}, {2, 2}}) {
            INFO(kind << " dp " << dp << " pp " << pp);
            const int m = kind == "pipedream" ? 1 : pp;
            ParallelOptions options = compressed({.dp = dp, .pp = pp, .schedule = kind, .microbatches = m});
            options.steps = steps;
            const Ran ran = run_steps(options, steps);

            const auto stages = cut_into_stages(small_perceptron(), pp);
            std::vector<std::map<std::string, std::vector<double>>> versions(1);
            std::vector<double> losses(steps);
            check_no_problem(run_ranks({}, [&](Rank& rank) {
                const auto model = own_stage(rank, small_perceptron(), 1, DType::f64);
                for (const nn::Parameter& parameter : model->list.parameters())
                    versions[0][parameter.name] = tensor::values_of(rank.heap, parameter.value);
                for (int step = 0; step < steps; ++step) {
                    auto next = versions.back();
                    for (int part = 0; part < m; ++part) {
                        for (nn::Parameter& parameter : model->list.parameters()) {
                            const int layer = parameter.name[2] - '1';
                            int stage = 0;
                            while (layer >= stages[size_t(stage)].last) ++stage;
                            const int version = kind == "pipedream" ? step - (pp - stage) + 1 : step - 1;
                            const auto& values = versions[size_t(std::max(0, version))].at(parameter.name);
                            tensor::write_values(rank.heap, parameter.value, values, "w");
                        }
                        for (int worker = 0; worker < dp; ++worker) {
                            nn::Batch batch;
                            batch.count = 24 / dp / m, batch.first = worker * (24 / dp) + part * batch.count;
                            small_examples(uint64_t(step), batch);
                            const std::vector<double> values(batch.values.begin(), batch.values.end());
                            const MicroBatch examples{tensor::tensor_from(rank.heap, {batch.count, 16}, values, "x"),
                                                      tensor::labels_from(rank.heap, batch.labels, "y"), batch.count};
                            const Step one = step_of(rank, *model, examples);
                            losses[size_t(step)] += one.loss / (dp * m);
                            for (const auto& [name, gradient] : one.gradients)
                                for (size_t i = 0; i < gradient.size(); ++i) next[name][i] -= 0.5 * gradient[i] / (dp * m);
                        }
                    }
                    versions.push_back(next);
                }
            }));
            CHECK(apart(ran.losses, losses) < 1e-10);
            check_weights(ran, versions.back());
            REQUIRE(ran.last.schedule);
            CHECK(ran.last.schedule->weight_versions[0] == (kind == "pipedream" ? pp : 2));
            CHECK(ran.last.end_us > ran.last.begin_us);
        }
    // Fresh weights are another run.
    ParallelOptions stale = compressed({.pp = 2, .schedule = "pipedream"});
    stale.steps = 6;
    CHECK(worst_difference(run_steps(stale, 6), run_steps(compressed({.pp = 2}), 6)) > 1e-4);
}

TEST_CASE("what PipeDream cannot do is refused in a sentence; a run goes on from its last weights") {
    ParallelOptions options = compressed({.pp = 2, .schedule = "pipedream"});
    CHECK(why_not(options) == "pipedream runs all steps in one go: say how many (steps)");
    options.steps = 3;
    options.plan.microbatches = 2;
    CHECK(why_not(options).find("--schedule pipedream_2bw") != std::string::npos);
    options.plan.microbatches = 1, options.training.clip_norm = 1;
    CHECK(why_not(options).find("--clip-norm 0") != std::string::npos);
    options.training.clip_norm = 0;
    ParallelTrainer trainer(options);
    trainer.step();
    CHECK_THROWS_AS(trainer.checkpoint(), Failure);
    trainer.step(), trainer.step();
    CHECK_THROWS_AS(trainer.step(), Failure);
    const nn::Checkpoint whole = trainer.checkpoint();
    CHECK(whole.step == 3);
    ParallelTrainer serial(compressed({}));
    serial.restore(whole);
    options.plan = {.dp = 2, .pp = 2, .schedule = "1f1b", .microbatches = 2};
    ParallelTrainer again(options);
    again.restore(whole);
    for (int i = 0; i < 2; ++i) {
        const double loss = serial.step().loss;
        CHECK(std::abs(again.step().loss / loss - 1) < 1e-10);
    }
    options.plan = {.pp = 3, .schedule = "dualpipe", .microbatches = 6};
    CHECK(why_not(options).find("2 or 4 would do") != std::string::npos);
    options.plan = {.pp = 2, .schedule = "dualpipe", .microbatches = 3};
    CHECK(why_not(options).find("4 would do, not 3") != std::string::npos);
    options.plan = {.pp = 2, .microbatches = 2, .cut = {1}};
    CHECK(why_not(options).starts_with("the cut gives 1 blocks to 1 stages"));
    options.plan = {.dp = 2, .cut = {1}};
    CHECK(why_not(options).find("--pp 2") != std::string::npos);
}

TEST_CASE("a run that cannot be is refused before its ranks begin: another number of ranks, batches of other workers") {
    const auto why = [](const ParallelOptions& options, int ranks) -> std::string {
        try {
            check_can_train(options, ranks);
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return "";
    };
    ParallelOptions options = small_options({.dp = 3});
    options.training.batch = 12;
    CHECK(why(options, 3).empty());
    CHECK(why(options, 4) == "dp 3 x tp 1 x pp 1 x cp 1 are 3 ranks, but 4 run: mpirun -np 3 would do, or another plan");
    options.batches_of_worker = {4, 4};
    CHECK(why(options, 3) == "batches of 2 workers are not those of --dp 3: one number a worker");
    options.batches_of_worker = {4, 4, -1};
    CHECK(why(options, 3) == "a worker has 0 batches or more, not -1");
    options.batches_of_worker = {1, 1, 0};
    CHECK(why(options, 3).empty());
    ParallelTrainer trainer(options);
    CHECK_THROWS_WITH(trainer.step(), Catch::Matchers::Contains("rank 2") || Catch::Matchers::Contains("ended"));
}

TEST_CASE("workers draw from fixed parts of a set, each reshuffled by itself, or from the whole set, reshuffled") {
    constexpr int set = 48, batch = 12, dp = 3, passes = 4, steps = passes * set / batch;
    for (const bool partition : {true, false}) {
        ParallelOptions options = small_options({.dp = dp});
        options.training.batch = batch;
        options.set = set, options.partition = partition;
        options.examples = [](uint64_t step, nn::Batch& made) {
            for (int64_t i = 0; i < made.count; ++i) {
                const auto index = static_cast<float>(static_cast<int64_t>(step) * batch + made.first + i);
                made.values.insert(made.values.end(), 16, index);
                made.labels.push_back(0);
            }
        };
        const Examples examples(options);
        std::vector<std::vector<int>> seen(dp);  // by worker: examples in order
        check_no_problem(run_ranks(options.plan, [&](Rank& rank) {
            std::vector<int>& own = seen[size_t(rank.world.rank())];
            for (int step = 0; step < steps; ++step) {
                const MicroBatch drawn = examples.micro_batch(rank, step, 0, DType::f64);
                const auto values = tensor::values_of(rank.heap, drawn.input);
                for (size_t i = 0; i < values.size(); i += 16) own.push_back(static_cast<int>(values[i]));
            }
        }));
        std::vector<std::vector<int>> of_pass(passes);
        constexpr int part = set / dp;
        for (int worker = 0; worker < dp; ++worker) {
            const std::vector<int>& own = seen[size_t(worker)];
            REQUIRE(own.size() == passes * part);
            std::vector<int> first(own.begin(), own.begin() + part), second(own.begin() + part, own.begin() + 2 * part);
            CHECK(first != second);
            std::sort(first.begin(), first.end()), std::sort(second.begin(), second.end());
            CHECK((first == second) == partition);
            if (partition)
                for (int i = 0; i < part; ++i) CHECK(first[size_t(i)] == worker * part + i);
            for (size_t i = 0; i < own.size(); ++i) of_pass[i / part].push_back(own[i]);
        }
        for (std::vector<int>& pass : of_pass) {  // all of the set, each example once
            std::sort(pass.begin(), pass.end());
            for (int i = 0; i < set; ++i) CHECK(pass[size_t(i)] == i);
        }
    }
    ParallelOptions options = small_options({.dp = 3});
    options.partition = true;
    CHECK(why_not(options).find("--set-examples") != std::string::npos);
    options.set = 50;
    CHECK(why_not(options) == "--set-examples 50 does not divide over --dp 3: 51 would");
}

}  // namespace parallel_data_test
