// A collective is data: a list of steps, cut into rounds. One interpreter runs any list over send and receive; the same list
// is timed on a network (timing.h) and drawn. An algorithm is one function in algorithms/ and one row in collectives().
//
// The buffer is cut into `chunks` pieces by piece_of(). Rank r of an all-gather begins with chunk r and a reduce-scatter
// leaves it there: as many chunks as ranks. In an all-to-all chunk s * ranks + d goes from rank s to rank d.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/network/link.h"

namespace lockstep::comm {

enum class Verb : uint8_t { send, receive, receive_reduce };  // receive_reduce adds what arrives to what is there

struct CollectiveStep {
    int round = 0;
    int rank = 0;   // who does it
    int peer = 0;   // with whom
    int chunk = 0;  // the first of `run` chunks that lie side by side: one message
    int run = 1;
    Verb verb = Verb::send;
    bool operator==(const CollectiveStep&) const = default;
};

struct CollectiveShape {
    int ranks = 1;
    int root = 0;       // of a broadcast or reduce
    int pieces = 1;     // that chains and trees send one after the other, each hop beginning before the last piece is there
    int servers = 1;    // of a parameter server: the first ranks
    int node_size = 8;  // ranks of a node, for hierarchical ones
    auto operator<=>(const CollectiveShape&) const = default;
};

struct Collective {
    std::string operation, algorithm;
    CollectiveShape shape;
    int ranks = 1;
    int chunks = 1;
    int rounds = 0;
    std::vector<CollectiveStep> steps;  // by rank, then round; within a rank and round sends stand first
    std::vector<size_t> first;          // by rank: its first step; one more at the end

    std::span<const CollectiveStep> of(int rank) const {
        return std::span(steps).subspan(first[size_t(rank)], first[size_t(rank) + 1] - first[size_t(rank)]);
    }
};

// Chunk c of n elements in `chunks` pieces: sizes differ by one at most, and are 0 when there are more chunks than elements.
struct Piece {
    int64_t begin = 0, count = 0;
    bool operator==(const Piece&) const = default;
};
Piece piece_of(int64_t elements, int chunks, int chunk);
Piece piece_of(int64_t elements, const Collective& collective, int chunk, int run);  // of a step's chunks

// The list of algorithms, by operation and by the name that the command line uses.
struct CollectiveRow {
    std::string_view operation, algorithm, summary;
    Collective (*make)(const CollectiveShape& shape) = nullptr;
    // Microseconds of a whole buffer of `bytes` when nothing is shared and all begin at once; null or NaN: no formula holds.
    double (*formula)(const CollectiveShape& shape, double bytes, const Link& link) = nullptr;
    std::string_view formula_text = {};  // n ranks, S bytes, latency a, bandwidth B
};
std::span<const CollectiveRow> collectives();
const CollectiveRow& collective_named(const std::string& operation, const std::string& algorithm);  // Failure: the nearest

// The list for a shape, made once and kept. Throws Failure for names and shapes that are impossible.
std::shared_ptr<const Collective> collective(const std::string& operation, const std::string& algorithm,
                                             const CollectiveShape& shape);
int pipeline_pieces(int64_t bytes);  // for a buffer of that size

// This rank's part of `collective` on its copy of the buffer. Throws Failure when the group has another size.
void run_collective(const Collective& collective, Communicator& communicator, const Buffer& buffer,
                    Reduction reduction = Reduction::sum);
void run_all_to_all(const Collective& collective, Communicator& communicator, const Buffer& from, const Buffer& to);

}  // namespace lockstep::comm
