// What every rank did, as plain data on its virtual clocks; and as a Trace, which Perfetto shows.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace lockstep::comm {

struct RankEvent {
    enum class Kind : uint8_t {
        work,     // advance()
        send,     // takes no time of the sender's
        receive,  // from the call to the arrival
        wait      // wait_until(): for another stream
    };
    int stream = 0;
    Kind kind = Kind::work;
    int peer = -1;  // of the whole run
    int64_t bytes = 0;
    double begin_us = 0, end_us = 0;
    uint64_t message = 0;  // the sender's number of it; from 1 on
    std::string label;     // "all_reduce", "layers.3"
    bool operator==(const RankEvent&) const = default;
};
std::string_view name_of(RankEvent::Kind kind);

// A track a rank and stream, a span an event (nanoseconds), an arrow from each send to its receive.
Trace trace_of(std::span<const std::vector<RankEvent>> ranks);

}  // namespace lockstep::comm
