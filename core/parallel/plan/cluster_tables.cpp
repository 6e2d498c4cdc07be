// The rows, with what their sources say of how they were run; then the tables, one function each.
#include "core/parallel/plan/cluster_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/in_process.h"
#include "core/device/meta.h"

namespace lockstep::parallel {

namespace {
constexpr std::string_view megatron_paper = "Megatron-LM, arXiv 2104.04473, table 1";
constexpr std::string_view llama_paper = "Llama 3, arXiv 2407.21783, table 4";
constexpr std::string_view zero_paper = "ZeRO, arXiv 1910.02054, figure 1";
constexpr std::string_view bubble_paper = "zero bubble, arXiv 2401.10241, table 5";
constexpr int64_t megatron_vocabulary = 51200, megatron_sequence = 2048;

// Micro-batches, chunks and the way gradients are reduced: the scripts published with the paper (examples/sc21).
constexpr MegatronRow megatron_table[] = {
    {"megatron-1.7b", 1.7, 24, 2304, 24, 1, 1, 32, 512, 16, 1, true, 137},
    {"megatron-3.6b", 3.6, 32, 3072, 30, 2, 1, 64, 512, 16, 1, true, 138},
    {"megatron-7.5b", 7.5, 32, 4096, 36, 4, 1, 128, 512, 16, 1, true, 142},
    {"megatron-18b", 18.4, 48, 6144, 40, 8, 1, 256, 1024, 8, 1, true, 135},
    {"megatron-39b", 39.1, 64, 8192, 48, 8, 2, 512, 1536, 4, 1, false, 138},
    {"megatron-76b", 76.1, 80, 10240, 60, 8, 4, 1024, 1792, 2, 3, false, 140},
    {"megatron-145b", 145.6, 96, 12288, 80, 8, 8, 1536, 2304, 2, 2, false, 148},
    {"megatron-310b", 310.1, 128, 16384, 96, 8, 16, 1920, 2160, 1, 2, false, 155},
    {"megatron-530b", 529.6, 128, 20480, 105, 8, 35, 2520, 2520, 1, 3, false, 163},
    {"megatron-1t", 1008, 160, 25600, 128, 8, 64, 3072, 3072, 1, 1, false, 163},
};
constexpr LlamaRow llama_table[] = {
    {"llama3-405b/8192", 8192, 1, 64, 8192, 32, 430},
    {"llama3-405b/16384", 16384, 1, 128, 8192, 16, 400},
    {"llama3-405b/16384/long", 16384, 16, 8, 131072, 16, 380},
};

struct BubbleRow {
    std::string_view name;
    int64_t layers, width, heads, microbatch;
    int p, m;
    double forward, input, weight, hop;  // microseconds, as profiled
    double one_f_one_b, interleaved, h1, h2, two_p;
};
// Layers, widths and micro-batches: the paper's table 3 (recalled); one layer less on the first and on the last stage.
// Times: as profiled on its A100s, in the examples of its program (sail-sg/zero-bubble-pipeline-parallelism,
// auto_schedule.py).
constexpr BubbleRow bubble_table[] = {
    {"1.5B", 22, 2304, 24, 6, 8, 24, 18522, 18086, 9337, 601, .2431, .1055, .1585, .1083, .0433},
    {"6.2B", 30, 4096, 32, 3, 8, 24, 29718, 29444, 19927, 527, .2347, .0808, .1323, .0698, .0029},
    {"14.6B", 46, 5120, 40, 1, 16, 48, 11347, 11248, 8132, 377, .2552, .1104, .1397, .0672, .0066},
    {"28.3B", 62, 6144, 48, 1, 32, 96, 10419, 10207, 7715, 408, .2646, .1493, .1421, .0641, .0038},
};
constexpr int64_t bubble_sequence = 1024;

// What stays of a layer's activations between I and W (the paper's table 1): 32 sbh of sb(34h + 5as).
double kept_share(const BubbleRow& row) {
    const double h = double(row.width), scores = double(row.heads * bubble_sequence);
    return 32 * h / (34 * h + 5 * scores);
}

validate::Row cluster_row(std::string table, std::string name, double expected, double got, std::string_view unit,
                          std::string_view source, validate::Kind kind = validate::Kind::predicted) {
    return {std::move(table), std::move(name), expected, got, kind, std::string(unit), std::string(source)};
}
}  // namespace

std::span<const MegatronRow> megatron_rows() {
    return megatron_table;
}
std::span<const LlamaRow> llama_rows() {
    return llama_table;
}

ModelShape shape_of(const MegatronRow& row) {
    return nn::megatron_shape(std::string(row.name), row.layers, row.width, row.heads, megatron_vocabulary,
                              megatron_sequence);
}

PlanRequest request_of(const MegatronRow& row) {
    const model::GpuSpec gpu = model::gpu_named("a100-80").value();
    PlanRequest request{.shape = shape_of(row), .plan = {}, .gpu = gpu, .machine = machine_of(gpu, "ib-hdr")};
    request.plan = {.dp = row.gpus / (row.tp * row.pp),
                    .tp = row.tp,
                    .pp = row.pp,
                    .schedule = row.chunks > 1 ? "interleaved" : "1f1b",
                    .chunks = row.chunks,
                    .recompute = Recompute::full,
                    .bucket_bytes = row.overlaps ? 25 << 20 : 0};
    request.sequence = megatron_sequence;
    request.batch = row.batch;
    request.microbatch = row.microbatch;
    request.compute = request.gradients = DType::f16;
    return request;
}

// 400 Gbit/s a GPU (RoCE in the paper, with NDR's figures here). The 126 layers, the embedding and the head are 128 chunks
// of the model, 8 on each of 16 pipeline ranks (section 3.3.2).
PlanRequest request_of(const LlamaRow& row) {
    const model::GpuSpec gpu = model::gpu_named("h100").value();
    PlanRequest request{.shape = shape_named("llama3-405b"), .plan = {}, .gpu = gpu, .machine = machine_of(gpu, "ib-ndr")};
    request.plan = {.dp = row.dp,
                    .tp = 8,
                    .pp = 16,
                    .cp = row.cp,
                    .zero = 2,
                    .sequence_parallel = true,
                    .context = Context::balanced_ring,
                    .schedule = "interleaved",
                    .chunks = 8};
    request.sequence = row.sequence;
    request.batch = row.batch * row.dp;
    request.microbatch = 1;
    return request;
}

double megatron_parameters(const MegatronRow& row) {
    const double l = double(row.layers), h = double(row.width);
    return 12 * l * h * h * (1 + 13 / (12 * h) + double(megatron_vocabulary + megatron_sequence) / (12 * l * h));
}
double megatron_operations(const MegatronRow& row) {
    const double l = double(row.layers), h = double(row.width), s = double(megatron_sequence);
    return 96 * double(row.batch) * s * l * h * h * (1 + s / (6 * h) + double(megatron_vocabulary) / (16 * l * h));
}

std::vector<Throughput> throughputs(Planner& planner, const Efficiencies& efficiencies) {
    std::vector<Throughput> all;
    for (const MegatronRow& row : megatron_table) {
        PlanRequest request = request_of(row);
        request.efficiencies = efficiencies;
        const double seconds = planner.plan(request).step_us * 1e-6;
        all.push_back({std::string(row.name), row.tflops, megatron_operations(row) / row.gpus / seconds * 1e-12});
    }
    for (const LlamaRow& row : llama_table) {
        PlanRequest request = request_of(row);
        request.efficiencies = efficiencies;
        all.push_back({std::string(row.name), row.tflops, planner.plan(request).tflops});
    }
    return all;
}

namespace {
struct FitErrors {
    double mean = 0, worst = 0;
    double badness() const { return mean + 0.25 * worst; }  // what a fit makes small
};
FitErrors errors_without(std::span<const double> errors, size_t left_out) {
    FitErrors sum;
    double count = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
        if (i == left_out) continue;
        sum.mean += std::abs(errors[i]);
        sum.worst = std::max(sum.worst, std::abs(errors[i]));
        ++count;
    }
    sum.mean /= std::max(1.0, count);
    return sum;
}
}  // namespace

