// The seam to whatever runs kernels: `host` (native twins, oneDNN), `sim:<gpu>` (the modelled GPU), later `cuda:<n>` and
// `meta`. One of the three virtual interfaces. Work is ordered within a stream; events order streams.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/simt/dim3.h"

namespace lockstep::model {
struct KernelRun;
}
namespace lockstep::ptx {
struct Program;
}
namespace lockstep::simt {
struct Texture;
}

namespace lockstep::device {

struct Pointer {  // device address; on host the pointer's bits
    uint64_t address = 0;
    bool operator==(const Pointer&) const = default;
};
// What bulk copies fetch or store by one instruction: boxes of a tensor without gaps. As an argument it fills a `const
// __grid_constant__ CUtensorMap` parameter, encoded as the device wants it: by the driver, or as our machine reads it.
struct TensorTile {
    Pointer tensor;
    DType type = DType::f16;
    std::vector<uint64_t> dims;  // elements, innermost first
    std::vector<uint32_t> box;   // elements; as many as dims
    uint32_t swizzle = 0;        // bytes: 0, 32, 64 or 128
};
// A TensorTile lives as long as requests name it.
using Argument = std::variant<Pointer, int32_t, uint32_t, int64_t, float, double, const TensorTile*>;
using Stream = uint32_t;  // 0 is the default stream
using Event = uint32_t;
class ThreadPool;

// A kernel made while the program runs: PTX for GPUs, the same work as a function for the host. It lives as long as
// requests name it.
struct GeneratedKernel {
    std::string name;                             // as in the PTX
    std::shared_ptr<const ptx::Program> program;  // holds the PTX's text too; may be null where only `host` will run it
    std::function<void(std::span<const Argument>, ThreadPool&)> native;
    std::string source;  // what it does, for people
};

struct LaunchRequest {
    std::string_view kernel;  // name of a KernelLibrary row
    simt::Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    std::vector<Argument> arguments;  // in the kernel's order
    Stream stream = 0;
    std::string label;                           // "matmul_dW1": what the timeline shows
    std::string phase;                           // "forward", "backward", "update", "data"
    std::string_view op = {};                    // of the engine: "matmul"; "" where none launched it
    std::source_location where = {};             // of the model code that the op comes from; line 0: not known
    const GeneratedKernel* generated = nullptr;  // runs instead of the library's row; `kernel` is its name
};

// One launch as it happened. Times are microseconds on the device's own timeline (simulated: host enqueue model plus
// kernel cycles; host: measured by the steady clock).
struct LaunchEvent {
    uint64_t index = 0;  // counts every launch of the device
    std::string kernel, label, phase;
    simt::Dim3 grid, block;
    Stream stream = 0;
    double enqueue_begin_us = 0, enqueue_end_us = 0;
    double begin_us = 0, end_us = 0;
    int64_t cycles = 0;  // simulated only
    uint64_t warp_instructions = 0;
    std::shared_ptr<const model::KernelRun> run;  // simulated and timed with keep_runs only
};

// One copy between host and device as it happened, on the same timeline (simulated devices only).
struct CopyEvent {
    std::string name;  // of the buffer: "x"
    size_t bytes = 0;
    bool to_device = true;
    Stream stream = 0;
    double enqueue_begin_us = 0, enqueue_end_us = 0;  // the host's call until it waits for the copy
    double begin_us = 0, end_us = 0;
};

class Device {
  public:
    virtual ~Device() = default;
    virtual std::string name() const = 0;             // "host", "sim:v100"
    virtual std::string description() const = 0;      // one line for `lockstep devices`: what it is, which library serves it
    virtual std::string_view provenance() const = 0;  // of its times: "measured" or "simulated"

    // Of one tensor: kernels count with an int. Where nothing runs, any number that a plan may have.
    virtual int64_t most_elements() const { return std::numeric_limits<int32_t>::max(); }

    virtual Pointer allocate(size_t bytes, std::string_view name) = 0;
    virtual void release(Pointer pointer) = 0;
    virtual void copy_in(Pointer to, const void* from, size_t bytes, Stream stream = 0) = 0;
    virtual void copy_out(void* to, Pointer from, size_t bytes, Stream stream = 0) = 0;
    virtual void launch(
        const LaunchRequest& request) = 0;  // throws Failure; a kernel fault is a Failure with the fault's text
    // A captured graph: the launches in order, for which the host pays once (simulated devices: in their times).
    virtual void launch_graph(std::span<const LaunchRequest> requests) {
        for (const LaunchRequest& request : requests) launch(request);
    }

    // A texture or, where it says so, a surface: what a kernel takes as an int64_t for its cudaTextureObject_t or
    // cudaSurfaceObject_t. Texels are those of the device's memory at `texture.address`; what a surface's kernels wrote lies
    // there again after release_texture, which waits for them. Throw Failure: `host` has none.
    virtual int64_t create_texture(const simt::Texture& texture);
    virtual void release_texture(int64_t handle);

    virtual Event record(Stream stream) = 0;
    virtual void wait(Stream stream, Event event) = 0;
    virtual void synchronize() = 0;

    // Called after every launch, on the calling thread.
    std::function<void(const LaunchEvent&)> on_launch;
    // Called after every copy, on the calling thread; simulated devices only.
    std::function<void(const CopyEvent&)> on_copy;
};

struct DeviceOptions {
    bool functional = false;  // sim: no timing, much faster
    bool warm_l2 = false;     // sim: L2 keeps from launch to launch what it holds, else each begins with an empty one
    bool keep_runs = false;   // sim: LaunchEvent::run with trace and memory before each launch
    int threads = 1;          // host
    std::stop_token stop;     // a launch in flight ends early with a Cancelled
};

// "host", "sim:v100", "sim:teaching:4". An unknown name's Diagnostic lists the known ones.
Result<std::unique_ptr<Device>> open_device(const std::string& name, const DeviceOptions& = {});
// Lines of `lockstep devices`: name and description; also those that are missing here, with what they need.
struct DeviceListing {
    std::string name, description;
    bool available = true;
};
std::vector<DeviceListing> list_devices();

}  // namespace lockstep::device
