// A whole host program through the stream clock, and what can be read from its times: totals, how many engines work when,
// the critical path, the same as a Trace, and accesses that nothing orders.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/model/streams/streams.h"

namespace lockstep::model {
namespace {

int64_t nanoseconds(double us) {
    return std::llround(us * 1e3);
}

// When 0, 1, 2 ... engines work, from 0 to the end.
std::vector<BusySpan> busy_spans(const std::vector<OperationTime>& operations, double total) {
    std::vector<std::vector<std::pair<double, double>>> by_engine(engines);  // joined: kernels that share the SMs are one
    for (const OperationTime& operation : operations)
        if (operation.engine != Engine::none && operation.end_us > operation.begin_us)
            by_engine[static_cast<size_t>(operation.engine)].emplace_back(operation.begin_us, operation.end_us);
    std::map<double, int> change;
    for (auto& spans : by_engine) {
        std::sort(spans.begin(), spans.end());
        double until = -1;
        for (const auto& [begin, end] : spans) {
            const double from = std::max(begin, until);
            if (end <= from) continue;
            ++change[from];
            --change[end];
            until = end;
        }
    }
    std::vector<BusySpan> spans;
    double at = 0;
    int working = 0;
    for (const auto& [time, by] : change) {
        if (by == 0) continue;
        if (time > at) spans.push_back({at, time, working});
        working += by;
        at = time;
    }
    if (total > at) spans.push_back({at, total, working});
    return spans;
}

// Backwards from what ends last: each step to what it waited for.
std::vector<PathStep> critical_path(const std::vector<OperationTime>& operations) {
    std::vector<PathStep> path;
    if (operations.empty()) return path;
    PathStep at{static_cast<int>(operations.size()) - 1, true};
    double last = operations.back().call_end_us;
    for (size_t i = 0; i < operations.size(); ++i)
        if (operations[i].on_device && operations[i].end_us > last) {
            last = operations[i].end_us;
            at = {static_cast<int>(i), false};
        }
    if (at.on_host && operations.back().awaited >= 0) at = {operations.back().awaited, false};
    while (path.size() < 2 * operations.size()) {
        path.push_back(at);
        const OperationTime& one = operations[static_cast<size_t>(at.operation)];
        if (!at.on_host) {
            at = one.cause >= 0 ? PathStep{one.cause, false} : PathStep{at.operation, true};
        } else if (at.operation > 0) {
            const OperationTime& before = operations[static_cast<size_t>(at.operation) - 1];
            at = before.awaited >= 0 ? PathStep{before.awaited, false} : PathStep{at.operation - 1, true};
        } else {
            break;
        }
    }
    std::reverse(path.begin(), path.end());
    return path;
}

double one_after_the_other(const GpuSpec& gpu, const HostProgram& program) {
    StreamClock clock(gpu, program.link, program.connections);
    for (const HostOperation& operation : program.operations) {
        clock.issue(operation);
        clock.catch_up();
        clock.forget();
    }
    return clock.host_us();
}

}  // namespace

Schedule schedule(const GpuSpec& gpu, const HostProgram& program) {
    StreamClock clock(gpu, program.link, program.connections);
    for (const HostOperation& operation : program.operations) clock.issue(operation);
    clock.finish();
    Schedule schedule;
    schedule.total_us = clock.host_us();
    for (size_t i = 0; i < program.operations.size(); ++i) {
        const OperationTime one = clock.time_of(i);
        schedule.operations.push_back(one);
        schedule.total_us = std::max({schedule.total_us, one.end_us, one.call_end_us});
        if (program.operations[i].verb == HostVerb::work) schedule.host_work_us += one.alone_us;
        if (one.engine == Engine::compute) schedule.kernel_us += one.alone_us;
        if (one.engine != Engine::compute && one.engine != Engine::none) schedule.copy_us += one.alone_us;
    }
    schedule.work_us = schedule.host_work_us + schedule.kernel_us + schedule.copy_us;
    schedule.serial_us = one_after_the_other(gpu, program);
    schedule.busy = busy_spans(schedule.operations, schedule.total_us);
    double any = 0, several = 0;
    for (const BusySpan& span : schedule.busy) {
        if (span.engines >= 1) any += span.end_us - span.begin_us;
        if (span.engines >= 2) several += span.end_us - span.begin_us;
    }
    schedule.overlap = any > 0 ? several / any : 0;
    for (size_t e = 1; e < engines; ++e) {
        std::vector<OperationTime> of_engine;
        for (const OperationTime& time : schedule.operations)
            if (static_cast<size_t>(time.engine) == e) of_engine.push_back(time);
        for (const BusySpan& span : busy_spans(of_engine, 0))
            if (span.engines > 0) schedule.busy_us[e] += span.end_us - span.begin_us;
    }
    schedule.critical = critical_path(schedule.operations);
    return schedule;
}

Trace trace_of(const GpuSpec& gpu, const HostProgram& program, const Schedule& schedule) {
    Trace trace;
    trace.tracks.push_back({"host", -1});
    std::map<uint32_t, int> streams;
    std::map<Engine, int> used;
    for (size_t i = 0; i < program.operations.size(); ++i)
        if (schedule.operations[i].on_device) streams[program.operations[i].stream] = 0;
    for (auto& [stream, track] : streams) {
        track = static_cast<int>(trace.tracks.size());
        trace.tracks.push_back({stream == 0 ? "default stream" : "stream " + std::to_string(stream), -1});
    }
    for (const OperationTime& time : schedule.operations)
        if (time.engine != Engine::none) used[time.engine] = 0;
    for (auto& [engine, track] : used) {
        track = static_cast<int>(trace.tracks.size());
        trace.tracks.push_back({name_of(engine, gpu), -1});
    }
    std::vector<int> span_of(program.operations.size(), -1);
    const auto add = [&](int track, double begin, double end, const std::string& name, size_t operation) {
        trace.spans.push_back({track, nanoseconds(begin), nanoseconds(end), name, static_cast<int64_t>(operation)});
    };
    std::map<uint32_t, size_t> recorded;
    for (size_t i = 0; i < program.operations.size(); ++i) {
        const HostOperation& asked = program.operations[i];
        const OperationTime& one = schedule.operations[i];
        add(0, one.call_begin_us, one.call_end_us, asked.name, i);
        if (!one.on_device) continue;
        span_of[i] = static_cast<int>(trace.spans.size());
        add(streams[asked.stream], one.begin_us, one.end_us, asked.name, i);
        if (one.engine != Engine::none) add(used[one.engine], one.begin_us, one.end_us, asked.name, i);
        if (asked.verb == HostVerb::record) recorded[asked.event] = i;
        if (asked.verb == HostVerb::wait && recorded.count(asked.event))
            trace.arrows.push_back({span_of[recorded[asked.event]], span_of[i]});
    }
    return trace;
}

// Who has certainly ended before whom: `after` and what the host had seen, each with all that came before it.
std::vector<Hazard> hazards(const HostProgram& program, const Schedule& schedule) {
    const size_t count = std::min(program.operations.size(), schedule.operations.size());
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
    std::vector<bool> seen(count);  // by the host
    const auto join = [&](std::vector<bool>& into, size_t other) {
        into[other] = true;
        for (size_t i = 0; i < other; ++i)
            if (before[other][i]) into[i] = true;
    };
    std::vector<Hazard> found;
    for (size_t i = 0; i < count; ++i) {
        const OperationTime& one = schedule.operations[i];
        before[i] = seen;
        for (const int other : one.after) join(before[i], static_cast<size_t>(other));
        for (size_t other = 0; other < i; ++other) {
            if (before[i][other]) continue;
            for (const Touch& a : program.operations[other].touches)
                for (const Touch& b : program.operations[i].touches)
                    if (a.buffer == b.buffer && a.begin < b.end && b.begin < a.end && (a.writes || b.writes) &&
                        (found.empty() || found.back().first != static_cast<int>(other) ||
                         found.back().second != static_cast<int>(i)))
                        found.push_back({static_cast<int>(other), static_cast<int>(i), a.buffer, a.writes, b.writes});
        }
        if (!one.on_device) join(seen, i);
        for (const int other : one.seen) join(seen, static_cast<size_t>(other));
    }
    return found;
}

int kernels_at_once(const Schedule& schedule) {
    std::vector<std::pair<double, int>> change;
    for (const OperationTime& operation : schedule.operations)
        if (operation.engine == Engine::compute && operation.end_us > operation.begin_us) {
            change.emplace_back(operation.begin_us, 1);
            change.emplace_back(operation.end_us, -1);
        }
    std::sort(change.begin(), change.end());
    int now = 0, most = 0;
    for (const auto& [time, by] : change) most = std::max(most, now += by);
    return most;
}

}  // namespace lockstep::model
