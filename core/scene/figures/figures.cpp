#include "core/scene/figures/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/nearest.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/model_figures.h"
#include "core/scene/training/training_runs.h"

namespace lockstep::scene {
namespace {

// Sums over the instructions of one source line, or over all for line 0.
model::InstructionCounters sum_of(const model::KernelRun& run, int line) {
    model::InstructionCounters sum;
    for (size_t pc = 0; pc < run.result.instructions.size() && pc < run.program->instructions.size(); ++pc)
        if (line == 0 || run.program->instructions[pc].line == line) {
            sum.issues += run.result.instructions[pc].issues;
            sum.lanes += run.result.instructions[pc].lanes;
        }
    return sum;
}

Result<double> load_latency(const model::KernelRun& run, int line) {
    std::vector<int64_t> cycles;
    for (const IssueRecord& issue : run.result.trace.issues)
        if (issue.pc < run.program->instructions.size() && run.program->instructions[issue.pc].kind == ptx::Kind::load &&
            run.program->instructions[issue.pc].line == line)
            cycles.push_back(issue.ready - issue.sent());
    if (cycles.empty()) return Diagnostic{fmt::format("no load of line {} ran on the traced SM", line)};
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    return static_cast<double>(*middle);
}

Result<double> accesses(const model::KernelRun& run, const std::string& space) {
    const std::map<std::string, ptx::Space> spaces = {{"global", ptx::Space::global},
                                                      {"shared", ptx::Space::shared},
                                                      {"local", ptx::Space::local},
                                                      {"const", ptx::Space::constant}};
    const auto wanted = spaces.find(space);
    if (wanted == spaces.end())
        return Diagnostic{fmt::format("unknown space '{}'; there are global, shared, local and const", space)};
    uint64_t sum = 0;
    for (size_t pc = 0; pc < run.result.instructions.size() && pc < run.program->instructions.size(); ++pc) {
        const ptx::DecodedInstruction& i = run.program->instructions[pc];
        const bool touches = i.kind == ptx::Kind::load || i.kind == ptx::Kind::store || i.kind == ptx::Kind::atomic;
        if (touches && i.space == wanted->second) sum += run.result.instructions[pc].issues;
    }
    return static_cast<double>(sum);
}

// A metric of the same launch on another GPU of the scene's gpus=.
Result<double> figure_on(const SceneResult& result, const std::string& name, const std::string& gpu) {
    for (const GpuRun& run : result.generations) {
        if (run.gpu.name != gpu) continue;
        for (const model::Metric& metric : run.metrics)
            if (metric.name == name || metric.nsight == name) return metric.value;
        return Diagnostic{fmt::format("'{}' is no metric of the launch on {}", name, gpu)};
    }
    return Diagnostic{fmt::format("the scene does not run on '{}': name it in gpus=", gpu)};
}

Result<double> kernel_figure(const SceneResult& result, const std::string& full) {
    const model::KernelRun& run = *result.kernel;
    std::string name = full;
    if (const std::string space = take_suffix(name, "space"); !space.empty() && name == "accesses")
        return accesses(run, space);
    const std::string line_text = take_suffix(name, "line");
    int line = 0;
    const bool of_one_line = name == "issues" || name == "active_lanes" || name == "load_latency";
    if (!line_text.empty() && of_one_line) {  // metrics take stretches of lines too: metric_of reads them
        const Result<size_t> number = whole_in(line_text, full);
        if (!number) return number.error();
        line = static_cast<int>(std::min<size_t>(number.value(), INT_MAX));
    }
    if (const std::string gpu = take_suffix(name, "gpu"); !gpu.empty()) return figure_on(result, name, gpu);
    const uint64_t threads = run.config.grid.count() * run.config.block.count();
    if (name == "issues" || name == "active_lanes") {
        const model::InstructionCounters sum = sum_of(run, line);
        if (line && sum.issues == 0) return Diagnostic{fmt::format("no instruction of line {} ran", line)};
        return static_cast<double>(name == "issues" ? sum.issues : sum.lanes);
    }
    if (name == "load_latency" && line > 0) return load_latency(run, line);
    if (line_text.empty()) {
        if (name == "cycles") return static_cast<double>(run.result.cycles);
        if (name == "blocks") return static_cast<double>(run.config.grid.count());
        if (name == "threads") return static_cast<double>(threads);
        if (name == "warps") return static_cast<double>(run.config.grid.count() * ((run.config.block.count() + 31) / 32));
        if (name == "faults") return run.result.fault ? 1.0 : 0.0;
        if (name == "races")
            return static_cast<double>(std::count_if(run.result.reports.begin(), run.result.reports.end(),
                                                     [](const simt::Fault& report) { return report.kind == "racecheck"; }));
        if (name == "blocks_on_sms") {
            std::set<uint16_t> sms;
            for (const BlockRun& block : run.result.trace.blocks) sms.insert(block.sm);
            return static_cast<double>(sms.size());
        }
        if (name.rfind("output[", 0) == 0) {
            const Result<size_t> index = index_in(name);
            if (!index) return index.error();
            if (result.outputs.empty()) return Diagnostic{"the scene has no out: or inout: buffer"};
            if (index.value() >= result.outputs[0].count())
                return Diagnostic{
                    fmt::format("{} is beyond the {} elements of the output", name, result.outputs[0].count())};
            return element_of(result.outputs[0], index.value());
        }
    }
    return model::metric_of(*run.program, run.result, full);
}

int64_t product(const std::vector<int64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

bool is_matmul(const device::LaunchEvent& launch) {
    return launch.kernel.rfind("matmul", 0) == 0;
}

Result<double> training_figure(const nn::StepRecord& step, const std::string& full) {
    std::string name = full;
    const std::string label = take_suffix(name, "launch");
    if (!label.empty()) {
        std::vector<std::string> known;
        for (const device::LaunchEvent& launch : step.launches) {
            std::string plain = launch.label;
            for (char& c : plain)
                if (c == ' ') c = '_';
            if (plain != label) {
                known.push_back(plain);
                continue;
            }
            if (name == "cycles") return static_cast<double>(launch.cycles);
            if (name == "blocks") return static_cast<double>(launch.grid.count());
            if (launch.run) return model::metric_of(*launch.run->program, launch.run->result, name);
            return Diagnostic{fmt::format("'{}' of a single launch needs its run kept", name)};
        }
        const std::string near = nearest_name(label, known);
        return Diagnostic{fmt::format("no launch of this step is labelled '{}'{}", label,
                                      near.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                                   : fmt::format(", did you mean '{}'?", near))};
    }
    double parameters = 0, saved = 0, forward = 0, backward = 0;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.kind == nn::GraphNode::Kind::parameter) parameters += static_cast<double>(product(node.shape));
        saved += static_cast<double>(node.saved_bytes);
        if (node.kind != nn::GraphNode::Kind::op || node.forward_launches.empty() || node.shape.size() != 2 ||
            node.inputs.empty())
            continue;
        // A product [M,K] x [K,N]: 2 M N K operations forward, and as many for each product of its backward pass.
        const nn::GraphNode& first = step.nodes.at(static_cast<size_t>(node.inputs[0]));
        const double k = first.shape.empty() ? 0 : static_cast<double>(first.shape.back());
        const double operations = 2.0 * static_cast<double>(product(node.shape)) * k;
        auto products = [&](const std::vector<int>& indices) {
            double count = 0;
            for (const int i : indices)
                count += i >= 0 && static_cast<size_t>(i) < step.launches.size() &&
                         is_matmul(step.launches[static_cast<size_t>(i)]);
            return count;
        };
        forward += operations * products(node.forward_launches);
        backward += operations * products(node.backward_launches);
    }
    auto count = [&](auto&& wanted) {
        double n = 0;
        for (const device::LaunchEvent& launch : step.launches) n += wanted(launch) ? 1 : 0;
        return n;
    };
    auto cycles = [&](bool products_only) {
        double n = 0;
        for (const device::LaunchEvent& launch : step.launches)
            if (!products_only || is_matmul(launch)) n += static_cast<double>(launch.cycles);
        return n;
    };
    double dispatch_us = 0, kernel_us = 0, begin = 0, end = 0;  // of the modelled host and GPU
    for (const device::LaunchEvent& launch : step.launches) {
        dispatch_us += launch.enqueue_end_us - launch.enqueue_begin_us;
        kernel_us += launch.end_us - launch.begin_us;
        if (&launch == &step.launches.front()) begin = std::min(launch.enqueue_begin_us, launch.begin_us);
        end = std::max(end, launch.end_us);
    }
    const std::map<std::string, double> figures = {
        {"launches", static_cast<double>(step.launches.size())},
        {"forward_launches", count([](const auto& l) { return l.phase == "forward"; })},
        {"backward_launches", count([](const auto& l) { return l.phase == "backward"; })},
        {"update_launches", count([](const auto& l) { return l.phase == "update"; })},
        {"matmul_launches", count([](const auto& l) { return is_matmul(l); })},
        {"parameters", parameters},
        {"saved_bytes", saved},
        {"flops", forward + backward},
        {"forward_flops", forward},
        {"backward_flops", backward},
        {"batch", static_cast<double>(step.batch)},
        {"loss", step.loss},
        {"cycles", cycles(false)},
        {"matmul_cycles", cycles(true)},
        {"bytes_moved", step.traffic},
        {"dispatch_us", dispatch_us},
        {"kernel_us", kernel_us},
        {"step_us", step.launches.empty() ? 0 : end - begin},
        {"peak_bytes", static_cast<double>(step.peak_bytes)},
        {"planned_bytes", static_cast<double>(step.planned_bytes)},
        {"queue_nodes", static_cast<double>(step.queue.size())},
        {"replayed", step.replayed ? 1.0 : 0.0},
    };
    if (name == "bytes_moved" && step.traffic < 0)
        return Diagnostic{"bytes_moved is counted in the modes eager, graph and fused"};
    if (name == "planned_bytes" && step.planned_bytes < 0)
        return Diagnostic{"planned_bytes is of a replayed step: mode graph or fused, three steps or more"};
    if (const auto found = figures.find(name); found != figures.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, unused] : figures) known.push_back(key);
    const std::string near = nearest_name(name, known);
    return Diagnostic{fmt::format(
        "unknown figure '{}' of a training step{}", full,
        near.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : fmt::format(", did you mean '{}'?", near))};
}

