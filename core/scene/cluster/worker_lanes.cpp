#include "core/scene/cluster/worker_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/parallel/train/asynchronous.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

int64_t WorkerLanes::batches_of(int worker) const {
    return std::count_if(batches.begin(), batches.end(),
                         [&](const WorkerBatch& batch) { return batch.worker == worker && !batch.stuck; });
}

double WorkerLanes::waiting_us() const {
    double sum = 0;
    for (const WorkerBatch& batch : batches)
        if (!batch.stuck) sum += asynchronous ? batch.held_us : batch.ready_us - batch.computed_us;
    return sum;
}

double WorkerLanes::waiting_share() const {
    std::vector<double> ends(static_cast<size_t>(workers));
    for (const WorkerBatch& batch : batches)
        if (!batch.stuck) ends[static_cast<size_t>(batch.worker)] = batch.end_us;
    double all = 0;
    for (const double end : ends) all += end;
    return all > 0 ? waiting_us() / all : 0;
}

int64_t WorkerLanes::updates() const {
    const auto done = std::count_if(batches.begin(), batches.end(), [](const WorkerBatch& batch) { return !batch.stuck; });
    return asynchronous ? done : done / std::max(1, workers);
}

std::vector<int64_t> WorkerLanes::by_staleness() const {
    std::vector<int64_t> counts;
    for (const WorkerBatch& batch : batches) {
        if (batch.staleness < 0) continue;
        const auto at = static_cast<size_t>(batch.staleness);
        if (at >= counts.size()) counts.resize(at + 1);
        ++counts[at];
    }
    return counts;
}

int64_t WorkerLanes::read_again() const {
    int64_t again = 0;
    for (const WorkerBatch& batch : batches) again += std::count(batch.records.begin(), batch.records.end(), 0);
    return again;
}

int64_t WorkerLanes::stale_updates() const {
    return std::count_if(batches.begin(), batches.end(), [](const WorkerBatch& batch) { return batch.staleness > 0; });
}

double WorkerLanes::mean_staleness() const {
    double sum = 0, count = 0;
    for (const WorkerBatch& batch : batches)
        if (batch.staleness >= 0) sum += static_cast<double>(batch.staleness), ++count;
    return count > 0 ? sum / count : 0;
}

void add_step(WorkerLanes& lanes, const parallel::ParallelStepRecord& record) {
    double ready = 0;
    const size_t first = lanes.batches.size();
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        WorkerBatch batch{.worker = static_cast<int>(rank),
                          .batch = lanes.batches_of(static_cast<int>(rank)),
                          .begin_us = record.ranks[rank].begin_us,
                          .computed_us = parallel::gradient_us(record.ranks[rank]),
                          .end_us = record.ranks[rank].end_us,
                          .loss = record.loss};
        ready = std::max(ready, batch.computed_us);
        lanes.batches.push_back(std::move(batch));
    }
    for (size_t i = first; i < lanes.batches.size(); ++i) lanes.batches[i].ready_us = ready;
    lanes.end_us = record.end_us;
}

void add_stuck(WorkerLanes& lanes, const std::vector<int64_t>& batches_of_worker) {
    for (int worker = 0; worker < lanes.workers; ++worker) {
        const auto last = std::find_if(lanes.batches.rbegin(), lanes.batches.rend(),
                                       [&](const WorkerBatch& batch) { return batch.worker == worker && !batch.stuck; });
        const int64_t done = lanes.batches_of(worker);
        if (last == lanes.batches.rend() || batches_of_worker[static_cast<size_t>(worker)] <= done) continue;
        WorkerBatch batch{.worker = worker, .batch = done, .begin_us = lanes.end_us, .stuck = true};
        batch.computed_us = batch.ready_us = batch.end_us = lanes.end_us + (last->computed_us - last->begin_us);
        lanes.batches.push_back(std::move(batch));
    }
}

void train_with_server(ParallelRow& made, const parallel::AsyncOptions& asked, const ParallelSceneOptions& scene) {
    auto lanes = std::make_shared<WorkerLanes>(*made.lanes);
    lanes->asynchronous = true;
    lanes->bound = asked.bound;
    parallel::AsyncOptions options = asked;
    options.on_update = [&](const parallel::ServerUpdate&) { return !scene.stop.stop_requested(); };
    const parallel::AsyncRun run = train_asynchronously(options);
    throw_if_stopped(scene.stop);
    auto& f = made.figures;
    for (const parallel::ServerUpdate& update : run.updates) {
        f[fmt::format("loss@step:{}", made.losses.size())] = update.loss;
        made.losses.push_back(update.loss);
        lanes->batches.push_back({.worker = update.worker,
                                  .batch = update.batch,
                                  .begin_us = update.fetched_us,
                                  .computed_us = update.computed_us,
                                  .ready_us = update.begun_us,
                                  .end_us = update.updated_us,
                                  .held_us = update.held_us,
                                  .staleness = update.staleness,
                                  .loss = update.loss});
    }
    lanes->end_us = run.end_us;
    const std::vector<int64_t> counts = run.by_staleness();
    for (size_t staleness = 0; staleness < counts.size(); ++staleness)
        f[fmt::format("updates@staleness:{}", staleness)] = static_cast<double>(counts[staleness]);
    f["staleness"] = run.mean_staleness();
    f["most_stale"] = static_cast<double>(run.most_stale());
    f["bytes_sent"] = static_cast<double>(run.push_bytes);
    for (const nn::NamedArray& array : run.checkpoint.tensors) {
        if (array.name.starts_with("optimizer.")) continue;
        for (size_t i = 0; i < array.array.count(); ++i) {
            if (array.array.dtype == DType::f64) made.parameters.push_back(array.array.as<double>()[i]);
            if (array.array.dtype == DType::f32) made.parameters.push_back(double{array.array.as<float>()[i]});
        }
    }
    made.lanes = lanes;
}

}  // namespace lockstep::scene
