// Every row of collectives(), over many ranks and sizes, against plain definitions; and the defaults of a Communicator.
#include "core/comm/collectives/collectives.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <map>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"
#include "core/comm/collectives/reduce.h"
#include "core/comm/in_process.h"
#include "tests/catch.h"

namespace comm_collectives_test {

using namespace lockstep;
using namespace lockstep::comm;

namespace {
Buffer buffer_of(std::vector<float>& values) {
    return {values.data(), int64_t(values.size()), DType::f32};
}
Buffer buffer_of(std::vector<double>& values) {
    return {values.data(), int64_t(values.size()), DType::f64};
}

// The shapes that an algorithm is tried in.
std::vector<CollectiveShape> shapes_of(const CollectiveRow& row, int ranks) {
    std::vector<CollectiveShape> shapes;
    const bool rooted = row.operation == "broadcast" || row.operation == "reduce";
    for (int root : rooted ? std::vector<int>{0, ranks / 2, ranks - 1} : std::vector<int>{0})
        for (int pieces : {1, 3})
            for (int servers :
                 row.algorithm == "parameter_server" ? std::vector<int>{1, (ranks + 1) / 2, ranks} : std::vector<int>{1})
                for (int node : row.algorithm == "hierarchical" ? std::vector<int>{1, 2, 4, 8} : std::vector<int>{8})
                    shapes.push_back(
                        {.ranks = ranks, .root = root, .pieces = pieces, .servers = servers, .node_size = node});
    return shapes;
}
}  // namespace

TEST_CASE("every collective leaves what its plain definition says, for any rank count and size") {
    for (const CollectiveRow& row : collectives())
        for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12})
            for (const CollectiveShape& shape : shapes_of(row, ranks))
                for (const int64_t count : {0, 1, 5, 97}) {
                    INFO(row.operation << " " << row.algorithm << " " << ranks << " ranks, root " << shape.root << ", "
                                       << shape.servers << " servers, nodes of " << shape.node_size << ", " << count);
                    const Collective list = row.make(shape);
                    const std::string operation(row.operation);
                    const bool exchange = operation == "all_to_all";
                    const int64_t elements = exchange ? count * ranks : count;
                    // Small whole numbers: every order of adding gives the same sum.
                    const auto value = [&](int rank, int64_t i) { return float((rank * 31 + i * 7) % 100); };
                    std::vector<std::vector<float>> data{size_t(ranks), std::vector<float>(size_t(elements))}, out = data;
                    for (int rank = 0; rank < ranks; ++rank)
                        for (int64_t i = 0; i < elements; ++i) data[size_t(rank)][size_t(i)] = value(rank, i);
                    const GroupResult result = run_in_process(ranks, {1, 1000}, [&](Communicator& communicator) {
                        const auto rank = size_t(communicator.rank());
                        if (exchange)
                            run_all_to_all(list, communicator, buffer_of(data[rank]), buffer_of(out[rank]));
                        else
                            run_collective(list, communicator, operation == "barrier" ? Buffer{} : buffer_of(data[rank]));
                    });
                    REQUIRE(result.problem().empty());
                    if (operation == "barrier") continue;
                    bool right = true;
                    for (int rank = 0; rank < ranks; ++rank)
                        for (int64_t i = 0; i < elements; ++i) {
                            float sum = 0;
                            for (int other = 0; other < ranks; ++other) sum += value(other, i);
                            int owner = 0;
                            while (i >= piece_of(elements, ranks, owner).begin + piece_of(elements, ranks, owner).count)
                                ++owner;
                            const float is = data[size_t(rank)][size_t(i)];
                            if (operation == "all_reduce") right &= is == sum;
                            if (operation == "all_gather") right &= is == value(owner, i);
                            if (operation == "reduce_scatter" && owner == rank) right &= is == sum;
                            if (operation == "broadcast") right &= is == value(shape.root, i);
                            if (operation == "reduce" && rank == shape.root) right &= is == sum;
                            if (exchange)
                                right &= out[size_t(rank)][size_t(i)] == value(int(i / count), rank * count + i % count);
                        }
                    CHECK(right);
                }
}

