#include "core/scene/cluster/cluster_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"
#include "core/parallel/train/zero.h"
#include "core/scene/cluster/cluster_step.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

namespace {

constexpr int64_t tiny_context = 16;
constexpr size_t records_kept = 64, points_shown = 160;
constexpr int64_t updates_at_once = 8;  // of what never flushes: run in one go, doubled when more are asked for

parallel::ModelShape tiny_llama_shape() {
    return {.name = "tiny llama",
            .kind = parallel::ModelShape::Kind::llama,
            .layers = 8,
            .width = 32,
            .heads = 4,
            .kv_heads = 4,
            .ffn = 64,
            .vocabulary = 96,
            .context = tiny_context};
}
parallel::ModelShape mlp_shape() {
    return parallel::shape_named("mlp");
}
parallel::ModelShape lenet5_shape() {
    return parallel::shape_named("lenet5");
}

constexpr ClusterModel cluster_model_rows[] = {{"tiny llama", "llama", 0.003, 16, tiny_llama_shape},
                                               {"mlp", "mlp", 0.003, 64, mlp_shape},
                                               {"lenet5", "lenet5", 0.003, 16, lenet5_shape}};

const ClusterModel& cluster_model_named(const std::string& name) {
    std::vector<std::string> known;
    for (const ClusterModel& row : cluster_model_rows) {
        std::string word(row.name);
        std::replace(word.begin(), word.end(), ' ', '_');
        if (row.name == name || word == name) return row;
        known.push_back(word);
    }
    throw Failure(fmt::format("model {} does not train here: there are {}", name, fmt::join(known, ", ")));
}

// The model's own text, in sequences of tiny_context.
struct TinyText {
    std::unique_ptr<device::Device> device = device::open_device("meta").value();
    tensor::Heap heap{*device};
    std::unique_ptr<nn::Task> task;
    int64_t vocabulary = 0;

