// The loop that runs ahead, part of execute_body.h: the instructions of one path, one after the other, each written down. It
// stops before what others wait for or what may fault, before a branch that splits the path, before the look for spins, at a
// barrier that is not released yet, and behind the place where the path meets others. No include guard: compiled once for
// each instruction set.

// What has run: as many instructions in one AheadRun as ran like the first time, one behind the other.
struct AheadWriter {
    AheadSteps& steps;
    AheadEnds& ends;
    std::vector<std::atomic<uint8_t>>& usual_ways;
    AheadRun open{};

    bool has_room() const { return ends.room() >= 2; }  // the open run, and another one
    void close() {
        if (open.more != 0) steps.run[ends.end++ % AheadSteps::most] = open;
        open = {};
    }
    [[gnu::always_inline]] void add(uint32_t pc, uint32_t path, uint32_t mask, uint32_t bank_passes) {
        const auto ran = static_cast<uint8_t>(mask == 0          ? ran_with_none
                                              : bank_passes != 0 ? bank_passes
                                                                 : ran_with_all_lanes);
        const bool one_way = mask == 0 || mask == path;
        uint8_t usual = usual_ways[pc].load(std::memory_order_relaxed);
        if (usual == 0 && one_way && usual_ways[pc].compare_exchange_strong(usual, ran, std::memory_order_relaxed))
            usual = ran;
        const bool alone = usual != ran || !one_way;
        if (alone || open.pc + open.more != pc) close();
        if (alone) {
            steps.run[ends.end++ % AheadSteps::most] = {pc & (most_ahead_pc - 1), 1, bank_passes & 0xffu, mask};
        } else {
            if (open.more == 0) open.pc = pc & (most_ahead_pc - 1);
            ++open.more;
        }
    }
};

// The passes of an access to shared memory whose lanes all lie inside and are aligned; 0: leave it to step().
// `wide`: as Grid::wide_loads says.
inline uint32_t shared_passes_of(const Machine& m, const Prepared& p, uint32_t mask, uint32_t wide, Access& access,
                                 const AheadCosts& costs) {
    locate(m.warp, p, mask, access);
    const uint64_t bytes = p.access_bytes();
    if (m.shared_bytes < bytes) return 0;
    const uint64_t limit = m.shared_bytes - bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t at = access.addresses[__builtin_ctz(rest)];
        if (at > limit || at % bytes) return 0;
    }
    if (wide == 0) return costs.passes(access.addresses, mask, static_cast<uint32_t>(bytes));
    uint64_t aligned[32];
    for (uint32_t lane = 0; lane < 32; ++lane) aligned[lane] = access.addresses[lane] & ~uint64_t{wide - 1};
    return costs.passes(aligned, mask, wide);
}

// Whether all lanes of a load from global memory are aligned and lie in one allocation that the launch does not write;
// `access` gets their addresses.
inline bool inside_quiet_memory(const Machine& m, const Prepared& p, uint32_t pc, uint32_t mask, Access& access) {
    if (m.grid.writes_anywhere) return false;  // a kernel that calls may allocate, too, while other threads look
    locate(m.warp, p, mask, access);
    const MemoryWindow& window = m.grid.windows[pc];
    const uint64_t bytes = p.access_bytes(), first = access.addresses[__builtin_ctz(mask)];
    if (window.version != m.grid.memory->version() || first - window.begin >= window.bytes) {
        if (!refill(m.grid, pc, first, false)) return false;
    }
    if (!window.quiet || window.bytes < bytes) return false;
    const uint64_t limit = window.bytes - bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t address = access.addresses[__builtin_ctz(rest)];
        if (address - window.begin > limit || address % bytes) return false;
    }
    return true;
}

// The whole warp comes to a barrier of the whole block; false: leave it to step().
inline bool arrive_ahead(const Machine& m, uint32_t pc, uint32_t active, uint32_t mask) {
    Warp& warp = m.warp;
    Block::Ahead& ahead = m.block.ahead;
    if (!m.grid.plan->barriers_alike || warp.stack.size() != 1 || mask != active || mask != ~warp.exited) return false;
    const uint32_t phase = ahead.released;
    if (phase - ahead.issued >= ahead.waiting.size() - 1) return false;
    bool released = false;
    if (arrive(warp, pc, active, mask, released)) return false;
    ++ahead.waiting[phase % ahead.waiting.size()];
    return true;
}

// Of words through a base register whose pattern is known: the passes that its first access took. Another offset moves all
// lanes by as many banks.
struct KnownPasses {
    uint8_t passes = 0, wide_passes = 0;  // 0: not known
    uint8_t wide = 0, residue = 0;        // of wide loads: their bytes, and what the offset leaves of them
};

