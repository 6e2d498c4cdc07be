// The host device: kernels are their native twins, run at once on the calling thread, whatever the stream; so every event
// has happened when it is recorded. Times are the steady clock's, from the device's making.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "core/device/devices.h"
#include "core/device/host/host_memory.h"
#include "core/device/kernels/kernel_library.h"
#include "core/device/kernels/matmul.h"

namespace lockstep::device {

namespace {
using Clock = std::chrono::steady_clock;

struct Buffer {
    size_t bytes = 0;
    std::string name;
};

class Host final : public Device {
  public:
    explicit Host(const DeviceOptions& options) : options_(options), pool_(options.threads) {}

    std::string name() const override { return "host"; }
    std::string description() const override {
        return fmt::format("this machine's processor, {} thread{}, matrix products by {}", pool_.threads(),
                           pool_.threads() == 1 ? "" : "s", matmul_library());
    }
    std::string_view provenance() const override { return "measured"; }

    Pointer allocate(size_t bytes, std::string_view buffer_name) override {
        std::byte* memory = memory_.allocate(bytes);
        if (!memory)
            throw Failure(fmt::format("no memory for '{}' ({} bytes) on host", buffer_name, bytes), ExitStatus::missing);
        std::memset(memory, 0, bytes);
        const uint64_t address = reinterpret_cast<uint64_t>(memory);
        buffers_.emplace(address, Buffer{bytes, std::string(buffer_name)});
        return {address};
    }
    void release(Pointer pointer) override {
        if (buffers_.erase(pointer.address) == 0)
            throw Failure(fmt::format("release of {:#x}, which is no buffer's first byte on host", pointer.address));
        memory_.release(memory_at(pointer.address));
    }
    void copy_in(Pointer to, const void* from, size_t bytes, Stream) override {
        if (bytes) std::memcpy(checked(to, bytes), from, bytes);
    }
    void copy_out(void* to, Pointer from, size_t bytes, Stream) override {
        if (bytes) std::memcpy(to, checked(from, bytes), bytes);
    }

    void launch(const LaunchRequest& request) override {
        throw_if_stopped(options_.stop);
        const KernelRow* row = request.generated ? nullptr : &kernel_named(request.kernel);
        for (const Argument& argument : request.arguments)
            if (const auto* pointer = std::get_if<Pointer>(&argument)) checked(*pointer, 1);

        const uint64_t index = launches_++;
        const double begin = on_launch ? now() : 0;
        if (row)
            row->run(request.arguments, pool_);
        else
            request.generated->native(request.arguments, pool_);
        if (!on_launch) return;
        event_.index = index;
        event_.kernel.assign(request.kernel);
        event_.label.assign(request.label);
        event_.phase.assign(request.phase);
        event_.grid = request.grid;
        event_.block = request.block;
        event_.stream = request.stream;
        event_.enqueue_begin_us = event_.enqueue_end_us = event_.begin_us = begin;
        event_.end_us = now();
        on_launch(event_);
    }

    Event record(Stream) override { return events_++; }
    void wait(Stream, Event event) override {
        if (event >= events_) throw Failure(fmt::format("wait for event {}, which was never recorded", event));
    }
    void synchronize() override {}

  private:
    static std::byte* memory_at(uint64_t address) { return reinterpret_cast<std::byte*>(address); }
    double now() const { return std::chrono::duration<double, std::micro>(Clock::now() - made_).count(); }

    // The memory at `pointer`; throws when `bytes` from there are not inside one buffer.
    std::byte* checked(Pointer pointer, size_t bytes) const {
        auto after = buffers_.upper_bound(pointer.address);
        if (after != buffers_.begin()) {
            const auto& [address, buffer] = *std::prev(after);
            const uint64_t offset = pointer.address - address;
            if (offset <= buffer.bytes && (bytes <= buffer.bytes - offset || (buffer.bytes == 0 && bytes == 1)))
                return memory_at(pointer.address);
            if (offset < buffer.bytes)
                throw Failure(fmt::format("{} bytes from byte {} run past the end of '{}' ({} bytes) on host", bytes, offset,
                                          buffer.name, buffer.bytes));
        }
        throw Failure(fmt::format("address {:#x} is in no buffer on host", pointer.address));
    }

    DeviceOptions options_;
    ThreadPool pool_;
    Clock::time_point made_ = Clock::now();
    HostMemory memory_;
    std::map<uint64_t, Buffer> buffers_;
    uint64_t launches_ = 0;
    LaunchEvent event_;  // of the last launch: its texts' memory is used again
    Event events_ = 0;
};
}  // namespace

std::unique_ptr<Device> make_host(const DeviceOptions& options) {
    return std::make_unique<Host>(options);
}

}  // namespace lockstep::device
