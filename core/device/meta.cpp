// The device without data: buffers are counted, not made; launches are recorded, not run. So the shapes, launches and bytes
// of a step come out for models that fit no machine. Reading a value is an error: there is none.
#include "core/device/meta.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device {

Pointer Meta::allocate(size_t bytes, std::string_view buffer_name) {
    const uint64_t address = next_;
    next_ += (std::max<uint64_t>(bytes, 1) + 255) / 256 * 256;  // each buffer an address range of its own, as on a GPU
    buffers_.emplace(address, Buffer{bytes, std::string(buffer_name)});
    use_.bytes += bytes;
    use_.peak_bytes = std::max(use_.peak_bytes, use_.bytes);
    ++use_.allocations;
    return {address};
}

void Meta::release(Pointer pointer) {
    const auto found = buffers_.find(pointer.address);
    if (found == buffers_.end())
        throw Failure(fmt::format("release of {:#x}, which is no buffer's first byte on meta", pointer.address));
    use_.bytes -= found->second.bytes;
    buffers_.erase(found);
}

const Meta::Buffer& Meta::inside(Pointer pointer, size_t bytes) const {
    auto after = buffers_.upper_bound(pointer.address);
    if (after != buffers_.begin()) {
        const auto& [address, buffer] = *std::prev(after);
        const uint64_t offset = pointer.address - address;
        if (offset <= buffer.bytes && bytes <= buffer.bytes - offset) return buffer;
    }
    throw Failure(fmt::format("{} bytes at {:#x} are not inside one buffer on meta", bytes, pointer.address));
}

void Meta::copy_in(Pointer to, const void*, size_t bytes, Stream) {
    inside(to, bytes);
    use_.copied_in += bytes;
}

void Meta::copy_out(void*, Pointer from, size_t bytes, Stream) {
    const Buffer& buffer = inside(from, bytes);
    throw Failure(fmt::format("the meta device holds no values: '{}' cannot be read", buffer.name));
}

void Meta::launch(const LaunchRequest& request) {
    throw_if_stopped(options_.stop);
    const std::string_view kernel = request.generated ? request.kernel : kernel_named(request.kernel).name;
    for (const Argument& argument : request.arguments)
        if (const auto* pointer = std::get_if<Pointer>(&argument)) inside(*pointer, 1);
    LaunchEvent event{.index = use_.launches++,
                      .kernel = std::string(kernel),
                      .label = request.label,
                      .phase = request.phase,
                      .grid = request.grid,
                      .block = request.block,
                      .stream = request.stream};
    if (on_launch) on_launch(event);
}

Event Meta::record(Stream) {
    return events_++;
}
void Meta::wait(Stream, Event event) {
    if (event >= events_) throw Failure(fmt::format("wait for event {}, which was never recorded", event));
}

std::unique_ptr<Device> make_meta(const DeviceOptions& options) {
    return std::make_unique<Meta>(options);
}

}  // namespace lockstep::device
