// What each code means, part of execute_body.h: one function a code, which the three loops call (run_common, execute and
// run_ahead). `mask` are the lanes whose guard holds; with none of them a step does nothing. All but the rare and the long
// are inlined, so that what a loop holds in registers stays there. No include guard: compiled once for each instruction set.
//
// The codes that look at the paths of a warp (a split, a call, a barrier, an exit) are in execute_turn.h: only execute()
// runs those, but for the arrival at a barrier that runs ahead.

// The lanes of `path` that take part.
[[gnu::always_inline]] inline uint32_t guarded(const Machine& m, const Prepared& p, uint32_t path) {
    if (p.guard == ptx::no_operand) return path;
    uint32_t guard;
    std::memcpy(&guard, m.source(p.guard), 4);
    return path & (guard ^ p.guard_flip);
}

// Code::lane_wise by all lanes, and by some.
[[gnu::always_inline]] inline void run_all_lanes(const Machine& m, const Prepared& p) {
    p.lanes(m.destination(p.d), m.source(p.a), m.source(p.b), m.source(p.c));
}
[[gnu::noinline]] inline void run_some_lanes(const Machine& m, const Prepared& p, uint32_t mask) {
    alignas(64) std::byte scratch[warp_size * 16];
    p.lanes(scratch, m.source(p.a), m.source(p.b), m.source(p.c));
    blend_lanes(m.destination(p.d), scratch, p.register_bytes, mask);
}
[[gnu::always_inline]] inline void lane_wise(const Machine& m, const Prepared& p, uint32_t mask) {
    if (mask == full_mask) {
        run_all_lanes(m, p);
    } else if (mask) {
        run_some_lanes(m, p, mask);
    }
}

// Code::lane_wise_many: more than three operands or more than one result.
[[gnu::noinline]] inline void lane_wise_many(const Machine& m, const Prepared& p, uint32_t mask) {
    if (!mask) return;
    const ptx::DecodedInstruction& i = m.grid.program->instructions[static_cast<size_t>(&p - m.steps)];
    alignas(64) std::byte results[4][warp_size * 16];
    std::byte* to[4];
    const std::byte* from[5];
    for (int k = 0; k < 4; ++k) {
        const bool absent = i.destination[k] == ptx::no_operand;
        to[k] = absent ? nullptr : mask == full_mask ? m.destination(i.destination[k]) : results[k];
    }
    for (int k = 0; k < 5; ++k) from[k] = i.source[k] == ptx::no_operand ? nullptr : m.source(i.source[k]);
    i.many(to, from);
    if (mask == full_mask) return;
    for (int k = 0; k < 4; ++k) {
        const bool mask_of_lanes = k == 1 && i.second_type == ptx::Type::pred;
        if (to[k]) blend_lanes(m.destination(i.destination[k]), results[k], mask_of_lanes ? 0 : p.register_bytes, mask);
    }
}

[[gnu::always_inline]] inline void read_special_register(const Machine& m, const Prepared& p, uint32_t mask) {
    if (mask) special_register(m.warp, static_cast<uint32_t>(&p - m.steps), p, mask);
}

// A load or store with everything that it may need.
template <bool Store, bool Checked>
[[gnu::noinline]] Fault* access_memory(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                       const Checks* checks) {
    const auto pc = static_cast<uint32_t>(&p - m.steps);
    if (!(p.shape & shape_known)) m.shapes_known &= ~(1u << p.shape);  // a base that begins anew
    if constexpr (Checked) check_access<Store>(m, p, pc, mask, *checks);
    if (m.grid.watch) watch_access(m.warp, pc, p, mask);
    bool done = false;
    if (p.code == (Store ? Code::store_shared : Code::load_shared)) {
        done = access_view<Store>(m, p, View{m.block.shared.data(), 0, m.block.shared.size()}, mask);
    } else if (p.code == (Store ? Code::store_global : Code::load_global)) {
        done = access_global<Store>(m, p, pc, mask);
    }
    if (done) return nullptr;
    return Store ? store_by_lane(m.warp, pc, p, mask, access) : load_by_lane(m.warp, pc, p, mask, access);
}

// Code::load_global and load_any; Code::store_shared, store_global and store_any.
template <bool Checked>
[[gnu::always_inline]] inline Fault* load_memory(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                                 const Checks* checks) {
    return mask ? access_memory<false, Checked>(m, p, mask, access, checks) : nullptr;
}
template <bool Checked>
[[gnu::always_inline]] inline Fault* store_memory(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                                  const Checks* checks) {
    return mask ? access_memory<true, Checked>(m, p, mask, access, checks) : nullptr;
}

// Code::load_shared.
template <bool Checked>
[[gnu::always_inline]] inline Fault* load_shared(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                                 const Checks* checks) {
    if constexpr (Checked) {
        if (mask) check_access<false>(m, p, static_cast<uint32_t>(&p - m.steps), mask, *checks);
    }
    if (mask == full_mask ? load_known(m, p) : mask && load_known_some(m, p, mask)) return nullptr;
    return load_memory<false>(m, p, mask, access, nullptr);
}

// Code::load_param: at a fixed offset, for all lanes alike.
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
[[gnu::always_inline]] inline Fault* load_param(const Machine& m, const Prepared& p, uint32_t mask, Access& access) {
    return mask ? load_parameter(m, p, mask, access) : nullptr;
}

template <bool Checked>
[[gnu::always_inline]] inline Fault* atomic(const Machine& m, const Prepared& p, uint32_t mask, Access& access,
                                            const Checks* checks) {
    if (!mask) return nullptr;
    const auto pc = static_cast<uint32_t>(&p - m.steps);
    if constexpr (Checked) check_access<true>(m, p, pc, mask, *checks);
    if (m.grid.watch) watch_access(m.warp, pc, p, mask);
    return atomic_by_lane(m.warp, pc, p, mask, access);
}

// Code::branch: where the lanes `path` go on when `mask` of them take it. A branch to the instruction behind it splits none.
enum class Way : uint8_t { on, to_target, both };
[[gnu::always_inline]] inline Way way_of(const Machine& m, const Prepared& p, uint32_t path, uint32_t mask) {
    if (mask == path || p.target == static_cast<uint32_t>(&p - m.steps) + 1) return Way::to_target;
    return mask ? Way::both : Way::on;
}
