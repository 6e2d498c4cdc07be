// NCCL: NVIDIA's collectives between GPUs, found at run time like the CUDA driver; nothing of it is needed to build.
// A group of ranks that can already talk (threads or MPI processes) carries the clocks, sizes and the first handshake; data
// go through rank's GPU, number rank modulo the GPUs there are. nccl.cpp where libraries can be opened at run time;
// no_nccl.cpp otherwise. Written against NCCL's documented interface (2.x); it has not been run on a machine with several
// GPUs.
#pragma once
#include <memory>
#include <string>

#include "core/comm/communicator.h"
#include "core/comm/network/link.h"

namespace lockstep::comm {

// Why NCCL cannot be used here, with the package that would help; empty: it can. LOCKSTEP_LIBNCCL names another library
// than libnccl.so.2.
std::string why_no_nccl();

// The same group, with all_reduce, reduce, broadcast, all_gather, reduce_scatter, send and receive by NCCL; sums of the
// library take the virtual time of the ring's formula over `link`. `group` must outlive it. Throws Failure (status 3).
std::unique_ptr<Communicator> nccl_group(Communicator& group, const Link& link);

}  // namespace lockstep::comm
