// The figures that a run answers by name: what `of=` and `check=` of a lesson ask for. Which there are stands in tables, one
// row a figure (figure_row.h), a table a kind:
//
//   of a kernel's run:    kernel_figures.cpp, and any metric of core/model, of the launch or of a source line: cycles,
//                         sectors_per_request@line:7; time_us@gpu:a100 of a scene with gpus=; gpu.sms of its GPU
//   of a host program:    host/host_figures.cpp, and elements of its outputs: y[3]
//   of a tensor program:  tape/tape_figures.cpp, and its own names: z, d.x[1]@step:3, hessian.x.y; those of a training step
//   of training:          training/training_figures.cpp, also @curve:NAME and @row:NAME; those of its last step
//   of a training step:   step_figures.cpp, and one launch's metrics: cycles@launch:LABEL
//   of many ranks:        those of the row's kind (cluster/schedule_scene.cpp ...), the first row's or with @row:NAME
//   of no scene:          gpu.sms@gpu:jetson-nano (model::figures_of), model.parameters@model:llama3_8b
#pragma once
#include "core/base/array.h"
#include "core/nn/train/step_record.h"
#include "core/scene/figures/figure_row.h"
#include "core/scene/run.h"

namespace lockstep::scene {

Result<double> figure_of(const SceneResult& result, const FigureName& name);
Result<double> figure_of(const KernelResult& result, const FigureName& name);
Result<double> figure_of(const HostRun& run, const FigureName& name);
Result<double> figure_of(const TapeRun& run, const FigureName& name);
Result<double> figure_of(const TrainingRuns& training, const FigureName& name);
Result<double> figure_of(const ParallelScene& scene, const FigureName& name);
Result<double> figure_of(const nn::StepRecord& step, const FigureName& name);
// "gpu.sms@gpu:a100", "model.layers@model:llama3_8b"; nothing for any other figure.
std::optional<Result<double>> figure_without_scene(const FigureName& name);
std::optional<Result<double>> figure_of_named_model(const FigureName& name);
Result<double> gpu_figure(const model::GpuSpec& gpu, std::string_view name);  // "sms"

struct FigureKind {
    std::string_view name;  // "kernel", "host", "tape", "training", "cheaper", "step", "model", or a kind of many ranks
    std::vector<FigureText> rows;
};
const std::vector<FigureKind>& figure_kinds();

// The rows of a kind.
std::vector<FigureText> kernel_figures();
std::vector<FigureText> host_figures();
std::vector<FigureText> tape_figures();
std::vector<FigureText> training_figures();
std::vector<FigureText> cheaper_figures();
std::vector<FigureText> step_figures();
std::vector<FigureText> model_figures();

// Element i as a number, whatever the type.
double element_of(const Array& array, size_t i);

}  // namespace lockstep::scene