    TinyText(const std::string& model, int64_t batch, uint64_t seed) {
        task = nn::model_named(model).make({.batch = batch, .seed = seed}, heap);
        const nn::Parameter* tokens = task->list.find("tokens.weight");
        if (!task->make_batch || tokens == nullptr) throw Failure(fmt::format("model {} has no text", model));
        vocabulary = tokens->value.shape[0];
    }
    void make(uint64_t step, nn::Batch& batch) const {
        task->make_batch(step, batch);
        const auto rows = static_cast<size_t>(std::max<int64_t>(1, batch.count));
        const size_t context = batch.labels.size() / 2 / rows, kept = std::min<size_t>(context, tiny_context);
        std::vector<int32_t> cut;
        for (size_t half = 0; half < 2; ++half)
            for (size_t row = 0; row < rows; ++row) {
                const auto from = batch.labels.begin() + static_cast<std::ptrdiff_t>((half * rows + row) * context);
                cut.insert(cut.end(), from, from + static_cast<std::ptrdiff_t>(kept));
            }
        batch.labels = std::move(cut);
    }
};

bool goes_without_flush(const parallel::ParallelPlan& plan) {
    return plan.pp > 1 && parallel::schedule_named(plan.schedule).versions != nullptr;
}

parallel::ParallelOptions options_of_cluster(const ClusterTraining& wanted, const parallel::ParallelPlan& plan) {
    const ClusterModel& row = cluster_model_named(wanted.model);
    parallel::ParallelOptions options;
    options.training.model = row.model;
    options.training.batch = wanted.batch;
    options.training.learning_rate = row.learning_rate;
    options.training.optimizer = "adamw";  // whose state the formulas count
    options.training.seed = wanted.seed;
    if (goes_without_flush(wanted.plan)) options.training.clip_norm = 0;  // its stages' gradients have no common norm
    options.plan = plan;
    options.shape = row.shape();
    if (options.shape->name == "tiny llama") {
        auto text = std::make_shared<const TinyText>(std::string(row.model), wanted.batch, wanted.seed);
        options.shape->vocabulary = text->vocabulary;
        options.examples = [text](uint64_t step, nn::Batch& batch) { text->make(step, batch); };
    }
    return options;
}

// Elements of the blocks that a rank holds; over tp every matrix is cut evenly, and norms are left out of account.
double parameters_held(const parallel::ModelShape& shape, const parallel::ParallelPlan& plan, int pipeline_rank) {
    const auto whole = static_cast<double>(nn::parameters_of(shape));
    if (plan.pp == 1) return whole / plan.tp;
    std::vector<double> blocks;
    if (shape.kind == parallel::ModelShape::Kind::perceptron) {
        for (size_t i = 0; i + 1 < shape.widths.size(); ++i)
            blocks.push_back(static_cast<double>((shape.widths[i] + 1) * shape.widths[i + 1]));
    } else if (shape.kind == parallel::ModelShape::Kind::llama) {
        const auto tokens = static_cast<double>(shape.vocabulary * shape.width);
        const auto head = static_cast<double>((shape.vocabulary + 1) * shape.width);
        blocks.assign(static_cast<size_t>(shape.layers) + 2, (whole - tokens - head) / static_cast<double>(shape.layers));
        blocks.front() = tokens;
        blocks.back() = head;
    } else {
        return 0;
    }
    const parallel::Schedule schedule =
        parallel::make_schedule(plan.schedule, {.ranks = plan.pp, .microbatches = plan.microbatches, .chunks = plan.chunks});
    const std::vector<parallel::BlockRange> stages = parallel::cut_of_plan(shape, plan, schedule.stages());
    double held = 0;
    for (const int stage : schedule.stages_of[static_cast<size_t>(pipeline_rank)])
        for (int block = stages[static_cast<size_t>(stage)].first; block < stages[static_cast<size_t>(stage)].last; ++block)
            held += blocks[static_cast<size_t>(block)];
    return held / plan.tp;
}

// At most `points_shown` of them: of each part of the step the one with the most in use.
std::vector<parallel::MemoryPoint> thinned(const std::vector<parallel::MemoryPoint>& points, double begin, double end) {
    std::vector<parallel::MemoryPoint> kept;
    if (points.empty() || !(end > begin)) return kept;
    size_t part = SIZE_MAX;
    for (parallel::MemoryPoint point : points) {
        point.time_us = std::clamp((point.time_us - begin) / (end - begin), 0.0, 1.0);
        const auto at = static_cast<size_t>(point.time_us * static_cast<double>(points_shown));
        if (at == part && parallel::sum_of(point.bytes) <= parallel::sum_of(kept.back().bytes)) continue;
        if (at == part)
            kept.back().bytes = point.bytes;
        else
            kept.push_back(point);
        part = at;
    }
    kept.push_back({1, points.back().bytes});
    return kept;
}

std::string plan_words(const parallel::ParallelPlan& plan) {
    std::string words;
    const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
    for (const auto& [name, size] : {std::pair{"dp", plan.dp}, {"pp", plan.pp}, {"cp", plan.cp}, {"tp", plan.tp}})
        if (size > 1) add(fmt::format("{} {}", name, size));
    if (plan.zero > 0) add(fmt::format("ZeRO-{}", plan.zero));
    if (plan.microbatches > 1) add(fmt::format("{} micro-batches", plan.microbatches));
    return words.empty() ? "no axis cut" : words;
}

void show_schedule(const parallel::ParallelStepRecord& record, const std::optional<parallel::ScheduleRun>& all,
                   ClusterScene& scene) {
    const parallel::ParallelPlan& plan = scene.setup.training.plan;
    ScheduleShown& shown = scene.schedules.emplace_back();
    shown.kind = shown.title = plan.schedule;
    for (const parallel::ScheduleRow& row : parallel::schedules())
        if (row.name == plan.schedule)
            shown.title = row.title, shown.summary = row.summary, shown.takes_chunks = row.chunks == 0;
    shown.executed = true;
    shown.parts = plan.cut;
    if (record.schedule)
        shown.run = *record.schedule;
    else if (all)
        shown.run = *all;
    else
        shown.refusal = "With pp 1 every rank holds all layers: there is no pipeline to draw.";
}

void show_memory_of(const parallel::ParallelStepRecord& record, const parallel::Mesh& mesh,
                    const parallel::ModelShape& shape, ClusterScene& scene) {
    const parallel::ParallelPlan& plan = scene.setup.training.plan;
    MemoryShown& memory = scene.memory;
    memory = {};
    memory.counted = true;
    const parallel::ModelState state = parallel::zero_bytes(plan.zero, plan.dp * plan.cp, DType::f32);
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        const parallel::RankStep& step = record.ranks[rank];
        MemoryColumn& column = memory.columns.emplace_back();
        column.name = fmt::format("rank {}", rank);
        column.zero = plan.zero;
        column.bytes = step.kept;
        column.peak = parallel::sum_of(step.peak);
        for (const parallel::Traffic& row : step.sent) column.sent += row.bytes;
        const double held = parameters_held(shape, plan, mesh.coordinate(static_cast<int>(rank), "pp"));
        column.formula = {std::llround(held * state.weights), std::llround(held * state.gradients),
                          std::llround(held * state.optimizer), 0, 0};
        column.over_step = thinned(step.memory, record.begin_us, record.end_us);
    }
    if (memory.columns.empty()) return;
    memory.step_of = memory.columns.front().name;
    memory.over_step = memory.columns.front().over_step;
}

}  // namespace

