// Launches: a kernel runs when it is launched, simulated cycle by cycle or functionally, and takes its time on the clock.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <tuple>
#include <utility>

#include "core/base/cores.h"
#include "core/base/tell.h"
#include "core/model/advice/verdict.h"
#include "core/model/metrics/bound.h"
#include "core/ptx/ptx.h"
#include "core/runtime/children.h"
#include "core/runtime/runtime.h"
#include "core/system/system.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

constexpr uint64_t most_blocks_kept = 65536;  // of a launch, to place them beside other streams'

std::vector<std::byte> parameters_of(const ptx::Program& program, void** arguments) {
    std::vector<std::byte> block(program.parameter_bytes);
    for (size_t k = 0; k < program.parameters.size(); ++k)
        std::memcpy(block.data() + program.parameters[k].offset, arguments[k], program.parameters[k].bytes);
    return block;
}

// The source line at which the launch's warps waited longest, and its share of their waiting.
void find_hot_line(const ptx::Program& program, const model::TimedResult& result, Timed& timed) {
    std::map<std::pair<int32_t, int32_t>, uint64_t> waited;  // by file and line
    uint64_t total = 0;
    for (size_t pc = 0; pc < result.instructions.size() && pc < program.instructions.size(); ++pc) {
        const auto& stalls = result.instructions[pc].stalls;
        uint64_t here = 0;
        for (size_t reason = 1; reason < std::size(stalls); ++reason) here += stalls[reason];
        total += here;
        if (program.instructions[pc].line > 0)
            waited[{program.instructions[pc].file, program.instructions[pc].line}] += here;
    }
    const auto most = std::max_element(waited.begin(), waited.end(), [](auto& a, auto& b) { return a.second < b.second; });
    if (most == waited.end() || total == 0) return;
    timed.hot_file = program.files[static_cast<size_t>(most->first.first)];
    timed.hot_line = most->first.second;
    timed.hot_share = static_cast<double>(most->second) / static_cast<double>(total);
}

// The first launch of a kernel and shape says what limits it; the others are alike.
void find_what_limits(const model::GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                      model::TimedResult result, LaunchRecord& record) {
    constexpr size_t most = 3;
    model::KernelRun run;
    run.gpu = gpu;
    run.program = std::shared_ptr<const ptx::Program>(std::shared_ptr<void>(), &program);  // stays the module's
    run.config = config;
    run.result = std::move(result);
    for (const model::Finding& finding : model::verdict_of(run).findings) {
        if (record.findings.size() == most) break;
        record.findings.push_back({std::string(finding.rule), finding.sentence, finding.evidence, finding.change,
                                   finding.file, finding.line, finding.gain});
    }
}

void print_of_kernel(std::string_view words) {
    std::fwrite(words.data(), 1, words.size(), stdout);
}

}  // namespace

