// `lockstep plan`: a training step on a machine of any size, derived; and with --search the best ways to split it. See
// core/parallel/plan/planner.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/train/train_parallel.h"
#include "core/base/dtype.h"
#include "core/base/tell.h"
#include "core/base/units.h"
#include "core/parallel/plan/search.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {

using parallel::ParallelPlan;
using parallel::PlanRequest;
using parallel::PlanResult;

// Of all options of plans: the others are the training run's.
constexpr std::string_view of_plans[] = {"dp", "tp", "pp", "cp", "zero", "chunks", "cut", "recompute", "offload"};

struct PlanOptions {
    parallel::ParallelPlan plan = {.context = parallel::Context::balanced_ring};
    std::string model, gpu, context = "balanced", link, json, dtype;
    int gpus = 0, gpus_per_node = 8;
    int64_t sequence = 0, batch = 0, microbatch = 1;
    bool whole_sequences = false, search = false;
    double memory_limit = 0;
    size_t most = 2000;
    parallel::PowerOptions power;
};

PlanRequest plan_request_of(const PlanOptions& o, const std::string& link) {
    const model::GpuSpec gpu = model::gpu_named(o.gpu).value();
    PlanRequest request{.shape = parallel::plan_shape_named(o.model),
                        .plan = o.plan,
                        .gpu = gpu,
                        .machine = parallel::machine_of(gpu, link, o.gpus_per_node)};
    ParallelPlan& plan = request.plan;
    parallel::schedule_named(plan.schedule);
    if (o.gpus_per_node < 1)
        throw Failure(fmt::format("--gpus-per-node {} makes no ranks: 1 is the smallest", o.gpus_per_node));
    const int64_t inside = int64_t{plan.tp} * plan.cp, outside = int64_t{plan.pp} * plan.dp;
    if (inside > 1 << 20 || outside > 1 << 20 || inside * outside > 1 << 20)
        throw Failure("a plan is for at most 1,048,576 GPUs");
    constexpr std::string_view contexts[] = {"ring", "balanced", "all_to_all"};  // in the order of parallel::Context
    plan.context = parallel::Context(parallel::place_of_name("--context", contexts, o.context));
    if (!plan.cut.empty() && plan.pp == 1)
        throw Failure("--cut moves blocks between the stages of a pipeline: --pp 2 makes two of them");
    request.sequence = o.sequence > 0 ? o.sequence : request.shape.context;
    request.batch = o.batch;
    request.microbatch = o.microbatch;
    plan.sequence_parallel =
        plan.tp > 1 &&
        (plan.sequence_parallel || (!o.whole_sequences && request.shape.kind == parallel::ModelShape::Kind::llama));
    const bool halves = gpu.compute.number < 80;  // no bf16 before Ampere
    constexpr std::string_view types[] = {"bf16", "f16", "f32"};
    request.compute = o.dtype.empty() ? (halves ? DType::f16 : DType::bf16)
                                      : *dtype_named(types[parallel::place_of_name("--dtype", types, o.dtype)]);
    request.power = o.power;
    return request;
}

std::string whole(double number) {
    return with_commas(std::llround(number));
}
std::string bytes_text(double bytes) {
    return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes * 1e-9) : fmt::format("{:.1f} MB", bytes * 1e-6);
}
std::string time_of(double us) {
    return time_text(us, {.decimals = us >= 1e6 ? 3 : 2, .milli_from = 0});
}

