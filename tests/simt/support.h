// Programs made by hand for tests of the machine alone: a few lane functions and a builder that hands out register slots
// and constants. `at` is the pc of the next instruction; labels are patched by hand.
#pragma once
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/simt/launch.h"
#include "core/simt/warp.h"

namespace lockstep::simt::test {

using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::Space;
using ptx::Type;

template <class T, class F>
void lane_by_lane(std::byte* d, const std::byte* a, const std::byte* b, F f) {
    for (uint32_t i = 0; i < warp_size; ++i) {
        T x, y;
        std::memcpy(&x, a + i * sizeof(T), sizeof(T));
        std::memcpy(&y, b + i * sizeof(T), sizeof(T));
        const T z = static_cast<T>(f(x, y));
        std::memcpy(d + i * sizeof(T), &z, sizeof(T));
    }
}
template <class F>
void compare(std::byte* d, const std::byte* a, const std::byte* b, F f) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < warp_size; ++i) {
        uint32_t x, y;
        std::memcpy(&x, a + i * 4, 4);
        std::memcpy(&y, b + i * 4, 4);
        mask |= static_cast<uint32_t>(f(x, y)) << i;
    }
    std::memcpy(d, &mask, 4);
}

inline void add32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    lane_by_lane<uint32_t>(d, a, b, [](uint32_t x, uint32_t y) { return x + y; });
}
inline void mul32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    lane_by_lane<uint32_t>(d, a, b, [](uint32_t x, uint32_t y) { return x * y; });
}
inline void xor32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    lane_by_lane<uint32_t>(d, a, b, [](uint32_t x, uint32_t y) { return x ^ y; });
}
inline void and32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    lane_by_lane<uint32_t>(d, a, b, [](uint32_t x, uint32_t y) { return x & y; });
}
inline void add64(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    lane_by_lane<uint64_t>(d, a, b, [](uint64_t x, uint64_t y) { return x + y; });
}
inline void scale4(std::byte* d, const std::byte* a, const std::byte*, const std::byte*) {  // u64 = 4 * u32
    alignas(64) uint64_t out[warp_size];
    for (uint32_t i = 0; i < warp_size; ++i) {
        uint32_t x;
        std::memcpy(&x, a + i * 4, 4);
        out[i] = uint64_t{x} * 4;
    }
    std::memcpy(d, out, sizeof out);
}
inline void less32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    compare(d, a, b, [](uint32_t x, uint32_t y) { return x < y; });
}
inline void equal32(std::byte* d, const std::byte* a, const std::byte* b, const std::byte*) {
    compare(d, a, b, [](uint32_t x, uint32_t y) { return x == y; });
}

struct Builder {
    ptx::Program program;

    Builder() {
        program.kernel = "made_by_hand";
        program.source_file = "hand.cu";
        program.files = {"", "hand.cu"};
        program.registers_per_thread = 16;
    }
    int32_t slot(uint32_t bytes, Type type, const std::string& name) {
        const auto offset = static_cast<int32_t>(program.register_bytes);
        program.register_bytes += (bytes + 63) / 64 * 64;
        program.registers.push_back({name, type, offset});
        return offset;
    }
    int32_t r32(const std::string& name = "%r") { return slot(128, Type::b32, name); }
    int32_t r64(const std::string& name = "%rd") { return slot(256, Type::b64, name); }
    int32_t predicate(const std::string& name = "%p") { return slot(4, Type::pred, name); }
    template <class T>
    int32_t constant(T value) {
        const size_t at = program.constants.size();
        program.constants.resize(at + (sizeof(T) * warp_size + 63) / 64 * 64);
        for (uint32_t i = 0; i < warp_size; ++i)
            std::memcpy(program.constants.data() + at + i * sizeof(T), &value, sizeof(T));
        return ~static_cast<int32_t>(at);
    }
    int32_t word(uint32_t value) { return constant(value); }

    uint32_t at() const { return static_cast<uint32_t>(program.instructions.size()); }
    DecodedInstruction& add(Kind kind, Type type = Type::none) {
        DecodedInstruction i;
        i.kind = kind;
        i.type = i.destination_type = type;
        i.line = static_cast<int32_t>(at()) + 1;  // hand.cu has one line an instruction
        i.file = 1;
        i.ptx_line = 100 + static_cast<int32_t>(at());
        return program.instructions.emplace_back(i);
    }
    DecodedInstruction& lanes(ptx::LaneFunction f, Type type, int32_t d, int32_t a, int32_t b = ptx::no_operand) {
        DecodedInstruction& i = add(Kind::lane_wise, type);
        i.lanes = f;
        i.destination[0] = d;
        i.source[0] = a;
        i.source[1] = b;
        return i;
    }
    DecodedInstruction& special(ptx::SpecialRegister which, int32_t d) {
        DecodedInstruction& i = add(Kind::special_register, Type::u32);
        i.mode = static_cast<uint8_t>(which);
        i.destination[0] = d;
        return i;
    }
    DecodedInstruction& load(Space space, Type type, int32_t d, int32_t address, int64_t offset = 0) {
        DecodedInstruction& i = add(Kind::load, type);
        i.space = space;
        i.destination[0] = d;
        i.address = address;
        i.offset = offset;
        return i;
    }
    DecodedInstruction& store(Space space, Type type, int32_t address, int32_t value, int64_t offset = 0) {
        DecodedInstruction& i = add(Kind::store, type);
        i.space = space;
        i.source[0] = value;
        i.address = address;
        i.offset = offset;
        return i;
    }
    uint32_t branch(uint32_t target, uint32_t reconvergence, int32_t guard = ptx::no_operand, bool negated = false) {
        DecodedInstruction& i = add(Kind::branch);
        i.target = target;
        i.reconvergence = reconvergence;
        i.guard = guard;
        i.guard_negated = negated;
        return at() - 1;
    }
    DecodedInstruction& exit() { return add(Kind::exit); }
    DecodedInstruction& barrier(int32_t number = ptx::no_operand, int32_t count = ptx::no_operand) {
        DecodedInstruction& i = add(Kind::barrier);
        i.source[0] = number;
        i.source[1] = count;
        return i;
    }
    DecodedInstruction& operator[](uint32_t pc) { return program.instructions[pc]; }

    // d = the thread's address in the array of words whose device address is the parameter, one of 8 bytes each.
    int32_t element_address(int32_t index, uint32_t parameter = 0) {
        const int32_t base = r64(), scaled = r64();
        load(Space::param, Type::u64, base, ptx::no_operand);
        program.instructions.back().offset = 8 * parameter;
        program.parameter_bytes = std::max(program.parameter_bytes, 8 * (parameter + 1));
        lanes(scale4, Type::u64, scaled, index);
        lanes(add64, Type::u64, scaled, scaled, base);
        return scaled;
    }
};

inline LaunchConfig config_of(Dim3 grid, Dim3 block, std::initializer_list<uint64_t> pointers = {}) {
    LaunchConfig config{grid, block, 0, std::vector<std::byte>(pointers.size() * 8)};
    if (pointers.size()) std::memcpy(config.parameters.data(), pointers.begin(), pointers.size() * 8);
    return config;
}

template <class T>
std::vector<T> read_back(const Memory& memory, uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.read(address, count * sizeof(T)), count * sizeof(T));
    return values;
}
template <class T>
uint64_t put(Memory& memory, const std::vector<T>& values, const std::string& name) {
    const uint64_t address = memory.allocate(values.size() * sizeof(T), name);
    if (!values.empty())
        std::memcpy(memory.write(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    return address;
}

}  // namespace lockstep::simt::test
