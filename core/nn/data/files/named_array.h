// An array and its name: what npz, safetensors and checkpoints are lists of.
#pragma once
#include <string>
#include <vector>

#include "core/base/array.h"

namespace lockstep::nn {

struct NamedArray {
    std::string name;
    Array array;
};
using NamedArrays = std::vector<NamedArray>;

// The array of that name, or null.
inline const Array* find(const NamedArrays& arrays, std::string_view name) {
    for (const NamedArray& row : arrays)
        if (row.name == name) return &row.array;
    return nullptr;
}

}  // namespace lockstep::nn
