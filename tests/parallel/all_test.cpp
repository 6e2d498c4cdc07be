// Everything at once: every combination of dp x tp x pp x cp x ZeRO on up to 8 ranks that divides takes the serial run's
// steps, in float64 to 1e-10; those that do not are refused in a sentence.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/base/diagnostic.h"
#include "core/parallel/train/trainer.h"
#include "tests/catch.h"

namespace parallel_all_test {

using namespace lockstep;
using namespace lockstep::parallel;

namespace {
struct Tiny {
    ModelShape shape;
    std::function<void(uint64_t, nn::Batch&)> examples;
    std::string model;  // whose optimizer and schedule it takes
    int64_t batch = 16;
    std::function<bool(const ParallelPlan& plan)> divides = {};  // by arithmetic on the shape, whatever the engine says
};

bool divides_batch(const ParallelPlan& plan, int64_t batch) {
    return batch % (int64_t{plan.dp} * plan.microbatches) == 0;
}

// Eight layers of 24: 1, 2, 3, 4, 6 and 8 divide everything.
Tiny tiny_perceptron() {
    Tiny tiny;
    tiny.model = "mlp";
    tiny.batch = 24;
    tiny.shape.name = "mlp";
    tiny.shape.kind = ModelShape::Kind::perceptron;
    tiny.shape.layers = 8;
    tiny.shape.widths = std::vector<int64_t>(9, 24);
    tiny.examples = [](uint64_t step, nn::Batch& batch) {
        batch.values.clear(), batch.labels.clear();
        for (int64_t i = 0; i < batch.count; ++i) {
            Rng rng(991 * step + static_cast<uint64_t>(batch.first + i));
            for (int j = 0; j < 24; ++j) batch.values.push_back(static_cast<float>(rng.uniform(-1, 1)));
            batch.labels.push_back(static_cast<int32_t>(rng.next() % 24));
        }
    };
    tiny.divides = [](const ParallelPlan& plan) {
        return plan.cp == 1 && plan.pp <= 8 && 24 % plan.tp == 0 && divides_batch(plan, 24);
    };
    return tiny;
}

// `size`: of sequences, width, vocabulary and batch alike.
Tiny tiny_llama(int64_t size = 16, int64_t heads = 8, int64_t kv_heads = 2) {
    Tiny tiny;
    tiny.model = "llama";
    tiny.batch = size;
    tiny.shape.name = "llama";
    tiny.shape.kind = ModelShape::Kind::llama;
    tiny.shape.layers = 8, tiny.shape.width = size, tiny.shape.heads = heads, tiny.shape.kv_heads = kv_heads;
    tiny.shape.ffn = size, tiny.shape.vocabulary = size, tiny.shape.context = size;
    tiny.examples = [size](uint64_t step, nn::Batch& batch) {
        const auto rows = static_cast<size_t>(batch.count), places = static_cast<size_t>(size);
        batch.labels.resize(2 * rows * places);
        for (size_t i = 0; i < rows; ++i) {
            Rng rng(77 * step + static_cast<uint64_t>(batch.first) + i);
            for (size_t t = 0; t < places; ++t) {
                batch.labels[i * places + t] = static_cast<int32_t>(rng.below(uint64_t(size)));
                batch.labels[(rows + i) * places + t] = static_cast<int32_t>(rng.below(uint64_t(size)));
            }
        }
    };
    tiny.divides = [=](const ParallelPlan& plan) {
        return plan.pp <= 8 && heads % plan.tp == 0 && (kv_heads % plan.tp == 0 || plan.tp % kv_heads == 0) &&
               size % plan.tp == 0 && size % plan.cp == 0 && divides_batch(plan, size);
    };
    return tiny;
}

Tiny tiny_convolutions() {
    Tiny tiny;
    tiny.model = "lenet5";
    tiny.batch = 24;
    tiny.shape = shape_named("lenet5");
    tiny.examples = [](uint64_t step, nn::Batch& batch) {
        batch.values.clear(), batch.labels.clear();
        for (int64_t i = 0; i < batch.count; ++i) {
            Rng rng(31 * step + static_cast<uint64_t>(batch.first + i));
            for (int j = 0; j < 32 * 32; ++j) batch.values.push_back(static_cast<float>(rng.uniform()));
            batch.labels.push_back(static_cast<int32_t>(rng.next() % 10));
        }
    };
    tiny.divides = [](const ParallelPlan& plan) {
        return plan.tp == 1 && plan.cp == 1 && plan.pp <= 5 && divides_batch(plan, 24);  // two convolutions, three products
    };
    return tiny;
}

struct Steps {
    std::vector<double> losses;
    std::map<std::string, std::vector<double>> weights;
    bool operator==(const Steps&) const = default;
};
ParallelOptions options_of(const Tiny& tiny, const ParallelPlan& plan) {
    ParallelOptions options;
    options.training.model = tiny.model;
    options.training.batch = tiny.batch;
    options.training.optimizer = "adamw";
    options.training.learning_rate = 0.01;
    options.training.schedule = "constant";
    options.training.dtype = DType::f64;
    options.plan = plan;
    options.shape = tiny.shape;
    options.examples = tiny.examples;
    options.keep_memory = options.keep_spans = false;
    return options;
}
Steps steps_of(const Tiny& tiny, const ParallelPlan& plan, int64_t batch, int steps = 5) {
    ParallelOptions options = options_of(tiny, plan);
    options.training.batch = batch;
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

struct Walked {
    int ran = 0, refused = 0;
    double worst = 0;
};
// Every plan of 2 to 8 ranks whose numbers are all among `numbers`: takes the serial steps in float64, or, where something
// does not divide, is refused. `all`: with every ZeRO stage, otherwise with one of them in turn. `with`: of which some
// number is a multiple.
Walked walk(const Tiny& tiny, const std::vector<int>& numbers, bool all, int with = 1) {
    const Steps serial = steps_of(tiny, {}, tiny.batch);
    Walked walked;
    int turn = 0;
    for (const int dp : numbers)
        for (const int tp : numbers)
            for (const int pp : numbers)
                for (const int cp : numbers) {
                    const int ranks = dp * tp * pp * cp;
                    if (ranks > 8 || ranks == 1) continue;
                    if (dp % with && tp % with && pp % with && cp % with) continue;
                    ++turn;
                    for (int zero = 0; zero <= (dp * cp > 1 ? 3 : 0); ++zero) {
                        if (!all && dp * cp > 1 && zero != turn % 4) continue;
                        const ParallelPlan plan{
                            .dp = dp, .tp = tp, .pp = pp, .cp = cp, .zero = zero, .microbatches = pp > 1 ? 2 : 1};
                        INFO(text_of(plan));
                        try {
                            const double off = distance(steps_of(tiny, plan, tiny.batch), serial);
                            CHECK(off < 1e-10);
                            CHECK(tiny.divides(plan));
                            walked.worst = std::max(walked.worst, off);
                            ++walked.ran;
                        } catch (const Failure& failure) {
                            const std::string& why = failure.diagnostic.message;
                            INFO(why);
                            CHECK_FALSE(tiny.divides(plan));
                            CHECK(why.find("died") == std::string::npos);
                            CHECK(why.find("--") != std::string::npos);  // names what to change
                            ++walked.refused;
                        }
                    }
                }
    return walked;
}
}  // namespace

TEST_CASE("every plan of a perceptron on up to 8 ranks is the serial run, or is refused") {
    const Walked walked = walk(tiny_perceptron(), {1, 2, 3, 4, 8}, false);
    CHECK(walked.ran >= 28);
    CHECK(walked.refused >= 20);
}

TEST_CASE("every plan of a convolutional network on up to 8 ranks is the serial run, or is refused") {
    const Tiny tiny = tiny_convolutions();
    const Steps serial = steps_of(tiny, {}, 8, 2);
    for (const auto& [dp, pp, zero] : {std::array{2, 1, 0}, {4, 1, 3}, {2, 2, 1}, {1, 4, 0}, {2, 2, 2}}) {
        const ParallelPlan plan{.dp = dp, .pp = pp, .zero = zero, .microbatches = pp > 1 ? 2 : 1};
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan, 8, 2), serial) < 1e-10);
    }
    CHECK_THROWS_AS(steps_of(tiny, {.tp = 2}, 8), Failure);
    CHECK_THROWS_AS(steps_of(tiny, {.cp = 2}, 8), Failure);
}

