// Makes the machine's step of many GPUs from what there is, and tells what it looks like at a moment.
#include "app/gui/views/machine/many/cluster_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/training/steps/step_ranks.h"
#include "core/base/units.h"

namespace lockstep::gui {

char letter_of(StepWork work) {
    return "FBIWrSUG-"[static_cast<size_t>(work)];
}

std::string_view name_of(StepWork work) {
    static constexpr std::string_view names[] = {"forward",   "backward",      "backward, inputs", "backward, weights",
                                                 "recompute", "sum gradients", "update",           "gather weights",
                                                 "other work"};
    return names[static_cast<size_t>(work)];
}

Color color_of(StepWork work) {
    static constexpr Color colors[] = {data::sky,  data::green,  data::green, data::purple, data::sky,
                                       data::blue, data::yellow, data::blue,  data::grey};
    return colors[static_cast<size_t>(work)];
}

Hatch hatch_of(StepWork work) {
    switch (work) {
        case StepWork::recompute:
            return Hatch::diagonal;
        case StepWork::gather:
            return Hatch::horizontal;
        case StepWork::other:
            return Hatch::cross;
        default:
            return Hatch::solid;
    }
}

std::string StepSpan::text() const {
    return microbatch < 0 ? std::string(1, letter_of(work)) : fmt::format("{}{}", letter_of(work), microbatch + 1);
}

std::string StepPacket::text() const {
    return microbatch < 0 ? std::string(gradient ? "B" : "F") : fmt::format("{}{}", gradient ? 'B' : 'F', microbatch + 1);
}

int StepRing::round_at(double time) const {
    if (time < begin || time >= end || rounds <= 0 || !(end > begin)) return -1;
    return std::min(rounds - 1, static_cast<int>((time - begin) / (end - begin) * rounds));
}

namespace {

using parallel::ActionKind;

StepWork work_of(ActionKind kind) {
    switch (kind) {
        case ActionKind::forward:
            return StepWork::forward;
        case ActionKind::backward:
            return StepWork::backward;
        case ActionKind::backward_input:
            return StepWork::input;
        case ActionKind::backward_weight:
            return StepWork::weight;
        case ActionKind::recompute:
            return StepWork::recompute;
        default:
            return StepWork::update;
    }
}

// When the micro-batch begins there, forward or back: what a message is for.
using Beginnings = std::map<std::tuple<bool, int, int>, double>;  // gradient, stage, micro-batch
Beginnings beginnings_of(const parallel::ScheduleRun& run) {
    Beginnings found;
    for (const auto& rank : run.actions)
        for (const parallel::ActionRun& ran : rank) {
            const ActionKind kind = ran.action.kind;
            if (kind == ActionKind::forward) found[{false, ran.action.stage, ran.action.microbatch}] = ran.begin;
            if (kind == ActionKind::backward || kind == ActionKind::backward_input)
                found[{true, ran.action.stage, ran.action.microbatch}] = ran.begin;
        }
    return found;
}

StepColumn column_of_run(const parallel::ScheduleRun& run) {
    StepColumn column;
    const Beginnings beginnings = beginnings_of(run);
    for (size_t rank = 0; rank < run.actions.size(); ++rank) {
        StepLane& lane = column.lanes.emplace_back();
        for (const parallel::ActionRun& ran : run.actions[rank]) {
            const parallel::Action& action = ran.action;
            if (parallel::computes(action.kind)) {
                if (ran.end > ran.begin)
                    lane.spans.push_back({work_of(action.kind), action.kind == ActionKind::update ? -1 : action.microbatch,
                                          action.stage, ran.begin, ran.end});
                continue;
            }
            const bool gradient = action.kind == ActionKind::send_gradient;
            if (!gradient && action.kind != ActionKind::send_activation) continue;
            const auto wanted = beginnings.find({gradient, action.stage + (gradient ? -1 : 1), action.microbatch});
            const double taken = wanted == beginnings.end() ? ran.end : std::max(ran.end, wanted->second);
            column.packets.push_back(
                {static_cast<int>(rank), action.peer, gradient, action.microbatch, action.stage, ran.begin, ran.end, taken});
            column.longest = std::max(column.longest, taken - ran.begin);
        }
    }
    std::stable_sort(column.packets.begin(), column.packets.end(),
                     [](const StepPacket& a, const StepPacket& b) { return a.sent < b.sent; });
    return column;
}

// Where the late one's column waits longer than the other, action by action.
void mark_held_up(StepColumn& late, const StepColumn& on_time) {
    for (size_t stage = 0; stage < late.lanes.size(); ++stage) {
        StepLane& lane = late.lanes[stage];
        const std::vector<StepSpan>& before = on_time.lanes[stage].spans;
        double shift = 0;
        for (size_t i = 0; i < lane.spans.size() && i < before.size(); ++i) {
            const double now = lane.spans[i].begin - before[i].begin, more = now - shift;
            if (more > 1e-9) lane.held_up.push_back({lane.spans[i].begin - more, lane.spans[i].begin});
            shift = lane.spans[i].end - before[i].end;
        }
    }
}

double end_of(const StepLane& lane) {
    return lane.spans.empty() ? 0 : lane.spans.back().end;
}

// After the pipeline: every stage's replicas sum its gradients in a ring, once the last of them is there; then each updates.
void add_data_parallel(ClusterStep& step, const scene::PlannedStep& planned) {
    const int zero = planned.plan.request.plan.zero;
    for (int stage = 0; stage < step.stages; ++stage) {
        double last = 0;
        for (const StepColumn& column : step.columns)
            last = std::max(last, end_of(column.lanes[static_cast<size_t>(stage)]));
        const double plain = end_of(step.columns.back().lanes[static_cast<size_t>(stage)]);
        const double summed = last + planned.sum_exposed, begin = summed - planned.sum,
                     plain_begin = plain + planned.sum_exposed - planned.sum;
        const double updated = summed + planned.update;
        if (planned.sum > 0) step.rings.push_back({stage, begin, summed, (zero == 0 ? 2 : 1) * (step.replicas - 1), false});
        if (planned.gather > 0) step.rings.push_back({stage, updated, updated + planned.gather, step.replicas - 1, true});
        for (StepColumn& column : step.columns) {
            StepLane& lane = column.lanes[static_cast<size_t>(stage)];
            const double own = end_of(lane), from = std::max(own, begin);
            const double waits = std::max(own, plain_begin);
            if (planned.sum > 0 && from > waits + 1e-9) lane.held_up.push_back({waits, from});
            if (summed > from) lane.spans.push_back({StepWork::sum, -1, stage, from, summed});
            if (planned.update > 0) lane.spans.push_back({StepWork::update, -1, stage, summed, updated});
            if (planned.gather > 0) lane.spans.push_back({StepWork::gather, -1, stage, updated, updated + planned.gather});
        }
    }
}

void set_late(ClusterStep& step, const scene::ClusterScene& scene) {
    const scene::PlanSetup& setup = scene.setup.plan;
    const scene::PlannedStep& planned = *scene.planned;
    step.late.replica = setup.late_replica;
    step.late.stage = setup.late_rank;
    step.late.gpu = setup.late_gpu;
    step.late.from = planned.late_from;
    step.late.lost = planned.delayed.total - planned.on_time.total;
    for (StepSpan& span : step.columns.front().lanes[static_cast<size_t>(setup.late_rank)].spans)
        if ((span.work == StepWork::backward || span.work == StepWork::input) && span.microbatch == setup.late_microbatch &&
            span.begin <= planned.late_from && span.end > planned.late_from && step.late.what.empty()) {
            span.late_from = planned.late_from;
            step.late.until = span.end;
            step.late.what = span.text();
        }
}

void set_plan_words(ClusterStep& step, const scene::PlannedStep& planned) {
    const parallel::PlanRequest& r = planned.plan.request;
    step.title = planned.title;
    step.inside = fmt::format("{}, {:g} GB/s", r.machine.inside.title, r.machine.inside.gigabytes_per_s);
    step.between = r.machine.between.title;
    step.gpu_title = r.gpu.title;
    step.sums = planned.sums;
    for (const std::vector<parallel::BlockRange>& ranges : planned.layers) {
        std::string text;
        int count = 0;
        for (const parallel::BlockRange& range : ranges) {
            if (range.last <= range.first) continue;
            const int n = range.last - range.first;
            count = std::max(count, n);
            if (!text.empty()) text += ", ";
            text += n == 1 ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last - 1);
        }
        step.layers.push_back(text);
        step.layer_count.push_back(count);
    }
}

void fill_planned(ClusterStep& step, const scene::ClusterScene& scene) {
    const scene::PlannedStep& planned = *scene.planned;
    step.source = ClusterStep::Source::planned;
    step.unit = "ms";
    step.unit_us = 1000;
    step.refusal = planned.refusal;
    if (!step.refusal.empty()) return;
    const parallel::ParallelPlan& plan = planned.plan.request.plan;
    step.replicas = plan.dp;
    step.stages = plan.pp;
    step.group = plan.tp;
    step.node_gpus = std::min(planned.plan.request.machine.gpus_per_node, step.gpus());
    step.chunks = planned.on_time.schedule.chunks;
    const bool late = !planned.delayed.actions.empty();
    if (late) step.columns.push_back(column_of_run(planned.delayed));
    if (!late || plan.dp > 1) step.columns.push_back(column_of_run(planned.on_time));
    step.column_of.assign(static_cast<size_t>(plan.dp), static_cast<uint8_t>(step.columns.size() - 1));
    if (late) {
        step.column_of[static_cast<size_t>(scene.setup.plan.late_replica)] = 0;
        mark_held_up(step.columns.front(), plan.dp > 1 ? step.columns.back() : column_of_run(planned.on_time));
        set_late(step, scene);
    }
    step.pipeline = late ? planned.delayed.total : planned.on_time.total;
    step.end = planned.end;
    add_data_parallel(step, planned);
    set_plan_words(step, planned);
}

// Of schedules without a plan: their units, over the mesh's replicas and groups.
void fill_units(ClusterStep& step, const scene::ClusterScene& scene) {
    const auto found = std::find_if(scene.schedules.begin(), scene.schedules.end(),
                                    [](const scene::ScheduleShown& shown) { return !shown.run.actions.empty(); });
    if (found == scene.schedules.end()) {
        step.refusal = scene.schedules.empty() ? "no schedule has run" : scene.schedules.front().refusal;
        return;
    }
    for (const parallel::MeshAxis& axis : scene.mesh.mesh.axes) {
        if (axis.name == "dp") step.replicas = axis.size;
        if (axis.name == "tp") step.group = axis.size;
    }
    step.stages = static_cast<int>(found->run.actions.size());
    step.node_gpus = std::min(8, step.gpus());
    step.chunks = found->run.schedule.chunks;
    step.unit = found->run.shown_unit().empty() ? "units" : found->run.shown_unit();
    step.unit_us = 0;
    step.title =
        fmt::format("{}: {} stages × {} micro-batches", found->title, step.stages, found->run.schedule.microbatches);
    step.columns.push_back(column_of_run(found->run));
    step.column_of.assign(static_cast<size_t>(step.replicas), 0);
    step.end = step.pipeline = found->run.total;
}

StepWork work_of_span(const parallel::RankSpan& span) {
    if (span.label.starts_with("backward of weights")) return StepWork::weight;
    switch (phase_of(span)) {
        case StepPhase::forward:
            return StepWork::forward;
        case StepPhase::backward:
            return StepWork::backward;
        case StepPhase::update:
            return StepWork::update;
        default:
            return StepWork::other;
    }
}

// What a rank did and, where it computed nothing, what it exchanged.
StepLane lane_of_rank(const parallel::RankStep& rank, int stage, double origin) {
    StepLane lane;
    std::vector<StepSpan> exchanged;
    for (const parallel::RankSpan& span : rank.spans) {
        const StepWork work = work_of_span(span);
        StepSpan made{work, -1, stage, span.begin_us - origin, span.end_us - origin};
        if (!(made.end > made.begin)) continue;
        if (work != StepWork::other) {
            lane.spans.push_back(made);
        } else if (span.label.find("gradients") != std::string::npos || span.label.find("parameters") != std::string::npos) {
            made.work = span.label.starts_with("all-gather") || span.label.starts_with("all_gather") ? StepWork::gather
                                                                                                     : StepWork::sum;
            exchanged.push_back(made);
        }
    }
    const auto by_begin = [](const StepSpan& a, const StepSpan& b) { return a.begin < b.begin; };
    std::stable_sort(lane.spans.begin(), lane.spans.end(), by_begin);
    std::stable_sort(exchanged.begin(), exchanged.end(), by_begin);
    std::vector<StepSpan> both;
    double reached = 0;
    size_t e = 0;
    const auto fill = [&](double until) {  // with what was exchanged before it
        for (; e < exchanged.size() && exchanged[e].begin < until; ++e) {
            StepSpan part = exchanged[e];
            part.begin = std::max(part.begin, reached);
            part.end = std::min(part.end, until);
            if (part.end > part.begin) both.push_back(part), reached = part.end;
            if (exchanged[e].end > until) break;
        }
    };
    for (StepSpan span : lane.spans) {
        fill(span.begin);
        span.begin = std::max(span.begin, reached);
        if (!(span.end > span.begin)) continue;
        both.push_back(span);
        reached = span.end;
    }
    fill(1e300);
    lane.spans = std::move(both);
    return lane;
}

void fill_record(ClusterStep& step, const parallel::ParallelStepRecord& record, const parallel::Mesh& mesh, double origin) {
    const auto size = [&](std::string_view axis) {
        for (const parallel::MeshAxis& a : mesh.axes)
            if (a.name == axis) return a.size;
        return 1;
    };
    step.stages = size("pp");
    step.group = size("tp");
    step.replicas = std::max(1, static_cast<int>(record.ranks.size()) / std::max(1, step.stages * step.group));
    step.node_gpus = std::min(8, step.gpus());
    step.unit = "µs";
    step.unit_us = 1;
    for (int replica = 0; replica < step.replicas; ++replica) {
        StepColumn& column = step.columns.emplace_back();
        for (int stage = 0; stage < step.stages; ++stage) {
            const auto rank = static_cast<size_t>(step.rank_of(replica, stage, 0));
            column.lanes.push_back(lane_of_rank(record.ranks[rank], stage, origin));
            for (const StepSpan& span : column.lanes.back().spans)
                step.end = std::max(step.end, span.end),
                step.pipeline = span.work <= StepWork::recompute ? std::max(step.pipeline, span.end) : step.pipeline;
        }
        step.column_of.push_back(static_cast<uint8_t>(replica));
    }
    // The collectives of replicas, as the first of each ring took part in them.
    for (int stage = 0; stage < step.stages; ++stage)
        for (const parallel::RankCollective& c : record.ranks[static_cast<size_t>(step.rank_of(0, stage, 0))].collectives) {
            const auto members = static_cast<int>(c.ranks.size());
            if (members != step.replicas || members < 2 || c.algorithm != "ring" || !c.axis.starts_with("dp")) continue;
            step.rings.push_back({stage, c.begin_us - origin, c.end_us - origin,
                                  (c.operation == "all_reduce" ? 2 : 1) * (members - 1), c.operation == "all_gather"});
        }
}

void fill_trained(ClusterStep& step, const scene::ClusterScene& scene) {
    const scene::TrainingShown& shown = *scene.training;
    step.source = ClusterStep::Source::trained;
    step.title = shown.title;
    fill_record(step, shown.record, shown.mesh, 0);
    step.end = std::max(step.end, shown.end_us);
    if (!scene.schedules.empty() && !scene.schedules.front().run.actions.empty()) {  // it knows the micro-batches
        StepColumn numbered = column_of_run(scene.schedules.front().run);
        for (size_t stage = 0; stage < numbered.lanes.size() && stage < step.columns[0].lanes.size(); ++stage)
            for (const StepSpan& span : step.columns[0].lanes[stage].spans)
                if (span.work > StepWork::recompute && span.begin >= end_of(numbered.lanes[stage]) - 1e-9)
                    numbered.lanes[stage].spans.push_back(span);
        step.columns[0] = std::move(numbered);
    }
    for (const scene::RunMessage& message : shown.traffic.messages) {  // of the other replicas
        const int from = step.stage_of(message.from), to = step.stage_of(message.to), r = step.replica_of(message.from);
        if (from == to || step.gpu_of(message.from) != 0 || r != step.replica_of(message.to) || r >= step.replicas) continue;
        StepColumn& column = step.columns[static_cast<size_t>(r)];
        if (r == 0 && !column.packets.empty() && column.packets.front().microbatch >= 0) continue;
        column.packets.push_back({from, to, to < from, -1, from, message.begin_us, message.arrival_us, message.arrival_us});
        column.longest = std::max(column.longest, message.arrival_us - message.begin_us);
    }
    for (StepColumn& column : step.columns)
        std::stable_sort(column.packets.begin(), column.packets.end(),
                         [](const StepPacket& a, const StepPacket& b) { return a.sent < b.sent; });
}

void fill_ranks(ClusterStep& step, const Snapshot& snapshot) {
    const parallel::ParallelStepRecord& record = *snapshot.training.on_ranks;
    double origin = 1e300;
    for (const parallel::RankStep& rank : record.ranks)
        for (const parallel::RankSpan& span : rank.spans) origin = std::min(origin, span.begin_us);
    step.source = ClusterStep::Source::ranks;
    step.title = fmt::format("{}, step {} on {} ranks", snapshot.training.setup.model, record.step, record.ranks.size());
    parallel::Mesh mesh;
    mesh.axes = {{"dp", static_cast<int>(record.ranks.size())}};
    step.inside = fmt::format("links of {:g} GB/s", parallel::ParallelOptions().link.bytes_per_us * 1e-3);
    fill_record(step, record, mesh, origin > 1e299 ? 0 : origin);
}

}  // namespace

