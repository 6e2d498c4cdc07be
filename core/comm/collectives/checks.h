// What every Communicator refuses, in the same words.
#pragma once
#include <vector>

#include "core/comm/communicator.h"

namespace lockstep::comm {

inline constexpr int max_streams = 64;  // a rank

void expect_peer(const Communicator& group, int peer, const char* verb);  // verb: "send to"
void expect_stream(int stream);
// The world's ranks of `members` of `group`; returns this rank's place among them.
int group_members(const Communicator& group, std::span<const int> members, std::vector<int>& world_ranks);
// That a message of `bytes` from `from`, with or without data, is what `rank` receives into `buffer`.
void expect_message(int rank, int from, const Buffer& buffer, int64_t bytes, bool has_data);

}  // namespace lockstep::comm
