// Which handler runs a kind. A row is added when its handler exists.
#include "core/simt/execute/special.h"

namespace lockstep::simt {

Handler handler_of(ptx::Kind kind) {
    using ptx::Kind;
    switch (kind) {
        case Kind::matrix:
            return run_matrix;
        case Kind::matrix_load:
            return run_matrix_load;
        case Kind::matrix_store:
            return run_matrix_store;
        case Kind::matrix_group:
            return run_matrix_group;
        case Kind::async_copy:
            return run_async_copy;
        case Kind::async_wait:
            return run_async_wait;
        case Kind::mbarrier:
            return run_mbarrier;
        case Kind::bulk_copy:
            return run_bulk_copy;
        case Kind::bulk_wait:
            return run_bulk_wait;
        case Kind::cluster:
            return run_cluster;
        case Kind::texture:
            return run_texture;
        case Kind::surface:
            return run_surface;
        case Kind::system:
            return run_system;
        case Kind::tensor_map:
            return run_tensor_map;
        case Kind::multimem:
            return run_multimem;
        default:
            return nullptr;
    }
}

}  // namespace lockstep::simt
