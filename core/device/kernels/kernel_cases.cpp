// Products, elementwise kernels, axes and pieces of tensors; running a case.
#include "core/device/kernels/kernel_cases.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/base/rng.h"
#include "core/device/kernels/kernel_case_writer.h"

namespace lockstep::device::kernel_cases {

std::vector<std::byte> bytes_of(const Buffer& buffer) {
    std::vector<std::byte> bytes(buffer.values.size() * size_of(buffer.type));
    for (size_t i = 0; i < buffer.values.size(); ++i) {
        const auto store = [&](auto value) { std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value); };
        const double value = buffer.values[i];
        switch (buffer.type) {
            case DType::f64:
                store(value);
                break;
            case DType::f32:
                store(static_cast<float>(value));
                break;
            case DType::f16:
                store(f32_to_f16(static_cast<float>(value)));
                break;
            case DType::bf16:
                store(f32_to_bf16(static_cast<float>(value)));
                break;
            case DType::i64:
                store(static_cast<int64_t>(value));
                break;
            case DType::i32:
                store(static_cast<int32_t>(value));
                break;
            case DType::u8:
                store(static_cast<uint8_t>(value));
                break;
            default:
                throw std::logic_error("no such buffer");
        }
    }
    return bytes;
}

std::vector<double> values_of(const std::vector<std::byte>& bytes, DType type) {
    std::vector<double> values(bytes.size() / size_of(type));
    for (size_t i = 0; i < values.size(); ++i) {
        const auto load = [&](auto value) {
            std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
            return value;
        };
        values[i] = type == DType::f64    ? load(double{})
                    : type == DType::f32  ? load(float{})
                    : type == DType::f16  ? f16_to_f32(load(uint16_t{}))
                    : type == DType::bf16 ? bf16_to_f32(load(uint16_t{}))
                    : type == DType::i64  ? static_cast<double>(load(int64_t{}))
                    : type == DType::i32  ? load(int32_t{})
                                          : load(uint8_t{});
    }
    return values;
}

