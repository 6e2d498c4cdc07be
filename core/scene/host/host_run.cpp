// Running a host program: first in issue order, every kernel timed on the modelled GPU; its times give the schedule. Where
// the schedule leaves accesses unordered, the values are worked out again in the order of the timeline: an operation reads
// when it begins and writes when it ends.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/base/sizes.h"
#include "core/ptx/ptx.h"
#include "core/scene/host/host_changes.h"
#include "core/scene/host/host_kernels.h"
#include "core/scene/host/host_program.h"
#include "core/simt/warp.h"

namespace lockstep::scene {
namespace {

using model::HostVerb;

constexpr uint64_t instructions_in_all = 50'000'000;   // warp instructions of a host program's kernels, the host's with them
constexpr uint64_t most_kept = uint64_t{1} << 30;      // bytes of what kernels and copies under way will write
constexpr uint64_t most_compared = uint64_t{1} << 30;  // bytes of what kernels wrote: beyond, their arguments alone count
constexpr size_t most_told = 100;                      // hazards
constexpr uint64_t issues_kept = 200'000, blocks_kept = 65'536, blocks_in_all = 1'000'000;

// What operations may touch: an array, or a variable of a kernel's module.
struct Place {
    bool on_device = false;
    uint64_t address = 0, bytes = 0;
};

class Runner {
  public:
    Runner(const HostText& text, const model::GpuSpec& gpu, const std::filesystem::path& folder,
           const HostRunOptions& options)
        : folder_(folder), options_(options), run_(std::make_shared<HostRun>()) {
        run_->gpu = gpu;
        run_->text = text;
    }

    std::shared_ptr<const HostRun> all() {
        kernels_ = load_host_kernels(run_->text, folder_);
        allocate();
        place_variables();
        const size_t count = run_->text.statements.size();
        run_->runs.resize(count);
        run_->program.link = run_->text.link;
        run_->program.connections = run_->text.connections;
        if (run_->text.link == model::HostLink::nvlink && run_->gpu.nvlink_gb_per_second <= 0)
            throw Failure(Diagnostic{fmt::format("{} has no NVLink", run_->gpu.title), {run_->text.file}});
        const simt::Memory device = device_, host = host_;
        for (size_t i = 0; i < count && !run_->fault; ++i) {
            throw_if_stopped(options_.stop);
            run_->program.operations.push_back(operation_of(i));
            execute(i);
            if (options_.progress) options_.progress(static_cast<double>(i + 1) / static_cast<double>(count));
        }
        if (options_.leakcheck) take_reports(count - 1, simt::find_leaks(device_));
        run_->schedule = model::schedule(run_->gpu, run_->program);
        const std::vector<model::Hazard> hazards = model::hazards(run_->program, run_->schedule);
        for (size_t i = 0; i < std::min(hazards.size(), most_told); ++i) {
            run_->hazards.push_back(sentence(hazards[i]));
            run_->hazard_advice.push_back(advice(hazards[i]));
        }
        tell_of_copies_under_way();
        run_->still_allocated.assign(allocated_.begin(), allocated_.end());
        if (!hazards.empty() && !run_->fault) {
            device_ = device;
            host_ = host;
            as_scheduled();
        }
        outputs();
        return run_;
    }

  private:
    const HostArray& array(const HostSlice& slice) const { return run_->text.arrays[static_cast<size_t>(slice.array)]; }
    static uint64_t bytes(const HostArray& array, uint64_t elements) { return elements * size_of(array.contents.type); }
    uint64_t address(const HostSlice& slice) const {
        return addresses_[static_cast<size_t>(slice.array)] + bytes(array(slice), slice.first);
    }
    uint64_t bytes(const HostSlice& slice) const { return bytes(array(slice), slice.past - slice.first); }
    simt::Memory& memory_of(const HostSlice& slice) { return array(slice).on_device ? device_ : host_; }
    [[noreturn]] void fail(const HostStatement& s, std::string message) const { fail_in(run_->text, s, std::move(message)); }