const void* source_of(const Snapshot& snapshot) {
    if (snapshot.training.on_ranks && !snapshot.training.on_ranks->ranks.empty()) return snapshot.training.on_ranks.get();
    return snapshot.cluster.get();
}

std::shared_ptr<const ClusterStep> make_cluster_step(const Snapshot& snapshot) {
    if (source_of(snapshot) == nullptr) return nullptr;
    auto step = std::make_shared<ClusterStep>();
    if (source_of(snapshot) == snapshot.training.on_ranks.get()) {
        step->made_from = snapshot.training.on_ranks;
        fill_ranks(*step, snapshot);
    } else {
        const scene::ClusterScene& scene = *snapshot.cluster;
        step->made_from = snapshot.cluster;
        if (trained(scene) && !scene.training->record.ranks.empty())
            fill_trained(*step, scene);
        else if (scene.planned)
            fill_planned(*step, scene);
        else
            fill_units(*step, scene);
    }
    if (step->columns.empty() && step->refusal.empty()) step->refusal = "nothing has run on many GPUs";
    return step;
}

std::shared_ptr<const ClusterStep> Session::cluster_step(const Snapshot& snapshot) const {
    const void* const source = source_of(snapshot);
    if (source == nullptr) return nullptr;
    if (!cluster_step_ || cluster_step_->made_from.get() != source) cluster_step_ = make_cluster_step(snapshot);
    return cluster_step_;
}

