#include "core/comm/collectives/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::comm {

void expect_peer(const Communicator& group, int peer, const char* verb) {
    if (peer < 0 || peer >= group.size() || peer == group.rank())
        throw Failure(fmt::format("rank {} cannot {} rank {} in a group of {}", group.rank(), verb, peer, group.size()));
}

void expect_stream(int stream) {
    if (stream < 0 || stream >= max_streams)
        throw Failure(fmt::format("there is no stream {}: 0 to {}", stream, max_streams - 1));
}

int group_members(const Communicator& group, std::span<const int> members, std::vector<int>& world_ranks) {
    int place = -1;
    for (const int member : members) {
        if (member < 0 || member >= group.size())
            throw Failure(fmt::format("rank {} is not in a group of {}", member, group.size()));
        if (member == group.rank()) place = static_cast<int>(world_ranks.size());
        world_ranks.push_back(group.world_rank(member));
        if (std::count(world_ranks.begin(), world_ranks.end(), world_ranks.back()) > 1)
            throw Failure(fmt::format("rank {} is twice in a group", member));
    }
    if (place < 0) throw Failure(fmt::format("rank {} asks for a group without itself", group.rank()));
    return place;
}

void expect_message(int rank, int from, const Buffer& buffer, int64_t bytes, bool has_data) {
    if (bytes != buffer.bytes())
        throw Failure(
            fmt::format("rank {} expects {} bytes from rank {}, which sent {}", rank, buffer.bytes(), from, bytes));
    if (buffer.data && !has_data && bytes > 0)
        throw Failure(fmt::format("rank {} expects data from rank {}, which sent a size alone", rank, from));
}

}  // namespace lockstep::comm