    void allocate() {
        for (size_t i = 0; i < run_->text.arrays.size(); ++i) {
            const HostArray& one = run_->text.arrays[i];
            simt::Memory& memory = one.on_device ? device_ : host_;
            addresses_.push_back(memory.allocate(std::max<uint64_t>(1, one.bytes), one.name));
            places_.push_back({one.on_device, addresses_.back(), one.bytes});
            if (one.on_device || one.bytes == 0) continue;
            const Result<Array> contents = initial_contents(one.contents, options_.seed * 1000003u + i, folder_);
            if (!contents) throw Failure(Diagnostic{contents.error().message, {run_->text.file, one.line, 1}});
            std::memcpy(memory.write(addresses_.back(), one.bytes), contents.value().bytes.data(), one.bytes);
        }
    }

    // The variables of the kernels' modules, behind the arrays: where they are does not depend on when kernels run.
    void place_variables() {
        for (const HostStatement& s : run_->text.statements) {
            if (s.kernel.empty()) continue;
            const bool on_device = s.verb == HostVerb::launch;
            const auto [mentioned, first] = mentioned_.try_emplace({s.kernel, on_device});
            if (!first) continue;
            const ptx::Program& program = *kernels_.at(s.kernel).program;
            const std::vector<uint64_t> addresses = simt::place_variables(program, on_device ? device_ : host_);
            for (size_t v = 0; v < addresses.size(); ++v) {
                const ptx::GlobalVariable& variable = program.variables[v];
                if (variable.space != ptx::Space::global || variable.opaque != ptx::Opaque::none) continue;
                size_t place = run_->text.arrays.size();
                while (place < places_.size() &&
                       (places_[place].address != addresses[v] || places_[place].on_device != on_device))
                    ++place;
                if (place == places_.size()) {
                    places_.push_back({on_device, addresses[v], variable.bytes});
                    run_->variables.push_back(ptx::readable_name(variable.name));
                }
                const bool used = std::any_of(program.instructions.begin(), program.instructions.end(),
                                              [&](const auto& i) { return i.variable == static_cast<int32_t>(v); });
                if (used) mentioned->second.push_back(static_cast<uint32_t>(place));
            }
        }
    }

    model::Touch touch(const HostSlice& slice, bool writes) const {
        const uint64_t first = bytes(array(slice), slice.first);
        return {static_cast<uint32_t>(slice.array), first, first + bytes(slice), writes};
    }

    model::HostOperation operation_of(size_t index) const {
        const HostStatement& s = run_->text.statements[index];
        model::HostOperation o;
        o.verb = s.verb;
        o.stream = s.stream;
        o.name = s.text;
        o.us = s.us;
        o.line = s.line;
        if (s.verb == HostVerb::copy_in || s.verb == HostVerb::copy_out || s.verb == HostVerb::copy_within) {
            o.bytes = bytes(s.to);
            o.touches = {touch(s.to, true), touch(s.from, false)};
            o.blocking = !s.has_stream;
            o.pinned = s.verb == HostVerb::copy_within || array(s.verb == HostVerb::copy_in ? s.from : s.to).pinned;
        }
        if (!s.kernel.empty()) {
            const HostKernel& kernel = kernels_.at(s.kernel);
            for (size_t i = 0; i < s.arguments.size(); ++i)
                if (s.arguments[i].is_slice)
                    o.touches.push_back(touch(s.arguments[i].slice, i >= kernel.read_only.size() || !kernel.read_only[i]));
            for (const uint32_t place : mentioned_.at({s.kernel, s.verb == HostVerb::launch}))
                o.touches.push_back({place, 0, places_[place].bytes, false});
        }
        if (s.verb == HostVerb::record || s.verb == HostVerb::wait || !s.event.empty()) {
            const auto found = std::find(events_.begin(), events_.end(), s.event);
            o.event = static_cast<uint32_t>(found - events_.begin());
            if (found == events_.end()) events_.push_back(s.event);
        }
        if (s.verb == HostVerb::synchronize)
            o.with = !s.event.empty() ? model::SyncWith::event
                     : s.has_stream   ? model::SyncWith::stream
                                      : model::SyncWith::device;
        return o;
    }

