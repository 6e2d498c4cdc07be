// The loader against its promise: the batches of a plain loop, whatever the threads do.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/rng.h"
#include "core/nn/data/batches.h"
#include "core/nn/data/loader.h"
#include "tests/nn/data_support.h"

namespace nn_data_loader_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
using Numbers = std::vector<uint64_t>;

void make(uint64_t step, Numbers& batch) {
    batch.resize(100);
    Rng rng(step);
    for (uint64_t& value : batch) value = rng.next();
}
void sleep_a_little(uint64_t step) {  // so that later steps are often finished first
    std::this_thread::sleep_for(std::chrono::microseconds(Rng(step ^ 0x51ee9).below(800)));
}
}  // namespace

TEST_CASE("batches come in order with the same contents, whatever the threads and the depth") {
    for (const int threads : {1, 2, 5})
        for (const int depth : {1, 2, 7}) {
            Loader<Numbers> loader({.first = 11, .steps = 40, .depth = depth, .threads = threads},
                                   [](uint64_t step, Numbers& batch) {
                                       sleep_a_little(step);
                                       make(step, batch);
                                   });
            Numbers batch, expected;
            for (uint64_t step = 11; step < 51; ++step) {
                REQUIRE(loader.next(batch));
                make(step, expected);
                REQUIRE(batch == expected);
            }
            CHECK(!loader.next(batch));
            CHECK(!loader.next(batch));
        }
}

TEST_CASE("no more than `depth` batches are made ahead, and these without being asked for") {
    std::atomic<int> made = 0;
    Loader<Numbers> loader({.depth = 3, .threads = 2}, [&](uint64_t, Numbers&) { ++made; });
    const auto wait_for = [&](int count) {
        for (int i = 0; i < 5000 && made < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return made.load();
    };
    CHECK(wait_for(3) == 3);
    Numbers batch;
    loader.next(batch);
    loader.next(batch);
    CHECK(wait_for(5) == 5);
}

TEST_CASE("buffers go round: a steady state makes no new ones") {
    std::set<const uint64_t*> buffers;
    std::mutex mutex;
    Loader<Numbers> loader({.steps = 60, .depth = 3}, [&](uint64_t step, Numbers& batch) {
        make(step, batch);
        const std::lock_guard lock(mutex);
        buffers.insert(batch.data());
    });
    Numbers batch;
    while (loader.next(batch)) {
    }
    CHECK(buffers.size() <= 4);  // three in the queue, one with the caller
}

TEST_CASE("what making a batch throws comes out of the next() for that batch, and again") {
    Loader<Numbers> loader({.depth = 4, .threads = 3}, [](uint64_t step, Numbers& batch) {
        if (step == 5) throw Failure("the disk is gone");
        make(step, batch);
    });
    Numbers batch;
    for (int i = 0; i < 5; ++i) CHECK(loader.next(batch));
    CHECK(fails_with("the disk is gone", [&] { loader.next(batch); }));
    CHECK(fails_with("the disk is gone", [&] { loader.next(batch); }));
}

TEST_CASE("a stop ends a wait, and a loader that is left unread ends") {
    std::stop_source stop;
    std::atomic<bool> held = true;
    {
        Loader<Numbers> loader({.stop = stop.get_token()}, [&](uint64_t, Numbers&) {
            while (held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        std::jthread stopper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            stop.request_stop();
        });
        Numbers batch;
        CHECK(fails_with("cancelled", [&] { loader.next(batch); }));
        held = false;
    }
    for (int i = 0; i < 20; ++i) Loader<Numbers> unread({.depth = 2, .threads = 2}, make);
    stop = {};
    stop.request_stop();
    Loader<Numbers> stopped_before({.stop = stop.get_token()}, make);
    Numbers batch;
    CHECK(fails_with("cancelled", [&] { stopped_before.next(batch); }));
}

TEST_CASE("progress counts batches and the caller's waiting") {
    std::vector<LoaderProgress> seen;
    Loader<Numbers> loader({.steps = 3, .on_progress = [&](const LoaderProgress& now) { seen.push_back(now); }},
                           [](uint64_t, Numbers&) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    Numbers batch;
    while (loader.next(batch)) {
    }
    REQUIRE(seen.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(seen[i].taken == i + 1);
        CHECK((seen[i].made >= i + 1 && seen[i].made <= 3));
        CHECK(seen[i].steps == 3);
    }
    CHECK(seen[0].waited_seconds > 0.002);
    CHECK(loader.progress().taken == 3);
    CHECK(fails_with("0 batches deep", [] { Loader<Numbers> none({.depth = 0}, make); }));
    CHECK(fails_with("0 loader threads", [] { Loader<Numbers> none({.threads = 0}, make); }));
}

TEST_CASE("a loader's batches of pictures are the set's, and the ranks' are parts of the whole") {
    const DataSet set = open_digits(3);
    const Sampler whole{.batch = 6};
    Loader<PictureBatch> loader({.first = 5, .steps = 3, .threads = 2},
                                [&](uint64_t step, PictureBatch& batch) { fill(batch, set, whole, step); });
    PictureBatch batch, part;
    std::vector<float> image(784);
    for (uint64_t step = 5; loader.next(batch); ++step) {
        REQUIRE(batch.images.size() == 6 * 784);
        for (uint64_t i = 0; i < 6; ++i) {
            CHECK(batch.labels[i] == set.train(step * 6 + i, image));
            CHECK(std::equal(image.begin(), image.end(), batch.images.begin() + long(i) * 784));
        }
        for (int rank = 0; rank < 2; ++rank) {
            fill(part, set, {.batch = 3, .rank = rank, .world = 2}, step);
            CHECK(std::equal(part.images.begin(), part.images.end(), batch.images.begin() + rank * 3 * 784));
            CHECK(std::equal(part.labels.begin(), part.labels.end(), batch.labels.begin() + rank * 3));
        }
    }
    fill_test(batch, set, 1990, 10);
    CHECK(batch.labels[9] == set.test(1999, image));
    CHECK(fails_with("digits has 2000 test examples, not 11 from number 1990 on", [&] { fill_test(batch, set, 1990, 11); }));
}

TEST_CASE("batches of points, of a line and of sequences hold their examples row by row") {
    const Sampler sampler{.batch = 3};
    const PointSet points = spirals(1);
    PointBatch p;
    fill(p, points, sampler, 2);
    std::vector<float> x(2);
    CHECK(p.labels[1] == points.train(7, x));
    CHECK(std::equal(x.begin(), x.end(), p.x.begin() + 2));
    const LineSet fit = line(1, 2);
    LineBatch l;
    fill(l, fit, sampler, 2);
    CHECK(l.y[2] == fit.train(8, x));
    CHECK(std::equal(x.begin(), x.end(), l.x.begin() + 4));
    const SequenceSet copy = copy_task(1, 4);
    SequenceBatch s;
    fill(s, copy, sampler, 2);
    std::vector<int64_t> tokens(9);
    std::vector<int32_t> targets(9);
    copy.train(6, tokens, targets);
    CHECK(std::equal(tokens.begin(), tokens.end(), s.tokens.begin()));
    CHECK(std::equal(targets.begin(), targets.end(), s.targets.begin()));
    fill_test(s, copy, 999, 1);
    copy.test(999, tokens, targets);
    CHECK(s.tokens == tokens);
}

}  // namespace nn_data_loader_test