TEST_CASE("every plan of a llama on up to 8 ranks is the serial run, or is refused", "[long]") {
    const Walked walked = walk(tiny_llama(), {1, 2, 4, 8}, false);
    CHECK(walked.ran >= 30);
    CHECK(walk(tiny_llama(12, 6, 3), {1, 3, 5}, false, 3).ran >= 4);
}

TEST_CASE("every plan with every ZeRO stage, on every number of ranks to 8, is the serial run, or is refused", "[long]") {
    const std::vector<int> numbers = {1, 2, 3, 4, 5, 6, 7, 8};
    Walked sum;
    const auto add = [&](const Tiny& tiny, int with = 1) {
        const Walked one = walk(tiny, numbers, true, with);
        CHECK(one.ran > 0);
        CHECK(one.refused > 0);
        sum.ran += one.ran, sum.refused += one.refused, sum.worst = std::max(sum.worst, one.worst);
    };
    add(tiny_perceptron());
    add(tiny_convolutions());
    add(tiny_llama());
    add(tiny_llama(12, 6, 3), 3);
    WARN(fmt::format("{} plans took the serial run's 5 steps, largest difference {:.1e}; {} were refused", sum.ran,
                     sum.worst, sum.refused));
    CHECK(sum.ran == 300);
}

TEST_CASE("schedules, sequence parallelism, recomputation and ways of context take the serial run's steps together",
          "[long]") {
    const Tiny tiny = tiny_llama();
    const Steps serial = steps_of(tiny, {}, 16);
    const auto check_plan = [&](const ParallelPlan& plan) {
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan, 16), serial) < 1e-10);
    };
    for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "zb-h2"})
        check_plan({.dp = 2, .tp = 2, .pp = 2, .zero = 1, .schedule = schedule, .microbatches = 4});
    for (const char* schedule : {"zb-1p", "zb-2p"})
        check_plan({.dp = 2, .pp = 2, .zero = 2, .schedule = schedule, .microbatches = 4});
    check_plan({.dp = 2, .pp = 2, .zero = 2, .schedule = "interleaved", .chunks = 2, .microbatches = 8, .bucket_bytes = 0});
    check_plan({.dp = 2, .pp = 2, .zero = 3, .schedule = "interleaved", .chunks = 2, .microbatches = 4});
    check_plan({.pp = 2, .schedule = "zb-v", .chunks = 2, .microbatches = 4});
    check_plan({.tp = 2, .pp = 2, .sequence_parallel = true, .microbatches = 2});
    check_plan({.dp = 2, .tp = 4, .zero = 3, .sequence_parallel = true});
    check_plan({.dp = 2, .tp = 2, .cp = 2, .zero = 2, .context = Context::balanced_ring, .recompute = Recompute::full});
    check_plan({.tp = 1, .cp = 2, .zero = 3, .context = Context::all_to_all, .recompute = Recompute::selective});
    check_plan({.dp = 2, .zero = 3, .microbatches = 2, .recompute = Recompute::full});
}

