// `lockstep train` on many ranks: --dp, --tp, --pp, --cp, --zero and what belongs to them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "core/parallel/plan_options.h"

namespace lockstep::comm {
struct Network;
}  // namespace lockstep::comm
namespace lockstep::parallel {
struct ParallelOptions;
}  // namespace lockstep::parallel
namespace lockstep::nn {
struct Checkpoint;
struct TrainerOptions;
}  // namespace lockstep::nn

namespace lockstep::cli {

struct ParallelChoice {
    parallel::ParallelPlan plan;
    std::string comm = "in_process", link = "", gpu = "h100";
    double bucket_mb = 25;
    bool own_steps = false, partition = false;
    int64_t set = 0;                      // examples
    std::vector<int64_t> batches;         // by worker
    double timeout = 60;                  // seconds, of a receive under MPI
    int64_t compare_every = 1;            // steps
    std::vector<std::string> told;        // "1:lr=0.2", "1:slow=2"
    bool async = false, compare = false;  // train_async.cpp; compare: synchronous steps beside it
    std::optional<int64_t> staleness;
    std::optional<Command> command;

    bool any() const;  // whether an option of many ranks was given
};
void add_parallel(const Command& command, ParallelChoice& choice);
void add_plan_option(const Command& command, parallel::ParallelPlan& plan, const parallel::PlanOption& row);
// --schedule names the learning rate's schedule, or the pipeline's: then it is taken out of `schedule`.
void take_pipeline_schedule(ParallelChoice& choice, std::string& schedule);
// Throws Failure for what training on many ranks would not heed: --mode, --quantize ...
void refuse_single_rank_options(const Command& command);

struct ParallelRun {
    const nn::TrainerOptions& training;
    const nn::Checkpoint* from = nullptr;
    int64_t steps = 1, evaluate_every = 0, save_every = 0;
    std::string save, json, trace;
};
int train_parallel(const ParallelChoice& choice, const ParallelRun& run);

// Of both kinds of runs: the ideal network with the ranks that --on-rank made slow; null where none is.
std::shared_ptr<const comm::Network> network_of(const ParallelChoice& choice, int ranks);
// Throws Failure on rank 0, where processes were asked for unlike runs: nothing that they add up would mean anything.
void check_asked_alike(const parallel::ParallelOptions& options, const std::string& more = {});
// On a server and workers: --async. `options`: as synchronous steps take them.
int train_async(const ParallelChoice& choice, const parallel::ParallelOptions& options, const ParallelRun& run);

}  // namespace lockstep::cli
