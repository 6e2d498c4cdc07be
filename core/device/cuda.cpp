// A real NVIDIA GPU as a device: the bundled kernels' PTX goes through the driver's own compiler, unchanged. Times are
// measured by events around each launch; with a listener on_launch every launch is waited for, so that its times are there.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <map>

#include "core/base/files.h"
#include "core/device/arguments.h"
#include "core/device/cuda_driver.h"
#include "core/device/devices.h"
#include "core/device/kernel_library.h"

namespace lockstep::device {
namespace {

using Handle = CudaDriver::Handle;

// CUdevice_attribute and CUfunction_attribute of cuda.h.
constexpr int attribute_sms = 16, attribute_clock_khz = 13, attribute_major = 75, attribute_minor = 76;
constexpr int attribute_dynamic_shared = 8;
constexpr uint32_t shared_without_asking = 48 * 1024;
// CUjit_option
constexpr int jit_error_log = 5, jit_error_log_bytes = 6;

class Cuda final : public Device {
  public:
    Cuda(const CudaDriver& driver, int ordinal, const DeviceOptions& options)
        : driver_(driver), ordinal_(ordinal), options_(options) {
        check(driver_.device_get(&device_, ordinal), "the device");
        check(driver_.retain_context(&context_, device_), "its context");
        check(driver_.set_context(context_), "its context");
        check(driver_.create_event(&origin_, 0), "an event");
        check(driver_.record_event(origin_, nullptr), "an event");
        check(driver_.wait_event(origin_), "an event");
        begun_ = Clock::now();
    }
    Cuda(const Cuda&) = delete;
    Cuda& operator=(const Cuda&) = delete;
    ~Cuda() override {
        driver_.set_context(context_);
        driver_.synchronize();
        for (Handle event : events_) driver_.destroy_event(event);
        for (Handle event : {origin_, begin_, end_})
            if (event) driver_.destroy_event(event);
        for (const auto& [number, stream] : streams_) driver_.destroy_stream(stream);
        for (const auto& [address, bytes] : buffers_) driver_.release(address);
        for (const auto& [file, module] : modules_) driver_.unload_module(module);
        driver_.release_context(device_);
    }

    std::string name() const override { return fmt::format("cuda:{}", ordinal_); }
    std::string description() const override {
        char title[256] = {};
        driver_.device_name(title, sizeof title - 1, device_);
        return fmt::format("{}, {} SMs at {} MHz, compute capability {}.{}, driver for CUDA {}", title,
                           attribute(attribute_sms), attribute(attribute_clock_khz) / 1000, attribute(attribute_major),
                           attribute(attribute_minor), driver_.version);
    }
    std::string_view provenance() const override { return "measured"; }

    Pointer allocate(size_t bytes, std::string_view buffer_name) override {
        uint64_t address = 0;
        const size_t whole = std::max<size_t>(bytes, 1);
        check(driver_.allocate(&address, whole), fmt::format("{} bytes for '{}'", bytes, buffer_name));
        check(driver_.clear(address, 0, whole), "clearing memory");
        buffers_.emplace(address, bytes);
        return {address};
    }
    void release(Pointer pointer) override {
        if (buffers_.erase(pointer.address) == 0)
            throw Failure(fmt::format("release of {:#x}, which is no buffer's first byte on {}", pointer.address, name()));
        check(driver_.release(pointer.address), "releasing memory");
    }
    void copy_in(Pointer to, const void* from, size_t bytes, Stream stream) override {
        if (!bytes) return;
        inside(to, bytes);
        check(driver_.copy_in(to.address, from, bytes, stream_of(stream)), "a copy to the GPU");
        check(driver_.wait_stream(stream_of(stream)), "a copy to the GPU");
    }
    void copy_out(void* to, Pointer from, size_t bytes, Stream stream) override {
        if (!bytes) return;
        inside(from, bytes);
        check(driver_.copy_out(to, from.address, bytes, stream_of(stream)), "a copy from the GPU");
        check(driver_.wait_stream(stream_of(stream)), "a copy from the GPU");
    }

    void launch(const LaunchRequest& request) override {
        if (options_.stop.stop_requested()) throw Failure("cancelled");
        const auto program = request.generated ? request.generated->program : program_of(request.kernel);
        if (!program) throw Failure(fmt::format("{} has no PTX, which {} runs", request.kernel, name()));
        const simt::LaunchConfig config{request.grid, request.block, request.dynamic_shared,
                                        pack(*program, request.arguments)};
        Handle function = nullptr;
        check(driver_.function(&function, request.generated ? module_of(*program) : module_of(request.kernel),
                               program->kernel.c_str()),
              program->kernel);
        if (request.dynamic_shared > shared_without_asking)
            check(driver_.function_attribute(function, attribute_dynamic_shared, static_cast<int>(request.dynamic_shared)),
                  fmt::format("{} bytes of dynamic shared memory", request.dynamic_shared));
        std::vector<void*> parameters;
        for (const ptx::Parameter& parameter : program->parameters)
            parameters.push_back(const_cast<std::byte*>(config.parameters.data()) + parameter.offset);

        LaunchEvent event{.index = launches_++,
                          .kernel = std::string(request.kernel),
                          .label = request.label,
                          .phase = request.phase,
                          .grid = request.grid,
                          .block = request.block,
                          .stream = request.stream};
        Handle stream = stream_of(request.stream);
        if (on_launch && !begin_) {
            check(driver_.create_event(&begin_, 0), "an event");
            check(driver_.create_event(&end_, 0), "an event");
        }
        event.enqueue_begin_us = host_now();
        if (on_launch) check(driver_.record_event(begin_, stream), "an event");
        check(driver_.launch(function, request.grid.x, request.grid.y, request.grid.z, request.block.x, request.block.y,
                             request.block.z, request.dynamic_shared, stream, parameters.data(), nullptr),
              "the launch of " + program->shown_name());
        if (!on_launch) return;
        check(driver_.record_event(end_, stream), "an event");
        event.enqueue_end_us = host_now();
        check(driver_.wait_event(end_), program->shown_name());
        event.begin_us = since_origin(begin_);
        event.end_us = since_origin(end_);
        on_launch(event);
    }

