// The calls of CUDA's runtime on the device: launches from kernels and what belongs to them. Their parameters lie where
// those of printf do (system.h).
#include <array>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/check/faults.h"
#include "core/simt/device_runtime.h"
#include "core/simt/execute/call.h"
#include "core/simt/execute/special.h"
#include "core/simt/memory/system.h"

namespace lockstep::simt {

using ptx::SystemFunction;

namespace {

constexpr int no_error = 0, invalid_value = 1, allocation_failed = 2;  // of cudaError
constexpr uint64_t first_handle = 0x1000;                              // of streams and events: 1 to 4 have meanings

class DeviceCall {
  public:
    DeviceCall(Warp& warp, uint32_t pc, uint32_t lane, DeviceRuntime& runtime)
        : warp_(warp), pc_(pc), lane_(lane), runtime_(runtime), memory_(*warp.block->grid->memory) {}

    template <class T>
    T parameter(uint32_t k) const {
        const ptx::Program& program = *warp_.block->grid->program;
        const std::span<const int32_t> all = ptx::listed_sources(program.lists, program.instructions[pc_]);
        uint32_t offset;
        std::memcpy(&offset, operand(warp_, all[k]), 4);
        T value;
        std::memcpy(&value, local_of(warp_, lane_, offset), sizeof value);
        return value;
    }

    uint64_t buffer(const DeviceWork& work) {
        uint64_t address = 0;
        try {
            address = memory_.allocate(most_argument_bytes, "arguments of a launch from a kernel");
        } catch (const Failure&) {
            runtime_.last_error = allocation_failed;
            return 0;
        }
        runtime_.prepared[address] = work;
        return address;
    }

    int launch(uint64_t address, uint64_t stream, const DeviceWork* instead) {
        const auto found = runtime_.prepared.find(address);
        const bool none = address == 0 && instead;  // a kernel without parameters needs no buffer
        if (found == runtime_.prepared.end() && !none) return invalid_value;
        DeviceWork work = instead ? *instead : found->second;
        work.stream = stream;
        if (!none) {
            const std::byte* const bytes = memory_.read(address, most_argument_bytes);
            work.arguments.assign(bytes, bytes + most_argument_bytes);
            runtime_.prepared.erase(found);
            memory_.release(address);
        }
        return runtime_.start(std::move(work));
    }

    // Writes to an address of global or local memory that the kernel passed.
    template <class T>
    int put(uint64_t address, T value) {
        std::byte* to = nullptr;
        if (address - ptx::local_window < ptx::window_bytes) {
            const uint64_t offset = address - ptx::local_window;
            if (offset + sizeof value <= warp_.local_end)
                to = local_of(warp_, lane_, 0) - warp_.local_base + static_cast<std::ptrdiff_t>(offset);
        } else if (address - ptx::shared_window < ptx::window_bytes) {
            const uint64_t offset = address - ptx::shared_window;
            if (offset + sizeof value <= warp_.block->shared.size()) to = warp_.block->shared.data() + offset;
        } else {
            to = memory_.write(address, sizeof value);
        }
        if (!to) return invalid_value;
        std::memcpy(to, &value, sizeof value);
        return no_error;
    }

    DeviceRuntime& runtime() { return runtime_; }
    Memory& memory() { return memory_; }

