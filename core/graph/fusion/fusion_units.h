// What fusion goes over, between its steps: fusion_look.cpp sees what is known of each launch, fusion.cpp decides which
// become one, fusion_emit.cpp makes the graph of what was decided. Internal to core/graph.
#pragma once
#include <string>
#include <vector>

#include "core/device/kernels/kernel_library.h"
#include "core/graph/fusion/fusion.h"
#include "core/graph/fusion/fusion_reading.h"

namespace lockstep::graph {

struct Touch {  // of a launch to a part of a buffer
    int buffer = -1;
    int64_t begin = 0, end = 0;  // bytes
    bool reads = false, writes = false;
    bool element = false;  // thread i touches element i alone, of `bytes` bytes
    bool always = false;   // element, and every thread writes it
    int bytes = 0;
};

inline bool overlap(const Touch& a, const Touch& b) {
    return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}
inline bool conflict(const Touch& a, const Touch& b) {
    return (a.writes || b.writes) && overlap(a, b);
}
inline bool same_elements(const Touch& a, const Touch& b) {
    return a.element && b.element && a.begin == b.begin && a.end == b.end && a.bytes == b.bytes;
}

struct Looked {  // what is known of a launch
    const KernelReading* reading = nullptr;
    const device::KernelRow* row = nullptr;
    std::vector<device::Argument> numbers;  // scalars; pointers are null
    std::vector<Touch> touches;
    int64_t count = -1;    // elements, of a pointwise launch that the host can cut
    int64_t product = -1;  // elements of the result, of a kernel that others can go on from
    int result = -1;       // its parameter
    int loaded = -1;       // the parameter of which each element is read once
    int64_t loaded_count = 0;
    simt::Dim3 grid, block;  // in a chain
    std::string why_not;
};
Looked look_at(const Graph& graph, const Launch& launch);

struct Unit {
    enum class Kind : uint8_t { single, chain, epilogue, prologue, together } kind = Kind::single;
    std::vector<int> launches;  // of the captured graph, in their order
    std::vector<Touch> touches;
    int64_t count = -1;  // elements that a chain goes over; of a single launch that others can go on from: of its result
};

struct Placement {
    const Graph& graph;                // as captured
    std::vector<Looked> known;         // by its launches
    std::vector<Unit> units;           // in the order in which they will run
    std::vector<std::string> reasons;  // by launch: what becomes of it

    const Looked& looked(int launch) const { return known[static_cast<size_t>(launch)]; }
    const Launch& captured(int launch) const { return graph.launches[static_cast<size_t>(launch)]; }
    const std::string& buffer_name(int index) const { return graph.buffers[static_cast<size_t>(index)].name; }
    // Why a value must be in memory although a chain passes it on in a register; "": nobody else needs it.
    std::string why_kept(int buffer, const Unit& unit) const;
};
// Says in `reasons` what each launch of a chain passes on.
Fusion emit(Placement& placement);

}  // namespace lockstep::graph