std::span<const ClusterModel> cluster_models() {
    return cluster_model_rows;
}

double TrainingShown::difference() const {
    return loss.empty() || alone.size() < loss.size() ? 0 : loss.back() - alone[loss.size() - 1];
}

ClusterTraining within_limits(ClusterTraining training) {
    parallel::ParallelPlan& plan = training.plan;
    for (int* size : {&plan.dp, &plan.tp, &plan.pp, &plan.cp}) *size = std::clamp(*size, 1, most_cluster_ranks);
    plan.zero = std::clamp(plan.zero, 0, 3);
    plan.microbatches = std::clamp(plan.microbatches, 1, 64);
    for (const parallel::ScheduleRow& row : parallel::schedules())
        if (row.name == plan.schedule) plan.chunks = row.chunks == 0 ? std::clamp(plan.chunks, 2, 8) : row.chunks;
    if (plan.pp == 1 || plan.cut.size() != static_cast<size_t>(parallel::pipeline_stages(plan))) plan.cut.clear();
    if (plan.schedule == "pipedream" && plan.pp > 1) plan.microbatches = 1;  // an update after every one
    training.batch = std::clamp<int64_t>(training.batch, 1, 256);
    training.steps = std::clamp<int64_t>(training.steps, 1, most_cluster_steps);
    return training;
}

std::vector<int> parts_of(const ClusterSetup& setup) {
    if (setup.plan.on) return {};  // the planner cuts it
    if (!setup.training.on) {
        const auto ranks = static_cast<size_t>(setup.pipeline.ranks);
        return setup.pipeline.layers.size() == ranks ? setup.pipeline.layers : std::vector<int>(ranks, layers_a_rank);
    }
    const parallel::ParallelPlan& plan = setup.training.plan;
    std::vector<int> parts;
    if (plan.pp == 1) return parts;
    try {
        for (const parallel::BlockRange& range :
             parallel::cut_of_plan(cluster_model_named(setup.training.model).shape(), plan, parallel::pipeline_stages(plan)))
            parts.push_back(range.last - range.first);
    } catch (const Failure&) {  // more stages than blocks: the schedule's place says so
        return {};
    }
    return parts;
}

std::string move_boundary(ClusterSetup& setup, int row, bool down) {
    std::vector<int> parts = parts_of(setup);
    const int rows = setup.training.on ? setup.training.plan.pp : setup.pipeline.ranks;
    if (parts.empty() || row < 0 || row + 1 >= rows) return "There is no boundary between stages here.";
    const auto from = static_cast<size_t>(down ? row + 1 : row), to = static_cast<size_t>(down ? row : row + 1);
    const std::string_view what = setup.training.on ? "block" : "layer";
    if (parts[from] < 2)
        return fmt::format(
            "Stage {} has one {} left and keeps it, for a stage without any has nothing to do: stage {} can "
            "give it one.",
            from, what, to);
    --parts[from], ++parts[to];
    (setup.training.on ? setup.training.plan.cut : setup.pipeline.layers) = std::move(parts);
    return {};
}

