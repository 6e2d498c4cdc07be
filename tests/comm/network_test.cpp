// Links, topologies, contention, and collectives timed on them: against closed formulas, and against ranks that really run.
#include "core/comm/network/network.h"

#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "core/base/diagnostic.h"
#include "core/comm/in_process.h"
#include "core/comm/network/timing.h"
#include "core/comm/outside/outside.h"
#include "tests/catch.h"

namespace comm_network_test {

using namespace lockstep;
using namespace lockstep::comm;

namespace {
constexpr Link test_link{2, 1000};
bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

std::shared_ptr<const Network> network_of(const std::string& topology, int ranks, int node_size = 4) {
    if (topology == "ideal") return std::make_shared<const Network>(ideal_network(ranks, test_link));
    return std::make_shared<const Network>(
        make_network(topology, {.ranks = ranks, .link = test_link, .inner = {0.5, 10000}, .node_size = node_size}));
}
CollectiveRun timed(const std::string& operation, const std::string& algorithm, const CollectiveShape& shape,
                    const std::string& topology, int64_t elements) {
    return time_collective(collective(operation, algorithm, shape), network_of(topology, shape.ranks), elements);
}
}  // namespace

TEST_CASE("every route leads from rank to rank over links that exist, as far as the topology says") {
    const std::map<std::string, std::vector<int>> longest = {
        // links of the longest way among 1, 2, 6, 8, 16, 27 ranks
        {"switch", {0, 2, 2, 2, 2, 2}},    {"ring", {0, 1, 3, 4, 8, 13}},   {"fully_connected", {0, 1, 1, 1, 1, 1}},
        {"two_level", {0, 2, 4, 4, 4, 4}}, {"torus2d", {0, 1, 2, 3, 4, 5}}, {"torus3d", {0, 1, 2, 3, 4, 3}}};
    const int counts[] = {1, 2, 6, 8, 16, 27};
    for (const TopologyRow& row : topologies())
        for (size_t c = 0; c < std::size(counts); ++c) {
            const int ranks = counts[c];
            INFO(row.name << " of " << ranks);
            const auto network = network_of(std::string(row.name), ranks);
            std::vector<int> way;
            size_t most = 0;
            for (int from = 0; from < ranks; ++from)
                for (int to = 0; to < ranks; ++to) {
                    if (from == to) continue;
                    network->route(from, to, way);
                    int at = from;
                    std::set<int> seen = {from};
                    for (const int link : way) {
                        REQUIRE((link >= 0 && link < int(network->links.size())));
                        REQUIRE(network->links[size_t(link)].from == at);
                        at = network->links[size_t(link)].to;
                        REQUIRE(seen.insert(at).second);
                    }
                    REQUIRE(at == to);
                    most = std::max(most, way.size());
                }
            const auto expected = longest.find(std::string(row.name));
            if (expected != longest.end()) CHECK(int(most) == expected->second[c]);
            if (row.name == "fat_tree") CHECK(most <= 6);
            if (row.name == "dragonfly") CHECK(most <= 5);  // rank, router, global link, router, rank
        }
}

TEST_CASE("times are the closed formulas where those hold") {
    const double a = test_link.latency_us, b = test_link.bytes_per_us;
    for (const int n : {2, 3, 4, 8, 16}) {
        const int64_t elements = 16 * 3 * 5 * 7 * 40;
        const double s = double(elements) * 4, lg = std::log2(n), share = (n - 1.0) / n;
        const bool power = (n & (n - 1)) == 0;
        for (const std::string topology : {"ideal", "switch"}) {
            INFO(n << " ranks, " << topology);
            const auto expect = [&](const char* operation, const char* algorithm, double us, CollectiveShape shape = {}) {
                shape.ranks = n;
                const CollectiveRun run = timed(operation, algorithm, shape, topology, elements);
                INFO(operation << " " << algorithm << ": " << run.total_us << " for " << us);
                CHECK(near(run.total_us, us));
                if (!std::isnan(run.formula_us)) CHECK(near(run.formula_us, us));
            };
            expect("all_reduce", "ring", 2 * (n - 1) * a + 2 * share * s / b);
            expect("all_gather", "ring", (n - 1) * a + share * s / b);
            expect("reduce_scatter", "ring", (n - 1) * a + share * s / b);
            expect("all_to_all", "ring", (n - 1) * a + share * s / b);
            expect("broadcast", "ring", (n - 1) * (a + s / 5 / b) + 4 * s / 5 / b, {.root = 1, .pieces = 5});
            expect("reduce", "ring", (n - 1) * (a + s / 5 / b) + 4 * s / 5 / b, {.root = 1, .pieces = 5});
            expect("broadcast", "parameter_server", a + (n - 1) * s / b);
            expect("reduce_scatter", "parameter_server", a + share * s / b);
            expect("barrier", "ring", (n - 1) * a);
            expect("barrier", "halving_doubling", std::ceil(lg) * a);
            if (power) {
                expect("all_reduce", "halving_doubling", 2 * lg * a + 2 * share * s / b);
                expect("all_gather", "halving_doubling", lg * a + share * s / b);
                expect("reduce_scatter", "halving_doubling", lg * a + share * s / b);
                expect("broadcast", "tree", lg * (a + s / b));
                expect("reduce", "tree", lg * (a + s / b));
            }
            if (topology == "switch") {  // the server's own cable carries what all send
                expect("all_reduce", "parameter_server", 2 * a + 2 * (n - 1) * s / b);
                expect("all_reduce", "parameter_server", 2 * a + 2 * share * s / b, {.servers = n});
                expect("reduce", "parameter_server", a + (n - 1) * s / b);
            }
        }
    }
}

TEST_CASE("a double binary tree sends 2(n-1)S in all, takes 2 log2(n) latencies, and nears 2 S/B in small pieces") {
    for (const int n : {2, 3, 4, 5, 7, 8, 16, 31, 64}) {
        INFO(n);
        const int64_t elements = 64 * 100000;
        const double carried = double(elements) * 4 / test_link.bytes_per_us;
        const CollectiveRun run = timed("all_reduce", "tree", {.ranks = n, .pieces = 64}, "switch", elements);
        int64_t sent = 0;
        for (const int64_t bytes : run.bytes_sent) sent += bytes;
        CHECK(sent == 2 * (n - 1) * elements * 4);
        CHECK(run.total_us > 2 * (n - 1.0) / n * carried);  // no all-reduce is faster
        CHECK(run.total_us < 1.5 * run.formula_us);
        const CollectiveRun empty = timed("all_reduce", "tree", {.ranks = n}, "switch", 0);
        if ((n & (n - 1)) == 0) CHECK(near(empty.total_us, 2 * std::log2(n) * test_link.latency_us));
    }
}

TEST_CASE("the same collective run by ranks and timed alone takes the same time on every network") {
    std::vector<std::string> names = {"ideal"};
    for (const TopologyRow& row : topologies()) names.emplace_back(row.name);
    for (const std::string& topology : names)
        for (const CollectiveRow& row : collectives())
            for (const int ranks : {3, 8}) {
                INFO(topology << " " << row.operation << " " << row.algorithm << " " << ranks);
                const auto list = collective(std::string(row.operation), std::string(row.algorithm),
                                             {.ranks = ranks, .pieces = 3, .servers = 2, .node_size = 4});
                auto network = std::make_shared<Network>(*network_of(topology, ranks));
                slow_rank(*network, 1, 1.7);
                TimingOptions options;
                options.start_us.assign(size_t(ranks), 0);
                options.start_us[2] = 33;
                const int64_t elements = row.operation == "barrier" ? 0 : 999 * (row.operation == "all_to_all" ? ranks : 1);
                const CollectiveRun expected = time_collective(list, network, elements, DType::f32, options);
                const auto live = [&] {
                    return run_in_process(*network, [&](Communicator& communicator) {
                        communicator.wait_until(options.start_us[size_t(communicator.rank())]);
                        const Buffer buffer{nullptr, elements, DType::f32};
                        if (row.operation == "all_to_all")
                            run_all_to_all(*list, communicator, buffer, buffer);
                        else
                            run_collective(*list, communicator, buffer);
                    });
                };
                const GroupResult result = live();
                REQUIRE(result.problem().empty());
                for (int rank = 0; rank < ranks; ++rank) {
                    CHECK(result.ranks[size_t(rank)].time_us == expected.end_us[size_t(rank)]);
                    CHECK(int64_t(result.ranks[size_t(rank)].bytes_sent) == expected.bytes_sent[size_t(rank)]);
                }
                for (size_t link = 0; link < network->links.size(); ++link) {
                    CHECK(result.use.links[link].bytes == expected.use.links[link].bytes);
                    CHECK(near(result.use.links[link].busy_us, expected.use.links[link].busy_us));
                }
                const GroupResult again = live();
                for (int rank = 0; rank < ranks; ++rank)
                    CHECK(again.ranks[size_t(rank)].events == result.ranks[size_t(rank)].events);
            }
}

TEST_CASE("messages that share a cable come one after the other, in order of sending") {
    const auto hub = network_of("switch", 3);
    const auto result = run_in_process(*hub, [](Communicator& world) {
        const Buffer message{nullptr, 5000, DType::u8};  // 5 us on a cable
        if (world.rank() == 1) world.advance(1);
        if (world.rank() > 0) return world.send(0, message);
        world.receive(1, message);
        if (!near(world.time_us(), 12)) throw Failure("rank 1's came before rank 2's, which was sent first");
        world.receive(2, message);
    });
    CHECK(result.problem().empty());
    CHECK(near(result.ranks[0].time_us, 12));  // 2 of latency, twice 5 on rank 0's cable; rank 1's own began at 1

    Traffic traffic(*hub);  // what lies free between two messages is used
    CHECK(near(traffic.carry(1, 0, 5000, 0).arrival_us, 7));
    CHECK(near(traffic.carry(1, 0, 5000, 20).arrival_us, 27));
    CHECK(near(traffic.carry(1, 0, 10000, 5).arrival_us, 17));
    CHECK(near(traffic.carry(1, 0, 10000, 0).arrival_us, 32));  // 15 to 20, then 25 to 30
    CHECK(near(traffic.carry(1, 0, 1000, 0).arrival_us, 33));
}

TEST_CASE("on a ring of links a message to the opposite rank takes the links of those between") {
    const auto ring = network_of("ring", 4);
    Traffic traffic(*ring);
    CHECK(near(traffic.carry(0, 2, 4000, 0).arrival_us, 4 + 2 + 2));
    CHECK(
        near(traffic.carry(1, 2, 4000, 0).arrival_us, 8 + 2));  // half before the first one's head comes at 2, half after it
    CHECK(near(traffic.carry(3, 2, 4000, 0).arrival_us, 4 + 2));
}

TEST_CASE("between nodes with one adapter a hierarchical all-reduce beats a flat tree by what the adapters do not carry") {
    const auto network = network_of("two_level", 16);
    const auto bytes_up = [&](const CollectiveRun& run) {
        int64_t bytes = 0;
        for (size_t link = 0; link < network->links.size(); ++link)
            if (network->nodes[size_t(network->links[link].to)].name == "spine") bytes += run.use.links[link].bytes;
        return bytes;
    };
    const int64_t elements = 1 << 20, s = elements * 4;
    const auto hierarchical = timed("all_reduce", "hierarchical", {.ranks = 16, .node_size = 4}, "two_level", elements);
    const auto halving = timed("all_reduce", "halving_doubling", {.ranks = 16}, "two_level", elements);
    CHECK(bytes_up(hierarchical) == 4 * 2 * 3 * s / 4);  // 4 nodes send 2 (m-1)/m of the buffer each
    CHECK(bytes_up(halving) == 16 * 2 * 3 * s / 4);      // every rank does
    CHECK(hierarchical.total_us < halving.total_us);
}

TEST_CASE("waits say why, and a rank's waits and receives leave no gap") {
    TimingOptions options;
    options.start_us = {0, 0, 100, 0};
    const auto run =
        time_collective(collective("all_reduce", "ring", {.ranks = 4}), network_of("switch", 4), 4000, DType::f32, options);
    double late = 0;
    for (int rank = 0; rank < 4; ++rank) {
        double waited = 0;
        for (const RankWait& wait : run.waits)
            if (wait.rank == rank) waited += wait.end_us - wait.begin_us;
        CHECK(near(run.start_us[size_t(rank)] + waited, run.end_us[size_t(rank)]));  // it does nothing else
    }
    for (const RankWait& wait : run.waits)
        if (wait.cause == WaitCause::late_sender && run.transfers[size_t(wait.transfer)].from == 2)
            late = late == 0 ? wait.end_us : std::min(late, wait.end_us);
    CHECK(near(late, 100));
    CHECK(run.total_us > 100);
}

TEST_CASE("contributions begin with a rank's own and end with everybody's") {
    for (const CollectiveRow& row : collectives())
        for (const int ranks : {1, 5, 8}) {
            INFO(row.operation << " " << row.algorithm << " " << ranks);
            const auto list = collective(std::string(row.operation), std::string(row.algorithm),
                                         {.ranks = ranks, .root = ranks - 1, .pieces = 2, .node_size = 4});
            const auto rounds = contributions(*list);
            REQUIRE(int(rounds.size()) == list->rounds + 1);
            const uint64_t all = (uint64_t{1} << ranks) - 1;
            for (int rank = 0; rank < ranks; ++rank)
                for (int chunk = 0; chunk < list->chunks; ++chunk) {
                    const uint64_t last = rounds.back()[size_t(rank * list->chunks + chunk)];
                    if (row.operation == "all_reduce") CHECK(last == all);
                    if (row.operation == "all_gather") CHECK(last == uint64_t{1} << chunk);
                    if (row.operation == "broadcast") CHECK(last == uint64_t{1} << (ranks - 1));
                    if (row.operation == "reduce" && rank == ranks - 1) CHECK(last == all);
                    if (row.operation == "reduce_scatter" && rank == chunk) CHECK(last == all);
                    if (row.operation == "all_to_all" && chunk % ranks == rank)
                        CHECK(last == uint64_t{1} << (chunk / ranks));
                }
        }
    CHECK(contributions(*collective("all_reduce", "tree", {.ranks = 65})).empty());
}

TEST_CASE("bus bandwidth is as nccl-tests has it, and that of a large ring is the link's") {
    CHECK(near(bus_bandwidth("all_reduce", 4, 1000, 1), 1.5));
    CHECK(near(bus_bandwidth("all_gather", 4, 1000, 1), 0.75));
    CHECK(near(bus_bandwidth("broadcast", 4, 1000, 1), 1));
    CHECK(bus_bandwidth("barrier", 4, 0, 1) == 0);
    CHECK(std::abs(timed("all_reduce", "ring", {.ranks = 8}, "switch", 100'000'000).bus_gigabytes_per_s - 1) < 1e-3);
}

TEST_CASE("thousands of ranks are timed") {
    const auto run = time_collective(collective("all_reduce", "halving_doubling", {.ranks = 2048}),
                                     network_of("fat_tree", 2048), 1 << 20, DType::f32, {.detail = false});
    CHECK(run.total_us >= run.formula_us);
    CHECK(run.transfers.empty());
}

TEST_CASE("what ranks did is a trace with an arrow for every message") {
    const auto result = run_in_process(3, test_link, [](Communicator& world) {
        world.advance(10, "forward");
        const auto beside = world.on(1);
        beside->wait_until(world.time_us());
        beside->all_reduce({nullptr, 300, DType::f32});
        world.wait_until(beside->time_us());
    });
    REQUIRE(result.problem().empty());
    std::vector<std::vector<RankEvent>> events;
    for (const RankResult& rank : result.ranks) events.push_back(rank.events);
    CHECK(events[0].front().label == "forward");
    const Trace trace = trace_of(events);
    CHECK(trace.tracks.size() == 3 * 3);
    CHECK(trace.arrows.size() == 3 * 4);
    for (const TraceArrow& arrow : trace.arrows) {
        const TraceSpan &from = trace.spans[size_t(arrow.from_span)], &to = trace.spans[size_t(arrow.to_span)];
        CHECK(from.begin + 2000 <= to.end);
    }
    RunOptions few;
    few.events = 2;
    const auto cut = run_in_process(
        2, {},
        [](Communicator& world) {
            world.all_reduce({nullptr, 2, DType::f32});
        },
        few);
    CHECK(cut.ranks[0].events.size() == 2);
    CHECK(cut.ranks[0].events_left_out == 2);
}

TEST_CASE("unknown links and topologies, and networks that cannot be, are refused in one sentence") {
    const auto message = [](auto call) -> std::string {
        try {
            call();
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return "";
    };
    CHECK(message([] { link_named("nvlink5"); }).find("there is no link 'nvlink5', did you mean 'nvlink") == 0);
    CHECK(message([] { make_network("torus2", {}); }).find("did you mean 'torus2d'?") != std::string::npos);
    CHECK(message([] { make_network("fully_connected", {.ranks = 600}); }) ==
          "a fully_connected network of 600 ranks is impossible: 1 to 512");
    Network network = make_network("ring", {.ranks = 4, .link = test_link});
    CHECK(message([&] { slow_rank(network, 4, 2); }) == "rank 4 cannot be slow: the 4 ranks are 0 to 3");
    CHECK(message([&] { slow_rank(network, 0, 0); }) != "");
    CHECK(message([&] { slow_link(network, 0, 0, 2); }) != "");
    for (const LinkRow& row : links()) {
        CHECK((row.latency_us > 0 && row.gigabytes_per_s > 0 && !row.source.empty()));
        CHECK(&link_named(std::string(row.name)) == &row);
    }
}

TEST_CASE("ranks that wait for a command outside hold up nobody on shared links, and times stay the same in every run") {
    const auto hub = network_of("two_level", 4, 2);
    const auto run = [&] {
        std::mutex mutex;
        std::condition_variable changed;
        int outside = 0, round = 0;
        return run_in_process(*hub, [&](Communicator& world) {
            double value = 1;
            for (int command = 0; command < 3; ++command) {
                // Ranks 2 and 3 have nothing to do at first: 0 and 1 go on without them.
                if (command > 0) world.all_reduce({&value, 1, DType::f64});
                if (command == 0 && world.rank() == 0) world.send(1, {&value, 1, DType::f64}, "first");
                if (command == 0 && world.rank() == 1) world.receive(0, {&value, 1, DType::f64}, "first");
                std::unique_lock lock(mutex);
                if (++outside == 4) {
                    outside = 0, ++round;
                    changed.notify_all();
                } else {
                    leave_run(world);
                    changed.wait(lock, [&] { return round > command; });
                }
                come_back_to_run(world, static_cast<uint64_t>(round));
            }
        });
    };
    const GroupResult one = run(), other = run();
    CHECK(one.problem() == "");
    REQUIRE(one.ranks.size() == 4);
    for (size_t rank = 0; rank < 4; ++rank) {
        CHECK(one.ranks[rank].time_us > 0);
        CHECK(one.ranks[rank].time_us == other.ranks[rank].time_us);
    }
}

}  // namespace comm_network_test
