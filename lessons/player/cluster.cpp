// Runs what the Cluster workspace shows: schedules timed, collectives and layouts worked out, memory counted.
#include "lessons/player/cluster.h"

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/model/gpu_spec.h"

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
            kind, {.ranks = setup.ranks, .microbatches = setup.microbatches, .chunks = row.chunks == 0 ? setup.chunks : row.chunks});
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

// ZeRO-3 over one step: the state that a rank keeps, and one layer's weights at a time; in backward its gradients too.
std::vector<parallel::MemoryPoint> step_of_zero(const MemorySetup& setup, int zero) {
    using parallel::MemoryKind;
    const auto at = [](parallel::MemoryBytes& bytes, MemoryKind kind) -> int64_t& {
        return bytes[static_cast<size_t>(kind)];
    };
    const parallel::MemoryBytes kept = zero_bytes(setup.parameters, zero, setup.gpus);
    const auto layer = static_cast<int64_t>(2 * setup.parameters / setup.layers);
    const double all = 3.0 * setup.layers + 2;  // a layer's backward takes two forwards; the update two more
    std::vector<parallel::MemoryPoint> points;
    parallel::MemoryBytes before = kept;
    if (zero < 2) at(before, MemoryKind::gradients) = 0;  // whole gradients appear layer by layer in backward
    double time = 0;
    for (int i = 0; i < setup.layers; ++i, time += 1) {
        parallel::MemoryBytes now = before;
        if (zero == 3) at(now, MemoryKind::buffers) = layer;
        points.push_back({time / all, now});
    }
    for (int i = 0; i < setup.layers; ++i, time += 2) {
        parallel::MemoryBytes now = before;
        if (zero < 2) at(now, MemoryKind::gradients) = (i + 1) * layer;
        if (zero == 2) at(now, MemoryKind::buffers) = layer;  // a layer's gradients until they are reduced
        if (zero == 3) at(now, MemoryKind::buffers) = 2 * layer;
        points.push_back({time / all, now});
    }
    points.push_back({time / all, kept});
    points.push_back({1, kept});
    return points;
}

MemoryShown shown_memory(const MemorySetup& setup) {
    static constexpr std::string_view names[] = {"plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"},
                                      sharded[] = {"nothing", "Adam", "+ gradients", "+ weights"};
    MemoryShown shown;
    if (const auto gpu = model::gpu_named(setup.gpu); gpu.ok()) {
        shown.capacity = gpu.value().memory_gb.value * 1e9;
        shown.gpu = gpu.value().title;
    }
    const double share = static_cast<double>(setup.gpus - 1) / setup.gpus;
    for (int zero = 0; zero < 4; ++zero)
        shown.columns.push_back({std::string(names[zero]), std::string(sharded[zero]), (zero == 3 ? 3 : 2) * share, zero,
                                 zero_bytes(setup.parameters, zero, setup.gpus)});
    const int looked_at = setup.zero < 0 ? 3 : setup.zero;
    shown.over_step = step_of_zero(setup, looked_at);
    shown.step_of = names[looked_at];
    return shown;
}

}  // namespace

parallel::MemoryBytes zero_bytes(double parameters, int zero, int gpus) {
    const double n = std::max(1, gpus);
    const auto part = [&](double bytes, int from) {
        return static_cast<int64_t>(std::llround(bytes * parameters / (zero >= from ? n : 1)));
    };
    parallel::MemoryBytes bytes = {};
    bytes[static_cast<size_t>(parallel::MemoryKind::weights)] = part(2, 3);
    bytes[static_cast<size_t>(parallel::MemoryKind::gradients)] = part(2, 2);
    bytes[static_cast<size_t>(parallel::MemoryKind::optimizer)] = part(12, 1);
    return bytes;
}

int64_t MemoryShown::peak() const {
    int64_t most = 0;
    for (const parallel::MemoryPoint& point : over_step) {
        int64_t sum = 0;
        for (const int64_t one : point.bytes) sum += one;
        most = std::max(most, sum);
    }
    return most;
}

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
    CollectiveSetup& c = setup.collective;
    c.ranks = std::clamp(c.ranks, 1, 64);
    c.servers = std::clamp(c.servers, 1, c.ranks);
    c.bytes = in_range(c.bytes, 4, 1e11, 64e6);
    c.late_rank = std::clamp(c.late_rank, -1, c.ranks - 1);
    c.late_us = in_range(c.late_us, 0, 1e7, 0);
    MemorySetup& m = setup.memory;
    m.parameters = in_range(m.parameters, 1e6, 2e12, 7.5e9);
    m.gpus = std::clamp(m.gpus, 1, 16384);
    m.layers = std::clamp(m.layers, 1, 256);
    m.zero = std::clamp(m.zero, -1, 3);
    return setup;
}

ClusterScene run_cluster(const ClusterSetup& wanted) {
    ClusterScene scene;
    scene.setup = within_limits(wanted);
    for (const std::string& kind : scene.setup.pipeline.kinds)
        scene.schedules.push_back(shown_schedule(kind, scene.setup.pipeline));
    scene.memory = shown_memory(scene.setup.memory);
    return scene;
}

}  // namespace lockstep::lessons
