#include "core/comm/collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::comm {

Piece piece_of(int64_t elements, int chunks, int chunk) {
    const int64_t size = elements / chunks, longer = elements % chunks;  // the first `longer` chunks hold one more
    return {chunk * size + std::min<int64_t>(chunk, longer), size + (chunk < longer ? 1 : 0)};
}

Collective ring_all_reduce(int ranks) {
    if (ranks < 1) throw Failure(fmt::format("a ring of {} ranks is impossible", ranks));
    Collective ring{ranks, ranks, 2 * (ranks - 1), {}};
    const auto modulo = [ranks](int value) { return ((value % ranks) + ranks) % ranks; };
    for (int round = 0; round < ring.rounds; ++round) {
        const bool reducing = round < ranks - 1;
        const int sent = reducing ? -round : 1 - (round - (ranks - 1));  // chunk that rank 0 sends in this round
        for (int rank = 0; rank < ranks; ++rank) {
            const int chunk = modulo(rank + sent);
            ring.steps.push_back({round, rank, modulo(rank + 1), chunk, Verb::send});
            ring.steps.push_back(
                {round, rank, modulo(rank - 1), modulo(chunk - 1), reducing ? Verb::receive_reduce : Verb::receive});
        }
    }
    return ring;
}

std::span<const CollectiveRow> collectives() {
    static constexpr CollectiveRow table[] = {
        {"all_reduce", "ring", ring_all_reduce},
    };
    return table;
}

void run_collective(const Collective& collective, Communicator& communicator, std::span<float> buffer) {
    if (communicator.size() != collective.ranks)
        throw Failure(
            fmt::format("a collective of {} ranks cannot run in a group of {}", collective.ranks, communicator.size()));
    std::vector<float> arrived;
    for (const CollectiveStep& step : collective.steps) {
        if (step.rank != communicator.rank()) continue;
        const Piece piece = piece_of(static_cast<int64_t>(buffer.size()), collective.chunks, step.chunk);
        const auto chunk = buffer.subspan(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.count));
        switch (step.verb) {
            case Verb::send:
                communicator.send(step.peer, std::as_bytes(chunk));
                break;
            case Verb::receive:
                communicator.receive(step.peer, std::as_writable_bytes(chunk));
                break;
            case Verb::receive_reduce:
                arrived.resize(chunk.size());
                communicator.receive(step.peer, std::as_writable_bytes(std::span(arrived)));
                for (size_t i = 0; i < chunk.size(); ++i) chunk[i] += arrived[i];
                break;
        }
    }
}

}  // namespace lockstep::comm