TEST_CASE("recomputed blocks go forward twice, not three times, where backward comes in two parts") {
    const Tiny tiny = tiny_llama();
    const auto compute_of = [&](const char* schedule, Recompute recompute) {
        ParallelOptions options =
            options_of(tiny, {.pp = 2, .schedule = schedule, .microbatches = 4, .recompute = recompute});
        const ParallelStepRecord record = ParallelTrainer(options).step();
        double us = 0;
        for (const RankStep& rank : record.ranks) us += rank.compute_us;
        return us;
    };
    const double whole = compute_of("1f1b", Recompute::full), none = compute_of("1f1b", Recompute::none);
    CHECK(whole > 1.2 * none);
    for (const char* schedule : {"zb-h1", "zb-v", "zb-2p"}) {
        INFO(schedule);
        CHECK(std::abs(compute_of(schedule, Recompute::full) - whole) < 1e-9 * whole);
        CHECK(std::abs(compute_of(schedule, Recompute::none) - none) < 1e-9 * none);
    }
}

TEST_CASE("gpt's tied head is one parameter, on whichever stages it is used") {
    Tiny tiny = tiny_llama();
    tiny.model = "gpt";
    tiny.shape.name = "gpt";
    tiny.shape.kind = ModelShape::Kind::gpt;
    tiny.shape.kv_heads = tiny.shape.heads;
    tiny.shape.tied_head = true;
    const Steps serial = steps_of(tiny, {}, 16);
    for (const ParallelPlan& plan :
         {ParallelPlan{.dp = 2, .zero = 3}, ParallelPlan{.pp = 2, .microbatches = 2},
          // both ends of the model on one rank: forward and backward of one weight in two stages
          ParallelPlan{.pp = 2, .schedule = "zb-v", .chunks = 2, .microbatches = 4},
          ParallelPlan{.dp = 2, .pp = 2, .zero = 2, .schedule = "zb-v", .chunks = 2, .microbatches = 4},
          ParallelPlan{.pp = 2, .schedule = "dualpipe", .microbatches = 4},
          ParallelPlan{.dp = 2, .pp = 2, .zero = 3, .schedule = "dualpipe", .microbatches = 4},
          ParallelPlan{.dp = 2, .tp = 2, .pp = 2, .zero = 1, .microbatches = 2}, ParallelPlan{.tp = 2, .cp = 2}}) {
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan, 16), serial) < 1e-10);
    }
}