KernelCase case_of(const KernelRow& row, Shape shape, uint64_t seed) {
    Rng rng(seed);
    const std::string_view kernel = row.base;
    KernelCase result{.kernel = std::string(row.name)};
    const int m = shape.m, n = shape.n, k = shape.k, elements = m * n;
    const auto whole = row.type == DType::i64 || row.type == DType::i32 || row.type == DType::u8;
    const auto buffer = [&](DType type, int count, auto draw) {
        result.arguments.push_back(Pointer{result.buffers.size()});
        result.buffers.push_back({type, std::vector<double>(static_cast<size_t>(count))});
        for (double& value : result.buffers.back().values) value = draw();
    };
    // What a buffer of the row's type holds once it is stored: so both devices begin with the same.
    const auto given = [&](int count) {
        buffer(row.type, count, [&] { return whole ? double(rng.below(100)) : rng.uniform(-2.0, 2.0); });
    };
    const auto labels = [&](int count, int classes) {
        buffer(DType::i32, count, [&] { return double(rng.below(static_cast<uint64_t>(classes))); });
    };
    const auto numbers = [&](std::initializer_list<Argument> values) {
        result.arguments.insert(result.arguments.end(), values.begin(), values.end());
    };
    const auto scalar = [&](double value) -> Argument {  // of the type that the row computes in
        if (row.type == DType::f64) return value;
        if (row.type == DType::i64) return static_cast<int64_t>(value);
        if (row.type == DType::i32) return static_cast<int32_t>(value);
        if (row.type == DType::u8) return static_cast<uint32_t>(value);
        return static_cast<float>(value);
    };
    const auto approximate = [&] {
        result.exact = false;
        result.tolerance = row.type == DType::f64    ? 1e-13
                           : row.type == DType::f16  ? 2e-3
                           : row.type == DType::bf16 ? 1.6e-2
                                                     : 1e-5;
    };
    const auto cover = [](int count, int size) { return static_cast<uint32_t>((count + size - 1) / size); };
    result.grid = {cover(elements, 256)};
    result.block = {256};

    if (kernel.starts_with("matmul_")) {
        given(m * k), given(k * n), given(m * n), numbers({m, n, k});
        result.grid = {cover(n, 16), cover(m, 16)};
        result.block = {16, 16};
        if (kernel == "matmul_naive") result.grid = {cover(n, 24), cover(m, 3)}, result.block = {24, 3};
        if (kernel.starts_with("matmul_tc")) result.grid = {cover(n, 32), cover(m, 32)}, result.block = {128};
        approximate();
    } else if (kernel == "add_bias") {
        given(elements), given(n), given(elements), numbers({m, n});
    } else if (kernel == "bias_grad") {
        given(elements), given(n), numbers({m, n});
        result.grid = {cover(n, 32)};
        result.block = {32, 8};
    } else if (kernel == "softmax_cross_entropy") {
        given(elements), labels(m, n), given(m), given(elements), numbers({m, n});
        for (double& value : result.buffers[0].values) value *= 20;
        result.grid = {cover(m, 4)};
        result.block = {128};
        approximate();
    } else if (kernel == "softmax_cross_entropy_backward") {
        given(elements), labels(m, n), given(elements), numbers({m, n, scalar(1.0 / m)});
    } else if (kernel == "mse_backward") {
        given(elements), given(elements), given(elements), numbers({elements, scalar(1.0 / elements)});
    } else if (kernel == "sgd") {
        given(elements), given(elements), numbers({scalar(0.1), elements});
    } else if (kernel == "fill") {
        given(elements), numbers({scalar(whole ? 7 : 0.3), elements});
    } else if (kernel == "accumulate" || kernel == "relu") {
        given(elements), given(elements), numbers({elements});
    } else if (kernel == "relu_backward" || kernel == "mse" || kernel == "vector_add") {
        given(elements), given(elements), given(elements), numbers({elements});
    } else if (kernel == "reduce_sum" || kernel == "reduce_mean") {
        given(elements), given(1), numbers({elements});
        result.grid = {1};
    } else if (kernel == "pow" || kernel == "pow_broadcast" || kernel == "add" || kernel == "add_broadcast" ||
               kernel == "sub" || kernel == "sub_broadcast" || kernel == "mul" || kernel == "mul_broadcast" ||
               kernel == "div" || kernel == "div_broadcast" || kernel == "maximum" || kernel == "maximum_broadcast" ||
               kernel == "minimum" || kernel == "minimum_broadcast") {
        if (kernel.ends_with("_broadcast")) {  // a column [m,1] with a transposed [n,m]
            given(m), given(elements), given(elements);
            numbers({elements, 2, 1, 1, 1, 1, m, n, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, m});
        } else {
            given(elements), given(elements), given(elements), numbers({elements});
        }
        if (kernel.starts_with("pow")) {
            for (double& value : result.buffers[0].values) value = std::abs(value) + 0.1;
            approximate();
        }
    } else if (row.file == "unary.cu") {
        const bool backward = kernel.ends_with("_backward");
        given(elements), given(elements);
        if (backward) given(elements);
        numbers({elements});
        const std::string_view name = kernel.substr(0, kernel.find("_backward"));
        if (name == "leaky_relu" || name == "elu" || name == "clamp" || name == "scale_add")
            numbers({scalar(name == "clamp" ? -0.5 : 0.3), scalar(0.7)});
        if (name == "sqrt_value" || name == "rsqrt_value" || name == "log_value" || name == "reciprocal")
            for (double& value : result.buffers[0].values) value = std::abs(value) + 0.1;
        approximate();
    } else if (row.file == "axes.cu") {
        const bool index = kernel.starts_with("arg");
        if (kernel == "sum_rows" || kernel == "mean_rows") {
            given(elements), given(m), numbers({m, n});
            result.grid = {static_cast<uint32_t>(m)};
        } else if (kernel == "cumsum") {
            given(k * elements), given(k * elements), numbers({m, k, n, 1});
        } else {  // x[k,m,n] over its first and last axis, outputs and their gradients [m]
            given(k * elements);
            if (kernel == "prod_backward")  // few factors: their products stay in range
                result.buffers[0].values.resize(static_cast<size_t>(elements));
            if (index) buffer(DType::i64, m, [&] { return 0.0; });
            if (!index) given(m);
            if (kernel == "extreme_backward") {
                given(m);
                for (double& value : result.buffers[0].values) value = std::round(value);
                std::fill(result.buffers[1].values.begin(), result.buffers[1].values.end(), 1.0);
            }
            const int first = kernel == "prod_backward" ? 1 : k;
            if (kernel.ends_with("_backward")) given(first * elements);
            numbers({m, first * n, 1, 1, 1, 1, 1, m, 0, 0, 0, 0, 0, n, 1, 1, 1, 1, first, n, 0, 0, 0, 0, elements, 1});
            if (kernel.starts_with("var")) numbers({0});
            if (kernel.starts_with("prod"))
                for (double& value : result.buffers[0].values) value = 1 + value / 64;
            result.grid = {cover(m, 256)};
            if (kernel.starts_with("var") || kernel.starts_with("prod")) approximate();
        }
    } else if (row.file == "pieces.cu") {
        const auto flags = [&] { buffer(DType::u8, elements, [&] { return double(rng.below(2)); }); };
        if (kernel == "put_strided") {  // a transposed [n,m]
            given(elements), given(elements), numbers({elements, 2, 1, 1, 1, 1, m, n, 0, 0, 0, 0, 1, m});
        } else if (kernel == "where") {
            flags(), given(elements), given(elements), given(elements), numbers({elements});
        } else if (kernel == "where_backward") {
            flags(), given(elements), given(elements), numbers({elements, 1});
        } else if (kernel == "tril") {
            given(elements), given(elements), numbers({elements, m, n, 1});
        } else if (kernel.starts_with("cast_")) {  // the row's type is what it casts to
            const DType from = *dtype_named(kernel.substr(5));
            const bool round = from == DType::u8 || from == DType::i32 || from == DType::i64;
            buffer(from, elements, [&] { return round ? double(rng.below(100)) : rng.uniform(0.0, 100.0); });
            given(elements), numbers({elements});
        } else if (kernel == "inside") {
            given(elements), given(elements), numbers({elements, scalar(-0.5), scalar(1.25)});
        } else if (kernel.starts_with("pow_scalar") || kernel.starts_with("erf_value")) {
            given(elements), given(elements);
            if (kernel.ends_with("_backward")) given(elements);
            numbers({elements});
            if (kernel.starts_with("pow")) numbers({scalar(2.5)});
            for (double& value : result.buffers[0].values) value = std::abs(value) + 0.1;
            approximate();
        } else if (kernel.find("_backward") != std::string_view::npos) {
            given(elements), given(elements), given(elements), given(elements), numbers({elements});
            for (double& value : result.buffers[0].values) value = std::abs(value) + 0.1;
            for (double& value : result.buffers[1].values) value = std::abs(value) + 0.1;
            approximate();
        } else {  // a comparison
            given(elements), given(elements), buffer(DType::u8, elements, [] { return 9.0; }), numbers({elements});
        }
    } else if (kernel == "copy_strided") {  // a transposed [n,m]
        given(elements), given(elements), numbers({elements, 2, 1, 1, 1, 1, m, n, 0, 0, 0, 0, 1, m});
    } else if (kernel == "add_strided") {
        given(elements), given(elements), numbers({elements, 2, 1, 1, 1, 1, m, n, 0, 0, 0, 0, 1, m});
    } else if (kernel == "sum_strided") {  // x[k,m,n] over its first and last axis
        given(k * elements), given(m), numbers({m, k * n, 1, 1, 1, 1, 1, m, 0, 0, 0, 0, 0, n});
        numbers({1, 1, 1, 1, k, n, 0, 0, 0, 0, elements, 1});
        result.grid = {cover(m, 256)};
    } else if (kernel == "strided_gather") {
        given(elements), given(elements), numbers({elements, 32, 5});
    } else if (kernel == "divergent") {
        given(elements), given(elements), numbers({elements});
    } else if (training_case(row, shape, rng, result) || layer_case(row, shape, rng, result)) {
        return result;
    } else {
        throw std::logic_error("core/device/kernels/kernel_cases.cpp has no case for " + std::string(kernel));
    }
    return result;
}

