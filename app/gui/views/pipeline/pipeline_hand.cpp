// The hand on D9: what is under the pointer, an action taken to another place of its rank's order, the end of a bar drawn
// out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/pipeline/pipeline_picture.h"

namespace lockstep::gui {
namespace {

// The computing actions of a rank, in order.
std::vector<const parallel::ActionRun*> actions_on(const PipelineBlock& block, int rank) {
    std::vector<const parallel::ActionRun*> all;
    if (rank < 0 || rank >= block.ranks) return all;
    for (const parallel::ActionRun& ran : block.shown->run.actions[static_cast<size_t>(rank)])
        if (parallel::computes(ran.action.kind) && ran.action.kind != parallel::ActionKind::update) all.push_back(&ran);
    return all;
}

void ask_move(Session& session, const PipelineBlock& block, int rank, int from, int to) {
    scene::ClusterSetup wanted = cluster_setup(session);
    if (!block.shown->move_refusal.empty())  // what was refused gives way
        for (size_t i = wanted.pipeline.moves.size(); i-- > 0;)
            if (wanted.pipeline.moves[i].kind == block.shown->kind) {
                wanted.pipeline.moves.erase(wanted.pipeline.moves.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
    wanted.pipeline.moves.push_back({block.shown->kind, rank, from, to});
    ask_cluster(session, wanted);
}

std::string long_name(parallel::ActionKind kind) {
    using Kind = parallel::ActionKind;
    switch (kind) {
        case Kind::forward:
            return "forward";
        case Kind::backward_input:
            return "gradient of the input";
        case Kind::backward_weight:
            return "gradient of the weights";
        case Kind::update:
            return "update";
        case Kind::recompute:
            return "forward once more";
        default:
            return std::string(parallel::name_of(kind));
    }
}

}  // namespace

ScheduleSpot spot_at(const PipelinePlaces& p, Point at) {
    ScheduleSpot found;
    for (size_t i = 0; i < p.blocks.size(); ++i) {
        const PipelineBlock& block = p.blocks[i];
        if (at.y < block.rows.y || at.y >= block.rows.bottom() || block.ranks == 0) continue;
        found.block = static_cast<int>(i);
        found.rank = std::clamp(static_cast<int>((at.y - block.rows.y) / block.pitch), 0, block.ranks - 1);
        found.time = p.time(at.x);
    }
    return found;
}

HeldAction action_at(const PipelinePlaces& p, Point at) {
    const ScheduleSpot spot = spot_at(p, at);
    if (spot.block < 0 || p.coarse) return {};
    const PipelineBlock& block = p.blocks[static_cast<size_t>(spot.block)];
    if (at.y > block.row_y(spot.rank) + block.bar) return {};
    const auto list = actions_on(block, spot.rank);
    for (size_t i = 0; i < list.size(); ++i) {
        const float x0 = p.x(list[i]->begin), x1 = p.x(list[i]->end);
        if (at.x < x0 || at.x >= x1) continue;
        const bool end = x1 - at.x < 5 && x1 - x0 > 16;
        return {end ? HeldAction::What::end : HeldAction::What::action,
                spot.block,
                spot.rank,
                static_cast<int>(i),
                static_cast<int>(i),
                *list[i]};
    }
    return {};
}

int place_for(const PipelinePlaces& p, const HeldAction& held, float x) {  // of the list without the held action
    const auto list = actions_on(p.blocks[static_cast<size_t>(held.block)], held.rank);
    int place = 0;
    for (size_t i = 0; i < list.size(); ++i)
        if (static_cast<int>(i) != held.index && p.x((list[i]->begin + list[i]->end) / 2) < x) ++place;
    return place;
}

void move_action(Session& session, const PipelinePlaces& p, const HeldAction& held) {
    ask_move(session, p.blocks[static_cast<size_t>(held.block)], held.rank, held.index, held.to);
}

// The action that the clock stands in on the picked rank, one place on or back.
void move_by_key(Session& session, const scene::ClusterScene& scene, const PipelinePlaces& p, double now, int by) {
    if (scene.training || scene.planned || session.cluster.asked) return;
    for (const PipelineBlock& block : p.blocks) {
        const auto list = actions_on(block, p.rank);
        for (size_t i = 0; i < list.size(); ++i) {
            if (list[i]->begin > now + 1e-9 || list[i]->end <= now + 1e-9) continue;
            const int to = static_cast<int>(i) + by;
            if (to < 0 || to >= static_cast<int>(list.size())) return;
            ask_move(session, block, p.rank, static_cast<int>(i), to);
            return;
        }
    }
}

// The end of a bar sets how long what it is of takes, in quarters of a unit.
void stretch_action(Session& session, const PipelinePlaces& p, const HeldAction& held, float by) {
    const PipelineBlock& block = p.blocks[static_cast<size_t>(held.block)];
    scene::ClusterSetup wanted = cluster_setup(session);
    scene::PipelineSetup& setup = wanted.pipeline;
    double factor = block.shown->run.schedule.share();
    if (setup.slow_rank == held.rank) factor *= setup.slow_factor;
    const double longer = static_cast<double>(by / std::max(1.0f, p.plot.w)) * (p.end - p.begin);
    const double length = std::round((held.run.end - held.run.begin + longer) / factor * 4) / 4;
    using Kind = parallel::ActionKind;
    if (held.run.action.kind == Kind::forward)
        setup.forward = std::clamp(length, 0.25, 16.0);
    else if (held.run.action.kind == Kind::backward_input)
        setup.input = std::clamp(length, 0.25, 16.0);
    else if (held.run.action.kind == Kind::backward_weight)
        setup.weight = std::clamp(length, 0.25, 16.0);
    else  // both in one: the weights' part gives
        setup.weight = std::clamp(length - setup.input, 0.25, 16.0);
    if (!(wanted == cluster_setup(session))) ask_cluster(session, wanted);
}

void draw_held(Ui& ui, const PipelinePlaces& p, const HeldAction& held) {  // where it would go
    if (held.what != HeldAction::What::action || held.block >= static_cast<int>(p.blocks.size())) return;
    const PipelineBlock& block = p.blocks[static_cast<size_t>(held.block)];
    auto list = actions_on(block, held.rank);
    if (held.index >= static_cast<int>(list.size())) return;
    list.erase(list.begin() + held.index);
    const float y = block.row_y(held.rank);
    const float at = held.to < static_cast<int>(list.size()) ? p.x(list[static_cast<size_t>(held.to)]->begin)
                                                             : p.x(list.empty() ? 0 : list.back()->end);
    ui.rect({at - 1.5f, y - 4, 3, block.bar + 8}, ui.theme->accent);
    const Rect ghost{ui.mouse.x - 14, y + 2, 28, block.bar};
    ui.rect(ghost, fill_of(held.run.action.kind, 0, 1));
    ui.outline(ghost);
}

void draw_action_tip(Ui& ui, const PipelinePlaces& p) {
    const ScheduleSpot spot = spot_at(p, ui.mouse);
    if (spot.block < 0) return;
    const parallel::ScheduleRun& run = p.blocks[static_cast<size_t>(spot.block)].shown->run;
    const auto rank = static_cast<size_t>(spot.rank);
    for (const parallel::ActionRun& ran : run.actions[rank])
        if (ran.begin <= spot.time && ran.end > spot.time && ran.end > ran.begin)
            return ui.tooltip(fmt::format(
                "{} of micro-batch {}, stage {}{}\n{} to {} {}",
                ran.action.kind == parallel::ActionKind::backward ? "backward in one piece" : long_name(ran.action.kind),
                ran.action.microbatch + 1, ran.action.stage,
                ran.action.version > 0 ? fmt::format(", weights of version {}", ran.action.version) : std::string(),
                amount(ran.begin), amount(ran.end), run.shown_unit()));
    for (const parallel::IdleRun& idle : run.idle[rank])
        if (idle.begin <= spot.time && idle.end > spot.time)
            return ui.tooltip(fmt::format("idle, {} to {} {}: {}\nclick: who is it waiting for?", amount(idle.begin),
                                          amount(idle.end), run.shown_unit(), idle.reason));
}

}  // namespace lockstep::gui
