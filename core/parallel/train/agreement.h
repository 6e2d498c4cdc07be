// Whether ranks hold and do the same where they should: a checksum of every parameter after a step, held against those of
// the ranks that have the same elements; and where a run ended early, the first collective that they did not call alike.
// Ranks disagree where one was told something else than the others, or where its memory was changed behind its back; both
// can be brought about on purpose (ToldRank), to see what becomes of it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/array.h"
#include "core/comm/collectives/collectives.h"
#include "core/nn/train/cause.h"

namespace lockstep::parallel {

struct ParallelOptions;

// What one rank is told otherwise than the others: an option of training or of a plan by its name ("lr", "bucket-mb"), or
// "flip", whose value PARAMETER@STEP says where a bit of its memory turns over after a step.
struct ToldRank {
    int rank = 0;
    std::string name, value;
    bool operator==(const ToldRank&) const = default;
};
ToldRank told_rank(const std::string& text);                        // "1:lr=0.2"; throws Failure
ParallelOptions options_of_rank(const ParallelOptions&, int rank);  // as this rank was told; throws Failure

struct ReplicaDigest {  // what a rank holds of a parameter between steps
    std::string name;
    int axis = -1;  // as in ParameterHolding
    int64_t parts = 1, part = 0;
    comm::Piece piece;
    uint64_t checksum = 0;
    double largest = 0;  // of its values, by magnitude
};
using RankDigests = std::vector<ReplicaDigest>;  // in the order of the model
uint64_t checksum_of(std::span<const std::byte> bytes);
std::string text_of(const RankDigests& digests);  // a line each, for other processes
RankDigests digests_of_text(const std::string& text);

struct CollectiveCall {  // as a rank began it in a step
    std::string operation, purpose, about;
    std::vector<int> ranks;  // of the whole mesh
    std::string axis;
    int64_t elements = 0;
    DType type = DType::f32;
};
struct CollectiveCalls {
    int64_t step = -1;  // the newest that the rank has begun; -1: none
    std::vector<CollectiveCall> list;
};

// The first parameter, in the order of the model, that ranks with the same elements of it do not hold alike after `step`;
// `agreed`: the last step after which they did, -1 for the beginning. `values`, where there is one, gives a rank's part.
std::optional<nn::Cause> disagreement(std::span<const RankDigests> ranks, const ParallelOptions& options, int64_t step,
                                      int64_t agreed,
                                      const std::function<Array(int rank, const std::string& parameter)>& values = {});

// The first collective of a step that the ranks of its group did not call alike, in a sentence; "": there is none.
std::string collectives_disagree(std::span<const CollectiveCalls> ranks);

}  // namespace lockstep::parallel
