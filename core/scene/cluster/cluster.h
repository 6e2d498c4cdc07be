// What the Cluster workspace shows, as one plain struct: what was asked (ClusterSetup) and what ran (ClusterScene). The
// app's worker fills it with run_cluster(); so does whoever sets the workspace up, a lesson's scene for instance. Views only
// read it. A part that cannot run says why in `refusal` and leaves the others as they are.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/network/timing.h"
#include "core/parallel/layout/layout.h"
#include "core/parallel/layout/mesh.h"
#include "core/parallel/pipeline/schedule.h"
#include "core/parallel/plan.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::scene {

struct FigureTable;    // figure_table.h
struct ParallelScene;  // parallel_scene.h
struct WorkerLanes;    // worker_lanes.h

struct ScheduleMove {  // an action of a rank's list, messages and updates left out, to another place in it
    std::string kind;  // of the schedule that is edited
    int rank = 0, from = 0, to = 0;
    bool operator==(const ScheduleMove&) const = default;
};
inline constexpr int layers_a_rank = 4;  // of the model whose schedules are timed

struct PipelineSetup {                                   // D9: one schedule, or two on one axis
    std::vector<std::string> kinds = {"1f1b", "zb-h1"};  // rows of parallel::schedules(), one or two
    int ranks = 4, microbatches = 8, chunks = 2;         // chunks: of the kinds that take them
    double forward = 1, input = 1, weight = 1, hop = 0;  // of one micro-batch through a rank's part of the model
    int slow_rank = -1;                                  // -1: none
    double slow_factor = 1.5;
    int limit = 0;                         // micro-batches whose activations fit on a rank; 0: one a rank
    std::vector<int> layers = {};          // by rank: of its part of the model; empty: layers_a_rank each
    std::vector<ScheduleMove> moves = {};  // made by hand, one after the other; those that cannot be are left out
    bool operator==(const PipelineSetup&) const = default;
    int activation_limit() const { return limit > 0 ? limit : ranks; }
};

struct MemorySetup {  // D11: weights, gradients and Adam's state in mixed precision, by the formulas of ZeRO
    double parameters = 7.5e9;
    int gpus = 64;    // that share
    int layers = 36;  // equal ones: what stage 3 gathers one at a time
    int zero = -1;    // the stage that is looked at, rank by rank; -1: all four side by side
    int only = -1;    // the one stage that stands there alone, a bar for all ranks; -1: all four
    std::string gpu = "a100-80";
    bool operator==(const MemorySetup&) const = default;
};

struct CollectiveSetup {                                       // D10: one collective on one buffer
    std::string operation = "all_reduce", algorithm = "ring";  // a row of comm::collectives()
    int ranks = 4, servers = 1;
    double bytes = 64e6;
    std::string link = "ib-hdr";  // a row of comm::links(): between any two ranks
    int late_rank = 2;            // that begins `late_us` after the others; -1: none
    double late_us = 500;
    // By rank: how fast its port is, the cables that leave it, as a share of the link's bandwidth; empty: all 1.
    std::vector<double> speeds = {};
    int of_run = -1;  // of a training run: which of its collectives; -1: the first of the gradients', else of all
    bool operator==(const CollectiveSetup&) const = default;
};

std::string_view name_of(const parallel::Placement& placement);  // of a matrix: "whole", "rows cut", "columns cut", ...
struct MeshSetup {  // D14: devices by named axes, and a matrix laid out over them before and after a redistribution
    std::vector<parallel::MeshAxis> axes = {{"dp", 2}, {"pp", 2}, {"tp", 2}};  // the last fastest
    std::vector<parallel::Placement> before = {parallel::replicate(), parallel::replicate(), parallel::shard(1)},
                                     after = std::vector<parallel::Placement>(3);  // by axis: as parallel::Layout::along
    int64_t rows = 4096, columns = 4096;
    DType type = DType::bf16;
    int layers = 36;         // of the model whose stages "pp" holds
    int parameter = -1;      // of a training run: which of its model's parameters; -1: the largest matrix
    bool gradients = false;  // beside its weights stand its gradients; else what a rank updates
    bool operator==(const MeshSetup&) const = default;
};

struct NetworkSetup {                    // D15: one all-reduce on a machine
    std::string topology = "two_level";  // a row of comm::topologies()
    int ranks = 16, node_size = 8;
    std::string link = "ib-hdr", inner = "nvlink3";  // between nodes (or ranks); inside a node
    std::string algorithm = "ring";
    double bytes = 1e9;
    std::string gpu = {};  // whose power is told; empty: that of the memory's picture
    bool operator==(const NetworkSetup&) const = default;
};

struct ClusterTraining {  // a model trained on ranks of this process, instead of schedules that are timed and formulas
    bool on = false;
    std::string model = "tiny llama";  // a row of cluster_models()
    parallel::ParallelPlan plan = {.dp = 2, .pp = 2, .zero = 1, .microbatches = 4};
    int64_t batch = 16;  // sequences or pictures of a step, of all ranks together
    int64_t steps = 1;   // that are trained from the beginning; the last one is shown
    uint64_t seed = 1;
    bool operator==(const ClusterTraining&) const = default;
};

