// A watch: a snapshot of the warp where the watch begins; then, whenever the paths stand there again, a comparison. If all
// registers are as they were and no memory changed on the way, nothing that this warp does can end the loop. A snapshot
// that does not fit is taken anew after 32, 64, 128 ... steps, so that a loop is found whenever the paths come to it,
// however long it is (Brent's way to find a cycle).
#include "core/simt/paths/spin.h"

#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/undefined.h"
#include "core/simt/execute/call.h"
#include "core/simt/native/native.h"
#include "core/simt/paths/causes.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

using Why = PathWait::Why;

namespace {

constexpr uint32_t most_steps = 4096, most_visits = 16;  // of a watch that finds nothing
constexpr uint64_t longest_interval = uint64_t{1} << 20;
constexpr uint64_t alone_interval = uint64_t{1} << 16;  // looks at a warp whose lanes are together
constexpr uint64_t long_turn = uint64_t{1} << 14;       // after it a loop that reads one memory over and over gives way

// Registers of the frames in use, one after the other.
template <class Visit>
void for_each_frame(const Warp& warp, const Visit& visit) {
    const size_t bytes = warp.block->grid->program->register_bytes;
    if (bytes != 0) visit(kernel_registers(warp), bytes);
    for (int32_t f = warp.stack.back().frame; f >= 0; f = warp.frames[static_cast<size_t>(f)].caller) {
        const auto& lines = warp.frames[static_cast<size_t>(f)].registers;
        if (!lines.empty()) visit(lines.front().bytes, lines.size() * sizeof(RegisterLine));
    }
}

void take_snapshot(Warp& warp) {
    SpinWatch& watch = warp.watch;
    size_t bytes = 0;
    for_each_frame(warp, [&](const std::byte*, size_t n) { bytes += n; });
    watch.registers.resize(bytes);
    std::byte* to = watch.registers.data();
    for_each_frame(warp, [&](const std::byte* from, size_t n) {
        std::memcpy(to, from, n);
        to += n;
    });
    watch.stack = warp.stack;
    watch.changed = false;
    watch.laps = 0;
    watch.taken_at = watch.steps;
    watch.digest = watch.digest_before = 0;
}

// The same of the values that the running path reads later. Where registers share places all others may be anything.
bool is_live_as_in_snapshot(const Warp& warp, const ptx::Packing& packing) {
    const std::byte* const now = kernel_registers(warp);
    const std::byte* const then = warp.watch.registers.data();
    const uint32_t lanes = warp.active();
    for (size_t place = 0; place < packing.places.size(); ++place) {
        if (!packing.is_live(warp.pc(), place)) continue;
        const auto [offset, bytes] = packing.places[place];
        uint32_t bits[2];
        std::memcpy(&bits[0], now + offset, sizeof bits[0]);
        std::memcpy(&bits[1], then + offset, sizeof bits[1]);
        if (bytes == 0 && ((bits[0] ^ bits[1]) & lanes) != 0) return false;
        for (uint32_t rest = bytes == 0 ? 0 : lanes; rest != 0; rest &= rest - 1) {
            const size_t at = static_cast<size_t>(offset) + size_t{bytes} * static_cast<size_t>(__builtin_ctz(rest));
            if (std::memcmp(now + at, then + at, bytes) != 0) return false;
        }
    }
    return true;
}

// The same of native code, which does not write what nobody reads.
bool is_live_as_in_snapshot(const Warp& warp, const Native& native) {
    const std::byte* const now = kernel_registers(warp);
    const std::byte* const then = warp.watch.registers.data();
    const std::vector<uint8_t>& lane_bytes = native.program.functions.front().lane_bytes;
    for (const int32_t reg : native.live_in_front_of(warp.pc())) {
        const size_t bytes = std::max<size_t>(4, size_t{lane_bytes[static_cast<size_t>(reg) / 64]} * warp_size);
        if (std::memcmp(now + reg, then + reg, bytes) != 0) return false;
    }
    return true;
}

bool as_in_snapshot(const Warp& warp) {
    if (const auto& native = warp.block->grid->native) return is_live_as_in_snapshot(warp, *native);
    if (const auto& packing = warp.block->grid->plan->packing) return is_live_as_in_snapshot(warp, *packing);
    const std::byte* to = warp.watch.registers.data();
    size_t left = warp.watch.registers.size();
    bool same = true;
    for_each_frame(warp, [&](const std::byte* from, size_t n) {
        same = same && n <= left && std::memcmp(to, from, n) == 0;
        to += std::min(n, left);
        left -= std::min(n, left);
    });
    return same && left == 0;
}

// Bytes of memory as the lanes at `addresses` see them, added to `out`; false when they cannot be looked at.
bool peek(const Warp& warp, ptx::Space space, const std::vector<uint64_t>& addresses, uint32_t bytes,
          std::vector<std::byte>& out) {
    const Block& block = *warp.block;
    for (const uint64_t address : addresses) {
        const std::byte* from = nullptr;
        if (space == ptx::Space::global || space == ptx::Space::constant) from = block.grid->memory->read(address, bytes);
        if (space == ptx::Space::shared && bytes <= block.shared.size() && address <= block.shared.size() - bytes)
            from = block.shared.data() + address;
        if (!from) return false;
        out.insert(out.end(), from, from + bytes);
    }
    return true;
}

bool reads_memory(Code code) {
    return code == Code::load_global || code == Code::load_shared || code == Code::load_any || code == Code::atomic;
}
bool writes_memory(Code code) {
    return code == Code::store_global || code == Code::store_shared || code == Code::store_any || code == Code::atomic;
}

// Before the next instruction: what it may change, and what it is about to read.
void look_ahead(Warp& warp) {
    SpinWatch& watch = warp.watch;
    watch.target_bytes = 0;
    watch.written = false;
    const uint32_t pc = warp.pc();
    const Plan& plan = *warp.block->grid->plan;
    if (pc >= plan.steps.size()) return;
    const Prepared& p = plan.steps[pc];
    if (!reads_memory(p.code) && !writes_memory(p.code)) return;
    uint32_t mask = warp.active();
    if (p.guard != ptx::no_operand) mask &= *words(warp, p.guard) ^ p.guard_flip;
    if (!mask || (p.code == Code::load_any && (p.space == ptx::Space::param || p.space == ptx::Space::local))) return;
    thread_local Access access;
    const bool alike = locate(warp, p, mask, access);
    watch.target_addresses.clear();
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        watch.target_addresses.push_back(access.addresses[__builtin_ctz(rest)]);
    watch.target.clear();
    watch.target_space = access.space;
    const bool seen = alike && peek(warp, access.space, watch.target_addresses, p.access_bytes(), watch.target);
    if (reads_memory(p.code) && access.space != ptx::Space::constant) {
        watch.reads = true;
        watch.read_pc = pc;
        const auto mix = [&](uint64_t word) { watch.digest = (watch.digest ^ word) * 0x9e3779b97f4a7c15ull + 1; };
        mix(pc);
        for (const uint64_t address : watch.target_addresses) mix(address);
        for (const std::byte byte : watch.target) mix(static_cast<uint64_t>(byte));
    }
    if (!writes_memory(p.code)) return;
    if (seen)
        watch.target_bytes = p.access_bytes();
    else
        watch.written = true;
}

// After it.
void look_back(Warp& warp, uint32_t pc, uint32_t mask) {
    SpinWatch& watch = warp.watch;
    if (watch.target_bytes) {
        thread_local std::vector<std::byte> now;
        now.clear();
        watch.written =
            !peek(warp, watch.target_space, watch.target_addresses, watch.target_bytes, now) || now != watch.target;
    }
    const Prepared& p = warp.block->grid->plan->steps[pc];
    // More than registers and memory that is watched.
    const auto& instructions = warp.block->grid->program->instructions;
    const ptx::Kind kind = pc < instructions.size() ? instructions[pc].kind : ptx::Kind::exit;
    const bool only_waited =
        p.code == Code::special && ((kind == ptx::Kind::mbarrier && warp.waits_pc == pc && warp.waits_still) ||
                                    (kind == ptx::Kind::cluster && warp.blocked));
    if (only_waited) {  // a test of an mbarrier, a wait for the cluster: others end it
        watch.reads = true;
        watch.read_pc = pc;
    }
    bool outside = (p.code == Code::special && !only_waited) || p.code == Code::barrier || p.code == Code::exit ||
                   p.code == Code::call || p.code == Code::return_;
    if (p.code == Code::special_register) {
        using ptx::SpecialRegister;
        const SpecialRegister which = ptx::as_special(warp.block->grid->program->instructions[pc]).which;
        outside = which == SpecialRegister::clock || which == SpecialRegister::clock64 ||
                  which == SpecialRegister::clock_hi || which == SpecialRegister::globaltimer ||
                  which == SpecialRegister::globaltimer_lo || which == SpecialRegister::globaltimer_hi;
    }
    if ((watch.written || outside) && mask) watch.changed = watch.moved = true;
}

bool any_wait(const Warp& warp, Why a, Why b) {
    return std::any_of(warp.waits.begin(), warp.waits.end(), [&](const PathWait& w) { return w.why == a || w.why == b; });
}

Fault* running_path_waits(Warp& warp, Why why) {
    warp.waits.resize(warp.stack.size());
    warp.waits.back() = {};
    warp.waits.back().why = why;
    warp.watch.interval = SpinWatch::interval_of_spinners;
    if (why != Why::spins) warp.watch.moved = true;
    return choose_again(warp);
}

// The watch has found nothing.
Fault* go_on(Warp& warp, uint64_t executed) {
    SpinWatch& watch = warp.watch;
    watch.on = false;
    watch.moved = true;
    watch.interval = std::min(2 * watch.interval, longest_interval);
    watch.next = executed + watch.interval;
    watch.last_look = executed;
    return nullptr;
}

// Of a warp that stands where it stood, with the registers and the memory that it had, and that waits for nobody.
Fault* endless_loop(const Warp& warp, uint32_t pc, uint32_t mask) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(mask ? mask : warp.active()));
    Cause cause = cause_of_endless_loop(warp, pc);
    if (cause.words.empty()) cause = cause_of_condition(warp, pc);
    Fault* const fault = make_fault(warp, pc, lane, "runaway",
                                    "the kernel never ends: the loop at " + place_of(*warp.block->grid->program, pc) +
                                        " changes nothing and reads nothing that could end it" + cause.words);
    fault->advice = cause.advice;
    return fault;
}

}  // namespace

