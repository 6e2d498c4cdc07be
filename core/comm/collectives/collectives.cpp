#include "core/comm/collectives/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/comm/collectives/algorithms/algorithms.h"
#include "core/comm/collectives/algorithms/halving_doubling.h"
#include "core/comm/collectives/algorithms/hierarchical.h"
#include "core/comm/collectives/algorithms/parameter_server.h"
#include "core/comm/collectives/algorithms/ring.h"
#include "core/comm/collectives/algorithms/tree.h"

namespace lockstep::comm {

namespace {
// Closed formulas in microseconds: n ranks, S bytes, latency a, bandwidth B (bytes per microsecond). NaN: none that holds.
using FormulaShape = const CollectiveShape&;
double formula_n(FormulaShape shape) {
    return shape.ranks;
}
double formula_log(FormulaShape shape) {
    return std::bit_width(static_cast<unsigned>(shape.ranks - 1));
}
double over(double bytes, const Link& link) {
    return link.bytes_per_us > 0 ? bytes / link.bytes_per_us : 0;
}
double share_of(FormulaShape shape) {
    return (formula_n(shape) - 1) / formula_n(shape);
}
double power_of_two_only(FormulaShape shape) {
    return std::has_single_bit(static_cast<unsigned>(shape.ranks)) ? 1 : std::numeric_limits<double>::quiet_NaN();
}

double one_way_ring(FormulaShape shape, double bytes, const Link& link) {
    return (formula_n(shape) - 1) * link.latency_us + share_of(shape) * over(bytes, link);
}
double both_ways_ring(FormulaShape shape, double bytes, const Link& link) {
    return 2 * one_way_ring(shape, bytes, link);
}
double one_way_halving(FormulaShape shape, double bytes, const Link& link) {
    return power_of_two_only(shape) * (formula_log(shape) * link.latency_us + share_of(shape) * over(bytes, link));
}
double both_ways_halving(FormulaShape shape, double bytes, const Link& link) {
    return 2 * one_way_halving(shape, bytes, link);
}
double double_tree(FormulaShape shape, double bytes, const Link& link) {
    if (shape.ranks == 1) return 0;
    return 2 * formula_log(shape) * link.latency_us + 2 * over(bytes, link);
}
double chain(FormulaShape shape, double bytes, const Link& link) {
    if (shape.ranks == 1) return 0;
    const double piece = over(bytes / shape.pieces, link);
    return (formula_n(shape) - 1) * (link.latency_us + piece) + (shape.pieces - 1) * piece;
}
double binomial(FormulaShape shape, double bytes, const Link& link) {
    return power_of_two_only(shape) * formula_log(shape) * (link.latency_us + over(bytes, link));
}
double servers(FormulaShape shape, double bytes, const Link& link) {
    if (shape.ranks == 1) return 0;
    return 2 * link.latency_us + 2 * (formula_n(shape) - 1) / shape.servers * over(bytes, link);
}
double one_server(FormulaShape shape, double bytes, const Link& link) {
    return shape.ranks == 1 ? 0 : link.latency_us + (formula_n(shape) - 1) * over(bytes, link);
}
double direct(FormulaShape shape, double bytes, const Link& link) {
    return shape.ranks == 1 ? 0 : link.latency_us + share_of(shape) * over(bytes, link);
}
double two_logs(FormulaShape shape, double, const Link& link) {
    return power_of_two_only(shape) * 2 * formula_log(shape) * link.latency_us;
}
double two_hops(FormulaShape shape, double, const Link& link) {
    return shape.ranks == 1 ? 0 : 2 * link.latency_us;
}
}  // namespace

std::span<const CollectiveRow> collectives() {
    static constexpr const char *ring1 = "(n-1) a + (n-1)/n S/B", *ring2 = "2(n-1) a + 2(n-1)/n S/B";
    static constexpr const char* chains = "(n-1)(a + s/B) + (k-1) s/B, k pieces of s";
    static constexpr CollectiveRow table[] = {
        {"all_reduce", "ring", "reduce-scatter, then all-gather, round the ring", ring_all_reduce, both_ways_ring, ring2},
        {"all_reduce", "tree", "half through each of two binary trees, up and down", double_tree_all_reduce, double_tree,
         "2 log2(n) a + 2 S/B, with many small pieces"},
        {"all_reduce", "halving_doubling", "half the data and twice the distance a round, and back",
         halving_doubling_all_reduce, both_ways_halving, "2 log2(n) a + 2(n-1)/n S/B, n a power of two"},
        {"all_reduce", "parameter_server", "to the servers, which add, and back", server_all_reduce, servers,
         "2 a + 2(n-1)/k S/B, k servers"},
        {"all_reduce", "hierarchical", "within nodes, between them, within them", hierarchical_all_reduce},
        {"all_gather", "ring", "every block goes round the ring", ring_all_gather, one_way_ring, ring1},
        {"all_gather", "halving_doubling", "twice the data and the distance a round", recursive_doubling_all_gather,
         one_way_halving, "log2(n) a + (n-1)/n S/B, n a power of two"},
        {"all_gather", "parameter_server", "to the servers, which collect, and back", server_all_gather},
        {"all_gather", "hierarchical", "between nodes, then within them", hierarchical_all_gather},
        {"reduce_scatter", "ring", "every block goes round the ring, growing", ring_reduce_scatter, one_way_ring, ring1},
        {"reduce_scatter", "halving_doubling", "half the data a round", recursive_halving_reduce_scatter, one_way_halving,
         "log2(n) a + (n-1)/n S/B, n a power of two"},
        {"reduce_scatter", "parameter_server", "every rank is the server of its chunk", server_reduce_scatter, direct,
         "a + (n-1)/n S/B"},
        {"broadcast", "ring", "pieces down a chain of ranks", chain_broadcast, chain, chains},
        {"broadcast", "tree", "twice as many ranks a round", binomial_broadcast, binomial,
         "log2(n) (a + S/B), n a power of two"},
        {"broadcast", "parameter_server", "from the root to everybody", server_broadcast, one_server, "a + (n-1) S/B"},
        {"broadcast", "hierarchical", "down a chain of nodes, and down the ranks of each", hierarchical_broadcast},
        {"reduce", "ring", "pieces up a chain of ranks, growing", chain_reduce, chain, chains},
        {"reduce", "tree", "half as many ranks a round", binomial_reduce, binomial, "log2(n) (a + S/B), n a power of two"},
        {"reduce", "parameter_server", "from everybody to the root", server_reduce, one_server, "a + (n-1) S/B"},
        {"reduce", "hierarchical", "up the ranks of each node, and up a chain of nodes", hierarchical_reduce},
        {"all_to_all", "ring", "to the next rank, the one after it, ...", pairwise_all_to_all, one_way_ring, ring1},
        {"barrier", "ring", "n-1 rounds to the next rank", ring_barrier,
         [](FormulaShape shape, double, const Link& link) { return one_way_ring(shape, 0, link); }, "(n-1) a"},
        {"barrier", "tree", "up and down a tree", tree_barrier, two_logs, "2 log2(n) a, n a power of two"},
        {"barrier", "halving_doubling", "to the rank 1, 2, 4, ... further on", dissemination_barrier,
         [](FormulaShape shape, double, const Link& link) { return formula_log(shape) * link.latency_us; }, "log2(n) a"},
        {"barrier", "parameter_server", "to the server and back", server_barrier, two_hops, "2 a"},
        {"barrier", "hierarchical", "within nodes, between their first ranks, within nodes", hierarchical_barrier},
    };
    return table;
}

Piece piece_of(int64_t elements, int chunks, int chunk) {
    const int64_t size = elements / chunks, longer = elements % chunks;  // the first `longer` chunks hold one more
    return {chunk * size + std::min<int64_t>(chunk, longer), size + (chunk < longer ? 1 : 0)};
}

Piece piece_of(int64_t elements, const Collective& collective, int chunk, int run) {
    const Piece first = piece_of(elements, collective.chunks, chunk);
    const Piece last = run == 1 ? first : piece_of(elements, collective.chunks, chunk + run - 1);
    return {first.begin, last.begin + last.count - first.begin};
}

int pipeline_pieces(int64_t bytes) {
    return static_cast<int>(std::clamp<int64_t>(bytes >> 18, 1, 16));
}  // of 256 KiB on

const CollectiveRow& collective_named(const std::string& operation, const std::string& algorithm) {
    std::vector<std::string> operations, algorithms;
    for (const CollectiveRow& row : collectives()) {
        if (row.operation == operation && row.algorithm == algorithm) return row;
        if (operations.empty() || operations.back() != row.operation) operations.emplace_back(row.operation);
        if (row.operation == operation) algorithms.emplace_back(row.algorithm);
    }
    const auto complaint = [](const std::string& what, const std::string& name, const std::vector<std::string>& known) {
        return fmt::format("there is no {} '{}'{}", what, name, did_you_mean(name, known));
    };
    if (algorithms.empty()) throw Failure(complaint("collective", operation, operations));
    throw Failure(complaint(fmt::format("algorithm of {}", operation), algorithm, algorithms));
}

std::shared_ptr<const Collective> collective(const std::string& operation, const std::string& algorithm,
                                             const CollectiveShape& shape) {
    static std::mutex mutex;
    static std::map<std::tuple<std::string, std::string, CollectiveShape>, std::shared_ptr<const Collective>> made;
    const auto key = std::make_tuple(operation, algorithm, shape);
    const std::lock_guard lock(mutex);
    const auto found = made.find(key);
    if (found != made.end()) return found->second;
    const CollectiveRow& row = collective_named(operation, algorithm);
    if (shape.ranks < 1) throw Failure(fmt::format("a group of {} ranks is impossible", shape.ranks));
    if (shape.root < 0 || shape.root >= shape.ranks)
        throw Failure(
            fmt::format("rank {} cannot be the root: the {} ranks are 0 to {}", shape.root, shape.ranks, shape.ranks - 1));
    if (shape.pieces < 1 || shape.node_size < 1) throw Failure("a collective needs at least one piece and one rank a node");
    if (shape.servers < 1 || shape.servers > shape.ranks)
        throw Failure(fmt::format("{} servers are impossible: 1 to {} of the ranks can be", shape.servers, shape.ranks));
    Collective list = row.make(shape);
    list.operation = operation;
    list.algorithm = algorithm;
    if (made.size() > 200) made.clear();  // those in use live on
    return made[key] = std::make_shared<const Collective>(std::move(list));
}

namespace {
// Buffers are lent while `steps` runs and no longer, even when it throws.
template <class Steps>
void with_loans(Communicator& communicator, Steps steps) {
    try {
        steps();
    } catch (...) {
        communicator.take_back();
        throw;
    }
    communicator.take_back();
}
}  // namespace

void run_collective(const Collective& collective, Communicator& communicator, const Buffer& buffer, Reduction reduction) {
    if (communicator.size() != collective.ranks)
        throw Failure(
            fmt::format("a collective of {} ranks cannot run in a group of {}", collective.ranks, communicator.size()));
    with_loans(communicator, [&] {
        for (const CollectiveStep& step : collective.of(communicator.rank())) {
            const Piece piece = piece_of(buffer.count, collective, step.chunk, step.run);
            const Buffer part = buffer.part(piece.begin, piece.count);
            switch (step.verb) {
                case Verb::send:
                    communicator.lend(step.peer, part, collective.operation);
                    break;
                case Verb::receive:
                    communicator.receive(step.peer, part, collective.operation);
                    break;
                case Verb::receive_reduce:
                    communicator.receive_reduce(step.peer, part, reduction, collective.operation);
                    break;
            }
        }
    });
}

void run_all_to_all(const Collective& collective, Communicator& communicator, const Buffer& from, const Buffer& to) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks != collective.ranks)
        throw Failure(fmt::format("a collective of {} ranks cannot run in a group of {}", collective.ranks, ranks));
    if (from.count % ranks != 0 || to.count != from.count || to.type != from.type)
        throw Failure(
            fmt::format("all_to_all: {} and {} elements are not {} equal parts each", from.count, to.count, ranks));
    const int64_t each = from.count / ranks;
    if (from.data && to.data) {
        const Buffer own = from.part(rank * each, each);
        std::copy_n(static_cast<const std::byte*>(own.data), own.bytes(),
                    static_cast<std::byte*>(to.part(rank * each, each).data));
    }
    with_loans(communicator, [&] {
        for (const CollectiveStep& step : collective.of(rank))
            if (step.verb == Verb::send)
                communicator.lend(step.peer, from.part((step.chunk % ranks) * each, each), collective.operation);
            else
                communicator.receive(step.peer, to.part((step.chunk / ranks) * each, each), collective.operation);
    });
}

