#include "core/system/guard.h"

namespace lockstep::system {

bool set_page_access(uint64_t, uint64_t, PageAccess) {
    return false;
}

void on_refused_access(bool (*)(const RefusedAccess& access)) {}

}  // namespace lockstep::system