TEST_CASE("every collective pairs each send with one receive of the same chunks in the same round") {
    for (const CollectiveRow& row : collectives())
        for (int ranks = 1; ranks <= 9; ++ranks)
            for (const CollectiveShape& shape : shapes_of(row, ranks)) {
                INFO(row.operation << " " << row.algorithm << " " << ranks);
                const Collective collective = row.make(shape);
                std::map<std::vector<int>, int> open;  // round, from, to, chunk, run
                for (const CollectiveStep& step : collective.steps) {
                    CHECK((step.chunk >= 0 && step.run >= 1 && step.chunk + step.run <= collective.chunks));
                    CHECK((step.round >= 0 && step.round < collective.rounds && step.rank != step.peer));
                    if (step.verb == Verb::send)
                        ++open[{step.round, step.rank, step.peer, step.chunk, step.run}];
                    else
                        --open[{step.round, step.peer, step.rank, step.chunk, step.run}];
                }
                for (const auto& [key, count] : open) CHECK(count == 0);
            }
}

TEST_CASE("a barrier lets nobody go before the last has come") {
    for (const CollectiveRow& row : collectives()) {
        if (row.operation != "barrier") continue;
        for (int ranks : {2, 3, 5, 8})
            for (int late = 0; late < ranks; ++late) {
                INFO(row.algorithm << " " << ranks << " late " << late);
                const Collective list = row.make({.ranks = ranks, .node_size = 2});
                const auto result = run_in_process(ranks, {1, 1000}, [&](Communicator& communicator) {
                    if (communicator.rank() == late) communicator.advance(500);
                    run_collective(list, communicator, {});
                });
                for (const RankResult& rank : result.ranks) CHECK(rank.time_us >= 500);
            }
    }
}

TEST_CASE("a communicator's own collectives work on any type, on a part of the buffer, and leave their input") {
    const auto result = run_in_process(3, {}, [](Communicator& world) {
        const int rank = world.rank();
        std::vector<double> whole = {1.0 + rank, 2, 3, 4, 5.5, 6, 7};
        std::vector<double> piece(size_t(piece_of(7, 3, rank).count));
        world.reduce_scatter(buffer_of(whole), buffer_of(piece));
        if (whole != std::vector<double>{1.0 + rank, 2, 3, 4, 5.5, 6, 7}) throw Failure("the input has changed");
        const std::vector<double> sums = {6, 6, 9, 12, 16.5, 18, 21};
        for (size_t i = 0; i < piece.size(); ++i)
            if (!(piece[i] == sums[size_t(piece_of(7, 3, rank).begin) + i])) throw Failure("wrong sum");
        std::vector<double> again(7);
        world.all_gather(buffer_of(piece), buffer_of(again));
        if (again != sums) throw Failure("wrong gather");
        world.broadcast(buffer_of(again), 2);
        world.reduce(buffer_of(again), 1, Reduction::max);
        if (rank == 1 && again != sums) throw Failure("wrong maximum");
        std::vector<float> from = {float(10 * rank), float(10 * rank + 1), float(10 * rank + 2)}, to(3);
        world.all_to_all(buffer_of(from), buffer_of(to));
        if (to != std::vector<float>{float(rank), float(10 + rank), float(20 + rank)}) throw Failure("wrong exchange");
        world.barrier();
        world.all_reduce(Buffer{nullptr, 1 << 20, DType::bf16});  // a size alone
    });
    CHECK(result.problem().empty());
}

