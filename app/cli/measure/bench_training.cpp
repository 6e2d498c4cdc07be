// Rows train/...: training steps a second on the host, by the rule that PyTorch's rows beside them have (tests/reference/
// torch_bench.py): the best of three runs of a second each, by the wall clock. The modes of one model take turns, run by
// run, as a shared computer's speed changes from one second to the next; all else that a step costs is in it: its batch is
// drawn or read, its loss is read back.
#include "app/cli/measure/bench_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "core/device/kernels/matmul.h"
#include "core/device/kernels/thread_pool.h"
#include "core/nn/models/models.h"

namespace lockstep::cli {
namespace {

constexpr int bench_runs = 3;
constexpr double bench_seconds = 1;

// `gflop`: of a step's products, forwards and backwards, two for a multiply-add (tests/reference/torch_bench.py has the
// same).
struct TrainingRow {
    const char* model;
    std::vector<nn::Mode> modes;
    double gflop;
};
using enum nn::Mode;
const TrainingRow training_rows[] = {
    {"mlp", {direct, graph}, 0.026},
    {"mlp512", {direct, eager, graph, fused}, 0.205},
    {"lenet5", {direct, eager, graph, fused}, 0.099},
    {"gpt", {direct, eager, graph, fused}, 5.7},
    {"llama", {direct, eager, graph, fused}, 5.7},
};

std::string name_of_row(const std::string& model, nn::Mode mode, int threads) {
    return mode == direct ? fmt::format("train/{}/{}", model, threads)
                          : fmt::format("train/{}/{}/{}", model, nn::name_of(mode), threads);
}

// What a product of the models' shapes reaches, in GFLOP/s: the best of a few here, and of those before.
double product_rate(int threads, double before) {
    constexpr int m = 1024, n = 512, k = 128;
    const std::vector<float> a(size_t{m} * k, 0.5f), b(size_t{k} * n, 0.25f);
    std::vector<float> c(size_t{m} * n);
    device::ThreadPool pool(threads);
    double best = before;
    for (int run = 0; run < 200; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        device::matmul(false, false, m, n, k, a.data(), b.data(), c.data(), pool);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        best = std::max(best, 2e-9 * m * n * k / passed.count());
    }
    return best;
}

struct Measured {
    std::string name;
    nn::Trainer trainer;
    nn::StepRecord record;
    double lowest = 0, highest = 0;

    void run() {
        const auto begin = std::chrono::steady_clock::now();
        double passed = 0;
        int steps = 0;
        do {
            trainer.step(record);
            ++steps;
            passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        } while (passed < bench_seconds);
        const double rate = steps / passed;
        highest = std::max(highest, rate);
        lowest = lowest == 0 ? rate : std::min(lowest, rate);
    }
};

}  // namespace

nn::TrainerOptions bench_training_options(const std::string& model, int threads, nn::Mode mode) {
    const nn::ModelRow& row = nn::model_named(model);
    nn::TrainerOptions options;
    options.mode = mode;
    options.model = model;
    options.batch = row.batch;
    options.learning_rate = row.learning_rate;
    options.threads = threads;
    options.keep_images = false;
    options.keep_launches = false;
    options.prefetch = threads > 1;
    return options;
}

void training_bench(std::string_view wanted, const std::function<void(BenchRow)>& add) {
    double products[3] = {};  // by threads
    for (const TrainingRow& row : training_rows)
        for (const int threads : {1, 2}) {
            std::deque<Measured> all;
            for (const nn::Mode mode : row.modes) {
                const std::string name = name_of_row(row.model, mode, threads);
                if (name.starts_with(wanted))
                    all.push_back({name, nn::Trainer(bench_training_options(row.model, threads, mode)), {}});
            }
            for (Measured& measured : all)
                for (int step = 0; step < 4; ++step)
                    measured.trainer.step(measured.record);  // the third is the first that is replayed
            for (int run = 0; run < bench_runs; ++run)
                for (Measured& one : all) one.run();
            if (all.empty()) continue;
            const nn::ModelRow& model = nn::model_named(row.model);
            const double most = products[threads] = product_rate(threads, products[threads]);
            for (const Measured& one : all)
                add({one.name, one.highest, "steps/s",
                     fmt::format(
                         "batch {}, {}, data included, best of {} runs from {:.1f} up; {:.0f} GFLOP/s, {:.0f} % of what a "
                         "product of 1024 x 512 x 128 reaches ({:.0f})",
                         model.batch, model.optimizer, bench_runs, one.lowest, one.highest * row.gflop,
                         100 * one.highest * row.gflop / most, most)});
        }
}

}  // namespace lockstep::cli
