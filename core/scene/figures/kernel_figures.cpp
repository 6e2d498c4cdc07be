// What a kernel's run answers by name: its rows, any metric of core/model (sectors_per_request@line:7), figures of the GPU
// that it ran on (gpu.sms), and metrics of the launch on another GPU of the scene (time_us@gpu:a100).
#include <algorithm>
#include <climits>
#include <numeric>
#include <set>

#include "core/scene/figures/figures.h"

namespace lockstep::scene {
namespace {

// Adds up what `value` gives for the instructions of a source line, or of all for line 0.
template <class Value>
uint64_t sum_of(const model::KernelRun& run, int line, const Value& value) {
    uint64_t sum = 0;
    for (size_t pc = 0; pc < run.result.instructions.size() && pc < run.program->instructions.size(); ++pc)
        if (line == 0 || run.program->instructions[pc].line == line)
            sum += value(run.program->instructions[pc], run.result.instructions[pc]);
    return sum;
}

Result<int> line_of(const FigureName& name) {  // 0: it names none
    if (name.place("line").empty()) return 0;
    const Result<size_t> number = name.number_at("line");
    if (!number) return number.error();
    return static_cast<int>(std::min<size_t>(number.value(), INT_MAX));
}

template <uint64_t model::InstructionCounters::*counter>
Result<double> counted(const KernelResult& result, const FigureName& name) {
    const Result<int> line = line_of(name);
    if (!line) return line.error();
    const model::KernelRun& run = *result.run;
    if (line.value() && sum_of(run, line.value(), [](const auto&, const auto& c) { return c.issues; }) == 0)
        return Diagnostic{fmt::format("no instruction of line {} ran", line.value())};
    return static_cast<double>(sum_of(run, line.value(), [](const auto&, const auto& c) { return c.*counter; }));
}

Result<double> load_latency(const KernelResult& result, const FigureName& name) {
    const Result<int> line = line_of(name);
    if (!line) return line.error();
    const model::KernelRun& run = *result.run;
    std::vector<int64_t> cycles;
    for (const IssueRecord& issue : run.result.trace.issues)
        if (issue.pc < run.program->instructions.size() && run.program->instructions[issue.pc].kind == ptx::Kind::load &&
            run.program->instructions[issue.pc].line == line.value())
            cycles.push_back(issue.ready - issue.sent());
    if (cycles.empty()) return Diagnostic{fmt::format("no load of line {} ran on the traced SM", line.value())};
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    return static_cast<double>(*middle);
}

Result<double> accesses(const KernelResult& result, const FigureName& name) {
    static constexpr std::pair<std::string_view, ptx::Space> spaces[] = {{"global", ptx::Space::global},
                                                                         {"shared", ptx::Space::shared},
                                                                         {"local", ptx::Space::local},
                                                                         {"const", ptx::Space::constant}};
    const std::string space = name.place("space");
    const auto wanted =
        std::find_if(std::begin(spaces), std::end(spaces), [&](const auto& one) { return one.first == space; });
    if (wanted == std::end(spaces))
        return Diagnostic{fmt::format("unknown space '{}'; there are global, shared, local and const", space)};
    return static_cast<double>(sum_of(*result.run, 0, [&](const ptx::DecodedInstruction& i, const auto& counters) {
        const bool touches = i.kind == ptx::Kind::load || i.kind == ptx::Kind::store || i.kind == ptx::Kind::atomic;
        return touches && i.space == wanted->second ? counters.issues : 0;
    }));
}

// Metrics of the launch, added up.
Result<double> sum_of_metrics(const KernelResult& result, std::initializer_list<std::string_view> names) {
    double sum = 0;
    for (const std::string_view name : names) {
        const Result<double> value = model::metric_of(*result.run->program, result.run->result, name);
        if (!value) return value.error();
        sum += value.value();
    }
    return sum;
}

// Bytes that threads took from shared memory, by loads and atomics, however wide each of them is.
uint64_t shared_read_bytes(const KernelResult& result) {
    return sum_of(*result.run, 0, [](const ptx::DecodedInstruction& i, const auto& counters) -> uint64_t {
        const bool reads = i.kind == ptx::Kind::load || i.kind == ptx::Kind::atomic;
        const bool shared = i.space == ptx::Space::shared || counters.shared_requests != 0;
        return reads && shared ? counters.executed * ptx::size_of(i.type) * i.vector : 0;
    });
}

Result<double> output(const KernelResult& result, const FigureName& name) {
    const Result<size_t> index = name.index();
    if (!index) return index.error();
    if (result.outputs.empty()) return Diagnostic{"the scene has no out: or inout: buffer"};
    if (index.value() >= result.outputs[0].count())
        return Diagnostic{fmt::format("{} is beyond the {} elements of the output", name.text, result.outputs[0].count())};
    return element_of(result.outputs[0], index.value());
}

Result<double> output_count(const KernelResult& result, const FigureName& name) {
    const Result<size_t> wanted = name.index();
    if (!wanted) return wanted.error();
    if (result.outputs.empty()) return Diagnostic{"the scene has no out: or inout: buffer"};
    size_t count = 0;
    for (size_t i = 0; i < result.outputs[0].count(); ++i)
        count += element_of(result.outputs[0], i) == static_cast<double>(wanted.value());
    return static_cast<double>(count);
}

// The last of the earlier lines of racecheck's pairs.
Result<double> race_line(const KernelResult& result) {
    int32_t line = 0;
    for (const simt::Fault& report : result.run->result.reports)
        if (report.kind == "racecheck" && report.line > 0 && report.other_line > 0)
            line = std::max(line, std::min(report.line, report.other_line));
    if (line == 0) return Diagnostic{"racecheck reported no pair of lines"};
    return static_cast<double>(line);
}

// A metric of the same launch on another GPU of the scene's gpus=.
Result<double> figure_on(const KernelResult& result, const std::string& name, const std::string& gpu) {
    for (const GpuRun& run : result.generations) {
        if (run.gpu.name != gpu) continue;
        for (const model::Metric& metric : run.metrics)
            if (metric.name == name || metric.nsight == name) return metric.value;
        return Diagnostic{fmt::format("'{}' is no metric of the launch on {}", name, gpu)};
    }
    return Diagnostic{fmt::format("the scene does not run on '{}': name it in gpus=", gpu)};
}

constexpr Figure<KernelResult> kernel_rows[] = {
    {"cycles", "cycles", "From the launch to the end of its last block.",
     [](const KernelResult& r) { return r.run->result.cycles; }},
    {"blocks", "", "That were launched.", [](const KernelResult& r) { return r.run->config.grid.count(); }},
    {"threads", "", "That were launched.",
     [](const KernelResult& r) { return r.run->config.grid.count() * r.run->config.block.count(); }},
    {"warps", "", "That were launched.",
     [](const KernelResult& r) { return r.run->config.grid.count() * ((r.run->config.block.count() + 31) / 32); }},
    {"blocks_on_sms", "", "SMs that ran a block.",
     [](const KernelResult& r) {
         std::set<uint16_t> sms;
         for (const BlockRun& block : r.run->result.trace.blocks) sms.insert(block.sm);
         return sms.size();
     }},
    {"issues", "", "Warp instructions, of the launch or of a line.",
     [](const KernelResult& r, const FigureName& name) { return counted<&model::InstructionCounters::issues>(r, name); },
     "line"},
    {"active_lanes", "", "Thread instructions, of the launch or of a line.",
     [](const KernelResult& r, const FigureName& name) { return counted<&model::InstructionCounters::lanes>(r, name); },
     "line"},
    {"load_latency", "cycles",
     "From the issue of a line's loads until their values may be read: the median, on the traced SM.",
     [](const KernelResult& r, const FigureName& name) { return load_latency(r, name); }, "line"},
    {"accesses", "", "Loads, stores and atomics that were issued in a space: global, shared, local, const.",
     [](const KernelResult& r, const FigureName& name) { return accesses(r, name); }, "space"},
    {"global_reads", "requests",
     "Requests that read global memory in whatever way: loads, atomics, copies to shared memory, textures, surfaces.",
     [](const KernelResult& r) {
         return sum_of_metrics(r, {"global_load_requests", "global_atomic_requests", "global_copy_requests",
                                   "texture_requests", "surface_load_requests"});
     }},
    {"global_read_sectors", "sectors", "32-byte sectors that these touched.",
     [](const KernelResult& r) {
         return sum_of_metrics(r, {"global_load_sectors", "global_atomic_sectors", "global_copy_sectors", "texture_sectors",
                                   "surface_load_sectors"});
     }},
    {"global_write_sectors", "sectors",
     "32-byte sectors that requests touched which may write global memory: stores, atomics, surfaces.",
     [](const KernelResult& r) {
         return sum_of_metrics(r, {"global_store_sectors", "global_atomic_sectors", "surface_store_sectors"});
     }},
    {"shared_read_bytes", "B", "What threads took from shared memory, by loads and atomics of whatever width.",
     [](const KernelResult& r) { return shared_read_bytes(r); }},
    {"faults", "", "1 where the kernel faulted, else 0.",
     [](const KernelResult& r) { return r.run->result.fault.has_value(); }},
    {"races", "", "Places that racecheck reports, where it looks: expect=\"racecheck\", and exercises that ask for races.",
     [](const KernelResult& r) {
         const std::vector<simt::Fault>& reports = r.run->result.reports;
         return std::count_if(reports.begin(), reports.end(), [](const auto& one) { return one.kind == "racecheck"; });
     }},
    {"race_line", "",
     "The line behind which a barrier is missing: the earlier of the two that racecheck reports; of several pairs, the "
     "last.",
     [](const KernelResult& r) { return race_line(r); }},
    {"output", "", "An element of the first out: or inout: buffer, as in output[3].",
     [](const KernelResult& r, const FigureName& name) { return output(r, name); }},
    {"output_count", "", "How many elements of that buffer are a whole number, as in output_count[5].",
     [](const KernelResult& r, const FigureName& name) { return output_count(r, name); }},
};

}  // namespace

std::vector<FigureText> kernel_figures() {
    return texts_of(kernel_rows);
}

Result<double> figure_of(const KernelResult& result, const FigureName& name) {
    if (name.text.starts_with("gpu.")) return gpu_figure(result.run->gpu, name.text.substr(4));
    if (const std::string gpu = name.place("gpu"); !gpu.empty())
        return figure_on(result, name.without("gpu").without("line").text, gpu);
    const Figure<KernelResult>* row = row_named(kernel_rows, name.base);
    if (row && (name.base.starts_with("output") || !name.indexed()) && !wrong_place(*row, name))
        return row->value.of(result, name);
    return model::metric_of(*result.run->program, result.run->result, name.text);
}

}  // namespace lockstep::scene
