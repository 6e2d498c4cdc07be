// A collective is data: a list of steps, cut into rounds. One interpreter runs any list over send and receive; the same list
// can be timed and drawn.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"

namespace lockstep::comm {

enum class Verb : uint8_t { send, receive, receive_reduce };  // receive_reduce adds what arrives to what is there

struct CollectiveStep {
    int round = 0;
    int rank = 0;   // who does it
    int peer = 0;   // with whom
    int chunk = 0;  // of the buffer, cut into `chunks` pieces
    Verb verb = Verb::send;
    bool operator==(const CollectiveStep&) const = default;
};

struct Collective {
    int ranks = 1;
    int chunks = 1;
    int rounds = 0;
    std::vector<CollectiveStep> steps;  // by round, then rank; within a rank and round sends stand first
};

// Chunk c of n elements in `chunks` pieces: sizes differ by one at most, and are 0 when there are more chunks than elements.
struct Piece {
    int64_t begin = 0, count = 0;
    bool operator==(const Piece&) const = default;
};
Piece piece_of(int64_t elements, int chunks, int chunk);

// Ring all-reduce: n-1 rounds of reduce-scatter, then n-1 rounds of all-gather. In each round rank r sends one chunk to
// r+1 and receives one from r-1, so that a rank sends 2(n-1)/n of the buffer in all.
Collective ring_all_reduce(int ranks);

// The list of algorithms by the name that the command line uses.
struct CollectiveRow {
    std::string_view operation, algorithm;
    Collective (*make)(int ranks) = nullptr;
};
std::span<const CollectiveRow> collectives();

// This rank's part of `collective` on its copy of the buffer (sums). Throws Failure when the group has another size.
void run_collective(const Collective& collective, Communicator& communicator, std::span<float> buffer);

}  // namespace lockstep::comm