StepList::StepList(const CollectiveShape& shape, int chunks) {
    made_.shape = shape;
    made_.ranks = shape.ranks;
    made_.chunks = chunks;
}

void StepList::transfer(int round, int from, int to, Chunks chunks, bool reduce) {
    constexpr size_t most_steps = 40'000'000;  // a gigabyte of them
    if (made_.steps.size() >= most_steps)
        throw Failure(
            fmt::format("{} ranks make more than {} million steps here: fewer ranks would do, or another algorithm",
                        made_.ranks, most_steps / 1'000'000));
    made_.rounds = std::max(made_.rounds, round + 1);
    made_.steps.push_back({round, from, to, chunks.first, chunks.run, Verb::send});
    made_.steps.push_back({round, to, from, chunks.first, chunks.run, reduce ? Verb::receive_reduce : Verb::receive});
}

Collective StepList::finish() {
    const auto order = [](const CollectiveStep& step) { return std::tuple(step.rank, step.round, step.verb != Verb::send); };
    std::stable_sort(made_.steps.begin(), made_.steps.end(),
                     [&](const CollectiveStep& a, const CollectiveStep& b) { return order(a) < order(b); });
    made_.first.assign(static_cast<size_t>(made_.ranks) + 1, 0);
    for (const CollectiveStep& step : made_.steps) ++made_.first[static_cast<size_t>(step.rank) + 1];
    std::partial_sum(made_.first.begin(), made_.first.end(), made_.first.begin());
    return std::move(made_);
}

std::vector<int> all_ranks(int ranks) {
    std::vector<int> list(static_cast<size_t>(ranks));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

std::vector<Chunks> one_chunk_each(int ranks) {
    std::vector<Chunks> list;
    for (int rank = 0; rank < ranks; ++rank) list.push_back({rank, 1});
    return list;
}

}  // namespace lockstep::comm
