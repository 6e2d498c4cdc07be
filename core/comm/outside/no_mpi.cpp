// The twin of mpi.cpp where MPI was not found when building.
#include "core/base/diagnostic.h"
#include "core/comm/outside/mpi.h"

namespace lockstep::comm {

namespace {
[[noreturn]] void mpi_is_missing() {
    throw Failure("this build has no MPI: install libopenmpi-dev and openmpi-bin, configure and build again",
                  ExitStatus::missing);
}
}  // namespace

bool mpi_is_built_in() {
    return false;
}
std::string mpi_version() {
    return {};
}
bool started_by_mpirun() {
    return false;
}
std::unique_ptr<Communicator> mpi_world(const MpiOptions&) {
    mpi_is_missing();
}
std::vector<std::string> gather_texts(const std::string&) {
    mpi_is_missing();
}
RankResult run_mpi(const MpiOptions&, const std::function<void(Communicator&)>&) {
    mpi_is_missing();
}

}  // namespace lockstep::comm