// On a terminal a launch that takes longer than two seconds says how far it is; where a file is asked for, it says so there,
// "0.43 blur".
class ProgressLine {
  public:
    ProgressLine(std::string kernel, std::string file) : kernel_(std::move(kernel)), file_(std::move(file)) {}
    ~ProgressLine() {
        if (shown_ && file_.empty()) tell("\r{:{}}\r", "", kernel_.size() + 12);
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    void operator()(double share) {
        const auto now = std::chrono::steady_clock::now();
        if (!file_.empty()) {
            if (now - last_ < std::chrono::milliseconds(100)) return;
            last_ = now;
            std::ofstream(file_) << fmt::format("{:.3f} {}", share, kernel_);
            return;
        }
        if (now - last_ < std::chrono::milliseconds(shown_ ? 200 : 2000) || !system::errors_go_to_a_terminal()) return;
        last_ = now;
        shown_ = true;
        tell("\r{} {:.0f} %  ", kernel_, 100 * share);
    }

  private:
    std::string kernel_, file_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    bool shown_ = false;
};

simt::LaunchLimits Runtime::limits_of(const Kernel& kernel) const {
    simt::LaunchLimits limits = model::limits_of(gpu_);
    // More than 48 KiB of shared memory is for kernels that ask for it (CUDA Programming Guide, cudaFuncSetAttribute).
    constexpr uint32_t usual = 48 * 1024;
    if (kernel.most_dynamic_shared < 0) limits.shared_per_block = std::min(limits.shared_per_block, usual);
    return limits;
}

model::Occupancy Runtime::occupancy_of(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared) {
    const auto program = program_of(kernel);
    const uint64_t shared = ptx::shared_bytes(*program, dynamic_shared);
    const bool too_much = kernel.most_dynamic_shared < 0
                              ? shared > limits_of(kernel).shared_per_block
                              : dynamic_shared > static_cast<uint64_t>(kernel.most_dynamic_shared);
    if (too_much) return {};  // no block at all
    return model::occupancy(gpu_, threads, ptx::registers_on(*program, gpu_.compute.number),
                            ptx::shared_bytes(*program, dynamic_shared));
}

// A kernel that is launched again warns of the same places again: each is kept once.
void Runtime::keep_warnings(const std::vector<simt::Fault>& warnings) {
    const auto place = [](const simt::Fault& w) {
        return std::tie(w.kernel, w.kind, w.file, w.line, w.other_file, w.other_line);
    };
    for (const simt::Fault& warning : warnings) {
        const bool known = std::any_of(report_.warnings.begin(), report_.warnings.end(),
                                       [&](const simt::Fault& w) { return place(w) == place(warning); });
        if (!known) report_.warnings.push_back(warning);
    }
}

std::optional<simt::Fault> Runtime::run_timed(const ptx::Program& program, const simt::LaunchConfig& config, Timed& timed,
                                              LaunchRecord& record) {
    model::TimedOptions options;
    options.racecheck = settings_.racecheck;
    options.initcheck = settings_.initcheck;
    options.synccheck = settings_.synccheck;
    options.max_instructions = settings_.max_instructions;
    options.threads = settings_.threads;
    options.print = print_of_kernel;
    options.device_runtime = device_runtime_;
    ProgressLine line(program.shown_name(), settings_.progress);
    options.progress = [&](double share) { line(share); };
    if (settings_.warm_l2) options.l2 = &l2_[device_];
    options.trace = several_streams_;
    options.trace_limit = std::min<uint64_t>(config.grid.count(), most_blocks_kept);
    model::TimedResult result = model::launch(gpu_, program, config, memory_, options);
    for (const simt::Fault& report : result.reports) report_.faults.push_back(report);
    keep_warnings(result.warnings);
    for (const std::string& sentence : result.notes) note(sentence);
    record.warp_instructions = result.warp_instructions;
    if (result.fault) return result.fault;
    timed.warp_instructions = result.warp_instructions;
    timed.changed = false;
    timed.time = std::make_shared<const model::KernelTime>(model::kernel_time(gpu_, program, config, result));
    timed.bound = model::name_of(model::bound_of(result));
    find_hot_line(program, result, timed);
    record.cycles = result.cycles;
    record.timed_by = TimedBy::simulation;
    if (timed.runs == 1) find_what_limits(gpu_, program, config, std::move(result), record);
    return std::nullopt;
}

Runtime::Apart& Runtime::apart_of(const ptx::Program& program) {
    const auto [found, fresh] = apart_.try_emplace(program.ptx_file + " " + program.kernel);
    if (fresh) {
        found->second.facts = simt::apart_facts(program);
        found->second.order = report_.orders.size();
        report_.orders.push_back({.kernel = program.shown_name()});
    }
    return found->second;
}

std::optional<simt::Fault> Runtime::run_functionally(const ptx::Program& program, const simt::LaunchConfig& config,
                                                     LaunchRecord& record) {
    simt::LaunchOptions options = model::functional_options(gpu_, program, config);
    options.racecheck = settings_.racecheck;
    options.initcheck = settings_.initcheck;
    options.synccheck = settings_.synccheck;
    options.max_instructions = settings_.max_instructions;
    options.print = print_of_kernel;
    options.device_runtime = device_runtime_;
    ProgressLine line(program.shown_name(), settings_.progress);
    options.progress = [&](double share) { line(share); };
    Apart& apart = apart_of(program);
    const uint32_t threads = settings_.threads > 0 ? settings_.threads : cores();
    const simt::ApartResult ran =
        simt::launch_apart(program, *apart.facts, config, memory_, options, apart.touched ? 1 : threads);
    apart.touched |= ran.touched;
    OrderRecord& order = report_.orders[apart.order];  // the kernels that it launched have theirs in front of this by now
    order.threads = std::max(order.threads, ran.threads);
    ++(ran.threads > 1 ? order.apart : order.in_order);
    if (!ran.why.empty()) order.why = ran.why;
    const simt::LaunchResult& result = ran.launch;
    for (const simt::Fault& report : result.reports) report_.faults.push_back(report);
    keep_warnings(result.warnings);
    for (const std::string& sentence : result.notes) note(sentence);
    record.warp_instructions = result.warp_instructions;
    return result.fault;
}

// A kernel launched again with the same shape keeps the time of its first launches as long as it executes as many
// instructions; where their number changed, that launch's time is scaled by it, and the next launch is simulated again.
std::shared_ptr<const model::KernelTime> Runtime::run(const ptx::Program& program, const simt::LaunchConfig& config,
                                                      LaunchRecord& record) {
    const std::string key =
        fmt::format("{} {} {},{},{} {},{},{} {}", program.ptx_file, program.kernel, config.grid.x, config.grid.y,
                    config.grid.z, config.block.x, config.block.y, config.block.z, config.dynamic_shared);
    Timed& timed = timed_[key];
    // Without a time so far: all launches before it are still under way, and launched this one.
    const bool again = timed.changed || !timed.time;
    const bool simulate =
        settings_.timed_launches < 0 || timed.runs < settings_.timed_launches || (again && settings_.timed_launches != 0);
    ++timed.runs;
    const std::optional<simt::Fault> fault =
        simulate ? run_timed(program, config, timed, record) : run_functionally(program, config, record);
    if (fault) {
        raise(*fault);
        return nullptr;
    }
    record.hot_file = timed.hot_file;
    record.hot_line = timed.hot_line;
    record.hot_share = timed.hot_share;
    if (timed.time) record.bound = timed.bound;
    if (simulate || !timed.time) return timed.time;
    record.timed_by = record.warp_instructions == timed.warp_instructions ? TimedBy::same_counts : TimedBy::ratio;
    record.cycles = timed.time->cycles;
    if (record.timed_by == TimedBy::same_counts) return timed.time;
    timed.changed = true;
    model::KernelTime scaled = *timed.time;
    const double ratio =
        static_cast<double>(record.warp_instructions) / static_cast<double>(std::max<uint64_t>(1, timed.warp_instructions));
    scaled.blocks.clear();
    scaled.cycles = record.cycles = static_cast<int64_t>(static_cast<double>(scaled.cycles) * ratio);
    return std::make_shared<const model::KernelTime>(std::move(scaled));
}

namespace {

simt::LaunchConfig config_of(const KernelWork& work, const model::GpuSpec& gpu) {
    return {.grid = work.grid,
            .block = work.block,
            .dynamic_shared = static_cast<uint32_t>(std::min<uint64_t>(work.shared, UINT32_MAX)),
            .parameters = work.parameters,
            .independent = model::schedules_threads(gpu),
            .cluster = work.cluster};
}

}  // namespace

bool& in_host_function() {
    thread_local bool inside = false;
    return inside;
}

CallFailure no_kernel(const void* function) {
    return {function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction,
            "this is no __global__ function of the program"};
}

KernelWork Runtime::kernel_work(const LaunchAsked& asked) {
    if (sticky_error_ != 0) throw CallFailure{sticky_error_, "an earlier kernel ended in a fault"};
    Kernel* kernel = kernel_of(asked.function);
    if (!kernel) throw no_kernel(asked.function);
    name_place(*kernel);
    const auto program = program_of(*kernel);
    KernelWork work{.kernel = kernel,
                    .grid = asked.grid,
                    .block = asked.block,
                    .cluster = asked.cluster,
                    .shared = asked.shared,
                    .cooperative = asked.cooperative,
                    .device = device_};
    const auto refused = [&](int error, const std::string& why) {
        return CallFailure{error, fmt::format("{}<<<({},{},{}), ({},{},{})>>>: {}", program->shown_name(), asked.grid.x,
                                              asked.grid.y, asked.grid.z, asked.block.x, asked.block.y, asked.block.z, why)};
    };
    if (!asked.arguments && !program->parameters.empty())
        throw refused(cudaErrorInvalidValue, "it takes arguments, and none are given");
    work.parameters = parameters_of(*program, asked.arguments);
    if (const auto problem = simt::check_launch(*program, config_of(work, gpu_), limits_of(*kernel))) {
        const bool registers = problem->message.find("registers") != std::string::npos;
        const bool cluster = problem->message.find("cluster") != std::string::npos;
        throw refused(registers ? cudaErrorLaunchOutOfResources
                      : cluster ? cudaErrorInvalidClusterSize
                                : cudaErrorInvalidValue,  // of CUDA 13; CUDA 12 said cudaErrorInvalidConfiguration
                      problem->message);
    }
    if (kernel->most_dynamic_shared >= 0 && asked.shared > static_cast<uint64_t>(kernel->most_dynamic_shared))
        throw refused(cudaErrorInvalidValue,
                      fmt::format("it asks for {} bytes of dynamic shared memory, and cudaFuncSetAttribute allowed {}",
                                  asked.shared, kernel->most_dynamic_shared));
    if (!kernel->any_cluster && asked.cluster.count() > portable_cluster)
        throw refused(cudaErrorInvalidClusterSize,
                      "more than 8 blocks of a cluster are for kernels with cudaFuncAttributeNonPortableClusterSizeAllowed");
    if (asked.cooperative) {
        const model::Occupancy fits = occupancy_of(*kernel, static_cast<uint32_t>(asked.block.count()), asked.shared);
        if (asked.grid.count() > uint64_t{fits.blocks} * gpu_.sms)
            throw refused(cudaErrorCooperativeLaunchTooLarge,
                          fmt::format("a cooperative launch has at most {} blocks here, {} an SM",
                                      uint64_t{fits.blocks} * gpu_.sms, fits.blocks));
    }
    return work;
}

void Runtime::launch(const LaunchAsked& asked) {
    submit(asked.stream, kernel_work(asked));
}

void Runtime::run_kernel(uint32_t stream, const KernelWork& work) {
    if (sticky_error_ != 0) throw CallFailure{sticky_error_, "an earlier kernel ended in a fault"};
    struct OnDevice {
        uint32_t& device;
        uint32_t before;
        ~OnDevice() { device = before; }
    } const there{device_, std::exchange(device_, work.device)};
    const auto program = program_of(*work.kernel);
    if (stream != 0) several_streams_ = true;
    std::fflush(stdout);  // what the program printed before comes before what the kernel prints
    LaunchRecord record{.kernel = program->shown_name(),
                        .grid = work.grid,
                        .block = work.block,
                        .shared = work.shared,
                        .device = device_,
                        .stream = stream,
                        .site = site_,
                        .call = call_number_};
    const simt::LaunchConfig config = config_of(work, gpu_);
    keep_snapshot(*work.kernel, config);
    std::optional<simt::Memory> before;
    if (settings_.racecheck && several_streams_) before.emplace(memory_);
    if (settings_.initcheck) find_unset_constants(*program);
    running_ = record.kernel;
    const LaunchRecord like = record;
    Children children(*this, *work.kernel, like);
    device_runtime_ = &children;
    const std::shared_ptr<const model::KernelTime> time = run(*program, config, record);
    device_runtime_ = nullptr;
    children.finish();
    running_.clear();
    if (settings_.racecheck) {
        const std::string name = "the kernel " + record.kernel;
        watch_order(name, stream, before ? touches_of(*program, config, *before) : std::vector<Touch>());
        guard_kernel(*program, config, name, stream);
    }
    place_launch(std::move(record), time);
    const std::optional<double> cost = std::exchange(node_us_, 0.0);  // the host has nothing to do with what kernels launch
    for (Children::Ended& child : children.ended()) place_launch(std::move(child.record), std::move(child.time));
    node_us_ = cost;
}

// Puts a kernel that has run onto the clock and into the report.
void Runtime::place_launch(LaunchRecord record, std::shared_ptr<const model::KernelTime> time) {
    if (time) record.time_us = time->us();
    model::HostOperation operation;
    operation.verb = model::HostVerb::launch;
    operation.stream = record.stream;
    operation.name = record.kernel;
    operation.kernel = std::move(time);
    const size_t index = issue(operation);
    if (launches_.size() >= most_records) {
        ++dropped_;
        return;
    }
    launches_.push_back(std::move(record));
    pending_.push_back({index, &launches_.back().begin_us, &launches_.back().end_us});
    resolve();
}

// Of the launch that is next in the report.
void Runtime::keep_snapshot(Kernel& kernel, const simt::LaunchConfig& config) {
    if (!snapshots_) return;
    const size_t launch = launches_.size();
    const bool only = settings_.only_snapshot >= 0;
    if (only && launch != static_cast<size_t>(settings_.only_snapshot)) return;
    const auto l2 = l2_.find(device_);
    snapshots_->take(launch, linked(*kernel.module).module, program_of(kernel)->kernel, config, memory_,
                     l2 == l2_.end() ? std::vector<uint64_t>() : model::packed_from(l2->second));
    if (only) system::exit_now(0);
}

// A function of the host runs when everything before it in its stream is over, which it is.
void Runtime::run_on_host(uint32_t stream, const HostWork& work) {
    settle(model::SyncWith::stream, stream, nullptr);
    const int depth = std::exchange(depth_, 0);
    const char* const call = call_;  // what the function calls itself has records of its own
    const int64_t number = call_number_;
    const CallSite site = site_;
    left_ = std::chrono::steady_clock::now();
    const std::optional<double> node = std::exchange(node_us_, std::nullopt);
    // A callback of cudaStreamAddCallback may not call CUDA either.
    in_host_function() = true;
    if (work.function)
        work.function(work.data);
    else
        work.callback();
    in_host_function() = false;
    guards_.open();  // a call of the function has closed them
    depth_ = depth;
    call_ = call;
    call_number_ = number;
    site_ = site;
    node_us_ = node;
}

}  // namespace lockstep::runtime
