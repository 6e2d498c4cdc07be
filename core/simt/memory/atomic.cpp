// Atomics: the lanes one after the other, lowest first, so that a run always gives the same result. Each element of a
// vector is an atomic of its own, as in the ISA. What one element does: `updated`, by its type.
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/dtype.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/findings.h"
#include "core/simt/memory/access.h"

namespace lockstep::simt {

namespace {

using ptx::AtomicOperation;
using ptx::Type;

struct Bits {  // a value of up to 16 bytes
    uint64_t low = 0, high = 0;
    bool operator==(const Bits&) const = default;
};

Bits get(const std::byte* from, size_t bytes) {
    Bits value;
    std::memcpy(&value, from, bytes);
    return value;
}

template <class Unsigned, class Signed>
Unsigned whole_number(AtomicOperation operation, bool is_signed, Unsigned old, Unsigned b) {
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
        default:
            return b;
    }
}

float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

uint32_t add_f32(uint32_t old, uint32_t b, bool flush) {
    float x, y;
    std::memcpy(&x, &old, 4);
    std::memcpy(&y, &b, 4);
    const float sum = flush ? flushed(flushed(x) + flushed(y)) : x + y;
    if (std::isnan(sum)) return 0x7fffffffu;  // the canonical NaN of the ISA
    uint32_t bits;
    std::memcpy(&bits, &sum, 4);
    return bits;
}

uint64_t add_f64(uint64_t old, uint64_t b) {
    double x, y;
    std::memcpy(&x, &old, 8);
    std::memcpy(&y, &b, 8);
    const double sum = x + y;
    if (std::isnan(sum)) return 0xfff8000000000000u;
    uint64_t bits;
    std::memcpy(&bits, &sum, 8);
    return bits;
}

// f16 and bf16: an f32 has more than twice their digits, so that a sum rounded to f32 and again is rounded right.
uint16_t half_float(AtomicOperation operation, bool brain, uint16_t old, uint16_t b) {
    const auto wide = [&](uint16_t bits) { return brain ? bf16_to_f32(bits) : f16_to_f32(bits); };
    const float x = wide(old), y = wide(b);
    if (operation == AtomicOperation::add) {
        const float sum = x + y;
        return std::isnan(sum) ? uint16_t{0x7fff} : brain ? f32_to_bf16(sum) : f32_to_f16(sum);
    }
    if (std::isnan(x) && std::isnan(y)) return 0x7fff;
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? b : old;
    const bool less = y < x || (y == x && std::signbit(y) && !std::signbit(x));  // -0 is less than +0
    const bool same = x == y && std::signbit(x) == std::signbit(y);
    return same || less != (operation == AtomicOperation::min) ? old : b;
}

uint32_t half_pair(AtomicOperation operation, bool brain, uint32_t old, uint32_t b) {
    const uint32_t low = half_float(operation, brain, static_cast<uint16_t>(old), static_cast<uint16_t>(b));
    const uint32_t high = half_float(operation, brain, static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
    return high << 16 | low;
}

// flush: atom.add.f32 on global memory flushes subnormal inputs and results to zero (PTX ISA, atom); on shared memory it
// does not, and no other type does.
Bits updated(AtomicOperation operation, Type type, bool flush, const Bits& old, const Bits& b, const Bits& c) {
    if (operation == AtomicOperation::exch) return b;
    if (operation == AtomicOperation::cas) return old == b ? c : old;
    const auto word = static_cast<uint32_t>(old.low), with = static_cast<uint32_t>(b.low);
    switch (type) {
        case Type::f16:
        case Type::bf16:
            return {half_float(operation, type == Type::bf16, static_cast<uint16_t>(word), static_cast<uint16_t>(with)), 0};
        case Type::f16x2:
        case Type::bf16x2:
            return {half_pair(operation, type == Type::bf16x2, word, with), 0};
        case Type::f32:
            return {add_f32(word, with, flush), 0};
        case Type::f64:
            return {add_f64(old.low, b.low), 0};
        default:
            if (ptx::size_of(type) == 8)
                return {whole_number<uint64_t, int64_t>(operation, type == Type::s64, old.low, b.low), 0};
            return {whole_number<uint32_t, int32_t>(operation, type == Type::s32, word, with), 0};
    }
}

// Where other threads of the host do the same: writes `after` if `before` stands there still, else reads what does. Of 4 and
// 8 bytes; no other atomics run beside each other.
bool put_if_unchanged(std::byte* at, size_t bytes, Bits& before, const Bits& after) {
    if (bytes == 4) {
        auto expected = static_cast<uint32_t>(before.low);
        const bool done =
            std::atomic_ref(*reinterpret_cast<uint32_t*>(at))
                .compare_exchange_strong(expected, static_cast<uint32_t>(after.low), std::memory_order_relaxed);
        before.low = expected;
        return done;
    }
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(at))
        .compare_exchange_strong(before.low, after.low, std::memory_order_relaxed);
}

}  // namespace

Fault* atomic_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access) {
    if (Fault* fault = resolve(warp, pc, p, mask, true, true, access)) return fault;
    const ptx::Program& program = *warp.block->grid->program;
    const auto& instruction = program.instructions[pc];
    const AtomicOperation operation = ptx::as_atomic(instruction).operation;
    const uint32_t bytes = p.element_bytes;
    const int32_t* const results = ptx::elements_given(program.lists, instruction);
    const int32_t* const sources = ptx::elements_taken(program.lists, instruction);
    const bool beside_others = warp.block->grid->watch != nullptr;
    const bool findings = warp.block->grid->findings != nullptr;
    std::byte old[8][warp_size * 16];  // results may be the sources of lanes that are still to come: written at the end
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        std::byte* at = access.pointers[lane];
        ptx::Space space;
        lane_access(warp, p, lane, space);
        const bool in_shared = space == ptx::Space::shared;
        for (uint32_t element = 0; element < p.vector; ++element, at += bytes) {
            Bits before = get(at, bytes);
            const Bits b = get(operand(warp, sources[element]) + lane * bytes, bytes);
            const Bits c = operation == AtomicOperation::cas ? get(operand(warp, sources[1]) + lane * bytes, bytes) : Bits{};
            Bits after = updated(operation, instruction.type, !in_shared, before, b, c);
            if (beside_others && !in_shared) {
                while (!put_if_unchanged(at, bytes, before, after))
                    after = updated(operation, instruction.type, !in_shared, before, b, c);
            } else {
                std::memcpy(at, &after, bytes);
            }
            std::memcpy(old[element] + lane * bytes, &before, bytes);
            const bool swaps = operation == AtomicOperation::cas || operation == AtomicOperation::exch;
            if (swaps && findings && !(before == after)) note_holder(warp, pc, lane, space, access.addresses[lane]);
        }
    }
    for (uint32_t element = 0; element < p.vector && results[element] != ptx::no_operand; ++element) {
        std::byte* const to = operand(warp, results[element]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            std::memcpy(to + lane * bytes, old[element] + lane * bytes, bytes);
        }
    }
    return nullptr;
}

}  // namespace lockstep::simt
