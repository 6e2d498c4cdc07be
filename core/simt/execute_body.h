// The executor: one loop, compiled once for each instruction set (execute_*.cpp define LOCKSTEP_SIMD_NAME and include
// this last, so that no other header is compiled for a machine that may not be there). Record = true runs one instruction
// and says all about it; false runs on and says how it ended.
namespace lockstep::simt {
namespace LOCKSTEP_SIMD_NAME {
namespace {

// Lanes as vector registers see them: half a warp is checked for the two common patterns, one address for all and one
// address after the other, before each lane is taken alone.
constexpr uint32_t half = 16;

template <class Word>
inline void blend(std::byte* d, const std::byte* s, uint32_t mask) {
    auto* const to = reinterpret_cast<Word*>(d);
    const auto* const from = reinterpret_cast<const Word*>(s);
    for (uint32_t i = 0; i < warp_size; ++i) to[i] = (mask >> i & 1) ? from[i] : to[i];
}

inline void blend_lanes(std::byte* d, const std::byte* s, uint32_t bytes, uint32_t mask) {
    switch (bytes) {
        case 0: {
            uint32_t to, from;
            std::memcpy(&to, d, 4);
            std::memcpy(&from, s, 4);
            to = (to & ~mask) | (from & mask);
            std::memcpy(d, &to, 4);
            return;
        }
        case 1:
            return blend<uint8_t>(d, s, mask);
        case 2:
            return blend<uint16_t>(d, s, mask);
        case 4:
            return blend<uint32_t>(d, s, mask);
        default:
            return blend<uint64_t>(d, s, mask);
    }
}

struct View {  // host bytes behind the addresses [begin, begin + bytes)
    std::byte* data;
    uint64_t begin;
    uint64_t bytes;
};

// Whether all lanes of half a warp hold r[0] + i * step.
template <class Register>
inline bool is_ramp(const Register* r, Register step) {
    Register differs = 0;
    for (uint32_t i = 0; i < half; ++i) differs |= r[i] ^ static_cast<Register>(r[0] + i * step);
    return differs == 0;
}

// The offset of lane i within the view; registers of 4 bytes wrap at 4 GiB.
template <class Register>
inline uint64_t offset_in(const View& view, Register base, uint64_t offset) {
    return static_cast<Register>(base + static_cast<Register>(offset)) - view.begin;
}

// Whether each lane of half a warp lies in the view and is aligned.
template <class Word, class Register>
inline bool all_inside(const View& view, const Register* r, uint64_t offset) {
    const uint64_t limit = view.bytes - sizeof(Word);  // bytes >= sizeof(Word) is checked before
    uint64_t outside = 0, low = 0;
    for (uint32_t i = 0; i < half; ++i) {
        const uint64_t o = offset_in(view, r[i], offset);
        outside |= (limit - o) | o;
        low |= o;
    }
    return !(outside >> 63) && !(low & (sizeof(Word) - 1));
}

inline bool range_inside(const View& view, uint64_t first, uint64_t bytes, uint64_t alignment) {
    return first <= view.bytes - bytes && !(first & (alignment - 1));
}

// d[i] = memory[r[i] + offset] for all 32 lanes; false, with d partly written, when some lane has to be looked at alone.
template <class Word, class Register>
inline bool load_words(const View& view, const Register* r, uint64_t offset, Word* d) {
    constexpr uint64_t span = half * sizeof(Word);
    if (view.bytes < span) return false;
    for (uint32_t h = 0; h < warp_size; h += half) {
        const Register step = static_cast<Register>(r[h + 1] - r[h]);
        const uint64_t first = offset_in(view, r[h], offset);
        if (step == sizeof(Word) && is_ramp(r + h, step)) {
            if (!range_inside(view, first, span, sizeof(Word))) return false;
            std::memcpy(d + h, view.data + first, span);
        } else if (step == 0 && is_ramp(r + h, step)) {
            if (!range_inside(view, first, sizeof(Word), sizeof(Word))) return false;
            Word value;
            std::memcpy(&value, view.data + first, sizeof value);
            for (uint32_t i = 0; i < half; ++i) d[h + i] = value;
        } else {
            if (!all_inside<Word>(view, r + h, offset)) return false;
            for (uint32_t i = 0; i < half; ++i) {
                std::memcpy(d + h + i, view.data + offset_in(view, r[h + i], offset), sizeof(Word));
            }
        }
    }
    return true;
}

template <class Word, class Register>
inline bool store_words(const View& view, const Register* r, uint64_t offset, const Word* s) {
    constexpr uint64_t span = half * sizeof(Word);
    if (view.bytes < span) return false;
    for (uint32_t h = 0; h < warp_size; h += half) {
        const Register step = static_cast<Register>(r[h + 1] - r[h]);
        if (step == sizeof(Word) && is_ramp(r + h, step)) {
            const uint64_t first = offset_in(view, r[h], offset);
            if (!range_inside(view, first, span, sizeof(Word))) return false;
            std::memcpy(view.data + first, s + h, span);
        } else {
            if (!all_inside<Word>(view, r + h, offset)) return false;
            for (uint32_t i = 0; i < half; ++i) {
                std::memcpy(view.data + offset_in(view, r[h + i], offset), s + h + i, sizeof(Word));
            }
        }
    }
    return true;
}

alignas(64) constexpr uint64_t zeros[warp_size] = {};

struct Machine {  // what the loop keeps in registers
    Warp& warp;
    Block& block;
    Grid& grid;
    const Prepared* steps;
    std::byte* registers;
    const std::byte* constants;