// A load or store of shared memory, and its passes; false: leave it to step(). `known`: by the slot of the base's shape.
[[gnu::always_inline]] inline bool shared_ahead(const Machine& m, const Prepared& p, uint32_t mask, KnownPasses* known,
                                                Access& access, const AheadCosts& costs, uint32_t& passes) {
    const bool store = p.code == Code::store_shared || p.code == Code::store_any;
    const uint32_t wide = m.grid.wide_loads != nullptr && !store ? m.grid.wide_loads[&p - m.steps] : 0;
    KnownPasses& of_base = known[p.shape & ~uint32_t{shape_known}];
    if (!(p.shape & shape_known)) of_base = {};  // another base than before
    if (mask == 0) return true;
    const auto residue = static_cast<uint8_t>(wide != 0 ? static_cast<uint64_t>(p.offset) % wide : 0);
    const bool alike = of_base.wide == wide && of_base.residue == residue;
    const uint8_t before = wide == 0 ? of_base.passes : alike ? of_base.wide_passes : uint8_t{0};
    if (before != 0 && !store && mask == full_mask && load_known(m, p)) {
        passes = before;
        return true;
    }
    passes = shared_passes_of(m, p, mask, wide, access, costs);
    if (passes == 0) return false;
    if (store ? store_memory<false>(m, p, mask, access, nullptr) : load_memory<false>(m, p, mask, access, nullptr))
        return false;
    if (mask == full_mask && p.shape != 0 && p.element_bytes == 4) {
        if (wide == 0)
            of_base.passes = static_cast<uint8_t>(passes);
        else
            of_base = {of_base.passes, static_cast<uint8_t>(passes), static_cast<uint8_t>(wide), residue};
    }
    return true;
}

// A load from global memory that the launch does not write; false: leave it to step(), or there is no room.
inline bool load_ahead(const Machine& m, const Prepared& p, uint32_t mask, Access& access, const AheadCosts& costs,
                       AheadWriter& writer) {
    if (!mask) return true;
    if (!inside_quiet_memory(m, p, static_cast<uint32_t>(&p - m.steps), mask, access)) return false;
    AheadEnds longer = writer.ends;
    if (!costs.request(access.addresses, mask, p.access_bytes(), writer.steps, longer)) return false;
    if (load_memory<false>(m, p, mask, access, nullptr)) return false;
    writer.ends = longer;
    return true;
}

uint32_t run_path_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs) {
    const Grid& grid = *warp.block->grid;
    if (grid.checker || warp.done || warp.at_barrier || !warp.waits.empty() || !warp.frames.empty()) return 0;
    const Ahead most = costs.shared ? Ahead::shared : Ahead::own;
    if (grid.plan->steps[warp.pc()].ahead > most) return 0;
    constexpr uint64_t most_steps = 512;  // then others are to have their turn
    const auto budget = static_cast<uint32_t>(std::min(most_steps, next_look(warp, 0) - 1));
    Shape shapes[shape_slots + 1];
    const Machine m = machine_of(warp, shapes);
    thread_local Access access;
    StackEntry& top = warp.stack.back();
    const uint32_t active = top.mask, meet = top.reconvergence;
    uint32_t pc = top.pc, count = 0;
    KnownPasses known[shape_slots + 1];
    AheadWriter writer{steps, ends, *m.grid.usual};
    while (count < budget && writer.has_room()) {
        const Prepared& p = m.steps[pc];
        if (p.ahead > most) break;
        const uint32_t mask = guarded(m, p, active);
        uint32_t next = pc + 1, bank_passes = 0;
        if (p.code == Code::lane_wise) {
            lane_wise(m, p, mask);
        } else if (p.code == Code::branch) {
            const Way way = way_of(m, p, active, mask);
            if (way == Way::both) break;
            if (way == Way::to_target) next = p.target;
        } else if (p.code == Code::special_register) {
            read_special_register(m, p, mask);
        } else if (p.code == Code::barrier) {
            top.pc = next;
            if (!arrive_ahead(m, pc, active, mask)) break;
        } else if (p.code == Code::load_param) {
            if (load_param(m, p, mask, access)) break;
        } else if (p.space == ptx::Space::global) {
            if (!load_ahead(m, p, mask, access, costs, writer)) break;
        } else if (!shared_ahead(m, p, mask, known, access, costs, bank_passes)) {
            break;
        }
        writer.add(pc, active, mask, bank_passes);
        ++count;
        pc = next;
        if (pc == meet || warp.at_barrier) break;
    }
    writer.close();
    warp.instructions += count;
    top.pc = pc;
    while (warp.stack.size() > 1 && warp.stack.back().pc == warp.stack.back().reconvergence) warp.stack.pop_back();
    return count;
}