    Event record(Stream stream) override {
        Handle event = nullptr;
        check(driver_.create_event(&event, 0), "an event");
        events_.push_back(event);
        check(driver_.record_event(event, stream_of(stream)), "an event");
        return static_cast<Event>(events_.size() - 1);
    }
    void wait(Stream stream, Event event) override {
        if (event >= events_.size()) throw Failure(fmt::format("wait for event {}, which was never recorded", event));
        check(driver_.stream_waits(stream_of(stream), events_[event], 0), "waiting for an event");
    }
    void synchronize() override { check(driver_.synchronize(), "the work that was under way"); }

  private:
    using Clock = std::chrono::steady_clock;

    void check(CudaDriver::Status status, std::string_view what) const {
        if (status == 0) return;
        const char* words = nullptr;
        driver_.error_text(status, &words);
        throw Failure(fmt::format("cuda:{}: {} failed: {}", ordinal_, what, words ? words : "unknown error"),
                      ExitStatus::missing);
    }
    int attribute(int which) const {
        int value = 0;
        driver_.device_attribute(&value, which, device_);
        return value;
    }
    double host_now() const { return std::chrono::duration<double, std::micro>(Clock::now() - begun_).count(); }
    double since_origin(Handle event) const {
        float milliseconds = 0;
        check(driver_.elapsed(&milliseconds, origin_, event), "a measurement");
        return 1e3 * static_cast<double>(milliseconds);
    }
    Handle stream_of(Stream stream) {
        if (stream == 0) return nullptr;
        Handle& handle = streams_[stream];
        if (!handle) check(driver_.create_stream(&handle, 0), "a stream");
        return handle;
    }
    void inside(Pointer pointer, size_t bytes) const {
        auto after = buffers_.upper_bound(pointer.address);
        if (after != buffers_.begin()) {
            const auto& [address, size] = *std::prev(after);
            if (pointer.address - address <= size && bytes <= size - (pointer.address - address)) return;
        }
        throw Failure(fmt::format("{} bytes at {:#x} are not inside one buffer on {}", bytes, pointer.address, name()));
    }
    Handle module_of(std::string_view kernel) {
        const std::string_view source = kernel_named(kernel).file;
        const auto found = modules_.find(source);
        if (found != modules_.end()) return found->second;
        const std::string file = "kernels/ptx/" + std::string(source.substr(0, source.rfind('.'))) + ".ptx";
        return module_from(source, file, read_file(resource_root() / file).value());
    }
    Handle module_of(const ptx::Program& program) {  // of a generated kernel
        const auto found = modules_.find(program.kernel);
        return found != modules_.end() ? found->second : module_from(program.kernel, program.kernel, program.ptx);
    }
    Handle module_from(std::string_view key, const std::string& file, const std::string& text) {
        char log[4096] = {};
        int options[] = {jit_error_log, jit_error_log_bytes};
        void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
        Handle module = nullptr;
        if (driver_.load_module(&module, text.c_str(), 2, options, values))
            throw Failure(fmt::format("{} refuses {}: {}", name(), file, log[0] ? log : "no reason given"));
        modules_.emplace(key, module);
        return module;
    }

    const CudaDriver& driver_;
    int ordinal_, device_ = 0;
    DeviceOptions options_;
    Handle context_ = nullptr, origin_ = nullptr, begin_ = nullptr, end_ = nullptr;
    Clock::time_point begun_;
    std::map<uint64_t, size_t> buffers_;
    std::map<Stream, Handle> streams_;
    std::map<std::string, Handle, std::less<>> modules_;
    std::vector<Handle> events_;
    uint64_t launches_ = 0;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cuda(const std::string& ordinal, const DeviceOptions& options) {
    int number = 0;
    const auto [end, error] = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), number);
    if (error != std::errc() || end != ordinal.data() + ordinal.size() || number < 0)
        return Diagnostic{fmt::format("cuda devices are cuda:0, cuda:1 and so on, not 'cuda:{}'", ordinal)};
    const auto& driver = cuda_driver();
    if (const auto* why = std::get_if<std::string>(&driver)) throw Failure("cuda: " + *why, ExitStatus::missing);
    const auto& found = std::get<CudaDriver>(driver);
    if (number >= found.devices)
        throw Failure(fmt::format("there is no cuda:{}: the driver finds {} GPU{}", number, found.devices,
                                  found.devices == 1 ? "" : "s"),
                      ExitStatus::missing);
    return std::unique_ptr<Device>(std::make_unique<Cuda>(found, number, options));
}

std::vector<DeviceListing> list_cuda() {
    const auto& driver = cuda_driver();
    if (const auto* why = std::get_if<std::string>(&driver)) return {{"cuda:0", *why, false}};
    std::vector<DeviceListing> listings;
    for (int i = 0; i < std::get<CudaDriver>(driver).devices; ++i) {
        const std::string name = fmt::format("cuda:{}", i);
        try {
            listings.push_back({name, Cuda(std::get<CudaDriver>(driver), i, {}).description(), true});
        } catch (const Failure& failure) {
            listings.push_back({name, failure.diagnostic.message, false});
        }
    }
    return listings;
}

}  // namespace lockstep::device