void watch_path(Warp& warp) {
    SpinWatch& watch = warp.watch;
    watch.on = true;
    watch.reads = watch.same_reads = false;
    watch.steps = watch.visits = 0;
    watch.snapshot_at = std::max(32u, 2 * watch.loop);
    watch.next = 0;  // after every instruction
    take_snapshot(warp);
    look_ahead(warp);
}

void note_round(Warp& warp, bool all_proven) {
    SpinWatch& watch = warp.watch;
    watch.still = !watch.moved && all_proven;
    watch.idle = watch.still && !watch.stale;
    watch.moved = watch.stale = false;
}

void stop_watching(Warp& warp) {
    if (!warp.watch.on) return;
    warp.watch.on = false;
    warp.watch.next = 0;
}

Fault* watch_or_go_on(Warp& warp, uint64_t executed, uint32_t pc, uint32_t mask) {
    SpinWatch& watch = warp.watch;
    const bool independent = warp.block->grid->independent;
    if (watch.undefined) {
        follow_undefined(warp, pc, mask);
        if (watch.next > executed) return nullptr;
    }
    if (!watch.on) {
        watch.moved = true;
        const bool early = warp.stack.size() == 1 && executed - watch.last_look < alone_interval;
        if (early || watch.next == 0) {
            watch.next = executed + (early ? SpinWatch::first_interval : watch.interval);
            return nullptr;
        }
        watch.last_look = executed;
        watch_path(warp);
        return nullptr;
    }
    look_back(warp, pc, mask);
    ++watch.steps;
    const bool others_spin = any_wait(warp, Why::spins, Why::tired);
    if (watch.written && others_spin && independent) {  // perhaps what they spin for
        for (PathWait& wait : warp.waits)
            if (wait.why == Why::spins || wait.why == Why::tired) wait = {};
        return running_path_waits(warp, Why::polite);
    }
    if (warp.stack == watch.stack) {
        ++watch.visits;
        ++watch.laps;
        if (!watch.changed && as_in_snapshot(warp)) {
            if (warp.block->grid->plan->packing) return make_fault(warp, pc, 0, "packed", "a warp may spin");
            if (warp.block->grid->native) return make_fault(warp, pc, 0, "native", "a warp may spin");
            watch.loop = std::min(watch.steps - watch.taken_at, most_steps / 4);
            if (independent && warp.stack.size() > 1) return running_path_waits(warp, Why::spins);
            if (!watch.reads) return endless_loop(warp, pc, mask);
            watch.gives_way = true;
            note_round(warp, true);
            watch.interval = SpinWatch::interval_of_spinners;
            watch_path(warp);
            return nullptr;
        }
        watch.same_reads = watch.laps > 1 && watch.reads && watch.digest == watch.digest_before;
        watch.digest_before = watch.digest;
        watch.digest = 0;
        watch.moved = true;
    }
    if (watch.steps == watch.snapshot_at) {
        watch.moved = true;
        watch.snapshot_at *= 2;
        take_snapshot(warp);
    }
    // A loop that computes, or reads something else each time, is let go soon, unless it has run for long: then it may have
    // loops within it that look like that.
    const bool works = watch.laps >= 2 && !watch.same_reads && watch.interval < long_turn && !others_spin;
    if (watch.steps < most_steps && watch.visits < most_visits && !works) {
        look_ahead(warp);
        return nullptr;
    }
    const bool tired = independent && warp.stack.size() > 1 && watch.reads &&
                       (others_spin || watch.interval >= (watch.same_reads ? long_turn : longest_interval));
    if (tired) return running_path_waits(warp, Why::tired);
    return go_on(warp, executed);
}

}  // namespace lockstep::simt