GpuNow stage_at(const ClusterStep& step, int replica, int stage, double time) {
    const StepLane& lane = step.lane(replica, stage);
    GpuNow now;
    const auto next = std::upper_bound(lane.spans.begin(), lane.spans.end(), time,
                                       [](double t, const StepSpan& span) { return t < span.begin; });
    if (next != lane.spans.end()) now.next = &*next;
    if (next != lane.spans.begin() && time < std::prev(next)->end) {
        now.span = &*std::prev(next);
        now.does = GpuDoes::works;
        now.share = (time - now.span->begin) / (now.span->end - now.span->begin);
        if (time >= now.span->late_from) now.does = GpuDoes::held_up;
        return now;
    }
    for (const StepWait& wait : lane.held_up)
        if (time >= wait.begin && time < wait.end) now.does = GpuDoes::held_up;
    return now;
}

GpuNow gpu_at(const ClusterStep& step, int replica, int stage, int gpu, double time) {
    GpuNow now = stage_at(step, replica, stage, time);
    const bool late = replica == step.late.replica && stage == step.late.stage && gpu == step.late.gpu;
    if (late && now.span != nullptr && now.does == GpuDoes::held_up) now.does = GpuDoes::late;
    return now;
}

std::string words_of(const GpuNow& now) {
    if (now.does == GpuDoes::late) return "late with " + now.span->text();
    if (now.span != nullptr) return now.does == GpuDoes::works ? now.span->text() : "waits in " + now.span->text();
    if (now.next == nullptr) return "done";
    if (now.next->microbatch < 0) return now.next->work == StepWork::sum ? "waits to sum" : "waits";
    return "waits for " + now.next->text();
}

