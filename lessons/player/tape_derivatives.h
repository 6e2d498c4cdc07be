// What a tensor program's run begins with, and its derivatives beside the run: gradcheck and Hessians, in double. Internal
// to lessons/player.
#pragma once
#include "lessons/player/tape_functions.h"

namespace lockstep::lessons {

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

}  // namespace lockstep::lessons
