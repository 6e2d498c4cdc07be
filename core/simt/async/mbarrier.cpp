// mbarrier: a barrier in shared memory that a phase after the other counts arrivals, and bytes of asynchronous copies. Its
// 64 bits are, from the lowest: 20 pending arrivals, 20 expected arrivals, 21 pending bytes (signed), the phase's parity,
// and 10, which tells it from memory that plain stores have changed. Which offsets hold one, the block knows besides.
//
// What copies tell an mbarrier, they tell it when somebody tests it.
#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/async_work.h"
#include "core/simt/async/listed.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

namespace {

constexpr uint32_t most_arrivals = (1u << 20) - 1;
constexpr int64_t most_bytes = (int64_t{1} << 20) - 1;  // of the transaction count, both ways

struct Mbarrier {
    uint32_t pending = 0, expected = 0;
    int64_t bytes = 0;
    bool parity = false;

    static bool read(uint64_t bits, Mbarrier& b) {
        b.pending = static_cast<uint32_t>(bits & most_arrivals);
        b.expected = static_cast<uint32_t>(bits >> 20 & most_arrivals);
        b.bytes = static_cast<int64_t>(bits << 3) >> 43;
        b.parity = bits >> 61 & 1;
        return bits >> 62 == 2;
    }
    uint64_t bits() const {
        return uint64_t{2} << 62 | uint64_t{parity} << 61 | (static_cast<uint64_t>(bytes) & 0x1fffff) << 40 |
               uint64_t{expected} << 20 | pending;
    }
    void settle() {  // the phase ends when nothing is pending
        if (pending || bytes) return;
        parity = !parity;
        pending = expected;
    }
};

uint64_t bits_at(const Block& block, uint32_t offset) {
    uint64_t bits;
    std::memcpy(&bits, block.shared.data() + offset, 8);
    return bits;
}
void put(Block& block, uint32_t offset, const Mbarrier& b) {
    const uint64_t bits = b.bits();
    std::memcpy(block.shared.data() + offset, &bits, 8);
}

const MbarrierPlace* mbarrier_at(const Block& block, uint64_t offset) {
    const auto& places = block.async.mbarriers;
    const auto at = std::lower_bound(places.begin(), places.end(), offset,
                                     [](const MbarrierPlace& p, uint64_t o) { return p.offset < o; });
    return at != places.end() && at->offset == offset ? &*at : nullptr;
}

std::string counted(int64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}
std::string at_offset(uint64_t offset) {
    return "the mbarrier at offset " + std::to_string(offset) + " of the block's shared memory";
}

Fault* broken(const Special& s, uint32_t lane, uint64_t offset, const std::string& why) {
    return make_fault(s.warp, s.pc, lane, "synccheck", why, offset);
}

Fault* arrive(const Special& s, uint32_t lane, Mbarrier& b, uint64_t offset, uint32_t count, const std::string& who) {
    if (count > b.pending)
        return broken(s, lane, offset,
                      counted(count, "arrival") + who + " at " + at_offset(offset) + ", which expects only " +
                          std::to_string(b.pending) + " more in this phase");
    b.pending -= count;
    b.settle();
    return nullptr;
}

// Changes the transaction count; the phase may end where bytes came in.
Fault* transact(const Special& s, uint32_t lane, Mbarrier& b, uint64_t offset, int64_t bytes) {
    b.bytes += bytes;
    if (b.bytes > most_bytes || b.bytes < -most_bytes) {
        return broken(
            s, lane, offset,
            at_offset(offset) + " would have to wait for " + std::to_string(b.bytes) + " bytes: at most 1048575 either way");
    }
    return nullptr;
}

// Does the work that signals this mbarrier, as far as it is ready at the block's clock. `next`: when the next is; 0: none.
Fault* signal(const Special& s, uint32_t lane, Block& block, uint32_t offset, int64_t& next) {
    AsyncWork& async = block.async;
    const ptx::Program& program = *block.grid->program;
    next = 0;
    if (async.bulk.empty() && async.arrivals.empty()) return nullptr;
    Mbarrier b;
    Mbarrier::read(bits_at(block, offset), b);
    Fault* fault = nullptr;
    const auto later = [&](int64_t ready) { next = next ? std::min(next, ready) : ready; };
    std::erase_if(async.bulk, [&](const BulkCopy& copy) {
        if (copy.mbarrier != offset || fault) return false;
        if (copy.ready > block.clock) {
            later(copy.ready);
            return false;
        }
        write(block, copy);
        async.bulk_bytes -= copy.data.size();
        fault = transact(s, lane, b, offset, -int64_t{copy.signalled});
        b.settle();
        return true;
    });
    std::erase_if(async.arrivals, [&](const LateArrival& arrival) {
        if (arrival.mbarrier != offset || fault) return false;
        int64_t ready = 0;
        for (const LaneCopies& copy : async.warps[arrival.warp].copies)
            if (copy.serial <= arrival.serial && (copy.lanes >> arrival.lane & 1)) ready = std::max(ready, copy.ready);
        if (ready > block.clock) {
            later(ready);
            return false;
        }
        write_copies(block.warps[arrival.warp], 1u << arrival.lane, any_group, arrival.serial);
        note_release(block.warps[arrival.warp], 1u << arrival.lane, token_of(block, offset));
        fault = arrive(s, lane, b, offset, 1, " (cp.async.mbarrier.arrive on " + place_of(program, arrival.pc) + ")");
        return true;
    });
    put(block, offset, b);
    return fault;
}

void forget(AsyncWork& async, uint32_t offset) {
    std::erase_if(async.mbarriers, [&](const MbarrierPlace& p) { return p.offset == offset; });
}

// Leaves out work that would still signal an mbarrier that is made anew or given up: its bytes are written.
void settle_work(Block& block, uint32_t offset) {
    AsyncWork& async = block.async;
    std::erase_if(async.bulk, [&](const BulkCopy& copy) {
        if (copy.mbarrier != offset) return false;
        write(block, copy);
        async.bulk_bytes -= copy.data.size();
        return true;
    });
    std::erase_if(async.arrivals, [&](const LateArrival& arrival) { return arrival.mbarrier == offset; });
}

}  // namespace

