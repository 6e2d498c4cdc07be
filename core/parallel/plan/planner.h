// What a training step would take on a machine of any size, without the machine: the training program of models.h runs on
// the `meta` device, one block of each kind on one rank, the others being folded into it by symmetry; its ops are timed by
// op_time.h, its messages by planner_network.h, the blocks put together by the pipeline's schedule. Nothing here is
// measured: every figure is derived, from the shapes, a GPU's row, links and the four numbers of Efficiencies.
//
//     PlanResult result = plan_step({.shape = shape_named("llama3-405b"), .plan = {.dp = 64, .tp = 8, .pp = 16},
//                                    .gpu = gpu, .machine = machine_of(gpu), .sequence = 8192, .batch = 2048});
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/blocks/model.h"
#include "core/parallel/pipeline/schedule.h"
#include "core/parallel/plan/energy.h"
#include "core/parallel/plan/op_time.h"
#include "core/parallel/plan/planner_network.h"

namespace lockstep::parallel {

struct PlanRequest {
    ModelShape shape;
    ParallelPlan plan;  // microbatches follows from the batch
    model::GpuSpec gpu;
    Machine machine;
    int64_t sequence = 2048, batch = 512;  // tokens a sequence; sequences a step, of all ranks together
    int64_t microbatch = 1;                // sequences
    DType compute = DType::bf16;           // weights, activations and what travels in products; Adam keeps f32 beside it
    DType gradients = DType::f32;          // as they are added up and reduced
    Efficiencies efficiencies = {};
    PowerOptions power = {};
};

// The model's name as `--model` takes it: those of shape_named(), and the rows of Megatron-LM's table, "megatron-1.7b" ...
ModelShape plan_shape_named(const std::string& name);  // throws Failure with the nearest name

// ZeRO-2 and 3 reduce gradients as the training program does (buckets.h): for every micro-batch, and keep a bucket of whole
// ones; in a pipeline whose ranks hold several stages for every run of micro-batches through one, and keep two stages' whole
// ones, which are added up and which are on their way. ZeRO-3 gathers weights for every forward and backward.
struct PlanMemory {  // bytes of the fullest GPU
    double weights = 0, gradients = 0, optimizer = 0, activations = 0, buffers = 0;
    double total() const { return weights + gradients + optimizer + activations + buffers; }
};
struct PlanTime {  // microseconds of a step, of the busiest pipeline rank; they add up to total
    double forward = 0, backward = 0, recompute = 0;       // arithmetic and memory
    double tensor = 0, context = 0, data = 0, update = 0;  // communication that nothing hides, by axis; the optimiser
    double bubble = 0;                                     // waits in the pipeline, its messages too
    double total() const { return forward + backward + recompute + tensor + context + data + update + bubble; }
};
struct PlanAxis {  // communication along one axis of the mesh, a GPU and step
    std::string name;
    double bytes = 0, us = 0, exposed_us = 0;
};
struct PlanResult {
    PlanRequest request;
    PlanMemory memory;
    PlanTime time;
    std::vector<PlanAxis> axes;  // tp, cp, pp, dp: those longer than 1
    double parameters = 0;       // of the whole model
    double parameters_here = 0;  // of the fullest GPU, before ZeRO
    double step_us = 0, tokens = 0, tokens_per_second = 0;
    // Operations of the products of one step, of all GPUs: as the model needs them (hidden pairs of causal attention left
    // out), and with what is computed again.
    double model_operations = 0, executed_operations = 0;
    double tflops = 0, executed_tflops = 0;  // a GPU
    double mfu = 0;                          // tflops over the peak
    double bubble_of_total = 0;              // of the pipeline's schedule: idle time of all ranks
    Durations durations;                     // that the schedule was played with, in microseconds; pp > 1
    bool fits = false;                       // in the GPU's memory
    StepPower power;
    std::string provenance = "derived";
};

// What one block of a kind costs one rank for one micro-batch.
struct BlockCost {
    double forward_us = 0, backward_us = 0;            // with what communication cannot hide
    double recompute_us = 0;                           // part of backward_us: arithmetic
    double forward_work_us = 0, backward_work_us = 0;  // arithmetic and memory alone, recomputing too
    double input_share = 0.5;                          // of the backward, without recomputing
    double tensor_us = 0, tensor_bytes = 0, context_us = 0, context_bytes = 0, context_exposed_us = 0;
    double saved_bytes = 0, output_bytes = 0, working_bytes = 0;  // kept for backward; passed on; besides, at most
    double later_bytes = 0;                                       // where backward comes in two parts: kept between them
    double parameters = 0;
    double forward_operations = 0, backward_operations = 0;  // of products, as executed
};

struct ModelCost {
    BlockCost tokens, layer, head;
};

// Blocks that were measured already, for searches and for tables: plans share most of theirs.
class Planner {
  public:
    PlanResult plan(const PlanRequest& request);  // throws Failure: why the plan cannot run, and what would
    size_t measured() const { return blocks_.size(); }

  private:
    const ModelCost& cost_of(const PlanRequest& request);
    const std::vector<BlockRange>& cut_of(const PlanRequest& request, int pieces);
    const Schedule& schedule_for(const PlanRequest& request, const Durations& durations, const BlockCost& layer);
    std::map<std::string, ModelCost> blocks_;
    std::map<std::string, Schedule> schedules_;
    std::map<std::string, std::vector<BlockRange>> cuts_;
};
PlanResult plan_step(const PlanRequest& request);

double memory_bytes(const model::GpuSpec& gpu);  // a board's GB are 2^30 bytes
// Bytes of weights, gradients and optimiser a parameter takes on a rank, as allocated on `meta`, in the fullest case.
PlanMemory state_memory(double parameters, int zero, int data_ranks, DType compute, DType gradients);

}  // namespace lockstep::parallel