void print_plan(const PlanResult& r) {
    const PlanRequest& q = r.request;
    fmt::print("{} ({:.2f} billion parameters) on {} x {}\n", q.shape.name, r.parameters * 1e-9, whole(q.plan.ranks()),
               q.gpu.title);
    fmt::print("  {}{}\n", text_of(q.plan, q.microbatch), q.plan.sequence_parallel ? ", sequence parallel" : "");
    fmt::print("  {} sequences of {} tokens a step: {} micro-batches a pipeline; {} between nodes of {} GPUs\n\n",
               whole(double(q.batch)), whole(double(q.sequence)), q.plan.microbatches, q.machine.between.title,
               q.machine.gpus_per_node);
    fmt::print("a step {:>24}   {} tokens a second\n", time_of(r.step_us), whole(r.tokens_per_second));
    const auto phase = [&](const char* name, double us, const char* what) {
        if (std::abs(us) > 1e-3 * r.step_us)
            fmt::print("  {:<18} {:>10} {:>5.1f} %  {}\n", name, time_of(us), 100 * us / r.step_us, what);
    };
    phase("forward", r.time.forward, "of the busiest pipeline rank");
    phase("backward", r.time.backward, "");
    phase("recomputing", r.time.recompute, "activations once more, for backward");
    phase("tensor parallel", r.time.tensor, "communication that nothing hides");
    phase("context parallel", r.time.context, "likewise");
    phase("data parallel", r.time.data, "gradients and weights: what backward and forward do not hide");
    phase("update", r.time.update, "the optimiser");
    phase("bubble", r.time.bubble, "waits in the pipeline");
    if (q.plan.pp > 1) fmt::print("  the schedule alone: {:.1f} % of its time is bubble\n", 100 * r.bubble_of_total);
    fmt::print("\nmemory of the fullest GPU {:>8.2f} of {:.1f} GB{}\n", r.memory.total() * 1e-9,
               parallel::memory_bytes(q.gpu) * 1e-9, r.fits ? "" : ": IT DOES NOT FIT");
    for (const auto& [name, bytes] : {std::pair{"weights", r.memory.weights},
                                      {"gradients", r.memory.gradients},
                                      {"optimiser", r.memory.optimizer},
                                      {"activations", r.memory.activations},
                                      {"buffers", r.memory.buffers}})
        fmt::print("  {:<18} {:>12}\n", name, bytes_text(bytes));
    if (q.plan.pp > 1 && parallel::schedule_named(q.plan.schedule).copies > 1)
        fmt::print("  {} holds every stage on two ranks: weights, gradients and optimiser count twice\n", q.plan.schedule);
    if (!r.axes.empty()) fmt::print("\ncommunication, a GPU and step   sent        takes       exposed\n");
    for (const parallel::PlanAxis& axis : r.axes)
        fmt::print("  {:<18} {:>17} {:>12} {:>12}\n", axis.name, bytes_text(axis.bytes), time_of(axis.us),
                   axis.name == "pp" ? "in bubble" : time_of(axis.exposed_us));
    fmt::print("\nTFLOP/s a GPU {:>10.1f}   as the model needs them: {:.1f} % of the peak (MFU)\n", r.tflops, 100 * r.mfu);
    fmt::print("TFLOP/s a GPU {:>10.1f}   as executed, hidden pairs and recomputing too\n", r.executed_tflops);
    const parallel::StepPower& power = r.power;
    const parallel::BoardPower board = parallel::board_power(q.gpu);
    fmt::print("\npower {:>10.2f} MW   {:.0f} W a GPU: {:.0f} of the board, {:.1f} of its server, times PUE {:.2f}\n",
               power.megawatts, power.watts, board.watts, board.node_watts, q.power.pue);
    fmt::print("energy {:>9.2f} kWh a step, {:.2f} at {:.2f} a kWh; {} tokens a kWh\n", power.kwh, power.cost,
               q.power.price_per_kwh, whole(power.tokens_per_kwh));
    if (power.run_hours > 0)
        fmt::print(
            "a run of {:.3g} tokens: {:.1f} days, {:.2f} million GPU hours, {:.0f} MWh; electricity {:.2f} million, GPUs "
            "rented at "
            "{:.2f} an hour {:.1f} million\n",
            q.power.tokens, power.run_hours / 24, power.run_gpu_hours * 1e-6, power.run_mwh, power.run_electricity * 1e-6,
            q.power.price_per_gpu_hour, power.run_rent * 1e-6);
    fmt::print("\nderived, from shapes, the GPU's row, links and {} numbers for all plans (lockstep validate cluster):\n",
               parallel::efficiency_rows().size());
    for (const parallel::EfficiencyRow& row : parallel::efficiency_rows())
        fmt::print("  {:<10} {:>5.2f}  {}\n", row.name, q.efficiencies.*row.value, row.meaning);
}

