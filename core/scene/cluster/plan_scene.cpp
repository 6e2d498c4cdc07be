// Plans in a scene: what a training step would take on a machine of any size (core/parallel/plan/planner.h). All derived.
//
//   HEAD:     the model (llama3-405b, megatron-1.7b ...); "state" plans nothing and counts the bytes of weights, gradients
//   and
//             optimiser of parameters=N over dp ranks at zero=0..3 alone; gradients=f16|f32; saved=1: of these what a
//             checkpoint holds; gpu=, where it says one, the board that they are held against
//   settings: dp tp pp cp zero schedule chunks recompute=none|selective|full sequence_parallel=1
//             context=ring|balanced_ring|all_to_all bucket_bytes offload=1; gpu (h100) link gpus_per_node sequence batch
//             microbatch; tokens (of a whole run, in 1e9) pue price_per_kwh
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

using parallel::PlanMemory;
using parallel::PlanResult;

constexpr Figure<parallel::ParallelPlan> split_rows[] = {
    {"dp", "", "Data parallel ranks.", [](const auto& p) { return p.dp; }},
    {"tp", "", "Tensor parallel ranks.", [](const auto& p) { return p.tp; }},
    {"pp", "", "Pipeline stages.", [](const auto& p) { return p.pp; }},
    {"cp", "", "Context parallel ranks.", [](const auto& p) { return p.cp; }},
    {"zero", "", "The stage of ZeRO.", [](const auto& p) { return p.zero; }},
    {"recomputes", "", "1 where activations are computed again, else 0.",
     [](const auto& p) { return p.recompute != parallel::Recompute::none; }},
    {"gpus", "", "Of the whole machine.", [](const auto& p) { return p.ranks(); }},
};

constexpr Figure<PlanMemory> memory_rows[] = {
    {"weights", "B", "Of the fullest GPU.", [](const auto& m) { return m.weights; }},
    {"gradients", "B", "Of the fullest GPU.", [](const auto& m) { return m.gradients; }},
    {"optimizer", "B", "Of the fullest GPU.", [](const auto& m) { return m.optimizer; }},
    {"activations", "B", "Of the fullest GPU.", [](const auto& m) { return m.activations; }},
    {"buffers", "B", "Of the fullest GPU.", [](const auto& m) { return m.buffers; }},
    {"memory", "B", "Of the fullest GPU: all of these.", [](const auto& m) { return m.total(); }},
};

double share(const PlanResult& result, double us) {
    return result.time.total() > 0 ? us / result.time.total() : 0;
}

constexpr Figure<PlanResult> plan_rows[] = {
    {"share.compute", "", "Of the step: forward and backward.",
     [](const auto& r) { return share(r, r.time.forward + r.time.backward); }},
    {"share.forward", "", "Of the step.", [](const auto& r) { return share(r, r.time.forward); }},
    {"share.backward", "", "Of the step.", [](const auto& r) { return share(r, r.time.backward); }},
    {"share.recompute", "", "Of the step.", [](const auto& r) { return share(r, r.time.recompute); }},
    {"share.tensor", "", "Of the step: waits of tensor parallelism.", [](const auto& r) { return share(r, r.time.tensor); }},
    {"share.context", "", "Of the step: waits of context parallelism.",
     [](const auto& r) { return share(r, r.time.context); }},
    {"share.data", "", "Of the step: waits of data parallelism.", [](const auto& r) { return share(r, r.time.data); }},
    {"share.update", "", "Of the step: the optimiser.", [](const auto& r) { return share(r, r.time.update); }},
    {"share.bubble", "", "Of the step: waits in the pipeline.", [](const auto& r) { return share(r, r.time.bubble); }},
    {"tflops", "TFLOP/s", "Of a GPU, as the model needs them.", [](const auto& r) { return r.tflops; }},
    {"executed_tflops", "TFLOP/s", "Of a GPU, with what is computed again.",
     [](const auto& r) { return r.executed_tflops; }},
    {"mfu", "", "tflops over the GPU's peak.", [](const auto& r) { return r.mfu; }},
    {"tokens", "", "Of a step.", [](const auto& r) { return r.tokens; }},
    {"tokens_per_second", "1/s", "Of the whole machine.", [](const auto& r) { return r.tokens_per_second; }},
    {"step_us", "us", "Of a step.", [](const auto& r) { return r.step_us; }},
    {"bubble_of_total", "", "Idle time of all ranks in the pipeline's schedule.",
     [](const auto& r) { return r.bubble_of_total; }},
    {"fits", "", "1 where it fits in the GPU's memory, else 0.", [](const auto& r) { return r.fits; }},
    {"capacity", "B", "Of the board.", [](const auto& r) { return parallel::memory_bytes(r.request.gpu); }},
    {"parameters", "", "Of the whole model.", [](const auto& r) { return r.parameters; }},
    {"parameters_here", "", "Of the fullest GPU, before ZeRO.", [](const auto& r) { return r.parameters_here; }},
    {"microbatches", "", "Of a rank's batch.", [](const auto& r) { return r.request.plan.microbatches; }},
    {"link_gigabytes", "GB/s", "Between nodes.", [](const auto& r) { return r.request.machine.between.gigabytes_per_s; }},
    {"gpus_per_node", "", "Of the machine.", [](const auto& r) { return r.request.machine.gpus_per_node; }},
    {"batch", "", "Sequences of a step.", [](const auto& r) { return r.request.batch; }},
    {"sequence", "", "Tokens of a sequence.", [](const auto& r) { return r.request.sequence; }},
    {"watts", "W", "Of a GPU.", [](const auto& r) { return r.power.watts; }},
    {"megawatts", "MW", "Of the whole machine.", [](const auto& r) { return r.power.megawatts; }},
    {"kwh", "kWh", "Of a step.", [](const auto& r) { return r.power.kwh; }},
    {"tokens_per_kwh", "1/kWh", "Of the training.", [](const auto& r) { return r.power.tokens_per_kwh; }},
    {"run_days", "days", "Of a whole run: needs tokens=.", [](const auto& r) { return r.power.run_hours / 24; }},
    {"run_gpu_hours", "h", "Of a whole run.", [](const auto& r) { return r.power.run_gpu_hours; }},
    {"run_mwh", "MWh", "Of a whole run.", [](const auto& r) { return r.power.run_mwh; }},
    {"run_electricity", "", "What the energy of a whole run costs.", [](const auto& r) { return r.power.run_electricity; }},
    {"run_rent", "", "What the GPUs of a whole run cost.", [](const auto& r) { return r.power.run_rent; }},
};

