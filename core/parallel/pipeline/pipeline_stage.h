// One micro-batch's way through one stage: its tape, forward, and backward in one piece or two, each op's derived time added
// to the rank's compute clock. Gradients of parameters are handed over as soon as they are complete, so that they need not
// wait for the end of the walk.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel/pipeline/pipeline.h"

namespace lockstep::parallel {

struct StagePass {
    int stage = 0, microbatch = 0;
    std::unique_ptr<tensor::Tape> tape;
    tensor::Tensor kept_input;  // with keep_inputs_only: forward runs again from it
    int input = -1, root = -1;  // nodes: of what arrived (of the first stage: -1), of what leaves
    struct Leaf {
        size_t parameter = 0;  // of model.list
        int node = -1;
        int first_use = 0;  // the lowest node that it goes into: with that node's backward its gradient is complete
    };
    std::vector<Leaf> leaves;  // highest first_use first
    size_t taken = 0;          // of leaves
};

// Runs the stage's blocks on `x` (null: the first stage) and returns what leaves: contiguous, or the loss. `record`: for a
// backward to come.
tensor::Tensor forward_stage(const PipelineJob& job, StagePass& pass, const tensor::Tensor& x, const MicroBatch& batch,
                             bool record);

// Throws Failure: a schedule with problems_of(), ranks or stages that do not fit.
void check_pipeline_job(const PipelineJob& job);

// `seed`: the gradient of what left; null: 1. `take(parameter, gradient)`: once for every parameter used, in the part that
// makes weights' gradients; null where none reached it. Returns the gradient of what arrived (of the first stage: null).
tensor::Tensor backward_stage(const PipelineJob& job, StagePass& pass, const tensor::Tensor& seed, BackwardPart part,
                              const std::function<void(size_t parameter, tensor::Tensor gradient)>& take);

// A tensor of another's values and its own memory.
tensor::Tensor copy_of_tensor(tensor::Tape& tape, const tensor::Tensor& from, std::string_view name,
                              tensor::Purpose purpose);

}  // namespace lockstep::parallel