TEST_CASE("types reduce as they should: halves round once, integers wrap, NaN stays") {
    uint16_t halves[2] = {f32_to_f16(2048), f32_to_bf16(256)};
    const uint16_t ones[2] = {f32_to_f16(1), f32_to_bf16(3)};
    reduce_into({&halves[0], 1, DType::f16}, &ones[0], Reduction::sum);
    reduce_into({&halves[1], 1, DType::bf16}, &ones[1], Reduction::sum);
    CHECK(f16_to_f32(halves[0]) == 2048);  // 2049 lies half way: to even
    CHECK(bf16_to_f32(halves[1]) == 260);  // 259 of 256, 258, 260: half way, to even
    int8_t small[3] = {127, -5, 3};
    const int8_t other[3] = {1, 4, 3};
    reduce_into({small, 3, DType::i8}, other, Reduction::sum);
    CHECK((small[0] == -128 && small[1] == -1 && small[2] == 6));
    uint64_t wide = ~uint64_t{0};
    const uint64_t two = 2;
    reduce_into({&wide, 1, DType::u64}, &two, Reduction::min);
    CHECK(wide == 2);
    for (const Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min})
        for (const bool mine : {true, false}) {
            float value = mine ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
            const float arrived = mine ? 1.0f : std::numeric_limits<float>::quiet_NaN();
            reduce_into({&value, 1, DType::f32}, &arrived, reduction);
            CHECK(std::isnan(value));
        }
}

TEST_CASE("groups and streams have messages and clocks of their own") {
    const auto result = run_in_process(4, {2, 1000}, [](Communicator& world) {
        const int rank = world.rank();
        const int mine[2] = {rank % 2 == 0 ? 2 : 1, rank % 2 == 0 ? 0 : 3};  // {2, 0} and {1, 3}
        const auto pair = world.group(mine);
        if (pair->size() != 2 || pair->world_rank(pair->rank()) != rank) throw Failure("wrong place");
        const auto beside = pair->on(1);
        float first = float(rank), second = float(100 + rank);
        const auto one = [](float& value) { return Buffer{&value, 1, DType::f32}; };
        const int peer = 1 - pair->rank();
        pair->send(peer, one(first));
        beside->wait_until(50);
        beside->send(peer, one(second));
        float arrived = 0;
        beside->receive(peer, one(arrived));
        if (arrived != float(100 + pair->world_rank(peer))) throw Failure("the other stream's message");
        if (!(std::abs(beside->time_us() - 52.004) < 1e-9)) throw Failure("wrong time on stream 1");
        pair->receive(peer, one(arrived));
        if (arrived != float(pair->world_rank(peer))) throw Failure("the wrong message");
        if (!(std::abs(world.time_us() - 2.004) < 1e-9)) throw Failure("stream 0 waited for stream 1");
        world.wait_until(beside->time_us());
        world.wait_until(1);  // never back
        if (!(std::abs(world.time_us() - 52.004) < 1e-9)) throw Failure("the event was not waited for");
    });
    CHECK(result.problem().empty());
    const auto wrong = run_in_process(2, {}, [](Communicator& world) {
        const int other[1] = {1 - world.rank()};
        world.group(other);
    });
    CHECK(wrong.problem() == "rank 0 died: rank 0 asks for a group without itself");
}

TEST_CASE("lent buffers do not dead-lock a program that sends before it waits") {
    const auto result = run_in_process(2, {}, [](Communicator& world) {
        const auto beside = world.on(1);
        std::vector<float> data(1000, float(world.rank())), word(1, 7.0f);
        if (world.rank() == 0) {  // the broadcast first, then a message that rank 1 takes before the broadcast
            beside->broadcast(buffer_of(data), 0);
            data.assign(1000, -1.0f);
            world.send(1, buffer_of(word));
        } else {
            world.receive(0, buffer_of(word));
            beside->broadcast(buffer_of(data), 0);
            if (data != std::vector<float>(1000, 0.0f)) throw Failure("not what was sent");
        }
    });
    CHECK(result.problem().empty());
}

