// The cases of device_cases.h for the kernels of sequences and training: batched products, optimisers, embedding, rotary
// positions, attention, recurrent cells, random numbers, sparse products.
#pragma once
#include <algorithm>

#include "tests/device_cases.h"

namespace lockstep::device {

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

inline bool training_case(const KernelRow& row, Shape shape, Rng& rng, KernelCase& result) {
    const std::string_view kernel = row.base;
    CaseWriter w{row, rng, result};
    const auto cover = CaseWriter::cover;
    if (kernel.starts_with("bmm_")) {  // of A, the batch shares one matrix
        const int batch = 1 + shape.m % 5, m = std::min(shape.m, 20), n = std::min(shape.n, 37), k = std::min(shape.k, 40);
        w.given(m * k), w.given(batch * k * n), w.result_buffer(batch * m * n);
        w.numbers({batch, m, n, k, 0, k * n, m * n});
        w.grid(cover(n, 16), cover(m, 16), static_cast<uint32_t>(batch)), w.block(16, 16);
        w.approximate();
    } else {
        return false;
    }
    return true;
}

}  // namespace lockstep::device