Fault* check_mbarrier(const Special& s, uint32_t lane, const Block& block, uint64_t offset) {
    if (!mbarrier_at(block, offset))
        return broken(s, lane, offset,
                      "there is no mbarrier at offset " + std::to_string(offset) +
                          " of the block's shared memory: no mbarrier.init has run there");
    Mbarrier b;
    if (!Mbarrier::read(bits_at(block, static_cast<uint32_t>(offset)), b))
        return broken(s, lane, offset, at_offset(offset) + " has been overwritten by other stores");
    return nullptr;
}

namespace {

Fault* init(const Special& s, uint32_t lane, Block& block, uint32_t offset, uint32_t count) {
    if (count < 1 || count > most_arrivals)
        return broken(s, lane, offset, "an mbarrier counts 1 to 1048575 arrivals, not " + std::to_string(count));
    settle_work(block, offset);
    auto& places = block.async.mbarriers;
    const auto at = std::lower_bound(places.begin(), places.end(), offset,
                                     [](const MbarrierPlace& p, uint32_t o) { return p.offset < o; });
    if (at != places.end() && at->offset == offset)
        at->pc = s.pc;
    else
        places.insert(at, {offset, s.pc});
    put(block, offset, Mbarrier{count, count, 0, false});
    return nullptr;
}

// Sets bit `lane` of *over when the phase has ended.
Fault* test(Special& s, uint32_t lane, Block& block, uint32_t offset, bool parity, uint32_t& over, int64_t& next) {
    int64_t ready = 0;
    if (Fault* fault = signal(s, lane, block, offset, ready)) return fault;
    Mbarrier b;
    Mbarrier::read(bits_at(block, offset), b);
    if (b.parity != parity) {
        over |= 1u << lane;
        return nullptr;
    }
    if (ready) next = next ? std::min(next, ready) : ready;
    s.warp.waits_pc = s.pc;
    s.warp.waits_mbarrier = offset;
    s.warp.waits_parity = parity;
    s.warp.waits_still = ready == 0;
    return nullptr;
}

}  // namespace