    // The launch of a statement: parameters written where the program wants them.
    simt::LaunchConfig config_of(const HostStatement& s) const {
        const HostKernel& kernel = kernels_.at(s.kernel);
        const auto& parameters = kernel.program->parameters;
        if (s.arguments.size() != parameters.size())
            fail(s, fmt::format("kernel '{}' takes {} arguments, but {} are given", s.kernel, parameters.size(),
                                s.arguments.size()));
        simt::LaunchConfig config;
        config.grid = s.grid;
        config.block = s.block;
        config.dynamic_shared = s.shared;
        config.parameters.assign(kernel.program->parameter_bytes, std::byte{0});
        for (size_t i = 0; i < parameters.size(); ++i) {
            const ptx::Parameter& p = parameters[i];
            const HostArgument& given = s.arguments[i];
            if (p.offset + p.bytes > config.parameters.size())
                fail(s, "the kernel's parameters are not laid out as PTX has it");
            std::byte* const slot = config.parameters.data() + p.offset;
            if (given.is_slice) {
                if (p.bytes != 8) fail(s, fmt::format("argument {} of '{}' is a number, not an array", i + 1, s.kernel));
                const uint64_t where = address(given.slice);
                std::memcpy(slot, &where, 8);
                continue;
            }
            if (p.pointer) fail(s, fmt::format("argument {} of '{}' is a pointer: an array is needed", i + 1, s.kernel));
            const bool real = p.type == ptx::Type::f32 || p.type == ptx::Type::f64;
            const Result<KernelArgument> number = parse_argument(fmt::format("{}:{}",
                                                                             p.type == ptx::Type::f32   ? "f32"
                                                                             : p.type == ptx::Type::f64 ? "f64"
                                                                             : p.bytes == 8             ? "i64"
                                                                                                        : "i32",
                                                                             given.number));
            if (!number)
                fail(s, fmt::format("argument {} of '{}' is {}, not '{}'", i + 1, s.kernel,
                                    real ? "a number" : "a whole number", given.number));
            std::memcpy(slot, number.value().values.bytes.data(),
                        std::min<size_t>(p.bytes, number.value().values.bytes.size()));
        }
        if (auto problem = simt::check_launch(*kernel.program, config, model::limits_of(run_->gpu)))
            fail(s, problem->message);
        return config;
    }

    void execute(size_t index) {
        const HostStatement& s = run_->text.statements[index];
        // Where all of the GPU's work is of one stream, nothing of it can be out of order.
        const bool watched = !s.kernel.empty() && !options_.functional && compared_ < most_compared &&
                             (s.verb == HostVerb::work || several_streams());
        const bool on_device = s.verb == HostVerb::launch;
        std::optional<simt::Memory> before;
        if (watched) before = on_device ? device_ : host_;
        run_statement(index);
        if (watched) add_writes(run_->program.operations[index], *before, on_device);
    }

    bool several_streams() const {  // beside the default one, which is ordered with all
        const auto& all = run_->text.statements;
        const auto named = [](const HostStatement& s) { return s.stream != 0; };
        const auto first = std::find_if(all.begin(), all.end(), named);
        return std::any_of(first, all.end(), [&](const HostStatement& s) { return named(s) && s.stream != first->stream; });
    }

    // What a kernel wrote beside what its arguments say: variables, and other parts of arrays.
    void add_writes(model::HostOperation& operation, const simt::Memory& before, bool on_device) {
        const simt::Memory& after = on_device ? device_ : host_;
        for (uint32_t place = 0; place < places_.size(); ++place) {
            const Place& one = places_[place];
            if (one.on_device != on_device || one.bytes == 0) continue;
            if (before.read(one.address, 1) != after.read(one.address, 1)) compared_ += one.bytes;
            for (const auto& [begin, end] : changed_stretches(before, after, one.address, one.bytes)) {
                const bool said = std::any_of(
                    operation.touches.begin(), operation.touches.end(), [&, begin = begin, end = end](const auto& touch) {
                        return touch.buffer == place && touch.writes && touch.begin <= begin && touch.end >= end;
                    });
                if (!said) operation.touches.push_back({place, begin, end, true});
            }
        }
    }

