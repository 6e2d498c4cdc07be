// What the whole GPU did during a launch, for the picture of the machine: requests on their way through L2 and DRAM, the
// issues of every SM, and how long the queues were. Plain data beside a KernelTrace; its times are that trace's cycles.
//
// The traced SM's requests are all there, those of the others are a sample: one in `sampled`. Queues are counted in full.
// At most some 60 MB, however long the launch (MachineLog::Limits): then the traced SM's requests end, the sample gets
// thinner, and issues end with a stretch.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/trace/kernel_trace.h"

namespace lockstep {

enum class RequestKind : uint8_t { load, store, atomic, copy, constant };  // copy: cp.async and bulk copies
std::string_view name_of(RequestKind);                                     // "load"

// What one warp instruction asks of one 128-byte line. Its offsets are cycles from `begin`, in this order: it leaves the
// SM's queues, its L2 slice takes it, its DRAM channel takes it, its answer is at the SM (of a store: it is in L2).
struct RequestRecord {
    int64_t begin = 0;  // it counts as issued from here on: a load that ptxas moves up, before its issue
    uint32_t left = 0, taken = 0, sent = 0, ready = 0;
    uint64_t line = 0;        // address / 128
    int64_t issue = -1;       // index into KernelTrace::issues, of the traced SM; -1: not kept
    uint32_t pc = 0;          // of the instruction
    uint32_t block = 0;       // linear
    uint16_t warp = 0;        // in its block
    uint16_t sm = 0;          // that asks
    uint16_t slice = 0;       // of L2
    uint16_t channel = none;  // of DRAM; none: it did not go there
    uint8_t wanted = 0;       // sectors of the line, a bit each
    uint8_t hits = 0;         // so many of them L2 had
    RequestKind kind = RequestKind::load;
    MemoryLevel level =
        MemoryLevel::l2;  // l1: it went nowhere; dram without a channel: another request was fetching the line

    static constexpr uint16_t none = 0xffff;
    int64_t end() const { return begin + ready; }
};

struct TileIssue {       // an instruction that a scheduler of some SM issued
    uint32_t after = 0;  // cycles behind MachineTrace::issues_from
    uint32_t pc : 28 = 0;
    uint32_t scheduler : 4 = 0;
};

// The queues, in columns of time: `waiting` are request-cycles in front of a channel, `busy` cycles in which a slice served.
struct QueueColumns {
    int64_t cycles_a_column = 0;  // 0: nothing was recorded
    uint32_t columns = 0, channels = 0, slices = 0;
    std::vector<float> waiting;  // [column * channels + channel]: requests, the mean of the column
    std::vector<float> busy;     // [column * slices + slice]: 0..1, share of the column
    std::vector<float> reads;    // [column * channels + channel]: bytes a cycle that the channel sends

    float at(const std::vector<float>& values, uint32_t row, int64_t cycle, uint32_t place) const {
        if (cycles_a_column == 0 || columns == 0 || place >= row || cycle < 0) return 0;
        const int64_t column = cycle / cycles_a_column;
        return column >= columns ? 0 : values[static_cast<size_t>(column) * row + place];
    }
    float waiting_at(int64_t cycle, uint32_t channel) const { return at(waiting, channels, cycle, channel); }
    float busy_at(int64_t cycle, uint32_t slice) const { return at(busy, slices, cycle, slice); }
};

struct MachineTrace {
    // Fixed ways without any traffic, cycles from the GPU's row: they tell apart what of a request's time is waiting.
    int64_t l1_latency = 0, l2_latency = 0, dram_latency = 0;
    uint32_t sms = 0, slices = 0, channels = 0;
    uint32_t sampled = 1;                        // of the other SMs' requests one in so many is kept
    std::vector<RequestRecord> requests;         // by begin, then SM
    int64_t requests_until = 0;                  // of the traced SM none is left out before this cycle
    int64_t issues_from = 0, issues_until = 0;   // the stretch of which all SMs' issues are kept
    std::vector<std::vector<TileIssue>> issues;  // by SM, by cycle
    QueueColumns queues;                         // of the whole launch
};

uint64_t bytes_of(const MachineTrace& trace);  // that it takes in memory

// The part within [begin, end): requests that are on their way then. `issue_at`: where KernelTrace::issues went, -1:
// nowhere.
MachineTrace stretch_of(const MachineTrace& trace, int64_t begin, int64_t end, const std::vector<int64_t>& issue_at);

// A request's stations, in order; each from its begin to the next one's. Waits are the model's; how the fixed way is shared
// out between crossbar, L2 and the way back is a convention of the picture (the row gives their sum).
enum class Station : uint8_t { sm_queue, l1, crossbar, slice_queue, l2, channel_queue, dram, back, count };
std::string_view name_of(Station);  // "queue of the SM"
struct Stations {
    static constexpr size_t count = static_cast<size_t>(Station::count);
    std::array<int64_t, count + 1>
        at{};  // at[s]..at[s + 1]: cycles in station s; the last is the arrival. Equal: it skips it
    int64_t begin() const { return at.front(); }
    int64_t end() const { return at.back(); }
    int64_t cycles(Station s) const { return at[static_cast<size_t>(s) + 1] - at[static_cast<size_t>(s)]; }
    // Where it is in that cycle, clamped; `way`: the share of the station that lies behind it, 0..1.
    Station station_at(double cycle, double& way) const;
};
Stations stations_of(const MachineTrace& machine, const RequestRecord& request);

}  // namespace lockstep
