// A product on a mesh as a scene's row ran it: who held what of both factors, what came out, into which layout it was
// brought, and what every rank sent for that.
#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel/layout/layout.h"

namespace lockstep::scene {

struct MeshProduct {
    parallel::Mesh mesh;
    parallel::LaidOut a, b, made, to;
    parallel::Redistribution plan;  // from made to `to`
    bool moves = false;             // a layout was asked for
    std::vector<int64_t> sent;      // bytes by rank, counted
    double wrong = 0;               // elements that are not what they should be, of all ranks
};

}  // namespace lockstep::scene