Fault* run_mbarrier(Special& s) {
    using ptx::MbarrierOperation;
    const ptx::DecodedInstruction& instruction = s.instruction();
    const ptx::MbarrierView view = ptx::as_mbarrier(instruction);
    const MbarrierOperation operation = view.operation;
    const Listed list(s);
    const int32_t d = instruction.destination[0];
    alignas(64) uint64_t results[warp_size];
    if (operation == MbarrierOperation::pending_count) {
        for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            results[lane] = list.wide(0, lane) & most_arrivals;
        }
        write_lanes(operand(s.warp, d), 4, results, s.mask);
        return nullptr;
    }
    const bool tests = operation == MbarrierOperation::test_wait || operation == MbarrierOperation::try_wait;
    uint32_t over = 0;
    int64_t next = 0;
    uint64_t tokens[warp_size];
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        SharedPlace place;
        std::byte* pointer = nullptr;
        if (Fault* fault = shared_at(s, lane, list.space(0), list.address(0, lane), {8, 8, true, true}, place, pointer))
            return fault;
        Block& block = *place.block;
        const auto offset = static_cast<uint32_t>(place.offset);
        s.access.addresses[lane] = offset;
        tokens[lane] = token_of(block, offset);
        if (!tests) note_release(s.warp, 1u << lane, tokens[lane]);
        if (operation != MbarrierOperation::init)
            if (Fault* fault = check_mbarrier(s, lane, block, offset)) return fault;
        Mbarrier b;
        Mbarrier::read(bits_at(block, offset), b);
        Fault* fault = nullptr;
        switch (operation) {
            case MbarrierOperation::init:
                fault = init(s, lane, block, offset, list.word(2, lane));
                break;
            case MbarrierOperation::inval:
                settle_work(block, offset);
                forget(block.async, offset);
                break;
            case MbarrierOperation::expect_tx:
                fault = transact(s, lane, b, offset, list.word(2, lane));
                put(block, offset, b);
                break;
            case MbarrierOperation::complete_tx:
                fault = transact(s, lane, b, offset, -int64_t{list.word(2, lane)});
                b.settle();
                put(block, offset, b);
                break;
            case MbarrierOperation::arrive:
            case MbarrierOperation::arrive_drop: {
                const uint32_t count = view.expects || !list.has(2) ? 1 : list.word(2, lane);
                results[lane] = b.bits();
                if (view.expects) fault = transact(s, lane, b, offset, list.word(2, lane));
                if (count < 1) fault = broken(s, lane, offset, "an arrival at an mbarrier counts at least 1");
                if (view.no_complete && count >= b.pending && !fault)
                    fault =
                        broken(s, lane, offset, "an arrival with .noComplete would end the phase of " + at_offset(offset));
                if (operation == MbarrierOperation::arrive_drop) b.expected -= std::min(b.expected, count);
                if (!fault) fault = arrive(s, lane, b, offset, count, "");
                put(block, offset, b);
                break;
            }
            default: {
                const bool parity = view.parity ? list.word(2, lane) & 1 : list.wide(2, lane) >> 61 & 1;
                fault = test(s, lane, block, offset, parity, over, next);
            }
        }
        if (fault) return fault;
    }
    for (uint32_t rest = over; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        note_acquire(s.warp, 1u << lane, tokens[lane]);
    }
    const bool makes = operation == MbarrierOperation::init || operation == MbarrierOperation::inval;
    note_access(s.warp, s.pc, ptx::Space::shared, s.access.addresses, s.mask, 8,
                makes ? AccessKind::write : AccessKind::atomic);
    s.access.space = ptx::Space::shared;
    if (!tests) {
        s.is_memory = true;
        s.is_store = true;
        s.is_atomic = !makes;
        if (d != ptx::no_operand) write_lanes(operand(s.warp, d), 8, results, s.mask);
        return nullptr;
    }
    if (over == s.mask) {
        s.warp.waits_pc = ptx::no_pc;
        s.is_memory = true;
    } else {
        s.ends_turn = true;
        if (operation == MbarrierOperation::try_wait && next > s.warp.block->clock) {  // suspended until bytes arrive
            s.again = true;
            s.until = next;
            return nullptr;
        }
    }
    auto* const predicate = reinterpret_cast<uint32_t*>(operand(s.warp, d));
    *predicate = (*predicate & ~s.mask) | over;
    return nullptr;
}