std::vector<std::vector<std::byte>> run_bytes(Device& device, const KernelCase& kernel_case) {
    std::vector<Pointer> pointers;
    std::vector<std::vector<std::byte>> after;
    try {
        for (const Buffer& buffer : kernel_case.buffers) {
            const auto bytes = bytes_of(buffer);
            pointers.push_back(device.allocate(bytes.size(), "buffer " + std::to_string(pointers.size())));
            device.copy_in(pointers.back(), bytes.data(), bytes.size());
        }
        LaunchRequest request{.kernel = kernel_case.kernel,
                              .grid = kernel_case.grid,
                              .block = kernel_case.block,
                              .arguments = kernel_case.arguments};
        for (Argument& argument : request.arguments)
            if (const auto* index = std::get_if<Pointer>(&argument)) argument = pointers[index->address];
        device.launch(request);
        for (size_t i = 0; i < pointers.size(); ++i) {
            const Buffer& buffer = kernel_case.buffers[i];
            after.emplace_back(buffer.values.size() * size_of(buffer.type));
            device.copy_out(after.back().data(), pointers[i], after.back().size());
        }
    } catch (...) {
        for (const Pointer pointer : pointers) try {
                device.release(pointer);
            } catch (const Failure&) {  // a device that failed keeps its memory
            }
        throw;
    }
    for (const Pointer pointer : pointers) device.release(pointer);
    return after;
}
Values run_case(Device& device, const KernelCase& kernel_case) {
    const auto bytes = run_bytes(device, kernel_case);
    Values after;
    for (size_t i = 0; i < bytes.size(); ++i) after.push_back(values_of(bytes[i], kernel_case.buffers[i].type));
    return after;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0, largest = 1e-300;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::abs(a[i]) > largest && std::isfinite(a[i])) largest = std::abs(a[i]);
        if (std::bit_cast<uint64_t>(a[i]) == std::bit_cast<uint64_t>(b[i])) continue;
        const double apart = std::abs(a[i] - b[i]);
        if (!(apart <= worst)) worst = apart;
    }
    return std::isnan(worst) ? INFINITY : worst / largest;
}

}  // namespace lockstep::device::kernel_cases
