// Random arguments and a fitting launch for every row of the kernel library, and running such a case on a device: what the
// tests of all rows share. A new row needs its line here.
#pragma once
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/device/device.h"

namespace lockstep::device {

struct Shape {
    int m, n, k;  // rows, columns, inner size of products; elementwise kernels take m * n elements
};

struct KernelCase {
    std::string kernel;
    simt::Dim3 grid, block;
    std::vector<std::vector<float>> buffers;  // in the order of the pointers
    std::vector<Argument> arguments;          // a Pointer's address is an index into `buffers`
    bool exact = true;                        // host and GPU agree to the last bit
};

inline KernelCase case_of(std::string_view kernel, Shape shape, uint64_t seed) {
    Rng rng(seed);
    KernelCase result{.kernel = std::string(kernel)};
    const int m = shape.m, n = shape.n, k = shape.k, elements = m * n;
    const auto given = [&](int count) {
        std::vector<float> values(static_cast<size_t>(count));
        for (float& value : values) value = static_cast<float>(rng.uniform(-2.0, 2.0));
        result.arguments.push_back(Pointer{result.buffers.size()});
        result.buffers.push_back(std::move(values));
    };
    const auto labels = [&](int count, int classes) {
        given(count);
        for (float& value : result.buffers.back())
            value = std::bit_cast<float>(static_cast<int32_t>(rng.below(static_cast<uint64_t>(classes))));
    };
    const auto numbers = [&](std::initializer_list<Argument> values) {
        result.arguments.insert(result.arguments.end(), values.begin(), values.end());
    };
    const auto cover = [](int count, int size) { return static_cast<uint32_t>((count + size - 1) / size); };
    result.grid = {cover(elements, 256)};
    result.block = {256};

    if (kernel.starts_with("matmul_")) {
        given(m * k), given(k * n), given(m * n), numbers({m, n, k});
        result.grid = {cover(n, 16), cover(m, 16)};
        result.block = {16, 16};
        if (kernel == "matmul_naive_f32") result.grid = {cover(n, 24), cover(m, 3)}, result.block = {24, 3};
        result.exact = false;
    } else if (kernel == "add_bias_f32") {
        given(elements), given(n), given(elements), numbers({m, n});
    } else if (kernel == "bias_grad_f32") {
        given(elements), given(n), numbers({m, n});
        result.grid = {cover(n, 32)};
        result.block = {32, 8};
    } else if (kernel == "softmax_cross_entropy_f32") {
        given(elements), labels(m, n), given(m), given(elements), numbers({m, n});
        for (float& value : result.buffers[0]) value *= 20.0f;
        result.grid = {cover(m, 4)};
        result.block = {128};
        result.exact = false;
    } else if (kernel == "softmax_cross_entropy_backward_f32") {
        given(elements), labels(m, n), given(elements), numbers({m, n, 1.0f / static_cast<float>(m)});
    } else if (kernel == "mse_backward_f32") {
        given(elements), given(elements), given(elements), numbers({elements, 1.0f / static_cast<float>(elements)});
    } else if (kernel == "sgd_f32") {
        given(elements), given(elements), numbers({0.1f, elements});
    } else if (kernel == "fill_f32") {
        given(elements), numbers({0.3f, elements});
    } else if (kernel == "accumulate_f32" || kernel == "relu_f32") {
        given(elements), given(elements), numbers({elements});
    } else if (kernel == "relu_backward_f32" || kernel == "mse_f32" || kernel == "vector_add_f32") {
        given(elements), given(elements), given(elements), numbers({elements});
    } else if (kernel == "reduce_sum_f32" || kernel == "reduce_mean_f32") {
        given(elements), given(1), numbers({elements});
        result.grid = {1};
    } else if (kernel == "strided_gather_f32") {
        given(elements), given(elements), numbers({elements, 32, 5});
    } else if (kernel == "divergent_f32") {
        given(elements), given(elements), numbers({elements});
    } else {
        throw std::logic_error("tests/device_cases.h has no case for " + std::string(kernel));
    }
    return result;
}

// The buffers after the launch.
inline std::vector<std::vector<float>> run_case(Device& device, const KernelCase& kernel_case) {
    std::vector<Pointer> pointers;
    for (const auto& buffer : kernel_case.buffers) {
        pointers.push_back(device.allocate(buffer.size() * 4, "buffer " + std::to_string(pointers.size())));
        device.copy_in(pointers.back(), buffer.data(), buffer.size() * 4);
    }
    LaunchRequest request{.kernel = kernel_case.kernel,
                          .grid = kernel_case.grid,
                          .block = kernel_case.block,
                          .arguments = kernel_case.arguments};
    for (Argument& argument : request.arguments)
        if (const auto* index = std::get_if<Pointer>(&argument)) argument = pointers[index->address];
    device.launch(request);
    std::vector<std::vector<float>> after = kernel_case.buffers;
    for (size_t i = 0; i < after.size(); ++i) {
        device.copy_out(after[i].data(), pointers[i], after[i].size() * 4);
        device.release(pointers[i]);
    }
    return after;
}

// The largest difference of two buffers over the largest value; infinite when either holds a NaN that the other does not.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double worst = 0, largest = 1e-30;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) continue;
        const double apart = std::abs(double{a[i]} - double{b[i]});
        if (!(apart <= worst)) worst = apart;
        largest = std::max(largest, std::abs(double{a[i]}));
    }
    for (const float value : a)
        if (std::abs(double{value}) > largest) largest = std::abs(double{value});
    return std::isnan(worst) ? INFINITY : worst / largest;
}

}  // namespace lockstep::device