// A step of a large model on many GPUs, planned (core/parallel/plan): its schedule takes the place of D9's two, and is what
// the machine shows of a cluster. One GPU may be late once.
struct PlanSetup {
    bool on = false;
    std::string model = "megatron-18b", gpu = "a100-80", link = "ib-hdr";
    parallel::ParallelPlan plan = {.dp = 4, .tp = 8, .pp = 8, .zero = 1};
    int64_t sequence = 2048, batch = 64, microbatch = 1;  // tokens; sequences of a step; of a micro-batch
    // The late one's replica, pipeline rank and GPU among those that share its layers; its micro-batch, whose backward takes
    // `late_factor` times as much again; 0: nobody is late.
    int late_replica = 0, late_rank = 3, late_gpu = 5, late_microbatch = 4;
    double late_factor = 2;
    bool operator==(const PlanSetup&) const = default;
};
struct PlannedStep;  // cluster_plan.h

struct ClusterSetup {
    PipelineSetup pipeline;
    PlanSetup plan;
    ClusterTraining training;
    CollectiveSetup collective;
    MemorySetup memory;
    MeshSetup mesh;
    NetworkSetup network;
    bool operator==(const ClusterSetup&) const = default;
};
// By row of the pipeline's picture: layers of the rank's part of the model; of a training run blocks of its first stage.
// Empty: the plan has no pipeline, or cannot be.
std::vector<int> parts_of(const ClusterSetup& setup);
// The boundary between a row's stage and the next row's, by one layer: `down` gives the row one, else it loses one. Returns
// why it cannot be, in a sentence; empty: it was moved.
std::string move_boundary(ClusterSetup& setup, int row, bool down);

// The setup with every number brought into the range that the workspace draws: 1-64 ranks, 1-128 micro-batches, ...
ClusterSetup within_limits(ClusterSetup setup);

struct ScheduleShown {
    std::string kind, title, summary;  // "zb-h1", "ZB-H1", one sentence
    bool takes_chunks = false;
    parallel::ScheduleRun run;  // empty when refused
    std::string refusal;        // why it cannot be made, and what would
    bool executed = false;      // on real micro-batches
    bool planned = false;       // its times are the planner's formulas; neither: they are simulated
    int moved = 0;              // actions, by hand
    std::vector<int> parts;     // parts_of(), where they were cut by hand
    std::string move_refusal;   // why the last of its moves cannot be; empty: it was made
};

struct CollectiveShown {
    std::string operation, algorithm, summary, refusal;
    std::string nothing;                   // why there is none in a training step, and what would make one
    std::vector<double> speeds;            // CollectiveSetup::speeds, where one is not 1
    std::string link;                      // "InfiniBand HDR, 25 GB/s, 1 us"
    comm::CollectiveRun run;               // empty when refused
    std::vector<comm::Transfer> messages;  // of the run, by begin
    double on_time_us = 0;                 // what it would take were no rank late
    int node_size = 0;                     // members of a node, behind a wall of slower cables; 0: there are no nodes
    int late_rank = -1;                    // member that begins late_us after the first; -1: none
    double late_us = 0;
    std::vector<int> world;  // by member: its rank in a training run; empty: they are the members' numbers
    double since_us = 0;     // of a training run's: its begin on the step's clock
    std::string of_run;      // "gradients along dp"; empty: it is no training run's
    int at = 0, of = 0;      // its place among the step's collectives
    bool crosses(int from, int to) const { return node_size > 0 && from / node_size != to / node_size; }
    int rank_of(int member) const { return world.empty() ? member : world[static_cast<size_t>(member)]; }
    int64_t most_sent = 0, all_sent = 0;  // by the rank that sends most; by all
    int ranks() const { return run.collective ? run.collective->ranks : 0; }
    int chunks() const { return run.collective ? run.collective->chunks : 0; }
    int rounds() const { return run.collective ? run.collective->rounds : 0; }
};
struct NetworkShown {                                    // the same kind of collective, on a machine's network
    std::string title, refusal;                          // "Two levels: ..."
    comm::CollectiveRun run;                             // without its messages
    std::vector<std::pair<std::string, double>> others;  // what other algorithms take there, microseconds
};