ClusterTraining training_named(const std::string& text) {
    auto rows = parse_parallel("plan " + text, {});
    if (!rows) throw Failure(rows.error());
    std::vector<ParallelText> texts = std::move(rows).value();
    if (texts.size() != 1) throw Failure("one plan is trained at a time: dp=2 pp=2 zero=1 schedule=1f1b");
    ParallelText& row = texts.front();
    ClusterTraining made;
    made.on = true;
    made.plan = parallel_plan_of(row, most_cluster_ranks);
    if (!row.settings.contains("microbatches")) made.plan.microbatches = 2 * made.plan.pp;
    parallel::schedule_named(made.plan.schedule);
    const ClusterModel& model = cluster_model_named(row.word("model", made.model));
    made.model = model.name;
    made.batch = row.whole("batch", model.batch, 1, 256);
    made.seed = static_cast<uint64_t>(row.whole("seed", 1, 0, 1 << 30));
    made.steps = row.whole("steps", 1, 1, most_cluster_steps);
    row.done();
    return within_limits(std::move(made));
}

struct ClusterTrainer::Run {
    ClusterTraining asked;
    parallel::ParallelTrainer ranks, alone;
    parallel::ModelShape shape;
    std::shared_ptr<const comm::Network> network;
    NetworkSetup machine;  // that it was made from
    bool flushes = true;
    int64_t updates = 0;  // that run in one go, of what never flushes
    std::vector<double> loss, serial;
    std::deque<parallel::ParallelStepRecord> records;  // the last ones; of what never flushes all
    std::optional<parallel::ScheduleRun> all;          // of what never flushes: the schedule of all updates
    std::vector<std::vector<parallel::ParameterHolding>> holdings;

    Run(const ClusterTraining& wanted, const NetworkSetup& on)
        : asked(wanted),
          ranks([&] {
              parallel::ParallelOptions options = options_of_cluster(wanted, wanted.plan);
              options.network = network_of_ranks(on, wanted.plan.ranks());
              options.keep_messages = true;
              if (goes_without_flush(wanted.plan)) {
                  options.steps = updates_at_once;
                  while (options.steps < wanted.steps) options.steps *= 2;
              }
              return options;
          }()),
          alone([&] {
              parallel::ParallelOptions options = options_of_cluster(wanted, {});
              options.keep_memory = options.keep_spans = false;
              return options;
          }()) {
        shape = *ranks.options().shape;
        network = ranks.options().network;
        machine = on;
        updates = ranks.options().steps;
        flushes = updates == 0;
        holdings = ranks.holdings();
    }
    bool goes_on(const ClusterTraining& wanted, const NetworkSetup& on) const {
        ClusterTraining same = asked;
        same.steps = wanted.steps;
        NetworkSetup machines = machine;  // what of it the ranks do not run on may differ
        machines.bytes = on.bytes;
        machines.algorithm = on.algorithm;
        machines.ranks = on.ranks;
        if (!(same == wanted) || !(machines == on)) return false;
        if (!flushes) return wanted.steps <= updates;
        return wanted.steps + static_cast<int64_t>(records.size()) > static_cast<int64_t>(loss.size());
    }
    void step() {
        parallel::ParallelStepRecord record = ranks.step();
        serial.push_back(alone.step().loss);
        loss.push_back(record.loss);
        if (!flushes && record.schedule) all = std::move(record.schedule);
        records.push_back(std::move(record));
        if (flushes && records.size() > records_kept) records.pop_front();
    }
    const parallel::ParallelStepRecord& record(int64_t step) const {
        return records[records.size() - (loss.size() - static_cast<size_t>(step))];
    }
};

