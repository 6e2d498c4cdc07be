// Everything at once: every combination of dp x tp x pp x cp x ZeRO on up to 8 ranks that divides takes the serial run's
// steps, in float64 to 1e-10; those that do not are refused in a sentence.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/base/diagnostic.h"
#include "core/parallel/trainer.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::parallel;

namespace {
struct Tiny {
    ModelShape shape;
    std::function<void(uint64_t, nn::Batch&)> examples;
    std::string model;  // whose optimizer and schedule it takes
};

Tiny tiny_perceptron() {
    Tiny tiny;
    tiny.model = "mlp";
    tiny.shape.name = "mlp";
    tiny.shape.kind = ModelShape::Kind::perceptron;
    tiny.shape.widths = {12, 16, 16, 16, 8};
    tiny.examples = [](uint64_t step, nn::Batch& batch) {
        batch.values.clear(), batch.labels.clear();
        for (int64_t i = 0; i < batch.count; ++i) {
            Rng rng(991 * step + static_cast<uint64_t>(batch.first + i));
            for (int j = 0; j < 12; ++j) batch.values.push_back(static_cast<float>(rng.uniform(-1, 1)));
            batch.labels.push_back(static_cast<int32_t>(rng.next() % 8));
        }
    };
    return tiny;
}

Tiny tiny_llama() {
    Tiny tiny;
    tiny.model = "llama";
    tiny.shape.name = "llama";
    tiny.shape.kind = ModelShape::Kind::llama;
    tiny.shape.layers = 8, tiny.shape.width = 16, tiny.shape.heads = 4, tiny.shape.kv_heads = 2;
    tiny.shape.ffn = 16, tiny.shape.vocabulary = 16, tiny.shape.context = 16;
    tiny.examples = [](uint64_t step, nn::Batch& batch) {
        const auto rows = static_cast<size_t>(batch.count);
        batch.labels.resize(2 * rows * 16);
        for (size_t i = 0; i < rows; ++i) {
            Rng rng(77 * step + static_cast<uint64_t>(batch.first) + i);
            for (size_t t = 0; t < 16; ++t) {
                batch.labels[i * 16 + t] = static_cast<int32_t>(rng.next() % 16);
                batch.labels[(rows + i) * 16 + t] = static_cast<int32_t>(rng.next() % 16);
            }
        }
    };
    return tiny;
}

Tiny tiny_convolutions() {
    Tiny tiny;
    tiny.model = "lenet5";
    tiny.shape = shape_named("lenet5");
    tiny.examples = [](uint64_t step, nn::Batch& batch) {
        batch.values.clear(), batch.labels.clear();
        for (int64_t i = 0; i < batch.count; ++i) {
            Rng rng(31 * step + static_cast<uint64_t>(batch.first + i));
            for (int j = 0; j < 32 * 32; ++j) batch.values.push_back(static_cast<float>(rng.uniform()));
            batch.labels.push_back(static_cast<int32_t>(rng.next() % 10));
        }
    };
    return tiny;
}

struct Steps {
    std::vector<double> losses;
    std::map<std::string, std::vector<double>> weights;
    bool operator==(const Steps&) const = default;
};
Steps steps_of(const Tiny& tiny, const ParallelPlan& plan, int64_t batch = 16, int steps = 5) {
    ParallelOptions options;
    options.training.model = tiny.model;
    options.training.batch = batch;
    options.training.optimizer = "adamw";
    options.training.learning_rate = 0.01;
    options.training.schedule = "constant";
    options.training.dtype = DType::f64;
    options.plan = plan;
    options.shape = tiny.shape;
    options.examples = tiny.examples;
    options.keep_memory = options.keep_spans = false;
    ParallelTrainer trainer(options);
    Steps made;
    for (int i = 0; i < steps; ++i) made.losses.push_back(trainer.step().loss);
    for (const nn::NamedArray& row : trainer.parameters())
        made.weights[row.name].assign(row.array.as<double>(), row.array.as<double>() + row.array.count());
    return made;
}

// Largest difference, relative to the largest value of a tensor; a NaN is infinitely far.
double distance(const Steps& a, const Steps& b) {
    double worst = 0;
    const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
        if (x.size() != y.size()) {
            worst = HUGE_VAL;
            return;
        }
        double size = 1e-12;
        for (const double v : y) size = std::max(size, std::abs(v));
        for (size_t i = 0; i < x.size(); ++i) {
            const double off = std::abs(x[i] - y[i]) / size;
            worst = off <= worst ? worst : std::isnan(off) ? HUGE_VAL : off;
        }
    };
    compare(a.losses, b.losses);
    if (a.weights.size() != b.weights.size()) return HUGE_VAL;
    for (const auto& [name, values] : b.weights)
        if (const auto found = a.weights.find(name); found == a.weights.end())
            worst = HUGE_VAL;
        else
            compare(found->second, values);
    return worst;
}

