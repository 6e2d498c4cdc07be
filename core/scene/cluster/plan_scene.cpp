// Plans in a scene: what a training step would take on a machine of any size (core/parallel/plan/planner.h). All derived.
//
//   HEAD:     the model (llama3-405b, megatron-1.7b ...); "state" plans nothing and counts the bytes of weights, gradients
//   and
//             optimiser of parameters=N over dp ranks at zero=0..3 alone
//   settings: dp tp pp cp zero schedule chunks recompute=none|selective|full sequence_parallel=1
//             context=ring|balanced_ring|all_to_all bucket_bytes offload=1; gpu (h100) link gpus_per_node sequence batch
//             microbatch; tokens (of a whole run, in 1e9) pue price_per_kwh
//   figures:  gpus, tflops (a GPU), mfu, tokens_per_second, step_us, tokens, bubble_of_total, fits; shares of the step:
//             compute (forward and backward), recompute, tensor, context, data, update, bubble (each as share.NAME); bytes
//             of the fullest GPU: weights, gradients, optimizer, activations, buffers, memory; capacity (bytes of the
//             board); bytes@axis:tp, parameters, microbatches, recomputes, link_gigabytes (between nodes), gpus_per_node,
//             watts, megawatts, kwh, tokens_per_kwh, run_days, run_gpu_hours, run_mwh, run_electricity, run_rent
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

void note_memory(std::map<std::string, double>& f, const parallel::PlanMemory& memory) {
    f["weights"] = memory.weights;
    f["gradients"] = memory.gradients;
    f["optimizer"] = memory.optimizer;
    f["activations"] = memory.activations;
    f["buffers"] = memory.buffers;
    f["memory"] = memory.total();
}

}  // namespace

ParallelRow run_plan_row(ParallelText& row, const ParallelSceneOptions&) {
    ParallelRow made;
    made.title = row.head;
    auto& f = made.figures;
    parallel::ParallelPlan plan = parallel_plan_of(row, 1'000'000);
    f["dp"] = plan.dp;
    f["tp"] = plan.tp;
    f["pp"] = plan.pp;
    f["cp"] = plan.cp;
    f["zero"] = plan.zero;
    f["recomputes"] = plan.recompute != parallel::Recompute::none;
    f["gpus"] = plan.ranks();
    if (row.head == "state") {
        const double parameters = row.real("parameters", 7.5e9, 1, 1e13);
        row.done();
        note_memory(f, parallel::state_memory(parameters, plan.zero, plan.dp, DType::f16, DType::f16));
        f["parameters"] = parameters;
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
    const parallel::PlanResult result = parallel::plan_step(request);
    note_memory(f, result.memory);
    const double step = result.time.total();
    const auto share = [&](const char* name, double us) { f[std::string("share.") + name] = step > 0 ? us / step : 0; };
    share("compute", result.time.forward + result.time.backward);
    share("forward", result.time.forward);
    share("backward", result.time.backward);
    share("recompute", result.time.recompute);
    share("tensor", result.time.tensor);
    share("context", result.time.context);
    share("data", result.time.data);
    share("update", result.time.update);
    share("bubble", result.time.bubble);
    for (const parallel::PlanAxis& axis : result.axes) {
        f["bytes@axis:" + axis.name] = axis.bytes;
        f["us@axis:" + axis.name] = axis.us;
        f["exposed_us@axis:" + axis.name] = axis.exposed_us;
    }
    f["tflops"] = result.tflops;
    f["executed_tflops"] = result.executed_tflops;
    f["mfu"] = result.mfu;
    f["tokens"] = result.tokens;
    f["tokens_per_second"] = result.tokens_per_second;
    f["step_us"] = result.step_us;
    f["bubble_of_total"] = result.bubble_of_total;
    f["fits"] = result.fits;
    f["capacity"] = parallel::memory_bytes(request.gpu);
    f["parameters"] = result.parameters;
    f["parameters_here"] = result.parameters_here;
    f["microbatches"] = result.request.plan.microbatches;
    f["link_gigabytes"] = request.machine.between.gigabytes_per_s;
    f["gpus_per_node"] = request.machine.gpus_per_node;
    f["batch"] = static_cast<double>(request.batch);
    f["sequence"] = static_cast<double>(request.sequence);
    f["watts"] = result.power.watts;
    f["megawatts"] = result.power.megawatts;
    f["kwh"] = result.power.kwh;
    f["tokens_per_kwh"] = result.power.tokens_per_kwh;
    f["run_days"] = result.power.run_hours / 24;
    f["run_gpu_hours"] = result.power.run_gpu_hours;
    f["run_mwh"] = result.power.run_mwh;
    f["run_electricity"] = result.power.run_electricity;
    f["run_rent"] = result.power.run_rent;
    return made;
}

}  // namespace lockstep::scene
