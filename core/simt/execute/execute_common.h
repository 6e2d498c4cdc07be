// The loop's short form, part of execute_body.h: the instructions that kernels spend their time in, one after the other,
// with nothing in sight but what these need. It stops before any other instruction, before a branch that splits the path,
// where the path meets others, and where the turn is to look up: execute() does those. No include guard: compiled once for
// each instruction set.

inline bool is_common(Code code) {
    return code <= Code::store_any || code == Code::branch || code == Code::nop;
}

struct Stretch {          // of one path
    uint32_t next, meet;  // where it runs, and its reconvergence point
    uint32_t active;      // its lanes
    uint32_t pc = 0;      // the last instruction that ran, by the lanes `mask`
    uint32_t mask = 0;
    uint64_t left;           // instructions until the loop has to look up
    uint64_t idle = 0;       // lanes that the guard or the path kept out, summed over all instructions
    Fault* fault = nullptr;  // of the last instruction
    bool looks_up = false;   // the last instruction came to `meet`, took the last of `left` or faulted
    bool at_loop = false;    // of a launch with native code: it went back to where a loop begins
};

// The instructions from `p` on that Prepared::straight counts, as far as none takes a closer look; the one behind them.
template <bool Checked>
[[gnu::always_inline]] inline const Prepared* run_straight(const Machine& m, const Prepared* p, const Checks* checks) {
    const Prepared* const end = p + p->straight;
    do {
        if (p->code == Code::lane_wise) {
            run_all_lanes(m, *p);
            continue;
        }
        if ((Checked && p->d == p->address) || !load_known(m, *p)) break;
        if constexpr (Checked) {
            if (!list_known(m, *p, *checks))
                check_access<false>(m, *p, static_cast<uint32_t>(p - m.steps), full_mask, *checks);
        }
    } while (++p != end);
    return p;
}

// Whole: all lanes of the warp are active.
template <bool Checked, bool Whole>
[[gnu::noinline]] void run_common(const Machine& m, Stretch& s, Access& access, const Checks* checks) {
    const Prepared* p = m.steps + s.next;
    const Prepared* const meet = s.meet == ptx::no_pc ? nullptr : m.steps + s.meet;
    const uint32_t active = Whole ? full_mask : s.active;
    uint64_t left = s.left;
    s.looks_up = s.at_loop = false;
    s.fault = nullptr;
    const bool native = !Checked && m.grid.native != nullptr;
    for (;;) {
        if (Whole && p->straight > 1 && p->straight < left) {
            const Prepared* const first = p;
            p = run_straight<Checked>(m, p, checks);
            left -= static_cast<uint64_t>(p - first);
        }
        const uint32_t mask = guarded(m, *p, active);
        const Prepared* next = p + 1;
        Fault* fault = nullptr;
        switch (p->code) {
            case Code::lane_wise:
                lane_wise(m, *p, mask);
                break;
            case Code::load_shared:
                fault = load_shared<Checked>(m, *p, mask, access, checks);
                break;
            case Code::load_global:
            case Code::load_any:
                fault = load_memory<Checked>(m, *p, mask, access, checks);
                break;
            case Code::store_shared:
            case Code::store_global:
            case Code::store_any:
                fault = store_memory<Checked>(m, *p, mask, access, checks);
                break;
            case Code::load_param:
                fault = load_param(m, *p, mask, access);
                break;
            case Code::special_register:
                read_special_register(m, *p, mask);
                break;
            case Code::branch: {
                const Way way = way_of(m, *p, active, mask);
                if (way == Way::both) goto other;
                if (way == Way::to_target) next = m.steps + p->target;
                if (!Checked && native && next <= p && next != meet && left > 1) {
                    if (mask != full_mask) s.idle += warp_size - static_cast<uint32_t>(__builtin_popcount(mask));
                    --left;
                    s.at_loop = true;
                    p = next;
                    goto other;
                }
                break;
            }
            case Code::nop:
                if constexpr (Checked) note_fence(m.warp, static_cast<uint32_t>(p - m.steps), mask);
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
