// What a kernel asks of CUDA's runtime on the device (dynamic parallelism): launches of kernels, copies and fills, and to
// wait for them. Whoever runs the kernel decides when the work happens; see core/runtime/children.h.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

struct DeviceWork {
    enum class Kind : uint8_t { kernel, copy, fill };
    Kind kind = Kind::kernel;
    uint64_t stream = 0;  // the handle that the kernel gave
    // A kernel: its address (ptx::function_window), and its parameters, of which the launch takes what it needs.
    uint64_t kernel = 0;
    Dim3 grid, block;
    uint32_t shared = 0;
    std::vector<std::byte> arguments;
    // A copy, or a fill with `value`.
    uint64_t to = 0, from = 0, bytes = 0;
    uint8_t value = 0;
};

class DeviceRuntime {
  public:
    virtual ~DeviceRuntime() = default;
    virtual int start(DeviceWork work) = 0;  // an error of CUDA's; 0: it is going to run
    virtual bool wait() = 0;                 // until all that was started has run; false: it ended in a fault
    virtual int device() const { return 0; }
    virtual int devices() const { return 1; }
    // The same, as it stands, over another memory: for a launch that runs again. Null: its launches cannot.
    virtual std::shared_ptr<DeviceRuntime> again(Memory&) const { return nullptr; }

    std::map<uint64_t, DeviceWork> prepared;  // by the address of their arguments
    int last_error = 0;
    uint64_t handles = 0;  // of streams and events so far
};

constexpr uint64_t most_argument_bytes = 4096;  // CUDA Programming Guide: of a launch on the device

}  // namespace lockstep::simt
