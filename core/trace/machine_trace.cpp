#include "core/trace/machine_trace.h"

#include <algorithm>

namespace lockstep {

std::string_view name_of(RequestKind kind) {
    static constexpr std::string_view names[] = {"load", "store", "atomic", "copy", "constant"};
    return names[static_cast<size_t>(kind)];
}

std::string_view name_of(Station station) {
    static constexpr std::string_view names[] = {"queue of the SM", "L1",   "crossbar", "queue of the slice", "L2",
                                                 "DRAM queue",      "DRAM", "way back"};
    return names[static_cast<size_t>(station)];
}

uint64_t bytes_of(const MachineTrace& trace) {
    uint64_t bytes = sizeof trace + trace.requests.capacity() * sizeof trace.requests[0];
    for (const auto& of_sm : trace.issues) bytes += sizeof of_sm + of_sm.capacity() * sizeof of_sm[0];
    const QueueColumns& q = trace.queues;
    return bytes + (q.waiting.capacity() + q.busy.capacity() + q.reads.capacity()) * sizeof(float);
}

MachineTrace stretch_of(const MachineTrace& trace, int64_t begin, int64_t end, const std::vector<int64_t>& issue_at) {
    MachineTrace cut;
    cut.l1_latency = trace.l1_latency;
    cut.l2_latency = trace.l2_latency;
    cut.dram_latency = trace.dram_latency;
    cut.sms = trace.sms;
    cut.slices = trace.slices;
    cut.channels = trace.channels;
    cut.sampled = trace.sampled;
    cut.requests_until = std::min(trace.requests_until, end);
    cut.queues = trace.queues;
    for (const RequestRecord& request : trace.requests) {
        if (request.begin >= end || request.end() < begin) continue;
        cut.requests.push_back(request);
        int64_t& issue = cut.requests.back().issue;
        issue = issue >= 0 && static_cast<size_t>(issue) < issue_at.size() ? issue_at[static_cast<size_t>(issue)] : -1;
    }
    cut.issues_from = std::max(begin, trace.issues_from);
    cut.issues_until = std::max(cut.issues_from, std::min(end, trace.issues_until));
    const auto base = static_cast<uint32_t>(cut.issues_from - trace.issues_from);
    const auto length = static_cast<uint32_t>(cut.issues_until - cut.issues_from);
    cut.issues.resize(trace.issues.size());
    for (size_t sm = 0; sm < trace.issues.size(); ++sm)
        for (TileIssue issue : trace.issues[sm]) {
            if (issue.after < base || issue.after - base >= length) continue;
            issue.after -= base;
            cut.issues[sm].push_back(issue);
        }
    return cut;
}

Station Stations::station_at(double cycle, double& way) const {
    for (size_t s = 0; s < count; ++s) {
        const auto from = static_cast<double>(at[s]), to = static_cast<double>(at[s + 1]);
        if (cycle >= to || to <= from) continue;
        way = std::clamp((cycle - from) / (to - from), 0.0, 1.0);
        return static_cast<Station>(s);
    }
    way = 1;
    return Station::back;
}

// Without traffic a request that L2 serves takes l2_latency and one that DRAM serves dram_latency. Of the former L1's own
// latency is spent in L1; of the rest three tenths go to the crossbar, a seventh to L2 and the remainder to the way back.
Stations stations_of(const MachineTrace& machine, const RequestRecord& request) {
    Stations stations;
    auto& at = stations.at;
    const int64_t begin = request.begin, end = begin + request.ready, left = begin + request.left;
    at.fill(end);
    at[0] = begin;
    at[1] = std::min(left, end);
    if (request.level == MemoryLevel::l1 || request.level == MemoryLevel::none) {
        for (size_t s = 2; s < at.size(); ++s) at[s] = end;
        return stations;
    }
    const int64_t l1 = std::min(machine.l1_latency, machine.l2_latency), rest = machine.l2_latency - l1;
    const int64_t crossbar = rest * 3 / 10, l2 = rest / 7;
    const bool far = request.channel != RequestRecord::none;
    const int64_t in_slice = request.taken - std::min(request.left, request.taken);
    const int64_t in_channel = far ? request.sent - std::min(request.taken, request.sent) : 0;
    int64_t time = at[1];
    const auto pass = [&](Station s, int64_t cycles) {
        time = std::min(end, time + std::max<int64_t>(0, cycles));
        at[static_cast<size_t>(s) + 1] = time;
    };
    pass(Station::l1, l1);
    pass(Station::crossbar, crossbar);
    pass(Station::slice_queue, in_slice);
    if (request.kind == RequestKind::store) {  // it ends in L2
        for (size_t s = static_cast<size_t>(Station::l2) + 1; s < at.size(); ++s) at[s] = end;
        return stations;
    }
    const int64_t back = rest - crossbar - l2, ways = machine.dram_latency - machine.l2_latency;
    // What else it takes (the far half of L2, a walk of the page table, an atomic's turn, a line that is on its way for
    // another) is spent in L2.
    const int64_t fixed = l2 + (far ? in_channel + ways : 0) + back;
    pass(Station::l2, l2 + std::max<int64_t>(0, end - time - fixed));
    pass(Station::channel_queue, in_channel);
    pass(Station::dram, far ? ways : 0);
    return stations;
}

}  // namespace lockstep
