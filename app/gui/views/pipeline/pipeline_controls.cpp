// D9's chips and numbers: of bare schedules (ranks, micro-batches, times), or of a training run (model, schedule, plan).
#include <algorithm>
#include <cmath>
#include <string>

#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/pipeline/pipeline_picture.h"
#include "core/scene/cluster/cluster_training.h"

namespace lockstep::gui {

std::string move_stages(scene::ClusterSetup& wanted, const StageMove& move) {
    std::string refused;
    for (int i = 0; i < std::abs(move.by) && refused.empty(); ++i)
        refused = scene::move_boundary(wanted, move.row, move.by > 0);
    return refused;
}

namespace {

// A number that is doubled and halved, at least 1.
template <class Number>
void doubled(ControlRow& row, std::string_view name, Number& value, std::string_view tip) {
    const int by = row.number(name, std::to_string(value), tip);
    value = by > 0 ? value * 2 : by < 0 ? std::max<Number>(1, value / 2) : value;
}

void choose_seed(ControlRow& row, uint64_t& seed) {
    const int by = row.number("seed", std::to_string(seed), "of the first weights and of the data");
    if (by > 0 || seed > 0) seed += static_cast<uint64_t>(static_cast<int64_t>(by));
}

void choose_model(ControlRow& row, scene::ClusterTraining& setup) {
    for (const scene::ClusterModel& model : scene::cluster_models())
        if (row.chip(model.name, setup.model == model.name) && setup.model != model.name) {
            setup.model = model.name;
            setup.batch = model.batch;
        }
}

bool choose_schedule(ControlRow& row, scene::ClusterTraining& setup) {  // whether it has chunks to choose
    bool chunks = false;
    for (const parallel::ScheduleRow& schedule : parallel::schedules()) {
        const bool on = setup.plan.schedule == schedule.name;
        chunks = chunks || (on && schedule.chunks == 0);
        if (row.chip(schedule.title, on) && !on) {
            setup.plan.schedule = schedule.name;
            if (schedule.versions != nullptr) setup.plan.zero = 0;  // versions of whole weights are kept
        }
    }
    return chunks;
}

void turn_boundary(ControlRow& row, scene::ClusterSetup& wanted, int ranks, int picked, std::string_view part,
                   std::string& refused) {
    const StageMove move = turned_boundary(row, scene::parts_of(wanted), ranks, picked, part);
    if (move.by != 0) refused = move_stages(wanted, move);
}

void undo_chips(ControlRow& row, scene::PipelineSetup& setup) {
    if (!setup.layers.empty() && row.chip("even stages", false)) setup.layers.clear();
    if (!setup.moves.empty() && row.chip("undo move", false)) setup.moves.pop_back();
}

// One schedule or two side by side; whether any has chunks to choose.
bool choose_schedules(ControlRow& row, scene::PipelineSetup& setup) {
    bool chunks = false;
    for (const parallel::ScheduleRow& schedule : parallel::schedules()) {
        const auto at = std::find(setup.kinds.begin(), setup.kinds.end(), schedule.name);
        if (at != setup.kinds.end()) chunks = chunks || schedule.chunks == 0;
        if (!row.chip(schedule.title, at != setup.kinds.end())) continue;
        if (at == setup.kinds.end()) {  // the older of the two gives way
            if (setup.kinds.size() > 1) setup.kinds.erase(setup.kinds.begin());
            setup.kinds.emplace_back(schedule.name);
        } else if (setup.kinds.size() > 1) {
            setup.kinds.erase(at);
        }
    }
    return chunks;
}

// Between bare schedules and a training run.
void choose_what_runs(Session& session, ControlRow& row, scene::ClusterSetup& wanted) {
    const bool bare = !wanted.training.on && !wanted.plan.on;
    if (row.chip("schedules", bare) && !bare) {
        wanted.training.on = wanted.plan.on = false;
        ask_cluster(session, wanted);
    }
    if (row.chip("training run", wanted.training.on) && !wanted.training.on) {
        wanted.training.on = true;
        wanted.plan.on = false;
        ask_cluster(session, wanted);
    }
    if (wanted.plan.on) row.chip("planned step", true);  // the machine's
    row.gap(8);
}

// Of a training run: its model, its schedule and its plan.
float training_controls(Session& session, scene::ClusterSetup wanted, ControlRow& row, int picked, std::string& refused) {
    scene::ClusterTraining& setup = wanted.training;
    const scene::ClusterTraining before = setup;
    choose_model(row, setup);
    row.gap(8);
    const bool chunks = choose_schedule(row, setup);
    row.gap(6);
    doubled(row, "dp", setup.plan.dp, "ranks that each take a part of the batch");
    doubled(row, "pp", setup.plan.pp, "ranks that each hold some of the layers");
    doubled(row, "tp", setup.plan.tp, "ranks that each hold a part of every layer");
    doubled(row, "cp", setup.plan.cp, "ranks that each hold a part of every sequence");
    setup.plan.zero +=
        row.number("ZeRO", std::to_string(setup.plan.zero), "what dp ranks share: 1 Adam, 2 gradients, 3 weights");
    doubled(row, "micro-batches", setup.plan.microbatches, "that a dp rank's part of the batch goes through in");
    if (chunks)
        setup.plan.chunks += row.number("chunks", std::to_string(setup.plan.chunks), "of the model that a rank holds");
    doubled(row, "batch", setup.batch, "examples of a step, of all ranks together");
    choose_seed(row, setup.seed);
    if (setup.model != before.model) setup.plan.cut.clear();
    turn_boundary(row, wanted, setup.plan.pp, picked, "block", refused);
    if (!setup.plan.cut.empty() && row.chip("even stages", false)) setup.plan.cut.clear();
    const bool other = !(setup == before);
    const bool flushes = setup.plan.pp == 1 || parallel::schedule_named(setup.plan.schedule).versions == nullptr;
    const auto [step, step_tip] = flushes ? std::pair("step", "the one that is shown: + trains one more")
                                          : std::pair("update", "the one that is shown, of all that ran in one go");
    setup.steps += row.number(step, std::to_string(setup.steps), step_tip);
    const bool training = session.cluster.asked && session.snapshot()->busy.starts_with("training step");
    if (training && row.chip("Cancel", false)) session.post(ask::Cancel{});
    if (!row.drawing()) return row.height() + 2;
    if (other) setup.steps = 1;
    if (!(scene::within_limits(setup) == before)) {
        if (!flushes) session.cluster.time = -1;  // the clock goes to the update
        ask_cluster(session, wanted);
    }
    return row.height() + 2;
}

}  // namespace

float pipeline_controls(Ui& ui, Session& session, const Rect& body, int picked, std::string& refused, bool draw) {
    scene::ClusterSetup wanted = cluster_setup(session);
    scene::PipelineSetup& setup = wanted.pipeline;
    const scene::PipelineSetup before = setup;
    ControlRow row(ui, body, draw);
    if (session.workspace == Workspace::cluster) choose_what_runs(session, row, wanted);
    if (wanted.training.on) return training_controls(session, wanted, row, picked, refused);
    if (wanted.plan.on) return row.height() + 2;
    const bool chunks = choose_schedules(row, setup);
    row.gap(6);
    setup.ranks += row.number("ranks", std::to_string(setup.ranks), "pipeline ranks: 1 to 64");
    setup.microbatches += row.number("micro-batches", std::to_string(setup.microbatches), "of one step: 1 to 128");
    if (chunks) setup.chunks += row.number("chunks", std::to_string(setup.chunks), "of the model that a rank holds");
    const auto time = [&](std::string_view name, double value, double least, std::string_view tip) {
        return std::max(least, value + 0.25 * row.number(name, amount(value), tip));
    };
    setup.forward = time("F", setup.forward, 0.25, "units a forward takes");
    setup.input = time("I", setup.input, 0.25, "units the gradient of the input takes");
    setup.weight = time("W", setup.weight, 0.25, "units the gradient of the weights takes");
    setup.hop = time("hop", setup.hop, 0, "units from one rank to the next");
    setup.slow_rank +=
        row.number("slow rank", setup.slow_rank < 0 ? "none" : std::to_string(setup.slow_rank), "a straggler");
    if (setup.slow_rank >= 0) setup.slow_factor = time("by", setup.slow_factor, 1, "how many times slower it is");
    setup.limit = std::max(1, setup.activation_limit() + row.number("limit", std::to_string(setup.activation_limit()),
                                                                    "micro-batches whose activations fit"));
    if (setup.limit == setup.ranks) setup.limit = 0;
    const bool same_shape = setup.ranks == before.ranks && setup.microbatches == before.microbatches;
    if (!same_shape || setup.chunks != before.chunks) setup.moves.clear();
    turn_boundary(row, wanted, setup.ranks, picked, "layer", refused);
    undo_chips(row, setup);
    if (draw && !(setup == before)) ask_cluster(session, wanted);
    return row.height() + 2;
}

}  // namespace lockstep::gui
