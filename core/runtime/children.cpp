#include "core/runtime/children.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/ptx/ptx.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

constexpr int deepest = 24;                 // CUDA Programming Guide: nesting depth
constexpr size_t most_waiting = 1'000'000;  // of one grid
constexpr uint64_t tail_stream = 3;         // cudaStreamTailLaunch

}  // namespace

// The kernel at an address that PTX has for it: the one that the program registered, or one that only kernels launch.
Kernel* Runtime::kernel_at(Module& module, uint64_t address) {
    const auto known = module.at_address.find(address);
    if (known != module.at_address.end()) return known->second;
    const ptx::Linked& whole = linked(module);
    const uint64_t number = (address - ptx::address_of_function(0)) / ptx::function_bytes - whole.module.functions.size();
    if (address < ptx::address_of_function(whole.module.functions.size()) || number >= whole.module.entries.size())
        return nullptr;
    const std::string name(whole.module.entries[number].name);
    Kernel* found = nullptr;
    for (auto& [host, kernel] : kernels_)
        if (kernel.module == &module && whole.name_in(kernel.part, kernel.name) == name) found = &kernel;
    if (!found) {
        module.unregistered.push_back(std::make_unique<Kernel>(Kernel{.name = name, .module = &module}));
        found = module.unregistered.back().get();
        found->programs.resize(settings_.gpus);
    }
    return module.at_address[address] = found;
}

// Runs it now; its place on the clock is found later.
std::shared_ptr<const model::KernelTime> Runtime::run_child(Kernel& kernel, const simt::DeviceWork& work, Children& children,
                                                            LaunchRecord& record) {
    const auto program = program_of(kernel);
    simt::LaunchConfig config{.grid = work.grid,
                              .block = work.block,
                              .dynamic_shared = work.shared,
                              .parameters = work.arguments,
                              .independent = model::schedules_threads(gpu_)};
    config.parameters.resize(program->parameter_bytes);
    record.kernel = program->shown_name();
    const std::string before = std::exchange(running_, record.kernel);
    simt::DeviceRuntime* const outer = std::exchange(device_runtime_, &children);
    const std::shared_ptr<const model::KernelTime> time = run(*program, config, record);
    device_runtime_ = outer;
    children.finish();
    running_ = before;
    return time;
}

int Runtime::problem_of_child(Kernel& kernel, const simt::DeviceWork& work) {
    const auto program = program_of(kernel);
    const simt::LaunchConfig config{.grid = work.grid,
                                    .block = work.block,
                                    .dynamic_shared = work.shared,
                                    .parameters = std::vector<std::byte>(program->parameter_bytes),
                                    .independent = model::schedules_threads(gpu_)};
    const auto problem = simt::check_launch(*program, config, limits_of(kernel));
    if (!problem) return cudaSuccess;
    note(fmt::format("{} launched {}<<<({},{},{}), ({},{},{})>>>, which cannot run: {}", running_, program->shown_name(),
                     work.grid.x, work.grid.y, work.grid.z, work.block.x, work.block.y, work.block.z, problem->message));
    return problem->message.find("registers") != std::string::npos ? cudaErrorLaunchOutOfResources
                                                                   : cudaErrorInvalidConfiguration;
}

int Children::problem_of(const simt::DeviceWork& work) {
    if (work.kind != simt::DeviceWork::Kind::kernel) return cudaSuccess;
    if (depth_ + 1 >= deepest) return cudaErrorLaunchMaxDepthExceeded;
    if (waiting_.size() + tail_.size() >= most_waiting) return cudaErrorLaunchPendingCountExceeded;
    Kernel* const kernel = runtime_.kernel_at(*parent_.module, work.kernel);
    return kernel ? runtime_.problem_of_child(*kernel, work) : cudaErrorInvalidDeviceFunction;
}

int Children::start(simt::DeviceWork work) {
    int problem = cudaSuccess;
    try {
        problem = problem_of(work);
    } catch (const CallFailure& failure) {
        runtime_.note(failure.message);
        problem = failure.error;
    }
    if (problem == cudaSuccess) (work.stream == tail_stream ? tail_ : waiting_).push_back(std::move(work));
    return problem;
}

bool Children::wait() {
    run_all(waiting_);
    return !runtime_.has_faulted();
}

void Children::finish() {
    run_all(waiting_);
    run_all(tail_);
}

void Children::run_all(std::deque<simt::DeviceWork>& list) {
    while (!list.empty() && !runtime_.has_faulted()) {
        const simt::DeviceWork work = std::move(list.front());
        list.pop_front();
        run(work);
    }
}

void Children::run(const simt::DeviceWork& work) {
    simt::Memory& memory = runtime_.memory();
    if (work.kind != simt::DeviceWork::Kind::kernel) {  // what it touches was there when it was started
        std::byte* const to = memory.write(work.to, work.bytes);
        const std::byte* const from =
            work.kind == simt::DeviceWork::Kind::copy ? memory.read(work.from, work.bytes) : nullptr;
        if (to && from) std::memmove(to, from, work.bytes);
        if (to && work.kind == simt::DeviceWork::Kind::fill) std::memset(to, work.value, work.bytes);
        return;
    }
    Kernel& kernel = *runtime_.kernel_at(*parent_.module, work.kernel);
    LaunchRecord record{.grid = work.grid,
                        .block = work.block,
                        .shared = work.shared,
                        .device = like_.device,
                        .stream = like_.stream,
                        .site = like_.site};
    Children own(runtime_, kernel, record, depth_ + 1);
    std::shared_ptr<const model::KernelTime> time = runtime_.run_child(kernel, work, own, record);
    if (runtime_.has_faulted()) return;
    runtime_.note(
        "kernels that a kernel launches ran one after the other, behind it or where it waited for them; their times do not "
        "hold what a launch on the device costs");
    runtime_.note(fmt::format("{} launches {}", ptx::readable_name(parent_.name), record.kernel));
    ended_.push_back({std::move(record), std::move(time)});
    for (Ended& later : own.ended()) ended_.push_back(std::move(later));
}

}  // namespace lockstep::runtime
