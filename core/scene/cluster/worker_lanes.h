// Who works when: the workers of data parallelism over a whole run, in steps that all take together or each at its own pace
// with a parameter server. What the view "workers" draws.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::parallel {
struct AsyncOptions;
struct ParallelStepRecord;
}  // namespace lockstep::parallel

namespace lockstep::scene {

struct ParallelRow;
struct ParallelSceneOptions;

struct WorkerBatch {
    int worker = 0;
    int64_t batch = 0;                     // of the worker's, from 0
    double begin_us = 0, computed_us = 0;  // from the weights to the gradient, on the virtual clocks
    double ready_us = 0;                   // the slowest worker's gradient is there; of a server: it takes this one
    double end_us = 0;                     // the step's end; of a server: the update is made
    double held_us = 0;                    // before `begin_us`, by the bound on staleness
    int64_t staleness = -1;                // of an update; -1: of a step
    double loss = 0;                       // of this batch; of a step: of all workers' batches
    bool stuck = false;                    // it waits for ever
    std::vector<char> records = {};        // of a set: 1 for each that nobody had read before in its epoch
    std::vector<char> had = {};            // and 1 for each that this worker read in an epoch before
};

struct WorkerLanes {
    std::string name;  // of the row: "asynchronous"
    std::string model, gpu;
    int workers = 0;
    bool asynchronous = false;
    int64_t bound = -1;  // how many batches a worker may be ahead; -1: any number
    int64_t share = 0;   // examples of a worker's batch
    double learning_rate = 0;
    std::vector<WorkerBatch> batches;             // in the order of their ends
    std::vector<std::pair<int, int>> waits = {};  // for ever: who, for whom
    double end_us = 0;

    int64_t batches_of(int worker) const;  // that it did
    double waiting_us() const;             // of all workers: for the slowest, or held back
    double waiting_share() const;          // of the time until each worker's own end
    int64_t updates() const;               // of the weights: steps, or pushes
    std::vector<int64_t> by_staleness() const;
    int64_t read_again() const;     // records that had been read before in their epoch
    int64_t stale_updates() const;  // on weights that others had replaced
    double mean_staleness() const;
};

void add_step(WorkerLanes& lanes, const parallel::ParallelStepRecord& record);
// Workers that have a batch more than all did wait for ever: they compute as long as in the step before.
void add_stuck(WorkerLanes& lanes, const std::vector<int64_t>& batches_of_worker);

// Trains with a server, for a row of a scene: its losses by update, figures, parameters and lanes.
void train_with_server(ParallelRow& made, const parallel::AsyncOptions& options, const ParallelSceneOptions& scene);

}  // namespace lockstep::scene
