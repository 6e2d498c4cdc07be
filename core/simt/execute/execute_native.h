// Native code in the loop, part of execute_body.h: where a stretch begins, a translation that fits what the registers hold
// runs in the place of the loop's short form (native/native.h). No include guard: compiled once for each instruction set.

// NativeCall::lanes and ::access: single instructions that native code leaves to the steps of the loop.
inline void native_lanes(NativeCall* call, uint32_t pc, uint32_t mask) {
    const Machine& m = *static_cast<const Machine*>(call->machine);
    const Prepared& p = m.steps[pc];
    if (p.code == Code::lane_wise)
        lane_wise(m, p, mask);
    else if (p.code == Code::lane_wise_many)
        lane_wise_many(m, p, mask);
    else
        read_special_register(m, p, mask);
}
// Native code takes a window that has bytes for one that may be used.
inline void close_old_windows(Grid& grid) {
    const uint64_t version = grid.memory->version();
    if (grid.windows_closed == version) return;
    grid.windows_closed = version;
    for (MemoryWindow& window : grid.windows)
        if (window.version != version) window.bytes = 0;
}
inline uint32_t native_access(NativeCall* call, uint32_t pc, uint32_t mask) {
    const Machine& m = *static_cast<const Machine*>(call->machine);
    const Prepared& p = m.steps[pc];
    thread_local Access access;
    m.shapes_known = 0;  // it may be of registers as they were
    Fault* fault = nullptr;
    if (p.code == Code::load_param)
        fault = load_param(m, p, mask, access);
    else if (p.code == Code::store_shared || p.code == Code::store_global || p.code == Code::store_any)
        fault = store_memory<false>(m, p, mask, access, nullptr);
    else
        fault = load_memory<false>(m, p, mask, access, nullptr);
    close_old_windows(m.grid);
    return fault ? 0 : 1;
}

// Runs what a translation covers from s.next on; false: nothing.
[[gnu::noinline]] inline bool run_native(const Machine& m, Stretch& s) {
    Native& native = *m.grid.native;
    NativeEntry& entry = native.entries[s.next];
    if (entry.closed.load(std::memory_order_relaxed)) return false;
    const Translation* t = entry.first.load(std::memory_order_acquire);
    NativeCall call{.registers = m.registers,
                    .shared = m.block.shared.data(),
                    .shared_bytes = m.shared_bytes,
                    .parameters = m.grid.config->parameters.data(),
                    .windows = m.grid.windows.data(),
                    .left = s.left,
                    .active = s.active,
                    .meet = s.meet,
                    .machine = &m,
                    .lanes = native_lanes,
                    .access = native_access};
    close_old_windows(m.grid);
    const bool whole = s.active == full_mask;
    uint32_t next = does_not_fit;
    for (; t && next == does_not_fit; t = t->next)
        if (t->whole == whole) next = t->code(&call);
    if (next == does_not_fit) {
        if (entry.visits.fetch_add(1, std::memory_order_relaxed) < native.options.visits) return false;
        t = native.translate(*m.grid.plan, call, s.next);
        if (!t || (next = t->code(&call)) == does_not_fit) return false;
    }
    s.pc = s.next;
    s.mask = s.active;
    s.next = next;
    m.shapes_known = 0;
    const uint64_t ran = s.left - call.left;
    s.left = call.left;
    s.idle += call.idle + ran * (warp_size - static_cast<uint64_t>(__builtin_popcount(s.active)));
    s.looks_up = s.next == s.meet;
    s.fault = nullptr;
    return ran != 0;
}
