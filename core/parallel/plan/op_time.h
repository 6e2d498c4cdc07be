// How long an op takes on a GPU, derived from its shapes: matrix products by tiles and waves at the GPU row's tensor or FP32
// rate, everything else by the bytes that it moves, each launch with its overhead. What virtual clocks and plans count with.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/model/gpus/gpu_spec.h"
#include "core/tensor/op.h"

namespace lockstep::parallel {

struct OpTime {
    double forward_us = 0, backward_us = 0;
    double backward_input_us = 0;  // the share of backward_us that is the input's gradient; the rest is the weights'
};

// What no row of a GPU says: four numbers for all GPUs, models and plans together, fitted on the thirteen published training
// runs of `lockstep validate cluster`, which prints the error without the fit too.
struct Efficiencies {
    double arithmetic = 0.69;  // of the peak, inside a product's inner loop: clocks fall under load, issue slots are missed
    double memory = 0.75;      // of the DRAM bandwidth, by kernels that only move bytes
    double network = 0.65;     // of a link's bandwidth, by a collective or a message between GPUs
    double launch_us = 2.0;    // between two kernels of a stream
    bool operator==(const Efficiencies&) const = default;
};
struct EfficiencyRow {
    std::string_view name, meaning;
    double Efficiencies::*value;
    double least, most;  // what a fit may try
};
std::span<const EfficiencyRow> efficiency_rows();

struct Product {  // C[m,n] += A[m,k] B[k,n], `batch` times
    double m = 1, n = 1, k = 1, batch = 1;
};

class OpTimes {  // const after its making: ranks share one
  public:
    explicit OpTimes(const model::GpuSpec& gpu, const Efficiencies& efficiencies = {});
    OpTime of(const tensor::OpRow& op, tensor::Types inputs, const tensor::Attributes& attributes) const;
    double bytes_us(double bytes) const;  // a kernel that only moves so many bytes: an optimiser's update
    double product_us(const Product& product, DType dtype) const;
    double peak_tflops(DType dtype) const;  // of the matrix products of such elements
    const model::GpuSpec& gpu() const { return gpu_; }
    const Efficiencies& efficiencies() const { return efficiencies_; }

  private:
    OpTime attention(tensor::Types inputs, const tensor::Attributes& attributes) const;

    model::GpuSpec gpu_;
    Efficiencies efficiencies_;
};

}  // namespace lockstep::parallel
