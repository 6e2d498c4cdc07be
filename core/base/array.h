// A plain n-dimensional array in host memory, row-major: what npy files hold and kernels are given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/dtype.h"

namespace lockstep {

struct Array {
    DType dtype = DType::f32;
    std::vector<int64_t> shape;    // [] is a scalar
    std::vector<std::byte> bytes;  // product(shape) * size_of(dtype), little-endian

    size_t count() const { return bytes.size() / size_of(dtype); }
    template <class T>
    const T* as() const {
        return reinterpret_cast<const T*>(bytes.data());
    }
    template <class T>
    T* as() {
        return reinterpret_cast<T*>(bytes.data());
    }
};

}  // namespace lockstep