constexpr FigureText axis_rows[] = {
    {"bytes", "B", "That a GPU sends along an axis in a step.", "axis"},
    {"us", "us", "That this takes.", "axis"},
    {"exposed_us", "us", "Of that, what nothing hides.", "axis"},
};

}  // namespace

std::vector<FigureText> plan_row_figures() {
    std::vector<FigureText> all = texts_of(plan_rows);
    for (const auto& more : {texts_of(split_rows), texts_of(memory_rows), texts_of(axis_rows)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

ParallelRow run_plan_row(ParallelText& row, const ParallelSceneOptions&) {
    ParallelRow made;
    made.title = row.head;
    auto& f = made.figures;
    const parallel::ParallelPlan plan = parallel_plan_of(row, 1'000'000);
    made.split = plan;
    leave_figures<parallel::ParallelPlan>(split_rows, plan, f);
    if (row.head == "state") {
        const double parameters = row.real("parameters", 7.5e9, 1, 1e13);
        const bool saved = row.whole("saved", 0, 0, 1) != 0;
        const std::string type = row.word("gradients", "f16");
        if (type != "f16" && type != "f32") throw Failure(fmt::format("gradients= is f16 or f32, not '{}'", type));
        const std::string board = row.word("gpu", "");
        row.done();
        PlanMemory memory =
            parallel::state_memory(parameters, plan.zero, plan.dp, DType::f16, type == "f32" ? DType::f32 : DType::f16);
        if (saved) memory.gradients = 0;  // each step makes them anew
        leave_figures<PlanMemory>(memory_rows, memory, f);
        f["parameters"] = parameters;
        if (!board.empty()) {
            const Result<model::GpuSpec> spec = model::gpu_named(board);
            if (!spec) throw Failure(spec.error());
            f["capacity"] = parallel::memory_bytes(spec.value());
        }
        return made;
    }
    parallel::PlanRequest request;
    request.shape = parallel::plan_shape_named(row.head);
    request.plan = plan;
    const std::string gpu = row.word("gpu", "h100");
    Result<model::GpuSpec> spec = model::gpu_named(gpu);
    if (!spec) throw Failure(spec.error());
    request.gpu = std::move(spec).value();
    request.machine =
        parallel::machine_of(request.gpu, row.word("link", ""), static_cast<int>(row.whole("gpus_per_node", 8, 1, 1024)));
    request.sequence = row.whole("sequence", request.sequence, 1, 1 << 24);
    request.batch = row.whole("batch", request.batch, 1, 1 << 24);
    request.microbatch = row.whole("microbatch", 1, 1, 4096);
    request.power.tokens = 1e9 * row.real("tokens", 0, 0, 1e9);
    request.power.pue = row.real("pue", request.power.pue, 1, 10);
    request.power.price_per_kwh = row.real("price_per_kwh", request.power.price_per_kwh, 0, 100);
    row.done();
    const auto planned = std::make_shared<const PlanResult>(parallel::plan_step(request));
    const PlanResult& result = *planned;
    made.plan = planned;
    leave_figures<PlanMemory>(memory_rows, result.memory, f);
    leave_figures<PlanResult>(plan_rows, result, f);
    for (const parallel::PlanAxis& axis : result.axes) {
        f["bytes@axis:" + axis.name] = axis.bytes;
        f["us@axis:" + axis.name] = axis.us;
        f["exposed_us@axis:" + axis.name] = axis.exposed_us;
    }
    return made;
}

}  // namespace lockstep::scene
