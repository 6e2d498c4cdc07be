// The kinds that the executor does not run in its own loop: matrices, asynchronous copies, textures, system calls ... One
// handler a kind, out of line; special.cpp lists them. A handler does the work of the lanes in `mask` and says what
// happened; the loop goes on at pc + 1 unless it returned a fault. Internal to core/simt.
#pragma once
#include "core/simt/memory/access.h"

namespace lockstep::simt {

struct Special {
    Warp& warp;
    uint32_t pc;
    const Prepared& p;
    uint32_t mask;  // lanes whose guard holds; never 0
    uint32_t path;  // lanes of the running path
    Access& access;

    // What the event says. A memory access fills access.space and access.addresses (of the lanes in `lanes`).
    bool is_memory = false, is_store = false, is_atomic = false;
    uint32_t lanes = 0;      // that accessed memory; 0: those of `mask`
    uint32_t bytes = 0;      // of a lane; 0: Prepared::access_bytes()
    bool again = false;      // nothing happened yet: the instruction runs again when the warp's turn comes
    bool ends_turn = false;  // other warps should run before this one goes on (a wait that was not over, a barrier)
    bool barrier_released = false;
    const std::vector<uint64_t>* sectors = nullptr;  // of a bulk copy: see WarpEvent
    int64_t until = 0;  // cycle before which the warp does not go on: a wait whose end is known; 0: at once

    const ptx::DecodedInstruction& instruction() const { return warp.block->grid->program->instructions[pc]; }
};

Handler handler_of(ptx::Kind kind);  // null: the kind has none

// The handlers.
Fault* run_matrix(Special&);        // matrix.cpp
Fault* run_matrix_load(Special&);   // matrix.cpp
Fault* run_matrix_store(Special&);  // matrix.cpp
Fault* run_matrix_group(Special&);  // matrix_group.cpp
Fault* run_group_order(Special&);   // matrix_group.cpp; of Kind::nop
Fault* run_async_copy(Special&);    // async_copy.cpp
Fault* run_async_wait(Special&);    // async_copy.cpp
Fault* run_mbarrier(Special&);      // mbarrier.cpp
Fault* run_bulk_copy(Special&);     // bulk_copy.cpp
Fault* run_bulk_wait(Special&);     // bulk_copy.cpp
Fault* run_cluster(Special&);       // cluster.cpp
Fault* run_texture(Special&);       // texture.cpp
Fault* run_surface(Special&);       // texture.cpp
Fault* run_system(Special&);        // system.cpp
Fault* run_tensor_map(Special&);    // tensor_map_change.cpp
Fault* run_multimem(Special&);      // multimem.cpp

}  // namespace lockstep::simt
