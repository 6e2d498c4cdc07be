// How long an op takes on a GPU, derived from its shapes: matrix products by tiles and waves at the GPU row's tensor or FP32
// rate, everything else by the bytes that it moves, each launch with its overhead. What virtual clocks and plans count with.
#pragma once
#include <string>

#include "core/model/gpu_spec.h"
#include "core/tensor/op.h"

namespace lockstep::parallel {

struct OpTime {
    double forward_us = 0, backward_us = 0;
    double backward_input_us = 0;  // the share of backward_us that is the input's gradient; the rest is the weights'
};

class OpTimes {
  public:
    explicit OpTimes(const model::GpuSpec& gpu);
    OpTime of(const tensor::OpRow& op, tensor::Types inputs, const tensor::Attributes& attributes) const;
    double bytes_us(double bytes) const;  // a kernel that only moves so many bytes: an optimiser's update
    const model::GpuSpec& gpu() const { return gpu_; }

  private:
    model::GpuSpec gpu_;
};

}  // namespace lockstep::parallel
