#include "app/gui/desk/build_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/session.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/metrics/energy.h"
#include "core/system/system.h"

namespace lockstep::gui {
namespace {

// What may change where no puzzle says it: the rows of the kit, with bounds that a run of a minute bears.
const std::vector<lessons::Puzzle::Free> whole_kit = {
    {"sms", 1, 160},          {"sub_cores", 1, 4},        {"fp32_lanes", 4, 64},    {"fp64_lanes", 0, 32},
    {"tensor_fmas", 0, 1024}, {"warps_per_sm", 4, 128},   {"blocks_per_sm", 1, 64}, {"registers_per_sm", 4096, 131072},
    {"l1_kb", 0, 512},        {"boost_mhz", 500, 3000},   {"l2_mb", 0, 128},        {"dram_channels", 1, 128},
    {"l2_latency", 50, 1000}, {"dram_latency", 100, 2000}};

const lessons::Figures::value_type* find_figure(const lessons::Figures& figures, std::string_view field) {
    const auto at = std::ranges::find(figures, field, &lessons::Figures::value_type::first);
    return at == figures.end() ? nullptr : &*at;
}

void put(lessons::Figures& figures, std::string_view field, double value) {
    if (const auto at = std::ranges::find(figures, field, &lessons::Figures::value_type::first); at != figures.end())
        at->second = value;
    else
        figures.emplace_back(std::string(field), value);
}

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

// What the run was busy with, and the busiest part.
void tell_use(BuiltDesign& design, const model::TimedResult& result) {
    const auto share = [&](std::string_view name) { return std::clamp(metric_named(result, name) / 100, 0.0, 1.0); };
    DesignUse& use = design.use;
    use = {share("issue_slot_utilization"),
           std::max(share("pipe_fma"), share("pipe_alu")),
           share("l1_throughput"),
           share("l2_throughput"),
           share("dram_throughput"),
           share("pipe_tensor"),
           share("pipe_fp64"),
           share("l2_hit_rate"),
           share("achieved_occupancy")};
    design.bound = model::bound_of(result);
    struct Part {
        std::string_view field, word;
        double busy;
    };
    const Part parts[] = {{"dram_channels", "memory", use.memory},
                          {"sub_cores", "the schedulers", use.issue},
                          {"fp32_lanes", "the lanes", use.fp32},
                          {"l2_bytes", "L2", use.l2},
                          {"l1_bytes", "L1", use.l1},
                          {"tensor_fmas", "the tensor cores", use.tensor},
                          {"fp64_lanes", "the FP64 lanes", use.fp64}};
    const Part* busiest = &parts[0];
    for (const Part& part : parts)
        if (part.busy > busiest->busy) busiest = &part;
    design.limits = busiest->field, design.part = busiest->word, design.busy = busiest->busy;
    constexpr double hardly = 0.6;  // below it nothing is busy, and what is short is what could wait beside
    if (busiest->busy >= hardly) return;
    design.limits = scarce(result);
    design.part = design.bound == model::Bound::barriers ? "barriers" : "waiting";
}

// Shares by time of the issue slots and of the memory's bandwidth.
void tell_time(BuiltDesign& design, const model::TimedResult& result) {
    const model::Windows& windows = result.windows;
    const double slots = double(design.gpu.sms) * double(design.gpu.sub_cores) * double(design.gpu.issue_width);
    for (size_t i = 0; i < windows.totals.size(); ++i) {
        const int64_t begin = static_cast<int64_t>(i) * windows.length;
        const auto length = static_cast<double>(std::min(windows.length, result.cycles - begin));
        if (length <= 0) break;
        const model::CycleTotals& totals = windows.totals[i];
        const auto bytes = static_cast<double>(totals.dram_read + totals.dram_written);
        design.issue.push_back(static_cast<float>(std::min(1.0, static_cast<double>(totals.issued) / (slots * length))));
        design.memory.push_back(
            static_cast<float>(std::min(1.0, bytes / (length * std::max(1e-9, result.totals.dram_bytes_per_cycle)))));
    }
}

}  // namespace

model::GpuSpec BuildTask::design(const lessons::Figures& figures) const {
    if (puzzle) return lessons::design_of(*puzzle, figures);
    model::GpuDesign made(base);
    for (const auto& [field, value] : figures)
        if (const auto refused = made.set(field, value, "chosen by hand")) throw Failure(*refused);
    if (const auto impossible = made.finish("follows from what was chosen by hand")) throw Failure(impossible->message);
    made.gpu().name = "design.toml";  // a design: no graphics in its area
    return made.gpu();
}

const lessons::Puzzle::Free* BuildTask::free_named(std::string_view field) const {
    const auto same = [&](const lessons::Puzzle::Free& row) {
        return row.field == field || (model::field_named(row.field).first != nullptr &&
                                      model::field_named(row.field).first == model::field_named(field).first);
    };
    const auto at = std::ranges::find_if(free, same);
    return at == free.end() ? nullptr : &*at;
}

std::shared_ptr<const BuildTask> task_of_puzzle(const std::string& id) {
    auto task = std::make_shared<BuildTask>();
    task->puzzle = lessons::puzzle_named(id).value();
    task->title = task->puzzle->title;
    task->question = task->puzzle->question;
    task->process = task->puzzle->process;
    task->free = task->puzzle->free;
    task->most_mm2 = task->puzzle->most_mm2;
    task->most_watts = task->puzzle->most_watts;
    task->launch = lessons::launch_of(*task->puzzle);
    task->base = task->design({});
    return task;
}

std::shared_ptr<const BuildTask> task_of_kernel(const model::KernelRun& run) {
    if (!run.before) throw Failure("this run did not keep the memory that it began with, so it cannot run on another GPU");
    auto task = std::make_shared<BuildTask>();
    task->base = run.gpu;
    task->title = run.program->shown_name();
    task->question = fmt::format(
        "The kernel on show, with {} blocks of {} threads, on a GPU of your own. It begins as {}, and nothing is forbidden.",
        with_commas(static_cast<int64_t>(run.config.grid.x) * run.config.grid.y * run.config.grid.z),
        with_commas(static_cast<int64_t>(run.config.block.x) * run.config.block.y * run.config.block.z), run.gpu.title);
    task->process = &model::process_of(run.gpu);
    task->free = whole_kit;
    task->launch.program = run.program;
    task->launch.config = run.config;
    task->launch.memory = run.before;
    task->launch.process = task->process;
    return task;
}

double figure_of(const model::GpuSpec& gpu, std::string_view field) {
    if (field == "tensor_fmas") return model::tensor_fmas(gpu);
    const auto [row, unit] = model::field_named(field);
    return row == nullptr ? 0 : model::value_of(gpu, *row) / unit;
}

std::vector<double> stops_of(const lessons::Puzzle::Free& free) {
    std::vector<double> stops = {free.least};
    const auto add = [&](double value) {
        if (value > stops.back() && value < free.most) stops.push_back(value);
    };
    if (free.field == "sub_cores") {
        for (const double value : {2.0, 4.0}) add(value);
    } else if (free.field.ends_with("_lanes") || free.field == "tensor_fmas") {
        for (double value = 1; value < free.most; value *= 2) add(value);
    } else if (free.most - free.least <= 40) {
        for (double value = std::floor(free.least) + 1; value < free.most; ++value) add(value);
    } else {
        constexpr double steps[] = {1, 1.25, 1.5, 1.75};
        for (double power = 4; power < free.most; power *= 2)
            for (const double step : steps) add(std::round(power * step));
    }
    if (free.most > stops.back()) stops.push_back(free.most);
    return stops;
}

BuiltDesign built(const BuildTask& task, const lessons::Figures& figures, const std::stop_token& stop) {
    BuiltDesign design;
    design.figures = figures;
    design.gpu = task.base;
    try {
        design.gpu = task.design(figures);
    } catch (const Failure& failure) {
        design.refused = failure.diagnostic.message;
        return design;
    }
    design.area = model::area_of(design.gpu, task.process);
    const scene::DesignLaunch& launch = task.launch;
    if (const auto refused = simt::check_launch(*launch.program, launch.config, model::limits_of(design.gpu))) {
        design.refused = refused->message;
        return design;
    }
    simt::Memory memory = *launch.memory;
    model::TimedOptions options;
    options.trace_limit = 1000;  // what the run was busy with by time is kept whatever the limit
    options.max_instructions = launch.max_instructions;
    options.stop = stop;
    const model::TimedResult result = model::launch(design.gpu, *launch.program, launch.config, memory, options);
    if (result.stopped) throw Cancelled();
    if (result.fault) {
        design.refused = result.fault->message;
        return design;
    }
    design.cycles = result.cycles;
    design.time_us = result.time_us;
    design.watts = model::energy_of(design.gpu, *launch.program, result, launch.process).watts;
    tell_use(design, result);
    tell_time(design, result);
    return design;
}

void judge(const BuildTask& task, const lessons::Thresholds& thresholds, BuiltDesign& design) {
    if (!task.puzzle || !design.ran()) return;
    scene::DesignRun run;
    run.cycles = design.cycles;
    run.time_us = design.time_us;
    run.mm2 = design.area.mm2;
    run.watts = design.watts;
    const lessons::PuzzleResult result = lessons::judge_run(*task.puzzle, design.gpu, std::move(run), thresholds);
    design.medal = result.medal;
    design.why = result.why;
}

namespace {

struct Changes {
    const BuildTask& task;
    const BuiltDesign& design;
    std::vector<lessons::Figures> found = {};

