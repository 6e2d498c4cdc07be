// The figures that a scene's run answers by name: what `of=` and `check=` of a lesson ask for.
//
//   any metric of core/model, whole launch or one source line:   cycles, sectors_per_request@line:7, lanes_per_issue@line:13
//   of a kernel scene:    blocks, threads, warps (launched), blocks_on_sms (SMs that ran a block), issues[@line:N] (warp
//                         instructions), active_lanes[@line:N] (thread instructions), load_latency@line:N (median cycles
//                         from the issue of the line's loads until their values may be read, traced SM),
//                         accesses@space:local (loads, stores and atomics issued there: global, shared, local, const),
//                         faults (0 or 1), races (places that racecheck reports: of a scene with expect="racecheck", and of
//                         exercises), output[i] (element i of the first out or inout buffer)
//   of a training scene:  launches, forward_launches, backward_launches, update_launches, matmul_launches, parameters,
//                         flops, forward_flops, backward_flops, batch, loss, cycles, matmul_cycles, saved_bytes,
//                         bytes_moved, dispatch_us (of the host, launching), kernel_us, step_us, peak_bytes, planned_bytes,
//                         queue_nodes, replayed, and one launch's metric: cycles@launch:LABEL
//   of training runs:     those of training_run_figure (training_runs.h): mean_loss, accuracy, steps_to_target ...,
//   @curve:NAME of a tensor program:  those of tape_figure (tape_program.h): z, d.x[1]@step:3, gradcheck.wrong, chain ... of
//   a host program:    those of host_figure (host_program.h): total_us, overlap, speedup, us@line:7, y[3], ... of a GPU's
//   row:       gpu.sms, gpu.warps_per_sm ... (the names of model::figures_of), of the scene's GPU, or of any with
//                         @gpu:NAME: gpu.sms@gpu:jetson-nano, which needs no scene
//   of a named model:     model.parameters@model:llama3_8b (model_figures.h), which needs no scene
//   of a scene with gpus=: a metric of the launch on one of them, time_us@gpu:a100
//   of many ranks:        those that its kind leaves (parallel_scene.h): bubble_of_total@row:zb_h1, peak_activations@rank:0
//   of another scene:     any of these with @scene:ID
#pragma once
#include "core/scene/run.h"

namespace lockstep::scene {

// Element i as a number, whatever the type.
double element_of(const Array& array, size_t i);

// One figure of one scene's run.
Result<double> figure_of(const SceneResult& result, const std::string& name);

// "gpu.sms@gpu:a100"; nothing for any other figure, or one without @gpu.
std::optional<Result<double>> figure_of_named_gpu(const std::string& full);

}  // namespace lockstep::scene
