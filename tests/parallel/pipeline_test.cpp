// The executor: every schedule gives the serial gradients, PipeDream those of a serial program with the same staleness; what
// is alive on a rank is what the schedule allows; ranks never wait for each other.
#include "core/parallel/pipeline/pipeline.h"

#include <fmt/format.h>

#include <numeric>

#include "tests/parallel/support.h"

namespace parallel_pipeline_test {

using namespace parallel_test;

namespace {

using Named = std::map<std::string, std::vector<double>>;
constexpr int rows_of_part = 3, inputs_of_part = 6, classes_of_part = 5;

ModelShape deep_perceptron(int layers) {
    std::vector<int64_t> widths(size_t(layers) + 1, 7);
    widths.front() = inputs_of_part, widths.back() = classes_of_part;
    return {.name = "deep", .kind = ModelShape::Kind::perceptron, .layers = layers, .widths = widths};
}
MicroBatch part(tensor::Heap& heap, int number) {
    Rng rng(100 + uint64_t(number));
    std::vector<double> x(rows_of_part * inputs_of_part);
    for (double& value : x) value = rng.uniform(-1, 1);
    std::vector<int32_t> labels(rows_of_part);
    for (int32_t& label : labels) label = int32_t(rng.below(classes_of_part));
    return {tensor::tensor_from(heap, {rows_of_part, inputs_of_part}, x, "x"), tensor::labels_from(heap, labels, "y"),
            rows_of_part};
}
double share_of(int number, int of) {  // uneven, so that a wrong one shows
    return (1 + 0.25 * (number % 3)) / of;
}

// One micro-batch through all blocks on one rank: its loss and gradients, with the given values of the parameters.
struct SerialPart {
    double loss = 0;
    Named gradients;
};
SerialPart serial_part(Rank& rank, ParallelModel& model, const MicroBatch& batch, double share) {
    tensor::Tape tape(rank.heap);
    nn::Pass pass{tape};
    tensor::Variable x;
    for (const Block& block : model.blocks) x = block.forward(pass, x, batch);
    const double seed[] = {share};
    SerialPart serial{tensor::values_of(rank.heap, x.value)[0], {}};
    tape.backward(x, tensor::tensor_from(rank.heap, x.shape(), seed, "share"));
    for (const nn::Parameter& parameter : model.list.parameters())
        serial.gradients[parameter.name] = tape.gradient_values(parameter.node);
    return serial;
}
void add_to(Named& sums, const Named& more) {
    for (const auto& [name, values] : more) {
        std::vector<double>& sum = sums[name];
        if (sum.empty()) {
            sum = values;
            continue;
        }
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
}
SerialPart serial_run(const ModelShape& shape, int microbatches) {
    SerialPart all;
    run_ranks({}, [&](Rank& rank) {
        const auto model = make_model(shape, rank.plan, rank, {{0, count_blocks(shape)}}, 7, DType::f64);
        for (int i = 0; i < microbatches; ++i) {
            const SerialPart one = serial_part(rank, *model, part(rank.heap, i), share_of(i, microbatches));
            add_to(all.gradients, one.gradients);
            all.loss += one.loss * share_of(i, microbatches);
        }
    });
    return all;
}

struct PipelineFound {
    Named gradients, weights;
    double loss = 0;
    std::vector<PipelineRow> rows;
    std::vector<std::vector<std::string>> completed;  // by rank: parameters in order of completion
    std::vector<int64_t> sent;
};
struct PipelineAsked {
    std::string device = "host";
    comm::Link link = {};
    bool keep_inputs_only = false;
    double rate = 0;  // of plain SGD at the schedule's updates; 0: none
};
PipelineFound run_schedule(const ModelShape& shape, const Schedule& schedule, const PipelineAsked& asked = {}) {
    PipelineFound found;
    found.rows.resize(size_t(schedule.ranks)), found.completed.resize(size_t(schedule.ranks));
    std::mutex mutex;
    const ParallelPlan plan{.pp = schedule.ranks};
    const auto stages = cut_into_stages(shape, schedule.stages());
    const comm::GroupResult group = run_ranks(
        plan,
        [&](Rank& rank) {
            const int me = rank.along("pp");
            std::vector<BlockRange> held;
            for (int stage : schedule.stages_of[size_t(me)]) held.push_back(stages[size_t(stage)]);
            const auto model = make_model(shape, plan, rank, held, 7, DType::f64);
            PipelineJob job{.rank = rank, .model = *model, .schedule = schedule, .stages = stages};
            job.batch = [&](int i) { return part(rank.heap, i); };
            job.share = [&](int i) { return share_of(i, schedule.per_update); };
            job.keep_inputs_only = asked.keep_inputs_only;
            std::vector<std::string> completed;
            job.gradient_done = [&](PipelineResult&, size_t i) { completed.push_back(model->list.parameters()[i].name); };
            if (asked.rate > 0)
                job.update = [&](PipelineResult& result, int, int) {
                    for (size_t i = 0; i < result.gradients.size(); ++i) {
                        const tensor::Tensor& value = model->list.parameters()[i].value;
                        std::vector<double> w = tensor::values_of(rank.heap, value);
                        const std::vector<double> g = tensor::values_of(rank.heap, result.gradients[i]);
                        for (size_t j = 0; j < w.size(); ++j) w[j] -= asked.rate * g[j];
                        tensor::write_values(rank.heap, value, w, "w");
                    }
                };
            const PipelineResult result = run_pipeline(job);
            const std::lock_guard lock(mutex);
            size_t i = 0;
            for (const nn::Parameter& parameter : model->list.parameters()) {
                if (asked.device != "meta" && result.gradients[i])
                    found.gradients[parameter.name] = tensor::values_of(rank.heap, result.gradients[i]);
                if (asked.rate > 0) found.weights[parameter.name] = tensor::values_of(rank.heap, parameter.value);
                ++i;
            }
            found.loss += result.loss;
            found.rows[size_t(me)] = result.row;
            found.completed[size_t(me)] = completed;
        },
        asked.device, asked.link);
    check_no_problem(group);
    for (const comm::RankResult& rank : group.ranks) found.sent.push_back(int64_t(rank.bytes_sent));
    return found;
}

std::vector<Schedule> flushing_schedules(int p, int layers) {
    std::vector<Schedule> found;
    for (const ScheduleRow& row : schedules()) {
        if (row.name == "pipedream" || row.name == "pipedream_2bw") continue;
        if (row.name == "dualpipe" && p % 2 != 0) continue;
        const int chunks = row.chunks == 0 ? 2 : row.chunks;
        if (p * chunks > layers && row.name != "dualpipe") continue;
        found.push_back(make_schedule(std::string(row.name), {p,
                                                              row.name == "dualpipe"      ? 2 * p
                                                              : row.name == "interleaved" ? 2 * p
                                                                                          : 2 * p + 1,
                                                              chunks}));
    }
    return found;
}

}  // namespace

TEST_CASE("every flushing schedule gives the serial gradients, bit by bit where a stage is held once") {
    for (const auto& [p, layers] : {std::pair{1, 4}, {2, 4}, {3, 6}, {4, 9}, {8, 16}}) {
        const ModelShape shape = deep_perceptron(layers);
        std::map<int, SerialPart> serial;  // by micro-batches
        for (const Schedule& schedule : flushing_schedules(p, layers)) {
            INFO(schedule.kind << " p " << p);
            if (!serial.contains(schedule.microbatches))
                serial[schedule.microbatches] = serial_run(shape, schedule.microbatches);
            const SerialPart& expected = serial[schedule.microbatches];
            const PipelineFound found = run_schedule(shape, schedule);
            CHECK(std::abs(found.loss - expected.loss) <= 1e-12 * expected.loss);
            REQUIRE(found.gradients.size() == expected.gradients.size());
            for (const auto& [name, gradient] : expected.gradients) {
                INFO(name);
                CHECK(apart(found.gradients.at(name), gradient) < 1e-10);
                if (schedule.copies == 1) CHECK(found.gradients.at(name) == gradient);
            }
        }
    }
}

TEST_CASE("a tiny llama through a pipeline of 1, 2 and 4 has its serial gradients") {
    const ModelShape shape{.name = "tiny",
                           .kind = ModelShape::Kind::llama,
                           .layers = 4,
                           .width = 16,
                           .heads = 4,
                           .kv_heads = 2,
                           .ffn = 24,
                           .vocabulary = 16,
                           .context = 8};
    Named expected;
    for (const auto& [p, kind] :
         {std::pair<int, std::string>{1, "1f1b"}, {2, "zb-h1"}, {4, "1f1b"}, {2, "zb-v"}, {4, "zb-h2"}}) {
        INFO(kind << " p " << p);
        const Schedule schedule = make_schedule(kind, {p, 4});
        const auto stages = cut_into_stages(shape, schedule.stages());
        Named found;
        std::mutex mutex;
        const ParallelPlan plan{.pp = p};
        check_no_problem(run_ranks(plan, [&](Rank& rank) {
            std::vector<BlockRange> held;
            for (int stage : schedule.stages_of[size_t(rank.along("pp"))]) held.push_back(stages[size_t(stage)]);
            const auto model = make_model(shape, plan, rank, held, 3, DType::f64);
            const PipelineResult result =
                run_pipeline({.rank = rank,
                              .model = *model,
                              .schedule = schedule,
                              .stages = stages,
                              .batch = [&](int i) { return micro_batch(rank, tokens_of(2, 8, 16, uint64_t(i))); },
                              .share = [](int) { return 0.25; }});
            const std::lock_guard lock(mutex);
            size_t i = 0;
            for (const nn::Parameter& parameter : model->list.parameters())
                found[parameter.name] = tensor::values_of(rank.heap, result.gradients[i++]);
        }));
        if (p == 1) expected = found;
        CHECK(found.size() > 10);
        CHECK(found == expected);
    }
}

TEST_CASE("PipeDream equals a serial program with the same staleness") {
    const double rate = 0.1;
    for (const std::string kind : {"pipedream", "pipedream_2bw"})
        for (int p : {2, 4}) {
            INFO(kind << " p " << p);
            const ModelShape shape = deep_perceptron(p);
            const Schedule schedule = make_schedule(kind, {p, 4, 1, 3});
            const PipelineFound found = run_schedule(shape, schedule, {.rate = rate});
            const auto stages = cut_into_stages(shape, p);
            Named newest;
            run_ranks({}, [&](Rank& rank) {
                const auto model = make_model(shape, rank.plan, rank, {{0, count_blocks(shape)}}, 7, DType::f64);
                const auto stage_of = [&](const std::string& name) {  // "fc3.weight"
                    const int layer = std::stoi(name.substr(2)) - 1;
                    int stage = 0;
                    while (layer >= stages[size_t(stage)].last) ++stage;
                    return stage;
                };
                std::vector<Named> versions(1);
                for (const nn::Parameter& parameter : model->list.parameters())
                    versions[0][parameter.name] = tensor::values_of(rank.heap, parameter.value);
                Named sums;
                for (int i = 0; i < schedule.microbatches; ++i) {
                    for (nn::Parameter& parameter : model->list.parameters()) {
                        const int stale = kind == "pipedream" ? std::max(0, i - (p - stage_of(parameter.name)) + 1)
                                                              : std::max(0, i / 4 - 1);
                        tensor::write_values(rank.heap, parameter.value, versions[size_t(stale)].at(parameter.name), "w");
                    }
                    add_to(sums, serial_part(rank, *model, part(rank.heap, i), share_of(i, schedule.per_update)).gradients);
                    if ((i + 1) % schedule.per_update != 0) continue;
                    versions.push_back(versions.back());
                    for (auto& [name, values] : versions.back())
                        for (size_t j = 0; j < values.size(); ++j) values[j] -= rate * sums[name][j];
                    sums.clear();
                }
                newest = versions.back();
            });
            CHECK(found.weights == newest);
            for (int rank = 0; rank < p; ++rank)
                CHECK(found.rows[size_t(rank)].weight_versions == schedule_named(kind).versions({p, 4, 1, 3}, rank));
        }
}

TEST_CASE("micro-batches alive are counted, and are as many as the schedule's simulation says") {
    for (const ScheduleRow& row : schedules()) {
        const int p = 4, chunks = row.chunks == 0 ? 2 : row.chunks;
        const PipelineShape asked{p, 8, chunks};
        const Schedule schedule = make_schedule(std::string(row.name), asked);
        INFO(row.name);
        const PipelineFound found = run_schedule(deep_perceptron(schedule.stages()), schedule, {.rate = 0.01});
        const ScheduleRun simulated = time_schedule(schedule, {});
        for (int rank = 0; rank < p; ++rank) {
            CHECK(found.rows[size_t(rank)].peak_activations == simulated.peak_activations[size_t(rank)]);
            CHECK(found.rows[size_t(rank)].peak_activations <= row.activations(asked, rank));
            CHECK(found.rows[size_t(rank)].weight_versions == simulated.weight_versions[size_t(rank)]);
            CHECK(found.rows[size_t(rank)].activations.back().alive == 0);
        }
    }
}

TEST_CASE("a stage that keeps only its input gives the same bits for less memory") {
    const ModelShape shape = deep_perceptron(12);
    for (const std::string kind : {"1f1b", "zb-h1", "gpipe"}) {
        const Schedule schedule = make_schedule(kind, {2, 6});
        const PipelineFound all = run_schedule(shape, schedule),
                            inputs = run_schedule(shape, schedule, {.keep_inputs_only = true});
        CHECK(all.gradients == inputs.gradients);
        CHECK(inputs.rows[0].peak_activation_bytes < all.rows[0].peak_activation_bytes);
        int again = 0;
        for (const ActionRun& one : inputs.rows[1].actions) again += one.action.kind == ActionKind::recompute;
        CHECK(again == 6);
    }
}

TEST_CASE("a parameter's gradient is complete once, the last layer's first") {
    const Schedule schedule = make_schedule("1f1b", {2, 4});
    const PipelineFound found = run_schedule(deep_perceptron(4), schedule);
    REQUIRE(found.completed[1].size() == 4);
    CHECK(found.completed[1].front().starts_with("fc4."));
    CHECK(found.completed[1].back().starts_with("fc3."));
    CHECK(found.completed[0].size() == 4);
}

TEST_CASE("what ran has the schedule's actions on virtual clocks, without gaps, and twice the same") {
    for (const std::string kind : {"1f1b", "zb-v", "dualpipe", "interleaved"}) {
        INFO(kind);
        const Schedule schedule = make_schedule(kind, {4, 8, kind == "interleaved" ? 2 : 1});
        const comm::Link link{5, 1000};
        const ModelShape shape = deep_perceptron(schedule.stages());
        const PipelineFound one = run_schedule(shape, schedule, {.link = link}),
                            two = run_schedule(shape, schedule, {.link = link});
        const ScheduleRun run = joined_run(schedule, one.rows);
        CHECK(run == joined_run(schedule, two.rows));
        CHECK(run.unit == "us");
        CHECK(run.total > run.ideal);
        std::map<std::pair<int, int>, double> forward_end;
        for (int rank = 0; rank < 4; ++rank) {
            std::vector<std::pair<double, double>> spans;
            for (const ActionRun& action : run.actions[size_t(rank)]) {
                if (computes(action.action.kind)) spans.emplace_back(action.begin, action.end);
                if (action.action.kind == ActionKind::forward)
                    forward_end[{action.action.stage, action.action.microbatch}] = action.end;
            }
            CHECK(int(std::count_if(run.actions[size_t(rank)].begin(), run.actions[size_t(rank)].end(),
                                    [](const ActionRun& action) { return computes(action.action.kind); })) ==
                  int(std::count_if(schedule.actions[size_t(rank)].begin(), schedule.actions[size_t(rank)].end(),
                                    [](const Action& action) { return computes(action.kind); })));
            for (const IdleRun& idle : run.idle[size_t(rank)]) spans.emplace_back(idle.begin, idle.end);
            std::sort(spans.begin(), spans.end());
            CHECK(spans.front().first == 0);
            CHECK(std::abs(spans.back().second - run.total) < 1e-9);
            for (size_t i = 1; i < spans.size(); ++i) CHECK(std::abs(spans[i].first - spans[i - 1].second) < 1e-9);
        }
        for (int rank = 0; rank < 4; ++rank)  // a stage on another rank begins no sooner than the message can be there
            for (const ActionRun& action : run.actions[size_t(rank)])
                if (const int stage = action.action.stage; action.action.kind == ActionKind::forward && stage > 0 &&
                                                           schedule.rank_of(stage - 1, action.action.microbatch) != rank)
                    CHECK(action.begin >= forward_end.at({stage - 1, action.action.microbatch}) + link.latency_us);
    }
}

TEST_CASE("activations and gradients are all that a pipeline sends") {
    const Schedule schedule = make_schedule("1f1b", {3, 5});
    const PipelineFound found = run_schedule(deep_perceptron(3), schedule);
    const int64_t one = rows_of_part * 7 * 8;  // f64 [rows, 7]
    CHECK(found.sent == std::vector<int64_t>{5 * one, 2 * 5 * one, 5 * one});
}

TEST_CASE("on meta a pipeline has times and no values") {
    const Schedule schedule = make_schedule("zb-h1", {4, 8});
    const PipelineFound found = run_schedule(deep_perceptron(8), schedule, {.device = "meta", .link = {5, 1000}});
    const PipelineFound real = run_schedule(deep_perceptron(8), schedule, {.link = {5, 1000}});
    const ScheduleRun run = joined_run(schedule, found.rows);
    CHECK(run.total > 0);
    CHECK(run.total == joined_run(schedule, real.rows).total);
}

TEST_CASE("a schedule that does not fit the ranks or cannot run is refused") {
    const ModelShape shape = deep_perceptron(4);
    run_ranks({}, [&](Rank& rank) {
        const auto model = make_model(shape, rank.plan, rank, {{0, 4}}, 7, DType::f64);
        const auto attempt = [&](const Schedule& schedule, std::vector<BlockRange> stages) {
            run_pipeline(
                {.rank = rank, .model = *model, .schedule = schedule, .stages = std::move(stages), .batch = [&](int i) {
                     return part(rank.heap, i);
                 }});
        };
        CHECK_THROWS_WITH(attempt(make_schedule("1f1b", {2, 2}), {{0, 2}, {2, 4}}),
                          Catch::Matchers::Contains("pipeline of 1"));
        CHECK_THROWS_WITH(attempt(make_schedule("1f1b", {1, 2}), {{0, 2}}),
                          Catch::Matchers::Contains("2 of the model's 4 blocks"));
        CHECK_THROWS_WITH(attempt(make_schedule("pipedream", {1, 2}), {{0, 4}}),
                          Catch::Matchers::Contains("needs an update"));
        Schedule bad = make_schedule("1f1b", {1, 2});
        bad.actions[0].pop_back();
        CHECK_THROWS_WITH(attempt(bad, {{0, 4}}), Catch::Matchers::Contains("cannot run: rank 0 updates 0 times"));
    });
}

}  // namespace parallel_pipeline_test
