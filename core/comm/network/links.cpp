// The table of links: one row each. Bandwidths are the vendors' for one direction; latencies are those of a small message
// between two GPUs or hosts, and say where they come from.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/comm/network/network.h"

namespace lockstep::comm {

std::span<const LinkRow> links() {
    static constexpr LinkRow table[] = {
        {"nvlink1", "NVLink 1 (P100)", 0.6, 80, "4 links of 20 GB/s, P100 whitepaper; latency: NCCL tuning, NVLink ring LL"},
        {"nvlink2", "NVLink 2 (V100)", 0.6, 150,
         "6 links of 25 GB/s, V100 whitepaper; latency: NCCL tuning, NVLink ring LL"},
        {"nvlink3", "NVLink 3 (A100)", 0.6, 300,
         "12 links of 25 GB/s, A100 whitepaper; latency: NCCL tuning, NVLink ring LL"},
        {"nvlink4", "NVLink 4 (H100)", 0.6, 450,
         "18 links of 25 GB/s, H100 whitepaper; latency: NCCL tuning, NVLink ring LL"},
        {"nvswitch", "NVSwitch 3 (DGX H100)", 1.0, 450,
         "18 NVLink 4 a GPU, all through the switch, DGX H100 guide; latency: NVLink's and the switch's, rounded up"},
        {"pcie3", "PCIe 3.0 x16", 1.0, 15.75, "8 GT/s, 16 lanes, 128b/130b; latency: NCCL tuning, PCI ring LL"},
        {"pcie4", "PCIe 4.0 x16", 1.0, 31.5, "16 GT/s, 16 lanes, 128b/130b; latency: NCCL tuning, PCI ring LL"},
        {"pcie5", "PCIe 5.0 x16", 1.0, 63, "32 GT/s, 16 lanes, 128b/130b; latency: NCCL tuning, PCI ring LL"},
        {"10gbe", "10 Gb Ethernet", 4.0, 1.25, "10 Gb/s, 4 µs: the course's table of network technologies"},
        {"40gbe", "40 Gb Ethernet", 4.0, 5, "40 Gb/s, 4 µs: the course's table of network technologies"},
        {"ib-edr", "InfiniBand EDR", 1.0, 12.5, "100 Gb/s, 1 µs: the course's table of network technologies"},
        {"ib-hdr", "InfiniBand HDR", 1.0, 25, "200 Gb/s, InfiniBand roadmap; latency taken as EDR's"},
        {"ib-ndr", "InfiniBand NDR", 1.0, 50, "400 Gb/s, InfiniBand roadmap; latency taken as EDR's"},
    };
    return table;
}

const LinkRow& link_named(const std::string& name) {
    std::vector<std::string> known;
    for (const LinkRow& row : links()) {
        if (row.name == name) return row;
        known.emplace_back(row.name);
    }
    throw Failure(fmt::format("there is no link '{}'{}", name, did_you_mean(name, known)));
}

}  // namespace lockstep::comm
