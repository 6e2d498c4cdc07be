// One program started on several servers: who each process is. The mesh's axis "slot", or its last one, numbers the
// processes of a server, all others its servers: where it is the last one ranks fill server after server, as with
// `mpirun -H server1:4,server2:4` and torchrun, else they are dealt out turn by turn, as with `--map-by node`.
#pragma once
#include <string>
#include <vector>

#include "core/parallel/layout/mesh.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {

struct ProcessPlace {
    int rank = 0, server = 0, local = 0;  // its GPU has the number `local` on its server
};
struct LaunchPlaces {
    int servers = 0, slots = 0;  // slots: processes of a server
    bool by_turns = false;
    std::vector<ProcessPlace> processes;
    int world() const { return static_cast<int>(processes.size()); }
    int next(int rank) const { return (rank + 1) % world(); }  // on the ring
    int before(int rank) const { return (rank + world() - 1) % world(); }
    bool leaves(int rank) const {  // its hop to the next one crosses the network
        return processes[static_cast<size_t>(rank)].server != processes[static_cast<size_t>(next(rank))].server;
    }
    int hops_over_network() const;
    int hops_turn_by_turn() const;  // were ranks dealt out to the servers one by one
};
LaunchPlaces launch_places(const parallel::Mesh& mesh);

double hop_us(const std::string& link, double bytes);  // of one message, by the link's latency and bandwidth
std::string mpirun_words(const LaunchPlaces& places);
std::string torchrun_words(const LaunchPlaces& places);
std::string launch_headline(const LaunchPlaces& places);
std::string started_headline(const LaunchPlaces& places);    // before local ranks: "One program, 8 processes: ranks 0 to 7"
std::string started_difference(const LaunchPlaces& places);  // "4 processes on each of 2 servers; ..."
std::string hops_headline(const LaunchPlaces& places);       // "2 of 8 hops cross the network: 3 → 4, 7 → 0"
std::string hops_difference(const LaunchPlaces& places);     // and how many would with ranks dealt out turn by turn
std::string launch_difference(const LaunchPlaces& places);
std::string launch_caption(const LaunchPlaces& places);
std::string process_words(const LaunchPlaces& places, int rank);
// "Each process holds 6 of the 24 rows: 3 copies of them"; empty: no rows are laid out, or not evenly.
std::string rows_headline(const scene::MeshShown& mesh);

}  // namespace lockstep::gui