nlohmann::ordered_json json_of(const parallel::ParallelPlan& plan, int64_t microbatch) {
    return {{"tp", plan.tp},
            {"cp", plan.cp},
            {"pp", plan.pp},
            {"dp", plan.dp},
            {"microbatch", microbatch},
            {"schedule", plan.pp > 1 ? plan.schedule : ""},
            {"chunks", plan.chunks},
            {"zero", plan.zero},
            {"sequence_parallel", plan.sequence_parallel},
            {"recompute", plan.recompute == parallel::Recompute::none   ? "none"
                          : plan.recompute == parallel::Recompute::full ? "full"
                                                                        : "selective"}};
}

nlohmann::ordered_json json_of(const PlanResult& r) {
    const PlanRequest& q = r.request;
    nlohmann::ordered_json json = {{"model", q.shape.name},
                                   {"gpu", q.gpu.name},
                                   {"gpus", q.plan.ranks()},
                                   {"plan", json_of(q.plan, q.microbatch)},
                                   {"microbatches", q.plan.microbatches},
                                   {"sequence", q.sequence},
                                   {"batch", q.batch},
                                   {"link", q.machine.between.name},
                                   {"parameters", json_number(r.parameters)},
                                   {"step_us", json_number(r.step_us)},
                                   {"tokens_per_second", json_number(r.tokens_per_second)},
                                   {"tflops", json_number(r.tflops)},
                                   {"executed_tflops", json_number(r.executed_tflops)},
                                   {"mfu", json_number(r.mfu)},
                                   {"bubble_of_total", json_number(r.bubble_of_total)},
                                   {"fits", r.fits}};
    json["time_us"] = {{"forward", r.time.forward}, {"backward", r.time.backward}, {"recompute", r.time.recompute},
                       {"tensor", r.time.tensor},   {"context", r.time.context},   {"data", r.time.data},
                       {"update", r.time.update},   {"bubble", r.time.bubble}};
    json["memory_bytes"] = {{"weights", r.memory.weights},     {"gradients", r.memory.gradients},
                            {"optimizer", r.memory.optimizer}, {"activations", r.memory.activations},
                            {"buffers", r.memory.buffers},     {"total", r.memory.total()}};
    json["communication"] = nlohmann::ordered_json::array();
    for (const parallel::PlanAxis& axis : r.axes)
        json["communication"].push_back(
            {{"axis", axis.name}, {"bytes", axis.bytes}, {"us", axis.us}, {"exposed_us", axis.exposed_us}});
    json["power"] = {{"megawatts", r.power.megawatts}, {"kwh", r.power.kwh},
                     {"cost", r.power.cost},           {"tokens_per_kwh", r.power.tokens_per_kwh},
                     {"run_hours", r.power.run_hours}, {"run_gpu_hours", r.power.run_gpu_hours},
                     {"run_mwh", r.power.run_mwh},     {"run_electricity", r.power.run_electricity},
                     {"run_rent", r.power.run_rent}};
    for (const parallel::EfficiencyRow& row : parallel::efficiency_rows())
        json["efficiencies"][std::string(row.name)] = q.efficiencies.*row.value;
    json["provenance"] = r.provenance;
    return json;
}

