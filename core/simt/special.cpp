// Which handler runs a kind. A row is added when its handler exists.
#include "core/simt/special.h"

namespace lockstep::simt {

Handler handler_of(ptx::Kind kind) {
    using ptx::Kind;
    switch (kind) {
        default:
            return nullptr;
    }
}

}  // namespace lockstep::simt
