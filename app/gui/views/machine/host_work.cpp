#include "app/gui/views/machine/host_work.h"

#include <algorithm>

#include "app/gui/views/machine/machine_view.h"

namespace lockstep::gui {
namespace {

// Of a long program what is near: its report may have 200,000 launches.
constexpr int64_t launches_around = 64;

void add_program(const MachineFrame& frame, HostClock& clock) {
    const ProgramState& program = frame.snapshot.program;
    const runtime::Report& report = program.run->report;
    clock.of_program = true;
    const auto all = static_cast<int64_t>(report.launches.size());
    const int64_t first = std::max<int64_t>(0, program.launch - launches_around),
                  last = std::min(all, program.launch + launches_around);
    for (int64_t i = first; i < last; ++i) {
        const runtime::LaunchRecord& launch = report.launches[static_cast<size_t>(i)];
        clock.work.push_back({.begin_us = launch.begin_us,
                              .end_us = launch.end_us,
                              .name = launch.kernel,
                              .kernel = launch.kernel,
                              .launch = i,
                              .shown = i == program.launch});
    }
    const double from = first == 0 ? -1e300 : report.launches[static_cast<size_t>(first)].begin_us,
                 until = last == all ? 1e300 : report.launches[static_cast<size_t>(last) - 1].end_us;
    for (const runtime::CopyRecord& copy : report.copies) {
        if (copy.end_us < from || copy.begin_us > until) continue;
        const CopyWay way = copy.direction == "host to device"   ? CopyWay::in
                            : copy.direction == "device to host" ? CopyWay::out
                                                                 : CopyWay::within;
        clock.work.push_back({.begin_us = copy.begin_us,
                              .end_us = copy.end_us,
                              .name = way == CopyWay::in    ? "copy in"
                                      : way == CopyWay::out ? "copy out"
                                                            : "copy",
                              .kernel = {},
                              .way = way,
                              .bytes = static_cast<double>(copy.bytes)});
    }
}

void add_step(const MachineFrame& frame, const nn::StepRecord& step, HostClock& clock) {
    for (size_t i = 0; i < step.launches.size(); ++i) {
        const device::LaunchEvent& launch = step.launches[i];
        clock.work.push_back({.begin_us = launch.begin_us,
                              .end_us = launch.end_us,
                              .name = launch.label.empty() ? launch.kernel : launch.label,
                              .kernel = launch.kernel,
                              .launch = static_cast<int64_t>(i),
                              .shown = static_cast<int32_t>(i) == frame.focus.launch});
    }
    for (const device::CopyEvent& copy : step.copies)
        clock.work.push_back({.begin_us = copy.begin_us,
                              .end_us = copy.end_us,
                              .name = copy.name,
                              .kernel = {},
                              .way = copy.to_device ? CopyWay::in : CopyWay::out,
                              .bytes = static_cast<double>(copy.bytes)});
}

void add_host_program(const MachineFrame& frame, const scene::HostRun& host, HostClock& clock) {
    const auto& operations = host.program.operations;
    bool found = false;
    for (size_t i = 0; i < std::min(operations.size(), host.schedule.operations.size()); ++i) {
        const model::HostOperation& asked = operations[i];
        const model::OperationTime& time = host.schedule.operations[i];
        const CopyWay way = asked.verb == model::HostVerb::copy_in       ? CopyWay::in
                            : asked.verb == model::HostVerb::copy_out    ? CopyWay::out
                            : asked.verb == model::HostVerb::copy_within ? CopyWay::within
                                                                         : CopyWay::none;
        if (!time.on_device || (way == CopyWay::none && asked.verb != model::HostVerb::launch)) continue;
        const auto& run = i < host.runs.size() ? host.runs[i] : nullptr;
        const auto& here = frame.scene->run;
        const bool shown = !found && run && (run == here || run->before == here->before);
        found |= shown;
        clock.work.push_back({.begin_us = time.begin_us,
                              .end_us = time.end_us,
                              .name = asked.name,
                              .kernel = asked.name,
                              .way = way,
                              .bytes = static_cast<double>(asked.bytes),
                              .shown = shown});
    }
}

}  // namespace

double HostWork::share_at(double us) const {
    return std::clamp((us - begin_us) / std::max(1e-9, end_us - begin_us), 0.0, 1.0);
}

HostClock host_clock(const MachineFrame& frame) {
    HostClock clock;
    const Snapshot& snapshot = frame.snapshot;
    const ProgramState& program = snapshot.program;
    const auto& step = snapshot.training.step;
    if (snapshot.source == Source::own && program.run && program.launch >= 0 &&
        static_cast<size_t>(program.launch) < program.run->report.launches.size())
        add_program(frame, clock);
    else if (snapshot.host && !shows_own_run(snapshot))
        add_host_program(frame, *snapshot.host, clock);
    else if (step && frame.focus.launch >= 0 && !shows_own_run(snapshot))
        add_step(frame, *step, clock);
    std::stable_sort(clock.work.begin(), clock.work.end(),
                     [](const HostWork& a, const HostWork& b) { return a.begin_us < b.begin_us; });
    const auto shown = std::find_if(clock.work.begin(), clock.work.end(), [](const HostWork& work) { return work.shown; });
    const double share = frame.clock / static_cast<double>(std::max<int64_t>(1, frame.scene->trace().cycles));
    if (shown == clock.work.end()) {  // it runs by itself
        const std::string name = frame.scene->run->program ? frame.scene->run->program->shown_name() : "kernel";
        clock = {};
        clock.work.push_back({.begin_us = 0, .end_us = 1, .name = name, .kernel = name, .shown = true});
        clock.now_us = share;
        return clock;
    }
    clock.shown = static_cast<size_t>(shown - clock.work.begin());
    clock.now_us = shown->begin_us + (shown->end_us - shown->begin_us) * share;
    return clock;
}

EngineNow engine_at(const HostClock& clock, std::initializer_list<CopyWay> ways) {
    EngineNow engine;
    for (const HostWork& work : clock.work) {
        if (std::find(ways.begin(), ways.end(), work.way) == ways.end()) continue;
        if (work.end_us <= clock.now_us)
            engine.before = &work;
        else if (work.begin_us <= clock.now_us)
            engine.runs = &work;
        else if (engine.next == nullptr)
            engine.next = &work;
    }
    return engine;
}

}  // namespace lockstep::gui
