#include "app/gui/views/cluster/launch/launch_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"
#include "core/comm/network/network.h"

namespace lockstep::gui {

LaunchPlaces launch_places(const parallel::Mesh& mesh) {
    LaunchPlaces places;
    if (mesh.axes.empty()) return places;
    size_t slot = mesh.axes.size() - 1;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
        if (mesh.axes[axis].name == "slot") slot = axis;
    places.slots = mesh.axes[slot].size;
    places.by_turns = slot + 1 < mesh.axes.size();
    places.servers = mesh.ranks() / std::max(1, places.slots);
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const std::vector<int> at = mesh.coordinates(rank);
        int server = 0;
        for (size_t axis = 0; axis < at.size(); ++axis)
            if (axis != slot) server = server * mesh.axes[axis].size + at[axis];
        places.processes.push_back({rank, server, at[slot]});
    }
    return places;
}

int LaunchPlaces::hops_over_network() const {
    int hops = 0;
    for (int rank = 0; rank < world(); ++rank) hops += leaves(rank) ? 1 : 0;
    return hops;
}

int LaunchPlaces::hops_turn_by_turn() const {
    int hops = 0;
    for (int rank = 0; rank < world(); ++rank) hops += rank % servers != next(rank) % servers ? 1 : 0;
    return hops;
}

double hop_us(const std::string& link, double bytes) {
    const comm::Link one = comm::link_named(link).link();
    return one.latency_us + bytes / one.bytes_per_us;
}

std::string mpirun_words(const LaunchPlaces& places) {
    std::string hosts;
    for (int server = 1; server <= places.servers; ++server)
        hosts += fmt::format("{}server{}:{}", server > 1 ? "," : "", server, places.slots);
    return fmt::format("mpirun -np {}{} -H {} train", places.world(), places.by_turns ? " --map-by node" : "", hosts);
}

std::string torchrun_words(const LaunchPlaces& places) {
    if (places.servers < 2) return fmt::format("torchrun --nproc-per-node={} train.py", places.slots);
    return fmt::format("torchrun --nnodes={} --nproc-per-node={} --rdzv-backend=c10d --rdzv-endpoint=server1:29500 train.py",
                       places.servers, places.slots);
}

std::string launch_headline(const LaunchPlaces& places) {
    if (places.servers > 1) return "Local ranks begin at 0 again on every server";
    return fmt::format("On one server a process's local rank is its rank");
}

std::string started_headline(const LaunchPlaces& places) {
    return fmt::format("One program, {} processes: ranks 0 to {}", places.world(), places.world() - 1);
}

std::string started_difference(const LaunchPlaces& places) {
    return fmt::format("{} on each of {}; all are told the world size, {}.", counted(places.slots, "process", "processes"),
                       counted(places.servers, "server"), places.world());
}

std::string hops_headline(const LaunchPlaces& places) {
    std::string crossing;
    for (int rank = 0; rank < places.world(); ++rank)
        if (places.leaves(rank)) crossing += fmt::format("{}{} → {}", crossing.empty() ? "" : ", ", rank, places.next(rank));
    return places.hops_over_network() > 4
               ? fmt::format("{} of {} hops cross the network", places.hops_over_network(), places.world())
               : fmt::format("{} of {} hops cross the network: {}", places.hops_over_network(), places.world(), crossing);
}

std::string hops_difference(const LaunchPlaces& places) {
    if (places.by_turns)
        return fmt::format("Dealt out turn by turn. Numbered server by server, {} of {} would.",
                           places.servers > 1 ? places.servers : 0, places.world());
    return fmt::format("Numbered server by server. Dealt out turn by turn, {} of {} would.", places.hops_turn_by_turn(),
                       places.world());
}

std::string launch_difference(const LaunchPlaces& places) {
    const ProcessPlace& last = places.processes.back();
    if (places.servers < 2) return fmt::format("{} processes, {} GPUs.", places.world(), places.slots);
    return fmt::format("Rank {} of {} is local rank {} on server {}: a server has GPUs 0 to {}.", last.rank, places.world(),
                       last.local, last.server + 1, places.slots - 1);
}

std::string launch_caption(const LaunchPlaces& places) {
    const double bytes = 64e6 / places.world();
    const double inside = hop_us("nvlink4", bytes), between = hop_us("ib-ndr", bytes);
    if (places.hops_over_network() == 0)
        return fmt::format("A round of a ring over 64 MB takes {} over NVLink 4.", time_text(inside));
    return fmt::format(
        "A round of a ring over 64 MB takes {} over NVLink 4, but {} over InfiniBand NDR: all wait for the {} hops of {} "
        "that "
        "cross it.",
        time_text(inside), time_text(between), places.hops_over_network(), places.world());
}

std::string rows_headline(const scene::MeshShown& mesh) {
    if (mesh.before.empty() || mesh.rows < 1) return {};
    const int64_t each = mesh.before.front().rows.count;
    for (const scene::ShardShown& shard : mesh.before)
        if (shard.rows.count != each || each < 1 || shard.flat.count >= 0) return {};
    const double copies =
        static_cast<double>(each) * static_cast<double>(mesh.before.size()) / static_cast<double>(mesh.rows);
    return fmt::format("Each process holds {} {} rows: {}",
                       each == mesh.rows ? std::string("all") : fmt::format("{} of the", each), mesh.rows,
                       copies == 1 ? std::string("each row once") : fmt::format("each row {:g} times", copies));
}

std::string process_words(const LaunchPlaces& places, int rank) {
    const ProcessPlace& process = places.processes[static_cast<size_t>(rank)];
    return fmt::format("RANK={} LOCAL_RANK={} WORLD_SIZE={}: server {}, GPU {}; hands on to rank {}{}", rank, process.local,
                       places.world(), process.server + 1, process.local, places.next(rank),
                       places.leaves(rank) ? " over the network" : " over NVLink");
}

}  // namespace lockstep::gui