    void run_statement(size_t index) {
        const HostStatement& s = run_->text.statements[index];
        switch (s.verb) {
            case HostVerb::copy_in:
            case HostVerb::copy_out:
            case HostVerb::copy_within: {
                live(s, s.to);
                live(s, s.from);
                const std::byte* const from = memory_of(s.from).read(address(s.from), bytes(s.from));
                std::memcpy(memory_of(s.to).write(address(s.to), bytes(s.to)), from, bytes(s.to));
                const uint64_t whole = addresses_[static_cast<size_t>(s.to.array)];
                if (simt::ByteSet* const unwritten = memory_of(s.to).unwritten(whole))
                    unwritten->set(address(s.to) - whole, bytes(s.to), false);
                break;
            }
            case HostVerb::launch:
                for (const HostArgument& argument : s.arguments)
                    if (argument.is_slice) live(s, argument.slice);
                launch(index);
                break;
            case HostVerb::work:
                if (!s.kernel.empty()) functional(s, host_);
                break;
            case HostVerb::allocate:
                allocated_.insert(s.to.array);
                if (options_.initcheck) device_.mark_unwritten(addresses_[static_cast<size_t>(s.to.array)]);
                break;
            case HostVerb::release:
                live(s, s.to);
                allocated_.erase(s.to.array);
                break;
            default:
                break;
        }
    }

    void live(const HostStatement& s, const HostSlice& slice) const {
        if (array(slice).on_device && !allocated_.count(slice.array))
            fail(s, fmt::format("'{}' has been freed", array(slice).name));
    }

    void launch(size_t index) {
        const HostStatement& s = run_->text.statements[index];
        const HostKernel& kernel = kernels_.at(s.kernel);
        const simt::LaunchConfig config = config_of(s);
        if (options_.functional) return functional(s, device_);
        auto run = std::make_shared<model::KernelRun>();
        run->gpu = run_->gpu;
        run->program = kernel.program;
        run->config = config;
        run->source = kernel.source;
        model::TimedOptions timed;
        timed.stop = options_.stop;
        timed.max_instructions = instructions_left();
        timed.synccheck = options_.synccheck;
        timed.racecheck = options_.racecheck;
        timed.initcheck = options_.initcheck;
        // Of the first few kernels one launch each can be looked into.
        const bool first = traced_.size() < 4 && traced_.insert(s.kernel).second;
        if (first) run->before = std::make_shared<const simt::Memory>(device_);
        const uint64_t blocks = std::min({config.grid.count(), blocks_kept, blocks_in_all - blocks_});
        blocks_ += blocks;
        timed.trace_limit = first ? std::max(issues_kept, blocks) : blocks;
        timed.machine = first;
        run->result = model::launch(run_->gpu, *kernel.program, config, device_, timed);
        if (run->result.stopped) throw Cancelled();
        issued_ += run->result.warp_instructions;
        if (run->result.fault) run_->fault = run->result.fault;
        take_reports(index, run->result.reports);
        take_reports(index, run->result.warnings);
        run_->program.operations[index].kernel =
            std::make_shared<const model::KernelTime>(model::kernel_time(run_->gpu, *kernel.program, config, run->result));
        run_->runs[index] = std::move(run);
    }

    // A kernel that is launched again is not told of again.
    void take_reports(size_t statement, const std::vector<simt::Fault>& found) {
        for (const simt::Fault& fault : found) {
            const auto told = [&](const HostRun::Report& report) {
                const simt::Fault& f = report.fault;
                return f.kind == fault.kind && f.kernel == fault.kernel && f.pc == fault.pc && f.other_pc == fault.other_pc;
            };
            if (run_->reports.size() < most_told && std::none_of(run_->reports.begin(), run_->reports.end(), told))
                run_->reports.push_back({statement, fault});
        }
    }

    void functional(const HostStatement& s, simt::Memory& memory) {
        const HostKernel& kernel = kernels_.at(s.kernel);
        const simt::LaunchConfig config = config_of(s);
        simt::LaunchOptions how = model::functional_options(run_->gpu, *kernel.program, config);
        how.max_instructions = instructions_left();
        how.stop = options_.stop;
        const simt::LaunchResult result = simt::launch(*kernel.program, config, memory, how);
        if (result.stopped) throw Cancelled();
        issued_ += result.warp_instructions;
        if (result.fault) run_->fault = result.fault;
    }
    uint64_t instructions_left() const { return instructions_in_all - std::min(instructions_in_all - 1, issued_); }

