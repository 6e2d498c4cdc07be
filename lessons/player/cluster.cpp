// Runs what the Cluster workspace shows: schedules timed, collectives and layouts worked out, memory counted.
#include "lessons/player/cluster.h"

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"

namespace lockstep::lessons {

namespace {

double in_range(double value, double least, double most, double otherwise) {
    return std::isfinite(value) ? std::clamp(value, least, most) : otherwise;
}

ScheduleShown shown_schedule(const std::string& kind, const PipelineSetup& setup) {
    ScheduleShown shown;
    shown.kind = shown.title = kind;
    try {
        const parallel::ScheduleRow& row = parallel::schedule_named(kind);
        shown.title = row.title;
        shown.summary = row.summary;
        shown.takes_chunks = row.chunks == 0;
        const parallel::Schedule schedule = parallel::make_schedule(
            kind, {.ranks = setup.ranks, .microbatches = setup.microbatches, .chunks = setup.chunks});
        parallel::Durations durations;
        durations.forward = setup.forward;
        durations.input = setup.input;
        durations.weight = setup.weight;
        durations.hop = setup.hop;
        if (setup.slow_rank >= 0 && setup.slow_rank < setup.ranks) {
            durations.of_rank.assign(static_cast<size_t>(setup.ranks), 1.0);
            durations.of_rank[static_cast<size_t>(setup.slow_rank)] = setup.slow_factor;
        }
        shown.run = parallel::time_schedule(schedule, durations);
    } catch (const Failure& failure) {
        shown.refusal = failure.diagnostic.message;
    }
    return shown;
}

}  // namespace

ClusterSetup within_limits(ClusterSetup setup) {
    PipelineSetup& p = setup.pipeline;
    if (p.kinds.empty()) p.kinds = {"1f1b"};
    if (p.kinds.size() > 2) p.kinds.resize(2);
    p.ranks = std::clamp(p.ranks, 1, 64);
    p.microbatches = std::clamp(p.microbatches, 1, 128);
    p.chunks = std::clamp(p.chunks, 1, 8);
    p.forward = in_range(p.forward, 0.1, 100, 1);
    p.input = in_range(p.input, 0.1, 100, 1);
    p.weight = in_range(p.weight, 0.1, 100, 1);
    p.hop = in_range(p.hop, 0, 100, 0);
    p.slow_rank = std::clamp(p.slow_rank, -1, p.ranks - 1);
    p.slow_factor = in_range(p.slow_factor, 1, 10, 1.5);
    p.limit = std::clamp(p.limit, 0, 1024);
    return setup;
}

ClusterScene run_cluster(const ClusterSetup& wanted) {
    ClusterScene scene;
    scene.setup = within_limits(wanted);
    for (const std::string& kind : scene.setup.pipeline.kinds)
        scene.schedules.push_back(shown_schedule(kind, scene.setup.pipeline));
    return scene;
}

}  // namespace lockstep::lessons