Fault* arrive_after_copies(Special& s) {
    const bool increments =
        ptx::as_async_wait(s.instruction()).operation == ptx::AsyncWait::arrive;  // the arrival is one more
    const Listed list(s);
    Block& own = *s.warp.block;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        SharedPlace place;
        std::byte* pointer = nullptr;
        if (Fault* fault = shared_at(s, lane, list.space(0), list.address(0, lane), {8, 8, true, true}, place, pointer))
            return fault;
        const auto offset = static_cast<uint32_t>(place.offset);
        s.access.addresses[lane] = offset;
        if (place.block != &own)
            return broken(s, lane, offset, "cp.async.mbarrier.arrive takes an mbarrier of its own block alone");
        if (Fault* fault = check_mbarrier(s, lane, own, offset)) return fault;
        if (increments) {
            Mbarrier b;
            Mbarrier::read(bits_at(own, offset), b);
            if (b.pending == most_arrivals) return broken(s, lane, offset, at_offset(offset) + " expects too many arrivals");
            ++b.pending;
            put(own, offset, b);
        }
        note_release(s.warp, 1u << lane, token_of(own, offset));
        own.async.arrivals.push_back({s.pc, s.warp.index, lane, offset, copies_of(s.warp).serial});
    }
    // Each lane has at most one arrival left at a time in sane kernels; the bound is for the others.
    constexpr size_t most_arrivals_pending = 1 << 16;
    if (own.async.arrivals.size() > most_arrivals_pending)
        return broken(s, static_cast<uint32_t>(__builtin_ctz(s.mask)), 0,
                      "too many arrivals of cp.async.mbarrier.arrive that nobody tested for");
    note_access(s.warp, s.pc, ptx::Space::shared, s.access.addresses, s.mask, 8, AccessKind::atomic);
    s.access.space = ptx::Space::shared;
    s.is_memory = s.is_store = s.is_atomic = true;
    return nullptr;
}

std::string mbarrier_wait_of(const Warp& warp) {
    if (warp.waits_pc == ptx::no_pc || !warp.block) return {};
    const Block& block = *warp.block;
    const MbarrierPlace* const made = mbarrier_at(block, warp.waits_mbarrier);
    Mbarrier b;
    if (!made || !Mbarrier::read(bits_at(block, warp.waits_mbarrier), b)) return {};
    std::string text = "; warp " + std::to_string(warp.index) + " waits on " +
                       place_of(*block.grid->program, warp.waits_pc) + " for the phase of parity " +
                       std::to_string(warp.waits_parity) + " of the mbarrier at offset " +
                       std::to_string(warp.waits_mbarrier) + " of its shared memory (made on " +
                       place_of(*block.grid->program, made->pc) + ")";
    if (b.parity != warp.waits_parity) return text;
    text += ", which still expects " + counted(b.pending, "arrival") + " of " + std::to_string(b.expected);
    if (b.bytes) text += " and " + counted(b.bytes, "byte");
    return text;
}

}  // namespace lockstep::simt
