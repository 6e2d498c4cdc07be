// The machine that a plan runs on, and its messages without bytes: how long collectives take between GPUs of a node and
// between nodes, by the closed formulas. PlannedCommunicator is one rank's end of groups whose other members do what it does
// at the same time: the training program runs on it as on any Communicator, alone.
//
//     ring       all-reduce 2 (n-1) a + 2 (n-1)/n S/B, all-gather and reduce-scatter half of it
//     tree       all-reduce 2 log2(n) a + 2 S/B; broadcast, reduce: half of it
//     all-to-all (n-1) a + (n-1)/n S/B
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/network/network.h"
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::parallel {

struct Machine {
    int gpus_per_node = 8;
    comm::LinkRow inside, between;  // of a node; between nodes. One direction, of one GPU
    double efficiency = 1;          // share of the bandwidths that is reached
    bool operator==(const Machine& other) const {
        return gpus_per_node == other.gpus_per_node && inside.name == other.inside.name &&
               between.name == other.between.name && efficiency == other.efficiency;
    }
};
// Eight GPUs a node over NVLink, or PCI Express where the GPU has none, as its row says. `link` between nodes: a row of
// comm::links(), or "nvlink" for one node without end; empty: the network that was sold with this GPU.
Machine machine_of(const model::GpuSpec& gpu, const std::string& link = {}, int gpus_per_node = 8);

struct GroupPlace {  // where the members of a group are
    int members = 1, in_node = 1;
};
enum class PlannedCollective : uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, message };
// `bytes`: of the whole buffer. Members of one node share its links to the others: each drives its own.
double collective_us(const Machine& machine, GroupPlace place, PlannedCollective what, double bytes);

struct PlannedTraffic {
    double us = 0, bytes = 0;  // on the link; bytes that this rank sends
    int64_t calls = 0;
};

struct PlannedWorld {  // what all communicators of a planned rank share
    Machine machine;
    int rank = 0, size = 1;
    std::map<int, double> clocks;                   // by stream
    std::map<std::string, PlannedTraffic> traffic;  // by the group's name: "tp"
    double forward_us = 0, other_us = 0;            // what advance() was told of: "forward", and the rest
};

class PlannedCommunicator final : public comm::Communicator {
  public:
    explicit PlannedCommunicator(std::shared_ptr<PlannedWorld> world);  // of all ranks
    void call_it(const std::string& name) { name_ = name; }             // for PlannedWorld::traffic

    int rank() const override { return rank_; }
    int size() const override { return members_.empty() ? world_->size : static_cast<int>(members_.size()); }
    int world_rank(int member) const override { return members_.empty() ? member : members_[static_cast<size_t>(member)]; }
    void send(int to, const comm::Buffer& buffer, std::string_view label = {}) override;
    void receive(int from, const comm::Buffer& buffer, std::string_view label = {}) override;
    void receive_reduce(int from, const comm::Buffer& buffer, comm::Reduction reduction,
                        std::string_view label = {}) override;
    std::unique_ptr<comm::Communicator> group(std::span<const int> ranks) override;
    std::unique_ptr<comm::Communicator> on(int stream) override;
    double time_us() const override;
    void advance(double us, std::string_view label = {}) override;
    void wait_until(double us) override;
    void all_reduce(const comm::Buffer& buffer, comm::Reduction reduction = comm::Reduction::sum) override;
    void reduce(const comm::Buffer& buffer, int root, comm::Reduction reduction = comm::Reduction::sum) override;
    void broadcast(const comm::Buffer& buffer, int root) override;
    void all_gather(const comm::Buffer& piece, const comm::Buffer& whole) override;
    void reduce_scatter(const comm::Buffer& whole, const comm::Buffer& piece,
                        comm::Reduction reduction = comm::Reduction::sum) override;
    void all_to_all(const comm::Buffer& from, const comm::Buffer& to) override;
    void barrier() override;

  private:
    void take(PlannedCollective what, double bytes, double sent);

    std::shared_ptr<PlannedWorld> world_;
    std::vector<int> members_;  // empty: all ranks
    int rank_ = 0, stream_ = 0;
    GroupPlace place_;
    std::string name_ = "world";
};

}  // namespace lockstep::parallel
