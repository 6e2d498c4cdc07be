// multimem: one address stands for a piece of memory on each device of a multicast object (Memory::multicast). ld_reduce
// gives all replicas combined, in their order; st writes, red combines with, every one of them. An address of ordinary
// global memory counts as an object of one replica: the plain meaning on one device.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/ptx/decode/views_async.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/special.h"

namespace lockstep::simt {

namespace {

using ptx::AtomicOperation;
using ptx::MultimemOperation;
using ptx::Type;

uint64_t combined_integers(AtomicOperation operation, Type type, uint64_t old, uint64_t b) {
    const bool narrow = ptx::size_of(type) == 4, is_signed = type == Type::s32 || type == Type::s64;
    const auto extended = [&](uint64_t x) {
        return narrow ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(x))} : static_cast<int64_t>(x);
    };
    const bool less = is_signed ? extended(b) < extended(old) : b < old;
    switch (operation) {
        case AtomicOperation::min:
            return less ? b : old;
        case AtomicOperation::max:
            return less ? old : b;
        case AtomicOperation::and_:
            return old & b;
        case AtomicOperation::or_:
            return old | b;
        case AtomicOperation::xor_:
            return old ^ b;
        default:
            return old + b;
    }
}

// min and max prefer a number to a NaN.
template <class Float>
Float combined_floats(AtomicOperation operation, Float old, Float b) {
    if (operation == AtomicOperation::min) return std::fmin(old, b);
    if (operation == AtomicOperation::max) return std::fmax(old, b);
    return old + b;
}

// Halves: sums of all replicas are kept in f32 and rounded once, whatever .acc::f32 says.
bool is_half(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
uint16_t half_bits(Type type, float value) {
    if (value != value) return 0x7fff;
    return type == Type::bf16 || type == Type::bf16x2 ? f32_to_bf16(value) : f32_to_f16(value);
}
float half_value(Type type, uint16_t bits) {
    return type == Type::bf16 || type == Type::bf16x2 ? bf16_to_f32(bits) : f16_to_f32(bits);
}

// One element of all `from`, combined.
uint64_t combine_all(AtomicOperation operation, Type type, const uint64_t* from, size_t count) {
    if (is_half(type)) {
        uint64_t result = 0;
        for (uint32_t shift = 0; shift < 8 * ptx::size_of(type); shift += 16) {
            float sum = half_value(type, static_cast<uint16_t>(from[0] >> shift));
            for (size_t k = 1; k < count; ++k)
                sum = combined_floats(operation, sum, half_value(type, static_cast<uint16_t>(from[k] >> shift)));
            result |= uint64_t{half_bits(type, sum)} << shift;
        }
        return result;
    }
    uint64_t result = from[0];
    for (size_t k = 1; k < count; ++k) {
        if (type == Type::f32) {
            const float sum = combined_floats(operation, std::bit_cast<float>(static_cast<uint32_t>(result)),
                                              std::bit_cast<float>(static_cast<uint32_t>(from[k])));
            result = sum == sum ? std::bit_cast<uint32_t>(sum) : 0x7fffffffu;
        } else if (type == Type::f64) {
            const double sum = combined_floats(operation, std::bit_cast<double>(result), std::bit_cast<double>(from[k]));
            result = sum == sum ? std::bit_cast<uint64_t>(sum) : 0xfff8000000000000ull;
        } else {
            result = combined_integers(operation, type, result, from[k]);
        }
    }
    return result;
}

struct Replicas {
    uint64_t addresses[64];
    size_t count = 0;
};

Fault* replicas_at(Special& s, uint32_t lane, uint64_t address, uint32_t bytes, bool loads, bool reduces,
                   Replicas& replicas) {
    Memory& memory = *s.warp.block->grid->memory;
    replicas.count = 0;
    if (const Multicast* const object = memory.find_multicast(address)) {
        const uint64_t offset = address - object->address;
        if (bytes > object->bytes - offset)
            return make_fault(s.warp, s.pc, lane, "memcheck",
                              "invalid multimem access of " + std::to_string(bytes) + " bytes, at the end of '" +
                                  object->name + "' (" + std::to_string(object->bytes) + " bytes)",
                              address);
        for (const uint64_t replica : object->replicas) replicas.addresses[replicas.count++] = replica + offset;
    } else {
        replicas.addresses[replicas.count++] = address;
    }
    for (size_t k = 0; k < replicas.count; ++k)
        if (!memory.read(replicas.addresses[k], bytes))
            return access_fault(s.warp, s.pc, lane, ptx::Space::global, replicas.addresses[k], bytes, !loads, reduces);
    if (address % bytes)
        return make_fault(s.warp, s.pc, lane, "memcheck",
                          "misaligned multimem access of " + std::to_string(bytes) +
                              " bytes, the address is not a multiple of " + std::to_string(bytes),
                          address);
    return nullptr;
}

}  // namespace

Fault* run_multimem(Special& s) {
    const ptx::DecodedInstruction& i = s.instruction();
    const auto [mode, operation] = ptx::as_multimem(i);
    const auto element = static_cast<uint32_t>(ptx::size_of(i.type));
    const uint32_t bytes = element * i.vector;
    const bool loads = mode == MultimemOperation::load, reduces = mode == MultimemOperation::reduce;
    const int32_t* const listed = s.warp.block->grid->program->lists.data() + i.list;
    Memory& memory = *s.warp.block->grid->memory;
    const AccessKind kind = loads ? AccessKind::strong_read : reduces ? AccessKind::atomic : AccessKind::strong_write;
    alignas(64) uint64_t results[8][warp_size];
    Replicas replicas;
    s.access.space = ptx::Space::global;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        ptx::Space space = ptx::Space::global;
        const uint64_t address = lane_access(s.warp, s.p, lane, space);
        if (Fault* bad = replicas_at(s, lane, address, bytes, loads, reduces, replicas)) return bad;
        s.access.addresses[lane] = replicas.addresses[0];
        for (uint32_t e = 0; e < i.vector; ++e) {
            uint64_t values[64] = {}, own = 0;
            for (size_t k = 0; k < replicas.count; ++k)
                std::memcpy(&values[k], memory.read(replicas.addresses[k] + e * element, element), element);
            if (loads) {
                results[e][lane] = combine_all(operation, i.type, values, replicas.count);
                continue;
            }
            std::memcpy(&own, operand(s.warp, listed[e]) + lane * element, element);
            for (size_t k = 0; k < replicas.count; ++k) {
                const uint64_t pair[2] = {values[k], own};
                const uint64_t result = reduces ? combine_all(operation, i.type, pair, 2) : own;
                std::memcpy(memory.write(replicas.addresses[k] + e * element, element), &result, element);
            }
        }
        uint64_t at[warp_size] = {};
        for (size_t k = 0; k < replicas.count; ++k) {
            at[lane] = replicas.addresses[k];
            note_access(s.warp, s.pc, ptx::Space::global, at, 1u << lane, bytes, kind);
        }
    }
    for (uint32_t e = 0; loads && e < i.vector; ++e) write_lanes(operand(s.warp, listed[e]), element, results[e], s.mask);
    s.is_memory = true;
    s.is_store = !loads;
    s.is_atomic = reduces;
    s.bytes = bytes;
    return nullptr;
}

}  // namespace lockstep::simt