TEST_CASE("a rank that throws ends the run with its name, whoever waits for it") {
    for (int i = 0; i < 10; ++i) {
        const auto result = run_in_process(4, {}, [](Communicator& world) {
            std::vector<float> data(100);
            world.all_reduce(buffer_of(data));
            if (world.rank() >= 2) throw Failure("out of memory");
            world.all_reduce(buffer_of(data));
        });
        CHECK(result.problem() == "rank 2 died: out of memory");
        CHECK_FALSE(result.deadlock);
    }
}

TEST_CASE("unknown collectives and impossible shapes are refused in one sentence") {
    const auto message = [](auto call) -> std::string {
        try {
            call();
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return "";
    };
    CHECK(message([] { collective("all_reduce", "rung", {.ranks = 2}); }) ==
          "there is no algorithm of all_reduce 'rung', did you mean 'ring'?");
    CHECK(message([] { collective("allreduce", "ring", {.ranks = 2}); }) ==
          "there is no collective 'allreduce', did you mean 'all_reduce'?");
    CHECK(message([] { collective("broadcast", "ring", {.ranks = 2, .root = 2}); }) ==
          "rank 2 cannot be the root: the 2 ranks are 0 to 1");
    CHECK(message([] { collective("all_reduce", "ring", {.ranks = 2, .servers = 3}); }) ==
          "3 servers are impossible: 1 to 2 of the ranks can be");
}

// Who knows of what, by vector clocks: a receive has seen all that its sender had seen when it sent.
TEST_CASE("no rank receives into what it has lent before it can know that it was read") {
    struct Loan {
        const CollectiveStep* step;
        int read_at = 0;  // of the reader's clock; 0: not yet
    };
    struct Sent {
        std::vector<int> seen;
        size_t loan;
    };
    for (const CollectiveRow& row : collectives()) {
        if (row.operation == "barrier") continue;  // moves no bytes
        for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16})
            for (const CollectiveShape& shape : shapes_of(row, ranks)) {
                const Collective list = row.make(shape);
                const auto n = size_t(ranks);
                std::vector<std::vector<int>> seen(n, std::vector<int>(n));
                std::vector<std::vector<Loan>> loans(n);
                std::map<std::pair<int, int>, std::deque<Sent>> mail;
                std::vector<size_t> next(n);
                int64_t too_early = 0;
                for (bool moved = true; moved;) {
                    moved = false;
                    for (size_t rank = 0; rank < n; ++rank) {
                        const auto steps = list.of(int(rank));
                        for (; next[rank] < steps.size(); ++next[rank], moved = true) {
                            const CollectiveStep& step = steps[next[rank]];
                            const auto peer = size_t(step.peer);
                            if (step.verb == Verb::send) {
                                ++seen[rank][rank];
                                loans[rank].push_back({&step});
                                mail[{int(rank), step.peer}].push_back({seen[rank], loans[rank].size() - 1});
                                continue;
                            }
                            auto& box = mail[{step.peer, int(rank)}];
                            if (box.empty()) break;
                            for (size_t i = 0; i < n; ++i) seen[rank][i] = std::max(seen[rank][i], box.front().seen[i]);
                            loans[peer][box.front().loan].read_at = ++seen[rank][rank];
                            box.pop_front();
                            for (const Loan& loan : loans[rank]) {
                                const bool same = loan.step->chunk < step.chunk + step.run &&
                                                  step.chunk < loan.step->chunk + loan.step->run;
                                const bool read = loan.read_at > 0 && loan.read_at <= seen[rank][size_t(loan.step->peer)];
                                too_early += same && !read;
                            }
                        }
                    }
                }
                INFO(row.operation << " " << row.algorithm << ", " << ranks << " ranks");
                for (size_t rank = 0; rank < n; ++rank) CHECK(next[rank] == list.of(int(rank)).size());
                CHECK(too_early == 0);
            }
    }
}

}  // namespace comm_collectives_test
