// Buffers as numbers: one element as text, and what can be said about all of them.
#pragma once
#include <string>
#include <vector>

#include "core/base/array.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/simt/memory/memory.h"

namespace lockstep::gui {

double number_at(DType type, const std::byte* bytes);
std::string text_at(DType type, const std::byte* bytes);  // at most 10 signs
bool is_unset(DType type, const std::byte* bytes);        // the fill of an out: buffer

struct BufferFacts {
    size_t count = 0, not_numbers = 0, untouched = 0;  // untouched: an out: buffer's fill, never written
    size_t changed = 0;                                // elements whose bits differ from before the run
    double low = 0, high = 0, mean = 0;                // of the finite ones; count of them: finite
    size_t finite = 0;
};

struct Buffer {                   // one argument's memory, before and after the run
    std::string name, type_text;  // "c", "out f32[1000]"
    scene::KernelArgument::Role role = scene::KernelArgument::Role::in;
    DType type = DType::f32;
    std::vector<int64_t> shape;
    uint64_t address = 0;
    std::vector<std::byte> before, after;
    size_t count() const { return after.size() / size_of(type); }
    BufferFacts facts;
};
Buffer buffer_of(const scene::BoundArgument& argument, const simt::Memory& before, const simt::Memory& after);
std::string sentence_of(const Buffer& buffer);  // "0 to 999, mean 499.5"

}  // namespace lockstep::gui