struct RunMessage {                  // of a training step, on its clock
    int from = 0, to = 0, kind = 0;  // kind: a row of TrainingShown::sent
    int64_t bytes = 0;
    double sent_us = 0, begin_us = 0, arrival_us = 0;
};
struct StepTraffic {  // what a training step put on the network that its ranks ran on
    std::string title;
    std::shared_ptr<const comm::Network> network;
    comm::NetworkUse use;
    std::vector<RunMessage> messages;   // in the order of sending
    std::vector<comm::LinkSpan> spans;  // when links were busy; message: index into `messages`
};
struct RunCollective {  // one collective of the step, on its clock: the same one on all of its ranks
    std::string operation, algorithm, axis, purpose;
    std::vector<int> ranks;
    int64_t elements = 0;
    DType type = DType::f32;
    std::vector<double> begin_us, end_us;    // by member
    std::vector<std::vector<int>> messages;  // by member: what it sent, as indices into StepTraffic::messages
};
struct TrainingShown {                // what the ranks did in the step that is shown
    std::string title;                // "tiny llama on 4 ranks: dp 2, pp 2, ZeRO-1"
    std::string refusal;              // why nothing ran, or not all
    int64_t parameters = 0;           // of the whole model
    std::vector<double> loss, alone;  // by step, from the first: of the ranks, of the serial run
    parallel::Mesh mesh;
    parallel::ParallelStepRecord record;  // of the last step; without its memory and spans
    std::vector<parallel::Traffic> sent;  // of all ranks together, by axis and purpose
    // The step's clock begins where its pipeline does; the step itself lies in [begin_us, end_us] of it. What never flushes
    // has one clock for all of its steps.
    double begin_us = 0, end_us = 0;
    bool flushes = true;
    StepTraffic traffic;
    std::vector<RunCollective> collectives;                         // by begin
    std::vector<std::vector<parallel::ParameterHolding>> holdings;  // by rank
    double difference() const;                                      // of the last step's loss from the serial run's
};

struct MemoryColumn {     // one bar
    std::string name;     // "ZeRO-1"; of a run: "rank 3"
    std::string sharded;  // "Adam", "+ gradients"
    double sends = 0;     // a rank and step, in units of all parameters: 2 (N-1)/N, 3 (N-1)/N
    int zero = 0;
    parallel::MemoryBytes bytes = {};
    // Of a run. Bytes stand between backward and update, of which the formulas speak.
    parallel::MemoryBytes formula = {};                 // weights, gradients and optimiser
    int64_t peak = 0, sent = 0;                         // bytes: in use at most; sent in the step
    std::vector<parallel::MemoryPoint> over_step = {};  // as MemoryShown::over_step
};
struct MemoryShown {
    std::vector<MemoryColumn> columns;  // by ZeRO stage, or the only one; of a run: by rank
    double capacity = 0;                // bytes; 0: not known
    std::string gpu;                    // "A100"
    bool counted = false;               // from what a run allocated; else by the formulas
    // One step of the column that is looked at, as shares of the step: from then on, until the next one.
    std::vector<parallel::MemoryPoint> over_step;
    std::string step_of;   // "ZeRO-3"
    int64_t peak() const;  // of over_step
};
// Bytes a rank of `parameters` weights in 16 bits, their gradients and 12 bytes of Adam's state (copy, both moments).
parallel::MemoryBytes zero_bytes(double parameters, int zero, int gpus);

struct ShardShown {  // what of the matrix a rank holds
    comm::Piece rows, columns;
    bool partial = false;        // a summand of it
    comm::Piece flat = {0, -1};  // of these rows and columns only so many elements, row by row; count -1: all
    bool operator==(const ShardShown&) const = default;
};
struct MeshShown {
    parallel::Mesh mesh;
    std::vector<ShardShown> before, after;  // by rank
    parallel::Redistribution plan;          // from before to after
    int64_t rows = 0, columns = 0;          // of the matrix
    // Of a training run: the parameter, its place among all, what stands beside its weights, and what the step moved.
    std::string parameter, beside;
    int at = 0, of = 0;
    std::vector<std::string> moved;                 // "dp: reduce-scatter gradients, 2 times, 354 kB sent"
    std::string refusal;                            // why it is none
    int64_t bytes() const { return plan.bytes(); }  // of all steps, by the rank that sends most
};

struct ClusterScene {  // immutable once made
    ClusterSetup setup;
    std::string source;  // "C06, step 3"; empty: set up by hand
    std::vector<ScheduleShown> schedules;
    CollectiveShown collective;
    MemoryShown memory;
    MeshShown mesh;
    NetworkShown network;
    std::shared_ptr<const TrainingShown> training;  // null: schedules and memory are simulated and derived
    std::shared_ptr<const PlannedStep> planned;     // null: the schedules' times are units, or a training run's
    std::shared_ptr<const FigureTable> table;       // of a lesson's scene: the figures of its rows; null: none
    std::vector<std::shared_ptr<const WorkerLanes>> workers =
        {};                                         // of a lesson's scene: by row that trains in data parallel
    std::shared_ptr<const ParallelScene> ran = {};  // a lesson's scene of many ranks: its rows; null: none
    std::string asked = {};  // the row whose figures a lesson's question asks for; empty: no one row's
};
class ClusterTrainer;  // cluster_training.h: keeps the ranks from scene to scene; null: they end with this one
ClusterScene run_cluster(const ClusterSetup& setup, ClusterTrainer* trainer = nullptr);

}  // namespace lockstep::scene