std::string text_of(const ParallelPlan& plan) {
    return fmt::format("dp {} tp {} pp {} cp {} zero {} microbatches {} {}{}", plan.dp, plan.tp, plan.pp, plan.cp, plan.zero,
                       plan.microbatches, plan.schedule, plan.sequence_parallel ? " sequence parallel" : "");
}

// Every plan of up to 8 ranks: takes the serial steps, or is refused.
void walk(const Tiny& tiny, int ran_at_least, int refused_at_least) {
    const Steps serial = steps_of(tiny, {}, 16);
    int ran = 0, refused = 0;
    for (const int dp : {1, 2, 3, 4, 8})
        for (const int tp : {1, 2, 3, 4, 8})
            for (const int pp : {1, 2, 3, 4, 8})
                for (const int cp : {1, 2, 4, 8}) {
                    if (dp * tp * pp * cp > 8 || dp * tp * pp * cp == 1) continue;
                    for (const int zero : {0, 1, 2, 3}) {
                        if (zero > 0 && dp * cp == 1) continue;
                        if ((zero == 1 || zero == 2) && dp * tp * pp * cp > 4) continue;  // between 0 and 3
                        const ParallelPlan plan{
                            .dp = dp, .tp = tp, .pp = pp, .cp = cp, .zero = zero, .microbatches = pp > 1 ? 2 : 1};
                        INFO(text_of(plan));
                        try {
                            const double off = distance(steps_of(tiny, plan), serial);
                            CHECK(off < 1e-10);
                            ++ran;
                        } catch (const Failure& failure) {
                            const std::string& why = failure.diagnostic.message;
                            INFO(why);
                            CHECK(why.find("died") == std::string::npos);
                            CHECK(why.find("--") != std::string::npos);  // names what to change
                            ++refused;
                        }
                    }
                }
    CHECK(ran >= ran_at_least);
    CHECK(refused >= refused_at_least);
}
}  // namespace

TEST_CASE("every plan of a perceptron on up to 8 ranks is the serial run, or is refused") {
    walk(tiny_perceptron(), 20, 10);
}

TEST_CASE("every plan of a convolutional network on up to 8 ranks is the serial run, or is refused") {
    const Tiny tiny = tiny_convolutions();
    const Steps serial = steps_of(tiny, {}, 8, 2);
    for (const auto& [dp, pp, zero] : {std::array{2, 1, 0}, {4, 1, 3}, {2, 2, 1}, {1, 4, 0}, {2, 2, 2}}) {
        const ParallelPlan plan{.dp = dp, .pp = pp, .zero = zero, .microbatches = pp > 1 ? 2 : 1};
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan, 8, 2), serial) < 1e-10);
    }
    CHECK_THROWS_AS(steps_of(tiny, {.tp = 2}), Failure);
    CHECK_THROWS_AS(steps_of(tiny, {.cp = 2}), Failure);
}

TEST_CASE("every plan of a llama on up to 8 ranks is the serial run, or is refused") {
    walk(tiny_llama(), 40, 10);
}

TEST_CASE("schedules, sequence parallelism, recomputation and ways of context take the serial run's steps together") {
    const Tiny tiny = tiny_llama();
    const Steps serial = steps_of(tiny, {});
    const auto check_plan = [&](const ParallelPlan& plan) {
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan), serial) < 1e-10);
    };
    for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "zb-h2"})
        check_plan({.dp = 2, .tp = 2, .pp = 2, .zero = 1, .schedule = schedule, .microbatches = 4});
    check_plan({.dp = 2, .pp = 2, .zero = 3, .schedule = "interleaved", .chunks = 2, .microbatches = 4});
    check_plan({.pp = 2, .schedule = "zb-v", .chunks = 2, .microbatches = 4});
    check_plan({.tp = 2, .pp = 2, .sequence_parallel = true, .microbatches = 2});
    check_plan({.dp = 2, .tp = 4, .zero = 3, .sequence_parallel = true});
    check_plan({.dp = 2, .tp = 2, .cp = 2, .zero = 2, .context = Context::balanced_ring, .recompute = Recompute::full});
    check_plan({.tp = 1, .cp = 2, .zero = 3, .context = Context::all_to_all, .recompute = Recompute::selective});
    check_plan({.dp = 2, .zero = 3, .microbatches = 2, .recompute = Recompute::full});
}

TEST_CASE("gpt's tied head is one parameter, on whichever stages it is used") {
    Tiny tiny = tiny_llama();
    tiny.model = "gpt";
    tiny.shape.name = "gpt";
    tiny.shape.kind = ModelShape::Kind::gpt;
    tiny.shape.kv_heads = 4;
    tiny.shape.tied_head = true;
    const Steps serial = steps_of(tiny, {});
    for (const ParallelPlan& plan :
         {ParallelPlan{.dp = 2, .zero = 3}, ParallelPlan{.pp = 2, .microbatches = 2},
          ParallelPlan{.dp = 2, .tp = 2, .pp = 2, .zero = 1, .microbatches = 2}, ParallelPlan{.tp = 2, .cp = 2}}) {
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan), serial) < 1e-10);
    }
}