    // About half as much again: the stop that lies there, or the next one.
    std::optional<double> larger(const lessons::Puzzle::Free& free, double factor) const {
        const double now = figure_of(design.gpu, free.field);
        std::optional<double> best;
        for (const double stop : stops_of(free))
            if (stop > now && (!best || stop <= now * factor)) best = stop;
        return best;
    }
    bool bears(const lessons::Figures& figures) const {
        try {
            const double mm2 = model::area_of(task.design(figures), task.process).mm2;
            return task.most_mm2 <= 0 || mm2 <= task.most_mm2;
        } catch (const Failure&) {
            return false;
        }
    }
    void add(const lessons::Figures& figures) {
        if (std::ranges::find(found, figures) == found.end() && bears(figures)) found.push_back(figures);
    }
    // Stops below the present one, the nearest last; none of what limits, nor of what costs no area.
    std::vector<double> lower(const lessons::Puzzle::Free& free, std::string_view raised) const {
        if (free.field == raised || free.field == "boost_mhz" || free.field.ends_with("_latency")) return {};
        if (task.free_named(design.limits) == &free) return {};
        std::vector<double> stops = stops_of(free);
        const double now = figure_of(design.gpu, free.field);
        std::erase_if(stops, [&](double stop) { return stop >= now; });
        return stops;
    }
    // Where the budget does not bear it, another figure that pays for it, by as few stops as it takes, and two of them,
    // stop by stop in turn.
    void add_paid(const lessons::Figures& figures, std::string_view raised) {
        if (bears(figures)) return add(figures);
        for (const lessons::Puzzle::Free& other : task.free) {
            const std::vector<double> stops = lower(other, raised);
            for (size_t k = stops.size(); k-- > 0;) {
                lessons::Figures paid = figures;
                put(paid, other.field, stops[k]);
                if (!bears(paid)) continue;
                add(paid);
                break;
            }
        }
        for (size_t a = 0; a < task.free.size(); ++a)
            for (size_t b = a + 1; b < task.free.size(); ++b) pay_by_two(figures, raised, task.free[a], task.free[b]);
    }
    void pay_by_two(const lessons::Figures& figures, std::string_view raised, const lessons::Puzzle::Free& first,
                    const lessons::Puzzle::Free& second) {
        std::vector<double> of_first = lower(first, raised), of_second = lower(second, raised);
        if (of_first.empty() || of_second.empty()) return;
        lessons::Figures paid = figures;
        while (!of_first.empty() || !of_second.empty()) {
            for (const auto& [free, stops] : {std::pair{&first, &of_first}, {&second, &of_second}}) {
                if (stops->empty()) continue;
                put(paid, free->field, stops->back());
                stops->pop_back();
                if (bears(paid)) return add(paid);
            }
        }
    }
};

}  // namespace

std::vector<lessons::Figures> changes_of(const BuildTask& task, const BuiltDesign& design) {
    Changes changes{task, design};
    const lessons::Puzzle::Free* const limit = task.free_named(design.limits);
    std::vector<const lessons::Puzzle::Free*> order;
    if (limit != nullptr) order.push_back(limit);
    for (const lessons::Puzzle::Free& free : task.free)
        if (&free != limit && !free.field.ends_with("_latency") && free.field != "boost_mhz") order.push_back(&free);
    const auto try_row = [&](const lessons::Puzzle::Free& free) {
        for (const double factor : {2.0, 1.5})
            if (const auto value = changes.larger(free, factor)) {
                lessons::Figures figures = design.figures;
                put(figures, free.field, *value);
                changes.add_paid(figures, free.field);
            }
    };
    if (limit != nullptr) try_row(*limit);
    // Room for more warps is of three parts, whichever of them are free.
    for (const double factor : {2.0, 1.5}) {
        lessons::Figures roomy = design.figures;
        bool any = false;
        for (const std::string_view field : {"warps_per_sm", "blocks_per_sm", "registers_per_sm"})
            if (const auto* free = task.free_named(field))
                if (const auto value = changes.larger(*free, factor)) put(roomy, free->field, *value), any = true;
        if (any) changes.add_paid(roomy, "warps_per_sm");
    }
    for (const lessons::Puzzle::Free* free : order)
        if (free != limit) try_row(*free);
    constexpr size_t most = 28;
    if (changes.found.size() > most) changes.found.resize(most);
    return std::move(changes.found);
}

const BuiltDesign* BuildState::numbered(int number) const {
    for (const auto& design : designs)
        if (design->number == number) return design.get();
    return nullptr;
}

void BuildDesk::open_first(Session& session) {
    const std::vector<std::filesystem::path> files = lessons::puzzle_files();
    if (!files.empty() && task_ == nullptr) open(session, files.front().string());
}

void BuildDesk::open(Session& session, const std::string& puzzle) {
    note.clear();
    session.post(ask::OpenBuild{puzzle});
}

void BuildDesk::adopt(const Snapshot& snapshot) {
    if (!snapshot.build || snapshot.build->task == task_) return;
    task_ = snapshot.build->task;
    figures_.clear();
    undo_.clear();
    number_ = 1;
    row.clear();
    at = -1;
    update();
}

double BuildDesk::value_of(std::string_view field) const {
    if (const auto* figure = find_figure(figures_, field)) return figure->second;
    return figure_of(gpu_, field);
}

void BuildDesk::update() {
    impossible_.clear();
    try {
        gpu_ = task_->design(figures_);
        area_ = model::area_of(gpu_, task_->process);
    } catch (const Failure& failure) {
        impossible_ = failure.diagnostic.message;
    }
}

void BuildDesk::post(Session& session) {
    update();
    note.clear();
    at = -1;
    session.post(ask::RunDesign{std::make_shared<const DesignWish>(DesignWish{task_, figures_, number_})});
}

void BuildDesk::set(Session& session, std::string_view field, double value, bool dragging) {
    if (!task_) return;
    if (value_of(field) == value) {
        dragging_ = dragging;
        return;
    }
    if (!dragging_) {
        undo_.push_back(figures_);
        ++number_;
    }
    dragging_ = dragging;
    put(figures_, field, value);
    post(session);
}

void BuildDesk::take(Session& session, const lessons::Figures& figures) {
    if (!task_ || figures == figures_) return;
    undo_.push_back(figures_);
    ++number_;
    dragging_ = false;
    figures_ = figures;
    post(session);
}

void BuildDesk::undo(Session& session) {
    if (!task_ || undo_.empty()) return;
    figures_ = std::move(undo_.back());
    undo_.pop_back();
    ++number_;
    dragging_ = false;
    post(session);
}

void BuildDesk::reset(Session& session) {
    take(session, {});
}

void BuildDesk::save(const Snapshot&) {
    if (!task_) return;
    const std::filesystem::path place = folder.empty() ? system::state_folder() / "designs" : folder;
    const std::string stem = task_->puzzle ? task_->puzzle->id : task_->title;
    std::filesystem::path file;
    std::error_code error;
    std::filesystem::create_directories(place, error);
    for (int k = number_; file.empty() || std::filesystem::exists(file, error); ++k)
        file = place / fmt::format("{}_design_{}.toml", stem, k);
    std::string text;
    if (task_->puzzle) {
        text = lessons::design_file(*task_->puzzle, figures_);
    } else {
        text = fmt::format("# A GPU built for {}\ninherits = \"{}\"\n\n", task_->title, task_->base.name);
        for (const auto& [field, value] : figures_) text += fmt::format("{} = {:.10g}\n", field, value);
    }
    try {
        write_file(file.string(), text);
        note = "saved as " + file.string();
    } catch (const Failure& failure) {
        note = failure.diagnostic.message;
    }
}

std::string BuildDesk::title(const Snapshot&) const {
    if (!task_) return "Build a GPU";
    return fmt::format("{}: design {}", task_->puzzle ? "Build a GPU" : "A GPU for " + task_->title, number_);
}

std::string BuildDesk::position(const Snapshot& snapshot) const {
    const BuiltDesign* const shown = snapshot.build ? snapshot.build->numbered(number_) : nullptr;
    if (!task_) return "no task is open";
    if (shown == nullptr) return snapshot.busy.empty() ? "it has not run yet" : snapshot.busy;
    if (!shown->ran()) return shown->refused;
    return fmt::format("{}, {} (simulated); {:.1f} mm2, {:.1f} W (estimates)", time_text(shown->time_us),
                       with_commas(shown->cycles) + " cycles", shown->area.mm2, shown->watts);
}

}  // namespace lockstep::gui