Fit fit_efficiencies(Planner& planner, const std::function<void(double)>& tried) {
    const Efficiencies now;
    struct Try {
        Efficiencies efficiencies;
        std::vector<double> errors;
    };
    std::vector<Try> tries;
    constexpr double steps[] = {-1, 0, 1};
    const double total = 81;
    for (const double arithmetic : steps)
        for (const double memory : steps)
            for (const double network : steps)
                for (const double launch : steps) {
                    Try one{{now.arithmetic * (1 + 0.05 * arithmetic), now.memory * (1 + 0.1 * memory),
                             now.network * (1 + 0.1 * network), now.launch_us * (1 + 0.5 * launch)},
                            {}};
                    for (const Throughput& row : throughputs(planner, one.efficiencies)) one.errors.push_back(row.error());
                    tries.push_back(std::move(one));
                    if (tried) tried(double(tries.size()) / total);
                }
    const auto best_without = [&](size_t left_out) -> const Try& {
        return *std::min_element(tries.begin(), tries.end(), [&](const Try& a, const Try& b) {
            return errors_without(a.errors, left_out).badness() < errors_without(b.errors, left_out).badness();
        });
    };
    const size_t rows = tries.front().errors.size();
    Fit fit;
    const Try& all = best_without(rows);
    fit.best = all.efficiencies;
    fit.mean_error = errors_without(all.errors, rows).mean;
    fit.worst_error = errors_without(all.errors, rows).worst;
    for (size_t row = 0; row < rows; ++row) fit.left_out.push_back(best_without(row).errors[row]);
    fit.left_out_mean = errors_without(fit.left_out, rows).mean;
    fit.left_out_worst = errors_without(fit.left_out, rows).worst;
    return fit;
}

