// A warp's turn in execute(), part of execute_body.h: what the loop holds between two instructions, the codes that look at
// the paths of the warp, and what comes behind an instruction: other paths, the look for spins, the event. No include guard:
// compiled once for each instruction set.

struct Step {           // the instruction that runs
    uint32_t pc, path;  // path: its lanes
    uint32_t mask;      // those whose guard holds
    Fault* fault = nullptr;
    uint32_t special_bytes = 0;  // that a lane accessed, as a special one says; 0: Prepared::access_bytes()
    bool ends_turn = false;
    WarpEvent::Kind kind = WarpEvent::Kind::executed;
};

// Record, Checked: see execute(). All functions are inlined, so that an object on the stack lies in registers.
template <bool Record, bool Checked>
struct Turn {
    const Machine& m;
    Warp& warp;
    WarpEvent& event;
    Access& access;
    const Checks* checks;
    const uint64_t budget;
    // The running entry of the stack, written back before anybody looks at it there.
    uint32_t next, active, meet;
    uint64_t limit;                 // instructions until the loop has to look up; 0: the turn is over
    uint64_t count = 0, lanes = 0;  // that have run

    [[gnu::always_inline]] void write_back(uint32_t pc) {
        StackEntry& top = warp.stack.back();
        top.pc = pc;
        top.reconvergence = meet;
        top.mask = active;
    }
    [[gnu::always_inline]] void read_again() {
        const StackEntry& top = warp.stack.back();
        next = top.pc;
        active = top.mask;
        meet = top.reconvergence;
    }
    // Another path may have begun to run; in another frame: run() calls execute() again.
    [[gnu::always_inline]] void other_path(Step& s) {
        read_again();
        m.shapes_known = 0;
        event.gives_way |= warp.watch.gives_way;
        warp.watch.gives_way = false;
        if (!warp.at_barrier && !event.gives_way && warp.registers == m.registers) return;
        limit = 0;
        s.ends_turn = true;
    }

    // The loop's short form, as far as it goes; true: its last instruction is `s`, and has to be looked up behind.
    [[gnu::always_inline]] bool run_stretch(Step& s) {
        Stretch stretch{.next = next, .meet = meet, .active = active, .left = limit - count};
        do {
            if (!Checked && m.grid.native && run_native(m, stretch)) {
                stretch.at_loop = false;
                if (stretch.looks_up || !is_common(m.steps[stretch.next].code)) break;
            }
            if (active == full_mask)
                run_common<Checked, true>(m, stretch, access, checks);
            else
                run_common<Checked, false>(m, stretch, access, checks);
        } while (!Checked && stretch.at_loop);
        const uint64_t ran = limit - count - stretch.left;
        count += ran;
        lanes += ran * warp_size - stretch.idle;
        next = stretch.next;
        s.pc = stretch.looks_up ? stretch.pc : stretch.next;
        if (stretch.looks_up) s.mask = stretch.mask;
        s.fault = stretch.fault;
        return stretch.looks_up;
    }

    // What the event says of an access, before it is carried out.
    [[gnu::always_inline]] void locate_access(const Prepared& p, Step& s) {
        if constexpr (Record) {
            s.kind = WarpEvent::Kind::memory;
            event.is_atomic = p.code == Code::atomic;
            event.is_store =
                event.is_atomic || p.code == Code::store_shared || p.code == Code::store_global || p.code == Code::store_any;
            locate(warp, p, s.mask, access);
        }
    }

    // The lanes `taken` go to `target`, the others are at `pc` and go on behind it.
    [[gnu::always_inline]] void split(const Prepared& p, uint32_t pc, uint32_t path, uint32_t target, uint32_t taken) {
        event.diverged = true;
        StackEntry top{pc, meet, path, warp.stack.back().frame};
        diverge(warp, target, p.reconvergence, top, taken);
        read_again();
    }
    [[gnu::always_inline]] void branch(const Prepared& p, Step& s) {
        if (Record) s.kind = WarpEvent::Kind::branch;
        const Way way = way_of(m, p, s.path, s.mask);
        if (way == Way::to_target) next = p.target;
        if (way == Way::both) split(p, s.pc, s.path, p.target, s.mask);
    }
    [[gnu::always_inline]] void branch_table(const Prepared& p, Step& s) {
        if (Record) s.kind = WarpEvent::Kind::branch;
        if (!s.mask) return;
        uint32_t target = 0, taken = 0;
        s.fault = table_target(warp, s.pc, p, s.mask, target, taken);
        next = target;
        if (taken != s.path && !s.fault) split(p, s.pc - 1, s.path, target, taken);  // the others come here again
    }
    [[gnu::always_inline]] void call_or_return(const Prepared& p, Step& s) {
        if (Record) s.kind = WarpEvent::Kind::branch;
        if (!s.mask) return;
        write_back(next);
        s.fault = p.code == Code::call ? call(warp, s.pc, p, s.mask) : come_back(warp, s.mask);
        other_path(s);
    }
    // True: the warp is done.
    [[gnu::always_inline]] bool exit(Step& s) {
        if (Record) s.kind = WarpEvent::Kind::exit;
        if (!s.mask) return false;
        write_back(next);
        s.fault = leave(warp, s.mask, event.barrier_released);
        if (!warp.frames.empty()) leave_frames(warp);
        if (warp.done) return true;
        other_path(s);
        return false;
    }
    [[gnu::always_inline]] void barrier(Step& s) {
        if (!s.mask) return;
        write_back(s.pc);
        s.fault = arrive(warp, s.pc, s.path, s.mask, event.barrier_released);
        s.kind = WarpEvent::Kind::barrier;
        limit = 0;
    }
    // For these other lanes may have to come first: warp_barrier, shuffle, vote.
    [[gnu::always_inline]] void among_lanes(Fault* (*meet_lanes)(Warp&, uint32_t, const Prepared&, uint32_t),
                                            const Prepared& p, Step& s) {
        if (!s.mask) return;
        write_back(s.pc);
        s.fault = meet_lanes(warp, s.pc, p, s.mask);
        if (warp.watch.undefined) limit = std::min(limit, count);
    }
    [[gnu::always_inline]] void special(const Prepared& p, Step& s) {
        if (!s.mask) return;
        write_back(next);
        Special done{warp, s.pc, p, s.mask, s.path, access};
        s.fault = p.handler(done);
        if (done.again) next = s.pc;
        if (done.ends_turn) {
            s.kind = WarpEvent::Kind::barrier;
            limit = 0;
        }
        event.barrier_released |= done.barrier_released;
        event.until = done.until;
        event.sectors = done.sectors;
        if (Record && done.is_memory && !done.again) {
            s.kind = WarpEvent::Kind::memory;
            event.is_store = done.is_store;
            event.is_atomic = done.is_atomic;
            s.special_bytes = done.bytes;
            if (done.lanes) s.mask = done.lanes;
        }
    }

