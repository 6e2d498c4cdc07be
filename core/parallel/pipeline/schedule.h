// A pipeline schedule as data: for every rank of the pipeline the list of its actions, in order. One validator, one timing
// function and one executor (pipeline.h) read it; so do the picture and `lockstep schedule`.
//
// The model is cut into stages; schedules place them: interleaved gives rank r the stages r, r + ranks, ...; the V shape
// gives it r and 2 ranks - 1 - r; DualPipe holds every stage twice, on rank r and on rank ranks - 1 - r. A micro-batch goes
// forward through all stages and back through them; the backward may come in one piece (B) or in two: of the input first
// (I), of the weights later (W). Sending waits for nobody; between two ranks messages are received in the order of sending.
//
//     const Schedule schedule = make_schedule("zb-h1", {.ranks = 4, .microbatches = 8});
//     const ScheduleRun run = time_schedule(schedule, {.forward = 1, .input = 1, .weight = 1});   // run.total == 27
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace lockstep::parallel {

enum class ActionKind : uint8_t {
    forward,          // F
    backward,         // B: I and W in one
    backward_input,   // I
    backward_weight,  // W
    send_activation,
    receive_activation,
    send_gradient,
    receive_gradient,
    update,    // the optimiser's step
    recompute  // the forward once more, before a backward
};
std::string_view name_of(ActionKind kind);  // "F", "B", "I", "W", "send activation", ...
bool computes(ActionKind kind);             // it takes a rank's time; messages do not

struct Action {
    ActionKind kind = ActionKind::forward;
    int microbatch = 0;  // of all batches, from 0; of an update: the last one that it takes in
    int stage = 0;  // of the whole model, 0 .. stages - 1: the rank's own, of messages too; of an update: -1, all its stages
    int peer = -1;  // of a send or receive: the pipeline rank at the other end
    int version = 0;  // of the weights that it uses: how many updates they have seen; of an update: those that it makes
    // DualPipe: this forward and the backward behind it run as one: both inputs are awaited before, both results leave
    // after.
    bool together = false;
    bool operator==(const Action&) const = default;
};
std::string text_of(const Action& action);  // "F5": micro-batches are counted from 1 where people read them

struct PipelineShape {
    int ranks = 1;
    int microbatches = 1;  // of one batch
    int chunks = 1;        // pieces of the model a rank holds, where the kind lets one choose (interleaved)
    int batches = 0;       // that the lists hold, one after another; 0: 1, and 3 of what never flushes
    // What the orders of zb-1p and zb-2p are searched for: times as in Durations, and the share of a micro-batch's memory
    // that stays between its I and its W.
    double forward = 1, input = 1, weight = 1, hop = 0, kept = 1;
};

struct Schedule {
    std::string kind;  // "1f1b"
    int ranks = 1;
    int chunks = 1;        // stages that a rank holds
    int copies = 1;        // of every stage; 2: the first half of a batch runs down the first, the second half up the other
    int microbatches = 1;  // in the lists, of all batches
    int batches = 1;
    int per_update = 1;                        // micro-batches that one update takes in (PipeDream: 1)
    bool flushes = true;                       // all micro-batches of a batch see the same weights, the newest
    bool staggers = false;                     // ranks begin their next step each when its own is done (ZB-H2, ZB-V)
    std::vector<std::vector<int>> stages_of;   // by rank: the stages that it holds, in order of chunk
    std::vector<std::vector<Action>> actions;  // by rank

    int stages() const { return ranks * chunks / copies; }
    // Of a batch's micro-batches, those from per_update / 2 on take the second copy, where there are two.
    int copy_of(int microbatch) const { return copies > 1 && microbatch % per_update >= per_update / 2 ? 1 : 0; }
    int rank_of(int stage, int microbatch = 0) const { return holder[size_t(copy_of(microbatch) * stages() + stage)]; }
    int chunk_of(int stage, int microbatch = 0) const;                // its place in stages_of[rank_of(...)]
    double share() const { return double(copies) / double(chunks); }  // of a rank's part of the model in one stage

    std::vector<int> holder;  // the rank of stage s of copy c at [c * stages + s]; made from stages_of by place_stages()
};
void place_stages(Schedule& schedule);

struct LateAction {  // one action of one rank, once: it takes `by` longer
    int rank = -1;   // -1: none
    ActionKind kind = ActionKind::backward;
    int stage = 0, microbatch = 0;
    double by = 0;
};
// Times of one micro-batch through a rank's part of the model (the ranks-th part), in any unit: a stage takes share() of it.
struct Durations {
    double forward = 1, input = 1, weight = 1;  // a backward in one piece takes input + weight
    double hop = 0;                             // from rank to rank
    double update = 0;
    std::vector<double> of_rank = {};   // factors: a slow rank; empty: all 1
    std::vector<double> of_stage = {};  // factors: an uneven cut; empty: all 1
    LateAction late = {};
};

struct ScheduleRow {
    std::string_view name;     // "zb-h1"
    std::string_view title;    // "ZB-H1"
    std::string_view summary;  // one sentence
    std::string_view source;   // "arXiv 2401.10241"
    int chunks = 1;            // stages a rank holds; 0: as many as asked for
    int copies = 1;            // of every stage
    bool searched = false;     // its order is found for the shape's times
    bool two_parts = false;    // backward comes as I and W, the gradients of activations and those of weights
    Schedule (*make)(const PipelineShape& shape) = nullptr;
    // Formulas for equal stages without hops (p ranks, m micro-batches, v chunks), and the same as text. Idle time of a rank
    // in one batch, in the unit of the durations; of what never flushes: in steady state. Nothing where there is no formula.
    std::string_view idle_text;  // "(p-1)(F+B)"
    std::optional<double> (*idle)(const PipelineShape& shape, const Durations& durations) = nullptr;
    std::string_view activations_text;                                   // "min(m, p-r)"
    int (*activations)(const PipelineShape& shape, int rank) = nullptr;  // most alive: micro-batches of one stage
    int (*versions)(const PipelineShape& shape, int rank) = nullptr;     // of the weights, most alive; null: 1
};
std::span<const ScheduleRow> schedules();
const ScheduleRow& schedule_named(const std::string& name);  // throws Failure with the nearest name
// Throws Failure: what does not divide, and what would.
Schedule make_schedule(const std::string& kind, const PipelineShape& shape);
// The same shape with its order searched for these times.
PipelineShape timed_shape(PipelineShape shape, const Durations& durations);

// By stage and micro-batch, [stage * microbatches + microbatch]: whether the rank turns to another of its stages after that
// micro-batch's weight gradients, so that those of the micro-batches so far can be reduced and let go (ZeRO-2 and 3). A rank
// with one stage alone turns after every micro-batch: it comes to the stage's other blocks. Ranks that hold a stage twice
// add up both copies first: never.
std::vector<char> ends_of_runs(const Schedule& schedule, int rank);

// What is wrong with a schedule, one sentence each (the first 20); empty: it can run. Found are: a micro-batch that is
// missing or twice, a step before what it needs, sends without their receive, ranks that wait for each other in a circle, an
// update before the last W, a backward with other weights than its forward.
std::vector<std::string> problems_of(const Schedule& schedule);

struct ActionRun {  // one action as it ran; a send ends when it has arrived, a receive takes no time of its own
    Action action;
    double begin = 0, end = 0;
    bool operator==(const ActionRun&) const = default;
};
struct IdleRun {  // a rank that does nothing, and why: "waits for B1", "waits for the flush"
    double begin = 0, end = 0;
    std::string reason;
    int waits_for_rank = -1, microbatch = -1;
    bool operator==(const IdleRun&) const = default;
};
struct ActivationStep {
    double time = 0;
    int alive = 0;      // micro-batches of one stage whose activations are kept, from then on
    int64_t bytes = 0;  // of activations alive; counted in a real run, 0 in a simulation
    bool operator==(const ActivationStep&) const = default;
};

struct ScheduleRun {  // of a simulation (time_schedule) or of a real run (pipeline.h): what D9 draws
    Schedule schedule;
    std::string unit;                                      // "units", "us"
    std::vector<std::vector<ActionRun>> actions;           // by rank
    std::vector<std::vector<IdleRun>> idle;                // by rank; gap-free with what computes, from 0 to `total`
    std::vector<std::vector<ActivationStep>> activations;  // by rank; a step of a forward's begin, of a W's or B's end
    std::vector<int> peak_activations, weight_versions;    // by rank: the most alive
    std::vector<double> busy;                              // by rank
    double total = 0;                                      // from the first begin to the last end
    double ideal = 0;                                      // the busiest rank without a gap
    // What these batches cost when more follow: `total`; where ranks stagger, the longest from a rank's own first action to
    // its last; where nothing flushes, the ideal over the share of time that ranks compute in steady state.
    double cost = 0;

    std::string shown_unit() const { return unit == "us" ? "µs" : unit; }
    double idle_a_rank() const;                       // cost less a rank's mean busy time
    double bubble_of_total() const;                   // idle / cost
    double bubble_over_ideal() const;                 // what it costs beyond the ideal, of the ideal
    bool operator==(const ScheduleRun& other) const;  // the same actions at the same times
};
// Plays the lists with these times. Throws Failure where ranks wait for each other for ever: see problems_of().
ScheduleRun time_schedule(const Schedule& schedule, const Durations& durations);

// Fills total, ideal, cost, weight_versions and the idle time at the end from the actions that ran, busy and idle.
void settle_run(ScheduleRun& run);

// The rows as text, one line a rank, one token a unit of time ("F5 B1 ..." or, where it is wide, a letter): what
// `lockstep schedule` prints.
std::string picture_of(const ScheduleRun& run, int width = 160);
// A track a rank with its actions and, below, its messages; a counter of activations; arrows along the messages.
Trace trace_of(const ScheduleRun& run);

}  // namespace lockstep::parallel
