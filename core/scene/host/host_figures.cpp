// What a host program's run answers by name: its rows, elements of its outputs (y[3]), and the times of a line.
#include <algorithm>
#include <climits>
#include <cmath>
#include <set>

#include "core/scene/figures/figures.h"
#include "core/scene/host/host_program.h"

namespace lockstep::scene {
namespace {

double busy(const HostRun& run, model::Engine engine) {
    return run.schedule.busy_us[static_cast<size_t>(engine)];
}

bool copies(model::Engine engine) {
    return engine != model::Engine::compute && engine != model::Engine::none;
}

double copied_bytes(const HostRun& run) {
    double bytes = 0;
    for (size_t i = 0; i < run.schedule.operations.size(); ++i)
        if (copies(run.schedule.operations[i].engine)) bytes += static_cast<double>(run.program.operations[i].bytes);
    return bytes;
}

template <class Wanted>
double operations_that(const HostRun& run, const Wanted& wanted) {
    return static_cast<double>(std::count_if(run.schedule.operations.begin(), run.schedule.operations.end(), wanted));
}

// Steps of the critical path that an engine takes, for which wanted(engine) holds.
template <class Wanted>
double critical_that(const HostRun& run, const Wanted& wanted) {
    return static_cast<double>(
        std::count_if(run.schedule.critical.begin(), run.schedule.critical.end(), [&](const model::PathStep& step) {
            const model::Engine engine = run.schedule.operations[static_cast<size_t>(step.operation)].engine;
            return !step.on_host && engine != model::Engine::none && wanted(engine);
        }));
}

struct LineTime {
    double us = 0, begin = INFINITY, end = 0;
};
Result<LineTime> time_of_line(const HostRun& run, const FigureName& name) {
    const Result<size_t> number = name.number_at("line");
    if (!number) return number.error();
    const auto line = static_cast<int>(std::min<size_t>(number.value(), INT_MAX));
    LineTime time;
    for (size_t i = 0; i < run.program.operations.size(); ++i) {
        if (run.program.operations[i].line != line) continue;
        const model::OperationTime& one = run.schedule.operations[i];
        const double from = one.on_device ? one.begin_us : one.call_begin_us,
                     to = one.on_device ? one.end_us : one.call_end_us;
        time.us += to - from;
        time.begin = std::min(time.begin, from);
        time.end = std::max(time.end, to);
    }
    if (std::isinf(time.begin)) return Diagnostic{fmt::format("no operation stands in line {} of {}", line, run.text.file)};
    return time;
}
template <double LineTime::*part>
Result<double> of_line(const HostRun& run, const FigureName& name) {
    const Result<LineTime> time = time_of_line(run, name);
    if (!time) return time.error();
    return time.value().*part;
}

constexpr Figure<HostRun> host_rows[] = {
    {"total_us", "us", "From the first call to the end of all work.", [](const HostRun& r) { return r.schedule.total_us; }},
    {"work_us", "us", "In which the GPU or the host works.", [](const HostRun& r) { return r.schedule.work_us; }},
    {"copy_us", "us", "In which a copy is under way.", [](const HostRun& r) { return r.schedule.copy_us; }},
    {"kernel_us", "us", "In which a kernel is under way.", [](const HostRun& r) { return r.schedule.kernel_us; }},
    {"host_work_us", "us", "In which the host computes.", [](const HostRun& r) { return r.schedule.host_work_us; }},
    {"overlap", "", "The share of the work that is done beside other work.",
     [](const HostRun& r) { return r.schedule.overlap; }},
    {"speedup", "", "Against the same operations one after the other.",
     [](const HostRun& r) { return r.schedule.speedup(); }},
    {"h2d_us", "us", "In which the engine of copies to the GPU is busy.",
     [](const HostRun& r) { return busy(r, model::Engine::copy_in); }},
    {"d2h_us", "us", "In which the engine of copies to the host is busy.",
     [](const HostRun& r) { return busy(r, model::Engine::copy_out); }},
    {"compute_us", "us", "In which the SMs are busy.", [](const HostRun& r) { return busy(r, model::Engine::compute); }},
    {"host_wait_us", "us", "In which the host's calls wait.",
     [](const HostRun& r) {
         double waits = 0;
         for (const model::OperationTime& operation : r.schedule.operations)
             waits += operation.call_end_us - operation.busy_end_us;
         return waits;
     }},
    {"launches", "", "Kernels that were launched.",
     [](const HostRun& r) {
         return operations_that(r, [](const auto& one) { return one.engine == model::Engine::compute; });
     }},
    {"copies", "", "Copies over the link and on the GPU.",
     [](const HostRun& r) { return operations_that(r, [](const auto& one) { return copies(one.engine); }); }},
    {"copied_bytes", "B", "Of all copies.", [](const HostRun& r) { return copied_bytes(r); }},
    {"copy_gb_per_second", "GB/s", "Bytes of all copies over the time in which one is under way.",
     [](const HostRun& r) { return r.schedule.copy_us > 0 ? copied_bytes(r) / (r.schedule.copy_us * 1e3) : 0; }},
    {"streams", "", "On which an operation runs on the GPU.",
     [](const HostRun& r) {
         std::set<uint32_t> streams;
         for (size_t i = 0; i < r.schedule.operations.size(); ++i)
             if (r.schedule.operations[i].on_device) streams.insert(r.program.operations[i].stream);
         return streams.size();
     }},
    {"kernels_at_once", "", "The most that run at the same time.",
     [](const HostRun& r) { return model::kernels_at_once(r.schedule); }},
    {"hazards", "", "Accesses that nothing orders, and copies home that nobody waits for.",
     [](const HostRun& r) { return r.hazards.size(); }},
    {"still_allocated", "", "Arrays of the GPU that are not freed at the end.",
     [](const HostRun& r) { return r.still_allocated.size(); }},
    {"still_allocated_bytes", "B", "Of these arrays.",
     [](const HostRun& r) {
         double bytes = 0;
         for (const int i : r.still_allocated) bytes += static_cast<double>(r.text.arrays[static_cast<size_t>(i)].bytes);
         return bytes;
     }},
    {"faults", "", "1 where a kernel faulted, else 0.", [](const HostRun& r) { return r.fault.has_value(); }},
    {"operations", "", "Of the whole program, loops unrolled.",
     [](const HostRun& r) { return r.schedule.operations.size(); }},
    {"critical_copies", "", "Copies on the critical path.",
     [](const HostRun& r) { return critical_that(r, [](model::Engine e) { return copies(e); }); }},
    {"critical_kernels", "", "Kernels on the critical path.",
     [](const HostRun& r) { return critical_that(r, [](model::Engine e) { return e == model::Engine::compute; }); }},
    {"us", "us", "That the operations of a line take together.",
     [](const HostRun& r, const FigureName& name) { return of_line<&LineTime::us>(r, name); }, "line"},
    {"begin_us", "us", "When the first operation of a line begins.",
     [](const HostRun& r, const FigureName& name) { return of_line<&LineTime::begin>(r, name); }, "line"},
    {"end_us", "us", "When the last operation of a line ends.",
     [](const HostRun& r, const FigureName& name) { return of_line<&LineTime::end>(r, name); }, "line"},
};

}  // namespace

std::vector<FigureText> host_figures() {
    return texts_of(host_rows);
}

Result<double> figure_of(const HostRun& run, const FigureName& name) {
    if (name.base == "output" && name.indexed())
        return Diagnostic{"an element of an output has the array's name, as in y[3]"};
    const auto output = std::find(run.output_names.begin(), run.output_names.end(), name.base);
    if (name.indexed() && output != run.output_names.end()) {
        const Array& array = run.outputs[static_cast<size_t>(output - run.output_names.begin())];
        const Result<size_t> index = name.index();
        if (!index) return index.error();
        if (index.value() >= array.count()) return Diagnostic{fmt::format("{} is beyond the array's end", name.text)};
        return element_of(array, index.value());
    }
    return figure_among<HostRun>(host_rows, run, name, "a host program");
}

}  // namespace lockstep::scene