Result<double> gpu_figure(const model::GpuSpec& gpu, std::string_view name) {
    const std::vector<model::SpecFigure> figures = model::figures_of(gpu);
    std::vector<std::string> known;
    for (const model::SpecFigure& figure : figures) {
        if (figure.name == name) return figure.value;
        known.emplace_back(figure.name);
    }
    const std::string near = nearest_name(std::string(name), known);
    return Diagnostic{fmt::format(
        "a GPU's row has no figure '{}'{}", name,
        near.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : fmt::format(", did you mean '{}'?", near))};
}

}  // namespace

std::optional<Result<double>> figure_of_named_gpu(const std::string& full) {
    std::string name = full;
    const size_t at = full.find("@gpu:");
    if (!full.starts_with("gpu.") || at == std::string::npos) return std::nullopt;
    const Result<model::GpuSpec> gpu = model::gpu_named(full.substr(at + 5));
    if (!gpu) return Result<double>(gpu.error());
    return gpu_figure(gpu.value(), name.substr(4, at - 4));
}

double element_of(const Array& array, size_t i) {
    switch (array.dtype) {
        case DType::i8:
            return array.as<int8_t>()[i];
        case DType::u8:
            return array.as<uint8_t>()[i];
        case DType::i16:
            return array.as<int16_t>()[i];
        case DType::u16:
            return array.as<uint16_t>()[i];
        case DType::f16:
            return f16_to_f32(array.as<uint16_t>()[i]);
        case DType::bf16:
            return bf16_to_f32(array.as<uint16_t>()[i]);
        case DType::i32:
            return array.as<int32_t>()[i];
        case DType::u32:
            return array.as<uint32_t>()[i];
        case DType::f32:
            return array.as<float>()[i];
        case DType::i64:
            return static_cast<double>(array.as<int64_t>()[i]);
        case DType::u64:
            return static_cast<double>(array.as<uint64_t>()[i]);
        case DType::f64:
            return array.as<double>()[i];
    }
    return std::nan("");
}

Result<double> figure_of(const SceneResult& result, const std::string& name) {
    if (std::optional<Result<double>> named = figure_of_named_gpu(name)) return *named;
    if (std::optional<Result<double>> named = figure_of_named_model(name)) return *named;
    if (result.host) return host_figure(*result.host, name);
    if (result.parallel) return parallel_figure(*result.parallel, name);
    if (result.tape) {
        Result<double> value = tape_figure(*result.tape, name);
        if (value) return value;
        Result<double> of_step = training_figure(*result.step, name);
        return of_step ? of_step : value;
    }
    if (result.training)
        if (std::optional<Result<double>> value = training_run_figure(*result.training, name)) return *value;
    if (result.kernel && name.starts_with("gpu.")) return gpu_figure(result.kernel->gpu, name.substr(4));
    return result.kernel ? kernel_figure(result, name) : training_figure(*result.step, name);
}

}  // namespace lockstep::scene
