// What a tensor program's run begins with, and its derivatives beside the run: gradcheck and Hessians, in double. Internal
// to core/scene.
#pragma once
#include "core/scene/tape/tape_functions.h"

namespace lockstep::scene {

struct TapeStart {
    const TapeText& text;
    OwnOps own;
    std::vector<std::vector<double>> values;  // of every leaf

    TapeStart(const TapeText& of, uint64_t seed);
    tensor::Tensor on(tensor::Heap& heap, size_t leaf, DType dtype) const;
};

// Of the program's assignments down to statement `at`. Throw Failure.
tensor::GradcheckResult gradcheck_at(const TapeStart& start, size_t at, tensor::Heap& heap);
TapeHessian hessian_at(const TapeStart& start, size_t at, tensor::Heap& heap);

}  // namespace lockstep::scene
