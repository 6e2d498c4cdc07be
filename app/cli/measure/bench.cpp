// `lockstep bench [NAME]`: rates of the machine and the engine, each the best of a few runs after a warm-up, on one thread
// unless the name says otherwise. Row names are stable; NAME selects the rows that begin with it. Rows functional/... are
// measured in turns (bench_functional.cpp), and so are the host's train/... (bench_training.cpp). Where PyTorch or JAX is
// installed, rows train/... are followed by theirs on the same models, and by how far ahead ours are (torch_bench.h).
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "app/cli/measure/bench_kernels.h"
#include "app/cli/measure/bench_programs.h"
#include "app/cli/measure/bench_sample.h"
#include "app/cli/measure/bench_training.h"
#include "app/cli/measure/torch_bench.h"
#include "core/base/rng.h"
#include "core/base/tell.h"
#include "core/comm/in_process.h"
#include "core/model/advice/verdict.h"
#include "core/model/launch/launch.h"
#include "core/model/launch/replay.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/parallel/plan/cluster_tables.h"
#include "core/parallel/plan/search.h"
#include "core/trace/machine_trace.h"

namespace lockstep::cli {
namespace {

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

BenchKernel vector_add(int n) {
    BenchKernel k("bench.ptx", "vector_add_f32", {static_cast<uint32_t>((n + 255) / 256), 1, 1}, {256, 1, 1});
    for (size_t i = 0; i < 3; ++i) k.buffer(i, static_cast<size_t>(n));
    k.integer(3, n);
    return k;
}

// The timing model runs on one core: the processor's time, so that other work on the computer does not count.
BenchRow timed(const std::string& name, const model::GpuSpec& gpu, BenchKernel p, bool trace, const std::string& config) {
    model::TimedOptions options;
    options.trace = trace;
    options.threads = 1;
    double best = 0;
    for (int run = 0; run < 2; ++run) {
        const std::clock_t begin = std::clock();
        const model::TimedResult result = model::launch(gpu, *p.program, p.config, p.memory, options);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        check_bench(result);
        best = std::max(best, static_cast<double>(result.warp_instructions) / seconds);
    }
    return {"timed/" + name, best / 1e6, "M warp instructions/s", config};
}

model::GpuSpec v100(uint32_t sms = 80) {
    model::GpuSpec gpu = model::gpu_named("v100").value();
    gpu.sms.value = sms;
    return gpu;
}

// What recording requests, issues and queues for the picture of the machine adds to a traced run.
BenchRow recording() {
    BenchKernel p = bench_matmul("matmul_nn_f32", 512);
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    double best[2] = {1e9, 1e9};
    uint64_t bytes = 0;
    for (int run = 0; run < 6; ++run) {  // by turns, so that both meet the same computer
        model::TimedOptions options;
        options.machine = run % 2 != 0;
        options.threads = 1;
        const std::clock_t begin = std::clock();
        const model::TimedResult result = model::launch(gpu, *p.program, p.config, p.memory, options);
        best[run % 2] = std::min(best[run % 2], static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        check_bench(result);
        if (result.trace.machine) bytes = bytes_of(*result.trace.machine);
    }
    return {"timed/recording", 100 * (best[1] / best[0] - 1), "% longer",
            fmt::format("512^3 on V100, traced, with and without the machine's requests; {} MiB of them", bytes >> 20)};
}

// What the verdict on a launch takes beside the launch, without a what-if: of each the best of some runs.
BenchRow verdict_cost() {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = v100();
    constexpr int n = 1 << 16;
    BenchKernel p = bench_gather(n, 32, n / 256);
    run->program = p.program;
    run->config = p.config;
    run->before = std::make_shared<const simt::Memory>(p.memory);
    double launch = 1e300, verdict = 1e300;
    size_t findings = 0;
    for (int round = 0; round < 3; ++round) {
        simt::Memory memory(*run->before);
        const std::clock_t begin = std::clock();
        model::TimedOptions how;
        how.threads = 1;
        run->result = model::launch(run->gpu, *run->program, run->config, memory, how);
        const std::clock_t ran = std::clock();
        check_bench(run->result);
        model::VerdictOptions options;
        options.what_if_none = true;
        findings = model::verdict_of(*run, options).findings.size();
        const std::clock_t told = std::clock();
        launch = std::min(launch, static_cast<double>(ran - begin) / CLOCKS_PER_SEC);
        verdict = std::min(verdict, static_cast<double>(told - ran) / CLOCKS_PER_SEC);
    }
    return {"timed/verdict", 100 * verdict / launch, "% longer",
            fmt::format("strided gather of 65,536 threads on V100, {} findings, no what-ifs", findings)};
}

// The same work on more and more SMs.
BenchRow timed_on(uint32_t sms) {
    return timed(fmt::format("sms/{}", sms), v100(sms), bench_matmul("matmul_nn_f32", 512), false,
                 fmt::format("512^3 on V100 with {} SMs, no trace, 1 core", sms));
}

// One launch by the clock on the wall, on so many threads in turns with one alone, so that both meet the same computer.
// `recorded`: as the app launches, with a trace and the whole machine's requests.
BenchRow timed_on_threads(uint32_t threads, bool recorded) {
    BenchKernel p = bench_matmul("matmul_nn_f32", 512);
    double best[2] = {1e9, 1e9};
    uint64_t instructions = 0;
    int64_t cycles[2] = {};
    for (int run = 0; run < 6; ++run) {
        model::TimedOptions options;
        options.trace = options.machine = recorded;
        options.threads = run % 2 == 0 ? 1 : threads;
        best[run % 2] = std::min(best[run % 2], seconds_of([&] {
                                     const model::TimedResult result =
                                         model::launch(v100(), *p.program, p.config, p.memory, options);
                                     check_bench(result);
                                     instructions = result.warp_instructions;
                                     cycles[run % 2] = result.cycles;
                                 }));
    }
    if (cycles[0] != cycles[1]) throw Failure("threads changed the cycles of a launch");
    return {fmt::format("timed/threads/{}{}", threads, recorded ? "/recorded" : ""),
            static_cast<double>(instructions) / best[1] / 1e6, "M warp instructions/s",
            fmt::format("512^3 on V100, {}; {:.2f} times one thread beside it",
                        recorded ? "its machine recorded" : "no trace", best[0] / best[1])};
}

// On a modelled GPU; the host's training rows are in bench_training.cpp.
BenchRow training_on_v100(int steps, bool functional_only) {
    nn::TrainerOptions options = bench_training_options("mlp", 1, nn::Mode::direct);
    options.device = "sim:v100";
    options.functional = functional_only;
    nn::Trainer trainer(options);
    for (int i = 0; i < std::max(1, steps / 10); ++i) trainer.step();
    const double seconds = seconds_of([&] {
        for (int i = 0; i < steps; ++i) trainer.step();
    });
    return {functional_only ? "train/mlp/sim:v100/functional" : "train/mlp/sim:v100", steps / seconds, "steps/s",
            fmt::format("batch {}, {}, data included", options.batch, nn::model_named("mlp").optimizer)};
}

// Time travel over a run of some ten million cycles: the first visit of a place, then single steps back around it.
std::vector<BenchRow> travel(const std::string& wanted) {
    const auto asked = [&](const std::string& row) { return row.starts_with(wanted) || wanted.starts_with(row); };
    if (!asked("travel/first_visit") && !asked("travel/step_back") && !asked("travel/memory")) return {};
    constexpr int places = 12, steps = 25;
    BenchKernel p = bench_matmul("matmul_nn_f32", 640);
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("teaching:2").value();
    run->program = p.program;
    run->config = p.config;
    run->before = std::make_shared<const simt::Memory>(p.memory);
    model::TimedOptions options;
    options.trace_limit = 200'000;
    options.checkpoint_bytes = model::Replay::default_bytes;
    run->result = model::launch(run->gpu, *p.program, p.config, p.memory, options);
    check_bench(run->result);
    const int64_t cycles = run->result.cycles;
    const uint64_t kept = run->result.checkpoints->bytes();
    model::Replay replay(run);
    double first = 0, worst = 0;
    uint64_t most = 0;
    Rng rng(1);
    for (int i = 0; i < places; ++i) {
        const auto place = steps + static_cast<int64_t>(rng.below(static_cast<uint64_t>(cycles - steps)));
        first = std::max(first, seconds_of([&] { replay.seek(place); }));
        for (int back = 1; back <= steps; ++back) worst = std::max(worst, seconds_of([&] { replay.seek(place - back); }));
        most = std::max(most, replay.checkpoint_bytes());
    }
    const std::string config =
        fmt::format("matmul 640^3 on teaching:2, {} cycles, {} warp instructions", cycles, run->result.warp_instructions);
    std::vector<BenchRow> rows = {
        {"travel/first_visit", first * 1e3, "ms, worst of 12", config},
        {"travel/step_back", worst * 1e3, "ms, worst of 300", "one cycle back where the replay has been; same run"},
        {"travel/memory", static_cast<double>(kept + most) / (1 << 20), "MiB of checkpoints",
         fmt::format("{} left by the run, the rest by the replay; at most 512", run->result.checkpoints->size())}};
    std::erase_if(rows, [&](const BenchRow& row) { return !asked(row.name); });
    return rows;
}

// A planner of its own each time: nothing was measured before.
BenchRow plan_of_16384() {
    const auto begin = std::chrono::steady_clock::now();
    parallel::Planner planner;
    const parallel::PlanResult plan = planner.plan(parallel::request_of(parallel::llama_rows()[1]));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {"plan/16384", took.count(), "s",
            fmt::format("{} on {} GPUs, from nothing", plan.request.shape.name, plan.request.plan.ranks())};
}

BenchRow search_of_500() {
    const auto begin = std::chrono::steady_clock::now();
    parallel::Planner planner;
    parallel::SearchRequest request{.base = parallel::request_of(parallel::llama_rows()[0])};
    request.base.shape = parallel::plan_shape_named("llama3-70b");
    request.base.batch = request.gpus = 1024;
    request.most = 500;
    const parallel::SearchResult found = search_plans(planner, request);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {"plan/search500", took.count(), "s",
            fmt::format("{} plans of 1024 GPUs, the best {:.0f} tokens/s", found.tried,
                        found.best.empty() ? 0.0 : found.best[0].tokens_per_second)};
}

// Bus bandwidth as nccl-tests has it; the wall clock of rank 0 from barrier to barrier.
BenchRow ring_all_reduce_of(int ranks) {
    constexpr int64_t count = 25'000'000;
    constexpr int repetitions = 6;  // the first warms up
    double best = 1e30;
    comm::RunOptions options;
    options.events = 0;
    const comm::GroupResult result = comm::run_in_process(
        ranks, {},
        [&](comm::Communicator& world) {
            std::vector<float> data(count, 0.5f);
            const comm::Buffer buffer{data.data(), count, DType::f32};
            for (int i = 0; i < repetitions; ++i) {
                world.barrier();
                const auto begin = std::chrono::steady_clock::now();
                world.all_reduce(buffer);
                world.barrier();
                const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
                if (i > 0 && world.rank() == 0) best = std::min(best, took);
            }
        },
        options);
    if (!result.problem().empty()) throw Failure(result.problem());
    return {fmt::format("comm/ring_all_reduce/{}", ranks),
            static_cast<double>(count) * 4 / best / 1e9 * 2 * (ranks - 1) / ranks, "GB/s of bus bandwidth",
            fmt::format("100 MB of f32 over {} ranks in one process", ranks)};
}

nlohmann::ordered_json json_of(const BenchRow& row) {
    nlohmann::ordered_json json{
        {"name", row.name}, {"value", json_number(row.value)}, {"unit", row.unit}, {"config", row.config}};
    if (row.slices == 0) return json;
    json["badge"] = "measured";
    json["clock"] = row.clock;
    json["slices"] = row.slices;
    json["lowest"] = json_number(row.lowest);
    json["highest"] = json_number(row.highest);
    if (row.wall > 0) json["wall"] = json_number(row.wall);
    return json;
}

struct Bench {
    std::string name;
    std::function<BenchRow()> run;
};

std::vector<Bench> benches() {
    return {
        {"timed/v100/tiled_matmul",
         [] {
             return timed("v100/tiled_matmul", v100(), bench_matmul("matmul_nn_f32", 512), false, "512^3, no trace, 1 core");
         }},
        {"timed/v100/tiled_matmul_traced",
         [] {
             return timed("v100/tiled_matmul_traced", v100(), bench_matmul("matmul_nn_f32", 512), true,
                          "512^3, trace of one SM, 1 core");
         }},
        {"timed/v100/vector_add",
         [] { return timed("v100/vector_add", v100(), vector_add(1 << 22), false, "n = 4,194,304, no trace, 1 core"); }},
        {"timed/v100/vector_add_traced",
         [] {
             return timed("v100/vector_add_traced", v100(), vector_add(1 << 22), true,
                          "n = 4,194,304, trace of one SM, 1 core");
         }},
        {"timed/recording", recording},
        {"timed/verdict", verdict_cost},
        {"timed/sms/1", [] { return timed_on(1); }},
        {"timed/sms/8", [] { return timed_on(8); }},
        {"timed/sms/32", [] { return timed_on(32); }},
        {"timed/sms/80", [] { return timed_on(80); }},
        {"timed/sms/132", [] { return timed_on(132); }},
        {"timed/threads/2", [] { return timed_on_threads(2, false); }},
        {"timed/threads/2/recorded", [] { return timed_on_threads(2, true); }},
        {"plan/16384", plan_of_16384},
        {"plan/search500", search_of_500},
        {"comm/ring_all_reduce/8", [] { return ring_all_reduce_of(8); }},
        {"train/mlp/sim:v100", [] { return training_on_v100(3, false); }},
        {"train/mlp/sim:v100/functional", [] { return training_on_v100(20, true); }},
    };
}

}  // namespace

void add_bench(const Command& app, int& status, const Hooks& hooks) {
    const Command command = app.add_subcommand("bench", "measure rates: machine, timing model, training, app");
    struct Options {
        std::string name, json;
    };
    auto options = std::make_shared<Options>();
    command.add_option("NAME", options->name, "rows whose name begins so; default: all");
    command.add_option("--json", options->json, "write the rows as JSON; '-' for stdout");
    command.callback([options, hooks, &status] {
        LongWork work("bench", LongWork::Interrupt::held);
        work.keep_looking();
        std::vector<BenchRow> rows;
        const bool quiet = options->json == "-";
        auto add = [&](BenchRow row) {
            if (!quiet) fmt::print("{:<32} {:>10.2f}  {:<22} {}\n", row.name, row.value, row.unit, row.config);
            std::fflush(stdout);
            rows.push_back(std::move(row));
            throw_if_stopped(work.token());
        };
        try {
            for (BenchRow& row : functional_bench(options->name)) add(std::move(row));
            for (const Bench& bench : benches())
                if (bench.name.rfind(options->name, 0) == 0) add(bench.run());
            sample_bench(options->name, add);
            program_bench(options->name, add);
            training_bench(options->name, add);
            for (BenchRow& row : torch_bench(options->name)) add(std::move(row));
            for (BenchRow& row : training_leads(rows)) add(std::move(row));
            for (BenchRow& row : travel(options->name)) add(std::move(row));
            if (hooks.app_bench)
                for (BenchRow& row : hooks.app_bench(options->name)) add(std::move(row));
        } catch (const Cancelled&) {
            tell("stopped by Ctrl-C after {} row{}\n", rows.size(), rows.size() == 1 ? "" : "s");
            status = interrupted_status;
        }
        if (rows.empty()) {
            std::string known = "functional/...";
            for (const Bench& bench : benches()) known += ", " + bench.name;
            known += ", sample/..., program/..., train/MODEL/..., travel/...";
            throw Failure(fmt::format("no bench begins with '{}'; there are {}, app/...", options->name, known));
        }
        if (options->json.empty()) return;
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const BenchRow& row : rows) json.push_back(json_of(row));
        write_json(json, options->json);
    });
}

}  // namespace lockstep::cli
