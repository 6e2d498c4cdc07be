// Runs what the Cluster workspace shows: schedules timed, collectives and layouts worked out, memory counted.
#include "core/scene/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/parallel/pipeline/schedules/schedules.h"
#include "core/scene/cluster/cluster_plan.h"
#include "core/scene/cluster/cluster_training.h"

namespace lockstep::scene {

namespace {

constexpr size_t most_schedule_moves = 64;

double in_range(double value, double least, double most, double otherwise) {
    return std::isfinite(value) ? std::clamp(value, least, most) : otherwise;
}

// Makes the moves of this kind that leave a schedule that can run; messages go where the new order needs them.
void move_actions(parallel::Schedule& schedule, const PipelineSetup& setup, ScheduleShown& shown) {
    const auto computing = [](const parallel::Action& action) {
        return parallel::computes(action.kind) && action.kind != parallel::ActionKind::update;
    };
    for (const ScheduleMove& move : setup.moves) {
        if (move.kind != shown.kind || move.rank < 0 || move.rank >= schedule.ranks || move.from == move.to) continue;
        parallel::Schedule moved = schedule;
        for (std::vector<parallel::Action>& list : moved.actions)
            std::erase_if(list, [](const parallel::Action& action) { return !parallel::computes(action.kind); });
        std::vector<parallel::Action>& list = moved.actions[static_cast<size_t>(move.rank)];
        std::vector<size_t> places;
        for (size_t i = 0; i < list.size(); ++i)
            if (computing(list[i])) places.push_back(i);
        const auto count = static_cast<int>(places.size());
        if (move.from < 0 || move.from >= count || move.to < 0 || move.to >= count) continue;
        const size_t from = places[static_cast<size_t>(move.from)], to = places[static_cast<size_t>(move.to)];
        parallel::Action action = list[from];
        action.together = false;
        if (from > 0) list[from - 1].together = false;
        if (to > 0) list[to - 1].together = false;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(from));
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(to), action);
        shown.move_refusal.clear();
        const std::string name = parallel::text_of(action);
        try {
            parallel::place_messages(moved);
            const std::vector<std::string> problems = parallel::problems_of(moved);
            if (problems.empty()) {
                schedule = std::move(moved);
                ++shown.moved;
                continue;
            }
            shown.move_refusal = fmt::format("{} cannot go there: {}", name, problems.front());
        } catch (const Failure& failure) {
            shown.move_refusal = fmt::format("{} cannot go there: {}", name, failure.diagnostic.message);
        }
    }
}

