// What the host asks a GPU for around the kernel on show, kernels and copies on one clock: of a whole program, of a training
// step, or of a lesson's host program. All times are those runs' own.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::gui {

struct MachineFrame;

enum class CopyWay : uint8_t { none, in, out, within };  // none: a kernel
struct HostWork {
    double begin_us = 0, end_us = 0;
    std::string name, kernel;  // "fc1 dW", "matmul_tn_f32"; of a copy its buffer, or "copy in"
    CopyWay way = CopyWay::none;
    double bytes = 0;     // of a copy
    int64_t launch = -1;  // with which it is opened; -1: it cannot be
    bool shown = false;   // the kernel on show
    bool copies() const { return way != CopyWay::none; }
    double share_at(double us) const;  // of it that lies behind
};
struct HostClock {
    std::vector<HostWork> work;  // by begin
    double now_us = 0;           // the kernel's clock on the host's
    size_t shown = 0;            // index of the kernel on show
    bool of_program = false;     // its launches are a program's
};
HostClock host_clock(const MachineFrame& frame);  // a kernel that runs by itself: it alone

// The copy that a chip's engine for `way` has under way, had before and has next; null: none.
struct EngineNow {
    const HostWork *runs = nullptr, *before = nullptr, *next = nullptr;
};
EngineNow engine_at(const HostClock& clock, std::initializer_list<CopyWay> ways);

}  // namespace lockstep::gui
