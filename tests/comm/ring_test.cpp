#include <cmath>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/in_process.h"
#include "tests/catch.h"

namespace comm_ring_test {

using namespace lockstep;
using namespace lockstep::comm;

static Buffer of(std::vector<float>& values) {
    return {values.data(), int64_t(values.size()), DType::f32};
}

TEST_CASE("a ring all-reduce leaves the same sum on every rank") {
    for (int ranks = 1; ranks <= 8; ++ranks)
        for (size_t count : {0u, 1u, 5u, 64u, 1000u}) {
            INFO(ranks << " ranks, " << count << " elements");
            std::vector<std::vector<float>> buffers{size_t(ranks), std::vector<float>(count)};
            std::vector<double> sum(count, 0);
            Rng rng(count + 1);
            for (auto& buffer : buffers)
                for (size_t i = 0; i < count; ++i) sum[i] += double(buffer[i] = float(rng.uniform(-1, 1)));
            const Collective ring = *collective("all_reduce", "ring", {.ranks = ranks});
            const GroupResult result = run_in_process(ranks, {}, [&](Communicator& communicator) {
                run_collective(ring, communicator, of(buffers[size_t(communicator.rank())]));
            });
            CHECK_FALSE(result.deadlock);
            uint64_t sent = 0;
            for (const RankResult& rank : result.ranks) {
                CHECK(rank.failure.empty());
                CHECK(rank.messages_sent == uint64_t(2 * (ranks - 1)));
                // 2(n-1)/n of the buffer, to one element a round where n does not divide it
                CHECK(std::abs(double(rank.bytes_sent) - 2.0 * (ranks - 1) / ranks * double(count) * 4) <=
                      4.0 * 2 * (ranks - 1));
                sent += rank.bytes_sent;
            }
            CHECK(sent == uint64_t(2 * (ranks - 1)) * count * 4);
            for (const auto& buffer : buffers) {
                CHECK(buffer == buffers[0]);
                for (size_t i = 0; i < count; ++i) CHECK(std::abs(double(buffer[i]) - sum[i]) <= 1e-6 * ranks);
            }
        }
}

TEST_CASE("a ring takes 2(n-1) latencies and 2(n-1)/n of the buffer's time") {
    const Link link{.latency_us = 3, .bytes_per_us = 1000};
    for (int ranks : {2, 4, 8}) {
        const size_t count = 8 * 5000;
        const Collective ring = *collective("all_reduce", "ring", {.ranks = ranks});
        const GroupResult result = run_in_process(ranks, link, [&](Communicator& communicator) {
            std::vector<float> buffer(count, 1.0f);
            run_collective(ring, communicator, of(buffer));
        });
        const double expected = 2 * (ranks - 1) * 3.0 + 2.0 * (ranks - 1) / ranks * double(count) * 4 / 1000;
        for (const RankResult& rank : result.ranks) {
            CHECK(std::abs(rank.time_us - expected) < 1e-6 * expected);
            CHECK(rank.bytes_sent == uint64_t(2 * (ranks - 1)) * count * 4 / uint64_t(ranks));
        }
    }
}

TEST_CASE("a late rank delays its neighbours, and the times are the same every time") {
    const Collective ring = *collective("all_reduce", "ring", {.ranks = 4});
    const auto times = [&] {
        std::vector<double> all;
        const auto result = run_in_process(4, {1, 1000}, [&](Communicator& communicator) {
            if (communicator.rank() == 2) communicator.advance(100);
            std::vector<float> buffer(4000, 1.0f);
            run_collective(ring, communicator, of(buffer));
        });
        for (const RankResult& rank : result.ranks) all.push_back(rank.time_us);
        return all;
    };
    const auto first = times();
    for (double time : first) CHECK(time > 100);
    for (int i = 0; i < 20; ++i) CHECK(times() == first);
}

TEST_CASE("crossed receives are a deadlock that says who waits for whom") {
    const auto crossed = run_in_process(3, {}, [](Communicator& communicator) {
        if (communicator.rank() == 2) return;
        uint8_t byte{};
        communicator.receive(1 - communicator.rank(), {&byte, 1, DType::u8});
        communicator.send(1 - communicator.rank(), {&byte, 1, DType::u8});
    });
    REQUIRE(crossed.deadlock);
    CHECK(crossed.deadlock->waits == std::vector<Wait>{{0, 1, false}, {1, 0, false}});
    CHECK(crossed.deadlock->text() == "rank 0 waits for rank 1; rank 1 waits for rank 0");

    const auto ended = run_in_process(2, {}, [](Communicator& communicator) {
        uint8_t byte{};
        if (communicator.rank() == 1) communicator.receive(0, {&byte, 1, DType::u8});
    });
    REQUIRE(ended.deadlock);
    CHECK(ended.deadlock->text() == "rank 1 waits for rank 0, which has finished");
}

TEST_CASE("a wrong size, a wrong peer and a wrong group are refused") {
    const auto sizes = run_in_process(2, {}, [](Communicator& communicator) {
        uint8_t bytes[8] = {};
        if (communicator.rank() == 0) communicator.send(1, {bytes, 8, DType::u8});
        if (communicator.rank() == 1) communicator.receive(0, {bytes, 4, DType::u8});
    });
    CHECK(sizes.ranks[1].failure.find("rank 1 expects 4 bytes from rank 0, which sent 8") != std::string::npos);
    const auto self = run_in_process(2, {}, [](Communicator& communicator) { communicator.send(2, {}); });
    CHECK(self.ranks[0].failure.find("cannot send to rank 2 in a group of 2") != std::string::npos);
    const auto group = run_in_process(2, {}, [](Communicator& communicator) {
        std::vector<float> buffer(3);
        run_collective(*collective("all_reduce", "ring", {.ranks = 3}), communicator, of(buffer));
    });
    CHECK(group.ranks[0].failure.find("a collective of 3 ranks cannot run in a group of 2") != std::string::npos);
    CHECK_THROWS_AS(run_in_process(0, {}, [](Communicator&) {}), Failure);
}

TEST_CASE("pieces cover the buffer in order, sizes differing by one at most") {
    for (int64_t elements : {0, 1, 7, 8, 100})
        for (int chunks = 1; chunks <= 9; ++chunks) {
            int64_t at = 0;
            for (int chunk = 0; chunk < chunks; ++chunk) {
                const Piece piece = piece_of(elements, chunks, chunk);
                CHECK(piece.begin == at);
                CHECK((piece.count >= elements / chunks && piece.count <= elements / chunks + 1));
                at += piece.count;
            }
            CHECK(at == elements);
        }
}

}  // namespace comm_ring_test
