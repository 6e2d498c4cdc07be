// Runs of a design: what each took, what it was busy with by time, and once more, recorded, for what lives on the die.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/desk/build_desk.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/metrics/energy.h"

namespace lockstep::gui {
namespace {

double metric_named(const model::TimedResult& result, std::string_view name) {
    for (const model::Metric& metric : result.metrics)
        if (metric.name == name) return metric.value;
    return 0;
}

// The field that says how many warps an SM holds of this launch.
std::string_view scarce(const model::TimedResult& result) {
    constexpr std::pair<std::string_view, std::string_view> limits[] = {{"limit_warps", "warps_per_sm"},
                                                                        {"limit_blocks", "blocks_per_sm"},
                                                                        {"limit_registers", "registers_per_sm"},
                                                                        {"limit_shared", "l1_bytes"}};
    std::string_view field = "warps_per_sm";
    double least = HUGE_VAL;
    for (const auto& [metric, name] : limits)
        if (const double blocks = metric_named(result, metric); blocks > 0 && blocks < least) least = blocks, field = name;
    return field;
}

// `cycles`: that ran, of a sample fewer than it would take.
DesignUse use_of(const model::GpuSpec& gpu, const model::TimedResult& result, double cycles) {
    const double through = 32 * metric_named(result, "l2_read_sectors");
    const double ports = double(gpu.sms) * double(gpu.sm_read_bytes_per_cycle) * cycles;
    const auto share = [&](std::string_view name) { return std::clamp(metric_named(result, name) / 100, 0.0, 1.0); };
    return {share("issue_slot_utilization"),
            std::max(share("pipe_fma"), share("pipe_alu")),
            share("l1_throughput"),
            share("l2_throughput"),
            share("dram_throughput"),
            share("pipe_tensor"),
            share("pipe_fp64"),
            share("l2_read_hit_rate"),
            share("achieved_occupancy"),
            ports > 0 ? std::clamp(through / ports, 0.0, 1.0) : 0};
}

void add_use(DesignUse& sum, const DesignUse& of, double weight) {
    constexpr double DesignUse::*shares[] = {&DesignUse::issue,  &DesignUse::fp32,   &DesignUse::l1,   &DesignUse::l2,
                                             &DesignUse::memory, &DesignUse::tensor, &DesignUse::fp64, &DesignUse::port,
                                             &DesignUse::warps,  &DesignUse::l2_hits};
    for (double DesignUse::*share : shares) sum.*share += weight * of.*share;
}

// How full the SMs' lists of misses are at the least: what comes through the ports, times the way without a queue on it. A
// scattered load notes each of its sectors, any other a line of four.
double misses_noted(const model::GpuSpec& gpu, const DesignUse& use, double sectors_a_request) {
    const double sectors = use.port * double(gpu.sm_read_bytes_per_cycle) / 32 / (sectors_a_request >= 24 ? 1 : 4);
    const double way = double(gpu.l2_latency) + (1 - use.l2_hits) * (double(gpu.dram_latency) - double(gpu.l2_latency));
    return sectors * way / std::max(1.0, double(gpu.l1_mshrs));
}

constexpr double hardly_busy = 0.6;  // below it nothing is busy, and what is short is what could wait beside

// The busiest part, or, where none is, what bounds how many warps wait; `longest`: the launch that took most of the time.
void tell_busiest(BuiltDesign& design, const model::TimedResult& longest) {
    const DesignUse& use = design.use;
    design.bound = model::bound_of(longest);
    struct Part {
        std::string_view field, word;
        double busy;
    };
    const Part parts[] = {{"dram_channels", "memory", use.memory},
                          {"sub_cores", "the schedulers", use.issue},
                          {"fp32_lanes", "the lanes", use.fp32},
                          {"l2_bytes", "L2", use.l2},
                          {"l1_bytes", double(design.gpu.l1_bytes) > 0 ? "L1" : "the load path", use.l1},
                          {"tensor_fmas", "the tensor cores", use.tensor},
                          {"fp64_lanes", "the FP64 lanes", use.fp64},
                          {"sm_read_bytes_per_cycle", "the SMs' ports", use.port}};
    const Part* busiest = &parts[0];
    for (const Part& part : parts)
        if (part.busy > busiest->busy) busiest = &part;
    design.limits = busiest->field, design.part = busiest->word, design.busy = busiest->busy;
    if (busiest->busy >= hardly_busy) return;
    if (const double noted = misses_noted(design.gpu, use, metric_named(longest, "sectors_per_request"));
        noted >= hardly_busy) {
        design.limits = "l1_mshrs", design.part = "the lists of misses", design.busy = std::min(1.0, noted);
        return;
    }
    design.limits = scarce(longest);
    design.part = design.bound == model::Bound::barriers ? "barriers" : "waiting";
}

// Shares by time of the issue slots and of the memory's bandwidth, of one launch.
struct Stretch {
    double us = 0;
    std::vector<float> issue, memory;
};
Stretch stretch_of_run(const model::GpuSpec& gpu, const model::TimedResult& result) {
    Stretch stretch{result.time_us, {}, {}};
    const model::Windows& windows = result.windows;
    const double slots = double(gpu.sms) * double(gpu.sub_cores) * double(gpu.issue_width);
    for (size_t i = 0; i < windows.totals.size(); ++i) {
        const int64_t begin = static_cast<int64_t>(i) * windows.length;
        const auto length = static_cast<double>(std::min(windows.length, result.cycles - begin));
        if (length <= 0) break;
        const model::CycleTotals& totals = windows.totals[i];
        const auto bytes = static_cast<double>(totals.dram_read + totals.dram_written);
        stretch.issue.push_back(static_cast<float>(std::min(1.0, static_cast<double>(totals.issued) / (slots * length))));
        stretch.memory.push_back(
            static_cast<float>(std::min(1.0, bytes / (length * std::max(1e-9, result.totals.dram_bytes_per_cycle)))));
    }
    return stretch;
}

// One behind the other in equal parts of the whole time: the mean of what lies in each.
std::vector<float> joined(const std::vector<Stretch>& stretches, std::vector<float> Stretch::*series, double all_us) {
    constexpr size_t cells = 600;
    std::vector<float> sum(cells, 0);
    double begin = 0;
    for (const Stretch& stretch : stretches) {
        const std::vector<float>& values = stretch.*series;
        const double each = values.empty() ? 0 : stretch.us / static_cast<double>(values.size());
        for (size_t i = 0; i < values.size(); ++i) {
            double from = (begin + each * static_cast<double>(i)) / all_us * cells;
            const double to = std::min<double>(cells, from + each / all_us * cells);
            while (from < to) {
                const auto cell = std::min(cells - 1, static_cast<size_t>(from));
                const double part = std::min(to, static_cast<double>(cell + 1)) - from;
                sum[cell] += values[i] * static_cast<float>(part);
                from += std::max(part, 1e-9);
            }
        }
        begin += stretch.us;
    }
    return sum;
}

void tell_by_time(BuiltDesign& design, std::vector<Stretch> stretches) {
    if (stretches.size() == 1) {
        design.issue = std::move(stretches.front().issue);
        design.memory = std::move(stretches.front().memory);
        return;
    }
    design.issue = joined(stretches, &Stretch::issue, design.time_us);
    design.memory = joined(stretches, &Stretch::memory, design.time_us);
}

// What share of its time a whole run took for that share of its instructions. Zero: its course is not known.
double time_share(const BuiltDesign& whole, double instructions) {
    double issued = 0, before = 0;
    for (const float each : whole.issue) issued += each;
    for (size_t i = 0; i < whole.issue.size() && issued > 0; ++i) {
        const double after = before + whole.issue[i] / issued;
        if (after >= instructions && after > before)
            return (static_cast<double>(i) + (instructions - before) / (after - before)) /
                   static_cast<double>(whole.issue.size());
        before = after;
    }
    return 0;
}

// A run that was stopped, as long as it would be if it went on as the run of the other design did: blocks start, caches
// fill and the last blocks end in either. Says what share of that time it has run.
double draw_out(model::TimedResult& result, double share, const BuiltDesign& like) {
    const double then = time_share(like, share);
    const double known = std::min(then > 0 ? then : share, 1.0);
    result.cycles = static_cast<int64_t>(static_cast<double>(result.cycles) / known);
    result.time_us /= known;
    return known;
}

// Of a sample, which has its whole time by now: what is done for each instruction comes as often as there are more of them,
// and what is drawn all the time does not.
void add_joules(std::vector<double>& joules, model::LaunchEnergy energy, const model::AreaEstimate& area, double ran) {
    for (model::EnergyRow& row : energy.rows)
        if (!row.field.empty()) row.joules /= ran;
    const std::vector<double> parts = model::joules_by_part(energy, area);
    for (size_t i = 0; i < joules.size(); ++i) joules[i] += parts[i];
}

// A busy part needs more of its kind. L1 and L2 are busy with requests, which more bytes do not serve: a wider pipe and more
// slices do. What is in an SM comes with another SM too, where its own figure may not change.
void name_a_handle(const BuildTask& task, BuiltDesign& design) {
    if (design.busy < hardly_busy) return;
    if (design.limits == "l2_bytes") design.limits = "l2_slices";
    if (design.limits == "l1_bytes") design.limits = "l1_bytes_per_cycle";
    if (design.limits == "l2_slices" || design.limits == "dram_channels") return;
    if (task.free_named(design.limits) == nullptr && task.free_named("sms") != nullptr) design.limits = "sms";
}

}  // namespace

BuiltDesign built_on(const scene::DesignLaunch& launch, model::GpuSpec gpu, const std::stop_token& stop,
                     const BuiltDesign* like) {
    BuiltDesign design;
    design.area = model::area_of(gpu, launch.process);
    design.gpu = std::move(gpu);
    std::vector<Stretch> stretches;
    std::vector<DesignUse> uses;
    std::unique_ptr<model::TimedResult> longest;
    uint64_t blocks = 0;                                  // of the longest
    std::vector<double> joules(design.area.rows.size());  // of each part
    for (const scene::DesignPart& part : launch.parts()) {
        if (const auto refused = simt::check_launch(*part.program, part.config, model::limits_of(design.gpu))) {
            design.refused = refused->message;
            return design;
        }
        simt::Memory memory = *part.memory;
        model::TimedOptions options;
        options.trace_limit = 1000;  // what the run was busy with by time is kept whatever the limit
        options.max_instructions = launch.max_instructions;
        options.stop = stop;
        auto result =
            std::make_unique<model::TimedResult>(model::launch(design.gpu, *part.program, part.config, memory, options));
        double ran = 1;  // of the instructions
        if (result->stopped) {
            ran = like != nullptr && like->instructions > 0
                      ? static_cast<double>(result->warp_instructions) / static_cast<double>(like->instructions)
                      : 0;
            if (!(ran > 0.002) || !launch.then.empty()) throw Cancelled();
            design.sampled = draw_out(*result, ran, *like);
        }
        if (result->fault) {
            design.refused = result->fault->message;
            return design;
        }
        design.instructions += result->warp_instructions;
        design.cycles += result->cycles;
        design.time_us += result->time_us;
        design.kernels.push_back({part.label.empty() ? part.program->shown_name() : part.label, result->time_us});
        const model::LaunchEnergy energy = model::energy_of(design.gpu, *part.program, *result, launch.process);
        add_joules(joules, energy, design.area, ran);
        stretches.push_back(stretch_of_run(design.gpu, *result));
        uses.push_back(
            use_of(design.gpu, *result, static_cast<double>(result->cycles) * (design.sampled > 0 ? design.sampled : 1)));
        if (!longest || result->time_us > longest->time_us) longest = std::move(result), blocks = part.config.grid.count();
    }
    for (double& each : joules) {
        each = design.time_us > 0 ? each / (design.time_us * 1e-6) : 0;
        design.watts += each;
    }
    design.part_watts = std::move(joules);
    for (size_t i = 0; i < uses.size(); ++i) add_use(design.use, uses[i], stretches[i].us / std::max(1e-12, design.time_us));
    tell_busiest(design, *longest);
    // Where the whole launch is resident, room for more is none that helps.
    if (design.part == "waiting" && uint64_t{longest->totals.blocks_per_sm} * design.gpu.sms.value >= blocks)
        design.limits = {};
    tell_by_time(design, std::move(stretches));
    return design;
}

BuiltDesign built(const BuildTask& task, const lessons::Figures& figures, const std::stop_token& stop,
                  const BuiltDesign* like) {
    model::GpuSpec gpu;
    try {
        gpu = task.design(figures);
    } catch (const Failure& failure) {
        BuiltDesign design;
        design.figures = figures;
        design.gpu = task.base;
        design.refused = failure.diagnostic.message;
        return design;
    }
    scene::DesignLaunch launch = task.launch;
    launch.process = task.process;
    BuiltDesign design = built_on(launch, std::move(gpu), stop, like);
    design.figures = figures;
    name_a_handle(task, design);
    return design;
}

size_t BuiltDesign::longest() const {
    return static_cast<size_t>(std::ranges::max_element(kernels, {}, &KernelShare::time_us) - kernels.begin());
}

double BuiltDesign::share_before(size_t kernel) const {
    double before = 0;
    for (size_t i = 0; i < kernel && i < kernels.size(); ++i) before += kernels[i].time_us;
    return time_us > 0 ? before / time_us : 0;
}

std::shared_ptr<const model::KernelRun> recorded(const BuildTask& task, const BuiltDesign& design, uint32_t sm,
                                                 const std::stop_token& stop) {
    const std::vector<scene::DesignPart> parts = task.launch.parts();
    const scene::DesignPart& part = parts[std::min(design.longest(), parts.size() - 1)];
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = design.gpu;
    run->gpu.title = model::kept_text(fmt::format("{}, design {}", task.title, design.number));
    run->program = part.program;
    run->config = part.config;
    run->before = std::make_shared<simt::Memory>(*part.memory);  // its own: another launch than that of other designs
    run->source = part.source;
    model::TimedOptions options;
    options.machine = true;
    options.traced_sm = std::min(sm, design.gpu.sms.value - 1);
    options.trace_limit = 300'000;
    options.max_instructions = task.launch.max_instructions;
    options.stop = stop;
    simt::Memory memory = *part.memory;
    run->result = model::launch(run->gpu, *run->program, run->config, memory, options);
    if (run->result.stopped) throw Cancelled();
    return run->result.fault ? nullptr : run;
}

void judge(const BuildTask& task, const lessons::Thresholds& thresholds, BuiltDesign& design) {
    if (!task.puzzle || !design.ran()) return;
    if (design.sampled > 0) {
        design.why = "its whole run is under way";
        return;
    }
    scene::DesignRun run;
    run.cycles = design.cycles;
    run.time_us = design.time_us;
    run.mm2 = design.area.mm2;
    run.watts = design.watts;
    for (const lessons::Puzzle::Free& free : task.free)
        if (task.costs_the_medal(free.field) && figure_of(design.gpu, free.field) != figure_of(task.base, free.field)) {
            design.why = "a latency is another one";
            return;
        }
    const lessons::PuzzleResult result = lessons::judge_run(*task.puzzle, design.gpu, std::move(run), thresholds);
    design.medal = result.medal;
    design.why = result.why;
}

}  // namespace lockstep::gui
