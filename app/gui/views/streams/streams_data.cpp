#include "app/gui/views/streams/streams_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/gui/widgets/draw.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

void refresh(StreamBoard& board) {
    board.schedule = model::schedule(board.gpu, board.program);
    board.hazards.clear();
    std::set<uint32_t> streams;
    std::set<model::Engine> used;
    for (size_t i = 0; i < board.program.operations.size(); ++i) {
        if (board.schedule.operations[i].on_device) streams.insert(board.program.operations[i].stream);
        if (board.schedule.operations[i].engine != model::Engine::none) used.insert(board.schedule.operations[i].engine);
    }
    board.streams.assign(streams.begin(), streams.end());
    board.used.assign(used.begin(), used.end());
    if (!board.host) return;
    for (const model::Hazard& hazard : model::hazards(board.program, board.schedule)) {
        if (board.hazards.size() >= 20) break;
        const auto &a = board.program.operations[static_cast<size_t>(hazard.first)],
                   &b = board.program.operations[static_cast<size_t>(hazard.second)];
        board.hazards.push_back(
            fmt::format("{} {} '{}' while {} may still be {} it", b.name, hazard.second_writes ? "writes" : "reads",
                        board.host->buffer_name(hazard.buffer), a.name, hazard.first_writes ? "writing" : "reading"));
    }
}

// The step's calls in the order in which the host made them.
void from_step(StreamBoard& board, const nn::StepRecord& step) {
    std::vector<std::pair<double, model::HostOperation>> calls;
    for (const device::CopyEvent& copy : step.copies) {
        model::HostOperation one;
        one.verb = copy.to_device ? model::HostVerb::copy_in : model::HostVerb::copy_out;
        one.stream = copy.stream;
        one.name = (copy.to_device ? "h2d " : "d2h ") + copy.name;
        one.bytes = copy.bytes;
        one.pinned = false;
        calls.emplace_back(copy.enqueue_begin_us, one);
    }
    for (const device::LaunchEvent& launch : step.launches) {
        model::HostOperation one;
        one.verb = model::HostVerb::launch;
        one.stream = launch.stream;
        one.name = launch.label.empty() ? launch.kernel : launch.label;
        model::KernelTime time;
        if (launch.run) time = model::kernel_time(board.gpu, *launch.run->program, launch.run->config, launch.run->result);
        time.cycles = launch.cycles;
        time.mhz = board.gpu.boost_mhz;
        one.kernel = std::make_shared<const model::KernelTime>(std::move(time));
        calls.emplace_back(launch.enqueue_begin_us, one);
    }
    std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [time, call] : calls) board.written.operations.push_back(std::move(call));
}

std::string times(double factor) {
    return fmt::format("{:.2f} times", factor);
}

}  // namespace

StreamBoard make_board(const Snapshot& snapshot) {
    StreamBoard board;
    if (snapshot.host) {
        board.host = snapshot.host;
        board.gpu = snapshot.host->gpu;
        board.written = snapshot.host->program;
    } else if (snapshot.training.step && snapshot.training.step->device.rfind("sim:", 0) == 0 &&
               std::any_of(snapshot.training.step->launches.begin(), snapshot.training.step->launches.end(),
                           [](const auto& launch) { return launch.cycles > 0; })) {
        const Result<model::GpuSpec> gpu = model::gpu_named(snapshot.training.step->device.substr(4));
        if (!gpu) return board;
        board.step = snapshot.training.step;
        board.gpu = gpu.value();
        from_step(board, *snapshot.training.step);
    }
    board.program = board.written;
    refresh(board);
    board.written_schedule = board.schedule;
    return board;
}

bool StreamBoard::moved() const {
    for (size_t i = 0; i < program.operations.size(); ++i)
        if (program.operations[i].stream != written.operations[i].stream) return true;
    return false;
}

bool StreamBoard::movable(int operation) const {
    return host && operation >= 0 && operation < static_cast<int>(program.operations.size()) &&
           schedule.operations[static_cast<size_t>(operation)].on_device;
}

void StreamBoard::move(int operation, uint32_t stream) {
    if (!movable(operation) || program.operations[static_cast<size_t>(operation)].stream == stream) return;
    const double was = schedule.total_us;
    const bool was_open = !hazards.empty();
    program.operations[static_cast<size_t>(operation)].stream = stream;
    refresh(*this);
    const double now = schedule.total_us;
    told =
        fmt::format("{} in {}: {} -> {}, {}", program.operations[static_cast<size_t>(operation)].name, stream_label(stream),
                    lockstep::time_text(was, {.decimals = 1}), lockstep::time_text(now, {.decimals = 1}),
                    now == was ? "no change" : fmt::format("{:+.1f} %", 100 * (now - was) / was));
    if (was_open && hazards.empty()) told += "; everything is ordered now";
}

void StreamBoard::reset() {
    program = written;
    refresh(*this);
    told.clear();
}