std::vector<uint32_t> packets_at(const ClusterStep& step, int replica, double time) {
    const StepColumn& column = step.column(replica);
    std::vector<uint32_t> found;
    const auto from = std::lower_bound(column.packets.begin(), column.packets.end(), time - column.longest - 1e-9,
                                       [](const StepPacket& p, double t) { return p.sent < t; });
    for (auto at = from; at != column.packets.end() && at->sent <= time; ++at)
        if (time < at->taken) found.push_back(static_cast<uint32_t>(at - column.packets.begin()));
    return found;
}

double way_of(const StepPacket& packet, double time, double least) {
    const double travels = std::max(packet.arrives - packet.sent, std::min(least, packet.taken - packet.sent));
    return travels > 0 ? std::clamp((time - packet.sent) / travels, 0.0, 1.0) : 1;
}

double cluster_time(const Session& session, const ClusterStep& step) {
    if (session.cluster.time >= 0) return std::min(session.cluster.time, step.end);
    if (step.late.replica >= 0) return (step.late.from + step.late.until) / 2;
    return step.end * 0.4;
}

int picked_gpu(const Session& session, const ClusterStep& step) {
    const int picked = session.machine.rank;
    if (picked >= 0 && picked < step.gpus()) return picked;
    return step.late.replica >= 0 ? step.rank_of(step.late.replica, step.late.stage, step.late.gpu) : 0;
}

SumNow sum_at(const ClusterStep& step, int stage, const GpuNow& now) {
    SumNow sum;
    if (now.span == nullptr || now.span->work > StepWork::recompute) return sum;
    sum.of = step.layer_count.empty() ? 0 : step.layer_count[static_cast<size_t>(stage)];
    if (sum.of <= 0) return sum;
    const double end = now.span->late_from < 1e299 ? now.span->late_from : now.span->end;
    const double share = (now.share * (now.span->end - now.span->begin)) / (end - now.span->begin);
    const double at = std::min(share, 0.999999) * sum.of;
    sum.layer = static_cast<int>(at);
    if (step.sums.a_layer <= 0 || now.does != GpuDoes::works) return sum;
    const double within = (at - sum.layer) * step.sums.a_layer, part = within - std::floor(within);
    const double begins = 1 - step.sums.share;
    sum.on = part >= begins && step.sums.share > 0;
    if (sum.on) sum.share = (part - begins) / step.sums.share;
    return sum;
}

std::string step_time_text(const ClusterStep& step, double time) {
    if (step.unit_us <= 0) return fmt::format("{} {}", amount(time), step.unit);
    return time_text(time * step.unit_us, {.milli_from = 1e3});
}

}  // namespace lockstep::gui