    // False: the warp is done.
    [[gnu::always_inline]] bool run(const Prepared& p, Step& s) {
        switch (p.code) {
            case Code::lane_wise:
                lane_wise(m, p, s.mask);
                break;
            case Code::lane_wise_many:
                lane_wise_many(m, p, s.mask);
                break;
            case Code::special_register:
                read_special_register(m, p, s.mask);
                break;
            case Code::load_param:
                locate_access(p, s);
                s.fault = load_param(m, p, s.mask, access);
                break;
            case Code::load_shared:
                locate_access(p, s);
                s.fault = load_shared<Checked>(m, p, s.mask, access, checks);
                break;
            case Code::load_global:
            case Code::load_any:
                locate_access(p, s);
                s.fault = load_memory<Checked>(m, p, s.mask, access, checks);
                break;
            case Code::store_shared:
            case Code::store_global:
            case Code::store_any:
                locate_access(p, s);
                s.fault = store_memory<Checked>(m, p, s.mask, access, checks);
                break;
            case Code::atomic:
                locate_access(p, s);
                s.fault = atomic<Checked>(m, p, s.mask, access, checks);
                break;
            case Code::branch:
                branch(p, s);
                break;
            case Code::branch_table:
                branch_table(p, s);
                break;
            case Code::call:
            case Code::return_:
                call_or_return(p, s);
                break;
            case Code::exit:
                if (exit(s)) return false;
                break;
            case Code::barrier:
                barrier(s);
                break;
            case Code::warp_barrier:
                among_lanes(warp_barrier, p, s);
                break;
            case Code::shuffle:
                among_lanes(shuffle, p, s);
                break;
            case Code::vote:
                among_lanes(vote, p, s);
                break;
            case Code::nop:
                if constexpr (Checked) note_fence(warp, s.pc, s.mask);
                break;
            case Code::special:
                special(p, s);
                break;
            case Code::trap:
                if (s.mask) s.fault = trap_fault(warp, s.pc, s.mask);
                break;
        }
        return true;
    }

    // Behind an instruction that faulted, has to wait, came to where its path meets others, or took the last of `limit`.
    [[gnu::always_inline]] void look_up(Step& s) {
        if (s.fault == must_wait) {  // for other paths of the warp
            s.fault = choose_path(warp);
            other_path(s);
            if (warp.watch.undefined) limit = std::min(limit, count);
        } else if (s.fault) {
            next = s.pc;
        }
        while (next == meet && !s.fault) {  // the entry below waits here with all lanes of the region
            if (warp.waits.empty()) {
                warp.stack.pop_back();
                read_again();
                if (!warp.frames.empty()) {  // paths that ran in another order may have left one of another frame below
                    follow_frame(warp);
                    other_path(s);
                }
            } else {
                s.fault = meet_others(warp);
                other_path(s);
            }
        }
        if (count < limit || s.fault) return;
        if (warp.watch.next <= warp.instructions + count || warp.watch.undefined) {
            write_back(next);
            s.fault = watch_or_go_on(warp, warp.instructions + count, s.pc, s.mask);
            other_path(s);
        }
        limit = std::min(budget, next_look(warp, count));
    }
    // The event of the one instruction that step() runs.
    [[gnu::always_inline]] void record(const Prepared& p, Step& s) {
        if (s.kind == WarpEvent::Kind::memory) {
            event.space = access.space;
            event.bytes = static_cast<uint8_t>(s.special_bytes ? s.special_bytes : p.access_bytes());
            event.addresses = access.addresses;
        }
        while (next >= m.grid.program->instructions.size()) {  // lanes that ran past the last one leave with it
            write_back(next);
            event.fault = leave(warp, active, event.barrier_released);
            if (event.fault) s.kind = WarpEvent::Kind::fault;
            if (warp.done || event.fault) break;
            other_path(s);
        }
    }
    [[gnu::always_inline]] void finish(WarpEvent::Kind kind, const Step& s, uint64_t& thread_instructions) {
        const auto& instructions = m.grid.program->instructions;
        event.kind = kind;
        event.pc = s.pc;
        event.instruction = s.pc < instructions.size() ? &instructions[s.pc] : nullptr;
        event.active = s.path;
        event.executed = s.mask;
        warp.instructions += count;
        thread_instructions += lanes;
        if (!warp.stack.empty()) write_back(next);
    }
};