ClusterTrainer::ClusterTrainer() = default;
ClusterTrainer::~ClusterTrainer() = default;

void ClusterTrainer::show(ClusterScene& scene) {
    const ClusterTraining& wanted = scene.setup.training;
    auto shown = std::make_shared<TrainingShown>();
    shown->title = fmt::format("{}: {}", wanted.model, plan_words(wanted.plan));
    scene.schedules.clear();
    scene.memory = {};
    scene.memory.counted = true;
    try {
        if (wanted.plan.ranks() > most_cluster_ranks)
            throw Failure(fmt::format("{} ranks are too many to draw: {} at most", wanted.plan.ranks(), most_cluster_ranks));
        if (goes_without_flush(wanted.plan) && wanted.steps > static_cast<int64_t>(records_kept))
            throw Failure(fmt::format("{} never flushes, so all of its updates run in one go: {} at most are shown",
                                      wanted.plan.schedule, records_kept));
        if (!run_ || !run_->goes_on(wanted, scene.setup.network)) {
            run_.reset();
            if (progress) progress(fmt::format("starting {} ranks", wanted.plan.ranks()), -1);
            run_ = std::make_unique<Run>(wanted, scene.setup.network);
        }
        run_->asked.steps = wanted.steps;
        const int64_t needed = run_->flushes ? wanted.steps : run_->updates;
        while (static_cast<int64_t>(run_->loss.size()) < needed) {
            const auto done = static_cast<int64_t>(run_->loss.size());
            if (stop && stop()) throw Failure(fmt::format("Stopped after {} of {} steps.", done, needed));
            if (progress)
                progress(fmt::format("training step {} of {} on {} ranks", done + 1, needed, wanted.plan.ranks()),
                         static_cast<double>(done) / static_cast<double>(needed));
            run_->step();
        }
        const auto count = static_cast<std::ptrdiff_t>(wanted.steps);
        shown->loss.assign(run_->loss.begin(), run_->loss.begin() + count);
        shown->alone.assign(run_->serial.begin(), run_->serial.begin() + count);
        shown->mesh = run_->ranks.mesh();
        shown->parameters = nn::parameters_of(run_->shape);
        const parallel::ParallelStepRecord& record = run_->record(wanted.steps - 1);
        const parallel::ParallelStepRecord& first = run_->flushes ? record : run_->record(0);
        double origin = first.end_us;  // where the clock of rank 0's column begins
        for (const int rank : shown->mesh.group(0, "pp"))
            origin = std::min(origin, first.ranks[static_cast<size_t>(rank)].begin_us);
        shown->begin_us = record.begin_us - origin;
        shown->end_us = record.end_us - origin;
        shown->flushes = run_->flushes;
        show_schedule(record, run_->all, scene);
        show_memory_of(record, shown->mesh, run_->shape, scene);
        show_step_traffic(record, run_->network, origin, *shown);
        shown->holdings = run_->holdings;
        shown->record = record;
        for (parallel::RankStep& rank : shown->record.ranks) {
            rank.memory = {};
            rank.messages = {};
            rank.collectives = {};
            for (parallel::RankSpan& span : rank.spans) span.begin_us -= origin, span.end_us -= origin;
        }
        show_step_collective(*shown, scene);
        show_step_parameter(*shown, scene);
    } catch (const Failure& failure) {
        shown->refusal = failure.diagnostic.message;
        scene.collective = {};
        scene.collective.nothing = "Nothing was exchanged, for no step has run.";
        if (run_ && run_->loss.size() != run_->serial.size()) run_.reset();
    }
    if (scene.schedules.empty()) {
        ScheduleShown& refused = scene.schedules.emplace_back();
        refused.kind = refused.title = wanted.plan.schedule;
        for (const parallel::ScheduleRow& row : parallel::schedules())
            if (row.name == wanted.plan.schedule) refused.title = row.title;
        refused.executed = true;
        refused.refusal = shown->refusal;
    }
    scene.training = std::move(shown);
}

}  // namespace lockstep::scene