TEST_CASE(
    "DualPipe trains: two copies of every stage take the serial run's steps, with every other axis and every ZeRO stage") {
    const Tiny tiny = tiny_llama();
    const Steps serial = steps_of(tiny, {}, 16);
    const auto check_plan = [&](ParallelPlan plan) {
        plan.schedule = "dualpipe";
        INFO(text_of(plan));
        CHECK(distance(steps_of(tiny, plan, 16), serial) < 1e-10);
    };
    check_plan({.pp = 2, .microbatches = 4});
    check_plan({.pp = 4, .microbatches = 8});
    check_plan({.pp = 8, .microbatches = 16});
    check_plan({.pp = 4, .chunks = 2, .microbatches = 16, .cut = {1, 2, 3, 4}});
    for (int zero = 0; zero <= 3; ++zero) check_plan({.dp = 2, .pp = 2, .zero = zero, .microbatches = 4});
    check_plan({.dp = 2, .pp = 4, .zero = 1, .microbatches = 8});
    check_plan({.tp = 4, .pp = 2, .sequence_parallel = true, .microbatches = 4});  // tp ranks share heads of keys
    check_plan({.tp = 2, .pp = 2, .cp = 2, .zero = 2, .microbatches = 4, .recompute = Recompute::full});
    check_plan({.pp = 2, .microbatches = 4, .offload = true});
    const Tiny pictures = tiny_convolutions();
    CHECK(distance(steps_of(pictures, {.dp = 2, .pp = 2, .schedule = "dualpipe", .microbatches = 4}, 8, 2),
                   steps_of(pictures, {}, 8, 2)) < 1e-10);
}

TEST_CASE("DualPipe's ranks hold two stages' weights, count each once in norms, and go on from one another's checkpoints") {
    const Tiny tiny = tiny_perceptron();
    ParallelOptions options = options_of(tiny, {.pp = 4, .schedule = "dualpipe", .microbatches = 8});
    options.training.clip_norm = 0.05;  // always clips: a weight that counted twice would change every step
    options.keep_messages = true;
    ParallelOptions alone = options_of(tiny, {});
    alone.training.clip_norm = 0.05;
    ParallelTrainer serial(alone), twice(options);
    const ParallelStepRecord first = twice.step();
    CHECK(std::abs(first.loss / serial.step().loss - 1) < 1e-10);
    // 8 layers of 24 x 24 + 24 in f64, of which every rank holds 4; its gradients go to its mirror once, in a ring of two.
    constexpr int64_t held = 4 * (24 * 24 + 24) * 8;
    for (const RankStep& rank : first.ranks) {
        CHECK(rank.kept[size_t(MemoryKind::weights)] == held);
        CHECK(rank.kept[size_t(MemoryKind::gradients)] == held);
        CHECK(rank.kept[size_t(MemoryKind::optimizer)] == 2 * held);
        int64_t gradients = 0;
        for (const Traffic& row : rank.sent)
            if (row.axis == "pp" && row.purpose == "gradients") gradients += row.bytes;
        CHECK(gradients == held);
    }
    for (int i = 0; i < 2; ++i) CHECK(std::abs(twice.step().loss / serial.step().loss - 1) < 1e-10);
    const nn::Checkpoint whole = twice.checkpoint();
    options.plan = {.dp = 2, .pp = 2, .zero = 1, .microbatches = 2};
    ParallelTrainer other(options);
    other.restore(whole);
    options.plan = {.pp = 2, .schedule = "dualpipe", .microbatches = 4};
    ParallelTrainer again(options);
    again.restore(other.checkpoint());
    for (int i = 0; i < 2; ++i) {
        const double loss = serial.step().loss;
        CHECK(std::abs(other.step().loss / loss - 1) < 1e-10);
        CHECK(std::abs(again.step().loss / loss - 1) < 1e-10);
    }
}

}  // namespace parallel_all_test