// The same step over each network between nodes, and with all GPUs in one node.
void compare_links(const PlanOptions& o, bool quiet, nlohmann::ordered_json& json) {
    json = nlohmann::ordered_json::array();
    std::vector<std::string> names = {"10gbe", "40gbe", "ib-edr", "ib-hdr", "ib-ndr"};
    if (model::gpu_named(o.gpu).value().nvlink_gb_per_second > 0) names.emplace_back("nvlink");
    parallel::Planner planner;
    if (!quiet)
        fmt::print("{:<30} {:>10} {:>12} {:>14} {:>14} {:>7} {:>12}\n", "between nodes", "a step", "tokens/s",
                   "data exposed", "pipeline waits", "MFU", "kWh a step");
    for (const std::string& name : names) {
        const PlanResult r = planner.plan(plan_request_of(o, name));
        if (!quiet)
            fmt::print("{:<30} {:>10} {:>12} {:>14} {:>14} {:>5.1f} % {:>12.3f}\n", r.request.machine.between.title,
                       time_of(r.step_us), whole(r.tokens_per_second), time_of(r.time.data), time_of(r.time.bubble),
                       100 * r.mfu, r.power.kwh);
        json.push_back(json_of(r));
    }
}

void search_and_print(const PlanOptions& o, bool quiet, nlohmann::ordered_json& json) {
    parallel::SearchRequest request{.base = plan_request_of(o, o.link)};
    request.gpus = o.gpus > 0 ? o.gpus : request.base.plan.ranks();
    if (request.gpus > 1 << 20) throw Failure("a plan is for at most 1,048,576 GPUs");
    request.memory_limit_gb = o.memory_limit;
    request.most = o.most;
    if (system::errors_go_to_a_terminal())
        request.progress = [](size_t tried, size_t of) {
            if (tried % 50 == 0 || tried == of) tell("\r{} of {} plans", tried, of);
            if (tried == of) tell("\n");
        };
    parallel::Planner planner;
    const parallel::SearchResult found = search_plans(planner, request);
    json["tried"] = found.tried;
    json["possible"] = found.possible;
    json["best"] = nlohmann::ordered_json::array();
    for (const PlanResult& r : found.best) json["best"].push_back(json_of(r));
    json["fell_out"] = nlohmann::ordered_json::array();
    for (const parallel::FellOut& fell_out : found.fell_out) {
        json["fell_out"].push_back(json_of(fell_out.plan, fell_out.microbatch));
        json["fell_out"].back()["reason"] = fell_out.reason;
    }
    if (quiet) return;
    const double limit = o.memory_limit > 0 ? o.memory_limit : parallel::memory_bytes(request.base.gpu) * 1e-9;
    fmt::print("{} on {} x {}, {} sequences of {} tokens, {:.1f} GB a GPU: {} plans of {} possible\n\n",
               request.base.shape.name, whole(request.gpus), request.base.gpu.title, whole(double(request.base.batch)),
               whole(double(request.base.sequence)), limit, found.tried, found.possible);
    if (found.best.empty()) fmt::print("none fits\n");
    if (!found.best.empty()) fmt::print("{:>12} {:>8} {:>7} {:>9}  plan\n", "tokens/s", "TFLOP/s", "MFU", "GB");
    for (const PlanResult& r : found.best)
        fmt::print("{:>12} {:>8.1f} {:>5.1f} % {:>9.1f}  {}\n", whole(r.tokens_per_second), r.tflops, 100 * r.mfu,
                   r.memory.total() * 1e-9, text_of(r.request.plan, r.request.microbatch));
    size_t memory = 0, slow = 0, other = 0;
    for (const parallel::FellOut& one : found.fell_out) {
        const bool fits = one.reason.rfind("fits", 0) == 0;
        (fits ? slow : one.reason.find(" GB") != std::string::npos ? memory : other)++;
    }
    fmt::print("\nfell out: {} too large, {} slower, {} that cannot run; the first of each:\n", memory, slow, other);
    int shown[3] = {};
    for (const parallel::FellOut& one : found.fell_out) {
        const bool fits = one.reason.rfind("fits", 0) == 0;
        const int kind = fits ? 1 : one.reason.find(" GB") != std::string::npos ? 0 : 2;
        if (shown[kind]++ < 4) fmt::print("  {}: {}\n", text_of(one.plan, one.microbatch), one.reason);
    }
    fmt::print("(--json lists all)\n");
}

}  // namespace