namespace {
void add_throughput(validate::Report& report, Planner& planner, bool quick) {
    const std::vector<Throughput> now = throughputs(planner, {});
    Fit fit;
    if (!quick) fit = fit_efficiencies(planner);
    double mean = 0, worst = 0;
    for (size_t i = 0; i < now.size(); ++i) {
        std::string source(i < std::size(megatron_table) ? megatron_paper : llama_paper);
        if (!quick) source += fmt::format("; left out of the fit: {:+.1f} %", 100 * fit.left_out[i]);
        report.rows.push_back(cluster_row("cluster", now[i].name, now[i].published, now[i].planned, "TFLOP/s a GPU", source,
                                          validate::Kind::calibrated));
        mean += std::abs(now[i].error()) / double(now.size());
        worst = std::max(worst, std::abs(now[i].error()));
    }
    for (size_t i = 0; i < fit.left_out.size(); ++i)
        report.rows.push_back(cluster_row(
            "cluster_left_out", now[i].name, now[i].published, now[i].published * (1 + fit.left_out[i]), "TFLOP/s a GPU",
            fmt::format("numbers fitted on the other twelve rows; on all: {:+.1f} %", 100 * now[i].error())));
    std::string numbers;
    for (const EfficiencyRow& row : efficiency_rows())
        numbers += fmt::format("{}{} {:.3g}", numbers.empty() ? "" : ", ", row.name, Efficiencies{}.*row.value);
    report.remarks.push_back(fmt::format("cluster: {} numbers for all rows ({}): mean error {:.1f} %, worst {:.1f} %",
                                         efficiency_rows().size(), numbers, 100 * mean, 100 * worst));
    std::string memory;
    for (const LlamaRow& row : llama_table) {
        const PlanResult plan = planner.plan(request_of(row));
        memory += fmt::format("{}{:.1f}", memory.empty() ? "" : ", ", plan.memory.total() * 1e-9);
    }
    report.remarks.push_back(fmt::format(
        "cluster: memory of the fullest GPU, Llama 3's three rows: {} of {:.1f} GB, without recomputing as the paper says. "
        "Where there are twice as many micro-batches as ranks a GPU warms up with 141 layers' activations; the paper's "
        "schedule can run fewer micro-batches in a row and so keep less, and does not say how many it ran",
        memory, memory_bytes(model::gpu_named("h100").value()) * 1e-9));
    if (!quick)
        report.remarks.push_back(fmt::format(
            "cluster: each row with the numbers that suit the other twelve best: mean error {:.1f} %, worst {:.1f} %",
            100 * fit.left_out_mean, 100 * fit.left_out_worst));
}

void add_formulas(validate::Report& report, Planner& planner) {
    for (const MegatronRow& row : megatron_table) {
        const PlanResult plan = planner.plan(request_of(row));
        report.rows.push_back(cluster_row("cluster_formulas", fmt::format("{}/parameters", row.name),
                                          megatron_parameters(row) * 1e-9, plan.parameters * 1e-9, "10^9, counted",
                                          megatron_paper));
        report.rows.push_back(cluster_row("cluster_formulas", fmt::format("{}/operations", row.name),
                                          megatron_operations(row) * 1e-15, plan.executed_operations * 1e-15,
                                          "10^15 a step, counted", megatron_paper));
    }
}

// The model states of 7.5 thousand million parameters on 64 ranks, allocated on `meta` tensor by tensor.
void add_memory(validate::Report& report) {
    constexpr double published[] = {120, 31.4, 16.6, 1.88};
    constexpr int64_t parameters = 7'500'000'000, tensors = 300;
    for (int zero = 0; zero <= 3; ++zero) {
        device::Meta meta{device::DeviceOptions{}};
        const auto allocate = [&](int64_t bytes_each, bool cut) {
            const int64_t count = parameters / tensors;
            for (int64_t i = 0; i < tensors; ++i)
                meta.allocate(size_t((cut ? (count + 63) / 64 : count) * bytes_each), "state");
        };
        allocate(2, zero >= 3);
        allocate(2, zero >= 2);
        allocate(12, zero >= 1);
        report.rows.push_back(cluster_row("cluster_memory", fmt::format("zero-{}/7.5b/64", zero), published[zero],
                                          double(meta.use().bytes) * 1e-9, "GB a GPU, allocated", zero_paper));
    }
}

// Step lists run by ranks with virtual clocks over equal links, beside the closed formulas that plans use.
void add_collectives(validate::Report& report) {
    const Machine machine{.gpus_per_node = 16, .inside = {"link", "link", 5, 25, "chosen"}, .between = {}};
    constexpr double bytes = 64 << 20;
    for (const int ranks : {4, 16})
        for (const auto& [operation, what] : {std::pair{"all_reduce", PlannedCollective::all_reduce},
                                              {"all_gather", PlannedCollective::all_gather},
                                              {"reduce_scatter", PlannedCollective::reduce_scatter}}) {
            const auto list = comm::collective(operation, "ring", {.ranks = ranks});
            const comm::Buffer buffer{nullptr, int64_t(bytes / 4), DType::f32};
            const comm::GroupResult run =
                comm::run_in_process(ranks, {machine.inside.latency_us, machine.inside.gigabytes_per_s * 1e3},
                                     [&](comm::Communicator& one) { run_collective(*list, one, buffer); });
            if (!run.problem().empty()) throw Failure(run.problem());
            double latest = 0;
            for (const comm::RankResult& rank : run.ranks) latest = std::max(latest, rank.time_us);
            report.rows.push_back(cluster_row("cluster_collectives", fmt::format("{}/ring/{}", operation, ranks),
                                              collective_us(machine, {ranks, ranks}, what, bytes), latest, "us, 64 MiB",
                                              "closed formula; got: the steps, run"));
        }
}

// Each schedule's bubble twice: with the times that were profiled, which tries the schedules; and with the planner's own,
// which tries those too.
void add_bubbles(validate::Report& report, Planner& planner) {
    bool ordered[] = {true, true};
    double worst = 0;
    std::string shares;
    for (const BubbleRow& row : bubble_table) {
        const model::GpuSpec gpu = model::gpu_named("a100-80").value();
        PlanRequest request{.shape = nn::megatron_shape(fmt::format("zero-bubble-{}", row.name), row.layers, row.width,
                                                        row.heads, 51200, bubble_sequence),
                            .plan = {.pp = row.p},
                            .gpu = gpu,
                            .machine = machine_of(gpu),
                            .sequence = bubble_sequence,
                            .batch = row.microbatch * row.m,
                            .microbatch = row.microbatch,
                            .compute = DType::f16};
        request.plan.schedule = "1f1b";
        Durations planned = planner.plan(request).durations;
        planned.of_stage.clear();  // the paper's stages are even
        const Durations profiled{.forward = row.forward, .input = row.input, .weight = row.weight, .hop = row.hop};
        shares += fmt::format("{}{} {:.2f} and {:.2f}", shares.empty() ? "" : ", ", row.name,
                              planned.weight / planned.forward, profiled.weight / profiled.forward);
        for (const Durations* times : {&profiled, static_cast<const Durations*>(&planned)}) {
            const bool own = times == &planned;
            const auto bubble = [&](const char* kind, int chunks, double published) {
                PipelineShape shape = timed_shape({.ranks = row.p, .microbatches = row.m, .chunks = chunks}, *times);
                shape.kept = kept_share(row);
                const double got = time_schedule(make_schedule(kind, shape), *times).bubble_of_total();
                report.rows.push_back(cluster_row(own ? "cluster_bubbles_planned" : "cluster_bubbles",
                                                  fmt::format("{}/p{}/m{}/{}", row.name, row.p, row.m, kind), published, got,
                                                  "of total", bubble_paper));
                if (!own && std::string_view(kind) != "interleaved")
                    worst = std::max(worst, std::abs(got - published) / published);
                return got;
            };
            const double plain = bubble("1f1b", 1, row.one_f_one_b),
                         interleaved = bubble("interleaved", int(row.layers + 2) / row.p, row.interleaved),
                         h1 = bubble("zb-h1", 1, row.h1), h2 = bubble("zb-h2", 1, row.h2),
                         two_p = bubble("zb-2p", 1, row.two_p);
            ordered[own] = ordered[own] && plain > h1 && h1 > h2 && h2 > two_p && plain > interleaved;
        }
    }
    report.remarks.push_back(fmt::format(
        "cluster_bubbles: F, I, W and hops as profiled by the paper: 1F1B over ZB-H1 over ZB-H2 over ZB-2p, and 1F1B over "
        "interleaved, as published: {}; largest error without interleaved {:.1f} %",
        ordered[0] ? "yes, in all four rows" : "NO", 100 * worst));
    report.remarks.push_back(fmt::format(
        "cluster_bubbles_planned: F, I and W the planner's own, of a rank's mean layers, stages even: the same order: {}. "
        "Zero-bubble schedules come out low because the planner's W is larger beside F than the profiled one ({}): their "
        "bubble is a difference, (p-1)(F+I-2W) for ZB-H2",
        ordered[1] ? "yes, in all four rows" : "NO", shares));
}
}  // namespace

validate::Report cluster_report(const validate::Options& options) {
    validate::Report report;
    Planner planner;
    const auto begin = [&](std::string_view name) {
        if (options.started) options.started(name);
    };
    begin("cluster");
    add_throughput(report, planner, options.quick);
    begin("cluster_formulas");
    add_formulas(report, planner);
    begin("cluster_memory");
    add_memory(report);
    begin("cluster_collectives");
    add_collectives(report);
    begin("cluster_bubbles");
    add_bubbles(report, planner);
    if (options.finished)
        for (const validate::Row& row : report.rows) options.finished(row);
    return report;
}

}  // namespace lockstep::parallel
