// The frame of every call: whose turn it is, how long the host worked before it, and what becomes of its error.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/base/tell.h"
#include "core/runtime/report/names.h"
#include "core/runtime/report/sites.h"
#include "core/runtime/runtime.h"
#include "core/system/callers.h"
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
    fault_is_new_ = false;
    guards_.open();
    spend_since();
    note_call(call);
}

void Runtime::spend_since() {
    const auto until = std::exchange(launch_began_, std::nullopt).value_or(std::chrono::steady_clock::now());
    const std::chrono::duration<double, std::micro> since = until - left_;
    host_work_us_ += since.count();
    clock_.spend(since.count());
    tidy();
}

bool Runtime::touched(const system::RefusedAccess& access) {
    const std::scoped_lock lock(mutex_);
    if (!guards_.holds(access.address)) return false;
    const int32_t place = place_of_code(access.code);
    for (std::string& sentence : guards_.touched(access, text_of({.place = place})))
        if (report_.touches.size() < 1000 &&
            std::find(report_.touches.begin(), report_.touches.end(), sentence) == report_.touches.end())
            report_.touches.push_back(std::move(sentence));
    return true;
}

void Runtime::close_guards() {
    [[maybe_unused]] static const bool heard =
        (system::on_refused_access([](const system::RefusedAccess& access) { return instance().touched(access); }), true);
    guards_.close([&](const Guard& guard) { return !guard.is_freed && order_.host_knows(guard.stream, guard.number); });
}

namespace {

// A call that only asks for something.
bool is_query(std::string_view call) {
    for (const char* word : {"Get", "Query", "Occupancy", "CanAccessPeer", "IsCapturing"})
        if (call.find(word) != std::string_view::npos) return true;
    return false;
}

}  // namespace

void Runtime::note_call(const char* call) {
    call_number_ = -1;
    if (settings_.report.empty()) return;
    const bool by_brackets = std::exchange(by_brackets_, false);
    if ((site_.line == 0 || is_of_system(site_.file)) && !is_query(call)) site_.place = place_of_caller(by_brackets);
    if (calls_.size() >= most_records) {
        if (!is_query(call)) ++dropped_;
        return;
    }
    call_number_ = static_cast<int64_t>(calls_.size());
    calls_.push_back({.call = call, .begin_us = clock_.host_us(), .site = site_});
}

// Which of the program's lines the call came from is found out behind the run. Here its frames are noted, each way to a call
// once.
int32_t Runtime::place_of_caller(bool by_brackets) {
    std::array<system::CallerFrame, 16> room;
    std::span<const system::CallerFrame> frames(room.data(), system::callers(room));
    const Kernel* kernel = nullptr;
    if (!frames.empty()) kernel = kernel_of(reinterpret_cast<const void*>(frames.front().function));
    if (kernel) frames = frames.subspan(1);  // what stands for it in the program
    return note_place(frames, by_brackets && !kernel);
}

// Where the host is that touched memory: its frames lie beyond those of the signal.
int32_t Runtime::place_of_code(uint64_t code) {
    std::array<system::CallerFrame, 24> room;
    std::span<const system::CallerFrame> frames(room.data(), system::callers(room));
    const auto first = std::find_if(frames.begin(), frames.end(), [&](auto& frame) { return frame.address == code; });
    if (first == frames.end()) return note_place(std::array{system::CallerFrame{.address = code}}, false);
    return note_place(frames.subspan(static_cast<size_t>(first - frames.begin())), false);
}

int32_t Runtime::note_place(std::span<const system::CallerFrame> frames, bool has_stand_in) {
    if (frames.empty()) return -1;
    on_the_way_back_.clear();
    for (const system::CallerFrame& frame : frames) on_the_way_back_.push_back(frame.address);
    std::vector<uint64_t> key;
    for (const system::CallerFrame& frame : frames) key.push_back(frame.address);
    key.push_back(has_stand_in);
    const auto [found, fresh] = places_.try_emplace(std::move(key), static_cast<int32_t>(report_.places.size()));
    if (!fresh) return found->second;
    CodePlace place;
    place.has_stand_in = has_stand_in;
    for (const system::CallerFrame& frame : frames) {
        const system::ModulePlace at = system::module_place(frame.address);
        if (!at.file.empty()) place.frames.push_back({at.file, at.address});
    }
    report_.places.push_back(std::move(place));
    return found->second;
}