    const std::byte* source(int32_t o) const { return o >= 0 ? registers + o : constants + ~o; }
    std::byte* destination(int32_t o) const { return registers + o; }
};

// Base registers with idle lanes pointed at the first busy one, so that all 32 can be computed.
template <class Register>
inline void busy_only(uint64_t* out, const Register* r, uint32_t mask) {
    const Register first = r[__builtin_ctz(mask)];
    for (uint32_t i = 0; i < warp_size; ++i) out[i] = (mask >> i & 1) ? r[i] : first;
}

template <class Word>
bool load(const Machine& m, const Prepared& p, const View& view, uint32_t mask) {
    alignas(64) Word scratch[warp_size];
    auto* const d = reinterpret_cast<Word*>(m.destination(p.d));
    const auto offset = static_cast<uint64_t>(p.offset);
    const std::byte* const base =
        p.address == ptx::no_operand ? reinterpret_cast<const std::byte*>(zeros) : m.source(p.address);
    const bool wide = p.wide_address || p.address == ptx::no_operand;
    if (mask == full_mask) {
        Word* const to = p.d == p.address ? scratch : d;  // the base must survive a second attempt
        const bool done = wide ? load_words<Word>(view, reinterpret_cast<const uint64_t*>(base), offset, to)
                               : load_words<Word>(view, reinterpret_cast<const uint32_t*>(base), offset, to);
        if (done && to != d) std::memcpy(d, scratch, sizeof scratch);
        return done;
    }
    alignas(64) uint64_t busy[warp_size];
    if (wide) {
        busy_only(busy, reinterpret_cast<const uint64_t*>(base), mask);
        if (!load_words<Word>(view, busy, offset, scratch)) return false;
    } else {
        alignas(64) uint32_t narrow[warp_size];
        busy_only(busy, reinterpret_cast<const uint32_t*>(base), mask);
        for (uint32_t i = 0; i < warp_size; ++i) narrow[i] = static_cast<uint32_t>(busy[i]);
        if (!load_words<Word>(view, narrow, offset, scratch)) return false;
    }
    blend<Word>(reinterpret_cast<std::byte*>(d), reinterpret_cast<const std::byte*>(scratch), mask);
    return true;
}

template <class Word>
bool store(const Machine& m, const Prepared& p, const View& view, uint32_t mask) {
    if (mask != full_mask) return false;
    const auto* const s = reinterpret_cast<const Word*>(m.source(p.a));
    const auto offset = static_cast<uint64_t>(p.offset);
    if (p.address == ptx::no_operand) return store_words<Word>(view, zeros, offset, s);
    const std::byte* const base = m.source(p.address);
    return p.wide_address ? store_words<Word>(view, reinterpret_cast<const uint64_t*>(base), offset, s)
                          : store_words<Word>(view, reinterpret_cast<const uint32_t*>(base), offset, s);
}

inline uint64_t first_address(const Machine& m, const Prepared& p, uint32_t mask) {
    const auto offset = static_cast<uint64_t>(p.offset);
    if (p.address == ptx::no_operand) return offset;
    const auto lane = __builtin_ctz(mask);
    const std::byte* const base = m.source(p.address);
    if (p.wide_address) return reinterpret_cast<const uint64_t*>(base)[lane] + offset;
    return static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(base)[lane] + static_cast<uint32_t>(offset));
}

// Global and generic accesses by way of the instruction's window; shared ones through a window that is always there.
template <bool Store>
inline bool access_view(const Machine& m, const Prepared& p, const View& view, uint32_t mask) {
    if constexpr (Store) {
        return p.element_bytes == 4 ? store<uint32_t>(m, p, view, mask) : store<uint64_t>(m, p, view, mask);
    } else {
        return p.element_bytes == 4 ? load<uint32_t>(m, p, view, mask) : load<uint64_t>(m, p, view, mask);
    }
}

template <bool Store>
inline bool access_global(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask) {
    const MemoryWindow& window = m.grid.windows[pc];
    if (window.version == m.grid.memory->version() && window.bytes) {
        if (access_view<Store>(m, p, View{window.data, window.begin, window.bytes}, mask)) return true;
    }
    const uint64_t first = first_address(m, p, mask);
    if (p.space == ptx::Space::generic && first - ptx::shared_window < ptx::window_bytes) {
        return access_view<Store>(m, p, View{m.block.shared.data(), ptx::shared_window, m.block.shared.size()}, mask);
    }
    if (!refill(m.grid, pc, first, Store)) return false;
    return access_view<Store>(m, p, View{window.data, window.begin, window.bytes}, mask);
}

template <bool Record>
WarpEvent execute(Warp& warp, uint64_t budget, uint64_t& thread_instructions) {
    Block& block = *warp.block;
    Grid& grid = *block.grid;
    const Plan& plan = *grid.plan;
    const Machine m{warp, block, grid, plan.steps.data(), warp.registers, plan.constants};
    const auto& instructions = grid.program->instructions;
    const auto end = static_cast<uint32_t>(instructions.size());
    StackEntry top = warp.stack.back();
    alignas(64) std::byte scratch[warp_size * 8];
    uint64_t count = 0, lanes = 0;
    WarpEvent event;
    thread_local Access access;

    const auto finish = [&](WarpEvent::Kind kind, uint32_t pc, uint32_t active, uint32_t executed) {
        event.kind = kind;
        event.pc = pc;
        event.instruction = pc < end ? &instructions[pc] : nullptr;
        event.active = active;
        event.executed = executed;
        warp.instructions += count;
        thread_instructions += lanes;
        if (!warp.stack.empty()) warp.stack.back() = top;
    };

    if (budget == 0) {
        finish(WarpEvent::Kind::executed, top.pc, top.mask, 0);
        return event;
    }
    for (;;) {
        const uint32_t pc = top.pc;
        const Prepared& p = m.steps[pc];
        uint32_t mask = top.mask;
        if (p.guard != ptx::no_operand) {
            uint32_t guard;
            std::memcpy(&guard, m.source(p.guard), 4);
            mask &= guard ^ p.guard_flip;
        }
        ++count;
        lanes += static_cast<uint64_t>(__builtin_popcount(mask));
        const uint32_t active = top.mask;
        Fault* fault = nullptr;
        WarpEvent::Kind kind = WarpEvent::Kind::executed;

        switch (p.code) {
            case Code::lane_wise:
                if (mask == full_mask) {
                    p.lanes(m.destination(p.d), m.source(p.a), m.source(p.b), m.source(p.c));
                } else if (mask) {
                    p.lanes(scratch, m.source(p.a), m.source(p.b), m.source(p.c));
                    blend_lanes(m.destination(p.d), scratch, p.register_bytes, mask);
                }
                ++top.pc;
                break;
            case Code::lane_wise_many: {
                const auto& i = instructions[pc];
                alignas(64) std::byte results[4][warp_size * 8];
                std::byte* to[4];
                const std::byte* from[4];
                for (int k = 0; k < 4; ++k) {
                    const bool absent = i.destination[k] == ptx::no_operand;
                    to[k] = absent ? nullptr : mask == full_mask ? m.destination(i.destination[k]) : results[k];
                    from[k] = i.source[k] == ptx::no_operand ? nullptr : m.source(i.source[k]);
                }
                if (mask) i.many(to, from);
                if (mask && mask != full_mask) {
                    for (int k = 0; k < 4; ++k) {
                        if (to[k]) blend_lanes(m.destination(i.destination[k]), results[k], p.register_bytes, mask);
                    }
                }
                ++top.pc;
                break;
            }
            case Code::special_register:
                if (mask) special_register(warp, pc, p, mask);
                ++top.pc;
                break;
            case Code::load_param: {
                const auto& parameters = grid.config->parameters;
                const auto at = static_cast<uint64_t>(p.offset);
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    locate(warp, p, mask, access);
                }
                if (!mask) {
                } else if (at + p.element_bytes > parameters.size() || at % p.element_bytes) {
                    fault = load_by_lane(warp, pc, p, mask, access);
                } else {
                    std::byte* const to = mask == full_mask ? m.destination(p.d) : scratch;
                    if (p.element_bytes == 4) {
                        uint32_t value;
                        std::memcpy(&value, parameters.data() + at, 4);
                        for (uint32_t i = 0; i < warp_size; ++i) reinterpret_cast<uint32_t*>(to)[i] = value;
                    } else {
                        uint64_t value;
                        std::memcpy(&value, parameters.data() + at, 8);
                        for (uint32_t i = 0; i < warp_size; ++i) reinterpret_cast<uint64_t*>(to)[i] = value;
                    }
                    if (mask != full_mask) blend_lanes(m.destination(p.d), scratch, p.register_bytes, mask);
                }
                ++top.pc;
                break;
            }
            case Code::load_shared:
            case Code::load_global:
            case Code::load_any:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    locate(warp, p, mask, access);
                }
                if (mask) {
                    bool done = false;
                    if (p.code == Code::load_shared) {
                        done = access_view<false>(m, p, View{block.shared.data(), 0, block.shared.size()}, mask);
                    } else if (p.code == Code::load_global) {
                        done = access_global<false>(m, p, pc, mask);
                    }
                    if (!done) fault = load_by_lane(warp, pc, p, mask, access);
                }
                ++top.pc;
                break;
            case Code::store_shared:
            case Code::store_global:
            case Code::store_any:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    event.is_store = true;
                    locate(warp, p, mask, access);
                }
                if (mask) {
                    bool done = false;
                    if (p.code == Code::store_shared) {
                        done = access_view<true>(m, p, View{block.shared.data(), 0, block.shared.size()}, mask);
                    } else if (p.code == Code::store_global) {
                        done = access_global<true>(m, p, pc, mask);
                    }
                    if (!done) fault = store_by_lane(warp, pc, p, mask, access);
                }
                ++top.pc;
                break;
            case Code::atomic:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    event.is_atomic = true;
                    event.is_store = true;
                    locate(warp, p, mask, access);
                }
                if (mask) fault = atomic_by_lane(warp, pc, p, mask, access);
                ++top.pc;
                break;
            case Code::branch:
                if (Record) kind = WarpEvent::Kind::branch;
                if (mask == active || p.target == pc + 1) {
                    top.pc = p.target;
                } else if (!mask) {
                    ++top.pc;
                } else {
                    event.diverged = true;
                    diverge(warp, p.target, p.reconvergence, top, mask);
                }
                break;
            case Code::exit:
                if (Record) kind = WarpEvent::Kind::exit;
                ++top.pc;
                if (mask) {
                    warp.stack.back() = top;
                    event.barrier_released = leave(warp, mask);
                    if (warp.done) {
                        finish(WarpEvent::Kind::exit, pc, active, mask);
                        return event;
                    }
                    top = warp.stack.back();
                }
                break;
            case Code::barrier:
                if (mask) {
                    fault = arrive(warp, pc, active, mask, event.barrier_released);
                    kind = WarpEvent::Kind::barrier;
                }
                ++top.pc;
                break;
            case Code::shuffle:
                if (mask) fault = shuffle(warp, pc, p, mask);
                ++top.pc;
                break;
            case Code::vote:
                if (mask) fault = vote(warp, pc, p, mask);
                ++top.pc;
                break;
            case Code::nop:
                ++top.pc;
                break;
            case Code::trap:
                if (mask) fault = trap_fault(warp, pc, mask);
                ++top.pc;
                break;
        }

        if (fault) {
            top.pc = pc;
            event.fault = fault;
            finish(WarpEvent::Kind::fault, pc, active, mask);
            return event;
        }
        while (top.pc == top.reconvergence) {  // the entry below waits here with all lanes of the region
            warp.stack.pop_back();
            top = warp.stack.back();
        }
        if constexpr (Record) {
            if (kind == WarpEvent::Kind::memory) {
                event.space = access.space;
                event.bytes = static_cast<uint8_t>(p.access_bytes());
                event.addresses = access.addresses;
            }
            // Lanes that ran past the last instruction leave with it.
            while (top.pc >= end) {
                warp.stack.back() = top;
                event.barrier_released |= leave(warp, top.mask);
                if (warp.done) break;
                top = warp.stack.back();
            }
            finish(kind, pc, active, mask);
            return event;
        }
        if (kind == WarpEvent::Kind::barrier || count == budget) {
            finish(kind, pc, active, mask);
            return event;
        }
    }
}

}  // namespace

WarpEvent step(Warp& warp) {
    uint64_t threads = 0;
    return execute<true>(warp, 1, threads);
}

WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions) {
    return execute<false>(warp, budget, thread_instructions);
}

}  // namespace LOCKSTEP_SIMD_NAME
}  // namespace lockstep::simt
