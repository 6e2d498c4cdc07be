#include "core/simt/history/history.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "core/ptx/decode/views.h"
#include "core/simt/execute/plan.h"
#include "core/simt/history/rerun.h"

namespace lockstep::simt {

namespace {

void keep_access(WarpHistory& history, const WarpEvent& event) {
    if (event.kind != WarpEvent::Kind::memory || event.addresses == nullptr || event.executed == 0) return;
    if (event.space == ptx::Space::param || event.space == ptx::Space::constant) return;
    if (history.accesses.size() >= WarpHistory::most_accesses) return;
    WarpAccess& access = history.accesses.emplace_back();
    access.step = history.steps.size();
    access.pc = event.pc;
    access.lanes = event.executed;
    access.bytes = event.bytes;
    access.space = event.space;
    access.is_store = event.is_store;
    access.is_atomic = event.is_atomic;
    for (uint32_t lane = 0; lane < warp_size; ++lane)
        if (event.executed >> lane & 1) access.addresses[lane] = event.addresses[lane];
}

bool exists(const LaunchConfig& config, uint32_t block, uint32_t warp) {
    return block < config.grid.count() && uint64_t{warp} * warp_size < config.block.count();
}

// Whether a history that was cut off goes round and round in a short loop that looks at global memory, as one does that
// waits for another block and counts its turns.
bool seems_to_wait(const ptx::Program& program, const WarpHistory& history) {
    constexpr size_t looked_at = 2000, longest_loop = 64;
    if (!history.truncated || history.steps.size() < looked_at) return false;
    std::set<uint32_t> pcs;
    bool looks = false;
    for (size_t i = history.steps.size() - looked_at; i < history.steps.size(); ++i) {
        const uint32_t pc = history.steps[i].pc;
        if (!pcs.insert(pc).second || pc >= program.instructions.size()) continue;
        const ptx::DecodedInstruction& in = program.instructions[pc];
        const bool global = in.space == ptx::Space::global || in.space == ptx::Space::generic;
        looks =
            looks || (global && (in.kind == ptx::Kind::atomic || (in.kind == ptx::Kind::load && ptx::as_access(in).strong)));
    }
    return looks && pcs.size() <= longest_loop;
}

// The path of the step before that an entry goes on as, or is what is left of; the count: there is none.
size_t path_before(const std::vector<StackEntry>& before, const StackEntry& entry) {
    const auto alike = [&](const StackEntry& was) {
        return was.frame == entry.frame && was.reconvergence == entry.reconvergence;
    };
    for (size_t i = 0; i < before.size(); ++i)
        if (alike(before[i]) && before[i].mask == entry.mask) return i;
    for (size_t i = before.size(); i-- > 0;)
        if (alike(before[i]) && (!(entry.mask & ~before[i].mask) || !(before[i].mask & ~entry.mask))) return i;
    return before.size();
}

void number_step(const WarpStep& before, WarpStep& now) {
    constexpr size_t numbered = 16;
    const size_t count = std::min(now.stack.size(), numbered);
    std::array<size_t, numbered> from{}, number{};
    uint32_t taken = 0;  // bit n: a path has number n
    for (size_t k = 1; k < count; ++k) from[k] = path_before(before.stack, now.stack[k]);
    for (size_t k = 1; k < count; ++k) {
        const bool parted = std::count(from.begin() + 1, from.begin() + static_cast<std::ptrdiff_t>(count), from[k]) > 1;
        const size_t old = from[k] == 0 || from[k] == before.stack.size() || parted ? 0 : before.number(from[k]) % numbered;
        if (old == 0 || (taken >> old & 1)) continue;
        number[k] = old;
        taken |= 1u << old;
    }
    const auto sisters = [&](size_t a, size_t b) {
        const StackEntry &one = now.stack[a], &other = now.stack[b];
        return number[a] == 0 && number[b] == 0 && one.frame == other.frame && one.reconvergence == other.reconvergence &&
               !(one.mask & other.mask);
    };
    for (size_t k = 1; k < count; ++k) {
        if (number[k] != 0) continue;
        size_t first = k, other = k;  // of the sisters
        for (size_t i = 1; i < count; ++i)
            if (i != k && sisters(i, k)) {
                other = i;
                if (std::countr_zero(now.stack[i].mask) < std::countr_zero(now.stack[first].mask)) first = i;
            }
        const auto lowest_free = [&](size_t n) {
            while (n + 2 < numbered && (taken >> n & 1)) n += 2;
            taken |= 1u << n;
            return n;
        };
        if (other == k) {
            number[k] = lowest_free(1);
            continue;
        }
        other = first == k ? other : k;
        number[first] = lowest_free(2);
        number[other] = lowest_free(1);
    }
    now.numbers = 0;
    for (size_t k = 1; k < count; ++k) now.numbers |= uint64_t{number[k]} << (4 * k);
}

}  // namespace

void number_paths(WarpHistory& history) {
    for (size_t i = 0; i < history.steps.size(); ++i) {
        WarpStep& now = history.steps[i];
        if (now.stack.size() < 2) continue;
        static const WarpStep none;
        number_step(i > 0 ? history.steps[i - 1] : none, now);
    }
}

WarpHistory record_warp(const ptx::Program& program, const LaunchConfig& config, const Memory& before, uint32_t block,
                        uint32_t warp, uint64_t limit, const std::stop_token& stop) {
    WarpHistory history;
    const auto record = [&](bool beside) {
        history = {};
        history.block = block;
        history.warp_in_block = warp;
        history.beside = beside;
        Rerun rerun(program, config, before, block, beside, stop);
        history.fault = rerun.run(warp, [&](Warp& w) -> std::optional<WarpEvent> {
            if (stop.stop_requested()) return std::nullopt;
            // One turn, as long as in a launch: to the next barrier, the end, a fault or the end of the slice.
            for (uint64_t i = 0;; ++i) {
                if (history.steps.size() >= limit) {
                    history.truncated = true;
                    return std::nullopt;
                }
                WarpStep s{w.pc(), w.active(), 0, w.exited, w.stack};
                const WarpEvent event = step(w);
                s.executed = event.executed;
                keep_access(history, event);
                history.steps.push_back(std::move(s));
                if (w.done || event.gives_way || w.at_barrier || event.kind == WarpEvent::Kind::barrier ||
                    event.kind == WarpEvent::Kind::fault || i + 1 == rerun.turn()) {
                    return event;
                }
            }
        });
        history.stopped = stop.stop_requested();
        return rerun.needs_others() && !history.stopped;
    };
    history.block = block;
    history.warp_in_block = warp;
    if (!exists(config, block, warp)) return history;
    if (record(false) || (!history.stopped && config.grid.count() > 1 && seems_to_wait(program, history))) record(true);
    number_paths(history);
    return history;
}

void follow(WarpHistory& history, std::span<const uint32_t> pcs) {
    constexpr size_t longest_loop = 256;  // instructions of one that waits
    const std::vector<WarpStep>& steps = history.steps;
    const auto same = [&](size_t h, size_t t) { return h < steps.size() && t < pcs.size() && steps[h].pc == pcs[t]; };
    // How far back the run was at `pc` last; more than any loop's length: not lately.
    const auto back = [longest_loop](size_t at, uint32_t pc, const auto& pc_at) {
        for (size_t distance = 1; distance <= std::min(at, longest_loop); ++distance)
            if (pc_at(at - distance) == pc) return distance;
        return longest_loop + 1;
    };
    std::vector<uint64_t> from;
    bool differs = false;
    size_t h = 0;
    for (size_t t = 0; t < pcs.size();) {
        if (same(h, t)) {
            from.push_back(h++);
            ++t;
            continue;
        }
        if (h >= steps.size() && history.truncated) break;
        differs = true;
        const size_t turn_there = back(t, pcs[t], [&](size_t at) { return pcs[at]; });
        const size_t turn_here =
            h < steps.size() ? back(h, steps[h].pc, [&](size_t at) { return steps[at].pc; }) : longest_loop + 1;
        if (turn_there <= longest_loop && turn_there <= turn_here) {  // one turn more than in the replay
            const size_t distance = back(h, pcs[t], [&](size_t at) { return steps[at].pc; });
            if (distance > longest_loop) return;
            from.push_back(h - distance);
            ++t;
        } else if (turn_here <= longest_loop) {  // one turn fewer
            ++h;
        } else {
            return;
        }
    }
    if (!differs) return;
    std::vector<WarpStep> followed;
    std::vector<WarpAccess> accesses;
    followed.reserve(from.size());
    for (const uint64_t step : from) {
        const auto first = std::partition_point(history.accesses.begin(), history.accesses.end(),
                                                [&](const WarpAccess& access) { return access.step < step; });
        for (auto it = first; it != history.accesses.end() && it->step == step; ++it)
            if (accesses.size() < WarpHistory::most_accesses)
                accesses.push_back(*it), accesses.back().step = followed.size();
        followed.push_back(steps[step]);
    }
    history.steps = std::move(followed);
    history.accesses = std::move(accesses);
    history.replayed = std::move(from);
}

std::vector<LaneValues> lane_values(const Warp& w) {
    std::vector<LaneValues> values;
    const int32_t frame = w.stack.empty() ? -1 : w.stack.back().frame;
    const int32_t function = frame < 0 ? 0 : w.frames[static_cast<size_t>(frame)].function;
    for (const ptx::Register& reg : w.block->grid->program->registers) {
        if (reg.function != function) continue;
        LaneValues v{reg, {}};
        const size_t bytes = ptx::size_of(reg.type);
        const std::byte* const slot = w.registers + reg.offset;
        uint32_t mask;
        std::memcpy(&mask, slot, sizeof mask);
        for (uint32_t lane = 0; lane < warp_size; ++lane) {
            if (bytes == 0) {
                v.bits[lane] = mask >> lane & 1;
            } else {
                std::memcpy(&v.bits[lane], slot + lane * bytes, bytes);
            }
        }
        values.push_back(std::move(v));
    }
    return values;
}

std::vector<LaneValues> registers_at(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                     uint32_t block, uint32_t warp, uint64_t step, bool beside) {
    std::vector<LaneValues> values;
    if (!exists(config, block, warp)) return values;
    Rerun rerun(program, config, before, block, beside);
    const auto watch = [&](Warp& w) -> std::optional<WarpEvent> {
        const uint64_t left = step - w.instructions;
        if (left == 0) {
            values = lane_values(w);
            return std::nullopt;
        }
        uint64_t threads = 0;
        const WarpEvent event = run(w, std::min(left, rerun.turn()), threads);
        // A history that ends before `step`: the registers as the warp left them.
        // Once there it stops, before other warps go on: one of them may fault.
        const bool there = w.instructions == step;
        if (w.done || there || event.kind == WarpEvent::Kind::fault) values = lane_values(w);
        if (w.done || there) return std::nullopt;
        return event;
    };
    rerun.run(warp, watch);
    return values;
}

}  // namespace lockstep::simt
