// Atomics: the lanes one after the other, lowest first, so that a run always gives the same result.
#include <cmath>
#include <cstring>

#include "core/simt/access.h"

namespace lockstep::simt {

namespace {

using ptx::AtomicOperation;
using ptx::Type;

template <class Unsigned, class Signed>
Unsigned apply(AtomicOperation operation, bool is_signed, Unsigned old, Unsigned b, Unsigned c) {
    const bool less = is_signed ? static_cast<Signed>(b) < static_cast<Signed>(old) : b < old;
    switch (operation) {
        case AtomicOperation::add:
            return static_cast<Unsigned>(old + b);
        case AtomicOperation::min:
            return less ? b : old;
        case AtomicOperation::max:
            return less ? old : b;
        case AtomicOperation::inc:
            return old >= b ? Unsigned{0} : static_cast<Unsigned>(old + 1);
        case AtomicOperation::dec:
            return old == 0 || old > b ? b : static_cast<Unsigned>(old - 1);
        case AtomicOperation::and_:
            return old & b;
        case AtomicOperation::or_:
            return old | b;
        case AtomicOperation::xor_:
            return old ^ b;
        case AtomicOperation::exch:
            return b;
        case AtomicOperation::cas:
            return old == b ? c : old;
    }
    return old;
}

// atom.add.f32 on global memory flushes subnormal inputs and results to zero (PTX ISA, atom); on shared memory it does not.
float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <class Unsigned, class Float>
Unsigned add_float(Unsigned old, Unsigned b, bool flush) {
    Float x, y;
    std::memcpy(&x, &old, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    Float sum;
    if constexpr (sizeof(Float) == 4) {
        sum = flush ? flushed(flushed(x) + flushed(y)) : x + y;
        if (std::isnan(sum)) return Unsigned{0x7fffffff};  // the canonical NaN of the ISA
    } else {
        sum = x + y;
    }
    Unsigned bits;
    std::memcpy(&bits, &sum, sizeof bits);
    return bits;
}

template <class Unsigned, class Signed>
uint64_t update(std::byte* at, const ptx::DecodedInstruction& i, bool flush, uint64_t b, uint64_t c) {
    Unsigned old;
    std::memcpy(&old, at, sizeof old);
    const auto operation = static_cast<AtomicOperation>(i.mode);
    const bool is_signed = i.type == Type::s16 || i.type == Type::s32 || i.type == Type::s64;
    auto updated = apply<Unsigned, Signed>(operation, is_signed, old, static_cast<Unsigned>(b), static_cast<Unsigned>(c));
    if (operation == AtomicOperation::add) {
        if constexpr (sizeof(Unsigned) == 4) {
            if (i.type == Type::f32) updated = add_float<Unsigned, float>(old, static_cast<Unsigned>(b), flush);
        }
        if constexpr (sizeof(Unsigned) == 8) {
            if (i.type == Type::f64) updated = add_float<Unsigned, double>(old, static_cast<Unsigned>(b), false);
        }
    }
    std::memcpy(at, &updated, sizeof updated);
    return old;
}

}  // namespace

Fault* atomic_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access) {
    if (Fault* fault = resolve(warp, pc, p, mask, true, true, access)) return fault;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const bool flush = access.space != ptx::Space::shared;
    alignas(64) uint64_t old[warp_size] = {};
    const auto source = [&](int32_t offset, uint32_t lane) {
        uint64_t value = 0;
        if (offset != ptx::no_operand)
            std::memcpy(&value, operand(warp, offset) + lane * p.register_bytes, p.register_bytes);
        return value;
    };
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint64_t b = source(p.a, lane), c = source(p.b, lane);
        std::byte* const at = access.pointers[lane];
        switch (p.element_bytes) {
            case 2:
                old[lane] = update<uint16_t, int16_t>(at, instruction, flush, b, c);
                break;
            case 4:
                old[lane] = update<uint32_t, int32_t>(at, instruction, flush, b, c);
                break;
            default:
                old[lane] = update<uint64_t, int64_t>(at, instruction, flush, b, c);
                break;
        }
    }
    if (p.d != ptx::no_operand) write_lanes(operand(warp, p.d), p.register_bytes, old, mask);
    return nullptr;
}

}  // namespace lockstep::simt
