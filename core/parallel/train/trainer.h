// Training on many ranks as a sequence of plain ParallelStepRecords: what `lockstep train --dp 2 --tp 2 ...`, the cluster
// views and the lessons read. The ranks are threads of this process, or this process is one of them (MPI). With a plan of 1s
// it is nn::Trainer's run: same model, data and seed, same losses.
//
//     ParallelTrainer trainer({.training = {.model = "mlp", .batch = 64}, .plan = {.dp = 4, .zero = 1}});
//     ParallelStepRecord record = trainer.step();   // throws Failure: a plan that cannot be, a dead-lock, a rank that died
//     nn::Checkpoint whole = trainer.checkpoint();  // goes on with any plan and rank count, and with nn::Trainer
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/collectives/collectives.h"
#include "core/comm/in_process.h"
#include "core/nn/train/task.h"
#include "core/nn/train/trainer.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/layout/mesh.h"
#include "core/parallel/pipeline/schedule.h"
#include "core/parallel/plan.h"
#include "core/parallel/train/agreement.h"

namespace lockstep::parallel {

// What a rank's memory holds. Gradients are those of activations too while backward runs; after it the weights' alone.
enum class MemoryKind : uint8_t { weights, gradients, optimizer, activations, buffers };
inline constexpr size_t memory_kinds = 5;
using MemoryBytes = std::array<int64_t, memory_kinds>;  // in the order of MemoryKind
std::string_view name_of(MemoryKind kind);
int64_t sum_of(const MemoryBytes& bytes);

struct MemoryPoint {  // from then on, until the next one; counted from what the rank's heap had handed out
    double time_us = 0;
    MemoryBytes bytes = {};
};

struct RankSpan {  // on one of a rank's streams (rank.h: compute_stream, gradient_stream, ...), in virtual time
    int stream = 0;
    double begin_us = 0, end_us = 0;
    std::string label;  // "forward", "all-reduce gradients dp"
};

struct Traffic {          // what a rank sent, counted message by message
    std::string axis;     // the group: "dp", "tp", "cp", "pp", "dp x cp", "all"
    std::string purpose;  // "gradients", "parameters", "activations", "losses", "norms"
    int64_t bytes = 0, messages = 0;
    bool operator==(const Traffic&) const = default;
};

struct RankMessage {      // one that a rank sent
    int to = 0;           // rank of the whole mesh
    int row = 0;          // of RankStep::sent, where it is counted
    int collective = -1;  // of RankStep::collectives, which it is a part of; -1: none
    int64_t bytes = 0;
    double sent_us = 0;
};

struct RankCollective {                // one that a rank took part in
    std::string operation, algorithm;  // a row of comm::collectives()
    std::string axis, purpose;         // as Traffic
    std::vector<int> ranks;            // its group, in order
    int64_t elements = 0;              // of the whole buffer
    DType type = DType::f32;
    double begin_us = 0, end_us = 0;
};

struct ParameterHolding {  // what one rank keeps of one parameter
    std::string name;
    std::vector<int64_t> full;                  // the whole parameter's extents
    int axis = -1;                              // that is cut over tp; -1: none
    int64_t parts = 1, part = 0;                // into so many equal parts, of which this is one
    int64_t count = 0;                          // elements of that part; below: which of them, in the order of memory
    comm::Piece weights, gradients, optimizer;  // between steps; between backward and update; always
};

struct RankStep {
    double begin_us = 0, end_us = 0;  // virtual; the step ends when all of its streams have
    double compute_us = 0;            // of that, in which its compute stream worked
    double loss = 0;                  // its part of the global mean; ranks without the last stage: 0
    std::vector<Traffic> sent;
    MemoryBytes kept = {};              // between backward and update: what the ZeRO formulas speak of
    MemoryBytes peak = {};              // at the moment when most was in use
    int64_t host_bytes = 0;             // optimiser state in the host's memory (offload)
    int64_t copied_bytes = 0;           // between device and host for it, in this step
    std::vector<MemoryPoint> memory;    // with keep_memory
    std::vector<RankSpan> spans;        // with keep_spans
    std::vector<RankMessage> messages;  // with keep_messages: in the order of sending
    std::vector<RankCollective> collectives;
};

struct ParallelStepRecord {
    int64_t step = 0;
    double loss = 0;  // mean over the whole batch
    double learning_rate = 0;
    double begin_us = 0, end_us = 0;        // virtual: of the latest rank
    double seconds = 0;                     // host wall clock
    std::vector<RankStep> ranks;            // by rank; of other processes: only with --comm in_process
    std::optional<ScheduleRun> schedule;    // of the pipeline of rank 0's column; none where pp is 1
    std::optional<nn::Cause> disagreement;  // of ranks that are threads: the first that compare_every finds
    RankDigests digests;                    // of a process that is one rank: what it holds, for disagreement()
};

struct ParallelOptions {
    nn::TrainerOptions training;  // batch: of all ranks together. What is recorded of a serial step does not apply
    ParallelPlan plan;
    std::string gpu = "h100";                           // whose times the ops take on the virtual clocks
    comm::Link link = {2, 300e3};                       // between ranks: latency, bytes a microsecond
    bool library_collectives = false;                   // MPI's or NCCL's own instead of our step lists
    std::shared_ptr<const comm::Network> network = {};  // between ranks of this process, instead of `link`; may be shared
    bool keep_spans = true, keep_memory = true, keep_messages = false;
    // Training draws from so many examples, the data's first ones, gone through for ever and reshuffled each time; 0: from
    // all of the data, as nn::Trainer does.
    int64_t set = 0;
    bool partition = false;  // each data-parallel worker has a fixed part of `set`, reshuffled by itself
    // A model that is no row of shape_named(), and the examples of a step's whole batch, [first, first + count) of it, as
    // nn::Task::make_batch writes them. None: those of training.model.
    std::optional<ModelShape> shape = {};
    std::function<void(uint64_t step, nn::Batch& batch)> examples = {};
    // With a schedule that never flushes (pipedream, pipedream_2bw), which has no moment between two steps: how many it
    // runs in one go. The first step() runs them all, each step() gives one's record; weights are there after the last.
    int64_t steps = 0;
    // Batches that each data-parallel worker has (a set that does not divide); none: all as many as there are steps. A rank
    // without a batch ends, and who needs it waits: a dead-lock, as step() then says.
    std::vector<int64_t> batches_of_worker = {};
    // Steps after which it is compared whether ranks that hold the same parameters hold them alike; 0: never.
    int64_t compare_every = 1;
    std::vector<ToldRank> told = {};
};

// Throws Failure for a run that cannot be on so many ranks, as the constructor does, before anything has begun.
void check_can_train(const ParallelOptions& options, int ranks);

class ParallelTrainer {
  public:
    // `world`: this process is one of its ranks, and all of them do the same calls; null: all ranks are threads. Throws
    // Failure: a plan that cannot be, and what would.
    explicit ParallelTrainer(ParallelOptions options, comm::Communicator* world = nullptr);
    ~ParallelTrainer();
    ParallelTrainer(ParallelTrainer&&) noexcept;
    ParallelTrainer& operator=(ParallelTrainer&&) noexcept;

    ParallelStepRecord step();
    bool has_batch() const;  // of this process's rank: batches_of_worker; ranks that are threads end by themselves
    int64_t next_step() const;
    const Mesh& mesh() const;
    const ParallelOptions& options() const;

    // By rank of this process: what it keeps of every parameter that it has a part of.
    std::vector<std::vector<ParameterHolding>> holdings();
    // Whole parameters under the model's names, put together on rank 0; on other processes' ranks: empty.
    nn::NamedArrays parameters();
    // Those, the optimiser's whole state and the step's number: as nn::Trainer::checkpoint() writes it.
    nn::Checkpoint checkpoint();
    void restore(const nn::Checkpoint& checkpoint);  // throws Failure before anything changes
    nn::Evaluation evaluate(int64_t examples = 0);   // of the whole parameters, on `host`

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace lockstep::parallel
