// Writes a case's buffers and arguments one behind the other; for kernel_cases*.cpp.
#pragma once
#include <algorithm>

#include "core/base/rng.h"
#include "core/device/kernels/kernel_cases.h"

namespace lockstep::device::kernel_cases {

struct CaseWriter {
    const KernelRow& row;
    Rng& rng;
    KernelCase& result;

    template <class Draw>
    std::vector<double>& buffer(DType type, int count, Draw draw) {
        result.arguments.push_back(Pointer{result.buffers.size()});
        result.buffers.push_back({type, std::vector<double>(static_cast<size_t>(count))});
        for (double& value : result.buffers.back().values) value = draw();
        return result.buffers.back().values;
    }
    std::vector<double>& given(int count, double low = -2, double high = 2) {
        return buffer(row.type, count, [&] { return rng.uniform(low, high); });
    }
    void result_buffer(int count) {  // what a kernel must overwrite
        buffer(row.type, count, [] { return 77.0; });
    }
    std::vector<double>& indices(int count, int below) {
        return buffer(DType::i32, count, [&] { return double(rng.below(static_cast<uint64_t>(below))); });
    }
    void numbers(std::initializer_list<Argument> values) {
        result.arguments.insert(result.arguments.end(), values.begin(), values.end());
    }
    Argument scalar(double value) const {
        if (row.type == DType::f64) return value;
        return static_cast<float>(value);
    }
    DType computed() const { return row.type == DType::f64 ? DType::f64 : DType::f32; }
    // OptimizerSettings (kernels/include/optimizer.h) as they are in the middle of a training run.
    void settings(double step) {
        const double clip = rng.uniform(0.1, 1);
        const std::vector<double> values = {0.1, 0.9,  0.1,  1,    0.05, 0.9,  0.99, 1e-8, 0.02, clip, 1, 2, 0.5,
                                            3,   step, 0.81, 0.98, 0.19, 0.14, 1024, 2,    5,    0.01, 0, 3, 1};
        buffer(DType::f64, 0, [] { return 0.0; }) = values;
    }
    void square_sums(int count, int n) {  // of n elements between -2 and 2, in parts
        buffer(DType::f64, count, [&] { return rng.uniform(0.5, 1.5) * n; });
    }
    void approximate() {
        result.exact = false;
        result.tolerance = row.type == DType::f64    ? 1e-13
                           : row.type == DType::f16  ? 2e-3
                           : row.type == DType::bf16 ? 1.6e-2
                                                     : 1e-5;
    }
    static uint32_t cover(int count, int size) { return static_cast<uint32_t>((count + size - 1) / size); }
    void grid(uint32_t x, uint32_t y = 1, uint32_t z = 1) { result.grid = {x, y, z}; }
    void block(uint32_t x, uint32_t y = 1) { result.block = {x, y, 1}; }
};

// The cases of kernels for sequences and training; false for another kernel.
bool training_case(const KernelRow& row, Shape shape, Rng& rng, KernelCase& result);
// Likewise for the kernels of layers.
bool layer_case(const KernelRow& row, Shape shape, Rng& rng, KernelCase& result);

}  // namespace lockstep::device::kernel_cases
