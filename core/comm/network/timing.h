// Times a collective on a network without moving data: event-driven, for thousands of ranks, with the same clocks, links and
// order as ranks that really run (in_process.h). What the pictures of a collective draw.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "core/comm/collectives/collectives.h"
#include "core/comm/network/traffic.h"

namespace lockstep::comm {

struct Transfer {  // one send and its receive
    int from = 0, to = 0, round = 0;
    int chunk = 0, run = 1;
    bool reduce = false;
    int64_t bytes = 0;
    double sent_us = 0;      // the sender hands it over
    double begin_us = 0;     // the first link takes it
    double arrival_us = 0;   // its last byte is there
    double received_us = 0;  // the receiver has taken it
};

enum class WaitCause : uint8_t { late_sender, busy_link, on_the_way };
std::string_view name_of(WaitCause cause);  // "late sender"

struct RankWait {  // a rank that does nothing until `transfer` is there
    int rank = 0, transfer = 0;
    double begin_us = 0, end_us = 0;
    WaitCause cause = WaitCause::on_the_way;
};

struct CollectiveRun {
    std::shared_ptr<const Collective> collective;
    std::shared_ptr<const Network> network;
    int64_t elements = 0;
    DType type = DType::f32;
    std::vector<Transfer> transfers;
    std::vector<LinkSpan> link_spans;                 // message: index into `transfers`
    std::vector<RankWait> waits;                      // by rank, in order
    std::vector<double> start_us, end_us;             // by rank
    std::vector<int64_t> bytes_sent, bytes_received;  // by rank
    NetworkUse use;
    double total_us = 0;                                           // from the first rank's start to the last one's end
    double formula_us = std::numeric_limits<double>::quiet_NaN();  // where one holds
    double bus_gigabytes_per_s = 0;                                // nccl-tests' definition; 0 where it has none

    int64_t bytes() const { return elements * static_cast<int64_t>(size_of(type)); }
};

struct TimingOptions {
    std::vector<double> start_us = {};  // by rank: late ones; empty: all at 0
    bool detail = true;                 // transfers, link spans and waits; otherwise times and bytes alone
};

// `elements`: of the whole buffer (all_to_all: of one rank's, to be cut into as many parts as ranks). Throws Failure when
// the collective and the network differ in ranks.
CollectiveRun time_collective(std::shared_ptr<const Collective> collective, std::shared_ptr<const Network> network,
                              int64_t elements, DType type = DType::f32, const TimingOptions& options = {});

// nccl-tests: S/t times 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for broadcast,
// reduce.
double bus_bandwidth(std::string_view operation, int ranks, int64_t bytes, double us);  // GB/s

// Whose values every rank holds of every chunk: [round][rank * chunks + chunk], round 0 before the first; bit r: rank r's is
// in. Empty for more than 64 ranks.
std::vector<std::vector<uint64_t>> contributions(const Collective& collective);

}  // namespace lockstep::comm
