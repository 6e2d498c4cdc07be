// How a training step is split over ranks, as plain data: what `lockstep train --dp 2 --tp 2 ...` and `lockstep plan` ask
// for, and the mesh of ranks that it makes. refusal() says in one sentence why a plan cannot run and what would.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::parallel {

enum class Recompute : uint8_t { none, selective, full };  // of activations in backward: nothing, attention's inside, blocks
enum class Context : uint8_t { ring, balanced_ring, all_to_all };  // how attention crosses a split sequence
enum class Compression : uint8_t { none, fp16, top_k, power_sgd };

struct ParallelPlan {
    int dp = 1, tp = 1, pp = 1, cp = 1;
    int zero = 0;                    // 0 to 3: optimiser state, + gradients, + parameters over dp (and cp)
    bool sequence_parallel = false;  // tp: norms and dropout on a part of the sequence each
    Context context = Context::ring;
    std::string schedule = "1f1b";  // a row of schedules(), for pp > 1
    int chunks = 1;                 // of the model a pipeline rank holds (interleaved)
    int microbatches = 1;           // of one data-parallel share
    Recompute recompute = Recompute::none;
    bool offload = false;             // optimiser state lives in the host's memory
    int64_t bucket_bytes = 25 << 20;  // gradients are reduced in buckets of this size while backward goes on; 0: at its end
    std::string all_reduce = "ring";  // the algorithm of the gradients' all-reduce; "parameter_server" too
    Compression compression = Compression::none;
    double keep = 0.01;            // of top_k: the share of elements that is sent
    int rank = 4;                  // of power_sgd
    bool sync_batch_norm = false;  // statistics over all dp ranks; otherwise each rank's own
    std::vector<int> cut = {};     // by stage of the pipeline: its blocks; empty: as even as their operations allow

    int ranks() const { return dp * tp * pp * cp; }
    bool operator==(const ParallelPlan&) const = default;
};

}  // namespace lockstep::parallel
