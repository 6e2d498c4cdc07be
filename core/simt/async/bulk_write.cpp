// The end of bulk copies: what they brought is written or combined with what is there, and groups of them are waited for.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/dtype.h"
#include "core/ptx/decode/views_async.h"
#include "core/simt/async/async_work.h"
#include "core/simt/async/listed.h"
#include "core/simt/check/checker.h"

namespace lockstep::simt {

namespace {

using ptx::Type;

template <class Unsigned>
Unsigned combined(BulkOperation operation, bool is_signed, Unsigned old, Unsigned b) {
    using Signed = std::make_signed_t<Unsigned>;
    const bool less = is_signed ? static_cast<Signed>(b) < static_cast<Signed>(old) : b < old;
    switch (operation) {
        case BulkOperation::add:
            return old + b;
        case BulkOperation::min:
            return less ? b : old;
        case BulkOperation::max:
            return less ? old : b;
        case BulkOperation::inc:
            return old >= b ? Unsigned{0} : old + 1;
        case BulkOperation::dec:
            return old == 0 || old > b ? b : old - 1;
        case BulkOperation::and_:
            return old & b;
        case BulkOperation::or_:
            return old | b;
        case BulkOperation::xor_:
            return old ^ b;
        default:
            return b;
    }
}

// min and max prefer a number to a NaN.
template <class Float>
Float combined_float(BulkOperation operation, Float old, Float b) {
    if (operation == BulkOperation::min) return std::fmin(old, b);
    if (operation == BulkOperation::max) return std::fmax(old, b);
    return old + b;
}

template <class Word, class F>
void each(std::byte* to, const std::byte* from, uint64_t bytes, const F& f) {
    for (uint64_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
        Word old, b;
        std::memcpy(&old, to + at, sizeof old);
        std::memcpy(&b, from + at, sizeof b);
        const Word result = f(old, b);
        std::memcpy(to + at, &result, sizeof result);
    }
}

void combine(BulkOperation operation, Type type, std::byte* to, const std::byte* from, uint64_t bytes) {
    const bool is_signed = type == Type::s32 || type == Type::s64;
    switch (type) {
        case Type::f16:
            return each<uint16_t>(to, from, bytes, [&](uint16_t old, uint16_t b) {
                const float sum = combined_float(operation, f16_to_f32(old), f16_to_f32(b));
                return sum == sum ? f32_to_f16(sum) : uint16_t{0x7fff};
            });
        case Type::bf16:
            return each<uint16_t>(to, from, bytes, [&](uint16_t old, uint16_t b) {
                const float sum = combined_float(operation, bf16_to_f32(old), bf16_to_f32(b));
                return sum == sum ? f32_to_bf16(sum) : uint16_t{0x7fff};
            });
        case Type::f32:
            return each<uint32_t>(to, from, bytes, [&](uint32_t old, uint32_t b) {
                const float sum = combined_float(operation, std::bit_cast<float>(old), std::bit_cast<float>(b));
                return sum == sum ? std::bit_cast<uint32_t>(sum) : 0x7fffffffu;
            });
        case Type::f64:
            return each<double>(to, from, bytes, [&](double old, double b) { return combined_float(operation, old, b); });
        default:
            if (ptx::size_of(type) == 8)
                return each<uint64_t>(to, from, bytes,
                                      [&](uint64_t old, uint64_t b) { return combined(operation, is_signed, old, b); });
            return each<uint32_t>(to, from, bytes,
                                  [&](uint32_t old, uint32_t b) { return combined(operation, is_signed, old, b); });
    }
}

}  // namespace

void write(Block& block, const BulkCopy& copy) {
    const std::byte* from = copy.data.data();
    const Block& issuer = copy.rank < block.cluster.size() ? *block.cluster[copy.rank] : block;
    const Warp& warp = issuer.warps[std::min<size_t>(copy.thread / warp_size, issuer.warps.size() - 1)];
    const uint32_t lane = copy.thread % warp_size;
    uint64_t addresses[warp_size] = {};
    for (const BulkCopy::Run& run : copy.runs) {
        std::byte* const to = copy.space == ptx::Space::shared ? shared_pointer({&block, run.to}, run.bytes)
                                                               : block.grid->memory->write(run.to, run.bytes);
        if (to && copy.operation == BulkOperation::copy) std::memcpy(to, from, run.bytes);
        if (to && copy.operation != BulkOperation::copy) combine(copy.operation, copy.type, to, from, run.bytes);
        from += run.bytes;
        if (!to) continue;  // the memory was released since the copy began
        const bool elsewhere = copy.space == ptx::Space::shared && &issuer != &block;
        addresses[lane] = elsewhere ? run.to + (uint64_t{block.rank} + 1) * ptx::window_bytes : run.to;
        note_access(warp, copy.pc, copy.space, addresses, 1u << lane, run.bytes,
                    copy.operation == BulkOperation::copy ? AccessKind::write : AccessKind::atomic);
    }
    // Whoever sees the phase end sees the bytes.
    if (copy.mbarrier != no_mbarrier) note_release(warp, 1u << lane, token_of(block, copy.mbarrier));
}

int64_t write_bulk(Block& block, uint32_t thread, uint32_t keep) {
    AsyncWork& async = block.async;
    const uint64_t closed = thread < async.bulk_groups.size() ? async.bulk_groups[thread] : 0;
    int64_t ready = 0;
    std::erase_if(async.bulk, [&](const BulkCopy& copy) {
        if (copy.mbarrier != no_mbarrier || copy.thread != thread) return false;
        if (keep != any_group && uint64_t{copy.group} + keep >= closed) return false;
        write(block, copy);
        ready = std::max(ready, copy.ready);
        async.bulk_bytes -= copy.data.size();
        return true;
    });
    return ready;
}

Fault* run_bulk_wait(Special& s) {
    Block& block = *s.warp.block;
    const auto [mode, pending] = ptx::as_async_wait(s.instruction());
    if (mode == ptx::AsyncWait::wait_group_read) return nullptr;  // sources are read when copies begin
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const uint32_t thread = s.warp.index * warp_size + static_cast<uint32_t>(__builtin_ctz(rest));
        if (mode == ptx::AsyncWait::commit_group) {
            if (block.async.bulk_groups.empty()) block.async.bulk_groups.resize(block.warps.size() * warp_size);
            ++block.async.bulk_groups[thread];
        } else {
            const auto keep = static_cast<uint32_t>(std::min<int64_t>(pending, any_group - 1));
            s.until = std::max(s.until, write_bulk(block, thread, keep));
        }
    }
    return nullptr;
}

}  // namespace lockstep::simt
