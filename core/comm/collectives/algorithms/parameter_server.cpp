// Parameter servers: the first `servers` ranks each hold a part of the buffer; every rank sends them its values, they add
// and send the sums back. Two rounds, and a server's link carries what all ranks send it. Each rank begins with another
// server.
#include "core/comm/collectives/algorithms/parameter_server.h"

#include "core/comm/collectives/algorithms/algorithms.h"

namespace lockstep::comm {
namespace {

// Everybody's `blocks[s]` to server s.
void to_servers(StepList& list, int round, int ranks, int servers, std::span<const Chunks> blocks, bool reduce) {
    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < servers; ++i) {
            const int server = (rank + i) % servers;
            if (server != rank) list.transfer(round, rank, server, blocks[size_t(server)], reduce);
        }
}

void from_servers(StepList& list, int round, int ranks, int servers, std::span<const Chunks> blocks) {
    for (int i = 1; i < ranks; ++i)
        for (int server = 0; server < servers; ++server)
            list.transfer(round, server, (server + i) % ranks, blocks[size_t(server)], false);
}

}  // namespace

Collective server_all_reduce(const CollectiveShape& shape) {
    StepList list(shape, shape.servers);
    const auto blocks = one_chunk_each(shape.servers);
    to_servers(list, 0, shape.ranks, shape.servers, blocks, true);
    from_servers(list, 1, shape.ranks, shape.servers, blocks);
    return list.finish();
}

Collective server_all_gather(const CollectiveShape& shape) {
    StepList list(shape, shape.ranks);
    std::vector<Chunks> blocks;  // a server collects the chunks of a run of ranks
    for (int server = 0; server < shape.servers; ++server) {
        const Piece own = piece_of(shape.ranks, shape.servers, server);
        blocks.push_back({static_cast<int>(own.begin), static_cast<int>(own.count)});
        for (int rank = blocks.back().first; rank < blocks.back().first + blocks.back().run; ++rank)
            if (rank != server) list.transfer(0, rank, server, {rank, 1}, false);
    }
    from_servers(list, 1, shape.ranks, shape.servers, blocks);
    return list.finish();
}

Collective server_reduce_scatter(const CollectiveShape& shape) {  // every rank serves its own chunk
    StepList list(shape, shape.ranks);
    to_servers(list, 0, shape.ranks, shape.ranks, one_chunk_each(shape.ranks), true);
    return list.finish();
}

Collective server_broadcast(const CollectiveShape& shape) {
    StepList list(shape, 1);
    for (int i = 1; i < shape.ranks; ++i) list.transfer(0, shape.root, (shape.root + i) % shape.ranks, {0, 1}, false);
    return list.finish();
}

Collective server_reduce(const CollectiveShape& shape) {
    StepList list(shape, 1);
    for (int i = 1; i < shape.ranks; ++i) list.transfer(0, (shape.root + i) % shape.ranks, shape.root, {0, 1}, true);
    return list.finish();
}

Collective server_barrier(const CollectiveShape& shape) {
    StepList list(shape, 1);
    for (int rank = 1; rank < shape.ranks; ++rank) list.transfer(0, rank, 0, {0, 1}, false);
    for (int rank = 1; rank < shape.ranks; ++rank) list.transfer(1, 0, rank, {0, 1}, false);
    return list.finish();
}

}  // namespace lockstep::comm