    // Everything again, in the order of the timeline.
    void as_scheduled() {
        struct Moment {
            double time;
            int rank;  // at the same time: what ends, what begins, what begins and ends at once
            bool ends;
            size_t index;
        };
        std::vector<Moment> moments;
        for (size_t i = 0; i < run_->program.operations.size(); ++i) {
            const model::OperationTime& one = run_->schedule.operations[i];
            const HostVerb verb = run_->program.operations[i].verb;
            if (verb == HostVerb::work) {
                moments.push_back({one.call_begin_us, 1, false, i});
                moments.push_back({one.busy_end_us, one.busy_end_us > one.call_begin_us ? 0 : 2, true, i});
            } else if (one.engine != model::Engine::none) {
                moments.push_back({one.begin_us, 1, false, i});
                moments.push_back({one.end_us, one.end_us > one.begin_us ? 0 : 2, true, i});
            }
        }
        std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
            return std::tie(a.time, a.rank) < std::tie(b.time, b.rank);
        });
        issued_ = 0;
        std::map<size_t, std::vector<std::byte>> taken;  // by copies under way
        std::map<size_t, Changes> changes;               // of kernels under way
        uint64_t kept = 0;                               // bytes of both
        const auto keep = [&](const HostStatement& s, uint64_t bytes) {
            if ((kept += bytes) > most_kept)
                fail(s, fmt::format("what is under way at once here would write more than {}, which is too much to keep: "
                                    "order the operations, or take smaller arrays",
                                    size_text(most_kept)));
        };
        for (const Moment& moment : moments) {
            const HostStatement& s = run_->text.statements[moment.index];
            const bool on_device = s.verb != HostVerb::work;
            simt::Memory& memory = on_device ? device_ : host_;
            const Moment* const next = &moment == &moments.back() ? nullptr : &moment + 1;
            if (!s.kernel.empty() && !moment.ends && next && next->index == moment.index) {
                functional(s, memory);  // nothing else happens while it runs
            } else if (!s.kernel.empty() && !moment.ends) {
                simt::Memory after = memory;
                functional(s, after);
                Changes& made = changes[moment.index];
                for (const Place& place : places_)
                    if (place.on_device == on_device) made.add(memory, after, place.address, place.bytes, most_kept);
                keep(s, made.bytes());
            } else if (!s.kernel.empty()) {
                const auto made = changes.extract(moment.index);
                if (made.empty()) continue;
                made.mapped().write_to(memory);
                kept -= made.mapped().bytes();
            } else if (s.verb != HostVerb::work && !moment.ends) {
                const std::byte* const from = memory_of(s.from).read(address(s.from), bytes(s.from));
                taken[moment.index].assign(from, from + bytes(s.from));
                keep(s, bytes(s.from));
            } else if (s.verb != HostVerb::work) {
                std::memcpy(memory_of(s.to).write(address(s.to), bytes(s.to)), taken[moment.index].data(), bytes(s.to));
                taken.erase(moment.index);
                kept -= bytes(s.from);
            }
        }
    }

    std::string sentence(const model::Hazard& hazard) const {
        const auto &a = run_->program.operations[static_cast<size_t>(hazard.first)],
                   &b = run_->program.operations[static_cast<size_t>(hazard.second)];
        return fmt::format("line {} ({}) {} '{}', which line {} ({}) {}, and nothing orders the two", b.line, b.name,
                           hazard.second_writes ? "writes" : "reads", run_->buffer_name(hazard.buffer), a.line, a.name,
                           hazard.first_writes ? "writes" : "reads");
    }

