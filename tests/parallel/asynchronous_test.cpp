// Asynchronous training: what a server and its workers do, in which order and how stale, on the virtual clocks.
#include "core/parallel/train/asynchronous.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/comm/network/network.h"
#include "tests/parallel/support.h"

namespace parallel_asynchronous_test {

using namespace parallel_test;
using Catch::Matchers::Contains;

namespace {
// A perceptron of records drawn from the seed; latency and bandwidth 0: messages take no time.
AsyncOptions options_for(int workers, int64_t steps, DType type = DType::f32, comm::Link link = {0, 0}) {
    AsyncOptions options;
    ParallelOptions& run = options.run;
    run.training.model = "mlp";
    run.training.batch = 4 * workers;
    run.training.learning_rate = 0.05;
    run.training.schedule = "constant";
    run.training.dtype = type;
    run.plan.dp = workers;
    run.link = link;
    run.steps = steps;
    run.shape = shape_named("mlp");
    run.shape->widths = {8, 12, 4};
    run.examples = [](uint64_t step, nn::Batch& batch) {
        batch.values.clear(), batch.labels.clear();
        for (int64_t i = 0; i < batch.count; ++i) {
            Rng rng(991 * step + static_cast<uint64_t>(batch.first + i));
            for (int j = 0; j < 8; ++j) batch.values.push_back(static_cast<float>(rng.uniform(-1, 1)));
            batch.labels.push_back(static_cast<int32_t>(rng.next() % 4));
        }
    };
    return options;
}

void make_slow(AsyncOptions& options, int worker, double factor) {
    auto network = std::make_shared<comm::Network>(
        options.run.network ? *options.run.network : comm::ideal_network(options.run.plan.dp + 1, options.run.link));
    comm::slow_rank(*network, worker, factor);
    options.run.network = network;
}

// "0:0 1:1": the worker and the staleness of every update, in order.
std::string order_of(const AsyncRun& run) {
    std::string text;
    for (const ServerUpdate& update : run.updates)
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", update.worker, update.staleness);
    return text;
}

std::string refusal_of(const AsyncOptions& options) {
    try {
        check_asynchronous(options);
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "";
}
}  // namespace

TEST_CASE("one worker and a server take the synchronous steps of one rank, bit for bit") {
    for (const char* optimizer : {"sgd", "adam"})
        for (const DType type : {DType::f32, DType::f64}) {
            AsyncOptions options = options_for(1, 7, type, {2, 100});
            options.run.training.optimizer = optimizer;
            const AsyncRun run = train_asynchronously(options);
            ParallelTrainer steps(options.run);
            for (size_t i = 0; i < 7; ++i) {
                const double loss = steps.step().loss;
                INFO(optimizer << ", step " << i);
                CHECK(run.updates.at(i).loss == loss);
                CHECK(run.updates.at(i).staleness == 0);
            }
            size_t compared = 0;
            for (const nn::NamedArray& array : steps.checkpoint().tensors) {
                const Array* here = nn::find(run.checkpoint.tensors, array.name);
                REQUIRE(here);
                CHECK(here->bytes == array.array.bytes);
                ++compared;
            }
            CHECK(compared >= 4);
            CHECK(run.checkpoint.step == 7);
        }
}

TEST_CASE("a worker that is twice as fast pushes twice as often, in the order and with the staleness worked out by hand") {
    // Without link times and with an update that takes U of a gradient's T: worker 0 pushes at T, 2T+U, 3T+2U, 4T+3U ...,
    // where worker 1's update at 2T holds the second one up by U; worker 1 pushes at 2T, 4T+U, 6T+2U ...
    AsyncOptions options = options_for(2, 6);
    options.run.batches_of_worker = {6, 3};
    make_slow(options, 1, 2);
    const AsyncRun run = train_asynchronously(options);
    CHECK(order_of(run) == "0:0 1:1 0:1 0:0 1:2 0:1 0:0 1:2 0:1");
    const double t = run.updates[0].arrived_us, u = run.updates[0].updated_us - t;
    REQUIRE(t > u);
    REQUIRE(u > 0);
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9 * b; };
    CHECK(near(run.updates[1].arrived_us, 2 * t));
    CHECK(near(run.updates[2].arrived_us, 2 * t + u));
    CHECK(near(run.updates[3].arrived_us, 3 * t + 2 * u));
    CHECK(near(run.updates[4].arrived_us, 4 * t + u));
    CHECK(run.by_staleness() == std::vector<int64_t>{3, 4, 2});
    CHECK(run.most_stale() == 2);
    CHECK(near(run.mean_staleness(), 8 / 9.0));
    CHECK(run.held_us() == 0);
}

TEST_CASE("equal workers push in the order of their ranks, each update by the others stale") {
    const AsyncRun run = train_asynchronously(options_for(3, 3));
    CHECK(order_of(run) == "0:0 1:1 2:2 0:2 1:2 2:2 0:2 1:2 2:2");
}

TEST_CASE("an asynchronous run is the same whatever the threads do, with links and slow ranks too") {
    AsyncOptions options = options_for(5, 6, DType::f32, {2, 50});
    make_slow(options, 3, 1.7);
    make_slow(options, 1, 1.1);
    options.bound = 2;
    const AsyncRun first = train_asynchronously(options);
    REQUIRE(first.updates.size() == 30);
    for (int again = 0; again < 6; ++again) {
        const AsyncRun run = train_asynchronously(options);
        REQUIRE(run.updates.size() == 30);
        for (size_t i = 0; i < 30; ++i) {
            const ServerUpdate &a = first.updates[i], &b = run.updates[i];
            CHECK(std::tie(a.worker, a.batch, a.staleness, a.loss, a.fetched_us, a.computed_us, a.updated_us) ==
                  std::tie(b.worker, b.batch, b.staleness, b.loss, b.fetched_us, b.computed_us, b.updated_us));
        }
        for (const nn::NamedArray& array : first.checkpoint.tensors)
            CHECK(nn::find(run.checkpoint.tensors, array.name)->bytes == array.array.bytes);
    }
}

TEST_CASE("every push is taken in the order of arrival, and no worker fetches weights that are not there yet") {
    AsyncOptions options = options_for(4, 8, DType::f32, {1, 40});
    make_slow(options, 2, 3);
    const AsyncRun run = train_asynchronously(options);
    for (size_t i = 0; i < run.updates.size(); ++i) {
        const ServerUpdate& update = run.updates[i];
        CHECK(update.fetched_us < update.computed_us);
        CHECK(update.computed_us < update.arrived_us);
        CHECK(update.begun_us >= update.arrived_us);
        if (i > 0) {
            CHECK(update.arrived_us >= run.updates[i - 1].arrived_us);
            CHECK(update.begun_us >= run.updates[i - 1].updated_us);
        }
        int64_t others = 0;  // made after the fetch was answered: after this worker's own last update
        for (size_t j = i; j-- > 0 && run.updates[j].worker != update.worker;) ++others;
        CHECK(update.staleness == others);
    }
}

TEST_CASE("with a bound no worker begins a batch further ahead of the slowest than it says") {
    for (const int64_t bound : {0, 1, 3}) {
        AsyncOptions options = options_for(3, 12);
        make_slow(options, 2, 5);
        options.bound = bound;
        const AsyncRun run = train_asynchronously(options);
        REQUIRE(run.updates.size() == 36);
        int64_t farthest = 0;
        for (const ServerUpdate& one : run.updates) {  // when it fetched, what had everybody done?
            std::vector<int64_t> done(3, 0);
            for (const ServerUpdate& other : run.updates)
                if (other.updated_us <= one.fetched_us) ++done[static_cast<size_t>(other.worker)];
            for (const int64_t of : done)
                if (of < 12) farthest = std::max(farthest, one.batch - of);
        }
        INFO("bound " << bound);
        CHECK(farthest == bound);
        CHECK(run.most_stale() <= 2 * (2 * bound + 1));
        CHECK(run.held_us() > 0);
    }
    AsyncOptions free = options_for(3, 12);
    make_slow(free, 2, 5);
    CHECK(train_asynchronously(free).held_us() == 0);
}

TEST_CASE("the server's port takes one push at a time") {
    const comm::Link link{0, 10};
    const AsyncRun run = train_asynchronously(options_for(3, 1, DType::f32, link));
    const double carried = static_cast<double>(run.push_bytes) / link.bytes_per_us;
    REQUIRE(run.updates.size() == 3);
    for (size_t i = 1; i < 3; ++i) CHECK(run.updates[i].arrived_us >= run.updates[i - 1].arrived_us + carried * (1 - 1e-12));
    CHECK(std::abs(run.port_share() - 3 * carried / run.end_us) < 1e-12);
}

TEST_CASE("an asynchronous run that was told to stop ends with what it had, and goes on from its checkpoint") {
    AsyncOptions options = options_for(2, 50);
    int64_t seen = 0;
    options.on_update = [&](const ServerUpdate&) { return ++seen < 9; };
    const AsyncRun cut = train_asynchronously(options);
    CHECK(cut.updates.size() >= 9);
    CHECK(cut.updates.size() <= 10);
    AsyncOptions on = options_for(2, 3);
    on.from = &cut.checkpoint;
    const AsyncRun more = train_asynchronously(on);
    REQUIRE(more.updates.size() == 6);
    CHECK(more.updates[0].batch == cut.checkpoint.step);
}

TEST_CASE("what cannot train asynchronously is told what would") {
    const auto refuses = [](const char* why, const std::function<void(AsyncOptions&)>& change) {
        AsyncOptions options = options_for(2, 1);
        change(options);
        CHECK_THAT(refusal_of(options), Contains(why));
    };
    refuses("leave out --tp, --pp and --cp", [](AsyncOptions& o) { o.run.plan.tp = 2; });
    refuses("leave out --zero and --offload", [](AsyncOptions& o) { o.run.plan.zero = 1; });
    refuses("leave out --compression", [](AsyncOptions& o) { o.run.plan.compression = Compression::fp16; });
    refuses("leave out --all-reduce", [](AsyncOptions& o) { o.run.plan.all_reduce = "tree"; });
    refuses("--async trains in f32 or f64", [](AsyncOptions& o) { o.run.training.dtype = DType::bf16; });
    refuses("a worker is told slow=FACTOR and nothing else", [](AsyncOptions& o) { o.run.told = {{1, "lr", "0.2"}}; });
    refuses("how many batches each worker has", [](AsyncOptions& o) { o.run.steps = 0; });
    CHECK(refusal_of(options_for(2, 1)) == "");
    AsyncOptions norms = options_for(2, 1);
    norms.run.training.model = "resnet8";
    norms.run.shape = std::nullopt, norms.run.examples = nullptr;
    CHECK_THROWS_WITH(train_asynchronously(norms), Contains("resnet8 keeps statistics of batch norm"));
    try {
        check_asynchronous(options_for(4, 1), 4);
        FAIL("four processes are no four workers and a server");
    } catch (const Failure& failure) {
        CHECK_THAT(failure.diagnostic.message, Contains("are 5 ranks, but 4 run: mpirun -np 5 would do"));
    }
}

}  // namespace parallel_asynchronous_test
