#include "core/comm/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/comm/algorithms/algorithms.h"
#include "core/comm/algorithms/halving_doubling.h"
#include "core/comm/algorithms/ring.h"

namespace lockstep::comm {

std::span<const CollectiveRow> collectives() {
    static constexpr CollectiveRow table[] = {
        {"all_reduce", "ring", "reduce-scatter, then all-gather, round the ring", ring_all_reduce},
        {"all_reduce", "halving_doubling", "half the data and twice the distance a round, and back",
         halving_doubling_all_reduce},
        {"all_gather", "ring", "every block goes round the ring", ring_all_gather},
        {"all_gather", "halving_doubling", "twice the data and the distance a round", recursive_doubling_all_gather},
        {"reduce_scatter", "ring", "every block goes round the ring, growing", ring_reduce_scatter},
        {"reduce_scatter", "halving_doubling", "half the data a round", recursive_halving_reduce_scatter},
        {"broadcast", "ring", "pieces down a chain of ranks", chain_broadcast},
        {"reduce", "ring", "pieces up a chain of ranks, growing", chain_reduce},
        {"all_to_all", "ring", "to the next rank, the one after it, ...", pairwise_all_to_all},
        {"barrier", "ring", "n-1 rounds to the next rank", ring_barrier},
        {"barrier", "halving_doubling", "to the rank 1, 2, 4, ... further on", dissemination_barrier},
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
        const std::string nearest = nearest_name(name, known);
        return nearest.empty() ? fmt::format("there is no {} '{}': there are {}", what, name, fmt::join(known, ", "))
                               : fmt::format("there is no {} '{}', did you mean '{}'?", what, name, nearest);
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