ScheduleShown shown_schedule(const std::string& kind, const PipelineSetup& setup) {
    ScheduleShown shown;
    shown.kind = shown.title = kind;
    try {
        const parallel::ScheduleRow& row = parallel::schedule_named(kind);
        shown.title = row.title;
        shown.summary = row.summary;
        shown.takes_chunks = row.chunks == 0;
        parallel::Durations durations;
        durations.forward = setup.forward;
        durations.input = setup.input;
        durations.weight = setup.weight;
        durations.hop = setup.hop;
        const parallel::PipelineShape shape{
            .ranks = setup.ranks, .microbatches = setup.microbatches, .chunks = row.chunks == 0 ? setup.chunks : row.chunks};
        parallel::Schedule schedule = parallel::make_schedule(kind, parallel::timed_shape(shape, durations));
        move_actions(schedule, setup, shown);
        if (shown.moved > 0) shown.title += fmt::format(" ({} moved)", shown.moved);
        if (!setup.layers.empty()) {
            shown.parts = setup.layers;
            for (int stage = 0; stage < schedule.stages(); ++stage) {  // DualPipe's ranks are its stages
                const int holder = schedule.copies > 1 ? stage : schedule.rank_of(stage);
                durations.of_stage.push_back(static_cast<double>(setup.layers[static_cast<size_t>(holder)]) / layers_a_rank);
            }
        }
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
    for (int zero = 0; zero < 4; ++zero) {
        if (setup.only >= 0 && zero != setup.only) continue;
        shown.columns.push_back({std::string(names[zero]), std::string(sharded[zero]), (zero == 3 ? 3 : 2) * share, zero,
                                 zero_bytes(setup.parameters, zero, setup.gpus)});
    }
    const int looked_at = setup.only >= 0 ? setup.only : setup.zero < 0 ? 3 : setup.zero;
    shown.over_step = step_of_zero(setup, looked_at);
    shown.step_of = names[looked_at];
    return shown;
}

std::string link_text(const comm::LinkRow& row) {
    return fmt::format("{}, {:g} GB/s, {:g} µs", row.title, row.gigabytes_per_s, row.latency_us);
}

CollectiveShown shown_collective(const CollectiveSetup& setup) {
    CollectiveShown shown;
    shown.operation = setup.operation;
    shown.algorithm = setup.algorithm;
    try {
        const comm::CollectiveRow& row = comm::collective_named(setup.operation, setup.algorithm);
        const comm::LinkRow& link = comm::link_named(setup.link);
        shown.summary = row.summary;
        shown.link = link_text(link);
        const auto elements = static_cast<int64_t>(setup.bytes / 4);
        comm::CollectiveShape shape{.ranks = setup.ranks, .servers = setup.servers};
        // As many pieces as can still be told apart.
        shape.pieces = std::clamp(comm::pipeline_pieces(elements * 4), 1, 8);
        const auto steps = comm::collective(setup.operation, setup.algorithm, shape);
        const comm::Network even = comm::ideal_network(setup.ranks, link.link());
        shown.on_time_us = comm::time_collective(steps, std::make_shared<const comm::Network>(even), elements, DType::f32,
                                                 {.detail = false})
                               .total_us;
        const auto network = std::make_shared<comm::Network>(even);
        for (size_t rank = 0; rank < setup.speeds.size(); ++rank)  // a port of the ideal network is its rank's link
            network->links[rank].link.bytes_per_us *= setup.speeds[rank];
        shown.speeds = setup.speeds;
        comm::TimingOptions options;
        if (setup.late_rank >= 0 && setup.late_us > 0) {
            options.start_us.assign(static_cast<size_t>(setup.ranks), 0.0);
            options.start_us[static_cast<size_t>(setup.late_rank)] = setup.late_us;
            shown.late_rank = setup.late_rank;
            shown.late_us = setup.late_us;
        }
        shown.run = comm::time_collective(steps, network, elements, DType::f32, options);
        shown.messages = shown.run.transfers;
        std::stable_sort(shown.messages.begin(), shown.messages.end(),
                         [](const comm::Transfer& a, const comm::Transfer& b) { return a.begin_us < b.begin_us; });
        for (const int64_t sent : shown.run.bytes_sent) {
            shown.most_sent = std::max(shown.most_sent, sent);
            shown.all_sent += sent;
        }
    } catch (const Failure& failure) {
        shown.run = {};
        shown.messages.clear();
        shown.refusal = failure.diagnostic.message;
    }
    return shown;
}

NetworkShown shown_network(const NetworkSetup& setup) {
    NetworkShown shown;
    shown.title = setup.topology;
    std::replace(shown.title.begin(), shown.title.end(), '_', ' ');
    try {
        comm::TopologyShape shape;
        shape.ranks = setup.ranks;
        shape.link = comm::link_named(setup.link).link();
        shape.inner = comm::link_named(setup.inner).link();
        shape.node_size = std::min(setup.node_size, setup.ranks);
        const auto network = std::make_shared<const comm::Network>(comm::make_network(setup.topology, shape));
        const auto elements = static_cast<int64_t>(setup.bytes / 4);
        const auto timed = [&](const std::string& algorithm) {
            comm::CollectiveShape wanted{.ranks = setup.ranks, .node_size = shape.node_size};
            wanted.pieces = std::clamp(comm::pipeline_pieces(elements * 4), 1, 16);
            return comm::time_collective(comm::collective("all_reduce", algorithm, wanted), network, elements, DType::f32,
                                         {.detail = false});
        };
        shown.run = timed(setup.algorithm);
        for (const comm::CollectiveRow& row : comm::collectives()) {
            if (row.operation != "all_reduce") continue;
            try {
                shown.others.emplace_back(std::string(row.algorithm), timed(std::string(row.algorithm)).total_us);
            } catch (const Failure&) {  // an algorithm that these numbers do not allow
            }
        }
    } catch (const Failure& failure) {
        shown.run = {};
        shown.refusal = failure.diagnostic.message;
    }
    return shown;
}

std::vector<ShardShown> matrix_shards(const parallel::Mesh& mesh, const parallel::Extents& shape,
                                      const parallel::Layout& layout) {
    bool partial = false;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
        partial = partial || (mesh.axes[axis].size > 1 && layout.along[axis] == parallel::partial());
    std::vector<ShardShown> shards;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const parallel::TensorRegion region = parallel::region_of(mesh, shape, layout, rank);
        shards.push_back({region[0], region[1], partial});
    }
    return shards;
}

MeshShown shown_mesh(const MeshSetup& setup) {
    MeshShown shown;
    shown.mesh.axes = setup.axes;
    shown.rows = setup.rows;
    shown.columns = setup.columns;
    const parallel::Extents shape = {setup.rows, setup.columns};
    const parallel::Layout before{2, setup.before}, after{2, setup.after};
    shown.before = matrix_shards(shown.mesh, shape, before);
    shown.after = matrix_shards(shown.mesh, shape, after);
    try {
        shown.plan = parallel::plan_redistribution(shown.mesh, shape, setup.type, before, after);
    } catch (const Failure& failure) {
        shown.refusal = failure.diagnostic.message;
    }
    return shown;
}

}  // namespace