std::shared_ptr<const model::KernelRun> StreamBoard::run_of(int operation) const {
    if (!host || operation < 0 || operation >= static_cast<int>(host->runs.size())) return nullptr;
    const auto& run = host->runs[static_cast<size_t>(operation)];
    return run && run->before ? run : nullptr;
}

std::string stream_label(uint32_t stream) {
    return stream == 0 ? "default stream" : fmt::format("stream {}", stream);
}

bool critical(const StreamBoard& board, int operation, bool on_host) {
    return std::any_of(board.schedule.critical.begin(), board.schedule.critical.end(),
                       [&](const model::PathStep& step) { return step.operation == operation && step.on_host == on_host; });
}

std::string title_of(const StreamBoard& board) {
    if (board.step) return fmt::format("step {} of {} · {}", board.step->step, board.step->model, board.gpu.title);
    const std::string& file = board.host->text.file;
    return fmt::format("{} · {}", file.substr(file.find_last_of('/') + 1), board.gpu.title);
}

std::string caption_of(const StreamBoard& board) {
    const model::Schedule& s = board.schedule;
    if (!board.hazards.empty())
        return fmt::format("Nothing orders this: {}. The values are what this timeline makes of them.",
                           board.hazards.front());
    if (!board.told.empty()) return board.told + ".";
    std::string text =
        fmt::format("{} in all; the same calls one after the other take {}",
                    lockstep::time_text(s.total_us, {.decimals = 1}), lockstep::time_text(s.serial_us, {.decimals = 1}));
    text += s.speedup() > 1.02 ? fmt::format(", {} as long.", times(s.speedup())) : ".";
    if (s.overlap > 0)
        return text + fmt::format(" Of the time in which an engine of the GPU works, {:.0f} % has two or more at once.",
                                  100 * s.overlap);
    if (const int at_once = model::kernels_at_once(s); at_once > 1)
        return text + fmt::format(" Up to {} kernels share the SMs.", at_once);
    const double share = s.work_us > 0 ? 100 * s.copy_us / s.work_us : 0;
    return text + fmt::format(" No two engines of the GPU work at once; copies are {:.0f} % of the work.", share);
}

std::string facts_of(const StreamBoard& board, int operation) {
    const auto i = static_cast<size_t>(operation);
    const model::HostOperation& asked = board.program.operations[i];
    const model::OperationTime& one = board.schedule.operations[i];
    std::string text = asked.line > 0 ? fmt::format("line {}, ", asked.line) : "";
    text += one.on_device ? stream_label(asked.stream) + ": " : "host: ";
    text += asked.name + "\n";
    if (!one.on_device)
        return text + fmt::format("{} to {}{}{}", lockstep::time_text(one.call_begin_us, {.decimals = 1}),
                                  lockstep::time_text(one.call_end_us, {.decimals = 1}),
                                  one.call_end_us > one.busy_end_us
                                      ? ", waits " + lockstep::time_text(one.call_end_us - one.busy_end_us, {.decimals = 1})
                                      : std::string(),
                                  critical(board, operation, true) ? "\non the critical path" : "");
    const double took = one.end_us - one.begin_us;
    if (one.engine == model::Engine::none) {
        text += asked.verb == model::HostVerb::record
                    ? "recorded at " + lockstep::time_text(one.end_us, {.decimals = 1})
                    : fmt::format("waits {}, until {}", lockstep::time_text(took, {.decimals = 1}),
                                  lockstep::time_text(one.end_us, {.decimals = 1}));
    } else if (one.engine == model::Engine::compute) {
        text += fmt::format("{} on the SMs, {} to {}", lockstep::time_text(took, {.decimals = 1}),
                            lockstep::time_text(one.begin_us, {.decimals = 1}),
                            lockstep::time_text(one.end_us, {.decimals = 1}));
        if (took > one.alone_us * 1.001) text += "; alone " + lockstep::time_text(one.alone_us, {.decimals = 1});
    } else {
        text += fmt::format(
            "{} in {}, {:.1f} GB/s, {} to {}", counted(asked.bytes, "byte"), lockstep::time_text(took, {.decimals = 1}),
            took > 0 ? static_cast<double>(asked.bytes) / (took * 1e3) : 0,
            lockstep::time_text(one.begin_us, {.decimals = 1}), lockstep::time_text(one.end_us, {.decimals = 1}));
        if (!asked.pinned) text += ", pageable";
    }
    text += "\ncalled at " + lockstep::time_text(one.call_begin_us, {.decimals = 1});
    if (one.call_end_us > one.busy_end_us)
        text += ", the host waits until " + lockstep::time_text(one.call_end_us, {.decimals = 1});
    if (one.cause >= 0 && board.schedule.operations[static_cast<size_t>(one.cause)].on_device)
        text += fmt::format("\nwaited for {}", board.program.operations[static_cast<size_t>(one.cause)].name);
    const bool call = critical(board, operation, true);
    if (critical(board, operation, false))
        text += call ? "\nit and its call are on the critical path" : "\non the critical path";
    else if (call)
        text += "\nits call is on the critical path";
    return text;
}

}  // namespace lockstep::gui
