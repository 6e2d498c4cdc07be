// A pipeline schedule as data: for every rank of the pipeline the list of its actions, in order. One validator, one timing
// function and one executor (pipeline.h) read it; so do the picture and `lockstep schedule`.
//
// The model is cut into `stages` = ranks * chunks pieces; schedules place them: interleaved gives rank r the stages
// r, r + ranks, ...; the V shapes give it r and 2 ranks - 1 - r. A micro-batch goes forward through all stages and back
// through them; the backward may come in one piece (B) or in two: of the input first (I), of the weights later (W).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct Action {
    ActionKind kind = ActionKind::forward;
    int microbatch = 0;
    int stage = 0;    // of the whole model, 0 .. stages - 1
    int peer = -1;    // of a send or receive: the pipeline rank at the other end
    int version = 0;  // of the weights that it uses: how many updates they have seen (PipeDream: more than one alive)
    bool operator==(const Action&) const = default;
};

struct Schedule {
    std::string kind;  // "1f1b"
    int ranks = 1, chunks = 1, microbatches = 1;
    std::vector<std::vector<int>> stages_of;   // by rank: the stages that it holds, in order of chunk
    std::vector<std::vector<Action>> actions;  // by rank
    bool flushes = true;                       // one update a batch, after its last W; otherwise updates come in between
    int steps = 1;                             // batches that the lists hold: more than 1 where nothing flushes

    int stages() const { return ranks * chunks; }
    int rank_of(int stage) const;
    int chunk_of(int stage) const;
};

struct ScheduleRow {
    std::string_view name;     // "zb-h1"
    std::string_view title;    // "ZB-H1"
    std::string_view summary;  // one sentence
    bool takes_chunks = false;
    Schedule (*make)(int ranks, int microbatches,
                     int chunks) = nullptr;  // throws Failure: what does not divide, and what would
    // Formulas for equal stages without communication, in units of the durations; null where there is none.
    double (*idle)(int ranks, int microbatches, int chunks, const struct Durations& durations) = nullptr;  // a rank
    int (*activations)(int ranks, int microbatches, int chunks,
                       int rank) = nullptr;  // most alive, in micro-batches of a chunk
};
std::span<const ScheduleRow> schedules();
const ScheduleRow& schedule_named(const std::string& name);  // throws Failure with the nearest name

// What is wrong with a schedule, one sentence each; empty: it can run. Found are: a micro-batch that is missing or twice, a
// step before what it needs, sends without their receive, ranks that wait for each other in a circle, an update before the
// last W, a backward with other weights than its forward.
std::vector<std::string> problems_of(const Schedule& schedule);

struct Durations {                              // of one micro-batch through one stage, in any unit
    double forward = 1, input = 1, weight = 1;  // a backward in one piece takes input + weight
    double hop = 0;                             // from rank to rank
    double update = 0;
    std::vector<double> of_rank = {};  // factors: a slow rank; empty: all 1
};

struct ActionRun {  // one action as it ran
    Action action;
    double begin = 0, end = 0;
    bool operator==(const ActionRun&) const = default;
};
struct IdleRun {  // a rank that does nothing, and why: "waits for B1", "waits for the flush"
    double begin = 0, end = 0;
    std::string reason;
    int waits_for_rank = -1, microbatch = -1;
};
struct ActivationStep {
    double time = 0;
    int alive = 0;  // micro-batches of a chunk whose activations are kept, from then on
};

struct ScheduleRun {  // of a simulation (time_schedule) or of a real run (pipeline.h): what D9 draws
    Schedule schedule;
    std::string unit;                                      // "units", "us"
    std::vector<std::vector<ActionRun>> actions;           // by rank
    std::vector<std::vector<IdleRun>> idle;                // by rank; gap-free with the actions from 0 to `total`
    std::vector<std::vector<ActivationStep>> activations;  // by rank
    std::vector<int> peak_activations, weight_versions;    // by rank: the most alive
    double total = 0, ideal = 0;                           // ideal: the busiest rank without a gap
    double bubble_of_total() const;                        // idle / (ranks * total)
    double bubble_over_ideal() const;                      // idle / busy
};
ScheduleRun time_schedule(const Schedule& schedule, const Durations& durations);

}  // namespace lockstep::parallel