// Of a launch whose kernel's stand-in is in the place still.
void Runtime::name_place(const Kernel& kernel) {
    if (site_.place < 0) return;
    CodePlace& place = report_.places[static_cast<size_t>(site_.place)];
    if (!place.has_stand_in || !place.stand_in.module.empty()) return;
    const system::ModulePlace at = system::module_place(reinterpret_cast<uint64_t>(kernel.host));
    place.stand_in = {at.file, at.address};
}

void Runtime::give_call_stream(uint32_t stream) {
    if (call_number_ >= 0) calls_[static_cast<size_t>(call_number_)].stream = stream;
}

double Runtime::now_us() const {
    if (depth_ > 0) return clock_.host_us();
    const std::chrono::duration<double, std::micro> since = std::chrono::steady_clock::now() - left_;
    return clock_.host_us() + since.count();
}

void Runtime::keep(MarkRecord mark) {
    if (report_.marks.size() < most_records)
        report_.marks.push_back(std::move(mark));
    else
        ++dropped_;
}

int Runtime::begin_mark(std::string name) {
    std::vector<MarkRecord>& open = open_marks_[std::this_thread::get_id()];
    open.push_back({std::move(name), now_us(), 0});
    return static_cast<int>(open.size()) - 1;
}

int Runtime::end_mark() {
    std::vector<MarkRecord>& open = open_marks_[std::this_thread::get_id()];
    if (open.empty()) return -1;
    MarkRecord mark = std::move(open.back());
    open.pop_back();
    mark.end_us = now_us();
    keep(std::move(mark));
    return static_cast<int>(open.size());
}

uint64_t Runtime::begin_range(std::string name) {
    open_ranges_[next_range_] = {std::move(name), now_us(), 0};
    return next_range_++;
}

void Runtime::end_range(uint64_t range) {
    const auto found = open_ranges_.find(range);
    if (found == open_ranges_.end()) return;
    found->second.end_us = now_us();
    keep(std::move(found->second));
    open_ranges_.erase(found);
}

void Runtime::note_mark(std::string name) {
    const double now = now_us();
    keep(MarkRecord{std::move(name), now, now});
}

int Runtime::leave(const CallFailure& failure) {
    const int error = failure.error != 0 ? failure.error : sticky_error();
    if (failure.error == 0 && error != 0) last_error_ = error;
    if (failure.error != 0 && failure.error != cudaErrorNotReady) {
        last_error_ = failure.error;
        const char* name = "cudaErrorUnknown";
#define NAME_OF(enumerator, value, text) \
    if (failure.error == (value)) name = #enumerator;
        LOCKSTEP_CUDA_ERRORS(NAME_OF)
#undef NAME_OF
        if (report_.errors.size() < 1000) report_.errors.push_back({call_, name, failure.message, site_, false});
    }
    if (--depth_ > 0) return error;
    if (call_number_ >= 0) {
        CallRecord& record = calls_[static_cast<size_t>(call_number_)];
        record.end_us = clock_.host_us();
        const bool is_last = static_cast<size_t>(call_number_) + 1 == calls_.size();
        if (is_last && failure.error == 0 && record.end_us == record.begin_us && is_query(call_)) calls_.pop_back();
    }
    call_number_ = -1;
    site_ = {};
    site_arguments_.clear();
    if (!guards_.empty()) close_guards();
    warm_way_back();
    left_ = std::chrono::steady_clock::now();
    return error;
}

