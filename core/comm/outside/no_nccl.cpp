// The twin of nccl.cpp where libraries cannot be opened at run time.
#include "core/base/diagnostic.h"
#include "core/comm/outside/nccl.h"

namespace lockstep::comm {

std::string why_no_nccl() {
    return "this build cannot open libraries at run time, and so has no NCCL";
}
std::unique_ptr<Communicator> nccl_group(Communicator&, const Link&) {
    throw Failure(why_no_nccl(), ExitStatus::missing);
}

}  // namespace lockstep::comm
