// The modelled GPU as a device: kernels run from their checked-in PTX, functionally or cycle by cycle, at once and in the
// order of the calls; streams and events decide when they run on the simulated timeline (timeline.h). A functional launch
// takes no time there.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"
#include "core/device/timeline.h"
#include "core/model/memory/memory_system.h"

namespace lockstep::device {

namespace {
constexpr uint64_t most_blocks_kept = 65536;  // of a launch, to place them beside others'; a larger one has the GPU alone

class Sim final : public Device {
  public:
    Sim(const model::GpuSpec& gpu, std::string name, const DeviceOptions& options)
        : gpu_(gpu), name_(std::move(name)), options_(options), timeline_(gpu) {}

    std::string name() const override { return name_; }
    std::string description() const override {
        return fmt::format("modelled {}, {} {}, {}", gpu_.title, gpu_.sms.value, gpu_.sms == 1u ? "SM" : "SMs",
                           options_.functional ? "functional" : "cycle by cycle");
    }
    std::string_view provenance() const override { return "simulated"; }

    Pointer allocate(size_t bytes, std::string_view buffer_name) override {
        return {memory_.allocate(bytes, std::string(buffer_name))};
    }
    void release(Pointer pointer) override {
        const simt::Allocation* allocation = memory_.find(pointer.address);
        if (!allocation || allocation->address != pointer.address)
            throw Failure(
                fmt::format("release of {:#x}, which is no live buffer's first byte on {}", pointer.address, name_));
        memory_.release(pointer.address);
    }
    void copy_in(Pointer to, const void* from, size_t bytes, Stream stream) override {
        if (bytes == 0) return;
        std::byte* memory = memory_.write(to.address, bytes);
        if (!memory) outside(to, bytes);
        std::memcpy(memory, from, bytes);
        copied(to, bytes, true, stream);
    }
    void copy_out(void* to, Pointer from, size_t bytes, Stream stream) override {
        if (bytes == 0) return;
        const std::byte* memory = memory_.read(from.address, bytes);
        if (!memory) outside(from, bytes);
        std::memcpy(to, memory, bytes);
        copied(from, bytes, false, stream);
    }

    void launch(const LaunchRequest& request) override {
        throw_if_stopped(options_.stop);
        const auto program = request.generated ? request.generated->program : program_of(request.kernel);
        if (!program) throw Failure(fmt::format("{} has no PTX, which {} runs", request.kernel, name_));
        const simt::LaunchConfig config{request.grid, request.block, request.dynamic_shared,
                                        pack(*program, request.arguments), model::schedules_threads(gpu_)};
        if (const auto diagnostic = simt::check_launch(*program, config, model::limits_of(gpu_))) throw Failure(*diagnostic);

        LaunchEvent event{.index = launches_,
                          .kernel = std::string(request.kernel),
                          .label = request.label,
                          .phase = request.phase,
                          .grid = request.grid,
                          .block = request.block,
                          .stream = request.stream};
        if (options_.functional)
            run_functional(*program, config, event);
        else
            run_timed(program, config, event, request.generated);
        ++launches_;
        if (on_launch) on_launch(event);
    }

    void launch_graph(std::span<const LaunchRequest> requests) override {
        timeline_.begin_graph();
        try {
            for (const LaunchRequest& request : requests) launch(request);
        } catch (...) {
            timeline_.end_graph();
            throw;
        }
        timeline_.end_graph();
    }

    int64_t create_texture(const simt::Texture& texture) override { return static_cast<int64_t>(memory_.texture(texture)); }
    Event record(Stream stream) override { return timeline_.record(stream); }
    void wait(Stream stream, Event event) override {
        if (!timeline_.wait(stream, event)) throw Failure(fmt::format("wait for event {}, which was never recorded", event));
    }
    void synchronize() override { timeline_.synchronize(); }

  private:
    void copied(Pointer where, size_t bytes, bool to_device, Stream stream) {
        CopyEvent event;
        if (const simt::Allocation* allocation = memory_.find(where.address)) event.name = allocation->name;
        event.bytes = bytes;
        event.to_device = to_device;
        event.stream = stream;
        timeline_.copy(event);
        if (on_copy) on_copy(event);
    }

    void run_functional(const ptx::Program& program, const simt::LaunchConfig& config, LaunchEvent& event) {
        simt::LaunchOptions options = model::functional_options(gpu_, program, config);
        options.stop = options_.stop;
        const simt::LaunchResult result = simt::launch(program, config, memory_, options);
        finish(result, event, {});
    }

    void run_timed(const std::shared_ptr<const ptx::Program>& program, const simt::LaunchConfig& config, LaunchEvent& event,
                   const GeneratedKernel* generated) {
        model::TimedOptions options;
        options.stop = options_.stop;
        // Kernels of several streams share the SMs block by block: then the times of the blocks are wanted.
        several_streams_ = several_streams_ || event.stream != 0;
        options.trace = options_.keep_runs || several_streams_;
        options.machine = options_.keep_runs;
        if (!options_.keep_runs) options.trace_limit = std::min<uint64_t>(config.grid.count(), most_blocks_kept);
        const auto before = options_.keep_runs ? std::make_shared<const simt::Memory>(memory_) : nullptr;
        const auto l2_before =
            options_.keep_runs && options_.warm_l2 ? std::make_shared<const model::L2State>(l2_) : nullptr;
        if (options_.warm_l2) options.l2 = &l2_;
        model::TimedResult result = model::launch(gpu_, *program, config, memory_, options);
        event.cycles = result.cycles;
        finish(result, event, model::kernel_time(gpu_, *program, config, result));
        if (options_.keep_runs)
            event.run = std::make_shared<const model::KernelRun>(
                model::KernelRun{gpu_, program, config, std::move(result), before,
                                 generated ? generated->source : source_of(event.kernel), l2_before});
    }

    void finish(const simt::LaunchResult& result, LaunchEvent& event, model::KernelTime time) {
        if (result.stopped) throw Cancelled();
        if (result.fault) throw Failure(simt::render(*result.fault), ExitStatus::faulted);
        event.warp_instructions = result.warp_instructions;
        timeline_.launch(event, std::move(time));
    }

    [[noreturn]] void outside(Pointer pointer, size_t bytes) const {
        if (const simt::Allocation* allocation = memory_.find(pointer.address))
            throw Failure(fmt::format("{} bytes from byte {} run past the end of '{}' ({} bytes) on {}", bytes,
                                      pointer.address - allocation->address, allocation->name, allocation->bytes, name_));
        throw Failure(fmt::format("address {:#x} is in no buffer on {}", pointer.address, name_));
    }

    model::GpuSpec gpu_;
    std::string name_;
    DeviceOptions options_;
    simt::Memory memory_;
    model::L2State l2_;
    Timeline timeline_;
    uint64_t launches_ = 0;
    bool several_streams_ = false;
};
}  // namespace

std::unique_ptr<Device> make_sim(const model::GpuSpec& gpu, const std::string& name, const DeviceOptions& options) {
    return std::make_unique<Sim>(gpu, name, options);
}

}  // namespace lockstep::device
