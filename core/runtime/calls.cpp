// The frame of every call: whose turn it is, how long the host worked before it, and what becomes of its error.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/base/tell.h"
#include "core/runtime/runtime.h"
#include "core/system/system.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

constexpr uint64_t first_device_address = 0x0700'0000'0000ull;  // nobody's on the host: to follow one there ends the program

model::GpuSpec gpu_of(const std::string& name) {
    Result<model::GpuSpec> gpu = model::gpu_named(name);
    if (!gpu) {
        tell("{}\n", render(gpu.error()));
        std::exit(2);
    }
    return gpu.value();
}

// "&d_x" and "(void**)&d_x, bytes" name d_x; an array's element keeps its index.
std::string name_in(const std::string& arguments) {
    size_t begin = 0, end = 0;
    int depth = 0;
    for (; end < arguments.size(); ++end) {
        const char c = arguments[end];
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        if (c == ',' && depth == 0) break;
    }
    std::string name = arguments.substr(0, end);
    const size_t cast = name.rfind(')');  // of (void**)&p and (void**)(&p)
    if (name.starts_with("(") && cast != std::string::npos && cast + 1 < name.size()) begin = cast + 1;
    name = name.substr(begin);
    std::erase_if(name, [](char c) { return c == '&' || c == ' ' || c == '(' || c == ')'; });
    return name;
}

void crash(int, uint64_t address) {
    Runtime::instance().crashed(address);
}

}  // namespace

Runtime& Runtime::instance() {
    static Runtime* const runtime = [] {
        try {
            return new Runtime(settings_of_environment());
        } catch (const Failure& failure) {
            tell("{}\n", render(failure.diagnostic));
            std::exit(2);
        }
    }();
    [[maybe_unused]] static const bool crashes = (system::before_a_crash(crash), true);
    // Destroyed by nobody: threads of the program may still call while it ends. The report is written at its exit.
    [[maybe_unused]] static const int registered = std::atexit([] { instance().finish(); });
    return *runtime;
}

Runtime::Runtime(Settings settings)
    : settings_(std::move(settings)),
      gpu_(gpu_of(settings_.gpu)),
      memory_(uint64_t{1} << 40),
      clock_(gpu_),
      left_(std::chrono::steady_clock::now()) {
    memory_.begin_at(first_device_address);
    streams_[0] = {};
    if (settings_.by_lines) std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!settings_.snapshots.empty()) snapshots_ = std::make_unique<SnapshotWriter>(settings_.snapshots);
}

void Runtime::enter(const char* call) {
    if (depth_++ > 0) return;
    call_ = call;
    const std::chrono::duration<double, std::micro> since = std::chrono::steady_clock::now() - left_;
    host_work_us_ += since.count();
    clock_.spend(since.count());
    tidy();
}

int Runtime::leave(const CallFailure& failure) {
    const int error = failure.error != 0 ? failure.error : sticky_error_;
    if (failure.error != 0 && failure.error != cudaErrorNotReady) {
        last_error_ = failure.error;
        const char* name = "cudaErrorUnknown";
#define NAME_OF(enumerator, value, text) \
    if (failure.error == (value)) name = #enumerator;
        LOCKSTEP_CUDA_ERRORS(NAME_OF)
#undef NAME_OF
        if (report_.errors.size() < 1000) report_.errors.push_back({call_, name, failure.message, site_, false});
    }
    site_ = {};
    site_arguments_.clear();
    if (--depth_ == 0) left_ = std::chrono::steady_clock::now();
    return error;
}

void Runtime::say_site(const char* file, int line, const char* arguments) {
    site_ = {file, line};
    site_arguments_ = name_in(arguments);
}

int Runtime::last_error(bool clear) {
    for (ErrorRecord& error : report_.errors) error.seen = true;
    const int error = sticky_error_ != 0 ? sticky_error_ : last_error_;
    if (clear) last_error_ = 0;
    return error;
}

void Runtime::saw_error(std::string_view name) {
    for (ErrorRecord& error : report_.errors) error.seen |= error.error == name;
}

void Runtime::note(std::string sentence) {
    if (std::find(report_.notes.begin(), report_.notes.end(), sentence) == report_.notes.end())
        report_.notes.push_back(std::move(sentence));
}

// A kernel's fault stays: every later call returns it, as after a real one.
void Runtime::raise(const simt::Fault& fault) {
    static const std::map<std::string, int> errors = {
        {"memcheck", cudaErrorIllegalAddress}, {"assert", cudaErrorAssert},
        {"trap", cudaErrorLaunchFailure},      {"runaway", cudaErrorLaunchTimeout},
        {"deadlock", cudaErrorLaunchTimeout},  {"stack overflow", cudaErrorHardwareStackError}};
    const auto found = errors.find(fault.kind);
    sticky_error_ = found == errors.end() ? int{cudaErrorLaunchFailure} : found->second;
    if (fault.kind == "memcheck" && fault.message.find("misaligned") != std::string::npos)
        sticky_error_ = cudaErrorMisalignedAddress;
    report_.faults.push_back(fault);
}

// The program ends by a signal. One that followed a pointer of the device learns which.
void Runtime::crashed(uint64_t address) {
    const std::string running = running_;
    for (int tries = 0; !mutex_.try_lock(); ++tries) {  // another thread may hold it for good
        if (tries > 100) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!running.empty()) note(fmt::format("the program ended while the kernel {} ran", running));
    if (const Block* block = find(address); block && address >= first_device_address)
        note(fmt::format("the host followed a pointer of the device: byte {} of '{}'{}, which only kernels and copies reach",
                         address - block->address, block->name,
                         block->site.line ? fmt::format(" (allocated at {}:{})", block->site.file, block->site.line) : ""));
    finish();
}

void Runtime::finish() {
    const std::scoped_lock lock(mutex_);
    if (finished_) return;
    finished_ = true;
    if (settings_.report.empty()) return;
    enter("exit");
    clock_.catch_up();
    resolve();
    try {
        write_report(make_report(), settings_.report);
    } catch (const std::exception& problem) {
        tell("the report was not written: {}\n", problem.what());
    }
    --depth_;
}

Report Runtime::make_report() {
    Report report = std::move(report_);
    report.gpu = settings_.gpu;
    report.gpus = settings_.gpus;
    report.total_us = clock_.host_us();
    report.host_us = host_work_us_;
    report.launches.assign(launches_.begin(), launches_.end());
    report.copies.assign(copies_.begin(), copies_.end());
    report.peak_bytes = peak_bytes_;
    report.dropped = dropped_;
    for (const auto& [address, block] : blocks_)
        if (!block.freed && block.kind != MemoryKind::registered)
            report.leaks.push_back({block.name, std::string(name_of(block.kind)), address, block.bytes, block.site});
    if (settings_.leakcheck)
        for (simt::Fault& leak : simt::find_leaks(memory_)) report.faults.push_back(std::move(leak));
    return report;
}

}  // namespace lockstep::runtime
