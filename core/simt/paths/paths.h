// Which lanes of a warp run where, and who runs next. Internal to core/simt.
//
// The entries of Warp::stack are a tree written down parents first: an entry's parent is the nearest one below it that holds
// all its lanes. A leaf is a path. An entry with others above it that belong to it is where these will meet: it waits at its
// pc with the lanes of its mask that none of them has. The last entry is a leaf, and runs.
//
// On a warp with a stack nothing else happens: when the running path comes to its reconvergence point it is dropped, and the
// last entry runs. Independent threads begin the same way. Then a path may have to wait (Warp::waits says why) or spin, and
// the others go on in this order: leaves that may run, last first; lanes that wait to meet others, innermost first, which
// go on alone; those that spun. When nothing is left but to spin, the warp gives way to others. Paths that stand at one pc,
// in one frame and under one parent become one.
//
// That a path spins is seen, not guessed: now and then a path is watched over some turns of its loop; it spins if it comes
// back with all registers as they were and no memory changed. Or it reads one memory over and over through a very long turn.
#pragma once
#include "core/simt/memory/access.h"

namespace lockstep::simt {

// Splits the running entry `top` (a copy of the stack's last) at a branch that the lanes `taken` take.
//
// Divergence is a stack over immediate post-dominators. The running entry becomes the reconvergence entry; the taken side
// is pushed, then the side that falls through: so the latter runs first, as the `if` side does before the `else` side in
// the published pictures. A side that begins at the reconvergence point is not pushed (its lanes are already there), and
// an entry that would only wait to be popped is dropped: so a loop never grows the stack. A branch without a
// reconvergence point replaces its entry by the two sides.
void diverge(Warp& warp, uint32_t target, uint32_t reconvergence, StackEntry& top, uint32_t taken);

// The lanes in `mask` leave for good, from every path. Sets `released` when that opened a barrier that others wait at.
Fault* leave(Warp& warp, uint32_t mask, bool& released);

// Lanes that have exited, or whose next instruction is an exit: `if (i >= n) return;` is compiled as a branch to the last
// ret, where those lanes wait for the others; a barrier or a shuffle in between does not need them.
uint32_t gone(const Warp& warp);

// Whether nothing lies from `pc` to the end of the kernel but arithmetic and stores, without a branch: what a compiler may
// have made of the same last steps of several returns, `out[i] = -1; return;`. Lanes that are there have as good as ended.
bool is_common_tail(const ptx::Program& program, uint32_t pc);

// What an instruction returns in place of a fault when its path has to wait for others of the warp; its Warp::waits.back()
// says why. The executor then calls choose_path.
extern Fault* const must_wait;

// A lane that takes part must be in its own member mask, and the members must be here or gone. `what`: "shuffle".
// Independent threads: must_wait when members are on other paths.
Fault* check_members(Warp& warp, uint32_t pc, uint32_t mask, const uint32_t* members, const char* what);

// bar.warp.sync by the lanes `mask` of the running path.
Fault* warp_barrier(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// Puts the path that runs next on top, after the running one has begun to wait or has met others. May set at_barrier or
// watch.gives_way. The fault when some path waits for what cannot come.
Fault* choose_path(Warp& warp);

// The running path stands at its reconvergence point, and Warp::waits is not empty.
Fault* meet_others(Warp& warp);

// When the executor has to look up again, in instructions from warp.instructions on, `count` of which have run.
inline uint64_t next_look(const Warp& warp, uint64_t count) {
    if (warp.watch.undefined) return count + 1;
    const uint64_t at = warp.watch.next > warp.instructions ? warp.watch.next - warp.instructions : 0;
    return at > count ? at : count + 1;
}

// The look: `executed` instructions have run in all, the last one at `pc` by the lanes `mask`. May put another path on top,
// or set watch.gives_way.
Fault* watch_or_go_on(Warp& warp, uint64_t executed, uint32_t pc, uint32_t mask);

// The kernel's own registers, in Block::registers.
std::byte* kernel_registers(const Warp& warp);
// A frame's registers; -1: the kernel's own.
std::byte* registers_of(const Warp& warp, int32_t frame);

// Lanes of entry i that wait there to meet others; all of a leaf's are on their way.
uint32_t waiting_to_meet(const Warp& warp, size_t i);
bool is_leaf(const Warp& warp, size_t i);

}  // namespace lockstep::simt