std::string_view name_of(const parallel::Placement& placement) {
    using Kind = parallel::Placement::Kind;
    return placement.kind == Kind::replicate ? "whole"
           : placement.kind == Kind::partial ? "partial sums"
           : placement.dimension == 0        ? "rows cut"
                                             : "columns cut";
}

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
    setup.plan = within_limits(std::move(setup.plan));
    if (setup.plan.on && setup.training.on) setup.plan.on = false;
    if (setup.plan.on) {  // the plan's schedule is what is shown
        const parallel::ParallelPlan& plan = setup.plan.plan;
        p = PipelineSetup{
            .kinds = {plan.schedule}, .ranks = plan.pp, .microbatches = plan.microbatches, .chunks = plan.chunks};
    }
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
    if (p.moves.size() > most_schedule_moves) p.moves.resize(most_schedule_moves);
    if (p.layers.size() != static_cast<size_t>(p.ranks)) p.layers.clear();
    for (int& layers : p.layers) layers = std::clamp(layers, 1, 64 * layers_a_rank);
    if (std::all_of(p.layers.begin(), p.layers.end(), [](int layers) { return layers == layers_a_rank; })) p.layers.clear();
    CollectiveSetup& c = setup.collective;
    c.ranks = std::clamp(c.ranks, 1, 64);
    c.servers = std::clamp(c.servers, 1, c.ranks);
    c.bytes = in_range(c.bytes, 4, 1e11, 64e6);
    c.late_rank = std::clamp(c.late_rank, -1, c.ranks - 1);
    c.late_us = in_range(c.late_us, 0, 1e7, 0);
    c.of_run = std::max(c.of_run, -1);
    if (c.speeds.size() != static_cast<size_t>(c.ranks)) c.speeds.clear();
    for (double& speed : c.speeds) speed = in_range(speed, 1.0 / 64, 4, 1);
    if (std::all_of(c.speeds.begin(), c.speeds.end(), [](double speed) { return speed == 1; })) c.speeds.clear();
    MemorySetup& m = setup.memory;
    m.parameters = in_range(m.parameters, 1e6, 2e12, 7.5e9);
    m.gpus = std::clamp(m.gpus, 1, 16384);
    m.layers = std::clamp(m.layers, 1, 256);
    m.only = std::clamp(m.only, -1, 3);
    m.zero = m.only >= 0 ? -1 : std::clamp(m.zero, -1, 3);
    setup.training = within_limits(std::move(setup.training));
    NetworkSetup& n = setup.network;
    n.ranks = std::clamp(n.ranks, 1, 64);
    n.node_size = std::clamp(n.node_size, 1, 16);
    n.bytes = in_range(n.bytes, 4, 1e12, 1e9);
    MeshSetup& d = setup.mesh;
    if (d.axes.empty()) d.axes = {{"dp", 1}};
    if (d.axes.size() > 4) d.axes.resize(4);
    int devices = 1;
    for (parallel::MeshAxis& axis : d.axes) {  // 256 devices at most
        axis.size = std::clamp(axis.size, 1, std::max(1, 256 / devices));
        devices *= axis.size;
    }
    for (std::vector<parallel::Placement>* layout : {&d.before, &d.after}) {
        layout->resize(d.axes.size());
        for (parallel::Placement& placement : *layout)
            if (placement.kind == parallel::Placement::Kind::shard)
                placement.dimension = std::clamp(placement.dimension, 0, 1);
    }
    d.rows = std::clamp<int64_t>(d.rows, 1, 1 << 20);
    d.columns = std::clamp<int64_t>(d.columns, 1, 1 << 20);
    d.layers = std::clamp(d.layers, 1, 256);
    d.parameter = std::max(d.parameter, -1);
    return setup;
}

namespace {

// The planned step's schedule: of the replica whose GPU is late, and of the others.
void show_plan(ClusterScene& scene) {
    auto planned = std::make_shared<PlannedStep>(plan_cluster_step(scene.setup.plan));
    ScheduleShown shown;
    shown.kind = shown.title = scene.setup.plan.plan.schedule;
    if (planned->refusal.empty()) {
        const parallel::ScheduleRow& row = parallel::schedule_named(shown.kind);
        shown.title = row.title;
        shown.summary = row.summary;
    }
    const std::string title = shown.title;
    shown.refusal = planned->refusal;
    shown.planned = true;
    shown.run = planned->on_time;
    const bool late = !planned->delayed.actions.empty();
    if (late) {
        shown.title += fmt::format(", replica {}: a GPU is late", scene.setup.plan.late_replica);
        shown.run = planned->delayed;
    }
    scene.schedules = {shown};
    if (late && scene.setup.plan.plan.dp > 1) {
        shown.title = title + ", the other replicas";
        shown.run = planned->on_time;
        scene.schedules.push_back(shown);
    }
    scene.planned = std::move(planned);
}

}  // namespace

ClusterScene run_cluster(const ClusterSetup& wanted, ClusterTrainer* trainer) {
    ClusterScene scene;
    scene.setup = within_limits(wanted);
    if (scene.setup.plan.on)
        show_plan(scene);
    else
        for (const std::string& kind : scene.setup.pipeline.kinds)
            scene.schedules.push_back(shown_schedule(kind, scene.setup.pipeline));
    scene.collective = shown_collective(scene.setup.collective);
    scene.network = shown_network(scene.setup.network);
    scene.memory = shown_memory(scene.setup.memory);
    scene.mesh = shown_mesh(scene.setup.mesh);
    if (!scene.setup.training.on) return scene;
    ClusterTrainer own;
    (trainer ? *trainer : own).show(scene);
    return scene;
}

}  // namespace lockstep::scene
