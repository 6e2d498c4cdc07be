// See checker.h.
#include "core/simt/checker.h"

namespace lockstep::simt {

void note_access(const Warp&, uint32_t, ptx::Space, const uint64_t*, uint32_t, uint32_t, AccessKind) {}
void note_warp_barrier(const Warp&, uint32_t) {}
void note_barrier(const Block&, uint32_t) {}

}  // namespace lockstep::simt