void add_plan(const Command& app, int&) {
    const Command command = app.add_subcommand("plan", "what a training step would take on a machine of any size; derived");
    auto o = std::make_shared<PlanOptions>();
    command.add_option("--model", o->model, "gpt, llama, llama3-8b, llama3-70b, llama3-405b, megatron-1.7b ... megatron-1t")
        .required();
    command.add_option("--gpu", o->gpu, "GPU, see 'lockstep gpus'").required();
    for (const parallel::PlanOption& row : parallel::plan_options())
        if (std::find(std::begin(of_plans), std::end(of_plans), row.name) != std::end(of_plans))
            add_plan_option(command, o->plan, row);
    command.add_option("--seq", o->sequence, "tokens a sequence; unless said, the model's context").check(not_from_1);
    command.add_option("--batch", o->batch, "sequences a step, of all ranks together").required().check(not_from_1);
    command.add_option("--microbatch", o->microbatch, "sequences a micro-batch").check(not_from_1);
    command.add_option("--schedule", o->plan.schedule, "of the pipeline, see 'lockstep schedule'");
    command.add_option("--context", o->context, "how attention crosses a cut sequence: ring, balanced or all_to_all");
    command.add_flag("--sequence-parallel", o->plan.sequence_parallel,
                     "norms on a part of the sequence a tp rank; llama: unless said");
    command.add_flag("--whole-sequences", o->whole_sequences, "not that");
    command.add_option("--bucket", o->plan.bucket_bytes, "bytes of a bucket of gradients; 0: all at the end of backward")
        .check(not_from_0);
    command.add_option("--dtype", o->dtype, "of weights and activations: bf16, f16 or f32");
    command.add_option("--link", o->link, "between nodes: 10gbe, 40gbe, ib-edr, ib-hdr, ib-ndr or nvlink; all: each");
    command.add_option("--gpus-per-node", o->gpus_per_node, "that NVLink or PCI Express joins");
    command.add_flag("--search", o->search, "look for the best plan for as many GPUs");
    command.add_option("--gpus", o->gpus, "with --search: how many; unless said, tp x cp x pp x dp").check(not_from_1);
    command.add_option("--memory-limit", o->memory_limit, "with --search: GB a GPU").check(number_within(0, 1e9, true));
    command.add_option("--most", o->most, "with --search: plans that are looked at").check(not_from_1);
    command.add_option("--tokens", o->power.tokens, "of a whole training run: time, energy and cost")
        .check(number_within(0, 1e30, true));
    command.add_option("--pue", o->power.pue, "the building's power over the machines'").check(number_within(1, 100));
    command.add_option("--kwh-price", o->power.price_per_kwh, "of a kWh").check(number_within(0, 1e9));
    command.add_option("--gpu-hour", o->power.price_per_gpu_hour, "price of a GPU hour").check(number_within(0, 1e9));
    command.add_option("--json", o->json, "write the plan as JSON; '-' for stdout");
    command.callback([o, command] {
        if (!o->search)
            for (const char* name : {"--gpus", "--memory-limit", "--most"})
                if (command.given(name)) throw Failure(fmt::format("{} is of --search", name));
        if (o->search && !o->plan.cut.empty()) throw Failure("--search cuts every plan by itself: leave --cut out");
        check_can_write(o->json);
        const bool quiet = o->json == "-";
        nlohmann::ordered_json json;
        if (o->search) {
            search_and_print(*o, quiet, json);
        } else if (o->link == "all") {
            compare_links(*o, quiet, json);
        } else {
            const PlanResult result = parallel::plan_step(plan_request_of(*o, o->link));
            if (!quiet) print_plan(result);
            json = json_of(result);
        }
        if (!o->json.empty()) write_json(json, o->json);
    });
}

}  // namespace lockstep::cli