// A simulation has pushed the program's code out of the caches, which no launch on a real GPU does: what runs next is
// brought back before the host's time goes on.
void Runtime::warm_way_back() const {
    constexpr uint64_t line = 64, around = 256;
    for (const uint64_t address : on_the_way_back_)
        for (uint64_t at = address & ~(line - 1); at < address + around; at += line)
            __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void Runtime::say_site(const char* file, int line, const char* arguments) {
    site_ = {file, line};
    site_arguments_ = name_in(arguments);
}

void Runtime::say_launch_site(const char* file, int line) {
    by_brackets_ = true;
    site_ = file ? CallSite{file, line} : CallSite{};
    site_arguments_.clear();
}

int Runtime::last_error(bool clear) {
    for (ErrorRecord& error : report_.errors) error.seen = true;
    const int error = last_error_;  // a kernel's fault too is told once, and again after the next call, which returns it
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

// As CUDA's driver says it, where whoever runs or grades the program looks for it.
static void tell_assertion(const simt::Fault& fault) {
    std::string message = fault.message;
    if (message.starts_with("assertion")) message[0] = 'A';
    const auto index_text = [](const simt::Dim3& at) { return fmt::format("[{},{},{}]", at.x, at.y, at.z); };
    std::fflush(stdout);
    tell("{}:{}: {}: block: {}, thread: {} {}.\n", fault.file.empty() ? "unknown" : fault.file, fault.line, fault.kernel,
         index_text(fault.block), index_text(fault.thread), message);
}

// A kernel's fault stays: every later call returns it, as after a real one. The launch itself has gone well.
void Runtime::raise(const simt::Fault& fault) {
    static const std::map<std::string, int> errors = {
        {"memcheck", cudaErrorIllegalAddress}, {"assert", cudaErrorAssert},
        {"trap", cudaErrorLaunchFailure},      {"runaway", cudaErrorLaunchTimeout},
        {"deadlock", cudaErrorLaunchTimeout},  {"stack overflow", cudaErrorHardwareStackError}};
    const auto found = errors.find(fault.kind);
    fault_is_new_ = true;
    sticky_error_ = found == errors.end() ? int{cudaErrorLaunchFailure} : found->second;
    if (fault.kind == "memcheck" && fault.message.find("misaligned") != std::string::npos)
        sticky_error_ = cudaErrorMisalignedAddress;
    if (fault.kind == "assert") tell_assertion(fault);
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
                         text_of(block->site).empty() ? "" : fmt::format(" (allocated at {})", text_of(block->site))));
    finish();
}

void Runtime::finish() {
    const std::scoped_lock lock(mutex_);
    if (finished_) return;
    finished_ = true;
    if (settings_.report.empty()) return;
    guards_.open();
    if (depth_++ == 0) spend_since();
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
    const double end_us = clock_.host_us();
    for (auto& [thread, open] : open_marks_)
        while (!open.empty()) {
            open.back().end_us = end_us;
            keep(std::move(open.back()));
            open.pop_back();
        }
    for (auto& [number, range] : open_ranges_) {
        range.end_us = end_us;
        keep(std::move(range));
    }
    Report report = std::move(report_);
    report.gpu = settings_.gpu;
    report.gpus = settings_.gpus;
    report.warm_l2 = settings_.warm_l2;
    report.total_us = end_us;
    report.host_us = host_work_us_;
    report.launches.assign(launches_.begin(), launches_.end());
    report.copies.assign(copies_.begin(), copies_.end());
    report.calls = std::move(calls_);
    for (CallRecord& call : report.calls) {
        if (call.end_us < call.begin_us) call.end_us = end_us;  // it never came back
        for (const char* prefix : {"lockstep11_", "lockstep12_"})
            if (call.call.starts_with(prefix)) call.call.erase(0, std::string_view(prefix).size());
    }
    report.allocations = std::move(allocations_);
    for (AllocationRecord& allocation : report.allocations)
        if (!allocation.freed) allocation.end_us = end_us;
    report.peak_bytes = peak_bytes_;
    report.dropped = dropped_;
    for (const auto& [address, block] : blocks_)
        if (!block.freed && block.kind != MemoryKind::registered)
            report.leaks.push_back(block.record >= 0 ? report.allocations[static_cast<size_t>(block.record)]
                                                     : AllocationRecord{.name = block.name,
                                                                        .kind = std::string(name_of(block.kind)),
                                                                        .address = address,
                                                                        .bytes = block.bytes,
                                                                        .site = block.site,
                                                                        .end_us = end_us});
    if (settings_.leakcheck)
        for (simt::Fault& leak : simt::find_leaks(memory_)) report.faults.push_back(std::move(leak));
    return report;
}

}  // namespace lockstep::runtime