    std::string advice(const model::Hazard& hazard) const {
        const auto &a = run_->program.operations[static_cast<size_t>(hazard.first)],
                   &b = run_->program.operations[static_cast<size_t>(hazard.second)];
        if (b.verb == HostVerb::work)
            return fmt::format("Put 'sync stream={}' in front of line {}: then the host waits for line {}.", a.stream,
                               b.line, a.line);
        if (a.verb == HostVerb::work) return fmt::format("Put line {} behind line {}'s end.", b.line, a.line);
        return fmt::format(
            "Put 'event done{0} stream={1}' behind line {0} and 'wait done{0} stream={2}' in front of line {3}, or give "
            "both "
            "the same stream.",
            a.line, a.stream, b.stream, b.line);
    }

    // Copies home that the host does not know to have ended when the program does.
    void tell_of_copies_under_way() {
        const auto& operations = run_->schedule.operations;
        std::vector<bool> ended(operations.size());
        std::vector<int> open;
        for (const model::OperationTime& one : operations) open.insert(open.end(), one.seen.begin(), one.seen.end());
        while (!open.empty()) {
            const auto i = static_cast<size_t>(open.back());
            open.pop_back();
            if (ended[i]) continue;
            ended[i] = true;
            open.insert(open.end(), operations[i].after.begin(), operations[i].after.end());
        }
        for (size_t i = 0; i < operations.size() && run_->hazards.size() < most_told; ++i) {
            const model::HostOperation& one = run_->program.operations[i];
            if (one.verb == HostVerb::copy_out && operations[i].on_device && !ended[i]) {
                run_->hazard_advice.push_back(
                    fmt::format("Put 'sync stream={}' behind line {}, before the host reads.", one.stream, one.line));
                run_->hazards.push_back(fmt::format(
                    "the host may read '{}', which line {} ({}) may still be writing: nothing waits for that copy",
                    array(run_->text.statements[i].to).name, one.line, one.name));
            }
        }
    }

    void outputs() {
        std::set<int> written;
        for (const HostStatement& s : run_->text.statements) {
            if (s.verb == HostVerb::copy_out) written.insert(s.to.array);
            if (s.verb == HostVerb::work)
                for (size_t i = 0; i < s.arguments.size(); ++i)
                    if (s.arguments[i].is_slice &&
                        !(kernels_.at(s.kernel).read_only.size() > i && kernels_.at(s.kernel).read_only[i]))
                        written.insert(s.arguments[i].slice.array);
        }
        for (const int i : written) {
            const HostArray& one = run_->text.arrays[static_cast<size_t>(i)];
            Array out;
            out.dtype = one.contents.type;
            out.shape = {static_cast<int64_t>(one.count)};
            const std::byte* const from = host_.read(addresses_[static_cast<size_t>(i)], one.bytes);
            if (from) out.bytes.assign(from, from + one.bytes);
            run_->output_names.push_back(one.name);
            run_->outputs.push_back(std::move(out));
        }
    }

    std::filesystem::path folder_;
    HostRunOptions options_;
    std::shared_ptr<HostRun> run_;
    simt::Memory device_{uint64_t{1} << 30}, host_{uint64_t{1} << 30};
    std::vector<uint64_t> addresses_;  // by array
    std::vector<Place> places_;        // arrays, then variables: the buffers of touches
    std::map<std::pair<std::string, bool>, std::vector<uint32_t>> mentioned_;  // variables in a kernel, on the GPU or not
    std::map<std::string, HostKernel> kernels_;
    std::set<int> allocated_;
    std::set<std::string> traced_;
    mutable std::vector<std::string> events_;
    uint64_t issued_ = 0, blocks_ = 0, compared_ = 0;
};

}  // namespace

Result<std::shared_ptr<const HostRun>> run_host(const HostText& text, const model::GpuSpec& gpu,
                                                const std::filesystem::path& folder, const HostRunOptions& options) {
    try {
        return Runner(text, gpu, folder, options).all();
    } catch (const Cancelled&) {
        throw;
    } catch (const Failure& failure) {
        if (failure.status == ExitStatus::missing) throw;
        return failure.diagnostic;
    }
}

const std::string& HostRun::buffer_name(uint32_t buffer) const {
    return buffer < text.arrays.size() ? text.arrays[buffer].name : variables.at(buffer - text.arrays.size());
}

}  // namespace lockstep::scene
