// Asynchronous data parallelism: a server holds the weights, each worker fetches them, computes the gradient of a batch of
// its own and pushes it, and the server takes a step with every gradient as it comes. Nobody waits for the slowest worker,
// but a gradient may be stale: others' updates have been made since its weights were fetched.
//
//     AsyncRun run = train_asynchronously({.run = {.training = {.model = "mlp", .batch = 64}, .plan = {.dp = 4}, .steps =
//     20}});
//
// Workers are ranks 0 to N - 1 and the server is rank N, threads or MPI's processes. Pushes are taken in the order in which
// they arrive on the virtual clocks, at one moment the lower rank's first, whatever threads do: the server takes one when no
// worker under way can still arrive before it. A worker's batches are those that it has in synchronous steps; each update
// takes the rate of its batch's step and the mean gradient of one worker's examples.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/train/trainer.h"

namespace lockstep::parallel {

struct ServerUpdate {  // one push, from the fetch of its weights to the update; virtual time
    int worker = 0;
    int64_t batch = 0;      // of the worker's, counted from the beginning of training
    int64_t staleness = 0;  // updates of others since the weights were fetched
    double loss = 0;        // of the batch, at the weights that were fetched
    double learning_rate = 0;
    double held_us = 0;                                   // how long the bound held the worker back before the fetch
    double fetched_us = 0, computed_us = 0;               // the weights are there; the gradient is
    double arrived_us = 0, begun_us = 0, updated_us = 0;  // the gradient at the server; the update
};

struct AsyncOptions {
    ParallelOptions run;  // plan: dp, microbatches, recompute; steps: batches of each worker, unless batches_of_worker says;
                          // network: of dp + 1 ranks
    int64_t bound = -1;   // staleness: how many batches a worker may be ahead of the slowest that has not ended; -1: any
    const nn::Checkpoint* from = nullptr;
    std::function<bool(const ServerUpdate&)> on_update = {};  // by the server; false: no more batches
};

struct AsyncRun {
    std::vector<ServerUpdate> updates;  // in the order in which the server made them
    int64_t push_bytes = 0;             // of one push, and of one fetch
    double port_us = 0;                 // for which a push takes the server's port
    double end_us = 0;                  // of the last update
    double seconds = 0;                 // host wall clock
    nn::Checkpoint checkpoint;          // the server's, at the end; step: that every worker has done

    std::vector<int64_t> by_staleness() const;  // how many updates were 0, 1, 2 ... stale
    double mean_staleness() const;
    int64_t most_stale() const;
    double held_us() const;     // of all workers
    double port_share() const;  // of the time: in which pushes take the server's port
};

// Throws Failure for a run that cannot be, before anything has begun.
void check_asynchronous(const AsyncOptions& options, int ranks = 0);  // ranks: that run, 0 where they are threads
// `world`: this process is one of dp + 1 ranks, all of which call it; the server's run comes back there, elsewhere an empty
// one. Null: all are threads.
AsyncRun train_asynchronously(const AsyncOptions& options, comm::Communicator* world = nullptr);

// Of synchronous steps beside it: when a rank's own gradient was there, and how much of the ranks' time passes between that
// and the slowest one's.
double gradient_us(const RankStep& rank);
double waiting_share(const ParallelStepRecord& record);

}  // namespace lockstep::parallel