  private:
    Warp& warp_;
    uint32_t pc_, lane_;
    DeviceRuntime& runtime_;
    Memory& memory_;
};

Dim3 dim3_of(const std::array<uint32_t, 3>& extents) {
    return {extents[0], extents[1], extents[2]};
}

int copy_or_fill(DeviceCall& call, bool fills) {
    DeviceWork work{.kind = fills ? DeviceWork::Kind::fill : DeviceWork::Kind::copy};
    work.to = call.parameter<uint64_t>(0);
    if (fills)
        work.value = static_cast<uint8_t>(call.parameter<uint32_t>(1));
    else
        work.from = call.parameter<uint64_t>(1);
    work.bytes = call.parameter<uint64_t>(2);
    work.stream = call.parameter<uint64_t>(fills ? 3 : 4);
    if (work.bytes == 0) return no_error;
    if (!call.memory().write(work.to, work.bytes)) return invalid_value;
    if (!fills && !call.memory().read(work.from, work.bytes)) return invalid_value;
    return call.runtime().start(std::move(work));
}

int allocate(DeviceCall& call) {
    if (call.parameter<uint64_t>(1) == 0) return invalid_value;
    const uint64_t address = call.memory().heap_allocate(call.parameter<uint64_t>(1), "cudaMalloc in a kernel");
    return address ? call.put(call.parameter<uint64_t>(0), address) : allocation_failed;
}

int release(DeviceCall& call) {
    const auto address = call.parameter<uint64_t>(0);
    const Allocation* const found = call.memory().find(address);
    if (address == 0) return no_error;
    if (!found || !found->heap || found->address != address) return invalid_value;
    call.memory().release(address);
    return no_error;
}

int new_handle(DeviceCall& call) {
    return call.put(call.parameter<uint64_t>(0), first_handle + 16 * ++call.runtime().handles);
}

}  // namespace

Fault* run_device_call(Warp& warp, uint32_t pc, uint32_t lane, uint64_t& result, uint32_t& bytes) {
    DeviceRuntime* const runtime = warp.block->grid->device_runtime;
    if (!runtime)
        return make_fault(
            warp, pc, lane, "call",
            "a call of CUDA's runtime on the device, which only a whole program has: give the file with main()");
    DeviceCall call(warp, pc, lane, *runtime);
    const SystemFunction function = ptx::as_system(warp.block->grid->program->instructions[pc]).function;
    bytes = 4;
    int error = no_error;
    switch (function) {
        case SystemFunction::launch_buffer:
            result = call.buffer({.kernel = call.parameter<uint64_t>(0),
                                  .grid = dim3_of(call.parameter<std::array<uint32_t, 3>>(1)),
                                  .block = dim3_of(call.parameter<std::array<uint32_t, 3>>(2)),
                                  .shared = call.parameter<uint32_t>(3)});
            bytes = 8;
            return nullptr;
        case SystemFunction::plain_buffer:
            result = call.buffer({});
            bytes = 8;
            return nullptr;
        case SystemFunction::launch_prepared:
            error = call.launch(call.parameter<uint64_t>(0), call.parameter<uint64_t>(1), nullptr);
            break;
        case SystemFunction::launch_kernel: {
            const DeviceWork work{.kernel = call.parameter<uint64_t>(0),
                                  .grid = dim3_of(call.parameter<std::array<uint32_t, 3>>(2)),
                                  .block = dim3_of(call.parameter<std::array<uint32_t, 3>>(3)),
                                  .shared = call.parameter<uint32_t>(4)};
            error = call.launch(call.parameter<uint64_t>(1), call.parameter<uint64_t>(5), &work);
            break;
        }
        case SystemFunction::device_wait:
            if (!runtime->wait())
                return make_fault(warp, pc, lane, "call", "a kernel that this one launched ended in a fault");
            break;
        case SystemFunction::new_stream:
        case SystemFunction::new_event:
            error = new_handle(call);
            break;
        case SystemFunction::order_streams:  // work runs in the order in which it was started, whatever its stream
            break;
        case SystemFunction::last_error:
        case SystemFunction::peek_error:
            result = static_cast<uint32_t>(runtime->last_error);
            if (function == SystemFunction::last_error) runtime->last_error = no_error;
            return nullptr;
        case SystemFunction::get_device:
            error = call.put(call.parameter<uint64_t>(0), static_cast<int32_t>(runtime->device()));
            break;
        case SystemFunction::device_count:
            error = call.put(call.parameter<uint64_t>(0), static_cast<int32_t>(runtime->devices()));
            break;
        case SystemFunction::device_malloc:
            error = allocate(call);
            break;
        case SystemFunction::device_free:
            error = release(call);
            break;
        case SystemFunction::copy_async:
            error = copy_or_fill(call, false);
            break;
        case SystemFunction::fill_async:
            error = copy_or_fill(call, true);
            break;
        default:
            break;
    }
    if (error != no_error) runtime->last_error = error;
    result = static_cast<uint32_t>(error);
    return nullptr;
}

}  // namespace lockstep::simt
