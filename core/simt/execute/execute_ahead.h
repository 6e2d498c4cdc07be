// run_ahead, part of execute_body.h: the instructions of one path, one after the other, each written down. It stops before
// what others wait for or what may fault, before a branch that splits the path, before the look for spins, at a barrier that
// is not released yet, and behind the place where the path meets others. No include guard: compiled once for each
// instruction set.

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

}  // namespace

uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs) {
    const Grid& grid = *warp.block->grid;
    if (grid.checker || warp.done || warp.at_barrier || !warp.waits.empty() || !warp.frames.empty()) return 0;
    constexpr uint64_t most_steps = 512;  // then others are to have their turn
    const auto budget = static_cast<uint32_t>(std::min(most_steps, next_look(warp, 0) - 1));
    Shape shapes[shape_slots + 1];
    const Machine m = machine_of(warp, shapes);
    thread_local Access access;
    StackEntry& top = warp.stack.back();
    const uint32_t active = top.mask, meet = top.reconvergence;
    uint32_t pc = top.pc, count = 0;
    // Of words through a base register whose pattern is known: the passes that its first access took. Another offset moves
    // all lanes by as many banks.
    struct Known {
        uint8_t passes = 0, wide_passes = 0;  // 0: not known
        uint8_t wide = 0, residue = 0;        // of wide loads: their bytes, and what the offset leaves of them
    } known[shape_slots + 1];
    AheadRun run{};
    const auto close_run = [&] {
        if (run.more != 0) steps.run[ends.end++ % AheadSteps::most] = run;
        run = {};
    };
    while (count < budget && ends.room() >= 2) {  // the open run, and another one
        const Prepared& p = m.steps[pc];
        if (!p.ahead) break;
        uint32_t mask = active;
        if (p.guard != ptx::no_operand) {
            uint32_t guard;
            std::memcpy(&guard, m.source(p.guard), 4);
            mask &= guard ^ p.guard_flip;
        }
        uint32_t next = pc + 1, bank_passes = 0;
        const bool store = p.code == Code::store_shared || p.code == Code::store_any;
        if (p.code == Code::lane_wise) {
            if (mask == full_mask)
                p.lanes(m.destination(p.d), m.source(p.a), m.source(p.b), m.source(p.c));
            else if (mask)
                run_some_lanes(m, p, mask);
        } else if (p.code == Code::branch) {
            if (mask == active || p.target == next)
                next = p.target;
            else if (mask)
                break;
        } else if (p.code == Code::special_register) {
            if (mask) special_register(warp, pc, p, mask);
        } else if (p.code == Code::barrier) {
            top.pc = next;
            if (!arrive_ahead(m, pc, active, mask)) break;
        } else if (p.code == Code::load_param) {
            if (mask && load_parameter(m, p, mask, access)) break;
        } else if (p.space == ptx::Space::global) {
            if (mask) {
                if (!inside_quiet_memory(m, p, pc, mask, access)) break;
                AheadEnds longer = ends;
                if (!costs.request(access.addresses, mask, p.access_bytes(), steps, longer)) break;
                if (access_memory<false, false>(m, p, mask, access, nullptr)) break;
                ends = longer;
            }
        } else {
            const uint32_t wide = grid.wide_loads != nullptr && !store ? grid.wide_loads[pc] : 0;
            Known& of_base = known[p.shape & ~uint32_t{shape_known}];
            if (!(p.shape & shape_known)) of_base = {};  // another base than before
            const auto residue = static_cast<uint8_t>(wide != 0 ? static_cast<uint64_t>(p.offset) % wide : 0);
            const bool alike = of_base.wide == wide && of_base.residue == residue;
            const uint8_t before = wide == 0 ? of_base.passes : alike ? of_base.wide_passes : uint8_t{0};
            if (mask == 0) {
            } else if (before != 0 && !store && mask == full_mask && load_known(m, p)) {
                bank_passes = before;
            } else {
                bank_passes = shared_passes_of(m, p, mask, wide, access, costs);
                if (bank_passes == 0) break;
                if (store ? access_memory<true, false>(m, p, mask, access, nullptr)
                          : access_memory<false, false>(m, p, mask, access, nullptr))
                    break;
                if (mask == full_mask && p.shape != 0 && p.element_bytes == 4) {
                    if (wide == 0)
                        of_base.passes = static_cast<uint8_t>(bank_passes);
                    else
                        of_base = {of_base.passes, static_cast<uint8_t>(bank_passes), static_cast<uint8_t>(wide), residue};
                }
            }
        }
        const auto ran = static_cast<uint8_t>(mask == 0          ? ran_with_none
                                              : bank_passes != 0 ? bank_passes
                                                                 : ran_with_all_lanes);
        uint8_t& usual = m.grid.usual[pc];
        if (usual == 0 && (mask == 0 || mask == active)) usual = ran;
        const bool alone = usual != ran || (mask != 0 && mask != active);
        if (alone || run.pc + run.more != pc) close_run();
        if (alone) {
            steps.run[ends.end++ % AheadSteps::most] = {pc & (most_ahead_pc - 1), 1, bank_passes & 0xffu, mask};
        } else {
            if (run.more == 0) run.pc = pc & (most_ahead_pc - 1);
            ++run.more;
        }
        ++count;
        pc = next;
        if (pc == meet || warp.at_barrier) break;
    }
    close_run();
    warp.instructions += count;
    top.pc = pc;
    while (warp.stack.size() > 1 && warp.stack.back().pc == warp.stack.back().reconvergence) warp.stack.pop_back();
    return count;
}

namespace {
