// Links, the formulas, and a communicator that only adds up times. A group over several nodes moves its bytes over as many
// rails as it has members in a node, up to what the links inside a node carry.
#include "core/parallel/plan/planner_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"

namespace lockstep::parallel {

Machine machine_of(const model::GpuSpec& gpu, const std::string& link, int gpus_per_node) {
    Machine machine{.gpus_per_node = gpus_per_node, .inside = {}, .between = {}};
    if (gpu.nvlink_gb_per_second > 0)
        machine.inside = {"nvlink", "NVLink", comm::link_named("nvlink3").latency_us, gpu.nvlink_gb_per_second / 2,
                          gpu.nvlink_gb_per_second.source};
    else
        machine.inside = {"pcie", "PCI Express", comm::link_named("pcie4").latency_us, gpu.pcie_gb_per_second,
                          gpu.pcie_gb_per_second.source};
    if (link == "nvlink" && gpu.nvlink_gb_per_second <= 0)
        throw Failure(fmt::format("{} has no NVLink: --link takes 10gbe, 40gbe, ib-edr, ib-hdr or ib-ndr", gpu.title));
    const uint32_t year = gpu.year;
    const std::string sold = year >= 2022 ? "ib-ndr" : year >= 2020 ? "ib-hdr" : "ib-edr";
    machine.between = link == "nvlink" ? machine.inside : comm::link_named(link.empty() ? sold : link);
    return machine;
}

double collective_us(const Machine& machine, GroupPlace place, PlannedCollective what, double bytes) {
    const double n = place.members;
    if (n <= 1 || bytes <= 0) return 0;
    const bool inside = place.in_node >= place.members;
    const double rails = inside ? machine.inside.gigabytes_per_s
                                : std::min(machine.inside.gigabytes_per_s, machine.between.gigabytes_per_s * place.in_node);
    const double a = inside ? machine.inside.latency_us : machine.between.latency_us;
    const double b = rails * machine.efficiency * 1e3;  // bytes a microsecond
    const double ring = (n - 1) * a + (n - 1) / n * bytes / b, tree = std::ceil(std::log2(n)) * a + bytes / b;
    switch (what) {
        case PlannedCollective::all_reduce:
            return 2 * std::min(ring, tree);
        case PlannedCollective::broadcast:
        case PlannedCollective::reduce:
            return tree;
        case PlannedCollective::message:
            return a + bytes / ((inside ? machine.inside : machine.between).gigabytes_per_s * machine.efficiency * 1e3);
        default:
            return ring;
    }
}

PlannedCommunicator::PlannedCommunicator(std::shared_ptr<PlannedWorld> world)
    : world_(std::move(world)),
      rank_(world_->rank),
      place_{world_->size, std::min(world_->size, world_->machine.gpus_per_node)} {}

std::unique_ptr<comm::Communicator> PlannedCommunicator::group(std::span<const int> ranks) {
    auto made = std::make_unique<PlannedCommunicator>(world_);
    const int node = world_->rank / world_->machine.gpus_per_node;
    made->place_ = {static_cast<int>(ranks.size()), 0};
    for (const int member : ranks) {
        const int there = world_rank(member);
        if (there == world_->rank) made->rank_ = static_cast<int>(made->members_.size());
        made->place_.in_node += there / world_->machine.gpus_per_node == node;
        made->members_.push_back(there);
    }
    made->stream_ = stream_;
    made->name_ = name_;
    return made;
}

std::unique_ptr<comm::Communicator> PlannedCommunicator::on(int stream) {
    auto made = std::make_unique<PlannedCommunicator>(*this);
    made->stream_ = stream;
    return made;
}

double PlannedCommunicator::time_us() const {
    const auto found = world_->clocks.find(stream_);
    return found == world_->clocks.end() ? 0 : found->second;
}
void PlannedCommunicator::advance(double us, std::string_view label) {
    world_->clocks[stream_] += us;
    (label == "forward" ? world_->forward_us : world_->other_us) += us;
}
void PlannedCommunicator::wait_until(double us) {
    double& clock = world_->clocks[stream_];
    clock = std::max(clock, us);
}

void PlannedCommunicator::take(PlannedCollective what, double bytes, double sent) {
    const double us = collective_us(world_->machine, place_, what, bytes);
    world_->clocks[stream_] += us;
    PlannedTraffic& traffic = world_->traffic[name_];
    traffic.us += us;
    traffic.bytes += sent;
    ++traffic.calls;
}

void PlannedCommunicator::send(int, const comm::Buffer& buffer, std::string_view) {
    world_->traffic[name_].bytes += double(buffer.bytes());
}
void PlannedCommunicator::receive(int from, const comm::Buffer& buffer, std::string_view) {
    const int node = world_->rank / world_->machine.gpus_per_node;
    const bool inside = world_rank(from) / world_->machine.gpus_per_node == node;
    const double us =
        collective_us(world_->machine, {2, inside ? 2 : 1}, PlannedCollective::message, double(buffer.bytes()));
    world_->clocks[stream_] += us;
    world_->traffic[name_].us += us;
    ++world_->traffic[name_].calls;
}
void PlannedCommunicator::receive_reduce(int from, const comm::Buffer& buffer, comm::Reduction, std::string_view label) {
    receive(from, buffer, label);
}

void PlannedCommunicator::all_reduce(const comm::Buffer& buffer, comm::Reduction) {
    const double n = size(), bytes = double(buffer.bytes());
    take(PlannedCollective::all_reduce, bytes, 2 * (n - 1) / n * bytes);
}
void PlannedCommunicator::reduce(const comm::Buffer& buffer, int, comm::Reduction) {
    take(PlannedCollective::reduce, double(buffer.bytes()), double(buffer.bytes()));
}
void PlannedCommunicator::broadcast(const comm::Buffer& buffer, int) {
    take(PlannedCollective::broadcast, double(buffer.bytes()), double(buffer.bytes()));
}
void PlannedCommunicator::all_gather(const comm::Buffer&, const comm::Buffer& whole) {
    const double n = size(), bytes = double(whole.bytes());
    take(PlannedCollective::all_gather, bytes, (n - 1) / n * bytes);
}
void PlannedCommunicator::reduce_scatter(const comm::Buffer& whole, const comm::Buffer&, comm::Reduction) {
    const double n = size(), bytes = double(whole.bytes());
    take(PlannedCollective::reduce_scatter, bytes, (n - 1) / n * bytes);
}
void PlannedCommunicator::all_to_all(const comm::Buffer& from, const comm::Buffer&) {
    const double n = size(), bytes = double(from.bytes());
    take(PlannedCollective::all_to_all, bytes, (n - 1) / n * bytes);
}
void PlannedCommunicator::barrier() {
    take(PlannedCollective::all_reduce, 1, 0);
}

}  // namespace lockstep::parallel
