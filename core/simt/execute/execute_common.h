// The loop's short form, part of execute_body.h: the instructions that kernels spend their time in, one after the other,
// with nothing in sight but what these need. It stops before any other instruction, before a branch that splits the path,
// where the path meets others, and where the turn is to look up: execute() does those. No include guard: compiled once for
// each instruction set.

struct Stretch {          // of one path
    uint32_t next, meet;  // where it runs, and its reconvergence point
    uint32_t active;      // its lanes
    uint32_t pc = 0;      // the last instruction that ran, by the lanes `mask`
    uint32_t mask = 0;
    uint64_t left;           // instructions until the loop has to look up
    uint64_t idle = 0;       // lanes that the guard or the path kept out, summed over all instructions
    Fault* fault = nullptr;  // of the last instruction
    bool looks_up = false;   // the last instruction came to `meet`, took the last of `left` or faulted
};

// A load or store with everything that it may need.
template <bool Store, bool Checked>
[[gnu::noinline]] Fault* access_memory(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                       const Checks* checks) {
    const auto pc = static_cast<uint32_t>(&p - m.steps);
    if (!(p.shape & shape_known)) m.shapes_known &= ~(1u << p.shape);  // a base that begins anew
    if constexpr (Checked) check_access<Store>(m, p, pc, mask, *checks);
    bool done = false;
    if (p.code == (Store ? Code::store_shared : Code::load_shared)) {
        done = access_view<Store>(m, p, View{m.block.shared.data(), 0, m.block.shared.size()}, mask);
    } else if (p.code == (Store ? Code::store_global : Code::load_global)) {
        done = access_global<Store>(m, p, pc, mask);
    }
    if (done) return nullptr;
    return Store ? store_by_lane(m.warp, pc, p, mask, access) : load_by_lane(m.warp, pc, p, mask, access);
}

// A parameter at a fixed offset, for all lanes alike.
[[gnu::noinline]] inline Fault* load_parameter(const Machine& m, const Prepared& p, uint32_t mask, Access& access) {
    const auto& parameters = m.grid.config->parameters;
    const auto at = static_cast<uint64_t>(p.offset);
    if (at + p.element_bytes > parameters.size() || at % p.element_bytes)
        return load_by_lane(m.warp, static_cast<uint32_t>(&p - m.steps), p, mask, access);
    alignas(64) std::byte scratch[warp_size * 8];
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
    return nullptr;
}

// A lane function for the lanes `mask` alone.
[[gnu::noinline]] inline void run_some_lanes(const Machine& m, const Prepared& p, uint32_t mask) {
    alignas(64) std::byte scratch[warp_size * 16];
    p.lanes(scratch, m.source(p.a), m.source(p.b), m.source(p.c));
    blend_lanes(m.destination(p.d), scratch, p.register_bytes, mask);
}

// Whole: all lanes of the warp are active.
template <bool Checked, bool Whole>
[[gnu::noinline]] void run_common(const Machine& m, Stretch& s, Access& access, const Checks* checks) {
    const Prepared* p = m.steps + s.next;
    const Prepared* const meet = s.meet == ptx::no_pc ? nullptr : m.steps + s.meet;
    const uint32_t active = Whole ? full_mask : s.active;
    uint64_t left = s.left;
    uint32_t mask;
    s.looks_up = false;
    s.fault = nullptr;
    for (;;) {
        if (Whole && p->straight > 1 && p->straight < left) {
            const Prepared* const first = p;
            const Prepared* const end = p + p->straight;
            do {
                if (p->code == Code::lane_wise) {
                    p->lanes(m.destination(p->d), m.source(p->a), m.source(p->b), m.source(p->c));
                    continue;
                }
                if ((Checked && p->d == p->address) || !load_known(m, *p)) break;
                if constexpr (Checked) {
                    if (!list_known(m, *p, *checks))
                        check_access<false>(m, *p, static_cast<uint32_t>(p - m.steps), full_mask, *checks);
                }
            } while (++p != end);
            left -= static_cast<uint64_t>(p - first);
        }
        mask = active;
        if (p->guard != ptx::no_operand) {
            uint32_t guard;
            std::memcpy(&guard, m.source(p->guard), 4);
            mask &= guard ^ p->guard_flip;
        }
        const Prepared* next = p + 1;
        Fault* fault = nullptr;
        switch (p->code) {
            case Code::lane_wise:
                if (mask == full_mask) {
                    p->lanes(m.destination(p->d), m.source(p->a), m.source(p->b), m.source(p->c));
                } else if (mask) {
                    run_some_lanes(m, *p, mask);
                }
                break;
            case Code::load_shared:
                if constexpr (Checked) {
                    if (mask) check_access<false>(m, *p, static_cast<uint32_t>(p - m.steps), mask, *checks);
                }
                if (mask == full_mask ? load_known(m, *p) : mask && load_known_some(m, *p, mask)) break;
                if (mask) fault = access_memory<false, false>(m, *p, mask, access, nullptr);
                break;
            case Code::load_global:
            case Code::load_any:
                if (mask) fault = access_memory<false, Checked>(m, *p, mask, access, checks);
                break;
            case Code::store_shared:
            case Code::store_global:
            case Code::store_any:
                if (mask) fault = access_memory<true, Checked>(m, *p, mask, access, checks);
                break;
            case Code::load_param:
                if (mask) fault = load_parameter(m, *p, mask, access);
                break;
            case Code::special_register:
                if (mask) special_register(m.warp, static_cast<uint32_t>(p - m.steps), *p, mask);
                break;
            case Code::branch:
                if (mask == active || p->target == static_cast<uint32_t>(next - m.steps)) {
                    next = m.steps + p->target;
                } else if (mask) {
                    goto other;
                }
                break;
            case Code::nop:
                break;
            default:
                goto other;
        }
        if (mask != full_mask) s.idle += warp_size - static_cast<uint32_t>(__builtin_popcount(mask));
        --left;
        if (next == meet || !left || fault) {
            s.looks_up = true;
            s.fault = fault;
            s.pc = static_cast<uint32_t>(p - m.steps);
            s.mask = mask;
            p = next;
            break;
        }
        p = next;
    }
other:
    s.next = static_cast<uint32_t>(p - m.steps);
    s.left = left;
}
