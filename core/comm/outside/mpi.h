// Ranks as MPI processes: `mpirun -np 4 lockstep ...`. The same Communicator as ranks in one process: messages carry their
// virtual time, so that clocks and times are those of run_in_process() over the same links. mpi.cpp where MPI was found when
// building; no_mpi.cpp otherwise, where all of this throws Failure with the package (exit status 3).
//
//     MpiOptions options;                 // own_steps = true: our step lists, the same bits as threads
//     options.link = link_named("ib-hdr").link();
//     run_mpi(options, [&](Communicator& world) { train(world); });
//
// run_mpi names a rank that throws and ends all. MPI's own collectives begin when the last rank has come and take the ring's
// formula; halves, and buffers of 2 GiB and more, take our steps.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/in_process.h"
#include "core/comm/network/network.h"

namespace lockstep::comm {

struct MpiOptions {
    Link link;  // of the ideal network that the virtual clocks count with
    // Instead: its routes, links and slow ranks. A process knows of its own messages alone, so those of several ranks do not
    // wait for each other on a link that they share.
    std::shared_ptr<const Network> network = {};
    bool own_steps =
        false;  // our step lists over send and receive; otherwise MPI's own collectives, timed by the ring's formula
    double timeout_s = 60;  // of a receive: then the run ends and says who waits for whom
    size_t events = 1 << 16;
};

bool mpi_is_built_in();
std::string mpi_version();  // "Open MPI 4.1.4"; empty without MPI
bool started_by_mpirun();   // as its environment says

// All processes that mpirun started, on stream 0. MPI begins with the first call and ends with the last of these objects.
std::unique_ptr<Communicator> mpi_world(const MpiOptions& options);

// Every process's text, in order of ranks, on rank 0 (empty elsewhere): of logs, so it takes no virtual time and counts as
// no message. All ranks of mpi_world() call it.
std::vector<std::string> gather_texts(const std::string& own);

// The program on this process's rank. When it throws, the sentence goes to stderr with the rank's name, and all processes
// end.
RankResult run_mpi(const MpiOptions& options, const std::function<void(Communicator&)>& program);

}  // namespace lockstep::comm
