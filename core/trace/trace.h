// A timeline as plain data: named tracks, spans on them, counters and arrows. Device timelines (kernels, copies, host
// enqueues) and rank timelines are Traces; write_perfetto() turns any of them into Perfetto's JSON.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct TraceTrack {
    std::string name;
    int parent = -1;  // index of the enclosing track
};
struct TraceSpan {
    int track = 0;
    int64_t begin = 0;  // nanoseconds unless the Trace says otherwise
    int64_t end = 0;
    std::string name;
    int64_t detail = -1;  // index of the thing shown, in the list of whoever made the Trace
};
struct TraceCounter {
    int track = 0;
    int64_t time = 0;
    double value = 0;
};
struct TraceArrow {
    int from_span = 0;
    int to_span = 0;
};
struct Trace {
    std::string time_unit = "ns";
    std::vector<TraceTrack> tracks;
    std::vector<TraceSpan> spans;
    std::vector<TraceCounter> counters;
    std::vector<TraceArrow> arrows;
};

}  // namespace lockstep
