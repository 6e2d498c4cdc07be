// What can be asked of a host program's run, by name.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <set>

#include "core/base/nearest.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/figures/figures.h"
#include "core/scene/host/host_program.h"

namespace lockstep::scene {
Result<double> host_figure(const HostRun& run, const std::string& full) {
    const model::Schedule& s = run.schedule;
    std::string name = full;
    if (const std::string line_text = take_suffix(name, "line"); !line_text.empty()) {
        const Result<size_t> number = whole_in(line_text, full);
        if (!number) return number.error();
        const auto line = static_cast<int>(std::min<size_t>(number.value(), INT_MAX));
        double us = 0, begin = INFINITY, end = 0;
        bool any = false;
        for (size_t i = 0; i < run.program.operations.size(); ++i) {
            if (run.program.operations[i].line != line) continue;
            any = true;
            const model::OperationTime& one = s.operations[i];
            const double from = one.on_device ? one.begin_us : one.call_begin_us,
                         to = one.on_device ? one.end_us : one.call_end_us;
            us += to - from;
            begin = std::min(begin, from);
            end = std::max(end, to);
        }
        if (!any) return Diagnostic{fmt::format("no operation stands in line {} of {}", line, run.text.file)};
        if (name == "us") return us;
        if (name == "begin_us") return begin;
        if (name == "end_us") return end;
        return Diagnostic{fmt::format("of a line there are us, begin_us and end_us, not '{}'", name)};
    }
    if (name.rfind("output[", 0) == 0) return Diagnostic{"an element of an output has the array's name, as in y[3]"};
    if (const size_t open = name.find('['); open != std::string::npos && name.back() == ']') {
        const Result<size_t> index = index_in(name);
        if (!index) return index.error();
        for (size_t i = 0; i < run.outputs.size(); ++i)
            if (run.output_names[i] == name.substr(0, open)) {
                if (index.value() >= run.outputs[i].count())
                    return Diagnostic{fmt::format("{} is beyond the array's end", name)};
                return element_of(run.outputs[i], index.value());
            }
    }
    double waits = 0, launches = 0, copies = 0, bytes = 0, critical_copies = 0, critical_kernels = 0;
    std::set<uint32_t> streams;
    for (size_t i = 0; i < s.operations.size(); ++i) {
        const model::OperationTime& one = s.operations[i];
        waits += one.call_end_us - one.busy_end_us;
        if (one.on_device) streams.insert(run.program.operations[i].stream);
        if (one.engine == model::Engine::compute) ++launches;
        if (one.engine == model::Engine::compute || one.engine == model::Engine::none) continue;
        ++copies;
        bytes += static_cast<double>(run.program.operations[i].bytes);
    }
    for (const model::PathStep& step : s.critical) {
        const model::Engine engine = s.operations[static_cast<size_t>(step.operation)].engine;
        if (step.on_host || engine == model::Engine::none) continue;
        ++(engine == model::Engine::compute ? critical_kernels : critical_copies);
    }
    double still_allocated_bytes = 0;
    for (const int i : run.still_allocated)
        still_allocated_bytes += static_cast<double>(run.text.arrays[static_cast<size_t>(i)].bytes);
    const auto busy = [&](model::Engine engine) { return s.busy_us[static_cast<size_t>(engine)]; };
    const std::map<std::string, double> figures = {
        {"total_us", s.total_us},
        {"work_us", s.work_us},
        {"copy_us", s.copy_us},
        {"kernel_us", s.kernel_us},
        {"host_work_us", s.host_work_us},
        {"overlap", s.overlap},
        {"speedup", s.speedup()},
        {"h2d_us", busy(model::Engine::copy_in)},
        {"d2h_us", busy(model::Engine::copy_out)},
        {"compute_us", busy(model::Engine::compute)},
        {"host_wait_us", waits},
        {"launches", launches},
        {"copies", copies},
        {"copied_bytes", bytes},
        {"copy_gb_per_second", s.copy_us > 0 ? bytes / (s.copy_us * 1e3) : 0},
        {"streams", static_cast<double>(streams.size())},
        {"kernels_at_once", static_cast<double>(model::kernels_at_once(s))},
        {"hazards", static_cast<double>(run.hazards.size())},
        {"still_allocated", static_cast<double>(run.still_allocated.size())},
        {"still_allocated_bytes", still_allocated_bytes},
        {"faults", run.fault ? 1.0 : 0.0},
        {"operations", static_cast<double>(s.operations.size())},
        {"critical_copies", critical_copies},
        {"critical_kernels", critical_kernels},
    };
    if (const auto found = figures.find(name); found != figures.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, unused] : figures) known.push_back(key);
    const std::string near = nearest_name(name, known);
    return Diagnostic{fmt::format(
        "unknown figure '{}' of a host program{}", full,
        near.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : fmt::format(", did you mean '{}'?", near))};
}

}  // namespace lockstep::scene
